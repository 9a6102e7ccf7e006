#include "tables.h"

#include <stdio.h>
#include <string.h>

static const pp_paper *const papers[] = {&pp_ab07, &pp_jn_nh, &pp_acb15, &pp_ba08, &pp_jn08, &pp_beyond};

const pp_paper *pp_paper_at(int i)
{
  return i >= 0 && i < PP_COUNT(papers) ? papers[i] : NULL;
}

const pp_figure *pp_figure_at(int i)
{
  for (int k = 0; i >= 0 && k < PP_COUNT(papers); i -= papers[k++]->n)
    if (i < papers[k]->n) return &papers[k]->figures[i];
  return NULL;
}

const pp_figure *pp_figure_find(const char *name)
{
  const pp_figure *f;
  for (int i = 0; (f = pp_figure_at(i)) != NULL; i++)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

/* A letter below or above the line, where there is one; otherwise itself. Returns its bytes in markup. */
static size_t shift_letter(const char *markup, int up, const char **letter)
{
  static const char *const below[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  static const char *const above[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const int digit = *markup >= '0' && *markup <= '9' ? *markup - '0' : -1;
  size_t n = 1;
  while (((unsigned char)markup[n] & 0xC0) == 0x80) n++; /* bytes of one letter */
  *letter = digit >= 0 ? (up ? above : below)[digit] : *markup == '-' ? (up ? "⁻" : "₋") : NULL;
  return n;
}

void pp_plain(char *text, size_t size, const char *markup)
{
  size_t used = 0;
  int shifted = 0, braces = 0, up = 0; /* 1: shifted letters; up to the closing brace; above the line */
  if (size > 0) *text = '\0';
  while (*markup && used < size) {
    if (!shifted && (*markup == '_' || *markup == '^') && markup[1]) {
      up = *markup++ == '^';
      braces = *markup == '{';
      shifted = 1;
      markup += braces;
      continue;
    }
    if (braces && *markup == '}') {
      shifted = braces = 0;
      markup++;
      continue;
    }
    const char *letter = NULL;
    const size_t n = shift_letter(markup, up, &letter);
    const int length = shifted && letter ? snprintf(text + used, size - used, "%s", letter)
                                         : snprintf(text + used, size - used, "%.*s", (int)n, markup);
    used += (size_t)length;
    markup += n;
    shifted = shifted && braces;
  }
}
