"""Models in files: run, static, kinematics, modes, linearize, check, write. Each is the program's command of that name."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, TypeVar, Union

import numpy as np

from . import _commands
from ._library import h5py
from .errors import Error, Interrupted, ModelError
from .machine import Machine
from .results import Array, Folder, Result, _as_text

Path_ = Union[str, "os.PathLike[str]"]
Model = Union[Path_, Machine]  #: a file, or a machine built part by part
Values = Mapping[str, Union[float, str]]  #: parameters: numbers in SI units, or texts as in a file, "12 mm"


T = TypeVar("T")


@contextlib.contextmanager
def _file_of(model: Model) -> "Iterator[Path]":
    """The model as a file, in the folder of the files that it names."""
    if not isinstance(model, Machine):
        yield Path(os.fspath(model))
        return
    with tempfile.TemporaryDirectory(prefix="galpha-") as folder:
        path = Path(model.folder or folder) / f"{model.name}.yaml"
        if model.folder:
            handle, name = tempfile.mkstemp(".yaml", f"{model.name}-", model.folder)
            os.close(handle)
            path = Path(name)
        try:
            path.write_text(model.text, encoding="utf-8")
            yield path
        finally:
            path.unlink()


def _call(command: str, model: Model, file: Path, set: "Optional[Mapping[str, Any]]", options: "Dict[str, Any]",
          *more: str) -> "_commands.Outcome":
    """A command of one model. Numbers of `set` are in SI units by what run() says, so that is no matter of warnings."""
    given = dict(set or {})
    outcome = _commands.call([command, _commands.operand(file), *more, *_commands.arguments(command, {"set": given, **options})])
    if isinstance(model, Machine):
        outcome = _without_file(outcome).renamed({str(file): model.title})
    return outcome._replace(messages=[m for m in outcome.messages if not (
        m.data and m.data["reason"] == "UNIT_NOT_GIVEN" and not isinstance(given.get(m.data["part"], ""), str))])


def _without_file(outcome: "_commands.Outcome") -> "_commands.Outcome":
    """Lines and columns mean nothing where the file was written here."""
    messages = [m._replace(file="", line=0, column=0) for m in outcome.messages]
    error = outcome.error
    if isinstance(error, ModelError):
        error.messages, error.file, error.line, error.column = messages, "", 0, 0
        error.report = "\n".join(map(str, messages))
    return outcome._replace(messages=messages)


def _to_file(command: str, model: Model, out: "Optional[Path_]", set: "Optional[Mapping[str, Any]]",
             options: "Dict[str, Any]", read: "Callable[[str, Any, _commands.Outcome], T]", *more: str) -> T:
    """Calls a command that writes a file, and reads that. Without `out` the file lives as long as what is read."""
    with _file_of(model) as file:
        keep = Folder() if out is None else None
        stem = model.name if isinstance(model, Machine) else file.stem
        path = os.path.join(keep.name, f"{stem}.h5") if keep else os.fspath(out or "")
        outcome = _call(command, model, file, set, options, f"--out={path}", *more)
    result: "Optional[T]" = None
    if os.path.exists(path) and (keep or outcome.code != 2):
        try:
            result = read(path, keep, outcome)
        except (OSError, KeyError, Error):
            if outcome.code == 0:
                raise
    try:
        _commands.finish(outcome)
    except (Interrupted, Error) as failure:
        failure.result = result
        raise
    assert result is not None
    return result


def _read_result(path: str, keep: Any, outcome: "_commands.Outcome") -> Result:
    return Result(path, keep, outcome.printed, outcome.warnings)


def run(model: Model, *, set: "Optional[Values]" = None, out: "Optional[Path_]" = None, **settings: Any) -> Result:
    return _to_file("run", model, out, set, settings, _read_result)


def static(model: Model, *, set: "Optional[Values]" = None, out: "Optional[Path_]" = None, **settings: Any) -> Result:
    return _to_file("static", model, out, set, settings, _read_result)


def kinematics(model: Model, *, set: "Optional[Values]" = None, out: "Optional[Path_]" = None,
               **settings: Any) -> Result:
    return _to_file("kinematics", model, out, set, settings, _read_result)


class Modes(NamedTuple):
    """Small motions about a state: exp(s t) times a shape, sorted by |s|."""

    eigenvalues: "np.ndarray[Any, np.dtype[np.complex128]]"  #: [1/s]
    frequencies: Array  #: [Hz]
    damping: Array  #: [-] ratios
    shapes: "np.ndarray[Any, np.dtype[np.complex128]]"  #: [modes × signals]
    signals: List[str]
    units: List[str]
    values: Array  #: of the signals, at the state
    t: float  #: [s]
    summary: str

    def shape(self, mode: int, signal: str) -> complex:
        """A component of a mode's shape."""
        return complex(self.shapes[mode, self.signals.index(signal)])


def _read_modes(path: str, keep: Any, outcome: "_commands.Outcome") -> Modes:
    with h5py().File(path, "r") as f:
        s = f["modes/eigenvalue"][()]
        return Modes(s[:, 0] + 1j * s[:, 1], f["modes/frequency"][()].ravel(), f["modes/damping"][()].ravel(),
                     f["modes/real"][()] + 1j * f["modes/imaginary"][()], _texts(f["names"]), _texts(f["units"]),
                     f["state/values"][()].ravel(), float(f["state/time"][()].ravel()[0]), outcome.printed)


def modes(model: Model, *, set: "Optional[Values]" = None, out: "Optional[Path_]" = None, **settings: Any) -> Modes:
    return _to_file("modes", model, out, set, settings, _read_modes)


class LinearModel(NamedTuple):
    """dx/dt = A x + B u, y = C x + D u, for small changes about a state."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: List[str]
    inputs: List[str]
    outputs: List[str]
    units: Dict[str, str]  #: by name
    summary: str

    def matrices(self) -> "Tuple[Array, Array, Array, Array]":
        """(A, B, C, D), as scipy.signal.StateSpace and control.ss take them."""
        return self.A, self.B, self.C, self.D


def _texts(data: Any) -> "List[str]":
    return [_as_text(value) for value in data[()]]


def _read_linear(path: str, keep: Any, outcome: "_commands.Outcome") -> LinearModel:
    with h5py().File(path, "r") as f:
        names = {what: _texts(f[what]) if what in f else [] for what in ("states", "inputs", "outputs")}
        n, n_u, n_y = (len(names[what]) for what in ("states", "inputs", "outputs"))
        units: "Dict[str, str]" = {}
        for what in ("state", "input", "output"):
            if what + "_units" in f:
                units.update(zip(names[what + "s"], _texts(f[what + "_units"])))
        shapes = {"A": (n, n), "B": (n, n_u), "C": (n_y, n), "D": (n_y, n_u)}
        A, B, C, D = (np.asarray(f[m][()], dtype=float).reshape(shape) if m in f else np.zeros(shape)
                      for m, shape in shapes.items())
        return LinearModel(A, B, C, D, names["states"], names["inputs"], names["outputs"], units, outcome.printed)


def linearize(model: Model, *, set: "Optional[Values]" = None, out: "Optional[Path_]" = None,
              **settings: Any) -> LinearModel:
    return _to_file("linearize", model, out, set, settings, _read_linear)


class Report(str):
    """What `galpha check` says about a model; `warnings` are its warnings."""

    warnings: List[str]


def check(model: Model, *, set: "Optional[Values]" = None, **options: Any) -> Report:
    with _file_of(model) as file:
        outcome = _call("check", model, file, set, options)
    _commands.finish(outcome)
    report = Report(outcome.printed)
    report.warnings = outcome.warnings
    return report


def write(model: Model, *, set: "Optional[Values]" = None) -> str:
    """The model with its included files as one text, with the parameters of `set`."""
    with _file_of(model) as file:
        outcome = _call("write", model, file, set, {})
    return _commands.finish(outcome).printed


# ---- Help, from the program's table of options ----

_about: "Dict[Callable[..., Any], Tuple[str, str, bool]]" = {
    run: ("run", "Simulates a model and returns its galpha.Result.", True),
    static: ("static", "Finds a static equilibrium, or follows a path of equilibria: a galpha.Result by load steps.",
             True),
    kinematics: ("kinematics", "A prescribed motion and its forces, without integration: a galpha.Result.", True),
    modes: ("modes", "Frequencies, damping and shapes of small motions: galpha.Modes.", True),
    linearize: ("linearize", "The linear model from inputs to outputs: galpha.LinearModel.", True),
    check: ("check", "Mobility, redundant constraints, initial values of a model, as a text.", False),
}


def _describe(function: "Callable[..., Any]", command: str, line: str, has_file: bool) -> None:
    rows = [line, "",
            "model: a model file or a galpha.Machine. set: parameters, {\"k\": 3e4} in SI units or {\"k\": \"30 kN/m\"}."]
    if has_file:
        rows.append("out: keeps the HDF5 file there; without, it is removed when the result is no longer used.")
    rows += ["Failures raise galpha.Error, Ctrl-C galpha.Interrupted; both have the `result` so far.", "",
             "Further keyword arguments, as options of the program (numbers in SI units, texts with units):", ""]
    for option in _commands.options(command):
        if option.name not in ("set", "out"):
            rows.append(f"    {option.name.replace('-', '_')}: {option.text}")
    more = _commands.description(command)[1]
    function.__doc__ = "\n".join(rows + (["", more] if more else []))


for _function, (_command, _line, _has_file) in _about.items():
    _describe(_function, _command, _line, _has_file)
