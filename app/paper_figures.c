#define _POSIX_C_SOURCE 200809L
/* Pictures of the papers' figures, and their data. */
#include "orders.h"
#include "papers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 4000 };

/* ---- Errors over steps ---- */

static int draw_orders(const app_arguments *a, const pp_result *r, const char *file)
{
  const pp_figure *f = r->figure;
  app_error_curve curves[PP_SERIES * PP_QUANTITIES];
  char labels[PP_SERIES * PP_QUANTITIES][96], y_label[128];
  int n = 0;
  for (int s = 0; s < r->n_series; s++)
    for (int q = 0; q < r->n_quantities; q++, n++) {
      const pp_curve *c = &r->curve[s][q];
      if (r->n_series == 1)
        snprintf(labels[n], sizeof labels[n], "%s", f->quantities[q].label);
      else
        snprintf(labels[n], sizeof labels[n], r->n_quantities > 1 ? "%s: %s" : "%s", f->series[s].label,
                 f->quantities[q].label);
      curves[n] = (app_error_curve){labels[n],
                                    c->n,
                                    c->x,
                                    c->y,
                                    f->series[s].slope[q],
                                    r->n_series == 1 ? q : s,
                                    r->n_series == 1 ? 0 : q};
    }
  snprintf(y_label, sizeof y_label, "%s%serror%s", f->maximum ? "largest " : "",
           f->relative ? "relative " : "", f->relative ? "" : ", 2-norm");
  const app_error_plot p = {f->title, "step h [s]", y_label, 1, n, curves};
  return app_draw_errors(a, file, &p);
}

/* ---- Values over time ---- */

static int stride_of(const pp_curve *c)
{
  return c->n > MOST_POINTS ? (c->n + MOST_POINTS - 1) / MOST_POINTS : 1;
}

static double factor_of(const pp_quantity *q)
{
  return q->factor != 0.0 ? q->factor : 1.0;
}

static void write_block(FILE *to, const pp_result *r, int s)
{
  const pp_curve *first = &r->curve[s][0];
  fprintf(to, "$s%d << EOD\n", s);
  for (int i = 0; i < first->n; i += stride_of(first)) {
    fprintf(to, "%.9g", first->x[i]);
    for (int q = 0; q < r->n_quantities; q++) {
      const pp_curve *c = &r->curve[s][q];
      const double factor = factor_of(&r->figure->quantities[q]);
      fprintf(to, " %.9g %.9g", factor * c->y[i], c->exact ? factor * c->exact[i] : NAN);
    }
    fputc('\n', to);
  }
  fputs("EOD\n", to);
}

static void write_title(FILE *to, const char *label, const char *text)
{
  fprintf(to, "set %s ", label);
  app_gnuplot_label(to, text);
  fputc('\n', to);
}

static void begin(FILE *to, const pp_result *r)
{
  for (int s = 0; s < r->n_series; s++) write_block(to, r, s);
  fputs("set grid linecolor rgb '#d8d8d8'\nset border 3\nset tics nomirror out\nset key outside right top "
        "vertical Left "
        "reverse samplen 2 spacing 1.2\n",
        to);
}

/* One curve: points of steps over the reference, or a line. */
static void write_curve(FILE *to, const pp_result *r, int s, int q, int colour, const char *label)
{
  const int column = 2 + 2 * q;
  if (r->figure->with_reference) {
    fprintf(to, "$s%d using 1:%d with lines linewidth 1 linecolor rgb 'gray50' notitle, ", s, column + 1);
    fprintf(to, "$s%d using 1:%d with points pointtype 7 pointsize 0.4 linecolor %d title ", s, column,
            colour);
  } else {
    fprintf(to, "$s%d using 1:%d with lines linewidth %s linecolor %d title ", s, column,
            r->curve[s][q].n > 800 || s > 0 ? "1.2" : "2", colour);
  }
  app_gnuplot_label(to, label);
}

static void write_panel(FILE *to, const pp_result *r, const pp_panel *panel)
{
  const pp_figure *f = r->figure;
  int n = 0, many = 0;
  for (int s = 0; s < r->n_series; s++)
    for (int q = 0; q < r->n_quantities; q++)
      many += (panel->quantities >> q & 1u) && (!panel->series || (panel->series >> s & 1u));
  write_title(to, "ylabel", panel->label);
  fputs(many > 1 ? "set key on\nplot " : "unset key\nplot ", to);
  for (int s = 0; s < r->n_series; s++)
    for (int q = 0; q < r->n_quantities; q++) {
      char label[128];
      if (!(panel->quantities >> q & 1u) || (panel->series && !(panel->series >> s & 1u))) continue;
      const int several_q = (panel->quantities & (panel->quantities - 1)) != 0;
      snprintf(label, sizeof label, "%s", several_q ? f->quantities[q].label : f->series[s].label);
      if (n) fputs(", ", to);
      write_curve(to, r, s, q, ++n, label);
    }
  fputc('\n', to);
}

/* Width of the legend, in letters: the sample of a line and the longest label, at least 20. */
static int margin_of_key(const pp_result *r)
{
  size_t longest = 0;
  for (int i = 0; i < r->n_series; i++) {
    const size_t n = strlen(r->figure->series[i].label);
    longest = n > longest ? n : longest;
  }
  return longest > 12 ? (int)longest + 8 : 20;
}

static int draw_motion(const app_arguments *a, const pp_result *r, const char *file)
{
  const pp_figure *f = r->figure;
  int panels = 0, keys = 0;
  app_gnuplot g;
  while (panels < PP_PANELS && f->panels[panels].quantities) panels++;
  const int code = app_gnuplot_open(&g, a, file, 800, 140 + 200 * panels);
  if (code) return code;
  begin(g.to, r);
  for (int i = 0; i < panels; i++) keys |= (f->panels[i].quantities & (f->panels[i].quantities - 1)) != 0;
  keys |= r->n_series > 1 && !f->panels[0].series;
  fputs("set multiplot layout ", g.to);
  fprintf(g.to, "%d,1 title ", panels);
  app_gnuplot_label(g.to, f->title);
  fprintf(g.to, "\nset lmargin 12\nset rmargin %d\nset xrange [%.9g:%.9g]\n", keys ? margin_of_key(r) : 4,
          f->from, f->t_end);
  for (int i = 0; i < panels; i++) {
    if (i == panels - 1) write_title(g.to, "xlabel", "t [s]");
    write_panel(g.to, r, &f->panels[i]);
  }
  fputs("unset multiplot\n", g.to);
  return app_gnuplot_close(&g, a);
}

static int draw_phase(const app_arguments *a, const pp_result *r, const char *file)
{
  const pp_figure *f = r->figure;
  char label[96];
  app_gnuplot g;
  const int code = app_gnuplot_open(&g, a, file, 800, 480);
  if (code) return code;
  begin(g.to, r);
  write_title(g.to, "title", f->title);
  snprintf(label, sizeof label, "%s [%s]", f->quantities[0].label, f->quantities[0].unit);
  write_title(g.to, "xlabel", label);
  snprintf(label, sizeof label, "%s [%s]", f->quantities[1].label, f->quantities[1].unit);
  write_title(g.to, "ylabel", label);
  fputs(r->n_series > 1 ? "plot " : "unset key\nset format xy '%.1t·10^{%T}'\nplot ", g.to);
  for (int s = 0; s < r->n_series; s++) {
    fprintf(g.to, "%s$s%d using 2:4 with %s linecolor %d title ", s ? ", " : "", s,
            r->n_series > 1 ? (s ? "lines linewidth 2 dashtype 2" : "lines linewidth 2")
                            : "points pointtype 7 pointsize 0.3",
            s + 1);
    app_gnuplot_label(g.to, f->series[s].label);
  }
  fputc('\n', g.to);
  return app_gnuplot_close(&g, a);
}

/* ---- Snapshots ---- */

/* Where a named point is: a pair of quantities "F.x", "F.y", or a fixed one. */
static int find_point(const pp_result *r, const pp_fixed *fixed, const char *name, size_t length, int at,
                      double p[2])
{
  for (int q = 0; q + 1 < r->n_quantities; q += 2)
    if (strncmp(r->figure->quantities[q].label, name, length) == 0 &&
        r->figure->quantities[q].label[length] == '.') {
      p[0] = r->curve[0][q].y[at], p[1] = r->curve[0][q + 1].y[at];
      return 1;
    }
  for (int i = 0; fixed && fixed[i].name; i++)
    if (strlen(fixed[i].name) == length && strncmp(fixed[i].name, name, length) == 0) {
      p[0] = fixed[i].x, p[1] = fixed[i].y;
      return 1;
    }
  return 0;
}

/* Lines through points, "O F P; B P D": an empty line between two. */
static void write_lines(FILE *to, const pp_result *r, int at, const char *lines)
{
  while (*lines) {
    const size_t n = strcspn(lines, " ;");
    double p[2];
    if (n && find_point(r, r->figure->fixed, lines, n, at, p)) fprintf(to, "%.9g %.9g\n", p[0], p[1]);
    lines += n;
    if (*lines == ';') fputs("\n\n", to);
    if (*lines) lines++;
  }
}

static int draw_snapshots(const app_arguments *a, const pp_result *r, const char *file)
{
  const pp_figure *f = r->figure;
  const int n = (int)(sizeof f->times / sizeof *f->times);
  int shown = 0;
  app_gnuplot g;
  const int code = app_gnuplot_open(&g, a, file, 900, 700);
  if (code) return code;
  for (int i = 0; i < n && (i == 0 || f->times[i] > 0.0); i++, shown++) {
    fprintf(g.to, "$t%d << EOD\n", i);
    write_lines(g.to, r, (int)lround(f->times[i] / f->h), f->lines);
    fprintf(g.to, "EOD\n$d%d << EOD\n", i);
    write_lines(g.to, r, (int)lround(f->times[i] / f->h), f->dashed);
    fputs("EOD\n$ground << EOD\n", g.to);
    for (int k = 0; f->fixed && f->fixed[k].name; k++)
      fprintf(g.to, "%.9g %.9g %s\n", f->fixed[k].x, f->fixed[k].y, f->fixed[k].name);
    fputs("EOD\n", g.to);
  }
  fputs("set multiplot layout 2,3 title ", g.to);
  app_gnuplot_label(g.to, f->title);
  fputs("\nset size ratio -1\nset xrange [-0.08:0.03]\nset yrange [-0.05:0.08]\nunset key\nset border 3\nset "
        "tics nomirror "
        "0.04\nset grid linecolor rgb '#e4e4e4'\n",
        g.to);
  for (int i = 0; i < shown; i++) {
    fprintf(g.to, "set title 't = %g ms'\nset xlabel '%s'\nset ylabel '%s'\n", 1e3 * f->times[i],
            i >= 3 ? "x [m]" : "", i % 3 == 0 ? "y [m]" : "");
    fprintf(g.to,
            "plot $d%d with lines dashtype 2 linecolor rgb 'gray50', $t%d with linespoints linewidth 2 "
            "pointtype 7 "
            "pointsize 0.5 linecolor 1, $ground using 1:2 with points pointtype 9 pointsize 1 linecolor rgb "
            "'black', "
            "$ground using 1:2:3 with labels offset 1.2,0.6\n",
            i, i);
  }
  fputs("unset multiplot\n", g.to);
  return app_gnuplot_close(&g, a);
}

int app_paper_draw(const app_arguments *a, const pp_result *r, const char *file)
{
  static int (*const draw[])(const app_arguments *, const pp_result *,
                             const char *) = {[PP_ORDERS] = draw_orders,
                                              [PP_MOTION] = draw_motion,
                                              [PP_PHASE] = draw_phase,
                                              [PP_SNAPSHOTS] = draw_snapshots};
  return draw[r->figure->kind](a, r, file);
}

/* ---- Data ---- */

static void write_csv(FILE *to, const pp_result *r)
{
  const pp_figure *f = r->figure;
  const int orders = f->kind == PP_ORDERS;
  fprintf(to, "series,%s", orders ? "h [s]" : "t [s]");
  for (int q = 0; q < r->n_quantities; q++) {
    fprintf(to, ",%s%s [%s]", orders ? "error of " : "", f->quantities[q].label,
            orders && f->relative ? "1" : f->quantities[q].unit);
    if (orders) fprintf(to, ",order of %s", f->quantities[q].label);
    if (!orders && r->curve[0][q].exact) fprintf(to, ",reference of %s", f->quantities[q].label);
  }
  fputc('\n', to);
  for (int s = 0; s < r->n_series; s++) {
    const pp_curve *first = &r->curve[s][0];
    for (int i = 0; i < first->n; i += orders ? 1 : stride_of(first)) {
      fprintf(to, "\"%s\",%.12g", f->series[s].label, first->x[i]);
      for (int q = 0; q < r->n_quantities; q++) {
        const pp_curve *c = &r->curve[s][q];
        const double factor = orders ? 1.0 : factor_of(&f->quantities[q]);
        fprintf(to, ",%.12g", factor * c->y[i]);
        if (orders && i) fprintf(to, ",%.3f", c->slopes[i]);
        if (orders && !i) fputc(',', to);
        if (!orders && c->exact) fprintf(to, ",%.12g", factor * c->exact[i]);
      }
      fputc('\n', to);
    }
  }
}

int app_paper_data(const app_arguments *a, const pp_result *r, const char *file)
{
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return fputs("galpha papers: out of memory\n", stderr), APP_FAILED;
  write_csv(to, r);
  const int bad = fclose(to);
  const int error = bad || !text ? ENOMEM : app_output_write(file, text, length);
  free(text);
  return error ? app_output_refused(a, file, error) : APP_DONE;
}
