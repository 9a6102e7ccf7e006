/* Triangles of glTF 2.0: .glb, or .gltf with data within it or in files beside it.
 *
 *   .glb   "glTF", version 2, length; then pieces: length, type (JSON, BIN), bytes
 *   JSON   scenes → nodes (matrix, or translation · rotation · scale) → meshes → primitives → accessors →
 *          bufferViews → buffers
 *
 * Triangles, strips and fans are read; points and lines have none. Positions and nodes count; materials,
 * bones and animations do not. Compressed and sparse data are refused. */
#include "model/gltf_file.h"
#include "model/document.h"
#include "model/fields.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GLB_HEADER = 12, PIECE_HEADER = 8, MOST_BUFFERS = 64, MOST_DEPTH = 64, MOST_TRIANGLES = 1000000 };
enum { MODE_TRIANGLES = 4, MODE_STRIP, MODE_FAN };
enum { TYPE_U8 = 5121, TYPE_U16 = 5123, TYPE_U32 = 5125, TYPE_FLOAT = 5126 };

typedef struct buffer {
  const unsigned char *bytes;
  size_t length;
} buffer;

typedef struct gltf {
  ga__surface *c;
  ga__tree *root;
  buffer buffer[MOST_BUFFERS];
  char *owned[MOST_BUFFERS]; /* files beside */
  int n_buffers, fill;       /* fill 0: points and triangles are only counted */
  size_t points, triangles;
} gltf;

typedef struct accessor {
  const unsigned char *at;
  size_t count, stride;
  int type;
} accessor;

/* ---- JSON ---- */

static ga__tree *item(const ga__tree *list, long i)
{
  return list && list->kind == GA__TREE_LIST && i >= 0 && i < list->n ? list->child[i] : NULL;
}

static const ga__tree *member(const ga__tree *map, const char *key)
{
  return map && map->kind == GA__TREE_MAP ? ga__map_peek(map, key) : NULL;
}

/* A number ≥ 0; `none` if it is not there, −1 if it is something else. */
static long integer(const ga__tree *map, const char *key, long none)
{
  const ga__tree *t = member(map, key);
  char *end;
  if (!t) return none;
  if (t->kind != GA__TREE_SCALAR || !*t->text) return -1;
  const double value = strtod(t->text, &end);
  return *end || !(value >= 0 && value < 9e15) || value != floor(value) ? -1 : (long)value;
}

static int numbers(const ga__tree *map, const char *key, int n, double *out)
{
  const ga__tree *t = member(map, key);
  if (!t) return 1;
  for (int i = 0; i < n; i++) {
    const ga__tree *one = item(t, i);
    char *end;
    if (!one || one->kind != GA__TREE_SCALAR || t->n != n) return 0;
    out[i] = strtod(one->text, &end);
    if (*end || !isfinite(out[i])) return 0;
  }
  return 1;
}

/* At the line of a value, in JSON. */
static int report_at(gltf *g, const ga__tree *t, const char *expected, const char *found)
{
  g->c->line = t ? t->at.line : 1;
  return ga__surface_report(g->c, expected, found);
}

/* ---- Buffers ---- */

static uint32_t word_at(const unsigned char *b)
{
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int digit_of(char c)
{
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static int decode(gltf *g, const ga__tree *t, const char *text, buffer *out)
{
  const size_t n = strlen(text);
  unsigned char *bytes = ga__room(g->c->reader, n / 4 * 3 + 4, 1);
  uint32_t word = 0;
  int bits = 0;
  if (!bytes) return 0;
  *out = (buffer){bytes, 0};
  for (size_t i = 0; i < n && text[i] != '='; i++) {
    const int digit = digit_of(text[i]);
    if (digit < 0) return report_at(g, t, "base64 in a data URI", text + i);
    word = word << 6 | (uint32_t)digit;
    if ((bits += 6) < 8) continue;
    bytes[out->length++] = (unsigned char)(word >> (bits -= 8));
  }
  return 1;
}

static int load_beside(gltf *g, const ga__tree *uri, buffer *out)
{
  const char *name = uri->text, *slash = strrchr(g->c->source.path, '/');
  char path[4096];
  if (ga__leaves_folder(name) || strstr(name, "://"))
    return report_at(g, uri, "a file beside this one, or within its folder", name);
  if (snprintf(path, sizeof path, "%.*s/%s", (int)(slash ? slash - g->c->source.path : 0), g->c->source.path,
               name) >= (int)sizeof path)
    return report_at(g, uri, "a shorter path", name);
  ga__file_load(g->c->reader->r, path, name, g->c->source.from, &g->owned[g->n_buffers], &out->length);
  out->bytes = (const unsigned char *)g->owned[g->n_buffers];
  return out->bytes != NULL;
}

static int open_buffers(gltf *g, buffer binary)
{
  const ga__tree *list = member(g->root, "buffers");
  for (int i = 0; list && i < list->n; i++) {
    const ga__tree *one = item(list, i), *uri = member(one, "uri");
    buffer *b = &g->buffer[g->n_buffers];
    const long length = integer(one, "byteLength", -1);
    if (g->n_buffers == MOST_BUFFERS) return report_at(g, one, "64 buffers or fewer", "");
    if (!uri)
      *b = binary;
    else if (uri->kind != GA__TREE_SCALAR)
      return report_at(g, uri, "the URI of a buffer as a text", "");
    else if (strncmp(uri->text, "data:", 5) == 0) {
      const char *comma = strstr(uri->text, ";base64,");
      if (!comma) return report_at(g, uri, "a data URI in base64", uri->text);
      if (!decode(g, uri, comma + 8, b)) return 0;
    } else if (!load_beside(g, uri, b))
      return 0;
    g->n_buffers++;
    if (length < 0 || (size_t)length > b->length) {
      char found[96];
      snprintf(found, sizeof found, "%zu bytes of %ld", b->length, length);
      return report_at(g, one, "as many bytes of a buffer as its byteLength says", found);
    }
  }
  return 1;
}

/* ---- Accessors ---- */

static size_t size_of(int type)
{
  return type == TYPE_U8 ? 1 : type == TYPE_U16 ? 2 : type == TYPE_U32 || type == TYPE_FLOAT ? 4 : 0;
}

/* Values of `width` components; all of them lie within their buffer. */
static int open_accessor(gltf *g, long number, size_t width, accessor *out)
{
  const ga__tree *a = item(member(g->root, "accessors"), number);
  const ga__tree *view = item(member(g->root, "bufferViews"), integer(a, "bufferView", -1));
  const long at = integer(a, "byteOffset", 0), view_at = integer(view, "byteOffset", 0),
             view_length = integer(view, "byteLength", -1), count = integer(a, "count", -1),
             stride = integer(view, "byteStride", 0), index = integer(view, "buffer", -1);
  if (!a) return report_at(g, member(g->root, "accessors"), "an accessor for every number of one", "");
  if (member(a, "sparse") || !view)
    return report_at(g, a, "an accessor with a bufferView that is not sparse", "");
  *out = (accessor){.type = (int)integer(a, "componentType", -1)};
  const size_t one = width * size_of(out->type);
  if (index < 0 || index >= g->n_buffers || at < 0 || view_at < 0 || view_length < 0 || count < 1 ||
      count > INT_MAX || stride < 0 || one == 0)
    return report_at(g, a, "componentType, count, offsets and a buffer that there is", "");
  out->count = (size_t)count;
  out->stride = stride ? (size_t)stride : one;
  const size_t end = (size_t)at + (out->count - 1) * out->stride + one;
  if (end > (size_t)view_length || (size_t)view_at + (size_t)view_length > g->buffer[index].length) {
    char found[96];
    snprintf(found, sizeof found, "%zu bytes of %ld", end, view_length);
    return report_at(g, a, "values within their buffer", found);
  }
  out->at = g->buffer[index].bytes + view_at + at;
  return 1;
}

static size_t index_at(const accessor *a, size_t i)
{
  const unsigned char *b = a->at + i * a->stride;
  return a->type == TYPE_U8 ? b[0] : a->type == TYPE_U16 ? (size_t)(b[0] | b[1] << 8) : word_at(b);
}

/* ---- Meshes ---- */

/* Rows of a matrix 3×4. */
typedef struct transform {
  double m[12];
} transform;

static int fill_points(gltf *g, const ga__tree *from, const accessor *p, const transform *t)
{
  for (size_t i = 0; i < p->count; i++) {
    double x[3], *out = g->c->point + 3 * (g->points + i);
    for (int k = 0; k < 3; k++) {
      float value;
      const uint32_t bits = word_at(p->at + i * p->stride + 4 * (size_t)k);
      memcpy(&value, &bits, sizeof value);
      x[k] = (double)value;
    }
    for (int k = 0; k < 3; k++) {
      out[k] = t->m[4 * k] * x[0] + t->m[4 * k + 1] * x[1] + t->m[4 * k + 2] * x[2] + t->m[4 * k + 3];
      if (!isfinite(out[k])) return report_at(g, from, "finite positions", "");
    }
  }
  return 1;
}

static int fill_triangles(gltf *g, const ga__tree *from, const accessor *index, size_t n_points, long mode,
                          size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t k[3];
    for (size_t j = 0; j < 3; j++)
      k[j] = mode == MODE_TRIANGLES ? 3 * i + j : mode == MODE_FAN ? (j ? i + j : 0) : i + j;
    if (mode == MODE_STRIP && i % 2) k[1] = i + 2, k[2] = i + 1;
    for (size_t j = 0; j < 3; j++) {
      const size_t point = index ? index_at(index, k[j]) : k[j];
      if (point >= n_points) {
        char found[64];
        snprintf(found, sizeof found, "point %zu of %zu in triangle %zu", point, n_points, i);
        return report_at(g, from, "indices of points that there are", found);
      }
      g->c->triangle[3 * (g->triangles + i) + j] = (double)(g->points + point);
    }
  }
  return 1;
}

static int read_primitive(gltf *g, const ga__tree *one, const transform *t)
{
  const long mode = integer(one, "mode", MODE_TRIANGLES), indices = integer(one, "indices", LONG_MAX);
  accessor p, index;
  if (mode < 0 || mode > MODE_FAN) return report_at(g, one, "a mode from 0 to 6", "");
  if (mode < MODE_TRIANGLES) return 1;
  if (member(member(one, "extensions"), "KHR_draco_mesh_compression"))
    return report_at(g, one, "triangles that are not compressed", "KHR_draco_mesh_compression");
  if (!open_accessor(g, integer(member(one, "attributes"), "POSITION", -1), 3, &p)) return 0;
  if (p.type != TYPE_FLOAT) return report_at(g, one, "positions as floats", "");
  if (indices != LONG_MAX) {
    if (!open_accessor(g, indices, 1, &index)) return 0;
    if (index.type == TYPE_FLOAT) return report_at(g, one, "indices as whole numbers", "");
  }
  const size_t corners = indices != LONG_MAX ? index.count : p.count, n = mode == MODE_TRIANGLES ? corners / 3
                                                                          : corners > 2          ? corners - 2
                                                                                                 : 0;
  if (mode == MODE_TRIANGLES && corners % 3) return report_at(g, one, "three corners of each triangle", "");
  if (g->fill && !fill_points(g, one, &p, t)) return 0;
  if (g->fill && !fill_triangles(g, one, indices != LONG_MAX ? &index : NULL, p.count, mode, n)) return 0;
  g->points += p.count, g->triangles += n;
  if (g->triangles > MOST_TRIANGLES || g->points > 3 * (size_t)MOST_TRIANGLES)
    return report_at(g, one, "a million triangles or fewer", "");
  return 1;
}

/* ---- Nodes ---- */

static transform multiply(const transform *a, const transform *b)
{
  transform c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      double sum = j == 3 ? a->m[4 * i + 3] : 0;
      for (int k = 0; k < 3; k++) sum += a->m[4 * i + k] * b->m[4 * k + j];
      c.m[4 * i + j] = sum;
    }
  return c;
}

static int node_transform(gltf *g, const ga__tree *node, transform *out)
{
  double M[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}; /* by columns */
  double x[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
  if (!numbers(node, "matrix", 16, M) || !numbers(node, "translation", 3, x) ||
      !numbers(node, "rotation", 4, q) || !numbers(node, "scale", 3, s))
    return report_at(g, node, "matrix, translation, rotation and scale of 16, 3, 4 and 3 numbers", "");
  const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(n > 0)) return report_at(g, node, "a rotation other than 0", "");
  const double f = 2 / n;
  const double R[9] = {1 - f * (q[1] * q[1] + q[2] * q[2]), f * (q[0] * q[1] - q[2] * q[3]),
                       f * (q[0] * q[2] + q[1] * q[3]),     f * (q[0] * q[1] + q[2] * q[3]),
                       1 - f * (q[0] * q[0] + q[2] * q[2]), f * (q[1] * q[2] - q[0] * q[3]),
                       f * (q[0] * q[2] - q[1] * q[3]),     f * (q[1] * q[2] + q[0] * q[3]),
                       1 - f * (q[0] * q[0] + q[1] * q[1])};
  const int whole = member(node, "matrix") != NULL;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out->m[4 * i + j] = whole ? M[4 * j + i] : R[3 * i + j] * s[j];
    out->m[4 * i + 3] = whole ? M[12 + i] : x[i];
  }
  return 1;
}

static int read_node(gltf *g, long number, const transform *above, int depth)
{
  const ga__tree *node = item(member(g->root, "nodes"), number), *below = member(node, "children");
  transform own, t;
  if (!node || depth > MOST_DEPTH)
    return report_at(g, member(g->root, "nodes"), "nodes that there are, in a tree of 64 levels or fewer",
                     "");
  if (!node_transform(g, node, &own)) return 0;
  t = multiply(above, &own);
  const long mesh = integer(node, "mesh", LONG_MAX);
  const ga__tree *list =
      mesh == LONG_MAX ? NULL : member(item(member(g->root, "meshes"), mesh), "primitives");
  if (mesh != LONG_MAX && (!list || list->kind != GA__TREE_LIST))
    return report_at(g, node, "a mesh with primitives", "");
  for (int i = 0; list && i < list->n; i++)
    if (!read_primitive(g, list->child[i], &t)) return 0;
  for (int i = 0; below && below->kind == GA__TREE_LIST && i < below->n; i++) {
    const ga__tree *child = below->child[i];
    if (child->kind != GA__TREE_SCALAR || !read_node(g, atol(child->text), &t, depth + 1)) return 0;
  }
  return 1;
}

static int read_scene(gltf *g)
{
  const transform one = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  const ga__tree *scene = item(member(g->root, "scenes"), integer(g->root, "scene", 0)),
                 *nodes = member(scene, "nodes");
  g->points = g->triangles = 0;
  if (!nodes) return report_at(g, g->root, "a scene with nodes", "");
  for (int i = 0; nodes->kind == GA__TREE_LIST && i < nodes->n; i++)
    if (nodes->child[i]->kind != GA__TREE_SCALAR || !read_node(g, atol(nodes->child[i]->text), &one, 0))
      return 0;
  return 1;
}

/* ---- The file ---- */

/* Finds JSON and data of .glb. */
static int open_pieces(ga__surface *c, buffer *json, buffer *binary)
{
  const unsigned char *b = (const unsigned char *)c->text;
  char found[96];
  if (c->length < GLB_HEADER + PIECE_HEADER || word_at(b + 4) != 2 || word_at(b + 8) > c->length) {
    snprintf(found, sizeof found, "%zu bytes", c->length);
    return ga__surface_report(c, "version 2 of .glb, with as many bytes as it says", found);
  }
  for (size_t at = GLB_HEADER; at + PIECE_HEADER <= c->length;) {
    const size_t n = word_at(b + at);
    const int is_json = memcmp(b + at + 4, "JSON", 4) == 0, is_data = memcmp(b + at + 4, "BIN", 4) == 0;
    if (n > c->length - at - PIECE_HEADER) {
      snprintf(found, sizeof found, "%zu bytes at byte %zu of %zu", n, at, c->length);
      return ga__surface_report(c, "pieces of .glb within the file", found);
    }
    if (is_json && !json->bytes) *json = (buffer){b + at + PIECE_HEADER, n};
    if (is_data && !binary->bytes) *binary = (buffer){b + at + PIECE_HEADER, n};
    at += PIECE_HEADER + n;
  }
  return json->bytes ? 1 : ga__surface_report(c, "a piece JSON in .glb", "");
}

int ga__read_gltf(ga__surface *c)
{
  ga__reading *r = c->reader->r;
  const buffer whole = {(const unsigned char *)c->text, c->length};
  buffer json = {NULL, 0}, binary = {NULL, 0};
  ga__pool pool = {.ctx = r->ctx};
  ga__forest forest = {&pool, r->messages, GA__TREE_NODES, 0};
  gltf g = {.c = c};
  int good = 1;
  if (c->length >= 4 && memcmp(c->text, "glTF", 4) == 0)
    good = open_pieces(c, &json, &binary);
  else
    json = whole;
  const size_t before = (size_t)ga__errors(r->messages);
  if (good && ga__tree_read(&forest, c->file, (const char *)json.bytes, json.length, &g.root))
    r->failed = 1, good = 0;
  if (good && ((size_t)ga__errors(r->messages) > before || !g.root))
    good = g.root || (size_t)ga__errors(r->messages) > before ? 0 : ga__surface_report(c, "JSON", "");
  good = good && open_buffers(&g, binary) && read_scene(&g);
  good = good && ga__surface_reserve(c, g.points, g.triangles);
  g.fill = 1;
  good = good && read_scene(&g);
  c->n_points = g.points, c->n_triangles = g.triangles;
  for (int i = 0; i < MOST_BUFFERS; i++) ga__free(r->ctx, g.owned[i]);
  ga__pool_destroy(&pool);
  return good;
}
