/* The gallery of `galpha papers`: one page with all pictures in it. */
#define _POSIX_C_SOURCE 200809L
#include "page.h"
#include "papers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width, initial-scale=1\"><title>The figures of the papers</title><style>\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 "
    "auto;padding:1rem;color:#1a1a1a;background:#fff}\n"
    "h1,h2,h3{line-height:1.2}h2{margin-top:2.5rem;border-bottom:2px solid #0060ad}h3{margin-top:2rem}\n"
    "img{max-width:100%;height:auto;border:1px solid #ddd;background:#fff}\n"
    "table{border-collapse:collapse;margin:.6rem 0;display:block;overflow-x:auto}td,th{border:1px solid "
    "#ccc;padding:.2rem .6rem;text-align:left;vertical-align:top}\n"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#f4f4f4;padding:.5rem;"
    "overflow-x:auto}\n"
    ".ok{color:#00733f;font-weight:600}.bad{color:#b00020;font-weight:600}.note{border-left:4px solid "
    "#d55e00;padding:.1rem .8rem;background:#fff7f0}nav a{margin-right:.7rem;white-space:nowrap}\n"
    "@media(prefers-color-scheme:dark){body{background:#16181b;color:#e6e6e6}pre{background:#24272b}.note{"
    "background:#2b2016}"
    "td,th{border-color:#444}.ok{color:#4fd18b}.bad{color:#ff6b81}a{color:#7ab8ff}}\n"
    "</style></head><body>\n";

static void escape(FILE *to, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '<':
      fputs("&lt;", to);
      break;
    case '>':
      fputs("&gt;", to);
      break;
    case '&':
      fputs("&amp;", to);
      break;
    case '"':
      fputs("&quot;", to);
      break;
    default:
      fputc(*text, to);
    }
}

/* 1: the letter before p is a word of its own, as in "x_4", and not the end of a name, as in "ga_stepper". */
static int follows_symbol(const char *text, const char *p)
{
  const char *first = p;
  if (p == text) return 0;
  do first--;
  while (first > text && ((unsigned char)*first & 0xC0) == 0x80); /* bytes of one letter */
  return first == text || !(isalnum((unsigned char)first[-1]) || first[-1] == '_');
}

/* gnuplot's markup, "x_4", "h^2", "10^{-5}", as HTML. */
static void write_markup(FILE *to, const char *text)
{
  const char *const whole = text;
  while (*text) {
    const char *tag = *text == '_' && follows_symbol(whole, text) ? "sub" : *text == '^' ? "sup" : NULL;
    if (!tag || !text[1]) {
      const char one[2] = {*text++, '\0'};
      escape(to, one);
      continue;
    }
    text++;
    size_t n = 1;
    const int braces = *text == '{';
    if (braces) text++, n = strcspn(text, "}");
    while (!braces && ((unsigned char)text[n] & 0xC0) == 0x80) n++; /* bytes of one letter */
    fprintf(to, "<%s>%.*s</%s>", tag, (int)n, text, tag);
    text += n + (braces && text[n] == '}');
  }
}

/* ---- One figure ---- */

static const char *form_name(ga_form form)
{
  static const char *const names[] = {
      [GA_FORM_SPACE] = "space", [GA_FORM_BODY] = "body", [GA_FORM_SE3] = "se3"};
  return names[form];
}

/* "name=value ..." as options. */
static void write_options(FILE *to, const char *settings)
{
  for (; *settings; settings += strspn(settings, " ")) {
    size_t n = strcspn(settings, " ");
    fputs(" --", to);
    for (int name = 1; n > 0; n--, settings++) {
      if (name && *settings == '=') {
        name = 0;
        fputc(' ', to);
      } else {
        fputc(name && *settings == '_' ? '-' : *settings, to);
      }
    }
  }
}

static void write_signals(FILE *to, const pp_figure *f)
{
  for (int q = 0; q < pp_count_quantities(f); q++) {
    fputs(" --signals ", to);
    for (const char *c = f->quantities[q].signals; *c; c++)
      if (*c != '-' || (c != f->quantities[q].signals && c[-1] != ' ')) fputc(*c == ' ' ? ',' : *c, to);
  }
}

/* The command of the figure, and what does the same on the model file alone. */
static void write_commands(FILE *to, const pp_figure *f)
{
  fprintf(to, "<pre>galpha papers %s\n", f->name);
  for (int i = 0; i < pp_count_series(f); i++) {
    const pp_series *s = &f->series[i];
    if (!s->model || s->split > 0.0) continue; /* of these steps there is no option */
    fprintf(to, "galpha %s %s%s", f->kind == PP_ORDERS ? "converge" : "run", s->model,
            s->set ? " --set " : "");
    if (s->set) fputs(s->set, to);
    if (f->kind == PP_ORDERS && s->form != GA_FORM_SPACE) fprintf(to, " --form %s", form_name(s->form));
    write_options(to, s->settings);
    if (s->project_at > 0.0)
      fprintf(to, " --project-velocity %s --project-velocity-at %g",
              s->projection == GA_PROJECT_OFFSET ? "offset" : "plain", s->project_at);
    fprintf(to, " --step %.12g --t-end %g", pp_series_step(f, s), f->t_end); /* 2^-10 has 10 digits */
    if (f->kind == PP_ORDERS) {
      fprintf(to, " --levels %d --newton-tolerance 1e-13%s%s", f->levels, f->maximum ? " --max" : "",
              f->relative ? " --relative" : "");
      write_signals(to, f);
    } else if (s->form != GA_FORM_SPACE) {
      fprintf(to, "   # form: %s in the model", form_name(s->form));
    }
    fputc('\n', to);
  }
  fputs("</pre>\n", to);
}

static void write_verdict(FILE *to, int good)
{
  fprintf(to, "<td class=\"%s\">%s</td>", good ? "ok" : "bad", good ? "yes" : "no");
}

static void write_slopes(FILE *to, const pp_result *r)
{
  const pp_figure *f = r->figure;
  const int level = f->fit > 0 ? f->fit : f->levels - 1;
  if (f->kind != PP_ORDERS) return;
  fprintf(to,
          "<table><tr><th>run</th><th>quantity</th><th>error at h = %.3g s</th><th>observed "
          "slope</th><th>expected</th><th>as "
          "expected</th></tr>\n",
          r->curve[0][0].x[level]);
  for (int s = 0; s < r->n_series; s++)
    for (int q = 0; q < r->n_quantities; q++) {
      const pp_curve *c = &r->curve[s][q];
      const double expected = f->series[s].slope[q];
      fputs("<tr><td>", to);
      write_markup(to, f->series[s].label);
      fputs("</td><td>", to);
      write_markup(to, f->quantities[q].label);
      fprintf(to, "</td><td>%.3g</td><td>%.2f</td><td>%g</td>", c->y[level], c->slope, expected);
      write_verdict(to, pp_slope_good(f, s, q, c->slope));
      fputs("</tr>\n", to);
    }
  fprintf(to,
          "</table>\n<p>Errors are %s of %s, %s; slopes are between the step sizes %.3g s and %.3g s.</p>\n",
          f->relative ? "2-norms of the difference over that of the reference" : "2-norms of the difference",
          f->maximum ? "all steps, the largest" : "the last step",
          "relative to a solution of the index-1 equations by extrapolation", r->curve[0][0].x[level - 1],
          r->curve[0][0].x[level]);
}

static void write_facts(FILE *to, const pp_result *r)
{
  const pp_figure *f = r->figure;
  if (!f->facts[0].text) return;
  fputs("<table><tr><th>measured</th><th></th><th>expected</th><th>as expected</th></tr>\n", to);
  for (int i = 0; i < PP_FACTS && f->facts[i].text; i++) {
    fputs("<tr><td>", to);
    write_markup(to, f->facts[i].text);
    fprintf(to, "</td><td>%.4g</td><td>%.3g to %.3g</td>", r->fact[i], f->facts[i].low, f->facts[i].high);
    write_verdict(to, pp_fact_good(&f->facts[i], r->fact[i]));
    fputs("</tr>\n", to);
  }
  fputs("</table>\n", to);
}

static int write_picture(FILE *to, const app_shown *s)
{
  FILE *from = s->picture ? fopen(s->picture, "rb") : NULL;
  char *bytes = NULL;
  long n = 0;
  if (!from)
    return fputs("<p class=\"bad\">There is no picture: see the messages of the command.</p>\n", to), 0;
  if (fseek(from, 0, SEEK_END) == 0 && (n = ftell(from)) > 0 && fseek(from, 0, SEEK_SET) == 0 &&
      (bytes = malloc((size_t)n)) != NULL && fread(bytes, 1, (size_t)n, from) == (size_t)n) {
    fputs("<img alt=\"", to);
    escape(to, s->result->figure->title);
    fputs("\" src=\"data:image/svg+xml;base64,", to);
    app_page_base64(to, bytes, (size_t)n);
    fputs("\">\n", to);
  }
  free(bytes);
  return fclose(from);
}

static void write_figure(FILE *to, const app_shown *s)
{
  const pp_figure *f = s->result->figure;
  fprintf(to, "<section id=\"%s\"><h3>%s: ", f->name, f->name);
  write_markup(to, f->title);
  fputs("</h3>\n<p>", to);
  write_markup(to, f->caption);
  fputs("</p>\n", to);
  write_picture(to, s);
  if (s->result->failure[0]) {
    fputs("<p class=\"bad\">", to);
    escape(to, s->result->failure);
    fputs("</p>\n", to);
  } else {
    write_slopes(to, s->result);
    write_facts(to, s->result);
  }
  if (f->remark) {
    fputs("<p class=\"note\">", to);
    write_markup(to, f->remark);
    fputs("</p>\n", to);
  }
  write_commands(to, f);
  fprintf(to, "<p>%ld steps, %.2g s of CPU time; data: %s.csv</p></section>\n", s->result->steps, s->seconds,
          f->name);
}

/* ---- The page ---- */

static void write_schemes(FILE *to)
{
  const pp_scheme *s;
  const pp_erratum *e;
  fputs("<h2 id=\"options\">From a paper to "
        "options</h2>\n<table><tr><th>paper</th><th>scheme</th><th>options of galpha run and "
        "converge</th><th></th></tr>\n",
        to);
  for (int i = 0; (s = pp_scheme_at(i)) != NULL; i++) {
    fprintf(to, "<tr><td>%s</td><td>", s->paper);
    write_markup(to, s->scheme);
    fprintf(to, "</td><td><code>%s</code></td><td>", s->options);
    write_markup(to, s->note);
    fputs("</td></tr>\n", to);
  }
  fputs("</table>\n<h2 id=\"errata\">What is wrong in the papers</h2>\n<ul>\n", to);
  for (int i = 0; (e = pp_erratum_at(i)) != NULL; i++) {
    fprintf(to, "<li>%s: ", e->paper);
    write_markup(to, e->text);
    fputs("</li>\n", to);
  }
  fputs("</ul>\n", to);
}

static const pp_paper *paper_of(const pp_figure *f)
{
  const pp_paper *p;
  for (int i = 0; (p = pp_paper_at(i)) != NULL; i++)
    if (f >= p->figures && f < p->figures + p->n) return p;
  return NULL;
}

static void write_page(FILE *to, int n, const app_shown *shown)
{
  int checks = 0, failed = 0;
  const pp_paper *paper = NULL;
  for (int i = 0; i < n; i++) checks += shown[i].result->n_checks, failed += shown[i].result->n_failed;
  fputs(head, to);
  fputs("<h1>The figures of the papers</h1>\n<p>Every figure and experiment of the five papers on the "
        "generalized-α family that "
        "galpha is built on, run anew. Machines come from model files; abstract test problems from their "
        "equations. A slope "
        "that is not what the paper claims fails the verification.</p>\n",
        to);
  fprintf(
      to,
      "<p>%d slopes and numbers were checked, <span class=\"%s\">%d are not as expected</span>.</p>\n<nav>",
      checks, failed ? "bad" : "ok", failed);
  for (int i = 0; i < n; i++)
    fprintf(to, "<a href=\"#%s\">%s</a> ", shown[i].result->figure->name, shown[i].result->figure->name);
  fputs("<a href=\"#options\">options</a> <a href=\"#errata\">errata</a></nav>\n", to);
  for (int i = 0; i < n; i++) {
    if (paper_of(shown[i].result->figure) != paper) {
      paper = paper_of(shown[i].result->figure);
      fprintf(to, "<h2>%s: ", paper->name);
      escape(to, paper->title);
      fputs("</h2>\n", to);
    }
    write_figure(to, &shown[i]);
  }
  write_schemes(to);
  fputs("</body></html>\n", to);
}

int app_gallery_write(const app_arguments *a, int n, const app_shown *shown, const char *file)
{
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return fputs("galpha papers: out of memory\n", stderr), APP_FAILED;
  write_page(to, n, shown);
  const int bad = fclose(to);
  const int error = bad || !text ? ENOMEM : app_output_write(file, text, length);
  free(text);
  return error ? app_output_refused(a, file, error) : APP_DONE;
}
