#include "orders.h"

#include <math.h>

static int is_drawn(double error)
{
  return error > 0.0 && isfinite(error);
}

static void write_data(FILE *to, const app_error_plot *p)
{
  for (int c = 0; c < p->n; c++) {
    fprintf(to, "$e%d << EOD\n", c);
    for (int i = 0; i < p->curves[c].n; i++)
      if (is_drawn(p->curves[c].error[i])) fprintf(to, "%.9g %.9g\n", p->curves[c].size[i], p->curves[c].error[i]);
    fputs("EOD\n", to);
  }
}

/* The lowest curve of a slope in the middle of its sizes; −1: none. */
static int lowest_of_slope(const app_error_plot *p, double slope)
{
  int lowest = -1;
  double least = INFINITY;
  for (int c = 0; c < p->n; c++) {
    const app_error_curve *e = &p->curves[c];
    const double middle = e->n > 1 ? e->error[e->n / 2] : NAN;
    if (e->slope == slope && is_drawn(middle) && middle < least) least = middle, lowest = c;
  }
  return lowest;
}

/* Below the lowest curve of each slope a triangle of one step, with the slope beside it. Returns their number. */
static int write_triangles(FILE *to, const app_error_plot *p)
{
  int n = 0;
  fputs("$triangles << EOD\n", to);
  for (int c = 0; c < p->n; c++) {
    const double slope = p->curves[c].slope;
    if (slope == 0.0 || lowest_of_slope(p, slope) != c) continue;
    const app_error_curve *e = &p->curves[c];
    const int fine = e->n / 2, coarse = fine - 1;
    const double x0 = e->size[fine], x1 = e->size[coarse], y0 = 0.45 * e->error[fine], y1 = y0 * pow(x1 / x0, slope);
    if (!is_drawn(y0)) continue;
    fprintf(to, "%.9g %.9g\n%.9g %.9g\n%.9g %.9g\n%.9g %.9g\n\n", x0, y0, x1, y0, x1, y1, x0, y0);
    fprintf(to, "\n");
    n++;
  }
  fputs("EOD\n$slopes << EOD\n", to);
  for (int c = 0; c < p->n; c++) {
    const double slope = p->curves[c].slope;
    if (slope == 0.0 || lowest_of_slope(p, slope) != c) continue;
    const app_error_curve *e = &p->curves[c];
    const int fine = e->n / 2;
    const double x0 = e->size[fine], x1 = e->size[fine - 1], y0 = 0.45 * e->error[fine];
    if (is_drawn(y0)) fprintf(to, "%.9g %.9g %g\n", x1 * 1.09, y0 * pow(x1 / x0, 0.5 * slope), slope);
  }
  fputs("EOD\n", to);
  return n;
}

/* Ranges with some room, so that no curve touches the frame. */
static void write_ranges(FILE *to, const app_error_plot *p)
{
  double x0 = INFINITY, x1 = 0.0, y0 = INFINITY, y1 = 0.0;
  for (int c = 0; c < p->n; c++)
    for (int i = 0; i < p->curves[c].n; i++) {
      if (!is_drawn(p->curves[c].error[i])) continue;
      x0 = fmin(x0, p->curves[c].size[i]), x1 = fmax(x1, p->curves[c].size[i]);
      y0 = fmin(y0, p->curves[c].error[i]), y1 = fmax(y1, p->curves[c].error[i]);
    }
  if (!(x1 > 0.0)) x0 = y0 = 0.1, x1 = y1 = 1.0;
  fprintf(to, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", x0 / 1.4, x1 * 1.4, y0 / 3.0, y1 * 3.0);
  if (x1 / x0 < 30.0) { /* powers of ten would be too few ticks */
    fputs("set xtics (", to);
    for (int i = 0; i < p->curves[0].n; i++) fprintf(to, "%s%.9g", i ? ", " : "", p->curves[0].size[i]);
    fputs(")\nset format x '%.3g'\n", to);
  }
}

int app_draw_errors(const app_arguments *a, const char *file, const app_error_plot *p)
{
  app_gnuplot g;
  const int code = app_gnuplot_open(&g, a, file, 800, 560);
  const char *const markup = p->enhanced ? "" : " noenhanced";
  if (code) return code;
  write_data(g.to, p);
  const int triangles = write_triangles(g.to, p);
  fputs("set logscale xy\nset format xy '10^{%T}'\n", g.to);
  write_ranges(g.to, p);
  fputs("set grid xtics ytics linecolor rgb '#d8d8d8'\nset border 3\nset tics nomirror out\nset key outside right "
        "top vertical Left reverse samplen 2.5 spacing 1.2\nset title ",
        g.to);
  app_gnuplot_quoted(g.to, p->title);
  fprintf(g.to, "%s\nset xlabel ", markup);
  app_gnuplot_quoted(g.to, p->x_label);
  fprintf(g.to, "%s\nset ylabel ", markup);
  app_gnuplot_quoted(g.to, p->y_label);
  fprintf(g.to, "%s\nplot ", markup);
  if (triangles)
    fputs("$triangles with lines linewidth 1 linecolor rgb 'gray40' notitle, $slopes using 1:2:3 with labels left "
          "textcolor rgb 'gray30' notitle, ",
          g.to);
  for (int c = 0; c < p->n; c++) {
    static const int shapes[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12};
    const app_error_curve *e = &p->curves[c];
    fprintf(g.to, "%s$e%d with linespoints linewidth 2 pointsize 0.8 linecolor %d dashtype %d pointtype %d title ",
            c ? ", " : "", c, e->colour % 10 + 1, e->dash % 5 + 1, shapes[(e->dash ? e->dash : e->colour) % 10]);
    app_gnuplot_quoted(g.to, e->label);
    fputs(markup, g.to);
  }
  fputc('\n', g.to);
  return app_gnuplot_close(&g, a);
}
