/* Roads: a surface z = f(t, x, y) over the xy plane of a frame, which may move with a body. Its tangent plane
 * at (x, y), with a₁, a₂, a₃ the axes and p the origin of the frame:
 *
 *   S = p + x a₁ + y a₂ + f a₃,   e = (a₃ − f_x a₁ − f_y a₂)/√(1 + f_x² + f_y²)
 *
 * and where f depends on time the surface rises with f_t a₃. Derivatives of e need those of f to order 2. */
#include "mbs/road.h"

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
