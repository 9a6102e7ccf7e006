"""Level 3: equations by functions in Python."""

import gc
import os
import signal
import sys
import threading
import tracemalloc
import unittest
import unittest.mock
import warnings

import numpy as np
import rig

import galpha

warnings.simplefilter("ignore", galpha.GalphaWarning)
METHODS = ("index3", "stabilized", "weighted", "soi2", "hht_soi2", "collocation", "automatic")
G = np.array([0.0, -9.81])


def mass(p):
    return p.vdot


def force(p):
    return G - p.q * p.lambda_


def phi(p):
    return 0.5 * (p.q @ p.q - 1.0)


def phi_dot(p):
    return p.q @ p.v


def jacobian(p, J):
    v, l = slice(0, 2), 2
    J.D[v, v] = J.shift_vdot * np.eye(2)
    J.D[v, l] = p.q
    J.Q[v, v] = p.lambda_ * np.eye(2)
    J.Q[l, v] = p.q
    J.G[l, v] = p.v


def pendulum(**more):
    return galpha.System(2, n_lambda=1, **{"mass": mass, "force": force, "phi": phi, "phi_dot": phi_dot, **more})


def after(t, function):
    """force until t, then the function."""
    return lambda p: function(p) if p.t > t else force(p)


def boom(p):
    raise ZeroDivisionError("boom")


def heavy_top():
    """The heavy top of the papers: R^3×SO(3), tip fixed by three constraints."""
    m, J, r, g = 15.0, np.diag([0.234375, 0.46875, 0.234375]), np.array([0, 1, 0.0]), np.array([0, 0, -9.81])
    R = lambda p: p.q[3:].reshape(3, 3)
    return galpha.System(["r3so3"], n_lambda=3, smooth=True,
                         mass=lambda p: np.r_[m * p.vdot[:3], J @ p.vdot[3:]],
                         force=lambda p: np.r_[m * g - p.lambda_, np.cross(J @ p.v[3:], p.v[3:]) + np.cross(r, R(p).T @ p.lambda_)],
                         phi=lambda p: p.q[:3] - R(p) @ r, phi_dot=lambda p: p.v[:3] - R(p) @ np.cross(p.v[3:], r))


class Solve(unittest.TestCase):
    def test_every_method(self):
        """python: a system runs by every method, at its order"""
        system = pendulum()
        exact = system.simulate(1.0, [-1, 0], method="collocation", tolerance=1e-10)
        for method in METHODS:
            with self.subTest(method):
                error = []
                for step in (0.01, 0.005):
                    end = system.simulate(1.0, [-1, 0], method=method, step=step)
                    error.append([np.linalg.norm(end.q[-1] - exact.q[-1]), np.linalg.norm(end.lambda_[-1] - exact.lambda_[-1])])
                order = np.log2(np.divide(*error))
                least = 3.5 if method == "collocation" else 1.7
                self.assertTrue(np.all(order > least), f"{method}: orders {order}")

    def test_same_as_c(self):
        """python: the pendulum of README's program in C, to its digits"""
        end = pendulum().simulate(10.0, [-1, 0], step=1e-3, output=10.0)
        self.assertEqual("x = %.4f m, y = %.4f m, force in the rod %.2f N" % (*end.q[-1], end.lambda_[-1, 0]),
                         "x = -0.2752 m, y = -0.9614 m, force in the rod 28.29 N")

    def test_jacobian(self):
        """python: a Jacobian is checked, and gives the same motion"""
        exact = pendulum(jacobian=jacobian)
        self.assertGreater(exact.check([0.6, -0.8], [0.8, 0.6], lambda_=[1.0], vdot=[0.1, 0.2]), 10)
        a, b = (s.simulate(0.5, [-1, 0], step=0.01) for s in (exact, pendulum()))
        np.testing.assert_allclose(a.q, b.q, atol=1e-9)
        self.assertGreater(b.stats["difference_jacobians"], 0)
        self.assertEqual(a.stats["difference_jacobians"], 0)
        pattern = [(0, 0), (1, 1), (0, 2), (1, 2), (2, 0), (2, 1)]

        def entries(p, J):
            J.D[:] = [J.shift_vdot, J.shift_vdot, *p.q, 0, 0]
            J.Q[:] = [*(2 * [p.lambda_[0]]), 0, 0, *p.q]
            J.G[:] = [0, 0, 0, 0, *p.v]

        sparse = pendulum(jacobian=entries, pattern=pattern)
        self.assertGreater(sparse.check([0.6, -0.8], [0.8, 0.6], lambda_=[1.0]), 5)
        wrong = pendulum(jacobian=lambda p, J: J.D.fill(7.0))
        with self.assertRaises(galpha.Error) as caught:
            wrong.check([0.6, -0.8])
        self.assertEqual(caught.exception.reason, "WRONG_DERIVATIVE")

    def test_groups(self):
        """python: the heavy top on its group: orders, energy, move and difference"""
        top = heavy_top()
        start = np.r_[0, 1, 0, np.eye(3).ravel()], np.r_[np.cross([0, 150, -4.61538], [0, 1, 0]), 0, 150, -4.61538]
        a, b = (top.simulate(0.1, *start, step=h) for h in (1e-3, 5e-4))
        exact = top.simulate(0.1, *start, method="collocation", tolerance=1e-9, output=0.1)
        error = [np.linalg.norm(s.q[-1] - exact.q[-1]) for s in (a, b)]
        self.assertGreater(np.log2(error[0] / error[1]), 1.8)
        d = top.difference(a.q[0], a.q[-1])
        np.testing.assert_allclose(top.move(a.q[0], d), a.q[-1], atol=1e-12)
        R = a.q[-1, 3:].reshape(3, 3)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-13)

    def test_states_and_outputs(self):
        """python: states and outputs: x' = -y, y = 2 x"""
        system = galpha.System(0, n_x=1, n_y=1, state=lambda p: -p.y, output=lambda p: 2 * p.x)
        end = system.simulate(1.0, [], None, [1.0], tolerance=1e-8)
        self.assertAlmostEqual(end.x[-1, 0], np.exp(-2.0), 6)
        np.testing.assert_allclose(end.y[:, 0], 2 * end.x[:, 0], rtol=1e-9)

    def test_nonholonomic(self):
        """python: a knife edge keeps its direction"""
        knife = galpha.System(3, n_psi=1, mass=lambda p: p.vdot, force=lambda p: -p.psi * across(p.q),
                              k=lambda p: across(p.q) @ p.v)
        across = lambda q: np.array([-np.sin(q[2]), np.cos(q[2]), 0.0])
        end = knife.simulate(1.0, [0, 0, 0], [1, 0, 2], tolerance=1e-7)
        np.testing.assert_allclose(end.q[-1], [np.sin(2) / 2, (1 - np.cos(2)) / 2, 2], atol=1e-5)

    def test_output_times(self):
        """python: dense output at given distances, error control"""
        a = pendulum().simulate(1.0, [-1, 0], tolerance=1e-8, output=0.01)
        np.testing.assert_allclose(a.t, np.arange(101) * 0.01, atol=1e-12)
        b = pendulum().simulate(1.0, [-1, 0], method="collocation", tolerance=1e-10, output=0.01)
        np.testing.assert_allclose(a.q, b.q, atol=1e-5)
        np.testing.assert_allclose(a.lambda_, b.lambda_, atol=1e-3)

    def test_events(self):
        """python: events record, stop and change the motion"""
        low = lambda p: p.q[0]
        all_ = pendulum().simulate(3.0, [-1, 0], tolerance=1e-7, events=[galpha.Crossing(low, name="low")])
        self.assertEqual([e.name for e in all_.events], ["low", "low", "low"])
        one = pendulum().simulate(3.0, [-1, 0], tolerance=1e-7, events=[galpha.Crossing(low, action="stop")])
        self.assertEqual(one.status, "stopped")
        self.assertAlmostEqual(one.t[-1], all_.events[0].t, 9)
        self.assertAlmostEqual(one.q[-1, 0], 0.0, 9)

        def turn(t, q, v, x):
            v *= -1.0

        back = pendulum().simulate(2 * one.t[-1], [-1, 0], tolerance=1e-8, output=0.1,
                                   events=[galpha.Crossing(low, action="restart", change=turn)])
        np.testing.assert_allclose(back.q[-1], [-1, 0], atol=1e-4)
        rising = pendulum().simulate(3.0, [-1, 0], tolerance=1e-7, events=[galpha.Crossing(low, direction=-1)])
        self.assertEqual(len(rising.events), 1)  # of those three

    def test_step_by_step(self):
        """python: states are the library's own memory, and stay safe"""
        sim = pendulum().simulation([-1, 0], step=0.01, t_end=0.1)
        first = sim.state
        self.assertFalse(first.q.flags.owndata or first.q.flags.writeable)
        times = [state.t for state in sim]
        np.testing.assert_allclose(times, np.arange(1, 11) * 0.01)
        middle = sim.interpolate(0.095)
        self.assertAlmostEqual(np.linalg.norm(middle["q"]), 1.0, 6)
        last = sim.state
        del sim
        gc.collect()
        np.testing.assert_allclose(np.linalg.norm(last.q), 1.0, atol=1e-9)  # its memory is still there
        with self.assertRaises(ValueError):
            last.q[0] = 3.0

    def test_threads(self):
        """python: one system in several threads at the same time"""
        system = pendulum()
        alone, found = system.simulate(0.5, [-1, 0], step=0.01).q.tobytes(), []
        threads = [threading.Thread(target=lambda: found.append(system.simulate(0.5, [-1, 0], step=0.01).q.tobytes()))
                   for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(found, 4 * [alone])


    def test_threads_and_failures(self):
        """python: an exception belongs to the thread whose run it is, also where all share one system"""
        def sometimes(p):
            if threading.current_thread().name.startswith("bad") and p.t > 0.02:
                raise ZeroDivisionError(threading.current_thread().name)
            return force(p)

        system, found = pendulum(force=sometimes), []

        def run():
            name = threading.current_thread().name
            for _ in range(5):
                try:
                    found.append((name, system.simulate(0.2, [-1, 0], step=0.01).t[-1]))
                except galpha.Error as error:
                    found.append((name, str(error.__cause__)))

        threads = [threading.Thread(target=run, name=name) for name in ("good 1", "bad 1", "good 2", "bad 2")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for name, what in found:
            self.assertEqual(what, name if name.startswith("bad") else 0.2)
        self.assertEqual(len(found), 20)

    def test_one_at_a_time(self):
        """python: a simulation that is stepping refuses others who would go on with it"""
        kept = {}

        def meddle(p):
            if p.t > 0.05 and "sim" in kept:
                kept.pop("sim").step()
            return force(p)

        sim = kept["sim"] = pendulum(force=meddle).simulation([-1, 0], step=0.01, t_end=0.1)
        with self.assertRaisesRegex(galpha.Error, "in the middle of a step"):
            sim.run()
        self.assertEqual(sim.run().t[-1], 0.1)

    def test_units(self):
        """python: settings of simulate() are numbers in SI units or texts with units, as those of run()"""
        a, b = (pendulum().simulate(0.1, [-1, 0], step=step).q for step in (0.01, "10 ms"))
        self.assertEqual(a.tobytes(), b.tobytes())
        with self.assertRaisesRegex(ValueError, "step: .*expected a time"):
            pendulum().simulate(0.1, [-1, 0], step="10 mm")


class Fail(unittest.TestCase):
    def refused(self, system, words, cause=None, **settings):
        with self.assertRaisesRegex(galpha.Error, words) as caught:
            system.simulate(1.0, [-1, 0], **{"step": 0.01, **settings})
        self.assertIsInstance(caught.exception.__cause__, cause or type(None))
        again = pendulum().simulate(0.1, [-1, 0], step=0.01)  # nothing is left of it
        self.assertEqual(len(again.t), 11)
        return caught.exception

    def test_raises(self):
        """python: an exception in every function is the cause of galpha.Error"""
        for name in ("mass", "force", "phi", "phi_dot"):
            e = self.refused(pendulum(**{name: boom}), f"'{name}' failed.*ZeroDivisionError: boom", ZeroDivisionError)
            self.assertEqual((e.callback, e.status), (name, "ERR_CALLBACK"))
        self.refused(pendulum(jacobian=lambda p, J: boom(p)), "'jacobian' failed", ZeroDivisionError)
        e = self.refused(pendulum(force=after(0.5, boom)), "'force' failed at t = 0.51", ZeroDivisionError)
        self.assertEqual(e.result.t[-1], 0.5)  # what was recorded until then
        with self.assertRaisesRegex(galpha.Error, "'g' failed") as caught:
            pendulum().simulate(1.0, [-1, 0], step=0.01, events=[galpha.Crossing(boom, name="g")])
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)

        def change(t, q, v, x):
            raise LookupError("no")

        with self.assertRaises(galpha.Error) as caught:
            pendulum().simulate(1.0, [-1, 0], step=0.01, events=[galpha.Crossing(lambda p: p.q[0], 0, "restart", change)])
        self.assertIsInstance(caught.exception.__cause__, LookupError)

    def test_not_a_number(self):
        """python: NaN and infinity are named with function and equation"""
        self.refused(pendulum(force=lambda p: [np.nan, 0.0]), "'force' returned nan for dynamics 0")
        self.refused(pendulum(force=after(0.5, lambda p: [0.0, np.inf])), "'force' returned inf for dynamics 1")

    def test_shapes(self):
        """python: a wrong shape, type or None is a clear exception"""
        for value, words in (([1, 2, 3], r"shape \(3,\) instead of 2 numbers"), (None, "None instead of 2 numbers"),
                             ([[1, 2]], r"shape \(1, 2\)"), ([1j, 0], "complex128 instead of real"), ("ab", "<U2"),
                             (4.0, r"shape \(\)"), ([[1], [2, 3]], "failed")):
            self.refused(pendulum(force=lambda p, value=value: value), words, (TypeError, ValueError))

        def reshape(p, J):
            J.D = np.zeros(4)

        self.refused(pendulum(jacobian=reshape), r"D became float64 of shape \(4,\)", ValueError)

    def test_keeps(self):
        """python: what a function keeps of its arguments stays as it was"""
        kept = []

        def keeper(p):
            q = p.q
            kept.append((p, q, q.copy(), q[:1]))
            return force(p)

        pendulum(force=keeper).simulate(0.2, [-1, 0], step=0.01)
        gc.collect()
        for point, q, copy, part in kept:
            self.assertEqual(q.tobytes(), copy.tobytes())
            self.assertEqual(part[0], copy[0])
        with self.assertRaisesRegex(RuntimeError, "valid during the call"):
            kept[0][0].q
        self.refused(pendulum(force=lambda p: kept[0][0].q), "valid during the call", RuntimeError)

        def changes(p):
            q = p.q
            f = G - q * p.lambda_
            q[:] = 1e300
            return f

        a, b = (s.simulate(0.2, [-1, 0], step=0.01).q for s in (pendulum(force=changes), pendulum()))
        self.assertEqual(a.tobytes(), b.tobytes())

    def test_retry(self):
        """python: Retry asks for smaller steps, and ends the run if these fail too"""
        self.refused(pendulum(force=after(0.5, lambda p: retry())), "'force'", tolerance=1e-4, step=None)

    def test_interrupt(self):
        """python: Ctrl-C in a function ends the run"""
        calls = []

        def slow(p):
            calls.append(p.t)
            if len(calls) == 500:
                os.kill(os.getpid(), signal.SIGINT)
            return force(p)

        with self.assertRaises(KeyboardInterrupt) as caught:
            pendulum(force=slow).simulate(100.0, [-1, 0], step=0.01)
        self.assertLess(len(calls), 600)
        self.assertGreater(len(caught.exception.result.t), 1)

    def test_wrong_calls(self):
        """python: wrong definitions, settings and initial values are named"""
        with self.assertRaisesRegex(galpha.Error, "'force' is missing"):
            galpha.System(2, mass=mass)
        with self.assertRaisesRegex(TypeError, "is not a function"):
            galpha.System(2, mass=3, force=force)
        with self.assertRaisesRegex(ValueError, "is none of rn, so3"):
            galpha.System(["so4"])
        with self.assertRaisesRegex(ValueError, "q: 3 numbers instead of 2"):
            pendulum().simulate(1.0, [1, 2, 3], step=0.1)
        with self.assertRaisesRegex(TypeError, "'stp'; the nearest is 'step'"):
            pendulum().simulate(1.0, [-1, 0], stp=0.1)
        with self.assertRaisesRegex(ValueError, "'rk4' is none of index3"):
            pendulum().simulate(1.0, [-1, 0], method="rk4")
        with self.assertRaisesRegex(galpha.Error, "step is -1 s"):
            pendulum().simulate(1.0, [-1, 0], step=-1)
        with self.assertRaisesRegex(ValueError, "accuracy"):
            pendulum().simulate(1.0, [-1, 0], accuracy=1e-3)
        with self.assertRaisesRegex(galpha.Error, "do not satisfy the constraints") as caught:
            pendulum().simulate(1.0, [-2, 0], step=0.1)
        self.assertEqual(caught.exception.reason, "START_OFF")


def retry():
    raise galpha.Retry


def resident():
    """Memory of this process [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leak(unittest.TestCase):
    """10 000 models with GALPHA_LEAK=10000 in the environment; fewer otherwise, as each is a whole run."""

    def measure(self, n, work):
        for _ in range(max(n // 10, 200)):  # until allocators have what they keep
            work()
        gc.collect()
        tracemalloc.start()
        memory, parts, grown, taken = resident(), 10 if n >= 1000 else 3, [], []
        for _ in range(parts):
            before, all_before = tracemalloc.get_traced_memory()[0], resident()
            for _ in range(n // parts):
                work()
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
            taken.append(resident() - all_before)
        tracemalloc.stop()
        # What is lost with each model is lost in every part. Python's table of interned strings, which pathlib uses, is
        # rebuilt at times: 1 MB that was there before, and counts as new, once.
        self.assertLess(min(grown) / (n // parts), 40.0, f"bytes of Python's memory for each model: {grown}")
        if n < 1000:
            self.assertLess((resident() - memory) / n, 2000.0, "bytes of all memory for each model")
        else:  # what tracemalloc takes itself, 2 MB at first, is in few of the tenths
            self.assertLess(sorted(taken)[parts // 2] / (n // parts), 20.0, f"bytes of all memory in each tenth: {taken}")

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "there is no /proc")
    def test_systems(self):
        """python: no memory is lost over many systems, with failures"""

        def work():
            pendulum().simulate(0.02, [-1, 0], step=0.01)
            try:
                pendulum(force=boom).simulate(0.02, [-1, 0], step=0.01)
            except galpha.Error:
                pass

        self.measure(int(os.environ.get("GALPHA_LEAK", 300)), work)

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "there is no /proc")
    def test_models(self):
        """python: no memory is lost over many models, with failures"""
        file = rig.model("pendulum")

        def work():
            galpha.run(file, t_end=0.02, step=0.01)
            try:
                galpha.run(file, set={"nothing": 1})
            except galpha.Error:
                pass

        self.measure(int(os.environ.get("GALPHA_LEAK", 300)), work)

    def test_names(self):
        """python: names of temporary files do not go through Python's table of strings"""
        kept, intern = [], sys.intern

        def keep(text):
            kept.append(text)
            return intern(text)

        with unittest.mock.patch.object(sys, "intern", keep):
            res = galpha.run(rig.model("pendulum"), t_end=0.02, step=0.01)
            galpha.sweep(rig.model("pendulum"), "final(hinge.angle)", set={"m": [1.0, 2.0]}, t_end=0.02, step=0.01)
        self.assertEqual([text for text in kept if text.startswith("galpha-")], [])
        self.assertTrue(res.path.exists())
        self.assertEqual(res.status, "finished")
