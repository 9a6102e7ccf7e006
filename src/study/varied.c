/* Parameters that vary, from their texts. */
#include "study/problem.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char EXPECTED[] = "NAME, NAME=START or NAME=START:LOWER:UPPER, as k=10:1:100N/m";

static void trim(const char **text, size_t *n)
{
  while (*n > 0 && (**text == ' ' || **text == '\t')) (*text)++, (*n)--;
  while (*n > 0 && ((*text)[*n - 1] == ' ' || (*text)[*n - 1] == '\t')) (*n)--;
}

/* The unit behind the number of a field; *n 0: none. */
static const char *unit_of(const char *field, size_t length, size_t *n)
{
  const size_t sign = length > 0 && (*field == '-' || *field == '+');
  const size_t digits = sign + (size_t)ga__number_length(field + sign);
  const char *unit = field + (digits < length ? digits : length);
  *n = (size_t)(field + length - unit);
  trim(&unit, n);
  return unit;
}

static ga_status read_field(ga_context *ctx, const char *text, const char *field, size_t n, const char *unit,
                            ga_dimension *dimension, int *known, double *out)
{
  char piece[2 * GA_TEXT_PIECE];
  size_t own;
  ga_dimension is;
  if (n == 0) return GA_OK;
  unit_of(field, n, &own);
  if (n >= GA_TEXT_PIECE) return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "it is too long");
  snprintf(piece, sizeof piece, "%.*s %s", (int)n, field, own ? "" : unit);
  if (ga_quantity_parse(ctx, piece, NULL, out, &is, NULL)) {
    char why[GA_ERROR_TEXT];
    ga_error_say(ga_context_error(ctx), GA_SAY_ALL, why, sizeof why);
    return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "%s", why);
  }
  if (!isfinite(*out))
    return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "a number is not finite");
  if (*known && memcmp(&is, dimension, sizeof is) != 0)
    return ga__study_refuse(ctx, "parameter", text, "one dimension", NULL,
                            "its numbers have different dimensions");
  *dimension = is;
  *known = 1;
  return GA_OK;
}

static ga_status read_numbers(ga_context *ctx, const char *text, const char *values, ga__varied *out)
{
  static const ga_dimension none;
  const char *field[3];
  size_t length[3];
  double *const to[3] = {&out->start, &out->lower, &out->upper};
  char unit[GA_TEXT_PIECE] = "";
  ga_dimension dimension = {{0}};
  int n = 0, known = 0;
  ga_status status = GA_OK;
  for (const char *at = values;; at++) {
    const size_t bytes = strcspn(at, ":");
    if (n == 3)
      return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "there are more than three numbers");
    field[n] = at, length[n] = bytes;
    trim(&field[n], &length[n]);
    n++;
    at += bytes;
    if (!*at) break;
  }
  if (n == 2) return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "one bound is missing");
  for (int i = n - 1; i >= 0; i--) { /* one unit is that of all numbers */
    size_t bytes;
    const char *is = unit_of(field[i], length[i], &bytes);
    if (bytes >= sizeof unit)
      return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "a unit is too long");
    if (bytes && !*unit) memcpy(unit, is, bytes);
  }
  for (int i = 0; i < n && !status; i++)
    status = read_field(ctx, text, field[i], length[i], unit, &dimension, &known, to[i]);
  if (!status && memcmp(&dimension, &none, sizeof none) != 0)
    ga_dimension_unit(out->unit, sizeof out->unit, &dimension);
  return status;
}

ga_status ga__varied_read(ga_context *ctx, const char *text, ga__varied *out)
{
  const char *equals = strchr(text, '='), *name = text;
  size_t n = equals ? (size_t)(equals - text) : strlen(text);
  *out = (ga__varied){.start = NAN, .lower = -INFINITY, .upper = INFINITY};
  trim(&name, &n);
  if (n == 0 || n >= sizeof out->name || (size_t)ga__name_length(name) != n)
    return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL, "a name is missing");
  memcpy(out->name, name, n);
  const ga_status status = equals ? read_numbers(ctx, text, equals + 1, out) : GA_OK;
  if (status) return status;
  if (!(out->lower < out->upper))
    return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL,
                            "the lower bound, %.6g, is not below the upper one, %.6g", out->lower,
                            out->upper);
  if (out->start < out->lower || out->start > out->upper)
    return ga__study_refuse(ctx, "parameter", text, EXPECTED, NULL,
                            "the start, %.6g, is outside of its bounds, %.6g to %.6g", out->start, out->lower,
                            out->upper);
  return GA_OK;
}
