/* Motions that options prescribe: expressions, and columns of results and tables as splines. */
#include "prescribe.h"

#include "columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void app_prescribed_free(app_prescribed *p)
{
  for (int i = 0; i < 2 * p->n; i++) free(p->text[i]);
  p->n = 0;
}

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

/* Takes both texts over; first, last: times of the data [s]. */
static int add(app_prescribed *p, const app_arguments *a, char *coordinate, char *function, double first,
               double last)
{
  if (!coordinate || !function || p->n == GA_MOST_PRESCRIBED) {
    free(coordinate);
    free(function);
    return p->n == GA_MOST_PRESCRIBED ? app_misused(a, "more than %d prescribed motions", GA_MOST_PRESCRIBED)
                                      : no_memory();
  }
  p->text[2 * p->n] = coordinate;
  p->text[2 * p->n + 1] = function;
  p->first[p->n] = first;
  p->last[p->n] = last;
  p->list[p->n++] = (ga_prescription){coordinate, function};
  return APP_DONE;
}

/* "arm.angle=sin(2*t)" */
static int take_expression(app_prescribed *p, const app_arguments *a, const char *text)
{
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1 + strspn(equals + 1, " ")])
    return app_misused(a, "--prescribe: \"%s\" is not of the form NAME=FUNCTION, such as arm.angle=sin(2*t)",
                       text);
  return add(p, a, app_trimmed(text, (size_t)(equals - text)), app_trimmed(equals + 1, strlen(equals + 1)),
             -HUGE_VAL, HUGE_VAL);
}

/* ---- Columns ---- */

/* The function as a text of the model format. NULL: no memory. */
static char *spline_text(const app_column *c)
{
  enum { NUMBER = 26 };
  char *text = malloc(2 * NUMBER * (size_t)c->n + 96), *at = text;
  if (!text) return NULL;
  at += sprintf(at, "{type: table, interpolation: spline, before: linear, after: linear, x: [");
  for (long i = 0; i < c->n; i++) at += sprintf(at, "%s%.17g", i ? ", " : "", c->t[i]);
  at += sprintf(at, "], y: [");
  for (long i = 0; i < c->n; i++) at += sprintf(at, "%s%.17g", i ? ", " : "", c->y[i]);
  sprintf(at, "]}");
  return text;
}

/* ---- Options ---- */

/* FILE, and names with commas between them. */
static int take_columns(app_prescribed *p, ga_context *ctx, const app_arguments *a, const char *file,
                        const char *names)
{
  const app_columns from = {a, ctx, "prescribe-from", file, {"rad", "m"}, "angle or length"};
  int code = APP_DONE;
  while (!code) {
    const size_t n = strcspn(names, ",");
    char *name = app_trimmed(names, n);
    app_column c = {0};
    if (!name) return no_memory();
    if (!*name)
      code = app_misused(a, "--prescribe-from: a name is missing in the list of coordinates");
    else
      code = app_column_read(&from, name, &c);
    if (!code && c.n < 4)
      code = app_misused(
          a, "--prescribe-from: %s has %ld records at different times; a spline needs at least 4", file, c.n);
    if (!code)
      code = add(p, a, name, spline_text(&c), c.t[0], c.t[c.n - 1]);
    else
      free(name);
    app_column_free(&c);
    if (!names[n]) break;
    names += n + 1;
  }
  return code;
}

int app_prescribed_take(app_prescribed *p, ga_context *ctx, const app_arguments *a)
{
  const char *const *value;
  int code = APP_DONE;
  for (int i = 0; !code && (value = app_values(a, "prescribe", i)) != NULL; i++)
    code = take_expression(p, a, value[0]);
  for (int i = 0; !code && (value = app_values(a, "prescribe-from", i)) != NULL; i++)
    code = take_columns(p, ctx, a, value[0], value[1]);
  return code;
}

int app_prescribed_covers(const app_prescribed *p, const app_arguments *a, double from, double to)
{
  const double slack = 1e-9 * (to - from);
  for (int i = 0; i < p->n; i++)
    if (from < p->first[i] - slack || to > p->last[i] + slack)
      return app_misused(a,
                         "--prescribe-from: the values of %s are those of t = %.9g s to %.9g s, less than "
                         "%.9g s to %.9g s (--t-start, --t-end)",
                         p->list[i].coordinate, p->first[i], p->last[i], from, to);
  return APP_DONE;
}
