/* The laws: force along gauges, its slopes, its energy. law.c does the rest. */
#include "mbs/hidden.h"
#include "expr/side.h"
#include "mbs/law_impl.h"

#include <math.h>

#define DEF GA__LAW_DEF

/* ---- What the laws of one gauge share ---- */

/* The line between a and b, or a coordinate. */
static ga_status resolve_line(ga_machine *m, ga__mbs_model *b, ga__law *law, const char *a,
                              const char *b_frame, const char *coordinate)
{
  law->n = 1;
  return ga__resolve_line(m, b, &m->part[law->part], a, b_frame, coordinate, &law->gauge[0]);
}

int ga__law_add_function(const ga__eval *e, const ga__law *law, const char *field, const ga_function *f,
                         double x, double *sum, double *slope)
{
  double out[2] = {0, 0};
  ga_fault fault;
  if (!f) return 0;
  if (ga_function_eval(f, x, slope ? 1 : 0, out, &fault))
    return ga__fail_undefined(e, law->part, field, &fault);
  *sum += out[0];
  if (slope) *slope += out[1];
  return 0;
}

/* ---- Integral of a force over its displacement ---- */

enum { PANELS = 2, MOST_HALVINGS = 30, MOST_PIECES = 1000 };
#define QUADRATURE_TOLERANCE 1e-11 /* relative to the integral of |φ|, or to */
#define NOTHING 1e-3               /* this fraction of its upper bound */
#define SEEN 8.0 /* bounds of |φ| above this multiple of its sampled mean: interval is halved */

/* ∫ φ from a to b by three Gauss points; *size: the same for |φ|. */
static int gauss3(const ga_function *f, double a, double b, double *sum, double *size)
{
  static const double at[3] = {-0.774596669241483377, 0, 0.774596669241483377};
  static const double weight[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
  const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
  *sum = *size = 0;
  for (int i = 0; i < 3; i++) {
    double y;
    const int status = ga_function_eval(f, middle + half * at[i], 0, &y, NULL);
    if (status) return status;
    *sum += weight[i] * half * y;
    *size += weight[i] * fabs(half * y);
  }
  return 0;
}

/* Upper bound of |φ| between a and b; 0: unknown. */
static double most_of(const ga_function *f, double a, double b)
{
  double least, most;
  return ga_function_bounds(f, fmin(a, b), fmax(a, b), &least, &most) ? fmax(-least, most) : 0;
}

/* Adds ∫ φ to sum; `whole` is a first approximation. Halves the interval where φ has kinks, as tables have,
 * and where it may be much larger than at the sampled points. */
static int add_integral(const ga_function *f, double a, double b, double whole, double tol, int halvings,
                        double *sum)
{
  const double middle = 0.5 * (a + b);
  double left, right, size[2];
  int status = gauss3(f, a, middle, &left, &size[0]);
  if (!status) status = gauss3(f, middle, b, &right, &size[1]);
  if (status) return status;
  if (halvings == 0 || (fabs(left + right - whole) <= tol &&
                        most_of(f, a, b) * fabs(b - a) <= SEEN * (size[0] + size[1]) + tol)) {
    *sum += left + right;
    return 0;
  }
  status = add_integral(f, a, middle, left, tol, halvings - 1, sum);
  return status ? status : add_integral(f, middle, b, right, tol, halvings - 1, sum);
}

/* Adds ∫ φ over a piece without known kinks. */
static int add_piece(const ga_function *f, double a, double b, double tol, double *sum)
{
  for (int i = 0; i < PANELS; i++) {
    const double from = a + (b - a) * i / PANELS, to = a + (b - a) * (i + 1) / PANELS;
    double whole, size;
    int status = gauss3(f, from, to, &whole, &size);
    if (!status) status = add_integral(f, from, to, whole, tol, MOST_HALVINGS, sum);
    if (status) return status;
  }
  return 0;
}

/* Without a closed form, as for tables, it is integrated piecewise between kinks, which Gauss points could
 * miss. */
int ga__law_integral(const ga_function *f, double x, double *out)
{
  const double low = fmin(0, x), high = fmax(0, x);
  double total, sum = 0, from = low;
  if (ga_function_integral(f, 0, x, out)) return 0;
  *out = 0;
  int status = gauss3(f, low, high, &sum, &total);
  const double tol = QUADRATURE_TOLERANCE * (total + NOTHING * most_of(f, low, high) * (high - low));
  sum = 0;
  for (int pieces = 0; !status && from < high; pieces++) {
    ga_break at = {high, high, 3, high, 0};
    if (pieces < MOST_PIECES && ga_function_next_break(f, from, high, &at)) return 1;
    const double to = fmin(isfinite(at.before) ? at.before : high, high);
    if (to > from) status = add_piece(f, from, to, tol, &sum);
    from = fmin(isfinite(at.after) ? at.after : high, high);
  }
  *out = x < 0 ? -sum : sum;
  return status;
}

/* ---- Spring: F = F₀ + k (l − rest) + c v + φ(l − rest) + d(v) + formula(l, v, t, y) ---- */

/* Warns of a rest angle that is turns away from an initial angle whose turns are not given. */
static void warn_far_rest(const ga__mbs_model *b, const ga__law *law)
{
  const ga_spring_def *def = DEF(ga_spring_def, b, law);
  const double now = ga__gauge_initial(b, law->gauge[0]), off = now - law->rest;
  if (b->stage != GA__STAGE_MACHINE || GA__AT(b->gauge, ga__gauge, law->gauge[0])->turns != GA__FIRST_TURN ||
      fabs(off) <= 0.5 * GA__TWO_PI + 1e-6 || (def->stiffness == 0 && !def->force))
    return;
  ga__log(b->m->ctx, GA_LOG_WARNING, GA_REASON_REST_FAR_AWAY,
          &(ga__facts){.kind = "spring",
                       .part = def->name,
                       .name = def->coordinate,
                       GA__NUMBERS({now, "rad"}, {law->rest, "rad"},
                                   {law->rest + GA__TWO_PI * round(off / GA__TWO_PI), "rad"})});
}

static ga_status resolve_spring(ga_machine *m, ga__mbs_model *b, ga__law *law)
{
  static const char *const local[] = {"l", "v"};
  const ga_spring_def *def = DEF(ga_spring_def, b, law);
  ga_status status = resolve_line(m, b, law, def->a, def->b, def->coordinate);
  if (status) return status;
  law->rest = isnan(def->rest) ? ga__gauge_initial(b, law->gauge[0]) : def->rest;
  warn_far_rest(b, law);
  law->may_hide = def->force || def->damper || def->expression;
  if (!def->expression) return GA_OK;
  return ga__resolve_formula(m, b, &m->part[law->part], "expression", def->expression, 2, local,
                             &law->formula);
}

static int spring_force(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes)
{
  const ga_spring_def *def = DEF(ga_spring_def, e->b, law);
  const double stretch = at->rho[0] - law->rest, v = at->rate[0], local[2] = {at->rho[0], v};
  at->F[0] = def->preload + def->stiffness * stretch + def->damping * v;
  at->by_rho[0] = def->stiffness;
  at->by_rate[0] = def->damping;
  int status =
      ga__law_add_function(e, law, "force", def->force, stretch, &at->F[0], slopes ? &at->by_rho[0] : NULL);
  if (!status)
    status =
        ga__law_add_function(e, law, "damper", def->damper, v, &at->F[0], slopes ? &at->by_rate[0] : NULL);
  if (status || !law->formula.expr) return status;
  double value, *slope = slopes ? e->work->slope : NULL;
  status = ga__formula_value(e, &law->formula, local, &value, slope);
  if (status) return status;
  at->F[0] += value;
  if (!slopes) return 0;
  at->by_rho[0] += slope[0];
  at->by_rate[0] += slope[1];
  at->by_y = slope + 2;
  return 0;
}

/* The power of formulas counts as put in, since nothing is known of them. So does that of a function that is
 * undefined at 0, which has no potential. */
static int spring_power(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power)
{
  const ga_spring_def *def = DEF(ga_spring_def, e->b, law);
  const double stretch = at->rho[0] - law->rest, v = at->rate[0], local[2] = {at->rho[0], v};
  double damper = 0, outside = 0, work = 0, origin;
  int status = ga__law_add_function(e, law, "damper", def->damper, v, &damper, NULL);
  if (!status && law->formula.expr) status = ga__formula_value(e, &law->formula, local, &outside, NULL);
  if (!status && def->force) {
    if (ga_function_eval(def->force, 0, 0, &origin, NULL))
      status = ga__law_add_function(e, law, "force", def->force, stretch, &outside, NULL);
    else
      status = ga__law_integral(def->force, stretch, &work);
  }
  power->stored = (def->preload + 0.5 * def->stiffness * stretch) * stretch + work;
  power->lost = (def->damping * v + damper) * v;
  power->in = -outside * v;
  return status;
}

static int spring_works(const ga__mbs_model *b, const ga__law *law)
{
  const ga_spring_def *def = DEF(ga_spring_def, b, law);
  return def->damping != 0 || def->damper || def->force || law->formula.expr;
}

/* Linear springs dissipate c v²; stiffness and preload are conservative. */
static int spring_simple(const ga__mbs_model *b, const ga__law *law, ga__work_term *work)
{
  const ga_spring_def *def = DEF(ga_spring_def, b, law);
  work->damping = def->damping;
  return !def->damper && !def->force && !law->formula.expr;
}

/* Bounds of its functions and its formula. */
static int spring_bounds(ga__workspace *work, const ga__law *law, int term, const ga__law_range *r,
                         double out[2])
{
  const ga_spring_def *def = DEF(ga_spring_def, work->b, law);
  if (term == 0)
    return def->force &&
           ga_function_bounds(def->force, r->rho[0] - law->rest, r->rho[1] - law->rest, &out[0], &out[1]);
  if (term == 1)
    return def->damper && ga_function_bounds(def->damper, r->rate[0], r->rate[1], &out[0], &out[1]);
  const double lo[2] = {r->rho[0], r->rate[0]}, hi[2] = {r->rho[1], r->rate[1]};
  return law->formula.expr && ga__formula_bounds(work, &law->formula, r->piece, lo, hi, out);
}

static int spring_has_edges(const ga__mbs_model *b, const ga__law *law)
{
  const ga_spring_def *def = DEF(ga_spring_def, b, law);
  return ga_function_has_edges(def->force) || ga_function_has_edges(def->damper) ||
         (law->formula.expr && ga_expr_has_edges(law->formula.expr, 0));
}

static int spring_side(const ga__eval *e, const ga__law *law, double rho, double rate, unsigned *side)
{
  const ga_spring_def *def = DEF(ga_spring_def, e->b, law);
  const double local[2] = {rho, rate};
  ga_status status = def->force ? ga_function_side(def->force, rho - law->rest, side) : GA_OK;
  if (!status && def->damper) status = ga_function_side(def->damper, rate, side);
  if (status || !law->formula.expr) return status != GA_OK;
  return ga__formula_side(e, &law->formula, local, side);
}

/* ---- Actuator: F = −force(t, y) ---- */

static ga_status resolve_actuator(ga_machine *m, ga__mbs_model *b, ga__law *law)
{
  const ga_actuator_def *def = DEF(ga_actuator_def, b, law);
  ga_status status = resolve_line(m, b, law, def->a, def->b, def->coordinate);
  return status ? status : ga__resolve_input(m, b, &m->part[law->part], "force", &def->force, &law->input);
}

static int actuator_force(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes)
{
  double force;
  const int status = ga__input_value(e, &law->input, &force);
  (void)slopes;
  at->F[0] = -force;
  at->by_input = -1;
  at->by_y = &at->by_input;
  return status;
}

static int actuator_power(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power)
{
  (void)e;
  (void)law;
  power->in = -at->F[0] * at->rate[0];
  return 0;
}

static int actuator_simple(const ga__mbs_model *b, const ga__law *law, ga__work_term *work)
{
  (void)b;
  work->force = law->input.value;
  work->y = law->input.y;
  return !law->input.function;
}

/* ---- Friction: F = level(t, y) tanh(v / speed) ---- */

static ga_status resolve_friction(ga_machine *m, ga__mbs_model *b, ga__law *law)
{
  const ga_friction_def *def = DEF(ga_friction_def, b, law);
  ga_status status = resolve_line(m, b, law, def->a, def->b, def->coordinate);
  return status ? status : ga__resolve_input(m, b, &m->part[law->part], "level", &def->level, &law->input);
}

static int friction_force(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes)
{
  const double speed = DEF(ga_friction_def, e->b, law)->speed, th = tanh(at->rate[0] / speed);
  double level;
  const int status = ga__input_value(e, &law->input, &level);
  (void)slopes;
  at->F[0] = level * th;
  at->by_rate[0] = level * (1 - th) * (1 + th) / speed;
  at->by_input = th;
  at->by_y = &at->by_input;
  return status;
}

static int friction_power(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power)
{
  (void)e;
  (void)law;
  power->lost = at->F[0] * at->rate[0];
  return 0;
}

/* ---- Bushing: F = F₀ + K δ + C δ' ---- */

#define UPRIGHT 1e-9 /* largest x and y components of an axis that counts as parallel to z */

/* 1: angles have no effect. */
static int bushing_is_straight(const ga_bushing_def *def)
{
  for (int i = 0; i < 6; i++)
    for (int j = i < 3 ? 3 : 0; j < 6; j++)
      if (def->stiffness[6 * i + j] != 0 || def->damping[6 * i + j] != 0) return 0;
  return def->preload[3] == 0 && def->preload[4] == 0 && def->preload[5] == 0;
}

static ga_status add_gauge(ga_machine *m, ga__mbs_model *b, ga__law *law, const ga__gauge *gauge)
{
  const int index = ga__add_gauge(m, b, gauge);
  if (index < 0) return GA_ERR_MEMORY;
  law->gauge[law->n++] = index;
  return GA_OK;
}

/* Displacements along the axes of a, in the order given. */
static ga_status add_along(ga_machine *m, ga__mbs_model *b, ga__law *law, const int end[2], int n,
                           const int *axis)
{
  ga_status status = GA_OK;
  for (int i = 0; i < n && !status; i++) {
    ga__gauge gauge = {.kind = GA__ALONG, .a = end[0], .b = end[1]};
    gauge.u[axis[i]] = 1;
    status = add_gauge(m, b, law, &gauge);
  }
  return status;
}

/* Refuses an end that cannot rotate: torques on it would have no effect. */
static ga_status check_turns(ga_machine *m, const ga__mbs_model *b, const ga__law *law, int marker,
                             const char *frame)
{
  const ga__node *node = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, marker)->node);
  if (node->has == 0 || (node->has & (GA__RX | GA__RY | GA__RZ))) return GA_OK;
  return ga__refuse_part(m->ctx, &m->part[law->part], GA_ERR_ARGUMENT, GA_REASON_BUSHING_ON_POINT,
                         (ga__facts){.name = frame});
}

/* Frames a and b, on two bodies. */
static ga_status resolve_frames(ga_machine *m, ga__mbs_model *b, const ga__law *law,
                                const char *const field[2], const char *const name[2], int marker[2])
{
  const ga__part *part = &m->part[law->part];
  for (int i = 0; i < 2; i++) {
    ga_status status = ga__resolve_frame(m, b, part, field[i], name[i], &marker[i]);
    if (status) return status;
  }
  const ga__marker *at = b->marker.at;
  if (at[marker[0]].node != at[marker[1]].node) return GA_OK;
  return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
                         (ga__facts){.name = name[0], .other = name[1]});
}

/* 1: both frames move in the plane, with z upwards, so b rotates about z only. */
static int turns_in_plane(const ga__mbs_model *b, const int end[2])
{
  int planar = 0;
  for (int i = 0; i < 2; i++) {
    const ga__marker *marker = GA__AT(b->marker, ga__marker, end[i]);
    const ga__node *node = GA__AT(b->node, ga__node, marker->node);
    if ((node->has && !node->planar) || hypot(marker->A[2], marker->A[5]) > UPRIGHT || marker->A[8] < 0)
      return 0;
    planar |= node->planar;
  }
  return planar;
}

/* In the plane the angle about z counts turns, and those about x and y (z of a along x and y of b) are always
 * 0. In space each is the twist of the rotation about its axis. */
static ga_status add_angles(ga_machine *m, ga__mbs_model *b, ga__law *law, const int end[2])
{
  const int plane = turns_in_plane(b, end);
  ga_status status = GA_OK;
  for (int i = 0; i < (plane ? 2 : 3) && !status; i++) {
    ga__gauge gauge = {.kind = plane ? GA__DOT : GA__TWIST, .a = end[0], .b = end[1], .axis = i};
    gauge.u[2] = gauge.w[i] = plane;
    status = add_gauge(m, b, law, &gauge);
  }
  if (status || !plane) return status;
  law->gauge[law->n] = ga__add_plane_angle(m, b, end[0], end[1]);
  return law->gauge[law->n++] < 0 ? GA_ERR_MEMORY : GA_OK;
}

static ga_status resolve_bushing(ga_machine *m, ga__mbs_model *b, ga__law *law)
{
  static const int axes[3] = {0, 1, 2};
  static const char *const field[2] = {"a", "b"};
  const ga_bushing_def *def = DEF(ga_bushing_def, b, law);
  const char *const name[2] = {def->a, def->b};
  int end[2];
  ga_status status = resolve_frames(m, b, law, field, name, end);
  if (!status) status = add_along(m, b, law, end, 3, axes);
  if (status || bushing_is_straight(def)) return status;
  for (int i = 0; i < 2 && !status; i++) status = check_turns(m, b, law, end[i], name[i]);
  return status ? status : add_angles(m, b, law, end);
}

static int bushing_count(const void *def)
{
  return bushing_is_straight(def) ? 3 : GA__MOST_GAUGES;
}

static int bushing_jumps(const ga__mbs_model *b, const ga__law *law, int i)
{
  if (i < 3 || i >= law->n) return 0;
  if (GA__AT(b->gauge, ga__gauge, law->gauge[i])->kind != GA__TWIST) return 0;
  const ga_bushing_def *def = DEF(ga_bushing_def, b, law);
  for (int j = 0; j < 6; j++)
    if (def->stiffness[6 * j + i] != 0) return 1;
  return 0;
}

static int bushing_force(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes)
{
  const ga_bushing_def *def = DEF(ga_bushing_def, e->b, law);
  const int n = law->n;
  (void)slopes;
  for (int i = 0; i < n; i++) {
    at->F[i] = def->preload[i];
    for (int j = 0; j < n; j++) {
      const double k = def->stiffness[6 * i + j], c = def->damping[6 * i + j];
      at->F[i] += k * at->rho[j] + c * at->rate[j];
      at->by_rho[n * i + j] = k;
      at->by_rate[n * i + j] = c;
    }
  }
  return 0;
}

/* Stored: F₀·δ + ½ δᵀ K δ. The work of the skew part of K depends on the path: it counts as put in. */
static int bushing_power(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power)
{
  const ga_bushing_def *def = DEF(ga_bushing_def, e->b, law);
  for (int i = 0; i < law->n; i++) {
    power->stored += def->preload[i] * at->rho[i];
    for (int j = 0; j < law->n; j++) {
      const double k = def->stiffness[6 * i + j], kt = def->stiffness[6 * j + i];
      power->stored += 0.5 * k * at->rho[i] * at->rho[j];
      power->lost += def->damping[6 * i + j] * at->rate[i] * at->rate[j];
      power->in -= 0.5 * (k - kt) * at->rho[j] * at->rate[i];
    }
  }
  return 0;
}

/* Stiffnesses that are not symmetric have no potential. */
static int bushing_works(const ga__mbs_model *b, const ga__law *law)
{
  const ga_bushing_def *def = DEF(ga_bushing_def, b, law);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      if (def->damping[6 * i + j] != 0 || def->stiffness[6 * i + j] != def->stiffness[6 * j + i]) return 1;
  return 0;
}

/* ---- Contact ---- */

/* Gauges along z, x, y of the plane. With δ = radius − z the normal force is N = k δ^n max(0, 1 + c δ') (Hunt
 * and Crossley 1975), friction is μ N v/√(v² + s²). */

static ga_status resolve_contact(ga_machine *m, ga__mbs_model *b, ga__law *law)
{
  static const int axes[3] = {2, 0, 1};
  static const char *const field[2] = {"plane", "point"};
  const ga_contact_def *def = DEF(ga_contact_def, b, law);
  const char *const name[2] = {def->plane, def->point};
  int end[2];
  ga_status status = resolve_frames(m, b, law, field, name, end);
  law->may_hide = 1;
  return status ? status : add_along(m, b, law, end, def->mu > 0 ? 3 : 1, axes);
}

/* The radius, for balls with friction. */
static double contact_lever(const ga__mbs_model *b, const ga__law *law)
{
  return law->n == 3 ? DEF(ga_contact_def, b, law)->radius : 0;
}

/* N and its slopes by δ and δ'; C¹ at δ = 0 where n > 1. */
static double normal_force(const ga_contact_def *def, double depth, double rate, double *by_depth,
                           double *by_rate)
{
  const double damp = 1 + def->dissipation * rate;
  *by_depth = *by_rate = 0;
  if (depth <= 0 || damp <= 0) return 0;
  const double slope = def->stiffness * pow(depth, def->exponent - 1), elastic = slope * depth;
  *by_depth = def->exponent * slope * damp;
  *by_rate = elastic * def->dissipation;
  return elastic * damp;
}

static int contact_force(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes)
{
  const ga_contact_def *def = DEF(ga_contact_def, e->b, law);
  double by_depth, by_rate;
  const double N = normal_force(def, def->radius - at->rho[0], -at->rate[0], &by_depth, &by_rate);
  (void)slopes;
  at->F[0] = -N;
  at->by_rho[0] = by_depth;
  at->by_rate[0] = by_rate;
  if (law->n < 3) return 0;
  const double w = sqrt(at->rate[1] * at->rate[1] + at->rate[2] * at->rate[2] + def->speed * def->speed);
  for (int i = 1; i < 3; i++) {
    const double part = def->mu * at->rate[i] / w;
    at->F[i] = N * part;
    at->by_rho[3 * i] = -by_depth * part;
    at->by_rate[3 * i] = -by_rate * part;
    for (int j = 1; j < 3; j++)
      at->by_rate[3 * i + j] = (i == j ? def->mu * N / w : 0) - N * part * at->rate[j] / (w * w);
  }
  return 0;
}

/* Stored: k δ^(n+1)/(n+1). The rest of N dissipates; where N is cut off because it would pull, what is stored
 * is lost with δ. */
static int contact_power(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power)
{
  const ga_contact_def *def = DEF(ga_contact_def, e->b, law);
  const double depth = def->radius - at->rho[0];
  if (depth <= 0) return 0;
  const double elastic = def->stiffness * pow(depth, def->exponent);
  power->stored = elastic * depth / (def->exponent + 1);
  power->fades = at->F[0] == 0;
  power->lost = (at->F[0] + elastic) * at->rate[0];
  for (int i = 1; i < law->n; i++) power->lost += at->F[i] * at->rate[i];
  return 0;
}

/* The normal force grows with δ and with δ'. */
static int contact_bounds(ga__workspace *work, const ga__law *law, int term, const ga__law_range *r,
                          double out[2])
{
  const ga_contact_def *def = DEF(ga_contact_def, work->b, law);
  double unused[2];
  (void)term;
  for (int i = 0; i < 2; i++)
    out[i] = normal_force(def, def->radius - r->rho[1 - i], -r->rate[1 - i], &unused[0], &unused[1]);
  return 1;
}

static int contact_has_edges(const ga__mbs_model *b, const ga__law *law)
{
  (void)b, (void)law;
  return 1;
}

/* Apart, pressed, or pressed and leaving so fast that it would pull. */
static int contact_side(const ga__eval *e, const ga__law *law, double rho, double rate, unsigned *side)
{
  const ga_contact_def *def = DEF(ga_contact_def, e->b, law);
  ga__mix_side(side, rho >= def->radius ? 0 : def->dissipation * rate < 1 ? 1 : 2);
  return 0;
}

/* ---- Lines and shapes ---- */

static ga__law_line spring_line(const void *def)
{
  const ga_spring_def *d = def;
  return (ga__law_line){d->a, d->b, d->coordinate};
}

static ga__law_line actuator_line(const void *def)
{
  const ga_actuator_def *d = def;
  return (ga__law_line){d->a, d->b, d->coordinate};
}

static int spring_rests_at_start(const ga__mbs_model *b, const ga__law *law)
{
  return isnan(DEF(ga_spring_def, b, law)->rest);
}

static const ga__gauge *first_gauge(const ga__mbs_model *b, const ga__law *law)
{
  return GA__AT(b->gauge, ga__gauge, law->gauge[0]);
}

/* From end to end, where it acts along a line. */
static int draw_line(const ga__mbs_model *b, const ga__law *law, int i, ga_shape_kind kind, ga__drawing *out)
{
  const ga__gauge *g = first_gauge(b, law);
  *out = (ga__drawing){.kind = kind, .a = g->a, .b = g->b, .size = 0};
  return i == 0 && g->kind == GA__DISTANCE;
}

static int line_shape(const ga__mbs_model *b, const ga__law *law, int i, ga__drawing *out)
{
  return draw_line(b, law, i, GA_SHAPE_LINE, out);
}

static int spring_shape(const ga__mbs_model *b, const ga__law *law, int i, ga__drawing *out)
{
  return draw_line(b, law, i, GA_SHAPE_COIL, out);
}

static int bushing_shape(const ga__mbs_model *b, const ga__law *law, int i, ga__drawing *out)
{
  *out = (ga__drawing){.kind = GA_SHAPE_JOINT, .a = first_gauge(b, law)->a, .b = -1, .size = 0};
  return i == 0;
}

/* A ball, or a point, and the plane. */
static int contact_shape(const ga__mbs_model *b, const ga__law *law, int i, ga__drawing *out)
{
  const ga__gauge *g = first_gauge(b, law);
  const double radius = DEF(ga_contact_def, b, law)->radius;
  *out = i == 0 ? (ga__drawing){.kind = radius > 0 ? GA_SHAPE_SPHERE : GA_SHAPE_POINT,
                                .a = g->b,
                                .b = -1,
                                .size = radius}
                : (ga__drawing){.kind = GA_SHAPE_PLANE, .a = g->a, .b = -1, .size = 0};
  return i < 2;
}

/* ---- All of them ---- */

const ga__law_type *ga__law_type_of(ga__part_kind kind)
{
  static const ga__law_type type[GA__N_PARTS] = {
      [GA__PART_SPRING] = {.resolve = resolve_spring,
                           .smooth = 1,
                           .force = spring_force,
                           .power = spring_power,
                           .works = spring_works,
                           .products = 1,
                           .simple = spring_simple,
                           .n_terms = 3,
                           .bounds = spring_bounds,
                           .has_edges = spring_has_edges,
                           .side = spring_side,
                           .rests_at_start = spring_rests_at_start,
                           .line = spring_line,
                           .force_name = "force",
                           .sign = 1,
                           .shape = spring_shape},
      [GA__PART_ACTUATOR] = {.resolve = resolve_actuator,
                             .smooth = 1,
                             .force = actuator_force,
                             .power = actuator_power,
                             .simple = actuator_simple,
                             .line = actuator_line,
                             .force_name = "force",
                             .sign = -1,
                             .shape = line_shape},
      [GA__PART_FRICTION] = {.resolve = resolve_friction,
                             .force = friction_force,
                             .power = friction_power,
                             .products = 1,
                             .force_name = "force",
                             .sign = -1,
                             .shape = line_shape},
      [GA__PART_BUSHING] = {.resolve = resolve_bushing,
                            .smooth = 1,
                            .force = bushing_force,
                            .power = bushing_power,
                            .works = bushing_works,
                            .products = 1,
                            .count = bushing_count,
                            .jumps = bushing_jumps,
                            .sign = 1,
                            .shape = bushing_shape},
      [GA__PART_CONTACT] = {.resolve = resolve_contact,
                            .force = contact_force,
                            .power = contact_power,
                            .products = 1,
                            .n_terms = 1,
                            .bounds = contact_bounds,
                            .has_edges = contact_has_edges,
                            .side = contact_side,
                            .lever = contact_lever,
                            .force_name = "normal",
                            .sign = -1,
                            .shape = contact_shape},
  };
  return kind == GA__PART_STOP ? &ga__stop_law : &type[kind];
}
