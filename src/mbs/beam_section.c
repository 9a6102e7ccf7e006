/* Sections of beams: stiffness and inertia per length, from shapes and materials or as given.
 *
 * Of a shape with area A and second moments Iy = ∫z² dA, Iz = ∫y² dA the stiffness is diagonal,
 * (E A, κy G A, κz G A, G It, E Iy, E Iz), and inertia ρ (A, Iy + Iz, Iy, Iz). Shear factors κ are those of
 * G. R. Cowper (1966) for rectangles, circles and tubes; of an I section the web carries shear along z, both
 * flanges that along y. */
#include "mbs/beam.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct shape {
  double A, Iy, Iz, It; /* [m²], [m⁴] */
  double kappa[2];      /* along y, z */
} shape;

static ga__beam_fault out_of_range(const char *field, double value, const char *unit, const char *expected)
{
  return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, field, expected, value, unit};
}

/* ---- Shapes ---- */

/* Torsion of a rectangle a × b, a >= b: a b³/3 (1 − (192/π⁵) (b/a) Σ tanh(nπa/2b)/n⁵), n odd. As
 * Σ 1/n⁵ = 31 ζ(5)/32 is known, the few terms by which tanh is less than 1 are left. */
static double torsion_of_rectangle(double width, double height)
{
  const double a = fmax(width, height), b = fmin(width, height);
  double sum = 1.0045237627951383;
  for (int n = 1; n < 16; n += 2) sum -= 2 / (1 + exp(n * PI * a / b)) / pow(n, 5);
  return a * b * b * b / 3 * (1 - 192 / pow(PI, 5) * (b / a) * sum);
}

static shape rectangle(const ga_beam_def *d)
{
  const double w = d->width, h = d->height, nu = d->poisson, kappa = 10 * (1 + nu) / (12 + 11 * nu);
  return (shape){w * h, w * h * h * h / 12, h * w * w * w / 12, torsion_of_rectangle(w, h), {kappa, kappa}};
}

/* Outside diameter d, inside diameter m d. */
static shape ring(double d, double m, double nu)
{
  const double r = 0.5 * d, I = 0.25 * PI * pow(r, 4) * (1 - pow(m, 4)), q = (1 + m * m) * (1 + m * m);
  const double kappa = 6 * (1 + nu) * q / ((7 + 6 * nu) * q + (20 + 12 * nu) * m * m);
  return (shape){PI * r * r * (1 - m * m), I, I, 2 * I, {kappa, kappa}};
}

static shape i_section(const ga_beam_def *d)
{
  const double w = d->width, h = d->height, web = d->web, flange = d->flange, inside = h - 2 * flange;
  const double A = 2 * w * flange + inside * web;
  return (shape){A,
                 (w * h * h * h - (w - web) * inside * inside * inside) / 12,
                 (2 * flange * w * w * w + inside * web * web * web) / 12,
                 (2 * w * flange * flange * flange + (h - flange) * web * web * web) / 3,
                 {5.0 / 6 * 2 * w * flange / A, (h - flange) * web / A}};
}

/* Lengths that a shape needs, and their upper limits. */
static ga__beam_fault check_lengths(const ga_beam_def *d)
{
  const struct {
    const char *name;
    double value;
    unsigned of; /* kinds */
  } length[] = {
      {"width", d->width, 1u << GA_SECTION_RECTANGLE | 1u << GA_SECTION_I},
      {"height", d->height, 1u << GA_SECTION_RECTANGLE | 1u << GA_SECTION_I},
      {"diameter", d->diameter, 1u << GA_SECTION_CIRCLE | 1u << GA_SECTION_TUBE},
      {"wall", d->wall, 1u << GA_SECTION_TUBE},
      {"web", d->web, 1u << GA_SECTION_I},
      {"flange", d->flange, 1u << GA_SECTION_I},
  };
  for (size_t i = 0; i < sizeof length / sizeof *length; i++)
    if (length[i].of >> d->section & 1u && !(length[i].value > 0))
      return out_of_range(length[i].name, length[i].value, "m", "> 0");
  if (d->section == GA_SECTION_TUBE && !(d->wall < 0.5 * d->diameter))
    return out_of_range("wall", d->wall, "m", "less than half of the diameter");
  if (d->section == GA_SECTION_I && !(d->web < d->width))
    return out_of_range("web", d->web, "m", "less than the width");
  if (d->section == GA_SECTION_I && !(d->flange < 0.5 * d->height))
    return out_of_range("flange", d->flange, "m", "less than half of the height");
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

/* Numbers of another kind of section must not be given: they would be without effect. */
static ga__beam_fault check_unused(const ga_beam_def *d)
{
  enum { N = 1u << GA_SECTION_NUMBERS, R = 1u << GA_SECTION_RECTANGLE, I = 1u << GA_SECTION_I };
  enum { TUBE = 1u << GA_SECTION_TUBE, ROUND = 1u << GA_SECTION_CIRCLE | TUBE, SHAPES = R | I | ROUND };
  const struct {
    const char *name;
    const double *value;
    int n;
    const char *unit;
    unsigned of; /* kinds that use it */
  } number[] = {{"stiffness", d->stiffness, 36, NULL, N},
                {"mass_per_length", &d->mass_per_length, 1, "kg/m", N},
                {"rotary_inertia", d->rotary_inertia, 6, "kg m", N},
                {"width", &d->width, 1, "m", R | I},
                {"height", &d->height, 1, "m", R | I},
                {"diameter", &d->diameter, 1, "m", ROUND},
                {"wall", &d->wall, 1, "m", TUBE},
                {"web", &d->web, 1, "m", I},
                {"flange", &d->flange, 1, "m", I},
                {"young", &d->young, 1, "Pa", SHAPES},
                {"poisson", &d->poisson, 1, NULL, SHAPES},
                {"density", &d->density, 1, "kg/m^3", SHAPES},
                {"shear_factor", d->shear_factor, 2, NULL, SHAPES},
                {"torsion_constant", &d->torsion_constant, 1, "m^4", SHAPES}};
  for (size_t i = 0; i < sizeof number / sizeof *number; i++)
    for (int k = 0; k < number[i].n && !(number[i].of >> d->section & 1u); k++)
      if (!isnan(number[i].value[k]) && number[i].value[k] != 0)
        return out_of_range(number[i].name, number[i].value[k], number[i].unit,
                            d->section == GA_SECTION_NUMBERS
                                ? "left out where the section is given by numbers"
                                : "left out for this shape of the section");
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

static ga__beam_fault check_material(const ga_beam_def *d)
{
  if (!(d->young > 0)) return out_of_range("young", d->young, "Pa", "> 0");
  if (!(d->poisson > -1 && d->poisson <= 0.5))
    return out_of_range("poisson", d->poisson, NULL, "above -1 and at most 0.5");
  if (!(d->density > 0)) return out_of_range("density", d->density, "kg/m^3", "> 0");
  for (int i = 0; i < 2; i++)
    if (!isnan(d->shear_factor[i]) && !(d->shear_factor[i] > 0))
      return out_of_range("shear_factor", d->shear_factor[i], NULL, "> 0");
  if (!isnan(d->torsion_constant) && !(d->torsion_constant > 0))
    return out_of_range("torsion_constant", d->torsion_constant, "m^4", "> 0");
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

static shape shape_of(const ga_beam_def *d)
{
  shape s = d->section == GA_SECTION_RECTANGLE ? rectangle(d)
            : d->section == GA_SECTION_CIRCLE  ? ring(d->diameter, 0, d->poisson)
            : d->section == GA_SECTION_TUBE    ? ring(d->diameter, 1 - 2 * d->wall / d->diameter, d->poisson)
                                               : i_section(d);
  for (int i = 0; i < 2; i++)
    if (!isnan(d->shear_factor[i])) s.kappa[i] = d->shear_factor[i];
  if (!isnan(d->torsion_constant)) s.It = d->torsion_constant;
  return s;
}

static void from_shape(const ga_beam_def *d, ga__beam_section *out)
{
  const shape s = shape_of(d);
  const double E = d->young, G = 0.5 * E / (1 + d->poisson);
  const double stiffness[6] = {E * s.A, s.kappa[0] * G * s.A, s.kappa[1] * G * s.A, G * s.It, E * s.Iy,
                               E * s.Iz};
  for (int i = 0; i < 6; i++) out->K[7 * i] = stiffness[i];
  out->mass = d->density * s.A;
  out->J[0] = d->density * (s.Iy + s.Iz);
  out->J[4] = d->density * s.Iy;
  out->J[8] = d->density * s.Iz;
}

/* ---- Numbers ---- */

/* The inverse of a positive definite matrix, by its Cholesky factor; 0: it is not positive definite. Rows and
 * columns are scaled first, as axial and bending stiffness may be many powers of ten apart. */
static int invert(const double K[36], double C[36])
{
  double L[36] = {0}, scale[6];
  for (int i = 0; i < 6; i++) {
    if (!(K[7 * i] > 0)) return 0;
    scale[i] = 1 / sqrt(K[7 * i]);
  }
  for (int j = 0; j < 6; j++)
    for (int i = j; i < 6; i++) {
      double sum = K[6 * i + j] * scale[i] * scale[j];
      for (int k = 0; k < j; k++) sum -= L[6 * i + k] * L[6 * j + k];
      if (i == j && !(sum > 1e-12)) return 0;
      L[6 * i + j] = i == j ? sqrt(sum) : sum / L[7 * j];
    }
  for (int c = 0; c < 6; c++) {
    double x[6] = {0};
    x[c] = 1;
    for (int i = 0; i < 6; i++) {
      for (int k = 0; k < i; k++) x[i] -= L[6 * i + k] * x[k];
      x[i] /= L[7 * i];
    }
    for (int i = 5; i >= 0; i--) {
      for (int k = i + 1; k < 6; k++) x[i] -= L[6 * k + i] * x[k];
      x[i] /= L[7 * i];
    }
    for (int i = 0; i < 6; i++) C[6 * i + c] = x[i] * scale[i] * scale[c];
  }
  return 1;
}

static ga__beam_fault from_numbers(const ga_beam_def *d, ga__beam_section *out)
{
  const double *K = d->stiffness;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) {
      const double size = sqrt(fabs(K[7 * i] * K[7 * j]));
      if (!(fabs(K[6 * i + j] - K[6 * j + i]) <= 1e-9 * size))
        return (ga__beam_fault){GA_REASON_MESH_NOT_SYMMETRIC, "stiffness", NULL, 6 * i + j, NULL};
      out->K[6 * i + j] = out->K[6 * j + i] = 0.5 * (K[6 * i + j] + K[6 * j + i]);
    }
  for (int i = 0; i < 6; i++) {
    out->K[7 * i] = K[7 * i];
    if (!(K[7 * i] > 0)) return out_of_range("stiffness", K[7 * i], NULL, "> 0 on its diagonal");
  }
  if (!(d->mass_per_length > 0)) return out_of_range("mass_per_length", d->mass_per_length, "kg/m", "> 0");
  const double *J = d->rotary_inertia, full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
  const double det = J[0] * (J[1] * J[2] - J[5] * J[5]) - J[3] * (J[3] * J[2] - J[5] * J[4]) +
                     J[4] * (J[3] * J[5] - J[1] * J[4]);
  if (!(J[0] > 0 && J[0] * J[1] > J[3] * J[3] && det > 0))
    return out_of_range("rotary_inertia", fmin(J[0], fmin(J[1], J[2])), "kg m",
                        "a tensor whose principal moments are > 0");
  out->mass = d->mass_per_length;
  memcpy(out->J, full, sizeof full);
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

/* About the axis: J + m (|c|² I − c cᵀ) */
static void move_to_axis(ga__beam_section *s)
{
  const double c[3] = {0, s->centre[0], s->centre[1]}, square = c[1] * c[1] + c[2] * c[2];
  for (int i = 0; i < 9; i++) s->J[i] += s->mass * ((i % 4 == 0 ? square : 0.0) - c[i / 3] * c[i % 3]);
}

ga__beam_fault ga__beam_section_make(const ga_beam_def *def, ga__beam_section *out)
{
  ga__beam_fault fault = check_unused(def);
  *out = (ga__beam_section){.damping = def->damping,
                            .centre = {def->centre[0], def->centre[1]},
                            .plain = def->formulation == GA_BEAM_CONSTANT_STRAIN};
  if (fault.reason) return fault;
  if (def->section == GA_SECTION_NUMBERS) {
    fault = from_numbers(def, out);
  } else {
    fault = check_lengths(def);
    if (!fault.reason) fault = check_material(def);
    if (!fault.reason) from_shape(def, out);
  }
  if (fault.reason) return fault;
  move_to_axis(out);
  if (out->J[5] != 0) out->turn = 0.5 * atan2(2 * out->J[5], out->J[4] - out->J[8]);
  if (!invert(out->K, out->C))
    return out_of_range("stiffness", out->K[0], NULL, "positive definite: no strain may cost no energy");
  out->diagonal = 1;
  for (int i = 0; i < 36; i++) out->diagonal &= i % 7 == 0 || (out->K[i] == 0 && out->C[i] == 0);
  return fault;
}
