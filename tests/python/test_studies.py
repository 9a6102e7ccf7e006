"""Sweeps and sensitivities."""

import gc
import os
import pickle
import signal
import threading
import time
import unittest
import warnings

import numpy as np
import rig

import galpha

warnings.simplefilter("ignore", galpha.GalphaWarning)


class Sweep(unittest.TestCase):
    def test_same_bytes(self):
        """python: the table of a sweep is that of the program, byte for byte"""
        file, ours = rig.work / "theirs.h5", rig.work / "ours.h5"
        rig.run_program("sweep", rig.model("pendulum"), "--set", "m=1,2.5", "--set", "L=0.5:1:0.25", "max(abs(hinge.fz))",
                        "turn=final(hinge.angle)", "--t-end", "1", "--tol", "1e-6", "-q", "-o", file)
        table = galpha.sweep(rig.model("pendulum"), "max(abs(hinge.fz))", "turn=final(hinge.angle)", t_end=1.0, tol=1e-6,
                             set={"m": [1.0, 2.5], "L": "0.5:1:0.25"}, out=ours)
        self.assertEqual(file.read_bytes(), ours.read_bytes())
        self.assertEqual(len(table), 6)
        self.assertEqual(table.units["turn"], "rad")

    def test_columns(self):
        """python: columns of a sweep are views, and their values those of single runs"""
        lengths = np.linspace(0.5, 2.0, 4)
        table = galpha.sweep(rig.model("pendulum"), "-final(hinge.angle)", set={"L": lengths}, t_end=1.0, tol=1e-6)
        self.assertTrue(np.shares_memory(table["L"], table.values))
        self.assertTrue(np.array_equal(table["L"], lengths))
        for length, turn in zip(table["L"], table["-final(hinge.angle)"]):
            res = galpha.run(rig.model("pendulum"), set={"L": float(length)}, t_end=1.0, tol=1e-6)
            self.assertAlmostEqual(-res["hinge.angle"][-1], turn, delta=1e-12)
        with self.assertRaisesRegex(KeyError, "there is no column 'l'"):
            table["l"]

    def test_failures(self):
        """python: runs of a sweep that fail are rows with a message; where all fail, so does the call"""
        table = galpha.sweep(rig.model("pendulum"), "final(t)", set={"m": [1.0, -1.0]}, t_end=0.1)
        self.assertEqual(table.failed, [1])
        self.assertIn("mass is -1 kg", table.messages[1])
        self.assertTrue(np.isnan(table["final(t)"][1]))
        with self.assertRaises(galpha.Error) as caught:
            galpha.sweep(rig.model("pendulum"), "final(t)", set={"m": [-2.0, -1.0]}, t_end=0.1)
        self.assertEqual(caught.exception.result.failed, [0, 1])
        with self.assertRaisesRegex(galpha.Error, "no parameter 'mm'"):
            galpha.sweep(rig.model("pendulum"), "final(t)", set={"mm": [1.0]})
        with self.assertRaisesRegex(galpha.Error, "did you mean 'hinge.angle'"):
            galpha.sweep(rig.model("pendulum"), "final(hing.angle)", set={"m": [1.0]})
        with self.assertRaisesRegex(galpha.Error, "MEASURE is missing"):
            galpha.sweep(rig.model("pendulum"), set={"m": [1.0]})

    def test_shapes(self):
        """python: values without an order, of two dimensions or complex are refused; measures by name"""
        for wrong in (np.ones((2, 2)), [[1.0, 2.0], [3.0]], {1.0, 2.0}, {"a": 1.0}, np.array([1j]), 1j):
            with self.assertRaises(TypeError):
                galpha.sweep(rig.model("pendulum"), "final(t)", set={"m": wrong}, t_end=0.1)
        with self.assertRaisesRegex(TypeError, "a measure is a text"):
            galpha.sweep(rig.model("pendulum"), ["final(t)"], set={"m": [1.0]}, t_end=0.1)
        table = galpha.sweep(rig.model("pendulum"), {"end": "final(t)"}, set={"m": (1.0, 2.0)}, t_end=0.1)
        self.assertEqual(list(table["end"]), [0.1, 0.1])
        g = galpha.sensitivity(rig.model("pendulum"), "m", measures={"end": "final(hinge.angle)"}, t_end=0.1)
        self.assertEqual(g.names, ["end"])

    def test_names(self):
        """python: columns are found by any name but those that every table has; parameters have the model's units"""
        table = galpha.sweep(rig.model("quarter_car_design"), "Höhe, größte=max(body)", set={"damper": [1000.0, 2000.0]})
        self.assertEqual(table["Höhe, größte"].shape, (2,))
        self.assertEqual(table.units["damper"], "N*s/m")
        with self.assertRaisesRegex(galpha.Error, "the table of a sweep has a column of this name"):
            galpha.sweep(rig.model("pendulum"), "status=final(t)", set={"m": [1.0]})

    def test_csv(self):
        """python: a sweep into comma-separated values has the same table"""
        call = dict(set={"m": [1.0, -1.0, 2.0]}, t_end=0.1, tol=1e-5)
        measures = "final(t)", "a, b=max(hinge.fx)"
        one, two = (galpha.sweep(rig.model("pendulum"), *measures, **call, out=out) for out in (None, rig.work / "same.csv"))
        self.assertTrue(np.array_equal(one.values, two.values, equal_nan=True))
        self.assertEqual((one.names, one.units, one.messages, one.failed), (two.names, two.units, two.messages, two.failed))

    def test_pictures(self):
        """python: measures of a sweep are drawn"""
        table = galpha.sweep(rig.model("pendulum"), "end=final(hinge.angle)", set={"L": [0.5, 1.0, 2.0]}, t_end=0.5, tol=1e-4)
        self.assertIn("<svg", table.plot("end")._repr_svg_())

    def test_pickle(self):
        """python: tables and results go to other processes, with their files"""
        table = galpha.sweep(rig.model("pendulum"), "final(t)", set={"m": [1.0, 2.0]}, t_end=0.1)
        res = galpha.run(rig.model("pendulum"), t_end=0.1)
        there = [pickle.dumps(table), pickle.dumps(res)]
        values, angle = table.values.copy(), res["hinge.angle"].copy()
        old = table.path, res.path
        del table, res
        gc.collect()
        self.assertFalse(old[0].exists() or old[1].exists())
        table, res = map(pickle.loads, there)
        self.assertEqual(table.values.tobytes(), values.tobytes())
        self.assertEqual(res["hinge.angle"].tobytes(), angle.tobytes())
        self.assertEqual(galpha.load(res.save(rig.work / "pickled.h5"))["hinge.angle"].tobytes(), angle.tobytes())
        self.assertIn("<svg", res.plot("hinge.angle", title="again")._repr_svg_())
        place = res.path
        del res
        gc.collect()
        self.assertFalse(place.exists())

    def test_replaced(self):
        """python: two results of one file: the first one has its numbers, but no pictures of the second one's"""
        place = rig.work / "same.h5"
        one = galpha.run(rig.model("pendulum"), t_end=0.1, out=place)
        two = galpha.run(rig.model("pendulum"), t_end=0.1, out=place, set={"L": 2.0})
        self.assertNotEqual(one["hinge.fz"][-1], two["hinge.fz"][-1])
        for use in (lambda: one.save(rig.work / "other.h5"), lambda: one.plot("hinge.fz", title="x"), one.view):
            with self.assertRaisesRegex(galpha.Error, "has changed since it was read"):
                use()
        two.save(rig.work / "other.h5")
        self.assertEqual(galpha.load(rig.work / "other.h5")["hinge.fz"].tobytes(), two["hinge.fz"].tobytes())

    def test_fork(self):
        """python: a process that was forked leaves the files of its parent"""
        res = galpha.run(rig.model("pendulum"), t_end=0.1)
        child = os.fork()
        if child == 0:
            del res
            gc.collect()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(res.path.exists())

    def test_machine(self):
        """python: a machine of parts is swept; its parameters are those it was given"""
        m = galpha.Machine("Oscillator", t_end=1, tolerance=1e-8, parameters={"k": 4.0})
        m.add_scalar("x", mass=1, position=1)
        m.add_spring("s", coordinate="x", stiffness="k", rest=0)
        table = galpha.sweep(m, "final(x)", set={"k": [1.0, 4.0, 9.0]})
        self.assertTrue(np.allclose(table["final(x)"], np.cos([1.0, 2.0, 3.0]), atol=1e-5))

    def test_interrupted_searches(self):
        """python: Ctrl-C ends fits, optimisations and sensitivities, with what there is"""
        m = galpha.Machine("Oscillator", t_end=100, step=1e-5, parameters={"k": 4.0})
        m.add_scalar("x", mass=1, position=1)
        m.add_spring("s", coordinate="x", stiffness="k", rest=0)
        data = {"time": [99.0, 99.5, 100.0], "x": [0.1, 0.2, 0.3]}
        for call in (lambda: galpha.fit(m, data, "k"), lambda: galpha.optimize(m, "k", minimize="rms(x)"),
                     lambda: galpha.sensitivity(m, "k", output=0.1), lambda: galpha.sensitivity(m, "k", measures="rms(x)")):
            main = threading.main_thread().ident
            timer = threading.Timer(0.4, lambda: signal.pthread_kill(main, signal.SIGINT))
            timer.start()
            began = time.monotonic()
            with self.assertRaises(galpha.Interrupted) as caught:
                call()
            self.assertLess(time.monotonic() - began, 20)
            result = caught.exception.result
            if isinstance(result, galpha.Result):
                self.assertEqual(result.status, "stopped")

    def test_interrupted(self):
        """python: Ctrl-C ends a sweep, which keeps the runs that are done"""
        main = threading.main_thread().ident

        def interrupt():
            time.sleep(0.5)
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(galpha.Interrupted) as caught:
            galpha.sweep(rig.model("pendulum"), "final(t)", set={"m": "linspace(1,2,100000)kg"}, t_end=5.0)
        thread.join()
        self.assertEqual(len(caught.exception.result), 100000)
        self.assertTrue((caught.exception.result["status"] == -1).any())


class Sensitivity(unittest.TestCase):
    def test_oscillator(self):
        """python: derivatives of an oscillator by its stiffness are those of the cosine"""
        m = galpha.Machine("Oscillator", t_end=1, step=1e-3, parameters={"k": 4.0})
        m.add_scalar("x", mass=1, position=1)
        m.add_spring("s", coordinate="x", stiffness="k", rest=0)
        res = galpha.sensitivity(m, "k")
        exact = -np.sin(2.0 * res.t) * res.t / 4.0  # d cos(√k t)/dk at k = 4
        self.assertTrue(np.allclose(res["d(x)/d(k)"], exact, atol=1e-5))
        res = galpha.sensitivity(m, "k", method="collocation")
        self.assertTrue(np.allclose(res["d(x)/d(k)"], -np.sin(2.0 * res.t) * res.t / 4.0, atol=1e-9))
        with self.assertRaisesRegex(galpha.Error, "not differentiated"):
            galpha.sensitivity(m, "k", method="weighted")

    def test_measures(self):
        """python: derivatives of measures, forwards and by the adjoint"""
        m = galpha.Machine("Oscillator", t_end=2, step=1e-3, rho=1, parameters={"k": 4, "m": 1, "none": 0})
        m.add_scalar("x", mass="m", position=1)
        m.add_spring("s", coordinate="x", stiffness="k", rest=0)
        texts = ["end=final(x)", "mean(k*x^2)"]
        g = galpha.sensitivity(m, measures=texts)
        back = galpha.sensitivity(m, "k", "m", measures=texts, derivatives="adjoint")
        self.assertEqual((g.by, g.method, back.method), (["k", "m"], "forward", "adjoint"))
        self.assertEqual(g.gradient.shape, (2, 2))
        self.assertTrue(np.allclose(g.gradient, back.gradient, rtol=1e-10, atol=1e-12))
        for method in ("collocation", "automatic"):
            g4, b4 = (galpha.sensitivity(m, "k", "m", measures=texts, method=method, derivatives=way) for way in ("forward", "adjoint"))
            self.assertEqual(b4.method, "adjoint")
            self.assertTrue(np.allclose(g4.gradient, b4.gradient, rtol=1e-10, atol=1e-12))
        self.assertAlmostEqual(g["end", "k"], -np.sin(4.0) * 2.0 / 4.0, delta=1e-5)
        self.assertAlmostEqual(g.relative()[0, 0], g["end", "k"] * 4.0 / g.values["end"], delta=1e-12)
        self.assertEqual(list(g["end"]), list(g.gradient[0]))
        self.assertIn("left out     1 parameter", g.summary)
        with self.assertRaisesRegex(KeyError, "there is no parameter 'kk'"):
            g["end", "kk"]
        with self.assertRaisesRegex(galpha.Error, "no derivative") as caught:
            galpha.sensitivity(m, "k", measures="crossings(x, 0)")
        self.assertTrue(np.isnan(caught.exception.result.gradient[0, 0]))
        with self.assertRaisesRegex(ValueError, "measures is empty"):
            galpha.sensitivity(m, measures=[])

    def test_events(self):
        """python: derivatives over bounces, of the end by an event, and of signals on both sides"""
        m = galpha.Machine("Ball", t_end=6, step=0.01, parameters={"res": 0.8, "h": 1.0}, gravity=[0, 0, -10])
        m.add_point("ball", mass=1, position=[0, 0, "h"])
        m.add_variable("bounces", value=0)
        m.add_event("bounce", when="ball.z", direction="falling", set="ball.vz", to="-res*ball.vz")
        m.add_event("count", when="ball.z", direction="falling", set="bounces", to="bounces + 1")
        m.add_event("enough", when="bounces - 4.5", direction="rising", stop=True)
        r, fall = 0.8, np.sqrt(0.2)
        g = galpha.sensitivity(m, measures=["end=final(t)", "final(ball.vz)"])
        self.assertAlmostEqual(g["end", "res"], 2 * fall * (1 + 2 * r + 3 * r**2 + 4 * r**3), delta=1e-9)
        self.assertAlmostEqual(g["end", "h"], 0.5 * fall * (1 + 2 * (r + r**2 + r**3 + r**4)), delta=1e-9)
        res = galpha.sensitivity(m, "res")
        up = (res.t > fall + 1e-6) & (res.t < 2 * fall)  # behind the first bounce: z = res·g·fall·s − g s²/2
        self.assertTrue(np.allclose(res["d(ball.z)/d(res)"][up], 10 * fall * (res.t[up] - fall), atol=1e-9))
        best = galpha.optimize(m, {"h": (1.0, 0.5, 2.0)}, maximize="final(t)*(2.2-h)")
        self.assertAlmostEqual(best["h"], 2.2 / 3, delta=1e-5)  # √h (2.2 − h)
        self.assertNotIn("differences", best.summary)
