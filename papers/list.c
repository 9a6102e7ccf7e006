#include "tables.h"

#include <string.h>

static const pp_paper *const papers[] = {&pp_ab07, &pp_jn_nh, &pp_acb15, &pp_ba08, &pp_jn08, &pp_beyond};

const pp_paper *pp_paper_at(int i)
{
  return i >= 0 && i < PP_COUNT(papers) ? papers[i] : NULL;
}

const pp_figure *pp_figure_at(int i)
{
  for (int k = 0; i >= 0 && k < PP_COUNT(papers); i -= papers[k++]->n)
    if (i < papers[k]->n) return &papers[k]->figures[i];
  return NULL;
}

const pp_figure *pp_figure_find(const char *name)
{
  const pp_figure *f;
  for (int i = 0; (f = pp_figure_at(i)) != NULL; i++)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}
