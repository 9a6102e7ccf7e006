/* Sweeps: names and units of columns, and a model whose files change while its runs are made. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/study.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char MODEL[] = "galpha: 1\n"
                            "parameters: {k: 3 N/m, f: 2, status: 1}\n"
                            "bodies: {x: {type: scalar, mass: 1, position: 1}}\n"
                            "forces: {s: {type: spring, coordinate: x, stiffness: k*f, rest: 0}}\n"
                            "simulation: {t_end: 1, step: 0.1}\n";

typedef struct rig {
  ga_context *ctx;
  ga_design *design;
  ga_study *study;
  ga_study_opts o;
  char path[64], table[80];
} rig;

static void write_model(const rig *r, const char *text)
{
  FILE *file = fopen(r->path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void open_rig(rig *r, int n_set, const char *const *set)
{
  static const char *const measures[] = {"final(x)"};
  ga_design_opts o = ga_design_defaults();
  *r = (rig){.o = ga_study_defaults()};
  strcpy(r->path, "/tmp/galpha_sweep_XXXXXX");
  close(mkstemp(r->path));
  snprintf(r->table, sizeof r->table, "%s.csv", r->path);
  write_model(r, MODEL);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
  o.n_set = n_set, o.set = set;
  assert_int_equal(ga_design_create(r->ctx, &o, &r->design), GA_OK);
  r->o.model = r->path, r->o.design = r->design, r->o.n_measures = 1, r->o.measures = measures;
}

static void close_rig(rig *r)
{
  ga_study_destroy(&r->study);
  ga_design_destroy(&r->design);
  ga_context_destroy(&r->ctx);
  unlink(r->path);
  unlink(r->table);
}

/* The first line of the table. */
static void columns(rig *r, char *line, int size)
{
  if (ga_study_create(r->ctx, &r->o, &r->study)) fail_msg("%s", ga_context_error(r->ctx)->text);
  assert_int_equal(ga_study_run(r->study, 1, 0.05, NULL, NULL), GA_OK);
  assert_int_equal(ga_study_write(r->study, r->table), GA_OK);
  FILE *file = fopen(r->table, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, size, file));
  fclose(file);
}

/* Numbers without a unit are in that of the model, and the table says so; a measure may be computed with it.
 */
static void units_are_those_of_the_model(void **state)
{
  static const char *const set[] = {"k=1,2", "f=1,3"};
  static const char *const measures[] = {"max(s.force)/k"}, *const labels[] = {"Größe, 1"};
  rig r;
  char line[200];
  (void)state;
  open_rig(&r, 2, set);
  r.o.measures = measures, r.o.labels = labels;
  columns(&r, line, sizeof line);
  assert_string_equal(line, "run,k [N/m],f,\"Größe, 1 [m]\",status,warnings,message\n");
  close_rig(&r);
}

static void columns_have_different_names(void **state)
{
  static const char *const set[] = {"k=1,2"}, *const wrong[] = {"status=1,2"};
  static const char *const own[] = {"run", "status", "warnings", "message"};
  rig r;
  (void)state;
  open_rig(&r, 1, set);
  for (int i = 0; i < 4; i++) {
    r.o.labels = &own[i];
    ga_study_destroy(&r.study);
    assert_int_equal(ga_study_create(r.ctx, &r.o, &r.study), GA_ERR_ARGUMENT);
    assert_non_null(strstr(ga_context_error(r.ctx)->text, "the table of a sweep has a column of this name"));
  }
  close_rig(&r);
  open_rig(&r, 1, wrong);
  assert_int_equal(ga_study_create(r.ctx, &r.o, &r.study), GA_ERR_ARGUMENT);
  close_rig(&r);
}

/* No run of another model is taken for one of this one, also where the other one is there for a moment only,
 * or cannot be read. */
static void a_model_that_changes_ends_a_sweep(void **state)
{
  static const char *const set[] = {"k=1,2,3"};
  ga_study_worker *worker;
  ga_study_row row;
  rig r;
  (void)state;
  for (int how = 0; how < 3; how++) {
    open_rig(&r, 1, set);
    assert_int_equal(ga_study_create(r.ctx, &r.o, &r.study), GA_OK);
    assert_int_equal(ga_study_worker_create(r.study, NULL, &worker), GA_OK);
    assert_int_equal(ga_study_compute(worker, 0, &row), GA_OK);
    assert_int_equal(row.status, GA_STUDY_DONE);
    if (how == 0)
      write_model(&r, "galpha: 1\nbodies: {x: {type: scalar, mass: 1, position: 2}}\n");
    else if (how == 1)
      write_model(&r, "");
    else
      unlink(r.path);
    assert_int_equal(ga_study_compute(worker, 1, &row), GA_ERR_INCONSISTENT);
    assert_non_null(strstr(ga_study_worker_error(worker)->text, "its file has changed"));
    ga_study_worker_destroy(&worker);
    assert_int_equal(ga_study_run(r.study, 2, 0.05, NULL, NULL), GA_ERR_INCONSISTENT);
    assert_non_null(
        strstr(ga_context_error(r.ctx)->text, "its file has changed while the sweep was running"));
    assert_int_equal(ga_study_n_done(r.study), 0);
    close_rig(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(units_are_those_of_the_model),
                                     cmocka_unit_test(columns_have_different_names),
                                     cmocka_unit_test(a_model_that_changes_ends_a_sweep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
