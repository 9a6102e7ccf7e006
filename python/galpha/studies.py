"""Many runs of a model, and derivatives of one: sweep, sensitivity. Each is the program's command of that name."""

from __future__ import annotations

import csv
import os
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _commands
from ._library import h5py
from .analyses import Model, Path_, Values, _describe, _texts, _to_file
from .errors import Error
from .results import Array, OfFile, Result, _as_text, _nearest

if TYPE_CHECKING:
    import pandas

    from ._plot import Picture

Axes = Mapping[str, Union[float, str, Sequence[float], Array]]  #: of parameters: lists in SI units, or texts


class Table(OfFile):
    """The table of a sweep: a row for each run; columns by name: table["peak"].

    `values` [runs × columns] has all of it; columns are views of it, without a copy. `units`, `messages` (by the number
    of the run), `series` (signals over time, [runs × times]), `t` and `summary` say more."""

    def __init__(self, path: Path_, keep: Any = None, summary: str = "", warnings: Sequence[str] = ()) -> None:
        self._file = os.fspath(path)
        self._keep = keep  # what owns a temporary file
        self.summary = summary  #: what the program prints at the end
        self.warnings: List[str] = list(warnings)
        self._stamp = self._look()
        if self._file.endswith(".csv"):
            self._read_csv()
            return
        with h5py().File(self._file, "r") as f:
            if not _as_text(f.attrs.get("format", "")).startswith("galpha sweep "):
                raise Error(f"{self._file} is not the table of a sweep", reason="FILE_KIND", status="ERR_FILE",
                            file=self._file)
            self.values: Array = np.asarray(f["values"][()], dtype=float)
            self.names: List[str] = _texts(f["names"])  #: of the columns
            self.units: Dict[str, str] = dict(zip(self.names, _texts(f["units"])))  #: by name
            runs, texts = f["messages/run"][()], _texts(f["messages/text"])
            self.messages: Dict[int, str] = {int(run): text for run, text in zip(runs, texts)}
            series = {k: np.asarray(v[()], dtype=float) for k, v in f["series"].items()} if "series" in f else {}
            self.t: Array = series.pop("time", np.zeros(0)).ravel()  #: [s] of the series
            self.series: Dict[str, Array] = series
            self.model = _as_text(f["model"][()])  #: its text, with the values of run 0

    def _read_csv(self) -> None:
        with open(self._file, newline="", encoding="utf-8") as f:
            head, *rows = csv.reader(f)
        self.values = np.array([[float(x) for x in row[:-1]] for row in rows])
        titles = [re.fullmatch(r"(.*?)(?: \[([^\[\]]*)\])?", title, re.DOTALL) for title in head[:-1]]
        self.names = [t[1] for t in titles if t]
        self.units = {t[1]: t[2] or "" for t in titles if t}
        self.messages = {int(row[0]): row[-1] for row in rows if row[-1]}
        self.t, self.series, self.model = np.zeros(0), {}, ""

    def __getitem__(self, name: str) -> Array:
        if name not in self.units:
            raise KeyError(f"there is no column {name!r}{_nearest(name, self.names)}")
        column: Array = self.values[:, self.names.index(name)]
        return column

    def __len__(self) -> int:
        return len(self.values)

    @property
    def failed(self) -> "List[int]":
        """Numbers of the runs that failed; `messages` say why."""
        return [int(run) for run in self["run"][self["status"] == 1]]

    def plot(self, *names: str, file: "Optional[Path_]" = None, **options: Any) -> "Picture":
        """Draws measures over the first parameter, or signals of `record` over time (default: all measures), by the
        program's `plot` and with its options: plot("peak", file="p.svg"), plot(xy=("k", "peak"))."""
        from ._plot import by_program

        return by_program(self._same_file(), names, file, options)

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each run; units in `attrs["units"]`."""
        import pandas

        table = pandas.DataFrame(self.values, columns=self.names)
        table.attrs["units"] = dict(self.units)
        return table

    def __repr__(self) -> str:
        return f"<galpha.Table of {len(self)} runs: {', '.join(self.names)}>"


def _read_table(path: str, keep: Any, outcome: "_commands.Outcome") -> Table:
    return Table(path, keep, outcome.printed, outcome.warnings)


def _measures(measures: "Iterable[Any]") -> "List[str]":
    """Their texts; a dict has them by name."""
    texts: "List[str]" = []
    for m in measures:
        if isinstance(m, Mapping):
            texts += [f"{name}={text}" for name, text in m.items()]
        elif isinstance(m, str):
            texts.append(m)
        else:
            raise TypeError(f"a measure is a text, as 'max(tip.x)', not {m!r}")
    return texts


def sweep(model: Model, *measures: str, set: "Optional[Axes]" = None, out: "Optional[Path_]" = None,
          **settings: Any) -> Table:
    return _to_file("sweep", model, out, set, settings, _read_table, *(f"--measure={m}" for m in _measures(measures)))


class Gradient(OfFile):
    """Derivatives of measures by parameters: g["end", "k"], g["end"] (all of them, in the order of `by`)."""

    def __init__(self, path: Path_, keep: Any = None, summary: str = "", warnings: Sequence[str] = ()) -> None:
        self._file = os.fspath(path)
        self._keep = keep  # what owns a temporary file
        self.summary = summary  #: what the program prints at the end
        self.warnings: List[str] = list(warnings)
        with h5py().File(self._file, "r") as f:
            if not _as_text(f.attrs.get("format", "")).startswith("galpha gradient "):
                raise Error(f"{self._file} has no derivatives of measures", reason="FILE_KIND", status="ERR_FILE",
                            file=self._file)
            self.names: List[str] = _texts(f["names"])  #: of the measures
            self.by: List[str] = _texts(f["by"])  #: the parameters
            self.gradient: Array = np.asarray(f["gradient"][()], dtype=float).reshape(len(self.names), len(self.by))
            self.values: Dict[str, float] = dict(zip(self.names, map(float, f["values"][()].ravel())))  #: of the measures
            self.parameters: Dict[str, float] = dict(zip(self.by, map(float, f["by_values"][()].ravel())))  #: in SI units
            self.notes: Dict[str, str] = {k: v for k, v in zip(self.names, _texts(f["notes"])) if v}
            self.method = _as_text(f.attrs["derivatives"])  #: "forward" or "adjoint"
            self.model = _as_text(f["model"][()])  #: its text
            pairs = [(name, by) for name in self.names for by in self.by]
            self.units: Dict[Any, str] = dict(zip(self.names, _texts(f["units"])))  #: of measures, parameters and pairs
            self.units.update(zip(self.by, _texts(f["by_units"])))
            self.units.update(zip(pairs, _texts(f["gradient_units"])))

    def __getitem__(self, key: "Union[str, Tuple[str, str]]") -> Any:
        name, by = key if isinstance(key, tuple) else (key, None)
        for wanted, known, what in ((name, self.names, "measure"), (by, self.by, "parameter")):
            if wanted is not None and wanted not in known:
                raise KeyError(f"there is no {what} {wanted!r}{_nearest(wanted, known)}")
        row = self.gradient[self.names.index(name)]
        return row if by is None else float(row[self.by.index(by)])

    def relative(self) -> Array:
        """p dm/dp / m: by how many per cent a measure changes for 1 % of a parameter."""
        values = np.array([self.values[name] for name in self.names])
        p = np.array([self.parameters[by] for by in self.by])
        relative: Array = self.gradient * p[None, :] / values[:, None]
        return relative

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each measure, a column for each parameter; units in `attrs["units"]`."""
        import pandas

        table = pandas.DataFrame(self.gradient, index=self.names, columns=self.by)
        table.attrs["units"] = dict(self.units)
        return table

    def __repr__(self) -> str:
        return f"<galpha.Gradient of {', '.join(self.names)} by {len(self.by)} parameters, {self.method}>"


@overload
def sensitivity(model: Model, *by: str, measures: None = None, set: "Optional[Values]" = None,
                out: "Optional[Path_]" = None, **settings: Any) -> Result: ...
@overload
def sensitivity(model: Model, *by: str, measures: "Union[str, Sequence[str]]", set: "Optional[Values]" = None,
                out: "Optional[Path_]" = None, **settings: Any) -> Gradient: ...


def sensitivity(model: Model, *by: str, measures: "Optional[Union[str, Sequence[str], Mapping[str, str]]]" = None,
                set: "Optional[Values]" = None, out: "Optional[Path_]" = None,
                **settings: Any) -> "Union[Result, Gradient]":
    def read(path: str, keep: Any, outcome: "_commands.Outcome") -> "Union[Result, Gradient]":
        if measures is None:
            return Result(path, keep, outcome.printed, outcome.warnings)
        return Gradient(path, keep, outcome.printed, outcome.warnings)

    given = [] if measures is None else [measures] if isinstance(measures, (str, Mapping)) else measures
    texts = _measures(given)
    if measures is not None and not texts:
        raise ValueError("measures is empty")
    return _to_file("sensitivity", model, out, set, settings, read, *(f"--by={name}" for name in by),
                    *(f"--measure={text}" for text in texts))


_describe(sweep, "sweep", "Runs a model with many values of its parameters: a galpha.Table of measures, as "
          "\"peak=max(hinge.fx)\".", True)
_describe(sensitivity, "sensitivity", "A run with derivatives of signals by parameters: a galpha.Result with "
          "res[\"d(tip.x)/d(k)\"]; with measures=[\"end=final(tip.x)\"] a galpha.Gradient, by all parameters unless some "
          "are given: g[\"end\", \"k\"].", True)
