"""What a call of a Python function costs: python3 bench/python_calls.py [--json FILE]. PYTHONPATH: the package galpha.

A system of n coordinates whose functions return arrays that are ready, so that what is measured is the way from the library to
Python and back; one of them reads q and v of its point, as functions do."""

import json
import sys
import time

import numpy as np

import galpha


def measure(n: int, read: bool) -> "tuple[float, int]":
    """[s] for each call, and their number."""
    calls = [0, 0.0]
    zero = np.zeros(n)

    def mass(p):
        calls[0] += 1
        return p.vdot

    def force(p):
        calls[0] += 1
        if read:
            p.q, p.v
        return zero

    def jacobian(p, J):
        began = time.perf_counter()
        J.D[range(n), range(n)] = J.shift_vdot
        calls[1] += time.perf_counter() - began

    system = galpha.System(n, mass=mass, force=force, jacobian=jacobian, smooth=True)
    system.simulate(1.0, np.zeros(n), np.ones(n), step=0.01)
    calls[:] = [0, 0.0]
    began = time.perf_counter()
    system.simulate(100.0, np.zeros(n), np.ones(n), step=0.01, output=100.0)
    return (time.perf_counter() - began - calls[1]) / calls[0], calls[0]


figures = {}
for n in (3, 30):
    for read in (False, True):
        best, calls = min(measure(n, read) for _ in range(5))
        name = f"python.callback_us_{n}" + ("_reading_q_v" if read else "")
        figures[name] = 1e6 * best
        print(f"{name:40} {1e6 * best:8.2f} us per call, the step's own work included ({calls} calls)")
if "--json" in sys.argv:
    with open(sys.argv[sys.argv.index("--json") + 1], "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=2)
