/* The simulator and what happens between the ends of its steps: breaks that the system or the caller reports,
 * and forces that act within a step only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "seeds.h"

#include "core/stepper.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A mass of 1 kg on a rail, pushed by F from t = from to t = to; or, with place 1, from q = from to q = to,
 * at 1 m/s. */
typedef struct cart {
  double from, to, F;
  int place, hides; /* hides: the system reports places */
  int reports;      /* 1: it reports its breaks */
  int fails;        /* the call of next_break that fails; 0: none */
  int calls;
  int kinks_only; /* 1: breaks without restarts */
  int undefined;  /* 1: the push has no value */
  int guesses;    /* how often the first values of outputs have been asked for, */
  int guess_most; /* and may be; 0: always */
  int wary;       /* 1: it always says that something hides, −1: never, but that this took long */
  int wholes;     /* how often it was asked of whole steps, */
  int open;       /* 1: and of no piece of the last one yet, */
  int vain;       /* which happened so often */
  double comb;    /* [s] the push acts in the middle of each such time only; 0: all the time */
} cart;

static double push(const cart *c, double t, double q)
{
  const double at = c->place ? q : t, part = c->comb > 0 ? t / c->comb - floor(t / c->comb) : 0.5;
  if (part < 0.3 || part > 0.7) return 0.0;
  return at > c->from && at < c->to ? c->F : 0.0;
}

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  out[0] = p->y[0];
  (void)user;
  return 0;
}

static int output(void *user, const ga_point *p, double *out)
{
  const cart *c = user;
  out[0] = push(c, p->t, p->q[0]);
  out[1] = p->q[0];
  return c->undefined && out[0] != 0.0;
}

static int output_guess(void *user, const ga_point *p, double *out)
{
  cart *c = user;
  (void)p;
  out[0] = out[1] = 0.0;
  return c->guess_most > 0 && ++c->guesses > c->guess_most;
}

static int next_break(void *user, double t, double until, ga_breakpoint *out)
{
  cart *c = user;
  const double at[2] = {c->from, c->to};
  if (++c->calls == c->fails) return 1;
  for (int i = 0; i < 2; i++)
    if (at[i] + 1e-12 > t && at[i] - 1e-12 < until) {
      *out = (ga_breakpoint){at[i] - 1e-12, at[i] + 1e-12, !c->kinks_only, INFINITY, INFINITY, 0, NULL};
      return 0;
    }
  return 0;
}

/* y[1] is the place: does the piece meet the field? */
static int hidden(void *user, const ga_piece *step, const ga_piece *piece)
{
  const cart *c = user;
  const double low = fmin(piece->end[0].y[1], piece->end[1].y[1]),
               high = fmax(piece->end[0].y[1], piece->end[1].y[1]);
  for (int i = 0; i < 2; i++)
    if (push(c, 0, step->end[i].y[1]) != 0) return 0;
  return high > c->from && low < c->to;
}

/* Nothing hides anywhere, but to know that takes long. */
static int seldom_hidden(void *user, const ga_piece *step, const ga_piece *piece)
{
  cart *c = user;
  c->wholes += piece == step;
  c->open += piece != step;
  return -1;
}

/* Something hides everywhere, for all it knows. */
static int always_hidden(void *user, const ga_piece *step, const ga_piece *piece)
{
  cart *c = user;
  if (piece == step) c->vain += c->open, c->wholes++;
  c->open = piece == step;
  return 1;
}

typedef struct bench {
  ga_context *ctx;
  ga_system *sys;
  ga_stepper *st;
  ga_simulator *sim;
  ga_simulate_opts o;
  cart c;
} bench;

static void open_bench(bench *b)
{
  const ga_factor line = {GA_RN, 1, GA_LEFT};
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts opts = ga_stepper_defaults();
  def.n_factors = 1, def.factors = &line, def.n_y = 2, def.user = &b->c;
  def.mass = mass, def.force = force, def.output = output;
  if (b->c.reports) def.next_break = next_break;
  if (b->c.guess_most) def.output_guess = output_guess;
  if (b->c.hides) def.hidden = hidden;
  if (b->c.wary) def.hidden = b->c.wary > 0 ? always_hidden : seldom_hidden;
  assert_int_equal(ga_context_create(NULL, &b->ctx), GA_OK);
  assert_int_equal(ga_system_create(b->ctx, &def, &b->sys), GA_OK);
  assert_int_equal(ga_stepper_create(b->ctx, b->sys, &opts, &b->st), GA_OK);
  assert_int_equal(ga_simulator_create(b->ctx, b->st, &b->o, &b->sim), GA_OK);
}

static void close_bench(bench *b)
{
  ga_simulator_destroy(&b->sim);
  ga_stepper_destroy(&b->st);
  ga_system_destroy(&b->sys);
  ga_context_destroy(&b->ctx);
}

static ga_status start_bench(bench *b, double v)
{
  const double q0 = 0.0;
  return ga_simulator_start(b->sim, NULL, 0.0, &q0, &v, NULL, NULL, NULL, NULL);
}

static bench new_bench(cart c)
{
  bench b = {.c = c, .o = ga_simulate_defaults()};
  b.o.t_end = 100.0;
  return b;
}

static void assert_near(double got, double expected, double tolerance, const char *what)
{
  if (!(fabs(got - expected) <= tolerance)) fail_msg("%s is %.9g, expected %.9g", what, got, expected);
}

/* Velocity behind a pulse of 2 s. */
static void breaks_are_met(void **state)
{
  static const double widths[] = {1e-3, 0.2, 2.0};
  (void)state;
  for (int own = 0; own < 2; own++)
    for (size_t k = 0; k < 3; k++)
      for (int fixed = 0; fixed < 2; fixed++) {
        bench b = new_bench((cart){.from = 15.0, .to = 15.0 + widths[k], .F = 4.0, .reports = !own});
        const double own_breaks[] = {b.c.from, b.c.to};
        b.o.fixed_h = fixed ? 1.0 : 0.0;
        if (own) b.o.n_breaks = 2, b.o.breaks = own_breaks;
        open_bench(&b);
        assert_int_equal(start_bench(&b, 0.0), GA_OK);
        assert_int_equal(ga_simulator_run(b.sim), GA_OK);
        const ga_state *s = ga_stepper_state(b.st);
        assert_near(s->v[0], 4.0 * widths[k], 1e-9, "velocity");
        assert_near(s->q[0], 4.0 * widths[k] * (85.0 - 0.5 * widths[k]), 1e-6, "position");
        assert_int_equal(ga_simulator_stats(b.sim)->breaks, 2);
        assert_int_equal(ga_simulator_stats(b.sim)->restarts, 2);
        close_bench(&b);
      }
}

/* Equal steps go on where they would have been, and a break on one of them costs none. */
static void equal_steps_keep_their_times(void **state)
{
  (void)state;
  bench b = new_bench((cart){.from = 15.25, .to = 17.0, .F = 4.0, .reports = 1});
  b.o.fixed_h = 1.0;
  open_bench(&b);
  assert_int_equal(start_bench(&b, 0.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  assert_int_equal(ga_simulator_stats(b.sim)->steps, 101);
  close_bench(&b);
}

static void kinks_do_not_restart(void **state)
{
  (void)state;
  bench b = new_bench((cart){.from = 15.0, .to = 17.0, .F = 0.0, .reports = 1, .kinks_only = 1});
  open_bench(&b);
  assert_int_equal(start_bench(&b, 1.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  assert_int_equal(ga_simulator_stats(b.sim)->breaks, 2);
  assert_int_equal(ga_simulator_stats(b.sim)->restarts, 0);
  close_bench(&b);
}

/* Starts behind breaks lose no time: a hundred of them late in a run, where a rounding is 1e-10 s. */
static void restarts_lose_no_time(void **state)
{
  static double at[100];
  const double late = 1e6, q0 = 0.0, v0 = 30.0;
  (void)state;
  for (int i = 0; i < 100; i++) at[i] = late + 0.3 + 0.07 * i;
  for (int fixed = 0; fixed < 2; fixed++) {
    bench b = new_bench((cart){.from = 2.0 * late, .to = 3.0 * late});
    b.o.t_end = late + 10.0, b.o.n_breaks = 100, b.o.breaks = at;
    b.o.fixed_h = fixed ? 0.05 : 0.0;
    open_bench(&b);
    assert_int_equal(ga_simulator_start(b.sim, NULL, late, &q0, &v0, NULL, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    assert_int_equal(ga_simulator_stats(b.sim)->restarts, 100);
    assert_near(ga_stepper_state(b.st)->q[0], 300.0, 30.0 * 200 * DBL_EPSILON * late, "position");
    close_bench(&b);
  }
}

/* Breaks as close as 50 ns in a run of a million seconds are two, and steps between them are as short. */
static void close_breaks_of_long_runs(void **state)
{
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    bench b = new_bench((cart){.from = 500.0, .to = 500.0 + 5e-8, .F = 1e6, .reports = 1});
    b.o.t_end = 1e6;
    b.o.fixed_h = fixed ? 1000.0 : 0.0;
    b.o.rtol = b.o.atol = 1e-7;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 0.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    assert_int_equal(ga_simulator_stats(b.sim)->breaks, 2);
    assert_near(ga_stepper_state(b.st)->v[0], 0.05, 1e-5, "velocity");
    close_bench(&b);
  }
}

/* At the very start and at the very end. */
static void breaks_at_both_ends(void **state)
{
  (void)state;
  bench b = new_bench((cart){.from = 0.0, .to = 100.0, .F = 4.0, .reports = 1});
  open_bench(&b);
  assert_int_equal(start_bench(&b, 0.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  assert_near(ga_stepper_state(b.st)->v[0], 400.0, 1e-6, "velocity");
  close_bench(&b);
}

typedef struct record {
  double t[8], y[8];
  int n;
} record;

static int note(void *user, const ga_state *s)
{
  record *r = user;
  r->t[r->n] = s->t;
  r->y[r->n++] = s->y[0];
  return 0;
}

/* An output at the time of a jump has that time, and what comes behind the jump. */
static void outputs_at_breaks(void **state)
{
  static record r;
  (void)state;
  memset(&r, 0, sizeof r);
  bench b = new_bench((cart){.from = 15.0, .to = 17.0, .F = 4.0, .reports = 1});
  const double times[] = {14.0, 15.0, 16.0, 17.0, 18.0}, expected[] = {0.0, 4.0, 4.0, 0.0, 0.0};
  b.o.n_output_times = 5, b.o.output_times = times, b.o.output = note, b.o.user = &r;
  open_bench(&b);
  assert_int_equal(start_bench(&b, 0.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  assert_int_equal(r.n, 5);
  for (int i = 0; i < 5; i++) {
    assert_true(r.t[i] == times[i]);
    assert_near(r.y[i], expected[i], 1e-12, "force");
  }
  close_bench(&b);
}

/* Saved anywhere, a run goes on to the same bits. */
static void saved_around_breaks(void **state)
{
  double end[2];
  (void)state;
  bench b = new_bench((cart){.from = 15.0, .to = 17.0, .F = 4.0, .reports = 1});
  open_bench(&b);
  double *saved = calloc(ga_simulator_saved_size(b.sim), sizeof *saved);
  for (int stop = 0;; stop++) {
    int steps = 0;
    assert_int_equal(start_bench(&b, 0.5), GA_OK);
    while (steps < stop && ga_simulator_step(b.sim) == GA_OK) steps++;
    if (ga_simulator_finished(b.sim)) break;
    assert_int_equal(ga_simulator_save(b.sim, saved), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    end[0] = ga_stepper_state(b.st)->q[0];
    assert_int_equal(ga_simulator_load(b.sim, saved), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    end[1] = ga_stepper_state(b.st)->q[0];
    if (end[0] != end[1]) fail_msg("saved after %d calls: %.17g, then %.17g", stop, end[0], end[1]);
  }
  free(saved);
  close_bench(&b);
}

/* A pulse that is not reported: steps are checked closely enough to find one of a thousandth of the run and
 * more, and equal ones are warned of. */
static void unreported_pulses_are_found(void **state)
{
  static const double widths[] = {0.2, 1.0, 3.0};
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    bench b = new_bench((cart){.from = 42.0, .to = 42.0 + widths[k], .F = 4.0});
    b.o.rtol = 1e-6, b.o.atol = 1e-8;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 0.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    assert_near(ga_stepper_state(b.st)->v[0], 4.0 * widths[k], 1e-2, "velocity");
    assert_true(ga_simulator_stats(b.sim)->rejected_defect > 0);
    close_bench(&b);
    b = new_bench((cart){.from = 42.3, .to = 42.3 + 0.6 * fmin(widths[k], 1.0), .F = 4.0});
    b.o.fixed_h = 1.0;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 0.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    assert_true(ga_simulator_stats(b.sim)->unseen > 0);
    assert_near(ga_simulator_stats(b.sim)->t_unseen, 42.5, 0.5, "time of what was not seen");
    close_bench(&b);
  }
}

/* ---- Factors that the next step does not use ---- */

/* A spring that hardens, and a push from 0.4 to 0.6 of one of N equal steps that is not reported. */
enum { EQUAL_STEPS = 60 };
#define EQUAL_H 0.03

typedef struct hard_spring {
  cart c;
  int worn; /* steps that left factors which the next one does not use */
} hard_spring;

static int hard_force(void *user, const ga_point *p, double *out)
{
  const double q = p->q[0];
  out[0] = -q - 5.0 * q * q * q + push(&((const hard_spring *)user)->c, p->t, 0.0);
  return 0;
}

static int count_worn(void *user, const ga_stepper *st)
{
  ((hard_spring *)user)->worn += st->factors.worn;
  return 0;
}

static long pushes_reported(int step, int *worn)
{
  const ga_factor line = {GA_RN, 1, GA_LEFT};
  const double q = 1.0, v = 0.0;
  hard_spring s = {.c = {.from = (step + 0.4) * EQUAL_H, .to = (step + 0.6) * EQUAL_H, .F = 500.0}};
  bench b = {.o = ga_simulate_defaults()};
  ga_system_def def = ga_system_defaults();
  ga_stepper_opts opts = ga_stepper_defaults();
  def.n_factors = 1, def.factors = &line, def.user = &s, def.mass = mass, def.force = hard_force;
  opts.newton.patience = 2;
  b.o.t_end = EQUAL_STEPS * EQUAL_H, b.o.fixed_h = EQUAL_H;
  b.o.observer = count_worn, b.o.user = &s;
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  assert_int_equal(ga_system_create(b.ctx, &def, &b.sys), GA_OK);
  assert_int_equal(ga_stepper_create(b.ctx, b.sys, &opts, &b.st), GA_OK);
  assert_int_equal(ga_simulator_create(b.ctx, b.st, &b.o, &b.sim), GA_OK);
  assert_int_equal(ga_simulator_start(b.sim, NULL, 0.0, &q, &v, NULL, NULL, NULL, NULL), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  const long unseen = ga_simulator_stats(b.sim)->unseen;
  assert_int_equal(ga_simulator_stats(b.sim)->unchecked, 0);
  *worn = s.worn;
  close_bench(&b);
  return unseen;
}

/* The push is found in whichever step it is, also of those after which factors are found too old for the
 * next one. */
static void equations_are_checked_with_old_factors(void **state)
{
  int worn = 0, most = 0;
  (void)state;
  for (int step = 1; step < EQUAL_STEPS; step++) {
    if (pushes_reported(step, &worn) < 1) fail_msg("a push within step %d is not found", step);
    most = worn > most ? worn : most;
  }
  assert_true(most >= 5);
}

static void defect_test_can_be_left_out(void **state)
{
  (void)state;
  bench b = new_bench((cart){.from = 42.0, .to = 43.0, .F = 4.0});
  b.o.defect_points = 0;
  open_bench(&b);
  assert_int_equal(start_bench(&b, 0.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  assert_int_equal(ga_simulator_stats(b.sim)->rejected_defect, 0);
  close_bench(&b);
}

/* A field of 1 mm, passed at 1 m/s in 100 s: kinetic energy grows by F · width, wherever it is. */
static void narrow_places(void **state)
{
  static const double at[] = {0.05, 13.37, 63.0, 99.0};
  (void)state;
  for (size_t k = 0; k < 4; k++) {
    bench b = new_bench((cart){.from = at[k], .to = at[k] + 1e-3, .F = 500.0, .place = 1, .hides = 1});
    b.o.rtol = b.o.rtol_v = b.o.atol = b.o.atol_v = 1e-9; /* of positions of up to 100 m */
    open_bench(&b);
    assert_int_equal(start_bench(&b, 1.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    /* one edge is met as closely as steps can be short, the other by the tolerance of positions */
    assert_near(ga_stepper_state(b.st)->v[0], sqrt(2.0), 1e-2, "velocity");
    close_bench(&b);
  }
}

/* A system that reports something everywhere has its steps searched while the count of searches lasts, and is
 * not called for other steps. */
static void no_needless_searches(void **state)
{
  (void)state;
  for (int fixed = 0; fixed < 2 && !rig_brief(); fixed++) { /* 10000 steps */
    bench b = new_bench((cart){.from = 1000.0, .to = 1001.0, .F = 1.0, .place = 1, .wary = 1});
    if (fixed) b.o.fixed_h = 0.01;
    b.o.h_max = 0.01;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 1.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    const long steps = ga_simulator_stats(b.sim)->steps;
    assert_true(steps >= 10000);
    assert_true(b.c.wholes >= 1000 && b.c.wholes < steps / 2);
    assert_int_equal(b.c.vain, 0);
    close_bench(&b);
  }
}

/* One that needs a closer check to find nothing is asked of long steps always, of many short ones
 * now and then, and of no pieces. */
static void closer_checks_are_counted(void **state)
{
  (void)state;
  for (int is_long = 0; is_long < 2; is_long++) {
    bench b = new_bench((cart){.from = 1000.0, .to = 1001.0, .F = 1.0, .place = 1, .wary = -1});
    b.o.h_max = is_long ? 1.0 : 0.01;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 1.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    const long steps = ga_simulator_stats(b.sim)->steps;
    assert_true(is_long ? b.c.wholes >= steps : b.c.wholes >= 1000 + steps / 100 && b.c.wholes < steps / 2);
    assert_int_equal(b.c.open, 0);
    close_bench(&b);
  }
}

/* Steps shorter than the distance of points: a pulse as long as that meets one of their ends, and what all of
 * them miss is found at points. */
static void short_steps(void **state)
{
  (void)state;
  for (int k = 0; k < (rig_brief() ? 1 : 12); k++) {
    bench b = new_bench((cart){.from = 30.0 + 0.0137 * k, .to = 30.1 + 0.0137 * k, .F = 4.0});
    b.o.h_max = 0.045, b.o.rtol = 1e-6, b.o.atol = 1e-8;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 0.0), GA_OK);
    assert_int_equal(ga_simulator_run(b.sim), GA_OK);
    assert_near(ga_stepper_state(b.st)->v[0], 0.4, 1e-2, "velocity");
    close_bench(&b);
  }
  if (rig_brief()) return;
  bench b = new_bench((cart){.from = -1.0, .to = 1000.0, .F = 1.0, .comb = 1.0 / 32.0});
  b.o.h_first = b.o.h_max = 1.0 / 32.0;
  b.o.rtol = b.o.atol = 1e-8;
  open_bench(&b);
  assert_int_equal(start_bench(&b, 0.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_OK);
  assert_true(ga_simulator_stats(b.sim)->rejected_defect > 0);
  close_bench(&b);
}

/* A start behind a jump that fails ends the run, with the state before it; unless nothing jumps there: then
 * the steps go on. */
static void starts_behind_jumps_that_fail(void **state)
{
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    bench b = new_bench((cart){.from = 15.0, .to = 17.0, .F = 4.0, .reports = 1, .undefined = 1});
    b.o.fixed_h = fixed ? 0.7 : 0.0;
    open_bench(&b);
    assert_int_equal(start_bench(&b, 0.5), GA_OK);
    assert_true(ga_simulator_run(b.sim) < 0);
    assert_non_null(strstr(ga_context_error(b.ctx)->text, "output"));
    assert_near(ga_stepper_state(b.st)->t, 15.0, 1e-11, "time");
    assert_near(ga_stepper_state(b.st)->q[0], 7.5, 1e-9, "position");
    close_bench(&b);
  }
  for (int jumps = 0; jumps < 2; jumps++) { /* outputs are guessed once in a start */
    bench b =
        new_bench((cart){.from = 15.0, .to = 17.0, .F = jumps ? 4.0 : 0.0, .reports = 1, .guess_most = 1});
    open_bench(&b);
    assert_int_equal(start_bench(&b, 0.5), GA_OK);
    const ga_status status = ga_simulator_run(b.sim);
    assert_true(jumps ? status < 0 : status == GA_OK);
    if (jumps) assert_non_null(strstr(ga_context_error(b.ctx)->text, "t = 15: the equations jump here"));
    assert_near(ga_stepper_state(b.st)->t, jumps ? 15.0 : 100.0, 1e-10, "time");
    assert_near(ga_stepper_state(b.st)->q[0], jumps ? 7.5 : 50.0, 1e-9, "position");
    close_bench(&b);
  }
}

static void wrong_breaks(void **state)
{
  (void)state;
  const double falling[] = {2.0, 1.0};
  bench b = new_bench((cart){.from = 15.0, .to = 17.0, .F = 4.0, .reports = 1, .fails = 2});
  open_bench(&b);
  assert_int_equal(start_bench(&b, 0.0), GA_OK);
  assert_int_equal(ga_simulator_run(b.sim), GA_ERR_CALLBACK);
  assert_string_equal(ga_context_error(b.ctx)->callback, "next_break");
  b.o.n_breaks = 2, b.o.breaks = falling;
  ga_simulator *other = NULL;
  assert_int_equal(ga_simulator_create(b.ctx, b.st, &b.o, &other), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_NOT_ASCENDING);
  assert_string_equal(ga_context_error(b.ctx)->text, "simulator: breaks[1] is 1, after 2; they must ascend");
  close_bench(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(breaks_are_met),
      cmocka_unit_test(equal_steps_keep_their_times),
      cmocka_unit_test(kinks_do_not_restart),
      cmocka_unit_test(restarts_lose_no_time),
      cmocka_unit_test(close_breaks_of_long_runs),
      cmocka_unit_test(breaks_at_both_ends),
      cmocka_unit_test(outputs_at_breaks),
      cmocka_unit_test(saved_around_breaks),
      cmocka_unit_test(unreported_pulses_are_found),
      cmocka_unit_test(equations_are_checked_with_old_factors),
      cmocka_unit_test(defect_test_can_be_left_out),
      cmocka_unit_test(narrow_places),
      cmocka_unit_test(no_needless_searches),
      cmocka_unit_test(closer_checks_are_counted),
      cmocka_unit_test(short_steps),
      cmocka_unit_test(starts_behind_jumps_that_fail),
      cmocka_unit_test(wrong_breaks),
  };
  return cmocka_run_group_tests_name("core breaks", tests, NULL, NULL);
}
