"""Pictures of results: by matplotlib, by the program's `plot`, and the page of `galpha view`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    from .results import Result


def plot(result: "Result", signals: Sequence[str], file: "Optional[str | os.PathLike[str]]", band: bool,
         options: "Dict[str, Any]") -> Any:
    """See Result.plot()."""
    try:
        import matplotlib  # noqa: F401
        drawn_here = file is None and not options
    except ImportError:
        drawn_here = False
    if drawn_here:
        return _by_matplotlib(result, _chosen(result, signals), band)
    return by_program(result._same_file(), signals, file, {**options, "band": band or None})


def _chosen(result: "Result", signals: Sequence[str]) -> "List[str]":
    """Names and patterns as names, each once."""
    if not signals:
        return [n for n in result.signals if not n.startswith("energy.")]
    names: "List[str]" = []
    for pattern in signals:
        found = result.find(pattern) if "*" in pattern else [pattern]
        if pattern not in result and not found:
            result.row(pattern)
        names += [n for n in found if n not in names]
    return names


def _by_matplotlib(result: "Result", names: "List[str]", band: bool) -> Any:
    from matplotlib import pyplot

    panels: "Dict[str, List[str]]" = {}
    for name in names:
        panels.setdefault(result.unit(name), []).append(name)
    figure, axes = pyplot.subplots(max(len(panels), 1), 1, sharex=True, squeeze=False, layout="constrained",
                                   figsize=(8.0, 1.0 + 2.2 * max(len(panels), 1)))
    for ax, (unit, members) in zip(axes[:, 0], panels.items()):
        for name in members:
            line, = ax.plot(result.t, result[name], label=name, linewidth=1.2)
            error = result.error(name) if band else None
            if error is not None:
                ax.fill_between(result.t, result[name] - error, result[name] + error, alpha=0.25,
                                color=line.get_color(), linewidth=0)
        for event in result.events:
            ax.axvline(event.t, color="0.6", linewidth=0.8, linestyle=":")
        ax.set_ylabel(members[0] + (f" [{unit}]" if unit else "") if len(members) == 1 else f"[{unit}]")
        ax.grid(alpha=0.3)
        if len(members) > 1:
            ax.legend(loc="best", fontsize="small")
    axes[-1, 0].set_xlabel("t [s]")
    figure.suptitle(result.attributes.get("title", ""))
    pyplot.close(figure)  # a notebook draws what is returned; without this it would do so twice
    return figure


class Picture:
    """A picture that was drawn by the program; notebooks show it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path.read_bytes()

    def _repr_svg_(self) -> "Optional[str]":
        return self.data.decode("utf-8") if self.path.suffix == ".svg" else None

    def _repr_png_(self) -> "Optional[bytes]":
        return self.data if self.path.suffix == ".png" else None


def by_program(path: Path, signals: Sequence[str], file: "Optional[str | os.PathLike[str]]",
               options: "Dict[str, Any]") -> Picture:
    """A picture of a file with results or the table of a sweep."""
    from ._commands import arguments, command

    with tempfile.TemporaryDirectory(prefix="galpha-") as folder:
        target = Path(file) if file is not None else Path(folder) / "plot.svg"
        command("plot", path, *signals, f"--out={target}", *arguments("plot", options))
        return Picture(target)


class View:
    """The page of `galpha view`: a notebook shows it; `html` is its text."""

    def __init__(self, result: "Result", signals: Sequence[str], height: int) -> None:
        from ._commands import command

        with tempfile.TemporaryDirectory(prefix="galpha-") as folder:
            page = Path(folder) / "view.html"
            command("view", result._same_file(), *signals, f"--out={page}")
            self.html = page.read_text(encoding="utf-8")
        self.height = height

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the page; it needs nothing else."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from html import escape

        return (f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{self.height}" '
                'style="border:0" sandbox="allow-scripts allow-downloads"></iframe>')
