/* Property files of tyres, ".tir". (tyre_file.c) */
#ifndef GALPHA_MODEL_TYRE_FILE_H
#define GALPHA_MODEL_TYRE_FILE_H

#include "model/reader.h"

/* Reads the file that the key `tir` of a tyre names, if there is one, into def; keys of the tyre are read
 * later and take precedence. 0: something was reported. */
int ga__read_tyre_file(ga__reader *reader, ga__tree *tyre, ga_tyre_def *def);
/* Keys that it reads: name, value and about of each (format.h), and how many. */
const struct ga__extra *ga__tyre_extra(int *n);

#endif
