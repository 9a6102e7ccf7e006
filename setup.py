"""Builds the package's native module by CMake, as galpha itself is built; everything else is in pyproject.toml.

GALPHA_BUILD in the environment: a build folder of galpha that is there, whose module is taken (and brought up to date)
instead of compiling the library again."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import setuptools
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
MODULE = "_native.abi3.so"


def check_packages() -> None:
    """Without build isolation pip does not look whether these are there, and fails without saying what is missing."""
    needed = ["cffi", "numpy"]
    if int(setuptools.__version__.split(".")[0]) < 71:  # from then on setuptools makes wheels itself
        needed.append("wheel")
    missing = [name for name in needed if not find_spec(name)]
    if missing:
        base = getattr(sys, "_base_executable", sys.executable)
        sys.exit(f"galpha: {base} has no {', '.join(missing)}. Install with it what is missing, or take a Python that has it: "
                 "on Debian, apt-get install python3-venv python3-dev python3-cffi python3-numpy python3-h5py, and make the environment by "
                 "/usr/bin/python3 -m venv --system-site-packages if another python3 comes first in PATH.")


def version() -> str:
    return re.search(r'GA__VERSION "([^"]+)"', (ROOT / "src/base/version.h").read_text()).group(1)


class BuildByCMake(build_ext):
    def build_extension(self, extension: Extension) -> None:
        given = os.environ.get("GALPHA_BUILD")
        folder = Path(given) if given else Path(self.build_temp).resolve()
        if not given:
            folder.mkdir(parents=True, exist_ok=True)
            parts = [f"-DGALPHA_{part}=OFF" for part in ("TESTS", "BENCH", "EXAMPLES")]
            subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                            f"-DPython3_EXECUTABLE={sys.executable}", *parts], check=True)
        jobs = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", str(folder), "--target", "galpha_python", "-j", jobs], check=True)
        target = Path(self.get_ext_fullpath(extension.name)).with_name(MODULE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "python/galpha" / MODULE, target)


check_packages()
setup(version=version(), ext_modules=[Extension("galpha._native", [], py_limited_api=True)],
      cmdclass={"build_ext": BuildByCMake}, options={"bdist_wheel": {"py_limited_api": "cp39"}})
