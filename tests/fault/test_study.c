/* Sweeps under failure: memory that is not there, journals that end within a row, threads in any number. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/study.h"
#include "seeds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MODEL[] = "galpha: 1\n"
                            "parameters: {m: 1, c: 0}\n"
                            "bodies: {x: {type: scalar, mass: m, position: 1}}\n"
                            "forces: {s: {type: spring, coordinate: x, stiffness: 4, damping: c, rest: 0}}\n"
                            "simulation: {t_end: 1, tolerance: 1e-4, output: 0.25}\n";

/* ---- Memory that counts, and fails ---- */

typedef struct memory {
  long count, live, fail_at;
} memory;

static void *take(void *user, size_t bytes)
{
  memory *m = user;
  if (++m->count == m->fail_at) return NULL;
  m->live++;
  return malloc(bytes);
}

static void give(void *user, void *block)
{
  ((memory *)user)->live--;
  free(block);
}

/* ---- A sweep in a folder of its own ---- */

typedef struct folder {
  char path[64], model[80], journal[80], table[2][80];
} folder;

static void open_folder(folder *f)
{
  strcpy(f->path, "/tmp/galpha_study_XXXXXX");
  assert_non_null(mkdtemp(f->path));
  snprintf(f->model, sizeof f->model, "%s/m.yaml", f->path);
  snprintf(f->journal, sizeof f->journal, "%s/runs", f->path);
  snprintf(f->table[0], sizeof f->table[0], "%s/a.h5", f->path);
  snprintf(f->table[1], sizeof f->table[1], "%s/b.h5", f->path);
  FILE *file = fopen(f->model, "w");
  assert_non_null(file);
  fputs(MODEL, file);
  assert_int_equal(fclose(file), 0);
}

static void close_folder(const folder *f)
{
  unlink(f->model), unlink(f->journal), unlink(f->table[0]), unlink(f->table[1]);
  assert_int_equal(rmdir(f->path), 0);
}

static const char *const SET[] = {"m=-1,1,2,3,4,5,6", "c=normal(0.1,0.05)"};
static const char *const MEASURES[] = {"max(x)/max(abs(x))", "settling(x, 5%)", "crossing(x, 0.5)"};
static const char *const SIGNALS[] = {"x", "x.rate"};
enum { RUNS = 7 * 3 };

typedef struct rig {
  ga_context *ctx;
  ga_design *design;
  ga_study *study;
} rig;

static ga_status open_rig(rig *r, const folder *f, memory *m, int resume)
{
  ga_context_opts opts = ga_context_defaults();
  ga_design_opts d = ga_design_defaults();
  ga_study_opts o = ga_study_defaults();
  *r = (rig){0};
  if (m) opts.alloc = take, opts.release = give, opts.alloc_user = m;
  ga_status status = ga_context_create(&opts, &r->ctx);
  d.n_set = 2, d.set = SET, d.samples = 3, d.sampling = GA_SAMPLE_LATIN;
  if (!status) status = ga_design_create(r->ctx, &d, &r->design);
  o.model = f->model, o.design = r->design, o.journal = f->journal, o.resume = resume;
  o.n_measures = 3, o.measures = MEASURES, o.n_signals = 2, o.signals = SIGNALS;
  if (!status) status = ga_study_create(r->ctx, &o, &r->study);
  return status;
}

static void close_rig(rig *r)
{
  ga_study_destroy(&r->study);
  ga_design_destroy(&r->design);
  ga_context_destroy(&r->ctx);
}

/* All runs, and the table. */
static ga_status make_table(const folder *f, memory *m, int jobs, int resume, const char *path)
{
  rig r;
  ga_status status = open_rig(&r, f, m, resume);
  if (!status) status = ga_study_run(r.study, jobs, 0.01, NULL, NULL);
  if (!status) status = ga_study_write(r.study, path);
  close_rig(&r);
  return status;
}

static void assert_same_files(const char *a, const char *b)
{
  FILE *fa = fopen(a, "rb"), *fb = fopen(b, "rb");
  assert_true(fa && fb);
  long n = 0;
  for (int c, d; (c = fgetc(fa)) == (d = fgetc(fb)) && c != EOF; n++) continue;
  if (!feof(fa) || !feof(fb)) fail_msg("byte %ld differs", n);
  fclose(fa);
  fclose(fb);
}

/* ---- Cases ---- */

static void each_allocation_fails(void **state)
{
  folder f;
  memory m = {0};
  (void)state;
  open_folder(&f);
  assert_int_equal(make_table(&f, &m, 0 + 1, 0, f.table[0]), GA_OK);
  const long needed = m.count;
  assert_true(needed > 100 && m.live == 0);
  for (long n = 1; n <= needed; n += rig_stride(needed)) {
    unlink(f.journal);
    m = (memory){.fail_at = n};
    const ga_status status = make_table(&f, &m, 1, 0, f.table[1]);
    if (m.count < n) break; /* some depends on the order of rows */
    if (status == GA_OK) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, needed);
    assert_int_equal(m.live, 0);
  }
  unlink(f.journal);
  assert_int_equal(make_table(&f, NULL, 1, 0, f.table[1]), GA_OK);
  assert_same_files(f.table[0], f.table[1]);
  close_folder(&f);
}

static void tables_do_not_depend_on_the_number_of_threads(void **state)
{
  folder f;
  (void)state;
  open_folder(&f);
  assert_int_equal(make_table(&f, NULL, 1, 0, f.table[0]), GA_OK);
  for (int jobs = 2; jobs <= 8; jobs *= 2) {
    unlink(f.journal);
    assert_int_equal(make_table(&f, NULL, jobs, 0, f.table[1]), GA_OK);
    assert_same_files(f.table[0], f.table[1]);
  }
  close_folder(&f);
}

/* A row that fails (m < 0 is refused) is a row like others. */
static void failed_runs_are_kept(void **state)
{
  folder f;
  rig r;
  (void)state;
  open_folder(&f);
  assert_int_equal(open_rig(&r, &f, NULL, 0), GA_OK);
  assert_int_equal(ga_study_run(r.study, 2, 0.01, NULL, NULL), GA_OK);
  assert_int_equal(ga_study_n_done(r.study), RUNS);
  assert_int_equal(ga_study_n_failed(r.study), 3);
  for (long i = 0; i < RUNS; i++) {
    assert_int_equal(ga_study_status_of(r.study, i), i < 3 ? GA_STUDY_FAILED : GA_STUDY_DONE);
    assert_int_equal(isnan(ga_study_values(r.study, i)[0]), i < 3);
    assert_true((strlen(ga_study_text(r.study, i)) > 0) || i >= 3);
  }
  assert_non_null(strstr(ga_study_text(r.study, 0), "mass"));
  close_rig(&r);
  close_folder(&f);
}

/* The journal cut off at every length: what is whole is not run again, and the table is the same. */
static void journals_may_end_anywhere(void **state)
{
  folder f;
  struct stat whole;
  char *bytes;
  (void)state;
  open_folder(&f);
  assert_int_equal(make_table(&f, NULL, 2, 0, f.table[0]), GA_OK);
  FILE *file = fopen(f.journal, "rb");
  assert_int_equal(stat(f.journal, &whole), 0);
  bytes = malloc((size_t)whole.st_size);
  assert_int_equal(fread(bytes, 1, (size_t)whole.st_size, file), whole.st_size);
  fclose(file);
  long before = 0;
  for (long n = 0; n <= whole.st_size; n += rig_brief() ? 97 : 13) {
    rig r;
    file = fopen(f.journal, "wb");
    assert_int_equal(fwrite(bytes, 1, (size_t)n, file), n);
    fclose(file);
    assert_int_equal(open_rig(&r, &f, NULL, 1), GA_OK);
    const long done = ga_study_n_done(r.study);
    assert_true(done >= before && done <= RUNS);
    before = done;
    close_rig(&r);
    if (n % 7) continue; /* runs take longer */
    assert_int_equal(make_table(&f, NULL, 2, 1, f.table[1]), GA_OK);
    assert_same_files(f.table[0], f.table[1]);
  }
  assert_true(before >= RUNS - 1);
  free(bytes);
  close_folder(&f);
}

/* Bytes that another program has changed end the journal there. */
static void changed_bytes_are_noticed(void **state)
{
  folder f;
  (void)state;
  open_folder(&f);
  assert_int_equal(make_table(&f, NULL, 1, 0, f.table[0]), GA_OK);
  FILE *file = fopen(f.journal, "r+b");
  assert_int_equal(fseek(file, 40 + 3 * 60, SEEK_SET), 0);
  fputc(0x5a, file);
  fclose(file);
  assert_int_equal(make_table(&f, NULL, 1, 1, f.table[1]), GA_OK);
  assert_same_files(f.table[0], f.table[1]);
  close_folder(&f);
}

static void journals_of_other_sweeps_are_refused(void **state)
{
  folder f;
  rig r;
  (void)state;
  open_folder(&f);
  assert_int_equal(make_table(&f, NULL, 1, 0, f.table[0]), GA_OK);
  assert_true(open_rig(&r, &f, NULL, 0) == GA_ERR_FILE); /* it has rows */
  assert_non_null(strstr(ga_context_error(r.ctx)->text, "not completed"));
  close_rig(&r);
  FILE *file = fopen(f.model, "a");
  fputs("title: another model\n", file);
  fclose(file);
  assert_true(open_rig(&r, &f, NULL, 1) == GA_ERR_FILE);
  assert_non_null(strstr(ga_context_error(r.ctx)->text, "changed"));
  close_rig(&r);
  file = fopen(f.journal, "w");
  fputs("this is a text and no journal at all, but long enough to be one\n", file);
  fclose(file);
  assert_true(open_rig(&r, &f, NULL, 1) == GA_ERR_FILE);
  close_rig(&r);
  close_folder(&f);
}

/* A model that changes while the sweep runs. */
static int change_model(void *user, ga_study *study)
{
  const folder *f = user;
  FILE *file = fopen(f->model, "a");
  (void)study;
  fputs("# and more\ntitle: another\n", file);
  fclose(file);
  return 0;
}

static void changed_models_are_noticed(void **state)
{
  folder f;
  rig r;
  (void)state;
  open_folder(&f);
  assert_int_equal(open_rig(&r, &f, NULL, 0), GA_OK);
  assert_int_equal(ga_study_run(r.study, 1, 10.0, change_model, &f), GA_ERR_INCONSISTENT);
  assert_non_null(strstr(ga_context_error(r.ctx)->text, "changed"));
  close_rig(&r);
  close_folder(&f);
}

/* ---- Fits ---- */

static ga_status make_fit(const folder *f, memory *m, ga_fit **out, ga_context **ctx)
{
  static const double time[] = {0.2, 0.4, 0.6, 0.8}, values[] = {0.9, 0.7, 0.35, 0.0};
  static const char *const signals[] = {"x"}, *const vary[] = {"m=2:0.1:10", "c=0.1:0:1"};
  ga_context_opts opts = ga_context_defaults();
  ga_fit_opts o = ga_fit_defaults();
  const ga_fit_data data = {
      .name = "data", .n_columns = 1, .n_rows = 4, .time = time, .signals = signals, .values = values};
  *ctx = NULL;
  *out = NULL;
  if (m) opts.alloc = take, opts.release = give, opts.alloc_user = m;
  ga_status status = ga_context_create(&opts, ctx);
  o.model = f->model, o.n_vary = 2, o.vary = vary, o.n_data = 1, o.data = &data, o.most_iterations = 1;
  if (!status) status = ga_fit_create(*ctx, &o, out);
  return status;
}

static void each_allocation_of_a_fit_fails(void **state)
{
  folder f;
  memory m = {0};
  ga_fit *fit;
  ga_context *ctx;
  (void)state;
  open_folder(&f);
  assert_int_equal(make_fit(&f, &m, &fit, &ctx), GA_OK);
  const double value = ga_fit_result(fit)->parameter[0].value;
  ga_fit_destroy(&fit), ga_context_destroy(&ctx);
  const long needed = m.count, stride = rig_stride(needed) * 43;
  assert_true(needed > 100 && m.live == 0);
  for (long n = 1; n <= needed; n += n < 60 || n > needed - 40 ? 1 : stride) {
    m = (memory){.fail_at = n};
    const ga_status status = make_fit(&f, &m, &fit, &ctx);
    if (status == GA_OK && ga_fit_result(fit)->parameter[0].value != value)
      fail_msg("allocation %ld of %ld failed, and the result is another one", n, needed);
    if (status == GA_OK) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, needed);
    ga_fit_destroy(&fit), ga_context_destroy(&ctx);
    assert_int_equal(m.live, 0);
  }
  close_folder(&f);
}

static ga_status make_optimum(const folder *f, memory *m, ga_optimum **out, ga_context **ctx)
{
  static const char *const vary[] = {"c=0.1:0:1"}, *const limits[] = {"max(x.rate) <= 1 m/s"};
  ga_context_opts opts = ga_context_defaults();
  ga_optimize_opts o = ga_optimize_defaults();
  *ctx = NULL;
  *out = NULL;
  if (m) opts.alloc = take, opts.release = give, opts.alloc_user = m;
  ga_status status = ga_context_create(&opts, ctx);
  o.model = f->model, o.n_vary = 1, o.vary = vary, o.objective = "integral(x^2)", o.most_points = 3;
  o.n_constraints = 1, o.constraints = limits;
  if (!status) status = ga_optimize(*ctx, &o, out);
  return status;
}

static void each_allocation_of_an_optimisation_fails(void **state)
{
  folder f;
  memory m = {0};
  ga_optimum *optimum;
  ga_context *ctx;
  (void)state;
  if (!ga_optimize_available()) skip();
  open_folder(&f);
  assert_int_equal(make_optimum(&f, &m, &optimum, &ctx), GA_OK);
  assert_non_null(ga_optimum_result(optimum));
  ga_optimum_destroy(&optimum), ga_context_destroy(&ctx);
  const long needed = m.count, stride = rig_stride(needed) * 43;
  assert_true(needed > 100 && m.live == 0);
  for (long n = 1; n <= needed; n += n < 60 || n > needed - 40 ? 1 : stride) {
    m = (memory){.fail_at = n};
    const ga_status status = make_optimum(&f, &m, &optimum, &ctx);
    if (status == GA_OK) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, needed);
    ga_optimum_destroy(&optimum), ga_context_destroy(&ctx);
    assert_int_equal(m.live, 0);
  }
  close_folder(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(tables_do_not_depend_on_the_number_of_threads),
                                     cmocka_unit_test(failed_runs_are_kept),
                                     cmocka_unit_test(journals_may_end_anywhere),
                                     cmocka_unit_test(changed_bytes_are_noticed),
                                     cmocka_unit_test(journals_of_other_sweeps_are_refused),
                                     cmocka_unit_test(changed_models_are_noticed),
                                     cmocka_unit_test(each_allocation_of_a_fit_fails),
                                     cmocka_unit_test(each_allocation_of_an_optimisation_fails)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
