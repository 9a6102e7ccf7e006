"""Level 1: models in files, results."""

import gc
import os
import signal
import threading
import time
import unittest
import warnings

import numpy as np
import rig

import galpha

warnings.simplefilter("ignore", galpha.GalphaWarning)

MODELS = {
    "pendulum": {},
    "slider_crank": {"t_end": 1.0, "step": 1e-3},
    "robot_arm": {"t_end": 1.0, "tolerance": 1e-5},
    "rolling_disk": {"t_end": 0.5, "tolerance": 1e-4, "method": "soi2"},
    "car": {"t_end": 0.2, "step": 0.002},
    "sampled_motor": {"t_end": 0.5, "tol": 1e-4},
    "four_bar": {"t_end": 0.5, "method": "collocation", "tolerance": 1e-6},
    "heavy_top": {"t_end": 0.3, "step": 1e-3, "method": "index3", "rho": 0.6},
}


def options(settings):
    names = {"tolerance": "tol"}
    return [f"--{names.get(k, k).replace('_', '-')}={v}" for k, v in settings.items()]


class Run(unittest.TestCase):
    def test_same_bits(self):
        """python: results of eight models are those of the program, bit for bit"""
        for name, settings in MODELS.items():
            with self.subTest(name):
                file = rig.work / f"{name}.h5"
                rig.run_program("run", rig.model(name), "-q", "-o", file, *options(settings))
                theirs, ours = galpha.load(file), galpha.run(rig.model(name), **settings)
                self.assertEqual(theirs.signals, ours.signals)
                self.assertEqual(theirs.units, ours.units)
                self.assertEqual(theirs.values.tobytes(), ours.values.tobytes())
                self.assertEqual(theirs.t.tobytes(), ours.t.tobytes())
                self.assertEqual(theirs.events, ours.events)
                self.assertEqual(theirs.model, ours.model)

    def test_arrays(self):
        """python: signals are views of one array, tables too"""
        res = galpha.run(rig.model("pendulum"), t_end=2.0)
        row = res["hinge.angle"]
        self.assertTrue(np.shares_memory(row, res.values))
        self.assertFalse(row.flags.owndata)
        self.assertEqual(row.dtype, np.float64)
        self.assertTrue(np.shares_memory(res.error("hinge.angle"), res.values))
        self.assertIs(res.t, res["time"])
        self.assertEqual(res.unit("hinge.angle"), "rad")
        self.assertEqual(len(row), len(res.t))
        self.assertEqual(set(res.energy), {"kinetic", "potential", "dissipated", "input", "balance"})
        self.assertEqual(res.status, "finished")
        self.assertIn("finished at t = 2 s", res.summary)
        self.assertEqual(res.find("hinge.ang*"), ["hinge.angle", "hinge.angle_rate", "hinge.angle_acc"])

    def test_million(self):
        """python: 1e6 numbers are read without a copy"""
        res = galpha.run(rig.model("slider_crank"), t_end=2.0, step=2e-5, record="*")
        self.assertGreater(res.values.size, 1_000_000)
        rows = [res[name] for name in res.signals]
        start = res.values.__array_interface__["data"][0]
        for i, row in enumerate(rows):
            self.assertEqual(row.__array_interface__["data"][0], start + i * res.values.strides[0])

    def test_order(self):
        """python: the order is a number or the word auto"""
        runs = [galpha.run(rig.model("pendulum"), t_end=0.2, method="automatic", tolerance=1e-6, **given)
                for given in ({}, {"order": "auto"}, {"order": 0}, {"order": 4})]
        for other in runs[1:3]:
            self.assertTrue(np.array_equal(runs[0]["hinge.angle"], other["hinge.angle"]))
        self.assertFalse(np.array_equal(runs[0]["hinge.angle"], runs[3]["hinge.angle"]))
        with self.assertRaisesRegex(galpha.Error, "neither auto nor a whole number"):
            galpha.run(rig.model("pendulum"), t_end=0.2, method="automatic", order="automatic")

    @rig.needs("pandas")
    def test_pandas(self):
        """python: a table of pandas has names, times and units"""
        res = galpha.run(rig.model("pendulum"), t_end=1.0)
        frame = res.to_pandas()
        self.assertEqual(list(frame.columns), res.signals)
        np.testing.assert_array_equal(frame["hinge.fz"].to_numpy(), res["hinge.fz"])
        np.testing.assert_array_equal(frame.index.to_numpy(), res.t)
        self.assertEqual(frame.attrs["units"]["hinge.fz"], "N")
        self.assertTrue(np.shares_memory(frame.to_numpy(), res.values))
        self.assertEqual(list(res.to_pandas("hinge.fz", "tip.x").columns), ["hinge.fz", "tip.x"])

    @rig.needs("xarray")
    def test_xarray(self):
        """python: a dataset of xarray has units and error bars"""
        res = galpha.run(rig.model("pendulum"), t_end=1.0)
        data = res.to_xarray("hinge.fz")
        self.assertEqual(data["hinge.fz"].attrs["units"], "N")
        np.testing.assert_array_equal(data["hinge.fz:error"], res.error("hinge.fz"))
        self.assertTrue(np.shares_memory(data["hinge.fz"].values, res.values))

    def test_parameters(self):
        """python: parameters as numbers and with units, all their digits"""
        a = galpha.run(rig.model("pendulum"), t_end=0.5, set={"L": 1.1, "m": "2 kg"})
        b = galpha.run(rig.model("pendulum"), t_end=0.5, set={"L": "1.1 m", "m": np.float64(2)})
        self.assertEqual(a.values.tobytes(), b.values.tobytes())
        self.assertIn("1.1", a.attributes["set"])

    def test_save(self):
        """python: save writes the file of the program, which reads it"""
        res = galpha.run(rig.model("pendulum"), t_end=0.5)
        file = res.save(rig.work / "saved.h5")
        again = galpha.load(file)
        self.assertEqual(again.values.tobytes(), res.values.tobytes())
        self.assertIn("hinge.angle", rig.run_program("info", file, "--signals"))
        kept = galpha.run(rig.model("pendulum"), t_end=0.5, out=rig.work / "kept.h5")
        self.assertTrue((rig.work / "kept.h5").exists())
        self.assertEqual(kept.values.tobytes(), res.values.tobytes())

    def test_temporary_file(self):
        """python: the file of a run goes with its result"""
        res = galpha.run(rig.model("pendulum"), t_end=0.1)
        path = res.path
        self.assertTrue(path.exists())
        del res
        gc.collect()
        self.assertFalse(path.exists())

    def test_view(self):
        """python: view is the page of galpha view, in a frame"""
        res = galpha.run(rig.model("pendulum"), t_end=0.5)
        view = res.view("hinge.angle")
        self.assertIn("hinge.angle", view.html)
        self.assertTrue(view._repr_html_().startswith("<iframe srcdoc="))
        self.assertEqual(view.save(rig.work / "view.html").read_text(encoding="utf-8"), view.html)

    @rig.needs("matplotlib")
    def test_plot(self):
        """python: plot draws a panel for each unit, with names and units"""
        res = galpha.run(rig.model("pendulum"), t_end=0.5)
        figure = res.plot("hinge.angle", "hinge.angle_rate", "tip.v*", band=True)
        self.assertEqual([a.get_ylabel() for a in figure.axes], ["hinge.angle [rad]", "hinge.angle_rate [rad/s]", "[m/s]"])
        with self.assertRaises(KeyError):
            res.plot("hinge.angel")

    def test_other_commands(self):
        """python: check, static, kinematics, modes, linearize give what the program writes"""
        self.assertIn("mobility 1", galpha.check(rig.model("pendulum")))
        rest = galpha.static(rig.model("arm"))
        file = rig.work / "static.h5"
        rig.run_program("static", rig.model("arm"), "-q", "-o", file)
        self.assertEqual(rest.values.tobytes(), galpha.load(file).values.tobytes())
        modes = galpha.modes(rig.model("simple_pendulum"), count=1)
        self.assertEqual(len(modes.frequencies), 1)
        self.assertEqual(modes.shapes.shape, (1, len(modes.signals)))
        linear = galpha.linearize(rig.model("cart_pole"), inputs="feedback", outputs=["track.displacement", "hinge.angle"])
        self.assertEqual(linear.A.shape, (len(linear.states),) * 2)
        self.assertEqual(linear.units["hinge.angle"], "rad")
        self.assertEqual(linear.C.shape, (2, len(linear.states)))
        self.assertEqual(galpha.write(rig.model("pendulum")), rig.run_program("write", rig.model("pendulum")))


class Failures(unittest.TestCase):
    def test_model(self):
        """python: errors of a model have file, line, column and data"""
        file = rig.work / "wrong.yaml"
        file.write_text("galpha: 1\nbodies:\n  rod: {type: planar, mass: 1 kg, inertia: 1 m}\n"
                        "joints:\n  hinge: {type: revolut, a: ground, b: rod, at: [0, 0, 0]}\n")
        with self.assertRaises(galpha.ModelError) as caught:
            galpha.run(file)
        e = caught.exception
        self.assertEqual((e.file, e.line), (str(file), 3))
        self.assertEqual([m.line for m in e.messages], [3, 5])
        self.assertEqual(e.messages[1].data["nearest"], "revolute")
        self.assertEqual(e.messages[1].data["reason"], "UNKNOWN_CHOICE")
        self.assertIn(f"{file}:5:", str(e))
        self.assertIsNone(e.result)

    def test_start(self):
        """python: a failure has reason, status, part, numbers, as in C"""
        file = rig.work / "step.yaml"
        file.write_text("galpha: 1\nbodies:\n  m: {type: scalar, mass: 1 kg, position: 1 m}\n"
                        "forces:\n  f: {type: actuator, coordinate: m, force: \"-1/(m - 0.5)^2\"}\nsimulation: {t_end: 5, tolerance: 1e-6}\n")
        with self.assertRaises(galpha.Error) as caught:
            galpha.run(file)
        e = caught.exception
        self.assertLess(e.t, 5.0)
        self.assertNotEqual(e.reason, "OTHER")
        self.assertIn("the simulation failed at t", e.report)
        self.assertEqual(e.result.status, "failed")  # what was recorded until then
        self.assertGreater(len(e.result.t), 1)

    def test_names(self):
        """python: wrong names of options, signals and files are named, with the nearest"""
        with self.assertRaisesRegex(TypeError, "'t_ende'; the nearest is 't_end'"):
            galpha.run(rig.model("pendulum"), t_ende=1)
        with self.assertRaisesRegex(galpha.Error, "there is no parameter 'LL'"):
            galpha.run(rig.model("pendulum"), set={"LL": 1})
        with self.assertRaisesRegex(galpha.Error, "nothing.yaml") as caught:
            galpha.run("nothing.yaml")
        self.assertEqual(caught.exception.reason, "FILE_ACCESS")
        with self.assertRaisesRegex(galpha.Error, "method"):
            galpha.run(rig.model("pendulum"), method="rk4")
        res = galpha.run(rig.model("pendulum"), t_end=0.1)
        with self.assertRaisesRegex(KeyError, "nearest is 'hinge.angle'"):
            res["hinge.angel"]
        with self.assertRaises(OSError):
            galpha.load("nothing.h5")

    def test_warnings(self):
        """python: warnings are warnings, and kept"""
        with self.assertWarns(galpha.GalphaWarning):
            galpha.modes(rig.model("pendulum"))

    def test_interrupt(self):
        """python: Ctrl-C ends a run at once, and its results are kept"""
        file = rig.work / "stopped.h5"
        file.unlink(missing_ok=True)

        def interrupt():
            while not file.exists():
                time.sleep(0.05)
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        started = time.monotonic()
        with self.assertRaises(KeyboardInterrupt) as caught:
            galpha.run(rig.model("double_pendulum"), t_end=1e5, step=1e-4, output=1.0, out=file)
        self.assertLess(time.monotonic() - started, 60.0)
        res = caught.exception.result
        self.assertEqual(res.status, "stopped")
        self.assertGreater(len(res.t), 1)

    def test_threads(self):
        """python: runs in several threads at the same time, without Python's lock"""
        alone = galpha.run(rig.model("slider_crank"), t_end=1.0).values.tobytes()
        found = []
        threads = [threading.Thread(target=lambda: found.append(
            galpha.run(rig.model("slider_crank"), t_end=1.0).values.tobytes())) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, 4 * [alone])
        ticks = []
        run = threading.Thread(target=lambda: galpha.run(rig.model("slider_crank"), t_end=2.0, step=1e-5, output=0.1))
        run.start()
        while run.is_alive():  # this thread goes on while the other one steps
            ticks.append(1)
            time.sleep(0.001)
        self.assertGreater(len(ticks), 20)
