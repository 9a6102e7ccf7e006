/* Tyres and roads: derivatives, slip curves, contact and its loss, standstill, energies, moving roads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/tyre_law.h"
#include "mbs_shop.h"

/* Coefficients of no particular tyre, none of them zero. */
static void set_magic(ga_tyre_def *d)
{
  d->nominal_load = 4000;
  d->pcx1 = 1.6, d->pdx1 = 1.1, d->pdx2 = -0.06, d->pdx3 = 0.4, d->pex1 = 0.2, d->pex2 = 0.1, d->pex3 = -0.05;
  d->pex4 = 0.02, d->pkx1 = 20, d->pkx2 = -1, d->pkx3 = 0.2, d->phx1 = 2e-3, d->phx2 = 1e-3, d->pvx1 = 4e-3;
  d->pvx2 = 2e-3, d->rbx1 = 11, d->rbx2 = -9, d->rcx1 = 1.1, d->rex1 = -0.3, d->rex2 = 0.1, d->rhx1 = 5e-3;
  d->pcy1 = 1.3, d->pdy1 = 0.95, d->pdy2 = -0.12, d->pdy3 = 1.2, d->pey1 = -0.9, d->pey2 = -0.3, d->pey3 = 0.1;
  d->pey4 = -1.5, d->pky1 = -17, d->pky2 = 1.7, d->pky3 = 0.3, d->phy1 = 3e-3, d->phy2 = -1e-3, d->phy3 = 0.04;
  d->pvy1 = 0.02, d->pvy2 = -0.01, d->pvy3 = -0.3, d->pvy4 = -0.2, d->rby1 = 8, d->rby2 = 7, d->rby3 = -0.02;
  d->rcy1 = 1.05, d->rey1 = 0.3, d->rey2 = 0.1, d->rhy1 = 6e-3, d->rhy2 = 2e-3, d->rvy1 = 0.05, d->rvy2 = 0.02;
  d->rvy3 = -0.3, d->rvy4 = 12, d->rvy5 = 1.9, d->rvy6 = -11, d->lmux = 0.95, d->lmuy = 1.05, d->lkx = 1.1;
  d->lky = 0.9;
}

static ga_tyre_def tyre_of(ga_tyre_kind kind, const char *wheel)
{
  ga_tyre_def d = ga_tyre_defaults();
  d.name = "tyre", d.kind = kind, d.wheel = wheel, d.road = "road";
  d.radius = 0.32, d.stiffness = 2.2e5, d.damping = 600;
  d.mu = 0.9, d.slip_stiffness = 18, d.cornering_stiffness = 14;
  if (kind == GA_TYRE_MAGIC) set_magic(&d);
  return d;
}

static void add_road(shop *s, const char *frame, const char *height, const char *friction)
{
  ga_road_def d = ga_road_defaults();
  d.name = "road", d.frame = frame, d.height = height, d.friction = friction;
  SHOP_ADD(s, road, &d);
}

/* A wheel of 20 kg with its axis along y, rolling along x at speed v. */
static void add_wheel(shop *s, double z, double v, double omega)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "wheel", d.mass = 20;
  d.inertia[0] = d.inertia[2] = 0.6, d.inertia[1] = 1.05;
  d.pose = ga_pose_at(0, 0, z);
  d.velocity[0] = v, d.omega[1] = omega;
  SHOP_ADD(s, rigid, &d);
}

/* ---- Derivatives ---- */

typedef struct road_case {
  const char *frame, *height, *friction;
} road_case;

/* All laws, in all forms, on all kinds of roads; forces are some newtons, as all other numbers here. */
static void derivatives_are_right(void **state)
{
  static const road_case ROAD[] = {{"tilted", NULL, NULL},
                                   {"tilted", "0.1*sin(2*x + y) + 0.02*t^2", "1 + 0.3*cos(x - y)"},
                                   {"table", NULL, NULL},
                                   {"table", "0.05*x*y + 0.03*sin(t + y)", "1/(1 + x^2)"},
                                   {"flat", "0.1*x^2", NULL}};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int kind = 0; kind < 3; kind++)
      for (int r = 0; r < 5; r++) {
        rig_random random = rig_seed(100 * form + 10 * kind + r);
        shop s = shop_open((ga_form)form, -9.81);
        shop_rigid(&s, "body", 0.1, 0.2, 0.5);
        shop_rigid(&s, "base", 0.3, -0.2, -0.2);
        shop_planar(&s, "flat", 0.2, 0.1);
        shop_turned(&s, "tilted", "ground", 0, 0, 0.02, 0, 0.2);
        shop_turned(&s, "table", "base", 0, 0, 0.2, 1, 0.3);
        shop_turned(&s, "hub", "body", 0.05, -0.1, 0.04, 0, -0.4);
        add_road(&s, ROAD[r].frame, ROAD[r].height, ROAD[r].friction);
        ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "hub");
        d.axis = kind == 1 ? GA_TYRE_AXIS_Z : GA_TYRE_AXIS_Y;
        d.radius = 0.7, d.stiffness = 30, d.damping = 2, d.damping_depth = 0.3, d.speed = 0.8, d.preload = 3;
        d.slip_stiffness = 2, d.cornering_stiffness = 1.5, d.camber_stiffness = 0.4, d.nominal_load = 10;
        d.carcass = r == 3 ? 0 : 0.15;
        d.relaxation[0] = r % 2 ? 0.3 : 0, d.relaxation[1] = r == 2 || r == 3 ? 0.5 : 0;
        SHOP_ADD(&s, tyre, &d);
        ga_actuator_def feedback = ga_actuator_defaults(); /* signals that act: their derivatives too */
        feedback.name = "feedback", feedback.a = "hub", feedback.b = "table";
        feedback.force.expression = "0.1*tyre.fx + 0.2*tyre.fy*tyre.slip + 0.1*tyre.fz + tyre.camber + tyre.slip_angle"
                                    " + 0.5*tyre.x*tyre.z + tyre.penetration + tyre.lagged_slip_x*tyre.lagged_slip_y";
        SHOP_ADD(&s, actuator, &feedback);
        shop_build(&s);
        char what[64];
        snprintf(what, sizeof what, "form %d, law %d, road %d", form, kind, r);
        shop_check(&s, &random, rig_brief() ? 1 : 6, 0.08, 2e-6, what);
        shop_close(&s);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
