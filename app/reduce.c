/* galpha reduce: the matrices of a beam as a file that modal bodies are read from. */
#include "task.h"

#include "galpha/result.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 64, LONGEST = 64 };

/* Interface nodes: names, and where they are along the axis [m]. */
typedef struct places {
  int n;
  char text[MOST_PLACES][LONGEST];
  const char *name[MOST_PLACES];
  double at[MOST_PLACES];
} places;

/* One NAME=X, which ends before `length` letters. */
static int read_place(const app_arguments *a, app_task *s, const char *text, size_t length, places *p)
{
  char value[LONGEST];
  const char *equals = memchr(text, '=', length);
  const size_t name = equals ? (size_t)(equals - text) : 0;
  if (!equals || name == 0 || name >= LONGEST || length - name >= LONGEST)
    return app_misused(a, "--interface: \"%.*s\" is not NAME=X, as root=0 or tip=0.5m", (int)length, text);
  if (p->n == MOST_PLACES) return app_misused(a, "--interface: there are more than %d", MOST_PLACES);
  memcpy(p->text[p->n], text, name);
  p->text[p->n][name] = '\0';
  memcpy(value, equals + 1, length - name - 1);
  value[length - name - 1] = '\0';
  if (ga_quantity_parse(s->ctx, value, "m", &p->at[p->n], NULL, NULL))
    return app_misused(a, "--interface: %s: %s", p->text[p->n], ga_context_error(s->ctx)->text);
  p->name[p->n] = p->text[p->n];
  p->n++;
  return APP_DONE;
}

/* Those of the option, or both ends. */
static int read_places(const app_arguments *a, app_task *s, double length, places *p)
{
  const char *const *value;
  int code = APP_DONE;
  p->n = 0;
  for (int i = 0; !code && (value = app_values(a, "interface", i)) != NULL; i++)
    for (const char *from = value[0]; !code;) {
      const size_t size = strcspn(from, ",");
      code = read_place(a, s, from, size, p);
      if (!from[size]) break;
      from += size + 1;
    }
  if (code || p->n > 0) return code;
  p->name[0] = "root", p->name[1] = "end";
  p->at[0] = 0, p->at[1] = length;
  p->n = 2;
  return APP_DONE;
}

/* What a model needs to use the file in place of the beam. */
static void print_use(const char *part, const char *file, const ga_pose *start)
{
  const double *x = start->position, *R = start->rotation;
  const char *slash = strrchr(file, '/');
  printf("use          %s: {type: modal, file: %s, modes: 10, position: [%.12g, %.12g, %.12g], rotation: "
         "{z_axis: [%.12g, %.12g, %.12g], x_axis: [%.12g, %.12g, %.12g]}}\n",
         part, slash ? slash + 1 : file, x[0], x[1], x[2], R[2], R[5], R[8], R[0], R[3], R[6]);
}

static int write_mesh(const app_arguments *a, app_task *s, const char *part, const char *file)
{
  ga_beam_def beam;
  ga_pose start;
  ga_beam_mesh *mesh = NULL;
  ga_modal_body *body = NULL;
  double length = 0, mass = 0;
  places p;
  if (ga_machine_beam(s->machine, part, &beam, &start, &length))
    return app_misused(a, "--part: %s", ga_context_error(s->ctx)->text);
  int code = read_places(a, s, length, &p);
  if (code) return code;
  const int stiffening = !app_has(a, "no-stiffening");
  ga_status status = ga_beam_mesh_create(s->ctx, &beam, p.n, p.at, p.name, stiffening, &mesh);
  ga_reduction_opts o = ga_reduction_defaults();
  o.modes = 0;
  if (!status) status = ga_modal_body_create(s->ctx, ga_beam_mesh_get(mesh), &o, &body); /* can it be used? */
  if (status) {
    app_task_explain(s, a, "the beam cannot be reduced", status);
    code = status == GA_ERR_ARGUMENT ? APP_USAGE : APP_FAILED;
  } else if (ga_mesh_write(s->ctx, ga_beam_mesh_get(mesh), file)) {
    fprintf(stderr, "galpha reduce: %s\n", ga_context_error(s->ctx)->text);
    code = APP_FAILED;
  } else {
    const ga_mesh *m = ga_beam_mesh_get(mesh);
    ga_modal_body_inertia(body, &mass, NULL, NULL);
    printf("%s: %d nodes with %d degrees of freedom, %.6g kg, %s\n", file, m->n_nodes, m->dofs, mass,
           stiffening ? "with geometric stiffening" : "without geometric stiffening");
    for (int i = 0; i < p.n; i++)
      printf("interface    %s at %.9g m, node %d\n", p.name[i], p.at[i], m->interface_node[i] + 1);
    print_use(part, file, &start);
  }
  ga_modal_body_destroy(&body);
  ga_beam_mesh_destroy(&mesh);
  return code;
}

int app_reduce(const app_arguments *a)
{
  app_task s;
  const char *part = app_text(a, "part"), *given = app_text(a, "out");
  if (!part) return app_misused(a, "--part NAME is missing: the beam to be reduced");
  int code = app_task_open(&s, a);
  char *beside = given ? NULL : app_beside(a->operands[0], "_body.h5");
  const char *file = given ? given : beside;
  if (!code && !file) fputs("galpha: out of memory\n", stderr), code = APP_FAILED;
  if (!code) {
    const int error = app_output_check(file);
    if (error)
      code = app_output_refused(a, file, error);
    else if (ga_model_reads(s.model, file))
      code = app_output_is_source(a, file);
    else
      code = write_mesh(a, &s, part, file);
  }
  free(beside);
  app_task_close(&s);
  return code;
}
