/* galpha view: a page that shows a machine moving, with plots of its signals; several results over each
 * other; modes; a model before it runs. */
#define _POSIX_C_SOURCE 200809L
#include "mode_shapes.h"
#include "page.h"
#include "results.h"
#include "scene.h"
#include "task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_NUMBERS = 250000 /* of all signals, 1.3 MB in base64 */ };
enum { LIVE_SECONDS = 2 /* between pages of a run that grows */ };
static const char MARK[] = "@GALPHA_DATA@"; /* in the page, where the data go */

typedef struct view {
  const app_arguments *a;
  const char *file;
  app_task task; /* of a model; of a result only its context is used */
  ga_result *result;
  ga_model *model; /* of a result */
  app_scene scene;
  char *chosen; /* [n_signals] 1: plotted first */
  char note[512];
  int left_out; /* signals for which there was no room */
  int quiet;    /* 1: nothing is printed */
  int checked;  /* 1: the model has been checked, and all about it been said */
  int has_modes;
  app_mode_shapes modes;
  char *moves; /* by how much a start moves bodies; NULL: it does not */
} view;

enum { MOST_RESULTS = 8 };

static int out_of_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

/* 1: a result, by its first bytes, or its name where it cannot be read. */
static int is_result(const char *file)
{
  char begin[4] = {0};
  FILE *f = fopen(file, "rb");
  const size_t n = f ? fread(begin, 1, sizeof begin, f) : 0;
  if (f) fclose(f);
  return (n == sizeof begin && memcmp(begin, "\211HDF", 4) == 0) || app_ends_in(file, ".h5") ||
         app_ends_in(file, ".hdf5");
}

/* ---- Signals ---- */

static int choose_signals(view *v)
{
  const int n = ga_result_n_signals(v->result);
  v->chosen = calloc((size_t)n + 1, 1);
  if (!v->chosen) return out_of_memory();
  for (int k = 1; k < v->a->n_operands; k++) {
    if (is_result(v->a->operands[k])) continue;
    if (v->file != v->a->operands[0] && !app_result_has(v->result, v->a->operands[k])) continue;
    if (!app_result_has(v->result, v->a->operands[k]))
      return app_result_no_signal(v->a, v->result, v->file, v->a->operands[k]);
    for (int i = 0; i < n; i++)
      if (app_matches(v->a->operands[k], ga_result_signal_name(v->result, i))) v->chosen[i] = 1;
  }
  return APP_DONE;
}

/* Order in which signals are written while there is room: those asked for, then all but what is rarely looked
 * at, then the rest. */
static int rank_of(const view *v, int i)
{
  static const char *const rare[] = {".ax", ".ay", ".az",   ".qw",    ".qx",
                                     ".qy", ".qz", ".roll", ".pitch", ".yaw"};
  if (v->chosen[i]) return 0;
  for (size_t k = 0; k < sizeof rare / sizeof *rare; k++)
    if (app_ends_in(ga_result_signal_name(v->result, i), rare[k])) return 2;
  return 1;
}

typedef struct range {
  double base, low, high; /* base: the first value; all of finite values */
} range;

static range range_of(long n, const double *value)
{
  range r = {NAN, INFINITY, -INFINITY};
  for (long i = 0; i < n; i++) {
    if (!isfinite(value[i])) continue;
    if (isnan(r.base)) r.base = value[i];
    r.low = fmin(r.low, value[i]);
    r.high = fmax(r.high, value[i]);
  }
  return r;
}

/* Smallest and largest value from each frame to the next, relative to the base: 2 n_frames numbers. Returns
 * the largest distance of a record from the line between its frames. */
static double take_envelope(const app_scene *s, const double *value, double base, float *out)
{
  double most = 0.0;
  for (long k = 0; k < s->n_frames; k++) {
    const long first = s->frame[k], last = k + 1 < s->n_frames ? s->frame[k + 1] : first;
    double low = value[first], high = value[first];
    for (long i = first; i <= last; i++) {
      const double u = last > first ? (double)(i - first) / (double)(last - first) : 0.0;
      low = fmin(low, value[i]);
      high = fmax(high, value[i]);
      most = fmax(most, fabs(value[i] - (1 - u) * value[first] - u * value[last]));
    }
    out[2 * k] = (float)(low - base);
    out[2 * k + 1] = (float)(high - base);
  }
  return most;
}

/* Differences to the first value, so that small changes of large numbers are kept by single precision; where
 * records that are left out differ visibly from those that are kept, their range too. numbers[3 n_frames].
 * Returns how many numbers were written. */
static long write_signal(const view *v, FILE *to, int i, const double *value, float *numbers)
{
  enum { VISIBLE = 200 }; /* a part of the range that is seen in a plot: 1/VISIBLE */
  const app_scene *s = &v->scene;
  const range r = range_of(s->n, value);
  const long n = r.low == r.high ? 0 : s->n_frames;
  const int thin = s->n_frames < s->n && n > 0 &&
                   take_envelope(s, value, r.base, numbers + n) > (r.high - r.low) / VISIBLE;
  for (long k = 0; k < n; k++) numbers[k] = (float)(value[s->frame[k]] - r.base);
  fputs("{\"name\":", to);
  app_page_text(to, ga_result_signal_name(v->result, i));
  fputs(",\"unit\":", to);
  app_page_text(to, ga_result_signal_unit(v->result, i));
  fprintf(to, ",\"index\":%d,\"chosen\":%d,\"base\":", i, v->chosen[i]);
  if (isfinite(r.base))
    fprintf(to, "%.17g", r.base);
  else
    fputs("null", to);
  fputs(",\"low\":", to);
  app_page_number(to, r.low);
  fputs(",\"high\":", to);
  app_page_number(to, r.high);
  fputs(",\"values\":", to);
  app_page_bytes(to, numbers, (size_t)n * sizeof *numbers);
  if (thin) fputs(",\"envelope\":", to), app_page_bytes(to, numbers + n, 2 * (size_t)n * sizeof *numbers);
  putc('}', to);
  return thin ? 3 * n : n;
}

static ga_status write_signals(view *v, FILE *to)
{
  app_scene *s = &v->scene;
  const int n = v->result ? ga_result_n_signals(v->result) : 0;
  double *value = malloc(((size_t)s->n + 1) * sizeof *value);
  float *numbers = malloc((3 * (size_t)s->n_frames + 1) * sizeof *numbers);
  ga_status status = value && numbers ? GA_OK : GA_ERR_MEMORY;
  long written = 0, used = 0;
  fputs(",\"signals\":[", to);
  for (int rank = 0; rank < 3; rank++)
    for (int i = 0; i < n && s->n_frames > 0 && !status; i++) {
      if (rank_of(v, i) != rank) continue;
      if (rank > 0 && used >= MOST_NUMBERS) {
        v->left_out++;
        continue;
      }
      status = ga_result_read(v->result, i, 0, s->n, value);
      if (status == GA_ERR_FILE) s->damaged = 1, status = GA_OK;
      if (status) break;
      if (written++) fputs(",\n", to);
      used += write_signal(v, to, i, value, numbers);
    }
  putc(']', to);
  free(value);
  free(numbers);
  return status;
}

static void write_events(const view *v, FILE *to)
{
  enum { MOST_EVENTS = 2000 };
  const long n = v->result ? ga_result_n_events(v->result) : 0;
  fputs(",\"events\":[", to);
  for (long i = 0; i < n && i < MOST_EVENTS; i++) {
    fputs(i ? ",[" : "[", to);
    app_page_number(to, ga_result_event_time(v->result, i));
    putc(',', to);
    app_page_text(to, ga_result_event_name(v->result, i));
    putc(']', to);
  }
  putc(']', to);
}

/* ---- The page ---- */

static void write_member(FILE *to, const char *name, const char *text)
{
  fprintf(to, "\"%s\":", name);
  app_page_text(to, text ? text : "");
  putc(',', to);
}

static const char *title_of(const view *v)
{
  const char *title = v->result      ? ga_result_attribute(v->result, "title")
                      : v->has_modes ? ga_model_title(v->model)
                                     : ga_model_title(v->task.model);
  return title ? title : "";
}

static ga_status write_data(view *v, FILE *to)
{
  static const char *const words[] = {"title", "status", "failure", "method", "analysis", "model_file"};
  double g[3] = {0, 0, 0};
  putc('{', to);
  write_member(to, "file", v->file);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    write_member(to, words[i],
                 i == 0      ? title_of(v)
                 : v->result ? ga_result_attribute(v->result, words[i])
                             : "");
  write_member(to, "note", v->note);
  ga_machine_gravity_vector(v->scene.machine, g);
  fputs("\"gravity\":", to);
  app_page_numbers(to, 3, g);
  fprintf(to, ",\"records\":%ld,\"frames\":%ld,", v->scene.n, v->scene.n_frames);
  ga_status status = app_scene_write(&v->scene, to);
  if (v->has_modes) {
    fputs(",\"modes\":", to);
    if (!status) status = app_mode_shapes_write(&v->modes, v->scene.machine, to);
  }
  if (v->moves) fputs(",\"moves\":", to), app_page_text(to, v->moves);
  if (app_has(v->a, "live")) fprintf(to, ",\"live\":%d", LIVE_SECONDS);
  write_events(v, to);
  if (!status) status = write_signals(v, to);
  fprintf(to, ",\"meshes\":[%ld,%ld],\"left_out\":%d", v->scene.n_triangles, v->scene.n_kept, v->left_out);
  return status;
}

static ga_status write_all(view *v, int n, FILE *to)
{
  ga_status status = write_data(v, to);
  fputs(",\"others\":[", to);
  for (int i = 1; i < n && !status; i++) {
    if (i > 1) putc(',', to);
    status = write_data(v + i, to);
    putc('}', to);
  }
  fputs("]}", to);
  return status;
}

static void print_page(const view *v, int n, const char *file, size_t length)
{
  printf("%s: ", file);
  if (v->has_modes)
    printf("%d modes", v->modes.n);
  else if (v->result)
    printf("%ld of %ld records", v->scene.n_frames, v->scene.n);
  else
    fputs("the machine as it starts", stdout);
  for (int i = 1; i < n; i++)
    printf("; %s: %ld of %ld records", v[i].file, v[i].scene.n_frames, v[i].scene.n);
  if (v->left_out) printf("; %d signals, none of which was named, are left out", v->left_out);
  if (v->scene.n_kept < v->scene.n_triangles)
    printf("; meshes with %ld of %ld triangles", v->scene.n_kept, v->scene.n_triangles);
  printf(", %.1f MB\n", (double)length / 1e6);
}

/* The page with the data of n results in the place of the mark. */
static int write_page(view *v, int n, const char *file)
{
  const char *page = (const char *)app_viewer_page, *mark = strstr(page, MARK);
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return out_of_memory();
  fwrite(page, 1, (size_t)(mark - page), to);
  const ga_status status = write_all(v, n, to);
  fputs(mark + sizeof MARK - 1, to);
  const int failed = fclose(to);
  int code = APP_DONE;
  if (status && status != GA_ERR_MEMORY)
    code = (fprintf(stderr, "galpha view: %s\n", ga_context_error(v->task.ctx)->text), APP_FAILED);
  else if (status || failed)
    code = (fputs("galpha: out of memory\n", stderr), APP_FAILED);
  const int error = code ? 0 : app_output_write(file, text, length);
  free(text);
  if (error) return app_output_refused(v->a, file, error);
  if (code) return code;
  if (v->quiet) return APP_DONE;
  print_page(v, n, file, length);
  return APP_DONE;
}

/* ---- Results and models ---- */

static ga_status take_initial(view *v, const ga_machine *m)
{
  const ga_system *sys = ga_machine_system(m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *q);
  v->scene.q = q;
  return q ? ga_machine_initial(m, q, q + nq, q + nq + nv) : GA_ERR_MEMORY;
}

/* Reads the model of a result: its text; where that names other files, of matrices, the model's own file, if
 * it is where it was and says the same. */
static ga_status read_model(view *v, const char *text, const char *file)
{
  ga_model_opts opts = ga_model_defaults();
  ga_model *beside = NULL;
  opts.allow_library = app_has(v->a, "allow-library");
  ga_status status =
      ga_model_read_text(v->task.ctx, *file ? file : v->file, text, strlen(text), &opts, &v->model);
  if (!status) return status;
  if (*file && ga_model_read_file(v->task.ctx, file, &opts, &beside) == GA_OK &&
      strcmp(ga_model_text(beside), text) == 0) {
    ga_model_destroy(&v->model);
    v->model = beside;
    return GA_OK;
  }
  ga_model_destroy(&beside);
  /* What is only drawn may be missing. */
  ga_model_destroy(&v->model);
  opts.without_meshes = 1;
  status = ga_model_read_text(v->task.ctx, *file ? file : v->file, text, strlen(text), &opts, &v->model);
  if (!status)
    snprintf(v->note, sizeof v->note,
             "Files of meshes are not where the model was, or it was changed: these shapes are not drawn.");
  return status;
}

/* The machine of a result, by the model in it; without one the page has no picture. */
static int build_machine(view *v)
{
  const char *text = ga_result_model(v->result), *file = ga_result_attribute(v->result, "model_file");
  ga_status status = *text ? read_model(v, text, file ? file : "") : GA_OK;
  if (!status && *text) status = take_initial(v, ga_model_machine(v->model));
  if (status == GA_ERR_MEMORY) return out_of_memory();
  if (!*text) {
    snprintf(v->note, sizeof v->note, "The result has no model, or a damaged one: there is nothing to draw.");
  } else if (status) {
    const char *why = v->model && ga_model_n_messages(v->model) > 0 ? ga_model_message_at(v->model, 0)->text
                                                                    : ga_context_error(v->task.ctx)->text;
    snprintf(v->note, sizeof v->note,
             "The model in the result cannot be read, so the machine is not drawn: %s", why);
  } else {
    v->scene.machine = ga_model_machine(v->model);
  }
  if (*v->note && !v->quiet) fprintf(stderr, "warning: %s: %s\n", v->file, v->note);
  return APP_DONE;
}

/* A file of galpha modes: the state, and shapes about it. */
static int open_modes(view *v)
{
  ga_context *ctx = v->task.ctx;
  char *text = NULL, *file = NULL;
  ga_status status = app_mode_shapes_read(ctx, v->file, &v->modes);
  if (!status) status = ga_tables_text(ctx, v->file, "model", &text);
  if (!status && ga_tables_text(ctx, v->file, "file", &file)) file = NULL;
  int code = APP_DONE;
  if (status == GA_ERR_MEMORY) {
    code = out_of_memory();
  } else if (status) {
    fprintf(stderr,
            "galpha view: %s has no model or not all numbers of modes: it is damaged, or was written by an "
            "older galpha\n",
            v->file);
    code = APP_FAILED;
  } else if (read_model(v, text, file ? file : "") || take_initial(v, ga_model_machine(v->model))) {
    const char *why = v->model && ga_model_n_messages(v->model) > 0 ? ga_model_message_at(v->model, 0)->text
                                                                    : ga_context_error(ctx)->text;
    fprintf(stderr, "galpha view: %s: the model of the modes cannot be read: %s\n", v->file, why);
    code = APP_FAILED;
  } else {
    const ga_group *g = ga_system_group(ga_machine_system(ga_model_machine(v->model)));
    v->scene.machine = ga_model_machine(v->model);
    if (ga_group_nq(g) != v->modes.nq || ga_group_nv(g) != v->modes.nv) {
      fprintf(stderr, "galpha view: %s: modes and model do not belong to each other\n", v->file);
      code = APP_FAILED;
    } else {
      memcpy(v->scene.q, v->modes.q, (size_t)v->modes.nq * sizeof *v->modes.q);
      v->has_modes = 1;
    }
  }
  ga_tables_free(ctx, text);
  ga_tables_free(ctx, file);
  return code;
}

static int open_result(view *v)
{
  if (app_has(v->a, "set"))
    return app_misused(v->a, "--set: %s is a result, whose parameters have values", v->file);
  if (ga_context_create(NULL, &v->task.ctx)) return out_of_memory();
  if (app_mode_shapes_is(v->task.ctx, v->file)) {
    if (v->a->n_operands > 1)
      return app_misused(v->a, "%s has modes, which are drawn alone and have no signals over time", v->file);
    return open_modes(v);
  }
  int code = app_result_open(v->a, v->task.ctx, v->file, &v->result);
  if (code) return code;
  if (!v->quiet && !app_has(v->a, "live")) app_result_warn(v->result, v->file);
  v->scene.result = v->result;
  code = choose_signals(v);
  return code ? code : build_machine(v);
}

/* Notes by how much a start moved bodies, if it did. */
static int take_moves(view *v, const double *q)
{
  const app_task *s = &v->task;
  const int length = ga_machine_moves(s->machine, s->stepper, NULL, 0);
  if (length <= 0) return APP_DONE;
  v->moves = malloc((size_t)length + 1);
  if (!v->moves || app_scene_give(&v->scene, q)) return out_of_memory();
  ga_machine_moves(s->machine, s->stepper, v->moves, (size_t)length + 1);
  return APP_DONE;
}

/* A model at its start; if it cannot be started, as it is given. */
static int open_model(view *v)
{
  const ga_simulate_opts opts = ga_simulate_defaults();
  app_task *s = &v->task;
  if (v->a->n_operands > 1) return app_misused(v->a, "%s is a model, which has no signals yet", v->file);
  const int code = v->checked ? app_task_open_again(s, v->a) : app_task_open(s, v->a);
  if (code) return code;
  if (take_initial(v, s->machine)) return out_of_memory();
  v->scene.machine = s->machine;
  ga_status status = app_task_prepare(s, &s->settings, &opts);
  if (!status) status = app_task_start(s, 0);
  const ga_state *state = status ? NULL : ga_stepper_state(s->stepper);
  if (state) {
    const size_t nq = (size_t)ga_group_nq(ga_system_group(ga_machine_system(s->machine)));
    const int moved = take_moves(v, v->scene.q);
    memcpy(v->scene.q, state->q, nq * sizeof *state->q);
    return moved;
  }
  if (status == GA_ERR_MEMORY) return out_of_memory();
  if (!v->checked)
    app_task_explain(s, v->a, "the machine cannot be started, and is drawn as it is given", status);
  snprintf(v->note, sizeof v->note, "The machine cannot be started, and is drawn as it is given: %s",
           ga_context_error(s->ctx)->text);
  return APP_DONE;
}

/* What the file lacks, as a note on the page and a warning. */
static void note_losses(view *v)
{
  const app_scene *s = &v->scene;
  ga_mover mover = {.part = ""};
  for (int i = 0; s->n_lost > 0 && i < ga_machine_n_movers(s->machine) && !*mover.part; i++)
    if (s->lost[i]) ga_machine_mover(s->machine, i, &mover);
  if (v->result && s->n_frames == 0 && s->machine)
    snprintf(v->note, sizeof v->note, "%s: the machine is drawn as it starts.",
             s->n > 0 ? "The times of all records are damaged" : "The result has no records");
  else if (s->n_lost > 0 && s->damaged)
    snprintf(v->note, sizeof v->note, "Records of %s%s are damaged: they are drawn where they start.",
             mover.part, s->n_lost > 1 ? " and others" : "");
  else if (s->n_lost > 0)
    snprintf(v->note, sizeof v->note,
             "The file does not say where %s%s moved: they are drawn where they start. 'poses: true' under "
             "'simulation' records it.",
             mover.part, s->n_lost > 1 ? " and others" : "");
  else if (s->damaged)
    snprintf(v->note, sizeof v->note, "Some records are damaged: they are left out.");
  else
    return;
  if (!v->quiet) fprintf(stderr, "warning: %s: %s\n", v->file, v->note);
}

static int make(view *v, int n, const char *file)
{
  ga_status status = GA_OK;
  for (int i = 0; i < n && !status; i++) status = app_scene_read(&v[i].scene);
  if (status == GA_ERR_MEMORY) return out_of_memory();
  if (status) return fprintf(stderr, "galpha view: %s\n", ga_context_error(v->task.ctx)->text), APP_FAILED;
  int damaged = 0;
  for (int i = 0; i < n; i++) {
    note_losses(v + i);
  }
  const int code = write_page(v, n, file);
  for (int i = 0; i < n && !code; i++) {
    if (!v[i].scene.damaged) continue;
    damaged = 1;
    if (ga_result_verify(v[i].result))
      fprintf(stderr, "galpha view: %s\n", ga_context_error(v[i].task.ctx)->text);
  }
  return code ? code : damaged ? APP_FAILED : APP_DONE;
}

static int check_name(const view *v, const char *file)
{
  if (!app_ends_in(file, ".html") && !app_ends_in(file, ".htm"))
    return app_misused(v->a, "--out: \"%s\" does not end in .html", file);
  const int error = app_output_check(file);
  return error ? app_output_refused(v->a, file, error) : APP_DONE;
}

static void close_view(view *v)
{
  app_mode_shapes_free(v->task.ctx, &v->modes);
  app_scene_free(&v->scene);
  free(v->chosen);
  free(v->moves);
  ga_result_close(&v->result);
  ga_model_destroy(&v->model);
  app_task_close(&v->task);
}

/* All operands that are results, the first one in front; then the page. *running: 1 if a run goes on, with
 * *records so far. */
static int view_once(const app_arguments *a, const char *file, int quiet, int *running, long *records)
{
  view v[MOST_RESULTS] = {
      {.a = a, .file = a->operands[0], .quiet = quiet, .checked = strcmp(a->command->name, "check") == 0}};
  const int first = is_result(v->file);
  int n = 1, code = check_name(v, file);
  if (!code) code = first ? open_result(v) : open_model(v);
  for (int i = 1; i < a->n_operands && first && !code; i++) {
    if (!is_result(a->operands[i])) continue;
    if (n == MOST_RESULTS) {
      code = app_misused(a, "at most %d results are drawn over each other", MOST_RESULTS);
      break;
    }
    v[n] = (view){.a = a, .file = a->operands[i], .quiet = quiet};
    code = open_result(&v[n++]);
    if (!code && v[n - 1].has_modes)
      code = app_misused(a, "%s has modes, which are drawn alone", v[n - 1].file);
  }
  if (!code) code = make(v, n, file);
  const char *status = v->result ? ga_result_attribute(v->result, "status") : NULL;
  *running = status && strcmp(status, "running") == 0;
  *records = v->scene.n;
  for (int i = 0; i < n; i++) close_view(&v[i]);
  return code;
}

/* Pages again and again while the run goes on; a minute without a new record ends it, as a killed run would
 * go on forever. */
static int follow(const app_arguments *a, const char *file, int running, long records)
{
  enum { PATIENCE = 60 };
  int code = APP_DONE;
  for (int idle = 0; running && idle < PATIENCE && !code; idle += LIVE_SECONDS) {
    const long before = records;
    fflush(stdout);
    nanosleep(&(struct timespec){.tv_sec = LIVE_SECONDS}, NULL);
    code = view_once(a, file, 1, &running, &records);
    if (records != before) idle = -LIVE_SECONDS;
  }
  if (!code)
    printf("%s: %ld records, %s\n", file, records,
           running ? "and none for a minute: the run was killed, or stands still" : "the run has ended");
  return code;
}

int app_view(const app_arguments *a)
{
  char *beside = app_text(a, "out") ? NULL : app_beside(a->operands[0], ".html");
  const char *file = app_text(a, "out") ? app_text(a, "out") : beside;
  int running = 0;
  long records = 0;
  if (!file) return out_of_memory();
  if (app_has(a, "live") && !is_result(a->operands[0])) {
    free(beside);
    return app_misused(a, "--live: %s is a model, not the result of a run that is going on", a->operands[0]);
  }
  int code = view_once(a, file, 0, &running, &records);
  if (!code && app_has(a, "live")) code = follow(a, file, running, records);
  free(beside);
  return code;
}
