/* Completion for shells, from the table of commands. */
#include "task.h"

#include "galpha/galpha.h"
#include <string.h>

/* Endings of the files that commands take. */
static const struct {
  const char *operands, *endings;
} kinds[] = {{"MODEL", "yaml yml json"},
             {"OUT", "h5 hdf5"},
             {"FILE... SIGNAL", "h5 hdf5 csv"},
             {"FILE... [SIGNAL", "h5 hdf5 yaml yml json"}};

static size_t kind_of(const app_command *c)
{
  size_t i = 0;
  while (i + 1 < sizeof kinds / sizeof *kinds &&
         strncmp(c->operands, kinds[i].operands, strlen(kinds[i].operands)) != 0)
    i++;
  return i;
}

static int is_file_option(const app_option *o)
{
  return o->value && strncmp(o->value, "FILE", 4) == 0;
}

/* 1: values are signals of a result. */
static int takes_signals(const app_option *o)
{
  return strcmp(o->name, "xy") == 0 || strcmp(o->name, "panel") == 0;
}

/* 1: operands after the first are signals. */
static int has_signals(const app_command *c)
{
  return strstr(c->operands, "SIGNAL") != NULL;
}

/* The choices of a setting's option; 0: it has none. */
static int find_choices(const app_option *o, ga_setting *at)
{
  char option[APP_OPTION_NAME];
  for (int i = 0; ga_setting_at(i, at); i++) {
    app_option_name(at, option);
    if (at->type == GA_SETTING_CHOICE && strcmp(option, o->name) == 0) return 1;
  }
  return 0;
}

/* ---- bash ---- */

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
      int known = !o->value || is_file_option(o) || takes_signals(o) || n == 128;
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

static void write_bash(FILE *out)
{
  fputs("# bash completion for galpha; written by galpha --completion\n"
        "_galpha() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} options= file= name= kind= kinds=\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W '",
        out);
  for (int i = 0; i < app_n_commands(); i++) fprintf(out, "%s ", app_command_at(i)->name);
  fputs("help", out);
  completion_options(out, app_before);
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
        "  case ${COMP_WORDS[1]} in # kinds of files\n",
        out);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const char *between = "    ";
    for (int k = 0; k < app_n_commands(); k++) {
      if (kind_of(app_command_at(k)) != i) continue;
      fprintf(out, "%s%s", between, app_command_at(k)->name);
      between = " | ";
    }
    fprintf(out, ") kinds='%s' ;;\n", kinds[i].endings);
  }
  fputs("  esac\n"
        "  case ${COMP_WORDS[COMP_CWORD - 1]} in -*) kinds= ;; esac # after an option, any file\n"
        "  mapfile -t COMPREPLY < <(compgen -d -- \"$word\"; [ -n \"$kinds\" ] || compgen -f -- \"$word\"\n"
        "    for kind in $kinds; do compgen -f -X \"!*.$kind\" -- \"$word\"; done)\n"
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

/* ---- zsh ---- */

/* Within quotes and brackets of _arguments. */
static void zsh_text(FILE *out, const char *text)
{
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", out);
    else if (strchr("[]:\\", *text))
      fprintf(out, "\\%c", *text);
    else
      fputc(*text, out);
  }
}

static void zsh_option(FILE *out, const app_option *o)
{
  ga_setting at;
  fputs("      '", out);
  if (o->repeats) fputc('*', out);
  if (o->letter)
    fprintf(out, "'{-%c,--%s}'", o->letter, o->name);
  else
    fprintf(out, "--%s", o->name);
  fputc('[', out);
  zsh_text(out, o->text);
  fputc(']', out);
  if (o->value) {
    fputc(':', out);
    zsh_text(out, o->value);
    fputc(':', out);
    if (is_file_option(o)) fputs("_files", out);
    if (takes_signals(o)) fputs("_galpha_signals", out);
    if (find_choices(o, &at)) {
      fputc('(', out);
      for (int k = 0; k < at.n_choices; k++) fprintf(out, "%s%s", k ? " " : "", at.choices[k]);
      fputc(')', out);
    }
    if (strcmp(o->name, "xy") == 0) fputs(":B:_galpha_signals", out);
  }
  fputs("' \\\n", out);
}

static void zsh_files(FILE *out, const app_command *c)
{
  fputs("_files -g \"*.(", out);
  for (const char *e = kinds[kind_of(c)].endings; *e; e++) fputc(*e == ' ' ? '|' : *e, out);
  fputs(")(-.)\"", out);
}

static void write_zsh(FILE *out)
{
  fputs("#compdef galpha\n# zsh completion for galpha; written by galpha --completion zsh\n"
        "_galpha_signals() {\n"
        "  local file\n"
        "  for file in $words; do\n"
        "    [[ -f $file ]] || continue\n"
        "    compadd -- ${(f)\"$(galpha info --names $file 2>/dev/null)\"}\n"
        "    return\n"
        "  done\n"
        "}\n",
        out);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    if (!has_signals(c)) continue;
    fprintf(out, "_galpha_%s() { _galpha_signals; ", c->name);
    zsh_files(out, c);
    fputs("; }\n", out);
  }
  fputs("_galpha() {\n  local -a commands\n  if (( CURRENT == 2 )); then\n    commands=(\n", out);
  for (int i = 0; i < app_n_commands(); i++) {
    fprintf(out, "      '%s:", app_command_at(i)->name);
    zsh_text(out, app_command_at(i)->line);
    fputs("'\n", out);
  }
  fputs("    )\n    _describe command commands\n    return\n  fi\n  shift words\n  (( CURRENT-- ))\n  case "
        "$words[1] in\n",
        out);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, "    %s) _arguments \\\n", c->name);
    for (const app_option *o = c->options; o->name; o++) zsh_option(out, o);
    fputs("      '--help[this help]' \\\n      '*:file:", out);
    if (has_signals(c))
      fprintf(out, "_galpha_%s", c->name);
    else
      zsh_files(out, c);
    fputs("' ;;\n", out);
  }
  fputs("  esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _galpha \"$@\"; else compdef "
        "_galpha galpha; fi\n",
        out);
}

/* ---- fish ---- */

static void fish_text(FILE *out, const char *text)
{
  fputc('\'', out);
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') fputc('\\', out);
    fputc(*text, out);
  }
  fputc('\'', out);
}

static void fish_option(FILE *out, const app_command *c, const app_option *o)
{
  ga_setting at;
  fprintf(out, "complete -c galpha -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (o->letter) fprintf(out, " -s %c", o->letter);
  if (o->value) fputs(is_file_option(o) ? " -r -F" : " -x", out);
  if (takes_signals(o)) fputs(" -a '(__galpha_signals)'", out);
  if (find_choices(o, &at)) {
    fputs(" -a '", out);
    for (int k = 0; k < at.n_choices; k++) fprintf(out, "%s%s", k ? " " : "", at.choices[k]);
    fputc('\'', out);
  }
  fputs(" -d ", out);
  fish_text(out, o->text);
  fputc('\n', out);
}

static void write_fish(FILE *out)
{
  fputs("# fish completion for galpha; written by galpha --completion fish\n"
        "function __galpha_signals\n"
        "  for file in (commandline -opc)[3..-1]\n"
        "    if test -f $file\n"
        "      galpha info --names $file 2>/dev/null\n"
        "      return\n"
        "    end\n"
        "  end\n"
        "end\n"
        "complete -c galpha -f\n",
        out);
  for (int i = 0; i < app_n_commands(); i++) {
    const app_command *c = app_command_at(i);
    fprintf(out, "complete -c galpha -n __fish_use_subcommand -a %s -d ", c->name);
    fish_text(out, c->line);
    fputc('\n', out);
    for (const app_option *o = c->options; o->name; o++) fish_option(out, c, o);
    const char *endings = kinds[kind_of(c)].endings; /* older versions take one ending */
    fprintf(out,
            "complete -c galpha -n '__fish_seen_subcommand_from %s' -k -a '(__fish_complete_suffix .%.*s)'\n",
            c->name, (int)strcspn(endings, " "), endings);
    if (has_signals(c))
      fprintf(out, "complete -c galpha -n '__fish_seen_subcommand_from %s' -a '(__galpha_signals)'\n",
              c->name);
  }
}

int app_completion(FILE *out, const char *shell)
{
  static const struct {
    const char *name;
    void (*write)(FILE *out);
  } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
    if (!shell || strcmp(shell, shells[i].name) == 0) return shells[i].write(out), APP_DONE;
  fprintf(stderr, "galpha: --completion: \"%s\" is none of bash, zsh, fish\n", shell);
  return APP_USAGE;
}
