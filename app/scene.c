/* A machine in motion as data of a page. Places are read from the file, by signals or rows of their own, and
 * turned into poses of movers by the machine that the file's model describes. */
#include "scene.h"

#include "mesh.h"
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_FRAMES = 4000,
  FEWEST_FRAMES = 200,
  POSE = 7,              /* numbers of a pose */
  MOST_NUMBERS = 400000, /* of all poses, 2.1 MB in base64 */
  LOADS = 6,             /* of a piece of a beam: N, Q, T, M, strain, curvature */
  MOST_LOADS = 90000,    /* of all pieces, 0.5 MB */
};

/* ---- Which records ---- */

/* Frames that a page can hold with this number of movers. */
static long most_frames(int movers)
{
  const long fit = MOST_NUMBERS / (POSE * (movers > 0 ? (long)movers : 1));
  return fit > MOST_FRAMES ? MOST_FRAMES : fit < FEWEST_FRAMES ? FEWEST_FRAMES : fit;
}

/* 1: an event happened at this time. */
static int is_event(const ga_result *r, double t, long *next)
{
  while (*next < ga_result_n_events(r) && ga_result_event_time(r, *next) < t) ++*next;
  return *next < ga_result_n_events(r) && ga_result_event_time(r, *next) == t;
}

/* All records; of many those nearest after evenly spaced times, those of events, and both where two have the
 * same time. */
static void choose_frames(app_scene *s, long most)
{
  const double first = s->time[0], span = s->time[s->n - 1] - first;
  long event = 0, number = 0;
  for (long i = 0; i < s->n; i++) {
    const double due = first + span * (double)number / (double)(most - 1);
    const int twin =
        i > 0 && s->time[i] == s->time[i - 1] && s->n_frames > 0 && s->frame[s->n_frames - 1] == i - 1;
    const int wanted = s->n <= most || s->time[i] >= due || i == s->n - 1 || isnan(s->time[i]);
    if (isnan(s->time[i])) continue; /* damaged */
    if (!wanted && !twin && !(s->n_frames < 2 * most && is_event(s->result, s->time[i], &event))) continue;
    s->frame[s->n_frames++] = i;
    while (wanted && number < most && first + span * (double)number / (double)(most - 1) <= s->time[i])
      number++;
  }
}

static ga_status read_times(app_scene *s)
{
  const int movers = ga_machine_n_movers(s->machine);
  s->n = s->result ? ga_result_n_records(s->result) : 0;
  s->time = calloc((size_t)s->n + 1, sizeof *s->time);
  s->frame = calloc((size_t)s->n + 1, sizeof *s->frame);
  if (!s->time || !s->frame) return GA_ERR_MEMORY;
  const ga_status status = s->n > 0 ? ga_result_read(s->result, -1, 0, s->n, s->time) : GA_OK;
  if (status && status != GA_ERR_FILE) return status;
  s->damaged |= status != GA_OK;
  if (s->n > 0) choose_frames(s, most_frames(movers));
  return GA_OK;
}

/* ---- Where everything is ---- */

/* Row of the file that has a place; −1: none. */
static int row_of(const app_scene *s, int place)
{
  char name[512];
  const size_t room = sizeof name - sizeof GA_RESULT_POSE;
  const int length = ga_machine_place_name(s->machine, place, name, room);
  if (length <= 0 || (size_t)length >= room) return -1;
  const int signal = ga_result_find(s->result, name);
  if (signal >= 0) return signal;
  strcpy(name + length, GA_RESULT_POSE);
  return ga_result_find(s->result, name);
}

/* places[n_places][n_frames]: NaN where the file has none. */
static ga_status read_places(app_scene *s, double *places)
{
  const int n = ga_machine_n_places(s->machine);
  double *row = malloc(((size_t)s->n + 1) * sizeof *row);
  ga_status status = row ? GA_OK : GA_ERR_MEMORY;
  for (int i = 0; i < n && !status; i++) {
    const int from = row_of(s, i);
    status = from < 0 ? GA_OK : ga_result_read(s->result, from, 0, s->n, row);
    if (status == GA_ERR_FILE) s->damaged = 1, status = GA_OK;
    for (long k = 0; k < s->n_frames; k++)
      places[(size_t)i * (size_t)s->n_frames + (size_t)k] = from < 0 ? NAN : row[s->frame[k]];
  }
  free(row);
  return status;
}

/* Unit quaternion x, y, z, w of a rotation. */
static void quaternion_of(const double R[9], float q[4])
{
  const double square[4] = {1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8],
                            1 + R[0] + R[4] + R[8]};
  const double row[4][4] = {{square[0], R[1] + R[3], R[2] + R[6], R[7] - R[5]},
                            {R[1] + R[3], square[1], R[5] + R[7], R[2] - R[6]},
                            {R[2] + R[6], R[5] + R[7], square[2], R[3] - R[1]},
                            {R[7] - R[5], R[2] - R[6], R[3] - R[1], square[3]}};
  int k = 3;
  for (int i = 0; i < 4; i++)
    if (square[i] > square[k]) k = i;
  const double scale = 0.5 / sqrt(square[k]);
  for (int i = 0; i < 4; i++) q[i] = (float)(scale * row[k][i]);
}

static void pose_of(const app_scene *s, const double *q, int mover, float out[POSE])
{
  const ga_state state = {.q = q};
  ga_pose pose;
  if (ga_machine_mover_pose(s->machine, &state, mover, &pose)) pose = ga_pose_identity();
  for (int i = 0; i < 3; i++) out[i] = (float)pose.position[i];
  quaternion_of(pose.rotation, out + 3);
}

/* Marks the movers of which the file has no place that can be read; those of deformable parts follow their
 * carriers. */
static void find_lost(app_scene *s, const double *places)
{
  char name[512], last[512] = "";
  const int n = ga_machine_n_places(s->machine);
  for (int i = 0; i < n; i++) {
    const double *row = places + (size_t)i * (size_t)s->n_frames;
    long k = 0;
    while (k < s->n_frames && isnan(row[k])) k++;
    if (k < s->n_frames) continue;
    ga_machine_place_name(s->machine, i, name, sizeof name);
    char *end = strrchr(name, '.');
    if (end) *end = '\0';
    if (strcmp(name, last) == 0) continue; /* of the same part as the one before */
    strcpy(last, name);
    for (int j = 1; j < ga_machine_n_movers(s->machine); j++) {
      ga_mover mover;
      if (!ga_machine_mover(s->machine, j, &mover) && strcmp(mover.part, name) == 0 && !s->lost[j])
        s->lost[j] = 1, s->n_lost++;
    }
  }
}

/* ---- Forces in beams and cables ---- */

static ga_status take_room_for_loads(app_scene *s, size_t frames)
{
  s->n_pieces = ga_machine_piece_loads(s->machine, NULL, 0, NULL);
  if (s->n_pieces == 0) return GA_OK;
  const size_t all = frames * (size_t)s->n_pieces * LOADS;
  s->load_stride = (long)(all / MOST_LOADS) + 1;
  s->n_loads = ((long)frames - 1) / s->load_stride + 1;
  s->load = calloc((size_t)s->n_loads * (size_t)s->n_pieces * LOADS, sizeof *s->load);
  return s->load ? GA_OK : GA_ERR_MEMORY;
}

/* Of the frame k, at which q is. */
static ga_status take_loads(app_scene *s, long k)
{
  const ga_state state = {.q = s->q};
  if (s->n_pieces == 0 || k % s->load_stride != 0) return GA_OK;
  ga_piece_load *all = malloc((size_t)s->n_pieces * sizeof *all);
  if (!all) return GA_ERR_MEMORY;
  ga_machine_piece_loads(s->machine, &state, s->n_pieces, all);
  float *out = s->load + (size_t)(k / s->load_stride) * (size_t)s->n_pieces * LOADS;
  for (int i = 0; i < s->n_pieces; i++, out += LOADS) {
    const double *f = all[i].force, *e = all[i].strain;
    const double six[LOADS] = {f[0], hypot(f[1], f[2]), f[3], hypot(f[4], f[5]), e[0], hypot(e[4], e[5])};
    for (int j = 0; j < LOADS; j++) out[j] = (float)six[j];
  }
  free(all);
  return GA_OK;
}

static ga_status compute_poses(app_scene *s)
{
  const size_t n = s->n_frames > 0 ? (size_t)s->n_frames : 1;
  const int movers = ga_machine_n_movers(s->machine), n_places = ga_machine_n_places(s->machine);
  double *places = s->n_frames ? malloc(((size_t)n_places * n + 1) * sizeof *places) : NULL;
  double *one = malloc(((size_t)n_places + 1) * sizeof *one);
  s->pose = malloc(((size_t)movers * n * POSE + 1) * sizeof *s->pose);
  s->lost = calloc((size_t)movers + 1, 1);
  ga_status status = s->pose && s->lost && one && (places || !s->n_frames) ? GA_OK : GA_ERR_MEMORY;
  if (!status) status = take_room_for_loads(s, n);
  if (!status && places) status = read_places(s, places);
  if (!status && places) find_lost(s, places);
  for (size_t k = 0; k < n && !status; k++) {
    for (int i = 0; i < n_places && places; i++) one[i] = places[(size_t)i * n + k];
    if (places) status = ga_machine_from_places(s->machine, one, s->q);
    for (int i = 0; i < movers; i++) pose_of(s, s->q, i, s->pose + ((size_t)i * n + k) * POSE);
    if (!status) status = take_loads(s, (long)k);
  }
  free(places);
  free(one);
  return status;
}

ga_status app_scene_read(app_scene *s)
{
  ga_status status = read_times(s);
  if (!status && s->machine) status = compute_poses(s);
  return status;
}

ga_status app_scene_give(app_scene *s, const double *q)
{
  const int movers = ga_machine_n_movers(s->machine);
  s->given = malloc(((size_t)movers * POSE + 1) * sizeof *s->given);
  for (int i = 0; s->given && i < movers; i++) pose_of(s, q, i, s->given + (size_t)i * POSE);
  return s->given ? GA_OK : GA_ERR_MEMORY;
}

void app_scene_free(app_scene *s)
{
  free(s->load);
  free(s->given);
  free(s->q);
  free(s->time);
  free(s->frame);
  free(s->pose);
  free(s->lost);
  *s = (app_scene){0};
}

/* ---- As data ---- */

static size_t frames_of(const app_scene *s)
{
  return s->n_frames > 0 ? (size_t)s->n_frames : 1;
}

/* 1: it is at one place in all frames. */
static int is_at_rest(const app_scene *s, int mover)
{
  const float *pose = s->pose + (size_t)mover * frames_of(s) * POSE;
  for (size_t k = 1; k < frames_of(s); k++)
    if (memcmp(pose, pose + k * POSE, POSE * sizeof *pose) != 0) return 0;
  return 1;
}

static void write_mover(const app_scene *s, FILE *to, int i, const char *name, const ga_mover *mover)
{
  const float *pose = s->pose + (size_t)i * frames_of(s) * POSE;
  fputs("{\"part\":", to);
  app_page_text(to, name);
  fprintf(to, ",\"number\":%d,\"planar\":%d,\"point\":%d,\"lost\":%d,\"mass\":", mover->number, mover->planar,
          mover->point, s->lost[i]);
  app_page_number(to, mover->mass);
  fputs(",\"inertia\":", to);
  app_page_numbers(to, 6, mover->inertia);
  fputs(",\"poses\":", to);
  app_page_bytes(to, pose, (is_at_rest(s, i) ? 1 : frames_of(s)) * POSE * sizeof *pose);
  putc('}', to);
}

static void write_movers(const app_scene *s, FILE *to)
{
  fputs(",\"movers\":[", to);
  for (int i = 0; i < ga_machine_n_movers(s->machine); i++) {
    ga_mover mover = {.part = ""};
    if (ga_machine_mover(s->machine, i, &mover)) continue;
    if (i) fputs(",\n", to);
    if (mover.has_pose)
      write_mover(s, to, i, mover.part, &mover);
    else
      fputs("null", to);
  }
  putc(']', to);
}

/* The pose of an end in the axes of its mover: Rᵀ(p − x), Rᵀ A. 0: its mover has none. */
static int find_end(const app_scene *s, const ga_state *state, const ga_shape *shape, int k, double p[3],
                    double A[9])
{
  const ga_pose *end = &shape->end[k];
  ga_pose on = ga_pose_identity();
  if (ga_machine_mover_pose(s->machine, state, shape->on[k], &on)) return 0;
  for (int i = 0; i < 3; i++) {
    p[i] = 0;
    for (int l = 0; l < 3; l++) p[i] += on.rotation[3 * l + i] * (end->position[l] - on.position[l]);
    for (int j = 0; j < 3; j++) {
      A[3 * i + j] = 0;
      for (int l = 0; l < 3; l++) A[3 * i + j] += on.rotation[3 * l + i] * end->rotation[3 * l + j];
    }
  }
  return 1;
}

static void write_end(const app_scene *s, FILE *to, const ga_state *state, const ga_shape *shape, int k)
{
  double p[3], A[9], numbers[POSE];
  float q[4];
  if (!find_end(s, state, shape, k, p, A)) return;
  quaternion_of(A, q);
  for (int i = 0; i < 3; i++) numbers[i] = p[i];
  for (int i = 0; i < 4; i++) numbers[3 + i] = (double)q[i];
  app_page_numbers(to, POSE, numbers);
}

static const char *kind_name(ga_shape_kind kind)
{
  static const char *const name[] = {
      [GA_SHAPE_FRAME] = "frame",   [GA_SHAPE_POINT] = "point",       [GA_SHAPE_LINE] = "line",
      [GA_SHAPE_COIL] = "coil",     [GA_SHAPE_JOINT] = "joint",       [GA_SHAPE_ARROW] = "arrow",
      [GA_SHAPE_SPHERE] = "sphere", [GA_SHAPE_DISK] = "disk",         [GA_SHAPE_PLANE] = "plane",
      [GA_SHAPE_BEAM] = "beam",     [GA_SHAPE_CABLE] = "cable",       [GA_SHAPE_WHEEL] = "wheel",
      [GA_SHAPE_BOX] = "box",       [GA_SHAPE_CYLINDER] = "cylinder", [GA_SHAPE_CAPSULE] = "capsule",
      [GA_SHAPE_TUBE] = "tube",     [GA_SHAPE_CONE] = "cone",         [GA_SHAPE_MESH] = "mesh"};
  return name[kind];
}

/* ---- Roads ---- */

/* Positions of all movers over the frames, in the axes of a fixed pose: low and high x, y. */
static void find_travelled(const app_scene *s, const ga_pose *at, double low[2], double high[2])
{
  const size_t n = (size_t)ga_machine_n_movers(s->machine) * frames_of(s);
  low[0] = low[1] = INFINITY, high[0] = high[1] = -INFINITY;
  for (size_t i = frames_of(s); i < n; i++) { /* without the ground */
    const float *x = s->pose + i * POSE;
    for (int k = 0; k < 2; k++) {
      double along = 0;
      for (int j = 0; j < 3; j++) along += at->rotation[3 * j + k] * ((double)x[j] - at->position[j]);
      if (!isfinite(along)) continue;
      low[k] = fmin(low[k], along), high[k] = fmax(high[k], along);
    }
  }
}

/* 1: the height of a road over this rectangle changes with time, as that of posts does. */
static int is_moving(const app_scene *s, int shape, const double low[2], const double high[2])
{
  enum { PLACES = 5, TIMES = 41 };
  const double t0 = s->time[s->frame[0]], span = s->time[s->frame[s->n_frames - 1]] - t0;
  for (int i = 0; i < PLACES * PLACES; i++) {
    const double x = low[0] + (high[0] - low[0]) * (i % PLACES) / (PLACES - 1);
    const double y = low[1] + (high[1] - low[1]) * (i / PLACES) / (PLACES - 1);
    double first, z;
    if (ga_machine_road_height(s->machine, shape, t0, x, y, &first, NULL)) continue;
    for (int k = 1; k < TIMES; k++) /* not at whole parts of the time, where waves may be 0 */
      if (!ga_machine_road_height(s->machine, shape, t0 + span * (k - 0.37) / TIMES, x, y, &z, NULL) &&
          fabs(z - first) > 1e-9)
        return 1;
  }
  return 0;
}

/* x + R(q) p of a pose, in the axes of another. */
static void place_in(const ga_pose *axes, const float pose[POSE], const double p[3], double out[2])
{
  const double x = (double)pose[3], y = (double)pose[4], z = (double)pose[5], w = (double)pose[6];
  const double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int k = 0; k < 2; k++) {
    out[k] = 0;
    for (int j = 0; j < 3; j++)
      out[k] += axes->rotation[3 * j + k] * ((double)pose[j] + R[3 * j] * p[0] + R[3 * j + 1] * p[1] +
                                             R[3 * j + 2] * p[2] - axes->position[j]);
  }
}

/* Where a road moves: its height below each tyre at each frame. */
static ga_status write_posts(const app_scene *s, FILE *to, int road, const ga_pose *at)
{
  const ga_state state = {.q = s->q};
  const size_t n = frames_of(s);
  float *height = malloc(n * sizeof *height);
  int written = 0;
  if (!height) return GA_ERR_MEMORY;
  fputs(",\"posts\":[", to);
  for (int i = 0; i < ga_machine_n_shapes(s->machine); i++) {
    ga_shape shape;
    double p[3], A[9], place[2], z;
    if (ga_machine_shape(s->machine, &state, i, &shape) || strcmp(shape.type, "tyre") != 0) continue;
    if (!find_end(s, &state, &shape, 0, p, A)) continue;
    for (size_t k = 0; k < n; k++) {
      place_in(at, s->pose + ((size_t)shape.on[0] * n + k) * POSE, p, place);
      height[k] = ga_machine_road_height(s->machine, road, s->time[s->frame[k]], place[0], place[1], &z, NULL)
                      ? 0
                      : (float)z;
    }
    fprintf(to, "%s{\"on\":%d,\"at\":", written++ ? "," : "", shape.on[0]);
    app_page_numbers(to, 3, p);
    fprintf(to, ",\"radius\":%.9g,\"height\":", shape.size);
    app_page_bytes(to, height, n * sizeof *height);
    putc('}', to);
  }
  putc(']', to);
  free(height);
  return GA_OK;
}

/* Heights of a road over the region that is travelled, and a tenth of it around; at the start. */
static ga_status write_road(const app_scene *s, FILE *to, int shape, const ga_pose *at)
{
  enum { MOST_POINTS = 24000, LEAST = 9, MOST_ACROSS = 120 };
  double low[2], high[2], z;
  int varies = 0;
  ga_machine_road_height(s->machine, shape, 0, 0, 0, &z, &varies);
  if (!varies) return GA_OK;
  find_travelled(s, at, low, high);
  const double length = fmax(high[0] - low[0], high[1] - low[1]);
  if (!isfinite(length) || !(length > 0)) return GA_OK;
  for (int k = 0; k < 2; k++) low[k] -= 0.1 * length + 0.5, high[k] += 0.1 * length + 0.5;
  const double a = high[0] - low[0], b = high[1] - low[1];
  int ny = (int)fmax(LEAST, fmin(MOST_ACROSS, sqrt(MOST_POINTS * b / a)));
  const int nx = MOST_POINTS / ny;
  float *height = malloc((size_t)nx * (size_t)ny * sizeof *height);
  if (!height) return GA_ERR_MEMORY;
  const double t = s->n_frames ? s->time[s->frame[0]] : 0;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++) {
      const double x = low[0] + a * i / (nx - 1), y = low[1] + b * j / (ny - 1);
      height[i * ny + j] = ga_machine_road_height(s->machine, shape, t, x, y, &z, NULL) ? NAN : (float)z;
    }
  fprintf(to, ",\"road\":{\"nx\":%d,\"ny\":%d,\"from\":[%.9g,%.9g],\"to\":[%.9g,%.9g],\"height\":", nx, ny,
          low[0], low[1], high[0], high[1]);
  app_page_bytes(to, height, (size_t)nx * (size_t)ny * sizeof *height);
  const ga_status status =
      s->n_frames > 1 && is_moving(s, shape, low, high) ? write_posts(s, to, shape, at) : GA_OK;
  putc('}', to);
  free(height);
  return status;
}

/* ---- Shapes ---- */

static int count_meshes(const app_scene *s, const ga_state *state)
{
  int n = 0;
  for (int i = 0; i < ga_machine_n_shapes(s->machine); i++) {
    ga_shape shape;
    n += !ga_machine_shape(s->machine, state, i, &shape) && shape.kind == GA_SHAPE_MESH;
  }
  return n;
}

static ga_status write_solid(app_scene *s, FILE *to, const ga_shape *shape, int meshes)
{
  long kept = 0;
  if (shape->dimension[0] > 0) {
    fputs(",\"dimension\":", to);
    app_page_numbers(to, 3, shape->dimension);
  }
  if (shape->given) fprintf(to, ",\"given\":1,\"opacity\":%.4g", shape->opacity);
  if (shape->colour >= 0) fprintf(to, ",\"colour\":%d", shape->colour);
  if (shape->kind != GA_SHAPE_MESH) return GA_OK;
  const ga_status status = app_mesh_write(to, shape, APP_MOST_TRIANGLES / meshes, &kept);
  s->n_triangles += shape->n_triangles, s->n_kept += kept;
  return status;
}

static ga_status write_shapes(app_scene *s, FILE *to)
{
  const ga_state state = {.q = s->q};
  const int meshes = count_meshes(s, &state);
  ga_status status = GA_OK;
  fputs(",\"shapes\":[", to);
  for (int i = 0, n = 0; i < ga_machine_n_shapes(s->machine) && !status; i++) {
    ga_shape shape;
    if (ga_machine_shape(s->machine, &state, i, &shape)) continue;
    if (n++) fputs(",\n", to);
    fprintf(to, "{\"kind\":\"%s\",\"part\":", kind_name(shape.kind));
    app_page_text(to, shape.part);
    fputs(",\"type\":", to);
    app_page_text(to, shape.type);
    fprintf(to, ",\"size\":%.9g,\"on\":[%d", shape.size, shape.on[0]);
    if (shape.n_ends > 1) fprintf(to, ",%d", shape.on[1]);
    putc(']', to);
    if (shape.section[0] > 0.0)
      fprintf(to, ",\"section\":[%.9g,%.9g,%.9g,%.9g]", shape.section[0], shape.section[1], shape.section[2],
              shape.section[3]);
    fputs(",\"at\":[", to);
    for (int k = 0; k < shape.n_ends; k++) {
      if (k) putc(',', to);
      write_end(s, to, &state, &shape, k);
    }
    putc(']', to);
    status = write_solid(s, to, &shape, meshes);
    if (!status && shape.kind == GA_SHAPE_PLANE && shape.on[0] == 0)
      status = write_road(s, to, i, &shape.end[0]);
    putc('}', to);
  }
  putc(']', to);
  return status;
}

/* What parts are, which have no shape too: "motor": "actuator". */
static void write_kinds(const app_scene *s, FILE *to)
{
  const char *name, *type = "";
  fputs(",\"kinds\":{", to);
  for (int i = 0; (name = ga_machine_part(s->machine, i, &type)) != NULL; i++) {
    if (i) putc(',', to);
    app_page_text(to, name);
    putc(':', to);
    app_page_text(to, type);
  }
  putc('}', to);
}

static void write_loads(const app_scene *s, FILE *to)
{
  if (s->n_pieces == 0) return;
  fprintf(to, ",\"loads\":{\"pieces\":%d,\"stride\":%ld,\"values\":", s->n_pieces, s->load_stride);
  app_page_bytes(to, s->load, (size_t)s->n_loads * (size_t)s->n_pieces * LOADS * sizeof *s->load);
  putc('}', to);
}

ga_status app_scene_write(app_scene *s, FILE *to)
{
  double *time = malloc(frames_of(s) * sizeof *time);
  if (!time) return GA_ERR_MEMORY;
  for (size_t k = 0; k < frames_of(s); k++) time[k] = s->n_frames ? s->time[s->frame[k]] : 0.0;
  fputs("\"time\":", to);
  app_page_bytes(to, time, frames_of(s) * sizeof *time);
  free(time);
  if (!s->machine) return GA_OK;
  write_movers(s, to);
  write_kinds(s, to);
  write_loads(s, to);
  if (s->given) {
    fputs(",\"given\":", to);
    app_page_bytes(to, s->given, (size_t)ga_machine_n_movers(s->machine) * POSE * sizeof *s->given);
  }
  return write_shapes(s, to);
}
