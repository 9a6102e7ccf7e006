/* Surfaces of colliders from files: STL in both forms, OBJ; and what is refused. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "model_text_rig.h"

/* A box of 2 mm by 4 mm by 6 mm, in millimetres, pressed into a plane with an edge. */
static const char MODEL[] = "galpha: 1\nbodies:\n"
                            "  m: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 3 mm],"
                            " rotation: {axis: [1, 0, 0], angle: 0.2}}\n"
                            "colliders: {c: {frame: m, %s}, f: {type: plane}}\n"
                            "collisions: {hit: {a: c, b: f, exponent: 1, stiffness: 1e4}}\n";

typedef struct surface_rig {
  desk_folder folder;
  ga_context *ctx;
  ga_model *model;
  char path[256], data[256];
} surface_rig;

static void open_rig(surface_rig *r, const char *keys, const char *name, const char *text, size_t length)
{
  char model[1024];
  memset(r, 0, sizeof *r);
  strcpy(r->folder.path, "/tmp/galpha-surface-XXXXXX");
  assert_non_null(mkdtemp(r->folder.path));
  snprintf(model, sizeof model, MODEL, keys);
  desk_write(&r->folder, "m.yaml", model);
  desk_path(&r->folder, "m.yaml", r->path);
  desk_path(&r->folder, name, r->data);
  FILE *file = fopen(r->data, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
}

static void close_rig(surface_rig *r)
{
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
  unlink(r->path);
  unlink(r->data);
  assert_int_equal(rmdir(r->folder.path), 0);
}

static const char *messages_of(surface_rig *r, ga_status *status)
{
  static char text[4096];
  const ga_model_opts opts = ga_model_defaults();
  text[0] = '\0';
  *status = ga_model_read_file(r->ctx, r->path, &opts, &r->model);
  for (int i = 0; r->model && i < ga_model_n_messages(r->model); i++) {
    const ga_model_message *m = ga_model_message_at(r->model, i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%d: %s\n", m->file, m->line, m->text);
  }
  return text;
}

/* Gap and normal force at the start. */
static void measure(const char *keys, const char *name, const char *text, size_t length, double out[2])
{
  static const char *const SIGNAL[2] = {"hit.gap", "hit.normal"};
  surface_rig r;
  ga_status status;
  open_rig(&r, keys, name, text, length);
  const char *said = messages_of(&r, &status);
  if (status) fail_msg("%s", said);
  const ga_machine *m = ga_model_machine(r.model);
  double q[12], v[6], x[1];
  ga_stepper *st = NULL;
  ga_start_opts start = ga_start_defaults();
  int index[2];
  start.h = 1e-3;
  assert_int_equal(ga_machine_initial(m, q, v, x), GA_OK);
  assert_int_equal(ga_stepper_create(r.ctx, ga_machine_system(m), NULL, &st), GA_OK);
  assert_int_equal(ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < 2; i++) index[i] = ga_machine_find_signal(m, SIGNAL[i]);
  assert_int_equal(ga_machine_signals(m, NULL, ga_stepper_state(st), 2, index, out), GA_OK);
  ga_stepper_destroy(&st);
  close_rig(&r);
}

static const int TRIANGLE[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

static float corner(int k, int i)
{
  return (k >> i & 1 ? 1.f : -1.f) * (float)(i + 1);
}

static size_t stl_text(char *to, size_t size)
{
  size_t n = (size_t)snprintf(to, size, "solid box\n");
  for (int t = 0; t < 12; t++) {
    n += (size_t)snprintf(to + n, size - n, " facet normal 0 0 0\r\n  outer loop\n");
    for (int k = 0; k < 3; k++)
      n += (size_t)snprintf(to + n, size - n, "   vertex %.6e %g\t%g\n", corner(TRIANGLE[t][k], 0),
                            corner(TRIANGLE[t][k], 1), corner(TRIANGLE[t][k], 2));
    n += (size_t)snprintf(to + n, size - n, "  endloop\n endfacet\n");
  }
  return n + (size_t)snprintf(to + n, size - n, "endsolid box\n");
}

static size_t stl_binary(char *to)
{
  memset(to, 0, 84 + 50 * 12);
  memcpy(to, "solid, as some programs write", 29);
  to[80] = 12;
  for (int t = 0; t < 12; t++)
    for (int k = 0; k < 9; k++) { /* this machine is little-endian, as the format */
      const float x = corner(TRIANGLE[t][k / 3], k % 3);
      memcpy(to + 84 + 50 * t + 12 + 4 * k, &x, 4);
    }
  return 84 + 50 * 12;
}

static const char OBJ[] = "# box\no box\nv -1 -2 -3\nv 1 -2 -3\nv -1 2 -3\nv 1 2 -3\nv -1 -2 3\nv 1 -2 3\n"
                          "v -1 2 3\nv 1 2 3\nvn 0 0 1\nf 1 3 4 2\nf 5/1/1 6/1/1 8//1 7\ng x\nf -8 -7 -3 -4\n"
                          "f 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6";

static void files_are_read(void **state)
{
  static char text[8192];
  double box[2], found[2];
  (void)state;
  measure("type: box, size: [2 mm, 4 mm, 6 mm]", "none", "", 0, box);
  assert_true(box[0] < 0 && box[1] > 1);
  for (int k = 0; k < 3; k++) {
    size_t n = k == 0 ? stl_text(text, sizeof text) : stl_binary(text);
    if (k == 2) n = strlen(OBJ), memcpy(text, OBJ, n);
    measure(k == 2 ? "type: mesh, file: a.OBJ, scale: 1e-3" : "type: mesh, file: a.stl, scale: 1e-3",
            k == 2 ? "a.OBJ" : "a.stl", text, n, found);
    for (int i = 0; i < 2; i++)
      if (!(fabs(found[i] - box[i]) <= 1e-14 * (1 + 1e3 * fabs(box[i]))))
        fail_msg("file %d: %.17g instead of %.17g", k, found[i], box[i]);
  }
}

static void refuse(const char *keys, const char *name, const char *text, size_t length, const char *says)
{
  surface_rig r;
  ga_status status;
  open_rig(&r, keys, name, text, length);
  const char *said = messages_of(&r, &status);
  assert_int_not_equal(status, GA_OK);
  if (!strstr(said, says)) fail_msg("'%s' is not in\n%s", says, said);
  close_rig(&r);
}

static void bad_files_are_refused(void **state)
{
  static char text[8192];
  static const char STL[] = "type: mesh, file: a.stl", MESH[] = "type: mesh, file: a.obj";
  (void)state;
  refuse(STL, "a.stl", "", 0, "expected an STL file");
  refuse(STL, "a.stl", "hello", 5, "a.stl:1: expected an STL file");
  refuse(STL, "a.stl", "solid x\nvertex 1 2\n", 19, "a.stl:2: expected three numbers");
  refuse(STL, "a.stl", "solid x\nvertex 1 2 3\n", 21, "three lines 'vertex'");
  refuse(STL, "a.stl", "solid x\nvertex 1 2 nan\n", 23, "three numbers");
  refuse(STL, "a.stl", "solid x\nendsolid", 16, "the mesh has 0 triangles");
  refuse(STL, "a.stl", text, stl_binary(text) - 7, "as many triangles as the file says");
  stl_binary(text);
  memset(text + 84 + 12, 0xff, 4);
  refuse(STL, "a.stl", text, 84 + 50 * 12, "finite coordinates");
  stl_binary(text);
  text[80] = 11;
  refuse(STL, "a.stl", text, 84 + 50 * 11, "not closed: the edge between points");
  refuse(MESH, "a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", 22, "a.obj:3: expected three corners");
  refuse(MESH, "a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n", 24, "the number of a point of the file");
  refuse(MESH, "a.obj", "v 0 0 0\nv 1 0 0\nf 1 0 1\n", 24, "the number of a point of the file");
  refuse(MESH, "a.obj", "v 0 0 0\nv 1 0 0\nf 1 1.5 1\n", 26, "the number of a point");
  refuse(MESH, "a.obj", "a\0b", 3, "expected a text");
  refuse("type: mesh, file: a.ply", "a.ply", "ply", 3, "ends with .stl or .obj");
  refuse("type: box, size: [1, 1, 1], file: a.obj", "a.obj", OBJ, strlen(OBJ), "type mesh, and no points");
  refuse("type: mesh, file: b.obj", "a.obj", OBJ, strlen(OBJ), "b.obj: cannot be read");
  refuse("type: mesh, scale: 0, file: a.obj", "a.obj", OBJ, strlen(OBJ), "scale is 0");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_read),
      cmocka_unit_test(bad_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
