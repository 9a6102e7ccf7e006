/* Internals of the result layer: the file as HDF5 writes it, compression of blocks, helpers around HDF5. */
#ifndef GALPHA_RESULT_IMPL_H
#define GALPHA_RESULT_IMPL_H

#include "base/base_impl.h"
#include "galpha/result.h"
#define H5_USE_110_API /* the same functions whatever version is installed, from 1.10 on */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>

/* "running", ..., by ga_run_status (result.c). */
enum { GA__N_RUN_STATUS = GA_RUN_FAILED + 1 };
extern const char *const ga__run_status_words[GA__N_RUN_STATUS];

/* ---- The file under HDF5 (store.c) ---------------------------------------------------------------------
 *
 * HDF5 may write its structures at any time and in any order; if the process is killed in between, the file
 * cannot be opened. The store is a file driver that keeps them in memory, by pages, until ga__store_commit()
 * writes them in an order in which every state on disk is a complete file:
 *
 *   1. values (chunks) are written at once, but to places that no committed structure refers to, or to
 *      records beyond the committed length;
 *   2. the superblock, with the new end of the file, which readers do not exceed;
 *   3. pages other than the first, which only describe data beyond the committed lengths;
 *   4. the first page, by one write: it has the lengths of all datasets and the table of checkpoints, so that
 *      new records appear together or not at all.
 *
 * A write within one page of the system is atomic under kill. No structure of up to a page crosses a page
 * boundary. After the first failure (full disk) nothing is written any more, and success is reported to HDF5,
 * so that it can be closed normally; the file stays as last committed. A file that another program truncated,
 * deleted, moved or replaced is such a failure too. */

enum { GA__PAGE = 4096 };

typedef struct ga__page {
  haddr_t number; /* address/GA__PAGE */
  unsigned char bytes[GA__PAGE];
} ga__page;

typedef struct ga__store {
  H5FD_t head; /* first, for HDF5 */
  ga_context *ctx;
  int fd;               /* -1: closed */
  int failure;          /* errno of the first failure; 0: none */
  const char *loss;     /* what another program did to the file; NULL: nothing. Then failure is ESTALE */
  int folder;           /* descriptor of its folder; -1: unknown */
  char *base;           /* its name there */
  uint64_t size;        /* of the file on disk, as written here */
  haddr_t eoa, eof;     /* end of HDF5's allocations; end of what was written, with pages in memory */
  int n_pages, room;    /* pages in memory, in ascending order; allocated pages */
  ga__page **pages;     /* [room] those after n_pages are spare */
  hid_t driver, access; /* HDF5's names for the driver, and for the way to open files with it */
} ga__store;

/* Opens (1: replaces) the file for writing and locks it against other writers; path is for messages only
 * after that. */
ga_status ga__store_open(ga_context *ctx, const char *path, int replace, ga__store *store);
/* Returns 0 or errno. lengths_first 1: the new lengths are written first, needed if records are dropped. */
int ga__store_commit(ga__store *store, int lengths_first);
void ga__store_close(ga__store *store); /* after H5Fclose() and the last commit; a closed one is fine */

/* ---- Blocks of values (pack.c) ------------------------------------------------------------------------- */

/* Compresses n numbers, signals of `run` numbers each, into out[8n] as HDF5's filters "shuffle" (8 bytes) and
 * "deflate" do. Returns the length; 0: it would not be shorter, or out of memory. work[8n]. */
size_t ga__pack(ga_context *ctx, unsigned char *out, unsigned char *work, const double *values, size_t n,
                size_t run);

/* ---- Helpers for HDF5 (hdf.c) -------------------------------------------------------------------------- */

/* Within a public function HDF5 must neither print errors nor load shared libraries for unknown filters, as
 * it does by default. */
typedef struct ga__hdf5_messages {
  H5E_auto2_t print;
  void *user;
  unsigned plugins;
} ga__hdf5_messages;
ga__hdf5_messages ga__hdf5_mute(void);
void ga__hdf5_unmute(const ga__hdf5_messages *quiet);

/* Opens a dataset of this file itself: links, external files, virtual datasets and too large chunks are
 * refused. Negative: none. */
hid_t ga__open_own(hid_t file, const char *name, hid_t access);
/* 1: a valid name for tables and pictures: not empty, no control characters. */
int ga__is_shown(const char *name);

/* Texts of up to size bytes of UTF-8, padded with zeros; negative on failure. In datasets they are declared as ASCII,
 * which programs read that know nothing else, as GNU Octave; in attributes as UTF-8. HDF5 does not convert one to the
 * other: texts that are read need the set of their own type. */
hid_t ga__text_type(size_t size, H5T_cset_t set);
int ga__text_attribute(hid_t object, const char *name, const char *value,
                       size_t size); /* size 0: as long as value */
/* The file cannot be opened, written, ...; error is errno, 0: HDF5 reports damage. */
ga_status ga__no_file(ga_context *ctx, const char *path, const char *doing, int error);
/* Matrices [rows × cols], by rows, and texts of one length, padded with zeros; 1: done. */
int ga__write_matrix(hid_t file, const char *name, int rows, int cols, const double *numbers);
int ga__write_names(ga_context *ctx, hid_t file, const char *name, int n, const char *const *names);
/* A file that appears when it is complete: `write` returns 1 when it has written all of it to the path given.
 */
typedef int (*ga__write_fn)(ga_context *ctx, const void *what, const char *path);
ga_status ga__write_complete(ga_context *ctx, const char *path, ga__write_fn write, const void *what);
/* The file is not what is expected; detail and advice may be NULL. */
ga_status ga__refuse_file_kind(ga_context *ctx, const char *path, const char *expected, const char *detail,
                               const char *advice);
char *ga__copy_text(ga_context *ctx, const char *text); /* NULL: no memory */

/* Numbers of names in the order of strcmp. */
void ga__sort_names(int *order, const char *const *names, int n);
int ga__find_name(const int *order, const char *const *names, int n, const char *name); /* -1: none */

/* ---- Checkpoints: rows of /checkpoint/table ------------------------------------------------------------ */

enum { GA__CP_SERIAL, GA__CP_TIME, GA__CP_RECORDS, GA__CP_COUNT, GA__CP_SUM, GA__CP_COLUMNS };

/* ---- Checksums ------------------------------------------------------------------------------------------
 *
 *   /sums [groups+1 × blocks]   CRC-32 of the numbers of every chunk of the blocks that are full, time last
 *   /tail [4]                   the block that is not: its first record, number of records, CRC-32 of all its
 * numbers, signal by signal and then time; and the CRC-32 of the model's text
 *
 * The block that is not full is rewritten in place, so a sum next to it, as HDF5's own filter has, would be
 * wrong if the process is killed in between. The tail is part of the first page and changes with the lengths.
 * Files without /sums are not checked. */

enum { GA__TAIL_FIRST, GA__TAIL_ROWS, GA__TAIL_SUM, GA__TAIL_MODEL, GA__TAIL_SIZE };

uint32_t ga__sum(uint32_t sum, const void *bytes, size_t n); /* goes on from `sum`, at first 0 */

/* A number and a title of comma-separated values (csv.c). */
void ga__put_number(FILE *file, double value);
void ga__put_title(FILE *file, const char *name, const char *unit);

/* Access to an open result for other files of the layer. */
const char *ga__result_path(const ga_result *r);
int ga__result_rows(const ga_result *r); /* signals, and their error bars */
ga_context *ga__result_context(const ga_result *r);
/* 1: the block with this record agrees with its checksums. */
int ga__result_block_is_sound(ga_result *r, long record);
const double *ga__result_mark(const ga_result *r); /* row of the checkpoint that counts; NULL: none */

double ga__checkpoint_sum(const double *saved, size_t n); /* an integer below 2^32 */

#endif
