"""The commands of the program, called in this process: the same code, so the same bits.

A command runs in a thread of its own without Python's lock; the thread that called waits, so that Ctrl-C is seen at
once. It then stops the command, which keeps what it has."""

from __future__ import annotations

import os
import threading
import warnings
from collections import abc
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

from ._library import encode, ffi, lib, nearest, text
from .errors import Error, GalphaWarning, Interrupted, Message, ModelError, error_data


class Outcome(NamedTuple):
    """What a command has left."""

    code: int  #: 0: done; 1: failed; 2: the arguments or the model are wrong
    printed: str
    reported: str
    interrupted: bool
    error: "Optional[Error]"  #: where the code is not 0
    messages: "List[Message]"  #: about the model
    others: "List[str]"  #: warnings that are not about the model

    @property
    def warnings(self) -> "List[str]":
        """Those about the model, with file and line, then all others."""
        return [f"{m.place}: {m.text}" if m.place else m.text for m in self.messages if m.level == "warning"] + self.others


    def renamed(self, names: "Dict[str, str]") -> "Outcome":
        """With other names in its texts, as of temporary files that the caller does not know."""
        error = self.error
        if error is not None:
            for key, value in {**error.__dict__}.items():
                if isinstance(value, str):
                    setattr(error, key, replaced(value, names))
            error.args = (error.text,)
        return self._replace(printed=replaced(self.printed, names), reported=replaced(self.reported, names),
                             others=[replaced(line, names) for line in self.others])


def replaced(value: str, names: "Dict[str, str]") -> str:
    """A text with other names in it."""
    for name, other in names.items():
        value = value.replace(name, other)
    return value


WARNING = "warning: "  # begins a line


class Option(NamedTuple):
    """An option of a command."""

    name: str  #: as in the program, without dashes
    value: str  #: names of its values; "": a switch
    text: str
    repeats: bool


_one_at_a_time = {"converge": threading.Lock(), "papers": threading.Lock()}  # these have tables of their own


def options(command: str) -> "List[Option]":
    """All options of a command, settings of runs among them, from the program's table."""
    found: "List[Option]" = []
    at = ffi.new("app_call_option *")
    while lib.app_call_option_at(encode(command), len(found), at):
        found.append(Option(text(at.name), text(at.value), text(at.text), bool(at.repeats)))
    return found


def description(command: str) -> "tuple[str, str]":
    """The line about a command, and further help."""
    line, more = ffi.new("const char **"), ffi.new("const char **")
    if not lib.app_call_command(encode(command), line, more):
        raise ValueError(f"there is no command {command!r}")
    return text(line[0]), text(more[0])


def _messages(call: Any) -> "List[Message]":
    found = []
    for i in range(lib.app_call_n_messages(call)):
        m = lib.app_call_message(call, i)
        level = "error" if m.level == lib.GA_MESSAGE_ERROR else "warning"
        found.append(Message(level, text(m.file), m.line, m.column, text(m.text), error_data(m.error)))
    return found


def _sentence(command: str, reported: str) -> str:
    """The first line that is the command's own, without its name."""
    before = f"galpha {command}: "
    for line in reported.splitlines():
        if line.startswith(before):
            return line[len(before):]
    lines = [line for line in reported.splitlines() if not line.startswith(("warning: ", "note: "))]
    return lines[0] if lines else f"{command} failed"


def _warned(reported: str, messages: "List[Message]") -> "List[str]":
    """The lines that warn, without those about the model."""
    of_model = {str(m) for m in messages}
    return [line[len(WARNING):] for line in reported.splitlines() if line.startswith(WARNING) and line not in of_model]


def _error(command: str, code: int, call: Any, reported: str, messages: "List[Message]") -> "Optional[Error]":
    if code == 0:
        return None
    wrong = [m for m in messages if m.level == "error"]
    if wrong:
        place = {"file": wrong[0].file, "line": wrong[0].line, "column": wrong[0].column}
        return ModelError(wrong[0].text, {**(wrong[0].data or {}), **place}, messages=messages, report=reported)
    known = lib.app_call_error(call)
    data = error_data(known) if known != ffi.NULL else {}
    sentence = text(known.text) if known != ffi.NULL else _sentence(command, reported)
    return Error(sentence, data, messages=messages, report=reported)


def _wait(thread: threading.Thread, done: threading.Event, handle: Any) -> bool:
    """Starts a thread and waits until it is done, also after Ctrl-C, which may come at any place. Returns whether it came."""
    interrupted = started = False
    while not done.is_set():
        try:
            if not started:
                started = True
                thread.start()
            done.wait(None if thread.is_alive() else 0.1)
            if not thread.is_alive() and not done.is_set() and interrupted:
                break  # it came before the thread began
        except KeyboardInterrupt:
            interrupted = True
            lib.app_call_stop(handle)
    return interrupted


def call(arguments: "Sequence[str]") -> Outcome:
    """Runs a command: ["run", "car.yaml", "--step", "1ms"]. Raises nothing but for wrong types."""
    handle = ffi.gc(lib.app_call_create(), lib.app_call_destroy)
    if handle == ffi.NULL:
        raise MemoryError
    kept = [ffi.new("char[]", encode(os.fspath(a))) for a in arguments]
    argv = ffi.new("const char *[]", kept)
    lock = _one_at_a_time.get(arguments[0])
    codes: "List[int]" = []
    done = threading.Event()

    def work() -> None:
        try:
            if lock:
                with lock:
                    codes.append(lib.app_call_make(handle, len(kept), argv))
            else:
                codes.append(lib.app_call_make(handle, len(kept), argv))
        finally:
            done.set()

    interrupted = _wait(threading.Thread(target=work, name=f"galpha {arguments[0]}", daemon=True), done, handle)
    reported = text(lib.app_call_reported(handle))
    code = codes[0] if codes else 1
    messages = _messages(handle)
    return Outcome(code, text(lib.app_call_printed(handle)), reported, interrupted,
                   _error(arguments[0], code, handle, reported, messages), messages,
                   _warned(reported, messages))


def operand(path: "str | os.PathLike[str]") -> str:
    """A file as an operand, which no option is taken for."""
    name = os.fspath(path)
    return os.path.join(os.curdir, name) if name.startswith("-") else name


def _value(value: Any) -> str:
    """A value as the program reads it; numbers with all their digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (abc.Mapping, abc.Set)):
        raise TypeError(f"{value!r} has no order; a list has")
    if isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0:  # arrays have __index__ too
        items = list(value)
        if any(isinstance(item, Iterable) and not isinstance(item, str) and getattr(item, "ndim", 1) > 0 for item in items):
            raise TypeError(f"a list of numbers or texts, not of lists: {value!r}")
        return ",".join(_value(item) for item in items)
    if isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        raise TypeError(f"{value!r} is complex")
    if isinstance(value, int) or hasattr(value, "__index__"):
        return str(int(value))
    if isinstance(value, float) or hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"{value!r} is neither a number nor a text")


def _setting_options() -> "Dict[str, str]":
    """Settings whose option has another name: {"tolerance": "tol"}."""
    found, i, at = {}, 0, ffi.new("ga_setting *")
    while lib.ga_setting_at(i, at):
        i += 1
        if at.option != ffi.NULL:
            found[text(at.name)] = text(at.option)
    return found


def arguments(command: str, given: "Dict[str, Any]") -> "List[str]":
    """Keyword arguments as options of a command. None: not given."""
    known = {o.name.replace("-", "_"): o for o in options(command)}
    known.update({key: known[name.replace("-", "_")] for key, name in _setting_options().items()
                  if name.replace("-", "_") in known})
    out: "List[str]" = []
    for key, value in given.items():
        if value is None:
            continue
        option = known.get(key)
        if option is None:
            near = nearest(key, list(known))
            raise TypeError(f"{command}() has no option {key!r}" + (f"; the nearest is {near!r}" if near else ""))
        name = "--" + option.name
        if isinstance(value, dict):
            for k, v in value.items():
                out += [name, f"{k}={_value(v)}"]
        elif not option.value:
            if not isinstance(value, (bool, int)):
                raise TypeError(f"{key} is a switch, True or False, not {value!r}")
            out += [name] if value else []
        elif " " in option.value:
            out += [name, *(_value(v) for v in value)]
        else:
            out += [f"{name}={_value(value)}"]
    return out


def finish(outcome: Outcome) -> Outcome:
    """Passes on warnings, and raises the failure."""
    for line in outcome.warnings:
        warnings.warn(line, GalphaWarning, stacklevel=4)
    if outcome.interrupted:
        raise Interrupted
    if outcome.error is not None:
        raise outcome.error
    return outcome


def command(name: str, *arguments: "str | os.PathLike[str]") -> Outcome:
    """Any command of the program with its arguments: command("converge", "top.yaml", "--step", "1ms").

    Returns what it printed (`printed`, `reported`); raises galpha.Error where it fails."""
    return finish(call([name, *(os.fspath(a) for a in arguments)]))
