/* Designs: which values the parameters have in run number i. */
#include "study/study_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the number of a run comes in: runs have one index on every direction. */
typedef struct direction {
  long n;
} direction;

typedef struct parameter {
  const char *name, *unit; /* of its axis, or copies of the caller's */
  const ga__axis *axis;    /* NULL: a column */
  const double *column;
  int direction;   /* its number */
  uint32_t stream; /* of its draws */
  int *cell;       /* [samples] Latin hypercube: the interval of each point */
} parameter;

struct ga_design {
  ga_context *ctx;
  ga_design_opts opts;
  int n_axes, n, n_constants, n_directions;
  ga__axis *axis;       /* [n_axes] as given */
  parameter *parameter; /* [n] that vary */
  char **constant;      /* [n_constants] "name=text" */
  direction *direction; /* [n_directions] */
  char **text;          /* [2 n_columns] names and units */
  double *columns;
  long n_runs;
};

ga_design_opts ga_design_defaults(void)
{
  return (ga_design_opts){.seed = 1, .most = 10000000};
}

void ga_design_destroy(ga_design **design)
{
  if (!design || !*design) return;
  ga_design *d = *design;
  ga_context *ctx = d->ctx;
  for (int i = 0; d->axis && i < d->n_axes; i++) ga__axis_free(ctx, &d->axis[i]);
  for (int i = 0; d->constant && i < d->n_axes; i++) ga__free(ctx, d->constant[i]);
  for (int i = 0; d->parameter && i < d->n; i++) ga__free(ctx, d->parameter[i].cell);
  for (int i = 0; d->text && i < 2 * d->opts.n_columns; i++) ga__free(ctx, d->text[i]);
  ga__free(ctx, d->axis);
  ga__free(ctx, d->constant);
  ga__free(ctx, d->parameter);
  ga__free(ctx, d->direction);
  ga__free(ctx, d->text);
  ga__free(ctx, d->columns);
  ga__free(ctx, d);
  *design = NULL;
}

static ga_status check_opts(ga_context *ctx, const ga_design_opts *o)
{
  static const char kind[] = "design";
  if (o->n_set < 0) return ga__refuse_number(ctx, kind, "n_set", o->n_set, ">= 0");
  if (o->n_set && !o->set) return ga__refuse_missing(ctx, kind, "n_set", o->n_set, "set");
  for (int i = 0; i < o->n_set; i++)
    if (!o->set[i]) return ga__refuse_null(ctx, "ga_design_create", "set");
  if (o->n_columns < 0) return ga__refuse_number(ctx, kind, "n_columns", o->n_columns, ">= 0");
  if (o->n_columns && !(o->names && o->columns))
    return ga__refuse_missing(ctx, kind, "n_columns", o->n_columns, "names or columns");
  if (o->n_columns && o->n_rows < 1) return ga__refuse_number(ctx, kind, "n_rows", (double)o->n_rows, ">= 1");
  if (o->samples < 0) return ga__refuse_number(ctx, kind, "samples", (double)o->samples, ">= 0");
  if (o->most < 1) return ga__refuse_number(ctx, kind, "most", (double)o->most, ">= 1");
  if ((int)o->sampling < 0 || o->sampling > GA_SAMPLE_LATIN)
    return ga__refuse_choice(ctx, kind, "sampling", (int)o->sampling, "ga_sampling", GA_SAMPLE_LATIN);
  return GA_OK;
}

/* ---- Parameters ---- */

static ga_status check_name(const ga_design *d, const char *name)
{
  for (int i = 0; i < d->n; i++)
    if (strcmp(d->parameter[i].name, name) == 0)
      return ga__study_refuse(d->ctx, "parameter", name, NULL, NULL, "it is given twice");
  for (int i = 0; i < d->n_constants; i++) {
    const size_t n = strlen(name);
    if (strncmp(d->constant[i], name, n) == 0 && d->constant[i][n] == '=')
      return ga__study_refuse(d->ctx, "parameter", name, NULL, NULL, "it is given twice");
  }
  return GA_OK;
}

static ga_status add_constant(ga_design *d, const ga__axis *axis)
{
  const size_t size = strlen(axis->name) + strlen(axis->constant) + 2;
  char *text = d->constant[d->n_constants] = ga__alloc(d->ctx, size, 1);
  if (!text) return ga__no_memory(d->ctx, "a parameter");
  snprintf(text, size, "%s=%s", axis->name, axis->constant);
  d->n_constants++;
  return GA_OK;
}

static ga_status add_axis(ga_design *d, int i, int *drawn)
{
  ga__axis *axis = &d->axis[i];
  ga_status status = ga__axis_read(d->ctx, d->opts.set[i], d->opts.most, axis);
  if (!status) status = check_name(d, axis->name);
  if (status) return status;
  if (axis->kind == GA__AXIS_CONSTANT) return add_constant(d, axis);
  parameter *p = &d->parameter[d->n];
  *p = (parameter){.name = axis->name, .unit = axis->unit, .axis = axis, .stream = (uint32_t)d->n};
  d->n++;
  if (axis->kind == GA__AXIS_DRAWN && *drawn >= 0) {
    p->direction = *drawn;
    return GA_OK;
  }
  p->direction = d->n_directions++;
  d->direction[p->direction].n = axis->n;
  if (axis->kind == GA__AXIS_LIST) return GA_OK;
  if (d->opts.samples < 1)
    return ga__study_refuse(d->ctx, "parameter", d->opts.set[i], "a number of samples", NULL,
                            "it is not said how many values are to be drawn");
  *drawn = p->direction;
  d->direction[p->direction].n = d->opts.samples;
  return GA_OK;
}

static ga_status add_columns(ga_design *d)
{
  const ga_design_opts *o = &d->opts;
  const size_t numbers = (size_t)o->n_columns * (size_t)o->n_rows;
  if (o->n_columns == 0) return GA_OK;
  d->columns = ga__alloc(d->ctx, numbers, sizeof *d->columns);
  d->text = ga__alloc(d->ctx, 2 * (size_t)o->n_columns, sizeof *d->text);
  if (!d->columns || !d->text) return ga__no_memory(d->ctx, "a table of parameters");
  memcpy(d->columns, o->columns, numbers * sizeof *d->columns);
  d->direction[d->n_directions].n = o->n_rows;
  for (int i = 0; i < o->n_columns; i++) {
    const char *unit = o->units && o->units[i] ? o->units[i] : "";
    if (!o->names[i]) return ga__refuse_null(d->ctx, "ga_design_create", "names");
    const ga_status status = check_name(d, o->names[i]);
    if (status) return status;
    for (long k = 0; k < o->n_rows; k++)
      if (!isfinite(o->columns[i * o->n_rows + k]))
        return ga__study_refuse(d->ctx, "parameter", o->names[i], "a number", NULL,
                                "row %ld of the table has none", k + 1);
    d->text[2 * i] = ga__study_copy(d->ctx, o->names[i], strlen(o->names[i]));
    d->text[2 * i + 1] = ga__study_copy(d->ctx, unit, strlen(unit));
    if (!d->text[2 * i] || !d->text[2 * i + 1]) return ga__no_memory(d->ctx, "names of parameters");
    d->parameter[d->n++] = (parameter){.name = d->text[2 * i],
                                       .unit = d->text[2 * i + 1],
                                       .column = d->columns + i * o->n_rows,
                                       .direction = d->n_directions};
  }
  d->n_directions++;
  return GA_OK;
}

/* ---- Runs ---- */

static ga_status count_runs(ga_design *d)
{
  double n = 1.0;
  d->n_runs = 1;
  for (int i = 0; i < d->n_directions; i++) {
    const long here = d->direction[i].n;
    if (d->opts.zip && i > 0 && here != d->direction[0].n)
      return ga__study_refuse(d->ctx, "design", "zip", "as many values of each parameter", NULL,
                              "there are %ld values of the first one and %ld of another", d->direction[0].n,
                              here);
    n = d->opts.zip ? (double)here : n * (double)here;
    if (n > (double)d->opts.most)
      return ga__refuse(d->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                        &(ga__facts){.field = "runs",
                                     .detail = "larger steps, or draws from distributions, need fewer",
                                     GA__NUMBERS({n, NULL}, {(double)d->opts.most, NULL})});
    d->n_runs = (long)n;
  }
  return GA_OK;
}

/* Which interval each point of a Latin hypercube has: a permutation, by its own stream of numbers. */
static ga_status shuffle(ga_design *d, parameter *p)
{
  const uint32_t stream = p->stream | 0x80000000u; /* beside those of the draws */
  const long n = d->opts.samples;
  p->cell = ga__alloc(d->ctx, (size_t)n, sizeof *p->cell);
  if (!p->cell) return ga__no_memory(d->ctx, "a Latin hypercube");
  for (long i = 0; i < n; i++) p->cell[i] = (int)i;
  for (long i = n - 1; i > 0; i--) {
    const long k = (long)(ga__random(d->opts.seed, stream, (uint64_t)i) * (double)(i + 1));
    const int swapped = p->cell[i];
    p->cell[i] = p->cell[k];
    p->cell[k] = swapped;
  }
  return GA_OK;
}

static ga_status fill(ga_design *d)
{
  const size_t sets = (size_t)d->opts.n_set, all = sets + (size_t)d->opts.n_columns;
  int drawn = -1;
  d->n_axes = d->opts.n_set;
  d->axis = ga__alloc(d->ctx, sets + 1, sizeof *d->axis);
  d->constant = ga__alloc(d->ctx, sets + 1, sizeof *d->constant);
  d->parameter = ga__alloc(d->ctx, all + 1, sizeof *d->parameter);
  d->direction = ga__alloc(d->ctx, sets + 2, sizeof *d->direction);
  if (!d->axis || !d->constant || !d->parameter || !d->direction) return ga__no_memory(d->ctx, "a design");
  ga_status status = GA_OK;
  for (int i = 0; i < d->opts.n_set && !status; i++) status = add_axis(d, i, &drawn);
  if (!status) status = add_columns(d);
  if (!status) status = count_runs(d);
  for (int i = 0; i < d->n && !status && d->opts.sampling == GA_SAMPLE_LATIN; i++)
    if (d->parameter[i].axis && d->parameter[i].axis->kind == GA__AXIS_DRAWN)
      status = shuffle(d, &d->parameter[i]);
  return status;
}

ga_status ga_design_create(ga_context *ctx, const ga_design_opts *opts, ga_design **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!opts || !out) return ga__null_argument(ctx);
  ga_status status = check_opts(ctx, opts);
  if (status) return status;
  ga_design *d = ga__alloc(ctx, 1, sizeof *d);
  if (!d) return ga__no_memory(ctx, "a design");
  d->ctx = ctx;
  d->opts = *opts;
  status = fill(d);
  d->opts.set = NULL; /* borrowed for this call */
  d->opts.names = d->opts.units = NULL;
  d->opts.columns = NULL;
  if (status)
    ga_design_destroy(&d);
  else
    *out = d;
  return status;
}

static double value_of(const ga_design *d, const parameter *p, long run)
{
  long index = run;
  if (!d->opts.zip) {
    for (int i = d->n_directions - 1; i > p->direction; i--) index /= d->direction[i].n;
    index %= d->direction[p->direction].n;
  }
  if (p->column) return p->column[index];
  if (p->axis->kind == GA__AXIS_LIST) return p->axis->value[index];
  double u = ga__random(d->opts.seed, p->stream, (uint64_t)index);
  if (p->cell) u = ((double)p->cell[index] + u) / (double)d->opts.samples;
  return ga__distribution_quantile(&p->axis->drawn, u);
}

ga_status ga_design_values(const ga_design *design, long run, double *values)
{
  if (!design) return GA_ERR_ARGUMENT;
  if (!values) return ga__null_argument(design->ctx);
  if (run < 0 || run >= design->n_runs)
    return ga__refuse_number(design->ctx, "design", "run", (double)run, "a number of its runs");
  for (int i = 0; i < design->n; i++) values[i] = value_of(design, &design->parameter[i], run);
  return GA_OK;
}

long ga_design_n_runs(const ga_design *design)
{
  return design ? design->n_runs : 0;
}

int ga_design_n_parameters(const ga_design *design)
{
  return design ? design->n : 0;
}

const char *ga_design_name(const ga_design *design, int i)
{
  return design && i >= 0 && i < design->n ? design->parameter[i].name : NULL;
}

const char *ga_design_unit(const ga_design *design, int i)
{
  return design && i >= 0 && i < design->n ? design->parameter[i].unit : NULL;
}

int ga__design_n_constants(const ga_design *design)
{
  return design->n_constants;
}

const char *ga__design_constant(const ga_design *design, int i)
{
  return design->constant[i];
}

void ga__design_print(const ga_design *design, int which, double value, char *text, size_t size)
{
  const char *unit = design->parameter[which].unit;
  char number[40];
  snprintf(number, sizeof number, "%.17g", value);
  for (char *c = number; *c; c++)
    if (*c == ',') *c = '.'; /* of the caller's locale */
  snprintf(text, size, "%s=%s%s%s", design->parameter[which].name, number, *unit ? " " : "", unit);
}
