/* Common to all blocks: kinds, names, creation, and checks of evaluations. */
#include "control/control_impl.h"
#include "control/same.h"
#include "expr/same.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Kinds ---- */

static const struct {
  const char *name, *about;
} KINDS[GA_N_BLOCK_KINDS] = {
#define KIND_ROW(kind, name, about) [kind] = {name, about},
    GA_BLOCK_KIND_LIST(KIND_ROW)};

const char *ga_block_kind_name(ga_block_kind kind)
{
  return (unsigned)kind < GA_N_BLOCK_KINDS ? KINDS[kind].name : NULL;
}

const char *ga_block_kind_about(ga_block_kind kind)
{
  return (unsigned)kind < GA_N_BLOCK_KINDS ? KINDS[kind].about : NULL;
}

ga_block_kind ga_block_kind_find(const char *name)
{
  int kind = 0;
  if (!name) return GA_N_BLOCK_KINDS;
  while (kind < GA_N_BLOCK_KINDS && strcmp(KINDS[kind].name, name) != 0) kind++;
  return (ga_block_kind)kind;
}

/* ---- Creation ---- */

static void name_ports(char (*to)[GA_BLOCK_NAME], int n, const char *const *given, const char *letter)
{
  for (int i = 0; i < n; i++) {
    if (given)
      snprintf(to[i], GA_BLOCK_NAME, "%s", given[i]);
    else if (n == 1)
      snprintf(to[i], GA_BLOCK_NAME, "%s", letter);
    else
      snprintf(to[i], GA_BLOCK_NAME, "%s%d", letter, i);
  }
}

ga_status ga__block_new(ga_context *ctx, ga_block_kind kind, const ga__block_type *type, ga__block_sizes n,
                        const ga_block_names *names, ga_control_block **out)
{
  static const ga_block_names none = {NULL, NULL, NULL};
  ga_control_block *b = ga__alloc(ctx, 1, sizeof *b);
  if (!b) return ga__no_memory(ctx, "a control block");
  *b = (ga_control_block){.ctx = ctx, .kind = kind, .type = type};
  b->n_in = n.n_in;
  b->n_x = n.n_x;
  b->n_out = n.n_out;
  const int ports = n.n_in + n.n_x + n.n_out;
  b->x0 = ga__alloc(ctx, (size_t)n.n_x, sizeof *b->x0);
  b->depends = ga__alloc(ctx, (size_t)ga__block_rows(b) * (size_t)ga__block_cols(b), 1);
  b->names = ga__alloc(ctx, (size_t)ports + 1, sizeof *b->names);
  b->units = ga__alloc(ctx, (size_t)n.n_out, sizeof *b->units);
  if (!b->x0 || !b->depends || !b->names || !b->units) {
    ga_block_destroy(&b);
    return ga__no_memory(ctx, "a control block");
  }
  if (!names) names = &none;
  name_ports(b->names, n.n_in, names->in, "u");
  name_ports(b->names + n.n_in, n.n_x, names->x, "x");
  name_ports(b->names + n.n_in + n.n_x, n.n_out, names->out, "y");
  snprintf(b->names[ports], GA_BLOCK_NAME, "%s", KINDS[kind].name);
  *out = b;
  return GA_OK;
}

void ga_block_destroy(ga_control_block **block)
{
  if (!block || !*block) return;
  ga_control_block *b = *block;
  if (b->type->release) b->type->release(b);
  ga__free(b->ctx, b->x0);
  ga__free(b->ctx, b->depends);
  ga__free(b->ctx, b->names);
  ga__free(b->ctx, b->units);
  ga__free(b->ctx, b);
  *block = NULL;
}

/* ---- What a block is ---- */

ga_block_kind ga_block_get_kind(const ga_control_block *block)
{
  if (!block) return GA_N_BLOCK_KINDS;
  return block->kind;
}

int ga_block_n_in(const ga_control_block *block)
{
  if (!block) return 0;
  return block->n_in;
}

int ga_block_n_x(const ga_control_block *block)
{
  if (!block) return 0;
  return block->n_x;
}

int ga_block_n_out(const ga_control_block *block)
{
  if (!block) return 0;
  return block->n_out;
}

const char *ga_block_input_name(const ga_control_block *block, int i)
{
  if (!block) return NULL;
  return i >= 0 && i < block->n_in ? block->names[i] : NULL;
}

const char *ga_block_state_name(const ga_control_block *block, int i)
{
  if (!block) return NULL;
  return i >= 0 && i < block->n_x ? block->names[block->n_in + i] : NULL;
}

const char *ga_block_output_name(const ga_control_block *block, int i)
{
  if (!block) return NULL;
  return i >= 0 && i < block->n_out ? block->names[block->n_in + block->n_x + i] : NULL;
}

ga_status ga_block_set_unit(ga_control_block *block, int i, const char *unit)
{
  ga_dimension ignored;
  if (!block) return GA_ERR_ARGUMENT;
  const char *kind = KINDS[block->kind].name;
  if (i < 0 || i >= block->n_out)
    return ga__refuse(
        block->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_OUTPUT,
        &(ga__facts){
            .kind = "block", .part = kind, .field = "unit", GA__NUMBERS({i, NULL}, {block->n_out, NULL})});
  if (!unit || strcmp(unit, "1") == 0) unit = "";
  if (strlen(unit) >= GA_BLOCK_NAME)
    return ga__refuse(block->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_TOO_LONG,
                      &(ga__facts){.kind = "block",
                                   .part = kind,
                                   .field = "unit",
                                   GA__NUMBERS({(double)strlen(unit), NULL}, {GA_BLOCK_NAME - 1, NULL})});
  const ga_status status = *unit ? ga_unit_parse(block->ctx, unit, NULL, &ignored, NULL) : GA_OK;
  if (!status) snprintf(block->units[i], GA_BLOCK_NAME, "%s", unit);
  return status;
}

const char *ga_block_output_unit(const ga_control_block *block, int i)
{
  if (!block) return NULL;
  return i >= 0 && i < block->n_out ? block->units[i] : NULL;
}

int ga_block_depends(const ga_control_block *block, int row, int col)
{
  if (!block) return 0;
  const int rows = ga__block_rows(block), cols = ga__block_cols(block);
  return row >= 0 && row < rows && col >= 0 && col < cols && block->depends[row * cols + col];
}

void ga_block_initial(const ga_control_block *block, double *x0)
{
  if (!block) return;
  if (x0 && block->n_x > 0) memcpy(x0, block->x0, (size_t)block->n_x * sizeof *x0);
}

/* ---- Evaluation ---- */

ga_status ga__block_fault(ga_fault *fault, const ga_control_block *b, ga_status status, ga_fault_kind kind,
                          const char *needs, const double *u)
{
  if (!fault) return status;
  *fault = (ga_fault){.kind = kind, .needs = needs, .operation = b->names[b->n_in + b->n_x + b->n_out]};
  fault->n_args = b->n_in < GA_FAULT_ARGS ? b->n_in : GA_FAULT_ARGS;
  for (int i = 0; i < fault->n_args; i++) fault->arg[i] = u[i];
  return status;
}

static ga_status fault_input(ga_fault *fault, const char *name, double value)
{
  if (fault) *fault = (ga_fault){.kind = GA_FAULT_INPUT, .operation = name, .n_args = 1, .arg = {value}};
  return GA_RETRY_NAN;
}

static ga_status check_point(const ga_control_block *b, double t, const double *u, const double *x,
                             ga_fault *fault)
{
  if (fault) *fault = (ga_fault){.kind = GA_FAULT_NONE};
  if (!isfinite(t)) return fault_input(fault, "time", t);
  for (int i = 0; i < b->n_in; i++)
    if (!isfinite(u[i])) return fault_input(fault, b->names[i], u[i]);
  for (int i = 0; i < b->n_x; i++)
    if (!isfinite(x[i])) return fault_input(fault, b->names[b->n_in + i], x[i]);
  return GA_OK;
}

static int all_finite(const double *a, int n)
{
  for (int i = 0; a && i < n; i++)
    if (!isfinite(a[i])) return 0;
  return 1;
}

ga_status ga_block_eval(const ga_control_block *block, double t, const double *u, const double *x,
                        double *xdot, double *y, ga_fault *fault)
{
  if (!block || (block->n_in > 0 && !u) || (block->n_x > 0 && !x)) return GA_ERR_ARGUMENT;
  ga_status status = check_point(block, t, u, x, fault);
  if (!status) status = block->type->eval(block, t, u, x, xdot, y, fault);
  if (status) return status;
  if (all_finite(xdot, block->n_x) && all_finite(y, block->n_out)) return GA_OK;
  return ga__block_fault(fault, block, GA_RETRY_NAN, GA_FAULT_OVERFLOW, NULL, u);
}

ga_status ga_block_jacobian(const ga_control_block *block, double t, const double *u, const double *x,
                            double *J, ga_fault *fault)
{
  if (!block || !J || (block->n_in > 0 && !u) || (block->n_x > 0 && !x)) return GA_ERR_ARGUMENT;
  const int entries = ga__block_rows(block) * ga__block_cols(block);
  ga_status status = check_point(block, t, u, x, fault);
  if (status) return status;
  for (int i = 0; i < entries; i++) J[i] = 0;
  status = block->type->jacobian(block, t, u, x, J, fault);
  if (status || all_finite(J, entries)) return status;
  return ga__block_fault(fault, block, GA_RETRY_NAN, GA_FAULT_DERIVATIVE, NULL, u);
}

int ga__block_same(const ga_control_block *a, const ga_control_block *b)
{
  if (a == b) return 1;
  if (a->kind != b->kind || a->type != b->type || a->n_in != b->n_in || a->n_x != b->n_x ||
      a->n_out != b->n_out)
    return 0;
  return ga__numbers_same(a->x0, b->x0, (size_t)a->n_x) && a->type->same && a->type->same(a, b);
}
