"""Parameters that are searched for: fit (from measured signals), optimize (the best value of a measure)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _commands
from .analyses import Model, Path_, Values, _call, _describe, _file_of
from .errors import Error, Interrupted
from .results import Array, Folder

if TYPE_CHECKING:
    import pandas

Vary = Union[str, Sequence[str], Mapping[str, Any]]
"""Parameters to be found: names, texts as "k=10:1:100 N/m", or {"k": 10.0}, {"k": (10.0, 1.0, 100.0)}, {"k": None}: start, or start,
lower and upper bound (None: the model's value, no bound), in SI units; texts with units."""
Data = Union[Path_, Mapping[str, Any], "pandas.DataFrame"]  #: a table of measured values: a file, or columns by name with "time"


class Parameter(NamedTuple):
    """A fitted parameter, in SI units."""

    name: str
    unit: str
    value: float
    error: float  #: standard error; infinite: the data do not determine it; NaN: it is at a bound
    low: float  #: interval of confidence
    high: float
    start: float
    at_bound: int  #: -1: at its lower bound, 1: at its upper one


class Curves(NamedTuple):
    """One experiment of a fit, by signals; "x (2)" is the second column of x."""

    name: str  #: of its data
    t: Array  #: [s]
    measured: Dict[str, Array]
    fitted: Dict[str, Array]

    def residuals(self, signal: str) -> Array:
        """Measured minus fitted."""
        difference: Array = self.measured[signal] - self.fitted[signal]
        return difference


def _number(x: Any, missing: float = float("nan")) -> float:
    return missing if x is None else float(x)


class Fit:
    """Parameters fitted to measured signals: fit["k"], fit.error("k"), fit.interval("k"), fit.notes, fit.plot()."""

    def __init__(self, report: "Dict[str, Any]", curves: "List[Curves]", model: str, summary: str) -> None:
        self.report = report  #: all of it, as `galpha fit --json` writes it
        self.end: str = report["end"]  #: "converged", "iterations", "stalled" or "stopped"
        self.parameters: Dict[str, Parameter] = {
            p["name"]: Parameter(p["name"], p["unit"], float(p["value"]),
                                 _number(p["error"], float("nan") if p["determined"] else float("inf")),
                                 _number(p["low"]), _number(p["high"]), float(p["start"]), p["at_bound"])
            for p in report["parameters"]}
        self.correlation: Array = np.asarray(report["correlation"], dtype=float)  #: [parameters × parameters]
        self.notes: List[str] = report["notes"]  #: what is doubtful
        self.curves = curves  #: one for each experiment
        self.model = model  #: the model with the fitted parameters, as a text
        self.summary = summary  #: what the program prints

    def _find(self, name: str) -> Parameter:
        if name not in self.parameters:
            raise KeyError(f"there is no parameter {name!r}; they are {', '.join(self.parameters)}")
        return self.parameters[name]

    def __getitem__(self, name: str) -> float:
        return self._find(name).value

    @property
    def values(self) -> "Dict[str, float]":
        """In SI units, as `set` of galpha.run takes them."""
        return {name: p.value for name, p in self.parameters.items()}

    def error(self, name: str) -> float:
        """Standard error."""
        return self._find(name).error

    def interval(self, name: str) -> "Tuple[float, float]":
        """Of confidence, by Student's distribution."""
        p = self._find(name)
        return p.low, p.high

    @property
    def covariance(self) -> Array:
        """Of the estimates; 0 beside parameters without an error."""
        errors = np.array([p.error if np.isfinite(p.error) else 0.0 for p in self.parameters.values()])
        matrix: Array = self.correlation * np.outer(errors, errors)
        return matrix

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each parameter."""
        import pandas

        return pandas.DataFrame(list(self.parameters.values())).set_index("name")

    def plot(self) -> Any:
        """Measured values and the model, by matplotlib: a figure."""
        import matplotlib.pyplot as plt

        rows = [(c, s) for c in self.curves for s in c.measured]
        figure, axes = plt.subplots(len(rows), 1, squeeze=False, figsize=(8, 2.6 * len(rows)), layout="constrained")
        for (curves, signal), axis in zip(rows, axes[:, 0]):
            axis.plot(curves.t, curves.measured[signal], ".", color="#9aa7b4", label="measured")
            axis.plot(curves.t, curves.fitted[signal], color="#c4441d", label="fitted")
            axis.set(xlabel="time (s)", ylabel=signal)
            axis.legend()
        plt.close(figure)  # a notebook draws what is returned; without this it would do so twice
        return figure

    def __repr__(self) -> str:
        found = ", ".join(f"{p.name} {p.value:.6g} ± {p.error:.2g}" for p in self.parameters.values())
        return f"<galpha.Fit, {self.end}: {found}>"


class Constraint(NamedTuple):
    """A constraint at the optimum, in SI units."""

    text: str
    unit: str
    value: float
    limit: float
    excess: float  #: by how much it is not met; <= 0: it is
    multiplier: float  #: by how much the best value changes with the limit; NaN: not known, or it is not active
    active: bool


class Optimum:
    """Parameters for which a measure is best: optimum["k"], optimum.value, optimum.constraints."""

    def __init__(self, report: "Dict[str, Any]", model: str, summary: str) -> None:
        self.report = report  #: all of it, as `galpha optimize --json` writes it
        self.end: str = report["end"]  #: "converged", "points", "infeasible", "failed" or "stopped"
        self.values: Dict[str, float] = {p["name"]: float(p["value"]) for p in report["parameters"]}  #: in SI units
        self.units: Dict[str, str] = {p["name"]: p["unit"] for p in report["parameters"]}
        self.value = _number(report["value"])  #: of the objective
        self.start = _number(report["start"])  #: its value at the start
        self.verified = _number(report["verified"])  #: its value in a run with more accuracy
        self.unit: str = report["unit"]
        self.constraints = [Constraint(c["text"], c["unit"], _number(c["value"]), _number(c["limit"]), _number(c["excess"]),
                                       _number(c["multiplier"]), c["active"]) for c in report["constraints"]]
        self.notes: List[str] = report["notes"]  #: what is doubtful
        self.model = model  #: the model with the best parameters, as a text
        self.summary = summary  #: what the program prints

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            raise KeyError(f"there is no parameter {name!r}; they are {', '.join(self.values)}")
        return self.values[name]

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {value:.6g}" for name, value in self.values.items())
        return f"<galpha.Optimum, {self.end}: {self.value:.6g} with {found}>"


def _vary(vary: Vary) -> "List[str]":
    if isinstance(vary, str):
        return [vary]
    if not isinstance(vary, Mapping):
        return [str(item) for item in vary]
    texts = []
    for name, value in vary.items():
        if value is None:
            texts.append(name)
        elif isinstance(value, str) or not hasattr(value, "__len__"):
            texts.append(f"{name}={_commands._value(value)}")
        elif len(value) == 3:
            texts.append(f"{name}=" + ":".join("" if v is None or (isinstance(v, float) and not np.isfinite(v))
                                                else _commands._value(v) for v in value))
        else:
            raise TypeError(f"{name}: a start, or (start, lower, upper), not {value!r}")
    return texts


def _column(name: str, values: Any) -> Array:
    """Numbers; durations become seconds, and dates, which have no t = 0, are refused."""
    masked: Any = np.ma  # has no types
    if masked.isMaskedArray(values):
        values = masked.filled(values.astype(float), np.nan)
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError(f"the column {name!r} has complex numbers")
    if array.dtype.kind == "m":
        array = array / np.timedelta64(1, "s")
    elif array.dtype.kind == "M":
        raise TypeError(f"the column {name!r} has dates; times are seconds, from the start of the run")
    numbers: Array = np.asarray(array, dtype=float).ravel()
    return numbers


def _write_table(path: Path, data: Any) -> None:
    """Columns by name as a file; None and NaN are missing values. The index of a pandas table may be the time."""
    index = getattr(data, "index", None)
    time = getattr(index, "name", None)
    if time in ("t", "time") and time not in data:
        data = {time: index, **{name: data[name] for name in data}}
    columns = {str(name): _column(str(name), data[name]) for name in data}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns have {', '.join(map(str, sorted(lengths)))} values")
    for name in columns:
        if any(c in name for c in ",;\t\n\""):
            raise ValueError(f"the column {name!r} has a separator in its name")
    with open(path, "w", encoding="utf-8") as file:
        print(",".join(columns), file=file)
        for row in zip(*columns.values()):
            print(",".join("" if np.isnan(x) else repr(float(x)) for x in row), file=file)


def _files(data: "Union[Data, Sequence[Data]]", folder: Path) -> "Dict[str, str]":
    """Files with the data, and what these are called."""
    items: "List[Any]" = list(data) if isinstance(data, (list, tuple)) else [data]
    files: "Dict[str, str]" = {}
    for i, item in enumerate(items):
        if isinstance(item, (str, os.PathLike)):
            files[_commands.operand(item)] = _commands.operand(item)
        else:
            file = str(folder / f"data{i + 1}.csv")
            _write_table(Path(file), item)
            files[file] = f"experiment {i + 1}"
    if len(files) < len(items):
        raise ValueError("a file is given twice")
    return files


def _distinct(names: "Sequence[str]") -> "List[str]":
    """"x", "x (2)" for two columns of one signal."""
    return [name if names[:i].count(name) == 0 else f"{name} ({names[:i].count(name) + 1})"
            for i, name in enumerate(names)]


def _read_curves(path: Path, files: "List[str]") -> "List[Curves]":
    blocks: "List[List[str]]" = [[]]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            if blocks[-1]:
                blocks.append([])
        elif line:
            blocks[-1].append(line)
    found = []
    for name, lines in zip(files, blocks):
        heads = [head.rsplit(" [", 1)[0] for head in lines[0].split(",")]
        rows = np.array([[_number(x or None) for x in line.split(",")] for line in lines[1:]], dtype=float)
        signals = _distinct(heads[1::3])
        found.append(Curves(name, rows[:, 0], {s: rows[:, 3 * i + 1] for i, s in enumerate(signals)},
                            {s: rows[:, 3 * i + 2] for i, s in enumerate(signals)}))
    return found


def _finish(outcome: "_commands.Outcome", result: Any) -> Any:
    try:
        _commands.finish(outcome)
    except (Interrupted, Error) as failure:
        failure.result = result
        raise
    return result


def _keep(found: Path, out: "Optional[Path_]") -> None:
    if out is not None and found.exists():
        shutil.copyfile(found, os.fspath(out))


def fit(model: Model, data: "Union[Data, Sequence[Data]]", vary: Vary, *, signals: "Optional[Mapping[str, str]]" = None,
        sigma: "Optional[Mapping[str, Union[float, str]]]" = None, set: "Optional[Values]" = None,
        sets: "Optional[Sequence[Optional[Values]]]" = None, out: "Optional[Path_]" = None, **settings: Any) -> Fit:
    folder = Folder()
    names = _files(data, folder.path)
    files = list(names)
    report, curves, found = folder.path / "fit.json", folder.path / "fit.csv", folder.path / "fitted.yaml"
    more = [*files, *(f"--vary={text}" for text in _vary(vary)), f"--json={report}", f"--csv={curves}"]
    if not any(file == name for file, name in names.items()):
        more.append("--si")  # numbers without a unit are in SI units by what fit() says
    if sets is not None and len(sets) != len(files):
        raise ValueError(f"sets are for {len(sets)} experiments, and there are {len(files)}")
    for file, values in zip(files, sets or []):
        for name, value in (values or {}).items():
            more += ["--set-in", file, f"{name}={_commands._value(value)}"]
    with _file_of(model) as file_:
        outcome = _call("fit", model, file_, set, {"signal": signals, "sigma": sigma, "out": str(found), **settings}, *more)
    outcome = outcome.renamed(names)
    result = None
    if report.exists():
        text = found.read_text(encoding="utf-8") if found.exists() else ""
        data_ = json.loads(_commands.replaced(report.read_text(encoding="utf-8"), names))
        result = Fit(data_, _read_curves(curves, list(names.values())), text, outcome.printed)
        _keep(found, out)
    fitted: Fit = _finish(outcome, result)
    return fitted


def optimize(model: Model, vary: Vary, *, minimize: "Optional[str]" = None, maximize: "Optional[str]" = None,
             subject_to: "Union[str, Sequence[str]]" = (), set: "Optional[Values]" = None, out: "Optional[Path_]" = None,
             **settings: Any) -> Optimum:
    folder = Folder()
    report, found = folder.path / "optimum.json", folder.path / "optimum.yaml"
    constraints = [subject_to] if isinstance(subject_to, str) else list(subject_to)
    more = [*(f"--vary={text}" for text in _vary(vary)), *(f"--subject-to={text}" for text in constraints), f"--json={report}"]
    options = {"minimize": minimize, "maximize": maximize, "out": str(found), **settings}
    with _file_of(model) as file:
        outcome = _call("optimize", model, file, set, options, *more)
    result = None
    if report.exists():
        text = found.read_text(encoding="utf-8") if found.exists() else ""
        result = Optimum(json.loads(report.read_text(encoding="utf-8")), text, outcome.printed)
        _keep(found, out)
    optimum: Optimum = _finish(outcome, result)
    return optimum


_describe(fit, "fit", "Finds parameters with which signals meet measured ones best: a galpha.Fit, fit[\"k\"], fit.interval(\"k\").", False)
_describe(optimize, "optimize", "Finds parameters for which a measure is best, under constraints: a galpha.Optimum, optimum[\"k\"].",
          False)
