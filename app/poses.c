/* Where all bodies are at each record, so that results can be drawn. Most places are signals that are
 * recorded anyway; rows are added for the others: sections of beams, points of cables, bodies that `record`
 * leaves out.
 */
#include "poses.h"

#include "app.h"
#include "galpha/result.h"

#include <stdlib.h>
#include <string.h>

static int is_recorded(const char *wanted /* [n_signals] 1: recorded */, const ga_machine *m,
                       const char *name)
{
  const int signal = ga_machine_find_signal(m, name);
  return signal >= 0 && wanted[signal];
}

/* Total length of the names of all places, with their ends. */
static size_t length_of_names(const ga_machine *m, int n, size_t *longest)
{
  size_t all = 0;
  *longest = 0;
  for (int i = 0; i < n; i++) {
    const size_t one = (size_t)ga_machine_place_name(m, i, NULL, 0) + sizeof GA_RESULT_POSE;
    *longest = one > *longest ? one : *longest;
    all += one;
  }
  return all;
}

int app_poses_choose(app_poses *p, const ga_machine *m, int n, const int *index)
{
  const int places = ga_machine_n_places(m);
  size_t longest;
  char *wanted = calloc((size_t)ga_machine_n_signals(m) + 1, 1), *at;
  p->place = calloc((size_t)places + 1, sizeof *p->place);
  p->name = calloc((size_t)places + 1, sizeof *p->name);
  p->all = calloc((size_t)places + 1, sizeof *p->all);
  at = p->letters = malloc(length_of_names(m, places, &longest) + longest + 1);
  const int failed = !wanted || !p->place || !p->name || !p->all || !p->letters;
  for (int i = 0; i < n && !failed; i++) wanted[index[i]] = 1;
  for (int i = 0; i < places && !failed; i++) {
    const int length = ga_machine_place_name(m, i, at, longest);
    if (is_recorded(wanted, m, at)) continue;
    p->place[p->n] = i;
    p->name[p->n++] = at;
    strcpy(at + length, GA_RESULT_POSE);
    at += (size_t)length + sizeof GA_RESULT_POSE;
  }
  free(wanted);
  return failed ? (fputs("galpha: out of memory\n", stderr), APP_FAILED) : APP_DONE;
}

void app_poses_free(app_poses *p)
{
  free(p->place);
  free(p->name);
  free(p->all);
  free(p->letters);
  *p = (app_poses){0};
}

const char *app_poses_unit(const char *name)
{
  const char *dot = strrchr(name, '.');
  if (dot && dot[1] == 'q') return "";
  return dot && strncmp(dot, ".angle", 6) == 0 ? "rad" : "m";
}

ga_status app_poses_values(app_poses *p, const ga_machine *m, const ga_state *s, double *out)
{
  const ga_status status = p->n > 0 ? ga_machine_places(m, s, p->all) : GA_OK;
  for (int i = 0; i < p->n && !status; i++) out[i] = p->all[p->place[i]];
  return status;
}
