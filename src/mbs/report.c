/* Mobility and redundant constraints, in terms of parts. */
#include "mbs/mbs_impl.h"

static const ga__label *label_of(const ga__built *b, const ga_constraint *c)
{
  return GA__AT(*(c->block == GA_BLOCK_PSI ? &b->psi_label : &b->lambda_label), ga__label, c->index);
}

/* Parts in the order of their first mention, each once; up to MOST of them are named. */
enum { MOST = 8 };
typedef struct part_list {
  int part[MOST], n, more;
} part_list;

static void mention(part_list *l, int part)
{
  for (int i = 0; i < l->n; i++)
    if (l->part[i] == part) return;
  if (l->n < MOST)
    l->part[l->n++] = part;
  else
    l->more++;
}

static void say_parts(ga__writer *w, const ga_machine *m, const part_list *l)
{
  for (int i = 0; i < l->n; i++) {
    int last = i == l->n - 1 && !l->more;
    ga__write(w, "%s%s", i == 0 ? "" : last ? " and " : ", ", m->part[l->part[i]].name);
  }
  if (l->more) ga__write(w, " and others");
}

/* "hinge3: rotation about y is already fixed by hinge1 and hinge2" */
static void say_relation(ga__writer *w, const ga_machine *m, const ga_relation *r)
{
  const ga__built *b = m->built;
  const ga__label *blamed = label_of(b, &r->row[0]);
  part_list others = {{0}, 0, 0};
  for (int i = 1; i < r->n; i++)
    if (label_of(b, &r->row[i])->part != blamed->part) mention(&others, label_of(b, &r->row[i])->part);
  ga__write(w, "%s: %s ", m->part[blamed->part].name, blamed->text);
  if (r->n == 1)
    ga__write(w, "holds nothing: no motion that there is would change it");
  else if (!others.n)
    ga__write(w, "is already fixed by the rest of %s itself", m->part[blamed->part].name);
  else
    ga__write(w, "is already fixed by ");
  say_parts(w, m, &others);
  ga__write(w, "\n");
}

static void say_shared(ga__writer *w, const ga_machine *m, const ga_redundancy *r)
{
  const ga__built *b = m->built;
  part_list shared = {{0}, 0, 0};
  for (int i = 0; r->lambda_shared && i < b->n_lambda; i++)
    if (r->lambda_shared[i]) mention(&shared, GA__AT(b->lambda_label, ga__label, i)->part);
  for (int i = 0; r->psi_shared && i < b->n_psi; i++)
    if (r->psi_shared[i]) mention(&shared, GA__AT(b->psi_label, ga__label, i)->part);
  if (!shared.n) return;
  ga__write(w, "reactions that are not unique, those of least norm are given: ");
  say_parts(w, m, &shared);
  ga__write(w, "\n");
}

int ga_machine_report(const ga_machine *m, ga_stepper *st, char *text, size_t size)
{
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  const ga_redundancy *r = m && m->built && st ? ga_stepper_redundancy(st) : NULL;
  if (!r || ga_stepper_system(st) != m->built->system) return 0;
  ga__write(&w, "mobility %d: %d velocities, %d constraints", r->mobility, m->built->nv, r->constraints);
  if (r->redundant) ga__write(&w, ", %d of them redundant", r->redundant);
  ga__write(&w, "\n");
  for (int i = 0; i < r->redundant; i++) say_relation(&w, m, &r->relation[i]);
  if (r->redundant) say_shared(&w, m, r);
  return (int)w.used;
}
