/* galpha/base.h: status codes, and the context that carries allocator, log and last error.
 *
 * The library never prints, exits or aborts. Failures are returned as a ga_status and described by the
 * ga_error of the context that the object was created with.
 *
 * NULL: pointers to objects and arrays must not be NULL unless the comment of a function says that they may.
 * Functions that return a status then return GA_ERR_ARGUMENT; all others do nothing and return 0, NaN, NULL
 * or
 * "" (searches return -1). Negative counts and values outside of an enum are refused likewise; a name asked
 * for by an index out of range is NULL or "". The length of an array cannot be checked.
 *
 * Threads: a context, and every call that changes an object created with it, belongs to one thread at a time.
 * Use one context per thread. Objects that are only read may be shared by several threads: systems, built
 * machines, models, expressions, functions and blocks are constant after creation. */
#ifndef GALPHA_BASE_H
#define GALPHA_BASE_H

#include <stddef.h>

#if defined(__GNUC__) && __GNUC__ >= 4
#define GA_API __attribute__((visibility("default")))
#define GA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GA_API
#define GA_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every status with its value and meaning. 0: success; > 0: recoverable, nothing has changed, the step may be
 * repeated with a smaller h; < 0: fatal for this call, see ga_context_error(). */
#define GA_STATUS_LIST(X)                                                                                    \
  X(GA_OK, 0, "done")                                                                                        \
  X(GA_STOPPED, 1, "stopped by the caller")                                                                  \
  X(GA_RETRY_NEWTON, 2, "Newton's iteration did not converge")                                               \
  X(GA_RETRY_SINGULAR, 3, "the iteration matrix is singular")                                                \
  X(GA_RETRY_CALLBACK, 4, "a callback asked for a smaller step")                                             \
  X(GA_RETRY_NAN, 5, "a callback returned NaN or infinity")                                                  \
  X(GA_ERR_ARGUMENT, -1, "an argument is out of its range")                                                  \
  X(GA_ERR_MEMORY, -2, "out of memory")                                                                      \
  X(GA_ERR_CALLBACK, -3, "a callback failed")                                                                \
  X(GA_ERR_PATTERN, -4, "the sparsity pattern is wrong")                                                     \
  X(GA_ERR_SINGULAR, -5, "a matrix is singular")                                                             \
  X(GA_ERR_INCONSISTENT, -6, "the initial values or constraints are inconsistent")                           \
  X(GA_ERR_ORDER, -7, "a call came before the one it needs")                                                 \
  X(GA_ERR_DERIVATIVE, -8, "a derivative is wrong")                                                          \
  X(GA_ERR_NAN, -9, "a value is NaN or infinite")                                                            \
  X(GA_ERR_STEP, -10, "the step size would fall below its least value")                                      \
  X(GA_ERR_FILE, -11, "a file cannot be read or written")

typedef enum ga_status {
#define GA_STATUS_ENUM(name, value, text) name = value,
  GA_STATUS_LIST(GA_STATUS_ENUM)
#undef GA_STATUS_ENUM
} ga_status;

/* The text of a status, never NULL. */
GA_API const char *ga_status_text(ga_status status);

/* Version of the library as "major.minor.patch". */
GA_API const char *ga_version(void);

/* Why a call failed: the reasons that a program may want to distinguish, each with its meaning. Sentences are
 * composed from them and the other members of ga_error by one table (src/base/sentence.c). */
#define GA_REASON_LIST(X)                                                                                    \
  X(GA_REASON_NONE, "nothing has failed")                                                                    \
  X(GA_REASON_OTHER, "described by a text only")                                                             \
  X(GA_REASON_MEMORY, "out of memory")                                                                       \
  X(GA_REASON_NULL_ARGUMENT, "a pointer that is needed is NULL")                                             \
  /* calls */                                                                                                \
  X(GA_REASON_CALL_ORDER, "a function is called at the wrong time")                                          \
  X(GA_REASON_OTHER_CONTEXT, "an object was created with another context")                                   \
  X(GA_REASON_NOT_FINITE, "a number that is given is NaN or infinite")                                       \
  X(GA_REASON_COUNT_MISMATCH, "a count does not fit what it counts")                                         \
  X(GA_REASON_TOO_MANY, "a count exceeds its limit")                                                         \
  X(GA_REASON_NOT_ASCENDING, "numbers of a list do not ascend")                                              \
  X(GA_REASON_TIME_OUT_OF_RANGE, "a time is out of its range")                                               \
  X(GA_REASON_SAVED_STATE, "a saved state does not fit")                                                     \
  /* matrices */                                                                                             \
  X(GA_REASON_NOT_SQUARE, "a matrix is not square")                                                          \
  X(GA_REASON_ENTRY_OUTSIDE, "an entry of a pattern is outside the matrix")                                  \
  X(GA_REASON_ENTRY_TWICE, "an entry occurs twice in a pattern")                                             \
  X(GA_REASON_MATRIX_NOT_FINITE, "a matrix has an entry that is NaN or infinite")                            \
  X(GA_REASON_SINGULAR_MATRIX, "a matrix is singular")                                                       \
  X(GA_REASON_SINGULAR_PATTERN, "a pattern is singular for any values")                                      \
  X(GA_REASON_SINGULAR_VALUES, "the singular values of a matrix do not converge")                            \
  /* steps and starts */                                                                                     \
  X(GA_REASON_CALLBACK, "a callback failed without a message")                                               \
  X(GA_REASON_CALLBACK_RETRY, "a callback asked for a smaller step without a message")                       \
  X(GA_REASON_CALLBACK_AT_START, "a callback failed without a message while the start is computed")          \
  X(GA_REASON_NOT_FINITE_AT_START, "a callback returned NaN or infinity while the start is computed")        \
  X(GA_REASON_NOT_FINITE_IN_STEP, "a callback returned NaN or infinity within a step")                       \
  X(GA_REASON_JACOBIAN_NOT_FINITE, "a derivative is NaN or infinite")                                        \
  X(GA_REASON_NEWTON, "Newton's iteration did not converge")                                                 \
  X(GA_REASON_NEWTON_ROUNDING, "rounding prevents Newton's iteration from reaching its tolerance")           \
  X(GA_REASON_SINGULAR_STEP, "the iteration matrix of a step is singular")                                   \
  X(GA_REASON_SINGULAR_START, "masses and constraints do not determine the accelerations")                   \
  X(GA_REASON_CONSTRAINTS_CONTRADICT, "redundant constraints contradict each other")                         \
  X(GA_REASON_RANK_CHANGES, "the number of independent constraints changes within a step")                   \
  X(GA_REASON_TURNS_TOO_FAR, "a body turns too far within a step of collocation")                            \
  X(GA_REASON_TOLERANCE_NOT_MET, "the error stays above the tolerance down to the least step")               \
  X(GA_REASON_STEP_FAILS, "a step fails down to the least size")                                             \
  X(GA_REASON_PARTS_FAIL, "a step that succeeded fails when repeated in parts")                              \
  X(GA_REASON_NO_STATE_AFTER_JUMP, "there is no consistent state behind a jump of the equations")            \
  X(GA_REASON_NO_SENSITIVITY, "derivatives by parameters are not supported here")                            \
  X(GA_REASON_SENSITIVITY_START, "a start at another value of a parameter fails")                            \
  X(GA_REASON_VARIATION, "a model cannot be built at another value of a parameter")                          \
  X(GA_REASON_SEARCH_START, "the run that a fit or an optimisation starts from fails")                       \
  /* systems */                                                                                              \
  X(GA_REASON_CALLBACK_MISSING, "a callback that is needed is not given")                                    \
  X(GA_REASON_CALLBACK_UNUSED, "a callback is given for a block of size 0")                                  \
  X(GA_REASON_CALLBACK_NOT_FINITE, "a callback of a simulator returned NaN or infinity")                     \
  X(GA_REASON_BREAK_NOT_AFTER, "the callback next_break returned a break that is over")                      \
  X(GA_REASON_TOO_MANY_CONSTRAINTS, "there are more constraints than velocities")                            \
  X(GA_REASON_NO_PIVOT, "the pattern of a system is singular for any values")                                \
  X(GA_REASON_PATTERN_RANK, "constraints are independent although the pattern does not allow it")            \
  X(GA_REASON_OFF_GROUP, "positions are not on their group")                                                 \
  X(GA_REASON_WRONG_DERIVATIVE, "derivatives are wrong")                                                     \
  X(GA_REASON_SCHEME, "parameters of a scheme do not fit together")                                          \
  X(GA_REASON_METHOD, "a method does not support what is requested")                                         \
  /* starts and positions */                                                                                 \
  X(GA_REASON_START_OFF, "initial values are too far from the constraints")                                  \
  X(GA_REASON_NOT_SOLVED, "an iteration for consistent values did not converge")                             \
  X(GA_REASON_ASSEMBLY_OPEN, "no positions satisfy all constraints")                                         \
  X(GA_REASON_RATES_CONTRADICT, "no velocities satisfy all constraints")                                     \
  X(GA_REASON_OUTPUTS_NOT_SOLVED, "an algebraic loop through outputs is not solved")                         \
  X(GA_REASON_MULTIPLIER_WITHOUT_FORCE, "forces do not depend on a multiplier at its guess")                 \
  X(GA_REASON_PHI_DEPENDS_ON_TIME, "a constraint depends on time although the system says it does not")      \
  X(GA_REASON_NEAREST_NOT_FOUND, "the positions nearest to given ones are not found")                        \
  X(GA_REASON_RESTARTS_PILE_UP, "restarts of an event accumulate")                                           \
  X(GA_REASON_STARTS_BEYOND_STOP, "a coordinate starts beyond its rigid stop")                               \
  X(GA_REASON_SWITCHES_CYCLE, "no modes of switches are found that agree with the motion")                   \
  /* linearisation */                                                                                        \
  X(GA_REASON_FORCES_MISS_MULTIPLIERS, "forces do not contain those of all multipliers")                     \
  X(GA_REASON_SINGULAR_POSITION, "constraints are dependent at a position, but not nearby")                  \
  X(GA_REASON_NO_ACCELERATIONS, "accelerations are not determined by positions, velocities and states")      \
  X(GA_REASON_INPUT_REDUNDANT, "an input would offset a constraint that depends on others")                  \
  X(GA_REASON_NO_SUCH_EQUATION, "there is no such equation")                                                 \
  X(GA_REASON_UNKNOWN_INPUT, "there is no input of that name")                                               \
  X(GA_REASON_NOT_AN_INPUT, "a signal cannot be an input")                                                   \
  X(GA_REASON_INPUT_TWICE, "an input is given twice")                                                        \
  X(GA_REASON_NOT_AN_OUTPUT, "a signal cannot be an output")                                                 \
  X(GA_REASON_NO_DERIVATIVE, "a signal has a kink or jump")                                                  \
  X(GA_REASON_KINK, "the equations have a kink or jump exactly at the point")                                \
  /* modes */                                                                                                \
  X(GA_REASON_FEW_CONVERGED, "too few eigenvalues of a matrix converge")                                     \
  X(GA_REASON_TOO_FEW_MODES, "there are fewer modes than requested")                                         \
  X(GA_REASON_MODES_ARE_ROUNDING, "modes are lost in rounding")                                              \
  X(GA_REASON_SINGULAR_PENCIL, "the equations of small motions have no unique solution")                     \
  X(GA_REASON_NOTHING_TURNS, "no body turns")                                                                \
  X(GA_REASON_NOT_TURNING, "a body does not turn with the others")                                           \
  X(GA_REASON_NO_STEADY_TURNING, "no state of steady turning is found")                                      \
  X(GA_REASON_TURNING_AGAINST, "a constraint does not allow the turning")                                    \
  /* names of parts and signals */                                                                           \
  X(GA_REASON_NAME_MISSING, "a part or function has no name")                                                \
  X(GA_REASON_NAME_SYNTAX, "a name has characters that are not allowed")                                     \
  X(GA_REASON_NAME_TOO_LONG, "a name is too long")                                                           \
  X(GA_REASON_NAME_RESERVED, "a name is reserved")                                                           \
  X(GA_REASON_NAME_TAKEN, "a name is used twice")                                                            \
  X(GA_REASON_UNKNOWN_PART, "there is no part of that name")                                                 \
  X(GA_REASON_WRONG_KIND, "a part of another kind is needed")                                                \
  X(GA_REASON_SCALAR_AS_END, "a scalar is given as an end of a line")                                        \
  X(GA_REASON_GROUND, "the ground cannot be given here")                                                     \
  X(GA_REASON_NO_SUCH_MEMBER, "a part has nothing of that name")                                             \
  X(GA_REASON_NO_SUCH_COORDINATE, "there is no coordinate of that name")                                     \
  X(GA_REASON_UNKNOWN_SIGNAL, "there is no signal of that name")                                             \
  X(GA_REASON_SIGNAL_NAME_TAKEN, "a part has the name of another part's signal")                             \
  X(GA_REASON_ENERGY_NOT_FED_BACK, "energies can only be recorded")                                          \
  X(GA_REASON_SIGNAL_NOT_FED_BACK, "a signal can only be recorded")                                          \
  /* guesses */                                                                                              \
  X(GA_REASON_GUESS_OF_KNOWN, "a guess for a signal that the start computes itself")                         \
  X(GA_REASON_GUESS_UNUSED, "a guess for a signal that nothing uses")                                        \
  X(GA_REASON_GUESS_TWICE, "two guesses for one signal")                                                     \
  X(GA_REASON_FRICTION_TOO_STRONG, "dry friction stops a motion within the rounding of times")               \
  X(GA_REASON_EVENT_TARGET, "an event cannot set this")                                                      \
  X(GA_REASON_EVENT_UNIT, "the new value of an event has another dimension than what it sets")               \
  X(GA_REASON_EVENT_ONE_SIDED, "the expression of an event never changes its sign")                           \
  X(GA_REASON_EVENT_ENERGY, "an event uses an energy that is summed up along a run")                         \
  X(GA_REASON_EVENT_HELD, "joints do not allow the velocity that an event sets")                             \
  X(GA_REASON_EVENT_APART, "a joint is switched on where what it connects does not match")                   \
  X(GA_REASON_EVENT_TURNED, "a joint is switched on where its ends are half a turn apart")                   \
  X(GA_REASON_ACTIVE_NO_VARIABLE, "what switches a part is no variable")                                     \
  X(GA_REASON_ACTIVE_SERVO, "a drive by speed, acceleration or signals cannot be switched")                  \
  /* fields of parts */                                                                                      \
  X(GA_REASON_FIELD_MISSING, "a field that is needed is not given")                                          \
  X(GA_REASON_OUT_OF_RANGE, "a number is out of its range")                                                  \
  X(GA_REASON_NOT_A_CHOICE, "a number is not a value of its enum")                                           \
  X(GA_REASON_BOTH_THE_SAME, "two fields that must differ are the same")                                     \
  X(GA_REASON_LINE_AND_COORDINATE, "a part has both two ends and a coordinate")                              \
  X(GA_REASON_ACTS_ON_NOTHING, "a part has neither ends nor a coordinate")                                   \
  X(GA_REASON_NOT_OF_THIS_JOINT, "a start value for a coordinate that the joint does not have")              \
  X(GA_REASON_SENSOR_FROM, "only positions can be measured from another frame")                              \
  X(GA_REASON_INERTIA_NEGATIVE, "a moment of inertia is negative")                                           \
  X(GA_REASON_INERTIA_ZERO, "a moment of inertia is 0")                                                      \
  X(GA_REASON_INERTIA_IMPOSSIBLE, "no body has such moments of inertia")                                     \
  X(GA_REASON_SYNTAX, "a text is not an expression, quantity or unit")                                       \
  X(GA_REASON_TOO_LATE, "the machine is built already")                                                      \
  /* where parts are */                                                                                      \
  X(GA_REASON_SAME_BODY, "both ends are on one body")                                                        \
  X(GA_REASON_ENDS_COINCIDE, "the ends of a line coincide at the start")                                     \
  X(GA_REASON_OPPOSITE_AXES, "axes that a joint holds together point in opposite directions")                \
  X(GA_REASON_NO_PLANAR_FORM, "planar bodies have no such joint")                                            \
  X(GA_REASON_POINT_HAS_NO_AXES, "a joint holds axes of a point")                                            \
  X(GA_REASON_TORQUE_ON_POINT, "a torque acts on a point")                                                   \
  X(GA_REASON_BUSHING_ON_POINT, "a bushing acts on the rotation of a point")                                 \
  X(GA_REASON_MARKER_LOOP, "markers are fixed to each other in a loop")                                      \
  X(GA_REASON_PLANE_HAS_NO_AXES, "a plane belongs to a part without axes")                                   \
  X(GA_REASON_CANNOT_ROLL, "a body cannot roll")                                                             \
  X(GA_REASON_DISK_LIES_FLAT, "a rolling disk lies flat")                                                    \
  X(GA_REASON_KNIFE_IS_NORMAL, "a knife edge blocks no direction")                                           \
  X(GA_REASON_WHEEL_LIES_FLAT, "a wheel with a tyre lies flat on its road")                                  \
  X(GA_REASON_WHEEL_BELOW_ROAD, "the centre of a wheel with a tyre is below its road")                       \
  X(GA_REASON_ROAD_USES_SIGNALS, "a road depends on signals")                                                \
  X(GA_REASON_ROAD_IS_FLEXIBLE, "a road is on a part that deforms")                                          \
  X(GA_REASON_FRICTION_NEGATIVE, "the friction of a road is negative")                                       \
  X(GA_REASON_SURFACE_EMPTY, "a surface has fewer than four triangles")                                      \
  X(GA_REASON_SURFACE_INDEX, "a triangle of a surface has a point that is not there")                        \
  X(GA_REASON_SURFACE_SLIVER, "a triangle of a surface has no area")                                         \
  X(GA_REASON_SURFACE_OPEN, "a surface is not closed")                                                       \
  X(GA_REASON_SURFACE_FOLDED, "two triangles of a surface lie on each other")                                \
  X(GA_REASON_DENTS_NEED, "a collision with a mesh that is not convex lacks something")                      \
  X(GA_REASON_SURFACE_HOLLOW, "a surface encloses no volume")                                                \
  X(GA_REASON_SURFACE_FILE, "a file of a surface has another content than expected")                         \
  X(GA_REASON_COLOUR_UNKNOWN, "there is no such colour")                                                     \
  X(GA_REASON_TWO_PLANES, "two planes collide")                                                              \
  X(GA_REASON_COLLIDERS_TOO_DEEP, "one collider is nearly through the other")                                \
  X(GA_REASON_NOT_OF_MOTION, "a constraint uses what positions and velocities do not determine")             \
  X(GA_REASON_HOLDS_NOTHING, "a constraint uses no signal that could change")                                \
  X(GA_REASON_OTHER_CONSTRAINT, "a constraint is not of the type that is given")                             \
  X(GA_REASON_CONSTRAINT_KINK, "a constraint has a kink or jump")                                            \
  X(GA_REASON_CONSTRAINT_SINGULAR, "a constraint blocks no motion at the start")                             \
  X(GA_REASON_START_CONTRADICTS, "start values contradict each other or the joints")                         \
  X(GA_REASON_DRIVE_JUMPS, "a drive's position jumps")                                                       \
  X(GA_REASON_DRIVE_IMPACT, "a drive's velocity jumps")                                                      \
  X(GA_REASON_DRIVE_SPEED_JUMPS, "the speed that a drive prescribes jumps")                                  \
  X(GA_REASON_DRIVEN_TWICE, "two drives prescribe one coordinate")                                           \
  /* values */                                                                                               \
  X(GA_REASON_UNDEFINED, "an expression or function has no value")                                           \
  X(GA_REASON_OUTSIDE_TABLE, "an argument is outside a table")                                               \
  X(GA_REASON_NOT_SAMPLED, "a kind of block that cannot be sampled")                                         \
  X(GA_REASON_SAMPLE_FAILED, "a sampled block could not be evaluated")                                       \
  X(GA_REASON_SAMPLED_LOOP, "sampled blocks depend on each other at the same time")                          \
  X(GA_REASON_HAS_SAMPLES, "a system with sampled states, where there must be none")                         \
  X(GA_REASON_SAMPLES_NEED_SIMULATOR, "a step of a system with sampled states without a simulator")          \
  X(GA_REASON_PITCH_VERTICAL, "roll, pitch or yaw is fed back where the x axis is vertical")                 \
  X(GA_REASON_UNDEFINED_AT_START, "an expression has no value while the start is computed")                  \
  X(GA_REASON_BLOCK_FAILED, "a block's function failed")                                                     \
  /* names in texts */                                                                                       \
  X(GA_REASON_UNKNOWN_NAME, "a name in an expression is unknown")                                            \
  X(GA_REASON_UNKNOWN_FUNCTION, "a function in an expression is unknown")                                    \
  X(GA_REASON_UNKNOWN_UNIT, "a unit is unknown")                                                             \
  X(GA_REASON_OPTIONS_CONTRADICT, "two options contradict each other")                                       \
  X(GA_REASON_ITEMS_EQUAL, "two items of a list are equal")                                                  \
  X(GA_REASON_ITEM_NOT_ALLOWED, "an item of a list is not allowed there")                                    \
  /* blocks */                                                                                               \
  X(GA_REASON_NO_SUCH_OUTPUT, "a block has no such output")                                                  \
  X(GA_REASON_QUOTIENTS_OVERFLOW, "numbers of a block are too far apart")                                    \
  /* units */                                                                                                \
  X(GA_REASON_WRONG_DIMENSION, "a quantity has another dimension than expected")                             \
  X(GA_REASON_FUNCTION_AS_VALUE, "a function stands where a value should")                                   \
  /* settings of a run */                                                                                    \
  X(GA_REASON_SETTING_RANGE, "a setting is out of its range")                                                \
  X(GA_REASON_SETTING_UNUSED, "a setting has no effect because of others")                                   \
  X(GA_REASON_NEWTON_TOO_LOOSE, "Newton's iteration is not accurate enough for the tolerance")               \
  X(GA_REASON_SETTINGS_ORDER, "of two settings one must be larger")                                          \
  X(GA_REASON_SETTING_NOT_OF_METHOD, "the method does not have this setting")                                \
  /* rotations and machines */                                                                               \
  X(GA_REASON_NOT_A_ROTATION, "a matrix is not a rotation")                                                  \
  X(GA_REASON_ZERO_DIRECTION, "a direction is 0")                                                            \
  X(GA_REASON_PARALLEL_DIRECTIONS, "two directions are parallel")                                            \
  X(GA_REASON_EULER_SEQUENCE, "a text is not a sequence of Euler angles")                                    \
  X(GA_REASON_NO_SUCH_INDEX, "an index is out of range")                                                     \
  X(GA_REASON_NOT_OF_THIS_MACHINE, "an object belongs to another machine")                                   \
  X(GA_REASON_NO_VALUE, "a signal or force has no value at a state")                                         \
  /* warnings */                                                                                             \
  X(GA_REASON_START_MOVED, "initial values were moved onto the constraints")                                 \
  X(GA_REASON_REDUNDANT, "constraints are redundant")                                                        \
  X(GA_REASON_IMPACT, "velocities jump")                                                                     \
  X(GA_REASON_NEARLY_SINGULAR, "the iteration matrix is nearly singular")                                    \
  X(GA_REASON_NOT_SEEN_BY_STEPS, "something acts within a step and is not seen at its ends")                 \
  X(GA_REASON_MULTIPLIERS_RING, "multipliers change sides from step to step and grow")                       \
  X(GA_REASON_EVENT_UNSURE, "an event may have been missed within a step")                                   \
  X(GA_REASON_STAYS_ON_JUMP, "the motion stays on a jump of the equations")                                  \
  X(GA_REASON_ERROR_IS_ROUNDING, "the tolerance is below rounding")                                          \
  X(GA_REASON_FAST_INPUT, "an input oscillates faster than steps can follow")                                \
  X(GA_REASON_STIFF_START, "equal steps are too long for an accurate start")                                 \
  X(GA_REASON_FAST_START, "equal steps do not follow the rate of accelerations at the start")                \
  X(GA_REASON_DERIVATIVES_UNSURE, "derivatives could not be checked")                                        \
  X(GA_REASON_REST_FAR_AWAY, "the rest angle of a spring is more than half a turn away")                     \
  X(GA_REASON_NOT_THE_NEAREST, "an assembly is not the nearest to the given positions")                      \
  X(GA_REASON_BRANCHES_MEET, "an assembly passed a position where branches meet")                            \
  /* beams */                                                                                                \
  X(GA_REASON_TOO_FEW_ELEMENTS, "elements of a beam are bent too much in its reference")                     \
  X(GA_REASON_MODE_NOT_RESOLVED, "a mode needs more elements of a beam or cable")                            \
  X(GA_REASON_OFF_BEAM, "a marker is beyond the ends of its beam")                                           \
  X(GA_REASON_BEAM_TOO_BENT, "an element of a beam is bent too much")                                        \
  X(GA_REASON_POINTS_COINCIDE, "two points of a beam or cable are at the same place")                        \
  X(GA_REASON_POINTS_TURN_BACK, "points of a beam or cable turn back too sharply")                           \
  X(GA_REASON_OFF_CABLE, "a marker is beside its cable")                                                     \
  X(GA_REASON_CABLE_CANNOT_TURN, "a load along a cable has a moment, or axes that turn")                     \
  X(GA_REASON_SLIDER_NEEDS_ELEMENTS, "a beam or cable has too few elements for a slider")                    \
  X(GA_REASON_SLID_OFF, "a slider left its beam or cable")                                                   \
  /* modal bodies */                                                                                         \
  X(GA_REASON_MESH_SIZE, "a matrix of a mesh has another size than its nodes need")                          \
  X(GA_REASON_MESH_NOT_SYMMETRIC, "a matrix of a mesh or section is not symmetric")                          \
  X(GA_REASON_MESH_NOT_POSITIVE, "a matrix of a mesh is not positive definite")                              \
  X(GA_REASON_MESH_NOT_A_BODY, "a mass matrix is not that of a body")                                        \
  X(GA_REASON_MESH_NO_INERTIA, "a mesh has no inertia about one of its axes")                                \
  X(GA_REASON_MESH_HELD, "a mesh is held, and is not a free body")                                           \
  X(GA_REASON_MESH_LOOSE, "a node of a mesh is not held by stiffness")                                       \
  X(GA_REASON_MESH_TOO_FREE, "a mesh has more than six motions without stiffness")                           \
  X(GA_REASON_MESH_NO_NODE, "an interface node is not one of the mesh")                                      \
  X(GA_REASON_MESH_INTERFACE_TWICE, "two interface nodes have the same name, or are the same node")          \
  X(GA_REASON_MESH_SAME_PLACE, "two interface nodes are at the same place")                                  \
  X(GA_REASON_MESH_INTERFACE_LOOSE, "interface nodes do not hold the mesh")                                  \
  X(GA_REASON_MESH_FEW_MODES, "a mesh has fewer modes than are needed")                                      \
  X(GA_REASON_MESH_STIFFENING, "a stiffening matrix is not that of its load")                                \
  X(GA_REASON_MESH_DAMPING, "as many damping ratios as modes are needed")                                    \
  X(GA_REASON_PLANE_AND_ROAD, "something rolls on a plane and on a road")                                    \
  X(GA_REASON_KNIFE_ON_ROAD, "the y axis of a knife edge is normal to its road")                             \
  X(GA_REASON_DISK_FLAT_ON_ROAD, "a disk lies flat on its road")                                             \
  X(GA_REASON_NO_POINT_OF_ROAD, "what rolls has no single point of contact")                                 \
  X(GA_REASON_TYRE_FILE, "a property file of a tyre has another line than expected")                         \
  X(GA_REASON_TYRE_FILE_UNKNOWN, "a property file of a tyre has a coefficient that is not known")            \
  X(GA_REASON_TYRE_FILE_LACKS, "a property file of a tyre lacks a coefficient")                              \
  X(GA_REASON_MATRIX_FILE, "a file of a matrix has another line than expected")                              \
  X(GA_REASON_CSV_FILE, "a file of columns has another line than expected")                                  \
  X(GA_REASON_CSV_COLUMN, "a file has no such column")                                                       \
  X(GA_REASON_MESH_DATASET, "a dataset of a mesh is missing or wrong")                                       \
  X(GA_REASON_NO_STIFFENING, "there are no stiffening matrices")                                             \
  X(GA_REASON_LOAD_MISSING, "the stiffening matrix of a load is missing")                                    \
  X(GA_REASON_LOAD_UNKNOWN, "a stiffening matrix is of no load")                                             \
  X(GA_REASON_MESH_COLUMNS, "positions of nodes have three columns")                                         \
  X(GA_REASON_NO_MODES, "a modal body without modes")                                                        \
  X(GA_REASON_NO_INTERFACE, "a marker on a modal body without interface nodes")                              \
  X(GA_REASON_OFF_INTERFACE, "a marker on a modal body is not at an interface node")                         \
  X(GA_REASON_FLOATING_FRAME, "something is attached to a floating frame")                                   \
  /* model files: values */                                                                                  \
  X(GA_REASON_WRONG_FORM, "a value has the wrong form: list, map, text or nothing")                          \
  X(GA_REASON_WRONG_COUNT, "a list has too many or too few entries")                                         \
  X(GA_REASON_VALUE_NOT_FINITE, "a number in a model is not finite")                                         \
  X(GA_REASON_NOT_WHOLE, "a number is not whole")                                                            \
  X(GA_REASON_SUM_OF_DIMENSIONS, "a sum of quantities of different dimensions")                              \
  X(GA_REASON_DOUBTFUL_DIMENSION, "a product seems to have another dimension than expected")                 \
  X(GA_REASON_PARAMETER_AS_UNIT, "a parameter stands where a unit should")                                   \
  X(GA_REASON_UNIT_OUTSIDE_BRACKETS, "a sum of quantities whose units are not in brackets")                  \
  X(GA_REASON_DECIMAL_COMMA, "a comma stands where a decimal point should")                                  \
  X(GA_REASON_TONNE_OR_TIME, "t as a unit is the tonne, not the time")                                       \
  X(GA_REASON_UNIT_NOT_GIVEN, "a number without a unit replaces one with a unit")                            \
  /* model files: keys and names */                                                                          \
  X(GA_REASON_UNKNOWN_KEY, "a key is unknown")                                                               \
  X(GA_REASON_UNKNOWN_CHOICE, "a word is none of those expected")                                            \
  X(GA_REASON_FOREIGN_WORD, "a word of other programs that is written differently here")                     \
  X(GA_REASON_UNKNOWN_REFERENCE, "a reference to something that does not exist")                             \
  X(GA_REASON_SWITCHED_OFF, "a reference to a part that a condition switches off")                           \
  X(GA_REASON_FILE_LEFT_OUT, "an included file is left out by its condition")                                \
  X(GA_REASON_KEY_MISSING, "a key that is needed is not given")                                              \
  X(GA_REASON_NO_BLANK_AFTER_COLON, "a key is not separated from its value")                                 \
  X(GA_REASON_NAME_NOT_ALLOWED, "a name is not allowed")                                                     \
  X(GA_REASON_GIVEN_TWICE, "a key, name or file is given twice")                                             \
  X(GA_REASON_REPEATED_NAME, "a repeat makes parts of the same name")                                        \
  X(GA_REASON_AMBIGUOUS_NAME, "a name has two meanings")                                                     \
  X(GA_REASON_GIVE_ONE_OF, "keys that do not go together, or not enough of them")                            \
  X(GA_REASON_BOTH_GIVEN, "two keys exclude each other")                                                     \
  X(GA_REASON_SIZES_DIFFER, "lengths of lists do not match")                                                 \
  X(GA_REASON_CIRCULAR, "something depends on itself")                                                       \
  X(GA_REASON_LIMIT_EXCEEDED, "a limit of the reader is exceeded")                                           \
  /* model files: what is suspicious */                                                                      \
  X(GA_REASON_NOT_USED, "nothing uses a part, function or parameter")                                        \
  X(GA_REASON_SUSPICIOUS_NUMBER, "a number is much larger or smaller than usual")                            \
  X(GA_REASON_SUSPICIOUS_UNIT, "a number seems to be in another unit")                                       \
  X(GA_REASON_SUSPICIOUS_INERTIA, "an inertia does not fit mass and size")                                   \
  X(GA_REASON_AXIS_LEAVES_PLANE, "the axis of a joint between planar bodies leaves their plane")             \
  X(GA_REASON_REPLACES_CONSTANT, "a parameter has the name of a constant")                                   \
  /* model files: files and YAML */                                                                          \
  X(GA_REASON_NOT_YAML, "a text is not YAML")                                                                \
  X(GA_REASON_NOT_UTF8, "a text is not UTF-8")                                                               \
  X(GA_REASON_NOT_READ, "YAML or a key that models do not support")                                          \
  X(GA_REASON_NEEDS_QUOTES, "an expression with commas within brackets")                                     \
  X(GA_REASON_PATH_REFUSED, "a path is not allowed")                                                         \
  X(GA_REASON_NO_FOLDER, "a model that is not in a file has no folder")                                      \
  X(GA_REASON_LIBRARY_NOT_ALLOWED, "libraries are not allowed")                                              \
  X(GA_REASON_WOULD_OVERWRITE, "a file that is still needed would be overwritten")                           \
  X(GA_REASON_MODEL_WRONG, "a model has errors")                                                             \
  X(GA_REASON_MORE_MESSAGES, "further messages are not shown")                                               \
  /* options, and files of results */                                                                        \
  X(GA_REASON_NOT_SUPPORTED, "an option cannot be used here")                                                \
  X(GA_REASON_FILE_ACCESS, "a file cannot be opened, read or written")                                       \
  X(GA_REASON_FILE_KIND, "a file is not of the kind that is needed")                                         \
  X(GA_REASON_FILE_IN_USE, "another run writes the file")                                                    \
  X(GA_REASON_FILE_CHANGED, "another program changed a file")                                                \
  X(GA_REASON_JOURNAL_UNFINISHED, "a file has the finished runs of a sweep that was not completed")          \
  X(GA_REASON_FILE_DAMAGED, "a file is damaged")                                                             \
  X(GA_REASON_RECORDS_DAMAGED, "parts of a file are damaged")                                                \
  X(GA_REASON_CANNOT_RESUME, "a run cannot be resumed from a file")                                          \
  X(GA_REASON_OTHER_SIGNALS, "a file has different signals")                                                 \
  X(GA_REASON_BREAKS_UNRESOLVED, "jumps of a function of time follow each other too closely to be found")    \
  /* equilibrium */                                                                                          \
  X(GA_REASON_EIGENVALUES, "the eigenvalues of a matrix do not converge")                                    \
  X(GA_REASON_NO_EQUILIBRIUM, "no equilibrium was found")                                                    \
  X(GA_REASON_MOVES_FREELY, "a coordinate may have any value in equilibrium")                                \
  X(GA_REASON_STAYS_FREE, "a coordinate that may have any value in equilibrium stays where it was")          \
  X(GA_REASON_UNSTABLE, "an equilibrium is unstable")                                                        \
  X(GA_REASON_STABILITY_AT_KINK, "the equations have a kink or jump exactly at an equilibrium")              \
  X(GA_REASON_LOAD_NOT_REACHED, "a path of equilibria could not be followed to its load")                    \
  X(GA_REASON_NO_TANGENT, "a path of equilibria has no direction where it begins")                           \
  X(GA_REASON_NOTHING_BUCKLES, "no load changes the stiffness")                                              \
  X(GA_REASON_LOAD_JUMP, "a load step left the path of equilibria")                                          \
  X(GA_REASON_NOT_CLOSED, "positions do not satisfy the constraints")                                        \
  X(GA_REASON_FROZEN_MOTION, "constraints prescribe a motion that an equilibrium does not have")             \
  X(GA_REASON_NOT_PRESCRIBED, "kinematics of a motion that is not prescribed wholly")                        \
  X(GA_REASON_STATES_NEED_TIME, "kinematics of a system with states, which need integration")                \
  X(GA_REASON_ROLLING_NEEDS_TIME, "kinematics with nonholonomic constraints")                                \
  X(GA_REASON_SINGULAR_MOTION, "a motion comes to where its constraints become dependent")                   \
  X(GA_REASON_MOTION_ENDS, "a motion comes to where its constraints cannot be satisfied")

typedef enum ga_reason {
#define GA_REASON_ENUM(name, meaning) name,
  GA_REASON_LIST(GA_REASON_ENUM)
#undef GA_REASON_ENUM
} ga_reason;

/* What a reason means in general, never NULL. */
GA_API const char *ga_reason_text(ga_reason reason);

enum {
  GA_ERROR_TEXT = 768, /* sizes of texts, with the final NUL: of a sentence, */
  GA_ERROR_FILE = 256, /* of a path, */
  GA_ERROR_NAME = 128, /* of a name, */
  GA_ERROR_WORD = 64,  /* of a word, */
  GA_ERROR_UNIT = 40,  /* and of a unit */
  GA_ERROR_NUMBERS = 6
};

typedef struct ga_error_number {
  double value;
  char unit[GA_ERROR_UNIT]; /* "" where it has none */
} ga_error_number;

/* A failure as data. Texts that do not apply are "", numbers NaN or -1; names that are too long are
 * truncated. */
typedef struct ga_error {
  ga_status status;              /* GA_OK when nothing has failed yet */
  ga_reason reason;              /* GA_REASON_OTHER: words of a callback, in `detail` */
  double t, h;                   /* [s] time of the failure and step size; NaN where they do not apply */
  int block;                     /* ga_equation_block of the equation concerned, or -1 */
  int index;                     /* index within the block, or -1 */
  char equation[GA_ERROR_NAME];  /* that equation or unknown, as the system names it */
  char file[GA_ERROR_FILE];      /* the file concerned; the end of the path if it is too long */
  char function[GA_ERROR_WORD];  /* the function of the library whose call is wrong: "ga_stepper_step" */
  char callback[GA_ERROR_WORD];  /* the system's function that failed */
  int code;                      /* what it returned; of a file: errno */
  char kind[GA_ERROR_WORD];      /* of the part or object concerned: "spring", "stepper" */
  char part[GA_ERROR_NAME];      /* its name */
  char field[GA_ERROR_WORD];     /* the field, key or argument concerned: "stiffness" */
  int item;                      /* index of the number or input in the field, from 0; -1: no single one */
  char item_name[GA_ERROR_WORD]; /* the name of that input */
  char name[GA_ERROR_NAME];      /* the name or text that is wrong; the first of two that contradict */
  char other[GA_ERROR_NAME];     /* the second of two, or what the name means instead */
  char nearest[GA_ERROR_WORD];   /* the most similar valid name */
  char expected[GA_ERROR_NAME];  /* what would be right: "a body or marker", "> 0" */
  char detail[GA_ERROR_TEXT];    /* further information, in words */
  int n_numbers;
  ga_error_number number[GA_ERROR_NUMBERS]; /* in the order of the sentence */
  char within[GA_ERROR_NAME];               /* the expression or other text that contains the name or fault */
  int column; /* where in that text it begins, in characters from 1; 0: does not apply */
  const char
      *text; /* the sentence: what failed, where, by how much, and what to do. Made by ga_context_error();
                in a copy of this struct it ends with the next failure: see ga_error_say() */
} ga_error;

/* Pieces of a sentence, to be combined by |. */
enum {
  GA_SAY_TIME = 1,     /* "t = 0.25, h = 0.001: " */
  GA_SAY_CALLBACK = 2, /* "the callback 'force' could not be evaluated (it returned 1): " */
  GA_SAY_PART = 4,     /* "spring 's': " */
  GA_SAY_ADVICE = 8,   /* what to do */
  GA_SAY_ALL = 15
};

/* Writes the sentence of an error to text, truncated to size bytes with the final NUL. What is wrong is
 * always part of it. Returns the bytes it needs without the NUL. text NULL: nothing is written. */
GA_API int ga_error_say(const ga_error *error, int pieces, char *text, size_t size);

typedef enum ga_log_level { GA_LOG_WARNING = 0, GA_LOG_INFO = 1, GA_LOG_DEBUG = 2 } ga_log_level;

/* Receives one message: message->text is its sentence, without a line end; the other members are the same as
 * data. Valid during the call. The function must not use the context. */
typedef void (*ga_log_fn)(void *user, ga_log_level level, const ga_error *message);

typedef struct ga_context_opts {            /* start from ga_context_defaults() */
  void *(*alloc)(void *user, size_t bytes); /* NULL: malloc; may return NULL when out of memory */
  void (*release)(void *user, void *block); /* NULL: free; given only what alloc returned, never NULL */
  void *alloc_user;                         /* passed to alloc and release */
  ga_log_fn log;                            /* NULL: no log */
  void *log_user;                           /* passed to log */
  ga_log_level log_level;                   /* messages above this level are dropped; default warning */
} ga_context_opts;

typedef struct ga_context ga_context; /* must outlive every object created with it */

GA_API ga_context_opts ga_context_defaults(void);

/* opts NULL: the defaults. On failure *out is NULL; the only failures are GA_ERR_MEMORY and GA_ERR_ARGUMENT
 * (alloc given without release, or the reverse; out NULL). */
GA_API ga_status ga_context_create(const ga_context_opts *opts, ga_context **out);
GA_API void ga_context_destroy(ga_context **ctx); /* NULL and *ctx == NULL are fine; *ctx becomes NULL */

/* The last failure; this call composes its sentence. Valid until the next failure or until the context is
 * destroyed. Success does not clear it. */
GA_API const ga_error *ga_context_error(const ga_context *ctx);
GA_API void ga_context_clear_error(ga_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
