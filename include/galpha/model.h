/* galpha/model.h: model files. YAML (JSON is a subset) with parameters, expressions and units, read into a
 * machine and the settings of its simulation. docs/model-format.md lists every key.
 *
 * Reading never stops at the first fault: all that can be found is told, with file, line and column. */
#ifndef GALPHA_MODEL_H
#define GALPHA_MODEL_H

#include "galpha/mbs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_message_level { GA_MESSAGE_ERROR = 0, GA_MESSAGE_WARNING = 1 } ga_message_level;

typedef struct ga_model_message {
  ga_message_level level;
  const char *file;      /* as named on the way to it; "" where none is concerned (--set) */
  int line, column;      /* from 1; 0: not in a file */
  const char *text;      /* what was read, what was expected, the nearest valid name */
  const ga_error *error; /* the same as data; never NULL, its `text` is not used. `field` has the keys from the
                            part to the value: "at.rotation" */
  int n_more;            /* messages of the same place that were left out; `text` says so */
} ga_model_message;

typedef struct ga_model_opts { /* start from ga_model_defaults() */
  int n_set;                   /* overrides of parameters */
  const char *const *set;      /* [n_set] "name=value", value as in a file */
  int allow_library;           /* 1: shared libraries with user functions may be loaded */
  long max_parts;              /* parts that a model may have, repeats included; default 1000000 */
} ga_model_opts;

/* Which parameters of the generalized-α family, see ga_scheme. */
typedef enum ga_scheme_kind {
  GA_SCHEME_RHO = 0, /* by `rho`: ga_scheme_rho() */
  GA_SCHEME_HHT,     /* by `hht_alpha`: ga_scheme_hht() */
  GA_SCHEME_NEWMARK  /* by `newmark_beta` and `newmark_gamma`: ga_scheme_newmark() */
} ga_scheme_kind;

/* What a run is to do; from the model's `simulation`, or defaults. */
typedef struct ga_run_settings {
  double t_start, t_end; /* [s] default 0, 1 */
  double step;           /* [s] > 0: fixed steps; 0: error control */
  double tolerance;      /* [-] rtol of error control, atol is a hundredth of it; default 1e-4 */
  double accuracy; /* [-] error bars at most this part of each signal's range; 0: no error bars. Default 1e-3,
                      but 0 where the model gives step or tolerance and not this */
  int accuracy_by_default; /* 1: the model gives neither of the three */
  ga_error_mode error;     /* of error control; default GA_PER_STEP */
  ga_error_norm norm;      /* default GA_NORM_MAX */
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
  int project, shift_a, perturb_v; /* and in ga_start_opts; the same defaults */
  double max_step, min_step; /* [s] of error control, see h_max and h_min of ga_simulate_opts; 0: chosen */
  double first_step;         /* [s] of error control; 0: chosen */
  double max_change;         /* [-] of the start, see ga_start_opts, */
  double max_gap;            /* [-] likewise */
  int defect_points;         /* of ga_simulate_opts */
  double output;             /* [s] distance of records; 0: every accepted step */
  int n_record;              /* signals to record; 0: all */
  const char *const *record; /* names; a name ending in .* stands for all that begin so */
} ga_run_settings;

GA_API ga_run_settings ga_run_defaults(void);
/* GA_ERR_ARGUMENT where a setting is out of its range, or two contradict each other: `field` of the error
 * names it. NULL: the defaults. */
GA_API ga_status ga_run_check(ga_context *ctx, const ga_run_settings *settings);
/* What steppers, starts and simulators are given, after ga_run_check(). Of *out of the last one only what
 * settings say is written: start from ga_simulate_defaults(). settings NULL: the defaults. */
GA_API ga_status ga_run_stepper_opts(ga_context *ctx, const ga_run_settings *settings, ga_stepper_opts *out);
GA_API ga_start_opts ga_run_start_opts(const ga_run_settings *settings);
GA_API ga_status ga_run_simulate_opts(ga_context *ctx, const ga_run_settings *settings,
                                      ga_simulate_opts *out);

/* Equal steps, a tolerance and an accuracy replace each other. To be called after any of the three has been
 * given in one place, a model file or a command line, with 1 for those that were: step > 0 ends error bars; a
 * tolerance, or an accuracy, ends equal steps that another place asked for; a tolerance alone ends error
 * bars. Where one place gives a step > 0 and others, the step is what counts. */
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
  int or_zero;                /* 1: 0 besides */
  int n_choices;              /* of choices */
  const char *const *choices; /* [n_choices] */
  const char *depends;        /* the setting, a choice, that decides whether this one is used; NULL: none */
  unsigned long with;         /* it is with these of its values, as bits; all where depends is NULL */
  int error_control;          /* 1: of error control, not used where `step` gives the size of all steps */
  int of_results;             /* 1: of what is recorded, not of how the motion is found */
  const char *about;          /* one line */
} ga_setting;

/* Number i = 0, 1, ... of all settings but `record`; 0: there are not so many. out NULL: only that. */
GA_API int ga_setting_at(int i, ga_setting *out);
/* The one of this name; 0: there is none. */
GA_API int ga_setting_find(const char *name, ga_setting *out);
/* 1: by the setting it depends on, it is used. */
GA_API int ga_setting_is_used(const ga_setting *setting, const ga_run_settings *settings);

typedef struct ga_model ga_model;

GA_API ga_model_opts ga_model_defaults(void);
/* *out is made whenever there was memory for it, so that messages can be asked for; GA_ERR_ARGUMENT where
 * there is an error among them, and then it has no machine. opts NULL: the defaults. */
GA_API ga_status ga_model_read_file(ga_context *ctx, const char *path, const ga_model_opts *opts,
                                    ga_model **out);
/* name stands for the file in messages; includes are refused. */
GA_API ga_status ga_model_read_text(ga_context *ctx, const char *name, const char *text, size_t length,
                                    const ga_model_opts *opts, ga_model **out);
GA_API void ga_model_destroy(ga_model **model); /* its machine too */

GA_API int ga_model_n_messages(const ga_model *model);
/* In the order of the text, but first of all what is wrong with a file that could not be read. */
GA_API const ga_model_message *ga_model_message_at(const ga_model *model, int i);
GA_API ga_machine *
ga_model_machine(const ga_model *model); /* built; belongs to the model; NULL after errors */
GA_API const ga_run_settings *ga_model_settings(const ga_model *model);
GA_API const char *ga_model_title(const ga_model *model); /* "" where it has none */
GA_API int ga_model_gives_gravity(const ga_model *model); /* 1: it has the key, even if its value is 0 */
/* The model as one text that can be read again, for keeping beside results: as it was read, below a line that
 * names its file; where others are included or opts.set gives parameters, what ga_model_write_text() gives,
 * and below it the text of each file as comments. The files' texts one after the other where the model has
 * errors. */
GA_API const char *ga_model_text(const ga_model *model);

/* The model as one YAML text that stands for itself: what was included is merged, parameters have the values
 * that opts.set gave them. All else is as it was written: names, order, expressions, quantities with their
 * units, repeats; only comments and the layout of lines are lost, and aliases are written out. Read again, it
 * makes the same machine, to the last bit; written again, the same text.
 *
 * *text ends in a NUL, belongs to the model and lives as long; length may be NULL. GA_ERR_ARGUMENT where the
 * model has errors: what was not understood is not written. */
GA_API ga_status ga_model_write_text(ga_model *model, const char **text, size_t *length);
/* The same into a file, which is replaced where it is there already: GA_ERR_FILE leaves the old one as it
 * was, or none. A file that the model was read from is refused with GA_ERR_ARGUMENT: its comments would be
 * lost. Libraries of blocks are looked for relative to the file's folder, so they have to go with it. */
GA_API ga_status ga_model_write_file(ga_model *model, const char *path);

/* The format itself, from the reader's table: a JSON Schema, and the pages of docs/model-format.md. Returns
 * the length it needs, as snprintf does. */
GA_API size_t ga_model_schema(char *text, size_t size);
GA_API size_t ga_model_format_page(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
