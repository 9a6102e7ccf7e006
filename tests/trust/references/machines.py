"""Rigid bodies with constraints for reference.py: all coordinates of all bodies, constraints as A(q, t) v = b(q, t), accelerations and
multipliers from the saddle-point system, the derivative of A along the motion by a complex step, integrated by DOP853 with rtol 1e-12.
Constraints are not stabilised: their drift is printed by reference.py's callers through `drift`, and is of the order of 1e-10."""
import math

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81
I3 = np.eye(3)


def skew(a):
    return np.array([[0 * a[0], -a[2], a[1]], [a[2], 0 * a[0], -a[0]], [-a[1], a[0], 0 * a[0]]])


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def matrix(q):
    w, x, y, z = q
    return np.array([[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]])


def quaternion(axis, angle):
    a = np.array(axis, float) / np.linalg.norm(axis)
    return np.r_[math.cos(angle / 2), math.sin(angle / 2) * a]


def product(a, b):
    """Of two quaternions."""
    return np.r_[a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]


class Machine:
    """bodies: (mass, inertia 3x3 about the centre of mass in body axes, position of the centre of mass, quaternion, velocity, omega)
    joints: functions (t, r, R) -> rows, right-hand sides; r[i], R[i] of body i, i = -1 the ground
    load(t, r, R, v, w) -> forces (n, 3), torques about the centres of mass (n, 3), ground axes"""

    def __init__(self, bodies, joints, load=None, gravity=(0, 0, -G)):
        self.bodies, self.joints, self.load, self.n = bodies, joints, load, len(bodies)
        self.mass = np.array([b[0] for b in bodies], float)
        self.inertia = [np.diag(b[1]) if np.ndim(b[1]) == 1 else np.array(b[1], float) for b in bodies]
        self.gravity = np.array(gravity, float)
        self.y0 = np.r_[np.concatenate([np.r_[b[2], b[3]] for b in bodies]), np.concatenate([np.r_[b[4], b[5]] for b in bodies])]

    def split(self, y):
        n = self.n
        p, u = y[: 7 * n].reshape(n, 7), y[7 * n:].reshape(n, 6)
        return p[:, :3], p[:, 3:], u[:, :3], u[:, 3:]

    def rates(self, q, v, w):
        out = []
        for i in range(self.n):
            a, b = q[i][0], q[i][1:]
            out.append(np.r_[v[i], -0.5 * (w[i] @ b), 0.5 * (a * w[i] + np.cross(w[i], b))])
        return np.concatenate(out)

    def constraints(self, t, p):
        p = p.reshape(self.n, 7)
        r = [p[i][:3] for i in range(self.n)] + [np.zeros(3)]
        R = [matrix(p[i][3:]) for i in range(self.n)] + [I3]
        A, b = [], []
        for joint in self.joints:
            rows, sides = joint(t, r, R)
            for row, side in zip(rows, sides):
                full = np.zeros(6 * self.n, complex)
                for i, (jv, jw) in row.items():
                    if i >= 0:
                        full[6 * i: 6 * i + 3] += jv
                        full[6 * i + 3: 6 * i + 6] += jw
                A.append(full)
                b.append(side)
        return np.array(A).reshape(-1, 6 * self.n), np.array(b)

    def accelerations(self, t, y):
        n, h = self.n, 1e-30
        r, q, v, w = self.split(y)
        rate = self.rates(q, v, w)
        u = y[7 * n:]
        A, b = self.constraints(t + 1j * h, y[: 7 * n] + 1j * h * rate)
        gamma = b.imag / h - (A.imag / h) @ u
        A = A.real
        R = [matrix(q[i]) for i in range(n)]
        M, f = np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
        if self.load:
            F, T = self.load(t, r, R, v, w)
        else:
            F = T = np.zeros((n, 3))
        for i in range(n):
            k = 6 * i
            J = R[i] @ self.inertia[i] @ R[i].T
            M[k: k + 3, k: k + 3] = self.mass[i] * I3
            M[k + 3: k + 6, k + 3: k + 6] = J
            f[k: k + 3] = self.mass[i] * self.gravity + F[i]
            f[k + 3: k + 6] = T[i] - np.cross(w[i], J @ w[i])
        m = len(A)
        K = np.block([[M, A.T], [A, np.zeros((m, m))]])
        s = np.linalg.solve(K, np.r_[f, gamma]) if not self.redundant else np.linalg.lstsq(K, np.r_[f, gamma], rcond=1e-12)[0]
        return rate, s[: 6 * n], s[6 * n:]

    redundant = False

    def path(self, t1, t0=0.0, breaks=(), rtol=1e-11, atol=1e-12):
        def f(t, y):
            rate, acc, _ = self.accelerations(t, y)
            return np.r_[rate, acc]
        ends = sorted({t0, t1, *[b for b in breaks if t0 < b < t1]})
        y, sols = self.y0, []
        for a, b in zip(ends, ends[1:]):
            s = solve_ivp(f, (a, b), y, method="DOP853", rtol=rtol, atol=atol, dense_output=True)
            assert s.success, s.message
            sols.append(s.sol)
            y = s.y[:, -1]

        def at(t):
            i = min(max(int(np.searchsorted(ends, t, "left")) - 1, 0), len(sols) - 1)
            return sols[i](t)
        return at


# ---- Joints: rows {body: (of its velocity, of its angular velocity)} ---------------------------------------------------

def meet(a, sa, b, sb):
    """The points sa of a and sb of b (body axes, from the centres of mass) are one."""
    def joint(t, r, R):
        xa, xb = skew(R[a] @ sa), skew(R[b] @ sb)
        return [{a: (I3[k], -xa[k]), b: (-I3[k], xb[k])} if a != b else {} for k in range(3)], [0, 0, 0]
    return joint


def right_angle(a, ua, b, ub):
    """Direction ua of a stays at its angle with ub of b."""
    def joint(t, r, R):
        c = cross(R[a] @ ua, R[b] @ ub)
        return [{a: (np.zeros(3), c), b: (np.zeros(3), -c)}], [0]
    return joint


def hinge(a, sa, b, sb, axis):
    """axis: common direction when both bodies have their axes parallel to the ground's; otherwise write it out."""
    ax = np.array(axis, float) / np.linalg.norm(axis)
    p = np.cross(ax, [1, 0, 0] if abs(ax[0]) < 0.7 else [0, 1, 0])
    p /= np.linalg.norm(p)
    return [meet(a, sa, b, sb), right_angle(a, ax, b, p), right_angle(a, ax, b, np.cross(ax, p))]


def rail(b, axis):
    """b moves along axis of the ground, and does not turn."""
    ax = np.array(axis, float) / np.linalg.norm(axis)
    p = np.cross(ax, [1, 0, 0] if abs(ax[0]) < 0.7 else [0, 1, 0])
    p /= np.linalg.norm(p)
    rows = [{b: (p, np.zeros(3))}, {b: (np.cross(ax, p), np.zeros(3))}] + [{b: (np.zeros(3), I3[k])} for k in range(3)]
    return lambda t, r, R: (rows, [0] * 5)


def keep_distance(a, sa, b, sb):
    def joint(t, r, R):
        pa, pb = R[a] @ sa, R[b] @ sb
        d = r[a] + pa - r[b] - pb
        return [{a: (d, cross(pa, d)), b: (-d, -cross(pb, d))}], [0]
    return joint


def keep_distance_to(point, speed, b, sb):
    """Distance between a point that moves on the ground, point(t) at speed(t), and sb of b."""
    def joint(t, r, R):
        pb = R[b] @ sb
        d = r[b] + pb - point(t)
        return [{b: (d, cross(pb, d))}], [d @ speed(t)]
    return joint


def roll_disk(b, axis, radius):
    """A thin disk about `axis` of b rolls on z = 0 without slipping."""
    n = np.array([0, 0, 1.0])

    def joint(t, r, R):
        z = R[b] @ axis
        e = -(n - (n @ z) * z)
        e = e / np.sqrt(e @ e)
        x = skew(radius * e)
        return [{b: (I3[k], -x[k])} for k in range(3)], [0, 0, 0]
    return joint


class Motion:
    """Signals body.x ... of a machine's path, names in the order of its bodies; offsets: where the recorded frame is from the centre of mass."""

    def __init__(self, machine, names, t1, breaks=(), offsets=None, extra=None):
        self.t0, self.t1, self.breaks = 0.0, t1, list(breaks)
        path = machine.path(t1, breaks=breaks)
        self.signals = {}
        offsets = offsets or {}

        def frame(i, off, t):
            r, q, v, w = machine.split(path(t))
            R = matrix(q[i])
            return r[i] + R @ off, v[i] + np.cross(w[i], R @ off), w[i], R
        for i, name in enumerate(names):
            off = np.array(offsets.get(name, (0, 0, 0)), float)
            for k, c in enumerate("xyz"):
                self.signals["%s.%s" % (name, c)] = lambda t, i=i, k=k, o=off: frame(i, o, t)[0][k]
                self.signals["%s.v%s" % (name, c)] = lambda t, i=i, k=k, o=off: frame(i, o, t)[1][k]
                self.signals["%s.w%s" % (name, c)] = lambda t, i=i, k=k, o=off: frame(i, o, t)[2][k]
        for name, f in (extra or {}).items():
            self.signals[name] = lambda t, f=f: f(machine, t, path(t))

    def at(self, name, t):
        return float(np.real(self.signals[name](t)))

    def extreme(self, kind, name):
        v = np.array([self.at(name, t) for t in np.linspace(self.t0, self.t1, 2001)])
        return {"max": v.max(), "min": v.min(), "absmax": abs(v).max(), "range": v.max() - v.min()}[kind]


# ---- Machines ----------------------------------------------------------------------------------------------------------

def step5(x, x0, y0, x1, y1):
    u = min(max((x - x0) / (x1 - x0), 0), 1)
    return y0 + (y1 - y0) * u ** 3 * (10 - 15 * u + 6 * u * u)


def bicycle(t1=10.0, v=5.0):
    rear, front, frame, fork = range(4)
    one = np.array([1.0, 0, 0, 0])
    full = lambda a: [[a[0], a[3], a[4]], [a[3], a[1], a[5]], [a[4], a[5], a[2]]]
    bodies = [(2, (0.0603, 0.12, 0.0603), (0, 0, 0.3), one, (v, 0, 0), (0, v / 0.3, 0)),
              (3, (0.1405, 0.28, 0.1405), (1.02, 0, 0.35), one, (v, 0, 0), (0, v / 0.35, 0)),
              (85, full((9.2, 11, 2.8, 0, -2.4, 0)), (0.3, 0, 0.9), one, (v, 0, 0), (0, 0, 0)),
              (4, full((0.05892, 0.06, 0.00708, 0, 0.00756, 0)), (0.9, 0, 0.7), one, (v, 0, 0), (0, 0, 0))]
    tilt, hh = math.radians(18), 0.85595086466
    head = np.array([1.02 + 0.08 - hh * math.tan(tilt), 0, hh])
    at = lambda p, i: np.array(p) - np.array(bodies[i][2])
    y = np.array([0, 1.0, 0])
    joints = (hinge(frame, at((0, 0, 0.3), frame), rear, at((0, 0, 0.3), rear), y)
              + hinge(fork, at((1.02, 0, 0.35), fork), front, at((1.02, 0, 0.35), front), y)
              + hinge(frame, at(head, frame), fork, at(head, fork), (-math.sin(tilt), 0, math.cos(tilt)))
              + [roll_disk(rear, y, 0.3), roll_disk(front, y, 0.35)])

    # the hubs: the axis of the wheel in the frame's axes; right angles are taken with directions of the wheel, which turn
    def load(t, r, R, v_, w_):
        F = np.zeros((4, 3))
        F[frame][1] = step5(t, 0, 0, 0.1, 2.0) * step5(t, 0.1, 1, 0.2, 0)
        return F, np.zeros((4, 3))
    return Motion(Machine(bodies, joints, load), ["rear", "front", "frame", "fork"], t1, [0.1, 0.2])


def heavy_top(t1=1.0):
    m, L = 15.0, 1.0
    w = np.array([0, 150.0, -4.61538])
    com = np.array([0, L, 0.0])
    bodies = [(m, (0.234375, 0.46875, 0.234375), com, (1, 0, 0, 0), np.cross(w, com), w)]
    top = Machine(bodies, [meet(0, np.array([0, -L, 0.0]), -1, np.zeros(3))])
    extra = {"top.wy": lambda M, t, y: M.split(y)[3][0][1]}
    for k, c in enumerate("wxyz"):  # the quaternion, its sign as at the start continued
        extra["top.q" + c] = lambda M, t, y, k=k: M.split(y)[1][0][k]
    return Motion(top, ["centre"], t1, extra=extra)


def four_bar(t1=5.0, crank=0.4, coupler=1.0, rocker=0.8, base=1.0, start=1.0, turned=0.0, rate=0.0):
    """One coordinate, the crank's angle a; everything else by closing the loop. M(a) a'' + M'(a)/2 a'^2 + V'(a) = 0."""
    from scipy.integrate import solve_ivp as ivp

    def loop(a):
        P = np.array([crank * np.cos(a), crank * np.sin(a)])
        D = np.array([base, 0.0]) - P
        d = np.sqrt(D @ D)
        e = D / d
        along = (coupler ** 2 - rocker ** 2 + d * d) / (2 * d)
        up = np.sqrt(coupler ** 2 - along ** 2)
        Q = P + along * e + up * np.array([-e[1], e[0]])
        return P, Q

    def poses(a):
        """Centres and angles of the three bars."""
        P, Q = loop(a)
        q, r = Q - P, Q - np.array([base, 0.0])
        return [(P / 2, a, crank), ((P + Q) / 2, None if False else np.arctan(q[1] / q[0]), coupler),
                ((np.array([base, 0.0]) + Q) / 2, np.arctan(r[1] / r[0]), rocker)]

    h = 1e-30

    def derivative(a):
        return [(c.imag / h, (th.imag / h if np.iscomplexobj(th) or isinstance(th, complex) else 0.0), l) for c, th, l in poses(a + 1j * h)]

    def M(a):
        return sum(l * (dc @ dc) + l ** 3 / 12 * dth ** 2 for dc, dth, l in derivative(a))

    def V(a):
        return sum(l * G * c[1] for c, th, l in poses(a))

    def f(t, y):
        a, w = y
        e = 1e-5
        dM = (M(a - 2 * e) - 8 * M(a - e) + 8 * M(a + e) - M(a + 2 * e)) / (12 * e)
        dV = np.imag(V(a + 1j * h)) / h
        return [w, -(dM / 2 * w * w + dV) / M(a)]
    s = ivp(f, (0, t1), [start + turned, rate], method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
    names = ["crank", "coupler", "rocker"]
    answer = type("Loop", (), {})()
    sig = {"A.angle": lambda t: s.sol(t)[0] - start, "A.angle_rate": lambda t: s.sol(t)[1]}
    for i, n in enumerate(names):
        sig[n + ".x"] = lambda t, i=i: poses(s.sol(t)[0])[i][0][0]
        sig[n + ".y"] = lambda t, i=i: poses(s.sol(t)[0])[i][0][1]
    answer.at, answer.signals = (lambda name, t: float(sig[name](t))), sig

    def extreme(kind, name):
        v = np.array([answer.at(name, t) for t in np.linspace(0, t1, 4001)])
        return {"max": v.max(), "min": v.min(), "absmax": abs(v).max(), "range": v.max() - v.min()}[kind]
    answer.extreme = extreme
    return answer


def parallelograms(n, t1=10.0, L=1.0, speed=1.0):
    """The chain of n parallelograms: A'' = (g/L) c sin A from the vertical."""
    from scipy.integrate import solve_ivp as ivp
    c = ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    s = ivp(lambda t, y: [y[1], G / L * c * math.sin(y[0])], (0, t1), [0, speed / L], method="DOP853", rtol=1e-13, atol=1e-14, dense_output=True)
    sig = {"B0.x": lambda t: L * math.sin(s.sol(t)[0]), "B0.y": lambda t: L * math.cos(s.sol(t)[0]), "A0.angle": lambda t: -s.sol(t)[0]}
    answer = type("Chain", (), {})()
    answer.at, answer.signals = (lambda name, t: float(sig[name](t))), sig

    def extreme(kind, name):
        v = np.array([answer.at(name, t) for t in np.linspace(0, t1, 4001)])
        return {"max": v.max(), "min": v.min(), "absmax": abs(v).max(), "range": v.max() - v.min()}[kind]
    answer.extreme = extreme
    return answer


def crank_slider(t1=5.0):
    """A crank on a hinge about y, a coupler on a universal and a ball joint, a slider on a rail along x beside it; see crank_slider.yaml.
    crank 0.2 m along its x, at the start straight up; the ball on the slider is at (c, 0.3, 0)."""
    rc, coup, slid = range(3)
    Lc, off, Lk = 0.2, 0.3, 0.8
    P = np.array([0, 0, Lc])
    S = np.array([math.sqrt(Lk ** 2 - off ** 2 - Lc ** 2), off, 0.0])
    one = np.array([1.0, 0, 0, 0])
    # axes of the coupler at the start: x along it; y of the joint on the coupler is perpendicular to its x and to the crank's y axis
    ex = (S - P) / Lk
    bodies = [(1.0, (1e-3, 4e-3, 4e-3), P / 2, one, (0, 0, 0), (0, 0, 0)),
              (2.0, None, (P + S) / 2, one, (0, 0, 0), (0, 0, 0)),
              (1.5, (2e-3, 2e-3, 2e-3), S, one, (0, 0, 0), (0, 0, 0))]
    # crank's inertia: about its long axis (z here) 1e-3
    bodies[0] = (1.0, (4e-3, 4e-3, 1e-3), P / 2, one, (0, 0, 0), (0, 0, 0))
    J = 2.0 * Lk ** 2 / 12
    bodies[1] = (2.0, 2e-3 * np.outer(ex, ex) + J * (np.eye(3) - np.outer(ex, ex)), (P + S) / 2, one, (0, 0, 0), (0, 0, 0))
    y = np.array([0, 1.0, 0])
    ub = np.cross(ex, y)
    ub /= np.linalg.norm(ub)
    joints = (hinge(-1, np.zeros(3), rc, -P / 2, y)
              + [meet(rc, P / 2, coup, P - (P + S) / 2), right_angle(rc, y, coup, ub), meet(coup, S - (P + S) / 2, slid, np.zeros(3))]
              + [rail(slid, (1, 0, 0))])
    m = Machine(bodies, joints, gravity=(2, 0, -G))
    return Motion(m, ["crank", "coupler", "slider"], t1)




def wishbone(t1=2.0):
    """A steered double wishbone, see wishbone.yaml: arms on hinges about x, an upright on balls, a tie rod to a rack that steers."""
    up, low, upright = range(3)
    one = np.array([1.0, 0, 0, 0])
    Ai, Ao = np.array([0, 0.35, 0.55]), np.array([0.01, 0.65, 0.57])
    Bi, Bo = np.array([0, 0.30, 0.25]), np.array([0.0, 0.70, 0.22])
    Tr, To = np.array([-0.12, 0.33, 0.30]), np.array([-0.14, 0.68, 0.29])
    C = np.array([0, 0.72, 0.33])
    bodies = [(2.0, (0.02, 0.005, 0.02), (Ai + Ao) / 2, one, (0, 0, 0), (0, 0, 0)),
              (4.0, (0.05, 0.01, 0.05), (Bi + Bo) / 2, one, (0, 0, 0), (0, 0, 0)),
              (25.0, (0.8, 1.2, 0.8), C, one, (0, 0, 0), (0, 0, 0))]
    at = lambda p, i: p - bodies[i][2]
    x = np.array([1.0, 0, 0])
    w = 2 * math.pi * 1.0

    def law(t):  # rack: 0.02 sin(2 pi t)^2 ... smooth from rest
        return 0.01 * (1 - np.cos(w * t))
    point = lambda t: Tr + np.array([0, 1, 0]) * law(t)
    speed = lambda t: np.array([0, 1, 0]) * (0.01 * w * np.sin(w * t))
    joints = (hinge(-1, Ai, up, at(Ai, up), x) + hinge(-1, Bi, low, at(Bi, low), x)
              + [meet(up, at(Ao, up), upright, at(Ao, upright)), meet(low, at(Bo, low), upright, at(Bo, upright)),
                 keep_distance_to(point, speed, upright, at(To, upright))])
    top, bottom = np.array([0, 0.45, 0.75]), (Bi + Bo) / 2
    l0 = np.linalg.norm(top - bottom)
    k, c = 30e3, 1500.0

    def load(t, r, R, v, wv):
        F, T = np.zeros((3, 3)), np.zeros((3, 3))
        p, vp = r[low], v[low]
        d = p - top
        l = math.sqrt(d @ d)
        f = k * (l - l0) + c * (vp @ d) / l + 0.0
        F[low] -= f * d / l
        F[upright] += np.array([0, 0, 300.0 + 600 * math.sin(8 * t)])
        return F, T
    return Motion(Machine(bodies, joints, load), ["upper", "lower", "upright"], t1)
