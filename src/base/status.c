/* Status texts, the version, and how failures and log messages are put into words. */
#include "base/base_impl.h"
#include "base/version.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ga_status_text(ga_status status)
{
  switch (status) {
#define GA__STATUS_CASE(name, value, text)                                                                   \
  case name:                                                                                                 \
    return text;
    GA_STATUS_LIST(GA__STATUS_CASE)
#undef GA__STATUS_CASE
  }
  return "unknown status";
}

const char *ga_version(void)
{
  return GA__VERSION;
}

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

static void format_text(char text[GA_ERROR_TEXT], const char *format, va_list args)
{
  int length = vsnprintf(text, GA_ERROR_TEXT, format, args);
  if (length < 0) text[0] = '\0';
  if (length >= GA_ERROR_TEXT) mark_cut(text, GA_ERROR_TEXT);
  ga__make_plain(text);
}

/* The text is put together apart from the context, because its arguments may quote the error before. */
static ga_status store(ga_context *ctx, ga_status status, double t, int block, int index, const char *format,
                       va_list args)
{
  ga_error error = {.status = status, .t = t, .block = block, .index = index};
  if (!ctx) return status;
  format_text(error.text, format, args);
  ctx->error = error;
  return status;
}

ga_status ga__fail(ga_context *ctx, ga_status status, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  store(ctx, status, NAN, -1, -1, format, args);
  va_end(args);
  return status;
}

ga_status ga__fail_at(ga_context *ctx, ga_status status, double t, int block, int index, const char *format,
                      ...)
{
  va_list args;
  va_start(args, format);
  store(ctx, status, t, block, index, format, args);
  va_end(args);
  return status;
}

ga_status ga__no_memory(ga_context *ctx, const char *what)
{
  return ga__fail(ctx, GA_ERR_MEMORY, "out of memory for %s", what);
}

ga_status ga__null_argument(ga_context *ctx)
{
  return ga__fail(ctx, GA_ERR_ARGUMENT, "an argument that the function needs is NULL");
}

void ga__log(ga_context *ctx, ga_log_level level, const char *format, ...)
{
  char text[GA_ERROR_TEXT];
  va_list args;
  if (!ctx || !ctx->opts.log || level > ctx->opts.log_level) return;
  va_start(args, format);
  format_text(text, format, args);
  va_end(args);
  ctx->opts.log(ctx->opts.log_user, level, text);
}

void ga__write(ga__writer *w, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  const size_t room = w->used < w->size ? w->size - w->used : 0;
  const int n = vsnprintf(room ? w->text + w->used : NULL, room, format, args);
  va_end(args);
  if (n > 0) w->used += (size_t)n;
}
