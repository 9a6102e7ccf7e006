#!/usr/bin/env python3
"""Error bars against the independent answers: of every case of tests/trust/cases.txt that runs a model with nothing set and has a reference by
a function, the share of numbers, one signal at one record, in which the answer lies within the error bar.

    coverage.py PROGRAM WORK [--accuracy A] [NAME...]      PROGRAM: galpha; WORK: a folder for results

With --accuracy all cases that run a model are taken, with this accuracy instead of their tolerance, step and method. A line for each case; exit code 1 where a case of at least 20 numbers has less than 95 % within, and the program did not say that the
accuracy is not reached. What is within 1e-7 of the largest value that the answer ever has is within, and so is 1e-13: breaks are met to some roundings of time."""
import csv
import io
import os
import shlex
import shutil
import subprocess
import sys

import reference

HERE = os.path.dirname(os.path.abspath(__file__))


LOOSE = ("--tol", "--step", "--method")  # options, with a value each, that an accuracy stands for


def plain(options):
    """Without tolerance, step and method."""
    values = {i + 1 for i, o in enumerate(options) if o in LOOSE}
    return [o for i, o in enumerate(options) if o not in LOOSE and i not in values]


def cases(accuracy):
    """(name, reference, arguments of run), each run once."""
    name = call = None
    done = set()
    for line in open(reference.CASES):
        words = line.split()
        if words[:1] == ["case"]:
            name, call = words[1], None
        elif words[:1] == ["reference"]:
            call = line.split(None, 1)[1].strip()
        elif words[:1] == ["run"] and call and not call.startswith('"'):
            run = shlex.split(line)[1:]
            if accuracy:
                run = plain(run) + ["--accuracy", accuracy]
            elif len(run) > 1:
                continue
            if (call, tuple(run)) not in done:
                done.add((call, tuple(run)))
                yield name, call, run


def measure(program, work, name, call, run):
    """Numbers, how many are within, the signal that misses most; whether the program warned. None: there is nothing to compare."""
    ran = subprocess.run([program, "run", *run, "-o", name + ".h5"], cwd=work, capture_output=True, text=True, timeout=300)
    if ran.returncode:
        return None
    answer = reference.answer_of(call)
    text = subprocess.run([program, "export", name + ".h5", "--errors", "--csv", "-"], cwd=work, capture_output=True, text=True).stdout
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or not any(":error" in head for head in rows[0]):
        return None
    column = {head.split(" [")[0]: j for j, head in enumerate(rows[0])}
    times = [float(r[0]) for r in rows[1:]]
    t0, t1, breaks = getattr(answer, "t0", times[0]), getattr(answer, "t1", times[-1]), getattr(answer, "breaks", [])
    n = held = 0
    missed = {}
    for signal in answer.signals:
        if signal not in column or signal + ":error" not in column:
            continue
        truth = [answer.at(signal, t) for t in times]
        some = [t0 + (k * 0.6180339887498949 % 1) * (t1 - t0) for k in range(401)]  # in step with no wave
        some += [b + 0.005 * k for b in breaks for k in range(-20, 21) if t0 <= b + 0.005 * k <= t1]
        noise = max(1e-7 * max(abs(x) for x in truth + [answer.at(signal, t) for t in some]), 1e-13)
        for t, x, r in zip(times, truth, rows[1:]):
            if t > t1 or any(abs(t - b) < 1e-9 for b in breaks):
                continue  # both sides of a jump are right
            value = float(r[column[signal]])
            if signal.rpartition(".")[2] in ("qw", "qx", "qy", "qz") and value * x < 0:
                x = -x  # a quaternion and its negative are the same rotation
            within = abs(value - x) <= float(r[column[signal + ":error"]]) + noise
            n, held = n + 1, held + within
            missed[signal] = missed.get(signal, 0) + (not within)
    return (n, held, max(missed, key=missed.get), "not reached" in ran.stdout + ran.stderr) if n else None


def main():
    args, accuracy = sys.argv[1:], None
    if "--accuracy" in args:
        i = args.index("--accuracy")
        accuracy = args[i + 1]
        del args[i:i + 2]
    program, work, wanted = os.path.realpath(args[0]), os.path.abspath(args[1]), args[2:]
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, "..", "models"), work)
    shutil.copytree(os.path.join(HERE, "..", "..", "..", "examples", "models"), os.path.join(work, "ex"))
    total = within = bad = count = 0
    for name, call, run in cases(accuracy):
        if wanted and name not in wanted:
            continue
        try:
            m = measure(program, work, name, call, run)
        except (AssertionError, ValueError, subprocess.TimeoutExpired) as e:
            print("-      %-28s no answer: %s" % (name, e), flush=True)
            continue
        if not m:
            continue
        share, count = m[1] / m[0], count + 1
        wrong = share < 0.95 and m[0] >= 20 and not m[3]
        print("%s %-28s %.4f of %d numbers%s%s" % ("not ok" if wrong else "ok    ", name, share, m[0],
              "" if share == 1 else ", misses most: " + m[2], ", not reached, as it says" if m[3] else ""), flush=True)
        total, within, bad = total + m[0], within + m[1], bad + wrong
    print("%.4f of %d numbers of %d cases; %d passed, %d failed" % (within / max(total, 1), total, count, count - bad, bad))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
