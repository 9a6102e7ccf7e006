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
case("--min-step 0, which lets steps", "--min-step 0, which lets steps", STIFF, "--tol 1e-8 --min-step 0.01", ([], "--tol 1e-8 --min-step 0", {"m": (0.40808206, 1e-4)}))
case("--accuracy 1e-3 instead gives error bars", "accuracy     not known", STIFF, "--tol 1e-4",
     ([], "--accuracy 1e-3", {"m": (0.40808206, 1e-3)}))
case("something acts that its ends do not see", "something acts that its ends do not see",
     model("bodies: {m: {type: scalar, mass: 2, velocity: 1}}\n"
           "forces: {f: {type: actuator, coordinate: m, force: '1000*exp(-((m - 4.9973)/0.0005)^2)'}}", "t_end: 10, output: 1"),
     "--step 0.1", ([], "--step 1e-4", {"m.rate": (1.37339977, 1e-2)}), ([], "--tol 1e-6", {"m.rate": (1.37339977, 1e-2)}))
case("take %.2g s or less", "cannot follow", model(SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'sin(2*pi*100*t)'}}"),
     "--step 0.01", ([], "--step 1e-4", {"m.rate": (0, 1e-4)}))
case("does not show; try --step %.2g", "made the same", model(SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'if(t > 0.3 && t < 0.301, 1, 0)'}}"),
     "converge --tol 1e-4", ([], "converge " + FOLLOW, {}))
# After failures
LOG = model("bodies: {m: {type: scalar, mass: 1, velocity: 1}}\nforces: {f: {type: actuator, coordinate: m, force: 'log(2 - m)/100'}}", "t_end: 3")
case("as in log(max(u, 1e-9))", "as in log(max(u, 1e-9))", LOG, "--tol 1e-4", ([("log(2 - m)", "log(max(2 - m, 1e-9))")], "--tol 1e-4", {}))
case("more points in the table, or before: and after:", "more points in the table",
     model(SCALAR + "functions: {g: {type: table, x: [0, 0.5], y: [1, 1], after: error}}\nforces: {f: {type: actuator, coordinate: m, force: {function: g}}}"),
     "", ([("y: [1, 1], after: error", "y: [1, 1], after: hold")], "", {"m": (0.5, 1e-3)}),
     ([("[0, 0.5], y: [1, 1]", "[0, 0.5, 2], y: [1, 1, 1]")], "", {"m": (0.5, 1e-3)}))
RELAY = model("bodies: {m: {type: scalar, mass: 1, position: 1}}\nforces: {r: {type: actuator, coordinate: m, force: 'if(m + m.rate > 0, -10, 10)'}}", "t_end: 3, output: 0.01")
case("a force that jumps with the motion made smooth", "a force that jumps with the motion made smooth", RELAY, "--tol 1e-4",
     ([("if(m + m.rate > 0, -10, 10)", "-10*tanh((m + m.rate)/0.01)")], "--tol 1e-4", {"m": (0.05212676, 1e-3)}))
# Starts
case("Correct the initial values, or raise max_change", "max_change",
     model("bodies: {ball: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 1], velocity: [3, 0, 0]}}\nrollings: {r: {type: sphere, body: ball, radius: 1}}", "t_end: 1, max_change: 0.1"),
     "--tol 1e-4", ([], "--tol 1e-4 --max-change 100", {}), ([("velocity: [3, 0, 0]", "velocity: [3, 0, 0], omega: [0, 3, 0]")], "--tol 1e-4", {"ball.x": (3, 1e-3)}))
case("Give the joint's angle where turns are meant", "more than half a turn away",
     model(ROD + "joints: {h: {type: revolute, a: ground, b: rod}}\nforces: {k: {type: spring, coordinate: h.angle, stiffness: 3, rest: 6.283185307179586}}"),
     "--tol 1e-4", ([("rest: 6.283185307179586", "rest: start")], "--tol 1e-4", {"h.angle": (0, 1e-6)}), ([("b: rod", "b: rod, angle: 6.283185307179586")], "--tol 1e-4", {"h.angle": (6.283185307, 1e-6)}))
# Drives
DRIVE = model("bodies: {m: {type: scalar, mass: 1, position: 0.5, velocity: -1}}\n" + "drives: {d: {coordinate: m, function: 'abs(t - 0.5)'}}")
case("accept it with accept_impact: true", ": an impact. Take", DRIVE, "",
     ([("'abs(t - 0.5)'", "'abs(t - 0.5)', accept_impact: true")], "", {"m": (0.5, 1e-9)}),
     ([("'abs(t - 0.5)'", "{type: motion, law: poly345, from: 0.5, to: 1, t_start: 0.1, duration: 0.8}"), (", velocity: -1", "")], "", {"m": (1, 1e-9)}))
case("by a motion law such as poly345", "which no motion can", model(SCALAR + "drives: {d: {coordinate: m, function: 'if(t < 0.5, 0, 1)'}}"), "",
     ([("'if(t < 0.5, 0, 1)'", "{type: motion, law: poly345, from: 0, to: 1, t_start: 0.2, duration: 0.6}")], "", {"m": (1, 1e-9)}))
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
case("it must be > 0, or set massless where", "mass is 0", FALLS.replace("mass: 1", "mass: 0"), "", ([("mass: 0", "mass: 1")], "", FALLEN),
     ([("bodies: {p: {type: point, mass: 0}}", "bodies: {p: {type: point, mass: 1}, q: {type: point, massless: true}}\njoints: {j: {type: spherical, a: p, b: q}}")], "", FALLEN))
case("give a thin rod a small moment", "principal moments", model("bodies: {r: {type: rigid, mass: 1, inertia: [0, 1, 1]}}"), "", ([("[0, 1, 1]", "[1e-3, 1, 1]")], "", {}))
case("and %s are both '%s'; give two", "are both", model(point() + "joints: {j: {type: spherical, a: p, b: p}}"), "", ([("a: p", "a: ground"), ("[1, 0, 0]", "[0, 0, 0]")], "", {}))
case("it has both a line", "has both a line", model(point(", hold: false").replace(", hold: false", "") + "forces: {s: {type: spring, a: ground, b: p, coordinate: p, stiffness: 1}}"), "",
     ([(", coordinate: p", "")], "", {"p.x": (1, 1e-6)}))
case("it acts on nothing", "acts on nothing", model(SCALAR + "forces: {s: {type: spring, stiffness: 1}}"), "", ([("{type: spring,", "{type: spring, coordinate: m,")], "", {"m": (0, 1e-9)}))
case("it must be > 0, or NaN for that at the start; use", "length is 0", model(point() + "joints: {j: {type: distance, a: ground, b: p, length: 0}}"), "",
     ([("length: 0", "length: 1")], "", {"p.x": (1, 1e-9)}), ([("distance", "spherical"), (", length: 0", ""), ("[1, 0, 0]", "[0, 0, 0]")], "", {"p.x": (0, 1e-9)}))
# Names
case("are taken; give another", "are taken", FALLS.replace("p:", "energy:"), "", ([("energy:", "p:")], "", FALLEN))
case("give the parameter another name", "is a parameter, and", model("parameters: {m: 2}\n" + SCALAR + "forces: {f: {type: actuator, coordinate: m, force: 'm + 1'}}"), "",
     ([("{m: 2}", "{n: 2}"), ("'m + ", "'n + ")], "", {"m": (1.5, 1e-3)}))
# Rotations
def turned(rotation):
    return model("bodies: {r: {type: rigid, mass: 1, inertia: [1, 1, 1], rotation: " + rotation + "}}")
case("give one of matrix, quaternion", "give one of matrix", turned("{angle: 1}"), "", ([("{angle: 1}", "{axis: [0, 0, 1], angle: 1}")], "", {}))
case("unit vectors across each other; give", "unit vectors", turned("{matrix: [[0.7, -0.7, 0], [0.7, 0.7, 0], [0, 0, 1]]}"), "",
     ([("[[0.7, -0.7, 0], [0.7, 0.7, 0]", "[[0.70710678118, -0.70710678118, 0], [0.70710678118, 0.70710678118, 0]")], "", {}), ([("matrix: [[0.7, -0.7, 0], [0.7, 0.7, 0], [0, 0, 1]]", "quaternion: [1, 0, 0, 0.4142]")], "", {}))
case("turn one axis round", "determinant is negative", turned("{matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}"), "", ([("[0, 0, -1]", "[0, 0, 1]")], "", {}))
case("give (1, 0, 0, 0) for no rotation", "quaternion is 0", turned("{quaternion: [0, 0, 0, 0]}"), "", ([("[0, 0, 0, 0]", "[1, 0, 0, 0]")], "", {}))
case("give the direction it turns about", "the axis is 0", turned("{axis: [0, 0, 0], angle: 1}"), "", ([("[0, 0, 0], angle", "[0, 1, 0], angle")], "", {}))
case("give three letters", "not one of Euler angles", turned("{euler: [1, 1, 1], sequence: xxz}"), "", ([("xxz", "xyz")], "", {}))
case("the z axis is 0; give", "the z axis is 0", turned("{z_axis: [0, 0, 0]}"), "", ([("[0, 0, 0]}", "[0, 1, 0]}")], "", {}))
case("the hint for x is 0; give", "the hint for x is 0", turned("{z_axis: [0, 0, 1], x_axis: [0, 0, 0]}"), "", ([("x_axis: [0, 0, 0]", "x_axis: [0, 1, 0]")], "", {}))
case("lies along the z axis; give", "lies along the z axis", turned("{z_axis: [0, 0, 1], x_axis: [0, 0, 2]}"), "", ([("x_axis: [0, 0, 2]", "x_axis: [0, 1, 0]")], "", {}))
case("has both a pose and", "has both a pose", model("bodies: {r: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], pose: {position: [1, 0, 0]}}}"), "", ([(", pose: {position: [1, 0, 0]}", "")], "", {"r.x": (1, 1e-9)}))
# Files
case("give x and y, or rows", "give x and y, or rows", model(SCALAR + "functions: {g: {type: table, x: [0, 1]}}\nforces: {f: {type: actuator, coordinate: m, force: {function: g}}}"), "",
     ([("x: [0, 1]}", "x: [0, 1], y: [1, 1]}")], "", {"m": (0.5, 1e-3)}), ([("x: [0, 1]}", "rows: [[0, 1], [1, 1]]}")], "", {"m": (0.5, 1e-3)}))
case("write 'key: value'", "with a blank after the colon", FALLS.replace("simulation: {t_end: 1, output: 0.1}", "simulation:\n  t_end: 1\n  output\n"), "", ([("  output\n", "  output: 0.1\n")], "", FALLEN))
case("merge keys (<<) are not read", "merge keys", FALLS.replace("bodies: {p: {type: point, mass: 1}}", "bodies:\n  o: &a {type: point, mass: 1}\n  p: {<<: *a}"), "",
     ([("p: {<<: *a}", "p: *a")], "", FALLEN), ([("p: {<<: *a}", "p: {type: point, mass: 1}")], "", FALLEN))

case("rename that, or write 1*", "is the word for its value at the start", model("parameters: {start: 2}\nbodies: {m: {type: scalar, mass: 1, position: 1}}\nforces: {s: {type: spring, coordinate: m, stiffness: 1, rest: start}}"), "",
     ([("{start: 2}", "{begin: 2}"), ("rest: start", "rest: begin")], "", {"m": (1.45969769, 1e-3)}), ([("rest: start", "rest: 1*start")], "", {"m": (1.45969769, 1e-3)}))
case("is the position reached one that the joints allow?", "is the position reached one that the joints allow?", open(os.path.join(source, "tests/cli/models/reach.yaml")).read(), "-q",
     ([("0.4 + 0.3*t^2", "0.4 + 0.05*t^2")], "-q --tol 1e-4", {"guide.displacement": (0.6, 1e-6)}))
case("a singular position is passed with some speed only", "a singular position is passed", open(os.path.join(source, "tests/cli/models/reach.yaml")).read(), "-q",
     ([("0.4 + 0.3*t^2", "0.4 + 0.05*t^2")], "-q --tol 1e-4", {"guide.displacement": (0.6, 1e-6)}))
HITS = open(os.path.join(source, "tests/cli/models/hits.yaml")).read()
case("a softer or more damped force where it is named above", "a softer or more damped force", HITS, "-q",
     ([("stiffness: 1e20, exponent: 3, dissipation: 1e5", "stiffness: 1e6, exponent: 1.5, dissipation: 1")], "-q --tol 1e-4", {}))
case("add a fast pole, or differentiate", "(proper)", model(SCALAR + "blocks: {g: {type: transfer_function, inputs: {u: m}, num: [1, 0], den: [1]}}\nforces: {f: {type: actuator, coordinate: m, force: g}}"), "",
     ([("den: [1]", "den: [0.001, 1]")], "", {"m": (0, 1e-9)}))
case("; use %s", "can be recorded but not fed back", model(SCALAR + "forces:\n  s: {type: spring, coordinate: m, stiffness: 1, rest: -1}\n  f: {type: actuator, coordinate: m, force: 's.force'}"), "",
     ([("'s.force'", "'m + 1'")], "", {"m": (0, 1e-6)}))
case("let the loop pass through a state", "lgebraic loop", model(SCALAR + "blocks: {a: {type: gain, inputs: {u: 'a + 1'}, gain: 1}}\nforces: {f: {type: actuator, coordinate: m, force: a}}"), "",
     ([("gain: 1}", "gain: 0.5}")], "", {"m": (0.5, 1e-3)}), ([("{type: gain, inputs: {u: 'a + 1'}, gain: 1}", "{type: first_order, inputs: {u: '0*a + 1'}, time_constant: 1e-3, initial_input: 1}")], "", {"m": (0.5, 2e-3)}))

# ---- Met by programs in C only, or by what one model cannot show ----

in_c("error bars are those of a whole run", "cli/cases.txt", "error bars are those of a whole")
in_c("; run it from the beginning", "cli/cases.txt", "the model is not the one that")
in_c("its function asked for a smaller step", "test_control.c", "its function asked for a smaller step")
in_c("the iteration matrix would be put together", "test_core_fill.c", "would be put together from")
in_c("; a smaller step may help", "test_core_failure.c", "; a smaller step may help")
in_c("a smaller step may help, or ", "test_core_failure.c", "a smaller step may")
in_c("take GA_STABILIZED, or remove it", "test_core_redundant.c", "repeats what holonomic constraints say")
in_c("its restarts pile up", "test_core_robust.c", "its restarts pile")
in_c("set rheonomic = 1", "test_core_robust.c", "set rheonomic")
in_c("the forces do not depend on the multiplier", "test_core_start.c", "give guesses near the multipliers")
in_c("the assembly does not close", "test_core_redundant.c", "the constraints cannot all be met, the assembly does not")
in_c("the iteration matrix is singular", "test_core_start.c", "constraint that repeats another")
in_c("without a pattern would make a dense matrix", "test_core_system.c", "equations without a pattern would make a dense matrix of")
in_c("has the unknown kind", "test_lie.c", "has the unknown kind")
in_c("has the unknown side", "test_lie.c", "has the unknown side")
in_c("a front of the %d x %d matrix", "test_lin_fronts.c", "a front of the")
in_c("branches of a mechanism may meet", "trust/cases.txt", "branches of a mechanism may meet")
in_c("give the name of", "test_mbs_parts.c", "; give the name of")
in_c("is empty; give NULL", "test_mbs_parts.c", "is empty; give NULL")
in_c("expression is empty; give NULL", "test_mbs_parts.c", "is empty; give NULL")
in_c("is missing; give one of galpha/expr.h", "test_mbs_parts.c", "is missing; give")
in_c("add parts before", "test_mbs_parts.c", "add parts before ga_machine_build()")
in_c("add functions before", "test_mbs_parts.c", ": the machine is built; add")
in_c("give finite numbers", "test_mbs_parts.c", "rotation: number")
in_c("has a signal of this name already", "test_mbs_review.c", "signal of this name")
in_c("has this name already; give another", "test_mbs_parts.c", "has this name already")
in_c("lists and maps; use 'repeat'", "test_model_tree.c", "values, lists and maps; use")
in_c("whose comments would be lost; give", "cli/cases.txt", ": the model is read from this")
in_c("another run is writing into it", "test_result.c", "another run is writing")
in_c("outputs cannot be solved for (no convergence)", "test_control_response.c", "lgebraic loop")

# ---- Not tried ----

untried("--tol does without error bars", "a run of minutes; that --tol has none is the case of --accuracy above")
untried("a smaller step, --step %.2g, or error control", "steps that fail are cut before: it is said only where they were not")
untried("what jumps there, made smooth", "no model is known that ends so but by min_step, which has words of its own")
untried("equal steps, which pass over it", "the same")
untried("why did the function named above return", "a question: only the author of the function knows")
untried("so far apart that their quotients overflow", "numbers beyond 1e300; other units are plain")
untried("close to the floor of rounding, which rises as h falls: take a larger step, a larger", "steps of 1e-12 s in C")
untried("close to the floor of rounding, which rises as h falls: take a larger step or", "the same")
untried("Try a smaller step; an iteration that is slow", "a machine's failure leaves it out; see a smaller step, --step")
untried("where f is nonlinear in them, give guesses", "as the case of multipliers in test_core_start.c")
untried("which the weighted methods cannot feed back", "names the other methods")
untried("h is %g; give the size of the first step", "an argument in C")
untried("opts is NULL; give ga_start_defaults()", "an argument in C")
untried("GA_HHT_SOI2 is for holonomic constraints only", "names the other method")
untried("n_pattern is %d; give 0", "an argument in C")
untried("block is NULL; give one of galpha/control.h", "an argument in C")
untried("is NULL; give an array", "an argument in C")
untried("the sequence is NULL; give one", "an argument in C")
untried("monotone interpolation is for one variable", "an argument in C")
untried("exists and is not a result file", "names the remedy itself")
no_advice(". Try a smaller step", "what is cut off")
no_advice(". A smaller step may pass", "what is cut off")
no_advice("  try: %s", "the frame of the lines")
