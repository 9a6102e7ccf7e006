/* The table of commands: a new one is a row here, its options, and its function. */
#include "app.h"
#include "task.h"

#include <string.h>

#define OPTION_END                                                                                           \
  {                                                                                                          \
    NULL, 0, NULL, 0, NULL                                                                                   \
  }
/* How a model is read, wherever one is. */
#define OPTIONS_MODEL                                                                                        \
  {"set", 0, "NAME=VALUE", 1, "a parameter of the model; the value as in a file, \"12 mm\""},                \
  {                                                                                                          \
    "allow-library", 0, NULL, 0, "let the model load shared libraries with functions of its user"            \
  }
static const app_option run_rows[] = {
    {"out", 'o', "FILE", 0, "result file (default: the model's name with .h5, in the present folder)"},
    OPTIONS_MODEL,
    {"resume", 0, NULL, 0, "go on where the result file's run ended"},
    {"checkpoint-every", 0, "N", 0, "steps between checkpoints (default 500); 0: none"},
    {"flush-every", 0, "S", 0, "seconds of the clock between writes to the disk (default 1)"},
    {"quiet", 'q', NULL, 0, "no progress, no report"},
    OPTION_END};

static const char run_more[] =
    "Results can be read while they grow, and after a crash. Ctrl-C stops soon, with everything "
    "on disk;\n"
    "--resume then goes on from the last checkpoint, and gives the same bits as a run that was never "
    "stopped. With\n"
    "--resume the model and the options must be as they were; only --t-end may be later. A run that had "
    "finished\n"
    "goes on so too, but not with the bits of one long run: its last step was made to end at the old end.";

static const app_option static_rows[] = {
    {"out", 'o', "FILE", 0, "result file (default: the model's name with _static.h5, in the present folder)"},
    OPTIONS_MODEL,
    {"load-steps", 0, "N", 0,
     "N load steps, more where Newton's iteration fails (default: all of it at once)"},
    {"path", 0, NULL, 0, "along the path of equilibria by arc length, past limit points of the load"},
    {"load", 0, "X", 0, "load factor to be reached with --load-steps or --path (default 1)"},
    {"load-step", 0, "X", 0, "first step of --path (default a tenth of the load)"},
    {"max-load-step", 0, "X", 0, "largest step of --path (default: none)"},
    {"max-steps", 0, "N", 0, "most load steps (default 1000)"},
    {"iterations", 0, "N", 0, "most iterations of Newton in a load step (default 30)"},
    {"hold-free", 0, NULL, 0, "what may move without a force stays where it is, instead of an error"},
    {"quiet", 'q', NULL, 0, "no report"},
    OPTION_END};

static const char static_more[] =
    "The load is what is out of balance at the model's initial positions; a load factor of 1 is all of it. "
    "Without\n"
    "--load-steps and --path any stable equilibrium is looked for that Newton's iteration or a relaxation "
    "leads to.\n"
    "An unstable one is reported as such. Records are load steps; static.load_factor is a signal: galpha "
    "plot "
    "--xy\n"
    "static.load_factor NAME. galpha run --from-equilibrium true begins a simulation there.";

static const app_option check_options[] = {OPTIONS_MODEL, OPTION_END};

static const app_option write_options[] = {
    {"out", 'o', "FILE", 0, "file to write (default: the standard output)"}, OPTIONS_MODEL, OPTION_END};

static const char write_more[] =
    "What is included is merged, parameters have the values of --set; names, order, expressions, units and "
    "repeats stay\n"
    "as they were written. Comments are lost. The result makes the same machine, to the last bit.";

static const app_option converge_rows[] = {
    {"out", 'o', "FILE", 0,
     "picture of the errors, .svg, .png or .pdf (default: the model's name with _orders.svg)"},
    {"levels", 0, "N", 0, "runs in the table (default 5), each with half the step of the one before"},
    OPTIONS_MODEL,
    OPTION_END};

static const char converge_more[] =
    "Errors are those at the end, against a run with a quarter of the least step; 2-norms over all "
    "components. Where\n"
    "the model has error control, the tolerance is halved instead, unless --step is given. The picture, of "
    "both "
    "axes\n"
    "logarithmic, is drawn by gnuplot; where that cannot be done, and -o was not given, the table alone is "
    "exit code 0.";

static const app_option linearize_rows[] = {
    {"inputs", 0, "NAMES", 1,
     "inputs, with commas between them: outputs of blocks, drives, signals that are used"},
    {"outputs", 0, "NAMES", 1, "outputs, with commas between them: any signals"},
    {"at", 0, "T", 0, "time of the run about which [s] (default: its start)"},
    {"out", 'o', "FILE", 0, "HDF5 file (default: the model's name with _linear.h5, in the present folder)"},
    {"csv", 0, "FILE", 0, "comma-separated values instead, or as well with -o"},
    OPTIONS_MODEL,
    OPTION_END};

static const char linearize_more[] = "dx/dt = A x + B u, y = C x + D u, for small changes x, u, y about a "
                                     "state. An input is added to what its\n"
                                     "signal is, and all who use it see that; a drive's is the acceleration "
                                     "of a motion added to its own. States\n"
                                     "are coordinates and velocities of bodies that are independent, and "
                                     "states of blocks. The state should be an\n"
                                     "equilibrium or a steady motion; a warning says where it is not.";

static const app_option modes_rows[] = {
    {"out", 'o', "FILE", 0, "HDF5 file of modes with their shapes (default: none)"},
    {"csv", 0, "FILE", 0, "modes and shapes as comma-separated values; - for the standard output"},
    {"count", 'n', "N", 0, "modes wanted, those of smallest eigenvalue (default 10, or all there are)"},
    {"at", 0, "T", 0, "about the state at this time of a run [s] (default: the start)"},
    {"turning", 0, NULL, 0,
     "about the steady turning near that state, in axes that turn with the machine: all bodies turn about "
     "one "
     "axis"},
    OPTIONS_MODEL,
    OPTION_END};

static const char modes_more[] =
    "Eigenvalues of the linear equations about an equilibrium or a steady motion, with constraints and "
    "controllers,\n"
    "those of smallest size first. Shapes are derivatives of all signals. What is 0 but for rounding, as "
    "motions of a\n"
    "body that nothing holds, is 0.";

static const app_option plot_options[] = {
    {"out", 'o', "FILE", 0, "picture, .svg, .png or .pdf"},
    {"xy", 0, "A B", 1, "signal B over signal A instead of over time"},
    {"band", 0, NULL, 0, "error bars as a band around each signal over time"},
    {"from", 0, "T", 0, "first time shown [s]"},
    {"to", 0, "T", 0, "last time shown [s]"},
    {"title", 0, "TEXT", 0, "title (default: that of the model)"},
    OPTION_END};

static const char plot_more[] = "OUT are result files, one or several to be compared; SIGNAL are names of "
                                "signals, in which * stands for\n"
                                "any letters: 'arm.*'. Signals of one unit share a panel. galpha info OUT "
                                "lists the signals. Needs gnuplot.";

static const app_option export_options[] = {
    {"csv", 0, "FILE", 0, "comma-separated values, a line of names first; - for the standard output"},
    {"errors", 0, NULL, 0, "behind every signal its error bars, NAME:error"},
    OPTION_END};

static const app_option info_options[] = {
    {"signals", 0, NULL, 0, "all signals with their units, however many"},
    {"names", 0, NULL, 0, "only the names of signals, one in a line"},
    {"model", 0, NULL, 0, "only the text of the model"},
    OPTION_END};

/* Rows of a command, and behind them those of the table of settings. */
enum { MOST_OPTIONS = 128 };
static app_option run_options[MOST_OPTIONS], static_options[MOST_OPTIONS], converge_options[MOST_OPTIONS],
    linearize_options[MOST_OPTIONS], modes_options[MOST_OPTIONS];

static const app_command commands[] = {
    {"run", app_run, "MODEL", 1, 1, "simulates a model and writes its results", run_options, run_more},
    {"static", app_static, "MODEL", 1, 1, "finds a static equilibrium of a model, or a path of them",
     static_options, static_more},
    {"check", app_check, "MODEL", 1, 1,
     "reports mobility, redundant constraints and initial consistency of a model", check_options, NULL},
    {"write", app_write, "MODEL", 1, 1, "writes a model as one file, with all that it includes",
     write_options, write_more},
    {"converge", app_converge, "MODEL", 1, 1,
     "halves the step again and again, reports errors and their orders", converge_options, converge_more},
    {"linearize", app_linearize, "MODEL", 1, 1, "writes the linear model between inputs and outputs",
     linearize_options, linearize_more},
    {"modes", app_modes, "MODEL", 1, 1, "computes frequencies, damping and shapes of small motions",
     modes_options, modes_more},
    {"plot", app_plot, "OUT... SIGNAL...", 1, -1, "draws signals of results", plot_options, plot_more},
    {"export", app_export, "OUT SIGNAL...", 1, -1, "writes results as comma-separated values; no SIGNAL: all",
     export_options, NULL},
    {"info", app_info, "OUT", 1, 1, "shows what is in a result file", info_options, NULL}};

/* The option of a setting; name: room for its name. */
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

/* Nothing moves. */
static int takes_position(const ga_setting *at)
{
  static const char *const names[] = {"t_start", "linear_solver", "max_change"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(at->name, names[i]) == 0) return 1;
  return 0;
}

/* The rows of a command, and behind them those of the table of settings that it takes. */
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

/* Once: options of the commands that simulate. */
static void make_options(void)
{
  static int made;
  if (made) return;
  join_options(run_options, run_rows, takes_all);
  join_options(static_options, static_rows, takes_position);
  join_options(converge_options, converge_rows, takes_motion);
  join_options(linearize_options, linearize_rows, takes_motion);
  join_options(modes_options, modes_rows, takes_motion);
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
