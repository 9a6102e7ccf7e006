/* The forms GA_FORM_BODY and GA_FORM_SE3.
 *
 * Elements compute with twists w = (u, ω), accelerations a = (u', ω') and wrenches in ground axes. A form has
 * velocities v with w = X v at every rigid node:
 *
 *   BODY  R³×SO(3), left: v = (u, Ω), X = diag(I, R)    a = X v'
 *   SE3   SE(3), left:    v = (U, Ω), X = diag(R, R)    a = X v' + b,  b = (ω × u, 0),
 *                                                       as u' = R (U' + Ω × U)
 *
 * A small displacement δ in the form is the small twist X δ = (δx, δφ). With r the residuals of the space
 * form:
 *
 *   rows      dynamics r_f = Xᵀ r; the others are the same. M v' = Xᵀ M_s X v' and f = Xᵀ (f_s − M_s b)
 *   by v'     r_a X
 *   by v      r_w X + r_a a_v, with a_v = 0, or for SE3 (in the rows u') a_v = (ω~, −u~) X
 *   by δ      r_q X + (r_w w_φ + r_a a_φ) X at fixed v and v', where w = X v and a turn with the body:
 *             ω_φ = −ω~, ω'_φ = −ω'~, and for SE3 u_φ = −u~, u'_φ = −u'~;
 *             for dynamics also Xᵀ p~ X by the node's own φ, p the part of r that Xᵀ turns:
 *             δ(Rᵀ p) = Rᵀ p~ δφ
 *   D_q(B v)  (G_s + B_s w_φ) X
 *   Φ'', k'   at v' = 0, where a = b: those of the space form at a = 0, plus B_s b, k_w b
 *
 * So tiles of the matrix are corrected in space and then multiplied by R on the right and Rᵀ on the left.
 * Rows or columns that such a product mixes form a unit of three; all others are units of one. */
#include "mbs/form.h"
#include "mbs/element.h"
#include "mbs/system.h"
#include "lie/mat3.h"
#include <stdlib.h>
#include <string.h>

typedef struct unit {
  int start, size; /* rows or columns of the whole matrix */
  int node;        /* whose R is applied; 0: none, and size 1 */
  int part;        /* 0: x, 1: φ */
} unit;

typedef struct tile {
  int row, col; /* units */
  int x;        /* SE3, a tile in the columns φ of a node: that in its columns x; −1: none */
  int entry[9]; /* row-major, of the pattern */
} tile;

struct ga__form {
  ga_form kind;
  int n_units, n_tiles;
  int tiles_lambda[2]; /* first tile with a row of Φ, and first after them */
  unit *unit;
  int *unit_of; /* [rows of the matrix] */
  tile *tile;   /* sorted by (row, col); none where both units are of one */
  int n_entries;
};

struct ga__form_space {
  double *Jw, *Ja, *Q, *G,
      *spare;    /* [n_entries] of the space form: by w, by a, by q, of the rates; not read */
  double *r, *f; /* [nv] */
  double *rate;  /* [n_lambda + n_psi] */
  ga__kin *kin;  /* [nodes] */
};

static int mixes(ga_form kind, const ga__node *node, int part)
{
  return node->rigid && (part == 1 || kind == GA_FORM_SE3);
}

/* ---- Values -------------------------------------------------------------------------------------------- */

/* w = X v, a = X v' + b */
void ga__form_kin(const ga__mbs_model *b, const double *v, const double *vdot, ga__kin *kin)
{
  const int se3 = b->form->kind == GA_FORM_SE3;
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    ga__kin *k = kin + i;
    if (!node->rigid) continue;
    const double *vi = v + node->v;
    ga__mat3_mul_vec(k->w + 3, k->R, vi + 3);
    if (se3)
      ga__mat3_mul_vec(k->w, k->R, vi);
    else
      memcpy(k->w, vi, 3 * sizeof *vi);
    if (!vdot) continue;
    const double *ai = vdot + node->v;
    ga__mat3_mul_vec(k->acc + 3, k->R, ai + 3);
    if (se3) {
      double U[3];
      ga__vec3_cross(U, vi + 3, vi);
      for (int c = 0; c < 3; c++) U[c] += ai[c];
      ga__mat3_mul_vec(k->acc, k->R, U);
    } else {
      memcpy(k->acc, ai, 3 * sizeof *ai);
    }
  }
}

/* v = X⁻¹ w */
void ga__form_initial(const ga__mbs_model *b, double *v)
{
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    ga__kin kin;
    ga__kin_pose(node, node->q0, &kin);
    for (int part = 0; part < 2; part++)
      if (mixes(b->form->kind, node, part))
        ga__mat3_tmul_vec(v + node->v + 3 * part, kin.R, node->v0 + 3 * part);
  }
}

/* p := Rᵀ p */
static void turn_back(double p[3], const double R[9])
{
  const double before[3] = {p[0], p[1], p[2]};
  ga__mat3_tmul_vec(p, R, before);
}

/* b = (ω × u, 0) of SE3 */
static void bias(double b[3], const ga__kin *k)
{
  ga__vec3_cross(b, k->w + 3, k->w);
}

/* M_s a, at a = b or at a = X v' of SE3, into out. */
static void inertia_at(const ga__eval *e, int at_bias, double *out)
{
  ga__form_space *space = e->work->form;
  ga__eval at = *e;
  ga_point p = *e->p;
  at.kin = space->kin;
  at.p = &p;
  memcpy(space->kin, e->kin, (size_t)e->b->node.n * sizeof *space->kin);
  memset(space->f, 0, (size_t)e->b->nv * sizeof *space->f);
  if (at_bias) p.vdot = space->f;
  for (int i = 1; i < e->b->node.n; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, i);
    ga__kin *k = &space->kin[i];
    if (at_bias) memset(k->acc, 0, sizeof k->acc);
    if (!node->rigid) continue;
    if (at_bias)
      bias(k->acc, k);
    else
      ga__mat3_mul_vec(k->acc, k->R, e->p->vdot + node->v);
  }
  if (e->b->carried.n) ga__carried_kin(e->b, p.q, p.v, p.vdot, space->kin);
  ga__space_mass(&at, out);
}

/* M v' = Xᵀ M_s X v'. With SE3, out holds m u' with u' = X v' + b on entry. b is not subtracted but left out
 * in a new evaluation, so that M v' does not depend on v by rounding. */
void ga__form_mass(const ga__eval *e, double *out)
{
  const ga__mbs_model *b = e->b;
  const int se3 = b->form->kind == GA_FORM_SE3;
  if (se3 && b->unswept_inertia) inertia_at(e, 0, out);
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    double *to = out + node->v;
    if (!node->rigid) continue;
    turn_back(to + 3, e->kin[i].R);
    if (se3 && b->unswept_inertia) turn_back(to, e->kin[i].R);
    for (int c = 0; c < 3 && se3 && !b->unswept_inertia; c++) to[c] = node->mass * e->p->vdot[node->v + c];
  }
}

/* f = Xᵀ (f_s − M_s b) */
void ga__form_force(const ga__eval *e, double *f)
{
  const ga__mbs_model *model = e->b;
  const int se3 = model->form->kind == GA_FORM_SE3;
  if (se3 && model->unswept_inertia) {
    double *more = e->work->form->r;
    inertia_at(e, 1, more);
    for (int i = 0; i < model->nv; i++) f[i] -= more[i];
  }
  for (int i = 1; i < model->node.n; i++) {
    const ga__node *node = GA__AT(model->node, ga__node, i);
    if (!node->rigid) continue;
    turn_back(f + node->v + 3, e->kin[i].R);
    if (!se3) continue;
    double b[3];
    bias(b, &e->kin[i]);
    for (int c = 0; c < 3 && !model->unswept_inertia; c++) f[node->v + c] -= node->mass * b[c];
    turn_back(f + node->v, e->kin[i].R);
  }
}

/* out += rate(w = b) − rate(w = 0): the part of a rate that is linear in w, at w = b. rate: at e, with the
 * twists of `at` */
static int add_bias(const ga__eval *e, int n, double *out,
                    int (*rate)(const ga__eval *e, const ga__eval *at, double *out))
{
  ga__form_space *space = e->work->form;
  ga__eval at = *e;
  if (e->b->form->kind != GA_FORM_SE3) return 0;
  at.kin = space->kin;
  for (int with = 1; with >= 0; with--) {
    memcpy(space->kin, e->kin, (size_t)e->b->node.n * sizeof *space->kin);
    for (int i = 0; i < e->b->node.n; i++) {
      memset(space->kin[i].w, 0, sizeof space->kin[i].w);
      if (with && GA__AT(e->b->node, ga__node, i)->rigid) bias(space->kin[i].w, &e->kin[i]);
    }
    if (e->b->carried.n) ga__carried_kin(e->b, e->p->q, e->p->v, NULL, space->kin);
    const int status = rate(e, &at, space->rate);
    if (status) return status;
    for (int i = 0; i < n; i++) out[i] += with ? space->rate[i] : -space->rate[i];
  }
  return 0;
}

static int phi_dot(const ga__eval *e, const ga__eval *at, double *out)
{
  (void)e;
  return ga__elements_phi(at, out, 1);
}

int ga__form_phi_acc(const ga__eval *e, double *out)
{
  return add_bias(e, e->b->n_lambda, out, phi_dot);
}

int ga__form_k_acc(const ga__eval *e, double *out)
{
  return add_bias(e, e->b->n_psi, out, ga__elements_k_along);
}

/* ---- The Jacobian -------------------------------------------------------------------------------------- */

/* A tile and its data. */
typedef struct place {
  const ga__form *form;
  const ga__form_space *space;
  const tile *tile;
  const unit *row, *col;
  const ga__kin *row_kin, *col_kin; /* NULL: not turned */
} place;

static void load(double T[9], const double *array, const place *at, const int entry[9])
{
  for (int k = 0; k < at->row->size * at->col->size; k++) T[k] = array[entry[k]];
}

/* T += scale A p~: the rows of A p~ are a × p */
static void add_turned(double T[9], int rows, double scale, const double A[9], const double p[3])
{
  double c[3];
  for (int i = 0; i < rows; i++) {
    ga__vec3_cross(c, A + 3 * i, p);
    for (int j = 0; j < 3; j++) T[3 * i + j] += scale * c[j];
  }
}

/* array[tile] = Rᵀ_row T R_col */
static void store(double *array, double T[9], const place *at)
{
  const int rows = at->row->size, cols = at->col->size;
  if (at->col_kin)
    for (int i = 0; i < rows; i++) turn_back(T + 3 * i, at->col_kin->R);
  if (at->row_kin)
    for (int j = 0; j < cols; j++) {
      double p[3] = {T[j], T[cols + j], T[2 * cols + j]};
      turn_back(p, at->row_kin->R);
      for (int i = 0; i < 3; i++) T[i * cols + j] = p[i];
    }
  for (int k = 0; k < rows * cols; k++) array[at->tile->entry[k]] = T[k];
}

/* The tile in the columns x of the same node, for one in the columns φ; NULL: none, or no R is applied. */
static const int *beside(const place *at)
{
  return at->tile->x < 0 ? NULL : at->form->tile[at->tile->x].entry;
}

/* shift_v (r_w + r_a a_v) + shift_vdot r_a */
static void tile_D(ga_jacobian *J, const place *at, int nv)
{
  const ga__form_space *space = at->space;
  const int *x = beside(at), rows = at->row->size;
  double T[9] = {0}, A[9] = {0};
  load(T, space->Jw, at, at->tile->entry);
  if (at->col->start < nv) {
    load(A, space->Ja, at, at->tile->entry);
    for (int k = 0; k < rows * at->col->size; k++) T[k] = J->shift_v * T[k] + J->shift_vdot * A[k];
    if (at->col_kin && at->col->part == 0) add_turned(T, rows, J->shift_v, A, at->col_kin->w + 3);
    if (x) {
      load(A, space->Ja, at, x);
      add_turned(T, rows, -J->shift_v, A, at->col_kin->w);
    }
  }
  store(J->D, T, at);
}

/* T += −array[φ] ω~ − array[x] u~ for a twist (u, ω) */
static void add_turning(double T[9], const double *array, const place *at, const double twist[6])
{
  const int *x = beside(at), rows = at->row->size;
  double A[9] = {0};
  load(A, array, at, at->tile->entry);
  add_turned(T, rows, -1, A, twist + 3);
  if (!x) return;
  load(A, array, at, x);
  add_turned(T, rows, -1, A, twist);
}

/* r_q + r_w w_φ + r_a a_φ + p~; rows of Φ know no velocities */
static void tile_Q(ga_jacobian *J, const place *at, int lambda_row)
{
  const ga__form_space *space = at->space;
  double T[9] = {0};
  load(T, space->Q, at, at->tile->entry);
  if (at->col_kin && at->col->part == 1 && !lambda_row) {
    add_turning(T, space->Jw, at, at->col_kin->w);
    add_turning(T, space->Ja, at, at->col_kin->acc);
    if (at->row_kin == at->col_kin) {
      double S[9];
      ga__mat3_skew(S, 1, space->r + at->row->start);
      for (int k = 0; k < 9; k++) T[k] += S[k];
    }
  }
  store(J->Q, T, at);
}

/* G_s + B_s w_φ */
static void tile_G(ga_jacobian *J, const place *at)
{
  double T[9] = {0};
  load(T, at->space->G, at, at->tile->entry);
  if (at->col_kin && at->col->part == 1) add_turning(T, at->space->Q, at, at->col_kin->w);
  store(J->G, T, at);
}

/* Derivatives of the space form by accelerations: of inertia, and of what reads accelerations. */
static int derive_by_a(const ga__eval *e, unsigned want)
{
  const ga__mbs_model *b = e->b;
  ga__form_space *form = e->work->form;
  ga_jacobian J = {GA_WANT_D | (want & GA_WANT_M), 0, 1, form->Ja, form->spare, form->spare};
  int status = 0;
  if (b->carried.n) return ga__space_jacobian(e, &J);
  memset(form->Ja, 0, (size_t)b->form->n_entries * sizeof(double));
  for (int i = 0; i < b->element.n && !status; i++) {
    const ga__element *el = ga__element_at(b, i);
    const ga__element_type *type = el->type;
    if (type->no_accelerations && !type->mass) continue;
    J.want = GA_WANT_D | (type->mass ? GA_WANT_M : want & GA_WANT_M); /* forces depend on outputs only */
    if (type->sweep)
      status = type->sweep(e, el, NULL, &J);
    else if (type->jacobian)
      status = type->jacobian(e, el, &J);
  }
  return status;
}

/* Values of the space form, with r = M_s a − f_s where Q is wanted, and derivatives, those by twists in Jw.
 * If only rows of Φ are wanted, only these. */
static int sweep_space(const ga__eval *e, const ga_sweep *s, unsigned want)
{
  ga__form_space *form = e->work->form;
  ga_jacobian by_w = {want, 1, 0, form->Jw, form->Q, form->G};
  ga_sweep own = {.dynamics = form->r, .phi = form->rate, .k = form->rate + e->b->n_lambda};
  const int needs_r = (want & GA_WANT_Q) != 0;
  if (want & GA_WANT_Q) by_w.want |= GA_WANT_D;
  if (want & GA_WANT_G) by_w.want |= GA_WANT_B;
  const int status = ga__space_sweep(e, s ? s : needs_r ? &own : NULL, want ? &by_w : NULL);
  if (!status && s && needs_r) memcpy(form->r, s->dynamics, (size_t)e->b->nv * sizeof *form->r);
  return status;
}

void ga__form_turn_rows(const ga__eval *e, double *r)
{
  for (int i = 1; i < e->b->node.n; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, i);
    for (int part = 0; part < 2; part++)
      if (mixes(e->b->form->kind, node, part)) turn_back(r + node->v + 3 * part, e->kin[i].R);
  }
}

/* Entries to which no R is applied; those of tiles are overwritten later. */
static void plain_entries(const ga__mbs_model *b, const ga__form_space *form, ga_jacobian *J)
{
  const int n = b->form->n_entries;
  const size_t bytes = (size_t)n * sizeof(double);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) memcpy(J->Q, form->Q, bytes);
  if (J->want & GA_WANT_G) memcpy(J->G, form->G, bytes);
  if (J->want & GA_WANT_D)
    for (int i = 0; i < n; i++)
      J->D[i] = ga__system_pattern_of(b)->col[i] < b->nv
                    ? J->shift_v * form->Jw[i] + J->shift_vdot * form->Ja[i]
                    : form->Jw[i];
}

/* Entries of the tiles that R is applied to. */
static void turn_tiles(const ga__eval *e, ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  const ga__form *form = b->form;
  const unsigned all = J->want & (GA_WANT_D | GA_WANT_Q);
  for (int i = all ? 0 : form->tiles_lambda[0]; i < (all ? form->n_tiles : form->tiles_lambda[1]); i++) {
    const tile *t = &form->tile[i];
    const unit *row = &form->unit[t->row], *col = &form->unit[t->col];
    const place at = {form,
                      e->work->form,
                      t,
                      row,
                      col,
                      row->node ? &e->kin[row->node] : NULL,
                      col->node ? &e->kin[col->node] : NULL};
    const int lambda_row = i >= form->tiles_lambda[0] && i < form->tiles_lambda[1];
    if (J->want & GA_WANT_D) tile_D(J, &at, b->nv);
    if (col->start >= b->nv) continue;
    if (J->want & GA_WANT_Q || (lambda_row && J->want & GA_WANT_B)) tile_Q(J, &at, lambda_row);
    if (lambda_row && J->want & GA_WANT_G) tile_G(J, &at);
  }
}

int ga__form_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J)
{
  const unsigned want = J ? J->want : 0;
  int status = want & (GA_WANT_D | GA_WANT_Q) ? derive_by_a(e, want) : 0;
  if (!status) status = sweep_space(e, s, want);
  if (status) return status;
  if (s) ga__form_turn_rows(e, s->dynamics);
  if (!J) return 0;
  plain_entries(e->b, e->work->form, J);
  turn_tiles(e, J);
  return 0;
}

/* ---- Building ------------------------------------------------------------------------------------------ */

static int n_rows(const ga__mbs_model *b)
{
  return b->nv + b->n_lambda + b->n_psi + b->n_x + b->n_y;
}

/* Units of three where R is applied, of one for the rest; in the order of rows. */
static void make_units(const ga__mbs_model *b, ga__form *form)
{
  const int n = n_rows(b);
  for (int i = 0; i < n; i++) form->unit_of[i] = -1;
  for (int i = 1; i < b->node.n; i++)
    for (int part = 0; part < 2; part++) {
      const ga__node *node = GA__AT(b->node, ga__node, i);
      if (mixes(form->kind, node, part)) form->unit_of[node->v + 3 * part] = 2 * i + part;
    }
  for (int row = 0; row < n; row += form->unit[form->n_units++].size) {
    const int turned = form->unit_of[row];
    const unit one = {row, 1, 0, 0}, three = {row, 3, turned / 2, turned % 2};
    form->unit[form->n_units] = turned < 0 ? one : three;
    for (int k = 0; k < (turned < 0 ? 1 : 3); k++) form->unit_of[row + k] = form->n_units;
  }
}

static int by_place(const void *x, const void *y)
{
  const tile *a = x, *b = y;
  return a->row != b->row ? (a->row < b->row ? -1 : 1) : a->col != b->col ? (a->col < b->col ? -1 : 1) : 0;
}

static void add_tile(ga__form *form, int row, int col)
{
  form->tile[form->n_tiles].row = row;
  form->tile[form->n_tiles++].col = col;
}

/* Lists every tile that will be written: those with entries and, with SE3, columns φ next to columns x. This
 * includes the terms of a node's own residual, since inertia has entries for x and φ of every rigid node. The
 * array is large enough. */
static void list_tiles(const ga__mbs_model *b, ga__form *form)
{
  for (int i = 0; i < ga__system_pattern_of(b)->n; i++) {
    const int row = form->unit_of[ga__system_pattern_of(b)->row[i]],
              col = form->unit_of[ga__system_pattern_of(b)->col[i]];
    const unit *c = &form->unit[col];
    if (!form->unit[row].node && !c->node) continue;
    add_tile(form, row, col);
    if (c->node && c->part == 0) add_tile(form, row, col + 1);
  }
  qsort(form->tile, (size_t)form->n_tiles, sizeof *form->tile, by_place);
  int n = 0;
  for (int i = 0; i < form->n_tiles; i++)
    if (n == 0 || by_place(&form->tile[n - 1], &form->tile[i]) != 0) form->tile[n++] = form->tile[i];
  form->n_tiles = n;
}

static tile *find_tile(const ga__form *form, int row, int col)
{
  const tile key = {.row = row, .col = col};
  return bsearch(&key, form->tile, (size_t)form->n_tiles, sizeof key, by_place);
}

/* Finds the entries of tiles; those that the space form does not have are added to the pattern. */
static ga_status fill_tiles(ga__mbs_model *b, ga__form *form)
{
  const int n_before = ga__system_pattern_of(b)->n;
  for (int i = 0; i < form->n_tiles; i++) {
    tile *t = &form->tile[i];
    const unit *col = &form->unit[t->col];
    for (int k = 0; k < 9; k++) t->entry[k] = -1;
    t->x = -1; /* columns x come just before columns φ */
    if (form->kind == GA_FORM_SE3 && col->node && col->part == 1 && i > 0 &&
        form->tile[i - 1].row == t->row && form->tile[i - 1].col == t->col - 1)
      t->x = i - 1;
  }
  for (int i = 0; i < n_before; i++) {
    const int row = ga__system_pattern_of(b)->row[i], col = ga__system_pattern_of(b)->col[i];
    tile *t = find_tile(form, form->unit_of[row], form->unit_of[col]);
    if (!t) continue;
    t->entry[(row - form->unit[t->row].start) * form->unit[t->col].size + col - form->unit[t->col].start] = i;
  }
  for (int i = 0; i < form->n_tiles; i++) {
    tile *t = &form->tile[i];
    const unit *row = &form->unit[t->row], *col = &form->unit[t->col];
    for (int k = 0; k < row->size * col->size; k++) {
      if (t->entry[k] >= 0) continue;
      t->entry[k] =
          ga__own_entry(ga__system_pattern(b), row->start + k / col->size, col->start + k % col->size);
      if (t->entry[k] < 0) return GA_ERR_MEMORY;
    }
  }
  return GA_OK;
}

static void find_lambda(const ga__mbs_model *b, ga__form *form)
{
  for (int i = 0; i < form->n_tiles; i++) {
    const int row = form->unit[form->tile[i].row].start;
    if (row < b->nv) form->tiles_lambda[0] = i + 1;
    if (row < b->nv + b->n_lambda) form->tiles_lambda[1] = i + 1;
  }
}

size_t ga__form_space_size(const ga__mbs_model *b)
{
  const size_t doubles = 5 * (size_t)b->form->n_entries + 3 * (size_t)n_rows(b);
  return sizeof(ga__form_space) + (size_t)b->node.n * sizeof(ga__kin) + doubles * sizeof(double);
}

ga__form_space *ga__form_space_in(const ga__mbs_model *b, void *block)
{
  ga__form_space *space = block;
  const size_t n = (size_t)b->form->n_entries;
  double **const arrays[] = {&space->Jw,    &space->Ja, &space->Q, &space->G,
                             &space->spare, &space->r,  &space->f, &space->rate};
  space->kin = (ga__kin *)(space + 1);
  double *at = (double *)(space->kin + b->node.n);
  for (int i = 0; i < 8; i++) *arrays[i] = at, at += i < 5 ? n : (size_t)n_rows(b);
  return space;
}

ga_status ga__form_create(ga_machine *m, ga__mbs_model *b)
{
  int n_rigid = 0;
  for (int i = 1; i < b->node.n; i++) n_rigid += GA__AT(b->node, ga__node, i)->rigid;
  if (m->opts.form == GA_FORM_SPACE || n_rigid == 0) return GA_OK;
  ga__form *form = ga__alloc(m->ctx, 1, sizeof *form);
  if (!form) return ga__no_memory(m->ctx, "the form of a machine");
  const size_t n = (size_t)n_rows(b), most_tiles = 2 * (size_t)ga__system_pattern_of(b)->n;
  form->kind = m->opts.form;
  form->unit = ga__alloc(m->ctx, n, sizeof *form->unit);
  form->unit_of = ga__alloc(m->ctx, n, sizeof *form->unit_of);
  form->tile = ga__alloc(m->ctx, most_tiles, sizeof *form->tile);
  ga_status status =
      form->unit && form->unit_of && form->tile ? GA_OK : ga__no_memory(m->ctx, "the form of a machine");
  if (!status) {
    make_units(b, form);
    list_tiles(b, form);
    status = fill_tiles(b, form);
  }
  if (status) {
    ga__form_destroy(m->ctx, &form);
    return status;
  }
  form->n_entries = ga__system_pattern_of(b)->n;
  find_lambda(b, form);
  b->form = form;
  return GA_OK;
}

void ga__form_destroy(ga_context *ctx, ga__form **form)
{
  ga__form *f = form ? *form : NULL;
  if (!f) return;
  void *const blocks[] = {f->unit, f->unit_of, f->tile, f};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) ga__free(ctx, blocks[i]);
  *form = NULL;
}
