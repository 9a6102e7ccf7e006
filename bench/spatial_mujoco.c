/* MuJoCo on the spatial chain: joint coordinates, the mass matrix factored, RK4 with equal steps. */
#include "spatial_peers.h"

#ifdef HAVE_MUJOCO

#include "report.h"
#include "spatial_vec.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct mujoco_chain {
  spatial_chain c;
  mjModel *model;
  mjData *data;
} mujoco_chain;

static void quiet(const char *message)
{
  (void)message; /* by default it writes a file; run() looks at the counters instead */
}

/* ---- The model file ------------------------------------------------------------------------------------ */

/* Bodies nest as the chain does; frames at the near ends. Returns the length that was, or
 * would be, written. */
static int model_print(char *text, size_t size, const spatial_chain *c)
{
  int n = snprintf(text, size,
                   "<mujoco><option gravity='0 0 %.17g' integrator='RK4'><flag constraint='disable' "
                   "contact='disable' limit='disable' passive='disable' clampctrl='disable' "
                   "warmstart='disable' actuation='disable' sensornoise='disable'/></option>"
                   "<worldbody>",
                   -c->g);
  for (int i = 0; i < c->n; i++) {
    char joint[80] = "<joint type='ball'/>";
    double axis[3];
    spatial_joint_axis(axis, i);
    if (c->kind == SPATIAL_REVOLUTE)
      snprintf(joint, sizeof joint, "<joint type='hinge' axis='%g %g %g'/>", axis[0], axis[1], axis[2]);
    n += snprintf(text ? text + n : NULL, text ? size - (size_t)n : 0,
                  "<body pos='%.17g 0 0'>%s<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='%.17g %.17g "
                  "%.17g'/>",
                  i > 0 ? c->l : 0.0, joint, 0.5 * c->l, c->m, c->J_along, c->J_across, c->J_across);
  }
  for (int i = 0; i < c->n; i++)
    n += snprintf(text ? text + n : NULL, text ? size - (size_t)n : 0, "</body>");
  return n + snprintf(text ? text + n : NULL, text ? size - (size_t)n : 0, "</worldbody></mujoco>");
}

static mjModel *model_load(const spatial_chain *c)
{
  char error[200] = "";
  const int length = model_print(NULL, 0, c);
  mjVFS *files = malloc(sizeof *files);
  mjModel *model = NULL;
  if (!files) return NULL;
  mj_defaultVFS(files);
  if (mj_makeEmptyFileVFS(files, "chain.xml", length + 1) == 0) {
    model_print(files->filedata[mj_findFileVFS(files, "chain.xml")], (size_t)length + 1, c);
    model = mj_loadXML("chain.xml", files, error, sizeof error);
  }
  mj_deleteVFS(files);
  free(files);
  return model;
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

static void mujoco_close(void *model)
{
  mujoco_chain *m = model;
  if (m->data) mj_deleteData(m->data);
  if (m->model) mj_deleteModel(m->model);
  free(m);
}

static void *mujoco_open(const spatial_chain *c)
{
  mujoco_chain *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  mju_user_warning = quiet;
  m->c = *c;
  m->model = model_load(c);
  m->data = m->model ? mj_makeData(m->model) : NULL;
  if (m->data) return m;
  mujoco_close(m);
  return NULL;
}

static int mujoco_run(void *model, int option, double step, spatial_outcome *out)
{
  const mujoco_chain *m = model;
  const long steps = lrint(ceil(m->c.t_end / step));
  const double begin = cpu_now();
  (void)option;
  m->model->opt.timestep = m->c.t_end / (double)steps;
  mj_resetData(m->model, m->data);
  for (int i = 0; i < m->c.n && m->c.kind == SPATIAL_REVOLUTE; i++)
    m->data->qvel[i] = spatial_joint_rate(&m->c, i);
  for (long i = 0; i < steps; i++) {
    mj_step(m->model, m->data);
    if (m->data->warning[mjWARN_BADQPOS].number + m->data->warning[mjWARN_BADQVEL].number +
            m->data->warning[mjWARN_BADQACC].number >
        0) {
      snprintf(out->why, sizeof out->why, "diverged at step %ld", i);
      return -1;
    }
    if (i % 100 == 99 && cpu_now() - begin > out->limit) {
      snprintf(out->why, sizeof out->why, "%ld of %ld steps in %.3g s", i + 1, steps, out->limit);
      return -1;
    }
  }
  mj_kinematics(m->model, m->data);
  const double *x = m->data->xpos + 3 * m->c.n, *R = m->data->xmat + 9 * m->c.n; /* body 0 is the world */
  for (int k = 0; k < 3; k++) out->tip[k] = x[k] + m->c.l * R[3 * k];
  out->steps = (double)steps;
  return 0;
}

static const char *const options[] = {"RK4", NULL};

const spatial_peer spatial_mujoco = {.name = "mujoco",
                                     .title = "MuJoCo",
                                     .setting = "step [s]",
                                     .first = 0.03125,
                                     .factor = 0.70710678118654752,
                                     .options = options,
                                     .open = mujoco_open,
                                     .run = mujoco_run,
                                     .close = mujoco_close};

#else
typedef int spatial_mujoco_absent; /* ISO C wants a declaration */
#endif
