/* The table of sentences: what is wrong, and what to do, for each reason of GA_REASON_LIST. */
#include "base/sentence.h"

static const ga__sentence SENTENCES[] = {
    [GA_REASON_NONE] = {"", NULL},
    [GA_REASON_OTHER] = {"{detail}", NULL},
    [GA_REASON_MEMORY] = {"out of memory for {name}{{ of {0.10} numbers}}", NULL},
    [GA_REASON_NULL_ARGUMENT] = {"{field} is NULL{{; it needs {0.10} values}}", "{{; give {expected}}}"},

    /* calls */
    [GA_REASON_CALL_ORDER] = {"it must be called {expected}", NULL},
    [GA_REASON_OTHER_CONTEXT] = {"{field} was created with another context", NULL},
    [GA_REASON_NOT_FINITE] = {"{field} is {0}", "; it must be finite"},
    [GA_REASON_COUNT_MISMATCH] = {"{field} is {0.10}, but {other} is {detail}", NULL},
    [GA_REASON_TOO_MANY] = {"too many {field}{{: {0.10}}}{{; {1.10} is the limit}}", "{{; {detail}}}"},
    [GA_REASON_NOT_ASCENDING] = {"{field} is {0}, after {1}", "; they must ascend"},
    [GA_REASON_TIME_OUT_OF_RANGE] = {"{field} is {0.16}",
                                     "; it must be {expected}{{, {1.16}}}{{ to {2.16}}}"},
    [GA_REASON_SAVED_STATE] = {"{field} of the saved state is {0.10}; it must be{{ {expected}}}{{ {1.10}}}",
                               ". Was it saved from another system or method?{{ {detail}}}"},

    /* matrices */
    [GA_REASON_NOT_SQUARE] = {"the matrix must be square; it is {0.10} x {1.10}", NULL},
    [GA_REASON_ENTRY_OUTSIDE] = {"entry {0.10} of the pattern is ({1.10}, {2.10}), outside of the {3.10} x "
                                 "{4.10} matrix (indices start at 0)",
                                 NULL},
    [GA_REASON_ENTRY_TWICE] =
        {"entry ({1.10}, {2.10}) is twice in the pattern, the second time as entry {0.10}", NULL},
    [GA_REASON_MATRIX_NOT_FINITE] = {"the matrix has {0} in row {1.10}, column {2.10}", NULL},
    [GA_REASON_SINGULAR_MATRIX] =
        {"the {0.10} x {0.10} matrix is singular: column {1.10} depends on the others, or is zero", NULL},
    [GA_REASON_SINGULAR_PATTERN] = {"the pattern of the {0.10} x {0.10} matrix is singular for any values: "
                                    "column {1.10} has no row for its pivot",
                                    "; is an equation missing, or does an unknown occur in none?"},
    [GA_REASON_SINGULAR_VALUES] = {"the singular values of a {0.10} x {1.10} matrix do not converge", NULL},

    /* steps and starts */
    [GA_REASON_CALLBACK] = {"the callback '{callback}' failed (it returned {code})", NULL},
    [GA_REASON_CALLBACK_RETRY] = {"the callback '{callback}' could not be evaluated (it returned {code})",
                                  "; a smaller step may help"},
    [GA_REASON_CALLBACK_AT_START] = {"the callback '{callback}' could not be evaluated (it returned {code})",
                                     NULL},
    [GA_REASON_NOT_FINITE_AT_START] =
        {"the callback '{callback}' returned {0} for {equation} while the start is computed: the model "
         "divides by zero or takes a root of a negative number there",
         NULL},
    [GA_REASON_NOT_FINITE_IN_STEP] = {"the callback '{callback}' returned {0} for {equation}: the model "
                                      "divides by zero or takes a root of a negative number there",
                                      ". A smaller step may help"},
    [GA_REASON_JACOBIAN_NOT_FINITE] =
        {"the Jacobian's {field} has {0} in the row of {equation}, column of {other}", NULL},
    [GA_REASON_NEWTON] =
        {"Newton's iteration did not converge in {0} iterations; the last correction is {1.2} (relative, "
         "tolerance {2.2}), changed by a factor {3.2} per iteration, largest in {equation}",
         ". Try a smaller step. If it converges slowly at every step, the Jacobian is probably wrong: "
         "ga_system_check() names the entry"},
    [GA_REASON_NEWTON_ROUNDING] =
        {"Newton's iteration did not converge in {0} iterations; the last correction is {1.2} (relative, "
         "tolerance {2.2}), changed by a factor {3.2} per iteration, largest in {equation}",
         ". {detail}"},
    [GA_REASON_SINGULAR_STEP] =
        {"the iteration matrix is singular; the first column without a pivot is that of {equation}",
         ". A smaller step may pass a singular position; a constraint that repeats another must be removed"},
    [GA_REASON_SINGULAR_START] = {"the matrix [M Bᵀ Aᵀ; B; A] is singular; the first column without a pivot "
                                  "is that of {equation}. {detail}",
                                  NULL},
    [GA_REASON_CONSTRAINTS_CONTRADICT] = {"redundant constraints contradict each other: {detail}{equation} "
                                          "is violated by {0.3}. Are two prescribed motions in conflict?",
                                          NULL},
    [GA_REASON_TURNS_TOO_FAR] = {"{equation} turns by {0.3} in the step; the method converges up to {1.2}",
                                 NULL},
    [GA_REASON_RANK_CHANGES] = {"the number of independent constraints changes within the step", NULL},
    [GA_REASON_TOLERANCE_NOT_MET] =
        {"the step would fall below h_min = {0.3}: at h = {h} the error is still {1.3} times the tolerance, "
         "largest in the coordinate of {equation}",
         ". Is there a discontinuity that should be an event? Otherwise raise its tolerance or lower h_min"},
    [GA_REASON_STEP_FAILS] = {"{name} = {0.3}. {detail}", NULL},
    [GA_REASON_PARTS_FAIL] =
        {"a step that succeeded fails when it is repeated in parts, down to h = {h}. {detail}", NULL},
    [GA_REASON_NO_STATE_AFTER_JUMP] =
        {"the equations jump here, and there is no consistent state behind the jump. {detail}", NULL},

    [GA_REASON_NO_SENSITIVITY] = {"derivatives by parameters{{, here by {name},}} are not possible: {detail}",
                                  "{{; {expected}}}"},
    [GA_REASON_VARIATION] = {"derivatives by {name}: the model cannot be built at another value of it, {0.10}. {detail}", NULL},
    [GA_REASON_SEARCH_START] = {"the run with the start values of the parameters fails: {detail}", NULL},
    [GA_REASON_SENSITIVITY_START] = {"derivatives by {name}: it cannot start at another value of this parameter. {detail}", NULL},

    /* systems */
    [GA_REASON_CALLBACK_MISSING] = {"the callback '{callback}' is missing; it is needed because {{{other} "
                                    "has size {0.10}}}{{'{name}' is given}}",
                                    NULL},
    [GA_REASON_CALLBACK_UNUSED] = {"the callback '{callback}' is given, but {other} has size 0",
                                   "; is {field} set?"},
    [GA_REASON_CALLBACK_NOT_FINITE] = {"the callback '{callback}' returned {0}", NULL},
    [GA_REASON_BREAK_NOT_AFTER] =
        {"the callback '{callback}' returned a break from {0.9} to {1.9}, which does not end after t = {t}",
         NULL},
    [GA_REASON_TOO_MANY_CONSTRAINTS] = {"{0.10} constraints act on {1.10} velocities",
                                        "; is n_factors set, and every factor's n?"},
    [GA_REASON_NO_PIVOT] =
        {"the pattern has no pivot for {equation}, whatever the values: it occurs in too few equations",
         ". Check the pattern's entries there, and that every constraint acts on some velocity"},
    [GA_REASON_PATTERN_RANK] =
        {"the constraints' derivatives are independent, although the pattern does not allow it", NULL},
    [GA_REASON_OFF_GROUP] = {"{field} is not on its group (error {0.3}): a rotation matrix is not "
                             "orthonormal or a quaternion is not of unit length",
                             NULL},
    [GA_REASON_WRONG_DERIVATIVE] = {"derivatives: {0.10} of {1.10} are wrong; worst is {name} in row {2.10}, "
                                    "{equation}{{, column {3.10}, {other}}}: {detail}",
                                    NULL},
    [GA_REASON_SCHEME] = {"{expected} does not hold (off by {0.3}): {detail}",
                          "; ga_scheme_rho() gives parameters that fit together"},
    [GA_REASON_METHOD] = {"{name} cannot {detail}{{, here {0.10}}}{{: {equation}}}", "; take {expected}"},

    /* starts and positions */
    [GA_REASON_START_OFF] =
        {"start, t = {t}: the given {name} do not satisfy the constraints: the residual is {0.3} in "
         "{equation}, and correcting it would move {other} by {1.3}, more than {field} = {2} allows",
         ". Correct the initial values, or raise {field}"},
    [GA_REASON_NOT_SOLVED] = {"{kind}, t = {t}: the {name} cannot be {other} ({detail}); the largest "
                              "residual was {0.3} at first, in {equation}, and {1.3} at the end",
                              NULL},
    [GA_REASON_ASSEMBLY_OPEN] =
        {"start, t = {t}: the assembly does not close, no positions satisfy all constraints: in the best "
         "position found {equation} is violated by {0.3} (at first the largest residual was {1.3})",
         ". Correct lengths, axes or initial positions; the constraints may contradict each other"},
    [GA_REASON_RATES_CONTRADICT] = {"start, t = {t}: no velocities satisfy all constraints: at best the rate "
                                    "of {equation} is violated by {0.3}",
                                    ". Are two prescribed motions in conflict?"},
    [GA_REASON_OUTPUTS_NOT_SOLVED] =
        {"start, t = {t}: the outputs cannot be solved for (no convergence): the residual of {equation} is "
         "still {0.3}. The algebraic loop through it may have no solution",
         ": let it pass through a state (a filter, an integrator), or change its gain. Where it has one, "
         "give a guess near it: the section 'guesses' of a model, ga_machine_add_guess(), or output_guess of "
         "a system"},
    [GA_REASON_MULTIPLIER_WITHOUT_FORCE] =
        {"start, t = {t}: the forces do not depend on the multiplier of {equation} at its guess {0.3} (0 "
         "unless given), so it cannot be determined",
         "; give guesses near the multipliers' values, lambda_guess and psi_guess of ga_stepper_start(), in "
         "a model in the section 'guesses'"},
    [GA_REASON_PHI_DEPENDS_ON_TIME] = {"start, t = {t}: {equation} depends on t, but {callback} is not given",
                                       "; set rheonomic = 1, or better, give {callback}"},
    [GA_REASON_NEAREST_NOT_FOUND] = {"the positions nearest to the given ones are not found: the iteration "
                                     "along the constraints does not converge",
                                     NULL},
    [GA_REASON_RESTARTS_PILE_UP] =
        {"it restarts again after {0.3} s, too soon to be followed: its restarts accumulate",
         ". Let on_event stop the simulation, or go on with another model, before that"},
    [GA_REASON_STARTS_BEYOND_STOP] = {"it starts at {0}, which is not between its limits {1} and {2}", NULL},
    [GA_REASON_SWITCHES_CYCLE] =
        {"t = {t}: no set of sticking and sliding parts agrees with the forces; {0.0} "
         "sets were tried",
         NULL},

    /* linearisation */
    [GA_REASON_FORCES_MISS_MULTIPLIERS] =
        {"linearisation, t = {t}: constraint forces span {0.10} directions, constraints {1.10}",
         "; 'force' must contain -B^T lambda and -A^T psi, and 'jacobian' their derivatives"},
    [GA_REASON_SINGULAR_POSITION] = {"linearisation, t = {t}: constraints are dependent at this position, "
                                     "but not nearby; there are no linear equations of small motions here",
                                     NULL},
    [GA_REASON_NO_ACCELERATIONS] = {"linearisation, t = {t}: accelerations, multipliers and outputs are not "
                                    "determined by positions, velocities and states",
                                    ": M must be positive definite on the motions that constraints allow, "
                                    "and an algebraic loop must have one solution"},
    [GA_REASON_INPUT_REDUNDANT] = {"{equation} cannot be an input: it depends on other constraints, which an "
                                   "offset of it alone would contradict",
                                   NULL},
    [GA_REASON_NO_SUCH_EQUATION] = {"{field} is equation {0} of block {1}, which has {2} equations", NULL},
    [GA_REASON_UNKNOWN_INPUT] = {"there is no input '{name}'{{; did you mean '{nearest}'?}}", NULL},
    [GA_REASON_NOT_AN_INPUT] = {"'{name}' cannot be an input: inputs are drives, outputs of blocks (such as "
                                "a constant that a force uses), and signals that an expression uses",
                                NULL},
    [GA_REASON_INPUT_TWICE] = {"'{name}' is the same input as one before it", NULL},
    [GA_REASON_NOT_AN_OUTPUT] = {"'{name}' cannot be an output: it is accumulated during a run", NULL},
    [GA_REASON_NO_DERIVATIVE] =
        {"the signal '{name}' has a kink or jump here, t = {t}: its slopes are {0} and {1}", NULL},
    [GA_REASON_KINK] = {"{name} {other} exactly at this state, and there are no linear equations there: "
                        "{detail} of {equation} is {0.4} on one side and {1.4} on the other",
                        ". Use initial values that put the state on one side"},

    /* modes */
    [GA_REASON_FEW_CONVERGED] =
        {"{0.10} of {1.10} eigenvalues of a {2.10} x {2.10} matrix have converged, fewer than needed", NULL},
    [GA_REASON_TOO_FEW_MODES] = {"{0.10} modes are requested, but the equations have only {1.10}", NULL},
    [GA_REASON_MODES_ARE_ROUNDING] = {"{1.10} modes are requested; only {0.10} are accurate: the others are "
                                      "much faster, and lost in rounding",
                                      NULL},
    [GA_REASON_SINGULAR_PENCIL] = {"modes, t = {t}: the equations of small motions have no unique solution; "
                                   "the first column without a pivot is that of {equation}",
                                   ": M must be positive definite on the motions that constraints allow, and "
                                   "an algebraic loop must have one solution"},

    [GA_REASON_NOTHING_TURNS] = {"no rigid or planar body has an angular velocity: there is no turning",
                                 NULL},
    [GA_REASON_NOT_TURNING] = {"'{name}' does not turn with the others, at {2}: its {detail} is off that of "
                               "the turning, {1}, by {0}",
                               NULL},
    [GA_REASON_NO_STEADY_TURNING] =
        {"t = {t}: no state of steady turning at {0} was found; the fastest that was found is {1}", NULL},
    [GA_REASON_TURNING_AGAINST] =
        {"t = {t}: {equation} does not allow all bodies to turn at {1}: its rate would be {0}", NULL},

    /* names of parts and signals */
    [GA_REASON_NAME_MISSING] = {"its name is {detail}", "; parts and functions need one"},
    [GA_REASON_NAME_SYNTAX] =
        {"the name must be a letter or _, then letters, digits, _, and . before a letter or _", NULL},
    [GA_REASON_NAME_TOO_LONG] = {"the name has {0} characters; the limit is {1}", NULL},
    [GA_REASON_NAME_RESERVED] = {"the names ground, t, energy and those that begin with energy. are reserved",
                                 "; give another"},
    [GA_REASON_NAME_TAKEN] = {"{{{other} has }}this name already", "; give another"},
    [GA_REASON_UNKNOWN_PART] = {"{field} is '{name}', but there is no part of that name; {expected} is "
                                "needed{{; did you mean '{nearest}'?}}",
                                NULL},
    [GA_REASON_WRONG_KIND] = {"{field} is '{name}', {other}; {expected} is needed", NULL},
    [GA_REASON_SCALAR_AS_END] = {"{field} is '{name}', {other}; {expected} is needed",
                                 ". A force on a scalar has no ends a and b, but the key coordinate: {name}"},
    [GA_REASON_GROUND] = {"{field} is the ground; {expected} is needed", NULL},
    [GA_REASON_NO_SUCH_MEMBER] = {"{field} is '{name}', but {other} has no '{detail}'; {expected} is "
                                  "needed{{; did you mean '{nearest}'?}}",
                                  NULL},
    [GA_REASON_NO_SUCH_COORDINATE] =
        {"{field} is '{name}', but {detail}; {expected} is needed{{; did you mean '{nearest}'?}}", NULL},
    [GA_REASON_UNKNOWN_SIGNAL] = {"there is no signal '{name}'{{; {other} has {detail}}}{{; did you mean "
                                  "'{nearest}'?}}{{ (column {column} of '{within}')}}",
                                  NULL},
    [GA_REASON_SIGNAL_NAME_TAKEN] = {"{other} has a signal of this name already",
                                     "; give one of them another name"},
    [GA_REASON_ENERGY_NOT_FED_BACK] = {"'{name}' is accumulated during a run and cannot be fed back; "
                                       "integrate a power with a block{{ (column {column} of '{within}')}}",
                                       NULL},
    [GA_REASON_SIGNAL_NOT_FED_BACK] = {"'{name}' can be recorded but not fed back", "; use {expected}"},

    /* guesses */
    [GA_REASON_GUESS_OF_KNOWN] = {"'{name}' follows from positions and velocities, which are computed first; "
                                  "only reactions, accelerations and outputs of blocks can be guessed",
                                  NULL},
    [GA_REASON_GUESS_UNUSED] = {"nothing uses '{name}', so that a guess of it does nothing",
                                "; leave it out"},
    [GA_REASON_GUESS_TWICE] = {"'{name}' has a guess already", NULL},
    [GA_REASON_FRICTION_TOO_STRONG] =
        {"t = {t}: its {field} stops the motion within the rounding of times, and would turn it to {0.3}",
         "; take a smaller level"},
    [GA_REASON_EVENT_UNIT] = {"{name} has the unit {detail}, and what it sets {expected}", NULL},
    [GA_REASON_EVENT_TARGET] = {"'{name}' cannot be set by an event: {detail}",
                                "; set a variable, a state of a block, or a velocity"},
    [GA_REASON_EVENT_ONE_SIDED] =
        {"{field}: '{name}' is never {detail}, whatever its signals are, so that it never passes through 0 upwards and downwards",
         "; write a difference, a - b in place of a > b, or subtract 1/2"},
    [GA_REASON_EVENT_ENERGY] =
        {"{field}: '{name}' is summed up along a run, and is not known where events are sought",
         "; use energy.kinetic or energy.potential"},
    [GA_REASON_EVENT_HELD] = {"t = {t}: '{name}' cannot become {0.6}: joints or drives hold it at {1.6}",
                              "; set a velocity that they leave free"},
    [GA_REASON_EVENT_APART] =
        {"t = {t}: joint '{name}' cannot be switched on: its ends do not match in '{detail}', by "
         "{0.6}",
         NULL},
    [GA_REASON_EVENT_TURNED] =
        {"t = {t}: joint '{name}' cannot be switched on: its ends are half a turn apart, their {detail} axes "
         "point in opposite directions",
         NULL},
    [GA_REASON_ACTIVE_NO_VARIABLE] = {"{field}: '{name}' is not one of the model's variables", NULL},
    [GA_REASON_ACTIVE_SERVO] = {"{field}: only a drive by a function of time can be switched on and off",
                                NULL},

    /* fields of parts */
    [GA_REASON_FIELD_MISSING] = {"{field} is {detail}", "; give {expected}"},
    [GA_REASON_OUT_OF_RANGE] = {"{field} is {0.10}", "; it must be {expected}{{, {1.10}}}{{ to {2.10}}}"},
    [GA_REASON_NOT_A_CHOICE] = {"{field} is {0}, which is not a {expected}; its values are 0 to {1}", NULL},
    [GA_REASON_BOTH_THE_SAME] = {"{field} and {other} are both '{name}'", "; give two different ones"},
    [GA_REASON_LINE_AND_COORDINATE] =
        {"it has both a line ({field} is '{name}') and a coordinate ('{other}')", "; give one of them"},
    [GA_REASON_ACTS_ON_NOTHING] = {"it acts on nothing", "; give frames a and b, or a coordinate"},
    [GA_REASON_NOT_OF_THIS_JOINT] =
        {"{field} is given, but a {expected} joint{detail} has no such coordinate", NULL},
    [GA_REASON_SENSOR_FROM] = {"{field} is '{name}', but only positions can be measured from another frame",
                               "; leave it \"ground\""},
    [GA_REASON_INERTIA_NEGATIVE] =
        {"the principal moments of {field} are {0}, {1}, {2} kg m²; none may be negative: check the units, "
         "and Jxy, Jxz, Jyz, which are entries of the tensor (Jxy = −∫xy dm)",
         NULL},
    [GA_REASON_INERTIA_ZERO] =
        {"the principal moments of {field} are {0}, {1}, {2} kg m²; each must be > 0",
         "; give a thin rod a small moment about its axis, or set massless where joints hold that rotation"},
    [GA_REASON_INERTIA_IMPOSSIBLE] =
        {"the principal moments of {field} are {0}, {1}, {2} kg m², which no body has: the sum of any two is "
         "at least the third, here it is too small by {3.3}; check the units, the sign of Jxy, Jxz, Jyz (Jxy "
         "= −∫xy dm), and that they are about the centre of mass",
         NULL},
    [GA_REASON_SYNTAX] = {"{detail}{{, expected {expected}}}{{; did you mean '{nearest}'?}}", NULL},
    [GA_REASON_TOO_LATE] = {"the machine is built", "; add {expected} before ga_machine_build()"},

    /* where parts are */
    [GA_REASON_SAME_BODY] =
        {"'{name}' and '{other}' are on the same body, so that nothing can act between them", NULL},
    [GA_REASON_ENDS_COINCIDE] = {"its ends '{name}' and '{other}' coincide at the start, so that the line "
                                 "between them has no direction",
                                 "; move one of them, or take {expected}"},
    [GA_REASON_OPPOSITE_AXES] = {"a {expected} joint holds the axes of '{name}' and '{other}' together, but "
                                 "at the start their {detail} axes point in opposite directions",
                                 "; turn one of the frames by half a turn, or give both by at_pose"},
    [GA_REASON_NO_PLANAR_FORM] =
        {"there is no {expected} joint between planar bodies; {detail} have a planar form", NULL},
    [GA_REASON_POINT_HAS_NO_AXES] =
        {"a {expected} joint holds axes, but {field} is '{name}', on a point, which has none",
         "; take a spherical joint or a rigid body"},
    [GA_REASON_TORQUE_ON_POINT] = {"it has a torque, but '{name}' belongs to a point, which cannot turn",
                                   "; leave the torque out, or make it a rigid body"},
    [GA_REASON_BUSHING_ON_POINT] = {"'{name}' belongs to a point, which cannot turn",
                                    "; set the stiffness, damping and preload of the angles to 0"},
    [GA_REASON_MARKER_LOOP] = {"{field} is '{name}', which is itself fixed to this marker", "; name a body"},
    [GA_REASON_PLANE_HAS_NO_AXES] = {"{field} '{name}' belongs to a {other}, which has no axes and no plane",
                                     "; name a frame of the ground, of a rigid or of a planar body"},
    [GA_REASON_CANNOT_ROLL] = {"{field} '{name}' belongs to a {other}; {expected}", NULL},
    [GA_REASON_DISK_LIES_FLAT] = {"the disk lies flat on the plane at the start, so that it has no lowest "
                                  "point; its axis is z of its frame",
                                  NULL},
    [GA_REASON_KNIFE_IS_NORMAL] = {"the y axis of the knife edge is normal to the plane at the start, so "
                                   "that it blocks no direction in it",
                                   NULL},
    [GA_REASON_WHEEL_LIES_FLAT] =
        {"the wheel lies flat on its road: its axis is normal to the road, so that "
         "it has no direction to roll in; `axis` says which axis of its frame that is",
         NULL},
    [GA_REASON_WHEEL_BELOW_ROAD] =
        {"the centre of the wheel is {0} below the road '{name}', whose z axis points "
         "upwards",
         NULL},
    [GA_REASON_ROAD_USES_SIGNALS] = {"{field} '{name}' uses signals; a road depends on x, y, t and functions "
                                     "only. For a road that is moved, its frame is that of a body",
                                     NULL},
    [GA_REASON_ROAD_IS_FLEXIBLE] =
        {"{field} '{name}' is on a part that deforms; a road needs a rigid body or "
         "the ground",
         NULL},
    [GA_REASON_FRICTION_NEGATIVE] = {"{field} is {0} at x = {1}, y = {2}; it must not be negative", NULL},
    [GA_REASON_SURFACE_EMPTY] = {"the mesh has {0} triangles and {1} points; a closed one has at least 4 of "
                                 "each",
                                 NULL},
    [GA_REASON_SURFACE_INDEX] = {"triangle {0} has point {1}; points are numbered from 0 to {2}", NULL},
    [GA_REASON_SURFACE_SLIVER] = {"triangle {0} has an area of {1}, and so no normal; leave it out, and join "
                                  "its points",
                                  NULL},
    [GA_REASON_SURFACE_OPEN] =
        {"the mesh is not closed: the edge between points {0} and {1} does not belong to "
         "two triangles that are on the same side as seen from outside",
         NULL},
    [GA_REASON_SURFACE_FOLDED] = {"two triangles of the mesh lie on each other, at the edge between points {0} and {1}", NULL},
    [GA_REASON_DENTS_NEED] = {"the mesh '{name}' is not convex, {detail}", "; {expected}"},
    [GA_REASON_SURFACE_HOLLOW] = {"the mesh encloses a volume of {0} only, with a size of {1}", NULL},
    [GA_REASON_SURFACE_FILE] = {"expected {expected}{{, found '{name}'}}", NULL},
    [GA_REASON_COLOUR_UNKNOWN] = {"{field} is '{name}'; it must be \"#rrggbb\" in quotes, six digits from 0 "
                                  "to 9 and a to f, or one of {expected}",
                                  NULL},
    [GA_REASON_TWO_PLANES] =
        {"'{name}' and '{other}' are both planes; at least one has to be a solid of finite "
         "size",
         NULL},
    [GA_REASON_COLLIDERS_TOO_DEEP] =
        {"'{name}' and '{other}' are pressed {0} into each other, nearly to the "
         "middle: from there they would be pushed apart on the wrong side. Increase "
         "the stiffness, correct the initial positions, or make them thicker",
         NULL},
    [GA_REASON_NOT_OF_MOTION] =
        {"'{name}' is {other}; a constraint can only hold what positions, velocities and t determine", NULL},
    [GA_REASON_HOLDS_NOTHING] = {"'{name}' holds nothing: {detail}",
                                 ". Use signals of bodies and joints, such as 'hinge.angle'"},
    [GA_REASON_OTHER_CONSTRAINT] = {"{expected} is given, but '{name}' {detail}",
                                    "; leave the type out, or correct it"},
    [GA_REASON_CONSTRAINT_KINK] =
        {"'{name}' has a kink or a jump, by {other}: velocities would jump there, or positions",
         ". Take a smooth function instead: step() with five arguments, step5(), a table with interpolation: "
         "spline whose before and after are linear or error"},
    [GA_REASON_CONSTRAINT_SINGULAR] =
        {"at the start{{, where {other},}} no {expected} changes '{name}', so that it blocks no motion there",
         ". Start elsewhere, or write it so that it does, as x instead of x^2"},
    [GA_REASON_START_CONTRADICTS] =
        {"the {expected} given for the start cannot all be met by the joints: {detail}", NULL},
    [GA_REASON_DRIVE_JUMPS] = {"at t = {t} its position jumps from {0} to {1}, which no motion can follow",
                               ". Use a motion law that takes some time, such as poly345"},
    [GA_REASON_DRIVE_IMPACT] =
        {"at t = {t} its position has a corner, where the velocity jumps from {0} to {1}: an impact",
         ". Take a motion law with a continuous velocity (trapezoid, poly345), a table with interpolation: "
         "spline, or accept it with accept_impact: true"},
    [GA_REASON_DRIVE_SPEED_JUMPS] = {"at t = {t} its speed jumps from {0} to {1}: an impact",
                                     ". Use a speed that changes within some time, such as a ramp; or, where "
                                     "an impact is meant, `function` with accept_impact: true"},
    [GA_REASON_DRIVEN_TWICE] = {"drive '{other}' prescribes {name} too", "; remove one of the two drives"},

    /* values */
    [GA_REASON_UNDEFINED] = {"{{{field} }}{{'{name}' }}has no value: {detail}", NULL},
    [GA_REASON_OUTSIDE_TABLE] = {"{field}{{ '{name}'}} has no value: {detail}", NULL},
    [GA_REASON_NOT_SAMPLED] = {"a block of type {name} has no difference equation and cannot be sampled",
                               "; a transfer_function or state_space of that equation can be"},
    [GA_REASON_SAMPLE_FAILED] = {"the sample has no value: {detail}", NULL},
    [GA_REASON_SAMPLED_LOOP] = {"sampled blocks, or outputs that they read, depend on each other at the same "
                                "sample, and have no values in turn",
                                "; a delay of one sample in the loop, 1/z, makes it a recursion"},
    [GA_REASON_HAS_SAMPLES] = {"the system has sampled blocks, whose outputs are held: it has neither "
                               "equilibria nor linear equations",
                               "; with continuous blocks in their place it has"},
    [GA_REASON_SAMPLES_NEED_SIMULATOR] = {"the system has sampled blocks, and only a simulator meets their "
                                          "samples",
                                          NULL},
    [GA_REASON_PITCH_VERTICAL] = {"'{name}' is used in an expression while the x axis of its frame is "
                                  "vertical, where roll and yaw are "
                                  "not defined and pitch has a corner",
                                  "; a marker with another x axis, fixed to the same body, has angles there"},
    [GA_REASON_UNDEFINED_AT_START] =
        {"{name} is undefined while the start is computed, t = {t}{{ ({other})}}: {detail}", NULL},
    [GA_REASON_BLOCK_FAILED] = {"{detail}", NULL},

    /* names in texts */
    [GA_REASON_UNKNOWN_NAME] = {"'{name}' is unknown, expected a known name{{; did you mean '{nearest}'?}}",
                                NULL},
    [GA_REASON_UNKNOWN_FUNCTION] =
        {"'{name}' is unknown, expected a known function{{; did you mean '{nearest}'?}}", NULL},
    [GA_REASON_UNKNOWN_UNIT] = {"'{name}' is unknown, expected a known unit{{; did you mean '{nearest}'?}}",
                                NULL},
    [GA_REASON_OPTIONS_CONTRADICT] = {"{field} is {0} and {other} is {1}", "; {expected}"},
    [GA_REASON_ITEMS_EQUAL] = {"{field} and item {0} before it are both '{name}'", NULL},
    [GA_REASON_ITEM_NOT_ALLOWED] = {"{field} is '{name}', {expected}", NULL},

    /* blocks */
    [GA_REASON_NO_SUCH_OUTPUT] = {"{field} of output {0}, but it has {1} of them", NULL},
    [GA_REASON_QUOTIENTS_OVERFLOW] = {"its numbers are so far apart that their quotients overflow",
                                      "; use other units"},

    /* units */
    [GA_REASON_WRONG_DIMENSION] = {"{detail}, expected {expected}", NULL},
    [GA_REASON_FUNCTION_AS_VALUE] = {"{detail}, expected {expected}", NULL},

    /* settings of a run */
    [GA_REASON_SETTING_RANGE] = {"{field} is {0}; it must be {{{expected} }}from {1} to {2}", NULL},
    [GA_REASON_SETTING_UNUSED] = {"{field} is not used, for {other} is {name}{{, not {expected}}}", NULL},
    [GA_REASON_NEWTON_TOO_LOOSE] =
        {"simulation: newton_tolerance is {0}, more than a hundredth of the tolerance {1}: error control and "
         "error bars do not see what Newton's iteration leaves",
         NULL},
    [GA_REASON_SETTINGS_ORDER] = {"{field} is {0}; it must {expected} {other}, which is {1}", NULL},
    [GA_REASON_SETTING_NOT_OF_METHOD] =
        {"{field} is {name}, which the method {other} does not have; {expected} do", NULL},

    /* rotations and machines */
    [GA_REASON_NOT_A_ROTATION] = {"the {field} differs from a rotation by {0.3}, more than {1}",
                                  "; {expected}"},
    [GA_REASON_ZERO_DIRECTION] = {"the {field} is 0", "; give {expected}"},
    [GA_REASON_PARALLEL_DIRECTIONS] = {"the {field} lies along the {other}", "; give {expected}"},
    [GA_REASON_EULER_SEQUENCE] = {"the {field} '{name}' is not one of Euler angles",
                                  "; give three letters, neighbours different, all of x y z (about the axes "
                                  "as turned) or all of X Y Z (about fixed axes)"},
    [GA_REASON_NO_SUCH_INDEX] = {"{field} is {0.10}, but there are {1.10}, counted from 0", NULL},
    [GA_REASON_NOT_OF_THIS_MACHINE] = {"{field} is of another machine", NULL},
    [GA_REASON_NO_VALUE] = {"{field}{{ '{name}'}} has no value at t = {t}{{, so that {detail}}}", NULL},

    /* warnings */
    [GA_REASON_START_MOVED] =
        {"{kind}: the given {name} violated the constraints by up to {0.3}; {equation} was moved by {1.3}",
         NULL},
    [GA_REASON_REDUNDANT] = {"{0} of {1} constraints are redundant{{ ({3} before)}}, mobility {2}:{detail}",
                             NULL},
    [GA_REASON_IMPACT] =
        {"an impact: the rate of {equation} jumps by {0.4}, and velocities with it, that of {name} by {1.4}",
         NULL},
    [GA_REASON_NEARLY_SINGULAR] =
        {"the iteration matrix is nearly singular (reciprocal condition {0.2}); its weakest pivot is that of "
         "{equation}: a constraint may nearly depend on others, or a coordinate may have nearly no mass",
         NULL},
    [GA_REASON_NOT_SEEN_BY_STEPS] =
        {"t = {t}: within a step of {h} s (the given size) something acts that is not seen at its ends: the "
         "equations are violated there by more than {0} times the tolerance.",
         " Take a smaller step, or error control"},
    [GA_REASON_MULTIPLIERS_RING] =
        {"t = {t}: forces of constraints change sides from step to step and grow: {name} keeps no velocities on the "
         "constraints, and is not stable with so little numerical damping where constraints turn, as at bearings of "
         "wheels. Smaller steps do not help.",
         " Take the method stabilized, or a smaller rho, --rho 0.7"},
    [GA_REASON_EVENT_UNSURE] =
        {"t = {t}: within a step its expression jumps so often that crossings may be missed.",
         " Limit the size of steps"},
    [GA_REASON_STAYS_ON_JUMP] =
        {"{name} jumps here, and drives the motion back from both sides, so that it stays on the jump.",
         " Make the jump a steep slope: tanh(x/w) for sign(x), step(x, -w, 0, w, 1) for x > 0, w a small "
         "number"},
    [GA_REASON_ERROR_IS_ROUNDING] =
        {"t = {t}: at h = {h} the error estimate of the coordinate of {equation} is rounding; the tolerance "
         "is tighter than floating-point arithmetic allows, and the step is accepted",
         NULL},
    [GA_REASON_FAST_INPUT] = {"t = {t}: an input oscillates with a period that steps of {h} s cannot follow:",
                              " take {0.2} or less"},
    [GA_REASON_STIFF_START] = {"t = {t}: accelerations shortly after the start cannot be computed for steps "
                               "of {h} s, as when something stiff is released: the start is less accurate;",
                               " smaller steps, or error control, --tol 1e-4, avoid this"},
    [GA_REASON_FAST_START] =
        {"t = {t}: within a step of {h} s the rate of accelerations would change by {0} times its size, as "
         "that of a damped stiff motion: auxiliary accelerations start without the correction by this rate",
         NULL},
    [GA_REASON_DERIVATIVES_UNSURE] =
        {"derivatives: {0} of {1} could not be checked: a kink or a singularity is near the point;",
         " check at another point"},
    [GA_REASON_REST_FAR_AWAY] = {"{name} starts at {0} and its rest is {1}, more than half a turn away; is a "
                                 "rest of {2} meant, or rest as at the start?",
                                 " Give the joint's angle where turns are meant"},
    [GA_REASON_NOT_THE_NEAREST] = {"assembly: bodies meet all joints, but their poses are not the nearest to "
                                   "the given ones by the weights, which were not found",
                                   NULL},
    [GA_REASON_BRANCHES_MEET] =
        {"on the way to its {name} of {0} the machine passes a position, near {1.3}, where constraints lose "
         "their independence and branches of a mechanism may meet. It went straight on as far as can be "
         "detected; galpha check shows coordinates and moves.",
         " Give poses beyond that position, or initial values of more joints, where another branch is meant"},

    /* beams */
    [GA_REASON_TOO_FEW_ELEMENTS] = {"with {0} elements one of them is bent by {1.3} in the unloaded beam; 90 "
                                    "deg is the limit, up to 30 deg it is accurate",
                                    "; give {field}: {2}"},
    [GA_REASON_MODE_NOT_RESOLVED] =
        {"with {field}: {2.10} mode {0.10}, {1.4}, is not resolved: it is off by about {3.2}{{; {4.10} of "
         "these modes are not resolved}}",
         "; give {field}: {5.10}"},
    [GA_REASON_OFF_BEAM] = {"x of its {field} is {0}, but the axis of {other} '{name}' goes from 0 to {1}",
                            NULL},
    [GA_REASON_POINTS_COINCIDE] = {"number {0} of its {field} is at the same place as the one before", NULL},
    [GA_REASON_POINTS_TURN_BACK] =
        {"its {field} turn back at number {0}, so that no smooth curve follows them",
         "; give more points around the bend"},
    [GA_REASON_OFF_CABLE] =
        {"y and z of its {field} are {0} and {1}, but cable '{name}' is a line without axes of its own",
         "; leave them 0"},
    [GA_REASON_CABLE_CANNOT_TURN] = {"{field} is given, but cable '{name}' is a line, which cannot turn",
                                     "; leave {field} out"},
    [GA_REASON_SLIDER_NEEDS_ELEMENTS] = {"{other} '{name}' has only {0} elements; at least {1} are needed "
                                         "for the smooth curve along which it "
                                         "slides",
                                         NULL},
    [GA_REASON_SLID_OFF] = {"it slides off {other} '{name}': s = {0} is not between 0 and its length {1}",
                            NULL},
    [GA_REASON_BEAM_TOO_BENT] = {"element {0} of {1} is bent or twisted by more than 149 deg", NULL},

    /* modal bodies */
    [GA_REASON_MESH_SIZE] = {"its {field} matrix is {0.10} x {1.10}, but {2.10} nodes with {3} degrees of "
                             "freedom each make {4.10}",
                             NULL},
    [GA_REASON_MESH_NOT_SYMMETRIC] = {"its {field} matrix is not symmetric: row {0.10}, column {1.10} is "
                                      "{2.10}, and its counterpart {3.10}",
                                      NULL},
    [GA_REASON_MESH_NOT_POSITIVE] =
        {"its {field} matrix is not positive definite{{: {detail} mass is not positive}}{{: the entry in row "
         "{0.10}, column {1.10} is {2.6}, and the diagonal allows at most {3.6}}}",
         NULL},
    [GA_REASON_MESH_NOT_A_BODY] =
        {"its {field} matrix is not that of a body: rigid motions along x, y and z have the masses {0.9}, "
         "{1.9} and {2.9}, or an angular momentum that no centre of mass has",
         NULL},
    [GA_REASON_MESH_NO_INERTIA] = {"it has no inertia about an axis, as where all nodes are in a line and "
                                   "have no rotations{{; its moments of inertia are {1.6}, {2.6} and {3.6}}}",
                                   NULL},
    [GA_REASON_MESH_HELD] = {"it is not free: stiffness resists its {name}, which has a frequency of {0.4}, "
                             "the first mode {1.4}. Supports must not be part of the {field} matrix, and "
                             "node positions must be those it was made for",
                             NULL},
    [GA_REASON_MESH_LOOSE] = {"its {field} matrix is singular where rigid motions are held: node {0.10} can "
                              "move without being deformed",
                              NULL},
    [GA_REASON_MESH_TOO_FREE] = {"it has {0} motions without {field}, and a free body has six: it has parts "
                                 "that are not connected, or hinges within it",
                                 NULL},
    [GA_REASON_MESH_NO_NODE] = {"interface node '{name}' is node {0.10}, but there are {1.10}", NULL},
    [GA_REASON_MESH_INTERFACE_TWICE] =
        {"interface nodes '{other}' and '{name}' have one name, or are both node {0.10}", NULL},
    [GA_REASON_MESH_SAME_PLACE] = {"interface nodes '{name}' and '{other}' are at the same place", NULL},
    [GA_REASON_MESH_INTERFACE_LOOSE] =
        {"its {0} interface nodes do not hold it, as Craig and Bampton's modes need: one node with "
         "rotations, or three without that are not in a line",
         NULL},
    [GA_REASON_MESH_FEW_MODES] = {"{field} asks for {0.10}, but there are {1.10}", NULL},
    [GA_REASON_MESH_STIFFENING] =
        {"its {field} matrix of load '{name}' is not that of the load on the free body "
         "with inertia relief: for a {other} it gives {0.4}, and rigid motions need "
         "{1.4}",
         NULL},
    [GA_REASON_MESH_DAMPING] = {"{field} has {0.10} ratios, but {1.10} modes are kept", NULL},
    [GA_REASON_PLANE_AND_ROAD] = {"it rolls on a plane ('{name}') and on a road ('{other}'), which are two surfaces",
                                  NULL},
    [GA_REASON_KNIFE_ON_ROAD] = {"the y axis of the knife edge is normal to road '{name}', so that it has no direction",
                                 NULL},
    [GA_REASON_DISK_FLAT_ON_ROAD] = {"the disk lies flat on road '{name}', so that it has no lowest point", NULL},
    [GA_REASON_NO_POINT_OF_ROAD] = {"no point of road '{name}' is the one that it touches: there is a corner, or a "
                                    "hollow narrower than what rolls",
                                    NULL},
    [GA_REASON_TYRE_FILE] = {"expected {expected}{{, found '{name}'}}", NULL},
    [GA_REASON_TYRE_FILE_UNKNOWN] = {"'{name}' is not a coefficient that is known, and is not used", NULL},
    [GA_REASON_TYRE_FILE_LACKS] = {"'{name}' does not give {detail}, and neither does the tyre", NULL},
    [GA_REASON_MATRIX_FILE] = {"expected {expected}{{, found '{name}'}}", NULL},
    [GA_REASON_CSV_FILE] = {"expected {expected}{{, found '{name}'}}", NULL},
    [GA_REASON_CSV_COLUMN] = {"the file has no column '{name}', but {0.10} columns{{: {detail}}}", NULL},
    [GA_REASON_MESH_DATASET] = {"dataset '{name}': {detail}", NULL},
    [GA_REASON_NO_STIFFENING] =
        {"{field} is true, but the file has no group 'stiffening' of matrices by their "
         "loads",
         NULL},
    [GA_REASON_LOAD_MISSING] = {"{field} has no matrix '{name}': those of all spins and of forces on all "
                                "interface nodes are needed",
                                NULL},
    [GA_REASON_LOAD_UNKNOWN] =
        {"{field} has a matrix '{name}', which is no load: spin_xx to spin_yz, or the name "
         "of an interface node with _fx to _mz",
         NULL},
    [GA_REASON_MESH_COLUMNS] = {"{field} has {0} columns; it must have three, x, y and z", NULL},
    [GA_REASON_NO_MODES] = {"its {field} has no modes, and is a rigid body", NULL},
    [GA_REASON_NO_INTERFACE] = {"'{name}' has no interface nodes, where markers could be", NULL},
    [GA_REASON_OFF_INTERFACE] = {"its {field} is not that of an interface node of '{name}': the nearest is "
                                 "{0.3} away, '{other}', which markers can be fixed to",
                                 NULL},
    [GA_REASON_FLOATING_FRAME] = {"{field} is '{name}', whose own frame floats and is no place on it; its "
                                  "interface nodes are markers, '{name}.' and their names",
                                  NULL},

    /* model files: values */
    [GA_REASON_WRONG_FORM] = {"expected {expected}, found {name}", "{{; {detail}}}"},
    [GA_REASON_WRONG_COUNT] = {"expected {expected}, found {0}", "{{; {detail}}}"},
    [GA_REASON_VALUE_NOT_FINITE] = {"'{name}' is not finite, expected {expected}", NULL},
    [GA_REASON_NOT_WHOLE] = {"'{name}' is {0.15}, expected a whole number", NULL},
    [GA_REASON_SUM_OF_DIMENSIONS] = {"'{name}' is a sum of {other} and {detail}", NULL},
    [GA_REASON_DOUBTFUL_DIMENSION] = {"'{name}' seems to be {other}, expected {expected}",
                                      "; is that intended?"},
    [GA_REASON_PARAMETER_AS_UNIT] = {"'{name}' is a parameter, not a unit",
                                     "; for a product write number*{name}"},
    [GA_REASON_UNIT_OUTSIDE_BRACKETS] = {"units of terms stand in brackets, as in 3[m] + 20[mm]", NULL},
    [GA_REASON_DECIMAL_COMMA] = {"'{name}' is out of place",
                                 "; the decimal mark is a point, and lists stand in brackets: [1, 2]"},
    [GA_REASON_TONNE_OR_TIME] =
        {"in a unit t is the tonne, not the time; in expressions units stand in brackets, as in 2[m/s]*t",
         NULL},
    [GA_REASON_UNIT_NOT_GIVEN] = {"{kind} '{part}' is set to '{name}' without a unit: taken in SI units, "
                                  "while the model has '{other}'",
                                  NULL},

    /* model files: keys and names */
    [GA_REASON_UNKNOWN_KEY] =
        {"the key '{name}' is unknown{{, expected {detail}}}{{; did you mean '{nearest}'?}}{{ {other}}}",
         NULL},
    [GA_REASON_UNKNOWN_CHOICE] =
        {"'{name}' is unknown{{, expected {detail}}}{{; did you mean '{nearest}'?}}{{ {other}}}", NULL},
    [GA_REASON_FOREIGN_WORD] = {"'{name}' is unknown. {detail}", NULL},
    [GA_REASON_UNKNOWN_REFERENCE] = {"there is no {other} '{name}'{{; did you mean '{nearest}'?}}",
                                     "{{; {detail}}}"},
    [GA_REASON_SWITCHED_OFF] = {"'{name}' is off, by its condition at {detail}", NULL},
    [GA_REASON_FILE_LEFT_OUT] = {"'{name}' is left out, since '{detail}' does not hold", NULL},
    [GA_REASON_KEY_MISSING] = {"{kind}{{ '{part}'}} has no {field}", "{{; expected {expected}}}"},
    [GA_REASON_NO_BLANK_AFTER_COLON] = {"'{name}' is not a key with a value",
                                        "; there must be a space after the colon"},
    [GA_REASON_NAME_NOT_ALLOWED] = {"'{name}' cannot be the name of {other}, expected {expected}", NULL},
    [GA_REASON_GIVEN_TWICE] = {"'{name}'{{ of {other}}} is there already{{, at {detail}}}", NULL},
    [GA_REASON_REPEATED_NAME] = {"the name '{name}'{{ of {other}}} is given more than once",
                                 "; a name needs the index in it, as in '{expected}'"},
    [GA_REASON_AMBIGUOUS_NAME] = {"'{name}' is a parameter, and {other} too",
                                  "; give the parameter another name{{, or write {expected}}}"},
    [GA_REASON_GIVE_ONE_OF] = {"give {expected}", "{{; {detail}}}"},
    [GA_REASON_BOTH_GIVEN] = {"{name} and {other} are both given", "; give one of them"},
    [GA_REASON_SIZES_DIFFER] = {"sizes do not match: {name} has {0}, but {other} has {1}", NULL},
    [GA_REASON_CIRCULAR] = {"{{{kind} '{part}' }}{{'{name}' }}depends on itself{{: {detail}}}", NULL},
    [GA_REASON_LIMIT_EXCEEDED] = {"there are more than {0.15} {name}, which is the limit", "{{; {detail}}}"},

    /* model files: what is suspicious */
    [GA_REASON_NOT_USED] = {"{kind} '{part}' is not used by anything", NULL},
    [GA_REASON_SUSPICIOUS_NUMBER] = {"{field} is {0}{{, {detail}}}", "; is that intended?"},
    [GA_REASON_SUSPICIOUS_UNIT] = {"{field} is {0}{{, {detail}}}", "; is it in {expected}?"},
    [GA_REASON_SUSPICIOUS_INERTIA] = {"{field} is {0}, that of its mass of {1} at a distance of {2.3}, but "
                                      "what is fixed to it is within {3.3}",
                                      "; is it in {expected}?"},
    [GA_REASON_AXIS_LEAVES_PLANE] = {"its z axis leaves the plane of the bodies that it joins",
                                     "; there a joint slides along x, and turns about z"},
    [GA_REASON_REPLACES_CONSTANT] = {"it replaces the constant {other} in all expressions",
                                     "; is that intended?"},

    /* model files: files and YAML */
    [GA_REASON_NOT_YAML] = {"this is not YAML: {detail}", "{{; {other}}}"},
    [GA_REASON_NOT_UTF8] = {"this is not UTF-8 text: {detail}", NULL},
    [GA_REASON_NOT_READ] = {"{name} is not read", "{{; {expected}}}"},
    [GA_REASON_NEEDS_QUOTES] =
        {"within brackets or braces an expression with commas needs quotes: \"{name}\"", NULL},
    [GA_REASON_PATH_REFUSED] = {"'{name}' is not read: {detail}", "{{; expected {expected}}}"},
    [GA_REASON_NO_FOLDER] = {"the model is a text, not a file: it has no folder to look for {name} in", NULL},
    [GA_REASON_LIBRARY_NOT_ALLOWED] =
        {"shared libraries are loaded only with the option --allow-library, since they may do anything",
         NULL},
    [GA_REASON_WOULD_OVERWRITE] =
        {"'{name}' is a file that the model is read from, which would be lost",
         "; give another name"},
    [GA_REASON_MODEL_WRONG] = {"errors in the model: {0}", "{{; the first: {detail}}}"},
    [GA_REASON_MORE_MESSAGES] = {"too many {name}, {0} more are not shown", NULL},

    /* options, and files of results */
    [GA_REASON_NOT_SUPPORTED] = {"{field} {name} is not available for {other}", "; use {expected}"},
    [GA_REASON_FILE_ACCESS] =
        {"cannot be {name}: {detail}{{; what was flushed before is kept ({0.10} records)}}", NULL},
    [GA_REASON_FILE_KIND] = {"is not {expected}{{ ({detail})}}", "{{; {other}}}"},
    [GA_REASON_FILE_IN_USE] = {"another run is writing into it", "; wait for its end or choose another name"},
    [GA_REASON_JOURNAL_UNFINISHED] = {"it has the finished runs of a sweep that was not completed", NULL},
    [GA_REASON_FILE_CHANGED] = {"{detail}{{ while {other}}}", NULL},
    [GA_REASON_FILE_DAMAGED] = {"cannot be read: {name} is damaged, or the file is not a result of galpha",
                                NULL},
    [GA_REASON_RECORDS_DAMAGED] = {"damaged: {detail}; what is not named can be read", NULL},
    [GA_REASON_CANNOT_RESUME] = {"{detail}", "; start anew"},
    [GA_REASON_BREAKS_UNRESOLVED] =
        {"t = {t} to {0.9}: a function of time{{, '{name}',}} jumps or bends more often than can be "
         "resolved, or depends there on rounding; results of that time are not reliable.",
         " Change it, or begin later"},
    [GA_REASON_OTHER_SIGNALS] = {"signal {0.10} is '{name}', not '{other}': it cannot be appended to", NULL},

    /* equilibrium */
    [GA_REASON_EIGENVALUES] = {"the eigenvalues of a {0.10} x {0.10} matrix do not converge", NULL},
    [GA_REASON_NO_EQUILIBRIUM] = {"no equilibrium was found: {equation} is still off by {0.3}{{; {other} has "
                                  "moved by {1.3} and is still moving}}{{; {detail}}}",
                                  NULL},
    [GA_REASON_MOVES_FREELY] =
        {"the equilibrium is not unique: {equation} may have any value, no force holds it{{; {detail}}}",
         NULL},
    [GA_REASON_STAYS_FREE] =
        {"the equilibrium is not unique: {equation} may have any value, and stays about where it was", NULL},
    [GA_REASON_UNSTABLE] = {"the equilibrium is unstable, most in the direction of {equation} (unstable "
                            "directions: {0}): by itself the system would leave it",
                            NULL},
    [GA_REASON_STABILITY_AT_KINK] =
        {"{name} {other} exactly at the equilibrium, whose stability is not judged: "
         "{detail} of {equation} is {0.4} on one side and {1.4} on the other",
         NULL},
    [GA_REASON_LOAD_NOT_REACHED] =
        {"the load factor reached {0.6} of {1.6} in {2.10} load steps{{; {detail}}}", NULL},
    [GA_REASON_NOTHING_BUCKLES] =
        {"nothing can buckle: the load at the initial positions does not change the stiffness", NULL},
    [GA_REASON_NO_TANGENT] = {"at the beginning of the path {equation} has no stiffness: it needs a spring, "
                              "or another load first that stiffens it",
                              NULL},
    [GA_REASON_LOAD_JUMP] = {"between the load factors {0} and {1} the equilibrium jumps, as past a limit "
                             "point: the path does not lead there;",
                             " follow it by arc length"},
    [GA_REASON_NOT_CLOSED] =
        {"the constraints cannot all be met: {equation} is off by {0.3} in the nearest position found", NULL},
    [GA_REASON_FROZEN_MOTION] = {"{equation} prescribes a motion at t = {t} s (its rate is {0.3} at rest): "
                                 "the equilibrium is one of the position at that time, held still",
                                 NULL},

    /* kinematics */
    [GA_REASON_NOT_PRESCRIBED] = {"the motion is not prescribed wholly: {0.10} of the velocities can be "
                                  "chosen freely, for example {name}",
                                  ". Drives can prescribe them"},
    [GA_REASON_STATES_NEED_TIME] =
        {"states need integration in time, which kinematics do not have; there are {0.10}: {name}",
         ". Simulate the motion instead, or hold the states at their initial values (hold_states)"},
    [GA_REASON_ROLLING_NEEDS_TIME] =
        {"nonholonomic constraints, such as {equation}, determine velocities only: positions need "
         "integration in time, which kinematics do not have",
         ". Simulate the motion instead"},
    [GA_REASON_SINGULAR_MOTION] = {"singular position near t = {t}: the constraints lose their independence, "
                                   "{equation} most of all, and {other} is no longer determined "
                                   "(independence {0.2} of its largest value, speed {1.3}); {detail}",
                                   NULL},
    [GA_REASON_MOTION_ENDS] = {"the constraints cannot be met after t = {t}: {detail}", NULL},
};

enum { N_SENTENCES = sizeof SENTENCES / sizeof *SENTENCES };

const ga__sentence *ga__sentence_of(ga_reason reason)
{
  return &SENTENCES[(int)reason >= 0 && (int)reason < N_SENTENCES ? reason : GA_REASON_NONE];
}

int ga__sentence_in_text(ga_reason reason)
{
  static const ga_reason in_text[] = {GA_REASON_SYNTAX,
                                      GA_REASON_UNKNOWN_NAME,
                                      GA_REASON_UNKNOWN_FUNCTION,
                                      GA_REASON_UNKNOWN_UNIT,
                                      GA_REASON_WRONG_DIMENSION,
                                      GA_REASON_FUNCTION_AS_VALUE,
                                      GA_REASON_PARAMETER_AS_UNIT,
                                      GA_REASON_UNIT_OUTSIDE_BRACKETS,
                                      GA_REASON_DECIMAL_COMMA,
                                      GA_REASON_TONNE_OR_TIME};
  for (size_t i = 0; i < sizeof in_text / sizeof *in_text; i++)
    if (in_text[i] == reason) return 1;
  return 0;
}

const char *ga_reason_text(ga_reason reason)
{
  switch (reason) {
#define GA__REASON_CASE(name, meaning)                                                                       \
  case name:                                                                                                 \
    return meaning;
    GA_REASON_LIST(GA__REASON_CASE)
#undef GA__REASON_CASE
  }
  return "unknown reason";
}
