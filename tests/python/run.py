"""Tests of the Python package: run.py PROGRAM SOURCE WORK [NAME...]. A line of TAP for each; NAME: these alone.

Every test_*.py here has classes of unittest. What they need: PROGRAM (the program galpha), SOURCE (the root of the tree),
WORK (a folder to work in), as tests.rig has them."""

import sys
import unittest
from pathlib import Path

import rig

sys.dont_write_bytecode = True


class Tap(unittest.TestResult):
    n = 0

    def line(self, test: unittest.TestCase, word: str, more: str = "", detail: str = "") -> None:
        self.n += 1
        name = (test.shortDescription() or str(test)) if isinstance(test, unittest.TestCase) else str(test)
        print(f"{word} {self.n} - {name}{more}", *(f"# {line}" for line in detail.splitlines()), sep="\n", flush=True)

    def addSuccess(self, test):
        self.line(test, "ok")

    def addSkip(self, test, reason):
        self.n += 1
        print(f"not ok {self.n} # SKIP {test.shortDescription()}: {reason}", flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.line(test, "not ok", detail=self._exc_info_to_string(error, test))

    def addError(self, test, error):
        super().addError(test, error)
        self.line(test, "not ok", detail=self._exc_info_to_string(error, test))


def chosen(suite, names):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, names)
        elif not names or any(name in str(test) for name in names):
            yield test


if __name__ == "__main__":
    rig.program, rig.source, rig.work = (Path(a).resolve() for a in sys.argv[1:4])
    rig.work.mkdir(parents=True, exist_ok=True)
    found = unittest.defaultTestLoader.discover(str(Path(__file__).parent), "test_*.py")
    result = Tap()
    unittest.TestSuite(chosen(found, sys.argv[4:])).run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
