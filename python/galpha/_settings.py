"""Settings of a run in C, by the library's table of them."""

from __future__ import annotations

from typing import Any, Dict

from ._library import encode, ffi, lib, nearest, text
from .errors import raise_context


def table() -> "Dict[str, Any]":
    """All settings by their names: rows of the table."""
    rows: "Dict[str, Any]" = {}
    at = ffi.new("ga_setting *")
    while lib.ga_setting_at(len(rows), at):
        rows[text(at.name)] = at
        at = ffi.new("ga_setting *")
    return rows


TABLE = table()


def about() -> "Dict[str, str]":
    """Every setting of a run with one line about it."""
    return {name: text(row.about) for name, row in TABLE.items()}


_NAMES = {**{name: name for name in TABLE},
          **{text(row.option).replace("-", "_"): name for name, row in TABLE.items() if row.option != ffi.NULL}}


def _quantity(context: Any, row: Any, name: str, value: str) -> float:
    """A number with a unit, "1 ms"."""
    out = ffi.new("double *")
    if lib.ga_quantity_parse(context, encode(value), row.unit, out, ffi.NULL, ffi.NULL):
        raise ValueError(f"{name}: {text(lib.ga_context_error(context).text)}")
    return float(out[0])


def _number(context: Any, row: Any, name: str, value: Any) -> Any:
    """A value as the member's type."""
    if row.type == lib.GA_SETTING_CHOICE:
        choices = [text(row.choices[i]) for i in range(row.n_choices)]
        if value not in choices:
            raise ValueError(f"{name}: {value!r} is none of {', '.join(choices)}")
        return choices.index(value)
    if row.type == lib.GA_SETTING_FLAG:
        return int(bool(value))
    if row.type == lib.GA_SETTING_INTEGER:
        word = text(row.zero_word) if row.zero_word != ffi.NULL else None
        if word is not None and isinstance(value, str):
            if value != word:
                raise ValueError(f"{name}: {value!r} is neither {word!r} nor a whole number")
            return 0
        return int(value)
    return _quantity(context, row, name, value) if isinstance(value, str) else float(value)


def settings(context: Any, given: "Dict[str, Any]") -> Any:
    """ga_run_settings with these values; the rest as the library has it. Steps of a given size and tolerances replace
    each other, and there are no error bars."""
    out = ffi.new("ga_run_settings *", lib.ga_run_defaults())
    chosen = set()
    for key, value in given.items():
        if value is None:
            continue
        name = _NAMES.get(key)
        if name is None:
            near = nearest(key, list(_NAMES))
            raise TypeError(f"there is no setting {key!r}" + (f"; the nearest is {near!r}" if near else ""))
        row = TABLE[name]
        kind = "double *" if row.type == lib.GA_SETTING_NUMBER else "int *"
        ffi.cast(kind, ffi.cast("char *", out) + row.offset)[0] = _number(context, row, name, value)
        chosen.add(name)
    if "accuracy" in chosen and out.accuracy > 0.0:
        raise ValueError("accuracy: error bars are those of models in files; compare two tolerances instead")
    lib.ga_run_choose_steps(out, "step" in chosen, "tolerance" in chosen, 0)
    out.accuracy = 0.0
    raise_context(context, lib.ga_run_check(context, out))
    return out
