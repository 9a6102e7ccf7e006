/* Random numbers by counters: number i of a stream depends on the seed, the stream and i alone, so that runs
 * may be made in any order and by anyone. */
#include "study/study_impl.h"

enum { ROUNDS = 10 };

static uint32_t multiply(uint32_t a, uint32_t b, uint32_t *high)
{
  const uint64_t product = (uint64_t)a * b;
  *high = (uint32_t)(product >> 32);
  return (uint32_t)product;
}

void ga__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
  uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int i = 0; i < ROUNDS; i++) {
    uint32_t high0, high1;
    const uint32_t low0 = multiply(0xD2511F53u, c[0], &high0), low1 = multiply(0xCD9E8D57u, c[2], &high1);
    c[0] = high1 ^ c[1] ^ k[0];
    c[2] = high0 ^ c[3] ^ k[1];
    c[1] = low1;
    c[3] = low0;
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; i++) out[i] = c[i];
}

double ga__random(uint64_t seed, uint32_t stream, uint64_t index)
{
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), stream, 0};
  uint32_t bits[4];
  ga__philox(counter, key, bits);
  const uint64_t whole = (((uint64_t)bits[0] << 32) | bits[1]) >> 11;
  return ((double)whole + 0.5) * 0x1p-53;
}
