"""hostile.py GOOD FOLDER: result files that lie, each made of a good one; a line "name expected" for each.

expected: "refused" (exit code 2 of info) or "shown" (exit code 0: harmless, and shown as what it is).
"""
import os
import shutil
import sys

import h5py
import numpy as np

good, folder = sys.argv[1:3]
made = []


def case(name, expected="refused"):
    def take(change):
        path = os.path.join(folder, name + ".h5")
        shutil.copy(good, path)
        with h5py.File(path, "r+") as f:
            change(f)
        made.append((name, expected))

    return take


def replace(f, name, **how):
    del f[name]
    return f.create_dataset(name, **how)


def texts(f, name, values, size):
    kind = h5py.string_dtype("utf-8", size)
    replace(f, name, shape=(len(values),), dtype=kind)
    f[name][:] = np.array(values, dtype="S%d" % size).astype(kind)


@case("external_link")
def _(f):
    del f["values"]
    f["values"] = h5py.ExternalLink(os.path.abspath(good), "values")


@case("soft_link")
def _(f):
    f.move("values", "others")
    f["values"] = h5py.SoftLink("/others")


@case("link_to_a_pipe")
def _(f):
    del f["time"]
    f["time"] = h5py.ExternalLink(os.path.join(os.path.abspath(folder), "pipe.h5"), "time")


@case("group_by_a_link")
def _(f):
    f.move("checkpoint", "others")
    f["checkpoint"] = h5py.SoftLink("/others")


@case("numbers_of_another_file")
def _(f):
    shape = f["values"].shape
    replace(f, "values", shape=shape, dtype="f8", external=[("/dev/zero", 0, h5py.h5f.UNLIMITED)])


@case("virtual")
def _(f):
    shape = f["values"].shape
    del f["values"]
    layout = h5py.VirtualLayout(shape=shape, dtype="f8")
    layout[:] = h5py.VirtualSource(os.path.abspath(good), "values", shape=shape)
    f.create_virtual_dataset("values", layout)


@case("many_records")
def _(f):
    m = f["values"].shape[0]
    replace(f, "values", shape=(m, 1 << 40), chunks=(m, 1024), dtype="f8")
    replace(f, "time", shape=(1 << 40,), chunks=(1024,), dtype="f8")


@case("many_signals")
def _(f):
    n = f["values"].shape[1]
    replace(f, "values", shape=((1 << 31) - 1, n), chunks=(128, n), dtype="f8")
    for name in ("names", "units"):
        replace(f, name, shape=((1 << 31) - 1,), chunks=(4096,), dtype="S8")


@case("large_chunks")
def _(f):
    m, n = f["values"].shape
    replace(f, "values", shape=(m, n), maxshape=(m, None), chunks=(m, (1 << 29) // m - 1), dtype="f8", compression=1)


@case("other_numbers")
def _(f):
    replace(f, "values", data=np.zeros(f["values"].shape, dtype="i4"))


@case("compound")
def _(f):
    replace(f, "values", data=np.zeros(f["values"].shape, dtype=[("a", "f8"), ("b", "f8")]))


@case("other_shape")
def _(f):
    replace(f, "values", data=np.zeros((3,) + f["values"].shape))


@case("a_group")
def _(f):
    del f["values"]
    f.create_group("values")


@case("long_names")
def _(f):
    tid = h5py.h5t.C_S1.copy()
    tid.set_size((1 << 31) - 8)
    del f["names"]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
    h5py.h5d.create(f.id, b"names", tid, h5py.h5s.create_simple(f["units"].shape), plist)


@case("fewer_names")
def _(f):
    replace(f, "names", data=f["names"][:-1])


@case("variable_names")
def _(f):
    replace(f, "names", data=list(f["names"]), dtype=h5py.string_dtype())


@case("many_models")
def _(f):
    texts(f, "model", [b"galpha: 1"] * 100000, 9)


@case("many_texts_in_an_attribute", "shown")
def _(f):
    f.attrs["title"] = np.array([b"x" * 60] * 1000, dtype="S60")


@case("number_as_attribute", "shown")
def _(f):
    f.attrs["title"] = 3.0


for name, where, value in (
    ("negative_records", 2, -5.0),
    ("half_a_record", 2, 2.5),
    ("records_nan", 2, np.nan),
    ("many_numbers", 3, 1e300),
    ("numbers_nan", 3, np.nan),
    ("numbers_infinite", 3, np.inf),
    ("negative_numbers", 3, -1.0),
    ("serial_nan", 0, np.nan),
    ("time_infinite", 1, np.inf),
):

    def change(f, where=where, value=value):
        table = f["checkpoint/table"][:]
        table[:, where] = value
        f["checkpoint/table"][:] = table

    case("checkpoint_" + name, "damaged")(change)


def checkpoint_sum(saved):
    total = 2166136261
    for byte in saved.tobytes():
        total = ((total ^ byte) * 16777619) & 0xFFFFFFFF
    return float(total)


random = np.random.default_rng(1)
for name, numbers in (
    ("nan", lambda a: np.full_like(a, np.nan)),
    ("infinite", lambda a: np.full_like(a, np.inf)),
    ("large", lambda a: np.full_like(a, 1e300)),
    ("negative", lambda a: np.full_like(a, -1.0)),
    ("zero", lambda a: np.zeros_like(a)),
    ("shuffled", lambda a: random.permutation(a)),
    ("large_but_for_its_head", lambda a: np.concatenate((a[:4], np.full_like(a[4:], 1e18)))),
    ("nan_but_for_its_head", lambda a: np.concatenate((a[:4], np.full_like(a[4:], np.nan)))),
    ("changed_here_and_there", lambda a: np.where(random.random(a.shape) < 0.1, -1e10, a)),
):

    def change(f, numbers=numbers):
        table = f["checkpoint/table"][:]
        for row, side in enumerate("ab"):
            saved = numbers(f["checkpoint/" + side][:])
            f["checkpoint/" + side][:] = saved
            if len(saved):
                table[row, 4] = checkpoint_sum(saved)
        f["checkpoint/table"][:] = table

    case("checkpoint_of_" + name + "_numbers", "shown")(change)


def with_name(new):
    def change(f):
        names = list(f["names"])
        names[0] = new
        texts(f, "names", names, max(len(n) for n in names))

    return change


case("escape_in_a_name")(with_name(b"a\x1b[2J"))
case("line_in_a_name")(with_name(b"a\nb"))
case("c1_in_a_name")(with_name(b"a\xc2\x9b2J"))
case("empty_name")(with_name(b""))
case("command_as_name", "shown")(with_name(b"$(touch$IFS$9pwned)`touch$IFS$9pwned`"))
case("formula_as_name", "shown")(with_name(b"=cmd|'/C calc'!A0"))
case("markup_as_name", "shown")(with_name(b"<script>'\"{/:Bold x}"))


@case("escapes_in_attributes", "shown")
def _(f):
    f.attrs["title"] = np.bytes_(b"a\x1b[2J\nrecords      7\r\xff")


@case("escape_in_an_attributes_name")
def _(f):
    f.attrs["a\x1b[2Jb"] = np.bytes_(b"x")


@case("unknown_filter", "damaged")
def _(f):
    m, n = f["values"].shape
    values = f["values"][:]
    del f["values"]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((m, 1024))
    plist.set_filter(32001, h5py.h5z.FLAG_OPTIONAL, ())
    h5py.h5d.create(f.id, b"values", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((m, n), (m, h5py.h5s.UNLIMITED)), plist)
    f["values"][:] = values + 1.0


@case("other_numbers_under_the_same_sum", "damaged")
def _(f):
    f["values"][0, 1] = 12345.0


@case("sums_of_another_shape")
def _(f):
    replace(f, "sums", data=np.zeros((1, 1), dtype="u4"))


@case("tail_of_another_place")
def _(f):
    f["tail"][:] = [1e300, -1.0, np.nan, 0.0]


for name, expected in made:
    print(name, expected)
