/* Every public function with NULL for every pointer that it takes: none crashes, and what it needs is
 * refused.
 *
 * A call stands once. P marks a pointer that the function needs, FINE one that may be NULL: the call is made
 * as often as it has pointers, each of them NULL once, and a status must then be below 0 where it was a P.
 * The test `exports` compares the names here with the symbols of the library, so that a new function cannot
 * be forgotten. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/modal.h"
#include "galpha/galpha.h"
#include "galpha/model.h"
#include "galpha/result.h"
#include "galpha/study.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Objects of every kind ---- */

static ga_context *ctx;
static ga_sparse *A;
static ga_lu *lu;
static const ga_group *group;
static ga_expr *expr;
static ga_function *function;
static ga_table2d *table;
static ga_definition *definition;
static ga_definition_opts definition_opts_;
static ga_control_block *block;
static ga_model *model;
static ga_machine *machine, *draft; /* built, and not */
static const ga_system *sys;
static ga_evaluation *evaluation;
static ga_linearisation *linearisation;
static ga_machine_linearisation *machine_linearisation;
static const ga_state_space *space_;
static ga_state_space no_space;
static const char *const signal_names[] = {"energy.kinetic"};
static ga_equilibrium *equilibrium;
static ga_equilibrium_report equilibrium_report_;
static ga_kinematics *kinematics;
static ga_kinematics_opts kinematics_opts_;
static ga_buckling_report buckling_report_;
static ga_modes *modes;
static ga_modes_opts modes_opts_;
static ga_machine_turning *machine_turning;
static ga_turning_state turning_state_;
static ga_turning_report turning_report_;
static ga_direction direction_;
static double seed_numbers_[256];
static ga_seed seed_ = {seed_numbers_, seed_numbers_, seed_numbers_, seed_numbers_,
                        seed_numbers_, seed_numbers_, seed_numbers_};
static ga_table table_ = {"numbers", NULL, 1, 0, NULL, NULL};
static ga_tables tables_ = {"galpha test", 1, &table_, NULL, 0, NULL};
static const ga_linear_form *form_;
static const ga_linear_input linear_input_ = {GA_BLOCK_V, 0};
static ga_linear_input found_input_;
static ga_stepper *st, *other; /* the other one may lose its state */
static ga_simulator *sim;
static ga_meter *meter;
static ga_follower *follower;
static ga_sensitivity *sensitivity;
static ga_adjoint *adjoint;
static ga_model_variation *variation;
static const ga_machine *machines_[GA_PARAMETER_VALUES];
static ga_model_parameter model_parameter_;
static int no_g(void *user, int parameter, int k, int event, const ga_point *p, double *g)
{
  (void)user, (void)parameter, (void)k, (void)event, (void)p;
  *g = 1.0;
  return 0;
}
static const ga_event_rule event_rule = {.g = no_g};
static ga_parameter parameter_ = {.name = "nothing", .step = 1e-3};
static ga_band *band;
static ga_recorder *rec;
static ga_result *res;
static struct { /* where objects would be created */
  ga_context *context;
  ga_sparse *sparse;
  ga_lu *lu;
  ga_group *group;
  ga_expr *expr;
  ga_function *function;
  ga_table2d *table2d;
  ga_definition *definition;
  ga_control_block *control_block;
  ga_system *system;
  ga_evaluation *evaluation;
  ga_linearisation *linearisation;
  ga_machine_linearisation *machine_linearisation;
  ga_equilibrium *equilibrium;
  ga_kinematics *kinematics;
  ga_modes *modes;
  ga_machine_turning *machine_turning;
  ga_stepper *stepper;
  ga_simulator *simulator;
  ga_machine *machine;
  ga_measures *measures;
  ga_design *design;
  ga_study *study;
  ga_study_worker *worker;
  ga_fit *fit;
  ga_optimum *optimum;
  ga_modal_body *modal_body;
  ga_meter *meter;
  ga_event_watch *watch;
  ga_event_variants *event_variants;
  ga_follower *follower;
  ga_sensitivity *sensitivity;
  ga_adjoint *adjoint;
  ga_model_variation *variation;
  ga_band *band;
  ga_model *model;
  ga_recorder *recorder;
  ga_result *result;
} none;
static ga_point point;
static double numbers[4096];
static int ints[64];
static char text[256], folder[64], path[2][96];
static const char *word, *names[] = {"hinge.angle"};
static const int *list;
static size_t size;

static ga_actuator_def actuator_def_;
static ga_block_constant_opts block_constant_opts_;
static ga_block_dead_zone_opts block_dead_zone_opts_;
static ga_block_delay_opts block_delay_opts_;
static ga_block_expression_opts block_expression_opts_;
static ga_block_first_order_opts block_first_order_opts_;
static ga_block_function_of_time_opts block_function_of_time_opts_;
static ga_block_gain_opts block_gain_opts_;
static ga_block_integrator_opts block_integrator_opts_;
static ga_block_pid_opts block_pid_opts_;
static ga_block_product_opts block_product_opts_;
static ga_block_saturation_opts block_saturation_opts_;
static ga_block_second_order_opts block_second_order_opts_;
static ga_block_state_space_opts block_state_space_opts_;
static ga_block_sum_opts block_sum_opts_;
static ga_block_table2d_opts block_table2d_opts_;
static ga_block_table_opts block_table_opts_;
static ga_block_tanh_opts block_tanh_opts_;
static ga_block_transfer_function_opts block_transfer_function_opts_;
static ga_block_orifice_opts block_orifice_opts_;
static ga_block_chamber_opts block_chamber_opts_;
static ga_block_dc_motor_opts block_dc_motor_opts_;
static ga_block_gearbox_opts block_gearbox_opts_;
static ga_block_user_opts block_user_opts_;
static ga_block_sampled_opts block_sampled_opts_;
static ga_control_block *sampled, *to_sample;
static ga_break break_;
static unsigned side_;
static ga_limit limit_;
static ga_pull pull_;
static const ga_state *state_;
static ga_band_opts band_opts_;
static ga_follower_opts follower_opts_;
static ga_bushing_def bushing_def_;
static ga_check_report check_report_;
static ga_contact_def contact_def_;
static ga_stop_def stop_def_;
static ga_rigid_stop_def rigid_stop_def_;
static ga_dry_friction_def dry_friction_def_;
static ga_context_opts context_opts_;
static ga_dimension dimension_;
static ga_drive_def drive_def_;
static ga_factor factor_;
static ga_fault fault_;
static ga_force_def force_def_;
static ga_friction_def friction_def_;
static ga_function_expr_opts function_expr_opts_;
static ga_input input_;
static ga_joint_def joint_def_;
static ga_signal_def signal_def_;
static ga_guess_def guess_def_;
static ga_variable_def variable_def_;
static ga_event_def event_def_;
static ga_event_watch *watch;
static ga_simulate_opts watch_opts_;
static ga_machine_opts machine_opts_;
static ga_run_settings run_settings_;
static ga_stepper_opts run_stepper_;
static ga_simulate_opts run_simulate_;
static ga_part_info part_info_;
static ga_setting setting_;
static ga_method_info method_info_;
static ga_method method_;
static ga_marker_def marker_def_;
static ga_model_opts model_opts_;
static ga_motion_opts motion_opts_;
static ga_planar_def planar_def_;
static ga_point_def point_def_;
static ga_pose pose_;
static ga_shape shape_;
static ga_mover mover_;
static ga_recorder_opts recorder_opts_;
static ga_rigid_def rigid_def_;
static ga_rolling_def rolling_def_;
static ga_slider_def slider_def_;
static ga_road_def road_def_;
static ga_tyre_def tyre_def_;
static ga_collider_def collider_def_;
static ga_shape_def shape_def_;
static ga_piece_load piece_load_;
static ga_coarse_part coarse_part_;
static double *read_numbers_;
static char *read_text_;
static ga_design *design;
static ga_design_opts design_opts_;
static ga_measures *measures;
static ga_measure_by measure_by_;
static ga_fit_opts fit_opts_;
static ga_fit *no_fit;
static ga_optimize_opts optimize_opts_;
static ga_optimum *no_optimum;
static ga_study *study;
static ga_study_opts study_opts_;
static ga_study_worker *worker;
static ga_study_row row_;
static const char *const measure_texts[] = {"final(t)"};
static char study_model[80];
static ga_collision_def collision_def_;
static ga_constraint_def constraint_def_;
static ga_scalar_def scalar_def_;
static ga_beam_def beam_def_;
static ga_cable_def cable_def_;
static ga_line_load_def line_load_def_;
static ga_modal_def modal_def_;
static ga_mesh mesh_;
static ga_modal_body modal_body_; /* without modes */
static ga_beam_mesh *beam_mesh_;  /* none */
static ga_reduction_opts reduction_opts_;
static ga_scheme scheme_;
static ga_sensor_def sensor_def_;
static ga_simulate_opts simulate_opts_;
static ga_breakpoint breakpoint_ = {1, 2, 0, 3, 4, 0, NULL};
static ga_spring_def spring_def_;
static ga_start_change start_change_;
static ga_start_opts start_opts_;
static ga_start_report start_report_;
static ga_step_failure step_failure_;
static ga_state node_state_;
static ga_stepper_opts stepper_opts_;
static ga_symbol symbol_;
static ga_system_def system_def_;
static ga_table2d_opts table2d_opts_;
static ga_table_opts table_opts_;
static ga_text_error text_error_;
static ga_wave_opts wave_opts_;

static const char MODEL[] = "galpha: 1\n"
                            "gravity: [0, -9.81, 0]\n"
                            "bodies: {rod: {type: planar, mass: 1, inertia: 1, com: [1, 0]}}\n"
                            "joints: {hinge: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}}\n"
                            "blocks: {lag: {type: first_order, inputs: hinge.angle, time_constant: 1}}\n"
                            "simulation: {t_end: 1}\n";

static void set_defaults(void)
{
  actuator_def_ = ga_actuator_defaults();
  block_constant_opts_ = ga_block_constant_defaults();
  block_dead_zone_opts_ = ga_block_dead_zone_defaults();
  block_delay_opts_ = ga_block_delay_defaults();
  block_expression_opts_ = ga_block_expression_defaults();
  block_first_order_opts_ = ga_block_first_order_defaults();
  block_function_of_time_opts_ = ga_block_function_of_time_defaults();
  block_gain_opts_ = ga_block_gain_defaults();
  block_integrator_opts_ = ga_block_integrator_defaults();
  block_pid_opts_ = ga_block_pid_defaults();
  block_product_opts_ = ga_block_product_defaults();
  block_saturation_opts_ = ga_block_saturation_defaults();
  block_second_order_opts_ = ga_block_second_order_defaults();
  block_state_space_opts_ = ga_block_state_space_defaults();
  block_sum_opts_ = ga_block_sum_defaults();
  block_table2d_opts_ = ga_block_table2d_defaults();
  block_table_opts_ = ga_block_table_defaults();
  block_tanh_opts_ = ga_block_tanh_defaults();
  block_transfer_function_opts_ = ga_block_transfer_function_defaults();
  block_orifice_opts_ = ga_block_orifice_defaults();
  block_chamber_opts_ = ga_block_chamber_defaults();
  block_dc_motor_opts_ = ga_block_dc_motor_defaults();
  block_gearbox_opts_ = ga_block_gearbox_defaults();
  block_user_opts_ = ga_block_user_defaults();
  block_sampled_opts_ = ga_block_sampled_defaults();
  bushing_def_ = ga_bushing_defaults();
  contact_def_ = ga_contact_defaults();
  stop_def_ = ga_stop_defaults();
  rigid_stop_def_ = ga_rigid_stop_defaults();
  dry_friction_def_ = ga_dry_friction_defaults();
  context_opts_ = ga_context_defaults();
  drive_def_ = ga_drive_defaults();
  force_def_ = ga_force_defaults();
  friction_def_ = ga_friction_defaults();
  function_expr_opts_ = ga_function_expr_defaults();
  joint_def_ = ga_joint_defaults();
  machine_opts_ = ga_machine_defaults();
  run_settings_ = ga_run_defaults();
  marker_def_ = ga_marker_defaults();
  signal_def_ = ga_signal_defaults();
  guess_def_ = ga_guess_defaults();
  variable_def_ = ga_variable_defaults();
  event_def_ = ga_event_defaults();
  model_opts_ = ga_model_defaults();
  motion_opts_ = ga_motion_defaults();
  planar_def_ = ga_planar_defaults();
  point_def_ = ga_point_defaults();
  recorder_opts_ = ga_recorder_defaults();
  rigid_def_ = ga_rigid_defaults();
  rolling_def_ = ga_rolling_defaults();
  slider_def_ = ga_slider_defaults();
  road_def_ = ga_road_defaults();
  tyre_def_ = ga_tyre_defaults();
  collider_def_ = ga_collider_defaults();
  shape_def_ = ga_shape_defaults();
  collision_def_ = ga_collision_defaults();
  constraint_def_ = ga_constraint_defaults();
  scalar_def_ = ga_scalar_defaults();
  beam_def_ = ga_beam_defaults();
  cable_def_ = ga_cable_defaults();
  line_load_def_ = ga_line_load_defaults();
  modal_def_ = ga_modal_defaults();
  reduction_opts_ = ga_reduction_defaults();
  sensor_def_ = ga_sensor_defaults();
  simulate_opts_ = ga_simulate_defaults();
  spring_def_ = ga_spring_defaults();
  start_opts_ = ga_start_defaults();
  stepper_opts_ = ga_stepper_defaults();
  system_def_ = ga_system_defaults();
  table2d_opts_ = ga_table2d_defaults();
  table_opts_ = ga_table_defaults();
  wave_opts_ = ga_wave_defaults();
  factor_ = (ga_factor){GA_RN, 2, GA_LEFT};
  symbol_ = (ga_symbol){.name = "x", .kind = GA_SYMBOL_VARIABLE};
  recorder_opts_.n_signals = 1;
  recorder_opts_.names = names;
  simulate_opts_.t_end = 1.0;
  follower_opts_ = ga_follower_defaults();
  band_opts_ = ga_band_defaults();
  band_opts_.n_signals = 1;
  band_opts_.names = band_opts_.units = names;
  band_opts_.t_end = 1.0;
}

static void make_files(void)
{
  strcpy(folder, "/tmp/galpha-null-XXXXXX");
  assert_non_null(mkdtemp(folder));
  for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/%d.h5", folder, i);
  const double value = 1.0;
  assert_int_equal(ga_recorder_create(ctx, path[1], &recorder_opts_, &rec), GA_OK);
  assert_int_equal(ga_recorder_add(rec, 0.0, &value), GA_OK);
  assert_int_equal(ga_recorder_checkpoint(rec, 0.0, &value, 1), GA_OK);
  ga_recorder_destroy(&rec);
  assert_int_equal(ga_recorder_create(ctx, path[0], &recorder_opts_, &rec), GA_OK);
  assert_int_equal(ga_result_open(ctx, path[1], &res), GA_OK);
}

/* A sweep of one run. */
static void make_study(void)
{
  snprintf(study_model, sizeof study_model, "%s/model.yaml", folder);
  FILE *file = fopen(study_model, "w");
  assert_non_null(file);
  fputs(MODEL, file);
  assert_int_equal(fclose(file), 0);
  design_opts_ = ga_design_defaults();
  assert_int_equal(ga_design_create(ctx, &design_opts_, &design), GA_OK);
  study_opts_ = ga_study_defaults();
  study_opts_.model = study_model, study_opts_.design = design;
  study_opts_.n_measures = 1, study_opts_.measures = measure_texts;
  assert_int_equal(ga_study_create(ctx, &study_opts_, &study), GA_OK);
  assert_int_equal(ga_study_worker_create(study, NULL, &worker), GA_OK);
  assert_int_equal(ga_study_compute(worker, 0, &row_), GA_OK);
  assert_int_equal(ga_measures_create(ctx, machine, 1, measure_texts, 0, NULL, NULL, &measures), GA_OK);
  assert_int_equal(ga_measures_start(measures, st, NULL), GA_OK);
}

static int set_up(void **state)
{
  static const double grid[] = {0.0, 1.0, 2.0, 3.0};
  const ga_table2d_opts square = {.nx = 2, .ny = 2, .x = grid, .y = grid, .z = grid};
  const int one = 0;
  (void)state;
  set_defaults();
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_int_equal(ga_sparse_create(ctx, 1, 1, 1, &one, &one, NULL, &A), GA_OK);
  A->value[0] = 1.0;
  assert_int_equal(ga_lu_create(ctx, A, GA_LU_AUTO, &lu), GA_OK);
  assert_int_equal(ga_lu_factor(lu), GA_OK);
  assert_int_equal(ga_expr_compile(ctx, "2*x", &symbol_, 1, NULL, &expr), GA_OK);
  static const char *const argument[] = {"a"};
  definition_opts_ = ga_definition_defaults();
  definition_opts_.n_args = 1, definition_opts_.args = argument, definition_opts_.value = "2*a";
  assert_int_equal(ga_definition_create(ctx, &definition_opts_, NULL, NULL, &definition), GA_OK);
  assert_int_equal(ga_function_create_constant(ctx, 1.0, &function), GA_OK);
  assert_int_equal(ga_table2d_create(ctx, &square, &table), GA_OK);
  assert_int_equal(ga_block_create_first_order(ctx, &block_first_order_opts_, &block), GA_OK);
  assert_int_equal(ga_block_create_gain(ctx, &block_gain_opts_, &to_sample), GA_OK);
  block_sampled_opts_.sample_time = 0.1;
  assert_int_equal(ga_block_create_sampled(ctx, &block_sampled_opts_, &to_sample, &sampled), GA_OK);
  assert_int_equal(ga_block_create_gain(ctx, &block_gain_opts_, &to_sample), GA_OK);
  assert_int_equal(ga_model_read_text(ctx, "model", MODEL, strlen(MODEL), NULL, &model), GA_OK);
  machine = ga_model_machine(model);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) machines_[k] = machine;
  assert_non_null(machine);
  assert_int_equal(ga_machine_create(ctx, NULL, &draft), GA_OK);
  sys = ga_machine_system(machine);
  group = ga_system_group(sys);
  assert_int_equal(ga_stepper_create(ctx, sys, &stepper_opts_, &st), GA_OK);
  assert_int_equal(ga_stepper_create(ctx, sys, &stepper_opts_, &other), GA_OK);
  assert_int_equal(ga_evaluation_create(ctx, sys, &evaluation), GA_OK);
  assert_int_equal(ga_linearisation_create(ctx, sys, &linearisation), GA_OK);
  assert_int_equal(ga_event_watch_create(ctx, machine, NULL, NULL, &watch), GA_OK);
  assert_int_equal(
      ga_machine_linearisation_create(ctx, machine, 0, NULL, 1, signal_names, &machine_linearisation), GA_OK);
  assert_int_equal(ga_equilibrium_create(ctx, sys, NULL, &equilibrium), GA_OK);
  kinematics_opts_ = ga_kinematics_defaults();
  kinematics_opts_.hold_states = 1;
  assert_int_equal(ga_kinematics_create(ctx, sys, &kinematics_opts_, &kinematics), GA_OK);
  assert_int_equal(ga_simulator_create(ctx, st, &simulate_opts_, &sim), GA_OK);
  assert_int_equal(ga_machine_initial(machine, numbers, numbers + 8, numbers + 16), GA_OK);
  assert_int_equal(
      ga_simulator_start(sim, &start_opts_, 0.0, numbers, numbers + 8, numbers + 16, NULL, NULL, NULL),
      GA_OK);
  assert_int_equal(ga_simulator_step(sim), GA_OK);
  assert_int_equal(ga_meter_create(ga_machine_context(machine), machine, &meter), GA_OK);
  assert_int_equal(ga_follower_create(ctx, other, &follower_opts_, &follower), GA_OK);
  assert_int_equal(ga_adjoint_create(ctx, other, 1, &parameter_, NULL, &adjoint), GA_OK);
  assert_int_equal(ga_sensitivity_create(ctx, other, 1, &parameter_, &sensitivity), GA_OK);
  assert_int_equal(ga_band_create(ctx, &band_opts_, &band), GA_OK);
  assert_int_equal(ga_meter_start(meter, ga_stepper_state(st)), GA_OK);
  assert_true(ga_simulator_saved_size(sim) < sizeof numbers / sizeof *numbers);
  const ga_state *s = ga_stepper_state(st);
  point = (ga_point){s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  assert_int_equal(ga_modes_create(ctx, sys, NULL, &point, &modes), GA_OK);
  direction_ = ga_modes_at(modes, 0)->real;
  assert_int_equal(ga_machine_turning_create(ctx, machine, s->q, s->v, &machine_turning), GA_OK);
  turning_state_ = (ga_turning_state){numbers + 2048, numbers + 2304, numbers + 2560, numbers + 2816,
                                      numbers + 3072, numbers + 3328, numbers + 3584};
  table_.numbers = numbers;
  make_files();
  make_study();
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  ga_result_close(&res);
  ga_recorder_destroy(&rec);
  ga_measures_destroy(&measures);
  ga_study_worker_destroy(&worker);
  ga_study_destroy(&study);
  ga_design_destroy(&design);
  unlink(study_model);
  for (int i = 0; i < 2; i++) unlink(path[i]);
  rmdir(folder);
  ga_meter_destroy(&meter);
  ga_event_watch_destroy(&watch);
  ga_follower_destroy(&follower);
  ga_sensitivity_destroy(&sensitivity);
  ga_adjoint_destroy(&adjoint);
  ga_band_destroy(&band);
  ga_simulator_destroy(&sim);
  ga_evaluation_destroy(&evaluation);
  ga_linearisation_destroy(&linearisation);
  ga_machine_linearisation_destroy(&machine_linearisation);
  ga_equilibrium_destroy(&equilibrium);
  ga_kinematics_destroy(&kinematics);
  ga_modes_destroy(&modes);
  ga_machine_turning_destroy(&machine_turning);
  ga_stepper_destroy(&st);
  ga_stepper_destroy(&other);
  ga_machine_destroy(&draft);
  ga_model_destroy(&model);
  ga_block_destroy(&block);
  ga_table2d_destroy(&table);
  ga_block_destroy(&sampled);
  ga_block_destroy(&to_sample);
  ga_definition_destroy(&definition);
  ga_function_destroy(&function);
  ga_expr_destroy(&expr);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(ctx, &A);
  ga_context_destroy(&ctx);
  return 0;
}

/* ---- Calls ---- */

static int null_at, seen,
    needed; /* which pointer is NULL; how many there were; whether the function needs that one */

/* A function, so that the pointers of a call are counted one after the other. */
static int is_null(int need)
{
  if (++seen != null_at) return 0;
  needed = need;
  return 1;
}

#define P(x) (is_null(1) ? NULL : (x))
#define FINE(x) (is_null(0) ? NULL : (x))

/* A machine takes a block over, whatever comes of it. */
static ga_control_block *new_block(void)
{
  ga_control_block *made = NULL;
  ga_block_create_first_order(ctx, &block_first_order_opts_, &made);
  return made;
}

/* clang-format off */
#define CALLS(STATUS, VOID, VALUE) \
  /* base */ \
  STATUS(ga_context_create, (FINE(&context_opts_), P(&none.context))) \
  VOID(ga_context_destroy, (P(&none.context))) \
  VALUE(ga_context_error, (P(ctx))) \
  VOID(ga_context_clear_error, (P(ctx))) \
  VALUE(ga_error_say, (P(ga_context_error(ctx)), GA_SAY_ALL, FINE(text), sizeof text)) \
  /* lin */ \
  STATUS(ga_sparse_create, (P(ctx), 1, 1, 1, P(ints), P(ints), FINE(ints), P(&none.sparse))) \
  VOID(ga_sparse_destroy, (P(ctx), P(&none.sparse))) \
  VOID(ga_sparse_zero, (P(A))) \
  VALUE(ga_sparse_find, (P(A), 0, 0)) \
  VOID(ga_sparse_mul, (P(numbers), P(A), P(numbers))) \
  VOID(ga_sparse_mul_t, (P(numbers), P(A), P(numbers))) \
  STATUS(ga_lu_create, (P(ctx), P(A), (ga_lu_kind)0, P(&none.lu))) \
  VOID(ga_lu_destroy, (P(&none.lu))) \
  STATUS(ga_lu_factor, (P(lu))) \
  STATUS(ga_lu_solve, (P(lu), P(numbers))) \
  STATUS(ga_lu_solve_t, (P(lu), P(numbers))) \
  VALUE(ga_lu_get_info, (P(lu))) \
  /* lie */ \
  STATUS(ga_group_create, (P(ctx), 1, P(&factor_), P(&none.group))) \
  VOID(ga_group_destroy, (P(&none.group))) \
  VALUE(ga_group_nq, (P(group))) \
  VALUE(ga_group_nv, (P(group))) \
  VALUE(ga_group_n_factors, (P(group))) \
  VALUE(ga_group_factor, (P(group), 0, FINE(ints), FINE(ints))) \
  VOID(ga_group_identity, (P(group), P(numbers))) \
  VOID(ga_group_compose, (P(group), P(numbers), P(numbers), P(numbers))) \
  VOID(ga_group_inverse, (P(group), P(numbers), P(numbers))) \
  VOID(ga_group_exp, (P(group), P(numbers), P(numbers))) \
  VOID(ga_group_log, (P(group), P(numbers), P(numbers))) \
  VOID(ga_group_move, (P(group), P(numbers), P(numbers), P(numbers))) \
  VOID(ga_group_difference, (P(group), P(numbers), P(numbers), P(numbers))) \
  VOID(ga_group_rate, (P(group), P(numbers), P(numbers), P(numbers))) \
  VOID(ga_group_bracket, (P(group), P(numbers), P(numbers), P(numbers))) \
  VOID(ga_group_add_bracket, (P(group), P(numbers), 0.5, P(numbers), P(numbers))) \
  VALUE(ga_group_n_blocks, (P(group))) \
  VALUE(ga_group_block, (P(group), 0, FINE(ints))) \
  VALUE(ga_group_blocks_length, (P(group))) \
  VOID(ga_group_tangent, (P(group), P(numbers), P(numbers))) \
  VOID(ga_group_tangent_inverse, (P(group), P(numbers), P(numbers))) \
  VOID(ga_group_exponent_rate, (P(group), P(numbers), P(numbers), P(numbers))) \
  VOID(ga_group_ad, (P(group), P(numbers), P(numbers))) \
  VOID(ga_group_tangent_ad, (P(group), P(numbers), P(numbers), P(numbers), 0.5, P(numbers))) \
  VALUE(ga_group_defect, (P(group), P(numbers))) \
  VOID(ga_group_normalise, (P(group), P(numbers))) \
  /* expr */ \
  VOID(ga_fault_text, (FINE(text), sizeof text, FINE(&fault_))) \
  STATUS(ga_expr_compile, (P(ctx), P("x"), P(&symbol_), 1, FINE(&text_error_), P(&none.expr))) \
  VOID(ga_expr_destroy, (P(&none.expr))) \
  VALUE(ga_expr_text, (P(expr))) \
  VALUE(ga_expr_variables, (P(expr), FINE(&list))) \
  VALUE(ga_expr_uses, (P(expr), (ga_symbol_kind)0, 0)) \
  STATUS(ga_expr_set_parameter, (P(expr), 0, 0.5)) \
  STATUS(ga_expr_eval, (P(expr), P(numbers), P(numbers), FINE(&fault_))) \
  STATUS(ga_expr_gradient, (P(expr), P(numbers), 1, P(ints), FINE(numbers), P(numbers), FINE(&fault_))) \
  STATUS(ga_expr_hessian, (P(expr), P(numbers), 1, P(ints), FINE(numbers), FINE(numbers), P(numbers), FINE(&fault_))) \
  STATUS(ga_expr_curve, (P(expr), P(numbers), FINE(numbers), FINE(numbers), 0, P(numbers), FINE(&fault_))) \
  STATUS(ga_unit_parse, (P(ctx), P("x"), FINE(numbers), FINE(&dimension_), FINE(&text_error_))) \
  STATUS(ga_quantity_parse, (P(ctx), P("x"), FINE("x"), P(numbers), FINE(&dimension_), FINE(&text_error_))) \
  VOID(ga_dimension_text, (FINE(text), sizeof text, FINE(&dimension_))) \
  VOID(ga_dimension_unit, (FINE(text), sizeof text, FINE(&dimension_))) \
  STATUS(ga_expr_dimension, (P(ctx), P(expr), P(&dimension_), P(&dimension_), FINE(&text_error_))) \
  VALUE(ga_unit_list, (0, FINE(ints))) \
  STATUS(ga_table2d_create, (P(ctx), P(&table2d_opts_), P(&none.table2d))) \
  VOID(ga_table2d_destroy, (P(&none.table2d))) \
  STATUS(ga_definition_create, (P(ctx), P(&definition_opts_), FINE(ints), FINE(NULL), P(&none.definition))) \
  VOID(ga_definition_destroy, (P(&none.definition))) \
  VALUE(ga_definition_n_args, (P(definition))) \
  STATUS(ga_table2d_eval, (P(table), 0.5, 0.5, 0, P(numbers), FINE(&fault_))) \
  STATUS(ga_function_create_constant, (P(ctx), 0.5, P(&none.function))) \
  STATUS(ga_function_create_expr, (P(ctx), P(&function_expr_opts_), FINE(&text_error_), P(&none.function))) \
  STATUS(ga_function_create_table, (P(ctx), P(&table_opts_), P(&none.function))) \
  STATUS(ga_function_create_motion, (P(ctx), P(&motion_opts_), P(&none.function))) \
  STATUS(ga_function_create_wave, (P(ctx), P(&wave_opts_), P(&none.function))) \
  VOID(ga_function_destroy, (P(&none.function))) \
  STATUS(ga_function_eval, (P(function), 0.5, 0, P(numbers), FINE(&fault_))) \
  STATUS(ga_function_next_break, (P(function), 0.0, 1.0, P(&break_))) \
  STATUS(ga_expr_next_break, (P(expr), 0, 0.0, 1.0, P(&break_))) \
  VALUE(ga_function_period, (P(function), 0.0, 1.0)) \
  VALUE(ga_expr_period, (P(expr), 0, 0.0, 1.0)) \
  VALUE(ga_expr_bounds, (P(expr), P(numbers), P(numbers), P(numbers), P(numbers))) \
  VALUE(ga_function_bounds, (P(function), 0.0, 1.0, P(numbers), P(numbers))) \
  VALUE(ga_function_integral, (P(function), 0.0, 1.0, P(numbers))) \
  STATUS(ga_expr_side, (P(expr), P(numbers), P(&side_))) \
  STATUS(ga_function_side, (P(function), 0.5, P(&side_))) \
  STATUS(ga_table2d_side, (P(table), 0.5, 0.5, P(&side_))) \
  VALUE(ga_expr_has_edges, (P(expr), 0)) \
  VALUE(ga_function_has_edges, (P(function))) \
  STATUS(ga_function_set_parameter, (P(function), 0, 0.5)) \
  /* core */ \
  STATUS(ga_system_create, (P(ctx), P(&system_def_), P(&none.system))) \
  VOID(ga_system_destroy, (P(&none.system))) \
  VALUE(ga_system_group, (P(sys))) \
  VALUE(ga_system_size, (P(sys), (ga_equation_block)0)) \
  VALUE(ga_system_start, (P(sys), (ga_equation_block)0)) \
  VALUE(ga_system_n, (P(sys))) \
  VOID(ga_system_name, (P(sys), (ga_equation_block)0, 0, P(text), sizeof text)) \
  VALUE(ga_method_at, (0, FINE(&method_info_))) \
  VALUE(ga_method_find, (P("index3"), FINE(&method_))) \
  VALUE(ga_method_has_order, ((ga_method)0, 2)) \
  STATUS(ga_system_check, (P(sys), P(&point), 0.5, FINE(&check_report_))) \
  STATUS(ga_evaluation_create, (P(ctx), P(sys), P(&none.evaluation))) \
  VOID(ga_evaluation_destroy, (P(&none.evaluation))) \
  STATUS(ga_evaluation_residual, (P(evaluation), P(&point), FINE(numbers), P(numbers), FINE(numbers))) \
  STATUS(ga_evaluation_jacobian, (P(evaluation), P(&point))) \
  VALUE(ga_evaluation_matrix, (P(evaluation), (ga_equation_block)0, (ga_by)0)) \
  VALUE(ga_evaluation_combine, (P(evaluation), 1.0, 0.5, 0.5, 0.5)) \
  STATUS(ga_linearisation_create, (P(ctx), P(sys), P(&none.linearisation))) \
  STATUS(ga_linearisation_create_with_inputs, (P(ctx), P(sys), 1, P(&linear_input_), P(&none.linearisation))) \
  VOID(ga_linearisation_destroy, (P(&none.linearisation))) \
  STATUS(ga_linearisation_compute, (P(linearisation), P(&point), P(&form_))) \
  STATUS(ga_equilibrium_create, (P(ctx), P(sys), FINE(NULL), P(&none.equilibrium))) \
  VOID(ga_equilibrium_destroy, (P(&none.equilibrium))) \
  STATUS(ga_equilibrium_solve, (P(equilibrium), 0.0, P(point.q), FINE(point.x), FINE(&equilibrium_report_))) \
  VALUE(ga_equilibrium_state, (P(equilibrium))) \
  STATUS(ga_equilibrium_slope, (P(equilibrium), P(&parameter_), P(numbers), FINE(NULL))) \
  STATUS(ga_equilibrium_buckling, (P(equilibrium), 0.0, P(point.q), FINE(point.x), 1, P(&buckling_report_))) \
  VALUE(ga_equilibrium_shape, (P(equilibrium), 0)) \
  STATUS(ga_turning_solve, (P(ctx), P(sys), P(ga_machine_turning_get(machine_turning)), 0.0, P(&turning_state_), FINE(&turning_report_))) \
  STATUS(ga_kinematics_create, (P(ctx), P(sys), FINE(&kinematics_opts_), P(&none.kinematics))) \
  VOID(ga_kinematics_destroy, (P(&none.kinematics))) \
  STATUS(ga_kinematics_start, (P(kinematics), 0.0, P(point.q), FINE(point.v), FINE(point.x), FINE(point.lambda), FINE(point.psi), FINE(&start_report_))) \
  STATUS(ga_kinematics_step, (P(kinematics), 0.0)) \
  VALUE(ga_kinematics_state, (P(kinematics))) \
  VALUE(ga_kinematics_jump, (P(kinematics))) \
  VALUE(ga_kinematics_get_stats, (P(kinematics))) \
  VALUE(ga_kinematics_stepper, (P(kinematics))) \
  VALUE(ga_kinematics_n_free, (P(kinematics))) \
  STATUS(ga_kinematics_free_motion, (P(kinematics), 0, P(numbers))) \
  VALUE(ga_kinematics_free_state, (P(kinematics))) \
  VALUE(ga_modes_defaults, ()) \
  STATUS(ga_modes_create, (P(ctx), P(sys), FINE(&modes_opts_), P(&point), P(&none.modes))) \
  VOID(ga_modes_destroy, (P(&none.modes))) \
  VALUE(ga_modes_get_info, (P(modes))) \
  VALUE(ga_modes_at, (P(modes), 0)) \
  STATUS(ga_machine_signal_slopes, \
         (P(machine), P(ga_stepper_state(st)), P(&direction_), 1, FINE(ints), P(numbers))) \
  STATUS(ga_machine_signal_sensitivities, \
         (P(machine), FINE(NULL), 0.1, P(ga_stepper_state(st)), P(&direction_), 1, FINE(ints), P(numbers))) \
  STATUS(ga_machine_signal_rates, (P(machine), 0.1, P(ga_stepper_state(st)), 1, FINE(ints), P(numbers))) \
  STATUS(ga_event_variants_create, (P(ctx), P(machine), 1, P(machines_), P(&none.event_variants))) \
  VOID(ga_event_variants_destroy, (P(&none.event_variants))) \
  VALUE(ga_event_variants_rule, (FINE(NULL))) \
  STATUS(ga_model_variation_check_span, (P(variation), 0.0, 1.0)) \
  STATUS(ga_model_variation_events, (P(ctx), P(machine), 1, P(&variation), P(&none.event_variants))) \
  STATUS(ga_machine_signal_gradient, \
         (P(machine), P(ga_stepper_state(st)), 1, P(ints), P(numbers), P(&seed_))) \
  STATUS(ga_tables_write, (P(ctx), P(path[0]), P(&tables_))) \
  STATUS(ga_tables_numbers, (P(ctx), P(path[0]), P("numbers"), P(ints), P(ints), P(&read_numbers_))) \
  STATUS(ga_tables_text, (P(ctx), P(path[0]), P("format"), P(&read_text_))) \
  VOID(ga_tables_free, (P(ctx), FINE(NULL))) \
  STATUS(ga_scheme_rho, (FINE(ctx), 0.5, P(&scheme_))) \
  STATUS(ga_scheme_hht, (FINE(ctx), 0.5, P(&scheme_))) \
  STATUS(ga_scheme_newmark, (FINE(ctx), 0.5, 0.5, P(&scheme_))) \
  STATUS(ga_scheme_check, (FINE(ctx), P(&scheme_))) \
  STATUS(ga_stepper_create, (P(ctx), P(sys), FINE(&stepper_opts_), P(&none.stepper))) \
  VOID(ga_stepper_destroy, (P(&none.stepper))) \
  STATUS(ga_stepper_start, (P(st), P(&start_opts_), 0.5, P(numbers), P(numbers), P(numbers), FINE(numbers), FINE(numbers), FINE(&start_report_))) \
  STATUS(ga_stepper_nearest, (P(other), P(&start_opts_), 0.5, P(numbers), P(numbers))) \
  STATUS(ga_stepper_independence, (P(other), 0.5, P(numbers), P(numbers))) \
  STATUS(ga_stepper_assemble, (P(other), P(&start_opts_), 0.5, P(numbers), FINE(numbers), FINE(&start_report_))) \
  VALUE(ga_start_report_text, (P(sys), FINE(&start_report_), FINE(text), sizeof text)) \
  VALUE(ga_start_report_say, (P(sys), FINE(&start_report_), GA_START_ALL, FINE(text), sizeof text)) \
  STATUS(ga_stepper_step, (P(st), 0.5)) \
  STATUS(ga_stepper_undo, (P(st))) \
  VALUE(ga_stepper_failure, (P(st), P(&step_failure_))) \
  STATUS(ga_stepper_error, (P(st), FINE(numbers), FINE(numbers), FINE(numbers))) \
  STATUS(ga_stepper_force_error, (P(st), FINE(numbers), FINE(numbers), FINE(numbers), FINE(numbers))) \
  STATUS(ga_stepper_interpolate, (P(st), 0.5, FINE(numbers), FINE(numbers), FINE(numbers), FINE(numbers), FINE(numbers), FINE(numbers), FINE(numbers))) \
  VALUE(ga_stepper_nodes, (P(st), P(numbers), P(numbers))) \
  VALUE(ga_stepper_order, (P(st))) \
  STATUS(ga_stepper_node, (P(st), 0, P(&node_state_))) \
  STATUS(ga_stepper_run, (P(st), 0.5, 1, NULL, NULL)) \
  VALUE(ga_stepper_state, (P(st))) \
  VALUE(ga_stepper_stats, (P(st))) \
  VALUE(ga_stepper_system, (P(st))) \
  VALUE(ga_stepper_redundancy, (P(st))) \
  STATUS(ga_stepper_project_velocity, (P(st), (ga_projection)0, FINE(&start_change_))) \
  VALUE(ga_stepper_saved_size, (P(st))) \
  STATUS(ga_stepper_save, (P(st), P(numbers))) \
  STATUS(ga_stepper_load, (P(st), P(numbers))) \
  STATUS(ga_stepper_constraint_residuals, (P(st), FINE(numbers), FINE(numbers), FINE(numbers))) \
  STATUS(ga_sensitivity_create, (P(ctx), P(other), 1, P(&parameter_), P(&none.sensitivity))) \
  VOID(ga_sensitivity_destroy, (P(&none.sensitivity))) \
  STATUS(ga_sensitivity_start, (P(sensitivity), P(&start_opts_), 0.5, P(numbers), P(numbers), P(numbers), FINE(numbers), FINE(numbers), FINE(&start_report_))) \
  STATUS(ga_sensitivity_step, (P(sensitivity))) \
  STATUS(ga_sensitivity_use_events, (P(sensitivity), P(&event_rule))) \
  VALUE(ga_sensitivity_time, (P(sensitivity), 0)) \
  STATUS(ga_sensitivity_begin, (P(sensitivity))) \
  STATUS(ga_sensitivity_inside, (P(sensitivity), 0, 0.5, P(&state_))) \
  VALUE(ga_sensitivity_doubt, (P(sensitivity), 0)) \
  VALUE(ga_sensitivity_at, (P(sensitivity), 0)) \
  VALUE(ga_sensitivity_moving, (P(sensitivity), 0)) \
  VALUE(ga_sensitivity_place, (P(sensitivity))) \
  VALUE(ga_adjoint_defaults, ()) \
  STATUS(ga_adjoint_create, (P(ctx), P(other), 1, P(&parameter_), FINE(NULL), P(&none.adjoint))) \
  VOID(ga_adjoint_destroy, (P(&none.adjoint))) \
  STATUS(ga_adjoint_begin, (P(adjoint))) \
  STATUS(ga_adjoint_step, (P(adjoint))) \
  STATUS(ga_adjoint_inside, (P(adjoint), 0.01, NULL, NULL)) \
  STATUS(ga_adjoint_gradient, (P(adjoint), NULL, NULL, P(numbers))) \
  VALUE(ga_adjoint_doubt, (P(adjoint), 0)) \
  STATUS(ga_follower_create, (P(ctx), P(other), FINE(&follower_opts_), P(&none.follower))) \
  VOID(ga_follower_destroy, (P(&none.follower))) \
  STATUS(ga_follower_start, (P(follower), FINE(&start_opts_), 0.01, P(ga_stepper_state(st)))) \
  STATUS(ga_follower_restart, (P(follower), 0.5, 0.01)) \
  STATUS(ga_follower_lead, (P(follower), 0.5, 0)) \
  STATUS(ga_follower_pass, (P(follower), 0.5)) \
  STATUS(ga_follower_meet, (P(follower), 0.6, 0)) \
  VALUE(ga_follower_events, (P(follower))) \
  STATUS(ga_follower_reach, (P(follower), 0.5, FINE(&state_))) \
  VALUE(ga_follower_at_jump, (P(follower))) \
  VALUE(ga_follower_time, (P(follower))) \
  VALUE(ga_follower_steps, (P(follower))) \
  VALUE(ga_follower_subdivided, (P(follower))) \
  VALUE(ga_follower_saved_size, (P(follower))) \
  STATUS(ga_follower_save, (P(follower), P(numbers))) \
  STATUS(ga_follower_load, (P(follower), P(numbers))) \
  VOID(ga_breakpoint_join, (P(&breakpoint_), P(&breakpoint_))) \
  STATUS(ga_simulator_create, (P(ctx), P(st), P(&simulate_opts_), P(&none.simulator))) \
  VOID(ga_simulator_destroy, (P(&none.simulator))) \
  STATUS(ga_simulator_start, (P(sim), P(&start_opts_), 0.5, P(numbers), P(numbers), P(numbers), FINE(numbers), FINE(numbers), FINE(&start_report_))) \
  STATUS(ga_simulator_step, (P(sim))) \
  STATUS(ga_simulator_run, (P(sim))) \
  VALUE(ga_simulator_finished, (P(sim))) \
  VALUE(ga_simulator_last_event, (P(sim))) \
  VALUE(ga_simulator_next_step, (P(sim))) \
  VALUE(ga_simulator_stats, (P(sim))) \
  VALUE(ga_simulator_saved_size, (P(sim))) \
  STATUS(ga_simulator_save, (P(sim), P(numbers))) \
  STATUS(ga_simulator_load, (P(sim), P(numbers))) \
  /* control */ \
  VALUE(ga_block_kind_find, (P("x"))) \
  VOID(ga_block_destroy, (P(&none.control_block))) \
  VALUE(ga_block_get_kind, (P(block))) \
  STATUS(ga_block_next_break, (P(block), 0.0, 1.0, P(&break_))) \
  VALUE(ga_block_period, (P(block), 0.0, 1.0)) \
  VALUE(ga_block_bounds, (P(block), 0, P(numbers), P(numbers), P(numbers), P(numbers), P(numbers))) \
  STATUS(ga_block_side, (P(block), 0.5, P(numbers), FINE(numbers), P(&side_))) \
  VALUE(ga_block_has_edges, (P(block))) \
  VALUE(ga_block_n_in, (P(block))) \
  VALUE(ga_block_n_x, (P(block))) \
  VALUE(ga_block_n_out, (P(block))) \
  VALUE(ga_block_input_name, (P(block), 0)) \
  VALUE(ga_block_state_name, (P(block), 0)) \
  VALUE(ga_block_output_name, (P(block), 0)) \
  STATUS(ga_block_set_unit, (P(block), 0, FINE("x"))) \
  VALUE(ga_block_output_unit, (P(block), 0)) \
  VALUE(ga_block_depends, (P(block), 0, 0)) \
  VOID(ga_block_initial, (P(block), P(numbers))) \
  STATUS(ga_block_eval, (P(block), 0.5, P(numbers), P(numbers), FINE(numbers), FINE(numbers), FINE(&fault_))) \
  STATUS(ga_block_jacobian, (P(block), 0.5, P(numbers), P(numbers), P(numbers), FINE(&fault_))) \
  STATUS(ga_block_create_gain, (P(ctx), P(&block_gain_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_sum, (P(ctx), P(&block_sum_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_product, (P(ctx), P(&block_product_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_constant, (P(ctx), P(&block_constant_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_function_of_time, (P(ctx), P(&block_function_of_time_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_saturation, (P(ctx), P(&block_saturation_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_dead_zone, (P(ctx), P(&block_dead_zone_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_tanh, (P(ctx), P(&block_tanh_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_table, (P(ctx), P(&block_table_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_table2d, (P(ctx), P(&block_table2d_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_expression, (P(ctx), P(&block_expression_opts_), FINE(&text_error_), FINE(ints), P(&none.control_block))) \
  STATUS(ga_block_create_integrator, (P(ctx), P(&block_integrator_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_state_space, (P(ctx), P(&block_state_space_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_transfer_function, (P(ctx), P(&block_transfer_function_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_first_order, (P(ctx), P(&block_first_order_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_second_order, (P(ctx), P(&block_second_order_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_delay, (P(ctx), P(&block_delay_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_pid, (P(ctx), P(&block_pid_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_orifice, (P(ctx), P(&block_orifice_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_chamber, (P(ctx), P(&block_chamber_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_dc_motor, (P(ctx), P(&block_dc_motor_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_gearbox, (P(ctx), P(&block_gearbox_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_user, (P(ctx), P(&block_user_opts_), P(&none.control_block))) \
  STATUS(ga_block_create_sampled, (P(ctx), P(&block_sampled_opts_), P(&to_sample), P(&none.control_block))) \
  VALUE(ga_block_sample_time, (P(sampled), FINE(numbers), FINE(numbers))) \
  VALUE(ga_block_next_sample, (P(sampled), 0.5)) \
  STATUS(ga_block_sample, (P(sampled), 0.5, P(numbers), P(numbers), P(numbers), FINE(&fault_))) \
  /* mbs */ \
  STATUS(ga_rotation_matrix, (P(ctx), P(numbers), P(numbers))) \
  STATUS(ga_rotation_quaternion, (P(ctx), P(numbers), P(numbers))) \
  STATUS(ga_rotation_axis_angle, (P(ctx), P(numbers), 0.5, P(numbers))) \
  STATUS(ga_rotation_euler, (P(ctx), P("hinge"), P(numbers), P(numbers))) \
  STATUS(ga_rotation_z_axis, (P(ctx), P(numbers), FINE(numbers), P(numbers))) \
  VALUE(ga_coordinate_find, (P("angle"))) \
  STATUS(ga_machine_create, (P(ctx), FINE(&machine_opts_), P(&none.machine))) \
  VOID(ga_machine_destroy, (P(&none.machine))) \
  STATUS(ga_machine_add_rigid, (P(draft), P(&rigid_def_))) \
  STATUS(ga_machine_add_planar, (P(draft), P(&planar_def_))) \
  STATUS(ga_machine_add_point, (P(draft), P(&point_def_))) \
  STATUS(ga_machine_add_scalar, (P(draft), P(&scalar_def_))) \
  STATUS(ga_machine_add_beam, (P(draft), P(&beam_def_))) \
  STATUS(ga_machine_add_cable, (P(draft), P(&cable_def_))) \
  STATUS(ga_machine_add_line_load, (P(draft), P(&line_load_def_))) \
  STATUS(ga_machine_add_modal, (P(draft), P(&modal_def_))) \
  STATUS(ga_modal_body_create, (P(ctx), P(&mesh_), FINE(&reduction_opts_), P(&none.modal_body))) \
  STATUS(ga_modal_body_create_beam, (P(ctx), P(&beam_def_), 1, P(numbers), P(names), FINE(&reduction_opts_), P(&none.modal_body))) \
  STATUS(ga_beam_mesh_create, (P(ctx), P(&beam_def_), 1, P(numbers), P(names), 0, P(&beam_mesh_))) \
  VALUE(ga_beam_mesh_get, (P(beam_mesh_))) \
  VOID(ga_beam_mesh_destroy, (P(&beam_mesh_))) \
  STATUS(ga_machine_beam, (P(draft), P("x"), P(&beam_def_), FINE(&pose_), FINE(numbers))) \
  VOID(ga_modal_body_destroy, (P(&none.modal_body))) \
  VALUE(ga_modal_body_n_modes, (P(&modal_body_))) \
  VALUE(ga_modal_body_is_stiffened, (P(&modal_body_))) \
  VALUE(ga_modal_body_frequency, (P(&modal_body_), 0)) \
  STATUS(ga_modal_body_inertia, (P(&modal_body_), FINE(numbers), FINE(numbers), FINE(numbers))) \
  STATUS(ga_machine_add_marker, (P(draft), P(&marker_def_))) \
  STATUS(ga_machine_add_joint, (P(draft), P(&joint_def_))) \
  STATUS(ga_machine_add_drive, (P(draft), P(&drive_def_))) \
  STATUS(ga_machine_add_rolling, (P(draft), P(&rolling_def_))) \
  STATUS(ga_machine_add_slider, (P(draft), P(&slider_def_))) \
  STATUS(ga_machine_add_road, (P(draft), P(&road_def_))) \
  STATUS(ga_machine_add_tyre, (P(draft), P(&tyre_def_))) \
  STATUS(ga_machine_add_collider, (P(draft), P(&collider_def_))) \
  STATUS(ga_machine_add_shape, (P(draft), P(&shape_def_))) \
  STATUS(ga_machine_add_collision, (P(draft), P(&collision_def_))) \
  STATUS(ga_machine_add_constraint, (P(draft), P(&constraint_def_))) \
  STATUS(ga_machine_add_function, (P(draft), P("hinge"), P(function))) \
  STATUS(ga_machine_add_definition, (P(draft), P("knee"), P(definition))) \
  STATUS(ga_machine_add_spring, (P(draft), P(&spring_def_))) \
  STATUS(ga_machine_add_actuator, (P(draft), P(&actuator_def_))) \
  STATUS(ga_machine_add_friction, (P(draft), P(&friction_def_))) \
  STATUS(ga_machine_add_bushing, (P(draft), P(&bushing_def_))) \
  STATUS(ga_machine_add_force, (P(draft), P(&force_def_))) \
  STATUS(ga_machine_add_contact, (P(draft), P(&contact_def_))) \
  STATUS(ga_machine_add_stop, (P(draft), P(&stop_def_))) \
  STATUS(ga_machine_add_rigid_stop, (P(draft), P(&rigid_stop_def_))) \
  STATUS(ga_machine_add_dry_friction, (P(draft), P(&dry_friction_def_))) \
  STATUS(ga_machine_add_sensor, (P(draft), P(&sensor_def_))) \
  STATUS(ga_machine_add_signal, (P(draft), P(&signal_def_))) \
  STATUS(ga_machine_add_guess, (P(draft), P(&guess_def_))) \
  STATUS(ga_machine_add_variable, (P(draft), P(&variable_def_))) \
  STATUS(ga_machine_add_event, (P(draft), P(&event_def_))) \
  VALUE(ga_machine_n_events, (P(machine))) \
  VALUE(ga_machine_event_name, (P(machine), 0)) \
  VALUE(ga_machine_event_changes, (P(machine), 0)) \
  STATUS(ga_event_watch_create, (P(ctx), P(machine), NULL, NULL, P(&none.watch))) \
  VOID(ga_event_watch_destroy, (P(&none.watch))) \
  VOID(ga_event_watch_use, (P(watch), P(&watch_opts_))) \
  VALUE(ga_event_watch_stopped_by, (P(watch))) \
  VALUE(ga_event_watch_switched, (P(watch))) \
  STATUS(ga_event_watch_values, (P(watch), P(ga_stepper_state(st)), P(numbers))) \
  STATUS(ga_machine_add_block, (P(draft), P("hinge"), P(new_block()), P(&input_))) \
  STATUS(ga_machine_build, (P(draft))) \
  VALUE(ga_machine_system, (P(machine))) \
  VALUE(ga_machine_context, (P(machine))) \
  VALUE(ga_machine_n_bodies, (P(machine))) \
  VALUE(ga_machine_n_joints, (P(machine))) \
  STATUS(ga_machine_initial, (P(machine), FINE(numbers), FINE(numbers), FINE(numbers))) \
  STATUS(ga_machine_move_velocities, (P(machine), FINE(numbers), FINE(numbers), FINE(numbers))) \
  STATUS(ga_machine_check_drives, (P(machine), 0.0, 1.0)) \
  VALUE(ga_machine_gravity, (P(machine))) \
  VALUE(ga_machine_size, (P(machine))) \
  STATUS(ga_meter_create, (P(ctx), P(machine), P(&none.meter))) \
  VOID(ga_meter_destroy, (P(&none.meter))) \
  STATUS(ga_meter_start, (P(meter), P(ga_stepper_state(st)))) \
  STATUS(ga_meter_follow, (P(meter), P(st))) \
  STATUS(ga_meter_update, (P(meter), P(ga_stepper_state(st)))) \
  VOID(ga_meter_add_input, (P(meter), 0.0)) \
  VOID(ga_meter_add_loss, (P(meter), 0.0)) \
  VALUE(ga_meter_n_pulls, (P(meter))) \
  STATUS(ga_meter_pull, (P(meter), 0, P(&pull_))) \
  VALUE(ga_meter_n_limits, (P(meter))) \
  STATUS(ga_meter_limit, (P(meter), 0, P(&limit_))) \
  VALUE(ga_meter_pull_text, (P(meter), FINE(text), sizeof text)) \
  VALUE(ga_meter_saved_size, (P(meter))) \
  VOID(ga_meter_save, (P(meter), P(numbers))) \
  STATUS(ga_meter_load, (P(meter), P(numbers))) \
  VALUE(ga_machine_n_signals, (P(machine))) \
  VALUE(ga_machine_signal_name, (P(machine), 0)) \
  VALUE(ga_machine_signal_unit, (P(machine), 0)) \
  VALUE(ga_machine_signal_kind, (P(machine), 0)) \
  VALUE(ga_machine_signal_is_constant, (P(machine), 0)) \
  VALUE(ga_machine_find_signal, (P(machine), P("hinge"))) \
  VALUE(ga_machine_free_coordinates, (P(machine), P(kinematics), FINE(text), sizeof text)) \
  STATUS(ga_machine_signals, (P(machine), FINE(meter), P(ga_stepper_state(st)), 1, FINE(ints), P(numbers))) \
  STATUS(ga_machine_pose, (P(machine), P(ga_stepper_state(st)), P("hinge"), P(&pose_))) \
  VALUE(ga_machine_find_input, (P(machine), P("x"), FINE(&found_input_), FINE(&word))) \
  STATUS(ga_machine_turning_create, (P(ctx), P(machine), P(point.q), P(point.v), P(&none.machine_turning))) \
  VOID(ga_machine_turning_destroy, (P(&none.machine_turning))) \
  VALUE(ga_machine_turning_get, (P(machine_turning))) \
  VOID(ga_machine_turning_axis, (P(machine_turning), FINE(numbers), FINE(numbers))) \
  STATUS(ga_machine_linearisation_create, (P(ctx), P(machine), 0, FINE(signal_names), 1, P(signal_names), P(&none.machine_linearisation))) \
  VOID(ga_machine_linearisation_destroy, (P(&none.machine_linearisation))) \
  STATUS(ga_machine_linearisation_compute, (P(machine_linearisation), P(ga_stepper_state(st)), P(&space_))) \
  VALUE(ga_machine_part, (P(machine), 0, FINE(&word))) \
  VALUE(ga_machine_n_shapes, (P(machine))) \
  VALUE(ga_machine_piece_loads, (P(machine), FINE(ga_stepper_state(st)), 1, FINE(&piece_load_))) \
  STATUS(ga_machine_check_modes, (P(machine), P(ga_stepper_state(st)), P(modes), 0, FINE(&coarse_part_), FINE(ints))) \
  STATUS(ga_machine_road_height, (P(machine), 0, 0.0, 0.0, 0.0, P(numbers), FINE(ints))) \
  STATUS(ga_machine_shape, (P(machine), P(ga_stepper_state(st)), 0, P(&shape_))) \
  VALUE(ga_machine_n_movers, (P(machine))) \
  STATUS(ga_machine_mover, (P(machine), 0, P(&mover_))) \
  STATUS(ga_machine_mover_pose, (P(machine), P(ga_stepper_state(st)), 0, P(&pose_))) \
  VALUE(ga_machine_n_places, (P(machine))) \
  VALUE(ga_machine_place_name, (P(machine), 0, FINE(text), sizeof text)) \
  STATUS(ga_machine_places, (P(machine), P(ga_stepper_state(st)), P(numbers))) \
  STATUS(ga_machine_from_places, (P(machine), P(numbers), P(numbers))) \
  VOID(ga_machine_gravity_vector, (P(machine), P(numbers))) \
  STATUS(ga_machine_reaction, (P(machine), P(st), P("hinge"), FINE("x"), P(numbers), P(numbers), FINE(ints))) \
  VALUE(ga_machine_report, (P(machine), P(st), FINE(text), sizeof text)) \
  VALUE(ga_machine_moves, (P(machine), P(st), FINE(text), sizeof text)) \
  VALUE(ga_machine_coordinates, (P(machine), P(st), FINE(text), sizeof text)) \
  VALUE(ga_machine_start_advice, (P(machine), P(ga_context_error(ctx)), FINE(text), sizeof text)) \
  VALUE(ga_machine_equation, (P(machine), (ga_equation_block)0, 0, FINE(text), sizeof text)) \
  VALUE(ga_machine_failure, (P(machine), P(st), FINE(text), sizeof text)) \
  /* model */ \
  STATUS(ga_model_read_file, (P(ctx), P("x"), FINE(&model_opts_), P(&none.model))) \
  STATUS(ga_model_read_text, (P(ctx), P("x"), P("x"), 1, FINE(&model_opts_), P(&none.model))) \
  VOID(ga_model_destroy, (P(&none.model))) \
  VALUE(ga_model_n_messages, (P(model))) \
  VALUE(ga_model_message_at, (P(model), 0)) \
  VALUE(ga_model_machine, (P(model))) \
  VALUE(ga_model_prescribed_by, (P(model), 0)) \
  VALUE(ga_model_settings, (P(model))) \
  VALUE(ga_model_gives_gravity, (P(model))) \
  VALUE(ga_model_title, (P(model))) \
  VALUE(ga_model_text, (P(model))) \
  VALUE(ga_model_data, (P(model))) \
  VALUE(ga_model_reads, (P(model), P("name"))) \
  VALUE(ga_model_is_outdated, (P(model))) \
  VALUE(ga_study_worker_error, (P(worker))) \
  VALUE(ga_model_parameter_at, (P(model), 0, FINE(&model_parameter_))) \
  VALUE(ga_model_find_parameter, (P(model), P("k"))) \
  STATUS(ga_model_variation_create, (P(ctx), P(model), FINE(NULL), FINE(NULL), P("k"), 0.1, P(&none.variation))) \
  VOID(ga_model_variation_destroy, (P(&none.variation))) \
  VALUE(ga_model_variation_machine, (P(variation), 0)) \
  VALUE(ga_model_variation_parameter, (P(variation))) \
  STATUS(ga_model_variation_settle, (P(variation), P(equilibrium))) \
  STATUS(ga_model_write_text, (P(model), P(&word), FINE(&size))) \
  STATUS(ga_model_write_file, (P(model), P("x"))) \
  STATUS(ga_run_stepper_opts, (FINE(ctx), FINE(&run_settings_), P(&run_stepper_))) \
  STATUS(ga_run_simulate_opts, (FINE(ctx), FINE(&run_settings_), P(&run_simulate_))) \
  STATUS(ga_run_check, (FINE(ctx), FINE(&run_settings_))) \
  VOID(ga_run_choose_steps, (P(&run_settings_), 0, 0, 0)) \
  VALUE(ga_part_at, (0, FINE(&part_info_))) \
  VALUE(ga_setting_at, (0, FINE(&setting_))) \
  VALUE(ga_setting_find, (P("rho"), FINE(&setting_))) \
  VALUE(ga_setting_is_used, (P(&setting_), P(&run_settings_))) \
  VALUE(ga_model_schema, (FINE(text), sizeof text)) \
  VALUE(ga_model_format_page, (FINE(text), sizeof text)) \
  /* result */ \
  STATUS(ga_recorder_create, (P(ctx), P("x"), P(&recorder_opts_), P(&none.recorder))) \
  STATUS(ga_recorder_add, (P(rec), 0.5, P(numbers))) \
  STATUS(ga_recorder_event, (P(rec), 0.5, 0)) \
  STATUS(ga_recorder_flush, (P(rec))) \
  VALUE(ga_recorder_n_records, (P(rec))) \
  VALUE(ga_recorder_time, (P(rec))) \
  STATUS(ga_recorder_checkpoint, (P(rec), 0.5, P(numbers), 1)) \
  STATUS(ga_recorder_finish, (P(rec), GA_RUN_FINISHED, FINE("x"))) \
  STATUS(ga_mesh_write, (P(ctx), P(&mesh_), P("/nowhere/x"))) \
  STATUS(ga_state_space_write, (P(ctx), P(&no_space), GA_LINEAR_CSV, P("/nowhere/x"))) \
  VOID(ga_recorder_destroy, (P(&none.recorder))) \
  VALUE(ga_result_library, (FINE(text), sizeof text)) \
  STATUS(ga_result_open, (P(ctx), P("x"), P(&none.result))) \
  VOID(ga_result_close, (P(&none.result))) \
  STATUS(ga_band_create, (P(ctx), P(&band_opts_), P(&none.band))) \
  VOID(ga_band_destroy, (P(&none.band))) \
  VOID(ga_band_add, (P(band), 0.5, P(numbers), P(numbers), P(numbers))) \
  VOID(ga_band_set_factor, (P(band), 2.0)) \
  VALUE(ga_band_of, (P(band), 0)) \
  VALUE(ga_band_worst, (P(band), FINE(numbers))) \
  VALUE(ga_band_until, (P(band), 0.5)) \
  VALUE(ga_band_jumps, (P(band), 0, P(numbers))) \
  VALUE(ga_band_grows, (P(band), P(numbers))) \
  VALUE(ga_band_saved_size, (P(band))) \
  VOID(ga_band_save, (P(band), P(numbers))) \
  STATUS(ga_band_load, (P(band), P(numbers))) \
  VALUE(ga_result_error, (P(res), 0)) \
  VALUE(ga_result_n_events, (P(res))) \
  VALUE(ga_result_event_time, (P(res), 0)) \
  VALUE(ga_result_event_name, (P(res), 0)) \
  VALUE(ga_result_n_records, (P(res))) \
  VALUE(ga_result_n_signals, (P(res))) \
  VALUE(ga_result_signal_name, (P(res), 0)) \
  VALUE(ga_result_signal_unit, (P(res), 0)) \
  VALUE(ga_result_find, (P(res), P("x"))) \
  STATUS(ga_result_read, (P(res), 0, 0, 1, P(numbers))) \
  STATUS(ga_result_verify, (P(res))) \
  VALUE(ga_result_n_attributes, (P(res))) \
  VALUE(ga_result_attribute_name, (P(res), 0)) \
  VALUE(ga_result_attribute, (P(res), P("x"))) \
  VALUE(ga_result_run_status, (P(res))) \
  VALUE(ga_result_model, (P(res))) \
  STATUS(ga_result_checkpoint, (P(res), P(numbers), P(&size), FINE(numbers))) \
  STATUS(ga_result_export_csv, (P(res), P("x"), 1, FINE(names))) \
  STATUS(ga_measures_create, (P(ctx), P(machine), 1, P(measure_texts), 0, FINE(NULL), FINE(ints), P(&none.measures))) \
  VOID(ga_measures_destroy, (P(&none.measures))) \
  VALUE(ga_measures_unit, (P(measures), 0)) \
  STATUS(ga_measures_start, (P(measures), P(st), FINE(meter))) \
  STATUS(ga_measures_step, (P(measures), P(st), FINE(meter))) \
  STATUS(ga_measures_end, (P(measures), P(numbers), FINE(numbers))) \
  VALUE(ga_measures_note, (P(measures), 0)) \
  STATUS(ga_measures_differentiate, (P(measures), P(sensitivity), 1, P(&measure_by_))) \
  STATUS(ga_measures_slopes, (P(measures), 0, P(numbers))) \
  VALUE(ga_measures_slope_note, (P(measures), 0)) \
  STATUS(ga_fit_create, (P(ctx), P(&fit_opts_), P(&none.fit))) \
  VOID(ga_fit_destroy, (P(&none.fit))) \
  STATUS(ga_optimize, (P(ctx), P(&optimize_opts_), P(&none.optimum))) \
  VOID(ga_optimum_destroy, (P(&none.optimum))) \
  VALUE(ga_optimum_result, (P(no_optimum))) \
  VALUE(ga_optimum_model, (P(no_optimum))) \
  VALUE(ga_fit_result, (P(no_fit))) \
  VALUE(ga_fit_model, (P(no_fit))) \
  VALUE(ga_fit_curve, (P(no_fit), 0, 0)) \
  STATUS(ga_measures_use_adjoint, (P(measures), P(adjoint), 1, P(&measure_by_))) \
  VALUE(ga_measures_adjoint_note, (P(measures), 0)) \
  STATUS(ga_measures_gradient, (P(measures), 0, P(numbers))) \
  STATUS(ga_design_create, (P(ctx), P(&design_opts_), P(&none.design))) \
  VOID(ga_design_destroy, (P(&none.design))) \
  VALUE(ga_design_n_runs, (P(design))) \
  VALUE(ga_design_n_parameters, (P(design))) \
  VALUE(ga_design_name, (P(design), 0)) \
  VALUE(ga_design_unit, (P(design), 0)) \
  STATUS(ga_design_values, (P(design), 0, P(numbers))) \
  STATUS(ga_study_create, (P(ctx), P(&study_opts_), P(&none.study))) \
  VOID(ga_study_destroy, (P(&none.study))) \
  VALUE(ga_study_model, (P(study))) \
  VALUE(ga_study_n_measures, (P(study))) \
  VALUE(ga_study_label, (P(study), 0)) \
  VALUE(ga_study_unit, (P(study), 0)) \
  VALUE(ga_study_width, (P(study))) \
  VALUE(ga_study_n_done, (P(study))) \
  VALUE(ga_study_n_failed, (P(study))) \
  VALUE(ga_study_n_inaccurate, (P(study))) \
  VALUE(ga_study_digest, (P(study))) \
  VALUE(ga_study_status_of, (P(study), 0)) \
  VALUE(ga_study_values, (P(study), 0)) \
  VALUE(ga_study_text, (P(study), 0)) \
  VALUE(ga_study_take, (P(study))) \
  STATUS(ga_study_worker_create, (P(study), FINE(NULL), P(&none.worker))) \
  VOID(ga_study_worker_destroy, (P(&none.worker))) \
  STATUS(ga_study_compute, (P(worker), 0, P(&row_))) \
  STATUS(ga_study_store, (P(study), P(&row_))) \
  STATUS(ga_study_run, (P(study), 1, 0.1, NULL, FINE(NULL))) \
  STATUS(ga_study_write, (P(study), P(path[1])))

#define WITHOUT_POINTERS(X) \
  X(ga_measure_at) \
  X(ga_distribution_at) \
  X(ga_design_defaults) \
  X(ga_study_defaults) \
  X(ga_fit_defaults) \
  X(ga_optimize_defaults) \
  X(ga_optimize_available) \
  X(ga_algorithm_at) \
  X(ga_status_text) \
  X(ga_reason_text) \
  X(ga_version) \
  X(ga_context_defaults) \
  X(ga_table_defaults) \
  X(ga_table2d_defaults) \
  X(ga_motion_name) \
  X(ga_motion_defaults) \
  X(ga_wave_defaults) \
  X(ga_function_expr_defaults) \
  X(ga_system_defaults) \
  X(ga_stepper_defaults) \
  X(ga_start_defaults) \
  X(ga_equilibrium_defaults) \
  X(ga_kinematics_defaults) \
  X(ga_simulate_defaults) \
  X(ga_block_kind_name) \
  X(ga_block_kind_about) \
  X(ga_block_gain_defaults) \
  X(ga_block_sum_defaults) \
  X(ga_block_product_defaults) \
  X(ga_block_constant_defaults) \
  X(ga_block_function_of_time_defaults) \
  X(ga_block_saturation_defaults) \
  X(ga_block_dead_zone_defaults) \
  X(ga_block_tanh_defaults) \
  X(ga_block_table_defaults) \
  X(ga_block_table2d_defaults) \
  X(ga_block_expression_defaults) \
  X(ga_block_integrator_defaults) \
  X(ga_block_state_space_defaults) \
  X(ga_block_transfer_function_defaults) \
  X(ga_block_first_order_defaults) \
  X(ga_block_second_order_defaults) \
  X(ga_block_delay_defaults) \
  X(ga_block_pid_defaults) \
  X(ga_block_orifice_defaults) \
  X(ga_block_chamber_defaults) \
  X(ga_block_dc_motor_defaults) \
  X(ga_block_gearbox_defaults) \
  X(ga_block_user_defaults) \
  X(ga_block_sampled_defaults) \
  X(ga_pose_identity) \
  X(ga_pose_at) \
  X(ga_machine_defaults) \
  X(ga_rigid_defaults) \
  X(ga_planar_defaults) \
  X(ga_point_defaults) \
  X(ga_scalar_defaults) \
  X(ga_beam_defaults) \
  X(ga_cable_defaults) \
  X(ga_line_load_defaults) \
  X(ga_modal_defaults) \
  X(ga_reduction_defaults) \
  X(ga_marker_defaults) \
  X(ga_joint_name) \
  X(ga_joint_coordinate) \
  X(ga_run_defaults) \
  X(ga_run_start_opts) \
  X(ga_joint_defaults) \
  X(ga_drive_defaults) \
  X(ga_rolling_defaults) \
  X(ga_slider_defaults) \
  X(ga_road_defaults) \
  X(ga_tyre_defaults) \
  X(ga_collider_defaults) \
  X(ga_shape_defaults) \
  X(ga_collision_defaults) \
  X(ga_constraint_defaults) \
  X(ga_spring_defaults) \
  X(ga_actuator_defaults) \
  X(ga_friction_defaults) \
  X(ga_bushing_defaults) \
  X(ga_force_defaults) \
  X(ga_contact_defaults) \
  X(ga_stop_defaults) \
  X(ga_rigid_stop_defaults) \
  X(ga_dry_friction_defaults) \
  X(ga_sensor_defaults) \
  X(ga_definition_defaults) \
  X(ga_signal_defaults) \
  X(ga_guess_defaults) \
  X(ga_variable_defaults) \
  X(ga_event_defaults) \
  X(ga_model_defaults) \
  X(ga_band_defaults) \
  X(ga_follower_defaults) \
  X(ga_recorder_defaults)
/* clang-format on */

#define DEFINE_STATUS(name, arguments)                                                                       \
  static int call_##name(void)                                                                               \
  {                                                                                                          \
    return (int)name arguments;                                                                              \
  }
#define DEFINE_VOID(name, arguments)                                                                         \
  static int call_##name(void)                                                                               \
  {                                                                                                          \
    name arguments;                                                                                          \
    return -1;                                                                                               \
  }
#define DEFINE_VALUE(name, arguments)                                                                        \
  static int call_##name(void)                                                                               \
  {                                                                                                          \
    (void)name arguments;                                                                                    \
    return -1;                                                                                               \
  }
CALLS(DEFINE_STATUS, DEFINE_VOID, DEFINE_VALUE)

static const struct {
  const char *name;
  int (*call)(void);
} calls[] = {
#define ROW(name, arguments) {#name, call_##name},
    CALLS(ROW, ROW, ROW)};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* What a call created after all, because NULL was fine. */
static void discard_created(void)
{
  ga_fit_destroy(&none.fit);
  ga_optimum_destroy(&none.optimum);
  ga_measures_destroy(&none.measures);
  ga_study_worker_destroy(&none.worker);
  ga_study_destroy(&none.study);
  ga_design_destroy(&none.design);
  ga_result_close(&none.result);
  ga_recorder_destroy(&none.recorder);
  ga_model_destroy(&none.model);
  ga_meter_destroy(&none.meter);
  ga_event_watch_destroy(&none.watch);
  ga_event_variants_destroy(&none.event_variants);
  ga_follower_destroy(&none.follower);
  ga_sensitivity_destroy(&none.sensitivity);
  ga_adjoint_destroy(&none.adjoint);
  ga_model_variation_destroy(&none.variation);
  ga_band_destroy(&none.band);
  ga_machine_destroy(&none.machine);
  ga_simulator_destroy(&none.simulator);
  ga_stepper_destroy(&none.stepper);
  ga_evaluation_destroy(&none.evaluation);
  ga_linearisation_destroy(&none.linearisation);
  ga_machine_linearisation_destroy(&none.machine_linearisation);
  ga_equilibrium_destroy(&none.equilibrium);
  ga_kinematics_destroy(&none.kinematics);
  ga_modes_destroy(&none.modes);
  ga_machine_turning_destroy(&none.machine_turning);
  ga_system_destroy(&none.system);
  ga_block_destroy(&none.control_block);
  ga_table2d_destroy(&none.table2d);
  ga_definition_destroy(&none.definition);
  ga_function_destroy(&none.function);
  ga_expr_destroy(&none.expr);
  ga_group_destroy(&none.group);
  ga_lu_destroy(&none.lu);
  ga_sparse_destroy(ctx, &none.sparse);
  ga_context_destroy(&none.context);
}

/* All pointers of a call are met, in whatever order the compiler evaluates arguments: it goes on while there
 * were as many as the number of the one that is NULL. */
static void null_is_refused(void **state)
{
  (void)state;
  for (int i = 0; i < N_CALLS; i++) {
    for (null_at = 1, seen = 1; null_at <= seen; null_at++) {
      seen = needed = 0;
      const int status = calls[i].call();
      if (needed && status >= 0) fail_msg("%s takes NULL for pointer %d", calls[i].name, null_at);
      discard_created();
    }
  }
}

/* ---- Values out of range ---- */

static const int OUT_OF_RANGE[] = {-1, -100, 99, 1000000, INT_MAX, INT_MIN};
enum { N_OUT = sizeof OUT_OF_RANGE / sizeof *OUT_OF_RANGE };

/* Names of what is not there are NULL or "", sizes 0. */
static void names_and_sizes_out_of_range(void **state)
{
  (void)state;
  for (int k = 0; k < N_OUT; k++) {
    const int i = OUT_OF_RANGE[k];
    const char *const found[] = {ga_status_text((ga_status)(i == -1 ? 77 : i)),
                                 ga_motion_name((ga_motion_law)i),
                                 ga_block_kind_name((ga_block_kind)i),
                                 ga_block_kind_about((ga_block_kind)i),
                                 ga_joint_name((ga_joint_kind)i),
                                 ga_unit_list(i, ints),
                                 ga_block_input_name(block, i),
                                 ga_block_state_name(block, i),
                                 ga_block_output_name(block, i),
                                 ga_block_output_unit(block, i),
                                 ga_machine_signal_name(machine, i == 99 ? INT_MAX : i),
                                 ga_machine_signal_unit(machine, i == 99 ? INT_MAX : i),
                                 ga_machine_equation(machine, (ga_equation_block)i, 0, text, sizeof text),
                                 ga_machine_equation(machine, GA_BLOCK_V, i, text, sizeof text),
                                 ga_result_signal_name(res, i),
                                 ga_result_signal_unit(res, i),
                                 ga_result_attribute_name(res, i)};
    for (size_t n = 1; n < sizeof found / sizeof *found; n++)
      if (found[n] && *found[n]) fail_msg("name %zu of number %d is '%s'", n, i, found[n]);
    assert_non_null(found[0]);
    assert_int_equal(ga_machine_signal_kind(machine, i == 99 ? INT_MAX : i), GA_SIGNAL_NONE);
    assert_int_equal(ga_machine_signal_is_constant(machine, i == 99 ? INT_MAX : i), 0);
    assert_null(ga_joint_coordinate((ga_joint_kind)i, 0, 0));
    assert_null(ga_joint_coordinate(GA_JOINT_REVOLUTE, 1, i));
    assert_null(ga_model_message_at(model, i));
    assert_int_equal(ga_system_size(sys, (ga_equation_block)i), 0);
    assert_int_equal(ga_system_start(sys, (ga_equation_block)i), 0);
    ga_system_name(sys, (ga_equation_block)i, 0, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(ga_group_block(group, i, ints), 0);
    assert_int_equal(ga_group_factor(group, i, NULL, NULL).n, 0);
    assert_int_equal(ga_block_depends(block, i, 0), 0);
    assert_int_equal(ga_block_depends(block, 0, i), 0);
    assert_int_equal(ga_expr_uses(expr, (ga_symbol_kind)i, 0), 0);
    assert_int_equal(ga_sparse_find(A, i, 0), -1);
    assert_int_equal(ga_sparse_find(A, 0, i), -1);
  }
}

#define REFUSED(call) assert_true((call) < 0)

static void enums_out_of_range_are_refused(void **state)
{
  (void)state;
  for (int k = 0; k < N_OUT; k++) {
    const int i = OUT_OF_RANGE[k];
    const ga_factor factor = {(ga_factor_kind)i, 1, GA_LEFT}, side = {GA_SO3, 0, (ga_side)i};
    const ga_symbol symbol = {.name = "x", .kind = (ga_symbol_kind)i};
    static const double grid[] = {0.0, 1.0, 2.0, 3.0};
    ga_table2d_opts plane = {.nx = 2, .ny = 2, .x = grid, .y = grid, .z = grid};
    ga_table_opts line = {.n = 2, .x = grid, .y = grid};
    ga_stepper_opts stepper = ga_stepper_defaults();
    ga_machine_opts form = ga_machine_defaults();
    ga_motion_opts motion = ga_motion_defaults();
    ga_joint_def joint = ga_joint_defaults();
    ga_sensor_def sensor = ga_sensor_defaults();
    REFUSED(ga_group_create(ctx, 1, &factor, &none.group));
    REFUSED(ga_group_create(ctx, 1, &side, &none.group));
    REFUSED(ga_lu_create(ctx, A, (ga_lu_kind)i, &none.lu));
    REFUSED(ga_expr_compile(ctx, "x", &symbol, 1, NULL, &none.expr));
    plane.interpolation = (ga_interpolation)i;
    REFUSED(ga_table2d_create(ctx, &plane, &none.table2d));
    plane.interpolation = GA_INTERPOLATE_LINEAR, plane.outside = (ga_extrapolation)i;
    REFUSED(ga_table2d_create(ctx, &plane, &none.table2d));
    line.interpolation = (ga_interpolation)i;
    REFUSED(ga_function_create_table(ctx, &line, &none.function));
    line.interpolation = GA_INTERPOLATE_LINEAR, line.after = (ga_extrapolation)i;
    REFUSED(ga_function_create_table(ctx, &line, &none.function));
    motion.law = (ga_motion_law)i;
    REFUSED(ga_function_create_motion(ctx, &motion, &none.function));
    stepper.method = (ga_method)i;
    REFUSED(ga_stepper_create(ctx, sys, &stepper, &none.stepper));
    stepper = ga_stepper_defaults(), stepper.lu = (ga_lu_kind)i;
    REFUSED(ga_stepper_create(ctx, sys, &stepper, &none.stepper));
    REFUSED(ga_stepper_project_velocity(st, (ga_projection)i, NULL));
    form.form = (ga_form)i;
    REFUSED(ga_machine_create(ctx, &form, &none.machine));
    joint.name = "j", joint.a = "ground", joint.b = "b", joint.kind = (ga_joint_kind)i;
    REFUSED(ga_machine_add_joint(draft, &joint));
    sensor.name = "s", sensor.of = "b", sensor.kind = (ga_sensor_kind)i;
    REFUSED(ga_machine_add_sensor(draft, &sensor));
    REFUSED(ga_expr_curve(expr, numbers, numbers, NULL, i, numbers, NULL));
    REFUSED(ga_function_eval(function, 0.0, i, numbers, NULL));
    REFUSED(ga_table2d_eval(table, 0.0, 0.0, i, numbers, NULL));
  }
}

static int nothing(void *user, const ga_point *p, double *out)
{
  (void)user, (void)p, (void)out;
  return -1;
}

/* Memory of up to 16 MB: what is larger is not meant. */
static void *take_little(void *user, size_t bytes)
{
  (void)user;
  return bytes > (16u << 20) ? NULL : malloc(bytes);
}

static void give_back(void *user, void *memory)
{
  (void)user;
  free(memory);
}

/* Counts below 0, and such as would overflow sums and products of them. */
static void sizes_that_overflow_are_refused(void **state)
{
  const int large[] = {INT_MAX, INT_MAX - 1, INT_MAX / 2, 1 << 30}, negative[] = {-1, INT_MIN};
  ga_context_opts little = ga_context_defaults();
  ga_context *small = NULL;
  (void)state;
  little.alloc = take_little, little.release = give_back;
  assert_int_equal(ga_context_create(&little, &small), GA_OK);
  for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
    const ga_factor many[3] = {
        {GA_RN, large[k], GA_LEFT}, {GA_RN, large[k], GA_LEFT}, {GA_RN, large[k], GA_LEFT}};
    ga_system_def def = ga_system_defaults();
    REFUSED(ga_group_create(small, 3, many, &none.group));
    REFUSED(ga_sparse_create(small, large[k], large[k], 1, ints, ints, NULL, &none.sparse));
    REFUSED(ga_sparse_create(small, 1, large[k], 1, ints, ints, NULL, &none.sparse));
    def.n_factors = 1, def.factors = &factor_;
    def.mass = def.force = def.phi = def.phi_dot = def.k = def.state = def.output = nothing;
    def.n_lambda = def.n_psi = def.n_x = def.n_y = large[k];
    REFUSED(ga_system_create(small, &def, &none.system));
  }
  ga_context_destroy(&small);
  for (size_t k = 0; k < sizeof negative / sizeof *negative; k++) {
    const int n = negative[k];
    const ga_factor factor = {GA_RN, n, GA_LEFT};
    ga_system_def def = ga_system_defaults();
    ga_recorder_opts recorder = recorder_opts_;
    REFUSED(ga_group_create(ctx, n, &factor_, &none.group));
    REFUSED(ga_group_create(ctx, 1, &factor, &none.group));
    REFUSED(ga_sparse_create(ctx, n, 1, 1, ints, ints, NULL, &none.sparse));
    REFUSED(ga_sparse_create(ctx, 1, n, 1, ints, ints, NULL, &none.sparse));
    REFUSED(ga_sparse_create(ctx, 1, 1, n, ints, ints, NULL, &none.sparse));
    REFUSED(ga_expr_compile(ctx, "x", &symbol_, n, NULL, &none.expr));
    REFUSED(ga_expr_gradient(expr, numbers, n, ints, numbers, numbers, NULL));
    REFUSED(ga_expr_hessian(expr, numbers, n, ints, numbers, numbers, numbers, NULL));
    int *const count[] = {&def.n_lambda, &def.n_psi, &def.n_x, &def.n_y, &def.n_factors};
    def.n_factors = 1, def.factors = &factor_;
    def.mass = def.force = def.phi = def.phi_dot = nothing;
    for (int i = 0; i < 5; i++) {
      const int before = *count[i];
      *count[i] = n;
      REFUSED(ga_system_create(ctx, &def, &none.system));
      *count[i] = before;
    }
    recorder.n_signals = n;
    REFUSED(ga_recorder_create(ctx, path[1], &recorder, &none.recorder));
    recorder = recorder_opts_, recorder.n_attributes = n;
    REFUSED(ga_recorder_create(ctx, path[1], &recorder, &none.recorder));
    REFUSED(ga_machine_signals(machine, meter, ga_stepper_state(st), n, ints, numbers));
    REFUSED(ga_stepper_run(st, 1e-3, n, NULL, NULL));
    REFUSED(ga_result_read(res, 0, n, 1, numbers));
    REFUSED(ga_result_read(res, 0, 0, n, numbers));
    REFUSED(ga_result_read(res, 0, LONG_MAX, LONG_MAX, numbers));
    REFUSED(ga_result_export_csv(res, path[1], n, names));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(null_is_refused), cmocka_unit_test(names_and_sizes_out_of_range),
      cmocka_unit_test(enums_out_of_range_are_refused), cmocka_unit_test(sizes_that_overflow_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
