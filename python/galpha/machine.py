"""A machine built part by part, with the names that the library has in C: add_rigid(), add_joint(), add_spring(), ...

The functions come from the library's own tables, ga_part_at() and the schema of models, so that a new kind of part is there
by itself. What is built is a model as in a file; all its checks and messages are the reader's."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._library import encode, ffi, lib, nearest, text
from ._settings import TABLE

if TYPE_CHECKING:
    from .results import Result


def _schema() -> "Dict[str, Any]":
    size = lib.ga_model_schema(ffi.NULL, 0) + 1
    buffer = ffi.new("char[]", size)
    lib.ga_model_schema(buffer, size)
    found: "Dict[str, Any]" = json.loads(text(buffer))
    return found


class Kind:
    """A kind of part: its section of a model, and its fields with one line about each."""

    def __init__(self, name: str, section: str, type: str, about: str, rows: "List[Dict[str, Any]]") -> None:
        self.name, self.section, self.type, self.about = name, section, type, about
        self.fields: "Dict[str, str]" = {}
        self.needed: "List[str]" = []
        for row in rows:
            for key, value in row.get("properties", {}).items():
                if not (key == "type" and type):
                    self.fields.setdefault(key, _about(value))
            self.needed = [key for key in row.get("required", []) if key != "type" or not type]

    def check(self, fields: "Mapping[str, Any]") -> None:
        """Unknown names are refused at once; everything else is the reader's matter."""
        for key in fields:
            if key not in self.fields:
                near = nearest(key, list(self.fields))
                raise TypeError(f"add_{self.name}() has no field {key!r}" + (f"; the nearest is {near!r}" if near else ""))

    @property
    def help(self) -> str:
        """The text of its function."""
        rows = [self.about[:1].upper() + self.about[1:] + ".", ""]
        rows += [f"    {key}: {'(needed) ' if key in self.needed else ''}{line}" for key, line in self.fields.items()]
        return "\n".join(rows)


def _about(value: "Mapping[str, Any]") -> str:
    words = [", ".join(value["enum"])] if "enum" in value else []
    return "; ".join(words + [value["description"]] if "description" in value else words) or "see docs/model-format.md"


def _kinds() -> "Dict[str, Kind]":
    definitions = _schema()["definitions"]

    def rows(section: str, type: str) -> "List[Dict[str, Any]]":
        found = definitions[f"{section}_kinds"]
        found = found.get("anyOf", [found])
        return [row for row in found if not type or row["properties"].get("type", {}).get("const") == type]

    kinds: "Dict[str, Kind]" = {}
    at = ffi.new("ga_part_info *")
    while lib.ga_part_at(len(kinds), at):
        name, section, type = text(at.name), text(at.section), text(at.type)
        kinds[name] = Kind(name, section, type, text(at.about), rows(section, type))
    kinds["block"] = Kind("block", "blocks", "", "a block of control; type says which", rows("blocks", ""))
    kinds["function"] = Kind("function", "functions", "", "a function, of time or of a value; type says which",
                             rows("functions", ""))
    return kinds


KINDS = _kinds()


def _plain(value: Any) -> Any:
    """A value as JSON has it, all digits of numbers included; infinity as the word of models."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if hasattr(value, "__index__"):
        return int(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "__float__"):
        number = float(value)
        if number != number:
            raise ValueError("a number is not a number (nan)")
        return number if abs(number) != float("inf") else "inf" if number > 0 else "-inf"
    raise TypeError(f"{value!r} is neither a number, a text, a list nor a dict")


class Machine:
    """A machine built part by part. Fields are those of model files: numbers in SI units, texts with units or expressions.

        m = galpha.Machine("pendulum", gravity=[0, -9.81, 0], t_end=2)
        m.add_planar("rod", mass=1, inertia=0.1, com=[0.5, 0])
        m.add_joint("hinge", type="revolute", a="ground", b="rod", at=[0, 0, 0])
        res = m.run()

    parameters: names for expressions in fields, as in a file. form: of rigid bodies. Settings of a run may be given here, or in
    run(). folder: where the files are that fields name (meshes, tables)."""

    def __init__(self, title: str = "machine", *, gravity: Any = None, parameters: "Optional[Mapping[str, Any]]" = None,
                 form: "Optional[str]" = None, folder: "Optional[Union[str, os.PathLike[str]]]" = None,
                 **settings: Any) -> None:
        self.title = title
        self.folder = os.fspath(folder) if folder is not None else None
        self._model: "Dict[str, Any]" = {"galpha": 1, "title": title}
        for key, value in (("parameters", parameters), ("form", form), ("gravity", gravity)):
            if value is not None:
                self._model[key] = _plain(value)
        for key in settings:
            if key not in TABLE and key != "record":
                near = nearest(key, list(TABLE))
                raise TypeError(f"there is no setting {key!r}" + (f"; the nearest is {near!r}" if near else ""))
        if settings:
            self._model["simulation"] = _plain(settings)

    @property
    def name(self) -> str:
        """The title as the name of a file."""
        return "".join(c if c.isalnum() else "_" for c in self.title) or "machine"

    def add(self, kind: str, name: str, /, **fields: Any) -> "Machine":
        """Adds a part of a kind: add("spring", "s", ...) is add_spring("s", ...). Returns the machine."""
        if kind not in KINDS:
            near = nearest(kind, list(KINDS))
            raise TypeError(f"there is no kind of part {kind!r}" + (f"; the nearest is {near!r}" if near else ""))
        row = KINDS[kind]
        if "kind" in fields and "kind" not in row.fields and "type" in row.fields:
            fields["type"] = fields.pop("kind")  # the member of that name in C
        fields = {k[:-1] if k[-1:] == "_" and k[:-1] in row.fields else k: v for k, v in fields.items()}  # from_, if_
        row.check(fields)
        section = self._model.setdefault(row.section, {})
        if name in section:
            raise ValueError(f"there is a {kind} {name!r} already")
        given = {key: _plain(value) for key, value in fields.items() if value is not None}
        section[name] = {**({"type": row.type} if row.type else {}), **given}
        return self

    @property
    def text(self) -> str:
        """The model as JSON, which is YAML: one line for each part."""
        def line(key: str, value: Any) -> str:
            if key in _SECTIONS:
                parts = [f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
                return f"{json.dumps(key)}: {{\n" + ",\n".join(parts) + "\n}"
            return f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"

        return "{" + ",\n".join(line(k, v) for k, v in self._model.items()) + "}\n"

    def save(self, path: "Union[str, os.PathLike[str]]") -> None:
        """Writes the model as a YAML file."""
        from .analyses import write

        content = write(self)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def run(self, **settings: Any) -> "Result":
        """galpha.run() of this machine."""
        from .analyses import run

        return run(self, **settings)

    if TYPE_CHECKING:  # add_rigid, add_joint, ...: one for each row of KINDS

        def __getattr__(self, name: str) -> "Callable[..., Machine]": ...

    def __repr__(self) -> str:
        counts = [f"{len(self._model[s])} {s}" for s in _SECTIONS if s in self._model]
        return f"<galpha.Machine {self.title!r}: {', '.join(counts) or 'no parts'}>"


_SECTIONS = list(dict.fromkeys(kind.section for kind in KINDS.values()))


def _adder(kind: Kind) -> "Callable[..., Machine]":
    def add(self: Machine, name: str, **fields: Any) -> Machine:
        return self.add(kind.name, name, **fields)

    add.__name__ = f"add_{kind.name}"
    add.__qualname__ = f"Machine.{add.__name__}"
    add.__doc__ = kind.help
    return add


for _kind in KINDS.values():
    setattr(Machine, f"add_{_kind.name}", _adder(_kind))
