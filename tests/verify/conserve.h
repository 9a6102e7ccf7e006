/* Conservation: energy of every conservative joint, force and closed loop, and momenta of systems that float
 * freely. A scene is a few bodies with joints or forces between them and a root: the ground, with gravity, or
 * a body of its own, without. */
#ifndef VERIFY_CONSERVE_H
#define VERIFY_CONSERVE_H

#include "papers.h"

#include <stdint.h>

enum { VF_MOST_BODIES = 6 };

typedef struct vf_body { /* with a marker "<name>_c" in its centre of mass */
  const char *name, *centre;
  double mass, J[9]; /* about the centre of mass, in the body's axes */
  ga_pose pose;      /* at the start */
} vf_body;

/* A scene under construction. */
typedef struct vf_yard {
  mx_builder *b;
  const char *root; /* "ground", or "base" where that is a body */
  uint64_t random;
  int n;
  vf_body body[VF_MOST_BODIES];
} vf_yard;

typedef struct vf_scene vf_scene;
struct vf_scene {
  const char *name;
  void (*build)(const vf_scene *self, vf_yard *y);
  int kind;      /* of its joint, or which of a family */
  int planar;    /* 1: all bodies are planar, and so is gravity */
  int hung_only; /* 1: needs the ground */
  unsigned seed;
  const char *acts; /* a signal that must become positive, or NULL */
};

typedef struct vf_scenes {
  const char *title;
  const vf_scene *scene;
  int n;
} vf_scenes;

extern const vf_scenes vf_conserve_joints, vf_conserve_planar, vf_conserve_forces, vf_conserve_loops;

/* ---- Putting scenes together ---- */

double vf_random(vf_yard *y); /* uniform in (−1, 1) */
/* A body somewhere near (x, y, z), turned, its centre of mass off its frame, its moments of inertia
 * different, with some velocity. A planar one moves in z = 0. */
void vf_body_add(vf_yard *y, const char *name, const char *centre, const double at[3]);
void vf_planar_add(vf_yard *y, const char *name, const char *centre, const double at[3]);
ga_pose vf_random_pose(vf_yard *y, double x, double y_, double z); /* there, but turned */
/* A marker on a body, or on the ground, where it is at the start seen from the ground. */
void vf_marker_at(vf_yard *y, const char *name, const char *frame, const ga_pose *at);

void vf_conserve_run(const vf_sink *sink);

#endif
