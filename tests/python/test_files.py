"""Result files: by h5py alone, by GNU Octave, by the lines of docs/results.md."""

import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
import rig

import galpha


def block(page, language):
    """The first block of a language in a page of the documentation."""
    return re.search(rf"\n```{language}\n(.*?)\n```", (rig.source / "docs" / page).read_text(), re.S).group(1)


class Files(unittest.TestCase):
    def setUp(self):
        self.file = rig.work / "out.h5"
        model = rig.work / "umlaut.yaml"
        model.write_text("# kg·m²\n" + rig.model("slider_crank").read_text(), encoding="utf-8")
        rig.run_program("run", model, "-q", "--t-end", "0.2", "-o", self.file)
        self.result = galpha.load(self.file)

    def test_h5py_alone(self):
        """python: results are opened without the native module"""
        code = ("import sys, types, importlib.util as u; sys.modules['galpha._native'] = None\n"
                "import h5py; f = h5py.File(sys.argv[1]); names = list(f['names'].asstr())\n"
                "print(repr(float(f['values'][names.index('crank.angle')][-1])), f['model'][()].decode()[:80].count('²'))")
        out = subprocess.run([sys.executable, "-c", code, self.file], check=True, capture_output=True, text=True).stdout
        self.assertEqual(float(out.split()[0]), self.result["crank.angle"][-1])

    @unittest.skipUnless(shutil.which("octave-cli"), "octave-cli is not installed")
    def test_octave(self):
        """python: Octave's load opens a result, with the lines of results.md"""
        lines = block("results.md", "octave").replace("plot(s.time,", "disp(numel(s.time)); fprintf('%.17g\\n',")
        out = subprocess.run(["octave-cli", "--no-gui", "--no-init-file", "--eval", lines], cwd=rig.work, text=True,
                             capture_output=True, env={"HOME": str(rig.work), "PATH": "/usr/bin:/bin"})
        numbers = [float(x) for x in out.stdout.split()]
        self.assertEqual(numbers[0], len(self.result.t), out.stderr)
        np.testing.assert_array_equal(numbers[1:], self.result["crank.angle"])
