/* Names of parts and signals. */
#include "mbs/name.h"

#include "expr/text.h"
#include <string.h>

int ga__name_length(const char *text)
{
  int n = 0;
  if (!ga__is_letter(text[0])) return 0;
  while (ga__is_letter(text[n]) || ga__is_digit(text[n]) || (text[n] == '.' && ga__is_letter(text[n + 1]))) {
    n++;
  }
  return n;
}

int ga__name_next(const char *text, int *at)
{
  int i = *at;
  while (text[i]) {
    int bytes = ga__number_length(text + i);
    if (bytes > 0) {
      i += bytes;
    } else if (text[i] == '[') {
      while (text[i] && text[i] != ']') i++; /* a unit; one that is not closed is reported by the compiler */
    } else if ((bytes = ga__name_length(text + i)) > 0) {
      if (text[ga__skip_space(text, i + bytes)] != '(') {
        *at = i;
        return bytes;
      }
      i += bytes;
    } else {
      i++;
    }
  }
  *at = i;
  return 0;
}

int ga__name_alone(const char *text, int *at)
{
  *at = ga__skip_space(text, 0);
  const int bytes = ga__name_length(text + *at);
  return text[ga__skip_space(text, *at + bytes)] ? 0 : bytes;
}

void ga__name_nearest(char nearest[GA_TEXT_PIECE], const char *word, int bytes,
                      const char *(*name_at)(const void *names, int i), const void *names, int n)
{
  ga__nearest search = {.word = word, .bytes = bytes};
  for (int i = 0; i < n; i++) ga__nearest_try(&search, name_at(names, i));
  memcpy(nearest, search.name, sizeof search.name);
}

void ga__name_quote(char piece[GA_TEXT_PIECE], const char *text, int bytes)
{
  ga__copy_piece(piece, GA_TEXT_PIECE, text, (size_t)bytes);
}

int ga__text_column(const char *text, int offset)
{
  return ga__columns(text, offset) + 1;
}
