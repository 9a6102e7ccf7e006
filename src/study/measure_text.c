/* Texts of measures: "max(a.x)/mean(a.x)" becomes an expression of calls, each of which has an expression of
 * signals. */
#include "study/measures.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <stdio.h>
#include <string.h>

enum { MOST_ARGS = 8 };

const char *const ga__measure_words[GA__N_MEASURES] = {
#define WORD(name, word, least, most, text) word,
    GA_MEASURE_LIST(WORD)
#undef WORD
};
static const struct {
  int least, most;
  const char *text;
} FORM[GA__N_MEASURES] = {
#define FORM_OF(name, word, least, most, text) {least, most, text},
    GA_MEASURE_LIST(FORM_OF)
#undef FORM_OF
};

const char *ga_measure_at(int i, const char **text)
{
  if (i < 0 || i >= GA__N_MEASURES) return NULL;
  if (text) *text = FORM[i].text;
  return ga__measure_words[i];
}

typedef struct reading {
  ga_measures *m;
  const char *text; /* the whole measure, for messages */
} reading;

#define KIND "measure"

/* The last failure of the context, as one of this measure. */
static ga_status pass_on(const reading *r, ga_status status)
{
  char why[GA_ERROR_TEXT];
  const ga_error *e = ga_context_error(r->m->ctx);
  if (status == GA_ERR_MEMORY) return status;
  if (e->reason == GA_REASON_SYNTAX && *e->detail) { /* without the text, in which calls are replaced */
    const ga_error copy = *e;
    return ga__study_refuse(r->m->ctx, KIND, r->text, *copy.expected ? copy.expected : NULL, copy.nearest,
                            "%s", copy.detail);
  }
  ga_error_say(e, GA_SAY_ALL, why, sizeof why);
  return ga__study_refuse(r->m->ctx, KIND, r->text, NULL, NULL, "%s", why);
}

/* ---- Names ---- */

static const char *signal_at(const void *machine, int i)
{
  return ga_machine_signal_name(machine, i);
}

/* Number of a name among the values of expressions: signals, the time, parameters; −1: it is unknown. */
static ga_status find_name(const reading *r, const char *name, int *out)
{
  ga_measures *m = r->m;
  const int signal = ga_machine_find_signal(m->machine, name);
  *out = -1;
  if (signal >= 0) {
    for (int i = 0; i < m->n_signals; i++)
      if (m->signal[i] == signal) return *out = i, GA_OK;
    if (m->n_signals == GA__MOST_SIGNALS)
      return ga__study_refuse(m->ctx, KIND, r->text, NULL, NULL,
                              "there are more than %d signals in all measures", GA__MOST_SIGNALS);
    m->signal[ *out = m->n_signals++] = signal;
    ga_unit_parse(m->ctx, ga_machine_signal_unit(m->machine, signal), NULL, &m->dimension_x[*out], NULL);
    return GA_OK;
  }
  if (strcmp(name, "t") == 0) *out = GA__MOST_SIGNALS;
  for (int i = 0; i < m->n_parameters && *out < 0; i++)
    if (strcmp(m->parameter[i].name, name) == 0) *out = GA__MOST_SIGNALS + 1 + i;
  return GA_OK;
}

static ga_status refuse_name(const reading *r, const char *name, int bytes, int of_signals)
{
  char quoted[GA_TEXT_PIECE], nearest[GA_TEXT_PIECE] = "";
  ga__name_quote(quoted, name, bytes);
  if (of_signals)
    ga__name_nearest(nearest, name, bytes, signal_at, r->m->machine, ga_machine_n_signals(r->m->machine));
  return ga__study_refuse(r->m->ctx, KIND, r->text,
                          of_signals ? NULL : "a measure of it, as max(x) or final(x)", nearest,
                          of_signals ? "there is no signal '%s'" : "'%s' is a number for each time", quoted);
}

/* Compiles an expression of signals (of_signals 1), or of calls and parameters. */
static ga_status compile(const reading *r, const char *text, int of_signals, ga_expr **out)
{
  ga_measures *m = r->m;
  ga_symbol symbol[GA__MOST_CALLS];
  char names[GA__MOST_CALLS][GA_TEXT_PIECE];
  int n = 0, bytes, at = 0;
  for (; (bytes = ga__name_next(text, &at)) > 0; at += bytes) {
    int index = -1;
    if (n == GA__MOST_CALLS)
      return ga__study_refuse(m->ctx, KIND, r->text, NULL, NULL, "there are more than %d names",
                              GA__MOST_CALLS);
    if (bytes >= GA_TEXT_PIECE) return refuse_name(r, text + at, bytes, of_signals);
    memcpy(names[n], text + at, (size_t)bytes);
    names[n][bytes] = '\0';
    if (of_signals) {
      const ga_status status = find_name(r, names[n], &index);
      if (status) return status;
    } else if (sscanf(names[n], "_m%d", &index) != 1) {
      for (int i = 0; i < m->n_parameters && index < 0; i++)
        if (strcmp(m->parameter[i].name, names[n]) == 0) index = GA__MOST_CALLS + i;
    }
    if (index < 0 && (strcmp(names[n], "pi") == 0 || strcmp(names[n], "e") == 0)) continue;
    if (index < 0)
      return refuse_name(r, text + at, bytes, of_signals || ga_machine_find_signal(m->machine, names[n]) < 0);
    int known = 0;
    for (int i = 0; i < n; i++) known |= symbol[i].index == index;
    if (!known) {
      symbol[n] = (ga_symbol){.name = names[n], .kind = GA_SYMBOL_VARIABLE, .index = index};
      n++;
    }
  }
  const ga_status status = ga_expr_compile(m->ctx, text, symbol, n, NULL, out);
  return status ? pass_on(r, status) : GA_OK;
}

/* ---- Arguments ---- */

/* A number that is known before the run: "2%", "3 s", "2*T". */
static ga_status read_constant(const reading *r, const char *text, double *out, int *depends)
{
  ga_measures *m = r->m;
  ga_expr *e = NULL;
  const size_t n = strlen(text);
  const int percent = n > 0 && text[n - 1] == '%';
  char *copy = ga__study_copy(m->ctx, text, n - (size_t)percent);
  if (!copy) return ga__no_memory(m->ctx, "a measure");
  ga_status status = ga_quantity_parse(m->ctx, copy, percent ? "1" : NULL, out, NULL, NULL);
  if (status == GA_ERR_ARGUMENT) {
    status = compile(r, copy, 1, &e);
    const int *list = NULL;
    const int n_variables = e ? ga_expr_variables(e, &list) : 0;
    *depends |= n_variables > 0;
    for (int i = 0; i < n_variables && !status; i++)
      if (list[i] <= GA__MOST_SIGNALS)
        status = ga__study_refuse(m->ctx, KIND, r->text, "a number", NULL, "'%s' changes during a run", copy);
    if (!status) status = ga_expr_eval(e, m->x, out, NULL) ? GA_ERR_ARGUMENT : GA_OK;
    if (status == GA_ERR_ARGUMENT && e && n_variables == 0)
      status = ga__study_refuse(m->ctx, KIND, r->text, "a number", NULL, "'%s' has no value", copy);
  }
  if (percent) *out *= 0.01;
  ga_expr_destroy(&e);
  ga__free(m->ctx, copy);
  return status;
}

static const int sees[GA__N_MEASURES] = {
    [GA__MEASURE_MAX] = GA__SEE_EXTREMES,      [GA__MEASURE_MIN] = GA__SEE_EXTREMES,
    [GA__MEASURE_RANGE] = GA__SEE_EXTREMES,    [GA__MEASURE_PEAK_TIME] = GA__SEE_EXTREMES,
    [GA__MEASURE_LOW_TIME] = GA__SEE_EXTREMES, [GA__MEASURE_OVERSHOOT] = GA__SEE_EXTREMES,
    [GA__MEASURE_MEAN] = GA__SEE_SUMS,         [GA__MEASURE_RMS] = GA__SEE_SUMS,
    [GA__MEASURE_STD] = GA__SEE_SUMS,          [GA__MEASURE_INTEGRAL] = GA__SEE_SUMS,
    [GA__MEASURE_SETTLING] = GA__SEE_HISTORY,  [GA__MEASURE_RISE] = GA__SEE_HISTORY};

/* The channel of an expression: an equal one, or a new one. */
static ga_status add_channel(const reading *r, const char *text, int see, int *out)
{
  ga_measures *m = r->m;
  for (int i = 0; i < m->n_channels; i++)
    if (strcmp(ga_expr_text(m->channel[i].e), text) == 0) {
      m->channel[i].see |= see;
      *out = i;
      return GA_OK;
    }
  ga__channel_seen *c = &m->channel[m->n_channels];
  ga_status status = compile(r, text, 1, &c->e);
  if (status) return status;
  *out = m->n_channels++;
  c->see = see;
  status = ga_expr_dimension(m->ctx, c->e, m->dimension_x, &c->dimension, NULL);
  return status ? pass_on(r, status) : GA_OK;
}

static ga_dimension of_time(int power)
{
  ga_dimension s = {{0}};
  s.power[2] = (signed char)power;
  return s;
}

static void set_dimension(const ga_measures *m, ga__slot *s)
{
  const ga_dimension is = m->channel[s->channel].dimension;
  switch (s->kind) {
  case GA__MEASURE_PEAK_TIME:
  case GA__MEASURE_LOW_TIME:
  case GA__MEASURE_CROSSING:
  case GA__MEASURE_SETTLING:
  case GA__MEASURE_RISE:
    s->dimension = of_time(1);
    break;
  case GA__MEASURE_CROSSINGS:
  case GA__MEASURE_OVERSHOOT:
    s->dimension = of_time(0);
    break;
  case GA__MEASURE_INTEGRAL:
    s->dimension = is;
    s->dimension.power[2]++;
    break;
  default:
    s->dimension = is;
  }
}

/* One call with its arguments, copies without blanks. */
static ga_status add_call(const reading *r, ga__measure_kind kind, int n, char *const *arg)
{
  ga_measures *m = r->m;
  ga__slot *s = &m->slot[m->n_slots];
  const int first = kind == GA__MEASURE_AT; /* the expression comes last there */
  if (m->n_slots == GA__MOST_CALLS)
    return ga__study_refuse(m->ctx, KIND, r->text, NULL, NULL, "there are more than %d calls in all measures",
                            GA__MOST_CALLS);
  if (n - 1 < FORM[kind].least || n - 1 > FORM[kind].most || !*arg[0])
    return ga__study_refuse(m->ctx, KIND, r->text, FORM[kind].text, NULL, "%s has %d argument%s",
                            ga__measure_words[kind], *arg[0] ? n : 0, n == 1 && *arg[0] ? "" : "s");
  *s = (ga__slot){.kind = kind, .n_args = n - 1};
  ga_status status = add_channel(r, arg[first], sees[kind], &s->channel);
  for (int i = 0; i < n - 1 && !status; i++)
    status = read_constant(r, arg[first ? 0 : i + 1], &s->arg[i], &s->depends);
  if (status) return status;
  set_dimension(m, s);
  m->dimension_z[m->n_slots++] = s->dimension;
  return GA_OK;
}

/* ---- Calls in a text ---- */

/* The measure whose call begins here: its kind, the length of its name, *open: its parenthesis. −1: none. */
static int find_call(const char *text, int at, int *open)
{
  const int n = ga__name_length(text + at);
  if (n == 0) return -1;
  *open = at + n + (int)strspn(text + at + n, " ");
  if (text[*open] != '(') return -1;
  for (int i = 0; i < GA__N_MEASURES; i++)
    if (strlen(ga__measure_words[i]) == (size_t)n && strncmp(text + at, ga__measure_words[i], (size_t)n) == 0)
      return i;
  return -1;
}

/* Cuts the arguments behind a parenthesis apart; *end: behind the closing one. 0: there is none. */
static int cut_arguments(const char *text, int open, int from[MOST_ARGS + 1], int *n, int *end)
{
  int depth = 0;
  from[0] = open + 1;
  *n = 1;
  for (int at = open; text[at]; at++) {
    if (text[at] == '(' || text[at] == '[') depth++;
    if (text[at] == ')' || text[at] == ']') depth--;
    if (depth == 1 && text[at] == ',' && *n < MOST_ARGS) from[(*n)++] = at + 1;
    if (depth == 0) {
      from[*n] = at + 1;
      *end = at + 1;
      return 1;
    }
  }
  return 0;
}

/* 1: max and min of several numbers are those of expressions. */
static int is_ordinary(int kind, int n)
{
  return (kind == GA__MEASURE_MAX || kind == GA__MEASURE_MIN) && n > 1;
}

static int has_call(const char *text)
{
  int open, n, end, from[MOST_ARGS + 1];
  for (int at = 0; text[at]; at++) {
    const int length = ga__name_length(text + at), kind = length ? find_call(text, at, &open) : -1;
    if (kind >= 0 && cut_arguments(text, open, from, &n, &end) && !is_ordinary(kind, n)) return 1;
    if (length) at += length - 1;
  }
  return 0;
}

static ga_status read_call(const reading *r, int kind, int n, const int *from)
{
  ga_context *ctx = r->m->ctx;
  char *arg[MOST_ARGS] = {NULL};
  ga_status status = GA_OK;
  for (int i = 0; i < n && !status; i++) {
    arg[i] = ga__study_copy(ctx, r->text + from[i], (size_t)(from[i + 1] - from[i] - 1));
    if (!arg[i]) status = ga__no_memory(ctx, "a measure");
    if (!status && has_call(arg[i]))
      status = ga__study_refuse(ctx, KIND, r->text, "an expression of signals", NULL,
                                "a measure is within another one, in '%s'", arg[i]);
  }
  if (!status) status = add_call(r, (ga__measure_kind)kind, n, arg);
  for (int i = 0; i < n; i++) ga__free(ctx, arg[i]);
  return status;
}

/* The text with _m0, _m1, ... in place of calls. */
static ga_status replace_calls(const reading *r, char *out, size_t size)
{
  const char *text = r->text;
  size_t used = 0;
  for (int at = 0; text[at];) {
    int open, n, end, from[MOST_ARGS + 1];
    const int length = ga__name_length(text + at), kind = length ? find_call(text, at, &open) : -1;
    if (kind >= 0 && !cut_arguments(text, open, from, &n, &end))
      return ga__study_refuse(r->m->ctx, KIND, text, FORM[kind].text, NULL, "a ) is missing");
    if (used + 24 + (size_t)length >= size)
      return ga__study_refuse(r->m->ctx, KIND, text, NULL, NULL, "it is too long");
    if (kind >= 0 && !is_ordinary(kind, n)) {
      used += (size_t)snprintf(out + used, size - used, "_m%d", r->m->n_slots);
      const ga_status status = read_call(r, kind, n, from);
      if (status) return status;
      at = end;
      continue;
    }
    const int copied = length ? length : 1;
    memcpy(out + used, text + at, (size_t)copied);
    used += (size_t)copied;
    at += copied;
  }
  out[used] = '\0';
  return GA_OK;
}

static const char *word_at(const void *user, int i)
{
  (void)user;
  return ga__measure_words[i];
}

/* *is 1: expressions have a function of this name. */
static ga_status find_function(ga_context *ctx, const char *name, int bytes, int *is)
{
  const ga_symbol x = {.name = "x", .kind = GA_SYMBOL_CONSTANT};
  char trial[GA_TEXT_PIECE + 8];
  ga_text_error why = {0};
  ga_expr *e = NULL;
  *is = 0;
  if (bytes >= GA_TEXT_PIECE) return GA_OK;
  snprintf(trial, sizeof trial, "%.*s(x)", bytes, name);
  ga__mute_errors(ctx);
  const ga_status status = ga_expr_compile(ctx, trial, &x, 1, &why, &e);
  ga__unmute_errors(ctx);
  ga_expr_destroy(&e);
  *is = status != GA_ERR_ARGUMENT || why.reason != GA_REASON_UNKNOWN_FUNCTION;
  return status == GA_ERR_MEMORY ? ga__no_memory(ctx, "a measure") : GA_OK;
}

/* Refuses words before a parenthesis that are neither measures nor functions. */
static ga_status check_calls(const reading *r)
{
  for (int at = 0; r->text[at];) {
    int open;
    const int n = ga__name_length(r->text + at);
    const int call = n && r->text[at + n + (int)strspn(r->text + at + n, " ")] == '(';
    char quoted[GA_TEXT_PIECE], nearest[GA_TEXT_PIECE] = "";
    int known = 1;
    if (call && find_call(r->text, at, &open) < 0) {
      const ga_status status = find_function(r->m->ctx, r->text + at, n, &known);
      if (status) return status;
    }
    if (!known) {
      ga__name_quote(quoted, r->text + at, n);
      ga__name_nearest(nearest, r->text + at, n, word_at, NULL, GA__N_MEASURES);
      return ga__study_refuse(r->m->ctx, KIND, r->text, NULL, nearest, "there is no measure '%s'", quoted);
    }
    at += n ? n : 1;
  }
  return GA_OK;
}

static ga_status read_measure(const reading *r, ga__measure_text *out)
{
  ga_measures *m = r->m;
  char text[GA_EXPR_LENGTH];
  ga_dimension is;
  const int before = m->n_slots;
  ga_status status = check_calls(r);
  if (!status) status = replace_calls(r, text, sizeof text);
  if (!status) status = compile(r, text, 0, &out->e);
  if (!status && m->n_slots == before)
    status =
        ga__study_refuse(m->ctx, KIND, r->text, "max(x), min(x), mean(x), rms(x), final(x), at(3 s, x), ...",
                         NULL, "nothing is measured");
  if (status) return status;
  status = ga_expr_dimension(m->ctx, out->e, m->dimension_z, &is, NULL);
  if (status) return pass_on(r, status);
  ga_dimension_unit(out->unit, sizeof out->unit, &is);
  const int *list = NULL;
  const int n = ga_expr_variables(out->e, &list);
  for (int i = 0; i < n; i++) out->same |= memcmp(&is, &m->dimension_z[list[i]], sizeof is) == 0;
  return GA_OK;
}

ga_status ga__measures_read(ga_measures *m, const char *const *texts, int *which)
{
  const size_t all = GA__MOST_SIGNALS + 1 + (size_t)m->n_parameters,
               calls = GA__MOST_CALLS + (size_t)m->n_parameters;
  m->measure = ga__alloc(m->ctx, (size_t)m->n, sizeof *m->measure);
  m->slot = ga__alloc(m->ctx, GA__MOST_CALLS, sizeof *m->slot);
  m->channel = ga__alloc(m->ctx, GA__MOST_CALLS, sizeof *m->channel);
  m->signal = ga__alloc(m->ctx, GA__MOST_SIGNALS, sizeof *m->signal);
  m->x = ga__alloc(m->ctx, all, sizeof *m->x);
  m->z = ga__alloc(m->ctx, calls, sizeof *m->z);
  m->dimension_x = ga__alloc(m->ctx, all, sizeof *m->dimension_x);
  m->dimension_z = ga__alloc(m->ctx, calls, sizeof *m->dimension_z);
  if (!m->measure || !m->slot || !m->channel || !m->signal || !m->x || !m->z || !m->dimension_x ||
      !m->dimension_z)
    return ga__no_memory(m->ctx, "measures");
  m->dimension_x[GA__MOST_SIGNALS] = of_time(1);
  for (int i = 0; i < m->n_parameters; i++) {
    const ga_study_parameter *p = &m->parameter[i];
    ga_dimension is = of_time(0);
    if (p->unit && *p->unit) ga_unit_parse(m->ctx, p->unit, NULL, &is, NULL);
    m->x[GA__MOST_SIGNALS + 1 + i] = m->z[GA__MOST_CALLS + i] = p->value;
    m->dimension_x[GA__MOST_SIGNALS + 1 + i] = m->dimension_z[GA__MOST_CALLS + i] = is;
  }
  for (int i = 0; i < m->n; i++) {
    if (which) *which = i;
    const reading r = {m, texts[i]};
    const ga_status status = read_measure(&r, &m->measure[i]);
    if (status) return status;
  }
  return GA_OK;
}
