/* galpha/model.h: model files. YAML (JSON is a subset) with parameters, expressions and units, read into a
 * machine and the settings of its simulation. docs/model-format.md lists every key.
 *
 * Reading does not stop at the first error: all errors that can be found are reported, with file, line and
 * column. */
#ifndef GALPHA_MODEL_H
#define GALPHA_MODEL_H

#include "galpha/mbs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_message_level { GA_MESSAGE_ERROR = 0, GA_MESSAGE_WARNING = 1 } ga_message_level;

typedef struct ga_model_message {
  ga_message_level level;
  const char *file;      /* as it was named by the caller or an include; "" if there is none (--set) */
  int line, column;      /* from 1; 0: not in a file */
  const char *text;      /* what was read, what was expected, the nearest valid name */
  const ga_error *error; /* the same as data; never NULL, its `text` is not used. `field` has the keys from
                            the part to the value: "at.rotation" */
  int n_more;            /* number of messages about the same place that were left out; `text` says so */
} ga_model_message;

/* A motion that is prescribed beside a model, for inverse dynamics: a drive, whose force is the force that
 * the motion needs. It takes the place of actuators on this coordinate, whose forces are 0, and of the
 * function of a drive that it has. Its initial values are those of the motion at t_start. */
enum { GA_MOST_PRESCRIBED = 64 };
typedef struct ga_prescription {
  const char *coordinate; /* "hinge.angle", or a scalar body */
  const char *function;   /* as in a model file: "0.5*sin(2*t)", "{type: motion, to: 1}"; SI units */
} ga_prescription;

/* A C function of the program that reads the model, for blocks {type: library, symbol: name} without
 * `library`. The model gives its inputs, n_x, n_out and x0. */
typedef struct ga_model_function {
  const char *name;              /* needed until the model is read */
  ga_block_fn function;          /* needed */
  ga_block_jacobian_fn jacobian; /* NULL: differences */
  void *user;                    /* handed to both; borrowed as long as the model lives */
} ga_model_function;

typedef struct ga_model_opts {      /* start from ga_model_defaults() */
  int n_set;                        /* overrides of parameters */
  const char *const *set;           /* [n_set] "name=value", value as in a file */
  int n_prescribe;                  /* prescribed motions, at most GA_MOST_PRESCRIBED */
  const ga_prescription *prescribe; /* [n_prescribe] */
  int n_functions;
  const ga_model_function *functions; /* [n_functions] */
  const ga_form *form;                /* instead of the model's key `form`, for comparisons; NULL: as the
                                         model says. ga_model_text() and ga_model_write_text() do not have it */
  int allow_library;                  /* 1: shared libraries with user functions may be loaded */
  int without_meshes;                 /* 1: shapes whose meshes are in files are left out */
  long max_parts;                     /* parts that a model may have, repeats included; default 1000000 */
} ga_model_opts;

/* Which parameters of the generalized-α family, see ga_scheme. */
typedef enum ga_scheme_kind {
  GA_SCHEME_RHO = 0, /* by `rho`: ga_scheme_rho() */
  GA_SCHEME_HHT,     /* by `hht_alpha`: ga_scheme_hht() */
  GA_SCHEME_NEWMARK  /* by `newmark_beta` and `newmark_gamma`: ga_scheme_newmark() */
} ga_scheme_kind;

/* Settings of a run, from the model's section `simulation`, or defaults. */
typedef enum ga_velocity_projection { /* of a run */
                                      GA_NO_PROJECTION = 0,
                                      GA_PLAIN_PROJECTION, /* GA_PROJECT_PLAIN */
                                      GA_OFFSET_PROJECTION /* GA_PROJECT_OFFSET */
} ga_velocity_projection;

typedef struct ga_run_settings {
  double t_start, t_end; /* [s] default 0, 1 */
  double step;           /* [s] > 0: fixed steps; 0: error control */
  double tolerance;      /* [-] rtol of error control, atol is a hundredth of it; default 1e-4 */
  double accuracy; /* [-] largest error bars, as a fraction of each signal's range; 0: no error bars. Default
                      1e-3, but 0 if the model gives step or tolerance and not accuracy */
  int accuracy_by_default; /* 1: the model gives none of step, tolerance and accuracy */
  ga_error_mode error;     /* of error control; default GA_PER_STEP */
  ga_error_norm norm;      /* default GA_NORM_MAX */
  int error_forces;        /* as ga_simulate_opts.error_forces; default 0 */
  double atol, rtol_v, atol_v, rtol_x,
      atol_x;                         /* as in ga_simulate_opts; 0: tolerance, or a hundredth of it */
  ga_method method;                   /* default GA_STABILIZED */
  ga_scheme_kind scheme;              /* default GA_SCHEME_RHO */
  double rho;                         /* [-] default 0.8 */
  double hht_alpha;                   /* [-] default -1/9, which damps as rho 0.8 does */
  double newmark_beta, newmark_gamma; /* [-] default 1/4, 1/2: no damping */
  int commutator;                     /* as in ga_stepper_opts, */
  ga_adjust adjust;
  int move_offset;
  int order; /* of collocation; 0 (default): chosen */
  ga_mass_alpha mass_alpha;
  int full_solve;
  double newton_tolerance; /* [-] tol of ga_newton_opts, */
  int newton_iterations;   /* its max_iterations, */
  ga_reuse newton_factors; /* reuse, */
  int newton_patience;     /* patience, */
  ga_eta_terms eta_terms;
  ga_predictor predictor;
  ga_lu_kind linear_solver; /* lu of ga_stepper_opts */
  ga_redundant redundant;
  int from_equilibrium; /* 1: the start is at a static equilibrium, see ga_equilibrium; default 0 */
  int project, shift_a, perturb_v;         /* and in ga_start_opts; the same defaults */
  ga_velocity_projection project_velocity; /* once during a run; default GA_NO_PROJECTION */
  double project_velocity_at;              /* [s] after the first step that ends there or later */
  int n_a0;                                /* 0 (default), or the number of velocities: */
  const double *a0;                        /* [n_a0] a of ga_start_opts, in SI units */
  double max_step, min_step; /* [s] of error control, see h_max and h_min of ga_simulate_opts; 0: chosen */
  double first_step;         /* [s] of error control; 0: chosen */
  double max_change;         /* [-] of the start, see ga_start_opts, */
  double max_gap;            /* [-] likewise */
  int defect_points;         /* of ga_simulate_opts */
  double output;             /* [s] distance of records; 0: every accepted step */
  int poses; /* 1: positions of bodies that are not among the recorded signals are recorded too, for drawing;
                default 1 */
  int n_record;              /* signals to record; 0: all that can change */
  const char *const *record; /* names; a name ending in .* stands for all that begin so */
} ga_run_settings;

GA_API ga_run_settings ga_run_defaults(void);
/* GA_ERR_ARGUMENT where a setting is out of its range, or two contradict each other: `field` of the error
 * names it. NULL: the defaults. */
GA_API ga_status ga_run_check(ga_context *ctx, const ga_run_settings *settings);
/* Options of steppers, starts and simulators from settings, after ga_run_check(). ga_run_simulate_opts()
 * writes only the members of *out that settings determine: start from ga_simulate_defaults(). settings NULL:
 * the defaults. */
GA_API ga_status ga_run_stepper_opts(ga_context *ctx, const ga_run_settings *settings, ga_stepper_opts *out);
GA_API ga_start_opts ga_run_start_opts(const ga_run_settings *settings);
GA_API ga_status ga_run_simulate_opts(ga_context *ctx, const ga_run_settings *settings,
                                      ga_simulate_opts *out);

/* Fixed steps, a tolerance and an accuracy replace each other. Call this after one source, a model file or a
 * command line, has given any of the three, with 1 for those that it gave: a step > 0 switches error bars
 * off; a tolerance or an accuracy switches fixed steps of an earlier source off; a tolerance without an
 * accuracy switches error bars off. If one source gives a step > 0 and others, the step is used. */
GA_API void ga_run_choose_steps(ga_run_settings *settings, int step, int tolerance, int accuracy);

/* One setting: a key of `simulation` in model files, and an option of the program. */
typedef enum ga_setting_type {
  GA_SETTING_NUMBER = 0, /* double */
  GA_SETTING_CHOICE,     /* an enum: number of the choice */
  GA_SETTING_FLAG,       /* int, 0 or 1 */
  GA_SETTING_INTEGER     /* int */
} ga_setting_type;

typedef struct ga_setting {
  const char *name;   /* "rho": of the key and of the member of ga_run_settings */
  const char *option; /* of the program; NULL: the same with - for _ */
  size_t offset;      /* of the member */
  ga_setting_type type;
  const char *unit;           /* of numbers; "1": none */
  double least, most;         /* of numbers and integers */
  int or_zero;                /* 1: 0 is allowed too */
  int n_choices;              /* of choices */
  const char *const *choices; /* [n_choices] */
  const char *depends;        /* the setting, a choice, that decides whether this one is used; NULL: none */
  unsigned long with;         /* values of `depends` with which it is used, as bits; all if depends is NULL */
  int error_control;          /* 1: of error control, not used where `step` gives the size of all steps */
  int of_results;             /* 1: of what is recorded, not of how the motion is found */
  const char *zero_word;      /* of integers: a word for 0; NULL: none */
  const char *about;          /* one line */
} ga_setting;

/* Setting i = 0, 1, ... of all settings but `record`. Returns 0 if there are fewer. out may be NULL. */
GA_API int ga_setting_at(int i, ga_setting *out);
/* The one of this name; 0: there is none. */
GA_API int ga_setting_find(const char *name, ga_setting *out);
/* 1: it is used, given the value of the setting that it depends on. */
GA_API int ga_setting_is_used(const ga_setting *setting, const ga_run_settings *settings);

typedef struct ga_model ga_model;

GA_API ga_model_opts ga_model_defaults(void);
/* *out is created also when the model has errors, so that its messages can be read; it is NULL only without
 * memory. GA_ERR_ARGUMENT: there are errors, and the model has no machine. opts NULL: the defaults. */
GA_API ga_status ga_model_read_file(ga_context *ctx, const char *path, const ga_model_opts *opts,
                                    ga_model **out);
/* name is used as the file name in messages; includes are refused. */
GA_API ga_status ga_model_read_text(ga_context *ctx, const char *name, const char *text, size_t length,
                                    const ga_model_opts *opts, ga_model **out);
GA_API void ga_model_destroy(ga_model **model); /* its machine too */

GA_API int ga_model_n_messages(const ga_model *model);
/* In the order of the text, except that messages about files that cannot be read come first. */
GA_API const ga_model_message *ga_model_message_at(const ga_model *model, int i);
/* Name of the drive of prescription i: "prescribed_hinge_angle", or that of the drive whose function it
 * replaces. Its signal "force" is what the motion needs. NULL: there is none. */
GA_API const char *ga_model_prescribed_by(const ga_model *model, int i);
GA_API ga_machine *
ga_model_machine(const ga_model *model); /* built; belongs to the model; NULL after errors */
GA_API const ga_run_settings *ga_model_settings(const ga_model *model);
GA_API const char *ga_model_title(const ga_model *model); /* "" where it has none */
GA_API int ga_model_gives_gravity(const ga_model *model); /* 1: it has the key, even if its value is 0 */
/* A parameter of a model: its value in SI units, with that of opts.set. */
enum { GA_PARAMETER_UNIT = 64 };
typedef struct ga_model_parameter {
  const char *name; /* as long as the model */
  double value;
  char unit[GA_PARAMETER_UNIT]; /* "N/m"; "1": none */
} ga_model_parameter;
/* Parameter i, in the order of the model; 0: there are fewer. out may be NULL. */
GA_API int ga_model_parameter_at(const ga_model *model, int i, ga_model_parameter *out);
GA_API int ga_model_find_parameter(const ga_model *model, const char *name); /* −1: there is none */

/* The same model at four values of one parameter, p − 2 step, p − step, p + step, p + 2 step, for derivatives
 * by it (ga_sensitivity in galpha/core.h). All that parameters enter is read and built anew: expressions,
 * masses, geometry, initial positions. Numbers and expressions that bend within the step move along their
 * exact derivative instead, from their values at p. What differs between the models, and so depends on the
 * parameter, is found by comparing what is built. Derivatives use the model too: it is borrowed until the
 * variation is destroyed.
 */
typedef struct ga_model_variation ga_model_variation;
/* path: the file of the model, read with the same opts; NULL: its text, which must need no other files. step,
 * in SI units; 0: 1e-3 of the value. GA_ERR_ARGUMENT: there is no such parameter; its value is 0 and no step
 * is given; the model has errors at another value, which the message quotes. GA_ERR_FILE: its file has
 * changed. */
GA_API ga_status ga_model_variation_create(ga_context *ctx, const ga_model *model, const char *path,
                                           const ga_model_opts *opts, const char *parameter, double step,
                                           ga_model_variation **out);
GA_API void ga_model_variation_destroy(ga_model_variation **variation);
GA_API const ga_machine *ga_model_variation_machine(const ga_model_variation *variation,
                                                    int k); /* k < GA_PARAMETER_VALUES; NULL: no such k */
/* The parameter for ga_sensitivity_create(): the systems and their initial values, which live as long as the
 * variation. NULL for NULL. */
GA_API const ga_parameter *ga_model_variation_parameter(const ga_model_variation *variation);
/* Initial positions and states become those of the static equilibrium at other values, to first order, as a
 * start at an equilibrium needs them: eq has just found that of the model itself, from its initial positions.
 */
GA_API ga_status ga_model_variation_settle(ga_model_variation *variation, ga_equilibrium *eq);
/* GA_ERR_DERIVATIVE: the run from t_start to t_end [s] begins or ends at a time of the model that depends on
 * the parameter, of which derivatives at fixed times know nothing. */
GA_API ga_status ga_model_variation_check_span(const ga_model_variation *variation, double t_start,
                                               double t_end);
/* The events of the model m is of, at the values of n variations, for ga_sensitivity_use_events(): their rule
 * is ga_event_variants_rule(). *out NULL: it has none. The variations must outlive it. Errors go to ctx. */
GA_API ga_status ga_model_variation_events(ga_context *ctx, const ga_machine *m, int n,
                                           ga_model_variation *const *variation, ga_event_variants **out);

/* The model as one text that can be read again, for keeping beside results: as it was read, below a line that
 * names its file; where others are included or opts.set gives parameters, what ga_model_write_text() gives,
 * and below it the text of each file as comments. The files' texts one after the other where the model has
 * errors. */
GA_API const char *ga_model_text(const ga_model *model);
/* A digest of the files with matrices that the model names (of modal bodies), which its text does not
 * contain: it changes with any of their bytes. "": there are none. */
GA_API const char *ga_model_data(const ga_model *model);
/* 1: the file at path is one that the model was made of: its own, an included one, one with a mesh, a table
 * or a tyre, by whatever name. Who writes a file beside a model asks this first. */
GA_API int ga_model_reads(const ga_model *model, const char *path);
/* 1: one of these files has been written, replaced or removed since it was read. */
GA_API int ga_model_is_outdated(const ga_model *model);

/* The model as one YAML text that needs no other files: included files are merged, parameters have the values
 * given by opts.set. Everything else is as it was written: names, order, expressions, quantities with their
 * units, repeats; only comments and line layout are lost, and aliases are expanded. Read again, it gives the
 * same machine, to the last bit; written again, the same text.
 *
 * *text ends in a NUL, belongs to the model and lives as long; length may be NULL. GA_ERR_ARGUMENT if the
 * model has errors: a model that was not understood is not written. */
GA_API ga_status ga_model_write_text(ga_model *model, const char **text, size_t *length);
/* The same into a file. An existing file is replaced; GA_ERR_FILE leaves it unchanged, or no file. A file
 * that the model was read from is refused with GA_ERR_ARGUMENT: its comments would be lost. Paths of
 * libraries of blocks are relative to the file's folder, so the libraries have to be copied with it. */
GA_API ga_status ga_model_write_file(ga_model *model, const char *path);

/* The format itself, from the reader's table: a JSON Schema, and the pages of docs/model-format.md. Returns
 * the length it needs, as snprintf does. */
GA_API size_t ga_model_schema(char *text, size_t size);
GA_API size_t ga_model_format_page(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
