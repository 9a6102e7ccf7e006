/* The figures of the papers: slopes and facts of the table that `galpha papers` draws. */
#include "papers.h"

#include "papers_table.h"

#include <stdio.h>

static void check_slopes(const vf_sink *s, const pp_result *r)
{
  const pp_figure *f = r->figure;
  for (int i = 0; f->kind == PP_ORDERS && i < r->n_series; i++)
    for (int q = 0; q < r->n_quantities; q++) {
      const double expected = f->series[i].slope[q], seen = r->curve[i][q].slope;
      char text[PP_TEXT];
      if (expected == 0) continue;
      snprintf(text, sizeof text, "%s, %s: slope %.2f, expected %g", f->series[i].label,
               f->quantities[q].label, seen, expected);
      const int good = s->check(s->user, pp_slope_good(f, i, q, seen), f->name, f->title, text);
      printf("  %-20s %-28s %-4s %9.3e  %5.2f  %s\n", f->name, f->series[i].label, f->quantities[q].label,
             r->curve[i][q].y[r->curve[i][q].n - 1], seen, good ? "ok" : "FAIL");
    }
}

static void check_facts(const vf_sink *s, const pp_result *r)
{
  const pp_figure *f = r->figure;
  for (int i = 0; i < PP_FACTS && f->facts[i].text; i++) {
    const pp_fact *fact = &f->facts[i];
    char text[PP_TEXT];
    snprintf(text, sizeof text, "%s: %.4g, expected %g to %g", fact->text, r->fact[i], fact->low, fact->high);
    const int good = s->check(s->user, pp_fact_good(fact, r->fact[i]), f->name, f->title, text);
    printf("  %-20s %s  %s\n", f->name, text, good ? "ok" : "FAIL");
  }
}

void vf_papers_figures(const vf_sink *s)
{
  pp_library *library = pp_library_create(VF_MODELS);
  const pp_figure *f;
  printf("\nFigures of the papers: slopes at the finest steps, facts\n");
  for (int i = 0; library && (f = pp_figure_at(i)) != NULL; i++) {
    pp_result r;
    if (!s->wanted(s->user, f->name) || (s->brief && !f->brief)) continue;
    pp_figure_run(f, library, NULL, NULL, &r);
    if (s->check(s->user, r.failure[0] == '\0', f->name, f->title, r.failure)) {
      check_slopes(s, &r);
      check_facts(s, &r);
    }
    pp_result_free(&r);
  }
  s->check(s->user, library != NULL, "figures", "papers", "out of memory");
  pp_library_destroy(&library);
}
