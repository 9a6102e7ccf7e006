/* Shapes of model files: solids, poses, colours, meshes of STL, OBJ and glTF; what is refused; sections of
 * beams. */
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

static const char BODY[] =
    "galpha: 1\nbodies:\n  b: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3],"
    " rotation: {axis: [0, 0, 1], angle: 90 deg}}\nshapes: {%s}\n";

typedef struct shape_rig {
  desk_folder folder;
  ga_context *ctx;
  ga_model *model;
  char path[256], data[256], said[4096];
  ga_status status;
} shape_rig;

static void open_rig(shape_rig *r, const char *shapes, const char *name, const void *bytes, size_t length)
{
  char model[2048];
  const ga_model_opts opts = ga_model_defaults();
  memset(r, 0, sizeof *r);
  strcpy(r->folder.path, "/tmp/galpha-shape-XXXXXX");
  assert_non_null(mkdtemp(r->folder.path));
  snprintf(model, sizeof model, BODY, shapes);
  desk_write(&r->folder, "m.yaml", model);
  desk_path(&r->folder, "m.yaml", r->path);
  desk_path(&r->folder, name, r->data);
  FILE *file = fopen(r->data, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
  r->status = ga_model_read_file(r->ctx, r->path, &opts, &r->model);
  for (int i = 0; r->model && i < ga_model_n_messages(r->model); i++) {
    const ga_model_message *m = ga_model_message_at(r->model, i);
    const size_t at = strlen(r->said);
    snprintf(r->said + at, sizeof r->said - at, "%s:%d: %s\n", m->file, m->line, m->text);
  }
}

static void close_rig(shape_rig *r)
{
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
  unlink(r->path);
  unlink(r->data);
  assert_int_equal(rmdir(r->folder.path), 0);
}

/* The only shape of the model that is given, at the initial state. */
static void take_shape(shape_rig *r, ga_shape *out)
{
  double q[64], v[64], x[8];
  if (r->status) fail_msg("%s", r->said);
  const ga_machine *m = ga_model_machine(r->model);
  assert_int_equal(ga_machine_initial(m, q, v, x), GA_OK);
  const ga_state s = {.q = q};
  for (int i = 0; i < ga_machine_n_shapes(m); i++) {
    assert_int_equal(ga_machine_shape(m, &s, i, out), GA_OK);
    if (out->given) return;
  }
  fail_msg("no shape is given");
}

static void solids_have_sizes_poses_and_colours(void **state)
{
  static const struct {
    const char *text;
    ga_shape_kind kind;
    double size, dimension[3];
    int colour;
  } list[] = {
      {"type: box, size: [1 cm, 2 cm, 3 cm], colour: \"#0a0B0c\"",
       GA_SHAPE_BOX,
       0,
       {0.01, 0.02, 0.03},
       0x0a0b0c},
      {"type: cylinder, radius: 5 mm, length: 2", GA_SHAPE_CYLINDER, 0.005, {2, 0, 0}, -1},
      {"type: sphere, radius: 3", GA_SHAPE_SPHERE, 3, {0, 0, 0}, -1},
      {"type: capsule, radius: 1, length: 4", GA_SHAPE_CAPSULE, 1, {4, 0, 0}, -1},
      {"type: tube, radius: 2, inner: 1, length: 4", GA_SHAPE_TUBE, 2, {4, 1, 0}, -1},
      {"type: cone, radius: 2, length: 4", GA_SHAPE_CONE, 2, {4, 0, 0}, -1},
      {"type: wheel, radius: 2, length: 0.4, colour: rubber", GA_SHAPE_DISK, 2, {0.4, 0, 0}, 0x2c2f35}};
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    char text[256];
    shape_rig r;
    ga_shape s;
    snprintf(text, sizeof text, "s: {frame: b, position: [1, 0, 0], opacity: 0.5, %s}", list[i].text);
    open_rig(&r, text, "none", "", 0);
    take_shape(&r, &s);
    assert_int_equal(s.kind, list[i].kind);
    assert_true(s.size == list[i].size && s.opacity == 0.5);
    for (int k = 0; k < 3; k++) assert_true(s.dimension[k] == list[i].dimension[k]);
    assert_int_equal(s.colour, list[i].colour);
    assert_string_equal(s.part, "s");
    /* x of the body is y of the ground */
    assert_true(fabs(s.end[0].position[0] - 1) < 1e-15 && fabs(s.end[0].position[1] - 3) < 1e-15);
    assert_true(fabs(s.end[0].position[2] - 3) < 1e-15 && fabs(s.end[0].rotation[3] - 1) < 1e-15);
    close_rig(&r);
  }
}

/* ---- glTF ---- */

static const float CORNERS[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const unsigned short INDICES[6] = {0, 1, 2, 0, 2, 3};

static const char JSON[] =
    "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [0]}],\n"
    " \"nodes\": [{\"children\": [1], \"translation\": [10, 0, 0]},\n"
    "  {\"mesh\": 0, \"rotation\": [0, 0, 0.7071067811865476, 0.7071067811865476], \"scale\": [2, 1, 1]}],\n"
    " \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}]}],\n"
    " \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, \"type\": \"VEC3\"},\n"
    "  {\"bufferView\": 1, \"componentType\": 5123, \"count\": 6, \"type\": \"SCALAR\"}],\n"
    " \"bufferViews\": [{\"buffer\": 0, \"byteOffset\": 0, \"byteLength\": 48},\n"
    "  {\"buffer\": 0, \"byteOffset\": 48, \"byteLength\": 12}],\n"
    " \"buffers\": [{%s\"byteLength\": 60}]}";

static size_t put_word(char *to, uint32_t word)
{
  for (int i = 0; i < 4; i++) to[i] = (char)(word >> 8 * i & 0xff);
  return 4;
}

static void data_of(char bytes[60])
{
  memcpy(bytes, CORNERS, 48);
  memcpy(bytes + 48, INDICES, 12);
}

static size_t make_glb(char *to, const char *json)
{
  const size_t n = strlen(json), padded = (n + 3) / 4 * 4;
  size_t at = 4;
  memcpy(to, "glTF", 4);
  at += put_word(to + at, 2);
  at += put_word(to + at, (uint32_t)(12 + 8 + padded + 8 + 60));
  at += put_word(to + at, (uint32_t)padded);
  memcpy(to + at, "JSON", 4);
  memset(to + at + 4, ' ', padded);
  memcpy(to + at + 4, json, n);
  at += 4 + padded;
  at += put_word(to + at, 60);
  memcpy(to + at, "BIN", 4);
  data_of(to + at + 4);
  return at + 4 + 60;
}

static size_t make_gltf(char *to, size_t size)
{
  static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char bytes[60], uri[160];
  size_t at = (size_t)sprintf(uri, "\"uri\": \"data:application/octet-stream;base64,");
  data_of(bytes);
  for (int i = 0; i < 60; i += 3) {
    const unsigned word = (unsigned)(unsigned char)bytes[i] << 16 |
                          (unsigned)(unsigned char)bytes[i + 1] << 8 | (unsigned char)bytes[i + 2];
    for (int k = 0; k < 4; k++) uri[at++] = letter[word >> (18 - 6 * k) & 63];
  }
  strcpy(uri + at, "\", ");
  return (size_t)snprintf(to, size, JSON, uri);
}

static void gltf_has_points_and_triangles(void **state)
{
  static char bytes[4096], json[2048];
  /* (2x, y, z) turned by 90° about z, and moved: (10 − y, 2x, z) */
  static const double expected[12] = {10, 0, 0, 10, 2, 0, 9, 0, 0, 10, 0, 1};
  (void)state;
  snprintf(json, sizeof json, JSON, "");
  for (int k = 0; k < 2; k++) {
    shape_rig r;
    ga_shape s;
    const size_t n = k ? make_gltf(bytes, sizeof bytes) : make_glb(bytes, json);
    open_rig(&r,
             k ? "s: {type: mesh, frame: b, file: a.gltf}"
               : "s: {type: mesh, frame: b, file: a.glb, scale: 3}",
             k ? "a.gltf" : "a.glb", bytes, n);
    take_shape(&r, &s);
    assert_int_equal(s.kind, GA_SHAPE_MESH);
    assert_int_equal(s.n_points, 4);
    assert_int_equal(s.n_triangles, 2);
    assert_true(s.scale == (k ? 1 : 3));
    for (int i = 0; i < 12; i++) assert_true(fabs(s.points[i] - expected[i]) < 1e-12);
    for (int i = 0; i < 6; i++) assert_true(s.triangles[i] == INDICES[i]);
    close_rig(&r);
  }
}

static void refuse(const char *shape, const char *name, const void *bytes, size_t length, const char *says)
{
  char text[512];
  shape_rig r;
  snprintf(text, sizeof text, "s: {frame: b, %s}", shape);
  open_rig(&r, text, name, bytes, length);
  if (!r.status || !strstr(r.said, says)) fail_msg("'%s' is not in '%s'", says, r.said);
  close_rig(&r);
}

static void bad_shapes_are_refused(void **state)
{
  (void)state;
  refuse("type: box, size: [1, 0, 1]", "none", "", 0, "size is 0 m; it must be > 0 along each axis");
  refuse("type: box, size: [1, -1, 1]", "none", "", 0, "size");
  refuse("type: box, size: [1, 1, .nan]", "none", "", 0, "size");
  refuse("type: sphere", "none", "", 0, "radius is 0 m; it must be > 0");
  refuse("type: sphere, radius: 1 kg", "none", "", 0, "mass");
  refuse("type: cylinder, radius: 1", "none", "", 0, "length is 0 m");
  refuse("type: tube, radius: 1, length: 1, inner: 1", "none", "", 0, "less than radius");
  refuse("type: sphere, radius: 1, opacity: 2", "none", "", 0, "opacity is 2; it must be > 0 and <= 1");
  refuse("type: sphere, radius: 1, opacity: 0", "none", "", 0, "opacity");
  refuse("type: sphere, radius: 1, colour: reddish", "none", "", 0, "colour is 'reddish'");
  refuse("type: sphere, radius: 1, colour: \"#12345g\"", "none", "", 0, "#rrggbb");
  refuse("type: sphere, radius: 1, color: red", "none", "", 0, "'colour'");
  refuse("type: pyramid", "none", "", 0, "pyramid");
  refuse("type: mesh", "none", "", 0, "points is missing");
  refuse("type: mesh, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [[0, 1, 3]]", "none", "", 0,
         "triangle 0 has point 3; points are numbered from 0 to 2");
  refuse("type: mesh, file: a.stl", "b", "", 0, "a.stl: cannot be read");
  refuse("type: mesh, file: a.ply", "a.ply", "x", 1, ".stl, .obj, .glb or .gltf");
  refuse("type: mesh, file: a.obj", "a.obj", "v 0 0 0\n", 8, "expected triangles");
  refuse("type: mesh, file: a.stl", "a.stl", "x\0\0\0\0", 5, "a.stl");
}

/* Every prefix, and every byte changed: a message or a mesh, never anything else. */
static void damaged_gltf_is_refused(void **state)
{
  static char bytes[4096], broken[4096], json[2048];
  (void)state;
  snprintf(json, sizeof json, JSON, "");
  const size_t n = make_glb(bytes, json);
  const int step = 37;
  for (size_t k = 0; k < n; k += (size_t)step) {
    shape_rig r;
    open_rig(&r, "s: {type: mesh, frame: b, file: a.glb}", "a.glb", bytes, k);
    if (!r.status || !strstr(r.said, "a.glb")) fail_msg("%zu bytes: '%s'", k, r.said);
    close_rig(&r);
    memcpy(broken, bytes, n);
    broken[k] = (char)(broken[k] ^ 0x15);
    open_rig(&r, "s: {type: mesh, frame: b, file: a.glb}", "a.glb", broken, n);
    if (r.status && !strstr(r.said, "a.glb")) fail_msg("byte %zu: '%s'", k, r.said);
    close_rig(&r);
  }
  char *at = strstr(json, "\"count\": 4");
  memcpy(at, "\"count\": 9", 10);
  refuse("type: mesh, file: a.glb", "a.glb", bytes, make_glb(bytes, json), "values within their buffer");
  memcpy(at, "\"count\": 3", 10);
  refuse("type: mesh, file: a.glb", "a.glb", bytes, make_glb(bytes, json),
         "indices of points that there are");
}

/* ---- Loads of beams and cables; heights of roads ---- */

static void pieces_have_loads(void **state)
{
  static const char MODEL[] =
      "galpha: 1\nbodies:\n  beam: {type: beam, from: [0, 0, 0], to: [2, 0, 0], elements: 4,"
      " section: circle, diameter: 0.1, young: 2e11, poisson: 0.3, density: 7800}\n"
      "  rope: {type: cable, from: [0, 1, 0], to: [2, 1, 0], length: 1.9, elements: 3,"
      " stiffness: 1e5, mass_per_length: 1}\n"
      "roads: {track: {height: '0.1*sin(x) + y'}, flat: {}}\n";
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_piece_load load[7];
  double q[256], v[256], x[8], z;
  int varies;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  if (ga_model_read_text(ctx, "m", MODEL, strlen(MODEL), NULL, &model))
    fail_msg("%s", ga_model_message_at(model, 0)->text);
  const ga_machine *m = ga_model_machine(model);
  assert_int_equal(ga_machine_initial(m, q, v, x), GA_OK);
  const ga_state s = {.q = q};
  assert_int_equal(ga_machine_piece_loads(m, &s, 7, load), 7);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 6; k++) assert_true(fabs(load[i].force[k]) < 1e-3 && fabs(load[i].strain[k]) < 1e-12);
  for (int i = 4; i < 7; i++) assert_true(fabs(load[i].strain[0] * 1e5 - load[i].force[0]) < 1e-6);
  /* The beam stretched by 1 %: N = E A ε. */
  double places[256];
  assert_int_equal(ga_machine_places(m, &s, places), GA_OK);
  for (int i = 0; i < ga_machine_n_places(m); i++) {
    char name[64];
    ga_machine_place_name(m, i, name, sizeof name);
    if (strncmp(name, "beam.x", 6) == 0) places[i] *= 1.01;
  }
  assert_int_equal(ga_machine_from_places(m, places, q), GA_OK);
  ga_machine_piece_loads(m, &s, 7, load);
  const double EA = 2e11 * 0.25 * 3.14159265358979324 * 0.01;
  for (int i = 0; i < 4; i++) {
    assert_true(fabs(load[i].force[0] - 0.01 * EA) < 1e-9 * EA);
    assert_true(fabs(load[i].strain[0] - 0.01) < 1e-10);
  }
  int seen = 0;
  for (int i = 0; i < ga_machine_n_shapes(m); i++) {
    ga_shape shape;
    assert_int_equal(ga_machine_shape(m, &s, i, &shape), GA_OK);
    if (shape.kind != GA_SHAPE_PLANE) continue;
    assert_int_equal(ga_machine_road_height(m, i, 0, 2, 0.5, &z, &varies), GA_OK);
    const int bumpy = strcmp(shape.part, "track") == 0;
    assert_int_equal(varies, bumpy);
    assert_true(fabs(z - (bumpy ? 0.1 * sin(2) + 0.5 : 0)) < 1e-15);
    seen++;
  }
  assert_int_equal(seen, 2);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solids_have_sizes_poses_and_colours),
      cmocka_unit_test(gltf_has_points_and_triangles),
      cmocka_unit_test(bad_shapes_are_refused),
      cmocka_unit_test(damaged_gltf_is_refused),
      cmocka_unit_test(pieces_have_loads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
