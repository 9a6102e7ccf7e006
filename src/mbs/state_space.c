/* Linear models of machines between named inputs and outputs, in coordinates of bodies:
 *
 *   ζ = T z:  coordinates and velocities of bodies that are independent, states of blocks, states of inputs
 *   A' = T A T⁻¹,  B' = T B,  C = c T⁻¹,  D
 *
 * with A, B of ga_linearisation. c and D are derivatives of signals along its columns, by differences of
 * fourth order: signals are smooth functions of a state, and any of them may be an output. */
#include "core/arrays.h"
#include "mbs/channel.h"
#include "mbs/mbs_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHIFT 1e-3      /* [m, rad], or relative change of velocity: step of differences */
#define NEGLIGIBLE 1e-8 /* relative to the numbers of a state: a smaller change of slope is no kink */
#define ROUNDING 1e-12
#define KINK 1e-3  /* relative change of a slope that may be a kink, */
#define CLOSER 8.0 /* and is one if over a distance smaller by this factor */
#define STAYS 0.25 /* more than this part of it is left */
enum { LABEL = 224 };

struct ga_machine_linearisation {
  ga_context *ctx;
  const ga_machine *m;
  ga_linearisation *core;
  ga_meter *meter; /* whose work space signals are evaluated in; never started */
  int n_u, n_o, most;
  ga_linear_input *input; /* [n_u] */
  int *output;            /* [n_o] signals */
  int *chosen; /* [nv] coordinates that are states, in the order of free positions, then velocities */
  double *block;
  double *A, *B, *C, *D, *T, *work; /* T: [most][most] by rows; work: [most][most] */
  double *q, *state, *value;        /* of a state nearby; [5][n_o] */
  double *kink;                     /* [n_o] change of slope where an output may have a kink, otherwise 0 */
  double *turned;                   /* a matrix of outputs while it is transposed */
  const char **label;               /* [2 (most + n_u + n_o)] names, then units */
  char *text;                       /* [most + n_u + n_o][LABEL] */
  ga_state_space form;
};

/* ---- Inputs by name ---- */

static const char *unit_of_motion(const char *force, int derivative)
{
  static const char *const units[2][3] = {{"m", "m/s", "m/s^2"}, {"rad", "rad/s", "rad/s^2"}};
  if (strcmp(force, "N") == 0) return units[0][derivative];
  if (strcmp(force, "N*m") == 0) return units[1][derivative];
  return "";
}

/* The row of y of a signal that an expression uses; −1: none. */
static int fed_back(const ga__mbs_model *b, int part, int channel)
{
  for (int i = 0; i < b->y.n; i++) {
    const ga__y *row = GA__AT(b->y, ga__y, i);
    if (row->kind != GA__Y_PROBE) continue;
    const ga__probe *probe = GA__AT(b->probe, ga__probe, row->index);
    if (probe->part == part && probe->channel == channel) return i;
  }
  return -1;
}

int ga_machine_find_input(const ga_machine *m, const char *name, ga_linear_input *out, const char **unit)
{
  char force[GA_ERROR_NAME + 8];
  int part, number, owner;
  ga__channel at;
  if (!m || !m->model || !name) return 0;
  const int drive = ga__find_part(m, name);
  const int is_drive = drive >= 0 && m->part[drive].kind == GA__PART_DRIVE;
  snprintf(force, sizeof force, "%s%s", name, is_drive ? ".force" : "");
  if (!ga__channel_find(m->model, force, &part, &at, &number, &owner)) return 0;
  const int y = is_drive                            ? -1
                : at.probe.kind == GA__PROBE_OUTPUT ? at.probe.index
                                                    : fed_back(m->model, part, number);
  if (!is_drive && y < 0) return 0;
  if (out)
    *out = is_drive ? (ga_linear_input){GA_BLOCK_LAMBDA, at.probe.index} : (ga_linear_input){GA_BLOCK_Y, y};
  if (unit) *unit = is_drive ? unit_of_motion(at.unit, 2) : at.unit ? at.unit : "";
  return 1;
}

static ga_status find_inputs(ga_machine_linearisation *l, const char *const *names)
{
  for (int i = 0; i < l->n_u; i++) {
    const char *unit = "";
    if (!names[i]) return ga__null_argument(l->ctx);
    if (!ga_machine_find_input(l->m, names[i], &l->input[i], &unit))
      return ga__refuse(l->ctx, GA_ERR_ARGUMENT,
                        ga_machine_find_signal(l->m, names[i]) < 0 ? GA_REASON_UNKNOWN_INPUT
                                                                   : GA_REASON_NOT_AN_INPUT,
                        &(ga__facts){.name = names[i]});
    for (int k = 0; k < i; k++)
      if (l->input[k].block == l->input[i].block && l->input[k].index == l->input[i].index)
        return ga__refuse(l->ctx, GA_ERR_ARGUMENT, GA_REASON_INPUT_TWICE, &(ga__facts){.name = names[i]});
    snprintf(l->text + (size_t)(l->most + i) * LABEL, LABEL, "%s", names[i]);
    l->label[l->most + l->n_u + l->n_o + l->most + i] = unit;
  }
  return GA_OK;
}

/* Refuses energies that are integrated over a run: they are no functions of the state. */
static ga_status find_outputs(ga_machine_linearisation *l, const char *const *names)
{
  const int n = l->most + l->n_u + l->n_o;
  for (int i = 0; i < l->n_o; i++) {
    if (!names[i]) return ga__null_argument(l->ctx);
    l->output[i] = ga_machine_find_signal(l->m, names[i]);
    if (l->output[i] < 0)
      return ga__refuse(l->ctx, GA_ERR_ARGUMENT, GA_REASON_UNKNOWN_SIGNAL, &(ga__facts){.name = names[i]});
    if (ga_machine_signal_kind(l->m, l->output[i]) == GA_SIGNAL_ENERGY &&
        strcmp(names[i], "energy.kinetic") != 0 && strcmp(names[i], "energy.potential") != 0)
      return ga__refuse(l->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_AN_OUTPUT, &(ga__facts){.name = names[i]});
    snprintf(l->text + (size_t)(l->most + l->n_u + i) * LABEL, LABEL, "%s", names[i]);
    l->label[n + l->most + l->n_u + i] = ga_machine_signal_unit(l->m, l->output[i]);
  }
  return GA_OK;
}

/* ---- Memory ---- */

static ga_status take_memory(ga_machine_linearisation *l)
{
  const ga_system *sys = ga_machine_system(l->m);
  const size_t nv = (size_t)ga_system_size(sys, GA_BLOCK_V), n_u = (size_t)l->n_u, n_o = (size_t)l->n_o,
               most = (size_t)l->most, labels = most + n_u + n_o,
               nq = (size_t)ga_group_nq(ga_system_group(sys));
  const ga__array need[] = {{&l->A, most * most},
                            {&l->B, n_u * most},
                            {&l->C, most * n_o},
                            {&l->D, n_u * n_o},
                            {&l->T, most * most},
                            {&l->work, most * most},
                            {&l->q, nq + nv},
                            {&l->state, (size_t)ga_system_n(sys) + nv},
                            {&l->value, 5 * n_o},
                            {&l->kink, n_o},
                            {&l->turned, n_o * (most + n_u)}};
  l->input = ga__alloc(l->ctx, n_u, sizeof *l->input);
  l->output = ga__alloc(l->ctx, n_o, sizeof *l->output);
  l->chosen = ga__alloc(l->ctx, 2 * nv, sizeof *l->chosen);
  l->label = ga__alloc(l->ctx, 2 * labels, sizeof *l->label);
  l->text = ga__alloc(l->ctx, labels, LABEL);
  if (!l->input || !l->output || !l->chosen || !l->label || !l->text)
    return ga__no_memory(l->ctx, "a linear model");
  for (size_t i = 0; i < labels; i++) l->label[i] = l->text + i * LABEL, l->label[labels + i] = "";
  return ga__arrays_create(l->ctx, GA__ARRAYS(need), "a linear model", &l->block, NULL);
}

ga_status ga_machine_linearisation_create(ga_context *ctx, const ga_machine *m, int n_inputs,
                                          const char *const *inputs, int n_outputs,
                                          const char *const *outputs, ga_machine_linearisation **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !m || (n_inputs > 0 && !inputs) || (n_outputs > 0 && !outputs)) return ga__null_argument(ctx);
  const ga_system *sys = ga_machine_system(m);
  if (!sys) return ga__refuse_order(ctx, __func__, "after ga_machine_build()");
  ga_machine_linearisation *l = ga__alloc(ctx, 1, sizeof *l);
  if (!l) return ga__no_memory(ctx, "a linear model");
  l->ctx = ctx;
  l->m = m;
  l->n_u = n_inputs > 0 ? n_inputs : 0;
  l->n_o = n_outputs > 0 ? n_outputs : 0;
  l->most = 2 * ga_system_size(sys, GA_BLOCK_V) + ga_system_size(sys, GA_BLOCK_X) + 2 * l->n_u;
  ga_status status = take_memory(l);
  if (!status) status = find_inputs(l, inputs);
  if (!status) status = find_outputs(l, outputs);
  if (!status) status = ga_linearisation_create_with_inputs(ctx, sys, l->n_u, l->input, &l->core);
  if (!status) status = ga_meter_create(ctx, m, &l->meter);
  if (status)
    ga_machine_linearisation_destroy(&l);
  else
    *out = l;
  return status;
}

void ga_machine_linearisation_destroy(ga_machine_linearisation **out)
{
  if (!out || !*out) return;
  ga_machine_linearisation *l = *out;
  ga_linearisation_destroy(&l->core);
  ga_meter_destroy(&l->meter);
  ga__free(l->ctx, l->input);
  ga__free(l->ctx, l->output);
  ga__free(l->ctx, l->chosen);
  ga__free(l->ctx, l->label);
  ga__free(l->ctx, l->text);
  ga__free(l->ctx, l->block);
  ga__free(l->ctx, l);
  *out = NULL;
}

/* ---- States: coordinates that are independent ---- */

/* Chooses n of nv coordinates in which the n columns of `of` are independent, by elimination with complete
 * pivoting: the first of the largest numbers, up to rounding. */
static void choose_coordinates(ga_machine_linearisation *l, int nv, int n, const double *of, int *chosen)
{
  double *w = l->work;
  for (int i = 0; i < n * nv; i++) w[i] = of[i];
  for (int k = 0; k < n; k++) {
    double most = 0.0;
    int row = 0, col = k;
    for (int i = 0; i < nv; i++)
      for (int j = k; j < n; j++)
        if (fabs(w[j * nv + i]) > most * (1.0 + 1e-6)) most = fabs(w[j * nv + i]), row = i, col = j;
    for (int i = 0; i < nv; i++) {
      const double swapped = w[k * nv + i];
      w[k * nv + i] = w[col * nv + i];
      w[col * nv + i] = swapped;
    }
    chosen[k] = row;
    for (int j = k + 1; j < n; j++) {
      const double factor = w[k * nv + row] != 0.0 ? w[j * nv + row] / w[k * nv + row] : 0.0;
      for (int i = 0; i < nv; i++) w[j * nv + i] -= factor * w[k * nv + i];
      w[j * nv + row] = 0.0;
    }
  }
  for (int k = 1; k < n; k++) /* in the order of the machine */
    for (int i = k; i > 0 && chosen[i] < chosen[i - 1]; i--) {
      const int later = chosen[i];
      chosen[i] = chosen[i - 1];
      chosen[i - 1] = later;
    }
}

/* Sets T, by rows: each state as a combination of z. */
static void set_states(ga_machine_linearisation *l, const ga_linear_form *f)
{
  const int nv = ga_system_size(ga_machine_system(l->m), GA_BLOCK_V), n = f->n;
  choose_coordinates(l, nv, f->n_q, f->q, l->chosen);
  choose_coordinates(l, nv, f->n_v, f->v + (size_t)f->n_q * (size_t)nv, l->chosen + f->n_q);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double *column = (i < f->n_q ? f->q : f->v) + (size_t)j * (size_t)nv;
      l->T[i * n + j] = i < f->n_q + f->n_v ? column[l->chosen[i]] : i == j;
    }
}

static char *label_of(ga_machine_linearisation *l, int i)
{
  return l->text + (size_t)i * LABEL;
}

/* "rod: rotation about z", and "..., rate"; states of blocks; "drive.offset", "drive.offset_rate". */
static void name_states(ga_machine_linearisation *l, const ga_linear_form *f)
{
  const ga_system *sys = ga_machine_system(l->m);
  const char **unit = l->label + l->most + l->n_u + l->n_o;
  char words[LABEL];
  for (int i = 0; i < f->n_q + f->n_v; i++) {
    const int rate = i >= f->n_q;
    const char *force = ga_machine_equation(l->m, GA_BLOCK_V, l->chosen[i], words, sizeof words);
    ga_system_name(sys, GA_BLOCK_V, l->chosen[i], words, sizeof words);
    snprintf(label_of(l, i), LABEL, "%.200s%s", words, rate ? ", rate" : "");
    unit[i] = unit_of_motion(force, rate);
  }
  for (int i = 0; i < f->n_x; i++) {
    ga_system_name(sys, GA_BLOCK_X, i, label_of(l, f->n_q + f->n_v + i), LABEL);
    unit[f->n_q + f->n_v + i] = "";
  }
  for (int i = 0; i < l->n_u; i++)
    for (int k = 0; f->w[i] >= 0 && k < 2; k++) {
      const char *given = unit[l->most + i];
      char name[LABEL];
      snprintf(name, sizeof name, "%.200s.offset%s", label_of(l, l->most + i), k ? "_rate" : "");
      memcpy(label_of(l, f->w[i] + k), name, LABEL);
      unit[f->w[i] + k] = strncmp(given, "rad", 3) == 0 ? unit_of_motion("N*m", k) : unit_of_motion("N", k);
    }
}

/* rows[m][n] := rows T⁻¹, by elimination with the largest pivot of a column of Tᵀ. */
static int divide_rows(ga_machine_linearisation *l, int n, int m, double *rows)
{
  double *w = l->work;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) w[i * n + j] = l->T[j * n + i];
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(w[i * n + k]) > fabs(w[pivot * n + k])) pivot = i;
    if (w[pivot * n + k] == 0.0) return 0;
    for (int j = 0; j < n && pivot != k; j++) {
      const double kept = w[k * n + j];
      w[k * n + j] = w[pivot * n + j];
      w[pivot * n + j] = kept;
    }
    for (int r = 0; r < m && pivot != k; r++) {
      const double kept = rows[r * n + k];
      rows[r * n + k] = rows[r * n + pivot];
      rows[r * n + pivot] = kept;
    }
    for (int i = k + 1; i < n; i++) {
      const double factor = w[i * n + k] / w[k * n + k];
      for (int j = k; j < n; j++) w[i * n + j] -= factor * w[k * n + j];
      for (int r = 0; r < m; r++) rows[r * n + i] -= factor * rows[r * n + k];
    }
  }
  for (int r = 0; r < m; r++)
    for (int i = n - 1; i >= 0; i--) {
      double sum = rows[r * n + i];
      for (int j = i + 1; j < n; j++) sum -= w[i * n + j] * rows[r * n + j];
      rows[r * n + i] = sum / w[i * n + i];
    }
  return 1;
}

/* ---- Outputs ---- */

/* A column of the linear equations: how a state changes along it. */
typedef struct direction {
  const double *q, *v, *vdot, *multipliers, *y; /* NULL: not at all */
  int x;                                        /* which state of blocks, −1: none */
} direction;

/* values[n_o] of the outputs at s, moved by h along d. */
static ga_status output_values(ga_machine_linearisation *l, const ga_state *s, const direction *d, double h,
                               double *values)
{
  const ga_system *sys = ga_machine_system(l->m);
  const int nv = ga_system_size(sys, GA_BLOCK_V), nl = ga_system_size(sys, GA_BLOCK_LAMBDA),
            np = ga_system_size(sys, GA_BLOCK_PSI), nx = ga_system_size(sys, GA_BLOCK_X),
            ny = ga_system_size(sys, GA_BLOCK_Y);
  double *q = l->q, *move = q + ga_group_nq(ga_system_group(sys)), *v = l->state, *vdot = v + nv,
         *lambda = vdot + nv, *psi = lambda + nl, *x = psi + np, *y = x + nx;
  ga_state at = *s;
  for (int i = 0; i < nv; i++) {
    move[i] = d->q ? h * d->q[i] : 0.0;
    v[i] = s->v[i] + (d->v ? h * d->v[i] : 0.0);
    vdot[i] = s->vdot[i] + h * d->vdot[i];
  }
  ga_group_move(ga_system_group(sys), q, s->q, move);
  for (int i = 0; i < nl; i++) lambda[i] = s->lambda[i] + h * d->multipliers[i];
  for (int i = 0; i < np; i++) psi[i] = s->psi[i] + h * d->multipliers[nl + i];
  for (int i = 0; i < nx; i++) x[i] = s->x[i] + (i == d->x ? h : 0.0);
  for (int i = 0; i < ny; i++) y[i] = s->y[i] + h * d->y[i];
  at.q = q, at.v = v, at.vdot = vdot, at.lambda = lambda, at.psi = psi, at.x = x, at.y = y;
  at.a = vdot; /* a state without it would have its outputs computed anew, without what inputs add to them */
  return ga_machine_signals(l->m, l->meter, &at, l->n_o, l->output, values);
}

static double largest(const double *a, int n)
{
  double most = 0.0;
  for (int i = 0; a && i < n; i++) most = fmax(most, fabs(a[i]));
  return most;
}

/* Removes the jump by a turn that an angle in (−π, π] may have between two states. */
static double without_turns(const ga_machine_linearisation *l, int output, double d)
{
  const int is_angle = strcmp(ga_machine_signal_unit(l->m, l->output[output]), "rad") == 0;
  return is_angle ? d - GA__TWO_PI * round(d / GA__TWO_PI) : d;
}

/* Largest change of numbers a[n] along d[n], relative to 1 + their size. */
static double relative_change(const double *d, const double *a, int n)
{
  double most = 0.0;
  for (int i = 0; d && i < n; i++) most = fmax(most, fabs(d[i]) / (1.0 + fabs(a[i])));
  return most;
}

/* How far along d outputs are compared: positions, velocities, states and outputs change by SHIFT, of 1 or of
 * their size; accelerations and multipliers act linearly. */
static double choose_shift(const ga_machine_linearisation *l, const ga_state *s, const direction *d)
{
  const ga_system *sys = ga_machine_system(l->m);
  const int nv = ga_system_size(sys, GA_BLOCK_V), ny = ga_system_size(sys, GA_BLOCK_Y);
  double size = fmax(largest(d->q, nv), relative_change(d->v, s->v, nv));
  size = fmax(size, relative_change(d->y, s->y, ny));
  if (d->x >= 0) size = fmax(size, 1.0 / (1.0 + fabs(s->x[d->x])));
  return SHIFT / fmax(size, 1e-3);
}

/* Size of the numbers that a signal may be the sum of: forces may cancel. */
static double size_of_state(const ga_machine_linearisation *l, const ga_state *s, double value)
{
  const ga_system *sys = ga_machine_system(l->m);
  double size = fmax(1.0 + fabs(value), largest(s->vdot, ga_system_size(sys, GA_BLOCK_V)));
  size = fmax(size, largest(s->lambda, ga_system_size(sys, GA_BLOCK_LAMBDA)));
  return fmax(size, largest(s->y, ga_system_size(sys, GA_BLOCK_Y)));
}

/* Derivative of an output along a direction. */
typedef struct slope {
  double value, before, after; /* and the one-sided ones */
  double kink, limit;          /* change of slope that the differences suggest, and what may be rounding */
} slope;

/* From f[5][n_o] at −2h, ..., 2h: (8 (f₁ − f₋₁) − (f₂ − f₋₂))/12h. Second differences S grow with h² where it
 * is smooth, with h at a kink, whose change of slope is (4 S(h) − S(2h))/2h. */
static slope slope_of(const ga_machine_linearisation *l, const ga_state *s, int i, double h)
{
  const double *f = l->value + i, middle = f[2 * l->n_o];
  const size_t n_o = (size_t)l->n_o;
  double d[5];
  for (size_t k = 0; k < 5; k++) d[k] = without_turns(l, i, f[k * n_o] - middle);
  const double near = (d[3] - d[1]) / (2.0 * h), far = (d[4] - d[0]) / (4.0 * h), bend = d[3] + d[1],
               size = fmax(fabs(bend) / h, fmax(fabs(near), fabs(far)));
  return (slope){.value = (4.0 * near - far) / 3.0,
                 .before = -d[1] / h,
                 .after = d[3] / h,
                 .kink = fabs(4.0 * bend - (d[4] + d[0])) / (2.0 * h),
                 .limit = KINK * size + (NEGLIGIBLE + ROUNDING / h) * size_of_state(l, s, middle)};
}

static ga_status output_differences(ga_machine_linearisation *l, const ga_state *s, const direction *d,
                                    double h)
{
  ga_status status = GA_OK;
  for (int k = 0; k < 5 && !status; k++) status = output_values(l, s, d, (k - 2) * h, l->value + k * l->n_o);
  return status;
}

/* out[n_o]: derivatives of the outputs along d. Where they may have kinks, differences over a smaller
 * distance decide: at a kink the change of slope stays, while that of terms of fourth order falls with its
 * third power. */
static ga_status differentiate(ga_machine_linearisation *l, const ga_state *s, const direction *d,
                               double *out)
{
  const double h = choose_shift(l, s, d);
  int suspect = 0;
  ga_status status = output_differences(l, s, d, h);
  for (int i = 0; i < l->n_o && !status; i++) {
    const slope at = slope_of(l, s, i, h);
    out[i] = at.value;
    l->kink[i] = at.kink > at.limit ? at.kink : 0.0;
    suspect |= l->kink[i] > 0.0;
  }
  if (status || !suspect) return status;
  status = output_differences(l, s, d, h / CLOSER);
  for (int i = 0; i < l->n_o && !status; i++) {
    const slope at = slope_of(l, s, i, h / CLOSER);
    if (l->kink[i] == 0.0) continue;
    if (at.kink > at.limit && at.kink > l->kink[i] * STAYS)
      return ga__refuse(l->ctx, GA_ERR_DERIVATIVE, GA_REASON_NO_DERIVATIVE,
                        &(ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1},
                                     .name = l->label[l->most + l->n_u + i],
                                     GA__NUMBERS({at.before, NULL}, {at.after, NULL})});
    out[i] = at.value;
  }
  return status;
}

static ga_status set_outputs(ga_machine_linearisation *l, const ga_state *s, const ga_linear_form *f)
{
  const ga_system *sys = ga_machine_system(l->m);
  const size_t nv = (size_t)ga_system_size(sys, GA_BLOCK_V), ny = (size_t)ga_system_size(sys, GA_BLOCK_Y),
               m = (size_t)(ga_system_size(sys, GA_BLOCK_LAMBDA) + ga_system_size(sys, GA_BLOCK_PSI)),
               n_o = (size_t)l->n_o;
  const int first = f->n_q + f->n_v;
  ga_status status = GA_OK;
  for (int j = 0; j < f->n && !status; j++) {
    const size_t c = (size_t)j;
    const direction d = {f->q + c * nv,    f->v + c * nv,
                         f->vdot + c * nv, f->multipliers + c * m,
                         f->y + c * ny,    j >= first && j < first + f->n_x ? j - first : -1};
    status = differentiate(l, s, &d, l->C + c * n_o);
  }
  for (int j = 0; j < f->n_u && !status; j++) {
    const size_t c = (size_t)j;
    const direction d = {NULL, NULL, f->u_vdot + c * nv, f->u_multipliers + c * m, f->u_y + c * ny, -1};
    status = differentiate(l, s, &d, l->D + c * n_o);
  }
  return status;
}

/* ---- The model ---- */

/* out[rows][n] by rows := columns in[n][rows] */
static void transpose(double *out, const double *in, int n, int rows)
{
  for (int j = 0; j < n; j++)
    for (int i = 0; i < rows; i++) out[i * n + j] = in[j * rows + i];
}

/* A := T A T⁻¹, B := T B, C := C T⁻¹, from the columns of f and of l->C; all by rows. */
static int change_states(ga_machine_linearisation *l, const ga_linear_form *f)
{
  const int n = f->n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0.0;
      for (int k = 0; k < n; k++) sum += l->T[i * n + k] * f->A[j * n + k];
      l->A[i * n + j] = sum;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < f->n_u; j++) {
      double sum = 0.0;
      for (int k = 0; k < n; k++) sum += l->T[i * n + k] * f->B[j * n + k];
      l->B[i * f->n_u + j] = sum;
    }
  transpose(l->turned, l->C, n, l->n_o);
  memcpy(l->C, l->turned, (size_t)n * (size_t)l->n_o * sizeof *l->C);
  transpose(l->turned, l->D, f->n_u, l->n_o);
  memcpy(l->D, l->turned, (size_t)f->n_u * (size_t)l->n_o * sizeof *l->D);
  return divide_rows(l, n, n, l->A) && divide_rows(l, n, l->n_o, l->C);
}

ga_status ga_machine_linearisation_compute(ga_machine_linearisation *l, const ga_state *s,
                                           const ga_state_space **out)
{
  const ga_linear_form *f = NULL;
  if (out) *out = NULL;
  if (!l) return GA_ERR_ARGUMENT;
  if (!s || !out) return ga__null_argument(l->ctx);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  ga_status status = ga_linearisation_compute(l->core, &p, &f);
  if (status) return status;
  set_states(l, f);
  name_states(l, f);
  status = set_outputs(l, s, f);
  if (status) return status;
  if (!change_states(l, f))
    return ga__refuse(l->ctx, GA_ERR_SINGULAR, GA_REASON_SINGULAR_POSITION,
                      &(ga__facts){.at = &(ga__fact_time){p.t, NAN, GA_BLOCK_V, -1}});
  const int units = l->most + l->n_u + l->n_o;
  l->form = (ga_state_space){.n = f->n,
                             .n_u = l->n_u,
                             .n_y = l->n_o,
                             .A = l->A,
                             .B = l->B,
                             .C = l->C,
                             .D = l->D,
                             .state = l->label,
                             .input = l->label + l->most,
                             .output = l->label + l->most + l->n_u,
                             .state_unit = l->label + units,
                             .input_unit = l->label + units + l->most,
                             .output_unit = l->label + units + l->most + l->n_u,
                             .t = s->t,
                             .residual = f->residual,
                             .unsteady = f->unsteady,
                             .independence = f->independence};
  *out = &l->form;
  return GA_OK;
}
