/* Property files of tyres, ".tir": lines NAME = value in sections, of which the coefficients of forces, the
 * radius, the nominal load, vertical stiffness and damping are used. Comments begin with ! or $.
 *
 *   [UNITS]                     of radius, load, stiffness, damping and speed; angles are in rad
 *   [MODEL]  FITTYP, PROPERTY_FILE_FORMAT   versions whose equations are those of tyre_law.c
 *            TYRESIDE, LONGVL   compared with the key `side` of the tyre; reference speed
 *   [DIMENSION], [VERTICAL]     UNLOADED_RADIUS; FNOMIN, VERTICAL_STIFFNESS, VERTICAL_DAMPING
 *   coefficients                those of GA_MAGIC_LIST; of others in sections of coefficients a warning is
 * given
 *
 * Factors of scale that would change forces in a way that is not computed are refused. */
#include "model/tyre_file.h"
#include "model/document.h"
#include "model/format.h"
#include "model/mesh.h"

#include "expr/text.h"
#include "mbs/name.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const ga__extra EXTRA[] = {
    {"tir", "text",
     "property file with the coefficients of type magic, nominal load, radius, stiffness and damping; keys "
     "of the "
     "tyre take precedence ([vehicles.md](vehicles.md#property-files))"},
    {"side", "text",
     "with tir: left or right, the side of the car that it is on; if TYRESIDE of the file is the other one, "
     "it is mirrored"},
};

const struct ga__extra *ga__tyre_extra(int *n)
{
  *n = (int)(sizeof EXTRA / sizeof *EXTRA);
  return EXTRA;
}

/* ---- What is used ---- */

typedef struct entry {
  const char *name; /* in the file, in lower case */
  const char *key;  /* of the tyre */
  size_t offset;
  int needed;   /* 1: by the file or by the tyre; what tyres need anyway is reported for them */
  int power[3]; /* of the units of length, force and time */
} entry;

enum { LENGTH, FORCE, TIME, N_UNITS };

#define AT(member) #member, offsetof(ga_tyre_def, member)
#define COEFFICIENT(member, value) {#member, AT(member), 0, {0, 0, 0}},
static const entry USED[] = {
    {"unloaded_radius", AT(radius), 0, {1, 0, 0}},  {"vertical_stiffness", AT(stiffness), 0, {-1, 1, 0}},
    {"fnomin", AT(nominal_load), 1, {0, 1, 0}},     {"vertical_damping", AT(damping), 0, {-1, 1, 1}},
    {"longvl", AT(reference_speed), 0, {1, 0, -1}}, GA_MAGIC_LIST(COEFFICIENT)};
enum { N_USED = sizeof USED / sizeof *USED };
static const char *const NEEDED[] = {"pcx1", "pdx1", "pkx1", "pcy1", "pdy1", "pky1", "pky2"};
/* Factors of forces that must be 1. */
static const char *const SCALE[] = {"lcx", "lex",  "lhx",  "lvx",  "lgax",  "lcy",  "ley", "lhy",
                                    "lvy", "lgay", "lxal", "lyka", "lvyka", "lgaz", "lvmx"};
/* Coefficients of relaxation lengths and of the belt, which are not computed. */
static const char *const IGNORED[] = {"ptx1",  "ptx2", "ptx3", "pty1", "pty2", "lsgkp",
                                      "lsgal", "lgyr", "lcz",  "lmp",  "qtz1", "mbelt"};
/* Words that the formats begin with whose equations these are; others, as those of motorcycles, have the same
 * names for other coefficients. */
static const char *const FORMAT[] = {"mf_05",   "mf-05",   "mf05",   "mf_5",    "mf-5",  "mf5",
                                     "mf-tyre", "mf_tyre", "mftyre", "pac2002", "swift", "user"};
/* Sections whose lines are rows of numbers. */
static const char *const ROWS[] = {"[shape]", "[deflection_load_curve]", "[bottoming_curve]"};

static int is_in(const char *const *list, size_t n, const char *word)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i], word) == 0) return 1;
  return 0;
}
#define IS_IN(list, word) is_in(list, sizeof(list) / sizeof *(list), word)

/* ---- Lines ---- */

typedef struct scan {
  const ga__mesh_source *s;
  int file, line;
  char section[48];
  unsigned char seen[N_USED];
  double factor;        /* LFZO, of the nominal load */
  double unit[N_UNITS]; /* in SI units */
  char side[16];        /* TYRESIDE, in lower case; "": not given */
  ga_tyre_def *def;
} scan;

static int report(const scan *c, const char *expected, const char *found)
{
  char piece[GA_TEXT_PIECE];
  const size_t n = strcspn(found, "\r\n");
  ga__name_quote(piece, found, (int)(n < 40 ? n : 40));
  ga__report_error(c->s->r->messages, (ga__place){c->file, c->line, 1}, GA_REASON_TYRE_FILE,
                   &(ga__facts){.kind = "", .expected = expected, .name = n ? piece : NULL});
  return 0;
}

/* 1: the section is one of coefficients. */
static int has_coefficients(const scan *c)
{
  const size_t n = strlen(c->section), tail = sizeof "coefficients]" - 1;
  return n >= tail && strcmp(c->section + n - tail, "coefficients]") == 0;
}

/* Warns of a coefficient that is not known; returns 1. */
static int pass_over(const scan *c, const char *name)
{
  if (has_coefficients(c) && !IS_IN(IGNORED, name))
    ga__report_warning(c->s->r->messages, (ga__place){c->file, c->line, 1}, GA_REASON_TYRE_FILE_UNKNOWN,
                       &(ga__facts){.kind = "", .name = name});
  return 1;
}

/* The word of a quoted or plain value, in lower case. */
static void word_of(char *word, size_t size, const char *text)
{
  size_t n = 0;
  text += strspn(text, " \t'\"");
  while (*text && !strchr(" \t\r\n'\"$!", *text) && n + 1 < size)
    word[n++] = (char)tolower((unsigned char)*text++);
  word[n] = '\0';
}

static int number_of(const scan *c, const char *text, double *value)
{
  text += strspn(text, " \t");
  const int sign = *text == '-' || *text == '+', bytes = ga__number_length(text + sign);
  const ga__source source = {.ctx = c->s->r->ctx, .text = text + sign};
  if (bytes == 0) return 0;
  *value = NAN;
  ga__mute_errors(c->s->r->ctx);
  const ga_status status = ga__read_number(value, &source, 0, bytes);
  ga__unmute_errors(c->s->r->ctx);
  if (status && !(*value == 0.0)) return 0; /* numbers that underflow are 0 */
  if (*text == '-') *value = -*value;
  text += sign + bytes;
  text += strspn(text, " \t");
  return !*text || strchr("\r\n$!", *text) != NULL;
}

static const struct unit {
  int of; /* −1: only said to be what it is */
  const char *name, *words[6];
  double value;
} UNIT[] = {{LENGTH, "length", {"meter", "metre", "meters", "m"}, 1},
            {LENGTH, "length", {"millimeter", "millimetre", "mm"}, 1e-3},
            {LENGTH, "length", {"centimeter", "centimetre", "cm"}, 1e-2},
            {LENGTH, "length", {"inch", "in"}, 0.0254},
            {LENGTH, "length", {"foot", "feet", "ft"}, 0.3048},
            {FORCE, "force", {"newton", "newtons", "n"}, 1},
            {FORCE, "force", {"knewton", "kilonewton", "kn"}, 1e3},
            {FORCE, "force", {"pound_force", "lbf"}, 4.4482216152605},
            {FORCE, "force", {"kg_force", "kilogram_force", "kgf"}, 9.80665},
            {TIME, "time", {"second", "seconds", "sec", "s"}, 1},
            {TIME, "time", {"millisecond", "ms"}, 1e-3},
            {-1, "angle", {"radians", "radian", "rad"}, 1}};
enum { N_UNIT = sizeof UNIT / sizeof *UNIT };

/* A line of the section of units; those of mass and pressure are not needed. */
static int read_unit(scan *c, const char *name, const char *text)
{
  char word[32], expected[160];
  int known = 0, n = 0;
  word_of(word, sizeof word, text);
  for (int i = 0; i < N_UNIT; i++) {
    if (strcmp(UNIT[i].name, name) != 0) continue;
    known = 1;
    for (int k = 0; k < 6 && UNIT[i].words[k]; k++)
      if (strcmp(UNIT[i].words[k], word) == 0) {
        if (UNIT[i].of >= 0) c->unit[UNIT[i].of] = UNIT[i].value;
        return 1;
      }
    n += snprintf(expected + n, sizeof expected - (size_t)n, "%s%s", n ? ", " : "", UNIT[i].words[0]);
  }
  return !known || report(c, expected, word);
}

/* PROPERTY_FILE_FORMAT */
static int check_format(const scan *c, const char *text)
{
  char word[32];
  word_of(word, sizeof word, text);
  for (size_t i = 0; i < sizeof FORMAT / sizeof *FORMAT; i++)
    if (strncmp(word, FORMAT[i], strlen(FORMAT[i])) == 0) return 1;
  return report(c, "a format with the equations of MF-Tyre 5, such as MF_05 or PAC2002", word);
}

/* FITTYP: 5, 6 and 51, 52 have these equations. */
static int check_version(const scan *c, const char *text)
{
  double version;
  if (number_of(c, text, &version) && (version == 5 || version == 6 || version == 51 || version == 52))
    return 1;
  return report(c, "a FITTYP of 5, 6, 51 or 52; the equations of other versions are different", text);
}

static int set_value(scan *c, const char *name, const char *text)
{
  double value;
  const int scale = IS_IN(SCALE, name), load = strcmp(name, "lfzo") == 0;
  int i = 0;
  while (i < N_USED && strcmp(USED[i].name, name) != 0) i++;
  if (i == N_USED && !scale && !load) return pass_over(c, name);
  if (!number_of(c, text, &value)) return report(c, "a number", text + strspn(text, " \t"));
  if (scale && value != 1) return report(c, "1: this factor is not supported", text + strspn(text, " \t"));
  if (load) c->factor = value;
  if (i == N_USED) return 1;
  if (c->seen[i]) return report(c, "a name that was not given before", USED[i].name);
  c->seen[i] = 1;
  memcpy((char *)c->def + USED[i].offset, &value, sizeof value);
  return 1;
}

static int read_line(scan *c, const char *line)
{
  char name[48];
  line += strspn(line, " \t");
  if (!*line || strchr("\r\n!$", *line)) return 1;
  word_of(name, sizeof name, line);
  if (*line == '[') {
    if (!strchr(name, ']')) return report(c, "']' after the name of a section", line);
    memcpy(c->section, name, sizeof c->section);
    return 1;
  }
  const size_t to_end = strcspn(line, "\r\n"), equals = strcspn(line, "=");
  if (equals >= to_end)
    return IS_IN(ROWS, c->section) || *line == '{' ? 1
                                                   : report(c, "NAME = value, a section or a comment", line);
  name[strcspn(name, "=")] = '\0';
  if (!name[0]) return report(c, "NAME = value, a section or a comment", line);
  if (strcmp(c->section, "[units]") == 0) return read_unit(c, name, line + equals + 1);
  if (strcmp(name, "fittyp") == 0) return check_version(c, line + equals + 1);
  if (strcmp(name, "property_file_format") == 0) return check_format(c, line + equals + 1);
  if (strcmp(name, "tyreside") == 0) return word_of(c->side, sizeof c->side, line + equals + 1), 1;
  return set_value(c, name, line + equals + 1);
}

/* ---- The file ---- */

static int is_complete(const scan *c, const ga__tree *tyre)
{
  int good = 1;
  for (int i = 0; i < N_USED; i++) {
    if (c->seen[i] || !(USED[i].needed || IS_IN(NEEDED, USED[i].name)) || ga__map_peek(tyre, USED[i].key))
      continue;
    char name[48];
    size_t n = 0;
    for (; USED[i].name[n] && n + 1 < sizeof name; n++)
      name[n] = (char)toupper((unsigned char)USED[i].name[n]);
    name[n] = '\0';
    ga__report_error(c->s->r->messages, c->s->from, GA_REASON_TYRE_FILE_LACKS,
                     &(ga__facts){.name = c->s->name, .detail = name});
    good = 0;
  }
  return good;
}

static void convert_units(scan *c)
{
  for (int i = 0; i < N_USED; i++)
    for (int k = 0; k < N_UNITS && c->seen[i]; k++)
      if (USED[i].power[k] != 0) {
        double value;
        memcpy(&value, (char *)c->def + USED[i].offset, sizeof value);
        value *= pow(c->unit[k], USED[i].power[k]);
        memcpy((char *)c->def + USED[i].offset, &value, sizeof value);
      }
}

static int read_text(scan *c, const char *text)
{
  int good = 1;
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; /* the mark of UTF-8 */
  for (c->line = 1; *text; c->line++) {
    const size_t n = strcspn(text, "\n");
    good &= read_line(c, text);
    text += n + (text[n] == '\n');
  }
  convert_units(c);
  c->def->nominal_load *= c->factor;
  return good;
}

/* The key `side`: the tyre is mirrored where the file has the other side. One that is symmetric has both. */
static int choose_side(const scan *c, ga__tree *tyre)
{
  static const char *const SIDE[] = {"left", "right"};
  const ga__tree *tree = ga__map_get(tyre, "side");
  int wanted, given = 0;
  if (!tree) return 1;
  if (!ga__value_choice(c->s->r, tree, 2, SIDE, &wanted)) return 0;
  if (strncmp(c->side, "symmetric", 9) == 0) return 1;
  while (given < 2 && strcmp(SIDE[given], c->side) != 0) given++;
  if (given == 2) {
    ga__report_error(c->s->r->messages, tree->at, GA_REASON_TYRE_FILE_LACKS,
                     &(ga__facts){.name = c->s->name, .detail = "TYRESIDE as 'left' or 'right'"});
    return 0;
  }
  c->def->mirrored = wanted != given;
  return 1;
}

int ga__read_tyre_file(ga__reader *reader, ga__tree *tyre, ga_tyre_def *def)
{
  const ga__tree *tree = ga__map_get(tyre, "tir");
  ga__mesh_source source;
  char *text = NULL;
  size_t length = 0;
  int good = 0;
  if (!tree) return 1;
  const size_t before = ga__messages_enter(reader->r->messages, "tir");
  if (ga__find_source(reader, tree, "tyres", &source))
    ga__file_load(reader->r, source.path, source.name, source.from, &text, &length);
  if (text) {
    scan c = {.s = &source,
              .def = def,
              .factor = 1,
              .unit = {1, 1, 1},
              .line = 1,
              .file = ga__messages_add_file(reader->r->messages, source.name)};
    if (c.file < 0)
      reader->r->failed = 1;
    else if (memchr(text, '\0', length))
      report(&c, "a text", "");
    else
      good = read_text(&c, text) && is_complete(&c, tyre) && choose_side(&c, tyre);
  }
  ga__free(reader->r->ctx, text);
  ga__messages_leave(reader->r->messages, before);
  return good;
}
