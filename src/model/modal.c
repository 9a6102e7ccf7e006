/* Parts of type modal: their files, their interface nodes and their reduction. */
#include "model/document.h"
#include "model/fields.h"
#include "model/format.h"
#include "model/mesh.h"
#include "mbs/mesh_loads.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const ga__extra EXTRA[] = {
    {"file", "text", "HDF5 file with datasets nodes, M and K ([flexible.md](flexible.md#modal-bodies))"},
    {"mass_matrix", "text", "instead of file: Matrix Market file (.mtx) with the mass matrix"},
    {"stiffness_matrix", "text", "with mass_matrix: file with the stiffness matrix"},
    {"nodes", "text", "with mass_matrix: file with the positions of the nodes, an array of three columns"},
    {"beam", "beam",
     "instead of files: a beam whose matrices are reduced, a map with a beam's keys of length or ends, "
     "curvature, elements and section"},
    {"interface", "interface",
     "nodes for joints and forces, counted from 1: `{root: 1, tip: 21}` makes the markers `name.root` and "
     "`name.tip`. For a beam: distances along its axis, `{root: 0, tip: 1 m}`. An HDF5 file may define them "
     "itself"},
    {"reduction", "text",
     "`craig_bampton` (default): static shapes for displacements of the interface nodes, and normal modes "
     "with these nodes fixed; or `free`: modes of the free body"},
    {"modes", "number", "number of normal modes, from the lowest; default 10"},
    {"max_frequency", "number", "highest frequency of these modes, in Hz; default: no limit"},
    {"keep", "numbers", "numbers of the resulting modes that are kept, counted from 1; default: all"},
    {"stiffening", "stiffening",
     "geometric stiffening: `true` (default for beams, and for files that contain it), `false`, or a map "
     "from loads to files with their matrices, `{spin_xx: xx.mtx, root_fx: root_x.mtx}` "
     "([flexible.md](flexible.md#geometric-stiffening))"},
    {"damping_ratios", "numbers",
     "instead of damping: damping ratios, one for each kept mode or one for all"},
};
enum { N_EXTRA = sizeof EXTRA / sizeof EXTRA[0] };

const struct ga__extra *ga__modal_extra(int *n)
{
  *n = N_EXTRA;
  return EXTRA;
}

/* What is read of one part. */
typedef struct modal_read {
  ga__reader *reader;
  ga__named *named;
  ga__mesh_data data;
  ga_reduction_opts opts;
  int *keep;
  double *damping;
} modal_read;

/* The value of a key, and messages are about it; NULL: it is not there. */
static ga__tree *enter(modal_read *m, const char *key, size_t *before)
{
  ga__tree *tree = ga__map_get(m->named->tree, key);
  if (tree) *before = ga__messages_enter(m->reader->r->messages, key);
  return tree;
}

static void leave(modal_read *m, size_t before)
{
  ga__messages_leave(m->reader->r->messages, before);
}

/* ---- Files ---- */

int ga__find_source(ga__reader *reader, const ga__tree *tree, const char *what, ga__mesh_source *out)
{
  const char *name;
  if (!ga__value_text(reader->r, tree, &name)) return 0;
  *out = (ga__mesh_source){.r = reader->r, .name = name, .from = tree->at};
  if (!reader->folder) {
    ga__report_error(reader->r->messages, tree->at, GA_REASON_NO_FOLDER, &(ga__facts){.name = what});
    return 0;
  }
  if (ga__leaves_folder(name)) {
    ga__report_error(reader->r->messages, tree->at, GA_REASON_PATH_REFUSED,
                     &(ga__facts){.name = name,
                                  .detail = "it is not within the model's folder",
                                  .expected = "a file within it"});
    return 0;
  }
  const size_t size = strlen(reader->folder) + strlen(name) + 2;
  char *path = ga__room(reader, size, 1);
  if (!path) return 0;
  snprintf(path, size, "%s/%s", reader->folder, name);
  out->path = path;
  ga__file_digest(reader->r, path);
  return 1;
}

static int read_matrix(modal_read *m, const char *key, ga__entries *e)
{
  size_t before = 0;
  ga__mesh_source source;
  const ga__tree *tree = enter(m, key, &before);
  if (!tree) {
    ga__report_error(
        m->reader->r->messages, m->named->tree->key_at, GA_REASON_KEY_MISSING,
        &(ga__facts){.field = key, .expected = "a file of Matrix Market, or `file`, one of HDF5"});
    return 0;
  }
  const int good = ga__find_source(m->reader, tree, "matrices", &source) && ga__matrix_file_read(&source, e);
  leave(m, before);
  return good;
}

static int read_positions(modal_read *m)
{
  ga__entries e = {0};
  if (!read_matrix(m, "nodes", &e)) return 0;
  int good = e.cols == 3;
  const ga__tree *tree = ga__map_peek(m->named->tree, "nodes");
  if (!good)
    ga__report_error(m->reader->r->messages, tree->at, GA_REASON_MESH_COLUMNS,
                     &(ga__facts){.field = "nodes", GA__NUMBERS({e.cols, NULL})});
  if (good) {
    m->data.n_nodes = e.rows;
    m->data.position = ga__alloc(m->reader->r->ctx, 3 * (size_t)e.rows, sizeof(double));
    if (!m->data.position) m->reader->r->failed = 1, good = 0;
  }
  for (int i = 0; i < e.n && good; i++) m->data.position[3 * e.row[i] + e.col[i]] = e.value[i];
  ga__entries_free(m->reader->r->ctx, &e);
  return good;
}

static int read_sparse(modal_read *m, const char *key, ga_sparse **out)
{
  ga__entries e = {0};
  if (!read_matrix(m, key, &e)) return 0;
  *out = ga__entries_sparse(m->reader->r->ctx, &e);
  ga__entries_free(m->reader->r->ctx, &e);
  if (!*out) m->reader->r->failed = 1;
  return *out != NULL;
}

static int read_files(modal_read *m)
{
  static const char *const apart[] = {"mass_matrix", "stiffness_matrix", "nodes"};
  size_t before = 0;
  ga__mesh_source source;
  const ga__tree *file = enter(m, "file", &before);
  if (!file) {
    m->data.ctx = m->reader->r->ctx;
    return read_sparse(m, apart[0], &m->data.mass) & read_sparse(m, apart[1], &m->data.stiffness) &
           read_positions(m);
  }
  const int good =
      ga__find_source(m->reader, file, "matrices", &source) && ga__mesh_hdf_read(&source, &m->data);
  leave(m, before);
  for (int i = 0; i < 3; i++) {
    const ga__tree *also = ga__map_get(m->named->tree, apart[i]);
    if (!also) continue;
    ga__report_error(m->reader->r->messages, also->key_at, GA_REASON_BOTH_GIVEN,
                     &(ga__facts){.name = "file", .other = apart[i]});
    return 0;
  }
  return good;
}

/* ---- Interface nodes: those of the model instead of those of the file ---- */

static void drop_interface(ga__mesh_data *d)
{
  for (int i = 0; i < d->n_interface; i++) ga__free(d->ctx, d->interface_name[i]);
  ga__free(d->ctx, d->interface_node);
  ga__free(d->ctx, d->interface_name);
  d->n_interface = 0;
  d->interface_node = NULL;
  d->interface_name = NULL;
}

static int read_interface(modal_read *m)
{
  size_t before = 0;
  ga__reading *r = m->reader->r;
  ga__mesh_data *d = &m->data;
  const ga__tree *tree = enter(m, "interface", &before);
  if (!tree) return 1;
  int good = ga__expect_map(r, tree);
  drop_interface(d);
  if (good) {
    d->interface_node = ga__alloc(d->ctx, (size_t)tree->n, sizeof *d->interface_node);
    d->interface_name = ga__alloc(d->ctx, (size_t)tree->n, sizeof *d->interface_name);
    if (!d->interface_node || !d->interface_name) r->failed = 1, good = 0;
  }
  for (int i = 0; good && i < tree->n; i++) {
    ga__tree *child = tree->child[i];
    long number = 0;
    const size_t inner = ga__messages_enter(r->messages, child->key);
    child->used = 1;
    good = ga__value_int(r, child, 1, d->n_nodes, &number);
    leave(m, inner);
    char *name = ga__alloc(d->ctx, strlen(child->key) + 1, 1);
    if (!name) r->failed = 1, good = 0;
    if (!name) break;
    memcpy(name, child->key, strlen(child->key) + 1);
    d->interface_name[i] = name;
    d->interface_node[i] = (int)number - 1;
    d->n_interface = i + 1;
  }
  leave(m, before);
  return good;
}

/* ---- Stiffening ---- */

int ga__mesh_take_stiffening(ga__mesh_data *d, int n)
{
  d->stiffening = ga__alloc(d->ctx, (size_t)n, sizeof(ga_sparse *));
  d->load_name = ga__alloc(d->ctx, (size_t)n, sizeof(char *));
  return d->stiffening && d->load_name;
}

static void drop_stiffening(ga__mesh_data *d)
{
  for (int i = 0; i < d->n_stiffening; i++) {
    ga_sparse_destroy(d->ctx, &d->stiffening[i]);
    ga__free(d->ctx, d->load_name[i]);
  }
  ga__free(d->ctx, d->stiffening);
  ga__free(d->ctx, d->load_name);
  d->stiffening = NULL;
  d->load_name = NULL;
  d->n_stiffening = 0;
}

void ga__mesh_data_free(ga__mesh_data *d)
{
  ga_context *ctx = d->ctx;
  if (!ctx) return;
  for (int i = 0; i < d->n_recovered; i++) ga__free(ctx, d->recovered_name[i]);
  drop_interface(d);
  drop_stiffening(d);
  void *const block[] = {d->position, d->recovery, d->recovered_name};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  ga_sparse_destroy(ctx, &d->mass);
  ga_sparse_destroy(ctx, &d->stiffness);
  *d = (ga__mesh_data){0};
}

/* A matrix of Market for each load that the model names. */
static int read_stiffening_files(modal_read *m, const ga__tree *tree)
{
  ga__reading *r = m->reader->r;
  ga__mesh_data *d = &m->data;
  drop_stiffening(d);
  if (!ga__mesh_take_stiffening(d, tree->n)) r->failed = 1;
  int good = !r->failed;
  for (int i = 0; i < tree->n && good; i++) {
    ga__tree *child = tree->child[i];
    ga__entries e = {0};
    ga__mesh_source source;
    const size_t inner = ga__messages_enter(r->messages, child->key);
    child->used = 1;
    good = ga__find_source(m->reader, child, "matrices", &source) && ga__matrix_file_read(&source, &e);
    leave(m, inner);
    if (good) {
      d->load_name[i] = ga__alloc(d->ctx, strlen(child->key) + 1, 1);
      d->stiffening[i] = ga__entries_sparse(d->ctx, &e);
      d->n_stiffening = i + 1;
      if (!d->load_name[i] || !d->stiffening[i]) r->failed = 1, good = 0;
      if (d->load_name[i]) memcpy(d->load_name[i], child->key, strlen(child->key) + 1);
    }
    ga__entries_free(r->ctx, &e);
  }
  return good;
}

/* true, false, or files. is_beam: files are not possible. */
static int read_stiffening(modal_read *m, int is_beam)
{
  ga__reading *r = m->reader->r;
  size_t before = 0;
  int on = 1, good;
  const ga__tree *tree = enter(m, "stiffening", &before);
  if (!tree) return 1;
  if (tree->kind == GA__TREE_MAP && !is_beam) {
    good = read_stiffening_files(m, tree);
  } else {
    good = ga__value_bool(r, tree, &on);
    m->opts.no_stiffening = !on;
    if (good && on && !is_beam && m->data.n_stiffening == 0) {
      ga__report_error(r->messages, tree->at, GA_REASON_NO_STIFFENING, &(ga__facts){.field = "stiffening"});
      good = 0;
    }
  }
  leave(m, before);
  return good;
}

static int find_load(const ga__mesh_data *d, const char *name)
{
  for (int i = 0; i < d->n_stiffening; i++)
    if (strcmp(d->load_name[i], name) == 0) return i;
  return -1;
}

/* Matrices in the order of ga_mesh.stiffening; all loads but moments must be there, and no others. */
static int sort_stiffening(modal_read *m, int dofs, const ga_sparse ***out)
{
  ga__reading *r = m->reader->r;
  const ga__mesh_data *d = &m->data;
  const int n = GA_MESH_SPIN_LOADS + dofs * d->n_interface;
  const ga__tree *where = ga__map_peek(m->named->tree, "stiffening");
  if (!where) where = ga__map_peek(m->named->tree, "file");
  const ga__place at = where ? where->at : m->named->tree->key_at;
  *out = NULL;
  if (d->n_stiffening == 0 || m->opts.no_stiffening) return 1;
  const ga_sparse **sorted = ga__room(m->reader, (size_t)n, sizeof *sorted);
  int *used = ga__room(m->reader, (size_t)d->n_stiffening, sizeof *used), good = sorted && used;
  for (int i = 0; i < n && good; i++) {
    char name[160];
    ga__mesh_load_name(name, sizeof name, i, dofs, (const char *const *)d->interface_name);
    const int k = find_load(d, name),
              is_moment = i >= GA_MESH_SPIN_LOADS && (i - GA_MESH_SPIN_LOADS) % dofs >= 3;
    sorted[i] = k < 0 ? NULL : d->stiffening[k];
    if (k >= 0) used[k] = 1;
    if (k >= 0 || is_moment) continue;
    ga__report_error(r->messages, at, GA_REASON_LOAD_MISSING,
                     &(ga__facts){.field = "stiffening", .name = name});
    good = 0;
  }
  for (int k = 0; k < d->n_stiffening && good; k++) {
    if (used[k]) continue;
    ga__report_error(r->messages, at, GA_REASON_LOAD_UNKNOWN,
                     &(ga__facts){.field = "stiffening", .name = d->load_name[k]});
    good = 0;
  }
  *out = sorted;
  return good;
}

/* ---- The reduction ---- */

/* A number or a list of them; NULL: none, and *n is 0. */
static int read_list(modal_read *m, const char *key, int *n, double **out)
{
  size_t before = 0;
  ga__reading *r = m->reader->r;
  const ga__tree *tree = enter(m, key, &before);
  *n = 0, *out = NULL;
  if (!tree) return 1;
  const int is_list = tree->kind == GA__TREE_LIST, count = is_list ? tree->n : 1;
  int good = count > 0 || ga__report_count(r, tree, "at least one number", 0, NULL);
  if (good && !(*out = ga__room(m->reader, (size_t)count, sizeof **out))) good = 0;
  for (int i = 0; good && i < count; i++)
    good = ga__value_number(r, is_list ? tree->child[i] : tree, "1", &(*out)[i]);
  *n = good ? count : 0;
  leave(m, before);
  return good;
}

static int read_keep(modal_read *m)
{
  double *number;
  int n;
  const ga__tree *tree = ga__map_peek(m->named->tree, "keep");
  if (!read_list(m, "keep", &n, &number)) return 0;
  if (n == 0) return 1;
  int *keep = ga__room(m->reader, (size_t)n, sizeof *keep);
  if (!keep) return 0;
  for (int i = 0; i < n; i++) {
    if (!(number[i] >= 1 && number[i] < 1e6 && number[i] == floor(number[i])) ||
        (i > 0 && number[i] <= number[i - 1])) {
      const size_t before = ga__messages_enter(m->reader->r->messages, "keep");
      ga__report_range(m->reader->r, tree, number[i], NULL, "numbers from 1 on, ascending");
      leave(m, before);
      return 0;
    }
    keep[i] = (int)number[i];
  }
  m->opts.n_keep = n;
  m->opts.keep = keep;
  return 1;
}

static int read_options(modal_read *m)
{
  static const char *const kinds[] = {"craig_bampton", "free"};
  ga__reading *r = m->reader->r;
  size_t before = 0;
  int good = 1, kind = 0;
  long modes;
  const ga__tree *tree;
  m->opts = ga_reduction_defaults();
  if ((tree = enter(m, "reduction", &before))) {
    good &= ga__value_choice(r, tree, 2, kinds, &kind);
    m->opts.kind = (ga_reduction_kind)kind;
    leave(m, before);
  }
  if ((tree = enter(m, "modes", &before))) {
    if (ga__value_int(r, tree, 0, INT_MAX, &modes))
      m->opts.modes = (int)modes;
    else
      good = 0;
    leave(m, before);
  }
  if ((tree = enter(m, "max_frequency", &before))) {
    good &= ga__value_number(r, tree, "Hz", &m->opts.max_frequency);
    if (good && !(m->opts.max_frequency > 0))
      good = ga__report_range(r, tree, m->opts.max_frequency, "Hz", "> 0");
    leave(m, before);
  }
  good &= read_keep(m);
  good &= read_list(m, "damping_ratios", &m->opts.n_damping, &m->damping);
  m->opts.damping = m->damping;
  return good;
}

/* ---- Beams ---- */

static int read_places(modal_read *m, double *at, const char **name)
{
  size_t before = 0;
  ga__reading *r = m->reader->r;
  const ga__tree *tree = enter(m, "interface", &before);
  int good = !tree || ga__expect_map(r, tree);
  for (int i = 0; good && tree && i < tree->n; i++) {
    const size_t inner = ga__messages_enter(r->messages, tree->child[i]->key);
    tree->child[i]->used = 1;
    good = ga__value_number(r, tree->child[i], "m", &at[i]);
    name[i] = tree->child[i]->key;
    leave(m, inner);
  }
  if (tree) leave(m, before);
  return good;
}

static const ga_modal_body *keep_body(modal_read *m, ga_status status, ga_modal_body *body);

/* The beam as a part of its own has it, without name and type. */
static const ga_modal_body *reduce_beam(modal_read *m, ga__tree *beam)
{
  ga__reader *reader = m->reader;
  const ga__part_type *kind = ga__part_type_of(GA__PART_BEAM);
  const ga__tree *interface = ga__map_peek(m->named->tree, "interface");
  const int n = interface && interface->kind == GA__TREE_MAP ? interface->n : 0;
  ga__owner owner = {.type_key = "type", .kind = -1};
  ga_beam_def def;
  ga_modal_body *body = NULL;
  double *at = ga__room(reader, (size_t)n + 1, sizeof *at);
  const char **name = ga__room(reader, (size_t)n + 1, sizeof *name);
  if (!at || !name || !ga__expect_map(reader->r, beam)) return NULL;
  kind->defaults(&def);
  const size_t before = ga__messages_enter(reader->r->messages, "beam");
  int good = ga__read_fields(reader, beam, kind->n_fields - 1, kind->fields + 1, &owner, &def);
  ga__finish_keys(reader, beam, kind->n_fields - 1, kind->fields + 1, &owner, 0, NULL);
  leave(m, before);
  good &= read_places(m, at, name);
  if (!good || reader->r->failed) return NULL;
  const ga_status status = ga_modal_body_create_beam(reader->r->ctx, &def, n, at, name, &m->opts, &body);
  return keep_body(m, status, body);
}

static void release_body(void *thing)
{
  ga_modal_body *body = thing;
  ga_modal_body_destroy(&body);
}

/* Names of the builder's fields in files. */
static const char *key_of(const char *field)
{
  static const char *const pair[][2] = {{"mass", "mass_matrix"},
                                        {"stiffness", "stiffness_matrix"},
                                        {"damping", "damping_ratios"},
                                        {"position", "nodes"}};
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
    if (strcmp(field, pair[i][0]) == 0) return pair[i][1];
  return field;
}

static const ga_modal_body *reduce(modal_read *m)
{
  ga__reader *reader = m->reader;
  const ga__mesh_data *d = &m->data;
  const int dofs = d->mass->rows >= 6 * d->n_nodes ? 6 : 3;
  ga_modal_body *body = NULL;
  const ga_sparse **stiffening;
  if (!sort_stiffening(m, dofs, &stiffening)) return NULL;
  const ga_mesh mesh = {.n_nodes = d->n_nodes,
                        .dofs = dofs,
                        .position = d->position,
                        .mass = d->mass,
                        .stiffness = d->stiffness,
                        .n_interface = d->n_interface,
                        .interface_node = d->interface_node,
                        .interface_name = (const char *const *)d->interface_name,
                        .n_recovered = d->n_recovered,
                        .recovery = d->recovery,
                        .recovered_name = (const char *const *)d->recovered_name,
                        .stiffening = stiffening};
  const ga_status status = ga_modal_body_create(reader->r->ctx, &mesh, &m->opts, &body);
  return keep_body(m, status, body);
}

/* Reports what was refused, or hands the body to the reader. */
static const ga_modal_body *keep_body(modal_read *m, ga_status status, ga_modal_body *body)
{
  ga__reader *reader = m->reader;
  if (status == GA_ERR_MEMORY) reader->r->failed = 1;
  if (status && status != GA_ERR_MEMORY) {
    const ga_error *error = &reader->r->ctx->error;
    const ga__tree *value = error->field[0] ? ga__map_peek(m->named->tree, key_of(error->field)) : NULL;
    if (!value) value = ga__map_peek(m->named->tree, "file");
    if (!value) value = ga__map_peek(m->named->tree, "beam");
    ga__report_found(reader->r->messages, value ? value->at : m->named->tree->key_at, error);
  }
  if (status) return NULL;
  return ga__keep(reader, body, release_body) ? body : NULL;
}

/* Files that are given beside a beam are reported. */
static int is_without_files(modal_read *m)
{
  static const char *const also[] = {"file", "mass_matrix", "stiffness_matrix", "nodes"};
  int good = 1;
  for (size_t i = 0; i < sizeof also / sizeof *also; i++) {
    const ga__tree *other = ga__map_peek(m->named->tree, also[i]);
    if (!other) continue;
    ga__report_error(m->reader->r->messages, other->key_at, GA_REASON_BOTH_GIVEN,
                     &(ga__facts){.name = "beam", .other = also[i]});
    good = 0;
  }
  return good;
}

const ga_modal_body *ga__read_modal(ga__reader *reader, ga__named *named)
{
  modal_read m = {.reader = reader, .named = named};
  if (named->modal) return named->modal; /* another round */
  ga__tree *beam = ga__map_get(named->tree, "beam");
  const int options = read_options(&m);
  if (beam) {
    const int good = read_stiffening(&m, 1) & is_without_files(&m) & options;
    return named->modal = good ? reduce_beam(&m, beam) : NULL;
  }
  const int files = read_files(&m);
  const int good = files && read_interface(&m) && read_stiffening(&m, 0) && options && !reader->r->failed;
  const ga_modal_body *body = good ? reduce(&m) : NULL;
  ga__mesh_data_free(&m.data);
  named->modal = body;
  return body;
}
