/* Words of other programs for keys, sections, types and names, and the words used here. */
#include "model/hints.h"
#include "expr/text.h"

#include <string.h>

static const ga__hint hints[] = {
    /* joints: no other part has the key `at` */
    {"axis axes direction axis_of_rotation rotation_axis normal z_axis", "at",
     "The axis is z of the joint's frame: at: {position: [0, 0, 0], rotation: {z_axis: [0, 1, 0]}}", 0},
    {"location position point anchor origin pos pose frame where marker", "at",
     "Both bodies meet there at the start, in the ground's frame: at: [0, 0, 0]", 0},
    {"body1 body_a bodya parent base from predecessor first body", "a", NULL, 0},
    {"body2 body_b bodyb child follower to successor second", "b", NULL, 0},
    {"bodies connects between links parts", "a", "The two are a and b: a: ground, b: rod", 0},
    {"limits limit lower upper min max range stops", "at",
     "Joints have no stops; a spring on the joint's coordinate does it, with a table as its force", 1},
    {"damping damper stiffness spring friction torque force spring_constant", "at",
     "Joints are free of forces; these stand in the section forces, with coordinate: hinge.angle, say", 1},
    {"motion drive motor actuator driven prescribed", "at",
     "Prescribed motion stands in the section drives, with coordinate: hinge.angle, say", 1},
    {"theta phi q q0 initial_angle angle0 start_angle", "angle", NULL, 0},
    {"speed velocity omega initial_velocity initial_speed angular_velocity qd0 qdot", "angle_rate",
     "Of a slide: displacement_rate", 0},
    {"initial_position initial_displacement stroke s", "displacement", NULL, 0},
    /* bodies */
    {"m weight_kg masse", "mass", NULL, 0},
    {"i j moment_of_inertia inertia_tensor inertias moi ixx izz jxx jzz", "inertia", NULL, 0},
    {"centre_of_mass center_of_mass cg cog cm centre_of_gravity center_of_gravity mass_center", "com", NULL,
     0},
    {"density geometry shape radius length size dimensions box cylinder material", "mass",
     "Mass and inertia are given as numbers or expressions of parameters; for a picture there is the section "
     "shapes",
     1},
    {"color colour visual mesh graphics picture", "mass",
     "What a body looks like is in the section shapes: shapes: {cover: {type: box, frame: rod, size: [1, "
     "0.1, 0.1]}}",
     1},
    {"fixed ground grounded is_ground static", "mass",
     "What does not move is the ground, or joined to it by a joint of type fixed", 1},
    {"angular_velocity ang_vel w w0 omega0 spin", "omega", NULL, 0},
    {"angular_velocity ang_vel w w0 omega omega0 spin angle_rate", "rate", NULL, 0},
    {"initial_velocity v v0 vel speed initial_speed", "velocity", NULL, 0},
    {"pos origin location x x0 initial_position centre center xyz", "position", NULL, 0},
    {"orientation rpy euler quaternion angles attitude rot matrix z_axis", "rotation",
     "As in rotation: {euler: [0, 0, 90 deg], sequence: xyz}, or {z_axis: [0, 1, 0]}", 0},
    {"theta phi rotation orientation angle0 initial_angle", "angle", NULL, 0},
    {"parent link attached_to on", "body", NULL, 0},
    /* forces, drives, contacts */
    {"k spring_constant spring_rate rate spring_stiffness", "stiffness", NULL, 0},
    {"c d b damp damping_coefficient viscous damping_constant viscosity", "damping", NULL, 0},
    {"restitution e damping dissipation_coefficient", "dissipation", NULL, 0},
    {"l0 free_length natural_length rest_length length0 unstretched unstretched_length length neutral",
     "rest", NULL, 0},
    {"preload0 f0 pretension initial_force", "preload", NULL, 0},
    {"friction friction_coefficient coefficient_of_friction mue", "mu", NULL, 0},
    {"force magnitude coulomb", "level", NULL, 0},
    {"v0 vs stribeck velocity stick_speed", "speed", NULL, 0},
    {"joint axis dof degree_of_freedom", "coordinate", "A joint's name and its coordinate: hinge.angle", 0},
    {"motion law value position expression angle displacement profile trajectory", "function", NULL, 0},
    {"magnitude value f torque tau effort input signal voltage", "force", NULL, 0},
    {"body at marker point application_point", "frame", NULL, 0},
    {"moment", "torque", NULL, 0},
    {"direction dir axis vector magnitude", "axes", "The force is a vector: force: [0, 0, 10 N]", 1},
    {"body ball sphere marker", "point", NULL, 0},
    {"ground floor surface wall", "plane", NULL, 0},
    {"points pairs xy samples", "rows", "As in rows: [[0, 0], [1, 5]]", 0},
    {"file csv filename path data values", "rows",
     "Tables stand in the model file, or in one that it includes: rows: [[0, 0], [1, 5]]", 1},
    /* simulation */
    {"duration time t_stop stop_time end_time tf t_final end final_time simulation_time stop", "t_end", NULL,
     0},
    {"start start_time tstart t0 begin", "t_start", NULL, 0},
    {"dt h timestep time_step step_size stepsize fixed_step", "step", NULL, 0},
    {"tol reltol rtol rel_tol relative_tolerance eps error_tolerance", "tolerance", NULL, 0},
    {"abstol abs_tol absolute_tolerance", "atol", NULL, 0},
    {"solver integrator scheme algorithm", "method", NULL, 0},
    {"output_step dt_out output_interval sample_time output_dt output_every sampling interval print_step",
     "output", NULL, 0},
    {"hmax h_max maxstep max_dt maximum_step", "max_step", NULL, 0},
    {"hmin h_min minstep", "min_step", NULL, 0},
    {"h0 initial_step", "first_step", NULL, 0},
    {"rho_inf rhoinf spectral_radius alpha damping", "rho", NULL, 0},
    {"outputs signals results save log plot variables", "record", NULL, 0},
    /* the model */
    {"g grav", "gravity", "As in gravity: [0, 0, -9.81]", 0},
    {"name model description", "title", NULL, 0},
    {"version format", "galpha", NULL, 0},
    {"units unit", "galpha",
     "Units stand behind numbers, as in 5 mm; numbers without are in SI units, angles in rad", 1},
    {"rigid_bodies masses elements", "bodies", NULL, 0},
    {"constraints connections connectors hinges", "joints", NULL, 0},
    {"springs dampers contacts loads spring_dampers actuators bushings", "forces", NULL, 0},
    {"hulls collision_shapes solids collision_geometries", "colliders", NULL, 0},
    {"shape geometries geometry visuals visual graphics meshes drawings looks appearance", "shapes", NULL, 0},
    {"contact_pairs collision_pairs pairs impacts", "collisions", NULL, 0},
    {"motors motions actuation prescribed_motions", "drives", NULL, 0},
    {"frames points coordinate_systems attachments sites", "markers", NULL, 0},
    {"controllers control systems", "blocks", NULL, 0},
    {"tables curves splines", "functions", NULL, 0},
    {"variables constants params design_variables define", "parameters", NULL, 0},
    {"settings solver sim analysis integration options run", "simulation", NULL, 0},
    {"t_end t_start t_stop step dt method solver tolerance tol accuracy rho max_step min_step first_step "
     "max_change duration "
     "end_time stop_time",
     "simulation", "It stands in the section simulation, as in simulation: {t_end: 5}", 1},
    {"outputs output results requests record plot", "simulation", "Signals are chosen by its key record", 0},
    {"velocity rate omega rpm", "speed", NULL, 0},
    /* names in expressions */
    {"time now", "t", NULL, 0},
    /* types of joints, bodies, forces, functions, blocks */
    {"hinge pin rotational rotary rotation revolve turning pivot", "revolute", NULL, 0},
    {"slider slide translational translation linear rail sliding", "prismatic", NULL, 0},
    {"ball ball_joint socket ball_and_socket ball_socket", "spherical", NULL, 0},
    {"weld rigid welded lock locked bracket clamp", "fixed", NULL, 0},
    {"cardan hooke u_joint gimbal", "universal", NULL, 0},
    {"rope link constant_distance tendon", "distance", NULL, 0},
    {"rack rackpinion", "rack_and_pinion", NULL, 0},
    {"belt pulley coupler transmission", "gear", NULL, 0},
    {"leadscrew lead_screw helical", "screw", NULL, 0},
    {"inline in_line point_line point_curve", "point_on_line", NULL, 0},
    {"inplane in_plane point_plane", "point_on_plane", NULL, 0},
    {"rigid_body body solid link spatial box 3d", "rigid", NULL, 0},
    {"planar_body 2d plane", "planar", NULL, 0},
    {"point_mass particle mass", "point", NULL, 0},
    {"1d rotor cart mass_1d inertia", "scalar", NULL, 0},
    {"damper spring_damper springdamper dashpot tsda rsda torsion_spring torsional_spring", "spring",
     "A damper is a spring without stiffness", 0},
    {"motor torque cylinder force_actuator", "actuator", NULL, 0},
    {"wrench load external_force applied_force", "force", NULL, 0},
    {"collision impact", "contact", "Bodies meet by colliders and collisions", 0},
    {"ball", "sphere", NULL, 0},
    {"cuboid block brick", "box", NULL, 0},
    {"convex hull convex_mesh polyhedron stl obj surface", "mesh", NULL, 0},
    {"cylinder pill rod", "capsule", NULL, 0},
    {"pipe hollow_cylinder", "tube", NULL, 0},
    {"color rgb rgba", "colour", NULL, 0},
    {"alpha transparency", "opacity", NULL, 0},
    {"halfspace half_space floor wall ground", "plane", NULL, 0},
    {"lookup spline curve data points interpolation lookup_table", "table", NULL, 0},
    {"sine sin harmonic chirp cosine", "wave", NULL, 0},
    {"step ramp polynomial cycloid cycloidal trapezoid poly345 poly4567 profile trajectory", "motion",
     "As in {type: motion, law: poly345, to: 1, duration: 2}", 0},
    {"gravity weight", "force", "Gravity is a key of the model: gravity: [0, 0, -9.81]", 1},
    {"accelerometer imu", "specific_force", NULL, 0},
    {"gyro gyroscope rate", "angular_velocity", NULL, 0},
    {"force_sensor load_cell", "reaction_force", NULL, 0},
    {"signs sign gains", "weights", "As in weights: [1, -1]", 0},
    {"body frame joint part marker point", "of", NULL, 0},
    {"formula expr equation function", "expression", NULL, 0},
    {"pd pi controller", "pid", NULL, 0},
    {"lowpass low_pass pt1 filter lag", "first_order", NULL, 0},
    {"pt2", "second_order", NULL, 0},
    {"saturate limiter limit clip", "saturation", NULL, 0},
    {"tf transfer laplace", "transfer_function", NULL, 0},
    {"ss statespace", "state_space", NULL, 0},
    {"add adder difference subtract", "sum", NULL, 0},
    {"multiply mult multiplier", "product", NULL, 0},
};
enum { N_HINTS = sizeof hints / sizeof hints[0] };

/* The next letter, without '_' and '-', in lower case; 0: end of the word. */
static char next_letter(const char **at)
{
  while (**at == '_' || **at == '-') ++*at;
  if (**at == '\0' || **at == ' ') return '\0';
  return (char)ga__lower(*(*at)++);
}

static int is_same(const char *word, const char *listed)
{
  char a, b;
  do {
    a = next_letter(&word);
    b = next_letter(&listed);
  } while (a == b && a);
  return a == b && *word == '\0';
}

static int is_listed(const char *word, const char *list)
{
  while (list) {
    if (is_same(word, list)) return 1;
    list = strchr(list, ' ');
    list = list ? list + 1 : NULL;
  }
  return 0;
}

const ga__hint *ga__hint_find(const char *word, int n, const char *const *names)
{
  for (int i = 0; i < N_HINTS && word[0]; i++) {
    if (!is_listed(word, hints[i].words)) continue;
    for (int k = 0; k < n; k++)
      if (names[k] && strcmp(names[k], hints[i].meant) == 0) return &hints[i];
  }
  return NULL;
}
