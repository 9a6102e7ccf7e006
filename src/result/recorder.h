/* The recorder: layout.c creates and opens the file, recorder.c writes it. */
#ifndef GALPHA_RESULT_RECORDER_H
#define GALPHA_RESULT_RECORDER_H

#include "result/result_impl.h"
#include <time.h>

enum { GA__STATUS_SIZE = 256 };

struct ga_recorder {
  ga_context *ctx;
  char *path;
  ga__store store;
  hid_t file, values, time, table, saved[2]; /* negative: not open */
  hid_t sums, tail;                          /* negative: the file has no checksums */
  long n_sums;                               /* columns of /sums */
  uint32_t *column;                          /* [groups + 1] sums of a block */
  uint32_t model_sum;
  int m;                     /* signals */
  int rows, columns, groups; /* records of a block, signals of a chunk, chunks side by side */
  int compression;
  double *block;                /* [groups][columns][rows] */
  double *times;                /* [rows] */
  double *tile;                 /* records not yet in the block */
  int in_tile;                  /* their number */
  long n, first;                /* records so far; the first one of the block */
  unsigned char *packed, *work; /* [8 rows columns] */
  int plain;                    /* 1: chunks of the block are not compressed, or are in the file already */
  double last_t;                /* [s] of the last record; −infinity: none */
  long kept;                    /* records in the file on disk */
  long resume;                  /* records at the checkpoint, if the file is appended to */
  double flush_seconds;
  struct timespec flushed;
  double marks[2][GA__CP_COLUMNS]; /* the table of checkpoints */
  hid_t events;                    /* negative: the file has none */
  int n_event_names;
  long n_happened;
};

/* Sizes of blocks and chunks for r->m signals. */
void ga__layout_sizes(ga_recorder *r);
/* Creates the datasets of a new file; −1: HDF5 or the store failed. *status may become GA_ERR_MEMORY. */
int ga__layout_create(ga_recorder *r, const ga_recorder_opts *opts, ga_status *status);
/* Opens those of an existing file, and checks that it has the same signals. */
ga_status ga__layout_open(ga_recorder *r, const ga_recorder_opts *opts);

#endif
