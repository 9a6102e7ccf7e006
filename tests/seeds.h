/* Seeds of the random numbers of cmocka's cases. Each case has a seed of its own, from its name and from
 * GALPHA_SEED (0 where the environment has none): the numbers of a case do not depend on what other cases
 * draw, or whether they run, and other seeds try other numbers. A group with a failure prints how to repeat
 * it. Include after cmocka.h. */
#ifndef GALPHA_TESTS_SEEDS_H
#define GALPHA_TESTS_SEEDS_H

#include "random.h"
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS_MOST_CASES = 256 };

static struct {
  const struct CMUnitTest *test; /* of the group that runs */
  int next;                      /* the case whose set-up is called next */
  const char *name;              /* of the case that runs */
  int draws;                     /* has any case asked for a seed? */
} seeds;

/* 1: run under a tool that slows everything down; loops that only repeat are cut short, unless
 * GALPHA_THOROUGH (`make soak`) is set. */
static inline int rig_brief(void)
{
  return getenv("GALPHA_BRIEF") && !getenv("GALPHA_THOROUGH");
}

/* The distance between the calls that fail, one in each run, where a run makes `total` of them. All of them
 * fail in turn, but with the sanitizers and under valgrind, which take ten and forty times as long, some
 * spread over the run; GALPHA_THOROUGH (`make soak`) tries all with the sanitizers too. */
static inline long rig_stride(long total)
{
  if (rig_brief()) return 1 + total / 40;
#ifdef __SANITIZE_ADDRESS__
  if (!getenv("GALPHA_THOROUGH")) return 1 + total / 150;
#endif
  return 1;
}

/* The number of the call that fails next, where nobody knows how many there are. */
static inline long rig_next(long n)
{
  if (rig_brief()) return n + 1 + n / 8;
#ifdef __SANITIZE_ADDRESS__
  if (!getenv("GALPHA_THOROUGH")) return n + 1 + n / 32;
#endif
  return n + 1;
}

static inline unsigned long long seeds_given(void)
{
  const char *text = getenv("GALPHA_SEED");
  return text ? strtoull(text, NULL, 0) : 0;
}

/* A generator of the case that runs; `stream` distinguishes several generators of one case. */
static inline rig_random rig_seed(int stream)
{
  rig_random r = {0xCBF29CE484222325u}; /* FNV-1a of the name, then mixed with the numbers */
  if (!seeds.name)
    fail_msg("random numbers are for cases: the program lacks seeds.h before its group of tests");
  seeds.draws = 1;
  for (const char *c = seeds.name; *c; c++) r.state = (r.state ^ (unsigned char)*c) * 0x100000001B3u;
  r.state ^= 0x9E3779B97F4A7C15u * (uint64_t)seeds_given();
  r.state = rig_bits(&r) + (uint64_t)stream;
  r.state = rig_bits(&r);
  return r;
}

static inline int seeds_begin_case(void **state)
{
  const struct CMUnitTest *test = &seeds.test[seeds.next++];
  seeds.name = test->name;
  return test->setup_func ? test->setup_func(state) : 0;
}

/* Runs a group whose cases begin with a seed each. */
static inline int seeds_run_group(const char *group, const struct CMUnitTest *test, size_t n,
                                  CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
  struct CMUnitTest seeded[SEEDS_MOST_CASES];
  if (n > SEEDS_MOST_CASES) return fputs("seeds.h: too many cases in a group\n", stderr), 1;
  for (size_t i = 0; i < n; i++) {
    seeded[i] = test[i];
    seeded[i].setup_func = seeds_begin_case;
  }
  seeds.test = test;
  seeds.next = 0;
  const int n_failed = _cmocka_run_group_tests(group, seeded, n, set_up, tear_down);
  if (n_failed && seeds.draws)
    fprintf(stderr, "# %s: random numbers; repeat with GALPHA_SEED=%llu\n", group, seeds_given());
  return n_failed;
}

#undef cmocka_run_group_tests
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(group, tests, set_up, tear_down)                                         \
  seeds_run_group(group, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down)
#define cmocka_run_group_tests(tests, set_up, tear_down)                                                     \
  cmocka_run_group_tests_name(#tests, tests, set_up, tear_down)

#endif
