/* Roads: a surface z = f(t, x, y) over the xy plane of a frame, which may move with a body. Its tangent plane
 * at (x, y), with a₁, a₂, a₃ the axes and p the origin of the frame:
 *
 *   S = p + x a₁ + y a₂ + f a₃,   e = (a₃ − f_x a₁ − f_y a₂)/√(1 + f_x² + f_y²)
 *
 * and where f depends on time the surface rises with f_t a₃. Derivatives of e need those of f to order 2. */
#include "mbs/road.h"
#include "mbs/hidden.h"
#include "mbs/law_impl.h"
#include "mbs/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const LOCAL[2] = {"x", "y"};

/* ---- Building ---- */

static ga_status resolve_surface(ga_machine *m, ga__mbs_model *b, const ga__part *part, const char *field,
                                 const char *text, ga__formula *out)
{
  if (!text) return GA_OK;
  const ga_status status = ga__resolve_formula(m, b, part, field, text, 2, LOCAL, out);
  if (status || out->n_y == 0) return status;
  return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_ROAD_USES_SIGNALS,
                         (ga__facts){.field = field, .name = text});
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_road_def *d = m->part[part].def;
  const ga__element *el = ga__element_add(m, b, part, &ga__road_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  ga__road *road = el->data;
  road->part = part;
  ga_status status = ga__resolve_frame(m, b, &m->part[part], "frame", d->frame, &road->marker);
  if (status) return status;
  road->node = GA__AT(b->marker, ga__marker, road->marker)->node;
  const ga__node *node = GA__AT(b->node, ga__node, road->node);
  if (node->carried)
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_ROAD_IS_FLEXIBLE,
                           (ga__facts){.field = "frame", .name = d->frame});
  status = resolve_surface(m, b, &m->part[part], "height", d->height, &road->height);
  return status ? status : resolve_surface(m, b, &m->part[part], "friction", d->friction, &road->friction);
}

static void release(ga_context *ctx, ga__element *el)
{
  ga__road *road = el->data;
  ga__formula_free(ctx, &road->height);
  ga__formula_free(ctx, &road->friction);
}

ga_status ga__resolve_road(ga_machine *m, const ga__mbs_model *b, const ga__part *asking, const char *name,
                           const ga__road **out)
{
  const int part = ga__find_part(m, name);
  if (part < 0 || m->part[part].kind != GA__PART_ROAD)
    return ga__refuse_unknown(m, asking, "road", name, "a road");
  *out = ga__element_of(b, part)->data;
  return GA_OK;
}

/* ---- Evaluation ---- */

void ga__road_frame_at(ga__road_frame *out, const ga__eval *e, const ga__road *road, int n, int first)
{
  ga__frame frame;
  ga__frame_at(&frame, GA__AT(e->b->marker, ga__marker, road->marker), e->kin);
  const int turn = first < 0 ? -1 : first + 3;
  ga__dual_turning(out->p, n, turn, frame.r);
  for (int c = 0; c < 3; c++) {
    const double axis[3] = {frame.A[c], frame.A[3 + c], frame.A[6 + c]};
    ga__dual_turning(out->axis[c], n, turn, axis);
    out->p[c].v = frame.p[c];
    if (first >= 0 && first < n) out->p[c].d[first + c] = 1;
  }
}

void ga__road_place(ga__dual place[2], const ga__road_frame *frame, const ga__dual point[3])
{
  ga__dual off[3];
  ga__dual_minus(off, point, frame->p);
  for (int i = 0; i < 2; i++) place[i] = ga__dual_dot(frame->axis[i], off);
}

/* Value, slopes and curvatures of an expression by t, x, y. */
static int eval_surface(const ga__eval *e, const ga__road *road, const ga__formula *f, const double at[3],
                        double *value, double slope[3], double curve[9])
{
  static const int wrt[3] = {0, 1, 2};
  ga_fault fault;
  const ga_status status = ga_expr_hessian(f->expr, at, 3, wrt, value, slope, curve, &fault);
  if (!status) return 0;
  if (status < 0) return -1;
  char values[64];
  snprintf(values, sizeof values, "x = %.6g, y = %.6g", at[1], at[2]);
  return ga__expression_fault(e, road->part, f->expr, values, &fault);
}

/* A quantity of the surface: its value and its slopes by t, x, y. */
static ga__dual surface_dual(const ga__dual *t, const ga__dual place[2], double value, const double slope[3])
{
  ga__dual out = ga__dual_chain2(&place[0], &place[1], value, slope[1], slope[2]);
  for (int i = 0; i < out.n; i++) out.d[i] += slope[0] * t->d[i];
  return out;
}

int ga__road_plane_at_place(ga__road_plane *out, const ga__eval *e, const ga__road *road,
                            const ga__road_frame *frame, const ga__dual *t, const ga__dual place[2])
{
  const int n = t->n;
  out->rise = ga__dual_const(n, 0);
  memcpy(out->point, frame->p, sizeof out->point);
  memcpy(out->normal, frame->axis[2], sizeof out->normal);
  if (!road->height.expr) return 0;
  ga__dual f, by[2], length;
  double value, slope[3], curve[9];
  const double at[3] = {t->v, place[0].v, place[1].v};
  const int status = eval_surface(e, road, &road->height, at, &value, slope, curve);
  if (status) return status;
  f = surface_dual(t, place, value, slope);
  out->rise = surface_dual(t, place, slope[0], curve);
  for (int i = 0; i < 2; i++) {
    by[i] = surface_dual(t, place, slope[1 + i], curve + 3 * (1 + i));
    ga__dual_along(out->point, out->point, &place[i], frame->axis[i]);
    const ga__dual down = ga__dual_linear(&by[i], -1, 0);
    ga__dual_along(out->normal, out->normal, &down, frame->axis[i]);
  }
  ga__dual_along(out->point, out->point, &f, frame->axis[2]);
  length = ga__dual_hypot(&by[0], &by[1]);
  const ga__dual one = ga__dual_const(n, 1);
  length = ga__dual_hypot(&length, &one);
  for (int i = 0; i < 3; i++) out->normal[i] = ga__dual_div(&out->normal[i], &length);
  return 0;
}

int ga__road_friction(ga__dual *out, const ga__eval *e, const ga__road *road, const ga__road_frame *frame,
                      const ga__dual *t, const ga__dual point[3])
{
  *out = ga__dual_const(t->n, 1);
  if (!road->friction.expr) return 0;
  ga__dual place[2];
  double value, slope[3], curve[9];
  ga__road_place(place, frame, point);
  const double at[3] = {t->v, place[0].v, place[1].v};
  const int status = eval_surface(e, road, &road->friction, at, &value, slope, curve);
  if (status) return status;
  *out = surface_dual(t, place, value, slope);
  if (value >= 0) return 0;
  ga__refuse_part(e->work->ctx, &e->m->part[road->part], GA_RETRY_NAN, GA_REASON_FRICTION_NEGATIVE,
                  (ga__facts){.field = "friction",
                              .at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              GA__NUMBERS({value, NULL}, {at[1], "m"}, {at[2], "m"})});
  return 1;
}

int ga__road_has_edges(const ga__road *road)
{
  return (road->height.expr && ga_expr_has_edges(road->height.expr, 0)) ||
         (road->friction.expr && ga_expr_has_edges(road->friction.expr, 0));
}

int ga__road_side(const ga__eval *e, const ga__road *road, const ga__dual point[3], unsigned *side)
{
  const ga__formula *const f[2] = {&road->height, &road->friction};
  ga__road_frame frame;
  ga__dual place[2];
  ga__road_frame_at(&frame, e, road, 0, -1);
  ga__road_place(place, &frame, point);
  const double at[3] = {e->p->t, place[0].v, place[1].v};
  ga_status status = GA_OK;
  for (int i = 0; i < 2 && !status; i++)
    if (f[i]->expr) status = ga_expr_side(f[i]->expr, at, side);
  return status;
}

/* ---- Narrow bumps and patches, passed within a step ---- */

#define EVEN 1e-4  /* [-] of the radius: lower bumps may be passed over */
#define ALIKE 0.25 /* [-] the same for factors of friction, of their value */

int ga__road_may_hide(const ga__road *road)
{
  return road->height.expr || road->friction.expr;
}

/* x and y of a marker in the road's frame, with their rates. */
static void place_at(ga__workspace *w, const ga__road *road, int marker, const ga_instant *at, double place[2],
                     double rate[2])
{
  w->motion = 0; /* kin belongs to no evaluation any more */
  ga__kin_at(w->b, at->q, at->v, NULL, w->kin);
  for (int i = 0; i < 2; i++) {
    ga__gauge along = {.kind = GA__ALONG, .a = road->marker, .b = marker};
    along.u[i] = 1;
    ga__gauge_rate(w->b, &along, w->kin, &place[i], &rate[i]);
  }
}

/* Bounds of an expression of the road over a piece: the cubic through the ends' places stays within its
 * Bézier points. Returns 0: they are not known. */
static int road_bounds(ga__workspace *w, const ga__road *road, int marker, const ga__formula *f, const ga_piece *p,
                       double out[2])
{
  const double third = (p->t[1] - p->t[0]) / 3;
  double place[2][2], rate[2][2], lo[3] = {p->t[0]}, hi[3] = {p->t[1]};
  for (int k = 0; k < 2; k++) place_at(w, road, marker, &p->end[k], place[k], rate[k]);
  for (int i = 0; i < 2; i++) {
    const double left = place[0][i] + third * rate[0][i], right = place[1][i] - third * rate[1][i];
    lo[1 + i] = fmin(fmin(place[0][i], place[1][i]), fmin(left, right));
    hi[1 + i] = fmax(fmax(place[0][i], place[1][i]), fmax(left, right));
  }
  return ga_expr_bounds(f->expr, lo, hi, &out[0], &out[1]);
}

int ga__road_hides(ga__workspace *w, const ga__road *road, int marker, double radius, const ga_piece *step,
                   const ga_piece *piece)
{
  const ga__formula *const f[2] = {&road->height, &road->friction};
  const ga_piece end[2] = {{{step->t[0], step->t[0]}, {step->end[0], step->end[0]}, step->end[0]},
                           {{step->t[1], step->t[1]}, {step->end[1], step->end[1]}, step->end[1]}};
  for (int i = 0; i < 2; i++) {
    double first[2], last[2], within[2];
    if (!f[i]->expr || !road_bounds(w, road, marker, f[i], &end[0], first) ||
        !road_bounds(w, road, marker, f[i], &end[1], last) || !road_bounds(w, road, marker, f[i], piece, within))
      continue;
    const double low = fmin(first[0], last[0]), high = fmax(first[1], last[1]);
    const double slack = high - low + (i == 0 ? EVEN * radius : ALIKE * fmax(fabs(low), fabs(high)));
    if (within[0] < low - slack || within[1] > high + slack) return 1;
  }
  return 0;
}

/* ---- The kind ---- */

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  ga__road *road = el->data;
  *in = NULL;
  *f = i == 0 && road->height.expr ? &road->height : &road->friction;
  return (*f)->expr && i < (road->height.expr != NULL) + (road->friction.expr != NULL);
}

static int n_shapes(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) != NULL;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_PLANE,
                       .a = ((const ga__road *)ga__element_of(b, part)->data)->marker,
                       .b = -1,
                       .size = 0};
}

static int height(const ga__element *el, double t, double x, double y, double *z, int *varies)
{
  const ga__road *road = el->data;
  const double at[3] = {t, x, y};
  ga_fault fault;
  *z = 0;
  *varies = road->height.expr != NULL;
  return !*varies || (ga_expr_eval(road->height.expr, at, z, &fault) == GA_OK && isfinite(*z));
}

const ga__element_type ga__road_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(ga__road),
    .no_twists = 1,
    .no_accelerations = 1,
    .create = {[GA__CREATE_JOINTS] = create},
    .release = release,
    .get_input = get_input,
    .n_shapes = n_shapes,
    .shape = shape,
    .height = height,
};
