"""Writes the C source of the package's native module: python3 declarations.py COMPILER INCLUDE APP OUT.c

The declarations are those of the public headers and of app/call.h themselves, after the C preprocessor; the compiler
then compares them with the headers, so that a struct cannot differ from what the library was built with."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cffi import FFI

HEADERS = ("galpha/galpha.h", "galpha/model.h", "galpha/result.h", "call.h")

# Functions in Python that the library calls. `user` is the handle of an object of galpha.system.
CALLBACKS = """
extern "Python" {
  %s
  int ga_py_jacobian(void *user, const ga_point *p, ga_jacobian *J);
  int ga_py_on_output(void *user, const ga_state *s);
  int ga_py_on_event(void *user, int event, const ga_state *s, double *q, double *v, double *x);
  void ga_py_log(void *user, ga_log_level level, const ga_error *message);
}
"""
EVALUATIONS = ("mass", "force", "phi", "phi_dot", "phi_acc", "k", "k_acc", "state", "output", "output_guess",
               "events")


def preprocess(compiler: str, include: str, app: str) -> str:
    """The declarations of our headers alone."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "stddef.h").write_text("")
        source = Path(folder) / "all.c"
        source.write_text("".join(f'#include "{name}"\n' for name in HEADERS))
        text = subprocess.run(
            [compiler, "-E", "-P", "-nostdinc", "-I", folder, "-I", include, "-I", app, str(source)],
            check=True, capture_output=True, text=True).stdout
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)


def main() -> None:
    compiler, include, app, out = sys.argv[1:]
    builder = FFI()
    builder.cdef(preprocess(compiler, include, app))
    evaluations = "\n  ".join(f"int ga_py_{name}(void *user, const ga_point *p, double *out);" for name in EVALUATIONS)
    builder.cdef(CALLBACKS % evaluations)
    builder.set_source("galpha._native", "".join(f"#include <{name}>\n" for name in HEADERS), py_limited_api=True)
    builder.emit_c_code(out)


if __name__ == "__main__":
    main()
