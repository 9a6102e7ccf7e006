/* Meshes in HDF5:
 *
 *   /nodes            [n × 3] positions
 *   /M, /K            [N × N], N = 3 n or 6 n; or a group with data, indices and indptr of compressed rows or
 *                     columns, indices from 0
 *   /interface        [k] numbers of interface nodes, from 1, and /interface_names [k] texts; both may be
 *                     missing
 *   /recovery         [r × N], and /recovery_names [r]; likewise
 *   /stiffening       a group of matrices as M and K, by the names of their loads; likewise
 *
 * Only datasets of the file itself are read: links and numbers in other files are refused. */
#include "model/mesh.h"

#include <errno.h>
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MOST_NUMBERS 4e8 /* of a dataset */
enum { LONGEST_NAME = 128 };

/* HDF5 prints its errors and loads libraries for unknown filters. Between these two calls it does neither. */
typedef struct hdf_state {
  H5E_auto2_t print;
  void *user;
  unsigned plugins;
} hdf_state;

static hdf_state mute(void)
{
  hdf_state s = {NULL, NULL, 0};
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &s.print, &s.user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  H5PLget_loading_state(&s.plugins);
  H5PLset_loading_state(0);
  return s;
}

static void unmute(const hdf_state *s)
{
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, s->print, s->user);
  H5PLset_loading_state(s->plugins);
}

/* HDF5 as it is usually built serves one thread at a time; models may be read by several. */
static pthread_mutex_t hdf_lock = PTHREAD_MUTEX_INITIALIZER;

/* A file being read. */
typedef struct hdf {
  const ga__mesh_source *s;
  hid_t file;
} hdf;

/* Numbers of a dataset. */
typedef struct numbers {
  int rank, rows, cols; /* cols 1 where it has one dimension */
  double *value;        /* row by row; NULL: missing */
} numbers;

static int report(const hdf *h, const char *name, const char *detail)
{
  ga__report_error(h->s->r->messages, h->s->from, GA_REASON_MESH_DATASET,
                   &(ga__facts){.file = h->s->name, .name = name, .detail = detail});
  return 0;
}

static int out_of_memory(const hdf *h)
{
  h->s->r->failed = 1;
  return 0;
}

/* 1: the object exists in this file itself. */
static int is_there(const hdf *h, const char *name)
{
  H5L_info_t link;
  char part[64];
  const char *slash = strchr(name, '/');
  if (slash) {
    snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
    if (!is_there(h, part)) return 0;
  }
  return H5Lexists(h->file, name, H5P_DEFAULT) > 0 && H5Lget_info(h->file, name, &link, H5P_DEFAULT) >= 0 &&
         link.type == H5L_TYPE_HARD;
}

static int is_group(const hdf *h, const char *name)
{
  hid_t object = is_there(h, name) ? H5Oopen(h->file, name, H5P_DEFAULT) : -1;
  const int group = object >= 0 && H5Iget_type(object) == H5I_GROUP;
  if (object >= 0) H5Oclose(object);
  return group;
}

/* 1: the dataset's numbers are in this file. */
static int is_own(hid_t set)
{
  hid_t create = H5Dget_create_plist(set);
  if (create < 0) return 0;
  const H5D_layout_t layout = H5Pget_layout(create);
  const int own = layout == H5D_COMPACT || layout == H5D_CHUNKED ||
                  (layout == H5D_CONTIGUOUS && H5Pget_external_count(create) == 0);
  H5Pclose(create);
  return own;
}

static int read_values(const hdf *h, const char *name, hid_t set, hid_t space, int rank, numbers *out)
{
  hsize_t size[2] = {0, 1};
  if (H5Sget_simple_extent_ndims(space) != rank)
    return report(h, name, rank == 1 ? "it must have one dimension" : "it must have two dimensions");
  H5Sget_simple_extent_dims(space, size, NULL);
  hid_t type = H5Dget_type(set);
  const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  if (type >= 0) H5Tclose(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) return report(h, name, "it must hold numbers");
  if (size[0] < 1 || size[1] < 1 || size[0] > INT_MAX / 8 || size[1] > INT_MAX / 8 ||
      (double)size[0] * (double)size[1] > MOST_NUMBERS)
    return report(h, name, "it is empty, or too large");
  out->rank = rank, out->rows = (int)size[0], out->cols = (int)size[1];
  out->value = ga__alloc(h->s->r->ctx, (size_t)size[0], (size_t)size[1] * sizeof(double));
  if (!out->value) return out_of_memory(h);
  if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->value) < 0)
    return report(h, name, "it cannot be read");
  return 1;
}

static int read_numbers(const hdf *h, const char *name, int rank, numbers *out)
{
  *out = (numbers){0};
  hid_t set = is_there(h, name) ? H5Dopen2(h->file, name, H5P_DEFAULT) : -1;
  if (set < 0) return report(h, name, "there is no such dataset");
  hid_t space = H5Dget_space(set);
  int good = is_own(set) && space >= 0 ? read_values(h, name, set, space, rank, out)
                                       : report(h, name, "its numbers are in another file");
  if (space >= 0) H5Sclose(space);
  H5Dclose(set);
  if (!good) ga__free(h->s->r->ctx, out->value);
  if (!good) out->value = NULL;
  return good;
}

/* ---- Matrices ---- */

static int take_entries(const hdf *h, size_t n, ga__entries *e)
{
  ga_context *ctx = h->s->r->ctx;
  e->row = ga__alloc(ctx, n, sizeof *e->row);
  e->col = ga__alloc(ctx, n, sizeof *e->col);
  e->value = ga__alloc(ctx, n, sizeof *e->value);
  return e->row && e->col && e->value ? 1 : out_of_memory(h);
}

static int read_dense(const hdf *h, const char *name, ga__entries *e)
{
  numbers a;
  if (!read_numbers(h, name, 2, &a)) return 0;
  const size_t all = (size_t)a.rows * (size_t)a.cols;
  size_t n = 0;
  for (size_t i = 0; i < all; i++) n += a.value[i] != 0.0;
  *e = (ga__entries){.rows = a.rows, .cols = a.cols};
  const int good = n < INT_MAX / 2 ? take_entries(h, n, e) : report(h, name, "it is too large");
  for (size_t i = 0; i < all && good; i++)
    if (a.value[i] != 0.0) {
      e->row[e->n] = (int)(i / (size_t)a.cols);
      e->col[e->n] = (int)(i % (size_t)a.cols);
      e->value[e->n++] = a.value[i];
    }
  ga__free(h->s->r->ctx, a.value);
  return good;
}

static int is_index(double x, double end)
{
  return x >= 0 && x < end && x == floor(x);
}

/* data, indices, indptr: the matrix is symmetric, so rows and columns are interchangeable. */
static int read_compressed(const hdf *h, const char *name, int N, ga__entries *e)
{
  numbers part[3];
  static const char *const of[] = {"data", "indices", "indptr"};
  char full[3][64];
  int good = 1, n = 0;
  memset(part, 0, sizeof part);
  for (int i = 0; i < 3 && good; i++) {
    snprintf(full[i], sizeof full[i], "%s/%s", name, of[i]);
    good = read_numbers(h, full[i], 1, &part[i]);
  }
  if (good && part[0].rows != part[1].rows) good = report(h, full[1], "it must be as long as data");
  if (good && part[2].rows != N + 1)
    good = report(h, full[2], "it must have one number more than M has rows");
  *e = (ga__entries){.rows = N, .cols = N};
  if (good) good = take_entries(h, (size_t)part[0].rows, e);
  for (int c = 0; c < N && good; c++) {
    const double from = part[2].value[c], to = part[2].value[c + 1];
    if (!is_index(from, part[0].rows + 1.0) || !is_index(to, part[0].rows + 1.0) || from > to || from != n)
      good = report(h, full[2], "it must ascend from 0 to the length of data");
    for (; good && n < (int)to; n++) {
      if (!is_index(part[1].value[n], N))
        good = report(h, full[1], "it must be from 0 to the rows of M, less 1");
      if (!good) break;
      e->row[n] = (int)part[1].value[n];
      e->col[n] = c;
      e->value[n] = part[0].value[n];
      e->n = n + 1;
    }
  }
  if (good && n != part[0].rows) good = report(h, full[2], "it must ascend from 0 to the length of data");
  for (int i = 0; i < 3; i++) ga__free(h->s->r->ctx, part[i].value);
  return good;
}

static int read_matrix(const hdf *h, const char *name, int n_nodes, ga_sparse **out)
{
  ga__entries e = {0};
  int N = 0, good;
  if (is_group(h, name)) { /* its size: the length of indptr less one */
    numbers p;
    char full[64];
    snprintf(full, sizeof full, "%s/indptr", name);
    good = read_numbers(h, full, 1, &p);
    N = good ? p.rows - 1 : 0;
    if (good) ga__free(h->s->r->ctx, p.value);
    if (good && N != 3 * n_nodes && N != 6 * n_nodes)
      good = report(h, full, "it must have 1 + 3 or 1 + 6 numbers for each node");
    if (good) good = read_compressed(h, name, N, &e);
  } else {
    good = read_dense(h, name, &e);
  }
  if (good && !(*out = ga__entries_sparse(h->s->r->ctx, &e))) good = out_of_memory(h);
  ga__entries_free(h->s->r->ctx, &e);
  return good;
}

/* ---- Names ---- */

static int copy_names(const hdf *h, const char *name, hid_t set, hid_t type, int n, char **out)
{
  ga_context *ctx = h->s->r->ctx;
  const int variable = H5Tis_variable_str(type) > 0;
  const size_t size = variable ? sizeof(char *) : H5Tget_size(type);
  char *block = ga__alloc(ctx, (size_t)n, size);
  if (!block) return out_of_memory(h);
  hid_t space = H5Dget_space(set), native = H5Tget_native_type(type, H5T_DIR_ASCEND);
  int good = native >= 0 && H5Dread(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) >= 0;
  if (!good) report(h, name, "it cannot be read");
  for (int i = 0; i < n && good; i++) {
    char text[LONGEST_NAME] = "";
    const char *from = block + (size_t)i * size;
    size_t room = variable ? LONGEST_NAME - 1 : size;
    if (variable) memcpy(&from, block + (size_t)i * size, sizeof from);
    if (room > LONGEST_NAME - 1) room = LONGEST_NAME - 1;
    if (from) snprintf(text, sizeof text, "%.*s", (int)room, from);
    for (size_t k = strlen(text); k > 0 && text[k - 1] == ' '; k--) text[k - 1] = '\0';
    out[i] = ga__alloc(ctx, strlen(text) + 1, 1);
    if (!out[i]) good = out_of_memory(h);
    if (good) memcpy(out[i], text, strlen(text) + 1);
  }
  if (variable && native >= 0 && space >= 0) H5Dvlen_reclaim(native, space, H5P_DEFAULT, block);
  if (native >= 0) H5Tclose(native);
  if (space >= 0) H5Sclose(space);
  ga__free(ctx, block);
  return good;
}

static int read_names(const hdf *h, const char *name, int n, char **out)
{
  hid_t set = is_there(h, name) ? H5Dopen2(h->file, name, H5P_DEFAULT) : -1;
  if (set < 0) return report(h, name, "there is no such dataset");
  hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  int good;
  if (space < 0 || type < 0 || H5Tget_class(type) != H5T_STRING || !is_own(set))
    good = report(h, name, "it must hold texts");
  else if (H5Sget_simple_extent_npoints(space) != n)
    good = report(h, name, "it must have as many texts as there are numbers or rows of what it names");
  else
    good = copy_names(h, name, set, type, n, out);
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  H5Dclose(set);
  return good;
}

/* ---- Reading a file ---- */

static int read_nodes(const hdf *h, ga__mesh_data *d)
{
  numbers nodes;
  if (!read_numbers(h, "nodes", 2, &nodes)) return 0;
  d->position = nodes.value;
  d->n_nodes = nodes.rows;
  return nodes.cols == 3 ? 1 : report(h, "nodes", "it must have three columns");
}

static int read_interface(const hdf *h, ga__mesh_data *d)
{
  numbers nodes;
  if (!is_there(h, "interface")) return 1;
  if (!read_numbers(h, "interface", 1, &nodes)) return 0;
  d->interface_node = ga__alloc(d->ctx, (size_t)nodes.rows, sizeof *d->interface_node);
  d->interface_name = ga__alloc(d->ctx, (size_t)nodes.rows, sizeof *d->interface_name);
  int good = d->interface_node && d->interface_name ? 1 : out_of_memory(h);
  if (good) d->n_interface = nodes.rows;
  for (int i = 0; i < nodes.rows && good; i++) {
    if (!is_index(nodes.value[i] - 1, d->n_nodes))
      good = report(h, "interface", "it must hold numbers of nodes, from 1 on");
    d->interface_node[i] = good ? (int)nodes.value[i] - 1 : 0;
  }
  ga__free(d->ctx, nodes.value);
  return good && read_names(h, "interface_names", d->n_interface, d->interface_name);
}

static int read_recovery(const hdf *h, ga__mesh_data *d)
{
  numbers rows;
  if (!is_there(h, "recovery")) return 1;
  if (!read_numbers(h, "recovery", 2, &rows)) return 0;
  d->recovery = rows.value;
  if (rows.cols != d->mass->cols) return report(h, "recovery", "it must have as many columns as M");
  d->recovered_name = ga__alloc(d->ctx, (size_t)rows.rows, sizeof *d->recovered_name);
  if (!d->recovered_name) return out_of_memory(h);
  d->n_recovered = rows.rows;
  return read_names(h, "recovery_names", rows.rows, d->recovered_name);
}

/* ---- Stiffening ---- */

static herr_t count_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  (void)group, (void)name, (void)info;
  ++*(int *)user;
  return 0;
}

typedef struct stiffening_reader {
  const hdf *h;
  ga__mesh_data *d;
} stiffening_reader;

static herr_t read_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  const stiffening_reader *r = user;
  ga__mesh_data *d = r->d;
  char full[LONGEST_NAME + 16];
  (void)group, (void)info;
  if (strlen(name) >= LONGEST_NAME) return report(r->h, "stiffening", "the name of a load is too long") - 1;
  char *copy = ga__alloc(d->ctx, strlen(name) + 1, 1);
  if (!copy) return out_of_memory(r->h) - 1;
  memcpy(copy, name, strlen(name) + 1);
  d->load_name[d->n_stiffening] = copy;
  snprintf(full, sizeof full, "stiffening/%s", name);
  return read_matrix(r->h, full, d->n_nodes, &d->stiffening[d->n_stiffening++]) ? 0 : -1;
}

static int read_stiffening(const hdf *h, ga__mesh_data *d)
{
  int n = 0;
  if (!is_there(h, "stiffening")) return 1;
  if (!is_group(h, "stiffening")) return report(h, "stiffening", "it must be a group of matrices");
  hid_t group = H5Gopen2(h->file, "stiffening", H5P_DEFAULT);
  if (group < 0) return report(h, "stiffening", "it cannot be read");
  stiffening_reader r = {h, d};
  int good = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, count_link, &n) >= 0;
  if (good && !ga__mesh_take_stiffening(d, n))
    good = out_of_memory(h);
  else if (good)
    good = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, read_link, &r) >= 0;
  H5Gclose(group);
  return good;
}

int ga__mesh_hdf_read(const ga__mesh_source *s, ga__mesh_data *out)
{
  hdf h = {.s = s, .file = -1};
  pthread_mutex_lock(&hdf_lock);
  const hdf_state before = mute();
  *out = (ga__mesh_data){.ctx = s->r->ctx};
  FILE *probe = fopen(s->path, "rb");
  int good = 0;
  if (!probe)
    ga__report_error(s->r->messages, s->from, GA_REASON_FILE_ACCESS,
                     &(ga__facts){.kind = "", .file = s->name, .name = "read", .detail = strerror(errno)});
  else if ((h.file = H5Fopen(s->path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0)
    ga__report_error(s->r->messages, s->from, GA_REASON_FILE_KIND,
                     &(ga__facts){.kind = "", .file = s->name, .expected = "HDF5"});
  else
    good = read_nodes(&h, out) && read_matrix(&h, "M", out->n_nodes, &out->mass) &&
           read_matrix(&h, "K", out->n_nodes, &out->stiffness) && read_interface(&h, out) &&
           read_recovery(&h, out) && read_stiffening(&h, out);
  if (h.file >= 0) H5Fclose(h.file);
  if (probe) fclose(probe);
  unmute(&before);
  pthread_mutex_unlock(&hdf_lock);
  if (!good) ga__mesh_data_free(out);
  return good;
}
