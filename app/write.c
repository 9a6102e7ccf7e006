/* galpha write: a model with all that it includes as one file. */
#include "task.h"

#include <string.h>

int app_write(const app_arguments *a)
{
  app_task s;
  const char *file = app_text(a, "out"), *text = NULL;
  const int to_output = !file || strcmp(file, "-") == 0;
  size_t length = 0;
  int code = app_task_open(&s, a);
  if (!code) {
    ga_status status = ga_model_write_text(s.model, &text, &length);
    if (!status && to_output)
      fwrite(text, 1, length, stdout);
    else if (!status)
      status = ga_model_write_file(s.model, file);
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
