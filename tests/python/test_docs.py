"""The package as a user has it: a fresh virtual environment, pip install ., the lines of README and docs/python.md; types; the table of
functions, which `python3 tests/python/test_docs.py --write ROOT` writes."""

import inspect
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import rig

import galpha

MARK = "<!-- made by tests/python/test_docs.py --write -->\n"


def blocks(page, language):
    """All blocks of a language in a page."""
    return re.findall(rf"\n```{language}\n(.*?)\n```", page.read_text(encoding="utf-8"), re.S)


def table():
    """Every name of the package with the first line of its help."""
    rows = ["| | |", "|---|---|"]
    for name in galpha.__all__:
        at = getattr(galpha, name)
        line = (inspect.getdoc(at) or "").splitlines()[0].rstrip(":")
        rows.append(f"| `{name}` | {line.replace('|', chr(92) + '|')} |")
    rows += ["", "Functions of `Machine`: " + ", ".join(f"`{n}`" for n in sorted(vars(galpha.Machine)) if n.startswith("add")) + "."]
    return "\n".join(rows) + "\n"


class Docs(unittest.TestCase):
    def test_table(self):
        """python: docs/python.md has every function (tests/python/test_docs.py --write writes them)"""
        self.assertEqual((rig.source / "docs/python.md").read_text(encoding="utf-8").split(MARK)[1].strip(), table().strip())

    def test_help(self):
        """python: every public name has help, every setting is in that of run"""
        for name in galpha.__all__:
            at = getattr(galpha, name)
            self.assertTrue(inspect.getdoc(at), name)
            for key, member in vars(at).items() if inspect.isclass(at) and at.__module__.startswith("galpha") else ():
                if not key.startswith("_") and callable(member):
                    self.assertTrue(inspect.getdoc(member), f"{name}.{key}")
        for word in ("t_end", "newton_tolerance", "method", "record"):
            self.assertIn(f"    {word}: ", galpha.run.__doc__)

    @rig.needs("mypy")
    def test_types(self):
        """python: the package is typed throughout"""
        run = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", rig.work / "mypy"], cwd=rig.source, text=True,
                             capture_output=True)
        self.assertEqual(run.returncode, 0, run.stdout)

    @rig.needs("venv", "pip", "setuptools", "wheel")
    def test_install(self):
        """python: a fresh environment, pip install ., the lines of README and python.md by copy and paste"""
        folder = rig.work / "venv"
        environment = {**os.environ, "GALPHA_BUILD": str(Path(galpha._native.__file__).resolve().parent.parent.parent), "MPLBACKEND": "Agg"}
        environment.pop("PYTHONPATH", None)
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--system-site-packages", folder], check=True)
        python = folder / "bin" / "python"
        done = subprocess.run([python, "-m", "pip", "install", ".", "--no-build-isolation", "--no-index"], cwd=rig.source,
                              env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        here = rig.work / "lines"
        here.mkdir(exist_ok=True)
        if not (here / "examples").exists():
            (here / "examples").symlink_to(rig.source / "examples")
        for page in (rig.source / "README.md", rig.source / "docs/python.md"):
            lines = "\n".join(blocks(page, "python"))
            done = subprocess.run([python, "-W", "error", "-c", lines], cwd=here, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            if page.name == "README.md":
                self.assertIn(done.stdout.strip(), [b.strip() for b in blocks(page, "text")])
        where = subprocess.run([python, "-c", "import galpha; print(galpha.__file__)"], cwd=here, env=environment,
                               capture_output=True, text=True).stdout
        self.assertTrue(where.startswith(str(folder)), where)


if __name__ == "__main__":
    page = Path(sys.argv[2]) / "docs/python.md"
    text = page.read_text(encoding="utf-8").split(MARK)[0] + MARK + "\n" + table()
    page.write_text(text, encoding="utf-8")
