/* Motions that options prescribe (prescribe.c): --prescribe and --prescribe-from. */
#ifndef GALPHA_APP_PRESCRIBE_H
#define GALPHA_APP_PRESCRIBE_H

#include "app.h"

#include "galpha/galpha.h"
#include "galpha/model.h"

typedef struct app_prescribed { /* all 0: none */
  int n;
  ga_prescription list[GA_MOST_PRESCRIBED];
  double first[GA_MOST_PRESCRIBED], last[GA_MOST_PRESCRIBED]; /* [s] times of the data; infinite: any */
  char *text[2 * GA_MOST_PRESCRIBED];                         /* what the list points to */
} app_prescribed;

/* Reads the options; what is wrong is said on stderr. Returns an exit code; to be freed after failures too.
 */
int app_prescribed_take(app_prescribed *p, ga_context *ctx, const app_arguments *a);
/* Do the data cover these times? Returns an exit code, and says so if they do not. */
int app_prescribed_covers(const app_prescribed *p, const app_arguments *a, double from, double to);
void app_prescribed_free(app_prescribed *p);

#endif
