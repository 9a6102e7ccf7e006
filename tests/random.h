/* Random numbers of tests and measurements, the same on every machine. */
#ifndef GALPHA_TESTS_RANDOM_H
#define GALPHA_TESTS_RANDOM_H

#include <stdint.h>

typedef struct rig_random {
  uint64_t state;
} rig_random;

/* The next of a Weyl sequence, mixed (splitmix64). */
static inline uint64_t rig_bits(rig_random *r)
{
  uint64_t z = r->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* In [low, high). */
static inline double rig_uniform(rig_random *r, double low, double high)
{
  return low + (high - low) * (double)(rig_bits(r) >> 11) * 0x1p-53;
}

/* One of 0 … n − 1. */
static inline int rig_below(rig_random *r, int n)
{
  return (int)(rig_bits(r) % (uint64_t)n);
}

#endif
