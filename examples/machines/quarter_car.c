/* quarter_car_step, quarter_car_skyhook, quarter_car_hydraulic, quarter_car_blocks: a quarter of a car, 315
 * kg on a spring of 29.5 kN/m, a wheel of 37.5 kg on a tyre of 210 kN/m. Heights count from the static
 * position, so that there is no gravity.
 *
 * step       damper of 1500 N s/m, the road rises by 0.05 m at t = 0; exact reference
 * skyhook    a bump; the damper is soft or hard according to sprung.v (sprung.v − wheel.v)
 * hydraulic  the same bump; a damper with two pressures and a valve, whose current follows an acceleration
 *            sensor; both as C functions
 * blocks     the same damper of expressions and integrators, as model files have it */
#include "machine.h"
#include <math.h>

enum { STEP, SKYHOOK, HYDRAULIC, BLOCKS };

static const double ride_height = 1.0, wheel_height = 0.5; /* [m] where the points are drawn */

/* ---- Parts that all have ---- */

static void point_add(mx_builder *b, const char *name, const char *guide, double mass, double z)
{
  ga_point_def d = ga_point_defaults();
  d.name = name;
  d.mass = mass;
  d.massless = mass == 0;
  d.position[2] = z;
  mx_add(b, point, &d);
  mx_joint(b, guide, GA_JOINT_POINT_ON_LINE, "ground", name);
}

static void spring_add(mx_builder *b, const char *name, const char *below, const char *above,
                       double stiffness, double damping, double rest, const char *expression)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = name;
  d.a = below;
  d.b = above;
  d.stiffness = stiffness;
  d.damping = damping;
  d.rest = rest;
  d.expression = expression;
  mx_add(b, spring, &d);
}

/* ---- The hydraulic damper ---- */

static const double Ap = 7.07e-4, Arod = 3.14e-4, Ar = 7.07e-4 - 3.14e-4; /* [m²] piston, rod, ring */
static const double Vr0 = 1.6e-4, Vc0 = 2e-4, bulk = 4e8;                 /* [m³], [Pa] */
static const double Kpis = 6e-7, Kbase = 6e-7, dp0 = 1e5, dps = 200;      /* check valves */
static const double Ksoft = 1.5e-10, Khard = 1.9e-11;                     /* [m³/(s Pa)] controlled valve */

/* max(x, 0), rounded */
static double check_valve(double x)
{
  return 0.5 * (x + sqrt(x * x + dps * dps)) - 0.5 * dps;
}

/* K √s, rounded at 0 */
static double orifice(double K, double s)
{
  return K * s / pow(s * s + dp0 * dp0, 0.25);
}

/* u = (extension [m], its rate [m/s], current [A]); x = (rebound, compression pressure [Pa]); y = tension
 * [N].
 *
 *   p_r' = β/(Vr0 − Ar Δl) (Ar v + Qp − Qc)      p_c' = β/(Vc0 + Ap Δl) (−Ap v − Qp + Qb)
 *   F = Ar p_r − Ap p_c */
static int damper(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  const double dl = u[0], v = u[1], Kv = Ksoft - (Ksoft - Khard) * (u[2] - 0.3) / 1.3;
  const double piston = orifice(Kpis, check_valve(x[1] - x[0])), base = orifice(Kbase, check_valve(-x[1]));
  (void)user;
  (void)t;
  xdot[0] = bulk / (Vr0 - Ar * dl) * (Ar * v + piston - Kv * x[0]);
  xdot[1] = bulk / (Vc0 + Ap * dl) * (-Ap * v - piston + base);
  y[0] = Ar * x[0] - Ap * x[1];
  return 0;
}

/* u = (force wanted upwards on the car [N], rate of extension); y = current. The damper's steady state,
 * inverted. */
static int inverse_damper(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  const double v = u[1], sign = tanh(v / 0.02), Ae = Arod + (Ar - Arod) * 0.5 * (1 + sign);
  const double z = -u[0] * sign / Ae, D = 0.5 * (z + sqrt(z * z + 2e4 * 2e4)),
               Kr = Ae * sqrt(v * v + 1e-4) / D;
  const double wanted = 0.3 + 1.3 * (Ksoft - Kr) / (Ksoft - Khard);
  (void)user;
  (void)t;
  (void)x;
  (void)xdot;
  y[0] = 0.95 + 0.65 * tanh((wanted - 0.95) / 0.65);
  return 0;
}

static void user_block_add(mx_builder *b, const char *name, ga_block_fn function, int n_in, int n_x,
                           const char *const *inputs)
{
  ga_block_user_opts o = ga_block_user_defaults();
  ga_control_block *block = NULL;
  o.n_in = n_in;
  o.n_x = n_x;
  o.n_out = 1;
  o.function = function;
  o.name = name;
  if (!b->status) b->status = ga_block_create_user(b->ctx, &o, &block);
  mx_block(b, name, block, inputs);
}

/* A leaky integrator of the car's acceleration. */
static void control_add(mx_builder *b)
{
  static const double A = -0.5, B = 1, C = 1;
  static const char *const acceleration[] = {"sprung.az"};
  ga_block_state_space_opts o = ga_block_state_space_defaults();
  ga_control_block *filter = NULL;
  o.n_in = o.n_x = o.n_out = 1;
  o.A = &A;
  o.B = &B;
  o.C = &C;
  if (!b->status) b->status = ga_block_create_state_space(b->ctx, &o, &filter);
  mx_block(b, "control", filter, acceleration);
}

static void damper_force_add(mx_builder *b, const char *name, const char *expression)
{
  ga_actuator_def d = ga_actuator_defaults();
  d.name = name;
  d.a = "wheel";
  d.b = "sprung";
  d.force = (ga_input){.expression = expression};
  mx_add(b, actuator, &d);
}

static void hydraulic_add(mx_builder *b)
{
  static const char *const wish[] = {"-3000*control", "strut.rate"};
  static const char *const state[] = {"strut.length - 0.5", "strut.rate", "current"};
  control_add(b);
  user_block_add(b, "current", inverse_damper, 2, 0, wish);
  user_block_add(b, "damper", damper, 3, 2, state);
  damper_force_add(b, "damper_force", "-damper");
}

/* ---- The same of expressions ---- */

enum { MOST_SYMBOLS = 32 };

/* What expressions may use; grows by functions. */
typedef struct vocabulary {
  ga_symbol symbol[MOST_SYMBOLS];
  int n;
} vocabulary;

static void constant_add(vocabulary *w, const char *name, double value)
{
  w->symbol[w->n++] = (ga_symbol){.name = name, .kind = GA_SYMBOL_CONSTANT, .value = value};
}

static void function_add(mx_builder *b, vocabulary *w, const char *name, const char *text)
{
  ga_function_expr_opts o = ga_function_expr_defaults();
  ga_function *f = NULL;
  o.text = text;
  o.symbols = w->symbol;
  o.n_symbols = w->n;
  if (!b->status && b->n_functions == MX_MOST_FUNCTIONS) b->status = GA_ERR_MEMORY;
  if (!b->status) b->status = ga_function_create_expr(b->ctx, &o, NULL, &f);
  if (b->status) return;
  b->function[b->n_functions++] = f;
  w->symbol[w->n++] = (ga_symbol){.name = name, .kind = GA_SYMBOL_FUNCTION, .function = f};
}

static vocabulary damper_words(mx_builder *b)
{
  const struct {
    const char *name;
    double value;
  } constant[] = {{"Ap", Ap},
                  {"Arod", Arod},
                  {"Ar", Ar},
                  {"Vr0", Vr0},
                  {"Vc0", Vc0},
                  {"bulk", bulk},
                  {"Kpis", Kpis},
                  {"Kbase", Kbase},
                  {"dp0", dp0},
                  {"dps", dps},
                  {"Ksoft", Ksoft},
                  {"Khard", Khard},
                  {"i_low", 0.3},
                  {"i_high", 1.6},
                  {"v0", 0.02},
                  {"drop0", 2e4},
                  {"i_mid", (0.3 + 1.6) / 2},
                  {"i_half", (1.6 - 0.3) / 2}};
  vocabulary w = {.n = 0};
  for (size_t i = 0; i < sizeof constant / sizeof *constant; i++)
    constant_add(&w, constant[i].name, constant[i].value);
  function_add(b, &w, "check_valve", "0.5*(t + sqrt(t^2 + dps^2)) - 0.5*dps"); /* max(t, 0), rounded */
  function_add(b, &w, "orifice", "t/(t^2 + dp0^2)^0.25");                      /* √t */
  function_add(b, &w, "way", "tanh(t/v0)");                                    /* sign(t) */
  function_add(b, &w, "side", "Arod + (Ar - Arod)*0.5*(1 + way(t))");          /* area, by the speed */
  function_add(b, &w, "drop", "0.5*(t + sqrt(t^2 + drop0^2))");                /* max(t, 0), never 0 */
  function_add(b, &w, "limit", "i_mid + i_half*tanh((t - i_mid)/i_half)");
  return w;
}

/* A block of expressions; `names` of its inputs, and where they come from. */
static void expression_add(mx_builder *b, const vocabulary *w, const char *name, int n_in,
                           const char *const *names, const char *const *from, int n_out,
                           const char *const *texts)
{
  ga_block_expression_opts o = ga_block_expression_defaults();
  ga_control_block *block = NULL;
  o.n_in = n_in;
  o.inputs = names;
  o.n_out = n_out;
  o.texts = texts;
  o.symbols = w->symbol;
  o.n_symbols = w->n;
  if (!b->status) b->status = ga_block_create_expression(b->ctx, &o, NULL, NULL, &block);
  mx_block(b, name, block, from);
}

static void pressure_add(mx_builder *b, const char *name, const char *rate)
{
  const ga_block_integrator_opts o = ga_block_integrator_defaults();
  ga_control_block *block = NULL;
  if (!b->status) b->status = ga_block_create_integrator(b->ctx, &o, &block);
  mx_block(b, name, block, &rate);
}

static void blocks_add(mx_builder *b)
{
  static const char *const wish_names[] = {"force", "v"}, *const wish[] = {"-3000*control", "strut.rate"};
  static const char *const opening_name[] = {"K"}, *const opening[] = {"valve"};
  static const char *const state_names[] = {"l", "v", "i", "pr", "pc"};
  static const char *const state[] = {"strut.length - 0.5", "strut.rate", "current", "rebound",
                                      "compression"};
  static const char *const valve[] = {"side(v)*sqrt(v^2 + 1e-4)/drop(-force*way(v)/side(v))"};
  static const char *const current[] = {"limit(i_low + (i_high - i_low)*(Ksoft - K)/(Ksoft - Khard))"};
  static const char *const rates[] = {
      "bulk/(Vr0 - Ar*l)*(Ar*v + Kpis*orifice(check_valve(pc - pr)) - "
      "(Ksoft - (Ksoft - Khard)*(i - i_low)/(i_high - i_low))*pr)",
      "bulk/(Vc0 + Ap*l)*(-Ap*v - Kpis*orifice(check_valve(pc - pr)) + Kbase*orifice(check_valve(-pc)))"};
  static const char *const tension[] = {"Ar*pr - Ap*pc"};
  const vocabulary w = damper_words(b);
  control_add(b);
  expression_add(b, &w, "valve", 2, wish_names, wish, 1, valve);
  expression_add(b, &w, "current", 1, opening_name, opening, 1, current);
  expression_add(b, &w, "rates", 5, state_names, state, 2, rates);
  pressure_add(b, "rebound", "rates.y1");
  pressure_add(b, "compression", "rates.y2");
  expression_add(b, &w, "tension", 2, state_names + 3, state + 3, 1, tension);
  damper_force_add(b, "damper", "-tension");
}

/* ---- The machines ---- */

static void build(const mx_machine *self, mx_builder *b)
{
  static const char skyhook[] = "(700 + 1400*(1 + tanh(sprung.vz*(sprung.vz - wheel.vz)/1e-3)))*v";
  static const char bump[] = "if(t > 0.1 && t < 0.3, 0.025*(1 - cos(10*pi*(t - 0.1))), 0)";
  point_add(b, "sprung", "sprung_guide", 315.0, ride_height);
  point_add(b, "wheel", "wheel_guide", 37.5, wheel_height);
  spring_add(b, "strut", "wheel", "sprung", 29500, self->variant == STEP ? 1500 : 0,
             ride_height - wheel_height, self->variant == SKYHOOK ? skyhook : NULL);
  if (self->variant == STEP) {
    mx_marker(b, "road", "ground", ga_pose_at(0, 0, 0.05));
  } else {
    point_add(b, "road", "road_guide", 0, 0);
    mx_drive(b, "road_profile", "road_guide.displacement", bump);
  }
  spring_add(b, "tyre", "road", "wheel", 210000, 0, wheel_height, NULL);
  if (self->variant == HYDRAULIC) hydraulic_add(b);
  if (self->variant == BLOCKS) blocks_add(b);
}

#define HEIGHTS(position, velocity, p_order, v_order)                                                        \
  {"sprung.z - 1", "zs", 0, 0, position, p_order}, {"sprung.vz", "vs", 0, 0, velocity, v_order},             \
      {"wheel.z - 0.5", "zu", 0, 0, position, p_order},                                                      \
  {                                                                                                          \
    "wheel.vz", "vu", 0, 0, velocity, v_order                                                                \
  }

const mx_machine mx_quarter_car_step = {
    .name = "quarter_car_step",
    .title = "quarter car, the road rises by 0.05 m",
    .build = build,
    .variant = STEP,
    .t_end = 3.0,
    .h = 1e-3,
    .rho = 0.8,
    .file = "quartercar_step",
    .reference = {HEIGHTS(5e-5, 4e-3, 2, 2)},
    .energy = 1,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};

const mx_machine mx_quarter_car_skyhook = {
    .name = "quarter_car_skyhook",
    .title = "quarter car over a bump, damper switched as if hung from the sky",
    .build = build,
    .variant = SKYHOOK,
    .t_end = 3.0,
    .h = 2.5e-4,
    .rho = 0.8,
    .file = "quartercar_skyhook",
    .reference = {HEIGHTS(4e-6, 4e-4, 2, 2),
                  {"sprung.z - 1", NULL, 0.3, .020725906576, 2e-6, 0},
                  {"sprung.z - 1", NULL, 1.0, 9.12396092e-4, 5e-8, 0}},
    .energy = 4e-3,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};

const mx_machine mx_quarter_car_hydraulic = {
    .name = "quarter_car_hydraulic",
    .title = "quarter car over a bump, hydraulic damper with acceleration feedback",
    .build = build,
    .variant = HYDRAULIC,
    .t_end = 3.0,
    .h = 2.5e-4,
    .rho = 0.8,
    .file = "quartercar_hydraulic",
    /* Valves that open within 200 Pa have no order at steps that cross them at once. */
    .reference = {HEIGHTS(1e-5, 4e-4, 0, 0),
                  {"damper.x1", "p_reb", 0, 0, 1e4, 0},
                  {"damper.x2", "p_comp", 0, 0, 1e4, 0},
                  {"control", "x_ctrl", 0, 0, 1e-4, 0},
                  {"current", "i", 0, 0, 3e-3, 0},
                  {"damper", "Fd", 0, 0, 2, 0}},
    .energy = 2e-3,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};

const mx_machine mx_quarter_car_blocks = {
    .name = "quarter_car_blocks",
    .title = "quarter car over a bump, hydraulic damper of expressions and integrators",
    .build = build,
    .variant = BLOCKS,
    .t_end = 3.0,
    .h = 2.5e-4,
    .rho = 0.8,
    .twin = "quarter_car_hydraulic",
    .reference = {{"sprung.z", "sprung.z", 0, 0, 1e-9, 0},
                  {"sprung.vz", "sprung.vz", 0, 0, 1e-8, 0},
                  {"rebound", "damper.x1", 0, 0, 1, 0},
                  {"compression", "damper.x2", 0, 0, 1, 0},
                  {"current", "current", 0, 0, 1e-6, 0},
                  {"tension", "damper", 0, 0, 1e-3, 0}},
    .energy = 2e-3,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};
