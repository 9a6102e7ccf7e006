"""What the tests of the Python package share."""

import importlib.util
import subprocess
import unittest
from pathlib import Path

program: Path  # galpha
source: Path  # root of the tree
work: Path  # a folder to work in


def model(name: str) -> Path:
    return source / "examples" / "models" / f"{name}.yaml"


def run_program(*arguments) -> str:
    """What the program prints; it must not fail."""
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def needs(*modules: str):
    """Skips a test where modules are missing."""
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"Python has no {', '.join(missing)}")
