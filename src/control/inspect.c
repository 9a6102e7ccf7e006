/* Checks of options. Failures have the kind, the option, its value and what is allowed. */
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

void ga__want(ga__inspect *in, int fine, ga_reason reason, ga__facts facts)
{
  if (in->status || fine) return;
  facts.kind = "block";
  facts.part = in->kind;
  in->status = ga__refuse(in->ctx, GA_ERR_ARGUMENT, reason, &facts);
}

void ga__want_number(ga__inspect *in, int fine, const char *option, int item, double value, const char *must)
{
  ga__want(in, fine, GA_REASON_OUT_OF_RANGE,
           (ga__facts){.field = option, .item = item, .expected = must, GA__NUMBERS({value, NULL})});
}

void ga__want_both(ga__inspect *in, int fine, const char *option, double value, const char *other,
                   double other_value, const char *rule)
{
  ga__want(in, fine, GA_REASON_OPTIONS_CONTRADICT,
           (ga__facts){.field = option,
                       .other = other,
                       .expected = rule,
                       GA__NUMBERS({value, NULL}, {other_value, NULL})});
}

void ga__want_size(ga__inspect *in, const char *option, int n, int least)
{
  char must[GA_ERROR_WORD];
  snprintf(must, sizeof must, "from %d to %d", least, (int)GA_BLOCK_SIZE);
  ga__want_number(in, n >= least && n <= GA_BLOCK_SIZE, option, 0, n, must);
}

void ga__want_given(ga__inspect *in, const char *option, const void *p)
{
  ga__want(in, p != NULL, GA_REASON_FIELD_MISSING,
           (ga__facts){.field = option, .detail = "NULL", .expected = "it, the block needs it"});
}

void ga__want_finite(ga__inspect *in, const char *option, double value)
{
  ga__want_number(in, isfinite(value), option, 0, value, "finite");
}

void ga__want_positive(ga__inspect *in, const char *option, double value)
{
  ga__want_number(in, isfinite(value) && value > 0, option, 0, value, "> 0 and finite");
}

void ga__want_positive_with(ga__inspect *in, const char *option, double value, const char *with)
{
  char must[GA_ERROR_NAME];
  snprintf(must, sizeof must, "> 0 and finite %s", with);
  ga__want_number(in, isfinite(value) && value > 0, option, 0, value, must);
}

void ga__want_array(ga__inspect *in, const char *option, const double *p, int n, int optional)
{
  if (in->status || n == 0 || (optional && !p)) return;
  ga__want_given(in, option, p);
  for (int i = 0; !in->status && i < n; i++)
    ga__want_number(in, isfinite(p[i]), option, i + 1, p[i], "finite");
}

void ga__want_names(ga__inspect *in, const char *option, const char *const *names, int n)
{
  for (int i = 0; !in->status && names && i < n; i++) {
    ga__want(in, names[i] && names[i][0], GA_REASON_FIELD_MISSING,
             (ga__facts){.field = option, .item = i + 1, .detail = "NULL or empty", .expected = "a name"});
    if (in->status) return;
    ga__want(in, strlen(names[i]) < GA_BLOCK_NAME, GA_REASON_NAME_TOO_LONG,
             (ga__facts){.field = option,
                         .item = i + 1,
                         .name = names[i],
                         GA__NUMBERS({(double)strlen(names[i]), NULL}, {GA_BLOCK_NAME - 1, NULL})});
    for (int j = 0; j < i; j++)
      ga__want(in, strcmp(names[i], names[j]) != 0, GA_REASON_ITEMS_EQUAL,
               (ga__facts){.field = option, .item = i + 1, .name = names[i], GA__NUMBERS({j, NULL})});
  }
}

void ga__want_limits(ga__inspect *in, double lower, double upper, double smoothing)
{
  ga__want_both(in, lower < upper, "lower", lower, "upper", upper, "lower must be below upper");
  ga__want_number(in, isfinite(smoothing) && smoothing >= 0, "smoothing", 0, smoothing,
                  "0 (hard corners) or above and finite");
  ga__want_both(in, smoothing <= 0.5 * (upper - lower), "smoothing", smoothing, "upper - lower",
                upper - lower, "it must be at most half of that, so that corners do not overlap");
}

void ga__want_choice(ga__inspect *in, const char *option, int choice, int n_choices)
{
  char must[GA_ERROR_WORD];
  snprintf(must, sizeof must, "from 0 to %d", n_choices - 1);
  ga__want_number(in, choice >= 0 && choice < n_choices, option, 0, choice, must);
}
