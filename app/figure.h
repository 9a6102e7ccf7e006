/* A picture of curves in panels: what is drawn, its layout, and the commands for gnuplot. */
#ifndef GALPHA_APP_FIGURE_H
#define GALPHA_APP_FIGURE_H

#include "gnuplot.h"
#include "series.h"

enum { APP_MOST_CURVES = 64, APP_LABEL = 512 };

typedef struct app_curve {
  int source, other;  /* other: the source that is subtracted; −1: none */
  app_quantity x, y;  /* x.text NULL: over time */
  app_quantity minus; /* y of the other source */
  int panel;
  int style;                /* from 1: colour, and with several sources also dashes */
  char label[APP_LABEL];    /* in the legend */
  char quantity[APP_LABEL]; /* label of y alone, without the source */
  int drawn_as_points;
  app_series data;
} app_curve;

typedef struct app_panel {
  char name_x[APP_LABEL], name_y[APP_LABEL]; /* on its axes; empty: only the unit */
  char unit_x[APP_UNIT], unit_y[APP_UNIT];
  int over_time, given_by_hand;
  int lengths;            /* 1: both axes are lengths, and have one scale */
  int needs_legend;       /* 1: the axis does not say which file a curve is of */
  int given[2];           /* 1: the name of x, y is the whole label, without a unit */
  int n;                  /* curves */
  double low[2], high[2]; /* of all its points */
  double noise;           /* y is constant if it changes less */
  int columns, rows;      /* of its legend */
  int digits;             /* of the numbers beside it */
  double top, bottom;     /* of its axes, from the top of the picture */
} app_panel;

typedef enum app_legend { APP_LEGEND_EACH, APP_LEGEND_SHARED, APP_LEGEND_NONE } app_legend;

typedef struct app_figure {
  const app_arguments *a;
  const char *file; /* of the picture */
  char title[APP_LABEL];
  app_look look; /* height 0: chosen */
  int log[2];    /* logarithmic axes x, y */
  app_legend legend;
  int n_curves, n_panels;
  app_curve *curve;
  app_panel panel[APP_MOST_CURVES];
  const ga_result *events; /* whose events are marked; NULL: none */
  double time_scale;       /* times are drawn in a unit of which this many are a second */
  double left, height;     /* left: of all axes */
  int shared_rows, shared_columns;
} app_figure;

/* Draws curves whose data have been read. Reports errors on stderr; returns an exit code. */
int app_figure_draw(app_figure *f);

/* "N·m", "m/s²" of a unit as files have it, "N*m", "m/s^2". */
void app_pretty_unit(char *text, size_t size, const char *unit);

#endif
