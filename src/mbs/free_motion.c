/* Which coordinates of joints a motion that is not prescribed wholly leaves open. */
#include "mbs/mbs_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMED = 16 };
#define PART 0.1 /* of the largest rate */
/* Least rate of a coordinate that takes part in a motion whose velocities are at most 1. */
#define MOVES 1e-8

/* The rate of a coordinate that can be driven, of a joint or a scalar body; −1: it is none. */
static int rate_of(const ga_machine *m, int i)
{
  static const char *const endings[] = {"_rate", ".rate"};
  char name[GA_ERROR_NAME];
  if (ga_machine_signal_kind(m, i) != GA_SIGNAL_COORDINATE) return -1;
  for (int k = 0; k < 2; k++) {
    snprintf(name, sizeof name, "%s%s", ga_machine_signal_name(m, i), endings[k]);
    const int rate = ga_machine_find_signal(m, name);
    if (rate >= 0) return rate;
  }
  return -1;
}

/* Row n without its parts along those before; the first column with a number that is not much less than the
 * largest, −1: nothing is left. */
static int eliminate(double *row, int n, int n_c, const int *pivot)
{
  double *last = row + (size_t)n * (size_t)n_c;
  int at = -1;
  for (int i = 0; i < n; i++) {
    const double *before = row + (size_t)i * (size_t)n_c;
    const double part = pivot[i] >= 0 ? last[pivot[i]] / before[pivot[i]] : 0.0;
    for (int c = 0; c < n_c; c++) last[c] -= part * before[c];
    if (pivot[i] >= 0) last[pivot[i]] = 0.0;
  }
  double largest = MOVES;
  for (int c = 0; c < n_c; c++) largest = fmax(largest, fabs(last[c]));
  for (int c = n_c - 1; c >= 0; c--)
    if (fabs(last[c]) >= (largest > MOVES ? PART : 2.0) * largest) at = c;
  return at;
}

int ga_machine_free_coordinates(const ga_machine *m, ga_kinematics *k, char *text, size_t size)
{
  if (size && text) text[0] = '\0';
  const ga_state *state = ga_kinematics_free_state(k);
  if (!m || !state) return 0;
  const int all = ga_machine_n_signals(m), nv = ga_system_size(ga_machine_system(m), GA_BLOCK_V);
  const int n = ga_kinematics_n_free(k) < MOST_NAMED ? ga_kinematics_n_free(k) : MOST_NAMED;
  ga_context *ctx = ga_machine_context(m);
  int *list = ga__alloc(ctx, 2 * (size_t)all, sizeof *list), pivot[MOST_NAMED], n_c = 0;
  for (int i = 0; list && i < all; i++)
    if ((list[all + n_c] = rate_of(m, i)) >= 0) list[n_c++] = i;
  double *v = list ? ga__alloc(ctx, (size_t)nv + (size_t)n * (size_t)n_c, sizeof *v) : NULL, *row = v + nv;
  ga__writer w = {text, text ? size : 0, 0};
  ga_state moving = *state;
  moving.v = v;
  for (int j = 0; v && j < n; j++) {
    if (ga_kinematics_free_motion(k, j, v)) break;
    if (ga_machine_signals(m, NULL, &moving, n_c, list + all, row + (size_t)j * (size_t)n_c)) break;
    pivot[j] = eliminate(row, j, n_c, pivot);
    if (pivot[j] >= 0) ga__write(&w, "%s%s", w.used ? ", " : "", ga_machine_signal_name(m, list[pivot[j]]));
  }
  ga__free(ctx, v);
  ga__free(ctx, list);
  return (int)w.used;
}
