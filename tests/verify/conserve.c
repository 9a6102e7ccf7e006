#include "conserve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 3 };
#define T_END 0.5      /* [s] */
#define H 4e-3         /* [s] the coarsest step */
#define BAND 0.15      /* of orders; more than 2 is welcome */
#define ROUNDING 1e-11 /* of linear momentum, relative */
#define FLOOR 1e-10    /* of what has an order */

/* ---- Bodies ---- */

/* xorshift64* */
double vf_random(vf_yard *y)
{
  y->random ^= y->random >> 12;
  y->random ^= y->random << 25;
  y->random ^= y->random >> 27;
  return (double)((y->random * 0x2545F4914F6CDD1Du) >> 11) * 0x1p-52 - 1;
}

ga_pose vf_random_pose(vf_yard *y, double x, double y_, double z)
{
  ga_pose pose = ga_pose_at(x, y_, z);
  double q[4] = {1, vf_random(y), vf_random(y), vf_random(y)};
  if (!y->b->status) y->b->status = ga_rotation_quaternion(y->b->ctx, q, pose.rotation);
  return pose;
}

void vf_marker_at(vf_yard *y, const char *name, const char *frame, const ga_pose *at)
{
  ga_pose inverse = ga_pose_identity();
  for (int i = 0; i < y->n; i++)
    if (strcmp(y->body[i].name, frame) == 0) inverse = mx_pose_inverse(&y->body[i].pose);
  mx_marker(y->b, name, frame, mx_pose_compose(&inverse, at));
}

static vf_body *keep(vf_yard *y, const char *name, const char *centre, double mass)
{
  vf_body *body = &y->body[y->n++];
  *body = (vf_body){.name = name, .centre = centre, .mass = mass};
  return body;
}

void vf_body_add(vf_yard *y, const char *name, const char *centre, const double at[3])
{
  const double J[6] = {0.11, 0.16, 0.21, 0.012, -0.008, 0.01};
  static const int place[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name;
  d.mass = 1.5 + 0.5 * vf_random(y);
  memcpy(d.inertia, J, sizeof J);
  d.pose = vf_random_pose(y, at[0], at[1], at[2]);
  for (int i = 0; i < 3; i++) d.com[i] = 0.1 * vf_random(y);
  for (int i = 0; i < 3; i++) d.velocity[i] = vf_random(y);
  for (int i = 0; i < 3; i++) d.omega[i] = 3 * vf_random(y);
  vf_body *body = keep(y, name, centre, d.mass);
  body->pose = d.pose;
  for (int i = 0; i < 9; i++) body->J[i] = J[place[i]];
  mx_add(y->b, rigid, &d);
  mx_marker(y->b, centre, name, ga_pose_at(d.com[0], d.com[1], d.com[2]));
}

void vf_planar_add(vf_yard *y, const char *name, const char *centre, const double at[3])
{
  static const double z_axis[3] = {0, 0, 1};
  ga_planar_def d = ga_planar_defaults();
  d.name = name;
  d.mass = 1.5 + 0.5 * vf_random(y);
  d.inertia = 0.2;
  d.angle = 3 * vf_random(y);
  d.rate = 3 * vf_random(y);
  for (int i = 0; i < 2; i++) {
    d.position[i] = at[i];
    d.com[i] = 0.1 * vf_random(y);
    d.velocity[i] = vf_random(y);
  }
  vf_body *body = keep(y, name, centre, d.mass);
  body->J[8] = d.inertia;
  body->pose = mx_pose_turned(y->b, (double[3]){at[0], at[1], 0}, z_axis, d.angle);
  mx_add(y->b, planar, &d);
  mx_marker(y->b, centre, name, ga_pose_at(d.com[0], d.com[1], 0));
}

/* ---- Momenta ---- */

static ga_status signals3(const vf_parts *p, const char *part, const char *const channel[3], double out[3])
{
  ga_status status = GA_OK;
  for (int i = 0; i < 3 && !status; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", part, channel[i]);
    const int at = ga_machine_find_signal(p->b.m, name);
    status =
        at < 0 ? GA_ERR_ARGUMENT : ga_machine_signals(p->b.m, NULL, ga_stepper_state(p->st), 1, &at, &out[i]);
  }
  return status;
}

/* P = Σ m u,  L = Σ m x × u + R J Rᵀ ω */
static ga_status momenta(const vf_parts *p, const vf_yard *y, double P[3], double L[3])
{
  static const char *const position[3] = {"x", "y", "z"}, *const velocity[3] = {"vx", "vy", "vz"},
                           *const spin[3] = {"wx", "wy", "wz"};
  ga_status status = GA_OK;
  for (int i = 0; i < 3; i++) P[i] = L[i] = 0;
  for (int k = 0; k < y->n && !status; k++) {
    const vf_body *body = &y->body[k];
    double x[3], u[3], w[3], own[3], moment[3];
    ga_pose pose;
    status = signals3(p, body->centre, position, x);
    if (!status) status = signals3(p, body->centre, velocity, u);
    if (!status) status = signals3(p, body->name, spin, w);
    if (!status) status = ga_machine_pose(p->b.m, ga_stepper_state(p->st), body->name, &pose);
    if (status) break;
    for (int i = 0; i < 3; i++)
      own[i] = pose.rotation[i] * w[0] + pose.rotation[3 + i] * w[1] + pose.rotation[6 + i] * w[2];
    for (int i = 0; i < 3; i++)
      moment[i] = body->J[3 * i] * own[0] + body->J[3 * i + 1] * own[1] + body->J[3 * i + 2] * own[2];
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      P[i] += body->mass * u[i];
      L[i] += body->mass * (x[j] * u[l] - x[l] * u[j]);
      for (int c = 0; c < 3; c++) L[i] += pose.rotation[3 * i + c] * moment[c];
    }
  }
  return status;
}

/* ---- One run ---- */

typedef struct setting {
  const char *title;
  ga_form form;
  ga_method method;
  int in_short;
} setting;

static const setting settings[] = {{"stabilized, space form", GA_FORM_SPACE, GA_STABILIZED, 1},
                                   {"stabilized, body form", GA_FORM_BODY, GA_STABILIZED, 0},
                                   {"stabilized, SE(3) form", GA_FORM_SE3, GA_STABILIZED, 0},
                                   {"index-3, space form", GA_FORM_SPACE, GA_INDEX3, 0},
                                   {"SOI2, space form", GA_FORM_SPACE, GA_SOI2, 0}};

typedef struct drift { /* largest over the run */
  double energy;       /* [J] of the balance */
  double counted;      /* [J] dissipated or put in: there must be nothing */
  double P, L;         /* [kg m/s], [kg m²/s] */
  double size;         /* of P, at least 1 */
  double acted;        /* largest value of the signal that must act */
} drift;

static ga_status open_scene(vf_parts *p, vf_yard *y, const vf_scene *scene, const setting *set, int floats)
{
  static const double origin[3] = {0, 0, 0};
  ga_machine_opts o = ga_machine_defaults();
  ga_stepper_opts so = ga_stepper_defaults();
  *p = (vf_parts){.st = NULL};
  *y = (vf_yard){
      .b = &p->b, .root = floats ? "base" : "ground", .random = 0x9E3779B97F4A7C15u + 977u * scene->seed};
  o.form = set->form;
  if (!floats)
    memcpy(o.gravity, scene->planar ? (double[3]){2, -9, 0} : (double[3]){1, -3, -9}, sizeof o.gravity);
  ga_status status = ga_context_create(NULL, &p->b.ctx);
  if (!status) status = ga_machine_create(p->b.ctx, &o, &p->b.m);
  if (status) return status;
  if (floats) (scene->planar ? vf_planar_add : vf_body_add)(y, "base", "base_c", origin);
  scene->build(scene, y);
  status = p->b.status ? p->b.status : ga_machine_build(p->b.m);
  so.method = set->method;
  so.newton.tol = 1e-12;
  so.newton.max_iterations = 30;
  if (!status) status = ga_scheme_rho(p->b.ctx, 0.8, &so.scheme);
  return status ? status : ga_stepper_create(p->b.ctx, ga_machine_system(p->b.m), &so, &p->st);
}

static double norm_of_change(const double a[3], const double b[3])
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static ga_status energies(const vf_parts *p, const ga_meter *meter, double out[3])
{
  static const char *const name[3] = {"energy.balance", "energy.dissipated", "energy.input"};
  int at[3];
  for (int i = 0; i < 3; i++) at[i] = ga_machine_find_signal(p->b.m, name[i]);
  return ga_machine_signals(p->b.m, meter, ga_stepper_state(p->st), 3, at, out);
}

static ga_status follow(vf_parts *p, const vf_yard *y, const vf_scene *scene, double h, int floats,
                        drift *out)
{
  static const double zero[3] = {0, 0, 0};
  ga_meter *meter = NULL;
  double P0[3] = {0}, L0[3] = {0}, P[3], L[3], now[3], first = 0;
  ga_status status = ga_meter_create(ga_machine_context(p->b.m), p->b.m, &meter);
  const int acts = scene->acts ? ga_machine_find_signal(p->b.m, scene->acts) : -1;
  const long n = lround(T_END / h);
  double acting = 0;
  *out = (drift){.size = 1};
  for (long k = 0; k <= n && !status; k++) {
    if (k > 0) status = ga_stepper_step(p->st, h);
    if (!status)
      status = k ? ga_meter_update(meter, ga_stepper_state(p->st))
                 : ga_meter_start(meter, ga_stepper_state(p->st));
    if (!status) status = energies(p, meter, now);
    if (!status && acts >= 0)
      status = ga_machine_signals(p->b.m, meter, ga_stepper_state(p->st), 1, &acts, &acting);
    if (!status && floats) status = momenta(p, y, k ? P : P0, k ? L : L0);
    if (status) break;
    if (k == 0) first = now[0], out->size = fmax(1, norm_of_change(P0, zero));
    out->acted = fmax(out->acted, acting);
    out->energy = fmax(out->energy, fabs(now[0] - first));
    out->counted = fmax(out->counted, fabs(now[1]) + fabs(now[2]));
    if (floats && k) {
      out->P = fmax(out->P, norm_of_change(P, P0));
      out->L = fmax(out->L, norm_of_change(L, L0));
    }
  }
  ga_meter_destroy(&meter);
  return status;
}

static int run_level(const vf_scene *scene, const setting *set, int floats, double h, drift *out, char *text,
                     size_t size)
{
  vf_parts p;
  vf_yard y;
  ga_status status = open_scene(&p, &y, scene, set, floats);
  if (!status) status = vf_parts_start(&p, h, 1);
  if (!status) status = follow(&p, &y, scene, h, floats, out);
  if (status) vf_parts_fail(&p, "run", status, text, size);
  vf_parts_close(&p);
  return status != GA_OK;
}

/* ---- Tables ---- */

/* Order of what is above rounding at all steps; NaN otherwise. */
static double order_of(double coarse, double fine, double floor)
{
  return fine > floor ? log2(coarse / fine) : NAN;
}

static int check_order(const vf_sink *s, const char *scene, const char *title, const char *what, double order,
                       double error)
{
  char text[128];
  if (isnan(order)) return 1;
  snprintf(text, sizeof text, "%s has order %.3f (off by %.2e), expected 2 or more, within %.2f", what, order,
           error, BAND);
  return s->check(s->user, order >= 2 - BAND, scene, title, text);
}

static void print_order(double order)
{
  if (isnan(order))
    printf("     -");
  else
    printf(" %5.2f", order);
}

static void run_scene(const vf_sink *s, const vf_scene *scene, const setting *set, int floats)
{
  drift d[LEVELS];
  char text[GA_ERROR_TEXT + 160], title[96];
  double h = H;
  int bad = 0, good = 1;
  snprintf(title, sizeof title, "%s, %s", floats ? "floating" : "hung", set->title);
  for (int level = 0; level < LEVELS && !bad; level++, h *= 0.5)
    bad = run_level(scene, set, floats, h, &d[level], text, sizeof text);
  if (!s->check(s->user, !bad, scene->name, title, text)) return;
  const drift *last = &d[LEVELS - 1], *before = &d[LEVELS - 2];
  const double energy = order_of(before->energy, last->energy, FLOOR);
  printf("  %-28s %8.1e %8.1e %8.1e", scene->name, d[0].energy, d[1].energy, d[2].energy);
  print_order(energy);
  good &= check_order(s, scene->name, title, "energy", energy, last->energy);
  snprintf(text, sizeof text, "%.2e J were counted as dissipated or put in", last->counted);
  good &= s->check(s->user, last->counted <= 1e-12, scene->name, title, text);
  if (scene->acts) {
    snprintf(text, sizeof text, "%s is never positive", scene->acts);
    good &= s->check(s->user, last->acted > 0, scene->name, title, text);
  }
  if (floats) {
    /* velocities in the body turn with it, so that only those in space add up exactly */
    const int exact = set->form != GA_FORM_SE3;
    const double P = exact ? NAN : order_of(before->P, last->P, FLOOR),
                 L = order_of(before->L, last->L, FLOOR);
    snprintf(text, sizeof text, "linear momentum drifts by %.2e of itself, at most %.0e",
             last->P / last->size, ROUNDING);
    good &= exact ? s->check(s->user, last->P <= ROUNDING * last->size, scene->name, title, text)
                  : check_order(s, scene->name, title, "linear momentum", P, last->P);
    good &= check_order(s, scene->name, title, "angular momentum", L, last->L);
    printf("  %8.1e", last->P);
    print_order(P);
    printf("  %8.1e", last->L);
    print_order(L);
  }
  printf("  %s\n", good ? "ok" : "FAIL");
}

/* No kind of joint is left out. */
static void check_kinds(const vf_sink *s)
{
  for (int kind = 0; kind < GA_N_JOINTS; kind++) {
    const char *name = ga_joint_name((ga_joint_kind)kind);
    int found = 0;
    for (int i = 0; i < vf_conserve_joints.n; i++)
      found |= strcmp(vf_conserve_joints.scene[i].name, name) == 0;
    s->check(s->user, found, name, "conservation", "this kind of joint has no scene");
  }
}

void vf_conserve_run(const vf_sink *s)
{
  static const vf_scenes *const tables[] = {&vf_conserve_joints, &vf_conserve_planar, &vf_conserve_forces,
                                            &vf_conserve_loops};
  if (!s->wanted(s->user, "conserve")) return;
  check_kinds(s);
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
    for (int floats = 0; floats < 2; floats++)
      for (size_t t = 0; t < sizeof tables / sizeof *tables && (settings[k].in_short || !s->brief); t++) {
        printf("\nConservation, %s, %s, %s\n  %-28s %-26s  order%s\n", tables[t]->title,
               floats ? "floating freely" : "hung on the ground", settings[k].title, "",
               "energy at h, h/2, h/4 [J]", floats ? "  linear momentum  angular, order" : "");
        for (int i = 0; i < tables[t]->n; i++)
          if (!floats || !tables[t]->scene[i].hung_only)
            run_scene(s, &tables[t]->scene[i], &settings[k], floats);
      }
}
