/* Compression of blocks of numbers by zlib, in the format of HDF5's filters shuffle and deflate.
 *
 * The low bytes of simulated numbers are noise, on which a compressor wastes most of its time. Bytes of equal
 * rank are stored together, signal by signal: stretches of noise are stored uncompressed, others with run
 * lengths and Huffman codes, which takes a tenth of the time of a full search. */
#include "result/result_impl.h"
#include <string.h>
#include <zlib.h>

enum { STRETCH = 512 }; /* smallest stretch in bytes */

/* 1: nearly random. Of 64 random bytes about 57 are different, and almost none is equal to the next. */
static int is_noise(const unsigned char *bytes, size_t n)
{
  unsigned char seen[256] = {0};
  const size_t stride = (n / 64) | 1u; /* odd, so that not the same record of every signal is sampled */
  int distinct = 0, equal = 0, tried = 0;
  for (size_t i = 0; i + 1 < n; i += stride, tried++) {
    distinct += !seen[bytes[i]];
    seen[bytes[i]] = 1;
    equal += bytes[i] == bytes[i + 1];
  }
  return 4 * distinct > 3 * tried && 4 * equal < tried;
}

/* Bytes of equal rank together: out[8][n] from in[n][8]. Eight numbers at a time are a matrix of 8×8 bytes,
 * transposed by exchanging its quarters, their quarters and so on. */
static void shuffle(unsigned char *out, const unsigned char *in, size_t n)
{
  static const uint64_t mask[3] = {0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0x00000000ffffffffu};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x[8];
    memcpy(x, in + 8 * i, sizeof x);
    for (int level = 0; level < 3; level++) {
      const int apart = 1 << level;
      for (int k = 0; k < 8; k++) {
        uint64_t other;
        if (k & apart) continue;
        other = ((x[k] >> (8 * apart)) ^ x[k + apart]) & mask[level];
        x[k + apart] ^= other;
        x[k] ^= other << (8 * apart);
      }
    }
    for (size_t k = 0; k < 8; k++) memcpy(out + k * n + i, &x[k], 8);
  }
  for (; i < n; i++)
    for (size_t k = 0; k < 8; k++) out[k * n + i] = in[8 * i + k];
}

/* Memory of zlib, from the context. */
static void *take(void *ctx, unsigned count, unsigned size)
{
  return ga__alloc(ctx, count, size);
}

static void give(void *ctx, void *block)
{
  ga__free(ctx, block);
}

/* Compresses the stretches, each with its level; returns 1: done. */
static int deflate_stretches(z_stream *z, unsigned char *bytes, size_t total, size_t stretch)
{
  int noise = 0;
  for (size_t at = 0; at < total; at += stretch) {
    const size_t length = total - at < stretch ? total - at : stretch;
    const int kind = is_noise(bytes + at, length);
    if (kind != noise && deflateParams(z, kind ? 0 : 1, Z_RLE) != Z_OK) return 0;
    noise = kind;
    z->next_in = bytes + at;
    z->avail_in = (uInt)length;
    if (deflate(z, Z_NO_FLUSH) != Z_OK || z->avail_in > 0) return 0;
  }
  return deflate(z, Z_FINISH) == Z_STREAM_END;
}

size_t ga__pack(ga_context *ctx, unsigned char *out, unsigned char *work, const double *values, size_t n,
                size_t run)
{
  const size_t stretch = run > STRETCH ? run : STRETCH, total = 8 * n;
  z_stream z = {.zalloc = take, .zfree = give, .opaque = ctx};
  if (total > UINT32_MAX / 2 || deflateInit2(&z, 1, Z_DEFLATED, 15, 8, Z_RLE) != Z_OK) return 0;
  shuffle(work, (const unsigned char *)values, n);
  z.next_out = out;
  z.avail_out = (uInt)total;
  const int done = deflate_stretches(&z, work, total, stretch);
  const size_t used = total - z.avail_out;
  deflateEnd(&z);
  return done && used < total ? used : 0;
}
