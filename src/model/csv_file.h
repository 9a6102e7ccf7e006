/* Columns of numbers from CSV files. (csv_file.c) */
#ifndef GALPHA_MODEL_CSV_FILE_H
#define GALPHA_MODEL_CSV_FILE_H

#include "model/reader.h"

/* Two columns of a file, in SI units where the header has units. */
typedef struct ga__csv_columns {
  int n;
  double *value[2];            /* [n], of the document's memory */
  char unit[2][GA_TEXT_PIECE]; /* as the header has them; "": none */
} ga__csv_columns;

/* file: its name, within the model's folder; columns: two names or numbers from 1, NULL: the file has two.
 * The first has to ascend. Returns 0: what is wrong was reported, with the line of the file. */
int ga__csv_read(ga__reader *reader, const ga__tree *file, ga__tree *columns, ga__csv_columns *out);

#endif
