/* galpha/study.h: many runs of one model. Measures of a run, designs (which values parameters take), sweeps
 * over a design by several threads or processes, and the table of their results. docs/sweep.md has examples.
 */
#ifndef GALPHA_STUDY_H
#define GALPHA_STUDY_H

#include "galpha/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Measures -----------------------------------------------------------------------------------------
 *
 * Numbers that are measured along a run: "max(hinge.fx)", "settling(arm.angle, 2%)", and expressions of them,
 * "max(f.force)/mean(f.force)". Arguments are expressions of signals, of the time t and of parameters. They
 * are evaluated on the dense output of every step, so that they do not depend on when states are recorded.
 * GA_MEASURE_LIST(X): name, number of further arguments that are needed and allowed, meaning. */
#define GA_MEASURE_LIST(X)                                                                                   \
  X(MAX, "max", 0, 0, "max(x): largest value")                                                               \
  X(MIN, "min", 0, 0, "min(x): smallest value")                                                              \
  X(RANGE, "range", 0, 0, "range(x): largest minus smallest value")                                          \
  X(MEAN, "mean", 0, 0, "mean(x): mean over time")                                                           \
  X(RMS, "rms", 0, 0, "rms(x): root of the mean of squares over time")                                       \
  X(STD, "std", 0, 0, "std(x): rms of the distance from the mean")                                           \
  X(INTEGRAL, "integral", 0, 0, "integral(x): over time")                                                    \
  X(INITIAL, "initial", 0, 0, "initial(x): value at the start")                                              \
  X(FINAL, "final", 0, 0, "final(x): value at the end")                                                      \
  X(AT, "at", 1, 1, "at(3 s, x): value at a time")                                                           \
  X(PEAK_TIME, "peak_time", 0, 0, "peak_time(x): time of the largest value")                                 \
  X(LOW_TIME, "low_time", 0, 0, "low_time(x): time of the smallest value")                                   \
  X(CROSSING, "crossing", 1, 2, "crossing(x, level), crossing(x, level, n): time of the n-th crossing")      \
  X(CROSSINGS, "crossings", 1, 1, "crossings(x, level): number of crossings")                                \
  X(SETTLING, "settling", 1, 2,                                                                              \
    "settling(x, 2%), settling(x, 2%, target): time from the start after which x stays within 2 % of its "   \
    "change around its final value, or around the target")                                                   \
  X(RISE, "rise", 0, 2, "rise(x), rise(x, 10%, 90%): time from 10 % to 90 % of the change")                  \
  X(OVERSHOOT, "overshoot", 0, 0, "overshoot(x): how far x goes beyond its final value, over its change")

/* The name and meaning of measure i = 0, 1, ...; NULL: there are no more. text may be NULL. */
GA_API const char *ga_measure_at(int i, const char **text);

typedef struct ga_study_parameter { /* a number that expressions of measures may use */
  const char *name;
  const char *unit; /* of SI; "": none */
  double value;
} ga_study_parameter;

typedef struct ga_measures ga_measures;

/* Measures of a built machine. *which (may be NULL): the text that is wrong, −1: none. Errors go to ctx,
 * which may differ from the machine's. */
GA_API ga_status ga_measures_create(ga_context *ctx, const ga_machine *m, int n, const char *const *texts,
                                    int n_parameters, const ga_study_parameter *parameters, int *which,
                                    ga_measures **out);
GA_API void ga_measures_destroy(ga_measures **measures);
GA_API const char *ga_measures_unit(const ga_measures *measures, int i); /* of SI; "1": a plain number */
/* With the state after a start of the stepper, and when all of the run is over. meter may be NULL: energies
 * that are summed up along a run are then 0. */
GA_API ga_status ga_measures_start(ga_measures *measures, ga_stepper *st, const ga_meter *meter);
/* After every step of the simulator, before the meter is updated. */
GA_API ga_status ga_measures_step(ga_measures *measures, ga_stepper *st, const ga_meter *meter);
/* values[n]; NaN where a measure has no value, ga_measures_note() says why. scales[n] (may be NULL): sizes
 * that errors of the values can be compared with. */
GA_API ga_status ga_measures_end(ga_measures *measures, double *values, double *scales);
/* Why measure i has no value; "": it has one. */
GA_API const char *ga_measures_note(const ga_measures *measures, int i);

/* Derivatives of measures by the parameters of a sensitivity of the run (galpha/core.h). The numbers that the
 * measures are, are differentiated: on the same dense output, with the same nodes of integrals. Values at
 * extremes have the derivative at their time (envelope theorem), times at which something happens that of
 * their condition. */
typedef struct ga_measure_by { /* one for each parameter of the sensitivity, in its order */
  const ga_model_variation
      *variation; /* borrowed; NULL: it enters through the state alone, as an initial value */
  int parameter;  /* number of the parameter given to ga_measures_create() that it is; −1: none */
} ga_measure_by;
/* Before ga_measures_start(), which is then called after ga_sensitivity_begin(), ga_measures_step() after
 * ga_sensitivity_step(), ga_measures_end() before anything is changed. Borrows se, copies by[n]. */
GA_API ga_status ga_measures_differentiate(ga_measures *measures, ga_sensitivity *se, int n,
                                           const ga_measure_by *by);
/* After ga_measures_end(): slopes[n] of measure i; NaN where it has no value or no derivative. */
GA_API ga_status ga_measures_slopes(const ga_measures *measures, int i, double *slopes);
/* Why measure i has no derivative, or one of one side only, as where two maxima are equal: slopes are then
 * those of one of them. "": it has one. */
GA_API const char *ga_measures_slope_note(const ga_measures *measures, int i);

/* The same by an adjoint of the run (ga_adjoint): the gradient of one measure by all parameters in one pass backwards,
 * equal to its slopes but for rounding. For initial, final, at, mean, integral, rms, std and their expressions. Before
 * ga_measures_start(), which is then called after ga_adjoint_begin(), ga_measures_step() after ga_adjoint_step().
 * Borrows the adjoint, copies by[n], one for each of its parameters. */
GA_API ga_status ga_measures_use_adjoint(ga_measures *measures, ga_adjoint *adjoint, int n, const ga_measure_by *by);
/* Why measure i has no gradient by an adjoint, though it may have slopes; "": it may have one. */
GA_API const char *ga_measures_adjoint_note(const ga_measures *measures, int i);
/* After ga_measures_end(): gradient[n] of measure i; NaN where it has no value or no derivative. Repeats the steps of
 * the run. */
GA_API ga_status ga_measures_gradient(ga_measures *measures, int i, double *gradient);

/* ---- Designs: which values the parameters take --------------------------------------------------------- */

typedef enum ga_sampling {
  GA_SAMPLE_RANDOM = 0, /* independent draws (Monte Carlo) */
  GA_SAMPLE_LATIN /* Latin hypercube: each parameter has one draw in each of n equally likely intervals */
} ga_sampling;

/* Axes of a design: every grid or list of one parameter is one; a table of columns is one; all distributions
 * together are one, with `samples` points. Runs are all combinations of the axes, the last axis changing
 * fastest, or, with `zip`, first with first, second with second. */
typedef struct ga_design_opts { /* start from ga_design_defaults() */
  int n_set;
  const char *const *set; /* [n_set] "k=1:10:0.5kN/m", "k=1,2,5", "k=linspace(1,10,19)",
                             "k=geomspace(1,1000,4)", "c=normal(2000,100)"; "k=3" is a constant */
  int n_columns;          /* of a table */
  long n_rows;
  const char *const *names, *const *units; /* [n_columns] units of SI, "": none */
  const double *columns;                   /* [n_columns × n_rows] */
  int zip;
  ga_sampling sampling;
  long samples;       /* points of distributions; 0: they are refused */
  unsigned long seed; /* of all draws; default 1. Draws depend on it, the parameter's place and the number of
                         the point, on nothing else */
  long most;          /* runs that are allowed; default 10 million */
} ga_design_opts;

/* Distributions: name, arguments, as GA_DESIGN_... for "c=normal(2000,100)"; min=, max= truncate each. */
#define GA_DISTRIBUTION_LIST(X)                                                                              \
  X(UNIFORM, "uniform", 2, 0, "uniform(low, high)")                                                          \
  X(LOGUNIFORM, "loguniform", 2, 0, "loguniform(low, high): its logarithm is uniform")                       \
  X(NORMAL, "normal", 2, 0, "normal(mean, deviation)")                                                       \
  X(LOGNORMAL, "lognormal", 2, 0, "lognormal(mean, deviation): both of the quantity, not of its logarithm")  \
  X(TRIANGULAR, "triangular", 3, 0, "triangular(low, mode, high)")                                           \
  X(EXPONENTIAL, "exponential", 1, 0, "exponential(mean)")                                                   \
  X(WEIBULL, "weibull", 2, 1, "weibull(scale, shape)")

/* Name and meaning of distribution i = 0, 1, ...; NULL: there are no more. text may be NULL. */
GA_API const char *ga_distribution_at(int i, const char **text);

typedef struct ga_design ga_design;

GA_API ga_design_opts ga_design_defaults(void);
GA_API ga_status ga_design_create(ga_context *ctx, const ga_design_opts *opts, ga_design **out);
GA_API void ga_design_destroy(ga_design **design);
GA_API long ga_design_n_runs(const ga_design *design);
GA_API int ga_design_n_parameters(const ga_design *design); /* those that vary */
GA_API const char *ga_design_name(const ga_design *design, int i);
GA_API const char *ga_design_unit(const ga_design *design, int i); /* of SI; "": none was given */
/* values[n_parameters] of run 0 <= run < n_runs. */
GA_API ga_status ga_design_values(const ga_design *design, long run, double *values);

/* ---- Sweeps ---------------------------------------------------------------------------------------------
 */

typedef enum ga_study_status {
  GA_STUDY_NOT_RUN = -1,
  GA_STUDY_DONE = 0,
  GA_STUDY_FAILED = 1, /* the model could not be built or the simulation failed: measures are NaN */
  GA_STUDY_INACCURATE =
      2 /* measures are those of the smallest tolerance tried, but `accuracy` is not reached */
} ga_study_status;

typedef struct ga_study_row { /* the result of one run */
  long run;
  ga_study_status status;
  int warnings;         /* of the library and of the run, the first of which is in text */
  const char *text;     /* why it failed, a measure has no value, or what was warned of; "": nothing */
  const double *values; /* [n_measures], then [n_signals × n_times] */
} ga_study_row;

typedef struct ga_study_opts { /* start from ga_study_defaults(); all is copied but the design */
  const char *model;           /* path */
  int allow_library;           /* as in ga_model_opts */
  const ga_design *design;
  int n_measures;
  const char *const *measures, *const *labels; /* [n_measures] labels NULL: the texts */
  int n_signals;                               /* that are kept over time */
  const char *const *signals;
  const ga_run_settings *settings; /* values of the settings `given`, in place of the model's; */
  int n_given;                     /* NULL: none */
  const char *const *given;
  const char *journal; /* file of finished runs; NULL: none */
  int resume;          /* 1: goes on with what the journal has; 0: an existing one is refused */
} ga_study_opts;

typedef struct ga_study ga_study;
typedef struct ga_study_worker ga_study_worker;

GA_API ga_study_opts ga_study_defaults(void);
/* Reads the model once with the values of run 0, and checks all names: wrong ones are errors here. */
GA_API ga_status ga_study_create(ga_context *ctx, const ga_study_opts *opts, ga_study **out);
GA_API void ga_study_destroy(ga_study **study);
/* The model with the values of run 0, for its messages; also after a failure of ga_study_create() that it has
 * caused, where *out is not NULL then. */
GA_API const ga_model *ga_study_model(const ga_study *study);
GA_API int ga_study_n_measures(const ga_study *study);
GA_API const char *ga_study_label(const ga_study *study, int i);
GA_API const char *ga_study_unit(const ga_study *study, int i);
GA_API int ga_study_width(const ga_study *study);         /* numbers in a row */
GA_API long ga_study_n_done(const ga_study *study);       /* runs with a row, */
GA_API long ga_study_n_failed(const ga_study *study);     /* those that failed, */
GA_API long ga_study_n_inaccurate(const ga_study *study); /* and the others by their status */
/* Of all that the rows depend on: model, design, measures, settings. It is the attribute "digest" of a table.
 */
GA_API unsigned long long ga_study_digest(const ga_study *study);
GA_API ga_study_status ga_study_status_of(const ga_study *study, long run);
GA_API const double *ga_study_values(const ga_study *study, long run); /* [n_measures]; NULL: no such run */
GA_API const char *ga_study_text(const ga_study *study, long run);     /* "": none */

/* The next run that nobody has taken; −1: there is none. From any thread. */
GA_API long ga_study_take(ga_study *study);
/* Keeps a row and writes it to the journal. From any thread. */
GA_API ga_status ga_study_store(ga_study *study, const ga_study_row *row);
/* A worker makes runs, one after the other; each thread needs one of its own. stop (may be NULL): a run is
 * given up when it becomes other than 0. */
GA_API ga_status ga_study_worker_create(const ga_study *study, const volatile int *stop,
                                        ga_study_worker **out);
GA_API void ga_study_worker_destroy(ga_study_worker **worker);
/* GA_OK: *row is valid until the next call, also that of a run that failed; GA_STOPPED: by `stop`. All others end a
 * sweep: GA_ERR_INCONSISTENT: the model's files have changed since it was created. */
GA_API ga_status ga_study_compute(ga_study_worker *worker, long run, ga_study_row *row);
/* The last failure of a worker's calls; NULL for NULL. */
GA_API const ga_error *ga_study_worker_error(const ga_study_worker *worker);

/* Called every `poll_seconds` by the thread that has called ga_study_run(); non-zero stops the sweep. */
typedef int (*ga_study_poll_fn)(void *user, ga_study *study);
/* Makes all runs that are left by `jobs` threads. GA_STOPPED: by poll. */
GA_API ga_status ga_study_run(ga_study *study, int jobs, double poll_seconds, ga_study_poll_fn poll,
                              void *user);
/* The table, HDF5, or comma-separated values where the path ends in .csv; runs that were not made have the
 * status −1. Written in one piece; the bytes depend on the rows alone. */
GA_API ga_status ga_study_write(ga_study *study, const char *path);

/* ---- Fits: parameters from measured signals --------------------------------------------------------------
 *
 * Weighted nonlinear least squares by the method of Levenberg and Marquardt with bounds, with derivatives of
 * the runs themselves (ga_sensitivity), or, where these are refused, differences of runs. docs/fit.md has the
 * method. */

/* Called every `poll_seconds` by the thread that has called; non-zero stops: what is best so far is kept. */
typedef int (*ga_search_poll_fn)(void *user, long runs, double best);

typedef struct ga_fit_data { /* one experiment: measured values over time */
  const char *name;          /* for messages; needed */
  int n_columns;
  long n_rows;
  const double *time;         /* [n_rows] [s] ascending; equal times are allowed */
  const char *const *signals; /* [n_columns] of the model */
  const double *values;       /* [n_columns × n_rows] in SI units; NaN: missing */
  const double *sigma; /* [n_columns] standard deviations of the values, in SI units; 0, or NULL: not known,
                          they are estimated */
  int n_set;           /* parameters that this experiment alone has */
  const char *const *set; /* [n_set] "load=2 kg" */
} ga_fit_data;

typedef struct ga_fit_opts { /* start from ga_fit_defaults() */
  const char *model;         /* path */
  int allow_library;
  int n_set; /* parameters of all experiments */
  const char *const *set;
  int n_vary;              /* at most 64 */
  const char *const *vary; /* [n_vary] "k", "k=3 N/m", "k=10:1:100N/m": start, lower and upper bound */
  int n_data;
  const ga_fit_data *data;         /* [n_data] borrowed for the call */
  const ga_run_settings *settings; /* values of the settings `given`, in place of the model's; */
  int n_given; /* NULL: none. t_end: later rows are not used; without it runs end with the data */
  const char *const *given;
  int jobs;               /* runs at the same time; default 1. It does not change the result */
  int most_iterations;    /* default 50 */
  double confidence;      /* of intervals; default 0.95 */
  int differences;        /* 1: differences of runs in place of derivatives */
  double poll_seconds;    /* default 0.05 */
  ga_search_poll_fn poll; /* NULL: none */
  void *user;
} ga_fit_opts;

typedef enum ga_fit_end {
  GA_FIT_CONVERGED = 0,
  GA_FIT_ITERATIONS, /* most_iterations were not enough */
  GA_FIT_STALLED,    /* no step reduces the residuals, but they are not at a minimum */
  GA_FIT_STOPPED     /* by poll */
} ga_fit_end;

typedef struct ga_fit_parameter { /* in SI units */
  const char *name, *unit;        /* unit "": none is known */
  double start, lower, upper;     /* as searched */
  double value;
  double error;     /* standard error; infinite: the data do not determine it; NaN: it is at a bound */
  double low, high; /* interval of confidence */
  int at_bound;     /* −1: at the lower one, 1: at the upper one */
} ga_fit_parameter;

typedef struct ga_fit_column { /* a column of an experiment */
  int data, column;
  const char *signal, *unit;
  long n;             /* values used */
  double rms;         /* of its residuals, in SI units, */
  double sigma;       /* standard deviation of its values: given, or estimated */
  double correlation; /* of neighbouring residuals */
} ga_fit_column;

typedef struct ga_fit_report {
  ga_fit_end end;
  int iterations;
  long runs, failed;  /* runs made, and those of them that failed */
  int by_differences; /* 1: exact derivatives were refused, or not wanted; `why` says why */
  const char *why;
  long n_values;     /* measured values used */
  int freedom;       /* degrees of freedom, */
  double chi2;       /* weighted sum of squares, */
  double chi2_start; /* and that of the start, with the same weights */
  double condition;  /* of the scaled matrix of derivatives */
  int n;
  const ga_fit_parameter *parameter; /* [n] */
  const double *correlation;         /* [n × n] of the estimates; 0 beside parameters without error */
  int n_columns;
  const ga_fit_column *column;
  int n_notes;
  const char *const *notes; /* [n_notes] what a user should know: sentences */
} ga_fit_report;

typedef struct ga_fit ga_fit;

GA_API ga_fit_opts ga_fit_defaults(void);
/* *out exists where there is a result, also if it is not converged: ga_fit_result() says so. GA_ERR_ARGUMENT:
 * wrong options, data or model (ga_fit_model() has its messages); GA_ERR_NAN: the run of the start fails. */
GA_API ga_status ga_fit_create(ga_context *ctx, const ga_fit_opts *opts, ga_fit **out);
GA_API void ga_fit_destroy(ga_fit **fit);
GA_API const ga_fit_report *ga_fit_result(const ga_fit *fit); /* NULL: there is none */
/* The model with the start, for its messages; NULL: it was not read. */
GA_API const ga_model *ga_fit_model(const ga_fit *fit);
/* [n_rows] of a column of an experiment: the model's values; NaN behind the end of runs. NULL: no such
 * column. */
GA_API const double *ga_fit_curve(const ga_fit *fit, int data, int column);

/* ---- Optimisation: parameters for which a measure is best, under constraints -----------------------------
 *
 * By NLopt, with derivatives of the measures where the runs have them. A library without NLopt refuses, by
 * name. */

/* GA_ALGORITHM_LIST(X): name, word; 1: uses derivatives; 1: takes constraints; 1: searches all of the bounds,
 * which it needs; meaning. */
#define GA_ALGORITHM_LIST(X)                                                                                 \
  X(AUTO, "auto", 0, 1, 0,                                                                                   \
    "slsqp where there are exact derivatives; otherwise cobyla, or bobyqa without constraints")              \
  X(SLSQP, "slsqp", 1, 1, 0, "sequential quadratic programming (Kraft 1994)")                                \
  X(MMA, "mma", 1, 1, 0, "the method of moving asymptotes (Svanberg 2002)")                                  \
  X(COBYLA, "cobyla", 0, 1, 0, "linear models in a trust region, without derivatives (Powell 1994)")         \
  X(BOBYQA, "bobyqa", 0, 0, 0, "quadratic models in a trust region, without derivatives (Powell 2009)")      \
  X(SBPLX, "sbplx", 0, 0, 0, "simplexes in subspaces, for noisy or kinked measures (Rowan 1990)")            \
  X(DIRECT, "direct", 0, 0, 1,                                                                               \
    "rectangles divided where it promises most, global (Gablonsky and Kelley 2001)")                         \
  X(CRS, "crs", 0, 0, 1, "controlled random search, global (Kaelo and Ali 2006)")                            \
  X(ISRES, "isres", 0, 1, 1, "evolution with constraints, global (Runarsson and Yao 2005)")

typedef enum ga_algorithm {
#define GA_ALGORITHM_ENUM(name, word, slopes, constraints, global, text) GA_ALGORITHM_##name,
  GA_ALGORITHM_LIST(GA_ALGORITHM_ENUM)
#undef GA_ALGORITHM_ENUM
} ga_algorithm;
/* Word and meaning of algorithm i = 0, 1, ...; NULL: there are no more. text may be NULL. */
GA_API const char *ga_algorithm_at(int i, const char **text);

typedef struct ga_optimize_opts { /* start from ga_optimize_defaults() */
  const char *model;              /* path */
  int allow_library;
  int n_set;
  const char *const *set;
  int n_vary;              /* at most 64 */
  const char *const *vary; /* [n_vary] "k=10:1:100N/m": start, lower and upper bound */
  const char *objective;   /* a measure */
  int maximize;            /* 1: the largest value; default 0 */
  int n_constraints;
  const char *const *constraints; /* [n_constraints] "max(abs(x)) <= 20 mm", also >= and ==; right: a number
                                     or a measure */
  const ga_run_settings *settings;
  int n_given;
  const char *const *given;
  ga_algorithm algorithm;
  double precision;       /* [-] relative change of the parameters at which a search ends; default 1e-6 */
  long most_points;       /* points at which runs are made; default 1000 */
  unsigned long seed;     /* of algorithms that draw numbers; default 1 */
  int differences;        /* 1: differences of runs in place of derivatives */
  int jobs;               /* default 1; it does not change the result */
  double poll_seconds;    /* default 0.05 */
  ga_search_poll_fn poll; /* NULL: none */
  void *user;
} ga_optimize_opts;

typedef enum ga_optimize_end {
  GA_OPTIMIZE_CONVERGED = 0,
  GA_OPTIMIZE_POINTS,     /* most_points were not enough */
  GA_OPTIMIZE_INFEASIBLE, /* no point that was tried meets the constraints */
  GA_OPTIMIZE_FAILED,     /* the algorithm gave up */
  GA_OPTIMIZE_STOPPED     /* by poll */
} ga_optimize_end;

typedef struct ga_optimize_parameter { /* in SI units */
  const char *name, *unit;
  double start, lower, upper, value;
  int at_bound; /* −1: at the lower one, 1: at the upper one */
  double slope; /* of the objective there; NaN: not known */
} ga_optimize_parameter;

typedef struct ga_optimize_constraint {
  const char *text, *unit;
  double value, limit; /* of its left and right side, in SI units */
  double excess;       /* by how much it is not met; <= 0: it is */
  int active;          /* 1: it is met without reserve */
  double multiplier;   /* by how much the best value changes with the limit; NaN: not known */
} ga_optimize_constraint;

typedef struct ga_optimize_report {
  ga_optimize_end end;
  const char *algorithm; /* the word of the one that was used last */
  long points, runs, failed;
  int by_differences; /* 1: exact derivatives were refused, or not wanted; `why` says why */
  const char *why;
  double start, value; /* of the objective */
  const char *unit;
  double verified; /* the objective in a run with more accuracy; NaN: it failed */
  double gradient; /* [-] what is left of the scaled gradient of the objective with constraints; NaN: not
                      known */
  int n;
  const ga_optimize_parameter *parameter; /* [n] */
  int n_constraints;
  const ga_optimize_constraint *constraint; /* [n_constraints] */
  int n_notes;
  const char *const *notes; /* sentences */
} ga_optimize_report;

typedef struct ga_optimum ga_optimum;

GA_API ga_optimize_opts ga_optimize_defaults(void);
GA_API int ga_optimize_available(void); /* 1: the library was built with NLopt */
/* As ga_fit_create(). */
GA_API ga_status ga_optimize(ga_context *ctx, const ga_optimize_opts *opts, ga_optimum **out);
GA_API void ga_optimum_destroy(ga_optimum **optimum);
GA_API const ga_optimize_report *ga_optimum_result(const ga_optimum *optimum); /* NULL: there is none */
GA_API const ga_model *ga_optimum_model(const ga_optimum *optimum);            /* NULL: it was not read */

#ifdef __cplusplus
}
#endif
#endif
