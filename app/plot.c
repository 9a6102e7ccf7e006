/* galpha plot: signals and expressions of signals over time, or over each other; a panel for each unit, or
 * panels by hand. */
#define _POSIX_C_SOURCE 200809L
#include "figure.h"
#include "sweep_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct plot {
  const app_arguments *a;
  ga_context *ctx;
  int n_sources;
  app_source *source;
  double range[2];   /* [s] times that are drawn */
  app_quantity time; /* of time axes */
  int by_hand;       /* the panel that curves go to; −1: by unit */
  int difference;
  int starved; /* 1: there was no memory for an expression */
  app_figure figure;
} plot;

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

/* ---- Files ---- */

/* 1: the operand is a file: the first one, and others with such an ending or that exist. */
static int is_file(const char *operand, int i)
{
  struct stat st;
  return i == 0 || app_ends_in(operand, ".h5") || app_ends_in(operand, ".hdf5") ||
         app_ends_in(operand, ".csv") || (stat(operand, &st) == 0 && S_ISREG(st.st_mode));
}

/* --column SIGNAL=COLUMN: a column under the name of a signal. */
static int rename_columns(const plot *p, app_table *t, const char *file)
{
  const char *const *given;
  for (int i = 0; (given = app_values(p->a, "column", i)) != NULL; i++) {
    const char *equals = strchr(given[0], '=');
    int found = 0;
    if (!equals || equals == given[0] || !equals[1])
      return app_misused(p->a, "--column: \"%s\" is not of the form SIGNAL=COLUMN", given[0]);
    for (int k = 0; k < t->n_columns; k++) {
      const size_t length = (size_t)(equals - given[0]);
      if (strcmp(t->name[k], equals + 1) != 0 || t->n_renamed == 64) continue;
      char *name = calloc(length + 1, 1);
      if (!name) return no_memory();
      t->name[k] = t->renamed[t->n_renamed++] = memcpy(name, given[0], length);
      found = 1;
    }
    if (!found) return app_misused(p->a, "--column: %s has no column \"%s\"", file, equals + 1);
  }
  return APP_DONE;
}

static int same_dimension(ga_context *ctx, const char *a, const char *b)
{
  ga_dimension one, other;
  return !ga_unit_parse(ctx, a, NULL, &one, NULL) && !ga_unit_parse(ctx, b, NULL, &other, NULL) &&
         memcmp(&one, &other, sizeof one) == 0;
}

/* Columns without a unit have that of the signal of the same name, or none; those with one are written as the
 * signal's, J rather than N*m. */
static void complete_unit(plot *p, const app_source *s, int i)
{
  static char none[] = "1";
  char **unit = &s->table->unit[i];
  const int given = **unit != '\0';
  if (!given) *unit = none;
  for (int f = 0; f < p->n_sources; f++) {
    const app_source *other = &p->source[f];
    const int signal = other->result ? ga_result_find(other->result, s->table->name[i]) : -1;
    const char *its = signal >= 0 ? ga_result_signal_unit(other->result, signal) : "";
    if (*its && given && !same_dimension(p->ctx, its, *unit))
      fprintf(stderr, "warning: %s: column \"%s\" is in %s, and the signal of %s in %s\n", s->file,
              s->table->name[i], *unit, other->file, its);
    if (!*its || (given && !same_dimension(p->ctx, its, *unit))) continue;
    *unit = (char *)(size_t)its; /* never written to */
    if (!given)
      printf("note: %s: column \"%s\" has no unit; taken to be in %s, as the signal\n", s->file,
             s->table->name[i], its);
    return;
  }
}

static void complete_units(plot *p, const app_source *s)
{
  for (int i = 0; i < s->table->n_columns; i++)
    if (i != s->table->time) complete_unit(p, s, i);
}

static int open_source(plot *p, const char *file)
{
  app_source *s = &p->source[p->n_sources++];
  s->file = file;
  if (!app_ends_in(file, ".csv")) {
    const int code = app_result_open(p->a, p->ctx, file, &s->result);
    if (!code) app_result_warn(s->result, file);
    return code;
  }
  const int code = app_table_read(p->a, p->ctx, file, app_text(p->a, "time-column"), &s->table);
  return code ? code : rename_columns(p, s->table, file);
}

static int open_sources(plot *p)
{
  const app_arguments *a = p->a;
  int code = APP_DONE;
  p->source = calloc((size_t)a->n_operands, sizeof *p->source);
  if (!p->source) return no_memory();
  for (int i = 0; i < a->n_operands && !code; i++)
    if (is_file(a->operands[i], i)) code = open_source(p, a->operands[i]);
  for (int f = 0; f < p->n_sources && !code; f++)
    if (p->source[f].table) complete_units(p, &p->source[f]);
  if (!code && p->difference && p->n_sources < 2)
    return app_misused(a, "--difference needs two results: galpha plot a.h5 b.h5 SIGNAL --difference");
  return code;
}

/* ---- Labels ---- */

/* The text of --label KEY=TEXT; NULL: none. The last = that ends a key which is known counts, since
 * expressions may have one. */
static const char *given_label(const plot *p, const char *key)
{
  const char *const *given;
  const size_t length = strlen(key);
  for (int i = 0; (given = app_values(p->a, "label", i)) != NULL; i++)
    if (strncmp(given[0], key, length) == 0 && given[0][length] == '=') return given[0] + length + 1;
  return NULL;
}

/* "lambda" as λ; products with a dot. */
static void pretty_name(char *text, size_t size, const char *name, int expression)
{
  static const struct {
    const char *word, *sign;
  } words[] = {{"lambda", "λ"}, {"omega", "ω"}, {"alpha", "α"}, {"vdot", "v̇"}, {"xdot", "ẋ"},
               {"qdot", "q̇"},   {"psi", "ψ"},   {"eta", "η"},   {"phi", "φ"},  {"rho", "ρ"}};
  size_t used = 0;
  while (*name && used + 8 < size) {
    size_t k = 0, length = strcspn(name, " .*/+-()^,");
    const size_t n = sizeof words / sizeof *words;
    while (k < n && !(strlen(words[k].word) == length && strncmp(words[k].word, name, length) == 0)) k++;
    if (k < n) {
      used += (size_t)snprintf(text + used, size - used, "%s", words[k].sign);
    } else if (length > 0) {
      used += (size_t)snprintf(text + used, size - used, "%.*s", (int)length, name);
    } else if (expression && (*name == '*' || *name == '-')) {
      used += (size_t)snprintf(text + used, size - used, "%s", *name == '*' ? "·" : "−");
      length = 1;
    } else {
      text[used++] = *name;
      length = 1;
    }
    name += length;
  }
  if (used >= size) used = size - 1;
  text[used] = '\0';
}

static void quantity_label(const plot *p, char *text, const app_quantity *q)
{
  const char *given = given_label(p, q->text);
  if (given)
    snprintf(text, APP_LABEL, "%s", given);
  else
    pretty_name(text, APP_LABEL, q->text, q->e != NULL);
}

/* The name of a file without folder and ending. */
static void source_label(const plot *p, char *text, int source)
{
  const char *file = p->source[source].file, *slash = strrchr(file, '/'), *given = given_label(p, file);
  snprintf(text, APP_LABEL, "%s", given ? given : slash ? slash + 1 : file);
  char *point = given ? NULL : strrchr(text, '.');
  if (point && point > text) *point = '\0';
}

static int check_labels(const plot *p)
{
  const char *const *given;
  for (int i = 0; (given = app_values(p->a, "label", i)) != NULL; i++) {
    const app_figure *f = &p->figure;
    int used = 0;
    for (int k = 0; k < f->n_curves && !used; k++) {
      const app_curve *c = &f->curve[k];
      const char *const keys[] = {c->y.text, c->x.text, p->source[c->source].file,
                                  c->other >= 0 ? p->source[c->other].file : NULL};
      for (size_t m = 0; m < sizeof keys / sizeof *keys; m++)
        used |=
            keys[m] && strncmp(given[0], keys[m], strlen(keys[m])) == 0 && given[0][strlen(keys[m])] == '=';
    }
    if (!used)
      return app_misused(p->a,
                         "--label: \"%s\" is not of the form NAME=TEXT with a signal, an expression or a "
                         "file that is drawn",
                         given[0]);
  }
  return APP_DONE;
}

/* ---- Panels ---- */

static const char *drawn_unit(const app_quantity *q)
{
  return *q->drawn ? q->drawn : q->unit;
}

static int panel_for(plot *p, const app_curve *c, int *out)
{
  app_figure *f = &p->figure;
  const char *x = drawn_unit(c->x.text ? &c->x : &p->time), *y = drawn_unit(&c->y);
  for (int i = 0; i < f->n_panels; i++) {
    const app_panel *there = &f->panel[i];
    const int fits =
        strcmp(there->unit_x, x) == 0 && strcmp(there->unit_y, y) == 0 && there->over_time == !c->x.text;
    if (p->by_hand == i && !fits)
      return app_misused(
          p->a, "--panel: %s is in %s, and the panel's first signal in %s; panels have one unit", c->y.text,
          *y ? y : "plain numbers", *there->unit_y ? there->unit_y : "plain numbers");
    if (p->by_hand >= 0 ? p->by_hand == i : fits && !there->given_by_hand) return *out = i, APP_DONE;
  }
  app_panel *made = &f->panel[f->n_panels];
  *made = (app_panel){.over_time = !c->x.text,
                      .given_by_hand = p->by_hand >= 0,
                      .lengths = c->x.text && strcmp(c->x.unit, "m") == 0 && strcmp(c->y.unit, "m") == 0};
  snprintf(made->unit_x, sizeof made->unit_x, "%s", x);
  snprintf(made->unit_y, sizeof made->unit_y, "%s", y);
  *out = f->n_panels++;
  return APP_DONE;
}

/* Takes the expressions of c over, also if it fails. */
static int add_curve(plot *p, const app_curve *c)
{
  app_figure *f = &p->figure;
  if (f->n_curves == APP_MOST_CURVES)
    return app_misused(p->a, "more than %d curves; name fewer signals", APP_MOST_CURVES);
  app_curve *to = &f->curve[f->n_curves++];
  *to = *c;
  const int code = panel_for(p, to, &to->panel);
  if (!code) to->style = ++f->panel[to->panel].n;
  return code;
}

/* ---- Units ---- */

/* --unit UNIT: quantities of its dimension are drawn in it. Marks it as used. */
static void choose_unit(plot *p, app_quantity *q)
{
  const char *const *given;
  double factor;
  for (int i = 0; (given = app_values(p->a, "unit", i)) != NULL; i++) {
    if (!same_dimension(p->ctx, given[0], q->unit) || ga_unit_parse(p->ctx, given[0], &factor, NULL, NULL))
      continue;
    snprintf(q->drawn, sizeof q->drawn, "%s", given[0]);
    q->scale = 1.0 / factor;
  }
}

/* Units that can be read, each of another dimension. */
static int check_units(plot *p)
{
  const char *const *given, *const *other;
  for (int i = 0; (given = app_values(p->a, "unit", i)) != NULL; i++) {
    if (strlen(given[0]) >= APP_UNIT || ga_unit_parse(p->ctx, given[0], NULL, NULL, NULL))
      return app_misused(p->a, "--unit: \"%s\" is not a unit such as deg, mm, kN or km/h", given[0]);
    for (int k = 0; k < i && (other = app_values(p->a, "unit", k)) != NULL; k++)
      if (same_dimension(p->ctx, given[0], other[0]))
        return app_misused(p->a, "--unit: %s and %s are units of the same kind", other[0], given[0]);
  }
  choose_unit(p, &p->time);
  p->figure.time_scale = p->time.scale;
  return APP_DONE;
}

/* A unit that nothing has would be lost without a word. */
static int check_units_are_used(const plot *p)
{
  const char *const *given;
  for (int i = 0; (given = app_values(p->a, "unit", i)) != NULL; i++) {
    int used = 0;
    for (int k = 0; k < p->figure.n_curves && !used; k++) {
      const app_curve *c = &p->figure.curve[k];
      used =
          strcmp(c->y.drawn, given[0]) == 0 || strcmp((c->x.text ? &c->x : &p->time)->drawn, given[0]) == 0;
    }
    if (!used) return app_misused(p->a, "--unit: nothing that is drawn is of the kind of %s", given[0]);
  }
  return APP_DONE;
}

/* Expressions are in SI units whatever they are multiplied by: an angle times 180/pi is labelled in rad. */
static void note_degrees(const plot *p)
{
  for (int i = 0; i < p->figure.n_curves; i++) {
    const app_quantity *y = &p->figure.curve[i].y;
    if (!y->e || *y->drawn || strncmp(y->unit, "rad", 3) != 0 || !strstr(y->text, "180/pi")) continue;
    printf(
        "note: \"%s\" is an angle, whose values are labelled in %s; --unit deg%s draws angles in degrees\n",
        y->text, y->unit, y->unit + 3);
    return;
  }
}

static void scale_values(double *values, long n, double scale)
{
  for (long i = 0; values && i < n; i++) values[i] *= scale;
}

static void scale_curve(const plot *p, app_curve *c)
{
  app_series *d = &c->data;
  scale_values(d->x, d->n, c->x.text ? c->x.scale : p->time.scale);
  scale_values(d->y, d->n, c->y.scale);
  scale_values(d->e, d->n, c->y.scale);
  d->noise *= c->y.scale;
}

/* ---- Choice of what is drawn ---- */

static int find_named(plot *p, int source, const char *text, app_quantity *out)
{
  const app_source *s = &p->source[source];
  const int signal = app_source_find(s, text);
  *out = (app_quantity){.text = text, .signal = signal};
  if (signal >= 0) {
    out->text = app_source_name(s, signal);
    snprintf(out->unit, sizeof out->unit, "%s", app_source_unit(s, signal));
    if (strcmp(out->unit, "-") == 0) snprintf(out->unit, sizeof out->unit, "1");
    return 1;
  }
  if (strcmp(text, "time") == 0) return snprintf(out->unit, sizeof out->unit, "s"), 1;
  const ga_status status =
      strpbrk(text, "+-*/^()<>") ? app_quantity_compile(p->ctx, s, text, out) : GA_ERR_ARGUMENT;
  if (status == GA_ERR_MEMORY) p->starved = 1;
  return status == GA_OK;
}

/* A signal, the time, or an expression of one source. Returns 0: this source has no such thing. */
static int find_quantity(plot *p, int source, const char *text, app_quantity *out)
{
  if (!find_named(p, source, text, out)) return 0;
  out->scale = 1.0;
  choose_unit(p, out);
  return 1;
}

/* Results may be of different models: what one of them lacks is drawn from the others. Tables lack much: one
 * of which nothing is drawn is named at the end. */
static void warn_missing(const plot *p, int source, const char *name)
{
  char left_out[APP_LEFT_OUT];
  if (!p->source[source].result) return;
  app_result_left_out(p->source[source].result, left_out);
  fprintf(stderr, "warning: %s has no signal \"%s\"%s\n", p->source[source].file, name, left_out);
}

static void warn_of_unused(const plot *p)
{
  for (int s = 0; s < p->n_sources; s++) {
    int used = 0;
    for (int i = 0; i < p->figure.n_curves; i++)
      used |= p->figure.curve[i].source == s || p->figure.curve[i].other == s;
    if (!used && p->source[s].table)
      fprintf(stderr,
              "warning: nothing of %s is drawn: no column has the name of a signal that is drawn; --column "
              "SIGNAL=COLUMN gives it one\n",
              p->source[s].file);
  }
}

/* y over x (NULL: over time), from all sources that have both. Returns the number of these in *n. */
static int add_from_all(plot *p, const char *x, const char *y, int *n)
{
  const int first = p->difference ? 1 : 0;
  int code = APP_DONE;
  *n = 0;
  for (int s = first; s < p->n_sources && !code; s++) {
    app_curve c = {.source = s, .other = p->difference ? 0 : -1};
    const int known = (!x || find_quantity(p, s, x, &c.x)) && find_quantity(p, s, y, &c.y) &&
                      (!p->difference || find_quantity(p, 0, y, &c.minus));
    if (known && p->difference && strcmp(c.minus.unit, c.y.unit) != 0)
      code = app_misused(p->a, "--difference: %s is in %s in %s, and in %s in %s", y, c.minus.unit,
                         p->source[0].file, c.y.unit, p->source[s].file);
    if (known && !code) code = add_curve(p, &c);
    *n += known;
    if (known && !code) continue;
    ga_expr_destroy(&c.x.e);
    ga_expr_destroy(&c.y.e);
    ga_expr_destroy(&c.minus.e);
  }
  return !code && p->starved ? no_memory() : code;
}

/* All signals that match a pattern; those of later sources only if no earlier one has them. */
static int add_pattern(plot *p, const char *pattern)
{
  int code = APP_DONE, n;
  for (int s = 0; s < p->n_sources; s++) {
    const app_source *from = &p->source[s];
    if (!app_source_has(from, pattern)) warn_missing(p, s, pattern);
    for (int i = 0; i < app_source_n_signals(from) && !code; i++) {
      const char *name = app_source_name(from, i);
      int known = !app_matches(pattern, name) || (from->table && i == from->table->time);
      for (int k = 0; k < s && !known; k++) known = app_source_find(&p->source[k], name) >= 0;
      if (!known) code = add_from_all(p, NULL, name, &n);
    }
  }
  return code;
}

static const char *signal_at(const void *source, int i)
{
  return app_source_name(source, i);
}

static int refuse_name(const plot *p, const char *name)
{
  if (p->source[0].result) return app_result_no_signal(p->a, p->source[0].result, p->source[0].file, name);
  const app_source *s = &p->source[0];
  const char *nearest = app_nearest(name, app_source_n_signals(s), signal_at, s);
  return app_misused(p->a, "%s has no column \"%s\"; %s \"%s\"", s->file, name,
                     nearest ? "the nearest is" : "the first is", nearest ? nearest : app_source_name(s, 0));
}

/* 1: the text is meant as an expression: it has an operator, and any * stands between two names. */
static int is_expression(const char *text)
{
  const char *star = strchr(text, '*');
  if (strpbrk(text, "+-/^()<> ")) return 1;
  for (; star; star = strchr(star + 1, '*'))
    if (star == text || !star[1] || star[-1] == '.' || star[1] == '.' || star[1] == '*') return 0;
  return strchr(text, '*') != NULL;
}

static int refuse(plot *p, const char *text)
{
  app_quantity q;
  if (!is_expression(text)) return refuse_name(p, text);
  if (app_quantity_compile(p->ctx, &p->source[0], text, &q) == GA_ERR_MEMORY) return no_memory();
  ga_expr_destroy(&q.e);
  const char *words = ga_context_error(p->ctx)->text;
  const int unknown = ga_context_error(p->ctx)->reason == GA_REASON_UNKNOWN_NAME;
  char left_out[APP_LEFT_OUT] = "";
  if (p->source[0].result && unknown) app_result_left_out(p->source[0].result, left_out);
  if (strpbrk(text, "+-/^()<> ")) return app_misused(p->a, "%s: %s%s", p->source[0].file, words, left_out);
  return app_misused(p->a, "%s has no signal \"%s\", and as an expression it is wrong: %s%s",
                     p->source[0].file, text, words, left_out);
}

/* A signal, an expression or a pattern; an expression if all of its names are signals. */
static int add_item(plot *p, const char *text)
{
  int n = 0, matches = 0;
  int code = add_from_all(p, NULL, text, &n);
  if (code) return code;
  for (int s = 0; s < p->n_sources; s++) {
    app_quantity q;
    matches |= app_source_has(&p->source[s], text);
    if (n == 0 || p->n_sources == 1) continue;
    if (!find_quantity(p, s, text, &q)) warn_missing(p, s, text);
    ga_expr_destroy(&q.e);
  }
  if (n > 0) return APP_DONE;
  if (!matches) return refuse(p, text);
  const int before = p->figure.n_curves;
  code = add_pattern(p, text);
  if (!code && p->difference && p->figure.n_curves == before)
    return app_misused(p->a, "--difference: no two of the files have %s", text);
  return code;
}

/* Parts of a text between commas outside of parentheses, without blanks around them; the text is cut. */
static char *next_item(char **rest)
{
  char *item = *rest + strspn(*rest, " "), *end = item;
  for (int depth = 0; *end && !(depth == 0 && *end == ','); end++) depth += (*end == '(') - (*end == ')');
  *rest = *end ? end + 1 : NULL;
  while (end > item && end[-1] == ' ') end--;
  *end = '\0';
  return item;
}

/* --panel "A, B": a panel of these. Their texts live as long as the figure. */
static int add_panel(plot *p, char *text)
{
  int code = APP_DONE;
  p->by_hand = p->figure.n_panels;
  for (char *rest = text; rest && !code;) {
    const char *item = next_item(&rest);
    code = *item ? add_item(p, item) : app_misused(p->a, "--panel: a name is missing between commas");
  }
  p->by_hand = -1;
  return code;
}

static int add_panels(plot *p, char ***kept)
{
  const char *const *given;
  int n = 0, code = APP_DONE;
  while (app_values(p->a, "panel", n)) n++;
  *kept = calloc((size_t)n + 1, sizeof **kept);
  if (!*kept) return no_memory();
  for (int i = 0; !code && (given = app_values(p->a, "panel", i)) != NULL; i++) {
    (*kept)[i] = strdup(given[0]);
    code = (*kept)[i] ? add_panel(p, (*kept)[i]) : no_memory();
  }
  return code;
}

static int add_pair(plot *p, const char *const *names)
{
  int n = 0;
  const int code = p->difference ? app_misused(p->a, "--difference and --xy exclude each other")
                                 : add_from_all(p, names[0], names[1], &n);
  if (code) return code;
  for (int k = 0; k < 2; k++) {
    int known = 0;
    for (int s = 0; s < p->n_sources; s++) {
      app_quantity q;
      const int has = find_quantity(p, s, names[k], &q);
      ga_expr_destroy(&q.e);
      if (!has && n > 0) warn_missing(p, s, names[k]);
      known |= has;
    }
    if (!known) return refuse(p, names[k]);
  }
  if (n > 0) return APP_DONE;
  return app_misused(p->a, "--xy: none of the files has both %s and %s", names[0], names[1]);
}

static int choose(plot *p, char ***kept)
{
  const char *const *pair;
  int code = APP_DONE;
  for (int i = 0; i < p->a->n_operands && !code; i++)
    if (!is_file(p->a->operands[i], i)) code = add_item(p, p->a->operands[i]);
  if (!code) code = add_panels(p, kept);
  if (!code && p->starved) code = no_memory();
  for (int i = 0; !code && (pair = app_values(p->a, "xy", i)) != NULL; i++) code = add_pair(p, pair);
  if (!code && p->figure.n_curves == 0)
    code = app_misused(p->a, "which signals? galpha info %s --signals lists them", p->source[0].file);
  if (!code) code = check_units_are_used(p);
  if (!code) warn_of_unused(p), note_degrees(p);
  return code;
}

/* ---- Reading ---- */

static int refuse_data(const plot *p, ga_status status)
{
  if (status == GA_ERR_MEMORY) return no_memory();
  return fprintf(stderr, "galpha plot: %s\n", ga_context_error(p->ctx)->text), APP_FAILED;
}

/* Subtracts the other source, and says how exact that is where the records are at different times. */
static int subtract(plot *p, app_curve *c)
{
  static const app_quantity time = {.signal = -1};
  app_series other;
  double between = 0.0;
  const double all[2] = {-HUGE_VAL, HUGE_VAL};
  const ga_status status =
      app_series_read(p->ctx, &p->source[c->other], &time, &c->minus, app_has(p->a, "band"), all, &other);
  if (!status) {
    c->data.damaged |= other.damaged;
    app_series_subtract(&c->data, &other, &between);
    if (between > 0.0)
      printf("note: %s: records of %s are at other times, and interpolated by cubics; straight lines would "
             "differ by up to %.2g %s\n",
             c->y.text, p->source[c->other].file, between, c->y.unit);
  }
  app_series_free(&other);
  return status ? refuse_data(p, status) : APP_DONE;
}

/* "between t = 3 s and 4 s"; only what is given is named. */
static int refuse_range(const plot *p, const app_curve *c)
{
  char range[80] = "";
  const double from = p->range[0], to = p->range[1];
  if (isfinite(from) && isfinite(to))
    snprintf(range, sizeof range, " between t = %g s and %g s", from, to);
  else if (isfinite(from) || isfinite(to))
    snprintf(range, sizeof range, " %s t = %g s", isfinite(from) ? "after" : "before",
             isfinite(from) ? from : to);
  if (c->other < 0) return app_misused(p->a, "%s has no records%s", p->source[c->source].file, range);
  return app_misused(p->a, "%s and %s have no times%s in common, and so no differences",
                     p->source[c->other].file, p->source[c->source].file, range);
}

static int read_curves(plot *p, int *damaged)
{
  enum { FEW = 400 }; /* measured values are drawn as points up to this number */
  static const app_quantity time = {.signal = -1};
  for (int i = 0; i < p->figure.n_curves; i++) {
    app_curve *c = &p->figure.curve[i];
    const ga_status status = app_series_read(p->ctx, &p->source[c->source], c->x.text ? &c->x : &time, &c->y,
                                             app_has(p->a, "band") && !c->x.text, p->range, &c->data);
    if (status) return refuse_data(p, status);
    if (c->other >= 0) {
      const int code = subtract(p, c);
      if (code) return code;
    }
    scale_curve(p, c);
    *damaged |= c->data.damaged;
    c->drawn_as_points = p->source[c->source].table && c->data.n <= FEW;
    if (c->data.n == 0) return refuse_range(p, c);
  }
  return APP_DONE;
}

/* ---- Labels of the figure ---- */

/* The label of y if all curves of a panel have the same. */
static const char *common_quantity(const app_figure *f, int panel)
{
  const char *first = NULL;
  for (int i = 0; i < f->n_curves; i++) {
    const app_curve *c = &f->curve[i];
    if (c->panel != panel) continue;
    if (first && strcmp(first, c->quantity) != 0) return NULL;
    first = c->quantity;
  }
  return first;
}

static void name_curves(plot *p)
{
  app_figure *f = &p->figure;
  for (int i = 0; i < f->n_curves; i++) {
    app_curve *c = &f->curve[i];
    char y[APP_LABEL], x[APP_LABEL], minus[APP_LABEL];
    quantity_label(p, y, &c->y);
    if (c->x.text) quantity_label(p, x, &c->x);
    snprintf(c->quantity, APP_LABEL, "%.240s%s%.240s", y, c->x.text ? " over " : "", c->x.text ? x : "");
    source_label(p, y, c->source);
    if (c->other >= 0) source_label(p, minus, c->other);
    snprintf(c->label, APP_LABEL, "%.240s%s%.240s", y, c->other >= 0 ? " − " : "",
             c->other >= 0 ? minus : "");
  }
}

/* 1: all curves of a panel over time have one name, which fits on its axis. */
static int has_common_name(const plot *p, int panel)
{
  enum { FITS = 20 }; /* characters beside a panel */
  const app_panel *here = &p->figure.panel[panel];
  const char *common = common_quantity(&p->figure, panel);
  return common && here->over_time && strlen(common) <= FITS && (p->n_sources > 1 || here->n == 1);
}

/* Names that all curves of a panel share are on its axes, others in the legend. */
static void name_panels(plot *p)
{
  app_figure *f = &p->figure;
  int all_common = 1;
  for (int k = 0; k < f->n_panels; k++) all_common &= has_common_name(p, k);
  const char *const *given, *shared_x = app_text(p->a, "xlabel");
  int several = p->n_sources > 1;
  for (int k = 0; k < f->n_panels; k++) {
    app_panel *here = &f->panel[k];
    const char *common = common_quantity(f, k);
    const int on_axis = has_common_name(p, k) && (all_common || f->legend != APP_LEGEND_SHARED);
    for (int i = 0; i < f->n_curves; i++) {
      app_curve *c = &f->curve[i];
      char own[APP_LABEL];
      if (c->panel != k) continue;
      memcpy(own, c->label, sizeof own);
      if (!several)
        snprintf(c->label, APP_LABEL, "%s", c->quantity);
      else if (!on_axis)
        snprintf(c->label, APP_LABEL, "%.250s (%.250s)", c->quantity, own);
      if (here->n == 1 && c->x.text) { /* both on the axes */
        quantity_label(p, here->name_x, &c->x);
        quantity_label(p, here->name_y, &c->y);
      }
    }
    here->needs_legend = several;
    if (here->over_time) snprintf(here->name_x, APP_LABEL, "time");
    if (on_axis) snprintf(here->name_y, APP_LABEL, "%s", common);
    if (shared_x) snprintf(here->name_x, APP_LABEL, "%s", shared_x), here->given[0] = 1;
    if ((given = app_values(p->a, "ylabel", k)) != NULL)
      snprintf(here->name_y, APP_LABEL, "%s", given[0]), here->given[1] = 1;
  }
  if (f->legend != APP_LEGEND_SHARED) return;
  for (int i = 0, n = 0; i < f->n_curves; i++) { /* one style for each label of the picture */
    int k = 0;
    while (strcmp(f->curve[k].label, f->curve[i].label) != 0) k++;
    f->curve[i].style = k == i ? ++n : f->curve[k].style;
  }
}

/* The given title, or the titles of the models, each once. */
static void choose_title(plot *p)
{
  const char *given = app_text(p->a, "title");
  char *title = p->figure.title;
  size_t used = 0;
  snprintf(title, APP_LABEL, "%s", given ? given : "");
  for (int f = 0; f < p->n_sources && !given; f++) {
    const char *own = p->source[f].result ? ga_result_attribute(p->source[f].result, "title") : NULL;
    int said = !own || !*own;
    for (int k = 0; k < f && !said; k++) {
      const char *other = p->source[k].result ? ga_result_attribute(p->source[k].result, "title") : NULL;
      said = other && strcmp(other, own) == 0;
    }
    if (said || used >= APP_LABEL - 1) continue;
    used += (size_t)snprintf(title + used, APP_LABEL - used, "%s%s", used ? " and " : "", own);
  }
}

/* ---- The command ---- */

static int check_band(const plot *p)
{
  int some = !app_has(p->a, "band");
  for (int i = 0; i < p->figure.n_curves; i++) {
    const app_curve *c = &p->figure.curve[i];
    some |= !c->x.text && app_source_has_errors(&p->source[c->source], &c->y);
  }
  return some ? APP_DONE
              : app_misused(p->a, "--band: %s has no error bars; galpha run --accuracy makes them",
                            p->source[0].file);
}

/* --log x, y or xy; --legend each, shared or none. */
static int read_choices(plot *p)
{
  static const char *const legends[] = {
      [APP_LEGEND_EACH] = "each", [APP_LEGEND_SHARED] = "shared", [APP_LEGEND_NONE] = "none"};
  const char *log = app_text(p->a, "log"), *legend = app_text(p->a, "legend");
  if (log && strcmp(log, "x") != 0 && strcmp(log, "y") != 0 && strcmp(log, "xy") != 0)
    return app_misused(p->a, "--log: \"%s\" is none of x, y, xy", log);
  p->figure.log[0] = log && log[0] == 'x';
  p->figure.log[1] = log && strchr(log, 'y');
  for (int i = 0; legend && i < 3; i++)
    if (strcmp(legend, legends[i]) == 0) return p->figure.legend = (app_legend)i, APP_DONE;
  return legend ? app_misused(p->a, "--legend: \"%s\" is none of each, shared, none", legend) : APP_DONE;
}

static int read_options(plot *p)
{
  const app_arguments *a = p->a;
  const char *file = p->figure.file;
  if (!file) return app_misused(a, "where to? -o FILE is needed, ending in .svg, .png or .pdf");
  if (!app_gnuplot_knows(file))
    return app_misused(a, "\"%s\" ends neither in .svg nor in .png nor in .pdf", file);
  int code = app_number(a, "from", "s", -1e12, 1e12, &p->range[0]);
  if (!code) code = app_number(a, "to", "s", -1e12, 1e12, &p->range[1]);
  if (!code) code = app_look_read(a, &p->figure.look);
  return code ? code : read_choices(p);
}

/* More labels than panels would be lost without a word. */
static int check_ylabels(const plot *p)
{
  if (!app_values(p->a, "ylabel", p->figure.n_panels)) return APP_DONE;
  return app_misused(p->a, "--ylabel is given more often than there are panels, %d", p->figure.n_panels);
}

static int draw(plot *p, int *damaged)
{
  int code = check_band(p);
  if (!code) code = check_labels(p);
  if (!code) code = check_ylabels(p);
  if (!code) code = read_curves(p, damaged);
  if (code) return code;
  name_curves(p);
  name_panels(p);
  choose_title(p);
  if (p->source[0].result && !app_has(p->a, "no-events")) p->figure.events = p->source[0].result;
  return app_figure_draw(&p->figure);
}

/* Reports damaged records, which are missing in the picture. */
static int report_damage(plot *p)
{
  for (int f = 0; f < p->n_sources; f++)
    if (p->source[f].result && ga_result_verify(p->source[f].result))
      fprintf(stderr, "galpha plot: %s\n", ga_context_error(p->ctx)->text);
  return APP_FAILED;
}

static void close_plot(plot *p, char **kept)
{
  for (int i = 0; i < p->figure.n_curves; i++) {
    app_curve *c = &p->figure.curve[i];
    app_series_free(&c->data);
    ga_expr_destroy(&c->x.e);
    ga_expr_destroy(&c->y.e);
    ga_expr_destroy(&c->minus.e);
  }
  for (int f = 0; f < p->n_sources; f++) {
    ga_result_close(&p->source[f].result);
    app_table_free(&p->source[f].table);
  }
  for (int i = 0; kept && kept[i]; i++) free(kept[i]);
  free(kept);
  free(p->source);
  free(p->figure.curve);
  ga_context_destroy(&p->ctx);
}

int app_plot(const app_arguments *a)
{
  if (app_sweep_plot_takes(a->operands[0])) return app_sweep_plot(a);
  plot p = {.a = a,
            .range = {-HUGE_VAL, HUGE_VAL},
            .by_hand = -1,
            .difference = app_has(a, "difference"),
            .time = {.signal = -1, .unit = "s", .scale = 1.0}};
  char **kept = NULL;
  int damaged = 0;
  p.figure.a = a;
  p.figure.file = app_text(a, "out");
  p.figure.look = app_look_defaults();
  int code = read_options(&p);
  if (code) return code;
  p.figure.curve = calloc(APP_MOST_CURVES, sizeof *p.figure.curve);
  if (!p.figure.curve || ga_context_create(NULL, &p.ctx)) return free(p.figure.curve), no_memory();
  code = check_units(&p);
  if (!code) code = open_sources(&p);
  if (!code) code = choose(&p, &kept);
  if (!code) code = draw(&p, &damaged);
  if (damaged) code = report_damage(&p);
  close_plot(&p, kept);
  return code;
}
