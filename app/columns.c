/* Columns of numbers over time: signals of results, and of tables as comma-separated values. */
#include "columns.h"
#include "results.h"

#include "galpha/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 1e-9 /* of the whole time: records at both sides of a jump, of which the first counts */

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

char *app_trimmed(const char *text, size_t n)
{
  while (n > 0 && strchr(" \t", text[n - 1])) n--;
  while (n > 0 && strchr(" \t", *text)) text++, n--;
  char *out = malloc(n + 1);
  if (!out) return NULL;
  memcpy(out, text, n);
  out[n] = '\0';
  return out;
}

void app_column_free(app_column *c)
{
  free(c->t);
  free(c->y);
  *c = (app_column){0};
}

/* Of records at the same time, as both sides of a jump, the first one stays. Times must ascend. */
static int check_column(const app_columns *s, const char *name, app_column *c)
{
  long n = 0;
  const double span = c->n > 1 ? c->t[c->n - 1] - c->t[0] : 0.0;
  for (long i = 0; i < c->n; i++) {
    if (!isfinite(c->t[i]) || !isfinite(c->y[i]))
      return app_misused(s->a, "--%s: %s: %s has no value in record %ld", s->option, s->file, name, i + 1);
    if (n > 0 && c->t[i] - c->t[n - 1] < -CLOSE * fabs(span))
      return app_misused(s->a, "--%s: %s: times do not ascend: %g s comes after %g s", s->option, s->file,
                         c->t[i], c->t[n - 1]);
    if (n > 0 && c->t[i] - c->t[n - 1] <= CLOSE * span) continue;
    c->t[n] = c->t[i];
    c->y[n++] = c->y[i];
  }
  c->n = n;
  return APP_DONE;
}

static const char *result_name(const void *result, int i)
{
  return ga_result_signal_name(result, i);
}

static int read_result(const app_columns *s, const char *name, app_column *c)
{
  ga_result *result = NULL;
  if (ga_result_open(s->ctx, s->file, &result))
    return app_misused(s->a, "--%s: %s", s->option, ga_context_error(s->ctx)->text);
  const int i = ga_result_find(result, name);
  int code = APP_DONE;
  if (i < 0) {
    const char *nearest = app_nearest(name, ga_result_n_signals(result), result_name, result);
    char left_out[APP_LEFT_OUT];
    app_result_left_out(result, left_out);
    code = app_misused(s->a, "--%s: %s has no signal \"%s\"%s%s%s", s->option, s->file, name,
                       nearest ? "; the nearest is " : "", nearest ? nearest : "", left_out);
  }
  c->n = code ? 0 : ga_result_n_records(result);
  c->t = calloc((size_t)c->n + 1, sizeof *c->t);
  c->y = calloc((size_t)c->n + 1, sizeof *c->y);
  if (!code && (!c->t || !c->y)) code = no_memory();
  if (!code && (ga_result_read(result, -1, 0, c->n, c->t) || ga_result_read(result, i, 0, c->n, c->y)))
    code = app_misused(s->a, "--%s: %s", s->option, ga_context_error(s->ctx)->text);
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
    char *text = app_trimmed(at, n);
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

/* A unit in SI; 0: it is not of this kind. */
static double unit_size(ga_context *ctx, const char *unit, const char *si)
{
  char one[48];
  double size = 0.0;
  if (!*unit) return 1.0;
  snprintf(one, sizeof one, "1 %s", unit);
  return ga_quantity_parse(ctx, one, si, &size, NULL, NULL) ? 0.0 : size;
}

static int add_row(app_column *c, double t, double y)
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

static int read_rows(const app_columns *s, FILE *f, int time, int at, double time_size, double size,
                     app_column *c)
{
  int failed = 0;
  char *line;
  for (long row = 2; (line = read_line(f, &failed)) != NULL; row++) {
    double t, y;
    const int empty = !line[strspn(line, " \t")],
              good = empty || (read_number(line, time, &t) && read_number(line, at, &y));
    free(line);
    if (!good) return app_misused(s->a, "--%s: %s, line %ld: a number is missing", s->option, s->file, row);
    if (!empty && !add_row(c, t * time_size, y * size)) return no_memory();
  }
  return failed ? no_memory() : APP_DONE;
}

static int read_table(const app_columns *s, const char *name, app_column *c)
{
  char time_unit[32] = "", unit[32] = "";
  int failed = 0, code = APP_DONE;
  FILE *f = fopen(s->file, "r");
  if (!f) return app_misused(s->a, "--%s: %s: %s", s->option, s->file, strerror(errno));
  char *head = read_line(f, &failed);
  const int time = head ? find_cell(head, "time", time_unit) : -1,
            at = head ? find_cell(head, name, unit) : -1;
  const double of_time = unit_size(s->ctx, time_unit, "s");
  double size = unit_size(s->ctx, unit, s->units[0]);
  if (!(size > 0.0) && s->units[1]) size = unit_size(s->ctx, unit, s->units[1]);
  free(head);
  if (time < 0 || at < 0)
    code =
        app_misused(s->a, "--%s: %s has no column \"%s\"; its first line needs names, time and %s among them",
                    s->option, s->file, time < 0 ? "time" : name, name);
  else if (!(of_time > 0.0 && size > 0.0))
    code = app_misused(s->a, "--%s: %s: the unit [%s] of %s is not one of %s", s->option, s->file,
                       of_time > 0.0 ? unit : time_unit, of_time > 0.0 ? name : "time",
                       of_time > 0.0 ? s->kind : "time");
  if (!code) code = read_rows(s, f, time, at, of_time, size, c);
  fclose(f);
  return code;
}

int app_column_read(const app_columns *s, const char *name, app_column *c)
{
  const int code = app_ends_in(s->file, ".csv") ? read_table(s, name, c) : read_result(s, name, c);
  return code ? code : check_column(s, name, c);
}
