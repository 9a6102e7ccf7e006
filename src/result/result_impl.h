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
 * HDF5 may write its own structures at any moment and in any order; a process that is killed in between
 * leaves a file that does not open. The store is a file driver that keeps all of them in memory, by pages,
 * until ga__store_commit() writes them in an order in which every state on disk is a complete file:
 *
 *   1. values (chunks) are written at once, but to places that no committed structure refers to, or to
 *      records beyond the committed length;
 *   2. the superblock, with the new end of the file: up to there readers go;
 *   3. pages other than the first: what they describe, beyond the committed lengths, nobody looks up;
 *   4. the first page, by one write: it has the lengths of all datasets and the table of checkpoints, so that
 *      new records appear together or not at all.
 *
 * A write within one page of the system is not torn by a kill. No structure of up to a page crosses a page's
 * border. After the first failure (full disk) nothing is written any more, and HDF5 is told that all is well,
 * so that it can be closed in order; the file stays as it was last committed. A file that others have made
 * shorter in the meantime, deleted, moved or replaced is such a failure, too. */

enum { GA__PAGE = 4096 };

typedef struct ga__page {
  haddr_t number; /* address/GA__PAGE */
  unsigned char bytes[GA__PAGE];
} ga__page;

typedef struct ga__store {
  H5FD_t head; /* first: all that HDF5 knows of */
  ga_context *ctx;
  int fd;               /* -1: closed */
  int failure;          /* errno of the first failure; 0: none */
  const char *loss;     /* what others did to the file; NULL: nothing. Then failure is ESTALE */
  int folder;           /* where it lies; -1: not known */
  char *base;           /* its name there */
  uint64_t size;        /* of the file on disk, as far as we have written it */
  haddr_t eoa, eof;     /* end of what HDF5 has taken; end of what was written, pages in memory included */
  int n_pages, room;    /* pages held back, in ascending order; pages there is memory for */
  ga__page **pages;     /* [room] those behind n_pages are spare */
  hid_t driver, access; /* HDF5's names for the driver, and for the way to open files with it */
} ga__store;

/* Opens (1: replaces) the file for writing and locks it against other writers; path is for messages only
 * after that. */
ga_status ga__store_open(ga_context *ctx, const char *path, int replace, ga__store *store);
/* 0, or errno. lengths_first: where records are dropped, the new lengths have to be there before anything
 * else. */
int ga__store_commit(ga__store *store, int lengths_first);
void ga__store_close(ga__store *store); /* after H5Fclose() and the last commit; a closed one is fine */

/* ---- Blocks of values (pack.c) ------------------------------------------------------------------------- */

/* What HDF5's filters "shuffle" (8 bytes) and "deflate" make of n numbers, into out[8n]; signals of `run`
 * numbers each follow one another. 0: it would not be shorter, or there is no memory. work[8n]. */
size_t ga__pack(ga_context *ctx, unsigned char *out, unsigned char *work, const double *values, size_t n,
                size_t run);

/* ---- Around HDF5 (hdf.c) ------------------------------------------------------------------------------- */

/* HDF5 prints its errors unless told otherwise, and loads shared libraries for filters it does not know;
 * these keep it from both between a public function's begin and end. */
typedef struct ga__hdf5_messages {
  H5E_auto2_t print;
  void *user;
  unsigned plugins;
} ga__hdf5_messages;
ga__hdf5_messages ga__hdf5_mute(void);
void ga__hdf5_unmute(const ga__hdf5_messages *quiet);

/* A dataset of this file itself: links, other files that hold its numbers, virtual datasets, and chunks
 * larger than any of ours are refused. Negative: there is none. */
hid_t ga__open_own(hid_t file, const char *name, hid_t access);
/* 1: names are shown, and put into tables and pictures: not empty, no control characters. */
int ga__is_shown(const char *name);

hid_t ga__text_type(size_t size); /* UTF-8 of up to size bytes, padded with zeros; negative on failure */
int ga__text_attribute(hid_t object, const char *name, const char *value,
                       size_t size); /* size 0: as long as value */
/* The file cannot be opened, written, ...; error is errno, 0: HDF5 reports damage. */
ga_status ga__no_file(ga_context *ctx, const char *path, const char *doing, int error);
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
 * The block that is not full is written over and over in its place, so that a sum beside it, as HDF5's own
 * filter has, would be wrong whenever a process is killed in between. The tail is part of the first page and
 * changes with the lengths. Files without /sums have none to compare with. */

enum { GA__TAIL_FIRST, GA__TAIL_ROWS, GA__TAIL_SUM, GA__TAIL_MODEL, GA__TAIL_SIZE };

uint32_t ga__sum(uint32_t sum, const void *bytes, size_t n); /* goes on from `sum`, at first 0 */

/* A number and a title of comma-separated values (csv.c). */
void ga__put_number(FILE *file, double value);
void ga__put_title(FILE *file, const char *name, const char *unit);

/* What other files of the layer need of a result that is open. */
const char *ga__result_path(const ga_result *r);
int ga__result_rows(const ga_result *r); /* signals, and their error bars */
ga_context *ga__result_context(const ga_result *r);
/* 1: the numbers of the block that has this record are as they were written. */
int ga__result_block_is_sound(ga_result *r, long record);
const double *ga__result_mark(const ga_result *r); /* row of the checkpoint that counts; NULL: none */

double ga__checkpoint_sum(const double *saved, size_t n); /* an integer below 2^32 */

#endif
