/* Texts of a page: JSON that is safe within HTML, and arrays of numbers. */
#include "page.h"

#include <math.h>

void app_page_text(FILE *to, const char *text)
{
  putc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c < 0x20 || *c == '"' || *c == '\\' || *c == '<' || *c == '>' || *c == '&' || *c == 0x7f)
      fprintf(to, "\\u%04x", *c);
    else
      putc(*c, to);
  putc('"', to);
}

void app_page_number(FILE *to, double number)
{
  if (isfinite(number))
    fprintf(to, "%.12g", number);
  else
    fputs("null", to);
}

void app_page_numbers(FILE *to, int n, const double *numbers)
{
  for (int i = 0; i < n; i++) {
    putc(i ? ',' : '[', to);
    app_page_number(to, numbers[i]);
  }
  fputs(n ? "]" : "[]", to);
}

void app_page_base64(FILE *to, const void *bytes, size_t n)
{
  static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i += 3) {
    const unsigned long rest = n - i, word = (unsigned long)b[i] << 16 |
                                             (unsigned long)(rest > 1 ? b[i + 1] : 0) << 8 |
                                             (unsigned long)(rest > 2 ? b[i + 2] : 0);
    const char four[4] = {letter[word >> 18], letter[word >> 12 & 63],
                          (char)(rest > 1 ? letter[word >> 6 & 63] : '='),
                          (char)(rest > 2 ? letter[word & 63] : '=')};
    fwrite(four, 1, sizeof four, to);
  }
}

void app_page_bytes(FILE *to, const void *bytes, size_t n)
{
  putc('"', to);
  app_page_base64(to, bytes, n);
  putc('"', to);
}
