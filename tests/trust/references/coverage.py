#!/usr/bin/env python3
"""Error bars against the independent answers: every case of cases.txt that has a reference and a `run` is run with --accuracy, and all
records of all signals that the reference knows are compared: how many lie within their error bar, and how large the error is.

    coverage.py PROGRAM WORK [--accuracy 1e-3] [NAME...]

A line for every case: records within their bar, the worst signal's part of them, the largest error over the signal's range, what the
program said. The last line is the part over all cases; exit code 1 where it is below 0.95."""
import os
import re
import shlex
import shutil
import subprocess
import sys

import h5py
import numpy as np

import reference

HERE = os.path.dirname(os.path.abspath(__file__))
LOOSE = {"--tol": 1, "--step": 1, "--method": 1}


def cases():
    name = call = None
    for line in open(reference.CASES):
        words = line.split()
        if words[:1] == ["case"]:
            name, call = words[1], None
        elif words[:1] == ["reference"]:
            call = line.split(None, 1)[1].strip()
        elif words[:1] == ["run"] and call and not call.startswith('"'):
            yield name, call, shlex.split(line)[1:]


def plain(args):
    """Without tolerance, step and method."""
    out, skip = [], 0
    for a in args:
        if skip:
            skip -= 1
        elif a in LOOSE:
            skip = LOOSE[a]
        else:
            out.append(a)
    return out


def compare(result, answer):
    """Per signal: records, those within the bar, largest error over the range."""
    with h5py.File(result) as f:
        rows = {n.decode(): i for i, n in enumerate(f["names"][:])}
        times, values = f["time"][:], f["values"][:]
    out = {}
    breaks = np.array(list(getattr(answer, "breaks", [])) or [np.inf])
    away = np.array([abs(t - breaks).min() > 1e-9 * (1 + abs(t)) for t in times])
    for n in answer.signals:
        if n not in rows or n + ":error" not in rows:
            continue
        ref = np.array([answer.at(n, t) for t in times])
        err, bar = abs(values[rows[n]] - ref)[away], values[rows[n + ":error"]][away]
        span = max(ref.max() - ref.min(), 1e-300)
        inside = err <= bar + 1e-9 * max(span, abs(ref).max() * 1e-3)
        out[n] = (len(err), int(inside.sum()), err.max() / span if span > 1e-9 * abs(ref).max() else 0.0)
    return out


def main():
    args = sys.argv[1:]
    accuracy = "1e-3"
    if "--accuracy" in args:
        i = args.index("--accuracy")
        accuracy = args[i + 1]
        del args[i:i + 2]
    program, work, wanted = os.path.abspath(args[0]), os.path.abspath(args[1]), args[2:]
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, "..", "models"), work)
    shutil.copytree(os.path.join(HERE, "..", "..", "..", "examples", "models"), os.path.join(work, "ex"))
    os.chdir(work)
    total = inside = 0
    done, good = set(), []
    for name, call, run in cases():
        key = (call, tuple(plain(run)))
        if (wanted and name not in wanted) or key in done:
            continue
        done.add(key)
        r = subprocess.run([program, "run", *plain(run), "--accuracy", accuracy, "-o", name + ".h5"], capture_output=True, text=True, timeout=300)
        said = [x for x in (r.stdout + r.stderr).split("\n") if re.search(r"error bars|accuracy|warning", x)]
        if r.returncode:
            print("%-24s exit code %d: %s" % (name, r.returncode, (r.stderr.strip().split("\n") or [""])[0][:120]))
            continue
        per = compare(name + ".h5", reference.answer_of(call))
        if not per:
            print("%-24s no error bars" % name)
            continue
        n, k = sum(p[0] for p in per.values()), sum(p[1] for p in per.values())
        worst = min(per, key=lambda s: per[s][1] / per[s][0])
        large = max(per, key=lambda s: per[s][2])
        total, inside = total + n, inside + k
        good.append(k / n)
        print("%-24s %6d of %6d %s; worst %s %.3f; largest error %.1e of the range, %s; %s" % (
            name, k, n, "ok" if k >= 0.95 * n else "LOW", worst, per[worst][1] / per[worst][0], per[large][2], large, " / ".join(s.strip()[:70] for s in said[:2])))
        sys.stdout.flush()
    share = sum(g >= 0.95 for g in good) / max(len(good), 1)
    print("%d of %d records within their error bars, %.4f; %.3f of %d cases have at least 0.95" % (inside, total, inside / max(total, 1), share, len(good)))
    return 0 if total and inside >= 0.95 * total else 1


if __name__ == "__main__":
    sys.exit(main())
