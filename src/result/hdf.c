/* Helpers for HDF5 that writing and reading share. */
#include "result/result_impl.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

ga__hdf5_messages ga__hdf5_mute(void)
{
  ga__hdf5_messages quiet = {NULL, NULL, 0};
  H5open(); /* first, since the initialisation of HDF5 would overwrite the settings */
  H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  H5PLget_loading_state(&quiet.plugins);
  H5PLset_loading_state(0);
  return quiet;
}

void ga__hdf5_unmute(const ga__hdf5_messages *quiet)
{
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->user);
  H5PLset_loading_state(quiet->plugins);
}

/* ---- Files of other origin ---- */

/* 1: every part of the path is a link to an object of this file. */
static int is_own_object(hid_t file, const char *name)
{
  char part[64];
  for (const char *end = name; *end; end++) {
    H5L_info_t link;
    end += strcspn(end, "/");
    if ((size_t)(end - name) >= sizeof part) return 0;
    memcpy(part, name, (size_t)(end - name));
    part[end - name] = '\0';
    if (H5Lget_info(file, part, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) return 0;
    if (!*end) break;
  }
  return 1;
}

/* 1: its numbers are in this file, in chunks that fit into memory. */
static int has_own_numbers(hid_t set)
{
  enum { LARGEST_CHUNK = 64 << 20 }; /* bytes; ours have up to 1 MiB */
  hid_t create = H5Dget_create_plist(set), type = H5Dget_type(set);
  hsize_t chunk[H5S_MAX_RANK];
  int good = 0;
  if (create >= 0 && type >= 0) {
    const H5D_layout_t layout = H5Pget_layout(create);
    good = layout == H5D_COMPACT || (layout == H5D_CONTIGUOUS && H5Pget_external_count(create) == 0);
    if (layout == H5D_CHUNKED) {
      const int rank = H5Pget_chunk(create, H5S_MAX_RANK, chunk);
      double bytes = (double)H5Tget_size(type);
      for (int i = 0; i < rank; i++) bytes *= (double)chunk[i];
      good = rank > 0 && bytes > 0.0 && bytes <= LARGEST_CHUNK;
    }
  }
  if (type >= 0) H5Tclose(type);
  if (create >= 0) H5Pclose(create);
  return good;
}

hid_t ga__open_own(hid_t file, const char *name, hid_t access)
{
  hid_t set = is_own_object(file, name) ? H5Dopen2(file, name, access) : -1;
  if (set < 0 || has_own_numbers(set)) return set;
  H5Dclose(set);
  return -1;
}

int ga__is_shown(const char *name)
{
  const unsigned char *c = (const unsigned char *)name;
  for (; *c; c++)
    if (*c < 0x20u || *c == 0x7Fu || (c[0] == 0xC2u && c[1] >= 0x80u && c[1] < 0xA0u)) return 0;
  return *name != '\0';
}

uint32_t ga__sum(uint32_t sum, const void *bytes, size_t n)
{
  enum { MOST = 1 << 30 }; /* zlib counts bytes with an int */
  const unsigned char *at = bytes;
  for (size_t part; n > 0; at += part, n -= part) {
    part = n < MOST ? n : MOST;
    sum = (uint32_t)crc32(sum, at, (uInt)part);
  }
  return sum;
}

hid_t ga__text_type(size_t size, H5T_cset_t set)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0) return type;
  if (H5Tset_size(type, size ? size : 1) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
      H5Tset_cset(type, set) < 0) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

int ga__text_attribute(hid_t object, const char *name, const char *value, size_t size)
{
  const size_t length = strlen(value); /* an empty value still has one byte, the end of the text */
  hid_t given = ga__text_type(length, H5T_CSET_UTF8),
        kept = ga__text_type(size ? size : length, H5T_CSET_UTF8), space = H5Screate(H5S_SCALAR);
  hid_t attribute = -1;
  int done = 0;
  if (given >= 0 && kept >= 0 && space >= 0)
    attribute = H5Acreate2(object, name, kept, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) done = H5Awrite(attribute, given, value) >= 0 && H5Aclose(attribute) >= 0;
  if (space >= 0) H5Sclose(space);
  if (kept >= 0) H5Tclose(kept);
  if (given >= 0) H5Tclose(given);
  return done ? 0 : -1;
}

ga_status ga__no_file(ga_context *ctx, const char *path, const char *doing, int error)
{
  return ga__refuse(ctx, GA_ERR_FILE, GA_REASON_FILE_ACCESS,
                    &(ga__facts){.file = path,
                                 .name = doing,
                                 .code = error,
                                 .detail = error ? strerror(error) : "HDF5 reports a damaged structure"});
}

ga_status ga__refuse_file_kind(ga_context *ctx, const char *path, const char *expected, const char *detail,
                               const char *advice)
{
  return ga__refuse(ctx, GA_ERR_FILE, GA_REASON_FILE_KIND,
                    &(ga__facts){.file = path, .expected = expected, .detail = detail, .other = advice});
}

char *ga__copy_text(ga_context *ctx, const char *text)
{
  const size_t size = strlen(text) + 1;
  char *copy = ga__alloc(ctx, size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

/* Heap sort, since the comparison of qsort() has no argument for the names. */
static void sift(int *order, const char *const *names, int at, int n)
{
  const int moving = order[at];
  for (int child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && strcmp(names[order[child + 1]], names[order[child]]) > 0) child++;
    if (strcmp(names[order[child]], names[moving]) <= 0) break;
    order[at] = order[child];
  }
  order[at] = moving;
}

void ga__sort_names(int *order, const char *const *names, int n)
{
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n / 2 - 1; i >= 0; i--) sift(order, names, i, n);
  for (int i = n - 1; i > 0; i--) {
    const int last = order[i];
    order[i] = order[0];
    order[0] = last;
    sift(order, names, 0, i);
  }
}

int ga__find_name(const int *order, const char *const *names, int n, const char *name)
{
  int low = 0, high = n;
  while (low < high) {
    const int middle = low + (high - low) / 2, sign = strcmp(names[order[middle]], name);
    if (sign == 0) return order[middle];
    if (sign < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

/* FNV-1a, 32 bits. */
double ga__checkpoint_sum(const double *saved, size_t n)
{
  const unsigned char *byte = (const unsigned char *)saved;
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < n * sizeof *saved; i++) sum = (sum ^ byte[i]) * 16777619u;
  return sum;
}

int ga_result_library(char *text, size_t size)
{
  if (!text) size = 0;
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return snprintf(text, size, "HDF5 %u.%u.%u", major, minor, release);
}

/* ---- Small files ---- */

int ga__write_matrix(hid_t file, const char *name, int rows, int cols, const double *numbers)
{
  const hsize_t size[2] = {(hsize_t)rows, (hsize_t)cols};
  const hid_t space = H5Screate_simple(2, size, NULL);
  hid_t set = -1;
  int done = 0;
  if (space >= 0) set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0)
    done = (rows == 0 || cols == 0 ||
            H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0) &&
           H5Dclose(set) >= 0;
  if (space >= 0) H5Sclose(space);
  return done;
}

int ga__write_names(ga_context *ctx, hid_t file, const char *name, int n, const char *const *names)
{
  size_t longest = 1;
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) > longest) longest = strlen(names[i]);
  const hsize_t size = (hsize_t)n;
  char *texts = ga__alloc(ctx, (size_t)n, longest);
  const hid_t type = ga__text_type(longest, H5T_CSET_ASCII), space = H5Screate_simple(1, &size, NULL);
  hid_t set = -1;
  int done = 0;
  for (int i = 0; texts && i < n; i++) memcpy(texts + (size_t)i * longest, names[i], strlen(names[i]));
  if (texts && type >= 0 && space >= 0)
    set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0)
    done = (n == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0) && H5Dclose(set) >= 0;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  ga__free(ctx, texts);
  return done;
}

ga_status ga__write_complete(ga_context *ctx, const char *path, ga__write_fn write, const void *what)
{
  const size_t room = strlen(path) + sizeof ".part";
  char *hidden = ga__alloc(ctx, room, 1);
  if (!hidden) return ga__no_memory(ctx, "the name of a file");
  snprintf(hidden, room, "%s.part", path);
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  errno = 0;
  const int done = write(ctx, what, hidden);
  ga__hdf5_unmute(&quiet);
  ga_status status = GA_OK;
  if (!done || rename(hidden, path)) {
    status = ga__no_file(ctx, path, "written", errno ? errno : EIO);
    remove(hidden);
  }
  ga__free(ctx, hidden);
  return status;
}
