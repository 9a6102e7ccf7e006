/* One parameter of a design, from its text: a constant, a grid, a list, or a distribution. */
#include "study/study_impl.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ITEMS = 100000 };

ga_status ga__study_refuse(ga_context *ctx, const char *kind, const char *part, const char *expected,
                           const char *nearest, const char *format, ...)
{
  char detail[GA_ERROR_TEXT], piece[GA_TEXT_PIECE];
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  ga__make_plain(detail);
  ga__name_quote(piece, part, (int)strlen(part));
  return ga__refuse(
      ctx, GA_ERR_ARGUMENT, GA_REASON_SYNTAX,
      &(ga__facts){.kind = kind, .part = piece, .detail = detail, .expected = expected, .nearest = nearest});
}

char *ga__study_copy(ga_context *ctx, const char *text, size_t n)
{
  while (n > 0 && (*text == ' ' || *text == '\t')) text++, n--;
  while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) n--;
  char *copy = ga__alloc(ctx, n + 1, 1);
  if (copy) memcpy(copy, text, n);
  return copy;
}

/* ---- Items: numbers, of which some have units ---- */

typedef struct item {
  const char *text;
  int bytes;  /* without blanks at both ends */
  int number; /* bytes of the number at its beginning, with its sign; the rest is its unit */
  int plain;  /* 1: without any unit, whatever the others have */
  double value;
} item;

typedef struct reading {
  ga_context *ctx;
  const char *text; /* the whole, for messages */
  ga__axis *axis;
  item *item;
  int n, room;
  char unit[GA_TEXT_PIECE]; /* of numbers without one; "": none */
  int several;              /* 1: different units are given */
  ga_dimension dimension;
} reading;

static ga_status refuse(const reading *r, const char *expected, const char *what, const char *piece,
                        int bytes)
{
  char quoted[GA_TEXT_PIECE];
  ga__name_quote(quoted, piece, bytes);
  return ga__study_refuse(r->ctx, "parameter", r->text, expected, NULL, what, quoted);
}

static ga_status add_item(reading *r, const char *text, int bytes)
{
  while (bytes > 0 && (*text == ' ' || *text == '\t')) text++, bytes--;
  while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t')) bytes--;
  int at = bytes > 0 && (*text == '-' || *text == '+');
  const int digits = ga__number_length(text + at);
  if (bytes == 0) return refuse(r, "a number", "a number is missing%s", "", 0);
  if (digits == 0 || at + digits > bytes)
    return refuse(r, "a number, as 2.5 or 2.5 mm", "'%s' is not a number", text, bytes);
  if (r->n == r->room) {
    const int room = r->room ? 2 * r->room : 16;
    if (room > MOST_ITEMS) return refuse(r, "fewer", "there are too many numbers%s", "", 0);
    item *more = ga__alloc(r->ctx, (size_t)room, sizeof *more);
    if (!more) return ga__no_memory(r->ctx, "a list of numbers");
    if (r->n) memcpy(more, r->item, (size_t)r->n * sizeof *more);
    ga__free(r->ctx, r->item);
    r->item = more;
    r->room = room;
  }
  r->item[r->n++] = (item){.text = text, .bytes = bytes, .number = at + digits};
  return GA_OK;
}

/* The unit that stands behind one number, or behind all of them, is that of all. */
static ga_status find_unit(reading *r, const char *behind, int bytes)
{
  for (int i = -1; i < r->n; i++) {
    const char *unit = i < 0 ? behind : r->item[i].text + r->item[i].number;
    int n = i < 0 ? bytes : r->item[i].bytes - r->item[i].number;
    while (n > 0 && (*unit == ' ' || *unit == '\t')) unit++, n--;
    if (n == 0) continue;
    if (n >= GA_TEXT_PIECE) return refuse(r, "a unit", "'%s' is too long", unit, n);
    if (*r->unit && (strncmp(r->unit, unit, (size_t)n) != 0 || r->unit[n])) r->several = 1;
    memcpy(r->unit, unit, (size_t)n);
    r->unit[n] = '\0';
  }
  return GA_OK;
}

static ga_status read_item(reading *r, item *x)
{
  char text[3 * GA_TEXT_PIECE];
  ga_dimension is;
  const int has_unit = x->bytes > x->number;
  if (x->bytes >= GA_TEXT_PIECE) return refuse(r, "a number", "'%s' is too long", x->text, x->bytes);
  if (x->plain && has_unit) return refuse(r, "a plain number", "'%s' has a unit", x->text, x->bytes);
  if (!has_unit && r->several && !x->plain)
    return refuse(r, "a unit behind each number, or behind one of them",
                  "'%s' has no unit, and the others have different ones", x->text, x->bytes);
  snprintf(text, sizeof text, "%.*s %s", x->bytes, x->text, has_unit || x->plain ? "" : r->unit);
  if (ga_quantity_parse(r->ctx, text, NULL, &x->value, &is, NULL)) {
    char why[GA_ERROR_TEXT];
    ga_error_say(ga_context_error(r->ctx), GA_SAY_ALL, why, sizeof why);
    return ga__study_refuse(r->ctx, "parameter", r->text, NULL, NULL, "%s", why);
  }
  if (x->plain) return GA_OK;
  if (x != r->item && memcmp(&is, &r->dimension, sizeof is) != 0)
    return refuse(r, "one dimension", "'%s' has another dimension than the first number", x->text, x->bytes);
  r->dimension = is;
  return GA_OK;
}

/* Splits at a character outside of parentheses. */
static ga_status add_items(reading *r, const char *text, int bytes, char separator)
{
  ga_status status = GA_OK;
  for (int at = 0, from = 0; at <= bytes && !status; at++) {
    if (at < bytes && text[at] != separator) continue;
    status = add_item(r, text + from, at - from);
    from = at + 1;
  }
  return status;
}

static ga_status read_items(reading *r, const char *behind, int bytes)
{
  static const ga_dimension none;
  ga_status status = find_unit(r, behind, bytes);
  for (int i = 0; i < r->n && !status; i++) status = read_item(r, &r->item[i]);
  if (!status && memcmp(&r->dimension, &none, sizeof none) != 0)
    ga_dimension_unit(r->axis->unit, sizeof r->axis->unit, &r->dimension);
  return status;
}

/* ---- Grids ---- */

#define WHOLE 1e-9 /* by which the number of steps of a grid may differ from a whole one */

static ga_status make_list(reading *r, double n, long most)
{
  if (!(n <= (double)most))
    return ga__study_refuse(r->ctx, "parameter", r->text, NULL, NULL,
                            "this would be %.3g values; %ld is the limit", n, most);
  r->axis->kind = GA__AXIS_LIST;
  r->axis->n = (long)n;
  r->axis->value = ga__alloc(r->ctx, (size_t)n, sizeof(double));
  return r->axis->value ? GA_OK : ga__no_memory(r->ctx, "values of a parameter");
}

/* a, a + step, ..., up to b. */
static ga_status make_range(reading *r, long most)
{
  const double a = r->item[0].value, b = r->item[1].value, step = r->item[2].value;
  if (r->n != 3) return refuse(r, "from:to:step, as 1:10:0.5", "a range has three numbers%s", "", 0);
  if (step == 0.0) return refuse(r, "another one", "the step is 0%s", "", 0);
  const double steps = floor((b - a) / step + WHOLE);
  if (!(steps >= 0.0))
    return refuse(r, "from:to:step, with a step that leads from the first to the second",
                  "the range is empty%s", "", 0);
  const ga_status status = make_list(r, steps + 1.0, most);
  for (long i = 0; !status && i < r->axis->n; i++) {
    const double x = a + (double)i * step;
    r->axis->value[i] = fabs(x - b) <= WHOLE * fabs(step) ? b : x;
  }
  return status;
}

static ga_status make_plain_list(reading *r, long most)
{
  const ga_status status = make_list(r, (double)r->n, most);
  for (long i = 0; !status && i < r->axis->n; i++) r->axis->value[i] = r->item[i].value;
  return status;
}

/* linspace(a, b, n), geomspace(a, b, n): both ends are among the values. */
static ga_status make_space(reading *r, int geometric, long most)
{
  const double a = r->item[0].value, b = r->item[1].value, n = r->item[2].value;
  if (n != floor(n) || n < 2.0)
    return refuse(r, "a whole number from 2 on", "the third argument is not a count%s", "", 0);
  if (geometric && !(a * b > 0.0))
    return refuse(r, "two ends of one sign", "a geometric grid cannot contain 0%s", "", 0);
  const ga_status status = make_list(r, n, most);
  for (long i = 0; !status && i < r->axis->n; i++) {
    const double s = (double)i / (n - 1.0);
    r->axis->value[i] = i == 0                ? a
                        : i == r->axis->n - 1 ? b
                        : geometric           ? a * pow(b / a, s)
                                              : a + s * (b - a);
  }
  return status;
}

/* ---- Calls ---- */

static ga_status make_distribution(reading *r, int kind, int n_args, int min, int max)
{
  ga__distribution *d = &r->axis->drawn;
  *d = (ga__distribution){.kind = (ga__distribution_kind)kind, .min = -INFINITY, .max = INFINITY};
  for (int i = 0; i < n_args; i++) d->p[i] = r->item[i].value;
  if (min >= 0) d->min = r->item[min].value;
  if (max >= 0) d->max = r->item[max].value;
  const char *fault = ga__distribution_fault(d), *text;
  ga_distribution_at(kind, &text);
  if (fault)
    return ga__study_refuse(r->ctx, "parameter", r->text, fault, NULL,
                            "%s cannot be drawn from these numbers", text);
  r->axis->kind = GA__AXIS_DRAWN;
  return GA_OK;
}

/* Arguments with commas between them; those of the names min= and max= anywhere behind the others. */
static ga_status add_arguments(reading *r, const char *text, int bytes, int *n_args, int *min, int *max)
{
  ga_status status = GA_OK;
  for (int at = 0, from = 0; at <= bytes && !status; at++) {
    if (at < bytes && text[at] != ',') continue;
    while (from < at && text[from] == ' ') from++;
    const int is_min = strncmp(text + from, "min=", 4) == 0, is_max = strncmp(text + from, "max=", 4) == 0;
    if (!is_min && !is_max && (*min >= 0 || *max >= 0))
      return refuse(r, "min= and max= behind the other arguments", "'%s' comes too late", text + from,
                    at - from);
    status = add_item(r, text + from + (is_min || is_max ? 4 : 0), at - from - (is_min || is_max ? 4 : 0));
    *(is_min ? min : is_max ? max : n_args) = is_min || is_max ? r->n - 1 : r->n;
    from = at + 1;
  }
  return status;
}

static const char *call_at(const void *user, int i)
{
  (void)user;
  return i < GA__N_DISTRIBUTIONS    ? ga__distribution_words[i]
         : i == GA__N_DISTRIBUTIONS ? "linspace"
                                    : "geomspace";
}

enum { CALLS = GA__N_DISTRIBUTIONS + 2 };

/* Which call a text is; −1: none. *args: behind its parenthesis. */
static int find_call(const char *text, const char **args)
{
  const int n = ga__name_length(text);
  const char *open = text + n + strspn(text + n, " ");
  if (n == 0 || *open != '(') return -1;
  *args = open + 1;
  for (int i = 0; i < CALLS; i++)
    if (strlen(call_at(NULL, i)) == (size_t)n && strncmp(text, call_at(NULL, i), (size_t)n) == 0) return i;
  return -1;
}

static ga_status read_call(reading *r, int call, const char *args, long most)
{
  const char *close = strchr(args, ')');
  const int grid = call >= GA__N_DISTRIBUTIONS,
            needs = grid ? 3 : ga__distribution_needs((ga__distribution_kind)call);
  const char *form =
      grid ? call == CALLS - 2 ? "linspace(low, high, count)" : "geomspace(low, high, count)" : "";
  int n_args = 0, min = -1, max = -1;
  if (!grid) ga_distribution_at(call, &form);
  if (!close) return refuse(r, form, "a ) is missing%s", "", 0);
  ga_status status = add_arguments(r, args, (int)(close - args), &n_args, &min, &max);
  if (status) return status;
  if (n_args != needs || (grid && (min >= 0 || max >= 0)))
    return ga__study_refuse(r->ctx, "parameter", r->text, form, NULL, "there are %d arguments", n_args);
  const int plain = grid ? 1 : ga__distribution_plain((ga__distribution_kind)call);
  for (int i = needs - plain; i < needs; i++) r->item[i].plain = 1;
  status = read_items(r, close + 1, (int)strlen(close + 1));
  if (status) return status;
  return grid ? make_space(r, call == CALLS - 1, most) : make_distribution(r, call, n_args, min, max);
}

/* 1: the text is an unknown call whose name is like one of ours; *nearest. */
static int is_misspelt(const char *text, char nearest[GA_TEXT_PIECE])
{
  const int n = ga__name_length(text);
  *nearest = '\0';
  if (n == 0 || text[n + (int)strspn(text + n, " ")] != '(') return 0;
  ga__name_nearest(nearest, text, n, call_at, NULL, CALLS);
  return *nearest != '\0';
}

static ga_status read_value(reading *r, const char *text, long most)
{
  const char *args = NULL;
  char nearest[GA_TEXT_PIECE];
  const int bytes = (int)strlen(text), call = find_call(text, &args);
  ga_status status;
  if (call >= 0) return read_call(r, call, args, most);
  if (is_misspelt(text, nearest) && strcmp(nearest, "log") != 0)
    return ga__study_refuse(r->ctx, "parameter", r->text, NULL, nearest,
                            "there is no such distribution or grid");
  const int range = strchr(text, ':') != NULL, list = strchr(text, ',') && !strchr(text, '(');
  if (!range && !list) {
    r->axis->constant = ga__study_copy(r->ctx, text, (size_t)bytes);
    return r->axis->constant ? GA_OK : ga__no_memory(r->ctx, "a parameter");
  }
  status = add_items(r, text, bytes, range ? ':' : ',');
  if (!status && range && r->n != 3)
    return refuse(r, "from:to:step, as 1:10:0.5", "a range has three numbers%s", "", 0);
  if (!status) status = read_items(r, "", 0);
  if (status) return status;
  return range ? make_range(r, most) : make_plain_list(r, most);
}

ga_status ga__axis_read(ga_context *ctx, const char *text, long most, ga__axis *out)
{
  reading r = {.ctx = ctx, .text = text, .axis = out};
  const char *equals = strchr(text, '=');
  *out = (ga__axis){.kind = GA__AXIS_CONSTANT};
  if (!equals || equals == text)
    return ga__study_refuse(ctx, "parameter", text, "name=value", NULL, "there is no =");
  out->name = ga__study_copy(ctx, text, (size_t)(equals - text));
  if (!out->name) return ga__no_memory(ctx, "the name of a parameter");
  const char *value = equals + 1 + strspn(equals + 1, " \t");
  const ga_status status = read_value(&r, value, most);
  ga__free(ctx, r.item);
  return status;
}

void ga__axis_free(ga_context *ctx, ga__axis *axis)
{
  ga__free(ctx, axis->name);
  ga__free(ctx, axis->constant);
  ga__free(ctx, axis->value);
  *axis = (ga__axis){0};
}
