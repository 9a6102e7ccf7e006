/* Arguments of a command, read by its row of the table. */
#include "app.h"
#include "terminal.h"

#include "galpha/galpha.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int app_misused(const app_arguments *a, const char *format, ...)
{
  va_list args;
  fprintf(stderr, "galpha %s: ", a->command->name);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return APP_USAGE;
}

/* ---- Reading ---- */

static int n_values(const app_option *o)
{
  int n = 0;
  for (const char *c = o->value; c && *c; c++) n += *c == ' ';
  return o->value ? n + 1 : 0;
}

static const char *option_name(const void *options, int i)
{
  return ((const app_option *)options)[i].name;
}

static int n_options(const app_option *o)
{
  int n = 0;
  while (o[n].name) n++;
  return n;
}

static const app_option *find(const app_option *o, const char *name, size_t length)
{
  for (; o->name; o++)
    if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
  return NULL;
}

static const app_option *find_letter(const app_option *o, char letter)
{
  for (; o->name; o++)
    if (o->letter == letter) return o;
  return NULL;
}

static int unknown(const app_arguments *a, const char *text, size_t length)
{
  char name[64];
  const app_option *options = a->command->options;
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  const char *nearest = app_nearest(name, n_options(options), option_name, options);
  if (nearest) return app_misused(a, "there is no option --%s; the nearest is --%s", name, nearest);
  return app_misused(a, "there is no option --%s; galpha %s --help lists those it has", name,
                     a->command->name);
}

/* 1: the word is an option of the command, so it is probably not the value of another option. */
static int is_option(const app_arguments *a, const char *word)
{
  const app_option *options = a->command->options;
  if (word[0] != '-' || word[1] == '\0') return 0;
  if (word[1] != '-') return find_letter(options, word[1]) != NULL;
  return find(options, word + 2, strcspn(word + 2, "=")) != NULL;
}

/* Reads the values of an option: the first may be attached to it, the others follow. */
static int take(app_arguments *a, const app_option *o, const char *attached, int argc, char **argv, int *at)
{
  const int n = n_values(o);
  app_given *given = &a->given[a->n_given];
  *given = (app_given){.option = o};
  if (!o->repeats && app_has(a, o->name)) return app_misused(a, "--%s is given twice", o->name);
  if (n == 0 && attached) return app_misused(a, "--%s takes no value, but got \"%s\"", o->name, attached);
  for (int i = 0; i < n; i++) {
    if (i == 0 && attached)
      given->value[0] = attached;
    else if (*at + 1 < argc && !is_option(a, argv[*at + 1]))
      given->value[i] = argv[++*at];
    else
      return app_misused(a, "--%s needs %s: --%s %s, %s", o->name, n == 1 ? "a value" : "two values", o->name,
                         o->value, o->text);
  }
  a->n_given++;
  return APP_DONE;
}

static int take_long(app_arguments *a, int argc, char **argv, int *at)
{
  const char *text = argv[*at] + 2, *equals = strchr(text, '=');
  const size_t length = equals ? (size_t)(equals - text) : strlen(text);
  const app_option *o = find(a->command->options, text, length);
  if (length == 4 && strncmp(text, "help", 4) == 0) return a->help = 1, APP_DONE;
  return o ? take(a, o, equals ? equals + 1 : NULL, argc, argv, at) : unknown(a, text, length);
}

/* -o out.h5, -oout.h5; switches may be combined. */
static int take_short(app_arguments *a, int argc, char **argv, int *at)
{
  for (const char *c = argv[*at] + 1; *c; c++) {
    const app_option *o = find_letter(a->command->options, *c);
    if (*c == 'h' && !o) return a->help = 1, APP_DONE;
    if (!o)
      return app_misused(a, "there is no option -%c; galpha %s --help lists those it has", *c,
                         a->command->name);
    if (o->value) return take(a, o, c[1] ? c + 1 : NULL, argc, argv, at);
    const int code = take(a, o, NULL, argc, argv, at);
    if (code) return code;
  }
  return APP_DONE;
}

/* Refuses control characters: a name with line ends or escapes would falsify messages. */
static int check_characters(const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    const size_t n = strlen(argv[i]);
    for (size_t at = 0; at < n;) {
      unsigned code;
      const int bytes = app_utf8(argv[i] + at, n - at, &code);
      if (bytes > 0 && app_is_control(code) && code != '\t') {
        fprintf(
            stderr,
            "galpha %s: argument %d has a control character, number %u; files can be given another name\n",
            name, i, code);
        return APP_USAGE;
      }
      at += bytes > 0 ? (size_t)bytes : 1;
    }
  }
  return APP_DONE;
}

/* All commands need their first operand: "MODEL", or "OUT" of "OUT... SIGNAL...". */
static int count_operands(const app_arguments *a)
{
  const app_command *c = a->command;
  if (a->n_operands < c->n_least)
    return app_misused(a, "%.*s is missing, the file of %s\nusage: galpha %s %s [options]",
                       (int)strcspn(c->operands, ". "), c->operands,
                       strncmp(c->operands, "MODEL", 5) == 0 ? "a model" : "results", c->name, c->operands);
  if (c->n_most >= 0 && a->n_operands > c->n_most)
    return app_misused(a, "\"%s\" is too much\nusage: galpha %s %s [options]", a->operands[c->n_most],
                       c->name, c->operands);
  return APP_DONE;
}

int app_arguments_read(app_arguments *a, const app_command *command, int argc, char **argv)
{
  int only_operands = 0;
  *a = (app_arguments){.command = command};
  if (check_characters(command->name, argc, argv)) return APP_USAGE;
  a->operands = calloc((size_t)argc + 1, sizeof *a->operands);
  a->given = calloc((size_t)argc + 1, sizeof *a->given);
  if (!a->operands || !a->given) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  for (int i = 1; i < argc && !a->help; i++) {
    int code = APP_DONE;
    if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0')
      a->operands[a->n_operands++] = argv[i];
    else if (strcmp(argv[i], "--") == 0)
      only_operands = 1;
    else
      code = argv[i][1] == '-' ? take_long(a, argc, argv, &i) : take_short(a, argc, argv, &i);
    if (code) return code;
  }
  return a->help ? APP_DONE : count_operands(a);
}

void app_arguments_free(app_arguments *a)
{
  free(a->operands);
  free(a->given);
  *a = (app_arguments){0};
}

/* ---- Access ---- */

const char *const *app_values(const app_arguments *a, const char *option, int i)
{
  for (int g = 0; g < a->n_given; g++)
    if (strcmp(a->given[g].option->name, option) == 0 && i-- == 0) return a->given[g].value;
  return NULL;
}

const char *app_text(const app_arguments *a, const char *option)
{
  const char *const *value = app_values(a, option, 0);
  return value ? value[0] : NULL;
}

int app_has(const app_arguments *a, const char *option)
{
  return app_values(a, option, 0) != NULL;
}

int app_number(const app_arguments *a, const char *option, const char *unit, double least, double most,
               double *value)
{
  const char *text = app_text(a, option);
  ga_context *ctx = NULL;
  double number = NAN;
  int code = APP_DONE;
  if (!text) return APP_DONE;
  if (ga_context_create(NULL, &ctx)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  if (ga_quantity_parse(ctx, text, unit, &number, NULL, NULL))
    code = app_misused(a, "--%s: %s", option, ga_context_error(ctx)->text);
  else if (!(number >= least && number <= most))
    code = app_misused(a, "--%s: %s is not between %g and %g%s%s", option, text, least, most,
                       strcmp(unit, "1") == 0 ? "" : " ", strcmp(unit, "1") == 0 ? "" : unit);
  else
    *value = number;
  ga_context_destroy(&ctx);
  return code;
}

int app_integer(const app_arguments *a, const char *option, long least, long most, long *value)
{
  double number = (double)*value;
  const int code = app_number(a, option, "1", (double)least, (double)most, &number);
  if (code) return code;
  if (number != floor(number))
    return app_misused(a, "--%s: %s is not a whole number", option, app_text(a, option));
  *value = (long)number;
  return APP_DONE;
}
