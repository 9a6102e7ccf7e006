/* Help, man page and completion, all from the table of commands. */
#include "task.h"

#include "galpha/galpha.h"
#include <string.h>

static const char purpose[] = "simulates machines described by model files";

static const app_option before[] = {{"help", 'h', NULL, 0, "this help; after a command, help on the command"},
                                    {"version", 0, NULL, 0, "the version"},
                                    {"man", 0, NULL, 0, "the man page, for man -l -"},
                                    {"completion", 0, NULL, 0, "completion for bash, to be sourced"},
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
    fprintf(out, "  galpha %-9s %-17s %s\n", c->name, c->operands, c->line);
  }
  fputs("\ngalpha COMMAND --help shows more. Without a command:\n\n", out);
  for (const app_option *o = before; o->name; o++) option_line(out, o);
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

void app_man_page(FILE *out)
{
  fprintf(out, ".TH GALPHA 1 \"\" \"galpha %s\" \"User Commands\"\n.SH NAME\ngalpha \\- %s\n.SH SYNOPSIS\n",
          ga_version(), purpose);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, "%s.B galpha %s\n.I %s\n[options]\n", i ? ".br\n" : "", c->name, c->operands);
  }
  fputs(".SH OPTIONS\n", out);
  for (const app_option *o = before; o->name; o++) man_option(out, o);
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
  fputs(".SH EXIT STATUS\n.nf\n", out);
  for (int i = 0; i < N_CODES; i++) fprintf(out, "%s\n", codes[i]);
  fputs(".fi\n", out);
}

/* ---- Completion ---- */

static void completion_options(FILE *out, const app_option *o)
{
  for (; o->name; o++) fprintf(out, " --%s", o->name);
}

/* Options, each once, whose values are neither files nor signals: numbers, times, parameters, titles. */
static void completion_values(FILE *out)
{
  const app_option *seen[128];
  int n = 0;
  for (int i = 0; i < app_n_commands(); i++)
    for (const app_option *o = app_command_at(i)->options; o->name; o++) {
      int known = !o->value || strcmp(o->value, "FILE") == 0 || strcmp(o->name, "xy") == 0 || n == 128;
      for (int k = 0; k < n && !known; k++) known = strcmp(seen[k]->name, o->name) == 0;
      if (known) continue;
      fprintf(out, "%s--%s", n ? " | " : "", o->name);
      seen[n++] = o;
    }
}

/* Settings that are one of some names. */
static void completion_choices(FILE *out)
{
  ga_setting at;
  char option[APP_OPTION_NAME];
  for (int i = 0; ga_setting_at(i, &at); i++) {
    if (at.type != GA_SETTING_CHOICE) continue;
    app_option_name(&at, option);
    fprintf(out,
            "  if [ \"${COMP_WORDS[COMP_CWORD - 1]}\" = --%s ]; then\n"
            "    mapfile -t COMPREPLY < <(compgen -W '",
            option);
    for (int k = 0; k < at.n_choices; k++) fprintf(out, "%s%s", k ? " " : "", at.choices[k]);
    fputs("' -- \"$word\")\n"
          "    return\n"
          "  fi\n",
          out);
  }
}

void app_completion(FILE *out)
{
  fputs("# bash completion for galpha; written by galpha --completion\n"
        "_galpha() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} options= file= name=\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W '",
        out);
  for (int i = 0; i < app_n_commands(); i++) fprintf(out, "%s ", app_command_at(i)->name);
  fputs("help", out);
  completion_options(out, before);
  fputs("' -- \"$word\")\n"
        "    return\n"
        "  fi\n"
        "  case ${COMP_WORDS[1]} in\n",
        out);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, "    %s) options='--help", c->name);
    completion_options(out, c->options);
    fputs("' ;;\n", out);
  }
  fputs("  esac\n"
        "  if [[ $word == -* ]]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
        "    return\n"
        "  fi\n",
        out);
  completion_choices(out);
  fputs("  case ${COMP_WORDS[COMP_CWORD - 1]} in # what is no file\n"
        "    ",
        out);
  completion_values(out);
  fputs(") return ;;\n"
        "  esac\n"
        "  mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
        "  case ${COMP_WORDS[1]} in # after a result, its signals\n"
        "    plot | view | export)\n"
        "      for file in \"${COMP_WORDS[@]:2}\"; do\n"
        "        [ -f \"$file\" ] || continue\n"
        "        while IFS= read -r name; do # compared, not expanded: a file may come from anywhere\n"
        "          [[ $name == \"$word\"* ]] && COMPREPLY+=(\"$name\")\n"
        "        done < <(\"$1\" info --names \"$file\" 2>/dev/null)\n"
        "        break\n"
        "      done ;;\n"
        "  esac\n"
        "}\n"
        "complete -o filenames -F _galpha galpha\n",
        out);
}
