/* galpha: simulates machines described by model files. */
#define _POSIX_C_SOURCE 200809L
#include "app.h"
#include "terminal.h"

#include "galpha/galpha.h"
#include "galpha/model.h"
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *command_name(const void *user, int i)
{
  (void)user;
  return app_command_at(i)->name;
}

static int no_command(const char *name)
{
  const char *nearest = app_nearest(name, app_n_commands(), command_name, NULL);
  fprintf(stderr, "galpha: there is no command \"%s\"; ", name);
  if (nearest)
    fprintf(stderr, "the nearest is \"%s\"\n", nearest);
  else
    fputs("galpha --help lists them\n", stderr);
  return APP_USAGE;
}

static int run_command(const app_command *command, int argc, char **argv)
{
  app_arguments a;
  int code = app_arguments_read(&a, command, argc, argv);
  if (!code && a.help)
    app_help_command(stdout, command);
  else if (!code)
    code = command->function(&a);
  app_arguments_free(&a);
  return code;
}

static int help(int argc, char **argv)
{
  const app_command *command = argc > 2 ? app_command_find(argv[2]) : NULL;
  if (argc > 2 && !command) return no_command(argv[2]);
  if (command)
    app_help_command(stdout, command);
  else
    app_help(stdout);
  return APP_DONE;
}

static int print_schema(void)
{
  app_terminal_data();
  const size_t size = ga_model_schema(NULL, 0) + 1;
  char *text = malloc(size);
  if (!text) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  ga_model_schema(text, size);
  fputs(text, stdout);
  free(text);
  return APP_DONE;
}

static int dispatch(int argc, char **argv)
{
  if (argc < 2) return app_help(stderr), APP_USAGE;
  const char *first = argv[1];
  const app_command *command = app_command_find(first);
  if (command) return run_command(command, argc - 1, argv + 1);
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
    return help(argc, argv);
  if (strcmp(first, "--version") == 0) return printf("galpha %s\n", ga_version()), APP_DONE;
  if (strcmp(first, "--man") == 0) return app_man_page(stdout), APP_DONE;
  if (strcmp(first, "--completion") == 0) return app_completion(stdout, argv[2]);
  if (strcmp(first, "--schema") == 0) return print_schema();
  if (first[0] == '-') {
    fprintf(stderr,
            "galpha: there is no option %s before a command; galpha --help lists commands and options\n",
            first);
    return APP_USAGE;
  }
  return no_command(first);
}

int main(int argc, char **argv)
{
  app_terminal_begin();
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, and does not end the program */
  signal(SIGXFSZ, SIG_IGN); /* likewise a limit of file size */
  const int code = dispatch(argc, argv);
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  const int left = poll(&out, 1, 0) > 0 && (out.revents & POLLERR); /* closed by the reader, as head does */
  if (!left) fputs("galpha: the standard output could not be written\n", stderr);
  return code ? code : APP_FAILED;
}
