/* Checks of options: each names the kind and the option, says what is wrong and what would be right. */
#include "control/control_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

ga__inspect ga__inspect_begin(ga_context *ctx, ga_block_kind kind, const void *opts, ga_control_block **out)
{
  ga__inspect in = {.ctx = ctx, .kind = ga_block_kind_name(kind), .status = GA_OK};
  if (out) *out = NULL;
  if (!ctx) {
    in.status = GA_ERR_ARGUMENT;
    return in;
  }
  ga__want_given(&in, "opts", opts);
  ga__want_given(&in, "out", out);
  return in;
}

void ga__want(ga__inspect *in, int fine, const char *format, ...)
{
  char text[GA_ERROR_TEXT / 2];
  va_list args;
  if (in->status || fine) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  in->status = ga__refuse(in->ctx, GA_ERR_ARGUMENT, GA_REASON_OPTION,
                          &(ga__facts){.kind = "block", .part = in->kind, .detail = text});
}

/* A number that is out of its range: number `item` of the option, from 1; 0: it has one alone. */
static void want_number(ga__inspect *in, int fine, const char *option, int item, double value,
                        const char *must)
{
  if (in->status || fine) return;
  in->status = ga__refuse(in->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                          &(ga__facts){.kind = "block",
                                       .part = in->kind,
                                       .field = option,
                                       .item = item,
                                       .expected = must,
                                       GA__NUMBERS({value, NULL})});
}

void ga__want_size(ga__inspect *in, const char *option, int n, int least)
{
  char must[GA_ERROR_WORD];
  snprintf(must, sizeof must, "from %d to %d", least, (int)GA_BLOCK_SIZE);
  want_number(in, n >= least && n <= GA_BLOCK_SIZE, option, 0, n, must);
}

void ga__want_given(ga__inspect *in, const char *option, const void *p)
{
  if (in->status || p) return;
  in->status = ga__refuse(in->ctx, GA_ERR_ARGUMENT, GA_REASON_FIELD_MISSING,
                          &(ga__facts){.kind = "block",
                                       .part = in->kind,
                                       .field = option,
                                       .detail = "NULL",
                                       .expected = "it, the block needs it"});
}

void ga__want_finite(ga__inspect *in, const char *option, double value)
{
  want_number(in, isfinite(value), option, 0, value, "finite");
}

void ga__want_positive(ga__inspect *in, const char *option, double value)
{
  want_number(in, isfinite(value) && value > 0, option, 0, value, "> 0 and finite");
}

void ga__want_positive_with(ga__inspect *in, const char *option, double value, const char *with)
{
  char must[GA_ERROR_NAME];
  snprintf(must, sizeof must, "> 0 and finite %s", with);
  want_number(in, isfinite(value) && value > 0, option, 0, value, must);
}

void ga__want_array(ga__inspect *in, const char *option, const double *p, int n, int optional)
{
  if (in->status || n == 0 || (optional && !p)) return;
  ga__want_given(in, option, p);
  for (int i = 0; !in->status && i < n; i++) want_number(in, isfinite(p[i]), option, i + 1, p[i], "finite");
}

void ga__want_names(ga__inspect *in, const char *option, const char *const *names, int n)
{
  for (int i = 0; !in->status && names && i < n; i++) {
    ga__want(in, names[i] && names[i][0], "%s[%d] is NULL or empty", option, i);
    if (in->status) return;
    ga__want(in, strlen(names[i]) < GA_BLOCK_NAME, "%s[%d], '%.20s...', has %d bytes, at most %d are allowed",
             option, i, names[i], (int)strlen(names[i]), (int)GA_BLOCK_NAME - 1);
    for (int j = 0; j < i; j++)
      ga__want(in, strcmp(names[i], names[j]) != 0, "%s[%d] and %s[%d] are both '%s'", option, j, option, i,
               names[i]);
  }
}

void ga__want_limits(ga__inspect *in, double lower, double upper, double smoothing)
{
  ga__want(in, lower < upper, "lower is %g and upper is %g, lower must be below upper", lower, upper);
  ga__want(in, isfinite(smoothing) && smoothing >= 0, "smoothing is %g, must be 0 (hard) or above and finite",
           smoothing);
  ga__want(in, smoothing <= 0.5 * (upper - lower),
           "smoothing is %g, at most half of upper - lower = %g is allowed, so that corners do not overlap",
           smoothing, upper - lower);
}

void ga__want_choice(ga__inspect *in, const char *option, int choice, int n_choices)
{
  char must[GA_ERROR_WORD];
  snprintf(must, sizeof must, "from 0 to %d", n_choices - 1);
  want_number(in, choice >= 0 && choice < n_choices, option, 0, choice, must);
}
