/* A JSON Schema of model files, from the tables that they are read by. */
#include "model/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Groups ---- */

int ga__group_at(int i, ga__group *group)
{
  static int (*const tables[])(int, ga__group *) = {ga__setting_group, ga__function_group, ga__part_group,
                                                    ga__block_group};
  for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
    int n = 0;
    ga__group found;
    while (tables[k](n, &found)) {
      if (n++ != i) continue;
      *group = found;
      return 1;
    }
    i -= n;
  }
  return 0;
}

void ga__group_defaults(const ga__group *group, double base[GA__DEFAULTS])
{
  memset(base, 0, GA__DEFAULTS * sizeof *base);
  if (group->defaults && group->size <= GA__DEFAULTS * sizeof *base) group->defaults(base);
}

static int is_number(const ga__field *f)
{
  return f->rule == GA__RULE_NUMBER || f->rule == GA__RULE_NUMBER_OR_NAN || f->rule == GA__RULE_POSITIVE ||
         f->rule == GA__RULE_NOT_NEGATIVE || f->rule == GA__RULE_LIMIT;
}

void ga__field_default(char *text, size_t size, const ga__field *field, const void *base)
{
  const char *at = (const char *)base + field->offset;
  double number = 0.0;
  int integer = 0;
  const char *name = NULL;
  text[0] = '\0';
  if (is_number(field))
    memcpy(&number, at, sizeof number);
  else
    memcpy(&integer, at, sizeof integer);
  if (field->rule == GA__RULE_TEXT_NEEDED) memcpy(&name, at, sizeof name);
  if (is_number(field) && isnan(number))
    snprintf(text, size, "%s", field->nan_about ? field->nan_about : "as at the start");
  else if (is_number(field) && isinf(number))
    snprintf(text, size, "%s", number < 0 ? "-inf" : "inf");
  else if (is_number(field))
    snprintf(text, size, "%.6g", number);
  else if (field->rule == GA__RULE_FLAG)
    snprintf(text, size, "%s", integer ? "true" : "false");
  else if (field->rule == GA__RULE_INTEGER && field->zero_word && integer == 0)
    snprintf(text, size, "%s", field->zero_word);
  else if (field->rule == GA__RULE_INTEGER)
    snprintf(text, size, "%d", integer);
  else if (field->rule == GA__RULE_CHOICE)
    snprintf(text, size, "%s", strcmp(field->name, "kind") == 0 ? "" : field->choices[integer]);
  else if (field->rule == GA__RULE_TEXT_NEEDED && name)
    snprintf(text, size, "%s", name);
  else if (field->rule == GA__RULE_INPUT || field->rule == GA__RULE_SIX || field->rule == GA__RULE_SIX_BY_SIX)
    snprintf(text, size, "0");
  if (field->no_default || ga__field_needed(field, base)) text[0] = '\0';
}

int ga__field_needed(const ga__field *field, const void *base)
{
  const void *at = (const char *)base + field->offset;
  if (field->rule == GA__RULE_POSITIVE) return !(*(const double *)at > 0);
  if (field->rule == GA__RULE_TEXT_NEEDED) return !*(const char *const *)at;
  return field->rule == GA__RULE_FUNCTION_NEEDED ||
         (field->rule == GA__RULE_CHOICE && strcmp(field->name, "kind") == 0);
}

/* ---- JSON ---- */

static void write_text(ga__writer *w, const char *text)
{
  ga__write(w, "\"");
  for (; *text; text++) ga__write(w, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  ga__write(w, "\"");
}

static void write_names(ga__writer *w, int n, const char *const *names)
{
  for (int i = 0; i < n; i++) {
    ga__write(w, i ? ", " : "");
    write_text(w, names[i]);
  }
}

/* The allowed values of a field. */
static void write_value(ga__writer *w, const ga__field *f)
{
  static const char *const shapes[] = {
      [GA__RULE_TEXT] = "text",    [GA__RULE_TEXT_NEEDED] = "text",
      [GA__RULE_SIX] = "six",      [GA__RULE_SIX_BY_SIX] = "six_by_six",
      [GA__RULE_FLAG] = "flag",    [GA__RULE_INTEGER] = "integer",
      [GA__RULE_POSE] = "pose",    [GA__RULE_FUNCTION] = "function",
      [GA__RULE_LIST] = "numbers", [GA__RULE_FUNCTION_NEEDED] = "function",
      [GA__RULE_FLAGS] = "flags",  [GA__RULE_MATRIX] = "matrix",
      [GA__RULE_INPUT] = "input",
  };
  if (f->rule == GA__RULE_CHOICE) {
    ga__write(w, "\"enum\": [");
    write_names(w, f->n_choices, f->choices);
    ga__write(w, "]");
  } else if ((is_number(f) || f->rule == GA__RULE_INPUT) && f->count > 1) {
    ga__write(w,
              "\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/%s\"}, \"minItems\": %d, "
              "\"maxItems\": %d",
              is_number(f) ? "number" : "input", f->least ? f->least : f->count, f->count);
  } else if (f->rule == GA__RULE_INTEGER) {
    ga__write(w, "\"type\": [\"integer\", \"string\"], \"minimum\": %ld, \"maximum\": %ld", f->low, f->high);
  } else {
    ga__write(w, "\"$ref\": \"#/definitions/%s\"", is_number(f) ? "number" : shapes[f->rule]);
  }
}

static void write_field(ga__writer *w, const ga__field *f, const void *base)
{
  char text[GA_ERROR_TEXT], initial[GA_TEXT_PIECE];
  ga__writer about = {text, sizeof text, 0};
  ga__field_default(initial, sizeof initial, f, base);
  ga__write(&about, "%s%s", f->about, ga__field_note(f));
  if (f->unit && strcmp(f->unit, "1") != 0)
    ga__write(&about, " [%s%s%s]", f->unit, f->unit_other ? " or " : "", f->unit_other ? f->unit_other : "");
  if (initial[0]) ga__write(&about, "; default %s", initial);
  ga__write(w, "        \"%s\": {", ga__field_key(f, "type"));
  write_value(w, f);
  ga__write(w, ", \"description\": ");
  write_text(w, text);
  ga__write(w, "}");
}

/* Keys in addition to those of the tables. */
static void write_more(ga__writer *w, const ga__group *g, const char **between)
{
  for (int i = 0; i < g->n; i++) {
    if (g->fields[i].rule != GA__RULE_POSE || strcmp(g->fields[i].name, "pose") != 0) continue;
    ga__write(w, "%s        \"position\": {\"$ref\": \"#/definitions/three\"},\n", *between);
    ga__write(w, "        \"rotation\": {\"$ref\": \"#/definitions/rotation\"}");
    *between = ",\n";
  }
  for (int i = 0; i < g->n_extra; i++) {
    ga__write(w, "%s        \"%s\": {\"$ref\": \"#/definitions/%s\", \"description\": ", *between,
              g->extra[i].name, g->extra[i].value);
    write_text(w, g->extra[i].about);
    ga__write(w, "}");
    *between = ",\n";
  }
  if (strcmp(g->section, "blocks") != 0) return;
  ga__write(
      w,
      "%s        \"inputs\": {\"$ref\": \"#/definitions/inputs\"},\n"
      "        \"sample_time\": {\"$ref\": \"#/definitions/number\", \"description\": \"period [s]: the "
      "block is "
      "evaluated at sample times, and its outputs are held\"},\n"
      "        \"sample_offset\": {\"$ref\": \"#/definitions/number\", \"description\": \"time of the first "
      "sample "
      "[s]; default: 0\"},\n"
      "        \"unit\": {\"$ref\": \"#/definitions/texts\", \"description\": \"of its outputs, for plots "
      "and tables\"}",
      *between);
  *between = ",\n";
}

static void write_properties(ga__writer *w, const ga__group *g)
{
  const char *between = "";
  double base[GA__DEFAULTS];
  ga__group_defaults(g, base);
  if (g->type) {
    ga__write(w, "        \"type\": {\"const\": \"%s\"}", g->type);
    between = ",\n";
  }
  for (int i = 0; i < g->n; i++) {
    if (g->fields[i].hidden) continue;
    ga__write(w, "%s", between);
    write_field(w, &g->fields[i], base);
    between = ",\n";
  }
  write_more(w, g, &between);
  if (g->section[0] && strcmp(g->section, "simulation") != 0)
    ga__write(w, "%s        \"if\": {\"$ref\": \"#/definitions/condition\"}", between);
}

/* One kind of map. */
static void write_group(ga__writer *w, const ga__group *g)
{
  const char *between = "";
  double base[GA__DEFAULTS];
  ga__group_defaults(g, base);
  ga__write(w, "      {\"type\": \"object\", \"description\": ");
  write_text(w, g->about);
  ga__write(w, ", \"additionalProperties\": false, \"required\": [");
  if (g->type) {
    ga__write(w, "\"type\"");
    between = ", ";
  }
  for (int i = 0; i < g->n; i++) {
    if (!ga__field_needed(&g->fields[i], base)) continue;
    ga__write(w, "%s\"%s\"", between, ga__field_key(&g->fields[i], "type"));
    between = ", ";
  }
  ga__write(w, "], \"properties\": {\n");
  write_properties(w, g);
  ga__write(w, "}}");
}

/* All kinds of a section; each entry is one of them. */
static void write_kinds(ga__writer *w, const char *section)
{
  const char *between = "";
  ga__group g;
  ga__write(w, "    \"%s_kinds\": {\"anyOf\": [\n", section);
  for (int i = 0; ga__group_at(i, &g); i++) {
    if (strcmp(g.section, section) != 0) continue;
    ga__write(w, "%s", between);
    write_group(w, &g);
    between = ",\n";
  }
  ga__write(w, "]},\n");
}

static void write_sections(ga__writer *w)
{
  for (int i = 0; ga__section_at(i); i++)
    ga__write(w,
              "      \"%s\": {\"type\": [\"object\", \"null\"], \"additionalProperties\": {\"$ref\": "
              "\"#/definitions/%s_kinds\"}},\n",
              ga__section_at(i), ga__section_at(i));
  ga__write(w, "      \"functions\": {\"type\": [\"object\", \"null\"], \"additionalProperties\": {\"$ref\": "
               "\"#/definitions/function\"}},\n"
               "      \"repeat\": {\"$ref\": \"#/definitions/repeat\"}");
}

#define LIST_OF(name, of, n)                                                                                 \
  "    \"" name "\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/definitions/" of                        \
  "\"}, \"minItems\": " n ", \"maxItems\": " n "},\n"

static const char shapes_text[] =
    "    \"number\": {\"type\": [\"number\", \"string\"], \"description\": \"a number in SI units, a "
    "quantity ('12 mm'), or an expression in parameters ('2*L')\"},\n"
    "    \"numbers\": {\"anyOf\": [{\"$ref\": \"#/definitions/number\"}, {\"type\": \"array\", \"items\": "
    "{\"$ref\": \"#/definitions/number\"}}]},\n"
    "    \"matrix\": {\"anyOf\": [{\"$ref\": \"#/definitions/numbers\"}, {\"type\": \"array\", \"items\": "
    "{\"$ref\": \"#/definitions/numbers\"}}]},\n"
    "    \"1\": {\"const\": 1},\n"
    "    \"integer\": {\"type\": [\"integer\", \"string\"], \"description\": \"a whole number, or an "
    "expression in "
    "parameters\"},\n" LIST_OF("three", "number", "3") LIST_OF("four", "number", "4") LIST_OF("six", "number",
                                                                                              "6")
        LIST_OF("nine", "number", "9") LIST_OF("three_rows", "three", "3") LIST_OF(
            "six_rows", "six",
            "6") "    \"three_by_three\": {\"anyOf\": [{\"$ref\": \"#/definitions/nine\"}, {\"$ref\": "
                 "\"#/definitions/three_rows\"}]},\n"
                 "    \"six_by_six\": {\"anyOf\": [{\"$ref\": \"#/definitions/six\"}, {\"$ref\": "
                 "\"#/definitions/six_rows\"}]},\n"
                 "    \"rows\": {\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"$ref\": "
                 "\"#/definitions/number\"}, \"minItems\": 2, \"maxItems\": 2}},\n"
                 "    \"text\": {\"type\": \"string\"},\n"
                 "    \"let\": {\"type\": \"object\", \"additionalProperties\": {\"$ref\": "
                 "\"#/definitions/number\"}},\n"
                 "    \"columns\": {\"type\": \"array\", \"items\": {\"type\": [\"string\", \"integer\"]}, "
                 "\"minItems\": 2, \"maxItems\": 2},\n"
                 "    \"texts\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": "
                 "{\"type\": "
                 "\"string\"}}]},\n"
                 "    \"flag\": {\"enum\": [true, false, \"true\", \"false\", \"yes\", \"no\"]},\n"
                 "    \"flags\": {\"anyOf\": [{\"$ref\": \"#/definitions/flag\"}, {\"type\": \"array\", "
                 "\"items\": "
                 "{\"$ref\": "
                 "\"#/definitions/flag\"}}]},\n"
                 "    \"rotation\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": "
                 "{\n"
                 "        \"matrix\": {\"$ref\": \"#/definitions/three_by_three\"}, \"quaternion\": "
                 "{\"$ref\": "
                 "\"#/definitions/four\"},\n"
                 "        \"axis\": {\"$ref\": \"#/definitions/three\"}, \"angle\": {\"$ref\": "
                 "\"#/definitions/number\"},\n"
                 "        \"euler\": {\"$ref\": \"#/definitions/three\"}, \"sequence\": {\"type\": "
                 "\"string\", "
                 "\"pattern\": "
                 "\"^([xyz]{3}|[XYZ]{3})$\"},\n"
                 "        \"z_axis\": {\"$ref\": \"#/definitions/three\"}, \"x_axis\": {\"$ref\": "
                 "\"#/definitions/three\"}}},\n"
                 "    \"pose\": {\"anyOf\": [{\"$ref\": \"#/definitions/three\"}, {\"type\": \"object\", "
                 "\"additionalProperties\": false, \"properties\": {\n"
                 "        \"position\": {\"$ref\": \"#/definitions/three\"}, \"rotation\": {\"$ref\": "
                 "\"#/definitions/rotation\"}}}]},\n"
                 "    \"function\": {\"anyOf\": [{\"$ref\": \"#/definitions/number\"}, {\"$ref\": "
                 "\"#/definitions/functions_kinds\"}]},\n"
                 "    \"input\": {\"anyOf\": [{\"$ref\": \"#/definitions/number\"}, {\"type\": \"object\", "
                 "\"additionalProperties\": false, \"properties\": {\n"
                 "        \"value\": {\"$ref\": \"#/definitions/number\"}, \"function\": {\"$ref\": "
                 "\"#/definitions/function\"}, "
                 "\"expression\": {\"type\": \"string\"}}}]},\n"
                 "    \"inputs\": {\"anyOf\": [{\"$ref\": \"#/definitions/number\"}, {\"type\": \"array\", "
                 "\"items\": "
                 "{\"$ref\": \"#/definitions/input\"}},\n"
                 "        {\"type\": \"object\", \"additionalProperties\": {\"$ref\": "
                 "\"#/definitions/input\"}}]},\n"
                 "    \"interface\": {\"type\": \"object\", \"additionalProperties\": {\"$ref\": "
                 "\"#/definitions/number\"}},\n"
                 "    \"beam\": {\"type\": \"object\"},\n"
                 "    \"stiffening\": {\"anyOf\": [{\"$ref\": \"#/definitions/flag\"}, {\"type\": "
                 "\"object\", "
                 "\"additionalProperties\": {\"type\": \"string\"}}]},\n"
                 "    \"one_repeat\": {\"type\": \"object\", \"additionalProperties\": false, \"required\": "
                 "[\"count\", "
                 "\"parts\"], \"properties\": {\n"
                 "        \"if\": {\"$ref\": \"#/definitions/condition\"},\n"
                 "        \"count\": {\"$ref\": \"#/definitions/integer\"}, \"index\": {\"type\": "
                 "\"string\"}, \"from\": "
                 "{\"$ref\": \"#/definitions/integer\"},\n"
                 "        \"parts\": {\"$ref\": \"#/definitions/parts\"}}},\n"
                 "    \"repeat\": {\"anyOf\": [{\"$ref\": \"#/definitions/one_repeat\"}, {\"type\": "
                 "\"array\", \"items\": "
                 "{\"$ref\": \"#/definitions/one_repeat\"}}]},\n";

static const char conditions_text[] =
    "    \"condition\": {\"type\": [\"number\", \"string\", \"boolean\"], "
    "\"description\": \"0 or 1, or an expression of parameters: without it, or where it is "
    "1, this is part of the model\"},\n"
    "    \"one_include\": {\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"object\", "
    "\"additionalProperties\": false, \"required\": [\"file\"], \"properties\": {\n"
    "        \"file\": {\"type\": \"string\"}, \"if\": {\"$ref\": "
    "\"#/definitions/condition\"}}}]},\n"
    "    \"include\": {\"anyOf\": [{\"$ref\": \"#/definitions/one_include\"}, {\"type\": "
    "\"array\", \"items\": {\"$ref\": \"#/definitions/one_include\"}}]},\n";

size_t ga_model_schema(char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  ga__group g;
  if (text && size > 0) text[0] = '\0';
  ga__write(&w, "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
                "  \"title\": \"galpha model\",\n  \"type\": \"object\",\n  \"required\": [\"galpha\"],\n"
                "  \"additionalProperties\": false,\n  \"properties\": {\n"
                "      \"parameters\": {\"type\": [\"object\", \"null\"], \"additionalProperties\": "
                "{\"$ref\": \"#/definitions/number\"}},\n"
                "      \"include\": {\"$ref\": \"#/definitions/include\"},\n"
                "      \"simulation\": {\"$ref\": \"#/definitions/simulation_kinds\"},\n");
  write_sections(&w);
  ga__write(&w, ",\n");
  for (int i = 0; ga__group_at(i, &g); i++)
    if (!g.section[0]) write_properties(&w, &g);
  ga__write(&w, "\n  },\n  \"definitions\": {\n%s%s", shapes_text, conditions_text);
  ga__write(&w, "    \"parts\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\n");
  write_sections(&w);
  ga__write(&w, "}},\n");
  write_kinds(&w, "functions");
  for (int i = 0; ga__section_at(i); i++) write_kinds(&w, ga__section_at(i));
  ga__write(&w, "    \"simulation_kinds\": ");
  for (int i = 0; ga__group_at(i, &g); i++)
    if (strcmp(g.section, "simulation") == 0) write_group(&w, &g);
  ga__write(&w, "\n  }\n}\n");
  return w.used;
}
