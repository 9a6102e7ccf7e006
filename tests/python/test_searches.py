"""Fits and optimisations."""

import math
import os
import unittest
import warnings

import numpy as np
import rig

import galpha

warnings.simplefilter("ignore", galpha.GalphaWarning)


def oscillator(**settings):
    m = galpha.Machine("Oscillator", tolerance=1e-8, parameters={"k": 3.0, "c": 0.3, "m": 1.0, "start": 0.8}, **{"t_end": 6, **settings})
    m.add_scalar("x", mass="m", position="start")
    m.add_spring("s", coordinate="x", stiffness="k", damping="c", rest=0)
    return m


def closed_form(t, k=4.0, c=0.5):
    d = 0.5 * c
    w = math.sqrt(k - d * d)
    return np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))


class Fit(unittest.TestCase):
    def test_arrays(self):
        """python: parameters from arrays, with intervals, correlations and curves"""
        t = np.linspace(0.1, 6, 80)
        x = closed_form(t) + 0.01 * np.random.default_rng(1).standard_normal(80)
        x[7] = np.nan
        fit = galpha.fit(oscillator(), {"time": t, "x": x}, {"k": (3.0, 1.0, 10.0), "c": None, "start": 0.8})
        self.assertEqual(fit.end, "converged")
        for name, value in (("k", 4.0), ("c", 0.5), ("start", 1.0)):
            self.assertLess(abs(fit[name] - value), 5 * fit.error(name))
            low, high = fit.interval(name)
            self.assertTrue(low < fit[name] < high)
        self.assertEqual(fit.correlation.shape, (3, 3))
        self.assertTrue(np.allclose(np.sqrt(np.diag(fit.covariance)), [p.error for p in fit.parameters.values()]))
        curves = fit.curves[0]
        self.assertEqual(len(curves.t), 80)
        self.assertTrue(np.isnan(curves.measured["x"][7]) and np.isfinite(curves.fitted["x"]).all())
        self.assertLess(np.nanstd(curves.residuals("x")), 0.015)
        res = galpha.run(oscillator(), set=fit.values, output=0.1)
        self.assertAlmostEqual(res["x"][1], curves.fitted["x"][0], delta=1e-3)
        self.assertEqual(list(fit.to_pandas().index), ["k", "c", "start"])
        self.assertIn("k", fit.model)

    def test_same_as_scipy(self):
        """python: estimates and covariances are those of scipy.optimize.least_squares"""
        from scipy.optimize import least_squares

        t = np.linspace(0.1, 6, 60)
        x = closed_form(t) + 0.02 * np.random.default_rng(2).standard_normal(60)
        fit = galpha.fit(oscillator(), {"time": t, "x": x}, {"k": 3.5, "c": 0.3}, set={"start": 1.0})
        sol = least_squares(lambda p: closed_form(t, *p) - x, [3.5, 0.3], xtol=1e-14, ftol=1e-14, gtol=1e-14)
        covariance = np.linalg.inv(sol.jac.T @ sol.jac) * 2 * sol.cost / 58
        self.assertTrue(np.allclose(list(fit.values.values()), sol.x, rtol=5e-4))
        self.assertTrue(np.allclose(fit.covariance, covariance, rtol=1e-2))

    def test_experiments(self):
        """python: several experiments with parameters of their own"""
        t = np.linspace(0.1, 6, 50)
        data = [{"time": t, "x": closed_form(t)}, {"time": t, "x": closed_form(t, 1.0, 0.125)}]
        fit = galpha.fit(oscillator(), data, ["k=3:1:10", "c"], set={"start": 1}, sets=[None, {"m": 4}])
        self.assertAlmostEqual(fit["k"], 4.0, delta=1e-3)
        self.assertEqual(len(fit.curves), 2)

    def test_words(self):
        """python: arrays are in SI units, which is no matter of warnings; experiments and machines have names, not paths"""
        t = np.linspace(0.1, 6, 50)
        with warnings.catch_warnings():
            warnings.simplefilter("error", galpha.GalphaWarning)
            noise = 1e-3 * np.random.default_rng(5).standard_normal(50)
            fit = galpha.fit(oscillator(), {"time": t, "x": closed_form(t) + noise}, {"k": 3.0, "c": 0.3}, set={"start": 1.0})
        self.assertEqual(fit.curves[0].name, "experiment 1")
        with self.assertWarnsRegex(galpha.GalphaWarning, "^experiment [12]: residuals of x are not white"):
            galpha.fit(oscillator(), [{"time": t, "x": closed_form(t)}, {"time": t, "x": closed_form(t) + 0.1 * np.sin(t)}],
                       ["k", "c"], set={"start": 1.0})
        for data in ({"time": t[::-1], "x": t}, {"time": t, "x": np.full(50, np.nan)}):
            with self.assertRaises(galpha.Error) as caught:
                galpha.fit(oscillator(), data, "k")
            self.assertIn("experiment 1", str(caught.exception))
            self.assertNotIn("galpha-", str(caught.exception) + caught.exception.report)
        with self.assertRaisesRegex(galpha.ModelError, "mass is -1 kg") as caught:
            galpha.fit(oscillator(), {"time": t, "x": t}, {"m": -1.0, "k": 1.0})
        self.assertNotIn("galpha-", caught.exception.report)

    def test_tables(self):
        """python: pandas tables with the time as index, durations, dates; files whose names begin as options"""
        import pandas

        t = np.linspace(0.1, 6, 30)
        given = {"vary": ["k", "c"], "set": {"start": 1.0}}
        one = galpha.fit(oscillator(), {"time": t, "x": closed_form(t)}, **given)
        frame = pandas.DataFrame({"x": closed_form(t)}, index=pandas.Index(t, name="t"))
        nanoseconds = np.round(1e9 * t).astype("timedelta64[ns]")
        place = os.getcwd()
        os.chdir(rig.work)
        try:
            frame.to_csv("-x.csv")
            frame_file = galpha.fit(oscillator(), "-x.csv", **given)
        finally:
            os.chdir(place)
        for other in (galpha.fit(oscillator(), frame, **given), frame_file,
                      galpha.fit(oscillator(), {"time": nanoseconds, "x": closed_form(t)}, **given)):
            self.assertAlmostEqual(other["k"], one["k"], delta=1e-6)
        with self.assertRaisesRegex(TypeError, "'time' has dates"):
            galpha.fit(oscillator(), {"time": np.datetime64("2020-01-01") + nanoseconds, "x": t}, **given)

    def test_masked_and_complex(self):
        """python: masked values are missing ones; complex data are refused"""
        t = np.linspace(0.1, 6, 30)
        given = {"vary": ["k", "c"], "set": {"start": 1.0}}
        wrong = closed_form(t)
        wrong[7] = 99.0
        fit = galpha.fit(oscillator(), {"time": t, "x": np.ma.masked_greater(wrong, 50.0)}, **given)
        self.assertEqual(fit["k"], galpha.fit(oscillator(), {"time": t, "x": np.where(wrong > 50.0, np.nan, wrong)}, **given)["k"])
        with self.assertRaisesRegex(TypeError, "'x' has complex numbers"):
            galpha.fit(oscillator(), {"time": t, "x": 1j * t}, **given)

    def test_two_columns_of_a_signal(self):
        """python: two columns of one signal are two curves"""
        t = np.linspace(0.1, 6, 50)
        fit = galpha.fit(oscillator(), {"time": t, "one": closed_form(t), "two": closed_form(t) + 0.01 * np.cos(40 * t)}, ["k", "c"],
                         signals={"one": "x", "two": "x"}, set={"start": 1.0})
        self.assertEqual(list(fit.curves[0].measured), ["x", "x (2)"])
        self.assertTrue(np.allclose(fit.curves[0].measured["x"], closed_form(t), atol=1e-12))
        self.assertTrue(np.array_equal(fit.curves[0].fitted["x"], fit.curves[0].fitted["x (2)"]))
        self.assertLess(fit.curves[0].residuals("x").std(), 0.5 * fit.curves[0].residuals("x (2)").std())

    @rig.needs("matplotlib")
    def test_picture(self):
        """python: the picture of a fit is closed, so that a notebook shows it once"""
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        t = np.linspace(0.1, 6, 30)
        figure = galpha.fit(oscillator(), {"time": t, "x": closed_form(t)}, ["k", "c"], set={"start": 1.0}).plot()
        self.assertEqual(len(figure.axes), 1)
        self.assertFalse(pyplot.fignum_exists(figure.number))

    def test_failures(self):
        """python: fits that cannot be, or do not converge, raise with what there is"""
        t = np.linspace(0.1, 3, 30)
        data = {"time": t, "x": closed_form(t)}
        with self.assertRaisesRegex(galpha.Error, "the model has none of this name"):
            galpha.fit(oscillator(), data, "kk")
        with self.assertRaisesRegex(galpha.Error, "no signal \"y\""):
            galpha.fit(oscillator(), {"time": t, "y": t}, "k")
        with self.assertRaises(galpha.Error) as caught:
            galpha.fit(oscillator(), data, ["k", "c", "start"], iterations=1)
        self.assertEqual(caught.exception.result.end, "iterations")
        with self.assertRaisesRegex(ValueError, "columns have 29, 30 values"):
            galpha.fit(oscillator(), {"time": t, "x": t[1:]}, "k")
        with self.assertRaisesRegex(TypeError, "start, or"):
            galpha.fit(oscillator(), data, {"k": (1, 2)})


class Optimize(unittest.TestCase):
    def setUp(self):
        try:
            galpha.optimize(oscillator(t_end=1), {"c": (1, 0.1, 2)}, minimize="max(x)", max_points=1)
        except galpha.Error as error:
            if "without NLopt" in str(error):
                self.skipTest("built without NLopt")

    def test_damping(self):
        """python: the damping of least ∫x² dt is half the critical one; with a limit of the overshoot it is larger"""
        m = oscillator(t_end=30)
        best = galpha.optimize(m, {"c": (0.5, 0.1, 5.0)}, minimize="integral(x^2)", set={"k": 1.0, "start": 1.0})
        self.assertAlmostEqual(best["c"], 1.0, delta=1e-3)
        self.assertAlmostEqual(best.value, 1.0, delta=1e-3)
        limited = galpha.optimize(m, {"c": (1.5, 0.1, 5.0)}, minimize="integral(x^2)", subject_to="-min(x) <= 0.1",
                                  set={"k": 1.0, "start": 1.0})
        overshoot = math.log(0.1)
        self.assertAlmostEqual(limited["c"], 2 * -overshoot / math.sqrt(math.pi**2 + overshoot**2), delta=1e-3)
        self.assertTrue(limited.constraints[0].active)
        self.assertLess(limited.constraints[0].multiplier, 0.0)

    def test_failures(self):
        """python: wrong optimisations raise; one that is cut short has the best so far"""
        with self.assertRaisesRegex(galpha.Error, "is missing"):
            galpha.optimize(oscillator(), "c")
        with self.assertRaises(galpha.Error) as caught:
            galpha.optimize(oscillator(), {"c": (0.5, 0.1, 5.0)}, minimize="integral(x^2)", max_points=2)
        self.assertEqual(caught.exception.result.end, "points")


if __name__ == "__main__":
    unittest.main()
