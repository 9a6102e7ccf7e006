/* Help and man page, from the table of commands. */
#include "task.h"

#include "galpha/galpha.h"
#include <string.h>

static const char purpose[] = "simulates machines described by model files";

const app_option app_before[] = {
    {"help", 'h', NULL, 0, "this help; after a command, help on the command"},
    {"version", 0, NULL, 0, "the version"},
    {"man", 0, NULL, 0, "the man page, for man -l -"},
    {"completion", 0, "SHELL", 0, "completion for bash (the default), zsh or fish, to be sourced"},
    {"schema", 0, NULL, 0, "a JSON Schema of model files, for editors"},
    {NULL, 0, NULL, 0, NULL}};

static const char *const codes[] = {
    "0  done", "1  the simulation failed or was stopped, or a result or picture could not be written",
    "2  the command line or the model is wrong"};
enum { N_CODES = sizeof codes / sizeof *codes };

static void option_line(FILE *out, const app_option *o)
{
  char left[64];
  snprintf(left, sizeof left, "%c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
           o->letter ? "," : " ", o->name, o->value ? " " : "", o->value ? o->value : "");
  fprintf(out, "  %-28s %s%s\n", left, o->text, o->repeats ? " (may be repeated)" : "");
}

void app_help(FILE *out)
{
  fprintf(out, "galpha %s: %s\n\nusage: galpha COMMAND ...\n\n", ga_version(), purpose);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, "  galpha %-10s %-19s %s\n", c->name, c->operands, c->line);
  }
  fputs("\ngalpha COMMAND --help shows more. Without a command:\n\n", out);
  for (const app_option *o = app_before; o->name; o++) option_line(out, o);
  fputs("\nexit codes\n", out);
  for (int i = 0; i < N_CODES; i++) fprintf(out, "  %s\n", codes[i]);
}

void app_help_command(FILE *out, const app_command *c)
{
  fprintf(out, "usage: galpha %s %s [options]\n\n%s\n\n", c->name, c->operands, c->line);
  for (const app_option *o = c->options; o->name; o++) option_line(out, o);
  option_line(out, &(app_option){"help", 'h', NULL, 0, "this help"});
  if (c->more) fprintf(out, "\n%s\n", c->more);
}

/* ---- Man page ---- */

/* A line that begins with . or ' would be a request, \ an escape, and - a hyphen instead of a minus. */
static void man_text(FILE *out, const char *text)
{
  int begins = 1;
  for (; *text; text++) {
    if (begins && (*text == '.' || *text == '\'')) fputs("\\&", out);
    if (*text == '-' || *text == '\\') fputs(*text == '-' ? "\\" : "\\e", out);
    if (*text != '\\') fputc(*text, out);
    begins = *text == '\n';
  }
}

static void man_option(FILE *out, const app_option *o)
{
  fputs(".TP\n", out);
  if (o->letter) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
  fputs("\\fB\\-\\-", out);
  man_text(out, o->name);
  fputs("\\fR", out);
  if (o->value) fprintf(out, " \\fI%s\\fR", o->value);
  fputc('\n', out);
  man_text(out, o->text);
  fputs(o->repeats ? " (may be repeated)\n" : "\n", out);
}

static const struct {
  const char *command, *text;
} examples[] = {
    {"galpha check crank.yaml", "mobility, redundant constraints and initial values of a model"},
    {"galpha run crank.yaml --set \"speed=300 rpm\" -o fast.h5", "a run with another value of a parameter"},
    {"galpha run crank.yaml --resume --t-end 20", "continues a run, whether it had ended or was interrupted"},
    {"galpha plot crank.h5 shaft.angle_rate 'wrist.*' -o crank.svg", "signals by name and by pattern"},
    {"galpha plot crank.h5 \"motor.force*shaft.angle_rate\" --size 84mmx60mm -o power.pdf",
     "the power of a motor, in W, for a paper"},
    {"galpha plot coarse.h5 fine.h5 shaft.angle --difference -o error.svg", "the difference of two runs"},
    {"galpha view crank.h5", "crank.html, a page that shows the machine moving"},
    {"galpha export crank.h5 shaft.angle -o - | head", "a table on the standard output"},
    {"galpha converge crank.yaml --step 4ms", "errors and orders with halved steps"},
    {"galpha modes arm.yaml -n 5", "frequencies and damping of small motions"}};

void app_man_page(FILE *out)
{
  fprintf(out, ".TH GALPHA 1 \"\" \"galpha %s\" \"User Commands\"\n.SH NAME\ngalpha \\- %s\n.SH SYNOPSIS\n",
          ga_version(), purpose);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, "%s.B galpha %s\n.I %s\n[options]\n", i ? ".br\n" : "", c->name, c->operands);
  }
  fputs(".SH OPTIONS\n", out);
  for (const app_option *o = app_before; o->name; o++) man_option(out, o);
  fputs(".SH COMMANDS\n", out);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, ".SS galpha %s %s\n", c->name, c->operands);
    man_text(out, c->line);
    fputc('\n', out);
    for (const app_option *o = c->options; o->name; o++) man_option(out, o);
    if (!c->more) continue;
    fputs(".PP\n.nf\n", out);
    man_text(out, c->more);
    fputs("\n.fi\n", out);
  }
  fputs(".SH EXAMPLES\n", out);
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    fputs(".TP\n.B ", out);
    man_text(out, examples[i].command);
    fputc('\n', out);
    man_text(out, examples[i].text);
    fputc('\n', out);
  }
  fputs(".SH EXIT STATUS\n.nf\n", out);
  for (int i = 0; i < N_CODES; i++) fprintf(out, "%s\n", codes[i]);
  fputs(".fi\n", out);
}
