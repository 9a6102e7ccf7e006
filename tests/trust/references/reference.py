#!/usr/bin/env python3
"""Independent answers of tests/trust/cases.txt: closed forms, or SciPy's DOP853 with rtol 1e-12, piece by piece between the known
discontinuities, of equations written out by hand. Nothing of galpha is used.

    reference.py [NAME...]          prints every expected value beside the one of cases.txt; exit code 1 where they differ
    reference.py --fill [NAME...]   writes them where cases.txt has '?'; a tolerance '1e-3r' becomes 1e-3 of the signal's range

A case has a line `reference CALL`, CALL one of the functions below with its arguments."""
import math
import os
import re
import sys

import numpy as np
from scipy.integrate import DOP853, quad, solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, fsolve, minimize
from scipy.spatial.transform import Rotation

import machines

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "cases.txt")
G = 9.81


class Answer:
    """Signals as functions of time on [t0, t1], with the times where one of them may jump."""

    def __init__(self, signals, t0, t1, breaks=()):
        self.signals, self.t0, self.t1 = signals, t0, t1
        self.breaks = [b for b in breaks if t0 <= b <= t1]

    def at(self, name, t):
        return float(self.signals[name](t))

    def values(self, name):
        ts = list(np.linspace(self.t0, self.t1, 40001))
        for b in self.breaks:
            ts += [b + d for d in np.linspace(-0.1, 0.1, 2001) if self.t0 <= b + d <= self.t1]
            ts += [b + s * 1e-9 for s in (-1, 1) if self.t0 <= b + s * 1e-9 <= self.t1]
        return np.array([float(self.signals[name](t)) for t in ts])

    def extreme(self, kind, name):
        v = self.values(name)
        return {"max": v.max(), "min": v.min(), "absmax": abs(v).max(), "range": v.max() - v.min()}[kind]


class Path:
    """y(t) of y' = f(t, y), integrated piece by piece."""

    def __init__(self, f, y0, t0, t1, breaks=(), method="DOP853", rtol=1e-12, atol=1e-13):
        ends = sorted({t0, t1, *[b for b in breaks if t0 < b < t1]})
        self.ends, self.pieces = ends, []
        y = np.array(y0, float)
        for a, b in zip(ends, ends[1:]):
            s = solve_ivp(f, (a, b), y, method=method, rtol=rtol, atol=atol, dense_output=True, max_step=(b - a) / 4)
            assert s.success, s.message
            self.pieces.append(s.sol)
            y = s.y[:, -1]

    def __call__(self, t):
        i = min(max(int(np.searchsorted(self.ends, t, "left")) - 1, 0), len(self.pieces) - 1)
        return self.pieces[i](t)


class Switched:
    """y(t) of y' = f(t, y, s), s = sides(y) while it stays the same; where it changes is found on dense output."""

    def __init__(self, f, sides, y0, t0, t1, max_step):
        self.ends, self.pieces, self.edges = [t0], [], []
        y, t = np.array(y0, float), t0
        while t < t1:
            s = sides(y)
            solver = DOP853(lambda t, y: f(t, y, s), t, y, t1, rtol=1e-12, atol=1e-13, max_step=max_step)
            while solver.status == "running":
                assert solver.step() is None
                dense = solver.dense_output()
                low, high = solver.t_old, solver.t
                passed = sides(solver.y) != s
                for _ in range(100 * passed):
                    middle = 0.5 * (low + high)
                    low, high = (middle, high) if sides(dense(middle)) == s else (low, middle)
                self.ends.append(high)
                self.pieces.append(dense)
                t, y = high, dense(high)
                if passed:
                    self.edges.append(t)
                    break

    def __call__(self, t):
        i = min(max(int(np.searchsorted(self.ends, t, "left")) - 1, 0), len(self.pieces) - 1)
        return self.pieces[i](t)


# ---- Functions of time -------------------------------------------------------------------------------------------------

def table(rows):
    x, y = zip(*rows)
    return (lambda t: float(np.interp(t, x, y))), list(x)


def spline(rows):
    """Cubic spline, third derivative continuous at the second and last but one point; held outside."""
    x, y = zip(*rows)
    s = CubicSpline(x, y, bc_type="not-a-knot")
    inside = lambda t: x[0] <= t <= x[-1]
    return [lambda t: float(s(min(max(t, x[0]), x[-1]))), lambda t: float(s(t, 1)) if inside(t) else 0.0,
            lambda t: float(s(t, 2)) if inside(t) else 0.0]


def step5(x, x0, y0, x1, y1):
    u = min(max((x - x0) / (x1 - x0), 0), 1)
    return y0 + (y1 - y0) * u ** 3 * (10 - 15 * u + 6 * u * u)


def cubic_step(x, x0, y0, x1, y1):
    u = min(max((x - x0) / (x1 - x0), 0), 1)
    return y0 + (y1 - y0) * u * u * (3 - 2 * u)


def poly345(t, t0, d, a, b):
    """Value, rate and second derivative of the polynomial 10u^3 - 15u^4 + 6u^5."""
    u, h = min(max((t - t0) / d, 0), 1), b - a
    return (a + h * (10 * u ** 3 - 15 * u ** 4 + 6 * u ** 5), h / d * (30 * u ** 2 - 60 * u ** 3 + 30 * u ** 4),
            h / d ** 2 * (60 * u - 180 * u ** 2 + 120 * u ** 3))


def trapezoid(t, t0, d, a, b, r=0.25):
    """Value, rate and second derivative of a law whose rate is a trapezoid with ramps r d."""
    u, h = (t - t0) / d, b - a
    acc = h / (r * (1 - r)) / d ** 2
    if u <= 0:
        return a, 0.0, 0.0
    if u >= 1:
        return b, 0.0, 0.0
    if u < r:
        return a + acc * (t - t0) ** 2 / 2, acc * (t - t0), acc
    if u <= 1 - r:
        v = acc * r * d
        return a + v * (t - t0 - r * d / 2), v, 0.0
    e = t0 + d - t
    return b - acc * e * e / 2, acc * e, -acc


def cycloidal(t, t0, d, a, b):
    u, h = min(max((t - t0) / d, 0), 1), b - a
    w = 2 * math.pi
    return a + h * (u - math.sin(w * u) / w), h / d * (1 - math.cos(w * u)), h / d ** 2 * w * math.sin(w * u)


# ---- A mass on a rail, an oscillator, a hanging rod under a force of time ----------------------------------------------

FORCES = {
    # name: (force of time, where it or a derivative jumps)
    "if": lambda t0=33.3, w=0.05, F=10.0: (lambda t: F if t0 < t < t0 + w else 0.0, [t0, t0 + w]),
    "triangle": lambda t0=50.0, w=0.01, F=20.0: (lambda t: F * max(0, 1 - abs(t - t0) / w), [t0 - w, t0, t0 + w]),
    "mod": lambda P=10.0, w=0.02, F=50.0: (lambda t: F if t % P < w else 0.0, [k * P + d for k in range(20) for d in (0, w)]),
    "trapezoid": lambda: table([(15, 0), (15.1, 4), (16.9, 4), (17, 0)]),
    "step": lambda t0=40.0, w=0.001, F=100.0: (lambda t: F if t0 <= t < t0 + w else 0.0, [t0, t0 + w]),
    "cubic_step": lambda t0=40.0, w=0.01, F=100.0: (
        lambda t: cubic_step(t, t0, 0, t0 + w, F) * cubic_step(t, t0 + 2 * w, 1, t0 + 3 * w, 0), [t0 + k * w for k in range(4)]),
    "step5": lambda t0=40.0, w=0.01, F=100.0: (
        lambda t: step5(t, t0, 0, t0 + w, F) * step5(t, t0 + 2 * w, 1, t0 + 3 * w, 0), [t0 + k * w for k in range(4)]),
    "floor": lambda: (lambda t: 3.0 if math.floor(t) == 17 else 0.0, [17, 18]),
    "square": lambda: (lambda t: float(np.sign(math.sin(math.pi * t / 7 + 0.3))), [7 * (k - 0.3 / math.pi) for k in range(1, 10)]),
    "doublet": lambda t0=20.0, w=0.01, F=200.0: (
        lambda t: F if t0 <= t < t0 + w else -F if t0 + w <= t < t0 + 2 * w else 0.0, [t0, t0 + w, t0 + 2 * w]),
    "nested": lambda: (lambda t: table([(0, 0), (1, 5), (2, 0)])[0](20 * t - 900), [45, 45.05, 45.1]),
    "minmax": lambda: (lambda t: min(max(200 * (t - 60), 0), 8) - min(max(200 * (t - 60.3), 0), 8), [60, 60.04, 60.3, 60.34]),
    "sqrt": lambda: (lambda t: 0.5 * math.sqrt(max(0.0, t - 40)), [40]),
    "wave": lambda: (lambda t: 30 * math.sin(2 * math.pi * 100 * t), []),
    "chirp": lambda: (lambda t: 5 * math.sin(2 * math.pi * (0.2 * t + (20 - 0.2) * t * t / 2 / 10)), []),
    "early": lambda: (lambda t: 100.0 if t < 0.01 else 0.0, [0.01]),
    "last": lambda: (lambda t: 100.0 if t > 9.99 else 0.0, [9.99]),
    "bell": lambda: (lambda t: 20 * math.exp(-min(700, ((t - 50) / 0.02) ** 2)), [50 + 0.02 * k for k in range(-8, 9)]),
    "power": lambda: (lambda t: 2 * math.sin(math.pi * t / 80) ** 4000, [40 + k * 0.3 for k in range(-8, 9)]),
    "spline": lambda: (spline(SPLINE_PULSE)[0], [r[0] for r in SPLINE_PULSE]),
    "micro": lambda: (lambda t: 1e6 if 30 <= t < 30 + 1e-6 else 0.0, [30, 30 + 1e-6]),
    "before_start": lambda: (lambda t: 6.0 if 4 < t < 5.5 else 0.0, [5.5]),
    "jump_pairs": lambda: (lambda t: sum(4.0 if b <= t < b + 0.004 else 0.0 for b in (3, 3.004, 11.1, 29.9, 47)),
                           [b + d for b in (3, 3.004, 11.1, 29.9, 47) for d in (0, 0.004)]),
    "ceil": lambda: (lambda t: 5.0 * (math.ceil(t / 3) % 4 == 0), [3 * k for k in range(30)]),
    "hypot": lambda: (lambda t: 12.0 if math.hypot(t - 30, 1) < 1.0002 else 0.0, [30 + s * math.sqrt(1.0002 ** 2 - 1) for s in (-1, 1)]),
    "quadratic_root": lambda: (lambda t: 15.0 if (t - 12.345) * (t - 12.365) < 0 else 0.0, [12.345, 12.365]),
    "wave_gate": lambda: (lambda t: 10.0 if math.sin(2 * math.pi * t / 40) > 0.9999 else 0.0,
                          [10 + s * (math.acos(0.9999) * 40 / 2 / math.pi) for s in (-1, 1)]),
    "logic": lambda: (lambda t: 9.0 if (t > 21 and t < 21.02) or (t >= 33 and not t > 33.02) else 0.0, [21, 21.02, 33, 33.02]),
    "unit_ms": lambda: (lambda t: 7.0 if 25 < t < 25.003 else 0.0, [25, 25.003]),
    "late_table": lambda: (lambda t: sum(table(LATE_ROWS)[0](t - d) for d in (0.3, 0.7)), [r[0] + d for r in LATE_ROWS for d in (0.3, 0.7)]),
    "block_gate": lambda: (lambda t: 60.0 * (math.sin(t) > 0.9995),
                           sorted(b + 2 * math.pi * k for k in range(4) for b in (math.asin(0.9995), math.pi - math.asin(0.9995)))),
    "short": lambda: (lambda t: 3 * math.exp(-min(700, ((t - 2.43) / 0.043) ** 2)), [2.43 + 0.043 * k for k in range(-5, 6)]),
    "ramp_hold": lambda: (lambda t: 0.4 * min(max(t - 19.99, 0), 0.02) / 0.02, [19.99, 20.01]),
}
LATE_ROWS = [(3e6 + 1, 0), (3e6 + 1.01, 10), (3e6 + 1.25, 10), (3e6 + 1.26, 0)]
SPLINE_PULSE = [(22, 0), (22.01, 0), (22.02, 6), (22.03, 9), (22.04, 6), (22.05, 0), (22.06, 0)]


def cart(force, t1, start=0.0, m=2.0, k=0.0, c=0.0, x0=0.0, v0=0.0, name="cart", motor="motor", **how):
    """m x'' = F(t) - k x - c x'."""
    F, breaks = FORCES[force](**how)
    y = Path(lambda t, y: [y[1], (F(t) - k * y[0] - c * y[1]) / m], [x0, v0], start, t1, breaks)
    return Answer({name: lambda t: y(t)[0], name + ".rate": lambda t: y(t)[1],
                   name + ".acc": lambda t: (F(t) - k * y(t)[0] - c * y(t)[1]) / m, motor + ".force": F,
                   "energy.kinetic": lambda t: m * y(t)[1] ** 2 / 2}, start, t1, breaks)


def rod(force, t1, m=2.0, L=1.0, c=0.0, **how):
    """m L^2/3 a'' = tau(t) - m g L/2 sin a - c a', a from straight down."""
    F, breaks = FORCES[force](**how)
    J = m * L * L / 3
    acc = lambda t, y: (F(t) - m * G * L / 2 * math.sin(y[0]) - c * y[1]) / J
    y = Path(lambda t, y: [y[1], acc(t, y)], [0, 0], 0, t1, breaks)
    # force on the rod in the hinge: m (a_com - g), com = L/2 (sin a, -cos a)
    fx = lambda t: m * L / 2 * (acc(t, y(t)) * math.cos(y(t)[0]) - y(t)[1] ** 2 * math.sin(y(t)[0]))
    fy = lambda t: m * G + m * L / 2 * (acc(t, y(t)) * math.sin(y(t)[0]) + y(t)[1] ** 2 * math.cos(y(t)[0]))
    return Answer({"hinge.angle": lambda t: y(t)[0], "hinge.angle_rate": lambda t: y(t)[1], "motor.force": F, "hinge.fx": fx,
                   "hinge.fy": fy}, 0, t1, breaks)


# ---- Prescribed motion: all is closed form -----------------------------------------------------------------------------

def driven_rod(law, t1, m=2.0, L=1.0):
    """Torque of a drive that turns the hanging rod by law(t) = (a, a', a'')."""
    J = m * L * L / 3
    return Answer({"hinge.angle": lambda t: law(t)[0], "hinge.angle_rate": lambda t: law(t)[1], "hinge.angle_acc": lambda t: law(t)[2],
                   "turn.force": lambda t: J * law(t)[2] + m * G * L / 2 * math.sin(law(t)[0]),
                   "hinge.fy": lambda t: m * G + m * L / 2 * (law(t)[2] * math.sin(law(t)[0]) + law(t)[1] ** 2 * math.cos(law(t)[0]))},
                  0, t1, law.breaks)


def law(f, breaks, *args, **how):
    g = lambda t: f(t, *args, **how)
    g.breaks = breaks
    return g


def rod_poly345(t_start=0.0, duration=2.0, to=math.pi / 2, t1=100.0):
    return driven_rod(law(poly345, [t_start, t_start + duration], t_start, duration, 0, to), t1)


def rod_cycloidal(t_start=3.0, duration=0.5, to=1.0, t1=10.0):
    return driven_rod(law(cycloidal, [t_start, t_start + duration], t_start, duration, 0, to), t1)


def rod_parabola(t1=10.0):
    """a = 0.02 max(0, t - 5)^2: the acceleration jumps at 5 s."""
    f = lambda t: (0.02 * max(0, t - 5) ** 2, 0.04 * max(0, t - 5), 0.04 * (t > 5))
    return driven_rod(law(f, [5]), t1)


def slide_trapezoid(t_start=0.0, duration=1.9, to=1.0, t1=2.0, m=3.0, gravity=0.0, ramp=0.25):
    """A mass of 3 kg on a rail that a trapezoidal law moves, against gravity where there is some."""
    f = lambda t: trapezoid(t, t_start, duration, 0, to, ramp)
    breaks = [t_start + duration * s for s in (0, ramp, 1 - ramp, 1)]
    return Answer({"rail.displacement": lambda t: f(t)[0], "rail.displacement_rate": lambda t: f(t)[1],
                   "rail.displacement_acc": lambda t: f(t)[2], "push.force": lambda t: m * (f(t)[2] + gravity)}, 0, t1, breaks)



def skyhook(t1=10.0):
    """The quarter car of examples/models/quarter_car_skyhook.yaml, two masses over a bump."""
    ms, mw, ks, kt, soft, hard, sharp, bump = 315.0, 37.5, 29500.0, 210000.0, 700.0, 3500.0, 1e-3, 0.025
    road = lambda t: bump * (1 - math.cos(10 * math.pi * (t - 0.1))) if 0.1 < t < 0.3 else 0.0

    def strut(y):
        v = y[2] - y[3]
        return ks * (y[0] - y[1]) + (soft + (hard - soft) / 2 * (1 + math.tanh(y[2] * v / sharp))) * v

    def f(t, y):
        s, z = strut(y), kt * (y[1] - road(t))
        return [y[2], y[3], -s / ms, (s - z) / mw]

    y = Path(f, [0, 0, 0, 0], 0, t1, [0.1, 0.3])
    return Answer({"sprung.z": lambda t: 1 + y(t)[0], "wheel.z": lambda t: 0.5 + y(t)[1], "sprung.az": lambda t: f(t, y(t))[2],
                   "strut.force": lambda t: strut(y(t)), "road.z": road, "tyre.force": lambda t: kt * (y(t)[1] - road(t))}, 0, t1,
                  [0.1, 0.3])


# ---- Forces that depend on the place -----------------------------------------------------------------------------------

def field(shape, v0, F, w=5e-4, at=5.0, t1=10.0, m=2.0):
    """A mass of speed v0 crosses a force F(x) about x = at, of half width w: its energy says its speed, quadrature the time."""
    if shape == "box":
        work = F * 2 * w
        v1 = math.sqrt(v0 ** 2 + 2 * work / m)
        a, b = at - w, at + w
        inside = 2 * (b - a) / (v0 + v1)
    else:
        bell = lambda x: F * math.exp(-((x - at) / w) ** 2)
        a, b = at - 8 * w, at + 8 * w
        speed = lambda x: math.sqrt(v0 ** 2 + 2 / m * F * w * math.sqrt(math.pi) / 2 * (math.erf((x - at) / w) + math.erf(8.0)))
        v1 = speed(b)
        inside = quad(lambda x: 1 / speed(x), a, b, points=[at], epsabs=1e-14, epsrel=1e-13)[0]
    after = a / v0 + inside
    assert after < t1
    return Answer({"cart": lambda t: v0 * t if t < a / v0 else b + v1 * (t - after), "cart.rate": lambda t: v0 if t < a / v0 else v1}, 0,
                  t1)


def stripe(v0=20.0, w=5e-4, F=4000.0, t1=1.0, m=0.5):
    """A point flies along x at v0 through a stripe |x - 5| < w where a force F acts along y: vy = F 2w/(m v0)."""
    vy = F * 2 * w / (m * v0)
    te = 5 / v0
    return Answer({"ball.vy": lambda t: vy * (t > te), "ball.y": lambda t: vy * max(0.0, t - te), "ball.x": lambda t: v0 * t}, 0, t1)


def stop(v0=0.01, at=1.0, k=1e6, t1=200.0, m=2.0):
    """A mass that creeps to an elastic stop, half a period in it, and goes back."""
    hit, stay = at / v0, math.pi * math.sqrt(m / k)
    depth = v0 * math.sqrt(m / k)
    pos = lambda t: v0 * t if t < hit else at + depth * math.sin((t - hit) * math.sqrt(k / m)) if t < hit + stay else at - v0 * (t - hit - stay)
    return Answer({"cart": pos, "cart.rate": lambda t: v0 if t < hit else -v0}, 0, t1, [hit, hit + stay])


def bounce(h=1.0, m=0.3, k=1e6, e=1.5, r=0.0, t1=3.0, v0=0.0, d=0.0):
    """A ball falls from h onto a plane with the force k s^e (1 + d s'), never pulling; integrated phase by phase."""
    def air(t, y):
        return [y[1], -G]

    def touch(t, y):
        s = r - y[0]
        return [y[1], -G + (max(0.0, k * max(s, 0.0) ** e * (1 - d * y[1]))) / m]

    t, y, pieces = 0.0, np.array([h, v0]), []
    low = lambda t, y: y[0] - r
    while t < t1:
        flying = y[0] > r or (abs(y[0] - r) < 1e-12 and y[1] > 0)
        low.terminal, low.direction = True, (-1 if flying else 1)
        s = solve_ivp(air if flying else touch, (t, t1), y, method="DOP853", rtol=1e-12, atol=1e-15, dense_output=True, events=low,
                      max_step=1e-2 if flying else 2e-5)
        pieces.append((s.t[0], s.t[-1], s.sol, flying))
        t, y = s.t[-1], s.y[:, -1]
        if s.status == 1:
            y = np.array([r, y[1]])

    def state(t):
        for a, b, sol, flying in pieces:
            if t <= b:
                return sol(t), flying
        return pieces[-1][2](t), pieces[-1][3]

    def normal(t):
        y, flying = state(t)
        return 0.0 if flying else max(0.0, k * max(r - y[0], 0.0) ** e * (1 - d * y[1]))

    return Answer({"ball.z": lambda t: state(t)[0][0], "ball.vz": lambda t: state(t)[0][1], "floor.normal": normal}, 0, t1,
                  [p[1] for p in pieces])


# ---- Blocks between the excitation and the force -----------------------------------------------------------------------

def filtered(t1=60.0, T=0.3, m=2.0):
    """A pulse of 30 from 40 to 40.02 s through a first-order low-pass of 0.3 s onto a mass of 2 kg."""
    u = lambda t: 30.0 if 40 < t < 40.02 else 0.0
    y = Path(lambda t, y: [y[1], y[2] / m, (u(t) - y[2]) / T], [0, 0, 0], 0, t1, [40, 40.02])
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1], "motor.force": lambda t: y(t)[2]}, 0, t1, [40, 40.02])


def pade(T, n):
    """Numerator of degree n - 1 and denominator of degree n of exp(-T s), lowest power first."""
    m, f = n - 1, math.factorial
    num = [f(m + n - k) * f(m) / (f(m + n) * f(k) * f(m - k)) * (-T) ** k for k in range(m + 1)]
    den = [f(m + n - k) * f(n) / (f(m + n) * f(k) * f(n - k)) * T ** k for k in range(n + 1)]
    return num, den


def delayed(t1=60.0, T=0.5, n=3, m=2.0):
    """A table's pulse through a delay of 0.5 s, as the rational approximation that the manual states."""
    u, breaks = table([(40, 0), (40.1, 6), (40.9, 6), (41, 0)])
    num, den = pade(T, n)

    def f(t, z):  # z: cart, rate, states of the controllable form
        x = z[2:]
        top = (u(t) - sum(den[i] * x[i] for i in range(n))) / den[n]
        return [z[1], sum(num[i] * x[i] for i in range(n)) / m, *x[1:], top]

    y = Path(f, [0] * (2 + n), 0, t1, breaks)
    out = lambda t: sum(num[i] * y(t)[2 + i] for i in range(n))
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1], "late": out, "motor.force": out}, 0, t1, breaks)


def pid_step(t1=60.0, t0=50.0, m=2.0, kp=40.0, ki=20.0, kd=15.0, Tf=0.02):
    """A mass under a PID controller whose setpoint jumps by 1 at t0. u = kp e + ki int e + kd (0 - x)' filtered by Tf."""
    r = lambda t: 1.0 if t >= t0 else 0.0

    def parts(t, y):
        e = r(t) - y[0]
        d = kd * (-y[0] - y[3]) / Tf  # derivative of the measurement alone: setpoint_weight_derivative is 0
        return kp * e + y[2] + d, e

    def f(t, y):
        u, e = parts(t, y)
        return [y[1], u / m, ki * e, (-y[0] - y[3]) / Tf]

    y = Path(f, [0, 0, 0, 0], 0, t1, [t0])
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1], "motor.force": lambda t: parts(t, y(t))[0]}, 0, t1, [t0])


def spin_pulse(t1=50.0, t0=30.0, w=0.01, tau=5.0, J=0.2):
    """A free rigid body about its z axis under a torque pulse."""
    W = tau * w / J
    a = lambda t: 0.0 if t < t0 else tau / J * (t - t0) ** 2 / 2 if t < t0 + w else W * w / 2 + W * (t - t0 - w)
    return Answer({"rotor.wz": lambda t: tau / J * min(max(t - t0, 0), w), "mark.x": lambda t: math.cos(a(t))}, 0, t1, [t0, t0 + w])


# ---- Everything else ---------------------------------------------------------------------------------------------------

def quotient(t1=0.3):
    """A level rod under its weight and a torque 2/cos a."""
    y = Path(lambda t, y: [y[1], (2 / math.cos(y[0]) - G * math.cos(y[0])) / (2 / 3)], [0, 0], 0, t1)
    return Answer({"hinge.angle": lambda t: y(t)[0]}, 0, t1)


def root(t1=0.3):
    """The same with a torque 5 (sqrt(cos a - 0.5) + log(cos a))."""
    f = lambda a: 5 * (math.sqrt(math.cos(a) - 0.5) + math.log(math.cos(a)))
    y = Path(lambda t, y: [y[1], (f(y[0]) - G * math.cos(y[0])) / (2 / 3)], [0, 0], 0, t1)
    return Answer({"hinge.angle": lambda t: y(t)[0], "root": lambda t: f(y(t)[0]) / 5}, 0, t1)


def swing(amplitude, period, t1, name="mass", phase=0.0):
    w = 2 * math.pi / period
    return Answer({name: lambda t: amplitude * math.cos(w * t + phase), name + ".rate": lambda t: -amplitude * w * math.sin(w * t + phase),
                   name + ".acc": lambda t: -amplitude * w * w * math.cos(w * t + phase)}, 0, t1)


def orbit(mu=3.986e14, r=7e6):
    w = math.sqrt(mu / r ** 3)
    return Answer({"sat.x": lambda t: r * math.cos(w * t), "sat.y": lambda t: r * math.sin(w * t)}, 0, 2 * 2 * math.pi / w)


def cardan(b=math.pi / 6, w=10.0, t1=20.0):
    """x of the first shaft stays perpendicular to y of the second: tan(out) = tan(in) cos b."""
    c = math.cos(b)
    rate = lambda t: c * w / (math.cos(w * t) ** 2 + (c * math.sin(w * t)) ** 2)
    out = lambda t: w * t + math.atan2(c * math.sin(w * t), math.cos(w * t)) - math.atan2(math.sin(w * t), math.cos(w * t)) + \
        2 * math.pi * round((math.atan2(math.sin(w * t), math.cos(w * t)) - math.atan2(c * math.sin(w * t), math.cos(w * t))) / (2 * math.pi))
    acc = lambda t: c * w * w * math.sin(2 * w * t) * (1 - c * c) / (math.cos(w * t) ** 2 + (c * math.sin(w * t)) ** 2) ** 2
    return Answer({"shaft2.angle_rate": rate, "shaft2.angle": out, "two.wz": lambda t: rate(t) * c,
                   "turn.force": lambda t: 0.01 * acc(t) * rate(t) / w}, 0, t1)


def screw(m=2.0, J=0.01, pitch=0.02, t1=3.0):
    a = -m * G / (m + J * (2 * math.pi / pitch) ** 2)
    return Answer({"thread.displacement": lambda t: a * t * t / 2, "thread.angle": lambda t: a * t * t / 2 * 2 * math.pi / pitch,
                   "nut.wz": lambda t: a * t * 2 * math.pi / pitch}, 0, t1)


def incline(a=math.radians(20), t1=4.0):
    acc = G * math.sin(a) / 1.4
    return Answer({"ball.x": lambda t: acc * t * t / 2, "ball.wy": lambda t: acc * t / 0.1, "contact.normal": lambda t: 3 * G * math.cos(a)}, 0, t1)


def skate(w=2.0, t1=10.0):
    g = G * 0.5
    return Answer({"skate.x": lambda t: g / (2 * w * w) * math.sin(w * t) ** 2,
                   "skate.y": lambda t: g / (2 * w * w) * (w * t - math.sin(2 * w * t) / 2), "skate.angle": lambda t: w * t}, 0, t1)


def centrifuge(t1=5.0):
    """w = 20 + 3 t: at the tip -w^2 r, alpha r, g in its own axes; on the arm in the hinge m (a_com - g)."""
    w = lambda t: 20 + 3 * t
    return Answer({"imu.x": lambda t: -w(t) ** 2 * 0.5, "imu.y": lambda t: 3 * 0.5, "imu.z": lambda t: G,
                   "load.x": lambda t: -w(t) ** 2 * 0.2, "load.y": lambda t: 3 * 0.2, "load.z": lambda t: G,
                   "moment.y": lambda t: -G * 0.2, "moment.x": lambda t: 0.0,
                   "turn.force": lambda t: 3 * (0.02 + 0.2 ** 2), "hinge.angle": lambda t: 20 * t + 1.5 * t * t}, 0, t1)


def units(t1=1.5):
    J, k = 200e-4, 0.010 * 180 / math.pi
    w = math.sqrt(k / J)
    b = math.sqrt(2000 / 0.5)
    return Answer({"rotor": lambda t: 2 * math.pi / w * math.sin(w * t), "twist.force": lambda t: k * 2 * math.pi / w * math.sin(w * t),
                   "block": lambda t: 0.012 * math.cos(b * t), "coil.force": lambda t: 24 * math.cos(b * t)}, 0, t1)


def heat(t1=20.0):
    F = lambda t: 50.0 if 6 < t < 6.1 else 0.0
    y = Path(lambda t, y: [y[1], (F(t) - 4 * y[1]) / 2, 4 * y[1] ** 2, F(t) * y[1]], [0, 3, 0, 0], 0, t1, [6, 6.1])
    return Answer({"cart": lambda t: y(t)[0], "energy.dissipated": lambda t: y(t)[2], "energy.input": lambda t: y(t)[3]}, 0, t1, [6, 6.1])


def filters(t1=5.0):
    u = lambda t: math.sin(4 * math.pi * t)
    w, z = 2 * math.pi * 3, 0.3

    def f(t, y):
        return [(u(t) - y[0]) / 0.1, y[2], w * w * (u(t) - y[1]) - 2 * z * w * y[2], y[4], u(t) - 3 * y[4] - 20 * y[3]]
    y = Path(f, [0] * 5, 0, t1)
    return Answer({"low": lambda t: y(t)[0], "high": lambda t: u(t) - y(t)[0], "second": lambda t: y(t)[1],
                   "band": lambda t: 2 * z / w * y(t)[2], "fraction": lambda t: 2 * y(t)[4] + 5 * y(t)[3]}, 0, t1)


def links(n=5, k=200.0, t1=15.0):
    m = np.array([1.0 + i for i in range(n)])
    F = lambda t: 100.0 if 10 < t < 10.05 else 0.0

    def f(t, y):
        x, v = y[:n], y[n:]
        s = k * (x[1:] - x[:-1] - 1)
        a = np.r_[s, 0] - np.r_[0, s]
        a[0] += F(t)
        return np.r_[v, a / m]
    y = Path(f, np.r_[np.arange(n), np.zeros(n)], 0, t1, [10, 10.05])
    sig = {"m%d.x" % i: (lambda t, i=i: y(t)[i]) for i in range(n)}
    sig.update({"s%d.force" % i: (lambda t, i=i: k * (y(t)[i + 1] - y(t)[i] - 1)) for i in range(n - 1)})
    return Answer(sig, 0, t1, [10, 10.05])


def gears(t1=4.0):
    """a + 2 b keeps its value: with b = -a/2, (Ja + Jb/4) a'' = -10/2."""
    acc = -5.0 / (0.2 + 0.2 / 4)
    a = lambda t: 1000 * t + acc * t * t / 2
    return Answer({"ha.angle": a, "hb.angle": lambda t: -a(t) / 2, "ha.angle_rate": lambda t: 1000 + acc * t,
                   "mesh.force": lambda t: 0.2 * acc}, 0, t1)


def unbalanced(w=30.0):
    """Moment on the rotor in its own axes: w x (J w) = (-Jyz w^2, Jxz w^2, 0)."""
    return Answer({"moment.x": lambda t: 0.03 * w * w, "moment.y": lambda t: 0.02 * w * w, "moment.z": lambda t: 0.0}, 0, 2)


def axis_turn(k, a):
    c, s = math.cos(a), math.sin(a)
    i, j = [(1, 2), (2, 0), (0, 1)][k]
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def euler():
    p = np.array([1.0, 2, 3])
    Z, X, Y = (axis_turn(k, math.radians(d)) for k, d in ((2, 30), (0, 40), (1, 50)))
    moving, fixed = Z @ X @ Y @ p, Y @ X @ Z @ p
    quat = machines.matrix(np.array([0.5, 0.5, -0.5, 0.5])) @ p
    rows = np.array([-2.0, 1, 3])
    return Answer({"%s.%s" % (n, c): (lambda t, v=v, k=k: v[k]) for n, v in (("pm", moving), ("pf", fixed), ("pq", quat), ("pr", rows))
                   for k, c in enumerate("xyz")}, 0, 1)


def tumble(t1=10.0):
    """Euler's equations in body axes, and the quaternion; a body of moments 1, 2, 3."""
    def f(t, y):
        w, q = y[:3], y[3:]
        dq = 0.5 * np.r_[-q[1:] @ w, q[0] * w + np.cross(q[1:], w)]
        return np.r_[-1.0 * w[1] * w[2], 1.0 * w[2] * w[0], -w[0] * w[1] / 3, dq]
    q0 = machines.quaternion((1, 1, 0), 0.7)
    y = Path(f, np.r_[0.1, 3, 0.2, q0], 0, t1)
    space = lambda t: machines.matrix(y(t)[3:]) @ y(t)[:3]
    return Answer({"rate.x": lambda t: y(t)[0], "rate.y": lambda t: y(t)[1], "rate.z": lambda t: y(t)[2],
                   "box.wx": lambda t: space(t)[0], "box.wy": lambda t: space(t)[1], "box.wz": lambda t: space(t)[2]}, 0, t1)


def offset(t1=1.0):
    """Centre of mass at c from the frame; it flies on a parabola, the body turns at 8 rad/s."""
    c, w = np.array([0.3, 0.1]), 8.0
    turn = lambda t: np.array([[math.cos(w * t), -math.sin(w * t)], [math.sin(w * t), math.cos(w * t)]])
    v = np.array([2.0, 5.0]) + w * np.array([-c[1], c[0]])
    r = lambda t: c + v * t + np.array([0, -G * t * t / 2]) - turn(t) @ c
    a = lambda t: np.array([0, -G]) + w * w * (turn(t) @ c)
    return Answer({"bat.x": lambda t: r(t)[0], "bat.y": lambda t: r(t)[1], "bat.angle": lambda t: w * t, "bat.ax": lambda t: a(t)[0],
                   "bat.ay": lambda t: a(t)[1], "energy.kinetic": lambda t: 0.05 * w * w / 2 + ((v - [0, G * t]) @ (v - [0, G * t])) / 2}, 0, t1)


def pushed(t1=5.0):
    F = lambda t: 3.0 if 1 < t < 1.2 else 0.0

    def f(t, y):  # x, y, angle and rates; force along the body's x at (0, 0.25)
        return [y[3], y[4], y[5], F(t) * math.cos(y[2]) / 2, F(t) * math.sin(y[2]) / 2, -0.25 * F(t) / 0.5]
    y = Path(f, [0] * 6, 0, t1, [1, 1.2])
    return Answer({"disk.x": lambda t: y(t)[0], "disk.y": lambda t: y(t)[1], "disk.angle": lambda t: y(t)[2]}, 0, t1, [1, 1.2])


def limits(t1=10.0):
    u = lambda t: 3 * math.sin(2 * t)
    sat = lambda t: min(max(u(t), -1), 2)
    dead = lambda t: u(t) - sat(t)
    breaks = sorted(b for k in range(8) for s in (math.asin(2 / 3), math.pi - math.asin(2 / 3), math.pi + math.asin(1 / 3),
                                                  2 * math.pi - math.asin(1 / 3)) for b in [(s + 2 * math.pi * k) / 2])
    y = Path(lambda t, y: [2 * sat(t), dead(t)], [0.5, 0], 0, t1, breaks)
    prod = lambda t: 2 * sat(t) / (2 + math.cos(t))
    return Answer({"area": lambda t: y(t)[0], "rest": lambda t: y(t)[1], "prod": prod,
                   "mix": lambda t: sat(t) - 2 * dead(t) + 0.5 * prod(t)}, 0, t1, breaks)


def tables(t1=8.0):
    held = table([(2, 1), (3, 4), (5, 2)])[0]
    ends = lambda t: 1 + 3 * (t - 2) if t < 2 else 2 - (t - 5) if t > 5 else held(t)
    y = Path(lambda t, y: [ends(t), held(t)], [0, 0], 0, t1, [2, 3, 5])
    z = lambda x: (1 - 0.25) * np.interp(x, [0, 4, 8], [0, 2, 3]) + 0.25 * np.interp(x, [0, 4, 8], [1, 5, 7])
    return Answer({"e": lambda t: y(t)[0], "h": lambda t: y(t)[1], "z": z}, 0, t1, [2, 3, 5])


def late_clock():
    return Answer({"cart.rate": lambda t: 0.05 if t > 1000005.01 else 0.0, "cart": lambda t: 0.05 * (t - 1000005.005) if t > 1000005.01 else 0.0},
                  1e6, 1000010)


def late_pwm(t0=1e6, t1=1e6 + 10):
    """8 N on 2 kg in the first 1/16 s of every quarter of a second."""
    whole = lambda t: math.floor((t - t0) * 4)
    on = lambda t: min((t - t0) * 4 - whole(t), 0.25) / 4
    rate = lambda t: 4 * (whole(t) / 16 + on(t))
    # within a period: 2 s^2 while it is on, then on at 1/4 m/s more; n periods: sum over k of k/4 * 1/4, and of what each adds
    gain = lambda s: 2 * s * s if s <= 1 / 16 else 2 / 256 + (s - 1 / 16) / 4
    place = lambda t: (lambda n, s: n * (n - 1) / 2 / 16 + n * gain(0.25) + n / 4 * s + gain(s))(whole(t), t - t0 - whole(t) / 4)
    return Answer({"cart.rate": rate, "cart": place}, t0, t1, [t0 + k / 4 + d for k in range(41) for d in (0, 1 / 16)])


def short_pulse(t1=1e6):
    return Answer({"cart.rate": lambda t: 0.05 if t > 501 else 0.0, "cart": lambda t: 0.05 * (t - 500) if t > 501 else 0.0}, 0, t1)


def block_stairs(t1=20.0, m=2.0):
    """floor(limit(5 sin t) + 0.25): 3 - v where that is above 1.5, else a fifth of it."""
    stairs = lambda t: math.floor(min(4.0, max(-4.0, 5 * math.sin(t))) + 0.25)
    breaks = sorted(b + 2 * math.pi * k for k in range(4) for n in range(-4, 5) if abs(n - 0.25) <= 4
                    for a in [math.asin((n - 0.25) / 5)] for b in (a, math.pi - a) if b + 2 * math.pi * k > 0)
    f = lambda t, y: [y[1], (3 - y[1] if stairs(t) > 1.5 else 0.2 * stairs(t)) / m]
    y = Path(f, [0, 0], 0, t1, breaks)
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1], "stairs": stairs}, 0, t1, breaks)


def block_touch(t1=2.0, m=2.0):
    """max(2 limit(mod(-3.274 pulse, 0.906)), 0.1) on a mass: by quadrature on a fine grid between the ends of the pulse."""
    pulse = lambda t: step5(t, 0.995, 0, 0.998, 1) - step5(t, 0.998, 0, 1.001, 1)
    F = lambda t: max(2 * min(0.9, (-3.274 * pulse(t)) % 0.906), 0.1)
    grid = np.linspace(0.995, 1.001, 600001)
    h = grid[1] - grid[0]
    inside = np.array([F(t) for t in 0.5 * (grid[1:] + grid[:-1])])
    speed = np.concatenate([[0.05 * 0.995], 0.05 * 0.995 + np.cumsum(inside) * h / m])
    place = np.concatenate([[0.025 * 0.995 ** 2], 0.025 * 0.995 ** 2 + np.cumsum(0.5 * (speed[1:] + speed[:-1])) * h])
    late = lambda t: speed[-1] + 0.05 * (t - 1.001)
    rate = lambda t: 0.05 * t if t < 0.995 else late(t) if t > 1.001 else float(np.interp(t, grid, speed))
    at = lambda t: (0.025 * t * t if t < 0.995 else place[-1] + speed[-1] * (t - 1.001) + 0.025 * (t - 1.001) ** 2 if t > 1.001
                    else float(np.interp(t, grid, place)))
    return Answer({"cart": at, "cart.rate": rate}, 0, t1)


def field_through(shape, m=2.0, at=5.03, t1=10.0):
    """A mass at 1 m/s through a force about x = at; of energy its speed, of quadrature the time."""
    F, w = {"valley": (lambda x: 400 * math.exp(max(-1e5 * (x - at) ** 2, -700)), 0.03),
            "corner": (lambda x: 100 * max(0.0, 1 - abs(x - at) / 0.005), 0.005)}[shape]
    y = Path(lambda t, y: [y[1], F(y[0]) / m], [at - w, 1.0], at - w, t1, [at - w + k * 1e-4 for k in range(1, 600)])
    return Answer({"cart": lambda t: t if t < at - w else y(t)[0], "cart.rate": lambda t: 1.0 if t < at - w else y(t)[1]}, 0, t1)


def jump_at_end(t1=4.0, m=2.0):
    """floor(t/0.8) on a mass; at a jump the value before it counts at the end, that behind it elsewhere."""
    F = lambda t: float(min(math.floor(t / 0.8 + 1e-12), 4))
    speed = lambda t: sum(max(0.0, t - 0.8 * k) for k in range(1, 5)) / m
    return Answer({"cart.rate": speed, "motor.force": F, "twin.force": F}, 0, t1, [0.8 * k for k in range(1, 5)])


def sweep_mod(t1=17.6, m=2.0, c=5.0):
    """mod(sweep, 1.4) on a mass with a damper; its jumps by the sign of the sweep on a fine grid."""
    A, f0, f1, p, ts, d = -0.856910407608704, 0.12491696021891419, 4.8174874060300255, 1.676894196066662, 14.576469653743303, 0.07331593805916398

    def sweep(t):
        u = t - ts
        turns = f0 * u if u < 0 else f0 * u + (f1 - f0) * u * u / 2 / d if u < d else (f0 + f1) / 2 * d + f1 * (u - d)
        return A * math.sin(p + 2 * math.pi * turns)

    grid = np.linspace(0, t1, 20001)
    breaks = [brentq(sweep, a, b, xtol=1e-14) for a, b in zip(grid, grid[1:]) if sweep(a) * sweep(b) < 0]
    y = Path(lambda t, y: [y[1], (sweep(t) % 1.4 - c * y[1]) / m], [0, 0], 0, t1, breaks + [ts, ts + d])
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1]}, 0, t1, breaks)


def coast(t1=15.0):
    y = Path(lambda t, y: [y[1], -2 * math.tanh(y[1] / 0.01) / 0.5], [0, 40], 0, t1, [9.9, 9.99, 10, 10.01, 10.1], method="Radau")
    return Answer({"rotor": lambda t: y(t)[0], "rotor.rate": lambda t: y(t)[1], "energy.dissipated": lambda t: 0.25 * (1600 - y(t)[1] ** 2)}, 0, t1)


def slope_plane(a=math.radians(25), t1=2.0):
    """Along the plane's x, which points down by a: g sin a."""
    s = lambda t: G * math.sin(a) * t * t / 2
    return Answer({"floor.x": s, "floor.y": lambda t: t, "puck.x": lambda t: 1 + s(t) * math.cos(a), "puck.z": lambda t: 3 - s(t) * math.sin(a),
                   "puck.y": lambda t: 2 + t, "floor.fz": lambda t: 2 * G * math.cos(a) ** 2, "floor.fx": lambda t: 2 * G * math.cos(a) * math.sin(a)}, 0, t1)


def rack(t1=2.0, r=0.05):
    a = -3 * G / (3 + 0.01 / r ** 2)
    return Answer({"rail.displacement": lambda t: a * t * t / 2, "axle.angle": lambda t: a * t * t / 2 / r,
                   "teeth.force": lambda t: 3 * (a + G)}, 0, t1)


def bush(t1=3.0):
    K = np.array([[200.0, 50], [50, 300]]) / 2.0
    w2, V = np.linalg.eigh(K)
    q0 = V.T @ np.array([0.01, 0])
    x = lambda t: V @ (q0 * np.cos(np.sqrt(w2) * t))
    return Answer({"block.y": lambda t: x(t)[0], "block.z": lambda t: x(t)[1], "mount.fz": lambda t: 50 * x(t)[0] + 300 * x(t)[1]}, 0, t1)


def bush_turned(t1=3.0):
    w, a = 10.0, math.radians(100)  # 50/0.5 = w²; 70/w = 7 rad
    return Answer({"block.wz": lambda t: -a * w * math.sin(w * t), "mount.mz": lambda t: 50 * a * math.cos(w * t), "mount.mx": lambda t: 0.0,
                   "disk.angle": lambda t: 7 * math.sin(w * t), "disk.wz": lambda t: 70 * math.cos(w * t), "coil.mz": lambda t: 350 * math.sin(w * t)}, 0, t1)


def waves(t1=8.0):
    def f2(t):
        if t < 3:
            cycles = t - 3  # phase 0 at t_start
        elif t < 5:
            s = t - 3
            cycles = s + 3 * s * s / 4
        else:
            cycles = 2 + 3 + 4 * (t - 5)
        return 2 * math.sin(2 * math.pi * cycles)
    f1 = lambda t: 0.5 + 2 * math.sin(math.pi / 2 + 2 * math.pi * 3 * t)
    y = Path(lambda t, y: [y[1], f1(t), y[3], f2(t)], [0] * 4, 0, t1, [3, 5])
    return Answer({"one": lambda t: y(t)[0], "two": lambda t: y(t)[2], "two.rate": lambda t: y(t)[3], "f2.force": f2, "f1.force": f1}, 0, t1, [3, 5])


def feedback(t1=30.0):
    v = 5 * 0.1 / 2.5
    return Answer({"cart.vx": lambda t: v * min(max((t - 20) / 0.1, 0), 1), "cart.x": lambda t: v * (t - 20.05) if t > 20.1 else 0.0}, 0, t1)


def pid_limit(t1=30.0, t0=20.0, m=2.0, kp=40.0, ki=20.0, kd=15.0, Tf=0.05, Tt=0.5, top=10.0):
    """As pid_step, with y = saturation(u) and the integral part moved by (y - u)/Tt."""
    r = lambda t: 2.0 if t >= t0 else 0.0

    def parts(t, y):
        e = r(t) - y[0]
        return kp * e + y[2] + kd * (-y[0] - y[3]) / Tf, e

    def f(t, y):
        u, e = parts(t, y)
        out = min(max(u, -top), top)
        return [y[1], out / m, ki * e + (out - u) / Tt, (-y[0] - y[3]) / Tf]
    y = Path(f, [0, 0, 0, 0], 0, t1, [t0], rtol=1e-10, atol=1e-12)
    return Answer({"cart": lambda t: y(t)[0], "motor.force": lambda t: min(max(parts(t, y(t))[0], -top), top)}, 0, t1, [t0])


def stiff_rod(t1=5.0):
    """The limit of an infinitely stiff rod, let go level: a'' = -g cos a; the spring's own stretch is below 1e-7."""
    y = Path(lambda t, y: [y[1], -G * math.cos(y[0])], [0, 0], 0, t1)
    return Answer({"bob.x": lambda t: math.cos(y(t)[0]), "bob.y": lambda t: math.sin(y(t)[0])}, 0, t1)


def tube(t1=1.0, w=3.0, r0=0.1):
    r, v = lambda t: r0 * math.cosh(w * t), lambda t: r0 * w * math.sinh(w * t)
    return Answer({"slide.displacement": lambda t: r(t) - r0, "side.y": lambda t: 0.5 * 2 * w * v(t), "side.x": lambda t: 0.0,
                   "seen.x": r, "speed.x": v, "speed.y": lambda t: w * r(t), "felt.y": lambda t: 2 * w * v(t), "felt.x": lambda t: 0.0,
                   "turn.force": lambda t: 2 * 0.5 * r(t) * v(t) * w, "bead.x": lambda t: r(t) * math.cos(w * t)}, 0, t1)


def pair(t1=1.5):
    """Relative motion along the line: l'' = F (1/ma + 1/mb)."""
    l0 = math.sqrt(2)
    k = 3 * (1 + 0.5)
    met = math.sqrt(5 / 3)  # c and d pass through each other, and are pulled back
    l = lambda t: l0 + (k * t * t / 2 if t < 1 else k / 2 + k * (t - 1))
    c = lambda t: 5 - 3 * t * t if t < met else 3 * (t - met) ** 2 - 6 * met * (t - met)
    moved = lambda t: 2 / 3 * (l(t) - l0) / math.sqrt(2)
    cx = lambda t: 0.6 * 2 / 3 * (5 - c(t))
    return Answer({"jack.length": l, "band.length": lambda t: abs(c(t)), "a.x": lambda t: -moved(t), "c.x": cx,
                   "d.y": lambda t: 4 - 0.8 / 3 * (5 - c(t))}, 0, t1, [1])


def initial(t1=8.0):
    u = lambda t: 2 + step5(t, 3, 0, 3.01, 1)
    num, den = pade(0.5, 4)
    w, z = math.pi, 0.2
    n = 4

    def f(t, y):
        d = y[3:7]
        top = (u(t) - sum(den[i] * d[i] for i in range(n))) / den[n]
        x = y[7:9]
        s = y[9:11]
        return np.r_[(u(t) - y[0]) / 0.5, y[2], w * w * (u(t) - y[1]) - 2 * z * w * y[2], d[1:], top, x[1], u(t) - x[1] - 8 * x[0],
                     s[1], u(t) - 4 * s[0] - 0.4 * s[1]]
    y = Path(f, [2, 2, 0, 2, 0, 0, 0, 0.25, 0, 0.5, 0], 0, t1, [3, 3.01])
    return Answer({"low": lambda t: 3 * y(t)[0], "two": lambda t: 3 * y(t)[1], "late": lambda t: sum(num[i] * y(t)[3 + i] for i in range(n)),
                   "frac": lambda t: y(t)[8] + 4 * y(t)[7], "ss": lambda t: y(t)[9] + 0.5 * u(t)}, 0, t1, [3, 3.01])


def expressions():
    mod = lambda a, b: a - b * math.floor(a / b)
    deg = math.pi / 180
    v = {"e1": mod(-7, 3), "e2": 512.0, "e3": -9.0, "e4": -3 + 3 + 5 - 0.75 * math.pi, "e5": -3 - 2 - 1 + 5, "e6": 1 + 1 + 0 + 1, "e7": 1.0,
         "e8": -2.0, "e9": 1 + 4 + step5(0.25, 0, 0, 1, 1024), "e10": 2.0 + mod(7, -3), "u1": 0.0254 + 0.3048 + 1609.344,
         "u2": 4.4482216152605 + 9.80665, "u3": 1e5 + 6894.757293168361 + 101325, "u4": 0.44704 + 10, "u5": 2 * math.pi * 2 + math.pi / 60,
         "u6": 3.6e6 + 4.184, "u7": 0.45359237 + 1000, "u8": 3600 + 86400 + 3e-6}
    return Answer({k: (lambda t, x=x: x) for k, x in v.items()}, 0, 1)


def universal(t1=10.0):
    a, b = lambda t: 0.5 * (1 - math.cos(t)), lambda t: 0.3 * (1 - math.cos(2 * t))
    p = lambda t: axis_turn(0, a(t)) @ axis_turn(1, b(t)) @ np.array([0, 0, 1.0])
    return Answer({"tip." + c: (lambda t, k=k: p(t)[k]) for k, c in enumerate("xyz")}, 0, t1)


def pulley(t1=50.0):
    """motor - 5 drum keeps its value; u^4 (35 - 84 u + 70 u^2 - 20 u^3)."""
    def law(t):
        u = min(max((t - 2) / 0.2, 0), 1)
        return (10 * u ** 4 * (35 - 84 * u + 70 * u * u - 20 * u ** 3), 10 / 0.2 * 140 * (u - u * u) ** 3,
                10 / 0.04 * 420 * (u - u * u) ** 2 * (1 - 2 * u))
    return Answer({"motor": lambda t: law(t)[0], "drum": lambda t: law(t)[0] / 5, "drum.rate": lambda t: law(t)[1] / 5,
                   "turn.force": lambda t: (0.01 + 2 / 25) * law(t)[2]}, 0, t1, [2, 2.2])


def planar_slide():
    """Held against gravity along the rail; the kick along x has the part cos 30 degrees of it."""
    v = 100 * math.cos(math.pi / 6) * 0.02 / 4
    return Answer({"slide.displacement": lambda t: v * (t - 8.01) if t > 8.02 else 0.0, "slide.displacement_rate": lambda t: v if t > 8.02 else 0.0,
                   "box.x": lambda t: 1 + math.cos(math.pi / 6) * v * max(0.0, t - 8.01), "box.angle": lambda t: math.pi / 6}, 0, 10, [8, 8.02])


def same_time(t1=14.0):
    hat = table([(6.9, 0), (6.95, 2), (7, 0)])[0]
    F = lambda t: hat(t) + (t >= 7) + poly345(t, 7, 0.01, 0, 3)[0]
    y = Path(lambda t, y: [y[1], F(t)], [0, 0], 0, t1, [6.9, 6.95, 7, 7.01])
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1]}, 0, t1, [6.9, 6.95, 7, 7.01])


def state_switch(v=0.1, F=2.0, t1=40.0):
    """Comes at v, is thrown back with -v after 2 v/F."""
    hit, stay = 1 / v, 2 * v / F
    return Answer({"cart": lambda t: v * t if t < hit else 1 - v * (t - hit - stay), "cart.rate": lambda t: v if t < hit else -v}, 0, t1, [hit])


def edge_pendulum(t1=2.0):
    """(J + m s^2) a'' = m g s cos a - 0.5 sign a' - 2 (s cos a > 0.3), a about y."""
    f = lambda t, y, on: [y[1], (G * 0.5 * math.cos(y[0]) - (0.5 if on[0] else -0.5) - (2 if on[1] else 0)) / 0.35]
    y = Switched(f, lambda y: (y[1] > 0, 0.5 * math.cos(y[0]) > 0.3), [0, 0], 0, t1, 0.01)
    on = lambda t: (y(t)[1] > 0, 0.5 * math.cos(y(t)[0]) > 0.3)
    return Answer({"hinge.angle": lambda t: y(t)[0], "hinge.angle_rate": lambda t: y(t)[1], "rod.x": lambda t: 0.5 * math.cos(y(t)[0]),
                   "moment.force": lambda t: -(0.5 if on(t)[0] else -0.5) - (2 if on(t)[1] else 0)}, 0, t1, y.edges)


def edge_friction(k=100.0, F=0.5, t1=4.0):
    """Half periods of cosines about -F/k and F/k in turn."""
    w, off = math.sqrt(k), F / k
    def x(t):
        n = int(t * w / math.pi)
        sign = -1 if n % 2 else 1
        return sign * (1 - 2 * off * n - off) * math.cos(w * t - n * math.pi) + sign * off
    def v(t):
        n = int(t * w / math.pi)
        return -(-1 if n % 2 else 1) * (1 - 2 * off * n - off) * w * math.sin(w * t - n * math.pi)
    return Answer({"mass": x, "mass.rate": v}, 0, t1, [n * math.pi / w for n in range(1, int(t1 * w / math.pi) + 1)])


def edge_chain(t1=10.0):
    f = lambda t, y, on: [y[1], (-3 if on else 1.5) / 2, 1 if on else -1]
    y = Switched(f, lambda y: y[0] > 0.1, [1, 0.3, 0], 0, t1, 0.05)
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1], "clock": lambda t: y(t)[2],
                   "push.force": lambda t: -3.0 if y(t)[0] > 0.1 else 1.5}, 0, t1, y.edges)


def edge_spring(t1=3.0):
    push = lambda l, on: (20 + 300 * (1 - l) if on[0] else 0) + (300 * (0.8 - l) if on[1] else 0)
    f = lambda t, y, on: [y[1], push(y[0], on) / 2 - G]
    y = Switched(f, lambda y: (y[0] < 1, y[0] < 0.8), [1.5, 0], 0, t1, 0.01)
    return Answer({"ball.z": lambda t: y(t)[0], "ball.vz": lambda t: y(t)[1],
                   "buffer.force": lambda t: -push(y(t)[0], (y(t)[0] < 1, y(t)[0] < 0.8))}, 0, t1, y.edges)


def edge_encoder(t1=2.0):
    f = lambda t, y, n: [y[1], -(n + 0.5) - y[1]]
    y = Switched(f, lambda y: math.floor(y[0] / 0.01), [1, 0], 0, t1, 0.002)
    return Answer({"slide": lambda t: y(t)[0], "slide.rate": lambda t: y(t)[1]}, 0, t1)


def kick(v, t0, t1, name, rate, x0=0.0):
    """At rest, then v from t0 on, t0 the middle of the pulse."""
    return Answer({name: lambda t: x0 + v * max(0.0, t - t0), rate: lambda t: v if t > t0 else 0.0}, 0, t1, [t0])


def packet(t1=50.0):
    F = lambda t, x: 100 * math.exp(-min(700, ((x + 300 - 10 * t) / 0.05) ** 2))
    y = Path(lambda t, y: [y[1], F(t, y[0]) / 2], [0, 0], 0, t1, [29.9 + 0.005 * k for k in range(41)])
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1]}, 0, t1)


def gate(t1=20.0):
    when, b = table([(10, 0), (10.01, 1), (10.03, 1), (10.04, 0)])
    y = Path(lambda t, y: [y[1], when(t) * (50 + 50 * y[0]) / 2 if t > 4 else 0.0], [0, 0.05], 0, t1, b)
    assert y(20.0)[0] < 20 and y(10.04)[0] < 1
    return Answer({"cart": lambda t: y(t)[0], "cart.rate": lambda t: y(t)[1]}, 0, t1, b)


def rolling_push():
    """F/(m + J/r^2) for 10 ms: 420/4.2 0.01 = 1 m/s."""
    return Answer({"ball.vx": lambda t: min(max((t - 20) * 100, 0), 1), "ball.x": lambda t: max(0.0, t - 20.005), "ball.wy": lambda t: 10.0 * (t > 20.01)}, 0, 30,
                  [20, 20.01])


def door_push():
    """About the hinges J = 1.2 + 20 0.4^2 = 4.4, torque 0.8 550 = 440 for 20 ms: 2 rad/s."""
    a = lambda t: 2 * (t - 15.01) if t > 15.02 else 50 * max(0.0, t - 15) ** 2
    return Answer({"low.angle": a, "low.angle_rate": lambda t: min(max(100 * (t - 15), 0), 2), "high.angle": a}, 0, 16, [15, 15.02])


def chirp_drive(t1=5.0):
    c = lambda t: (t + 9 * t * t / 2 / 5, 1 + 9 * t / 5, 9 / 5)  # cycles and their derivatives
    w = 2 * math.pi
    x = lambda t: 0.01 * math.sin(w * c(t)[0])
    a = lambda t: 0.01 * (-(w * c(t)[1]) ** 2 * math.sin(w * c(t)[0]) + w * c(t)[2] * math.cos(w * c(t)[0]))
    return Answer({"rail.displacement": x, "push.force": lambda t: 3 * a(t)}, 0, t1)


def spline_drive(t1=5.0):
    f = spline([(-2, 0.4), (-1, 0.1), (0, 0), (1, 0.1), (2, 0.4), (3, 0.5), (4, 0.3), (5, 0.3), (6, 0.35), (7, 0)])
    return Answer({"rail.displacement": f[0], "rail.displacement_rate": f[1], "push.force": lambda t: 3 * f[2](t)}, 0, t1, range(6))


def sides(t1=10.0):
    return Answer({"push.force": lambda t: 0.6 if t > 5 else -0.6, "rail.displacement_rate": lambda t: 0.2 * abs(t - 5),
                   "rail.displacement": lambda t: 0.1 * abs(t - 5) * (t - 5) + 2.5}, 0, t1, [5])


def bumps(t1=20.0):
    road, b = table([(200, 0), (200.001, 0.02), (200.003, 0.02), (200.004, 0)])
    y = Path(lambda t, y: [y[1], (200e3 * (road(15 * t) - y[0]) - 20e3 * y[0] - 800 * y[1]) / 30], [0, 0], 0, t1, [x / 15 for x in b] + [13.4, 13.6, 14, 15])
    return Answer({"wheel": lambda t: y(t)[0], "wheel.rate": lambda t: y(t)[1]}, 0, t1, [x / 15 for x in b])


def double_links(t1=2.0, m1=2.0, m2=1.0, a0=0.0, b0=0.0, u0=0.0, v0=0.0):
    """Two slender links of 1 m, angles a, b from the x axis, from rest level or as given: Lagrange's equations."""
    def f(t, y):
        a, b, u, v = y
        c, s = math.cos(a - b), math.sin(a - b)
        M = np.array([[m1 / 3 + m2, m2 * c / 2], [m2 * c / 2, m2 / 3]])
        r = np.array([-m2 * s * v * v / 2 - (m1 / 2 + m2) * G * math.cos(a), m2 * s * u * u / 2 - m2 * G * math.cos(b) / 2])
        acc = np.linalg.solve(M, r)
        return [u, v, acc[0], acc[1]]
    y = Path(f, [a0, b0, u0, v0], 0, t1)
    return Answer({"base.angle": lambda t: y(t)[0], "knee.angle": lambda t: y(t)[1] - y(t)[0],
                   "tip.x": lambda t: math.cos(y(t)[0]) + math.cos(y(t)[1]), "tip.y": lambda t: math.sin(y(t)[0]) + math.sin(y(t)[1])}, 0, t1)


def conical(a=math.pi / 6, t1=10.0):
    w, r = math.sqrt(G / (2 * math.cos(a))), 2 * math.sin(a)
    T = 3 * G / math.cos(a)
    return Answer({"bob.x": lambda t: r * math.cos(w * t), "bob.y": lambda t: r * math.sin(w * t), "string.fz": lambda t: T * math.cos(a),
                   "string.fx": lambda t: -T * math.sin(a) * math.cos(w * t)}, 0, t1)


def plotter(a=math.radians(40), t1=10.0):
    X, Y = lambda t: 0.2 * (1 - math.cos(t)), lambda t: 0.1 * (1 - math.cos(2 * t))
    p = lambda t: np.array([0.5, 0, 1]) + axis_turn(0, a) @ np.array([X(t), Y(t), 0])
    # force of the drive of y on the pen: mass times acceleration along y of the desk
    return Answer({"pen.x": lambda t: p(t)[0], "pen.y": lambda t: p(t)[1], "pen.z": lambda t: p(t)[2],
                   "dy.force": lambda t: 0.4 * math.cos(2 * t), "dx.force": lambda t: 0.2 * math.cos(t), "da.force": lambda t: 0.02 * math.cos(t)}, 0, t1)


def marker_chain(w=0.5):
    R90z, R90x = axis_turn(2, math.pi / 2), axis_turn(0, math.pi / 2)
    local = np.array([0.5, 0, 0]) + R90z @ (np.array([0.2, 0, 0.1]) + R90x @ np.array([0, 0.3, 0]))
    p = lambda t: np.array([1, 0, 0]) + axis_turn(2, w * t) @ local
    axes = R90z @ R90x
    return Answer({"end.x": lambda t: p(t)[0], "end.y": lambda t: p(t)[1], "end.z": lambda t: p(t)[2],
                   "end.vy": lambda t: w * (p(t)[0] - 1), "up.x": lambda t: w * axes[2, 0], "up.y": lambda t: w * axes[2, 1], "up.z": lambda t: w * axes[2, 2]}, 0, 2)


def stick(t1=3.0):
    """R = Rx(a) Ry(b), com at (0, 0, -1/2) of the body: Lagrange's equations in a, b.
    T = ((Jx + m/4) cos^2 b + Jz sin^2 b) a'^2/2 + (Jy + m/4) b'^2/2, V = -m g/2 cos a cos b."""
    Jx, Jy, Jz = 0.1 + 0.25, 0.1 + 0.25, 0.02

    def f(t, y):
        a, b, u, v = y
        A = Jx * math.cos(b) ** 2 + Jz * math.sin(b) ** 2
        dA = 2 * math.sin(b) * math.cos(b) * (Jz - Jx)
        return [u, v, (-G / 2 * math.sin(a) * math.cos(b) - dA * u * v) / A, (-G / 2 * math.cos(a) * math.sin(b) + dA * u * u / 2) / Jy]
    y = Path(f, [0, 0, 1, 2], 0, t1)
    tip = lambda t: axis_turn(0, y(t)[0]) @ axis_turn(1, y(t)[1]) @ np.array([0, 0, -1.0])
    return Answer({"tip.x": lambda t: tip(t)[0], "tip.y": lambda t: tip(t)[1], "tip.z": lambda t: tip(t)[2], "cross.angle_x": lambda t: y(t)[0],
                   "cross.angle_y": lambda t: y(t)[1], "roll.angle": lambda t: y(t)[0], "pitch.angle": lambda t: y(t)[1]}, 0, t1)


# ---- cases.txt ---------------------------------------------------------------------------------------------------------


# ---- Starts --------------------------------------------------------------------------------------------------------------


def least(F, phi, n):
    """The z of least F(z) with phi(z) = 0, from 0 on."""
    r = minimize(F, np.zeros(n), constraints={"type": "eq", "fun": phi}, method="SLSQP", options={"ftol": 1e-17, "maxiter": 1000})
    assert abs(phi(r.x)).max() < 1e-10, r.message
    slopes = lambda f, z: np.array([(f(z + e) - f(z - e)) / 2e-4 * 4 / 3 - (f(z + 2 * e) - f(z - 2 * e)) / 2e-4 / 6 for e in 1e-4 * np.eye(n)])
    both = lambda u: np.concatenate([slopes(F, u[:n]) + slopes(phi, u[:n]) @ u[n:], phi(u[:n])])  # of F + phi m, all 0
    m = np.linalg.lstsq(slopes(phi, r.x), -slopes(F, r.x), rcond=None)[0]
    u = fsolve(both, np.concatenate([r.x, m]), xtol=1e-13)
    assert abs(both(u)).max() < 1e-9 and abs(u[:n] - r.x).max() < 1e-4
    return u[:n]


def at_start(values):
    return Answer({name: (lambda t, v=v: v) for name, v in values.items()}, 0.0, 0.1)


def weights_plane(*weights):
    """Three bars (mass, inertia, centre of mass, position, angle), the least of the moves of their centres and angles."""
    bars = [(1, 0.1, 0.5, (0, 0), 60), (2, 0.3, 1.0, (0.6, 0.9), 10), (1.5, 0.2, 0.6, (2.4, 0.1), 80)]
    angle = [math.radians(b[4]) for b in bars]
    axis = lambda a: np.array([math.cos(a), math.sin(a)])
    centre = [np.array(b[3]) + b[2] * axis(a) for b, a in zip(bars, angle)]
    on = lambda z, i, s: centre[i] + z[3 * i:3 * i + 2] + (s - bars[i][2]) * axis(angle[i] + z[3 * i + 2])
    phi = lambda z: np.concatenate([on(z, 0, 0), on(z, 0, 1) - on(z, 1, 0), on(z, 1, 2) - on(z, 2, 1.4), on(z, 2, 0) - (2.5, 0)])
    M = np.array([w * x for b, w in zip(bars, weights) for x in (b[0], b[0], b[1])])
    z = least(lambda z: (M * z * z).sum(), phi, 9)
    return at_start({name + ".angle": angle[i] + z[3 * i + 2] for i, name in enumerate("ABC")})


def weights_space(weight):
    """Bodies A and B on three balls; rotations from the given ones as vectors."""
    RA = Rotation.from_rotvec(math.radians(40) * np.array([1, 2, 3]) / math.sqrt(14)).as_matrix()
    RB = Rotation.from_rotvec(math.radians(-50) * np.array([0, 1, 1]) / math.sqrt(2)).as_matrix()
    JA, JB = RA @ np.diag([0.1, 0.2, 0.3]) @ RA.T, RB @ np.diag([0.3, 0.4, 0.5]) @ RB.T
    turned = lambda v, R: Rotation.from_rotvec(v).as_matrix() @ R

    def phi(z):
        a, A, b, B = z[:3] + (0.1, 0, 0), turned(z[3:6], RA), z[6:9] + (1, 1, 0.2), turned(z[9:], RB)
        return np.concatenate([a, a + A @ (1, 0, 0.2) - b - B @ (-0.3, 0.2, 0), b + B @ (0.5, 0.4, 0) - (1.6, 0.7, 0.3)])

    F = lambda z: z[:3] @ z[:3] + z[3:6] @ JA @ z[3:6] + weight * (2 * z[6:9] @ z[6:9] + z[9:] @ JB @ z[9:])
    z = least(F, phi, 12)
    values = {"B." + c: v for c, v in zip("xyz", z[6:9] + (1, 1, 0.2))}
    for name, v, R in (("A", z[3:6], RA), ("B", z[9:], RB)):
        q = Rotation.from_matrix(turned(v, R)).as_quat()
        values.update({name + ".q" + c: x * (1 if q[3] > 0 else -1) for c, x in zip("xyzw", q)})
    return at_start(values)


# ---- Forces with corners at places -------------------------------------------------------------------------------------------

def zone(u, lower, upper):
    """A dead zone; u less it is what saturation leaves."""
    return u - min(max(u, lower), upper)


def stops(t1=3.0):
    f = lambda t, y: [y[1], (40 * math.sin(7 * t) - 5000 * zone(y[0], -0.05, 0.04) - 3 * y[1]) / 2]
    y = Path(f, [0, 0], 0, t1)
    return Answer({"mass": lambda t: y(t)[0], "mass.rate": lambda t: y(t)[1]}, 0, t1)


def saturated_lag(t1=12.0):
    def f(t, y):
        e = 1.2 * (0.0017 * math.sin(0.054 * t * t) - y[2])
        u = brentq(lambda u: u + 0.0012 * math.tanh(0.7 * u / 0.0012) - e, -0.01, 0.01, xtol=1e-16)
        return [y[1], (y[3] - 0.6 * y[0] - 0.8 * y[1]) / 6, (y[0] - y[2]) / 0.28, (min(max(u, -0.0003), 0.0003) - y[3]) / 0.13]
    y = Path(f, [0, 0, 0, 0], 0, t1, atol=1e-16)
    return Answer({n: (lambda t, k=k: y(t)[k]) for n, k in (("c", 0), ("c.rate", 1), ("ul", 3))}, 0, t1)


def servo_limits(t1=8.0):
    def f(t, y):
        order = 60 * zone(math.sin(t) - y[2], -0.02, 0.03) - 4 * y[1]
        gear = 200 * zone(y[0] - y[2], -0.01, 0.01)
        load = np.interp(y[2], [-2, -0.5, 0, 0.5, 2], [-1, -0.8, 0, 0.3, 2])
        return [y[1], min(max(order, -3), 3) - gear, y[3], (gear - load - 2 * y[3]) / 4]
    y = Path(f, [0, 0, 0, 0], 0, t1)
    return Answer({n: (lambda t, k=k: y(t)[k]) for k, n in enumerate(("motor", "motor.rate", "load", "load.rate"))}, 0, t1)


AT = re.compile(r"^\s+(\S+) @ (\S+) = (\S+) \+- (\S+)")
EXTREME = re.compile(r"^\s+(max|min|absmax|range) (\S+) = (\S+) \+- (\S+)")


# ---- Small signals beside large ones, constants, and machines with nothing set ----------------------------------------------

def pendulum(m, J, l, angle, t1, x=0.0):
    """Angle, centre of mass and force of the hinge of a planar pendulum."""
    c = m * G * l / (J + m * l * l)
    y = Path(lambda t, y: [y[1], -c * math.sin(y[0])], [angle, 0], 0, t1)
    acc = lambda t: -c * math.sin(y(t)[0])
    ax = lambda t: l * (math.cos(y(t)[0]) * acc(t) - math.sin(y(t)[0]) * y(t)[1] ** 2)
    ay = lambda t: l * (math.sin(y(t)[0]) * acc(t) + math.cos(y(t)[0]) * y(t)[1] ** 2)
    return {"angle": lambda t: y(t)[0], "x": lambda t: x + l * math.sin(y(t)[0]), "y": lambda t: -l * math.cos(y(t)[0]),
            "fx": lambda t: m * ax(t), "fy": lambda t: m * (ay(t) + G)}


def crane(along=False, m=2.0, J=0.3, l=1.5, u=1.2, t1=3.0):
    """A load on a trolley that moves at u from the start on: a pendulum seen from it. Given at rest it gets an impulse p at its pin, with
    p/m + l^2 p/J = u, of which its rate is -l p/J."""
    p = 0.0 if along else u / (1 / m + l * l / J)
    c = m * G * l / (J + m * l * l)
    y = Path(lambda t, y: [y[1], -c * math.sin(y[0])], [0, -l * p / J], 0, t1)
    return Answer({"pin.angle": lambda t: y(t)[0], "pin.angle_rate": lambda t: y(t)[1],
                   "load.x": lambda t: u * t + l * math.sin(y(t)[0]), "trolley.x": lambda t: u * t}, 0, t1)


def four_bar_turn(w=10.0, t1=1.0, a=0.4, b=1.0, c=0.8, d=1.0, start=1.0):
    """The rocker of a four-bar whose crank turns evenly: where circles about the crank's end and the rocker's pin meet."""
    def rocker(t):
        p = a * np.exp(1j * (start + w * t))
        r = abs(d - p)
        s = (b * b - c * c + r * r) / (2 * r)
        return float(np.angle(p + (s + 1j * math.sqrt(b * b - s * s)) * (d - p) / r - d))

    def rate(t):  # crank's and rocker's ends move alike along the coupler
        p, q = a * np.exp(1j * (start + w * t)), d + c * np.exp(1j * rocker(t))
        e = q - p
        return w * (1j * p * e.conjugate()).real / (1j * (q - d) * e.conjugate()).real
    return Answer({"B.angle": lambda t: rocker(t) - rocker(0), "B.angle_rate": rate, "rocker.angle": rocker}, 0, t1)


class FourBar:
    """The four-bar of the examples by the angle of its crank: bars of 1 kg/m, kinetic energy M w^2/2, potential energy V."""
    a, b, c, d, start = 0.4, 1.0, 0.8, 1.0, 1.0

    def ends(self, x):
        p = self.a * np.exp(1j * (self.start + x))
        r = abs(self.d - p)
        s = (self.b ** 2 - self.c ** 2 + r * r) / (2 * r)
        return p, p + (s + 1j * math.sqrt(self.b ** 2 - s * s)) * (self.d - p) / r

    def rates(self, x):
        """Of coupler and rocker, for a rate of the crank of 1."""
        p, q = self.ends(x)
        e, r = q - p, q - self.d
        cross = lambda u, v: (u.conjugate() * v).imag
        return cross(p, r) / -cross(e, r), cross(p, e) / cross(r, e)

    def mass(self, x):
        p, q = self.ends(x)
        k, n = self.rates(x)
        middle = 1j * (p + k * (q - p) / 2)
        return self.a ** 3 / 3 + self.b * abs(middle) ** 2 + self.b ** 3 / 12 * k * k + self.c ** 3 / 3 * n * n

    def slope(self, f, x, h=2e-3):
        g = lambda k: f(x + k * h) - f(x - k * h)
        return (45 * g(1) - 9 * g(2) + g(3)) / (60 * h)

    def height(self, x):
        p, q = self.ends(x)
        return G * (self.a * p.imag / 2 + self.b * (p + q).imag / 2 + self.c * q.imag / 2)

    def acc(self, x, w, torque):
        return (torque - self.slope(self.height, x) - self.slope(self.mass, x) * w * w / 2) / self.mass(x)


def four_bar_friction(level=0.3, t1=3.0):
    """Dry friction at the crank's pin. It never holds: where the crank turns round its own torque is larger."""
    bar = FourBar()
    f = lambda t, y, up: [y[1], bar.acc(y[0], y[1], -level if up else level)]
    y = Switched(f, lambda y: y[1] > 0, [0, -1e-300], 0, t1, 0.01)
    for t in y.edges:
        assert abs(bar.slope(bar.height, y(t)[0])) > level
    n = lambda x: np.angle(bar.ends(x)[1] - bar.d)
    return Answer({"A.angle": lambda t: y(t)[0], "A.angle_rate": lambda t: y(t)[1], "rocker.angle": lambda t: n(y(t)[0]),
                   "B.angle_rate": lambda t: bar.rates(y(t)[0])[1] * y(t)[1]}, 0, t1, y.edges)


def four_bar_relay(level=0.4, at=-0.5, t1=3.0):
    """A torque on the crank that changes its sign where the crank passes an angle."""
    bar = FourBar()
    f = lambda t, y, up: [y[1], bar.acc(y[0], y[1], -level if up else level)]
    y = Switched(f, lambda y: y[0] > at, [0, 0], 0, t1, 0.01)
    return Answer({"A.angle": lambda t: y(t)[0], "A.angle_rate": lambda t: y(t)[1],
                   "fr.force": lambda t: -level if y(t)[0] > at else level}, 0, t1, y.edges)


def two_sizes(t1=2.0):
    high, fine = pendulum(1000, 2000, 10, 0.6, t1), pendulum(1e-4, 2e-11, 1e-3, 0.9, t1, 3.0)
    return Answer({**{"high." + k: high[k] for k in ("angle", "fx", "fy")}, **{"fine." + k: fine[k] for k in ("angle", "fx", "fy")},
                   "tip.x": fine["x"], "tip.y": fine["y"]}, 0, t1)


def feather(t1=5.0):
    signals = {}
    for name, spring, m, k, x, v in (("anvil", "girder", 1e4, 1e4, 1, 0), ("feather", "hair", 1e-4, 2e-3, 0.5, 0),
                                     ("dust", "thread", 1e-12, 5e-9, 2e-3, 3e-3)):
        w = math.sqrt(k / m)
        signals[name] = lambda t, w=w, x=x, v=v: x * math.cos(w * t) + v / w * math.sin(w * t)
        signals[spring + ".force"] = lambda t, f=signals[name], k=k: k * f(t)
        signals[name + ".rate"] = lambda t, w=w, x=x, v=v: -x * w * math.sin(w * t) + v * math.cos(w * t)
    return Answer(signals, 0, t1)


def two_arms(t1=5.0):
    return Answer({"great_load.x": lambda t: -1e4, "great_load.y": lambda t: 0.0, "tiny_load.x": lambda t: -9e-4, "tiny_load.y": lambda t: 0.0,
                   "mill.force": lambda t: 0.0, "clock.force": lambda t: 0.0, "shaft.fx": lambda t: -1e4 * math.cos(10 * t),
                   "pivot.fy": lambda t: -9e-4 * math.sin(3 * t)}, 0, t1)


def late_tap(t1=10.0):
    tap, breaks = table([[8, 0], [8.01, 1e-3], [8.04, 1e-3], [8.05, 0]])
    y = Path(lambda t, y: [y[1], (tap(t) - 4 * y[0] - 0.05 * y[1]) / 0.01], [0, 0], 0, t1, breaks)
    return Answer({"mass": lambda t: 2 * math.cos(2 * t), "bell": lambda t: y(t)[0], "bell.rate": lambda t: y(t)[1],
                   "wire.force": lambda t: 4 * y(t)[0] + 0.05 * y(t)[1]}, 0, t1, breaks)


def decay(t1=10.0):
    w = math.sqrt(40)
    return Answer({"stopped": lambda t: (1 - math.exp(-200 * t)) / 200, "stopped.rate": lambda t: math.exp(-200 * t),
                   "oil.force": lambda t: 200 * math.exp(-200 * t), "drifting": lambda t: 2e-8 * (t * t / 2 + t / 3 - math.sin(3 * t) / 9),
                   "drifting.rate": lambda t: 2e-8 * (t + (1 - math.cos(3 * t)) / 3), "drifting.acc": lambda t: 2e-8 * (1 + math.sin(3 * t)),
                   "swinging": lambda t: math.cos(w * t), "spring.force": lambda t: 40 * math.cos(w * t)}, 0, t1)


def elastic(t1=12.0):
    force = lambda x, z: 60 * (math.hypot(x, z) - 1)

    def f(t, y):
        x, z, vx, vz = y
        a = force(x, z) / math.hypot(x, z) / 0.7
        return [vx, vz, -a * x, -a * z - G]
    y = Path(f, [0.8, -0.9, 0, 0.5], 0, t1)
    return Answer({"bob.x": lambda t: y(t)[0], "bob.z": lambda t: y(t)[1], "bob.vx": lambda t: y(t)[2], "bob.az": lambda t: f(t, y(t))[3],
                   "bob.y": lambda t: 0.0, "spring.force": lambda t: force(*y(t)[:2]), "spring.length": lambda t: math.hypot(*y(t)[:2])}, 0, t1)


def furuta(t1=6.0):
    """phi of the arm, theta of the rod from hanging; the rod's mass at L e_r + l sin(theta) e_t - l cos(theta) e_z."""
    m, L, l, J0, J = 0.2, 0.25, 0.3, 4e-3, 2e-4

    def f(t, y):
        _, th, w, v = y
        s, c = math.sin(th), math.cos(th)
        A = [[J0 + J + m * L * L + m * l * l * s * s, m * L * l * c], [m * L * l * c, m * l * l + J]]
        b = [0.05 * math.sin(2 * t) - 0.01 * w - 2 * m * l * l * s * c * v * w + m * L * l * s * v * v,
             m * l * l * s * c * w * w - m * G * l * s - 0.002 * v]
        return [w, v, *np.linalg.solve(A, b)]
    y = Path(f, [0, 2, 0, 0], 0, t1)
    return Answer({"column.angle": lambda t: y(t)[0], "elbow.angle": lambda t: y(t)[1], "column.angle_rate": lambda t: y(t)[2],
                   "elbow.angle_acc": lambda t: f(t, y(t))[3]}, 0, t1)


def trammel(t1=4.0):
    """Centre of the bar at a (-cos, sin) of its angle; walls are smooth."""
    m, J, a = 2.0, 0.3, 0.6
    c = m * G * a / (J + m * a * a)
    y = Path(lambda t, y: [y[1], -c * math.cos(y[0])], [math.pi / 2, 9], 0, t1)
    acc = lambda t: -c * math.cos(y(t)[0])
    return Answer({"bar.angle": lambda t: y(t)[0], "bar.x": lambda t: -a * math.cos(y(t)[0]), "bar.y": lambda t: a * math.sin(y(t)[0]),
                   "bar.wz": lambda t: y(t)[1],
                   "wall.fx": lambda t: m * a * (math.sin(y(t)[0]) * acc(t) + math.cos(y(t)[0]) * y(t)[1] ** 2),
                   "floor.fy": lambda t: m * (G + a * (math.cos(y(t)[0]) * acc(t) - math.sin(y(t)[0]) * y(t)[1] ** 2))}, 0, t1)


def whirl(t1=8.0):
    w = math.sqrt(20 / 0.4 - 16)
    s = lambda t: (0.3 * 16 - 0.1 * 50) / w ** 2 * (1 - math.cos(w * t))
    rate = lambda t: (0.3 * 16 - 0.1 * 50) / w * math.sin(w * t)
    return Answer({"slide.displacement": s, "slide.displacement_rate": rate, "bead.x": lambda t: (0.3 + s(t)) * math.cos(4 * t),
                   "spring.force": lambda t: 20 * (s(t) + 0.1), "turn.force": lambda t: 2 * 0.4 * 4 * (0.3 + s(t)) * rate(t),
                   "hub.angle_acc": lambda t: 0.0}, 0, t1)


def kapitza(t1=1.0):
    m, J, l, w = 0.3, 0.002, 0.2, 80 * math.pi
    shake = lambda t: -0.02 * w * w * math.cos(w * t)
    acc = lambda t, th: m * l * (G + shake(t)) * math.sin(th) / (J + m * l * l)
    y = Path(lambda t, y: [y[1], acc(t, y[0])], [0.4, 0], 0, t1)
    rise = lambda t: shake(t) - l * (math.sin(y(t)[0]) * acc(t, y(t)[0]) + math.cos(y(t)[0]) * y(t)[1] ** 2)
    return Answer({"pin.angle": lambda t: y(t)[0], "pin.angle_rate": lambda t: y(t)[1],
                   "shaker.force": lambda t: 1.0 * (shake(t) + G) + m * (rise(t) + G)}, 0, t1)


def spherical(t1=15.0):
    pull = lambda y: -(y[3] ** 2 + y[4] ** 2 + y[5] ** 2 - G * y[2]) / 4
    y = Path(lambda t, y: [*y[3:], pull(y) * y[0], pull(y) * y[1], pull(y) * y[2] - G], [1.2, 0, -1.6, 0, 1.1, 0], 0, t1)
    return Answer({"bob.x": lambda t: y(t)[0], "bob.y": lambda t: y(t)[1], "bob.z": lambda t: y(t)[2], "bob.vx": lambda t: y(t)[3],
                   "cord.fx": lambda t: 3 * pull(y(t)) * y(t)[0], "cord.fz": lambda t: 3 * pull(y(t)) * y(t)[2]}, 0, t1)


def relay(t1=9.0):
    def swing(a, x0):
        """Arcs of parabolas, a quarter of a period each up to the middle."""
        quarter = math.sqrt(2 * x0 / a)

        def x(t):
            phase, sign = t % (4 * quarter), 1
            if quarter < phase < 3 * quarter:
                phase, sign = phase - 2 * quarter, -1
            elif phase >= 3 * quarter:
                phase -= 4 * quarter
            return sign * (x0 - a / 2 * phase * phase)
        return x
    cart, mite = swing(1.5, 1.0), swing(1.0, 0.01)
    return Answer({"cart": cart, "mite": mite, "relay.force": lambda t: -3.0 if cart(t) > 0 else 3.0}, 0, t1)


def motor(t1=2.0):
    A, b = np.array([[-600.0, -25.0], [250.0, -0.05]]), np.array([6000.0, 0.0])
    values, vectors = np.linalg.eig(A)
    rest = -np.linalg.solve(A, b)
    part = np.linalg.solve(vectors, -rest)
    state = lambda t: rest + (vectors @ (np.exp(values * t) * part)).real
    angle = lambda t: rest[1] * t + (vectors @ ((np.exp(values * t) - 1) / values * part)).real[1]
    return Answer({"current": lambda t: state(t)[0], "rotor.rate": lambda t: state(t)[1], "rotor": angle,
                   "torque.force": lambda t: 0.05 * state(t)[0]}, 0, t1)


def answer_of(call):
    names = {k: v for k, v in globals().items() if callable(v)}
    names.update({k: v for k, v in vars(machines).items() if callable(v)})
    names["pi"] = math.pi
    return eval(call, {"__builtins__": {}}, names)


def resolve(line, answer, fill):
    """The line with its numbers; the difference to what it had, over the tolerance."""
    m = AT.match(line) or EXTREME.match(line)
    if not m or answer is None or m.group(1 if AT.match(line) else 2) not in answer.signals:
        return line, 0.0
    if AT.match(line):
        name, value = m.group(1), answer.at(m.group(1), float(m.group(2)))
    else:
        name, value = m.group(2), answer.extreme(m.group(1), m.group(2))
    old, tol = m.group(3), m.group(4)
    new_tol = "%.2g" % (float(tol[:-1]) * answer.extreme("range", name)) if tol.endswith("r") else tol
    if fill and (old == "?" or tol.endswith("r")):
        head = line[: m.start(3)]
        return head + "%.10g +- %s" % (value, new_tol) + line[m.end(4):], 0.0
    if old == "?":
        return line, math.inf
    return line, abs(value - float(old)) / float(new_tol)


def main():
    args = sys.argv[1:]
    fill = "--fill" in args
    wanted = [a for a in args if not a.startswith("--")]
    lines = open(CASES).read().split("\n")
    name, answer, worst = None, None, 0.0
    for i, line in enumerate(lines):
        words = line.split()
        if words[:1] == ["case"]:
            name, answer = words[1], None
        elif words[:1] == ["reference"] and (not wanted or name in wanted):
            body = [x for x in lines[i + 1:]]
            needed = True
            if fill:  # only where something is to be filled in
                needed = False
                for x in body:
                    if x.split()[:1] == ["case"]:
                        break
                    if (AT.match(x) or EXTREME.match(x)) and ("= ?" in x or re.search(r"\+- \S+r\b", x)):
                        needed = True
            call = line.split(None, 1)[1]
            answer = answer_of(call) if needed and not call.startswith('"') else None
        elif answer is not None:
            lines[i], d = resolve(line, answer, fill)
            if not fill and (AT.match(line) or EXTREME.match(line)):
                print("%-30s %-60s %.1e of the tolerance" % (name, line.strip()[:60], d))
            worst = max(worst, d)
    if fill:
        open(CASES, "w").write("\n".join(lines))
    elif worst > 0.01:
        print("off by more than 0.01 of a tolerance")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
