"""Many runs of a model, and derivatives of one: sweep, sensitivity. Each is the program's command of that name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _commands
from ._library import h5py
from .analyses import Model, Path_, Values, _describe, _texts, _to_file
from .errors import Error
from .results import Array, Result, _as_text, _nearest

if TYPE_CHECKING:
    import pandas

Axes = Mapping[str, Union[float, str, Sequence[float], Array]]  #: of parameters: lists in SI units, or texts


class Table:
    """The table of a sweep: a row for each run; columns by name: table["peak"].

    `values` [runs × columns] has all of it; columns are views of it, without a copy. `units`, `messages` (by the number
    of the run), `series` (signals over time, [runs × times]), `t` and `summary` say more."""

    def __init__(self, path: Path, keep: Any = None, summary: str = "", warnings: Sequence[str] = ()) -> None:
        self.path = Path(path)  #: the file
        self._keep = keep  # what owns a temporary file
        self.summary = summary  #: what the program prints at the end
        self.warnings: List[str] = list(warnings)
        with h5py().File(self.path, "r") as f:
            if not _as_text(f.attrs.get("format", "")).startswith("galpha sweep "):
                raise Error(f"{self.path} is not the table of a sweep", reason="FILE_KIND", status="ERR_FILE",
                            file=str(self.path))
            self.values: Array = np.asarray(f["values"][()], dtype=float)
            self.names: List[str] = _texts(f["names"])  #: of the columns
            self.units: Dict[str, str] = dict(zip(self.names, _texts(f["units"])))  #: by name
            runs, texts = f["messages/run"][()], _texts(f["messages/text"])
            self.messages: Dict[int, str] = {int(run): text for run, text in zip(runs, texts)}
            series = {k: np.asarray(v[()], dtype=float) for k, v in f["series"].items()} if "series" in f else {}
            self.t: Array = series.pop("time", np.zeros(0)).ravel()  #: [s] of the series
            self.series: Dict[str, Array] = series
            self.model = _as_text(f["model"][()])  #: its text, with the values of run 0

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

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each run; units in `attrs["units"]`."""
        import pandas

        table = pandas.DataFrame(self.values, columns=self.names)
        table.attrs["units"] = dict(self.units)
        return table

    def __repr__(self) -> str:
        return f"<galpha.Table of {len(self)} runs: {', '.join(self.names)}>"


def _read_table(path: Path, keep: Any, outcome: "_commands.Outcome") -> Table:
    return Table(path, keep, outcome.printed, outcome.warnings)


def sweep(model: Model, *measures: str, set: "Optional[Axes]" = None, out: "Optional[Path_]" = None,
          **settings: Any) -> Table:
    return _to_file("sweep", model, out, set, settings, _read_table, *(f"--measure={m}" for m in measures))


def sensitivity(model: Model, *by: str, set: "Optional[Values]" = None, out: "Optional[Path_]" = None,
                **settings: Any) -> Result:
    def read(path: Path, keep: Any, outcome: "_commands.Outcome") -> Result:
        return Result(path, keep, outcome.printed, outcome.warnings)

    return _to_file("sensitivity", model, out, set, settings, read, *(f"--by={name}" for name in by))


_describe(sweep, "sweep", "Runs a model with many values of its parameters: a galpha.Table of measures, as "
          "\"peak=max(hinge.fx)\".", True)
_describe(sensitivity, "sensitivity", "A run with derivatives of signals by parameters: a galpha.Result with "
          "res[\"d(tip.x)/d(k)\"].", True)
