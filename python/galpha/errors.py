"""Failures as exceptions, with the same text and data as in C, and warnings."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Sequence, Tuple

from ._library import choice_name, ffi, lib, text


class Message(NamedTuple):
    """One message about a model file."""

    level: str  #: "error" or "warning"
    file: str
    line: int  #: from 1; 0: not in a file
    column: int
    text: str
    data: "Optional[dict[str, Any]]" = None  #: the same as data, as the attributes of Error

    @property
    def place(self) -> str:
        """file:line:column, "" where it has none."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)

    def __str__(self) -> str:
        return f"{self.place}: {self.level}: {self.text}" if self.place else f"{self.level}: {self.text}"


class GalphaWarning(UserWarning):
    """What the library or a command warns of; the run goes on."""


class Error(Exception):
    """A failure of the library or of a command.

    `text` is its sentence: what failed, where, by how much, and what to do. The same as data, "", None or () where it
    does not apply: `status` ("ERR_ARGUMENT"), `reason` ("UNKNOWN_PART"; galpha.reasons() lists them), `kind`, `part`,
    `field`, `item`, `item_name`, `name`, `other`, `nearest`, `expected`, `detail`, `numbers` (value, unit), `within`,
    `t` and `h` [s], `equation`, `block`, `index`, `function`, `callback`, `code`, and for models `file`, `line`,
    `column`. `messages`: all messages about a model. `report`: all that the command printed about it.
    `result`: the results up to the failure, where there are any.
    """

    text: str
    status: str = "ERR_ARGUMENT"
    reason: str = "OTHER"
    kind: str = ""
    part: str = ""
    field: str = ""
    item: Optional[int] = None
    item_name: str = ""
    name: str = ""
    other: str = ""
    nearest: str = ""
    expected: str = ""
    detail: str = ""
    numbers: Tuple[Tuple[float, str], ...] = ()
    within: str = ""
    t: Optional[float] = None
    h: Optional[float] = None
    equation: str = ""
    block: Optional[int] = None
    index: Optional[int] = None
    function: str = ""
    callback: str = ""
    code: int = 0
    file: str = ""
    line: int = 0
    column: int = 0
    messages: Sequence[Message] = ()
    report: str = ""
    result: Any = None

    def __init__(self, sentence: str, data: "Optional[dict[str, Any]]" = None, **more: Any) -> None:
        super().__init__(sentence)
        self.text = sentence
        for key, value in {**(data or {}), **more}.items():
            setattr(self, key, value)


class ModelError(Error):
    """A model file with errors: `messages` has all of them, the other attributes are those of the first."""

    def __str__(self) -> str:
        return "\n".join(str(m) for m in self.messages if m.level == "error") or self.text


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: `result` has what was recorded until then; None: nothing."""

    result: Any = None


def error_data(error: Any) -> "dict[str, Any]":
    """The members of a ga_error, by their names in C."""
    data: "dict[str, Any]" = {}
    for name, member in ffi.typeof("ga_error").fields:
        value = getattr(error, name)
        if name in ("n_numbers", "text"):
            continue
        if name == "number":
            data["numbers"] = tuple((value[i].value, text(value[i].unit)) for i in range(error.n_numbers))
        elif name == "status":
            data[name] = choice_name("ga_status", value, "GA_")
        elif name == "reason":
            data[name] = choice_name("ga_reason", value, "GA_REASON_")
        elif member.type.kind == "array":
            data[name] = text(value)
        elif isinstance(value, float):
            data[name] = None if math.isnan(value) else value
        elif name in ("block", "index", "item"):
            data[name] = None if value < 0 else value
        else:
            data[name] = value
    return data


def raise_context(ctx: Any, status: int) -> None:
    """Raises the last failure of a context, if `status` is one."""
    if status == lib.GA_OK:
        return
    error = lib.ga_context_error(ctx)
    if error.status == status:
        raise Error(text(error.text), error_data(error))
    raise Error(text(lib.ga_status_text(status)), status=choice_name("ga_status", status, "GA_"))


def reasons() -> "dict[str, str]":
    """Every reason of failures with its meaning."""
    names = ffi.typeof("ga_reason").elements
    return {names[i][len("GA_REASON_"):]: text(lib.ga_reason_text(i)) for i in sorted(names)}
