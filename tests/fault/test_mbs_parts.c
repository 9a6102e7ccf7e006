/* Every allocation fails once while a machine is filled with parts of all kinds: GA_ERR_MEMORY, the machine
 * as it was, and the same part is taken when given again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_parts_rig.h"

enum { ROUNDS = 3 }; /* 48 parts: the list grows twice on the way */

/* Names in the order in which n - 1 parts were added, and all texts, as they should be; a beam or cable is
 * followed by the marker at its end, a modal body by that at its interface node. */
static void assert_intact(const parts_rig *r, int n)
{
  char name[20], end[32];
  int at = 1;
  for (int i = 1; i < n; i++, at++) {
    const ga__part *part = &r->m->part[at];
    const int kind = GA__PART_RIGID + (i - 1) % (GA__N_PARTS - 1);
    snprintf(name, sizeof name, "part%d", i);
    assert_int_equal(part->kind, kind == GA__PART_VARIABLE ? GA__PART_BLOCK : kind);
    assert_string_equal(part->name, name);
    assert_int_equal(ga__find_part(r->m, name), at);
    assert_non_null(part->def);
    if (kind != GA__PART_BEAM && kind != GA__PART_CABLE && kind != GA__PART_MODAL) continue;
    snprintf(end, sizeof end, "%s.end", name);
    assert_int_equal(ga__find_part(r->m, end), ++at);
    assert_int_equal(r->m->part[at].kind, GA__PART_MARKER);
  }
  assert_int_equal(r->m->n_parts, at);
  snprintf(name, sizeof name, "part%d", n);
  assert_int_equal(ga__find_part(r->m, name), -1);
  assert_int_equal(ga__find_part(r->m, "ground"), 0);
}

/* Adds part number i. Returns 1 where the failing allocation struck; the part is in the machine
 * in any case. */
static int add_part_number(parts_rig *r, int i)
{
  const ga__part_kind kind = (ga__part_kind)(GA__PART_RIGID + (i - 1) % (GA__N_PARTS - 1));
  const long fail_at = rig_memory.fail_at;
  char name[20];
  any_def def;
  snprintf(name, sizeof name, "part%d", i);
  rig_memory.fail_at = 0; /* creating the block is not what is tried here */
  def_of(r, kind, name, &def);
  const long before = rig_memory.live - (kind == GA__PART_BLOCK ? r->block_size : 0);
  rig_memory.fail_at = fail_at;
  const ga_status status = add_any(r->m, kind, &def);
  if (status == GA_OK) return 0;
  if (status != GA_ERR_MEMORY || rig_memory.count < fail_at) fail_msg("%s: status %d", name, (int)status);
  assert_says(r->ctx, "out of memory for");
  assert_int_equal(ga_context_error(r->ctx)->status, GA_ERR_MEMORY);
  assert_intact(r, i);
  const long grown = rig_memory.live - before; /* the list may have grown: as many blocks as before */
  assert_int_equal(grown, 0);
  def_of(r, kind, name, &def);
  assert_status(r->ctx, add_any(r->m, kind, &def), GA_OK);
  return 1;
}

static int fill(parts_rig *r)
{
  int struck = 0;
  for (int i = 1; i <= ROUNDS * (GA__N_PARTS - 1); i++) struck += add_part_number(r, i);
  assert_intact(r, 1 + ROUNDS * (GA__N_PARTS - 1));
  return struck;
}

static void each_allocation_of_parts_fails(void **state)
{
  void *life = NULL;
  (void)state;
  assert_int_equal(parts_set_up(&life), 0);
  const long first = rig_memory.count;
  assert_int_equal(fill(life), 0);
  const long total = rig_memory.count, block_size = ((parts_rig *)life)->block_size;
  assert_int_equal(parts_tear_down(&life), 0);
  assert_true(total > first + 100);
  int struck = 0;
  for (long n = first + 1; n <= total; n++) {
    assert_int_equal(parts_set_up(&life), 0);
    rig_memory.fail_at = n;
    struck += fill(life);
    assert_int_equal(parts_tear_down(&life), 0); /* nothing is left */
  }
  assert_int_equal(struck, total - first - ROUNDS * block_size); /* all but those that made the blocks */
}

static void each_allocation_of_a_machine_fails(void **state)
{
  (void)state;
  for (long n = 1; n <= 4; n++) {
    ga_context *ctx = NULL;
    ga_machine *m = NULL;
    rig_memory = (rig_heap){0, 0, 0, 0};
    assert_int_equal(rig_context(&ctx), GA_OK);
    rig_memory.fail_at = 1 + n;
    m = (ga_machine *)ctx;
    const ga_status status = ga_machine_create(ctx, NULL, &m);
    assert_int_equal(status, n < 4 ? GA_ERR_MEMORY : GA_OK);
    if (status) {
      assert_null(m);
      assert_says(ctx, "out of memory for");
    }
    ga_machine_destroy(&m);
    ga_context_destroy(&ctx);
    assert_int_equal(rig_memory.live, 0);
  }
}

static void lists_fail_and_stay(void **state)
{
  ga_context *ctx = NULL;
  (void)state;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  ga__list list = {.size = sizeof(int)};
  for (int i = 0; i < 100; i++) {
    rig_memory.fail_at = rig_memory.count + 1;
    int *at = ga__list_add(ctx, &list);
    if (!at) {
      assert_int_equal(list.n, i);
      assert_says(ctx, "out of memory for");
      at = ga__list_add(ctx, &list);
    }
    assert_non_null(at);
    *at = i;
  }
  for (int i = 0; i < 100; i++) assert_int_equal(*GA__AT(list, int, i), i);
  assert_int_equal(list.n, 100);
  ga__free(ctx, list.at);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_of_parts_fails),
                                     cmocka_unit_test(each_allocation_of_a_machine_fails),
                                     cmocka_unit_test(lists_fail_and_stay)};
  return cmocka_run_group_tests_name("fault: parts of machines", tests, NULL, NULL);
}
