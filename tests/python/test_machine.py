"""Level 2: machines part by part."""

import re
import unittest
import warnings

import numpy as np
import rig

import galpha

warnings.simplefilter("ignore", galpha.GalphaWarning)


def pendulum(**more):
    m = galpha.Machine("pendulum", gravity=[0, -9.81, 0], parameters={"m": "2 kg"}, t_end=1.0, **more)
    m.add_planar("rod", mass="m", inertia=np.float64(1) / 3, com=np.array([0.5, 0]))
    m.add_joint(name="hinge", kind="revolute", a="ground", b="rod", at=[0, 0, 0])
    return m


class Machine(unittest.TestCase):
    def test_functions(self):
        """python: a function for each ga_machine_add_... of the header, with help"""
        header = (rig.source / "include/galpha/mbs.h").read_text()
        for kind in set(re.findall(r"GA_API ga_status ga_machine_add_(\w+)\(", header)) - {"definition"}:
            function = getattr(galpha.Machine, f"add_{kind}")
            self.assertIn("    ", function.__doc__)
        self.assertIn("EA, tension per strain", galpha.Machine.add_cable.__doc__)
        self.assertIn("b: (needed) second frame", galpha.Machine.add_joint.__doc__)

    def test_same_bits(self):
        """python: a machine is the file with the same numbers, bit for bit"""
        file = rig.work / "same.yaml"
        file.write_text("galpha: 1\nparameters: {m: 2 kg}\ngravity: [0, -9.81, 0]\n"
                        f"bodies: {{rod: {{type: planar, mass: m, inertia: {1 / 3!r}, com: [0.5, 0]}}}}\n"
                        "joints: {hinge: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}}\nsimulation: {t_end: 1}\n")
        a, b = pendulum().run(), galpha.run(file)
        self.assertEqual(a.values.tobytes(), b.values.tobytes())
        saved = rig.work / "saved.yaml"
        pendulum().save(saved)
        self.assertEqual(galpha.run(saved).values.tobytes(), b.values.tobytes())
        self.assertNotEqual(pendulum().run(set={"m": 3}).values.tobytes(), b"")

    def test_everything_else(self):
        """python: machines are checked, linearised, drawn as files are"""
        m = pendulum()
        m.add_block("torque", type="constant", value=0)
        m.add_actuator("motor", coordinate="hinge.angle", force="torque")
        m.add_cable("rope", from_=[0, 1, 0], to=[1, 1, 0], stiffness=1e3, mass_per_length=0.1, elements=2)
        m.add_joint("left", type="spherical", a="ground", b="rope", at=[0, 1, 0])
        self.assertIn("mobility", galpha.check(m))
        self.assertEqual(galpha.linearize(pendulum_with_torque(), inputs="torque", outputs="hinge.angle").B.shape, (2, 1))
        self.assertIn("hinge.angle", m.run(t_end=0.01).view().html)

    def test_wrong(self):
        """python: wrong fields, kinds and values of parts are named"""
        m = pendulum()
        with self.assertRaisesRegex(TypeError, "no field 'stifness'; the nearest is 'stiffness'"):
            m.add_spring("s", stifness=3)
        with self.assertRaisesRegex(TypeError, "'sprng'; the nearest is 'spring'"):
            m.add("sprng", "s")
        with self.assertRaisesRegex(ValueError, "there is a joint 'hinge' already"):
            m.add_joint("hinge", type="revolute")
        with self.assertRaisesRegex(TypeError, "neither a number"):
            m.add_spring("s", stiffness=object())
        with self.assertRaisesRegex(ValueError, "nan"):
            m.add_spring("s", stiffness=float("nan"))
        with self.assertRaisesRegex(TypeError, "'t_ende'; the nearest is 't_end'"):
            galpha.Machine(t_ende=1)
        m.add_joint("loose", type="revolute", a="rodd", b="rod")
        with self.assertRaises(galpha.ModelError) as caught:
            m.run()
        e = caught.exception
        self.assertEqual((e.part, e.nearest, e.reason), ("loose", "rod", "UNKNOWN_PART"))
        self.assertNotIn("/", str(e))  # no file that nobody wrote

    def test_folder(self):
        """python: files that fields name are those of the folder, which stays as it was"""
        folder = rig.work / "tables"
        folder.mkdir(exist_ok=True)
        (folder / "push.csv").write_text("t [s],force [N]\n0,0\n1,2\n")
        m = galpha.Machine("pushed", folder=folder, t_end=1.0, step=0.01)
        m.add_scalar("slide", mass=1)
        m.add_function("push", type="table", file="push.csv")
        m.add_actuator("f", coordinate="slide", force={"function": "push"})
        self.assertAlmostEqual(m.run()["slide"][-1], 1.0 / 3.0, 3)
        self.assertEqual([p.name for p in folder.iterdir()], ["push.csv"])


def pendulum_with_torque():
    m = pendulum()
    m.add_block("torque", type="constant", value=0)
    m.add_actuator("motor", coordinate="hinge.angle", force="torque")
    return m
