/* Samples of a machine: all sampled blocks that are due at a time, together.
 *
 * Outputs of blocks may be inputs of others that are due too: they are evaluated until nothing changes, so
 * that a chain has no delay within it. Motions, accelerations and reactions are those just before the sample.
 */
#include "mbs/blocks.h"
#include "mbs/channel.h"
#include "mbs/sampled.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

#include <math.h>
#include <string.h>

typedef struct sample {
  ga__workspace *work;
  double from, to;
  int n_due;
} sample;

static const ga__block_instance *sampled_at(const ga__mbs_model *b, int i)
{
  const ga__block_instance *block = ga__element_block(ga__element_at(b, i));
  return block && ga_block_sample_time(block->block, NULL, NULL) ? block : NULL;
}

int ga__has_samples(const ga__mbs_model *b)
{
  for (int i = 0; i < b->element.n; i++)
    if (sampled_at(b, i)) return 1;
  return 0;
}

/* The time at which element i is sampled; NaN: it is not due. */
static double due_at(const sample *s, const ga__block_instance *block)
{
  const double t = block ? ga_block_next_sample(block->block, s->from) : INFINITY;
  return t <= s->to ? t : NAN;
}

static int fail(const ga__eval *e, int part, ga_reason reason, const char *detail)
{
  ga__refuse_part(e->work->ctx, &e->m->part[part], GA_ERR_CALLBACK, reason,
                  (ga__facts){.at = &(ga__fact_time){e->p->t, NAN, -1, -1}, .detail = detail});
  return -1;
}

/* New values of a block into x_next; its held outputs also into x. *changed: these differ from before. */
static int sample_block(const ga__eval *e, const ga__block_instance *block, double t, double *x, int *changed)
{
  double *u = e->work->scratch, *next = e->work->x_next + block->x;
  const int n_x = ga_block_n_x(block->block), held = n_x - ga_block_n_out(block->block);
  ga_fault fault = {.kind = GA_FAULT_NONE};
  char why[GA_ERROR_TEXT / 4];
  for (int i = 0; i < ga_block_n_in(block->block); i++)
    if (ga__input_value(e, &block->input[i], &u[i])) return -1;
  if (ga_block_sample(block->block, t, u, x + block->x, next, &fault)) {
    ga_fault_text(why, sizeof why, &fault);
    return fail(e, block->part, GA_REASON_SAMPLE_FAILED, why);
  }
  for (int i = held; i < n_x; i++) {
    *changed |= next[i] != x[block->x + i];
    x[block->x + i] = next[i];
  }
  return 0;
}

/* One pass over all blocks that are due. */
static int sample_all(sample *s, const ga_point *given, ga_point *p, int *changed)
{
  const ga__mbs_model *b = s->work->b;
  ga__eval e = ga__eval_at(s->work, p, 1, 1);
  int code = 0;
  p->y = ga__outputs_between(&e, given->y);
  s->n_due = *changed = 0;
  for (int i = 0; !code && i < b->element.n; i++) {
    const ga__block_instance *block = sampled_at(b, i);
    const double t = due_at(s, block);
    if (isnan(t)) continue;
    if (p->y == given->y) return fail(&e, block->part, GA_REASON_SAMPLED_LOOP, NULL);
    code = sample_block(&e, block, t, s->work->x_sample, changed);
    s->n_due++;
  }
  return code;
}

int ga__machine_sample(void *user, const ga_point *given, double from, double to, double *x)
{
  sample s = {user, from, to, 0};
  const ga__mbs_model *b = s.work->b;
  ga_point p = *given;
  int changed = 1, code = 0, sweep = 0;
  memcpy(s.work->x_sample, given->x, (size_t)b->n_x * sizeof *x);
  p.x = s.work->x_sample;
  for (; !code && changed && sweep <= s.n_due + 1; sweep++) code = sample_all(&s, given, &p, &changed);
  for (int i = 0; !code && i < b->element.n; i++) {
    const ga__block_instance *block = sampled_at(b, i);
    if (isnan(due_at(&s, block))) continue;
    const ga__eval e = {s.work->m, b, &p, s.work->kin, s.work};
    if (changed) return fail(&e, block->part, GA_REASON_SAMPLED_LOOP, NULL);
    memcpy(x + block->x, s.work->x_next + block->x, (size_t)ga_block_n_x(block->block) * sizeof *x);
  }
  return code;
}
