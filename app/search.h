/* Shared by galpha fit and galpha optimize. */
#ifndef GALPHA_APP_SEARCH_H
#define GALPHA_APP_SEARCH_H

#include "task.h"

#include "galpha/study.h"

typedef struct app_search { /* all 0: empty */
  const app_arguments *a;
  ga_context *ctx;
  ga_model *model;          /* with --set, as it is without the search */
  const char **set, **vary; /* [n_set], [n_vary] */
  int n_set, n_vary;
  const char **given; /* [n_given] settings of the command line */
  int n_given;
  ga_run_settings settings;
  long jobs;
} app_search;

/* Reads options and the model, whose messages are printed; returns an exit code. To be closed always. */
int app_search_open(app_search *s, const app_arguments *a);
void app_search_close(app_search *s);
/* "galpha fit: text" of the last failure of the context; model (may be NULL): one with errors of its own. */
int app_search_explain(const app_search *s, ga_status status, const ga_model *model);
/* 1: a file of this option may be written; otherwise *code is an exit code. */
int app_search_file(const app_search *s, const char *option, const char *const *endings, int *code);
/* "NAME=VALUE UNIT", with all digits that it needs. */
void app_search_set(char *text, size_t size, const char *name, double value, const char *unit);
/* Writes the model with these parameters; returns an exit code. */
int app_search_write(const app_search *s, const char *file, int n, const char *const *set);

/* A text that is written into memory first, and into a file in one piece. */
typedef struct app_text_file {
  FILE *to;
  char *text;
  size_t length;
} app_text_file;
int app_text_open(app_text_file *t);
int app_text_write(app_text_file *t, const app_arguments *a, const char *path); /* path NULL: nothing */
/* JSON: "text" with escapes; a number, null where it is none. */
void app_json_text(FILE *to, const char *text);
void app_json_number(FILE *to, double x);

#endif
