/* Blocks of control systems: options by tables, inputs by name. */
#include "model/format.h"
#include "model/inputs.h"
#include "model/sections.h"

#include "mbs/name.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The given inputs. */
typedef struct inputs_given {
  int n;
  const char **name; /* NULL: in the order of the block's inputs */
  ga_input *input;
  ga__tree **tree;
  ga__tree *all; /* NULL: none are given */
} inputs_given;

typedef struct expression_opts {
  int n_in;
} expression_opts;

typedef struct library_opts {
  ga_block_user_opts user;
  const char *library, *symbol, *jacobian;
} library_opts;

typedef union any_opts {
  ga_block_gain_opts gain;
  ga_block_sum_opts sum;
  ga_block_product_opts product;
  ga_block_constant_opts constant;
  ga_block_function_of_time_opts function_of_time;
  ga_block_integrator_opts integrator;
  ga_block_state_space_opts state_space;
  ga_block_transfer_function_opts transfer_function;
  ga_block_first_order_opts first_order;
  ga_block_second_order_opts second_order;
  ga_block_delay_opts delay;
  ga_block_pid_opts pid;
  ga_block_orifice_opts orifice;
  ga_block_chamber_opts chamber;
  ga_block_dc_motor_opts dc_motor;
  ga_block_gearbox_opts gearbox;
  ga_block_saturation_opts saturation;
  ga_block_dead_zone_opts dead_zone;
  ga_block_tanh_opts tanh;
  ga_block_table_opts table;
  ga_table2d_opts table2d;
  expression_opts expression;
  library_opts library;
} any_opts;

/* A block being read. */
typedef struct block_read {
  ga__reader *reader;
  ga__tree *map;
  const inputs_given *given;
  any_opts *opts;
  ga__omission omitted;
} block_read;

typedef struct block_kind {
  const ga__field *fields;
  int n_fields;
  const ga__extra *extra;
  int n_extra;
  void (*defaults)(void *base);
  ga_status (*create)(const block_read *b, ga_control_block **out);
  size_t n_in, n_out; /* GA__AT_INT(): sizes that follow from the number of inputs; 0: fixed by the kind */
} block_kind;

/* ---- Fields ---- */

#define ONE(member) .name = #member, .offset = offsetof(OPTS, member), .count = 1
#define N(member) GA__AT_INT(OPTS, member)
#define NAMES_OF(list) .choices = (list), .n_choices = (int)(sizeof(list) / sizeof((list)[0]))

static const char *const pass_names[] = {"low", "high", "band"};

#define LIMITS                                                                                               \
  {ONE(lower), .rule = GA__RULE_LIMIT, .about = "lower limit; -inf: none"},                                  \
      {ONE(upper), .rule = GA__RULE_LIMIT, .about = "upper limit; inf: none"},                               \
  {                                                                                                          \
    ONE(smoothing), .rule = GA__RULE_NOT_NEGATIVE,                                                           \
                    .about = "half the width over which a limit's corner is rounded"                         \
  }
#define GAIN(words)                                                                                          \
  {                                                                                                          \
    ONE(gain), .rule = GA__RULE_NUMBER, .about = words                                                       \
  }
#define INITIAL_INPUT                                                                                        \
  {                                                                                                          \
    ONE(initial_input), .rule = GA__RULE_NUMBER, .about = "input of the initial steady state"                \
  }

#define OPTS ga_block_gain_opts
static const ga__field gain_fields[] = {
    GAIN("gain of all inputs"),
    {ONE(matrix), .rule = GA__RULE_MATRIX, .rows = N(n_out), .columns = N(n_in),
     .about = "instead of gain: rows of a matrix"},
};
#undef OPTS
#define OPTS ga_block_sum_opts
static const ga__field sum_fields[] = {
    {ONE(weights), .rule = GA__RULE_LIST, .rows = N(n_in), .about = "weights of the inputs; default: all 1"}};
#undef OPTS
#define OPTS ga_block_product_opts
static const ga__field product_fields[] = {
    GAIN("factor"),
    {ONE(divide), .rule = GA__RULE_FLAGS, .rows = N(n_in), .about = "true for inputs that are divisors"},
};
#undef OPTS
#define OPTS ga_block_constant_opts
static const ga__field constant_fields[] = {{ONE(value), .rule = GA__RULE_LIST, .rows = N(n_out),
                                             .about = "a number, or one for each output; required"}};
#undef OPTS
#define OPTS ga_block_function_of_time_opts
static const ga__field function_of_time_fields[] = {
    {ONE(function), .rule = GA__RULE_FUNCTION_NEEDED, .about = "function of time"}};
#undef OPTS
#define OPTS ga_block_integrator_opts
static const ga__field integrator_fields[] = {
    GAIN("factor"),
    {ONE(initial), .rule = GA__RULE_LIST, .rows = N(n), .about = "initial values; default: 0"},
    LIMITS,
    {ONE(tracking_time), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "time constant of the anti-windup, > 0 if there is a limit"},
};
#undef OPTS
#define OPTS ga_block_state_space_opts
static const ga__field state_space_fields[] = {
    {ONE(A), .rule = GA__RULE_MATRIX, .rows = N(n_x), .columns = N(n_x), .about = "rows of the matrix A"},
    {ONE(B), .rule = GA__RULE_MATRIX, .rows = N(n_x), .columns = N(n_in), .about = "rows of the matrix B"},
    {ONE(C), .rule = GA__RULE_MATRIX, .rows = N(n_out), .columns = N(n_x), .about = "rows of the matrix C"},
    {ONE(D), .rule = GA__RULE_MATRIX, .rows = N(n_out), .columns = N(n_in),
     .about = "rows of the matrix D; default: 0"},
    {ONE(x0), .rule = GA__RULE_LIST, .rows = N(n_x), .about = "initial states; default: 0"},
};
#undef OPTS
#define OPTS ga_block_transfer_function_opts
static const ga__field transfer_function_fields[] = {
    {ONE(num), .rule = GA__RULE_LIST, .rows = N(n_num),
     .about = "coefficients of the numerator, highest power of s first"},
    {ONE(den), .rule = GA__RULE_LIST, .rows = N(n_den),
     .about = "coefficients of the denominator, highest power of s first"},
    {ONE(steady_output), .rule = GA__RULE_NUMBER, .about = "output of the initial steady state"},
};
#undef OPTS
#define OPTS ga_block_first_order_opts
static const ga__field first_order_fields[] = {
    GAIN("gain in the pass band"),
    {ONE(time_constant), .rule = GA__RULE_POSITIVE, .unit = "s", .about = "time constant, > 0"},
    {ONE(pass), .rule = GA__RULE_CHOICE, .choices = pass_names, .n_choices = 2, .about = "pass band"},
    INITIAL_INPUT,
};
#undef OPTS
#define OPTS ga_block_second_order_opts
static const ga__field second_order_fields[] = {
    GAIN("gain in the pass band"),
    {ONE(frequency), .rule = GA__RULE_POSITIVE, .unit = "Hz",
     .about = "frequency of the undamped filter, > 0"},
    {ONE(damping), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", .about = "damping ratio; 1: critical"},
    {ONE(pass), .rule = GA__RULE_CHOICE, NAMES_OF(pass_names), .about = "pass band"},
    INITIAL_INPUT,
};
#undef OPTS
#define OPTS ga_block_delay_opts
static const ga__field delay_fields[] = {
    {ONE(time), .rule = GA__RULE_POSITIVE, .unit = "s", .about = "delay time, > 0"},
    {ONE(order), .rule = GA__RULE_INTEGER, .low = 1, .high = GA_DELAY_ORDER,
     .about = "order of the approximation"},
    INITIAL_INPUT,
};
#undef OPTS
#define OPTS ga_block_pid_opts
static const ga__field pid_fields[] = {
    {ONE(kp), .rule = GA__RULE_NUMBER, .about = "proportional gain"},
    {ONE(ki), .rule = GA__RULE_NUMBER, .about = "integral gain"},
    {ONE(kd), .rule = GA__RULE_NUMBER, .about = "derivative gain"},
    {ONE(filter_time), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "time constant of the derivative's filter; 0: |kd/kp|/10"},
    {ONE(setpoint_weight), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "weight of the setpoint in the proportional part"},
    {ONE(setpoint_weight_derivative), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "weight of the setpoint in the derivative part"},
    LIMITS,
    {ONE(tracking_time), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "time constant of the anti-windup; 0: √|kd/ki|, or |kp/ki| without kd"},
    {ONE(integral), .rule = GA__RULE_NUMBER, .about = "initial integral part"},
    {ONE(filtered), .rule = GA__RULE_NUMBER, .about = "initial state of the derivative's filter"},
};
#undef OPTS
#define OPTS ga_block_orifice_opts
static const ga__field orifice_fields[] = {
    {ONE(coefficient), .rule = GA__RULE_POSITIVE, .no_default = 1,
     .about = "K of the flow K s/(s² + transition²)^¼, in m³/(s √Pa), > 0; s = inlet − outlet"},
    {ONE(transition), .rule = GA__RULE_POSITIVE, .unit = "Pa", .about = "below it the flow is linear, > 0"},
    {ONE(check), .rule = GA__RULE_FLAG, .about = "a check valve: it opens for s > 0 only"},
    {ONE(check_width), .rule = GA__RULE_POSITIVE, .unit = "Pa",
     .about = "width of the opening of a check valve, > 0"},
    {ONE(controlled), .rule = GA__RULE_FLAG, .about = "a third input, opening, is a factor of the flow"},
};
#undef OPTS
#define OPTS ga_block_chamber_opts
static const ga__field chamber_fields[] = {
    {ONE(bulk_modulus), .rule = GA__RULE_POSITIVE, .no_default = 1, .unit = "Pa",
     .about = "of the fluid, > 0"},
    {ONE(volume), .rule = GA__RULE_POSITIVE, .no_default = 1, .unit = "m^3",
     .about = "volume at displacement 0, > 0"},
    {ONE(area), .rule = GA__RULE_NUMBER, .unit = "m^2",
     .about = "area of the piston; positive: the volume grows with the displacement"},
    {ONE(pressure), .rule = GA__RULE_NUMBER, .unit = "Pa", .about = "initial pressure"},
};
#undef OPTS
#define OPTS ga_block_dc_motor_opts
static const ga__field dc_motor_fields[] = {
    {ONE(resistance), .rule = GA__RULE_NOT_NEGATIVE, .unit = "ohm", .about = "of the winding"},
    {ONE(inductance), .rule = GA__RULE_POSITIVE, .no_default = 1, .unit = "H",
     .about = "of the winding, > 0"},
    {ONE(constant), .rule = GA__RULE_POSITIVE, .no_default = 1,
     .about = "torque by current in N m/A, which is voltage by speed in V s/rad, > 0"},
    {ONE(current), .rule = GA__RULE_NUMBER, .unit = "A", .about = "initial current"},
};
#undef OPTS
#define OPTS ga_block_gearbox_opts
static const ga__field gearbox_fields[] = {
    {ONE(ratio), .rule = GA__RULE_NUMBER, .unit = "1",
     .about = "turns of the motor for one behind the gearbox, positive or negative"},
    {ONE(efficiency), .rule = GA__RULE_POSITIVE, .unit = "1",
     .about =
         "above 0 and at most 1: the torque is multiplied by it where the motor drives, divided by it where "
         "it is driven"},
    {ONE(power), .rule = GA__RULE_NOT_NEGATIVE, .unit = "W",
     .about = "with an efficiency below 1: power below which one goes over into the other, > 0"},
};
#undef OPTS
#define OPTS ga_block_saturation_opts
static const ga__field saturation_fields[] = {LIMITS};
#undef OPTS
#define OPTS ga_block_dead_zone_opts
static const ga__field dead_zone_fields[] = {LIMITS};
#undef OPTS
#define OPTS ga_block_tanh_opts
static const ga__field tanh_fields[] = {
    GAIN("slope at 0"),
    {ONE(scale), .rule = GA__RULE_POSITIVE, .about = "the limit, > 0"},
};
#undef OPTS
#define OPTS ga_block_table_opts
static const ga__field table_fields[] = {
    {ONE(function), .rule = GA__RULE_FUNCTION_NEEDED, .about = "function of the input"}};
#undef OPTS
#define OPTS ga_table2d_opts
static const ga__field table2d_fields[] = {
    {ONE(x), .rule = GA__RULE_LIST, .rows = N(nx), .about = "points of the first input, ascending"},
    {ONE(y), .rule = GA__RULE_LIST, .rows = N(ny), .about = "points of the second input, ascending"},
    {ONE(z), .rule = GA__RULE_MATRIX, .rows = N(nx), .columns = N(ny), .about = "values: a row for every x"},
    {ONE(interpolation), .rule = GA__RULE_CHOICE, NAMES_OF(ga__interpolation_names),
     .about = "interpolation between the points: linear or spline"},
    {ONE(outside), .rule = GA__RULE_CHOICE, NAMES_OF(ga__extrapolation_names),
     .about = "extrapolation beyond the points"},
};
#undef OPTS
#define OPTS library_opts
static const ga__field library_fields[] = {
    {ONE(library), .rule = GA__RULE_TEXT,
     .about =
         "path of the shared library, relative to the model's folder; default: the function is one that the "
         "program in C which reads the model gives it"},
    {ONE(symbol), .rule = GA__RULE_TEXT,
     .about = "name of the function (ga_block_fn of galpha/control.h); required"},
    {ONE(jacobian), .rule = GA__RULE_TEXT,
     .about = "name of its Jacobian (ga_block_jacobian_fn) in the library; default: finite differences"},
    {.name = "n_x",
     .offset = offsetof(OPTS, user.n_x),
     .count = 1,
     .rule = GA__RULE_INTEGER,
     .high = GA_BLOCK_SIZE,
     .about = "number of states"},
    {.name = "n_out",
     .offset = offsetof(OPTS, user.n_out),
     .count = 1,
     .rule = GA__RULE_INTEGER,
     .high = GA_BLOCK_SIZE,
     .about = "number of outputs"},
    {.name = "x0",
     .offset = offsetof(OPTS, user.x0),
     .count = 1,
     .rule = GA__RULE_LIST,
     .rows = N(user.n_x),
     .about = "initial states; default: 0"},
    {.name = "difference_step",
     .offset = offsetof(OPTS, user.difference_step),
     .count = 1,
     .rule = GA__RULE_POSITIVE,
     .unit = "1",
     .about = "relative step of finite differences"},
};
#undef OPTS

static const ga__extra expression_extra[] = {
    {"expression", "texts",
     "expression of the inputs' names, t, parameters and functions; a list for several outputs; required"}};

/* ---- Creation ---- */

#define BLOCK(what)                                                                                          \
  static void default_##what(void *base)                                                                     \
  {                                                                                                          \
    *(ga_block_##what##_opts *)base = ga_block_##what##_defaults();                                          \
  }                                                                                                          \
  static ga_status create_##what(const block_read *b, ga_control_block **out)                                \
  {                                                                                                          \
    return ga_block_create_##what(b->reader->r->ctx, &b->opts->what, out);                                   \
  }
BLOCK(gain)
BLOCK(sum)
BLOCK(product)
BLOCK(constant)
BLOCK(function_of_time)
BLOCK(integrator)
BLOCK(transfer_function)
BLOCK(first_order)
BLOCK(second_order)
BLOCK(delay)
BLOCK(pid)
BLOCK(orifice)
BLOCK(chamber)
BLOCK(dc_motor)
BLOCK(gearbox)
BLOCK(saturation)
BLOCK(dead_zone)
BLOCK(tanh)
BLOCK(table)
#undef BLOCK

static void default_state_space(void *base)
{
  *(ga_block_state_space_opts *)base = ga_block_state_space_defaults();
}

static ga_status create_state_space(const block_read *b, ga_control_block **out)
{
  b->opts->state_space.names.in = b->given->name;
  return ga_block_create_state_space(b->reader->r->ctx, &b->opts->state_space, out);
}

static void default_table2d(void *base)
{
  *(ga_table2d_opts *)base = ga_table2d_defaults();
}

static void release_table2d(void *thing)
{
  ga_table2d *table = thing;
  ga_table2d_destroy(&table);
}

static ga_status create_table2d(const block_read *b, ga_control_block **out)
{
  ga_block_table2d_opts opts = ga_block_table2d_defaults();
  ga_table2d *table = NULL;
  ga_status status = ga_table2d_create(b->reader->r->ctx, &b->opts->table2d, &table);
  if (status) return status;
  if (!ga__keep(b->reader, table, release_table2d)) return GA_ERR_MEMORY;
  opts.table = table;
  return ga_block_create_table2d(b->reader->r->ctx, &opts, out);
}

/* The error has already been reported. */
static const ga_status REPORTED = GA_STOPPED;

static ga_status report(const block_read *b, ga__place at, ga_reason reason, const ga__facts *facts)
{
  ga__report_error(b->reader->r->messages, at, reason, facts);
  return REPORTED;
}

/* Reads the texts, with parameters replaced, and the functions that they call. */
static ga_status read_formulas(const block_read *b, ga__tree *tree, ga_block_expression_opts *opts)
{
  const int single = tree->kind == GA__TREE_SCALAR;
  const char **texts;
  ga_symbol *all = NULL;
  if (!ga__read_texts(b->reader, tree, &opts->n_out, &texts)) return REPORTED;
  for (int i = 0; i < opts->n_out; i++) {
    const ga__tree *text = single ? tree : tree->child[i];
    ga_symbol *symbols;
    int n;
    if (!ga__value_formula(b->reader->r, text, &texts[i])) return REPORTED;
    if (!ga__read_calls(b->reader, text, &n, &symbols)) return REPORTED;
    ga_symbol *more = ga__room(b->reader, (size_t)(opts->n_symbols + n), sizeof *more);
    if (!more) return GA_ERR_MEMORY;
    if (opts->n_symbols > 0) memcpy(more, all, (size_t)opts->n_symbols * sizeof *more);
    all = more;
    for (int k = 0; k < n; k++) {
      int known = 0;
      for (int j = 0; j < opts->n_symbols; j++) known |= all[j].name == symbols[k].name;
      if (!known) all[opts->n_symbols++] = symbols[k];
    }
  }
  opts->texts = texts;
  opts->symbols = all;
  return GA_OK;
}

static ga_status create_expression(const block_read *b, ga_control_block **out)
{
  ga_block_expression_opts opts = ga_block_expression_defaults();
  ga_text_error error = {.column = 0};
  int failed = -1;
  ga__tree *tree = ga__map_get(b->map, "expression");
  if (!tree) return report(b, b->map->key_at, GA_REASON_KEY_MISSING, &(ga__facts){.field = "expression"});
  if (b->given->n > 0 && !b->given->name)
    return report(b, b->given->all->at, GA_REASON_WRONG_FORM,
                  &(ga__facts){.field = "inputs",
                               .expected = "names of its inputs, as in inputs: {a: ..., b: ...}",
                               .name = b->given->all->kind == GA__TREE_LIST ? "a list" : "a value"});
  opts.n_in = b->given->n;
  opts.inputs = b->given->name;
  const size_t outer = ga__messages_enter(b->reader->r->messages, "expression");
  const ga_status status = read_formulas(b, tree, &opts);
  ga__messages_leave(b->reader->r->messages, outer);
  if (status) return status;
  const ga_status made = ga_block_create_expression(b->reader->r->ctx, &opts, &error, &failed, out);
  if (made != GA_ERR_ARGUMENT || failed < 0) return made;
  if (ga__may_be_elsewhere(b->reader->r, &error)) return REPORTED;
  const ga__tree *text = tree->kind == GA__TREE_SCALAR ? tree : tree->child[failed];
  const int as_given = strcmp(text->text, opts.texts[failed]) == 0;
  ga__messages_enter(b->reader->r->messages, "expression");
  ga__report_found(b->reader->r->messages, ga__value_place(text, as_given ? error.column : 1),
                   &b->reader->r->ctx->error);
  ga__messages_leave(b->reader->r->messages, outer);
  return REPORTED;
}

/* ---- Shared libraries ---- */

static void default_library(void *base)
{
  ((library_opts *)base)->user = ga_block_user_defaults();
}

static void release_library(void *thing)
{
  dlclose(thing);
}

static ga_status open_library(const block_read *b, const ga__tree *tree, const char *library, void **handle)
{
  const ga__reader *reader = b->reader;
  if (!reader->r->opts->allow_library)
    return report(b, tree->at, GA_REASON_LIBRARY_NOT_ALLOWED, &(ga__facts){.name = library});
  if (!reader->folder) return report(b, tree->at, GA_REASON_NO_FOLDER, &(ga__facts){.name = "libraries"});
  if (ga__leaves_folder(library))
    return report(b, tree->at, GA_REASON_PATH_REFUSED,
                  &(ga__facts){.name = library,
                               .detail = "it is not within the model's folder",
                               .expected = "a library within it"});
  const size_t size = strlen(reader->folder) + strlen(library) + 2;
  char *path = ga__room(b->reader, size, 1);
  if (!path) return GA_ERR_MEMORY;
  snprintf(path, size, "%s/%s", reader->folder, library);
  *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*handle)
    return report(b, tree->at, GA_REASON_FILE_ACCESS,
                  &(ga__facts){.file = library, .name = "read", .detail = dlerror()});
  return ga__keep(b->reader, *handle, release_library) ? GA_OK : GA_ERR_MEMORY;
}

/* A function's address as its pointer: both have the same size wherever there is dlsym(). */
static ga_status find_symbol(const block_read *b, void *handle, const char *key, const char *name,
                             void *pointer)
{
  void *address = dlsym(handle, name);
  if (!address)
    return report(
        b, ga__map_get(b->map, key)->at, GA_REASON_UNKNOWN_REFERENCE,
        &(ga__facts){.other = "function", .name = name, .detail = "the library has none of that name"});
  memcpy(pointer, &address, sizeof address);
  return GA_OK;
}

static const char *function_name(const void *opts, int i)
{
  return ((const ga_model_opts *)opts)->functions[i].name;
}

/* A function of the program; the message lists what there is. */
static ga_status find_function(const block_read *b, library_opts *opts)
{
  const ga_model_opts *o = b->reader->r->opts;
  char all[GA_ERROR_NAME] = "", nearest[GA_TEXT_PIECE];
  ga__writer w = {all, sizeof all, 0};
  for (int i = 0; i < o->n_functions; i++) {
    const ga_model_function *f = &o->functions[i];
    ga__write(&w, "%s%s", i ? ", " : "the program has ", f->name);
    if (strcmp(f->name, opts->symbol) != 0) continue;
    opts->user.function = f->function;
    opts->user.jacobian = f->jacobian;
    opts->user.user = f->user;
    return GA_OK;
  }
  ga__name_nearest(nearest, opts->symbol, (int)strlen(opts->symbol), function_name, o, o->n_functions);
  return report(b, ga__map_get(b->map, "symbol")->at, GA_REASON_UNKNOWN_REFERENCE,
                &(ga__facts){.other = "function",
                             .name = opts->symbol,
                             .detail = o->n_functions ? all
                                                      : "the program that reads the model has none; one of a "
                                                        "shared library needs the key library",
                             .nearest = nearest});
}

static ga_status load_function(const block_read *b, library_opts *opts)
{
  void *handle = NULL;
  ga_status status = open_library(b, ga__map_get(b->map, "library"), opts->library, &handle);
  if (!status) status = find_symbol(b, handle, "symbol", opts->symbol, &opts->user.function);
  if (!status && opts->jacobian)
    status = find_symbol(b, handle, "jacobian", opts->jacobian, &opts->user.jacobian);
  return status;
}

static ga_status create_library(const block_read *b, ga_control_block **out)
{
  library_opts *opts = &b->opts->library;
  if (!opts->symbol) return report(b, b->map->key_at, GA_REASON_KEY_MISSING, &(ga__facts){.field = "symbol"});
  if (!opts->library && opts->jacobian)
    return report(b, ga__map_get(b->map, "jacobian")->at, GA_REASON_KEY_MISSING,
                  &(ga__facts){.field = "library"});
  const ga_status status = opts->library ? load_function(b, opts) : find_function(b, opts);
  if (status) return status;
  opts->user.name = opts->symbol;
  opts->user.names.in = b->given->name;
  return ga_block_create_user(b->reader->r->ctx, &opts->user, out);
}

/* ---- The table ---- */

#define FIELDS(what)                                                                                         \
  .fields = what##_fields, .n_fields = (int)(sizeof(what##_fields) / sizeof(what##_fields[0]))
#define KIND(what) FIELDS(what), .defaults = default_##what, .create = create_##what

static const block_kind BLOCKS[GA_N_BLOCK_KINDS] = {
    [GA_KIND_GAIN] = {KIND(gain), .n_in = GA__AT_INT(ga_block_gain_opts, n_in),
                      .n_out = GA__AT_INT(ga_block_gain_opts, n_out)},
    [GA_KIND_SUM] = {KIND(sum), .n_in = GA__AT_INT(ga_block_sum_opts, n_in)},
    [GA_KIND_PRODUCT] = {KIND(product), .n_in = GA__AT_INT(ga_block_product_opts, n_in)},
    [GA_KIND_CONSTANT] = {KIND(constant)},
    [GA_KIND_FUNCTION_OF_TIME] = {KIND(function_of_time)},
    [GA_KIND_INTEGRATOR] = {KIND(integrator), .n_in = GA__AT_INT(ga_block_integrator_opts, n)},
    [GA_KIND_STATE_SPACE] = {KIND(state_space), .n_in = GA__AT_INT(ga_block_state_space_opts, n_in)},
    [GA_KIND_TRANSFER_FUNCTION] = {KIND(transfer_function)},
    [GA_KIND_FIRST_ORDER] = {KIND(first_order)},
    [GA_KIND_SECOND_ORDER] = {KIND(second_order)},
    [GA_KIND_DELAY] = {KIND(delay)},
    [GA_KIND_PID] = {KIND(pid)},
    [GA_KIND_ORIFICE] = {KIND(orifice)},
    [GA_KIND_CHAMBER] = {KIND(chamber)},
    [GA_KIND_DC_MOTOR] = {KIND(dc_motor)},
    [GA_KIND_GEARBOX] = {KIND(gearbox)},
    [GA_KIND_SATURATION] = {KIND(saturation)},
    [GA_KIND_DEAD_ZONE] = {KIND(dead_zone)},
    [GA_KIND_TANH] = {KIND(tanh)},
    [GA_KIND_TABLE] = {KIND(table)},
    [GA_KIND_TABLE2D] = {KIND(table2d)},
    [GA_KIND_EXPRESSION] = {.extra = expression_extra, .n_extra = 1, .create = create_expression},
    [GA_KIND_USER] = {KIND(library), .n_in = GA__AT_INT(library_opts, user.n_in)},
};

/* In models a user function is called "library". */
/* Any of them is sampled by the key sample_time. */
enum { N_TYPES = GA_KIND_SAMPLED };

static const char *type_name(int kind)
{
  return kind == GA_KIND_USER ? "library" : ga_block_kind_name((ga_block_kind)kind);
}

int ga__block_group(int i, ga__group *group)
{
  if (i < 0 || i >= N_TYPES) return 0;
  const block_kind *k = &BLOCKS[i];
  *group = (ga__group){
      .section = "blocks",
      .type = type_name(i),
      .about = i == GA_KIND_USER
                   ? "a C function: from a shared library, only with --allow-library; or of the program "
                     "in C that reads the model (ga_model_opts)"
                   : ga_block_kind_about((ga_block_kind)i),
      .n = k->n_fields,
      .fields = k->fields,
      .n_extra = k->n_extra,
      .extra = k->extra,
      .defaults = k->defaults,
      .size = sizeof(any_opts)};
  return 1;
}

/* ---- Inputs ---- */

static int read_inputs(ga__reader *reader, ga__tree *all, ga__omission omitted, inputs_given *given)
{
  int good = 1;
  given->all = all;
  if (!all) return 1;
  const int listed = all->kind == GA__TREE_LIST, named = all->kind == GA__TREE_MAP;
  given->n = listed || named ? all->n : 1;
  given->input = ga__room(reader, (size_t)given->n, sizeof *given->input);
  given->tree = ga__room(reader, (size_t)given->n, sizeof *given->tree);
  if (named) given->name = ga__room(reader, (size_t)given->n, sizeof *given->name);
  if (!given->input || !given->tree || (named && !given->name)) return 0;
  ga__messages *m = reader->r->messages;
  const size_t outer = ga__messages_enter(m, "inputs");
  for (int i = 0; i < given->n; i++) {
    given->tree[i] = listed || named ? all->child[i] : all;
    if (named) {
      given->name[i] = given->tree[i]->key;
      given->tree[i]->used = 1;
    }
    const size_t before = named ? ga__messages_enter(m, given->name[i]) : ga__messages_enter_index(m, i);
    if (!omitted) good &= ga__read_input(reader, given->tree[i], NULL, &given->input[i]);
    ga__messages_leave(m, before);
  }
  ga__messages_leave(m, outer);
  return good;
}

/* Assigns inputs by name, in the block's order. */
static int match_by_name(const block_read *b, const ga_control_block *block, ga_input *to)
{
  const inputs_given *given = b->given;
  const int n = ga_block_n_in(block);
  const char *names[GA_BLOCK_SIZE];
  int good = 1, has[GA_BLOCK_SIZE] = {0};
  for (int i = 0; i < n; i++) names[i] = ga_block_input_name(block, i);
  for (int k = 0; k < given->n; k++) {
    int i = 0;
    while (i < n && strcmp(names[i], given->name[k]) != 0) i++;
    if (i < n) {
      to[i] = given->input[k];
      has[i] = 1;
      continue;
    }
    char nearest[GA_TEXT_PIECE], only[2 * GA_TEXT_PIECE] = "";
    ga__nearest_name(nearest, given->name[k], n, names);
    if (!nearest[0] && n == 1) snprintf(only, sizeof only, "its input is '%s'", names[0]);
    report(
        b, given->tree[k]->key_at, GA_REASON_UNKNOWN_REFERENCE,
        &(ga__facts){
            .field = "inputs", .other = "input", .name = given->name[k], .nearest = nearest, .detail = only});
    good = 0;
  }
  for (int i = 0; i < n && good; i++) {
    if (has[i]) continue;
    report(b, given->all->at, GA_REASON_KEY_MISSING, &(ga__facts){.field = "inputs", .item_name = names[i]});
    good = 0;
  }
  return good;
}

static int match_inputs(const block_read *b, const ga_control_block *block, ga_input *to)
{
  const inputs_given *given = b->given;
  const int n = ga_block_n_in(block);
  if (b->omitted) return 1;
  if (given->name) return match_by_name(b, block, to);
  if (given->n != n) {
    char expected[2 * GA_TEXT_PIECE];
    if (n > 0)
      snprintf(expected, sizeof expected, n == 1 ? "%d, called %s" : "%d, the first of which is called %s", n,
               ga_block_input_name(block, 0));
    else
      snprintf(expected, sizeof expected, "none");
    report(b, given->all ? given->all->at : b->map->key_at, GA_REASON_WRONG_COUNT,
           &(ga__facts){.field = "inputs", .expected = expected, GA__NUMBERS({given->n, NULL})});
    return 0;
  }
  if (n > 0) memcpy(to, given->input, (size_t)n * sizeof *to);
  return 1;
}

/* ---- Blocks ---- */

static int which_kind(ga__reader *reader, ga__tree *map, int *kind)
{
  const char *names[N_TYPES];
  ga__messages *m = reader->r->messages;
  int good = 0;
  for (int i = 0; i < N_TYPES; i++) names[i] = type_name(i);
  const ga__tree *type = ga__map_get(map, "type");
  const size_t before = ga__messages_enter(m, "type");
  if (type)
    good = ga__value_choice(reader->r, type, N_TYPES, names, kind);
  else if (!ga__report_glued_key(reader->r, map, "type"))
    ga__report_error(m, map->key_at, GA_REASON_KEY_MISSING, &(ga__facts){.expected = "one such as 'pid'"});
  ga__messages_leave(m, before);
  return good;
}

/* Sets sizes from the number of inputs if no list did. */
static int size_by_inputs(const block_read *b, const block_kind *k, ga__owner *owner)
{
  const inputs_given *given = b->given;
  if (!k->n_in || !given->all) return 1;
  int good = ga__set_size(b->reader, owner, b->opts, k->n_in, given->n, "inputs", given->all);
  if (k->n_out && !b->opts->gain.matrix)
    good &= ga__set_size(b->reader, owner, b->opts, k->n_out, given->n, "inputs", given->all);
  return good;
}

/* Units of outputs: one for all, or a list. */
static int read_units(ga__reading *r, const ga__tree *given, ga_control_block *block)
{
  const int n = ga_block_n_out(block);
  char expected[GA_TEXT_PIECE];
  int good = 1;
  snprintf(expected, sizeof expected, "one for each of its outputs, of which it has %d", n);
  if (given->kind == GA__TREE_LIST && given->n != n)
    return ga__report_count(r, given, expected, given->n, NULL);
  for (int i = 0; i < n; i++) {
    const ga__tree *tree = given->kind == GA__TREE_LIST ? given->child[i] : given;
    const char *unit;
    if (!ga__value_unit(r, tree, &unit)) {
      good = 0;
    } else if (ga_block_set_unit(block, i, unit)) {
      ga__report_found(r->messages, tree->at, &r->ctx->error);
      good = 0;
    }
  }
  return good;
}

/* Reads the key `unit`, if given. */
static int set_units(const block_read *b, ga_control_block *block)
{
  ga__reading *r = b->reader->r;
  const ga__tree *given = ga__map_get(b->map, "unit");
  if (!given || b->omitted >= GA__OMIT_NUMBERS) return 1;
  const size_t before = ga__messages_enter(r->messages, "unit");
  const int good = read_units(r, given, block);
  ga__messages_leave(r->messages, before);
  return good;
}

/* Reads sample_time and sample_offset, if given: the block becomes a sampled one. */
static int sample_block(const block_read *b, ga_control_block **block)
{
  static const char *const key[2] = {"sample_time", "sample_offset"};
  ga__reading *r = b->reader->r;
  ga_block_sampled_opts opts = ga_block_sampled_defaults();
  double *const value[2] = {&opts.sample_time, &opts.sample_offset};
  ga_control_block *made = NULL;
  const ga__tree *given[2] = {ga__map_get(b->map, key[0]), ga__map_get(b->map, key[1])};
  if (!given[0] && given[1]) {
    report(b, given[1]->key_at, GA_REASON_KEY_MISSING, &(ga__facts){.field = key[0]});
    return 0;
  }
  if (!given[0] || b->omitted >= GA__OMIT_NUMBERS) return 1;
  for (int i = 0; i < 2; i++) {
    const size_t before = ga__messages_enter(r->messages, key[i]);
    const int good = !given[i] || ga__value_number(r, given[i], "s", value[i]);
    ga__messages_leave(r->messages, before);
    if (!good) return 0;
  }
  const ga_status status = ga_block_create_sampled(r->ctx, &opts, block, &made);
  if (status == GA_ERR_MEMORY)
    r->failed = 1;
  else if (status)
    ga__report_found(r->messages, given[0]->at, &r->ctx->error);
  if (!status) *block = made;
  return !status;
}

/* Adds the block with its inputs to the machine. */
static int add_block(const block_read *b, ga__named *named, const block_kind *k)
{
  ga__reader *reader = b->reader;
  ga_control_block *block = NULL;
  ga_input *inputs;
  ga_status status = k->create(b, &block);
  if (status == REPORTED) return 0;
  if (status == GA_ERR_MEMORY) reader->r->failed = 1;
  if (status) {
    ga__report_found(reader->r->messages, named->tree->key_at, &reader->r->ctx->error);
    return 0;
  }
  inputs = ga__room(reader, (size_t)ga_block_n_in(block), sizeof *inputs);
  if (!inputs || !sample_block(b, &block) || !(match_inputs(b, block, inputs) & set_units(b, block))) {
    ga_block_destroy(&block);
    return 0;
  }
  status = ga_machine_add_block(reader->m, named->name, block, inputs);
  if (status) ga__report_refusal(reader, named, status);
  return !status;
}

int ga__read_block(ga__reader *reader, ga__named *named)
{
  static const char *const more[] = {"type", "inputs", "unit", "sample_time", "sample_offset", "expression"};
  inputs_given given = {.n = 0};
  any_opts opts;
  int kind;
  memset(&opts, 0, sizeof opts);
  const block_read b = {reader, named->tree, &given, &opts, named->omitted};
  ga__messages_begin(reader->r->messages, "block", named->name);
  int good = read_inputs(reader, ga__map_get(named->tree, "inputs"), named->omitted, &given);
  if (!which_kind(reader, named->tree, &kind)) return 0;
  const block_kind *k = &BLOCKS[kind];
  ga__owner owner = {.kind = -1};
  if (k->defaults) k->defaults(&opts);
  if (named->omitted < GA__OMIT_NUMBERS)
    good &= ga__read_fields(reader, named->tree, k->n_fields, k->fields, &owner, &opts);
  good &= size_by_inputs(&b, k, &owner);
  for (int i = 2; i < 5; i++) ga__map_get(named->tree, more[i]); /* known, even if the block is not created */
  for (int i = 0; i < k->n_extra; i++) ga__map_get(named->tree, k->extra[i].name);
  if (good && !reader->r->failed) good = add_block(&b, named, k);
  ga__finish_keys(reader, named->tree, k->n_fields, k->fields, &owner, k->n_extra ? 6 : 5, more);
  return good && !reader->r->failed;
}
