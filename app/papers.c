/* galpha papers: the figures of the papers as pictures, data and one page. */
#define _POSIX_C_SOURCE 200809L
#include "papers.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Set by the build. */
#ifndef GALPHA_MODELS_SOURCE
#define GALPHA_MODELS_SOURCE "examples/models"
#endif
#ifndef GALPHA_MODELS_INSTALLED
#define GALPHA_MODELS_INSTALLED "/usr/local/share/galpha/models"
#endif

enum { MOST_FIGURES = 128 };

typedef struct gallery {
  const app_arguments *a;
  const char *folder, *models;
  int brief, draws;
  int n;
  const pp_figure *figures[MOST_FIGURES];
  pp_result *results; /* [n] */
  app_shown shown[MOST_FIGURES];
  char *pictures[MOST_FIGURES];
  pp_library *library;
} gallery;

/* ---- What is wanted ---- */

static const char *name_at(const void *user, int i)
{
  (void)user;
  const pp_figure *f = pp_figure_at(i);
  return f ? f->name : NULL;
}

static int count_figures(void)
{
  int n = 0;
  while (pp_figure_at(n)) n++;
  return n;
}

static void list_figures(void)
{
  const pp_paper *p;
  char title[256];
  for (int i = 0; (p = pp_paper_at(i)) != NULL; i++) {
    printf("%s  %s\n", p->name, p->title);
    for (int k = 0; k < p->n; k++) {
      pp_plain(title, sizeof title, p->figures[k].title);
      printf("  %-20s %s\n", p->figures[k].name, title);
    }
  }
}

/* Figures by name or pattern, in the order of the table. */
static int choose(gallery *g)
{
  const int n = count_figures();
  for (int k = 0; k < g->a->n_operands; k++) {
    int found = 0;
    for (int i = 0; i < n; i++) found |= app_matches(g->a->operands[k], name_at(NULL, i));
    if (found) continue;
    const char *nearest = app_nearest(g->a->operands[k], n, name_at, NULL);
    return app_misused(g->a, "there is no figure \"%s\"%s%s; --list shows all", g->a->operands[k],
                       nearest ? "; the nearest name is " : "", nearest ? nearest : "");
  }
  for (int i = 0; i < n && g->n < MOST_FIGURES; i++) {
    int wanted = g->a->n_operands == 0;
    for (int k = 0; k < g->a->n_operands; k++) wanted |= app_matches(g->a->operands[k], name_at(NULL, i));
    if (wanted && (!g->brief || pp_figure_at(i)->brief)) g->figures[g->n++] = pp_figure_at(i);
  }
  return APP_DONE;
}

static int exists(const char *folder)
{
  struct stat s;
  return stat(folder, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Models are where the program was built, or where it was installed. */
static int find_models(gallery *g)
{
  static const char *const places[] = {GALPHA_MODELS_SOURCE, GALPHA_MODELS_INSTALLED};
  g->models = app_text(g->a, "models");
  if (g->models)
    return exists(g->models) ? APP_DONE : app_misused(g->a, "--models: there is no folder \"%s\"", g->models);
  for (size_t i = 0; i < sizeof places / sizeof *places && !g->models; i++)
    if (exists(places[i])) g->models = places[i];
  return g->models
             ? APP_DONE
             : app_misused(
                   g->a,
                   "the models of the papers are neither in %s nor in %s; give their folder with --models",
                   places[0], places[1]);
}

static int make_folder(const gallery *g)
{
  if (exists(g->folder) || mkdir(g->folder, 0777) == 0) return APP_DONE;
  return app_output_refused(g->a, g->folder, errno);
}

/* ---- Running ---- */

static char *path_of(const gallery *g, const char *name, const char *ending)
{
  const size_t size = strlen(g->folder) + strlen(name) + strlen(ending) + 2;
  char *path = malloc(size);
  if (path) snprintf(path, size, "%s/%s%s", g->folder, name, ending);
  return path;
}

static double cpu_seconds(void)
{
  return (double)clock() / CLOCKS_PER_SEC;
}

static void report(const gallery *g, int i)
{
  const pp_result *r = &g->results[i];
  printf("%3d/%d  %-20s %8ld steps %6.2f s  ", i + 1, g->n, r->figure->name, r->steps, g->shown[i].seconds);
  if (r->failure[0])
    printf("FAILED: %s\n", r->failure);
  else if (r->n_failed)
    printf("%d of %d numbers are not as expected\n", r->n_failed, r->n_checks);
  else if (r->n_checks)
    printf("%d of %d as expected\n", r->n_checks, r->n_checks);
  else
    puts("nothing to compare");
  fflush(stdout);
}

/* One figure: its runs, data and picture. */
static int make_figure(gallery *g, int i)
{
  pp_result *r = &g->results[i];
  const pp_figure *f = g->figures[i];
  const double began = cpu_seconds();
  pp_figure_run(f, g->library, NULL, NULL, r);
  g->shown[i] = (app_shown){.result = r, .seconds = cpu_seconds() - began};
  report(g, i);
  if (r->failure[0] || !g->draws) return APP_DONE;
  char *data = path_of(g, f->name, ".csv");
  g->pictures[i] = path_of(g, f->name, ".svg");
  int code = data && g->pictures[i] ? app_paper_data(g->a, r, data) : APP_FAILED;
  if (!code) code = app_paper_draw(g->a, r, g->pictures[i]);
  if (!code) g->shown[i].picture = g->pictures[i];
  free(data);
  return code;
}

static int make_all(gallery *g)
{
  int code = APP_DONE, checks = 0, failed = 0;
  if (!(g->library = pp_library_create(g->models)) ||
      !(g->results = calloc((size_t)g->n + 1, sizeof *g->results)))
    return fputs("galpha papers: out of memory\n", stderr), APP_FAILED;
  for (int i = 0; i < g->n && !code; i++) {
    code = make_figure(g, i);
    checks += g->results[i].n_checks;
    failed += g->results[i].n_failed;
  }
  if (code) return code;
  if (g->draws) {
    char *page = path_of(g, "index", ".html");
    code = page ? app_gallery_write(g->a, g->n, g->shown, page) : APP_FAILED;
    if (!code) printf("gallery: %s\n", page);
    free(page);
  }
  printf("%d slopes and numbers checked, %d not as expected\n", checks, failed);
  return code ? code : failed ? APP_FAILED : APP_DONE;
}

int app_papers(const app_arguments *a)
{
  gallery g = {
      .a = a, .folder = app_text(a, "out"), .brief = app_has(a, "short"), .draws = !app_has(a, "check")};
  if (app_has(a, "list")) return list_figures(), APP_DONE;
  if (!g.folder) g.folder = "papers_figures";
  int code = choose(&g);
  if (!code) code = find_models(&g);
  if (!code && g.draws) code = make_folder(&g);
  if (!code) code = make_all(&g);
  for (int i = 0; i < g.n; i++) {
    if (g.results) pp_result_free(&g.results[i]);
    free(g.pictures[i]);
  }
  free(g.results);
  pp_library_destroy(&g.library);
  return code;
}
