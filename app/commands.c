/* The table of commands. A new one needs a row here, its options, and its function. */
#include "app.h"
#include "task.h"

#include <string.h>

#define OPTION_END                                                                                           \
  {                                                                                                          \
    NULL, 0, NULL, 0, NULL                                                                                   \
  }
/* Options of all commands that read a model. */
#define OPTIONS_MODEL                                                                                        \
  {"set", 0, "NAME=VALUE", 1, "a parameter of the model; the value as in a file, \"12 mm\""},                \
  {                                                                                                          \
    "allow-library", 0, NULL, 0, "allow the model to load shared libraries with user functions"              \
  }
#define OPTION_A0                                                                                            \
  {                                                                                                          \
    "a0", 0, "NUMBERS", 0,                                                                                   \
        "auxiliary accelerations at the start, one for each velocity, in SI units with commas between them"  \
  }
#define OPTION_RECORD                                                                                        \
  {                                                                                                          \
    "record", 0, "NAMES", 1,                                                                                 \
        "signals to record, separated by commas, * matches any text (default: the model's `record`, else "   \
        "all that can change); '*': all"                                                                     \
  }
#define OPTION_VERBOSE                                                                                       \
  {                                                                                                          \
    "verbose", 'v', NULL, 0, "also iterations, residuals and other numerical details"                        \
  }
static const app_option run_rows[] = {
    {"out", 'o', "FILE", 0, "result file (default: the model's name with .h5, in the current folder)"},
    OPTIONS_MODEL,
    OPTION_RECORD,
    OPTION_A0,
    {"resume", 0, NULL, 0, "continue the run of the result file from its last checkpoint"},
    {"checkpoint-every", 0, "N", 0, "steps between checkpoints (default 500); 0: none"},
    {"flush-every", 0, "S", 0, "seconds between writes to the disk (default 1)"},
    {"quiet", 'q', NULL, 0, "no progress, no report"},
    OPTION_VERBOSE,
    OPTION_END};

static const char run_more[] =
    "The result file can be read during the run and after a crash. Ctrl-C stops the run and keeps all "
    "results.\n"
    "--resume continues from the last checkpoint, with bitwise the same results as an uninterrupted run. The "
    "model\n"
    "and the options must be the same; only --t-end may be later. A finished run can be continued too, but "
    "its\n"
    "results differ in the last bits from those of one long run, since its last step was cut at the old end.";

static const app_option static_rows[] = {
    {"out", 'o', "FILE", 0, "result file (default: the model's name with _static.h5, in the current folder)"},
    OPTIONS_MODEL,
    OPTION_RECORD,
    {"load-steps", 0, "N", 0,
     "N load steps, more if Newton's iteration fails (default: the full load at once)"},
    {"path", 0, NULL, 0, "follow the path of equilibria by arc length, past limit points of the load"},
    {"buckling", 0, "N", 0,
     "N critical load factors and shapes of linear buckling, instead of an equilibrium"},
    {"load", 0, "X", 0, "load factor to be reached with --load-steps or --path (default 1)"},
    {"load-step", 0, "X", 0, "first step of --path (default a tenth of the load)"},
    {"max-load-step", 0, "X", 0, "largest step of --path (default: none)"},
    {"max-steps", 0, "N", 0, "most load steps (default 1000)"},
    {"iterations", 0, "N", 0, "most iterations of Newton in a load step (default 30)"},
    {"hold-free", 0, NULL, 0, "hold what can move without resistance where it is, instead of an error"},
    {"quiet", 'q', NULL, 0, "no report"},
    OPTION_VERBOSE,
    OPTION_END};

static const char static_more[] =
    "The load is the unbalanced force at the model's initial positions; load factor 1 is the full load. "
    "Without\n"
    "--load-steps and --path the command searches for a stable equilibrium, by Newton's iteration or "
    "relaxation, and\n"
    "reports an unstable one as such. Each load step is a record; static.load_factor is a signal, for "
    "example for\n"
    "galpha plot --xy static.load_factor NAME. galpha run --from-equilibrium true starts a simulation there.";

static const app_option kinematics_rows[] = {
    {"out", 'o', "FILE", 0,
     "result file (default: the model's name with _kinematics.h5, in the current folder)"},
    OPTIONS_MODEL,
    OPTION_RECORD,
    {"prescribe", 0, "NAME=FUNCTION", 1,
     "prescribe a coordinate, \"arm.angle=sin(2*t)\" in SI units, instead of its actuators"},
    {"prescribe-from", 0, "FILE NAMES", 1,
     "prescribe coordinates, with commas between them, as in a result (.h5) or a table (.csv)"},
    {"hold-states", 0, NULL, 0, "states of blocks keep their initial values, instead of an error"},
    {"flush-every", 0, "S", 0, "seconds between writes to the disk (default 1)"},
    {"quiet", 'q', NULL, 0, "no progress, no report"},
    OPTION_VERBOSE,
    OPTION_END};

static const char kinematics_more[] = "For machines whose motion drives prescribe wholly. Positions, "
                                      "velocities, accelerations and forces follow "
                                      "from\n"
                                      "equations at each time, without integration: results do not depend on "
                                      "--output. Forces of drives are the "
                                      "forces\n"
                                      "that the motion needs. Where accelerations jump there are two "
                                      "records. The motion ends with an error at a "
                                      "dead\n"
                                      "centre, where two motions branch off, and where a loop cannot close.";

static const app_option check_options[] = {
    OPTIONS_MODEL,
    OPTION_VERBOSE,
    {"view", 0, NULL, 0, "also writes a page that draws it, as galpha view does"},
    OPTION_END};

static const app_option write_options[] = {
    {"out", 'o', "FILE", 0, "file to write (default: the standard output)"}, OPTIONS_MODEL, OPTION_END};

static const char write_more[] =
    "Included files are merged, and parameters have the values of --set. Names, order, expressions, units "
    "and repeats\n"
    "are kept; comments are lost. The written model gives bitwise the same results.";

static const app_option converge_rows[] = {
    {"out", 'o', "FILE", 0,
     "picture of the errors, .svg, .png or .pdf (default: the model's name with _orders.svg)"},
    {"levels", 0, "N", 0, "runs in the table (default 5), each with half the step of the one before"},
    {"signals", 0, "NAMES", 1,
     "errors of these signals, separated by commas, as one 2-norm, instead of q, v, ...; may be repeated"},
    {"max", 0, NULL, 0,
     "largest errors over all steps of each run, instead of those at the end; needs equal steps"},
    {"relative", 0, NULL, 0,
     "errors divided by the 2-norm of the reference at the same time; needs --signals"},
    {"methods", 0, "NAMES", 0, "several methods in one table and picture, separated by commas"},
    {"form", 0, "NAMES", 0,
     "forms of rigid bodies, separated by commas: space, body, se3 (default: the model's)"},
    {"reference", 0, "FILE", 0,
     "compare with a result (.h5) or table (.csv) instead of a run; needs --signals"},
    OPTIONS_MODEL,
    OPTION_A0,
    OPTION_END};

static const char converge_more[] = "Errors are 2-norms over all components of positions q, velocities v, "
                                    "..., or of --signals, at the end of the run or "
                                    "the\n"
                                    "largest of all its steps (--max), compared with a run of the same "
                                    "method with a quarter of the smallest step, or with "
                                    "a\n"
                                    "file. The error of q is the 2-norm of the motion that leads from one "
                                    "position to the other. If the model has error "
                                    "control,\n"
                                    "the tolerance is halved instead, unless --step is given. The picture, "
                                    "with logarithmic axes, is drawn by gnuplot; "
                                    "without\n"
                                    "-o a missing picture is no failure.";

static const app_option sweep_rows[] = {
    {"set", 0, "NAME=VALUES", 1,
     "a parameter: from:to:step, a list, linspace(a,b,n), geomspace(a,b,n), or a distribution; one value: a "
     "constant"},
    {"runs", 0, "FILE", 0, "a table (.csv) of runs; its columns are parameters: k [N/m],c"},
    {"samples", 0, "N", 0, "how many values are drawn from distributions"},
    {"sampling", 0, "NAME", 0, "random (default) or latin, a Latin hypercube"},
    {"seed", 0, "N", 0, "of all draws (default 1)"},
    {"zip", 0, NULL, 0, "first values together, second values together, ..., instead of all combinations"},
    {"measure", 0, "NAME=MEASURE", 1, "another MEASURE, with or without a name of its own"},
    {"record", 0, "NAMES", 1, "signals to keep over time too, separated by commas, at every --output"},
    {"jobs", 'j', "N", 0, "runs at the same time (default: the number of processors)"},
    {"out", 'o', "FILE", 0, "table, .h5 or .csv (default: the model's name with _sweep.h5)"},
    {"resume", 0, NULL, 0, "continue a sweep that was stopped or killed, with its finished runs"},
    {"max-runs", 0, "N", 0, "refuse more runs than this (default 10000000)"},
    {"allow-library", 0, NULL, 0, "allow the model to load shared libraries with user functions"},
    {"quiet", 'q', NULL, 0, "no progress, no report"},
    OPTION_END};

static const char sweep_more[] =
    "Runs the model for all combinations of values, and writes one table: a row for each run, a column for "
    "each\n"
    "MEASURE, as 'max(hinge.fx)' or 'peak=max(hinge.fx)'. Measures are expressions of max, min, range, mean, "
    "rms,\n"
    "std, integral, initial, final, at(T,x), peak_time, low_time, crossing, crossings, settling, rise, "
    "overshoot,\n"
    "each of an expression of signals. Distributions, drawn together --samples times: uniform(low,high),\n"
    "loguniform(low,high), normal(mean,deviation), lognormal(mean,deviation), triangular(low,mode,high),\n"
    "exponential(mean), weibull(scale,shape); min=X and max=X truncate them. Runs that fail have a row with "
    "the\n"
    "reason. The table is the same to the last bit whatever --jobs is, and after --resume.";

#define OPTION_VARY                                                                                          \
  {                                                                                                          \
    "vary", 0, "NAME=START:LOWER:UPPER", 1,                                                                  \
        "a parameter to be found, with its start and bounds, k=10:1:100N/m; each may be missing, as in "     \
        "k=10, k=:1:100 or k"                                                                                \
  }
static const app_option fit_rows[] = {
    OPTION_VARY,
    {"signal", 0, "COLUMN=SIGNAL", 1,
     "the signal that a column has measured; other columns are left out (default: all columns, by their "
     "names)"},
    {"sigma", 0, "COLUMN=VALUE", 1,
     "known standard deviation of a column (default: estimated from the residuals)"},
    {"time-column", 0, "NAME", 0, "column with the time (default time or t)"},
    {"set-in", 0, "FILE NAME=VALUE", 1, "a parameter of one experiment alone"},
    {"si", 0, NULL, 0, "columns without a unit are in SI units, and no warning says so"},
    {"iterations", 0, "N", 0, "most iterations (default 50)"},
    {"confidence", 0, "X", 0, "of intervals, in percent (default 95)"},
    {"differences", 0, NULL, 0, "differences of runs in place of derivatives"},
    {"jobs", 'j', "N", 0, "runs at the same time (default: the number of processors)"},
    {"out", 'o', "FILE", 0, "the model with the fitted parameters, .yaml"},
    {"json", 0, "FILE", 0, "the report as data"},
    {"csv", 0, "FILE", 0, "measured values, those of the model, and residuals"},
    {"plot", 0, "FILE", 0, "picture of measured values and the model, .svg, .png or .pdf"},
    OPTIONS_MODEL,
    {"quiet", 'q', NULL, 0, "no report"},
    OPTION_END};

static const char fit_more[] =
    "Finds parameters with which signals of the model meet measured ones best, by weighted nonlinear least "
    "squares with\n"
    "derivatives of the runs. DATA are tables, .csv, with a line of names first: time [s], arm.angle [deg]; "
    "empty "
    "fields are\n"
    "missing values. Each file is an experiment with a run of its own, which ends with its last time. "
    "Reports "
    "estimates,\n"
    "standard errors, intervals of confidence, and what the data do not determine. Exit code 1: not "
    "converged.";

static const app_option optimize_rows[] = {
    {"minimize", 0, "MEASURE", 0, "the measure that is to be as small as possible, as 'rms(body.acc)'"},
    {"maximize", 0, "MEASURE", 0, "the one that is to be as large as possible, instead"},
    {"subject-to", 0, "CONSTRAINT", 1,
     "'MEASURE <= VALUE', also >= and ==; the value is a number or a measure"},
    OPTION_VARY,
    {"algorithm", 0, "NAME", 0,
     "auto (default), slsqp, mma, cobyla, bobyqa, sbplx; global, within the bounds: direct, crs, isres"},
    {"precision", 0, "X", 0, "relative change of the parameters at which the search ends (default 1e-6)"},
    {"max-points", 0, "N", 0, "most points at which runs are made (default 1000)"},
    {"seed", 0, "N", 0, "of algorithms that draw numbers (default 1)"},
    {"differences", 0, NULL, 0, "differences of runs in place of derivatives"},
    {"jobs", 'j', "N", 0, "runs at the same time (default: the number of processors)"},
    {"out", 'o', "FILE", 0, "the model with the best parameters, .yaml"},
    {"json", 0, "FILE", 0, "the report as data"},
    OPTIONS_MODEL,
    {"quiet", 'q', NULL, 0, "no report"},
    OPTION_END};

static const char optimize_more[] =
    "Finds the parameters for which a measure of the run is best, under constraints on other measures; "
    "measures "
    "are those\n"
    "of galpha sweep. By NLopt: slsqp with derivatives of the measures, where the runs have them, otherwise "
    "without. The\n"
    "optimum is run once more with more accuracy. Exit code 1: nothing was found, or the constraints are not "
    "met.";

static const app_option linearize_rows[] = {
    {"inputs", 0, "NAMES", 1,
     "inputs, separated by commas: outputs of blocks, drives, signals used in expressions"},
    {"outputs", 0, "NAMES", 1, "outputs, separated by commas: any signals"},
    {"at", 0, "T", 0, "linearize about the state at this time of a run [s] (default: the start)"},
    {"out", 'o', "FILE", 0, "HDF5 file (default: the model's name with _linear.h5, in the current folder)"},
    {"csv", 0, "FILE", 0, "comma-separated values instead, or as well with -o"},
    OPTIONS_MODEL,
    OPTION_END};

static const char linearize_more[] = "dx/dt = A x + B u, y = C x + D u, for small changes x, u, y about a "
                                     "state. An input u is added to its signal\n"
                                     "wherever the signal is used; for a drive it is an acceleration added "
                                     "to the prescribed motion. States are\n"
                                     "independent coordinates and velocities of bodies, and states of "
                                     "blocks. The state should be an equilibrium or a\n"
                                     "steady motion; otherwise there is a warning.";

static const app_option modes_rows[] = {
    {"out", 'o', "FILE", 0, "HDF5 file of modes with their shapes (default: none)"},
    {"csv", 0, "FILE", 0, "modes and shapes as comma-separated values; - for the standard output"},
    {"count", 'n', "N", 0, "number of modes, by smallest eigenvalue (default 10, or all)"},
    {"at", 0, "T", 0, "about the state at this time of a run [s] (default: the start)"},
    {"turning", 0, NULL, 0,
     "about the steady rotation near that state, in rotating axes: all bodies rotate about one axis"},
    OPTION_VERBOSE,
    OPTIONS_MODEL,
    OPTION_END};

static const char modes_more[] = "Eigenvalues of the linear equations about an equilibrium or a steady "
                                 "motion, with constraints and controllers,\n"
                                 "sorted by size. Shapes are derivatives of all signals. Eigenvalues that "
                                 "are zero up to rounding, as those of free\n"
                                 "motions, are printed as 0.";

static const app_option sensitivity_rows[] = {
    {"by", 0, "NAMES", 1, "parameters, separated by commas, each NAME or NAME:STEP, or all; needed unless there are measures"},
    {"measure", 0, "[NAME=]X", 1, "a measure, as final(tip.x), like those behind MODEL: its derivatives, not those of signals"},
    {"derivatives", 0, "NAME", 0, "of measures: auto, forward, or adjoint, which costs less for many parameters"},
    {"out", 'o', "FILE", 0,
     "result file (default: the model's name with _sensitivity.h5, in the current folder)"},
    OPTIONS_MODEL,
    OPTION_RECORD,
    {"quiet", 'q', NULL, 0, "no progress, no report"},
    OPTION_VERBOSE,
    OPTION_END};

static const char sensitivity_more[] = "A run with derivatives of its signals, \"d(tip.x)/d(k)\", exact to "
                                       "its steps: those of the numbers that the run\n"
                                       "itself computes, with the sizes of its steps held. STEP is the "
                                       "change of the parameter that differences of the\n"
                                       "equations are made with (default: a thousandth of its value). "
                                       "Without error bars; methods stabilized and index3.";

static const app_option reduce_options[] = {
    {"part", 0, "NAME", 0, "the beam to be reduced; needed"},
    {"interface", 0, "NAME=X", 1,
     "nodes for joints and forces, X [m] along the axis, separated by commas (default: root and end)"},
    {"no-stiffening", 0, NULL, 0, "without matrices of geometric stiffening"},
    {"out", 'o', "FILE", 0, "HDF5 file (default: the model's name with _body.h5, in the current folder)"},
    OPTIONS_MODEL,
    OPTION_END};

static const char reduce_more[] = "Mass, stiffness and stiffening matrices of a beam, from which models read "
                                  "modal bodies: {type: modal, file: FILE}.\n"
                                  "Modes are chosen there (reduction, modes, keep).";

static const app_option plot_options[] = {
    {"out", 'o', "FILE", 0, "picture, .svg, .png or .pdf"},
    {"xy", 0, "A B", 1, "signal B over signal A instead of over time"},
    {"panel", 0, "SIGNALS", 1, "a panel of these, separated by commas, instead of one for each unit"},
    {"difference", 0, NULL, 0, "further files minus the first one"},
    {"band", 0, NULL, 0, "error bars as a band around each signal over time"},
    {"from", 0, "T", 0, "first time shown [s]"},
    {"to", 0, "T", 0, "last time shown [s]"},
    {"log", 0, "x|y|xy", 0, "logarithmic axes"},
    {"title", 0, "TEXT", 0, "title (default: that of the model); '' for none"},
    {"xlabel", 0, "TEXT", 0, "label below the axes"},
    {"ylabel", 0, "TEXT", 1, "label beside the axes, of the first panel, the second, ..."},
    {"label", 0, "NAME=TEXT", 1, "other words for a signal, an expression or a file"},
    {"legend", 0, "NAME", 0, "each panel has one (each), one for all (shared), none"},
    {"unit", 0, "UNIT", 1,
     "draws signals of its kind, or the time, in this unit instead of SI: deg, mm, kN, ms"},
    {"size", 0, "WxH", 0, "size, 84mm x 60mm, or the width alone; without a unit pixels (default 900)"},
    {"font", 0, "NAME,SIZE", 0, "font, and its size in points (default sans,10.5; 9 if the size has a unit)"},
    {"no-events", 0, NULL, 0, "do not mark events"},
    {"time-column", 0, "NAME", 0, "column of a .csv with the time (default time or t)"},
    {"column", 0, "SIGNAL=NAME", 1, "column of a .csv that has the values of a signal"},
    OPTION_END};

static const char plot_more[] =
    "FILE are one or more results, or tables of measured values (.csv, a line of names first: time [s], "
    "angle [deg]).\n"
    "SIGNAL are names of signals, in which * matches any text: 'arm.*'; or expressions of signals and the "
    "time t, in SI\n"
    "units: \"motor.torque*shaft.angle_rate\". Units of expressions are derived and checked. Signals with "
    "the same unit\n"
    "share a panel. galpha info FILE --signals lists the signals. Needs gnuplot.";

static const app_option view_options[] = {
    {"out", 'o', "FILE", 0, "page, .html (default: the file's name with .html, in the current folder)"},
    {"live", 0, NULL, 0, "while a run goes on: writes the page anew every two seconds; it reloads itself"},
    OPTIONS_MODEL,
    OPTION_END};

static const char view_more[] =
    "FILE is a result, a file of galpha modes, or a model, which is drawn as it starts. Further results are "
    "drawn over\n"
    "the first one. The page needs nothing else: no server, no network.\n"
    "SIGNAL are names of signals to be plotted first, in which * matches any text: 'arm.*'. Long runs are "
    "thinned out.";

static const app_option export_options[] = {
    {"out", 'o', "FILE", 0,
     "file of comma-separated values (default: OUT with .csv); - for the standard output"},
    {"csv", 0, "FILE", 0, "the same as -o"},
    {"errors", 0, NULL, 0, "after each signal its error bars, NAME:error"},
    {"events", 0, NULL, 0, "times and names of the run's events instead of signals"},
    OPTION_END};

static const app_option papers_options[] = {
    {"out", 'o', "FOLDER", 0, "folder for pictures, data and the page (default: papers_figures)"},
    {"list", 0, NULL, 0, "list the names of all figures"},
    {"short", 0, NULL, 0, "only the figures of the short verification"},
    {"check", 0, NULL, 0, "only check slopes and numbers: no pictures, no page"},
    {"models", 0, "FOLDER", 0, "folder of the models (default: those that came with the program)"},
    OPTION_END};

static const char papers_more[] = "Figures and experiments of the five papers on the generalized-alpha "
                                  "family, and what they leave open: each is "
                                  "run,\n"
                                  "its slopes and numbers are compared with what is expected, and it is "
                                  "drawn: NAME.svg, its data NAME.csv, and all "
                                  "of\n"
                                  "them in one page, index.html. FIGURE are names or patterns: 000-fig3, "
                                  "'002-*'. Without a name: all of them, "
                                  "which\n"
                                  "takes about ten seconds. Exit code 1: a slope or number is not as "
                                  "expected. Needs gnuplot, except with --check.";

static const app_option info_options[] = {{"signals", 0, NULL, 0, "list all signals with their units"},
                                          {"names", 0, NULL, 0, "only the names of signals, one per line"},
                                          {"model", 0, NULL, 0, "only the text of the model"},
                                          OPTION_END};

/* Options of a command, followed by those of settings. */
enum { MOST_OPTIONS = 128 };
static app_option run_options[MOST_OPTIONS], static_options[MOST_OPTIONS], kinematics_options[MOST_OPTIONS],
    converge_options[MOST_OPTIONS], sweep_options[MOST_OPTIONS], linearize_options[MOST_OPTIONS],
    modes_options[MOST_OPTIONS], sensitivity_options[MOST_OPTIONS], fit_options[MOST_OPTIONS],
    optimize_options[MOST_OPTIONS];

static const app_command commands[] = {
    {"run", app_run, "MODEL", 1, 1, "simulates a model and writes its results", run_options, run_more},
    {"static", app_static, "MODEL", 1, 1, "finds a static equilibrium, or a path of equilibria",
     static_options, static_more},
    {"kinematics", app_kinematics, "MODEL", 1, 1,
     "computes a prescribed motion and its forces, without integration", kinematics_options, kinematics_more},
    {"check", app_check, "MODEL", 1, 1, "checks a model: mobility, redundant constraints, initial values",
     check_options, NULL},
    {"write", app_write, "MODEL", 1, 1, "writes a model with its included files as one file", write_options,
     write_more},
    {"converge", app_converge, "MODEL", 1, 1, "halves the step repeatedly, and reports errors and orders",
     converge_options, converge_more},
    {"sweep", app_sweep, "MODEL [MEASURE...]", 1, -1,
     "runs a model with many parameters, and writes a table of measures", sweep_options, sweep_more},
    {"fit", app_fit, "MODEL DATA...", 2, -1, "finds parameters from measured signals", fit_options, fit_more},
    {"optimize", app_optimize, "MODEL", 1, 1, "finds parameters for which a measure is best",
     optimize_options, optimize_more},
    {"linearize", app_linearize, "MODEL", 1, 1, "writes a linear model from inputs to outputs",
     linearize_options, linearize_more},
    {"modes", app_modes, "MODEL", 1, 1, "computes frequencies, damping and shapes of small motions",
     modes_options, modes_more},
    {"sensitivity", app_sensitivity, "MODEL [MEASURE...]", 1, -1, "simulates with derivatives of signals or measures by parameters",
     sensitivity_options, sensitivity_more},
    {"reduce", app_reduce, "MODEL", 1, 1, "writes a beam as a file that modal bodies are read from",
     reduce_options, reduce_more},
    {"plot", app_plot, "FILE... SIGNAL...", 1, -1, "draws signals and expressions of them", plot_options,
     plot_more},
    {"view", app_view, "FILE... [SIGNAL...]", 1, -1,
     "writes a page that shows the machine moving, with plots", view_options, view_more},
    {"export", app_export, "OUT [SIGNAL...]", 1, -1,
     "writes signals (default: all) as comma-separated values", export_options, NULL},
    {"papers", app_papers, "[FIGURE...]", 0, -1, "draws the figures of the papers and checks their slopes",
     papers_options, papers_more},
    {"info", app_info, "OUT", 1, 1, "shows the contents of a result file", info_options, NULL}};

/* The option of a setting; name: buffer for its name. */
static app_option option_of(const ga_setting *at, char name[APP_OPTION_NAME])
{
  static const char *const values[] = {[GA_SETTING_NUMBER] = "X",
                                       [GA_SETTING_CHOICE] = "NAME",
                                       [GA_SETTING_FLAG] = "true|false",
                                       [GA_SETTING_INTEGER] = "N"};
  app_option_name(at, name);
  return (app_option){name, 0, strcmp(at->unit, "s") == 0 ? "T" : values[at->type], 0, at->about};
}

/* Which settings a command takes. */
typedef int (*takes_fn)(const ga_setting *at);

static int takes_all(const ga_setting *at)
{
  (void)at;
  return 1;
}

static int takes_motion(const ga_setting *at)
{
  return !at->of_results;
}

/* Those of one run, without error bars. */
static int takes_single_runs(const ga_setting *at)
{
  return !at->of_results && strcmp(at->name, "accuracy") != 0;
}

/* Settings of statics. */
static int takes_position(const ga_setting *at)
{
  static const char *const names[] = {"t_start", "linear_solver", "max_change"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(at->name, names[i]) == 0) return 1;
  return 0;
}

/* Nothing is integrated. */
static int takes_times(const ga_setting *at)
{
  static const char *const names[] = {"t_start",   "t_end",      "output", "linear_solver",
                                      "redundant", "max_change", "max_gap"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(at->name, names[i]) == 0) return 1;
  return 0;
}

/* Joins the options of a command and those of its settings. */
static void join_options(app_option to[MOST_OPTIONS], const app_option *rows, takes_fn takes)
{
  static char names[MOST_OPTIONS][APP_OPTION_NAME];
  ga_setting at;
  int n = 0;
  for (; rows[n].name; n++) to[n] = rows[n];
  for (int i = 0; ga_setting_at(i, &at) && n < MOST_OPTIONS - 1; i++)
    if (takes(&at)) to[n++] = option_of(&at, names[i]);
  to[n] = (app_option){0};
}

/* Makes the options of commands with settings, at the first call. */
static void make_options(void)
{
  static int made;
  if (made) return;
  join_options(run_options, run_rows, takes_all);
  join_options(static_options, static_rows, takes_position);
  join_options(kinematics_options, kinematics_rows, takes_times);
  join_options(converge_options, converge_rows, takes_motion);
  join_options(sweep_options, sweep_rows, takes_all);
  join_options(fit_options, fit_rows, takes_single_runs);
  join_options(optimize_options, optimize_rows, takes_single_runs);
  join_options(linearize_options, linearize_rows, takes_motion);
  join_options(modes_options, modes_rows, takes_motion);
  join_options(sensitivity_options, sensitivity_rows, takes_all);
  made = 1;
}

int app_n_commands(void)
{
  return (int)(sizeof commands / sizeof *commands);
}

const app_command *app_command_at(int i)
{
  make_options();
  return &commands[i];
}

const app_command *app_command_find(const char *name)
{
  make_options();
  for (int i = 0; i < app_n_commands(); i++)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}
