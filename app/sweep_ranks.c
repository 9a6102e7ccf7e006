/* A sweep by several ranks: rank 0 has the queue and the table, the others ask for runs and send rows.
 *
 *   rank k → 0   hello: whether it has the same sweep, or why not
 *   0 → rank k   number of a run; −1: there are no more
 *   rank k → 0   a row, and so on */
#include "sweep_ranks.h"

#include <stdlib.h>
#include <string.h>

typedef struct hello {
  unsigned long long digest;
  int code; /* exit code of its preparation */
  char text[GA_ERROR_TEXT];
} hello;

typedef struct row_message {
  long long run; /* −1: the worker fails, text says why */
  int status, warnings;
  char text[GA_ERROR_TEXT];
} row_message;

static size_t message_size(const ga_study *study)
{
  return sizeof(row_message) + (size_t)ga_study_width(study) * sizeof(double);
}

/* ---- Rank 0 ---- */

static int send_run(const app_ranks *r, int to, long long run)
{
  return r->f->send(to, &run, sizeof run);
}

int app_sweep_greet(app_sweep_ranks *w, int code)
{
  const app_ranks *r = w->ranks;
  int good = code == APP_DONE;
  w->busy = r->size - 1;
  for (int i = 1; i < r->size; i++) {
    hello h;
    if (r->f->receive(i, &h, sizeof h) != i) return APP_FAILED;
    if (good && h.code) {
      fprintf(stderr, "galpha sweep: rank %d: %s\n", i, h.text);
      code = h.code;
    } else if (good && h.digest != ga_study_digest(w->study)) {
      fprintf(stderr, "galpha sweep: rank %d has another model, or other options, than rank 0\n", i);
      code = APP_USAGE;
    }
    good = code == APP_DONE;
  }
  for (int i = 1; i < r->size; i++) send_run(r, i, good && !w->idle ? ga_study_take(w->study) : -1);
  if (good) w->message = malloc(message_size(w->study));
  return good && !w->message ? APP_FAILED : code;
}

int app_sweep_serve(app_sweep_ranks *w, int stop)
{
  const app_ranks *r = w->ranks;
  while (w->busy > 0 && r->f->is_waiting()) {
    const int from = r->f->receive(-1, w->message, message_size(w->study));
    row_message m;
    if (from < 0) return 0;
    memcpy(&m, w->message, sizeof m);
    const ga_study_row row = {.run = (long)m.run,
                              .status = (ga_study_status)m.status,
                              .warnings = m.warnings,
                              .text = m.text,
                              .values = (const double *)(const void *)((char *)w->message + sizeof m)};
    if (m.run < 0) return fprintf(stderr, "galpha sweep: rank %d: %s\n", from, m.text), 0;
    if (ga_study_store(w->study, &row)) return 0;
    send_run(r, from, stop ? -1 : ga_study_take(w->study));
  }
  return 1;
}

/* ---- The others ---- */

int app_sweep_work(app_sweep_ranks *w, int code, const char *text)
{
  const app_ranks *r = w->ranks;
  hello h = {.code = code, .digest = ga_study_digest(w->study)};
  ga_study_worker *worker = NULL;
  long long run = -1;
  snprintf(h.text, sizeof h.text, "%s", text);
  if (!r->f->send(0, &h, sizeof h)) return APP_FAILED;
  if (r->f->receive(0, &run, sizeof run) < 0) return APP_FAILED;
  if (code || run < 0) return code;
  const size_t size = message_size(w->study);
  w->message = malloc(size);
  ga_status status = w->message ? ga_study_worker_create(w->study, NULL, &worker) : GA_ERR_MEMORY;
  while (run >= 0 && !status) {
    ga_study_row row;
    row_message m = {.run = -1};
    status = ga_study_compute(worker, (long)run, &row);
    if (!status) {
      m = (row_message){.run = row.run, .status = row.status, .warnings = row.warnings};
      snprintf(m.text, sizeof m.text, "%s", row.text);
      memcpy((char *)w->message + sizeof m, row.values, size - sizeof m);
    } else {
      snprintf(m.text, sizeof m.text, "%s", ga_study_worker_error(worker)->text);
    }
    memcpy(w->message, &m, sizeof m);
    if (!r->f->send(0, w->message, size) || r->f->receive(0, &run, sizeof run) < 0) status = GA_ERR_FILE;
  }
  ga_study_worker_destroy(&worker);
  return status ? APP_FAILED : APP_DONE;
}
