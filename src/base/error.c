/* Failures: stored as data, and turned into sentences. */
#include "base/base_impl.h"
#include "base/sentence.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Texts ---- */

/* Replaces the end of a text that was cut at size bytes by an ellipsis, without leaving half a UTF-8
 * character: continuation bytes are 10xxxxxx, and the byte before them begins the character. */
static void mark_cut(char *text, size_t size)
{
  static const char ellipsis[] = "...";
  size_t end = size - sizeof ellipsis;
  while (end > 0 && ((unsigned char)text[end] & 0xC0u) == 0x80u) end--;
  memcpy(text + end, ellipsis, sizeof ellipsis);
}

void ga__make_plain(char *text)
{
  for (unsigned char *c = (unsigned char *)text; *c; c++) {
    if (*c < 0x20u || *c == 0x7Fu) *c = ' ';
    if (c[0] == 0xC2u && c[1] >= 0x80u && c[1] < 0xA0u) c[0] = c[1] = ' ';
  }
}

void ga__cut_text(char *to, size_t size, const char *text)
{
  const size_t bytes = text ? strlen(text) : 0;
  if (bytes > 0) memmove(to, text, bytes < size ? bytes : size - 1);
  to[bytes < size ? bytes : size - 1] = '\0';
  if (bytes >= size) mark_cut(to, size);
  ga__make_plain(to);
}

/* The same for a path, whose end is kept. */
static void cut_path(char *to, size_t size, const char *path)
{
  const size_t bytes = path ? strlen(path) : 0;
  if (bytes < size) {
    ga__cut_text(to, size, path);
    return;
  }
  const char *rest = path + bytes - (size - sizeof "...");
  while (((unsigned char)*rest & 0xC0u) == 0x80u) rest++; /* not within a UTF-8 character */
  snprintf(to, size, "...%s", rest);
  ga__make_plain(to);
}

/* ---- Storing ---- */

ga_error ga__error_none(void)
{
  return (ga_error){.status = GA_OK, .t = NAN, .h = NAN, .block = -1, .index = -1, .item = -1, .text = ""};
}

void ga__error_set(ga_error *error, ga_status status, ga_reason reason, const ga__facts *facts)
{
  ga_error e = ga__error_none();
  const struct {
    char *to;
    size_t size;
    const char *from;
  } texts[] = {{e.kind, sizeof e.kind, facts->kind},
               {e.part, sizeof e.part, facts->part},
               {e.field, sizeof e.field, facts->field},
               {e.name, sizeof e.name, facts->name},
               {e.other, sizeof e.other, facts->other},
               {e.nearest, sizeof e.nearest, facts->nearest},
               {e.expected, sizeof e.expected, facts->expected},
               {e.equation, sizeof e.equation, facts->equation},
               {e.function, sizeof e.function, facts->function},
               {e.callback, sizeof e.callback, facts->callback},
               {e.detail, sizeof e.detail, facts->detail},
               {e.within, sizeof e.within, facts->within},
               {e.item_name, sizeof e.item_name, facts->item_name}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    ga__cut_text(texts[i].to, texts[i].size, texts[i].from);
  cut_path(e.file, sizeof e.file, facts->file);
  e.status = status;
  e.reason = reason;
  e.item = facts->item - 1;
  e.code = facts->code;
  e.column = facts->column;
  if (facts->at) {
    e.t = facts->at->t;
    e.h = facts->at->h;
    e.block = facts->at->block;
    e.index = facts->at->index;
  }
  e.n_numbers = facts->n_numbers;
  for (int i = 0; i < facts->n_numbers; i++) {
    e.number[i].value = facts->number[i].value;
    ga__cut_text(e.number[i].unit, GA_ERROR_UNIT, facts->number[i].unit);
  }
  *error = e;
}

ga_status ga__refuse(ga_context *ctx, ga_status status, ga_reason reason, const ga__facts *facts)
{
  if (ctx && !ctx->muted) ga__error_set(&ctx->error, status, reason, facts);
  return status;
}

ga_status ga__name_item(ga_context *ctx, ga_status status, int item, const char *name)
{
  if (status == GA_OK || status == GA_ERR_MEMORY || ctx->muted) return status;
  ctx->error.item = item;
  ga__cut_text(ctx->error.item_name, sizeof ctx->error.item_name, name);
  return status;
}

ga_status ga__no_memory(ga_context *ctx, const char *what)
{
  return ga__refuse(ctx, GA_ERR_MEMORY, GA_REASON_MEMORY, &(ga__facts){.name = what});
}

ga_status ga__refuse_null(ga_context *ctx, const char *function, const char *field)
{
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
                    &(ga__facts){.function = function, .field = field});
}

ga_status ga__refuse_number(ga_context *ctx, const char *kind, const char *field, double value,
                            const char *expected)
{
  return ga__refuse(
      ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
      &(ga__facts){.kind = kind, .field = field, .expected = expected, GA__NUMBERS({value, NULL})});
}

ga_status ga__refuse_choice(ga_context *ctx, const char *kind, const char *field, int value,
                            const char *choices, int last)
{
  return ga__refuse(
      ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_A_CHOICE,
      &(ga__facts){
          .kind = kind, .field = field, .expected = choices, GA__NUMBERS({value, NULL}, {last, NULL})});
}

ga_status ga__refuse_missing(ga_context *ctx, const char *kind, const char *count, int n, const char *array)
{
  return ga__refuse(
      ctx, GA_ERR_ARGUMENT, GA_REASON_COUNT_MISMATCH,
      &(ga__facts){.kind = kind, .field = count, .other = array, .detail = "NULL", GA__NUMBERS({n, NULL})});
}

ga_status ga__refuse_order(ga_context *ctx, const char *function, const char *when)
{
  return ga__refuse(ctx, GA_ERR_ORDER, GA_REASON_CALL_ORDER,
                    &(ga__facts){.function = function, .expected = when});
}

/* ---- Sentences ---- */

/* The text of a slot; NULL: unknown slot. */
static const char *slot_text(const ga_error *e, const char *slot, size_t bytes)
{
  const struct {
    const char *slot, *text;
  } texts[] = {{"kind", e->kind},         {"part", e->part},         {"name", e->name},
               {"other", e->other},       {"nearest", e->nearest},   {"expected", e->expected},
               {"equation", e->equation}, {"callback", e->callback}, {"detail", e->detail},
               {"within", e->within}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strlen(texts[i].slot) == bytes && memcmp(texts[i].slot, slot, bytes) == 0) return texts[i].text;
  return NULL;
}

/* "{0}" or "{0.3}": number 0 with its unit, with 3 significant digits. Without digits, whole numbers
 * without a unit are written in full, others with 6 digits. Returns 1; 0: the error has no such number; −1:
 * not a number slot. */
static int write_number(ga__writer *w, const ga_error *e, const char *slot)
{
  const int i = slot[0] - '0';
  if (i < 0 || i >= GA_ERROR_NUMBERS) return -1;
  if (i >= e->n_numbers) return 0;
  const double value = e->number[i].value;
  const int is_count = !e->number[i].unit[0] && fabs(value) < 1e9 && value == floor(value);
  int digits = slot[1] == '.' ? slot[2] - '0' : is_count ? 15 : 6;
  if (slot[1] == '.' && slot[3] != '}') digits = 10 * digits + slot[3] - '0';
  ga__write(w, "%.*g%s%s", digits, value, e->number[i].unit[0] ? " " : "", e->number[i].unit);
  return !isnan(value);
}

/* "stiffness", "force[1]", "inputs.reference" */
static int write_field(ga__writer *w, const ga_error *e)
{
  ga__write(w, "%s", e->field);
  if (e->item_name[0])
    ga__write(w, ".%s", e->item_name);
  else if (e->item >= 0)
    ga__write(w, "[%d]", e->item);
  return e->field[0] != '\0';
}

/* Writes the value of a slot. Returns 1; 0: it is empty; −1: unknown slot. */
static int write_slot(ga__writer *w, const ga_error *e, const char *slot, size_t bytes)
{
  if (bytes == 5 && memcmp(slot, "field", 5) == 0) return write_field(w, e);
  const char *text = slot_text(e, slot, bytes);
  if (text) {
    ga__write(w, "%s", text);
    return text[0] != '\0';
  }
  if (bytes == 1 && slot[0] == 't') return ga__write(w, "%.9g", e->t), !isnan(e->t);
  if (bytes == 1 && slot[0] == 'h') return ga__write(w, "%.3g", e->h), !isnan(e->h);
  if (bytes == 4 && memcmp(slot, "code", 4) == 0) return ga__write(w, "%d", e->code), e->code != 0;
  if (bytes == 6 && memcmp(slot, "column", 6) == 0) return ga__write(w, "%d", e->column), e->column > 0;
  return write_number(w, e, slot);
}

/* Writes the pattern up to `end`, slots filled. Returns 1; 0: a slot is empty; −1: unknown slot. */
static int write_slots(ga__writer *w, const ga_error *e, const char *pattern, const char *end)
{
  int filled = 1;
  while (pattern < end) {
    const char *slot = memchr(pattern, '{', (size_t)(end - pattern));
    if (!slot) slot = end;
    ga__write(w, "%.*s", (int)(slot - pattern), pattern);
    if (slot == end) break;
    const char *close = memchr(slot, '}', (size_t)(end - slot));
    if (!close) return -1;
    const int written = write_slot(w, e, slot + 1, (size_t)(close - slot) - 1);
    if (written < 0) return -1;
    filled &= written;
    pattern = close + 1;
  }
  return filled;
}

int ga__sentence_write(ga__writer *w, const ga_error *e, const char *pattern)
{
  while (*pattern) {
    const char *open = strstr(pattern, "{{"), *end = open ? open : pattern + strlen(pattern);
    if (write_slots(w, e, pattern, end) < 0) return 0;
    if (!open) break;
    const char *close = strstr(open, "}}");
    if (!close) return 0;
    while (close[2] == '}') close++; /* in "{slot}}}" the first brace ends the slot */
    const size_t before = w->used;
    const int filled = write_slots(w, e, open + 2, close);
    if (filled < 0) return 0;
    if (filled == 0) w->used = before;
    pattern = close + 2;
  }
  if (w->used < w->size) w->text[w->used] = '\0'; /* ends the text where an optional piece was dropped */
  return 1;
}

/* Whether the sentence has this slot. */
static int mentions(const char *pattern, const char *slot)
{
  return strstr(pattern, slot) != NULL;
}

static void write_time(ga__writer *w, const ga_error *e, const char *pattern)
{
  if (isnan(e->t) || mentions(pattern, "{t}") || (e->reason == GA_REASON_OTHER && !e->callback[0])) return;
  ga__sentence_write(w, e, mentions(pattern, "{h}") ? "t = {t}: " : "t = {t}{{, h = {h}}}: ");
}

static void write_callback(ga__writer *w, const ga_error *e, const char *pattern)
{
  if (!e->callback[0] || mentions(pattern, "{callback}")) return;
  ga__sentence_write(w, e,
                     e->code > 0 ? "the callback '{callback}' could not be evaluated (it returned {code}): "
                                 : "the callback '{callback}' failed (it returned {code}): ");
}

/* "spring 's': ", or "stiffness of spring 's': " if the sentence does not have the field; before it the
 * file and the function called: "ga_stepper_step: ". */
static void write_part(ga__writer *w, const ga_error *e, const char *pattern)
{
  const int field = e->field[0] && !mentions(pattern, "{field}");
  const int part = e->kind[0] && !mentions(pattern, "{kind}");
  if (e->file[0]) ga__write(w, "%s: ", e->file);
  if (e->function[0]) ga__write(w, "%s: ", e->function);
  if (!field && !part) return;
  if (field) ga__sentence_write(w, e, part ? "{field} of " : "{field}");
  if (part) ga__sentence_write(w, e, "{kind}{{ '{part}'}}");
  ga__write(w, ": ");
}

/* "expression '2*wdith', column 3: ". */
static void write_text(ga__writer *w, const ga_error *e)
{
  if (e->within[0] || e->other[0]) ga__sentence_write(w, e, "{{{other} }}'{within}'{{, column {column}}}: ");
}

int ga_error_say(const ga_error *error, int pieces, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  if (!error) return 0;
  const ga__sentence *s = ga__sentence_of(error->reason);
  if (pieces & GA_SAY_TIME) write_time(&w, error, s->what);
  if (pieces & GA_SAY_CALLBACK) write_callback(&w, error, s->what);
  if (pieces & GA_SAY_PART) write_part(&w, error, s->what);
  if (ga__sentence_in_text(error->reason)) write_text(&w, error);
  ga__sentence_write(&w, error, s->what);
  if (s->advice && pieces & GA_SAY_ADVICE) ga__sentence_write(&w, error, s->advice);
  if (size && w.used >= size && size > 4) mark_cut(text, size);
  if (size) ga__make_plain(text);
  return (int)w.used;
}
