# The cases of tests/advice/run, which says what they are; read by it.
SCALAR = "bodies: {m: {type: scalar, mass: 1}}\n"
FALLS = model("bodies: {p: {type: point, mass: 1}}", "t_end: 1, output: 0.1", "gravity: [0, 0, -9.81]\n")
ROD = "bodies: {rod: {type: rigid, mass: 1, inertia: [0.1, 0.1, 0.1], com: [0.5, 0, 0]}}\n"
FALLEN = {"p.z": (-4.905, 1e-3)}

# Steps and tolerances
STIFF = model(
    "bodies: {m: {type: scalar, mass: 1, position: 1}}\nforces: {s: {type: spring, coordinate: m, stiffness: 400, rest: 0}}",
    "t_end: 1, output: 0.1",
)
case("try --step %.2g, or error control, --tol 1e-4; ", "energy balance", STIFF, "--step 0.1 --rho 0.6",
     ([], FOLLOW + " --rho 0.6", {"m": (0.40808206, 0.1)}), ([], "--tol 1e-4", {"m": (0.40808206, 2e-2)}))
PULSES = model("gravity: [0, -9.81, 0]\nbodies: {rod: {type: planar, mass: 2 kg, inertia: 0.2, com: [0.5, 0]}}\n"
               "joints: {hinge: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}}\n"
               "forces: {motor: {type: actuator, coordinate: hinge.angle, force: 'if(mod(t, 0.2) < 0.1, 3, -2)'}}", "t_end: 20, output: 0.01")
case("try --tol %.1g; ", "energy balance", PULSES, "--tol 1e-3", ([], FOLLOW, {}))
case("try --tol %.1g; ", "energy balance is off by", open(os.path.join(source, "tests/cli/models/pendulum.yaml")).read(), "-q --tol 0.1 --t-end 20",
     ([], "-q --t-end 20 " + FOLLOW, {}))
case("--min-step 0, which allows smaller steps", "--min-step 0, which allows smaller steps", STIFF, "--tol 1e-8 --min-step 0.01", ([], "--tol 1e-8 --min-step 0", {"m": (0.40808206, 1e-4)}))
case("--accuracy 1e-3 instead computes error bars", "accuracy     unknown", STIFF, "--tol 1e-4",
     ([], "--accuracy 1e-3", {"m": (0.40808206, 1e-3)}))
case("something acts that is not seen at its ends", "something acts that is not seen at its ends",
     model("bodies: {m: {type: scalar, mass: 2, velocity: 1}}\n"
           "forces: {f: {type: actuator, coordinate: m, force: '1000*exp(-((m - 4.9973)/0.0005)^2)'}}", "t_end: 10, output: 1"),
     "--step 0.1", ([], "--step 1e-4", {"m.rate": (1.37339977, 1e-2)}), ([], "--tol 1e-6", {"m.rate": (1.37339977, 1e-2)}))
WHEEL = open(os.path.join(source, "tests/cli/models/steered_wheel.yaml")).read()
case("Take the method stabilized, or a smaller rho, --rho 0.7", "change sides from step to step", WHEEL, "-q --method index3 --rho 0.99",
     ([], "-q --method stabilized --rho 0.99", {"hub.angle_rate": (31.46, 0.2)}), ([], "-q --method index3 --rho 0.7", {"hub.angle_rate": (31.46, 0.5)}))
case("take {0.2} or less", "cannot follow", model(SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'sin(2*pi*100*t)'}}"),
     "--step 0.01", ([], "--step 1e-4", {"m.rate": (0, 1e-4)}))
case("does not show; try --step %.2g", "made the same", model(SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'if(t > 0.3 && t < 0.301, 1, 0)'}}"),
     "converge --tol 1e-4", ([], "converge " + FOLLOW, {}))
case("take a smaller level", "within the rounding of times",
     model("bodies: {m: {type: scalar, mass: 1, velocity: 1}}\nforces: {f: {type: dry_friction, coordinate: m, level: 1e30}}"), "",
     ([("1e30", "100")], "", {"m": (0.005, 1e-6)}))
# After failures
LOG = model("bodies: {m: {type: scalar, mass: 1, velocity: 1}}\nforces: {f: {type: actuator, coordinate: m, force: 'log(2 - m)/100'}}", "t_end: 3")
case("as in log(max(u, 1e-9))", "as in log(max(u, 1e-9))", LOG, "--tol 1e-4", ([("log(2 - m)", "log(max(2 - m, 1e-9))")], "--tol 1e-4", {}))
case("more points in the table, or before: and after:", "more points in the table",
     model(SCALAR + "functions: {g: {type: table, x: [0, 0.5], y: [1, 1], after: error}}\nforces: {f: {type: actuator, coordinate: m, force: {function: g}}}"),
     "", ([("y: [1, 1], after: error", "y: [1, 1], after: hold")], "", {"m": (0.5, 1e-3)}),
     ([("[0, 0.5], y: [1, 1]", "[0, 0.5, 2], y: [1, 1, 1]")], "", {"m": (0.5, 1e-3)}))
case("of a grid, outside:", "of a grid, outside:",
     model(SCALAR + "functions: {g: {type: grid, x: [0, 0.25], y: [0, 1], z: [[1, 1], [1, 1]]}}\nforces: {f: {type: actuator, coordinate: m, force: 'g(m, 0.5)'}}"),
     "", ([("[[1, 1], [1, 1]]", "[[1, 1], [1, 1]], outside: hold")], "", {"m": (0.5, 1e-3)}))
RELAY = model("bodies: {m: {type: scalar, mass: 1, position: 1}}\nforces: {r: {type: actuator, coordinate: m, force: 'if(m + m.rate > 0, -10, 10)'}}", "t_end: 3, output: 0.01")
case("a force that jumps with the motion made smooth", "a force that jumps with the motion made smooth", RELAY, "--tol 1e-4",
     ([("if(m + m.rate > 0, -10, 10)", "-10*tanh((m + m.rate)/0.01)")], "--tol 1e-4", {"m": (0.05212676, 1e-3)}))
case("write a difference, a - b in place of a > b, or subtract 1/2", "is never negative",
     model("bodies: {m: {type: scalar, mass: 1, velocity: 1}}\nevents: {e: {when: 'm > 0.5', stop: true}}", "t_end: 1"), "--tol 1e-4",
     ([("m > 0.5", "m - 0.5")], "--tol 1e-4", {"m": (0.5, 1e-9)}), ([("m > 0.5", "(m > 0.5) - 1/2")], "--tol 1e-4", {"m": (0.5, 1e-9)}))
# Starts
case("Correct the initial values, or raise max_change", "max_change",
     model("bodies: {ball: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 1], velocity: [3, 0, 0]}}\nrollings: {r: {type: sphere, body: ball, radius: 1}}", "t_end: 1, max_change: 0.1"),
     "--tol 1e-4", ([], "--tol 1e-4 --max-change 100", {}), ([("velocity: [3, 0, 0]", "velocity: [3, 0, 0], omega: [0, 3, 0]")], "--tol 1e-4", {"ball.x": (3, 1e-3)}))
case("Give the joint's angle where turns are meant", "more than half a turn away",
     model(ROD + "joints: {h: {type: revolute, a: ground, b: rod}}\nforces: {k: {type: spring, coordinate: h.angle, stiffness: 3, rest: 6.283185307179586}}"),
     "--tol 1e-4", ([("rest: 6.283185307179586", "rest: start")], "--tol 1e-4", {"h.angle": (0, 1e-6)}), ([("b: rod", "b: rod, angle: 6.283185307179586")], "--tol 1e-4", {"h.angle": (6.283185307, 1e-6)}))
ENDS = model("bodies: {rod: {type: planar, mass: 1, inertia: 0.1, position: [0.5, 0]}}\njoints: {h: {type: revolute, a: ground, b: rod}}")
case("give the place where they meet, at: [x, y, z]", "has no `at`", ENDS, "--tol 1e-4",
     ([("b: rod", "b: rod, at: [0, 0, 0]")], "--tol 1e-4", {"h.angle": (0, 1e-9)}),
     ([("b: rod", "b: end"), ("joints:", "markers: {end: {body: rod, position: [-0.5, 0, 0]}}\njoints:")], "--tol 1e-4", {"h.angle": (0, 1e-9)}))
ELSEWHERE = model("bodies: {rod: {type: planar, mass: 1, inertia: 0.1}}\njoints: {h: {type: revolute, a: ground, b: rod}}\ndrives: {d: {coordinate: h.angle, function: 1 + 2*t}}")
case("give that coordinate for the start", "begins with h.angle = 1, where bodies as they are given have 0", ELSEWHERE, "--tol 1e-4",
     ([("b: rod", "b: rod, angle: 1")], "--tol 1e-4", {"h.angle": (3, 1e-9)}), ([("1 + 2*t", "2*t")], "--tol 1e-4", {"h.angle": (2, 1e-9)}))
# Events
case("set a variable, a state of a block, or a velocity", "cannot be set by an event", FALLS.replace("simulation", "events: {e: {when: t - 0.5, set: p.z, to: 1}}\nsimulation"), "--tol 1e-4",
     ([("set: p.z", "set: p.vz")], "--tol 1e-4", {"p.vz": (1 - 4.905, 1e-3)}))
case("set a velocity that they leave free", "cannot become 3: joints or drives hold it at 1",
     model("bodies: {m: {type: scalar, mass: 1, velocity: 1}, n: {type: scalar, mass: 1}}\ndrives: {d: {coordinate: m, function: t}}\nevents: {e: {when: t - 0.5, set: m.rate, to: 3}}"), "--tol 1e-4",
     ([("set: m.rate", "set: n.rate")], "--tol 1e-4", {"n.rate": (3, 1e-6)}))
# Constraints by expressions
HELD = "bodies: {p: {type: point, mass: 1, position: [0, 1, 0], velocity: [1, 0, 0]}}\n"
case("Use signals of bodies and joints", "holds nothing", model(HELD + "constraints: {c: {zero: '3 - t'}}"), "--tol 1e-4",
     ([("3 - t", "p.y - 1")], "--tol 1e-4", {"p.x": (1, 1e-6)}))
case("leave the type out, or correct it", "nonholonomic is given", model(HELD + "constraints: {c: {zero: p.y - 1, type: nonholonomic}}"), "--tol 1e-4",
     ([(", type: nonholonomic", "")], "--tol 1e-4", {"p.x": (1, 1e-6)}), ([("nonholonomic", "holonomic")], "--tol 1e-4", {"p.x": (1, 1e-6)}))
case("Take a smooth function instead: step() with five", "has a kink or a jump, by step", model(HELD + "constraints: {c: {zero: 'p.y - 1 - step(t, 0.5)'}}"), "--tol 1e-4",
     ([("step(t, 0.5)", "step(t, 0.2, 0, 0.8, 1)")], "--tol 1e-4", {"p.y": (2, 1e-6)}), ([("step(t, 0.5)", "step5(t, 0.2, 0, 0.8, 1)")], "--tol 1e-4", {"p.y": (2, 1e-6)}))
CAMS = model(HELD + "functions: {f: {type: table, x: [-3, 0, 1, 3], y: [0, 0, 0.1, 0]}}\nconstraints: {c: {zero: p.y - 1 - f(p.x)}}", "t_end: 1, output: 0.1, max_change: 1")
case("Take a smooth function instead: step() with five", "by a linear table", CAMS, "--tol 1e-4",
     ([("y: [0, 0, 0.1, 0]", "y: [0, 0, 0.1, 0], interpolation: spline, before: linear, after: error")], "--tol 1e-4", {}))
case("Start elsewhere, or write it so that it does", "no small motion changes", model(HELD + "constraints: {c: {zero: '(p.y - 1)^2'}}"), "--tol 1e-4",
     ([("(p.y - 1)^2", "p.y - 1")], "--tol 1e-4", {"p.x": (1, 1e-6)}))
case("Start elsewhere, or write it so that it does", "no velocity changes", model(HELD + "constraints: {c: {zero: p.vy^2 + p.vz^2 - 1}}", "t_end: 1, output: 0.1, max_change: 1"), "--tol 1e-4",
     ([("velocity: [1, 0, 0]", "velocity: [1, 1, 0]")], "--tol 1e-4", {"p.y": (2, 1e-4)}))
# Beams
RING = model("bodies: {ring: {type: beam, length: 6.283185307179586, curvature: [0, 0, 1], elements: 2, section: circle, diameter: 0.1, young: 1e9, density: 1000}}\n"
             "joints: {j: {type: fixed, a: ground, b: ring}}", "t_end: 0.01")
case("; give {field}: {2}", "; give elements: 12", RING, "--tol 1e-4", ([("elements: 2", "elements: 12")], "--tol 1e-4", {"ring.end.y": (0, 1e-9)}))
script("modes are not resolved}}; give {field}: {5.10}", "; give elements: 5",
       {"m.yaml": model("bodies: {rod: {type: beam, from: [0, 0, 0], to: [1, 0, 0], elements: 1, section: circle, diameter: 0.02, young: 2e11, density: 7800}}\n"
                        "joints: {j: {type: fixed, a: ground, b: rod}}")},
       ["modes m.yaml -n 4"], [change("m.yaml", "elements: 1", "elements: 5"), "modes m.yaml -n 4"])
script("modes are not resolved}}; give {field}: {5.10}", "; give elements: ",
       {"m.yaml": model("bodies: {c: {type: cable, from: [0, 0, 0], to: [10, 0, 0], length: 9.99, elements: 4, stiffness: 1e5, mass_per_length: 1}}\n"
                        "joints: {a: {type: spherical, a: ground, b: c}, e: {type: spherical, a: ground, b: c.end, at: [10, 0, 0]}}")},
       ["modes m.yaml -n 4"], [change("m.yaml", "elements: 4", "elements: 7"), "modes m.yaml -n 4"])
WHIP = model("bodies: {whip: {type: beam, length: 1, elements: 1, section: circle, diameter: 0.01, young: 1e6, density: 10, damping: 0.1}}\n"
             "joints: {j: {type: fixed, a: ground, b: whip}}\nforces: {f: {type: force, frame: whip.end, torque: [0, 0, '2e-3*t']}}", "t_end: 2, output: 0.1")
case("more elements of the beam; 30 deg", "more elements of the beam; 30 deg", WHIP, "--tol 1e-3", ([("elements: 1,", "elements: 8,")], "--tol 1e-3", {}))
STRIP = model("gravity: [0, 0, -9.81]\nbodies: {strip: {type: beam, length: 1, elements: 20, section: rectangle, width: 0.02, height: 0.005, young: 7e10, density: 2700, damping: 1e-4}}\n"
              "joints: {wall: {type: fixed, a: ground, b: strip}}", "t_end: 0.002, output: 0.001")
case("or error control, --tol 1e-4, avoid this", "as when something stiff is released", STRIP, "--step 1e-3",
     ([], "--tol 1e-4", {"strip.end.z": (-1.962e-5, 1e-6)}))
BACK = model("bodies: {b: {type: beam, points: [[0, 0, 0], [1, 0, 0], [0, 0.1, 0]], elements: 20, section: circle, diameter: 0.02, young: 1e9, density: 1000}}\njoints: {j: {type: fixed, a: ground, b: b, at: [0, 0, 0]}}", "t_end: 0.001")
case("; give more points around the bend", "; give more points around the bend", BACK, "--tol 1e-4",
     ([("[1, 0, 0], [0, 0.1, 0]", "[0.9, 0, 0], [1, 0, 0], [1.05, 0.05, 0], [1, 0.1, 0], [0.9, 0.1, 0], [0, 0.1, 0]")], "--tol 1e-4", {"b.end.x": (0, 1e-9)}))
# Cables
CABLE = model("bodies: {r: {type: cable, from: [0, 0, 0], to: [1, 0, 0], elements: 4, stiffness: 1e4, mass_per_length: 1}}\nmarkers: {m: {body: r, position: [0.5, 0.1, 0]}}\nsensors: {s: {type: position, of: m}}", "t_end: 0.01")
case("; leave them 0", "; leave them 0", CABLE, "--tol 1e-4", ([("[0.5, 0.1, 0]", "[0.5, 0, 0]")], "--tol 1e-4", {"m.x": (0.5, 1e-9)}))
TWISTED = model("bodies: {r: {type: cable, from: [0, 0, 0], to: [1, 0, 0], elements: 4, stiffness: 1e4, mass_per_length: 1}}\nforces: {w: {type: line_load, body: r, load: [0, 1, 0], moment: [1, 0, 0]}}", "t_end: 0.01")
case("; leave {field} out", "; leave moment out", TWISTED, "--tol 1e-4", ([(", moment: [1, 0, 0]", "")], "--tol 1e-4", {"r.y": (5e-5, 1e-6)}))
# Bushings
TURNED = model("bodies: {block: {type: rigid, mass: 1, inertia: [0.4, 0.45, 0.5], rotation: {axis: [0, 0, 1], angle: 3}, omega: [0, 0, 15]}}\n"
               "forces: {mount: {type: bushing, a: ground, b: block, stiffness: [1e3, 1e3, 1e3, 0, 0, 50]}}", "t_end: 1, output: 0.05")
case("Turn one of its frames, or", "turns over about z", TURNED, "",
     ([("a: ground", "a: drawn"), ("forces:", "markers: {drawn: {body: ground, rotation: {axis: [0, 0, 1], angle: 3}}}\nforces:")], "", {"block.wz": (-12.5861, 2e-2)}),
     ([("mount: {type: bushing, a: ground, b: block, stiffness: [1e3, 1e3, 1e3, 0, 0, 50]}", "mount: {type: spring, coordinate: pin.angle, stiffness: 50, rest: 3}"),
       ("forces:", "joints: {pin: {type: revolute, a: ground, b: block}}\nforces:")], "", {"block.wz": (-12.5861, 2e-2)}))
# Drives
DRIVE = model("bodies: {m: {type: scalar, mass: 1, position: 0.5, velocity: -1}}\n" + "drives: {d: {coordinate: m, function: 'abs(t - 0.5)'}}")
case("accept it with accept_impact: true", ": an impact. Take", DRIVE, "",
     ([("'abs(t - 0.5)'", "'abs(t - 0.5)', accept_impact: true")], "", {"m": (0.5, 1e-9)}),
     ([("'abs(t - 0.5)'", "{type: motion, law: poly345, from: 0.5, to: 1, t_start: 0.1, duration: 0.8}"), (", velocity: -1", "")], "", {"m": (1, 1e-9)}))
case("Use a motion law that takes some time", "which no motion can", model(SCALAR + "drives: {d: {coordinate: m, function: 'if(t < 0.5, 0, 1)'}}"), "",
     ([("'if(t < 0.5, 0, 1)'", "{type: motion, law: poly345, from: 0, to: 1, t_start: 0.2, duration: 0.6}")], "", {"m": (1, 1e-9)}))
case("; or, where an impact is meant, `function` with accept_impact: true", "its speed jumps", model(SCALAR + "drives: {d: {coordinate: m, speed: 'if(t < 0.5, 0, 1)'}}"), "",
     ([("'if(t < 0.5, 0, 1)'", "'min(max((t - 0.4)/0.2, 0), 1)'")], "", {"m": (0.5, 1e-6)}), ([("speed: 'if(t < 0.5, 0, 1)'", "function: 'max(t - 0.5, 0)', accept_impact: true")], "", {"m": (0.5, 1e-9)}))
case("; remove one of the two drives", "prescribes m too", model(SCALAR + "drives: {d: {coordinate: m, acceleration: 2}, e: {coordinate: m, acceleration: 2}}"), "",
     ([(", e: {coordinate: m, acceleration: 2}", "")], "", {"m": (1, 1e-6)}))
# Geometry
case("move one of them, or take a bushing", "coincide at the start", model("bodies: {p: {type: point, mass: 1}}\nforces: {s: {type: spring, a: ground, b: p, stiffness: 1}}"), "",
     ([("mass: 1}", "mass: 1, position: [1, 0, 0]}")], "", {"p.x": (1, 1e-6)}), ([("spring, a: ground, b: p, stiffness: 1", "bushing, a: ground, b: p, stiffness: [1, 1, 1, 0, 0, 0]")], "", {"p.x": (0, 1e-6)}))
case("move one of them, or take a spherical joint", "coincide at the start", model("bodies: {p: {type: point, mass: 1}}\njoints: {j: {type: distance, a: ground, b: p}}"), "",
     ([("mass: 1}", "mass: 1, position: [1, 0, 0]}")], "", {}), ([("distance", "spherical")], "", {"p.x": (0, 1e-9)}))
case("take a spherical joint or a rigid body", "holds axes", model(point() + "joints: {j: {type: revolute, a: ground, b: p}}"), "",
     ([("revolute", "spherical"), ("position: [1, 0, 0]", "position: [0, 0, 0]")], "", {}), ([("type: point, mass: 1, position: [1, 0, 0]", "type: rigid, mass: 1, inertia: [1, 1, 1]")], "", {}))
case("turn one of the frames by half a turn", "point in opposite directions",
     model("bodies: {rod: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: {axis: [1, 0, 0], angle: 180 deg}}}\njoints: {j: {type: prismatic, a: ground, b: rod}}"), "",
     ([("angle: 180 deg", "angle: 0 deg")], "", {"j.displacement": (0, 1e-9)}))
case("preload of the angles to 0", "which cannot turn", model(point() + "forces: {b: {type: bushing, a: ground, b: p, stiffness: [1, 1, 1, 1, 1, 1]}}"), "",
     ([("[1, 1, 1, 1, 1, 1]", "[1, 1, 1, 0, 0, 0]")], "", {"p.x": (0.54030231, 1e-3)}))
case("name a frame of the ground, of a rigid or of a planar body", "no axes and no plane",
     model("bodies: {p: {type: point, mass: 1}, b: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 1]}}\nrollings: {r: {type: sphere, body: b, plane: p, radius: 1}}"), "",
     ([("plane: p", "plane: ground")], "", {"b.z": (1, 1e-9)}), ([("type: point, mass: 1}", "type: rigid, mass: 1, inertia: [1, 1, 1]}")], "", {"b.z": (1, 1e-9)}))
case("it must be > 0, or set massless where", "mass is 0", FALLS.replace("mass: 1", "mass: 0"), "", ([("mass: 0", "mass: 1")], "", FALLEN),
     ([("bodies: {p: {type: point, mass: 0}}", "bodies: {p: {type: point, mass: 1}, q: {type: point, massless: true}}\njoints: {j: {type: spherical, a: p, b: q}}")], "", FALLEN))
case("give a thin rod a small moment", "principal moments", model("bodies: {r: {type: rigid, mass: 1, inertia: [0, 1, 1]}}"), "", ([("[0, 1, 1]", "[1e-3, 1, 1]")], "", {}))
case("are both '{name}'; give two", "are both", model(point() + "joints: {j: {type: spherical, a: p, b: p}}"), "", ([("a: p", "a: ground"), ("[1, 0, 0]", "[0, 0, 0]")], "", {}))
case("it has both a line", "has both a line", model(point(", hold: false").replace(", hold: false", "") + "forces: {s: {type: spring, a: ground, b: p, coordinate: p, stiffness: 1}}"), "",
     ([(", coordinate: p", "")], "", {"p.x": (1, 1e-6)}))
case("it acts on nothing", "acts on nothing", model(SCALAR + "forces: {s: {type: spring, stiffness: 1}}"), "", ([("{type: spring,", "{type: spring, coordinate: m,")], "", {"m": (0, 1e-9)}))
case("it must be > 0, or NaN for that at the start; use", "length is 0", model(point() + "joints: {j: {type: distance, a: ground, b: p, length: 0}}"), "",
     ([("length: 0", "length: 1")], "", {"p.x": (1, 1e-9)}), ([("distance", "spherical"), (", length: 0", ""), ("[1, 0, 0]", "[0, 0, 0]")], "", {"p.x": (0, 1e-9)}))
# Names
case("are reserved; give another", "are reserved", FALLS.replace("p:", "energy:"), "", ([("energy:", "p:")], "", FALLEN))
case("give the parameter another name", "is a parameter, and", model("parameters: {m: 2}\n" + SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'm + 1'}}"), "",
     ([("{m: 2}", "{n: 2}"), ("'m + ", "'n + ")], "", {"m": (1.5, 1e-3)}))
# Rotations
def turned(rotation):
    return model("bodies: {r: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: " + rotation + "}}")
case("give {expected}", "give one of matrix", turned("{angle: 1}"), "", ([("{angle: 1}", "{axis: [0, 0, 1], angle: 1}")], "", {}))
case("unit vectors across each other; give", "unit vectors", turned("{matrix: [[0.7, -0.7, 0], [0.7, 0.7, 0], [0, 0, 1]]}"), "",
     ([("[[0.7, -0.7, 0], [0.7, 0.7, 0]", "[[0.70710678118, -0.70710678118, 0], [0.70710678118, 0.70710678118, 0]")], "", {}), ([("matrix: [[0.7, -0.7, 0], [0.7, 0.7, 0], [0, 0, 1]]", "quaternion: [1, 0, 0, 0.4142]")], "", {}))
case("turn one axis round", "determinant is negative", turned("{matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}"), "", ([("[0, 0, -1]", "[0, 0, 1]")], "", {}))
case("the {field} is 0; give", "quaternion is 0", turned("{quaternion: [0, 0, 0, 0]}"), "", ([("[0, 0, 0, 0]", "[1, 0, 0, 0]")], "", {}))
case("the {field} is 0; give", "axis is 0", turned("{axis: [0, 0, 0], angle: 1}"), "", ([("[0, 0, 0], angle", "[0, 1, 0], angle")], "", {}))
case("give three letters", "not one of Euler angles", turned("{euler: [1, 1, 1], sequence: xxz}"), "", ([("xxz", "xyz")], "", {}))
case("the {field} is 0; give", "z_axis is 0", turned("{z_axis: [0, 0, 0]}"), "", ([("[0, 0, 0]}", "[0, 1, 0]}")], "", {}))
case("the {field} is 0; give", "x_axis is 0", turned("{z_axis: [0, 0, 1], x_axis: [0, 0, 0]}"), "", ([("x_axis: [0, 0, 0]", "x_axis: [0, 1, 0]")], "", {}))
case("lies along the {other}; give", "lies along the z_axis", turned("{z_axis: [0, 0, 1], x_axis: [0, 0, 2]}"), "", ([("x_axis: [0, 0, 2]", "x_axis: [0, 1, 0]")], "", {}))
case("are both given; give one of them", "are both given", model("bodies: {r: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], pose: {position: [1, 0, 0]}}}"), "", ([(", pose: {position: [1, 0, 0]}", "")], "", {"r.x": (1, 1e-9)}))
# Files
case("x and y, or rows", "give x and y, or rows", model(SCALAR + "functions: {g: {type: table, x: [0, 1]}}\nforces: {f: {type: actuator, coordinate: m, force: {function: g}}}"), "",
     ([("x: [0, 1]}", "x: [0, 1], y: [1, 1]}")], "", {"m": (0.5, 1e-3)}), ([("x: [0, 1]}", "rows: [[0, 1], [1, 1]]}")], "", {"m": (0.5, 1e-3)}))
case("write 'key: value'", "with a blank after the colon", FALLS.replace("simulation: {t_end: 1, output: 0.1}", "simulation:\n  t_end: 1\n  output\n"), "", ([("  output\n", "  output: 0.1\n")], "", FALLEN))
case("write the keys out, or give a whole value by an alias", "a merge key", FALLS.replace("bodies: {p: {type: point, mass: 1}}", "bodies:\n  o: &a {type: point, mass: 1}\n  p: {<<: *a}"), "",
     ([("p: {<<: *a}", "p: *a")], "", FALLEN), ([("p: {<<: *a}", "p: {type: point, mass: 1}")], "", FALLEN))

case("give the parameter another name", "the word for its value at the start", model("parameters: {start: 2}\nbodies: {m: {type: scalar, mass: 1, position: 1}}\nforces: {s: {type: spring, coordinate: m, stiffness: 1, rest: start}}"), "",
     ([("{start: 2}", "{begin: 2}"), ("rest: start", "rest: begin")], "", {"m": (1.45969769, 1e-3)}), ([("rest: start", "rest: 1*start")], "", {"m": (1.45969769, 1e-3)}))
case("check whether the joints allow this position", "check whether the joints allow this position", open(os.path.join(source, "tests/cli/models/reach.yaml")).read(), "-q",
     ([("0.4 + 0.3*t^2", "0.4 + 0.05*t^2")], "-q --tol 1e-4", {"guide.displacement": (0.6, 1e-6)}))
case("at a singular position: pass it with some speed", "at a singular position", open(os.path.join(source, "tests/cli/models/reach.yaml")).read(), "-q",
     ([("0.4 + 0.3*t^2", "0.4 + 0.05*t^2")], "-q --tol 1e-4", {"guide.displacement": (0.6, 1e-6)}))
HITS = open(os.path.join(source, "tests/cli/models/hits.yaml")).read()
case("a softer or more damped force where it is named above", "a softer or more damped force", HITS, "-q",
     ([("stiffness: 1e20, exponent: 3, dissipation: 1e5", "stiffness: 1e6, exponent: 1.5, dissipation: 1")], "-q --tol 1e-4", {}))
case("add a fast pole, or differentiate", "degree of num", model(SCALAR + "blocks: {g: {type: transfer_function, inputs: {u: m}, num: [1, 0], den: [1]}}\nforces: {f: {type: actuator, coordinate: m, force: g}}"), "",
     ([("den: [1]", "den: [0.001, 1]")], "", {"m": (0, 1e-9)}))
case("; use {expected}", "can be recorded but not fed back", model(ROD + "forces: {f: {type: force, frame: rod, torque: [0, 0, 'rod.qz']}}"), "",
     ([("'rod.qz'", "'rod.yaw'")], "", {"rod.yaw": (0, 1e-6)}))
case("let the loop pass through a state", "lgebraic loop", model(SCALAR + "blocks: {a: {type: gain, inputs: {u: 'a + 1'}, gain: 1}}\nforces: {f: {type: actuator, coordinate: m, force: a}}"), "",
     ([("gain: 1}", "gain: 0.5}")], "", {"m": (0.5, 1e-3)}), ([("{type: gain, inputs: {u: 'a + 1'}, gain: 1}", "{type: first_order, inputs: {u: '0*a + 1'}, time_constant: 1e-3, initial_input: 1}")], "", {"m": (0.5, 2e-3)}))


# A body that friction holds, against 0.1 N
case("drives the motion back from both sides", "drives the motion back from both sides", model("bodies: {m: {type: scalar, mass: 1, position: 1}}\n"
     "forces:\n  s: {type: spring, coordinate: m, stiffness: 0.1, rest: 0}\n  f: {type: actuator, coordinate: m, force: '-0.5*sign(m.rate)'}"), "--tol 1e-4",
     ([("sign(m.rate)", "tanh(m.rate/1e-6)")], "--tol 1e-4", {"m": (1, 1e-4)}),
     ([("sign(m.rate)", "(2*step(m.rate, -1e-6, 0, 1e-6, 1) - 1)")], "--tol 1e-4", {"m": (1, 1e-4)}))
# What only a jump beyond all tolerances shows, in a state: errors of q fall with h², those of a state with h; by a quotient, since the
# edges of comparisons are found
BURST = model("bodies: {m: {type: scalar, mass: 1, velocity: 1}}\nblocks: {x: {type: integrator, inputs: '1e9*(1 + ((m - 0.5)^2)^0.5/(m - 0.5))'}}")
case("a smooth function instead of what jumps there", "a smooth function instead of what jumps there", BURST, "--tol 1e-4",
     ([("1e9*(1 + ((m - 0.5)^2)^0.5/(m - 0.5))", "step5(m, 0.4, 0, 0.6, 2e9)")], "--tol 1e-4", {"x": (1e9, 1e5)}))
case("equal steps, which are not reduced there", "equal steps, which are not reduced there", BURST, "--tol 1e-4",
     ([], FOLLOW, {"x": (1e9, 2e6)}), ([], "--tol 1e-2", {"x": (1e9, 1e7)}))
MANY = model("bodies: {m: {type: scalar, mass: 1, position: 1}}\nrepeat: {count: 400, parts: {bodies: {\"idle{i}\": {type: scalar, mass: 1}}}}\n"
             "forces: {s: {type: spring, coordinate: m, stiffness: 1e4, rest: 0}}", "t_end: 1.6, output: 0.02")
case("--tol runs without error bars", "Smaller ones would take long", MANY, "",
     ([], "--accuracy 0.001", {"m": (math.cos(160), 4e-3)}), ([], "--tol 1e-4", {}))
case("its numbers are so far apart", "quotients overflow", model(SCALAR + "blocks: {g: {type: first_order, inputs: {u: m}, gain: 1e300, time_constant: 1e-300}}\nforces: {f: {type: actuator, coordinate: m, force: g}}"), "",
     ([("1e300", "1"), ("1e-300", "0.1")], "", {"m": (0, 1e-9)}))
case("cannot {detail}{{, here {0.10}}}{{: {equation}}}; take {expected}", "cannot feed back accelerations",
     model("bodies: {m: {type: scalar, mass: 1}, p: {type: scalar, mass: 1}}\nforces: {f: {type: actuator, coordinate: m, force: '1 - 0.5*m.acc'}}"), "--method soi2",
     ([], "--method stabilized", {"m": (1 / 3, 1e-3)}), ([], "--method index3", {"m": (1 / 3, 1e-3)}))
case("keep nonholonomic constraints", "cannot keep nonholonomic constraints",
     model("bodies: {ball: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 1], velocity: [3, 0, 0], omega: [0, 3, 0]}}\nrollings: {r: {type: sphere, body: ball, radius: 1}}"), "--method hht_soi2 --step 0.01",
     ([], "--method soi2 --step 0.01", {"ball.x": (3, 1e-6)}))
BRANCH = open(os.path.join(source, "tests/trust/models/branch.yaml")).read()
case("branches of a mechanism may meet", "branches of a mechanism may meet", BRANCH, "",
     ([("b: rock}", "b: rock, angle: 173.27254517675408 deg}")], "", {}),
     ([("th: 200 deg", "th: 200 deg, c: 'cos(200[deg])', s: 'sin(200[deg])'"), ("position: [0, 0], angle: 60 deg", "position: [0, 0], angle: 200 deg"),
       ("angle: 60 deg}\nmarkers", "angle: 200 deg}\nmarkers"), ("[\"cos(pi/3)\", \"sin(pi/3)\"]", "[c, s]")], "", {}))
LOOP = model(SCALAR + "blocks: {a: {type: expression, inputs: {u: a}, expression: 'u^2 + 1'}}\nforces: {f: {type: actuator, coordinate: m, force: a}}")
case("the outputs cannot be solved for (no convergence)", "the outputs cannot be solved for", LOOP, "--tol 1e-4",
     ([("u^2 + 1", "0.2*u^2 + 1")], "--tol 1e-4", {"m": (0.5 * (5 - 5 * 0.2**0.5) / 2, 1e-3)}),
     ([("inputs: {u: a}", "inputs: {u: s}"), ("blocks: {", "blocks: {s: {type: first_order, inputs: {u: a}, time_constant: 10}, ")], "--tol 1e-4", {}))
case("Where it has a solution, give a guess near it", "Where it has a solution, give a guess near it", LOOP.replace("u^2 + 1", "u + 3*atan(u - 10)"), "--tol 1e-4",
     ([("forces:", "guesses: {g: {signal: a, value: 10.5}}\nforces:")], "--tol 1e-4", {"m": (5, 1e-3)}))
case("Where it has one, give a guess near it", "Where it has one, give a guess near it", LOOP.replace("u^2 + 1", "u + 3*atan(4*(u - 10)) + 0.02*(u - 10)"), "--tol 1e-4",
     ([("forces:", "guesses: {g: {signal: a, value: 10.1}}\nforces:")], "--tol 1e-4", {"m": (5, 1e-3)}))
case("leave it out", "the tag '!kilo' is not read; leave it out", FALLS.replace("mass: 1", "mass: !kilo 1"), "", ([("!kilo ", "")], "", FALLEN))
case("is 0; leave it out", "the coefficient of the highest power", model(SCALAR + "blocks: {g: {type: transfer_function, inputs: {u: m}, num: [1], den: [0, 1, 1]}}"), "", ([("[0, 1, 1]", "[1, 1]")], "", {"m": (0, 1e-9)}))
case("which is itself fixed to this marker", "itself fixed to this marker", model(SCALAR + "markers: {a: {body: b}, b: {body: a}}"), "", ([("b: {body: a}", "b: {body: ground}")], "", {}))
case("leave it \\\"ground\\\"", "only positions can be measured from", model(point() + "markers: {a: {body: ground}}\nsensors: {s: {type: velocity, of: p, from: a}}"), "", ([("from: a", "from: ground")], "", {}), ([(", from: a", "")], "", {}))
case("so that a guess of it does nothing; leave it out", "does nothing", model(SCALAR + "blocks: {g: {type: gain, inputs: {u: 1}, gain: 2}}\nguesses: {x: {signal: m.acc, value: 1}}"), "", ([("guesses: {x: {signal: m.acc, value: 1}}", "")], "", {}))
case("leave the torque out, or make it", "cannot turn; leave the torque out", model(point() + "forces: {f: {type: force, frame: p, torque: [1, 0, 0]}}"), "",
     ([("torque: [1, 0, 0]", "force: [1, 0, 0]")], "", {"p.x": (1.5, 1e-3)}), ([("type: point, mass: 1", "type: rigid, mass: 1, inertia: [1, 1, 1]")], "", {"p.wx": (1, 1e-3)}))
case("one that is no parameter and no index of an outer repeat; name it", "name it by the key index", "parameters: {i: 2}\n" + MANY.replace("400", "2"), "--tol 1e-4", ([("count: 2", "count: 2, index: k"), ("{i}", "{k}")], "--tol 1e-4", {}))
case("in it needs quotes, or the indentation", "in it needs quotes", FALLS.replace("galpha: 1", "galpha: 1\ntitle: a: b"), "", ([("a: b", "'a: b'")], "", FALLEN))
case("; a text that begins with * or & needs quotes", "begins with * or & needs quotes", FALLS.replace("galpha: 1", "galpha: 1\ntitle: *"), "", ([("title: *", "title: '*'")], "", FALLEN))
case("an expression with brackets of its own needs quotes", "brackets of its own needs quotes", FALLS.replace("{type: point, mass: 1}", "{type: point, mass: 2*cos(60[deg])}"), "", ([("2*cos(60[deg])", "\"2*cos(60[deg])\"")], "", FALLEN))
case("an expression with commas needs quotes", "with commas needs quotes", FALLS.replace("{type: point, mass: 1}", "{type: point, mass: max(1, 0.5)}"), "", ([("max(1, 0.5)", "'max(1, 0.5)'")], "", FALLEN))
case("for a product write number", "for a product write", FALLS.replace("mass: 1", "mass: 2 k").replace("galpha: 1", "galpha: 1\nparameters: {k: 3}"), "", ([("2 k", "2*k")], "", FALLEN))
case("the signal '%s' is %g at t", "check their units", FALLS.replace("-9.81", "-1e300"), "--tol 1e-4", ([("-1e300", "-9.81")], "--tol 1e-4", FALLEN))
case("galpha converge: the error of %s is", "the error of q is inf", model("bodies: {m: {type: scalar, mass: 1, position: 1e200}}\nforces: {s: {type: spring, coordinate: m, stiffness: 1, rest: 0}}"), "converge --step 0.1",
     ([("1e200", "1")], "converge --step 0.1", {}))
case("put those first that others need", "wait for each other, which is the limit; put those first",
     "parameters:\n" + "".join("  p%d: p%d + 1\n" % (i, i + 1) for i in range(300)) + "  p300: 1\n" + model("bodies: {p: {type: point, mass: 1}}", "t_end: 1, output: 0.1", "gravity: [0, 0, -9.81]\n"), "",
     ([("parameters:\n" + "".join("  p%d: p%d + 1\n" % (i, i + 1) for i in range(300)) + "  p300: 1\n",
        "parameters:\n  p300: 1\n" + "".join("  p%d: p%d + 1\n" % (i, i + 1) for i in reversed(range(300))))], "", FALLEN))
case("use 'repeat' or parameters", "by aliases, which is the limit; use 'repeat' or parameters",
     "parameters:\n  a0: &a0 1\n" + "".join("  a%d: &a%d [%s]\n" % (i, i, ", ".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 10)) + FALLS, "",
     ([("parameters:\n  a0: &a0 1\n" + "".join("  a%d: &a%d [%s]\n" % (i, i, ", ".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 10)), "parameters: {a0: 1}\n")], "", FALLEN))
case("Change it, or begin later", "more often than can be resolved", model(SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'mod(3, t)'}}", "t_start: 0, t_end: 1, output: 0.1"), "--tol 1e-4",
     ([("mod(3, t)", "mod(3, 1)")], "--tol 1e-4", {"m": (0, 1e-9)}), ([("t_start: 0", "t_start: 0.5")], "--tol 1e-4", {}))

# ---- Several commands ----

SHORT = {"m.yaml": FALLS}
script("error bars are those of a whole run", "error bars are those of a whole run", SHORT, ["run m.yaml -o o.h5 --accuracy 1e-3", "run m.yaml -o o.h5 --accuracy 1e-3 --resume --t-end 3"],
       ["run m.yaml -o o.h5 --accuracy 1e-3 --t-end 3"], ["run m.yaml -o o.h5 --tol 1e-4", "run m.yaml -o o.h5 --tol 1e-4 --resume --t-end 3"])
script("was made of; run it from the beginning", "is not the one that", SHORT, ["run m.yaml -o o.h5 --tol 1e-4", change("m.yaml", "mass: 1", "mass: 2"), "run m.yaml -o o.h5 --tol 1e-4 --resume --t-end 3"],
       ["run m.yaml -o o.h5 --tol 1e-4 --t-end 3"])
script("is read from, which would be lost; give another name", "a file that the model is read from", SHORT, ["write m.yaml -o m.yaml"], ["write m.yaml -o n.yaml", "run n.yaml -o o.h5"])
script("a model with errors cannot be written", "error", SHORT, [change("m.yaml", "mass: 1", "mass: -1"), "write m.yaml -o n.yaml"], [change("m.yaml", "mass: -1", "mass: 1"), "write m.yaml -o n.yaml"])
script("curves; name fewer signals", "name fewer signals", {"m.yaml": MANY.replace("400", "30")}, ["run m.yaml -o o.h5 --tol 1e-3", "plot o.h5 idle* -o o.svg"], ["plot o.h5 idle1* -o o.svg"])
for command in ("plot o.h5 p.z --band -o o.svg", "export o.h5 --errors --csv -"):
    script("--%s: %%s has no error bars; galpha run --accuracy makes them" % ("band" if "band" in command else "errors"), "has no error bars", SHORT,
           ["run m.yaml -o o.h5 --tol 1e-3", command], ["run m.yaml -o o.h5 --accuracy 1e-3", command])
script("galpha run --resume continues from it", "--resume continues from it", SHORT, ["run m.yaml -o o.h5 --tol 1e-3", "info o.h5"], ["run m.yaml -o o.h5 --tol 1e-3 --resume --t-end 2"])
LONG = {"m.yaml": STIFF.replace("t_end: 1, output: 0.1", "t_end: 1000, output: 10, step: 1e-3")}
script("  --resume continues from t = ", "--resume continues from t = ", LONG, [interrupted("run m.yaml -o o.h5", "start")], ["run m.yaml -o o.h5 --resume"])
script("--resume would start from the beginning; see --checkpoint-every", "there is no checkpoint yet", LONG, [interrupted("run m.yaml -o o.h5 --checkpoint-every 0", "start")],
       [interrupted("run m.yaml -o o.h5 --checkpoint-every 10", "start"), "run m.yaml -o o.h5 --resume"])
script("Something else deletes files of this folder; write elsewhere", "no longer exist", LONG, [interrupted("run m.yaml -o o.h5", "start", "o.h5")],
       [lambda: os.mkdir("elsewhere"), "run m.yaml -o elsewhere/o.h5"], ["run m.yaml -o o.h5"])
script("--resume tries again with a smaller tolerance", "--resume tries again", {"m.yaml": MANY}, [interrupted("run m.yaml -o o.h5 --accuracy 1e-3", "round 1")], ["run m.yaml -o o.h5 --accuracy 1e-3 --resume"])
script("the energies of the machine are infinite", "the energies of the machine are infinite",
       {"m.yaml": FALLS.replace("-9.81", "-1e154").replace("mass: 1", "mass: 4").replace("t_end: 1, output: 0.1", "t_end: 1e5, output: 1e5, step: 1e-2")},
       [interrupted("run m.yaml -o o.h5", "start")], [change("m.yaml", "-1e154", "-9.81"), change("m.yaml", "1e5, output: 1e5", "10, output: 10"), "run m.yaml -o o.h5"])
LIMIT = """int limit(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  (void)user, (void)t, (void)x, (void)xdot;
  if (u[0] >= 1) return BEYOND;
  y[0] = -1e-3 / (1 - u[0]) / (1 - u[0]);
  return 0;
}
"""
WHY = ("find out why the function named above returned", "returned a number below 0", {
    "m.yaml": model("bodies: {m: {type: scalar, mass: 1, velocity: 1}}\nblocks: {b: {type: library, library: ./liblimit.so, symbol: limit, inputs: {u: m}, n_out: 1}}\n"
                    "forces: {f: {type: actuator, coordinate: m, force: b}}", "t_end: 2, output: 0.1"), "limit.c": LIMIT},
       [library("-DBEYOND=-1"), "run m.yaml -o o.h5 --allow-library --tol 1e-3"], [library("-DBEYOND=1"), "run m.yaml -o o.h5 --allow-library --tol 1e-3"])
if COMPILER:
    script(*WHY)
else:
    no_advice(WHY[0], "there is no compiler to make a library with")

# ---- No advice ----

no_advice(". Try a smaller step", "what is cut off")
no_advice(". A smaller step may pass", "what is cut off")
no_advice("  try: %s", "the frame of the lines")
no_advice("; a smaller step may help: ", "what is cut off")
no_advice("its function asked for a smaller step", "says what the function did")
no_advice("The result file can be read during the run", "a help page")
no_advice("after each signal its error bars, NAME:error", "a help page")
no_advice("start start_time tstart", "names of a key")
no_advice("add adder difference", "names of a block")
no_advice("# The format of model files", "a page of the manual")
no_advice("A block with inputs has the key `inputs`", "the same")
script(". Use initial values that put the state on one side", "has a kink exactly at this state",
       {"m.yaml": model("bodies: {m: {type: scalar, mass: 1, position: 0}}\nforces: {f: {type: actuator, coordinate: m, force: -4*m - abs(m)}}")},
       ["linearize m.yaml"], [change("m.yaml", "position: 0", "position: 0.1"), "linearize m.yaml", "modes m.yaml"])
case("here it is too small by {3.3}; check the units", "which no body has", model("bodies: {r: {type: rigid, mass: 1, inertia: [1, 1, 3]}}"), "",
     ([("[1, 1, 3]", "[1, 1, 1.5]")], "", {"r.x": (0, 1e-9)}))
case("none may be negative: check the units", "none may be negative", model("bodies: {r: {type: rigid, mass: 1, inertia: [1, 1, 1, 2, 0, 0]}}"), "",
     ([("[1, 1, 1, 2, 0, 0]", "[1, 1, 1, 0.2, 0, 0]")], "", {"r.x": (0, 1e-9)}))
NOTCH = "points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.25, 0.1]], triangles: [[0, 2, 4], [2, 1, 4], [1, 0, 4], [0, 1, 3], [1, 2, 3], [0, 3, 2]]"
DENT = model("bodies: {b: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 9]}}\ncolliders:\n  solid: {type: mesh, frame: b, " + NOTCH + "}\n  under: {type: mesh, " + NOTCH + "}\n  brick: {type: box, size: [1, 1, 1]}\n"
             "collisions: {hit: {a: solid, b: under, stiffness: 1e4}}")
case("make one of several convex meshes, each a collider of the same frame", "and nor is the other one", DENT, "", ([("solid: {type: mesh, frame: b, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.25, 0.1]]",
     "solid: {type: mesh, frame: b, radius: 0.01, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.25, -0.1]]")], "", {"b.x": (0, 1e-9)}))
case("give it, or what it collides with, a radius of more than the depth", "pressed on from outside only", DENT.replace("b: under", "b: brick"), "", ([("size: [1, 1, 1]", "size: [1, 1, 1], radius: 0.02")], "", {"b.x": (0, 1e-9)}))
case("leave stick out", "which have no memory", DENT.replace("b: under", "b: brick, mu: 0.5, speed: 1e-3, stick: 1e-4").replace("size: [1, 1, 1]", "size: [1, 1, 1], radius: 0.02"), "", ([(", stick: 1e-4", "")], "", {"b.x": (0, 1e-9)}))
PLATE = model("gravity: [0, 0, 0]\nbodies: {ball: {type: rigid, mass: 0.01, inertia: [1e-7, 1e-7, 1e-7], position: [0, 0, 30], velocity: [0, 0, -3000]}}\n"
              "colliders: {lead: {type: sphere, frame: ball, radius: 5 mm}, plate: {type: box, size: [1, 1, 0.005]}}\n"
              "collisions: {hit: {a: lead, b: plate, exponent: 1, stiffness: 1e9}}", "t_end: 0.02, output: 0.01")
case("Increase the stiffness, correct the initial positions, or make them thicker", "are pressed", PLATE, "", ([("stiffness: 1e9", "stiffness: 1e11")], "", {"ball.vz": (3000, 30)}))
script("--max compares at every step and needs equal steps; add --step", "needs equal steps", SHORT, ["converge m.yaml --tol 1e-4 --max -o o.svg"], ["converge m.yaml --step 0.02 --max -o o.svg"])
script("the relative error of %s is %g: the reference is 0 at a time that is compared; leave out --relative", "the reference is 0 at a time that is compared",
       {"m.yaml": model("bodies: {m: {type: scalar, mass: 1, position: 1}, z: {type: scalar, mass: 1}}\nforces: {s: {type: spring, coordinate: m, stiffness: 1, rest: 0}}")},
       ["converge m.yaml --step 0.1 --signals z --relative -o o.svg"], ["converge m.yaml --step 0.1 --signals m -o o.svg"])
script("numbers of the reference; choose --signals, fewer --levels or a larger --step", "numbers of the reference; choose --signals",
       {"m.yaml": SHORT["m.yaml"]}, ["converge m.yaml --step 1e-7 --t-end 100 --max -o o.svg"], ["converge m.yaml --step 0.02 --max -o o.svg"])
no_advice("Figures and experiments of the five papers", "what a command does")
no_advice("There is no picture: see the messages of the command", "a line of a page; the message is the command's")
no_advice("the models of the papers are neither in", "the folders are fixed when the program is built")
# Derivatives by parameters
def by(machine, more="", parameters="k: 1"):
    return {"m.yaml": model(machine, "t_end: 0.5, output: 0.1" + more, "parameters: {%s}\n" % parameters)}


SPRUNG = "bodies: {m: {type: scalar, mass: 1, position: 1}}\nforces: {s: {type: %s}}"
SWINGS = "gravity: [0, 0, -9.81]\nbodies: {b: {type: point, mass: k, position: [0, 1, 0]}}\njoints: {rod: {type: distance, a: ground, b: b}}"
AXIS = "at: {position: [0, %d, 0], rotation: {z_axis: [0, 1, 0]}}"
DOORS = ("gravity: [0, 0, -9.81]\nbodies: {rod: {type: rigid, mass: k, inertia: [0.1, 0.1, 0.1], com: [0.5, 0, 0]}}\n"
         "joints: {h: {type: revolute, a: ground, b: rod, " + AXIS % 0 + "}%s}")
SECOND = ", h2: {type: revolute, a: ground, b: rod, " + AXIS % 1 + "}"
SENSITIVITY = "sensitivity m.yaml --by k -q -o o.h5"
script("; give a step, about a thousandth of a value that matters", "give a step", by(SPRUNG % "spring, coordinate: m, stiffness: 4 + k, rest: 0", "", "k: 0"),
       [SENSITIVITY], ["sensitivity m.yaml --by k:1e-3 -q -o o.h5"])
no_advice("give a step, about a thousandth of a value that matters", "what the program has said before it calls this")
BENT = by(SPRUNG % "spring, coordinate: m, stiffness: 4, rest: 0", "", "k: 2")
BENT["m.yaml"] = BENT["m.yaml"].replace("position: 1", "position: sin(5*k) + 3")
script("a %s step, as %s:%.1g, reduces it", "have an estimated error of", BENT,
       ["sensitivity m.yaml --by k:0.03 -q -o o.h5"], ["sensitivity m.yaml --by k:0.002 -q -o o.h5"])
script("a %s step, as %s:%.1g, reduces it", "have an estimated error of", by(SPRUNG % "spring, coordinate: m, stiffness: k, rest: 0", "", "k: 2"),
       ["sensitivity m.yaml --by k:1e-12 -q -o o.h5"], ["sensitivity m.yaml --by k:0.002 -q -o o.h5"])
script("a %s step, as %s:%.1g, reduces it", "have an estimated error of", by(SPRUNG % "spring, coordinate: m, stiffness: k, rest: 0", "", "k: 2"),
       ["sensitivity m.yaml 'final(m)' --by k:1e-12 -q -o o.h5"], ["sensitivity m.yaml 'final(m)' --by k:0.002 -q -o o.h5"])
TILTED = SECOND.replace("[0, 1, 0]}}", "[0, 1, k - 1]}}")
script("leave out redundant constraints", "leave out redundant constraints", by(DOORS % TILTED), [SENSITIVITY], [change("m.yaml", TILTED, ""), SENSITIVITY])
script("take GA_STABILIZED, GA_INDEX3, GA_COLLOCATION or GA_AUTOMATIC", "take GA_STABILIZED, GA_INDEX3, GA_COLLOCATION or GA_AUTOMATIC", by(SWINGS),
       [SENSITIVITY + " --method soi2"], [SENSITIVITY + " --method stabilized"], [SENSITIVITY + " --method index3 --step 0.01"], [SENSITIVITY + " --method collocation"],
       [SENSITIVITY + " --method automatic"])
RAMP = "functions: {law: {type: motion, law: linear, t_start: k, duration: 0.31}}\nbodies: {x: {type: scalar, mass: 1, position: 0.2}}\nforces: {f: {type: actuator, coordinate: x, force: \"law(t) - x\"}}"
GRADIENT = "sensitivity m.yaml 'final(x)' --by k -q -o o.h5 --derivatives "
script("forward derivatives have no such limit", "forward derivatives have no such limit", by(RAMP, "", "k: 0.2"), [GRADIENT + "adjoint"], [GRADIENT + "forward"])
no_advice("give the systems too", "C only: models have them")
script("take GA_STABILIZED or equal steps", "take GA_STABILIZED or equal steps", by(SWINGS), [SENSITIVITY + " --method index3 --tol 1e-4"],
       [SENSITIVITY + " --method stabilized --tol 1e-4"], [SENSITIVITY + " --method index3 --step 0.01"])
script("leave it to the start", "leave it to the start", by(SWINGS, ", a0: [0, 0, -9]"), [SENSITIVITY + " --tol 1e-4"], [change("m.yaml", ", a0: [0, 0, -9]", ""), SENSITIVITY + " --tol 1e-4"])
LANDS = "gravity: [0, 0, -9.81]\nbodies: {b: {type: point, mass: k, position: [0, 0, 0.5]}}\nforces: {f: {type: contact, plane: ground, point: b, stiffness: 1e5, exponent: 1, radius: 0.1}}"
script("replace it by a smooth law", "replace it by a smooth law", by(LANDS), [SENSITIVITY],
       [change("m.yaml", "{type: contact, plane: ground, point: b, stiffness: 1e5, exponent: 1, radius: 0.1}", "{type: force, frame: b, force: [0, 0, '1000*exp(-(b.z - 0.1)/0.02)']}"), SENSITIVITY])
FASTER = "\nevents: {e: {when: 'm - 0.8', set: m.rate, to: 2}}"
no_advice("leave out events that change the motion", "C only: the program differentiates events of models")
CORNER = FASTER.replace("m - 0.8", "max(m - 0.8, 2*m - 1.6)")
script("write a condition that is smooth where it passes 0", "its condition has a corner", by(SPRUNG % "spring, coordinate: m, stiffness: 4 + k, rest: 0" + CORNER), [SENSITIVITY],
       [change("m.yaml", CORNER, FASTER), SENSITIVITY])
COASTS = "bodies: {m: {type: scalar, mass: 1, position: 1, velocity: -k}}" + FASTER
script("let the run end at another time", "exactly at the end of the run", by(COASTS), [SENSITIVITY + " --t-end 0.2"],
       [SENSITIVITY + " --t-end 0.1"], [SENSITIVITY + " --t-end 0.4"])
ENDS = {"m.yaml": model(SPRUNG % "spring, coordinate: m, stiffness: 4, rest: 0", "t_end: k, output: 0.1", "parameters: {k: 1}\n")}
script("give t_start and t_end as numbers, or let an event end the run, as {when: t - NAME, stop: true}", "the time at which the run begins or ends depends on it", ENDS, [SENSITIVITY],
       [change("m.yaml", "t_end: k", "t_end: 1"), SENSITIVITY],
       [change("m.yaml", "t_end: k", "t_end: 5"), change("m.yaml", "forces:", "events: {e: {when: t - k, stop: true}}\nforces:"), SENSITIVITY])
for corner in ("actuator, coordinate: m, force: '-4*m - 100*t^4*abs(k - 1)'", "spring, coordinate: m, stiffness: 4*(1 + abs(k - 1.00001)), rest: 0"):
    script("give a smaller step, or another value of the parameter", "have a corner or a jump" if "t^4" in corner else "has a corner or a jump", by(SPRUNG % corner),
           [SENSITIVITY], [SENSITIVITY + " --set k=1.5"])
script("give a smaller step, or another value of the parameter", "has a corner or a jump", by(SPRUNG % "spring, coordinate: m, stiffness: 4*(1 + abs(k - 1.00001)), rest: 0"),
       ["sensitivity m.yaml --by k:1e-3 -q -o o.h5"], ["sensitivity m.yaml --by k:1e-6 -q -o o.h5"])
script("is a file that the model is read from; it is left as it is: give another name, -o", "is a file that the model is read from", SHORT, ["run m.yaml -o m.yaml"], ["run m.yaml -o o.h5"])
