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
      if (is_drawn(p->curves[c].error[i]))
        fprintf(to, "%.9g %.9g\n", p->curves[c].size[i], p->curves[c].error[i]);
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

/* Corners (x0, y0), (x1, y0), (x1, y1) of the triangle of a slope. The steepest is in the middle, others at
 * the smallest sizes, where curves of different slopes are far apart. 0: this curve has none. */
static int find_triangle(const app_error_plot *p, int c, double x[2], double y[2])
{
  const app_error_curve *e = &p->curves[c];
  double steepest = 0.0;
  for (int i = 0; i < p->n; i++) steepest = fmax(steepest, p->curves[i].slope);
  if (e->slope == 0.0 || lowest_of_slope(p, e->slope) != c) return 0;
  const int fine = e->slope == steepest ? e->n / 2 : e->n - 1;
  if (fine < 1 || !is_drawn(e->error[fine])) return 0;
  x[0] = e->size[fine], x[1] = e->size[fine - 1];
  y[0] = 0.45 * e->error[fine], y[1] = y[0] * pow(x[1] / x[0], e->slope);
  return 1;
}

/* Below the lowest curve of each slope a triangle of one step, with the slope beside it. Returns their
 * number. */
static int write_triangles(FILE *to, const app_error_plot *p)
{
  int n = 0;
  double x[2], y[2];
  fputs("$triangles << EOD\n", to);
  for (int c = 0; c < p->n; c++)
    if (find_triangle(p, c, x, y)) {
      fprintf(to, "%.9g %.9g\n%.9g %.9g\n%.9g %.9g\n%.9g %.9g\n\n\n", x[0], y[0], x[1], y[0], x[1], y[1],
              x[0], y[0]);
      n++;
    }
  fputs("EOD\n$slopes << EOD\n", to);
  for (int c = 0; c < p->n; c++)
    if (find_triangle(p, c, x, y))
      fprintf(to, "%.9g %.9g %g\n", 1.09 * x[1], sqrt(y[0] * y[1]), p->curves[c].slope);
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
    const int every = p->curves[0].n > 3 ? 2 : 1;
    for (int i = 0; i < p->curves[0].n; i += every)
      fprintf(to, "%s%.9g", i ? ", " : "", p->curves[0].size[i]);
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
  fputs("set grid xtics ytics linecolor rgb '#d8d8d8'\nset border 3\nset tics nomirror out\nset key outside "
        "right "
        "top vertical Left reverse samplen 2.5 spacing 1.2\nset title ",
        g.to);
  app_gnuplot_label(g.to, p->title);
  fprintf(g.to, "%s\nset xlabel ", markup);
  app_gnuplot_label(g.to, p->x_label);
  fprintf(g.to, "%s\nset ylabel ", markup);
  app_gnuplot_label(g.to, p->y_label);
  fprintf(g.to, "%s\nplot ", markup);
  if (triangles)
    fputs("$triangles with lines linewidth 1 linecolor rgb 'gray40' notitle, $slopes using 1:2:3 with labels "
          "left "
          "textcolor rgb 'gray30' notitle, ",
          g.to);
  for (int c = 0; c < p->n; c++) {
    static const int shapes[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12};
    const app_error_curve *e = &p->curves[c];
    fprintf(g.to,
            "%s$e%d with linespoints linewidth 2 pointsize %.2g linecolor %d dashtype %d pointtype %d title ",
            c ? ", " : "", c, 1.3 - 0.7 * c / p->n, e->colour % 10 + 1, e->dash % 5 + 1,
            shapes[(e->dash ? e->dash : e->colour) % 10]);
    app_gnuplot_label(g.to, e->label);
    fputs(markup, g.to);
  }
  fputc('\n', g.to);
  return app_gnuplot_close(&g, a);
}
