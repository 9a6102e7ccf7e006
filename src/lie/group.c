/* Products of groups: creation, and loops over their parts. */
#include "lie/lie_impl.h"
#include "base/base_impl.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct placed_factor {
  ga_factor factor;
  int q, v;
} placed_factor;

struct ga_group {
  ga_context *ctx;
  int n_factors, n_parts, n_blocks;
  int nq, nv, packed; /* lengths of q, v and the packed blocks */
  placed_factor *factor;
  ga__part *part;
  const ga__part **block; /* the parts that have a block */
};

/* The parts of each kind of factor: one, or R³ and one more. */
typedef struct recipe {
  const ga__kind *part; /* for GA_RN of the factor's own n */
  int has_point;        /* R³ comes before it */
} recipe;

static const recipe recipes[] = {
    [GA_RN] = {&ga__kind_rn, 0},     [GA_SO3] = {&ga__kind_so3, 0}, [GA_QUAT] = {&ga__kind_quat, 0},
    [GA_R3SO3] = {&ga__kind_so3, 1}, [GA_SE3] = {&ga__kind_se3, 0},
};
enum { N_RECIPES = sizeof recipes / sizeof recipes[0] };

/* "factors[2].n" */
static const char *name_member(char field[GA_ERROR_WORD], int i, const char *member)
{
  snprintf(field, GA_ERROR_WORD, "factors[%d].%s", i, member);
  return field;
}

static ga_status check_factor(ga_context *ctx, int i, const ga_factor *f)
{
  char field[GA_ERROR_WORD];
  if ((int)f->kind < 0 || (int)f->kind >= N_RECIPES)
    return ga__refuse_choice(ctx, "group", name_member(field, i, "kind"), (int)f->kind, "ga_factor_kind",
                             N_RECIPES - 1);
  if (f->kind == GA_RN && f->n < 0)
    return ga__refuse_number(ctx, "group", name_member(field, i, "n"), f->n, ">= 0");
  if (f->kind != GA_RN && f->side != GA_LEFT && f->side != GA_RIGHT)
    return ga__refuse_choice(ctx, "group", name_member(field, i, "side"), (int)f->side, "ga_side", GA_RIGHT);
  return GA_OK;
}

static ga_status check_arguments(ga_context *ctx, int n_factors, const ga_factor *factors)
{
  if (n_factors < 0) return ga__refuse_number(ctx, "group", "n_factors", n_factors, ">= 0");
  if (n_factors > 0 && !factors) return ga__refuse_missing(ctx, "group", "n_factors", n_factors, "factors");
  /* Checked after every factor, so that long long cannot overflow. */
  long long length = 0, packed = 0;
  for (int i = 0; i < n_factors; i++) {
    const ga_status status = check_factor(ctx, i, &factors[i]);
    if (status) return status;
    const recipe *r = &recipes[factors[i].kind];
    length += (factors[i].kind == GA_RN ? factors[i].n : r->part->nq) + 3 * r->has_point;
    packed += r->part->block * r->part->block;
    if (length > INT_MAX || packed > INT_MAX)
      return ga__refuse(
          ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
          &(ga__facts){.kind = "group",
                       .field = length > INT_MAX ? "numbers of q" : "numbers of tangent blocks",
                       GA__NUMBERS({(double)(length > INT_MAX ? length : packed), NULL}, {INT_MAX, NULL})});
  }
  return GA_OK;
}

/* Adjacent R^n become one part: thousands of points are one loop. */
static void append_part(ga_group *g, const ga__kind *kind, int n, ga_side side)
{
  const int nq = kind == &ga__kind_rn ? n : kind->nq, nv = kind == &ga__kind_rn ? n : kind->nv;
  if (nq == 0) return;
  ga__part *last = g->n_parts > 0 ? &g->part[g->n_parts - 1] : NULL;
  if (kind == &ga__kind_rn && last && last->kind == kind) {
    last->nq += n;
  } else {
    ga__part *p = &g->part[g->n_parts++];
    const double sign = side == GA_RIGHT ? -1 : 1;
    *p = (ga__part){.kind = kind, .nq = nq, .q = g->nq, .v = g->nv, .packed = g->packed, .sign = sign};
    if (kind->block) g->block[g->n_blocks++] = p;
  }
  g->nq += nq;
  g->nv += nv;
  g->packed += kind->block * kind->block;
}

static void append_factor(ga_group *g, const ga_factor *f)
{
  const recipe *r = &recipes[f->kind];
  g->factor[g->n_factors++] = (placed_factor){*f, g->nq, g->nv};
  if (r->has_point) append_part(g, &ga__kind_rn, 3, f->side);
  append_part(g, r->part, f->n, f->side);
}

ga_status ga_group_create(ga_context *ctx, int n_factors, const ga_factor *factors, ga_group **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(ctx, __func__, "out");
  const ga_status status = check_arguments(ctx, n_factors, factors);
  if (status) return status;

  ga_group *g = ga__alloc(ctx, 1, sizeof *g);
  if (!g) return ga__no_memory(ctx, "group");
  g->ctx = ctx;
  g->factor = ga__alloc(ctx, (size_t)n_factors, sizeof *g->factor);
  g->part = ga__alloc(ctx, 2 * (size_t)n_factors, sizeof *g->part);
  g->block = ga__alloc(ctx, (size_t)n_factors, sizeof *g->block);
  if (!g->factor || !g->part || !g->block) {
    ga_group_destroy(&g);
    return ga__no_memory(ctx, "factors of the group");
  }
  for (int i = 0; i < n_factors; i++) append_factor(g, &factors[i]);
  *out = g;
  return GA_OK;
}

void ga_group_destroy(ga_group **group)
{
  if (!group || !*group) return;
  ga_group *g = *group;
  ga__free(g->ctx, g->factor);
  ga__free(g->ctx, g->part);
  ga__free(g->ctx, (void *)g->block);
  ga__free(g->ctx, g);
  *group = NULL;
}

int ga_group_nq(const ga_group *g)
{
  if (!g) return 0;
  return g->nq;
}

int ga_group_nv(const ga_group *g)
{
  if (!g) return 0;
  return g->nv;
}

int ga_group_n_factors(const ga_group *g)
{
  if (!g) return 0;
  return g->n_factors;
}

/* An index out of range gives R^0 at the beginning. */
ga_factor ga_group_factor(const ga_group *g, int i, int *q_start, int *v_start)
{
  static const placed_factor none = {{GA_RN, 0, GA_LEFT}, 0, 0};
  const placed_factor *f = g && i >= 0 && i < g->n_factors ? &g->factor[i] : &none;
  if (q_start) *q_start = f->q;
  if (v_start) *v_start = f->v;
  return f->factor;
}

int ga_group_n_blocks(const ga_group *g)
{
  if (!g) return 0;
  return g->n_blocks;
}

/* An index out of range gives size 0. */
int ga_group_block(const ga_group *g, int b, int *v_start)
{
  const int there = g && b >= 0 && b < g->n_blocks;
  if (v_start) *v_start = there ? g->block[b]->v : 0;
  return there ? g->block[b]->kind->block : 0;
}

int ga_group_blocks_length(const ga_group *g)
{
  if (!g) return 0;
  return g->packed;
}

void ga__part_move(const ga__part *p, double *q1, const double *q, const double *d)
{
  double e[GA__PART_NQ], r[GA__PART_NQ];
  p->kind->exp(p, e, d);
  if (p->sign > 0)
    p->kind->compose(p, r, q, e);
  else
    p->kind->compose(p, r, e, q);
  p->kind->tidy(p, r);
  memcpy(q1, r, (size_t)p->nq * sizeof *q1);
}

void ga__part_difference(const ga__part *p, double *d, const double *q, const double *q1)
{
  double inverse[GA__PART_NQ], r[GA__PART_NQ];
  p->kind->inverse(p, inverse, q);
  if (p->sign > 0)
    p->kind->compose(p, r, inverse, q1);
  else
    p->kind->compose(p, r, q1, inverse);
  p->kind->log(p, d, r);
}

void ga_group_identity(const ga_group *g, double *q)
{
  if (!g || !q) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++) p->kind->identity(p, q + p->q);
}

void ga_group_compose(const ga_group *g, double *q, const double *a, const double *b)
{
  if (!g || !q || !a || !b) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++)
    p->kind->compose(p, q + p->q, a + p->q, b + p->q);
}

void ga_group_inverse(const ga_group *g, double *q, const double *a)
{
  if (!g || !q || !a) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++) p->kind->inverse(p, q + p->q, a + p->q);
}

void ga_group_exp(const ga_group *g, double *q, const double *d)
{
  if (!g || !q || !d) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++) p->kind->exp(p, q + p->q, d + p->v);
}

void ga_group_log(const ga_group *g, double *d, const double *q)
{
  if (!g || !d || !q) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++) p->kind->log(p, d + p->v, q + p->q);
}

/* Number of consecutive blocks from b on of the same kind. */
static int count_run(const ga_group *g, int b)
{
  int n = 1;
  while (b + n < g->n_blocks && g->block[b + n]->kind == g->block[b]->kind) n++;
  return n;
}

void ga_group_move(const ga_group *g, double *q1, const double *q, const double *d)
{
  if (!g || !q1 || !q || !d) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++)
    if (!p->kind->moves) p->kind->move(p, q1 + p->q, q + p->q, d + p->v);
  for (int b = 0, n; b < g->n_blocks; b += n) {
    n = count_run(g, b);
    if (g->block[b]->kind->moves) g->block[b]->kind->moves(g->block + b, n, q1, q, d);
  }
}

void ga_group_difference(const ga_group *g, double *d, const double *q, const double *q1)
{
  if (!g || !d || !q || !q1) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++)
    p->kind->difference(p, d + p->v, q + p->q, q1 + p->q);
}

void ga_group_rate(const ga_group *g, double *qdot, const double *q, const double *v)
{
  if (!g || !qdot || !q || !v) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++)
    p->kind->rate(p, qdot + p->q, q + p->q, v + p->v);
}

void ga_group_bracket(const ga_group *g, double *c, const double *a, const double *b)
{
  if (!g || !c || !a || !b) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++)
    p->kind->bracket(p, c + p->v, a + p->v, b + p->v);
}

void ga_group_add_bracket(const ga_group *g, double *c, double factor, const double *a, const double *b)
{
  if (!g || !c || !a || !b) return;
  for (int i = 0; i < g->n_blocks; i++) { /* parts without a block commute */
    const ga__part *p = g->block[i];
    p->kind->add_bracket(p, c + p->v, factor, a + p->v, b + p->v);
  }
}

void ga_group_tangent(const ga_group *g, double *T, const double *d)
{
  if (!g || !T || !d) return;
  for (int b = 0; b < g->n_blocks; b++) {
    const ga__part *p = g->block[b];
    p->kind->tangent(p, T + p->packed, d + p->v);
  }
}

void ga_group_tangent_inverse(const ga_group *g, double *Tinv, const double *d)
{
  if (!g || !Tinv || !d) return;
  for (int b = 0; b < g->n_blocks; b++) {
    const ga__part *p = g->block[b];
    p->kind->tangent_inverse(p, Tinv + p->packed, d + p->v);
  }
}

void ga_group_exponent_rate(const ga_group *g, double *out, const double *d, const double *v)
{
  if (!g || !out || !d || !v) return;
  if (out != v) memcpy(out, v, (size_t)g->nv * sizeof *out);
  for (int b = 0, n; b < g->n_blocks; b += n) {
    n = count_run(g, b);
    g->block[b]->kind->exponent_rates(g->block + b, n, out, d, v);
  }
}

void ga_group_ad(const ga_group *g, double *A, const double *a)
{
  if (!g || !A || !a) return;
  for (int b = 0; b < g->n_blocks; b++) {
    const ga__part *p = g->block[b];
    p->kind->ad(p, A + p->packed, a + p->v);
  }
}

void ga_group_tangent_ad(const ga_group *g, double *T, double *TA, const double *d, double kappa,
                         const double *a)
{
  if (!g || !T || !TA || !d || !a) return;
  for (int b = 0, n; b < g->n_blocks; b += n) {
    n = count_run(g, b);
    g->block[b]->kind->tangent_ads(g->block + b, n, T, TA, d, kappa, a);
  }
}

double ga_group_defect(const ga_group *g, const double *q)
{
  if (!g || (!q && g->nq > 0)) return NAN;
  double worst = 0;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++)
    worst = ga__larger(worst, p->kind->defect(p, q + p->q));
  return worst;
}

void ga_group_normalise(const ga_group *g, double *q)
{
  if (!g || !q) return;
  for (const ga__part *p = g->part; p < g->part + g->n_parts; p++) p->kind->normalise(p, q + p->q);
}
