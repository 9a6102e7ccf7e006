/* Status texts, version, log messages, and formatted output to a buffer. */
#include "base/base_impl.h"
#include "base/version.h"
#include <stdio.h>

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

void ga__log(ga_context *ctx, ga_log_level level, ga_reason reason, const ga__facts *facts)
{
  ga_error message;
  char text[GA_ERROR_TEXT];
  if (!ctx || !ctx->opts.log || level > ctx->opts.log_level) return;
  ga__error_set(&message, GA_OK, reason, facts);
  ga_error_say(&message, GA_SAY_ALL, text, sizeof text);
  message.text = text;
  ctx->opts.log(ctx->opts.log_user, level, &message);
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
