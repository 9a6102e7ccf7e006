/* Triangles of surfaces from files.
 *
 *   STL, binary   80 bytes, the number n of triangles, n times a normal, three corners and 16 bits
 *   STL, text     lines "vertex x y z", three for each triangle
 *   OBJ           lines "v x y z", and "f i j k ..." with numbers from 1 on, or from -1 backwards;
 * "i/.../..." has the number first. Faces of more corners are fans of triangles
 *
 * Normals are those of the corners' order. In STL corners of neighbours are the same point where their
 * coordinates are equal. */
#include "model/surface_file.h"
#include "model/document.h"
#include "model/format.h"
#include "model/gltf_file.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const ga__extra EXTRA[] = {
    {"file", "text",
     "type mesh: a file .stl or .obj with its triangles, instead of points and triangles; `scale` says what "
     "unit it is in ([contact.md](contact.md#meshes))"},
    {"file", "text",
     "type mesh: a file .stl, .obj, .glb or .gltf with its triangles, instead of points and triangles; "
     "`scale` says what unit it is in ([view.md](view.md#shapes))"},
};

const struct ga__extra *ga__surface_extra(int drawn, int *n)
{
  *n = 1;
  return EXTRA + (drawn != 0);
}

typedef ga__surface scan;
#define report ga__surface_report
#define reserve ga__surface_reserve

int ga__surface_report(const ga__surface *c, const char *expected, const char *found)
{
  char piece[GA_TEXT_PIECE];
  const size_t n = strcspn(found, "\r\n");
  ga__name_quote(piece, found, (int)(n < 40 ? n : 40));
  ga__report_error(c->reader->r->messages, (ga__place){c->file, c->line, 1}, GA_REASON_SURFACE_FILE,
                   &(ga__facts){.kind = "", .expected = expected, .name = n ? piece : NULL});
  return 0;
}

/* ---- Points and triangles ---- */

int ga__surface_reserve(ga__surface *c, size_t points, size_t triangles)
{
  c->most_points = points, c->most_triangles = triangles;
  c->point = ga__room(c->reader, 3 * points + 1, sizeof *c->point);
  c->triangle = ga__room(c->reader, 3 * triangles + 1, sizeof *c->triangle);
  return c->point && c->triangle;
}

static int use_buckets(scan *c)
{
  for (c->n_buckets = 16; c->n_buckets < 2 * c->most_points; c->n_buckets *= 2) continue;
  c->bucket = ga__room(c->reader, c->n_buckets, sizeof *c->bucket);
  if (c->bucket) memset(c->bucket, 0, c->n_buckets * sizeof *c->bucket);
  return c->bucket != NULL;
}

static size_t hash_of(const double x[3])
{
  uint64_t sum = 14695981039346656037u;
  for (int i = 0; i < 3; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
    sum ^= sum >> 29;
  }
  return (size_t)sum;
}

/* The number of a point; the same for equal coordinates. */
static size_t number_point(scan *c, const double at[3])
{
  const double x[3] = {at[0] + 0.0, at[1] + 0.0, at[2] + 0.0}; /* −0 becomes 0 */
  size_t k = hash_of(x) & (c->n_buckets - 1);
  for (; c->bucket[k]; k = (k + 1) & (c->n_buckets - 1)) {
    const double *p = c->point + 3 * (c->bucket[k] - 1);
    if (p[0] == x[0] && p[1] == x[1] && p[2] == x[2]) return c->bucket[k] - 1;
  }
  memcpy(c->point + 3 * c->n_points, x, sizeof x);
  c->bucket[k] = ++c->n_points;
  return c->n_points - 1;
}

/* ---- STL ---- */

enum { HEADER = 84, RECORD = 50 };

static uint32_t word_at(const char *at)
{
  const unsigned char *b = (const unsigned char *)at;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int is_binary(const scan *c)
{
  return c->length >= HEADER && c->length == HEADER + (size_t)RECORD * word_at(c->text + 80);
}

static int read_binary(scan *c)
{
  const size_t n = word_at(c->text + 80);
  if (!reserve(c, 3 * n, n) || !use_buckets(c)) return 0;
  for (; c->n_triangles < n; c->n_triangles++)
    for (int k = 0; k < 3; k++) {
      double x[3];
      for (int i = 0; i < 3; i++) {
        float value;
        const uint32_t bits =
            word_at(c->text + HEADER + RECORD * c->n_triangles + 12 + 12 * (size_t)k + 4 * (size_t)i);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
          char place[64];
          snprintf(place, sizeof place, "a number that is not at byte %zu",
                   (size_t)HEADER + (size_t)RECORD * c->n_triangles + 12 + 12 * (size_t)k + 4 * (size_t)i);
          return report(c, "finite coordinates of every triangle", place);
        }
        x[i] = value;
      }
      c->triangle[3 * c->n_triangles + (size_t)k] = (double)number_point(c, x);
    }
  return 1;
}

/* ---- Texts ---- */

static int read_number(const scan *c, const char **at, double *value)
{
  *at += strspn(*at, " \t");
  const int sign = **at == '-' || **at == '+', bytes = ga__number_length(*at + sign);
  const ga__source source = {.ctx = c->reader->r->ctx, .text = *at + sign};
  if (bytes == 0) return 0;
  *value = NAN;
  ga__mute_errors(c->reader->r->ctx);
  const ga_status status = ga__read_number(value, &source, 0, bytes);
  ga__unmute_errors(c->reader->r->ctx);
  if (status && !(*value == 0.0)) return 0; /* numbers that underflow are 0 */
  if (**at == '-') *value = -*value;
  *at += sign + bytes;
  return isfinite(*value);
}

static int read_three(const scan *c, const char *at, double x[3])
{
  for (int i = 0; i < 3; i++)
    if (!read_number(c, &at, &x[i])) return report(c, "three numbers", at);
  return 1;
}

/* The line behind its first word, if that is `word`; NULL: it is another one. */
static const char *after(const char *line, const char *word)
{
  const size_t n = strlen(word);
  line += strspn(line, " \t");
  return strncmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == '\t') ? line + n : NULL;
}

static const char *next_line(scan *c, const char *line)
{
  line += strcspn(line, "\n");
  c->line++;
  return *line ? line + 1 : NULL;
}

static size_t count_words(const scan *c, const char *word)
{
  size_t n = 0;
  for (const char *line = c->text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
    n += after(line, word) != NULL;
  return n;
}

static int read_stl_text(scan *c)
{
  const size_t corners = count_words(c, "vertex");
  const char *first = c->text + strspn(c->text, " \t\r\n");
  if (strncmp(first, "solid", 5) != 0)
    return report(c, "an STL file: binary with as many triangles as it says, or beginning with 'solid'",
                  first);
  if (!reserve(c, corners, corners / 3) || !use_buckets(c)) return 0;
  size_t k = 0;
  c->line = 1;
  for (const char *line = c->text; line; line = next_line(c, line)) {
    const char *at = after(line, "vertex");
    double x[3];
    if (!at) continue;
    if (!read_three(c, at, x)) return 0;
    if (k < 3 * c->most_triangles) c->triangle[k++] = (double)number_point(c, x);
  }
  if (corners % 3 != 0) return report(c, "three lines 'vertex' for every triangle", "");
  c->n_triangles = corners / 3;
  return 1;
}

/* ---- OBJ ---- */

static size_t count_corners(const char *at)
{
  size_t n = 0;
  for (at += strspn(at, " \t"); *at && !strchr("\r\n#", *at); at += strspn(at, " \t"), n++)
    at += strcspn(at, " \t\r\n");
  return n;
}

static int read_face(scan *c, const char *at)
{
  double first = 0, before = 0;
  const size_t n = count_corners(at);
  if (n < 3) return report(c, "three corners of a face or more", at);
  for (size_t k = 0; k < n; k++) {
    double number;
    if (!read_number(c, &at, &number) || number != floor(number))
      return report(c, "the number of a point", at);
    at += strcspn(at, " \t\r\n"); /* of texture and normal */
    number = number < 0 ? (double)c->n_points + number : number - 1;
    if (!(number >= 0 && number < (double)c->most_points))
      return report(c, "the number of a point of the file", at);
    if (k == 0) first = number;
    if (k >= 2) {
      double *t = c->triangle + 3 * c->n_triangles++;
      t[0] = first, t[1] = before, t[2] = number;
    }
    before = number;
  }
  return 1;
}

static int read_obj(scan *c)
{
  size_t triangles = 0;
  for (const char *line = c->text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
    const char *at = after(line, "f");
    const size_t n = at ? count_corners(at) : 0;
    if (n > 2) triangles += n - 2;
  }
  if (!reserve(c, count_words(c, "v"), triangles)) return 0;
  c->line = 1;
  for (const char *line = c->text; line; line = next_line(c, line)) {
    const char *point = after(line, "v"), *face = after(line, "f");
    if (point && !read_three(c, point, c->point + 3 * c->n_points++)) return 0;
    if (face && !read_face(c, face)) return 0;
  }
  return 1;
}

/* ---- The file ---- */

static int ends_with(const char *name, const char *end)
{
  const size_t n = strlen(name), m = strlen(end);
  if (n < m) return 0;
  for (size_t i = 0; i < m; i++)
    if (tolower((unsigned char)name[n - m + i]) != end[i]) return 0;
  return 1;
}

static int read_any(scan *c, int drawn)
{
  const char *name = c->source.name;
  const int stl = ends_with(name, ".stl"), obj = ends_with(name, ".obj");
  if (drawn && (ends_with(name, ".glb") || ends_with(name, ".gltf"))) return ga__read_gltf(c);
  if (!stl && !obj)
    return report(c,
                  drawn ? "a file whose name ends with .stl, .obj, .glb or .gltf"
                        : "a file whose name ends with .stl or .obj",
                  name);
  if (stl && is_binary(c)) return read_binary(c);
  if (stl && c->length >= HEADER && strncmp(c->text, "solid", 5) != 0) {
    char found[96];
    snprintf(found, sizeof found, "%zu bytes for %lu triangles", c->length,
             (unsigned long)word_at(c->text + 80));
    return report(c, "84 bytes and 50 for each triangle of a binary STL file", found);
  }
  if (memchr(c->text, '\0', c->length))
    return report(c, stl ? "as many triangles as the file says, or a text" : "a text", "");
  return stl ? read_stl_text(c) : read_obj(c);
}

enum { MOST = 1000000 }; /* triangles; numbers of sides have to fit into an int */

int ga__read_surface_file(ga__reader *reader, ga__tree *part, int takes_file, int drawn, ga__surface *out)
{
  const ga__tree *tree = ga__map_get(part, "file");
  scan c = {.reader = reader, .line = 1};
  char *text = NULL;
  int good = 0;
  *out = c;
  if (!tree) return 1;
  const size_t before = ga__messages_enter(reader->r->messages, "file");
  if (!takes_file)
    ga__report_error(reader->r->messages, tree->at, GA_REASON_SURFACE_FILE,
                     &(ga__facts){.expected = "type mesh, and no points and triangles beside a file"});
  else if (ga__find_source(reader, tree, "meshes", &c.source))
    ga__file_load(reader->r, c.source.path, c.source.name, c.source.from, &text, &c.length);
  if (text) {
    c.text = text;
    c.file = ga__messages_add_file(reader->r->messages, c.source.name);
    if (c.file < 0)
      reader->r->failed = 1;
    else
      good = read_any(&c, drawn);
    if (good && c.n_triangles > MOST) good = report(&c, "a million triangles or fewer", "");
    if (good && drawn && c.n_triangles == 0) good = report(&c, "triangles", "");
  }
  if (good) *out = c;
  out->text = NULL;
  ga__free(reader->r->ctx, text);
  ga__messages_leave(reader->r->messages, before);
  return good;
}
