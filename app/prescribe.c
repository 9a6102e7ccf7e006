/* Motions that options prescribe: expressions, and columns of results and tables as splines. */
#include "prescribe.h"

#include "galpha/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 1e-9 /* of the whole time: records at both sides of a jump, of which the first counts */

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

/* Without blanks at both ends. */
static char *copy(const char *text, size_t n)
{
  while (n > 0 && strchr(" \t", text[n - 1])) n--;
  while (n > 0 && strchr(" \t", *text)) text++, n--;
  char *out = malloc(n + 1);
  if (!out) return NULL;
  memcpy(out, text, n);
  out[n] = '\0';
  return out;
}

/* "arm.angle=sin(2*t)" */
static int take_expression(app_prescribed *p, const app_arguments *a, const char *text)
{
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1 + strspn(equals + 1, " ")])
    return app_misused(a, "--prescribe: \"%s\" is not of the form NAME=FUNCTION, such as arm.angle=sin(2*t)",
                       text);
  return add(p, a, copy(text, (size_t)(equals - text)), copy(equals + 1, strlen(equals + 1)), -HUGE_VAL,
             HUGE_VAL);
}

/* ---- Columns ---- */

/* Values over time, to be made a spline. */
typedef struct column {
  long n;
  double *t, *y; /* [n] */
} column;

static void free_column(column *c)
{
  free(c->t);
  free(c->y);
  *c = (column){0};
}

/* The function as a text of the model format. NULL: no memory. */
static char *spline_text(const column *c)
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

/* Of records at the same time, as both sides of a jump, the first one stays. Times must ascend. */
static int check_column(const app_arguments *a, const char *file, const char *name, column *c)
{
  long n = 0;
  const double span = c->n > 1 ? c->t[c->n - 1] - c->t[0] : 0.0;
  for (long i = 0; i < c->n; i++) {
    if (!isfinite(c->t[i]) || !isfinite(c->y[i]))
      return app_misused(a, "--prescribe-from: %s: %s has no value in record %ld", file, name, i + 1);
    if (n > 0 && c->t[i] - c->t[n - 1] < -CLOSE * fabs(span))
      return app_misused(a, "--prescribe-from: %s: times do not ascend: %g s comes after %g s", file, c->t[i],
                         c->t[n - 1]);
    if (n > 0 && c->t[i] - c->t[n - 1] <= CLOSE * span) continue;
    c->t[n] = c->t[i];
    c->y[n++] = c->y[i];
  }
  c->n = n;
  if (n < 4)
    return app_misused(
        a, "--prescribe-from: %s has %ld records at different times; a spline needs at least 4", file, n);
  return APP_DONE;
}

static const char *result_name(const void *result, int i)
{
  return ga_result_signal_name(result, i);
}

static int read_result(const app_arguments *a, ga_context *ctx, const char *file, const char *name, column *c)
{
  ga_result *result = NULL;
  if (ga_result_open(ctx, file, &result))
    return app_misused(a, "--prescribe-from: %s", ga_context_error(ctx)->text);
  const int i = ga_result_find(result, name);
  int code = APP_DONE;
  if (i < 0) {
    const char *nearest = app_nearest(name, ga_result_n_signals(result), result_name, result);
    code = app_misused(a, "--prescribe-from: %s has no signal \"%s\"%s%s", file, name,
                       nearest ? "; the nearest is " : "", nearest ? nearest : "");
  }
  c->n = code ? 0 : ga_result_n_records(result);
  c->t = calloc((size_t)c->n + 1, sizeof *c->t);
  c->y = calloc((size_t)c->n + 1, sizeof *c->y);
  if (!code && (!c->t || !c->y)) code = no_memory();
  if (!code && (ga_result_read(result, -1, 0, c->n, c->t) || ga_result_read(result, i, 0, c->n, c->y)))
    code = app_misused(a, "--prescribe-from: %s", ga_context_error(ctx)->text);
  ga_result_close(&result);
  return code;
}

/* ---- Comma-separated values ---- */

/* A line of any length without its end; NULL: no more, or no memory (*failed). To be freed. */
static char *read_line(FILE *f, int *failed)
{
  size_t size = 256, n = 0;
  char *line = malloc(size);
  int c = EOF;
  while (line && (c = getc(f)) != EOF && c != '\n') {
    if (n + 2 > size) {
      char *more = realloc(line, size *= 2);
      if (!more) free(line);
      line = more;
    }
    if (line) line[n++] = (char)c;
  }
  if (!line) return *failed = 1, NULL;
  if (c == EOF && n == 0) return free(line), NULL;
  if (n > 0 && line[n - 1] == '\r') n--;
  line[n] = '\0';
  return line;
}

/* Cell i of a line, with its length; NULL: there are fewer. */
static const char *cell(const char *line, int i, size_t *length)
{
  for (; i > 0; i--) {
    line = strchr(line, ',');
    if (!line++) return NULL;
  }
  *length = strcspn(line, ",");
  return line;
}

/* The column of a name, which a unit in brackets may follow: "arm.angle [deg]". unit: 32 bytes, "" if there
 * is none. −1: there is no such column. */
static int find_cell(const char *head, const char *name, char unit[32])
{
  size_t n;
  const char *at;
  for (int i = 0; (at = cell(head, i, &n)) != NULL; i++) {
    char *text = copy(at, n);
    if (!text) return -1;
    char *bracket = strchr(text, '[');
    unit[0] = '\0';
    if (bracket) {
      snprintf(unit, 32, "%.*s", (int)strcspn(bracket + 1, "]"), bracket + 1);
      *bracket = '\0';
      text[strcspn(text, " \t")] = '\0';
    }
    const int same = strcmp(text, name) == 0;
    free(text);
    if (same) return i;
  }
  return -1;
}

/* Its unit in SI: that of angles or lengths; 0: neither. */
static double unit_size(ga_context *ctx, const char *unit, const char *si)
{
  char one[48];
  double size = 0.0;
  if (!*unit) return 1.0;
  snprintf(one, sizeof one, "1 %s", unit);
  return ga_quantity_parse(ctx, one, si, &size, NULL, NULL) ? 0.0 : size;
}

static int add_row(column *c, double t, double y)
{
  if ((c->n & (c->n - 1)) == 0) { /* a power of 2: full */
    const size_t room = c->n ? 2 * (size_t)c->n : 1;
    double *more_t = realloc(c->t, room * sizeof *more_t);
    if (more_t) c->t = more_t;
    double *more_y = realloc(c->y, room * sizeof *more_y);
    if (more_y) c->y = more_y;
    if (!more_t || !more_y) return 0;
  }
  c->t[c->n] = t;
  c->y[c->n++] = y;
  return 1;
}

/* A number and nothing else. */
static int read_number(const char *line, int i, double *out)
{
  size_t n;
  const char *at = cell(line, i, &n);
  char text[64], *end;
  if (!at || n >= sizeof text) return 0;
  memcpy(text, at, n);
  text[n] = '\0';
  *out = strtod(text, &end);
  return end != text && !end[strspn(end, " \t")];
}

static int read_rows(const app_arguments *a, FILE *f, const char *file, int time, int at, double time_size,
                     double size, column *c)
{
  int failed = 0;
  char *line;
  for (long row = 2; (line = read_line(f, &failed)) != NULL; row++) {
    double t, y;
    const int empty = !line[strspn(line, " \t")],
              good = empty || (read_number(line, time, &t) && read_number(line, at, &y));
    free(line);
    if (!good) return app_misused(a, "--prescribe-from: %s, line %ld: a number is missing", file, row);
    if (!empty && !add_row(c, t * time_size, y * size)) return no_memory();
  }
  return failed ? no_memory() : APP_DONE;
}

static int read_table(const app_arguments *a, ga_context *ctx, const char *file, const char *name, column *c)
{
  char time_unit[32] = "", unit[32] = "";
  int failed = 0, code = APP_DONE;
  FILE *f = fopen(file, "r");
  if (!f) return app_misused(a, "--prescribe-from: %s: %s", file, strerror(errno));
  char *head = read_line(f, &failed);
  const int time = head ? find_cell(head, "time", time_unit) : -1,
            at = head ? find_cell(head, name, unit) : -1;
  const double of_time = unit_size(ctx, time_unit, "s"), of_angle = unit_size(ctx, unit, "rad"),
               size = of_angle > 0.0 ? of_angle : unit_size(ctx, unit, "m");
  free(head);
  if (time < 0 || at < 0)
    code = app_misused(
        a, "--prescribe-from: %s has no column \"%s\"; its first line needs names, time and %s among them",
        file, time < 0 ? "time" : name, name);
  else if (!(of_time > 0.0 && size > 0.0))
    code = app_misused(a, "--prescribe-from: %s: the unit [%s] of %s is not one of %s", file,
                       of_time > 0.0 ? unit : time_unit, of_time > 0.0 ? name : "time",
                       of_time > 0.0 ? "angle or length" : "time");
  if (!code) code = read_rows(a, f, file, time, at, of_time, size, c);
  fclose(f);
  return code;
}

/* ---- Options ---- */

/* FILE, and names with commas between them. */
static int take_columns(app_prescribed *p, ga_context *ctx, const app_arguments *a, const char *file,
                        const char *names)
{
  int code = APP_DONE;
  while (!code) {
    const size_t n = strcspn(names, ",");
    char *name = copy(names, n);
    column c = {0};
    if (!name) return no_memory();
    if (!*name)
      code = app_misused(a, "--prescribe-from: a name is missing in the list of coordinates");
    else
      code = app_ends_in(file, ".csv") ? read_table(a, ctx, file, name, &c)
                                       : read_result(a, ctx, file, name, &c);
    if (!code) code = check_column(a, file, name, &c);
    if (!code)
      code = add(p, a, name, spline_text(&c), c.t[0], c.t[c.n - 1]);
    else
      free(name);
    free_column(&c);
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
