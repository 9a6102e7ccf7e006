/* Shared by the files of the program: exit codes, the table of commands, arguments, files. */
#ifndef GALPHA_APP_H
#define GALPHA_APP_H

#include "streams.h"
#include <stddef.h>

/* Exit codes; docs/program.md. */
enum {
  APP_DONE = 0,
  APP_FAILED = 1, /* the simulation failed, or a file could not be written */
  APP_USAGE = 2   /* the command line or the model is wrong */
};

/* ---- Commands and their options ---- */

typedef struct app_option {
  const char *name;  /* without its dashes; NULL ends a list */
  char letter;       /* short form; 0: none */
  const char *value; /* names of its values, for the help; NULL: a switch */
  int repeats;       /* 1: may be given several times */
  const char *text;
} app_option;

typedef struct app_arguments app_arguments;

typedef struct app_command {
  const char *name;
  int (*function)(const app_arguments *a); /* returns the exit code */
  const char *operands;                    /* for the usage line */
  int n_least, n_most;                     /* number of operands; n_most −1: no limit */
  const char *line;                        /* description in one line */
  const app_option *options;
  const char *more; /* further help; NULL: none */
} app_command;

int app_n_commands(void);
const app_command *app_command_at(int i);
const app_command *app_command_find(const char *name); /* NULL: there is none */

int app_run(const app_arguments *a);
int app_check(const app_arguments *a);
int app_static(const app_arguments *a);
int app_kinematics(const app_arguments *a);
int app_write(const app_arguments *a);
int app_converge(const app_arguments *a);
int app_sweep(const app_arguments *a);
int app_fit(const app_arguments *a);
int app_optimize(const app_arguments *a);
int app_linearize(const app_arguments *a);
int app_sensitivity(const app_arguments *a);
int app_reduce(const app_arguments *a);
int app_modes(const app_arguments *a);
int app_plot(const app_arguments *a);
int app_view(const app_arguments *a);
int app_export(const app_arguments *a);
int app_papers(const app_arguments *a);
int app_info(const app_arguments *a);

/* ---- Arguments (arguments.c) ---- */

enum { APP_MOST_VALUES = 2 };

typedef struct app_given {
  const app_option *option;
  const char *value[APP_MOST_VALUES];
} app_given;

struct app_arguments {
  const app_command *command;
  int n_operands;
  const char **operands; /* they, and all other texts, point into argv */
  int n_given;
  app_given *given;
  int help; /* 1: --help was given */
};

/* Reads the arguments; argv[0] is the name of the command. Reports errors on stderr, with the nearest name.
 * Returns an exit code. */
int app_arguments_read(app_arguments *a, const app_command *command, int argc, char **argv);
void app_arguments_free(app_arguments *a);

/* The values of occurrence number i of an option; NULL: no more. */
const char *const *app_values(const app_arguments *a, const char *option, int i);
const char *app_text(const app_arguments *a, const char *option); /* last value; NULL: not given */
int app_has(const app_arguments *a, const char *option);
/* A number with or without a unit, in SI; *value is kept if the option is not given. Returns an exit code. */
int app_number(const app_arguments *a, const char *option, const char *unit, double least, double most,
               double *value);
int app_integer(const app_arguments *a, const char *option, long least, long most, long *value);
/* One line on stderr: "galpha run: ..."; returns APP_USAGE. */
int app_misused(const app_arguments *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Names (names.c) ---- */

typedef const char *(*app_name_fn)(const void *user, int i);
/* The most similar of n names; NULL: none is similar. */
const char *app_nearest(const char *name, int n, app_name_fn at, const void *user);
/* 1: the name matches the pattern, in which * is any text and ? any letter. */
int app_matches(const char *pattern, const char *name);
int app_ends_in(const char *text, const char *ending); /* in upper or lower case */
int app_same_file(const char *a, const char *b);       /* 1: both exist and are the same file */
/* The model's name with another ending, in the current folder; to be freed. NULL: out of memory. */
char *app_beside(const char *model, const char *ending);

/* ---- Files that are written (output.c) ---- */

/* Keeps programs that are started from inheriting the file; returns errno. */
int app_close_on_exec(int fd);
/* 0: a file of this name can be created or replaced; > 0: errno; < 0: it exists and is not a regular file. */
int app_output_check(const char *path);
/* 0: its folder takes files; else errno. To be asked before work whose results would be lost. */
int app_output_folder(const char *path);
/* Writes the whole file or nothing: to a temporary file first, which is then renamed. A symbolic link is
 * kept. Returns as app_output_check(). */
int app_output_write(const char *path, const char *bytes, size_t n);
/* Refuses to write over a file that the model is read from (ga_model_reads()). */
int app_output_is_source(const app_arguments *a, const char *path);
/* Reports such an error on stderr; returns an exit code. */
int app_output_refused(const app_arguments *a, const char *path, int error);

/* ---- Help (help.c) ---- */

void app_help(FILE *out);
void app_help_command(FILE *out, const app_command *command);
void app_man_page(FILE *out);
extern const app_option app_before[]; /* options without a command */

/* Completion for bash (shell NULL), zsh or fish (completion.c); returns an exit code. */
int app_completion(FILE *out, const char *shell);

#endif
