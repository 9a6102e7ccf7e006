/* The page docs/model-format.md, from the tables of the reader of models. */
#include "model/format.h"

#include <stdio.h>
#include <string.h>

static const char introduction[] =
    "# The format of model files\n"
    "\n"
    "This page is written by `make generated` from the tables that the reader of models uses.\n"
    "\n"
    "A model is a YAML file (JSON is a subset). `galpha: 1` is the version of the format; all other sections "
    "are optional:\n"
    "\n"
    "```yaml\n"
    "galpha: 1\n"
    "title: Pendulum\n"
    "parameters: {L: 1 m, m: 2 kg}\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  rod: {type: rigid, mass: m, inertia: [1e-3, m*L^2/12, m*L^2/12], com: [L/2, 0, 0]}\n"
    "joints:\n"
    "  hinge: {type: revolute, a: ground, b: rod, at: {rotation: {z_axis: [0, 1, 0]}}}\n"
    "simulation: {t_end: 5 s}\n"
    "```\n"
    "\n"
    "Sections are maps from names to parts. A name begins with a letter or `_`, followed by letters, digits, "
    "`_`, and `.` before a\n"
    "letter or `_`. Names are unique in a model; `ground`, `t` and `energy` are reserved. `ground` is the "
    "body that does not move. Parts\n"
    "refer to each other by name, in any order. A key that is not given has its default value.\n"
    "\n"
    "Editors with support for JSON Schema complete keys and mark mistakes: the schema is "
    "[model.schema.json](model.schema.json), and\n"
    "`galpha --schema` prints it. For the YAML language server, which many editors use, put the line\n"
    "`# yaml-language-server: $schema=PATH` at the top of the model, with the path of the schema relative to "
    "the model's folder.\n"
    "\n"
    "## Numbers\n"
    "\n"
    "A number can be given as\n"
    "\n"
    "- a number in SI units, angles in rad: `0.5`;\n"
    "- a quantity: `30 deg`, `12 mm`, `3000 rpm`, `29.5 kN/m`; a dimension that differs from the key's is an "
    "error;\n"
    "- an expression in parameters, with units in brackets: `2*L`, `L/2 + 3[mm]`. `pi` and `e` are known, "
    "and the functions sin cos tan\n"
    "  asin acos atan atan2 sinh cosh tanh exp log log10 sqrt cbrt abs sign floor ceil min max pow mod hypot "
    "if step step5.\n"
    "\n"
    "Dimensions are checked for quantities, for parameters with a unit, and for sums with such a term: `-L`, "
    "`0.5[kg]`, `L + 0.1`. A plain\n"
    "number in a product may have any dimension: `9.81*m` is accepted as a force, and `2*L` for a mass gives "
    "only a warning. The dimension of\n"
    "other expressions is not known and not checked.\n"
    "\n"
    "Within lists `[...]` and maps `{...}`, expressions with commas, brackets or braces need quotes, since "
    "YAML would end them there:\n"
    "`[\"hypot(a, b)\", 0]`, `{angle: \"a + 10[deg]\"}`.\n"
    "\n"
    "`parameters` is a map from names to such numbers; they may use each other in any order. `galpha run "
    "--set L=2` overrides them.\n"
    "\n"
    "## Poses\n"
    "\n"
    "A pose is a map of `position` (three lengths) and `rotation`, or just a list of three lengths. If the "
    "key is `pose`, `position` and\n"
    "`rotation` may also be keys of the part itself. A rotation is a map of one of\n"
    "\n"
    "| keys | value |\n"
    "|---|---|\n"
    "| `matrix` | nine numbers, or three rows of three; its columns are the axes |\n"
    "| `quaternion` | `[w, x, y, z]` |\n"
    "| `axis`, `angle` | a vector and an angle |\n"
    "| `euler`, `sequence` | three angles and axes: `xyz` about rotated axes, `XYZ` about fixed axes |\n"
    "| `z_axis`, `x_axis` | direction of z, and optionally of x, which is made perpendicular to z |\n"
    "\n"
    "## Inputs\n"
    "\n"
    "Forces and inputs of blocks that may change with time are a number, an expression of t, signals, "
    "parameters and functions\n"
    "(`2*hinge.angle - k*motor.rate`, `ramp(t)*characteristic(strut.length)`), or a map of `value`, "
    "`function` and `expression`, which are\n"
    "added. A parameter must not have the same name as a signal of the expression. Functions of the model "
    "have one argument, or several (`type: formula`);\n"
    "derivatives of expressions and functions are exact.\n"
    "\n"
    "The value of a key for a function is the name of a function, a number, an expression in `t` and "
    "parameters, or the map of a function. The\n"
    "argument of a function is called `t`, even if it is not the time.\n"
    "\n"
    "Inputs of a block are a map from their names, a list in their order, or a single input.\n"
    "\n";

static const char on_signals[] =
    "Blocks with the key `sample_time` are evaluated at `sample_offset` (default 0) and after every period "
    "of "
    "this length, and hold\n"
    "their outputs in between. The matrices of a state_space, and the polynomials of a transfer_function, "
    "are "
    "then those of a difference\n"
    "equation, x := A x + B u and num(z)/den(z); `num: [1]`, `den: [1, 0]` is a delay of one sample. A pid "
    "or "
    "integrator is integrated by\n"
    "Euler's rule. Filters and the type delay are refused.\n"
    "\n"
    "## Signals\n"
    "\n"
    "| of | signals |\n"
    "|---|---|\n"
    "| bodies, markers | `x y z vx vy vz ax ay az wx wy wz`, ground axes; `roll pitch yaw`, "
    "R = Rz(yaw) Ry(pitch) Rx(roll); bodies `qw qx qy qz`; planar bodies `angle` |\n"
    "| scalars | the name itself, `rate`, `acc` |\n"
    "| joints | their coordinates (below), with `_rate` and `_acc`; `fx fy fz mx my mz` on b at its frame's "
    "origin, ground axes |\n"
    "| distances, rods | also `tension`, positive where it pulls |\n"
    "| drives, gears, racks | `force` on the first coordinate |\n"
    "| springs, actuators | `length` or `coordinate`, `rate`, `force` |\n"
    "| frictions | `force`; dry ones also `sticks`, 1 while they hold |\n"
    "| collisions | `gap`, `normal`, `tangential`, `fx fy fz` on a, `x y z` of the contact, ground axes |\n"
    "| contacts | `normal` |\n"
    "| forces at a frame | `fx fy fz mx my mz`, ground axes, the torque about the frame's origin |\n"
    "| rollings | `normal`; `px py pz`, where it touches; `fx fy fz` on the body; `tangential`; knife "
    "edges: forces only |\n"
    "| stops | `force`, `depth`; rigid ones `force`, `rests` |\n"
    "| sliders | `s`, `s_rate`, `s_acc`; `fx fy fz` on the frame, ground axes; with orientation tangent also "
    "`mx my mz` |\n"
    "| tyres | `fx fy fz mx my mz`, `slip`, `slip_angle`, `camber`, `turn_slip` in tyre axes; `x y z` of the "
    "contact, ground axes; "
    "`penetration`; `lagged_slip_x`, `lagged_slip_y` |\n"
    "| constraints | `force`, `error` |\n"
    "| bushings | `fx fy fz mx my mz` |\n"
    "| sensors | `x y z` |\n"
    "| signals | the name itself |\n"
    "| blocks | the name itself, or `y1 y2 ...`; states `x1 x2 ...` |\n"
    "| the machine | `energy.kinetic`, `.potential`, `.dissipated`, `.input`, `.balance` |\n"
    "\n"
    "The name of a signal begins with the name of its part: `hinge.angle`. Coordinates are `angle` and "
    "`displacement`; `angle_x` and\n"
    "`angle_y` of a universal joint; `x`, `y` and `angle` of a planar joint; `x` and `y` of a "
    "point_on_plane. Quaternions and\n"
    "energies can be recorded, but not used in expressions.\n"
    "\n";

static const char on_repeats[] =
    "## Repeats and includes\n"
    "\n"
    "```yaml\n"
    "repeat:\n"
    "  count: n\n"
    "  index: i          # default i\n"
    "  from: 0           # default 0\n"
    "  parts:\n"
    "    bodies:\n"
    "      link{i}: {type: rigid, mass: m, inertia: [J, J, J], position: [i*l, 0, 0]}\n"
    "```\n"
    "\n"
    "makes the parts `count` times: in expressions the index is a number, in names it is written `{i}` or "
    "`{i+1}`. `repeat` may be a list,\n"
    "and `parts` may contain a further `repeat`.\n"
    "\n"
    "`include: file.yaml`, or a list of files, reads other files and merges their sections with the model's "
    "own. Paths are relative to the\n"
    "folder of the file that contains the `include`. Included files may be complete models. If both files "
    "give `title`, `gravity`, `form` or\n"
    "a key of `simulation`, the including file's value is used; any other name may be given in one file "
    "only.\n"
    "\n"
    "## Conditions\n"
    "\n"
    "```yaml\n"
    "parameters:\n"
    "  semi_active: 0\n"
    "include:\n"
    "  - axle.yaml\n"
    "  - {file: passive.yaml, if: semi_active == 0}\n"
    "  - {file: valves.yaml, if: semi_active == 1}\n"
    "bodies:\n"
    "  trailer: {type: rigid, mass: 500 kg, inertia: [100, 400, 400], if: load > 200[kg]}\n"
    "```\n"
    "\n"
    "Every part and function, every `repeat` and every included file may have the key `if`: a number, 0 or "
    "1, "
    "or an expression of parameters,\n"
    "in a repeat also of its index. Where it is 0, the part, the parts of the repeat or everything in the "
    "file are no part of the model; parameters\n"
    "choose then by `--set semi_active=1`. In files, conditions see the parameters of all files without a "
    "condition, and of those with one that come\n"
    "before. A file that is left out is not read: its parameters do not exist, and its names are free, so "
    "that "
    "two files may give the same names for the\n"
    "same things. A part that is off may not be used elsewhere; the message says where its condition is. "
    "`galpha write` writes the files that were\n"
    "included, and parts with their conditions; a parameter that only chose files is then reported as not "
    "used.\n";

/* ---- Tables ---- */

/* Escapes characters that have a meaning in a table. */
static void write_cell(ga__writer *w, const char *text)
{
  for (; *text; text++) ga__write(w, *text == '|' ? "\\%c" : "%c", *text);
}

static void write_value(ga__writer *w, const ga__field *f)
{
  static const char *const words[] = {[GA__RULE_TEXT] = "text",
                                      [GA__RULE_TEXT_NEEDED] = "name",
                                      [GA__RULE_SIX] = "6 numbers",
                                      [GA__RULE_SIX_BY_SIX] = "6 numbers, or 6 rows of 6",
                                      [GA__RULE_FLAG] = "true or false",
                                      [GA__RULE_INTEGER] = "whole number",
                                      [GA__RULE_POSE] = "pose",
                                      [GA__RULE_INPUT] = "input",
                                      [GA__RULE_FUNCTION] = "function",
                                      [GA__RULE_FUNCTION_NEEDED] = "function",
                                      [GA__RULE_LIST] = "numbers",
                                      [GA__RULE_FLAGS] = "true or false, for each",
                                      [GA__RULE_MATRIX] = "rows of numbers",
                                      [GA__RULE_LIMIT] = "number"};
  const char *word = f->refers == GA__REFERS_PART      ? "name"
                     : f->refers != GA__REFERS_NOTHING ? "expression"
                     : words[f->rule]                  ? words[f->rule]
                                                       : "number";
  if (f->rule == GA__RULE_CHOICE) {
    for (int i = 0; i < f->n_choices && !f->choices_about; i++)
      ga__write(w, "%s`%s`", i ? ", " : "", f->choices[i]);
    if (f->choices_about) ga__write(w, "see below");
  } else if (f->least) {
    ga__write(w, "%d or %d %ss", f->least, f->count, word);
  } else if (f->count > 1 && f->rule != GA__RULE_SIX && f->rule != GA__RULE_SIX_BY_SIX) {
    ga__write(w, "%d %ss", f->count, word);
  } else {
    ga__write(w, "%s", word);
    if (f->zero_word) ga__write(w, " or `%s`", f->zero_word);
  }
}

static void write_row(ga__writer *w, const ga__field *f, const void *base)
{
  char initial[GA_TEXT_PIECE];
  ga__field_default(initial, sizeof initial, f, base);
  ga__write(w, "| `%s` | ", ga__field_key(f, "type"));
  write_value(w, f);
  ga__write(w, " | %s%s%s | ", f->unit && strcmp(f->unit, "1") != 0 ? f->unit : "",
            f->unit_other && strcmp(f->unit_other, "1") != 0 ? " or " : "",
            f->unit_other && strcmp(f->unit_other, "1") != 0 ? f->unit_other : "");
  ga__write(w, "%s | ", ga__field_needed(f, base) ? "required" : initial);
  write_cell(w, f->about);
  ga__write(w, "%s |\n", ga__field_note(f));
}

static void write_choices(ga__writer *w, const ga__field *f)
{
  if (!f->choices_about) return;
  ga__write(w, "\n| `%s` | |\n|---|---|\n", ga__field_key(f, "type"));
  for (int i = 0; i < f->n_choices; i++) {
    ga__write(w, "| `%s` | ", f->choices[i]);
    write_cell(w, f->choices_about[i]);
    ga__write(w, " |\n");
  }
}

/* Capitalises the first letter, except of formulas. */
static void write_sentence(ga__writer *w, const char *text)
{
  const int formula = strstr(text, " = ") && strstr(text, " = ") < text + 10;
  const char first = text[0], upper = first >= 'a' && first <= 'z' ? (char)(first - 'a' + 'A') : first;
  ga__write(w, "\n%c%s.\n", formula ? first : upper, text + 1);
}

static void write_group(ga__writer *w, const ga__group *g)
{
  double base[GA__DEFAULTS];
  ga__group_defaults(g, base);
  if (g->type) ga__write(w, "\n### `type: %s`\n", g->type);
  write_sentence(w, g->about);
  if (g->n + g->n_extra > 0) ga__write(w, "\n| key | value | unit | default | |\n|---|---|---|---|---|\n");
  for (int i = 0; i < g->n_extra; i++) {
    ga__write(w, "| `%s` | %s | | | ", g->extra[i].name, g->extra[i].value);
    write_cell(w, g->extra[i].about);
    ga__write(w, " |\n");
  }
  for (int i = 0; i < g->n; i++)
    if (!g->fields[i].hidden) write_row(w, &g->fields[i], base);
  for (int i = 0; i < g->n; i++) write_choices(w, &g->fields[i]);
}

static void write_section(ga__writer *w, const char *section)
{
  ga__group g;
  for (int i = 0; ga__group_at(i, &g); i++)
    if (strcmp(g.section, section) == 0) write_group(w, &g);
}

size_t ga_model_format_page(char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (text && size > 0) text[0] = '\0';
  ga__write(&w, "%s%s%s\n## Keys of the model\n", introduction, on_signals, on_repeats);
  write_section(&w, "");
  for (int i = 0; ga__section_at(i); i++) {
    if (strcmp(ga__section_at(i), "sensors") == 0) {
      ga__write(
          &w,
          "\n## `functions`\n\nA function is an expression, as in `lift: 0.1*sin(w*t)`, which is short for\n"
          "`lift: {type: expression, expression: 0.1*sin(w*t)}`; a number; or a map with the key "
          "`type`.\n");
      write_section(&w, "functions");
    }
    ga__write(&w, "\n## `%s`\n", ga__section_at(i));
    if (strcmp(ga__section_at(i), "blocks") == 0)
      ga__write(&w,
                "\nA block with inputs has the key `inputs`, see above. A single output is a signal with the "
                "block's "
                "name, several\n"
                "are `name.y1`, `name.y2`, ...; states are `name.x1`, ... The key `unit` is the unit of the "
                "outputs in plots and tables:\n"
                "`unit: Pa`, or a list with one for each output. It converts nothing.\n");
    write_section(&w, ga__section_at(i));
  }
  ga__write(&w, "\n## `simulation`\n");
  write_section(&w, "simulation");
  return w.used;
}
