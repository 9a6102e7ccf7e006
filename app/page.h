/* Texts of a page: JSON that is safe within HTML, and arrays of numbers. */
#ifndef GALPHA_APP_PAGE_H
#define GALPHA_APP_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* A text in quotes. Everything that HTML could take for markup is escaped, "</script>" included. */
void app_page_text(FILE *to, const char *text);
/* A number; null where it is infinite or NaN. */
void app_page_number(FILE *to, double number);
/* Numbers in brackets, with commas. */
void app_page_numbers(FILE *to, int n, const double *numbers);
void app_page_base64(FILE *to, const void *bytes, size_t n);
/* The same in quotes. */
void app_page_bytes(FILE *to, const void *bytes, size_t n);

/* The page itself, made from viewer/: text before the data, and after them. */
extern const unsigned char app_viewer_page[];
extern const size_t app_viewer_length;

#endif
