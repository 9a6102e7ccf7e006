/* Units: the table, and the reading of units and quantities. */
#include "base/base_impl.h"
#include "expr/ops.h"
#include "expr/unit.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A unit is num/den times `of`; `of` is empty for base units, which come first, in the order of
 * ga_dimension. */
typedef struct unit_row {
  const char *name;
  double num, den;
  const char *of;
  int prefixes; /* 1: may have a prefix k, M, m, ... */
  double offset;
} unit_row;

static const unit_row units[] = {
    {"m", 1, 1, NULL, 1, 0},
    {"kg", 1, 1, NULL, 0, 0},
    {"s", 1, 1, NULL, 1, 0},
    {"A", 1, 1, NULL, 1, 0},
    {"K", 1, 1, NULL, 1, 0},
    {"mol", 1, 1, NULL, 1, 0},
    {"cd", 1, 1, NULL, 1, 0},
    {"rad", 1, 1, NULL, 1, 0},
    /* angle */
    {"deg", GA__PI, 180, "rad", 0, 0},
    {"°", GA__PI, 180, "rad", 0, 0},
    {"arcmin", GA__PI, 10800, "rad", 0, 0},
    {"arcsec", GA__PI, 648000, "rad", 0, 0},
    {"rev", 2 * GA__PI, 1, "rad", 0, 0},
    {"turn", 2 * GA__PI, 1, "rad", 0, 0},
    {"rpm", 2 * GA__PI, 60, "rad/s", 0, 0},
    /* time, frequency */
    {"min", 60, 1, "s", 0, 0},
    {"h", 3600, 1, "s", 0, 0},
    {"d", 86400, 1, "s", 0, 0},
    {"Hz", 1, 1, "1/s", 1, 0},
    /* length, area, volume, speed */
    {"inch", 254, 10000, "m", 0, 0},
    {"in", 254, 10000, "m", 0, 0},
    {"ft", 3048, 10000, "m", 0, 0},
    {"yd", 9144, 10000, "m", 0, 0},
    {"mile", 1609344, 1000, "m", 0, 0},
    {"l", 1, 1000, "m^3", 1, 0},
    {"L", 1, 1000, "m^3", 1, 0},
    {"mph", 1609344, 3600000, "m/s", 0, 0},
    {"g0", 980665, 100000, "m/s^2", 0, 0},
    /* mass, force, pressure, energy, power */
    {"g", 1, 1000, "kg", 1, 0},
    {"t", 1000, 1, "kg", 1, 0},
    {"lb", 45359237, 100000000, "kg", 0, 0},
    {"oz", 28.349523125, 1000, "kg", 0, 0},
    {"N", 1, 1, "kg*m/s^2", 1, 0},
    {"kgf", 980665, 100000, "N", 0, 0},
    {"lbf", 4.4482216152605, 1, "N", 0, 0},
    {"Pa", 1, 1, "N/m^2", 1, 0},
    {"bar", 100000, 1, "Pa", 1, 0},
    {"atm", 101325, 1, "Pa", 0, 0},
    {"psi", 6894.757293168361, 1, "Pa", 0, 0},
    {"J", 1, 1, "N*m", 1, 0},
    {"eV", 1.602176634, 1e19, "J", 1, 0},
    {"Wh", 3600, 1, "J", 1, 0},
    {"cal", 4184, 1000, "J", 1, 0},
    {"W", 1, 1, "J/s", 1, 0},
    {"hp", 745.69987158227022, 1, "W", 0, 0},
    /* electricity */
    {"C", 1, 1, "A*s", 1, 0},
    {"Ah", 3600, 1, "C", 1, 0},
    {"V", 1, 1, "W/A", 1, 0},
    {"ohm", 1, 1, "V/A", 1, 0},
    {"Ω", 1, 1, "V/A", 1, 0},
    {"S", 1, 1, "A/V", 1, 0},
    {"F", 1, 1, "C/V", 1, 0},
    {"H", 1, 1, "V*s/A", 1, 0},
    {"Wb", 1, 1, "V*s", 1, 0},
    {"T", 1, 1, "Wb/m^2", 1, 0},
    /* temperature, numbers */
    {"degC", 1, 1, "K", 0, 273.15},
    {"°C", 1, 1, "K", 0, 273.15},
    {"%", 1, 100, "1", 0, 0},
};
enum { N_UNITS = sizeof units / sizeof units[0] };

static const struct prefix {
  const char *name;
  int power;
} prefixes[] = {{"da", 1}, {"y", -24}, {"z", -21}, {"a", -18}, {"f", -15}, {"p", -12}, {"n", -9}, {"u", -6},
                {"µ", -6}, {"μ", -6},  {"m", -3},  {"c", -2},  {"d", -1},  {"h", 2},   {"k", 3},  {"M", 6},
                {"G", 9},  {"T", 12},  {"P", 15},  {"E", 18},  {"Z", 21},  {"Y", 24}};
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };

/* Names of quantities, for messages. */
static const struct quantity_name {
  const char *name, *unit;
} quantity_names[] = {
    {"a plain number", "1"},
    {"a length", "m"},
    {"a mass", "kg"},
    {"a time", "s"},
    {"an electric current", "A"},
    {"a temperature", "K"},
    {"an amount of substance", "mol"},
    {"a luminous intensity", "cd"},
    {"an angle", "rad"},
    {"an area", "m^2"},
    {"a volume", "m^3"},
    {"a velocity", "m/s"},
    {"an acceleration", "m/s^2"},
    {"a jerk", "m/s^3"},
    {"an angular velocity", "rad/s"},
    {"an angular acceleration", "rad/s^2"},
    {"a frequency", "Hz"},
    {"a force", "N"},
    {"a torque or energy", "N*m"},
    {"a power", "W"},
    {"a pressure or stress", "Pa"},
    {"a stiffness", "N/m"},
    {"a damping", "N*s/m"},
    {"a torsional stiffness", "N*m/rad"},
    {"a torsional damping", "N*m*s/rad"},
    {"a moment of inertia", "kg*m^2"},
    {"a density", "kg/m^3"},
    {"a mass per length", "kg/m"},
    {"a momentum", "kg*m/s"},
    {"an area moment", "m^4"},
    {"a bending stiffness", "N*m^2"},
    {"an electric charge", "C"},
    {"a voltage", "V"},
    {"a resistance", "ohm"},
    {"a conductance", "S"},
    {"a capacitance", "F"},
    {"an inductance", "H"},
    {"a magnetic flux", "Wb"},
    {"a magnetic flux density", "T"},
    {"a torque constant", "N*m/A"},
    {"a voltage constant", "V*s/rad"},
};
enum { N_QUANTITY_NAMES = sizeof quantity_names / sizeof quantity_names[0] };

/* ---- Arithmetic of units ---- */

static const ga__unit unit_one = {.num = 1, .den = 1};

static int multiply(ga__unit *a, const ga__unit *b, int power)
{
  const int n = power < 0 ? -power : power;
  a->num *= pow(power < 0 ? b->den : b->num, n);
  a->den *= pow(power < 0 ? b->num : b->den, n);
  for (int i = 0; i < GA_N_BASE_UNITS; i++) {
    const int sum = a->dimension.power[i] + power * b->dimension.power[i];
    if (sum < SCHAR_MIN || sum > SCHAR_MAX) return 0;
    a->dimension.power[i] = (signed char)sum;
  }
  return isfinite(a->num) && isfinite(a->den) && a->num > 0 && a->den > 0;
}

/* ---- The table ---- */

/* Length of the name of a unit: letters, %, and non-ASCII characters except · ² ³. */
static int unit_name_length(const char *text)
{
  static const char *const not_names[] = {"·", "²", "³"};
  int n = 0;
  for (;;) {
    const unsigned char c = (unsigned char)text[n];
    for (int i = 0; i < 3; i++) {
      if (strncmp(text + n, not_names[i], strlen(not_names[i])) == 0) return n;
    }
    if (!ga__is_letter(text[n]) && c != '%' && c < 0x80u && !(n > 0 && ga__is_digit(text[n]))) return n;
    n++;
  }
}

static const unit_row *find_row(const char *name, int bytes, int with_prefix)
{
  for (int i = 0; i < N_UNITS; i++) {
    if (with_prefix && !units[i].prefixes) continue;
    if (strlen(units[i].name) == (size_t)bytes && memcmp(units[i].name, name, (size_t)bytes) == 0) {
      return &units[i];
    }
  }
  return NULL;
}

/* First the whole name, so that min is a minute and not a milli-inch; then with a prefix. */
static const unit_row *find_unit(const char *name, int bytes, int *power)
{
  const unit_row *row = find_row(name, bytes, 0);
  *power = 0;
  for (int i = 0; i < N_PREFIXES && !row; i++) {
    const int n = (int)strlen(prefixes[i].name);
    if (n < bytes && memcmp(name, prefixes[i].name, (size_t)n) == 0) {
      row = find_row(name + n, bytes - n, 1);
      *power = prefixes[i].power;
    }
  }
  return row;
}

/* ---- Names that are not those of units ---- */

/* Common spellings of other programs, in any case and also with an s at the end, and the unit meant. */
static const struct spelling {
  const char *word, *unit;
} spellings[] = {
    {"sec", "s"},         {"second", "s"},       {"msec", "ms"},        {"millisecond", "ms"},
    {"usec", "us"},       {"microsecond", "us"}, {"minute", "min"},     {"hr", "h"},
    {"hour", "h"},        {"day", "d"},          {"meter", "m"},        {"metre", "m"},
    {"millimeter", "mm"}, {"millimetre", "mm"},  {"centimeter", "cm"},  {"centimetre", "cm"},
    {"kilometer", "km"},  {"kilometre", "km"},   {"micron", "um"},      {"micrometer", "um"},
    {"foot", "ft"},       {"feet", "ft"},        {"inche", "in"},       {"yard", "yd"},
    {"mi", "mile"},       {"gram", "g"},         {"gramme", "g"},       {"kilogram", "kg"},
    {"kilo", "kg"},       {"ton", "t"},          {"tonne", "t"},        {"pound", "lb"},
    {"lbm", "lb"},        {"lbs", "lb"},         {"kgs", "kg"},         {"slug", "lbf*s^2/ft"},
    {"newton", "N"},      {"kilonewton", "kN"},  {"nms", "N*m*s"},      {"degree", "deg"},
    {"grad", "deg"},      {"radian", "rad"},     {"revolution", "rev"}, {"hertz", "Hz"},
    {"cps", "Hz"},        {"kph", "km/h"},       {"kmh", "km/h"},       {"kmph", "km/h"},
    {"mps", "m/s"},       {"fps", "ft/s"},       {"ips", "in/s"},       {"volt", "V"},
    {"amp", "A"},         {"ampere", "A"},       {"watt", "W"},         {"kilowatt", "kW"},
    {"joule", "J"},       {"kilojoule", "kJ"},   {"pascal", "Pa"},      {"farad", "F"},
    {"henry", "H"},       {"tesla", "T"},        {"kelvin", "K"},       {"celsius", "degC"},
    {"percent", "%"},     {"liter", "l"},        {"litre", "l"},
};
enum { N_SPELLINGS = sizeof spellings / sizeof spellings[0] };

static int same_word(const char *text, int bytes, const char *word)
{
  if (strlen(word) != (size_t)bytes) return 0;
  for (int i = 0; i < bytes; i++)
    if (ga__lower(text[i]) != ga__lower(word[i])) return 0;
  return 1;
}

/* The unit meant by such a spelling; NULL: none. */
static const char *find_spelling(const char *text, int bytes)
{
  const int plural = bytes > 2 && ga__lower(text[bytes - 1]) == 's';
  for (int i = 0; i < N_SPELLINGS; i++)
    if (same_word(text, bytes, spellings[i].word)) return spellings[i].unit;
  for (int i = 0; i < N_SPELLINGS && plural; i++)
    if (same_word(text, bytes - 1, spellings[i].word)) return spellings[i].unit;
  return NULL;
}

/* The unit of this name in another case; NULL: none. */
static const char *find_by_case(const char *text, int bytes)
{
  for (int i = 0; i < N_UNITS; i++)
    if (bytes > 1 && same_word(text, bytes, units[i].name)) return units[i].name;
  return NULL;
}

/* Units of the same dimension, whose product is unlikely: µmm, kgg. */
static int are_alike(const unit_row *one, const unit_row *other)
{
  return one == other || (one->of && strcmp(one->of, other->name) == 0) ||
         (other->of && strcmp(other->of, one->name) == 0);
}

/* Nm, kNm, Nmm, Ns: where a sign between two units is missing; 0: nowhere. Not behind K or C, which are
 * wrongly written kilo and centi rather than kelvin and coulomb. */
static int find_split(const char *text, int bytes)
{
  int power = 0;
  if (text[0] == 'K' || text[0] == 'C') return 0;
  for (int i = 1; i < bytes; i++) {
    const unit_row *one = find_unit(text, i, &power), *other = find_unit(text + i, bytes - i, &power);
    if (one && other && !are_alike(one, other)) return i;
  }
  return 0;
}

/* The unit most similar to the name, without a prefix or with a common one. */
static void find_similar(ga__nearest *nearest)
{
  enum { USUAL = 9 };
  char name[GA_TEXT_PIECE];
  for (int i = 0; i < N_UNITS; i++) ga__nearest_try(nearest, units[i].name); /* prefer 'Pa' to 'das' */
  for (int i = 0; i < N_UNITS; i++) {
    for (int k = 0; k < N_PREFIXES && units[i].prefixes; k++) {
      if (abs(prefixes[k].power) > USUAL) continue;
      snprintf(name, sizeof name, "%s%s", prefixes[k].name, units[i].name);
      ga__nearest_try(nearest, name);
    }
  }
}

static ga_status unknown_unit(const ga__source *source, int start, int bytes)
{
  const char *text = source->text + start;
  const int raised = bytes > 1 && bytes < GA_TEXT_PIECE - 4 && ga__is_digit(text[bytes - 1]); /* m2 */
  const int letters = bytes - raised, split = bytes < GA_TEXT_PIECE - 4 ? find_split(text, letters) : 0;
  const char *meant = find_spelling(text, bytes);
  ga__nearest nearest = {.word = text, .bytes = bytes};
  char power[3] = "";
  int prefix;
  if (raised) snprintf(power, sizeof power, "^%c", text[bytes - 1]);
  if (!meant) meant = find_by_case(text, bytes);
  if (meant)
    snprintf(nearest.name, sizeof nearest.name, "%s", meant);
  else if (raised && find_unit(text, letters, &prefix))
    snprintf(nearest.name, sizeof nearest.name, "%.*s%s", letters, text, power);
  else if (split)
    snprintf(nearest.name, sizeof nearest.name, "%.*s*%.*s%s", split, text, letters - split, text + split,
             power);
  else
    find_similar(&nearest);
  return ga__text_unknown(source, start, bytes, GA_REASON_UNKNOWN_UNIT, nearest.name);
}

static ga_status read_product(ga__unit *unit, const ga__source *source, int *at, int nesting);

/* A name of the table with or without prefix; its definition is read in the same way. */
static ga_status read_name(ga__unit *unit, const ga__source *source, int *at)
{
  const int start = *at, bytes = unit_name_length(source->text + start);
  int power, inner = 0;
  if (bytes == 0 && start > 0 && strncmp(source->text + start - 1, "**", 2) == 0)
    return ga__text_fail(source, start - 1, 2, "a power such as ^2", NULL, "'**' is no sign between units");
  if (bytes == 0) {
    return ga__text_fail(source, start, source->text[start] ? 1 : 0, "a unit", NULL,
                         source->text[start] ? "this is not a unit" : "the text ends too early");
  }
  const unit_row *row = find_unit(source->text + start, bytes, &power);
  if (!row) return unknown_unit(source, start, bytes);
  *at += bytes;
  *unit = unit_one;
  if (row->of) {
    const ga__source of = {source->ctx, "unit", row->of, NULL};
    ga_status status = read_product(unit, &of, &inner, 0);
    if (status) return status;
  } else {
    unit->dimension.power[row - units] = 1;
  }
  unit->num *= row->num * (power > 0 ? pow(10, power) : 1);
  unit->den *= row->den * (power < 0 ? pow(10, -power) : 1);
  unit->offset = row->offset;
  return GA_OK;
}

/* ^2, ^-1, ², ³ or nothing. */
static ga_status read_power(int *power, const ga__source *source, int *at)
{
  static const char *const raised[] = {"²", "³"};
  const char *text = source->text;
  *power = 1;
  for (int i = 0; i < 2; i++) {
    const size_t n = strlen(raised[i]);
    if (strncmp(text + *at, raised[i], n) == 0) {
      *power = i + 2;
      *at += (int)n;
      return GA_OK;
    }
  }
  int i = ga__skip_space(text, *at);
  if (text[i] != '^') return GA_OK;
  i = ga__skip_space(text, i + 1);
  const int minus = text[i] == '-';
  i += minus;
  if (!ga__is_digit(text[i]) || ga__is_digit(text[i + 1]) || text[i + 1] == '.') {
    return ga__text_fail(source, i, text[i] ? ga__number_length(text + i) + !ga__is_digit(text[i]) : 0,
                         "a whole number from -9 to 9", NULL, "this is not a power");
  }
  *power = minus ? -(text[i] - '0') : text[i] - '0';
  *at = i + 1;
  return GA_OK;
}

static ga_status read_factor(ga__unit *unit, const ga__source *source, int *at, int nesting)
{
  enum { DEEPEST = 16 };
  const char *text = source->text;
  if (text[*at] == '1' && !ga__is_digit(text[*at + 1]) && text[*at + 1] != '.') {
    ++*at;
    *unit = unit_one;
    return GA_OK;
  }
  if (text[*at] != '(') return read_name(unit, source, at);
  const int open = *at;
  if (nesting >= DEEPEST) {
    return ga__text_fail(source, open, 1, NULL, NULL, "nested deeper than %d levels", DEEPEST);
  }
  *at = ga__skip_space(text, open + 1);
  ga_status status = read_product(unit, source, at, nesting + 1);
  if (status) return status;
  *at = ga__skip_space(text, *at);
  if (text[*at] != ')') {
    return ga__text_fail(source, *at, text[*at] ? 1 : 0, "'*', '/' or ')'", NULL,
                         "the parenthesis opened in column %d is not closed here",
                         ga__columns(text, open) + 1);
  }
  ++*at;
  return GA_OK;
}

/* * or · or a space between names gives 1, / gives -1, anything else 0; *at moves behind it. */
static int read_sign(const char *text, int *at, int *by_space)
{
  static const char dot[] = "·";
  const int i = ga__skip_space(text, *at);
  int sign = 0, bytes = 1;
  if (text[i] == '*') sign = 1;
  if (text[i] == '/') sign = -1;
  if (strncmp(text + i, dot, sizeof dot - 1) == 0) {
    sign = 1;
    bytes = (int)sizeof dot - 1;
  }
  *by_space = !sign && i > *at && unit_name_length(text + i) > 0;
  if (*by_space) sign = 1, bytes = 0;
  if (sign) *at = ga__skip_space(text, i + bytes);
  return sign;
}

static ga_status read_product(ga__unit *unit, const ga__source *source, int *at, int nesting)
{
  int sign = 1, factors = 0, divided = 0, by_space = 0;
  *unit = unit_one;
  do {
    ga__unit factor;
    int power;
    const int start = *at;
    ga_status status = read_factor(&factor, source, at, nesting);
    if (!status) status = read_power(&power, source, at);
    if (status) return status;
    if (!multiply(unit, &factor, sign * power)) {
      return ga__text_fail(source, start, *at - start, NULL, NULL, "the unit is too large or too small");
    }
    /* 20 degC alone is a temperature; in W/degC it is a difference. */
    unit->offset = factors++ == 0 && power == 1 ? factor.offset : 0;
    sign = read_sign(source->text, at, &by_space);
    divided |= sign < 0;
    if (by_space && divided) {
      return ga__text_fail(source, *at, unit_name_length(source->text + *at), "'*', '/' or parentheses", NULL,
                           "is it above or below the fraction bar?");
    }
  } while (sign);
  return GA_OK;
}

ga_status ga__unit_read(ga__unit *unit, const ga__source *source, int *at)
{
  *at = ga__skip_space(source->text, *at);
  return read_product(unit, source, at, 0);
}

const char *ga_unit_list(int i, int *takes_prefixes)
{
  if (i < 0 || i >= N_UNITS) return NULL;
  if (takes_prefixes) *takes_prefixes = units[i].prefixes;
  return units[i].name;
}

/* ---- Dimensions in words ---- */

static int same_dimension(const ga_dimension *a, const ga_dimension *b)
{
  return memcmp(a->power, b->power, sizeof a->power) == 0;
}

/* m^2*kg/s^3: positive powers first, then the others, each after a slash. */
static void base_units_text(char *text, size_t size, const ga_dimension *dimension)
{
  size_t used = 0;
  for (int sign = 1; sign >= -1; sign -= 2) {
    for (int i = 0; i < GA_N_BASE_UNITS; i++) {
      const int power = sign * dimension->power[i];
      if (power <= 0 || used >= size) continue;
      const char *join = sign < 0 ? (used ? "/" : "1/") : (used ? "*" : "");
      char raised[16] = "";
      if (power > 1) snprintf(raised, sizeof raised, "^%d", power);
      const int n = snprintf(text + used, size - used, "%s%s%s", join, units[i].name, raised);
      used += n > 0 ? (size_t)n : 0;
    }
  }
}

static const struct quantity_name *find_quantity_name(const ga_dimension *dimension)
{
  for (int i = 0; i < N_QUANTITY_NAMES; i++) {
    const ga__source source = {NULL, "unit", quantity_names[i].unit, NULL};
    ga__unit unit;
    int at = 0;
    if (!ga__unit_read(&unit, &source, &at) && same_dimension(&unit.dimension, dimension)) {
      return &quantity_names[i];
    }
  }
  return NULL;
}

void ga_dimension_text(char *text, size_t size, const ga_dimension *dimension)
{
  if (!text || size == 0) return;
  if (!dimension) {
    text[0] = '\0';
    return;
  }
  const struct quantity_name *known = find_quantity_name(dimension);
  if (size == 0) return;
  if (!known) {
    char base[2 * GA_TEXT_PIECE] = "";
    base_units_text(base, sizeof base, dimension);
    snprintf(text, size, "a quantity in %s", base);
  } else if (strcmp(known->unit, "1") == 0) {
    snprintf(text, size, "%s", known->name);
  } else {
    snprintf(text, size, "%s (%s)", known->name, known->unit);
  }
}

void ga_dimension_unit(char *text, size_t size, const ga_dimension *dimension)
{
  if (!text || size == 0) return;
  text[0] = '\0';
  if (!dimension) return;
  const int turns = dimension->power[GA_N_BASE_UNITS - 1];
  ga_dimension without = *dimension;
  without.power[GA_N_BASE_UNITS - 1] = 0;
  const struct quantity_name *known = find_quantity_name(dimension);
  if (!known && turns != 0 && (known = find_quantity_name(&without)) != NULL)
    snprintf(text, size, "%s", strcmp(known->unit, "N*m") == 0 ? "J" : known->unit); /* N*m*rad is work */
  else if (known)
    snprintf(text, size, "%s", known->unit);
  else
    base_units_text(text, size, dimension);
}

/* ---- Units and quantities of a text ---- */

static ga_status expect_end(const ga__source *source, int at)
{
  const char *text = source->text;
  at = ga__skip_space(text, at);
  if (!text[at]) return GA_OK;
  return ga__text_fail(source, at, (int)strlen(text + at), "'*', '/', '^' or the end", NULL,
                       "something follows the unit");
}

ga_status ga_unit_parse(ga_context *ctx, const char *text, double *factor, ga_dimension *dimension,
                        ga_text_error *error)
{
  const ga__source source = {ctx, "unit", text, error};
  ga__unit unit;
  int at = 0;
  if (error) *error = (ga_text_error){0};
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!text) return ga__refuse_null(ctx, __func__, "text");
  ga_status status = ga__text_check_length(&source);
  if (!status) status = ga__unit_read(&unit, &source, &at);
  if (!status) status = expect_end(&source, at);
  if (status) return status;
  if (factor) *factor = unit.num / unit.den;
  if (dimension) *dimension = unit.dimension;
  return GA_OK;
}

/* Sign, number and optional unit; *unit_at: where the unit begins or would begin. */
static ga_status read_quantity(const ga__source *source, double *value, ga__unit *unit, int *unit_at)
{
  const char *text = source->text;
  int at = ga__skip_space(text, 0);
  const int minus = text[at] == '-';
  if (minus || text[at] == '+') at = ga__skip_space(text, at + 1);
  const int bytes = ga__number_length(text + at);
  if (bytes == 0) {
    const int rest = (int)strlen(text + at);
    return ga__text_fail(source, at, rest, "a number, then a unit", NULL,
                         rest ? "this is not a number" : "there is nothing to read");
  }
  ga_status status = ga__read_number(value, source, at, bytes);
  if (status) return status;
  const int start = at;
  if (minus) *value = -*value;
  at = *unit_at = ga__skip_space(text, at + bytes);
  *unit = unit_one;
  if (!text[at]) return GA_OK;
  status = ga__unit_read(unit, source, &at);
  if (!status) status = expect_end(source, at);
  if (status) return status;
  *value = ga__unit_apply(unit, *value);
  if (isfinite(*value)) return GA_OK;
  return ga__text_fail(source, start, bytes, NULL, NULL, "the number is too large in SI units");
}

ga_status ga_quantity_parse(ga_context *ctx, const char *text, const char *expected, double *value,
                            ga_dimension *dimension, ga_text_error *error)
{
  const ga__source source = {ctx, "quantity", text, error};
  ga_dimension wanted;
  ga__unit unit;
  int at = 0;
  if (error) *error = (ga_text_error){0};
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!text || !value) return ga__refuse_null(ctx, __func__, text ? "value" : "text");
  double number;
  ga_status status = ga__text_check_length(&source);
  if (!status && expected) status = ga_unit_parse(ctx, expected, NULL, &wanted, NULL);
  if (!status) status = read_quantity(&source, &number, &unit, &at);
  if (status) return status;
  if (expected && text[at] && !same_dimension(&unit.dimension, &wanted)) {
    char is[2 * GA_TEXT_PIECE], name[2 * GA_TEXT_PIECE], quoted[GA_TEXT_PIECE];
    ga_dimension_text(is, sizeof is, &unit.dimension);
    ga_dimension_text(name, sizeof name, &wanted);
    const int from = ga__skip_space(text, 0);
    ga__copy_piece(quoted, sizeof quoted, text + from, strlen(text + from));
    return ga__text_dimension(&source, at, quoted, is, name);
  }
  *value = number;
  if (dimension) *dimension = unit.dimension;
  return GA_OK;
}
