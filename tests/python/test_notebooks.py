"""The notebooks run from the first cell to the last."""

import os
import unittest

import rig


class Notebooks(unittest.TestCase):
    def execute(self, name):
        import nbformat
        from nbclient import NotebookClient

        file = rig.source / "python/notebooks" / f"{name}.ipynb"
        book = nbformat.read(file, as_version=4)
        self.assertTrue(all(not cell.get("outputs") for cell in book.cells), "notebooks are kept without outputs")
        os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        os.environ.pop("MPLBACKEND", None)  # pictures in the notebook
        NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(file.parent)}}).execute()
        return [o.get("data", {}) for cell in book.cells for o in cell.get("outputs", [])]

    @rig.needs("nbclient", "nbformat", "ipykernel", "matplotlib", "scipy")
    def test_pendulum(self):
        """python: notebook 1_pendulum: a run within its error bars, pictures, the page"""
        shown = self.execute("1_pendulum")
        self.assertEqual(sum("image/png" in data for data in shown), 2)
        self.assertTrue(any("<iframe" in str(data.get("text/html", "")) for data in shown))

    @rig.needs("nbclient", "nbformat", "ipykernel", "matplotlib", "scipy")
    def test_heavy_top(self):
        """python: notebook 2_heavy_top: orders of all schemes"""
        self.assertEqual(sum("image/png" in data for data in self.execute("2_heavy_top")), 2)

    @rig.needs("nbclient", "nbformat", "ipykernel", "matplotlib", "scipy")
    def test_control(self):
        """python: notebook 3_control: a regulator designed on the linear model holds the machine"""
        self.assertEqual(sum("image/png" in data for data in self.execute("3_control")), 2)
