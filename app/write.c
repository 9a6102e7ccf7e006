/* galpha write: a model with its included files as one file. */
#include "gnuplot.h"
#include "task.h"
#include "terminal.h"

#include <string.h>

int app_write(const app_arguments *a)
{
  app_task s;
  const char *file = app_text(a, "out"), *text = NULL;
  const int to_output = !file || strcmp(file, "-") == 0;
  size_t length = 0;
  if (!to_output && (app_ends_in(file, ".h5") || app_gnuplot_knows(file)))
    return app_misused(a, "--out: %s ends like a result or a picture; a model needs another name", file);
  int code = app_task_open(&s, a);
  if (!code) {
    ga_status status = ga_model_write_text(s.model, &text, &length);
    if (!status && to_output) {
      app_terminal_data();
      fwrite(text, 1, length, stdout);
    } else if (!status) {
      status = ga_model_write_file(s.model, file);
    }
    if (status) {
      app_task_explain(&s, a, "the model cannot be written", status);
      code = status == GA_ERR_ARGUMENT ? APP_USAGE : APP_FAILED;
    } else if (!to_output) {
      printf("%s: %zu bytes\n", file, length);
    }
  }
  app_task_close(&s);
  return code;
}
