"""Results of runs: signals as NumPy arrays with units, from memory or from files."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._library import h5py
from .errors import Error

if TYPE_CHECKING:
    import pandas
    import xarray

    from ._plot import View

Array = NDArray[np.float64]
ERROR = ":error"
POSE = ":pose"


class Folder:
    """A temporary folder that goes with the last one who uses it."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="galpha-")  # no Path, whose parts go through Python's table of strings
        weakref.finalize(self, _remove, self.name, os.getpid())

    @property
    def path(self) -> Path:
        return Path(self.name)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a process that was forked has copies of what its parent uses
        shutil.rmtree(folder, True)


class Event(NamedTuple):
    """An event of a run."""

    t: float  #: [s]
    name: str


def _nearest(name: str, names: Sequence[str]) -> str:
    import difflib

    found = difflib.get_close_matches(name, names, 1)
    return f"; the nearest is {found[0]!r}" if found else ""


class OfFile:
    """What was read from an HDF5 file. Copies, also those for other processes, take a temporary file along."""

    _file: str
    _keep: Any  #: what owns a temporary file
    _stamp: "Optional[Tuple[int, int]]" = None  #: size and time of the last change when it was read; None: it may change

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._file)

    def _look(self) -> "Tuple[int, int]":
        now = os.stat(self._file)
        return now.st_size, now.st_mtime_ns

    def _same_file(self) -> Path:
        """The file, which must be as it was read: pictures and copies are made of it, numbers are in memory."""
        if self._stamp is not None and self._look() != self._stamp:
            raise Error(f"{self._file} has changed since it was read; galpha.load() reads it anew",
                        reason="FILE_CHANGED", status="ERR_FILE", file=self._file)
        return self.path

    def __getstate__(self) -> "Dict[str, Any]":
        state = dict(self.__dict__)
        if state.pop("_keep") is not None:
            state["_bytes"] = self.path.read_bytes()
        return state

    def __setstate__(self, state: "Dict[str, Any]") -> None:
        content = state.pop("_bytes", None)
        self.__dict__.update(state, _keep=None)
        if content is not None:
            self._keep = Folder()
            self._file = os.path.join(self._keep.name, os.path.basename(state["_file"]))
            self.path.write_bytes(content)
            self._stamp = self._look()


class Result(OfFile):
    """A run: `t` [s], and signals by name: res["hinge.angle"].

    All signals are rows of one array, `values` [signals × records], which is read once; what indexing returns are views
    of it, without a copy. `units`, `events`, `attributes`, `status`, `warnings`, `summary` and `model` say more."""

    def __init__(self, path: "str | os.PathLike[str]", keep: Any = None, summary: str = "",
                 warnings: Sequence[str] = ()) -> None:
        self._file = os.fspath(path)
        self._keep = keep  # what owns a temporary file
        self.summary = summary  #: what the program prints at the end of the run
        self.warnings: List[str] = list(warnings)
        with h5py().File(self._file, "r") as f:
            if "values" not in f or "names" not in f:
                raise Error(f"{self._file} is not a result of galpha", reason="FILE_KIND", status="ERR_FILE",
                            file=self._file)
            self.values: Array = np.empty(f["values"].shape)
            if self.values.size:
                f["values"].read_direct(self.values)
            self.t: Array = np.asarray(f["time"][()], dtype=float)
            names = [name.decode("utf-8") for name in f["names"][()]]
            units = [unit.decode("utf-8") for unit in f["units"][()]]
            self.attributes: Dict[str, str] = {k: _as_text(v) for k, v in f.attrs.items()}
            self.model = _as_text(f["model"][()]) if "model" in f else ""  #: its text
            self.events: List[Event] = []
            if "events" in f and "event_names" in f:
                known = [name.decode("utf-8") for name in f["event_names"][()]]
                times, numbers = f["events"][()]
                self.events = [Event(float(t), known[int(i)]) for t, i in zip(times, numbers)]
        self._stamp = None if self.status == "running" else self._look()
        self._row = {name: i for i, name in enumerate(names)}
        self.signals: List[str] = [n for n in names if not n.endswith((ERROR, POSE))]  #: their names
        self.units: Dict[str, str] = dict(zip(names, units))  #: by name

    @property
    def status(self) -> str:
        """How the run ended: "finished", "stopped", "failed", or "running"."""
        return self.attributes.get("status", "")

    def row(self, name: str) -> Array:
        """A row of `values` by its name, error bars ("hinge.angle:error") and poses among them."""
        try:
            row: Array = self.values[self._row[name]]
            return row
        except KeyError:
            left_out = self.attributes.get("left_out", "0")
            more = f"; {left_out} that cannot change were not recorded (record='*')" if left_out != "0" else ""
            raise KeyError(f"there is no signal {name!r}{_nearest(name, self.signals)}{more}") from None

    def __getitem__(self, name: str) -> Array:
        return self.t if name in ("t", "time") and name not in self._row else self.row(name)

    def __contains__(self, name: object) -> bool:
        return name in self._row

    def __iter__(self) -> "Iterator[str]":
        return iter(self.signals)

    def __len__(self) -> int:
        return len(self.signals)

    def keys(self) -> "List[str]":
        """Names of all signals."""
        return list(self.signals)

    def find(self, pattern: str) -> "List[str]":
        """Names that match, * being any text: find("*.angle")."""
        import fnmatch

        return [n for n in self.signals if fnmatch.fnmatchcase(n, pattern.replace("[", "[[]"))]

    def unit(self, name: str) -> str:
        """Unit of a signal, "" where it has none."""
        self.row(name)
        return self.units[name]

    def error(self, name: str) -> "Optional[Array]":
        """Error bars of a signal at each record; None: the run has none."""
        return self.values[self._row[name + ERROR]] if name + ERROR in self._row else None

    @property
    def energy(self) -> "Dict[str, Array]":
        """Energies [J] by name: kinetic, potential, dissipated, input, balance."""
        before = "energy."
        return {n[len(before):]: self.row(n) for n in self.signals if n.startswith(before)}

    # ---- Views by other libraries ----

    def to_pandas(self, *signals: str) -> "pandas.DataFrame":
        """A table over time with a column for each signal (default: all); units in `.attrs["units"]`."""
        import pandas

        names = list(signals) or self.signals
        frame = pandas.DataFrame(self._columns(names), columns=names, copy=False,
                                 index=pandas.Index(self.t, name="t", copy=False))
        frame.attrs["units"] = {n: self.units[n] for n in names}
        return frame

    def _columns(self, names: "List[str]") -> Array:
        """[records × signals]; a view of all signals if these are they."""
        if names == self.signals:
            return self.values[: len(names)].T
        return np.stack([self.row(n) for n in names], axis=1) if names else np.empty((len(self.t), 0))

    def to_xarray(self, *signals: str) -> "xarray.Dataset":
        """A dataset over t: a variable for each signal, with its unit and, as NAME:error, its error bars."""
        import xarray

        names = list(signals) or self.signals
        names = [m for n in names for m in (n, n + ERROR) if m in self._row or m == n]
        data = {n: ("t", self.row(n), {"units": self.units[n]}) for n in names}
        return xarray.Dataset(data, coords={"t": ("t", self.t, {"units": "s"})}, attrs=dict(self.attributes))

    # ---- Files ----

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the result file; `galpha.load()`, h5py and the program read it. An existing file is replaced."""
        target = Path(path)
        source = self._same_file()
        if not (target.exists() and target.samefile(source)):
            part = target.with_name(target.name + ".part")
            shutil.copyfile(source, part)
            os.replace(part, target)
        return target

    # ---- Pictures ----

    def plot(self, *signals: str, file: "Optional[str | os.PathLike[str]]" = None, band: bool = False,
             **options: Any) -> Any:
        """Draws signals over time (default: all but energies), one panel for each unit.

        With matplotlib: returns the figure. `file` (.svg, .png, .pdf), or without matplotlib: by the program's own
        `plot`, which takes expressions too and all its options: plot("a*b", file="p.svg", xy=("x", "y"), title="")."""
        from . import _plot

        return _plot.plot(self, signals, file, band, options)

    def view(self, *signals: str, height: int = 640) -> "View":
        """The machine moving, in a notebook: the page of `galpha view`. `.save("page.html")` writes it."""
        from ._plot import View

        return View(self, signals, height)

    def __repr__(self) -> str:
        ends = f", t = {self.t[0]:.6g} ... {self.t[-1]:.6g} s" if len(self.t) else ""
        title = self.attributes.get("title") or self.path.name
        return f"<galpha.Result {title!r}: {len(self.signals)} signals, {len(self.t)} records{ends}, {self.status}>"


def _as_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = value.item() if value.ndim == 0 else value.tobytes()
    return value.decode("utf-8").rstrip("\0") if isinstance(value, bytes) else str(value)


def load(path: "Union[str, os.PathLike[str]]") -> Result:
    """Opens a result file. Needs h5py only, also while a run is still writing it."""
    return Result(path)
