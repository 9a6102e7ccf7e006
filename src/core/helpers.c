/* Helping threads: what each has of its own, and how they are set to work. Between two calls they wait for a
 * moment without sleep, since sweeps follow each other closely. */
#include "core/helpers.h"
#include "core/arrays.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOMENTS = 2000 }; /* looks at a number before sleep */

typedef struct helper {
  ga__site site;
  ga__deriv deriv;
  ga__assembly assembly; /* the plan's, but for K */
  ga_sparse K;
  double *block;
  ga__helpers *all;
  int who;
  pthread_t thread;
} helper;

struct ga__helpers {
  ga_context *ctx;
  int n, running; /* helpers, and threads that have begun */
  helper *helper;
  int can_lock, can_begin, can_end; /* 1: the next three exist */
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  atomic_uint round;  /* of work; changed under the lock */
  atomic_int working; /* threads that have not ended this round */
  int stop;           /* 1: threads end; changed with the round */
  void (*work)(void *user, int who);
  void *user;
};

/* ---- Threads ---- */

static void wait_for_round(ga__helpers *h, unsigned seen)
{
  for (int i = 0; i < MOMENTS; i++)
    if (atomic_load_explicit(&h->round, memory_order_acquire) != seen) return;
  pthread_mutex_lock(&h->lock);
  while (atomic_load(&h->round) == seen) pthread_cond_wait(&h->begin, &h->lock);
  pthread_mutex_unlock(&h->lock);
}

static void *help(void *user)
{
  helper *self = user;
  ga__helpers *h = self->all;
  for (unsigned seen = 0;; seen++) {
    wait_for_round(h, seen);
    if (h->stop) return NULL;
    h->work(h->user, self->who);
    if (atomic_fetch_sub(&h->working, 1) > 1) continue;
    pthread_mutex_lock(&h->lock);
    pthread_cond_signal(&h->end);
    pthread_mutex_unlock(&h->lock);
  }
}

static void begin_round(ga__helpers *h)
{
  pthread_mutex_lock(&h->lock);
  atomic_fetch_add(&h->round, 1);
  pthread_cond_broadcast(&h->begin);
  pthread_mutex_unlock(&h->lock);
}

void ga__helpers_run(ga__helpers *h, void (*work)(void *user, int who), void *user)
{
  h->work = work;
  h->user = user;
  atomic_store(&h->working, h->n);
  begin_round(h);
  work(user, 0);
  for (int i = 0; i < MOMENTS; i++)
    if (atomic_load_explicit(&h->working, memory_order_acquire) == 0) return;
  pthread_mutex_lock(&h->lock);
  while (atomic_load(&h->working) > 0) pthread_cond_wait(&h->end, &h->lock);
  pthread_mutex_unlock(&h->lock);
}

/* ---- What they have ---- */

/* Its own context, since errors are stored there; memory is that of the system's allocator. */
static ga_status open_helper(ga__helpers *h, const ga_system *sys, const ga__assembly *plan, int who)
{
  helper *p = &h->helper[who - 1];
  ga__site *b = &p->site;
  const size_t entries = (size_t)sys->n_entries;
  *p = (helper){.all = h, .who = who};
  ga_status status = ga_context_create(NULL, &b->ctx);
  if (status) return ga__no_memory(h->ctx, "a thread");
  status = ga__system_open(b->ctx, sys, &b->sys);
  if (!status) status = ga__deriv_create(b->sys, &p->deriv);
  const ga__array part[] = {{&b->D, entries},
                            {&b->Q, entries},
                            {&b->G, entries},
                            {&b->force, (size_t)sys->nv},
                            {&b->rate, (size_t)sys->size[GA_BLOCK_LAMBDA]},
                            {&p->K.value, (size_t)plan->K->nnz}};
  if (!status) status = ga__arrays_create(b->ctx, GA__ARRAYS(part), "a thread", &p->block, NULL);
  if (status) {
    h->ctx->error = b->ctx->error;
    return status;
  }
  double *value = p->K.value;
  p->K = *plan->K;
  p->K.value = value;
  p->assembly = *plan;
  p->assembly.ctx = b->ctx;
  p->assembly.sys = b->sys;
  p->assembly.K = &p->K;
  b->deriv = &p->deriv;
  b->assembly = &p->assembly;
  return GA_OK;
}

static void close_helper(helper *p)
{
  if (!p->site.ctx) return;
  ga__free(p->site.ctx, p->block);
  ga__deriv_destroy(&p->deriv);
  if (p->site.sys) ga__system_close(&p->site.sys);
  ga_context_destroy(&p->site.ctx);
}

static ga_status start_threads(ga__helpers *h)
{
  h->can_lock = pthread_mutex_init(&h->lock, NULL) == 0;
  h->can_begin = pthread_cond_init(&h->begin, NULL) == 0;
  h->can_end = pthread_cond_init(&h->end, NULL) == 0;
  if (!h->can_lock || !h->can_begin || !h->can_end) return ga__no_memory(h->ctx, "a thread");
  while (h->running < h->n &&
         pthread_create(&h->helper[h->running].thread, NULL, help, &h->helper[h->running]) == 0)
    h->running++;
  return h->running < h->n ? ga__no_memory(h->ctx, "a thread") : GA_OK;
}

ga_status ga__helpers_create(ga_context *ctx, const ga_system *sys, const ga__assembly *plan, int n,
                             ga__helpers **out)
{
  ga__helpers *h = *out = ga__alloc(ctx, 1, sizeof *h);
  if (!h) return ga__no_memory(ctx, "a thread");
  h->ctx = ctx;
  h->helper = ga__alloc(ctx, (size_t)n, sizeof *h->helper);
  ga_status status = h->helper ? GA_OK : ga__no_memory(ctx, "a thread");
  while (!status && h->n < n) {
    h->n++;
    status = open_helper(h, sys, plan, h->n);
  }
  if (!status) status = start_threads(h);
  if (status) ga__helpers_destroy(out);
  return status;
}

void ga__helpers_destroy(ga__helpers **helpers)
{
  ga__helpers *h = *helpers;
  *helpers = NULL;
  if (!h) return;
  h->stop = 1;
  if (h->running > 0) begin_round(h);
  for (int i = 0; i < h->running; i++) pthread_join(h->helper[i].thread, NULL);
  if (h->can_lock) pthread_mutex_destroy(&h->lock);
  if (h->can_begin) pthread_cond_destroy(&h->begin);
  if (h->can_end) pthread_cond_destroy(&h->end);
  for (int i = 0; i < h->n; i++) close_helper(&h->helper[i]);
  ga__free(h->ctx, h->helper);
  ga__free(h->ctx, h);
}

int ga__helpers_count(const ga__helpers *h)
{
  return h ? h->n : 0;
}

const ga__site *ga__helpers_site(const ga__helpers *h, int who)
{
  return &h->helper[who - 1].site;
}
