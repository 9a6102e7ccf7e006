"""The native module: the library's functions, and how its values become Python's."""

from __future__ import annotations

from typing import Any, Optional

from . import _native  # type: ignore[attr-defined]

ffi: Any = _native.ffi
lib: Any = _native.lib

lib.app_call_begin()


def text(value: Any) -> str:
    """A text of the library; NULL is the empty text."""
    return "" if value == ffi.NULL else str(ffi.string(value).decode("utf-8", "replace"))


def encode(value: str) -> bytes:
    """A text for the library. One with a zero character would end early, so it is refused."""
    data = value.encode("utf-8")
    if b"\0" in data:
        raise ValueError("a text with a zero character")
    return data


def choice_name(enum: str, value: int, prefix: str) -> str:
    """The name of an enum's value without its prefix: choice_name("ga_status", -1, "GA_") is "ERR_ARGUMENT"."""
    name: str = ffi.typeof(enum).elements.get(int(value), str(int(value)))
    return name[len(prefix):] if name.startswith(prefix) else name


def written(call: Any, *arguments: Any) -> str:
    """What a function writes that returns the length it needs, as snprintf does: call(*arguments, text, size)."""
    need = call(*arguments, ffi.NULL, 0)
    if need <= 0:
        return ""
    buffer = ffi.new("char[]", need + 1)
    call(*arguments, buffer, need + 1)
    return text(buffer)


def h5py() -> Any:
    """The module h5py, by which files are read."""
    try:
        import h5py as module
    except ImportError:
        raise ImportError("galpha reads its files by h5py, which is not installed: apt-get install python3-h5py, or "
                          "pip install h5py") from None
    return module


def version() -> str:
    """The version of the library."""
    return text(lib.ga_version())


def nearest(name: str, names: "list[str]") -> Optional[str]:
    """The most similar of the names."""
    import difflib

    found = difflib.get_close_matches(name, names, 1)
    return found[0] if found else None
