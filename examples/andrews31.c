/* Andrews' squeezing mechanism in 31 absolute coordinates with 30 constraints (andrews.h has the mechanism,
 * its data and where it is from).
 *
 * q = (θ₁..θ₇, centres of mass 1..7, pins F, P, G, H, D): the angle of every bar against the x axis, and
 * points in the plane. Every point of a bar, centre or pin, is held to it by
 *
 *   Φ = point − base − R(θ) X = 0,      base: a fixed point, or the pin where the bar begins
 *
 *   M = diag(I₁..I₇, m₁, m₁, .. m₇, m₇, 0 x 10),   f = torque on θ₁, spring on D, −Bᵀλ
 *
 * With u = R(θ) X and u' for u turned by 90°:
 *
 *   B_θ = −u',   D_q(Bᵀλ)_θθ = u·λ,   D_q(B v)_θ = u θdot,   Φddot = u θdot² at vdot = 0
 *
 * What it shows: the way multibody programs set a mechanism up, in many coordinates and simple equations. The
 * pins have no mass, so that M is singular; the Jacobian is sparse and its pattern is declared; equations
 * have names, which messages use. M. Arnold, O. Brüls, Convergence of the generalized-α scheme for
 * constrained mechanical systems, 2007, treat it so. */
#include "problem.h"
#include "andrews.h"
#include <stdio.h>

enum { N_BARS = 7, NV = 31, N_ARMS = 15, N_LAMBDA = 2 * N_ARMS, N_MASSIVE = 3 * N_BARS };

/* First coordinate of each point: centres of mass, then pins. */
enum { CG1 = 7, CG2 = 9, CG3 = 11, CG4 = 13, CG5 = 15, CG6 = 17, CG7 = 19 };
enum { F = 21, P = 23, G = 25, H = 27, D = 29 };
enum { O, A, B }; /* fixed points */
static const double origin[2] = {0, 0};
static const double *const fixed_point[] = {[O] = origin, [A] = an_A, [B] = an_B};

/* Every arm once: number of its constraint, bar (from 0), point, base, X in the bar. */
#define FIXED_ARMS(ARM)                                                                                      \
  ARM(0, 0, CG1, O, AN_RA, 0)                                                                                \
  ARM(1, 0, F, O, AN_RR, 0)                                                                                  \
  ARM(4, 2, CG3, B, AN_SB, -AN_SA)                                                                           \
  ARM(5, 2, P, B, 0, -AN_SS)                                                                                 \
  ARM(6, 2, D, B, AN_SD, -AN_SC)                                                                             \
  ARM(9, 4, CG5, A, AN_TA, AN_TB)                                                                            \
  ARM(10, 4, G, A, AN_ZT, 0)                                                                                 \
  ARM(13, 6, CG7, A, -AN_UB, -AN_UA)                                                                         \
  ARM(14, 6, H, A, 0, -AN_U)
#define PINNED_ARMS(ARM)                                                                                     \
  ARM(2, 1, CG2, F, -AN_DA, 0)                                                                               \
  ARM(3, 1, P, F, -AN_D, 0)                                                                                  \
  ARM(7, 3, CG4, P, 0, AN_EA)                                                                                \
  ARM(8, 3, G, P, 0, AN_E)                                                                                   \
  ARM(11, 5, CG6, P, -AN_FA, 0)                                                                              \
  ARM(12, 5, H, P, -AN_ZF, 0)

typedef struct arm {
  int number, bar, point;
  int pin;   /* the base's first coordinate, or −1 where it is fixed */
  int fixed; /* the base among the fixed points, or −1 where it is a pin */
  double X[2];
} arm;

#define FIXED_ARM(number, bar, point, base, x, y) {number, bar, point, -1, base, {x, y}},
#define PINNED_ARM(number, bar, point, base, x, y) {number, bar, point, base, -1, {x, y}},
static const arm arms[N_ARMS] = {FIXED_ARMS(FIXED_ARM) PINNED_ARMS(PINNED_ARM)};

static const double inertia[N_MASSIVE] = {AN_I1, AN_I2, AN_I3, AN_I4, AN_I5, AN_I6, AN_I7,
                                          AN_M1, AN_M1, AN_M2, AN_M2, AN_M3, AN_M3, AN_M4,
                                          AN_M4, AN_M5, AN_M5, AN_M6, AN_M6, AN_M7, AN_M7};

/* ---- The pattern ---------------------------------------------------------------------------------------
 * The diagonal where there is mass; the spring's block; then for every arm the entries of B in its two rows,
 * each followed by its mirror image in Bᵀ. jacobian() walks the same way. */

#define ROW(number) (NV + 2 * (number))
#define FIXED_ROWS(number, bar, point, base, x, y)                                                           \
  ROW(number), bar, ROW(number) + 1, bar, ROW(number), point, ROW(number) + 1, (point) + 1,
#define FIXED_COLS(number, bar, point, base, x, y)                                                           \
  bar, ROW(number), bar, ROW(number) + 1, point, ROW(number), (point) + 1, ROW(number) + 1,
#define PINNED_ROWS(number, bar, point, base, x, y)                                                          \
  FIXED_ROWS(number, bar, point, base, x, y) ROW(number), base, ROW(number) + 1, (base) + 1,
#define PINNED_COLS(number, bar, point, base, x, y)                                                          \
  FIXED_COLS(number, bar, point, base, x, y) base, ROW(number), (base) + 1, ROW(number) + 1,
#define DIAGONAL 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
#define SPRING_ROWS D, D, D + 1, D + 1
#define SPRING_COLS D, D + 1, D, D + 1

static const int pattern_row[] = {DIAGONAL, SPRING_ROWS, FIXED_ARMS(FIXED_ROWS) PINNED_ARMS(PINNED_ROWS)};
static const int pattern_col[] = {DIAGONAL, SPRING_COLS, FIXED_ARMS(FIXED_COLS) PINNED_ARMS(PINNED_COLS)};
enum { N_PATTERN = sizeof pattern_row / sizeof *pattern_row, SPRING_AT = N_MASSIVE, ARMS_AT = N_MASSIVE + 4 };

/* ---- Callbacks ----------------------------------------------------------------------------------------- */

static int mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = i < N_MASSIVE ? inertia[i] * p->vdot[i] : 0;
  return 0;
}

static int force(void *user, const ga_point *p, double *out)
{
  double u[2];
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = 0;
  out[0] = an_torque;
  an_spring_force(out + D, p->q + D);
  for (const arm *a = arms; a < arms + N_ARMS; a++) { /* −Bᵀλ */
    const double *l = p->lambda + 2 * a->number;
    an_rotate(u, p->q[a->bar], a->X);
    out[a->bar] += u[0] * l[1] - u[1] * l[0];
    for (int i = 0; i < 2; i++) {
      out[a->point + i] -= l[i];
      if (a->pin >= 0) out[a->pin + i] += l[i];
    }
  }
  return 0;
}

static int phi(void *user, const ga_point *p, double *out)
{
  double u[2];
  (void)user;
  for (const arm *a = arms; a < arms + N_ARMS; a++) {
    const double *base = a->pin >= 0 ? p->q + a->pin : fixed_point[a->fixed];
    an_rotate(u, p->q[a->bar], a->X);
    for (int i = 0; i < 2; i++) out[2 * a->number + i] = p->q[a->point + i] - base[i] - u[i];
  }
  return 0;
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  double u[2];
  (void)user;
  for (const arm *a = arms; a < arms + N_ARMS; a++) {
    an_rotate(u, p->q[a->bar], a->X);
    const double u_dot[2] = {-u[1] * p->v[a->bar], u[0] * p->v[a->bar]};
    for (int i = 0; i < 2; i++)
      out[2 * a->number + i] = p->v[a->point + i] - (a->pin >= 0 ? p->v[a->pin + i] : 0) - u_dot[i];
  }
  return 0;
}

static int phi_acc(void *user, const ga_point *p, double *out)
{
  double u[2];
  (void)user;
  for (const arm *a = arms; a < arms + N_ARMS; a++) {
    an_rotate(u, p->q[a->bar], a->X);
    for (int i = 0; i < 2; i++) out[2 * a->number + i] = u[i] * p->v[a->bar] * p->v[a->bar];
  }
  return 0;
}

/* An entry of B at e, which is part of Q, and its mirror image at e + 1, which is part of D. */
static void put_mirrored(ga_jacobian *K, int e, double b)
{
  K->Q[e] = b;
  K->D[e + 1] = b;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  int e = ARMS_AT;
  double u[2], S[2][2];
  (void)user;
  for (int i = 0; i < N_MASSIVE; i++) K->D[i] = K->shift_vdot * inertia[i];
  an_spring_stiffness(S, p->q + D);
  for (int i = 0; i < 4; i++) K->Q[SPRING_AT + i] = S[i / 2][i % 2];
  for (const arm *a = arms; a < arms + N_ARMS; a++) {
    const double *l = p->lambda + 2 * a->number;
    an_rotate(u, p->q[a->bar], a->X);
    const double b[2] = {u[1], -u[0]};
    K->Q[a->bar] += u[0] * l[0] + u[1] * l[1];
    for (int i = 0; i < 2; i++, e += 2) {
      put_mirrored(K, e, b[i]);
      K->G[e] = u[i] * p->v[a->bar];
    }
    for (int i = 0; i < 2; i++, e += 2) put_mirrored(K, e, 1);
    for (int i = 0; a->pin >= 0 && i < 2; i++, e += 2) put_mirrored(K, e, -1);
  }
  return 0;
}

/* "angle of bar 3", "P, x", "P of bar 3, x" */
static void name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  static const char *const points[] = {"centre 1", "centre 2", "centre 3", "centre 4", "centre 5", "centre 6",
                                       "centre 7", "F",        "P",        "G",        "H",        "D"};
  (void)user;
  if (block == GA_BLOCK_V && index < N_BARS)
    snprintf(text, size, "angle of bar %d", index + 1);
  else if (block == GA_BLOCK_V)
    snprintf(text, size, "%s, %c", points[(index - CG1) / 2], "xy"[(index - CG1) % 2]);
  else
    for (const arm *a = arms; a < arms + N_ARMS; a++)
      if (a->number == index / 2)
        snprintf(text, size, "%s of bar %d, %c", points[(a->point - CG1) / 2], a->bar + 1, "xy"[index % 2]);
}

/* ½ Σ M v² + the spring's − the torque's work */
static double energy(const ga_state *s)
{
  double sum = an_spring_energy(s->q + D) - an_torque * s->q[0];
  for (int i = 0; i < N_MASSIVE; i++) sum += 0.5 * inertia[i] * s->v[i] * s->v[i];
  return sum;
}

static void define(ga_system_def *def)
{
  static const ga_factor factor = {GA_RN, NV, GA_LEFT};
  def->n_factors = 1;
  def->factors = &factor;
  def->n_lambda = N_LAMBDA;
  def->mass = mass;
  def->force = force;
  def->phi = phi;
  def->phi_dot = phi_dot;
  def->phi_acc = phi_acc;
  def->jacobian = jacobian;
  def->name = name;
  def->n_pattern = N_PATTERN;
  def->pattern_row = pattern_row;
  def->pattern_col = pattern_col;
}

/* At rest. The reference is that of the 7 angles, good to rounding, with the points and their forces. */
static const double v0[NV] = {0};
static const double q0[] = {
    -0.06171389001427645,   -0.06171389001427645,   0.45527981916307037,     0.7100333697097284,
    0.48736497954384256,    1.0078790543839353,     1.2305474445498212,      0.0009182485980307614,
    -5.674074562905483e-05, -0.0044914333599330725, 0.00027753625579428993,  -0.018742186670315457,
    0.02048510678907393,    -0.030222939830158887,  0.01207118235666394,     -0.05323682815570414,
    0.016631847966616306,   -0.028543268536783604,  -0.010722254707252288,   -0.059262402801791715,
    -0.010600698332712844,  0.006986674115451445,   -0.00043172306456889544, -0.020960022346354336,
    0.0012951691937066864,  -0.03399720388583998,   0.01646197167499768,     -0.0316331345074089,
    -0.015618868668304538,  -0.010472393888814623,  0.025357788530275246};
static const double q1[] = {
    15.810771195153707,     0.054400136741867625,  0.0408222401196458,     -0.010320150462125524,
    0.524409965879954,      1.5828108573840174,    1.048080741041938,      -0.0009151423246975862,
    -9.441676518022482e-05, -0.018446027217580676, -0.0013436814839758117, -0.02516389303546853,
    0.01443127023594095,    -0.03477497166038277,  0.011968402202972473,   -0.05394793488853295,
    0.017215285001876645,   -0.03475089602296662,  -0.016449815495207507,  -0.06094135428600625,
    -0.0122910403736745,    -0.006963039427046852, -0.0007183884307191019, -0.034921618395303125,
    -0.0022408410821267433, -0.03471521904988391,  0.017758093872270467,   -0.034681333564428374,
    -0.02223939761003774,   -0.01563206598494061,  0.015561214074733034};
static const double v1[] = {
    1139.9203022591062,    -284.45899291843403,   11.032911910618594,   19.866944019861542,
    0.5735699148295025,    -18.97019495578291,    0.3231791492491309,   0.10762758750256891,
    -1.0431893153793734,   0.6410353248764671,    -4.670870865731394,   0.20188827356307806,
    0.12341533276243286,   0.1035359681896865,    0.018672630892726777, -0.011176173258954968,
    0.008828425475034311,  0.11628319436147307,   0.0125205717328314,   0.0032385913025553175,
    0.0027142671766933603, 0.8189055570847635,    -7.93731000832132,    0.3858302090993462,
    0.01575920841936869,   -0.011487512096515452, 0.019859732660548267, 0.006453692930629624,
    0.011200958332757445,  0.18942170272573877,   0.22857914095815884};
static const double vdot1[] = {
    -24631.763122874636, 27218.556513589596, 324102.6007075786,  583493.0574193408,  16743.635418345446,
    -556922.9141994512,  9826.507801544163,  1186.8270283059778, 145.22844104301453, 9976.393213392286,
    843.0454429386158,   5929.304275681927,  3627.6737745358155, 3042.9139848514737, 547.1580514325291,
    -326.25957181322485, 257.7127162450946,  3420.6017982027292, 377.23318189320713, 98.4709542169445,
    82.53040427614698,   9030.20565015418,   1104.99900793598,   11333.966673690438, 467.1990235945714,
    -335.35449286686577, 579.7381197774816,  196.22582149098844, 340.5757418192522,  5561.926275843899,
    6716.826168528887};
static const double lambda1[] = {
    -51.33026897423355,  -6.281130075110378,  -281.298221731437,   -16.391923520136576, -36.413835228881844,
    -3.0771158667259475, -244.88438650255515, -13.314807653410629, -140.7023904619321,  -86.08469866973489,
    199.17534810453864,  -29.755309974971762, -29.702683807574303, -56.57328833141567,  -21.482972733051405,
    -3.8629358431136556, -1.583570878570747,  -27.589789432657483, 23.001299812832354,  -18.168746495279173,
    1.583570878570747,   27.589789432657483,  -24.149448695311268, -2.663266264166042,  1.5069539089168889,
    -8.954126088445214,  -5.413933062847609,  -4.537521627102561,  -1.5069539089168889, 8.954126088445214};

const ex_problem ex_andrews31 = {
    .name = "andrews31",
    .title = "Andrews' squeezing mechanism, 31 coordinates and 30 constraints, massless pins",
    .define = define,
    .t_end = 0.03,
    .h = 3e-4,
    .rho = 0.7,
    .q0 = q0,
    .v0 = v0,
    .reference = {.t = 0.03, .q = q1, .v = v1, .vdot = vdot1, .lambda = lambda1},
    .energy = energy};
