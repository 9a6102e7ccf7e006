/* Columns of numbers from CSV files. (csv_file.c) */
#ifndef GALPHA_MODEL_CSV_FILE_H
#define GALPHA_MODEL_CSV_FILE_H

#include "model/reader.h"

enum { GA__CSV_MOST = 3 };

/* Columns of a file, in SI units where the header has units. */
typedef struct ga__csv_columns {
  int n;
  double *value[GA__CSV_MOST];            /* [n], of the document's memory */
  char unit[GA__CSV_MOST][GA_TEXT_PIECE]; /* as the header has them; "": none */
} ga__csv_columns;

/* Values over a grid, a row of z for every x; of the document's memory. */
typedef struct ga__csv_grid {
  int nx, ny;
  double *x, *y, *z;
} ga__csv_grid;

/* file: its name, within the model's folder; columns: two names or numbers from 1, NULL: the file has two.
 * The first has to ascend. Returns 0: what is wrong was reported, with the line of the file. */
int ga__csv_read(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga__csv_columns *out);

/* A matrix, y in the first line and x in the first column, its corner empty or a title; or three columns x, y, z with
 * every point of the grid once, in any order. columns: which three. Returns as above. */
int ga__csv_read_grid(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga__csv_grid *out);

#endif
