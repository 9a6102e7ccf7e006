/* Compression of blocks of numbers into what HDF5's filters shuffle and deflate read (RFC 1950, RFC 1951).
 *
 * The low bytes of simulated numbers are noise, on which a general compressor spends nearly all of its time
 * for nothing. Here bytes of equal rank lie together, signal by signal; where a stretch is noise it is
 * stored, and only the others are encoded: runs of equal bytes, then Huffman codes. */
#include "result/result_impl.h"
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK = 32768,    /* bytes that share one table of codes */
  STORED = 65535,   /* most bytes of a block that is stored */
  STRETCH = 512,    /* least bytes that are judged together */
  END = 256,        /* symbol: end of a block */
  SYMBOLS = 286,    /* bytes, END, lengths of runs */
  LENGTH_CODES = 19 /* symbols for the lengths of codes */
};

/* ---- Bits ---------------------------------------------------------------------------------------------- */

typedef struct bits {
  unsigned char *out;
  size_t used, room;
  uint64_t pending;
  int n; /* bits pending */
  int full;
} bits;

static void put(bits *b, uint32_t value, int n)
{
  b->pending |= (uint64_t)value << b->n;
  b->n += n;
  while (b->n >= 8) {
    if (b->used < b->room)
      b->out[b->used++] = (unsigned char)b->pending;
    else
      b->full = 1;
    b->pending >>= 8;
    b->n -= 8;
  }
}

static void put_bytes(bits *b, const unsigned char *bytes, size_t n)
{
  put(b, 0, (8 - b->n) & 7);
  if (n > b->room - b->used) {
    b->full = 1;
    return;
  }
  memcpy(b->out + b->used, bytes, n);
  b->used += n;
}

/* ---- Huffman codes ------------------------------------------------------------------------------------- */

typedef struct codes {
  uint16_t code[SYMBOLS]; /* bits in the order they are written */
  unsigned char length[SYMBOLS];
} codes;

/* Depth of each of the n used symbols (in ascending order of their weights) in Huffman's tree; its greatest
 * is returned. Nodes 0 ... n−1 are the symbols, n ... 2n−2 are made in ascending order of weight. */
static int tree_depths(int depth[], const uint32_t weight_of[], int n)
{
  uint32_t weight[2 * SYMBOLS];
  int parent[2 * SYMBOLS], leaf = 0, node = n, most = 0;
  for (int i = 0; i < n; i++) weight[i] = weight_of[i];
  for (int made = n; made < 2 * n - 1; made++) {
    weight[made] = 0;
    for (int k = 0; k < 2; k++) {
      const int take = leaf < n && (node >= made || weight[leaf] <= weight[node]) ? leaf++ : node++;
      weight[made] += weight[take];
      parent[take] = made;
    }
  }
  depth[2 * n - 2] = 0;
  for (int i = 2 * n - 3; i >= 0; i--) {
    depth[i] = depth[parent[i]] + 1;
    if (i < n && depth[i] > most) most = depth[i];
  }
  return most;
}

/* Codes of the same length follow one another (RFC 1951, 3.2.2); they are written from their highest bit. */
static void assign_codes(codes *c, int symbols)
{
  uint16_t next[17] = {0};
  int count[17] = {0};
  for (int s = 0; s < symbols; s++) count[c->length[s]]++;
  count[0] = 0;
  for (int l = 1; l <= 16; l++) next[l] = (uint16_t)((next[l - 1] + count[l - 1]) << 1);
  for (int s = 0; s < symbols; s++) {
    unsigned code = next[c->length[s]], turned = 0;
    if (c->length[s]) next[c->length[s]]++;
    for (int i = 0; i < c->length[s]; i++) turned |= (code >> i & 1u) << (c->length[s] - 1 - i);
    c->code[s] = (uint16_t)turned;
  }
}

/* Shell's sort. */
static void sort_by_weight(int order[], const uint32_t weights[], int n)
{
  static const int gaps[] = {57, 23, 10, 4, 1};
  for (int g = 0; g < 5; g++)
    for (int i = gaps[g]; i < n; i++) {
      const int moving = order[i];
      int at = i;
      for (; at >= gaps[g] && weights[order[at - gaps[g]]] > weights[moving]; at -= gaps[g])
        order[at] = order[at - gaps[g]];
      order[at] = moving;
    }
}

/* Codes of at most `limit` bits: weights are levelled until the tree is flat enough. */
static void make_codes(codes *c, const uint32_t weights[], int symbols, int limit)
{
  uint32_t weight[SYMBOLS];
  int order[SYMBOLS], depth[2 * SYMBOLS], n = 0;
  memset(c, 0, sizeof *c);
  for (int s = 0; s < symbols; s++)
    if (weights[s]) order[n++] = s;
  sort_by_weight(order, weights, n);
  for (int i = 0; i < n; i++) weight[i] = weights[order[i]];
  if (n == 1) c->length[order[0]] = 1;
  if (n > 1) {
    while (tree_depths(depth, weight, n) > limit)
      for (int i = 0; i < n; i++) weight[i] = weight[i] / 2 + 1;
    for (int i = 0; i < n; i++) c->length[order[i]] = (unsigned char)depth[i];
  }
  assign_codes(c, symbols);
}

/* ---- A block of runs and bytes ------------------------------------------------------------------------- */

/* A run's length 3 ... 258 as symbol and further bits (RFC 1951, 3.2.5): four symbols for each number of
 * bits. */
static int run_symbol(int run, int *extra, int *n_extra)
{
  int n = 0, k = run - 3;
  if (run == 258) {
    *extra = *n_extra = 0;
    return 285;
  }
  while (k >> (n + 3)) n++;
  *n_extra = n;
  *extra = k & ((1 << n) - 1);
  return n ? 257 + 4 * n + (k >> n) : 257 + k;
}

/* Tokens: a byte, or 256+run for `run` more of the byte before. */
static int find_runs(uint16_t *tokens, const unsigned char *bytes, int n)
{
  int count = 0;
  for (int i = 0, run; i < n; i += run ? run : 1) {
    run = 0;
    if (i > 0)
      while (i + run < n && run < 258 && bytes[i + run] == bytes[i - 1]) run++;
    if (run < 3) run = 0;
    tokens[count++] = (uint16_t)(run ? 256 + run : bytes[i]);
  }
  return count;
}

/* The lengths of all codes: zeros by runs (17: 3 to 10, 18: 11 to 138), others as they are. */
static void put_lengths(bits *b, const codes *c)
{
  static const unsigned char order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
  unsigned char symbol[SYMBOLS + 1], more[SYMBOLS + 1];
  uint32_t weight[LENGTH_CODES] = {0};
  codes of_lengths;
  int n = 0;
  for (int i = 0, zeros; i < SYMBOLS + 1;
       i += zeros ? zeros : 1) { /* the last one is the code of distance 1 */
    const int length = i < SYMBOLS ? c->length[i] : 1;
    for (zeros = 0; i + zeros < SYMBOLS && zeros < 138 && c->length[i + zeros] == 0;) zeros++;
    symbol[n] = (unsigned char)(zeros > 10 ? 18 : zeros > 2 ? 17 : length);
    more[n] = (unsigned char)(zeros > 10 ? zeros - 11 : zeros > 2 ? zeros - 3 : 0);
    if (zeros < 3) zeros = 0;
    weight[symbol[n++]]++;
  }
  make_codes(&of_lengths, weight, LENGTH_CODES, 7);
  put(b, SYMBOLS - 257, 5);
  put(b, 0, 5);
  put(b, LENGTH_CODES - 4, 4);
  for (int i = 0; i < LENGTH_CODES; i++) put(b, of_lengths.length[order[i]], 3);
  for (int i = 0; i < n; i++) {
    put(b, of_lengths.code[symbol[i]], of_lengths.length[symbol[i]]);
    if (symbol[i] > 16) put(b, more[i], symbol[i] == 18 ? 7 : 3);
  }
}

static void put_coded(bits *b, const unsigned char *bytes, int n)
{
  uint16_t tokens[BLOCK];
  uint32_t weight[SYMBOLS] = {0};
  const int count = find_runs(tokens, bytes, n);
  int extra, n_extra;
  codes c;
  for (int i = 0; i < count; i++)
    weight[tokens[i] < 256 ? tokens[i] : run_symbol(tokens[i] - 256, &extra, &n_extra)]++;
  weight[END] = 1;
  make_codes(&c, weight, SYMBOLS, 15);
  put(b, 4, 3); /* not the last block; codes of its own */
  put_lengths(b, &c);
  for (int i = 0; i < count; i++) {
    if (tokens[i] < 256) {
      put(b, c.code[tokens[i]], c.length[tokens[i]]);
    } else {
      const int symbol = run_symbol(tokens[i] - 256, &extra, &n_extra);
      put(b, c.code[symbol], c.length[symbol]);
      put(b, (uint32_t)extra, n_extra + 1); /* and the one bit of distance 1, which is 0 */
    }
  }
  put(b, c.code[END], c.length[END]);
}

static void put_stored(bits *b, const unsigned char *bytes, int n, int last)
{
  put(b, (uint32_t)last, 3);
  put(b, 0, (8 - b->n) & 7);
  put(b, (uint32_t)n, 16);
  put(b, (uint32_t)~n & 0xffffu, 16);
  put_bytes(b, bytes, (size_t)n);
}

/* ---- The whole ----------------------------------------------------------------------------------------- */

/* a = 1 + Σ x, b = Σ of all a on the way; in groups, b grows by 32 a + Σ (32−i) x, which a compiler makes
 * vectors of. */
static uint32_t adler32(const unsigned char *bytes, size_t n)
{
  enum { GROUP = 32, SAFE = 5536 }; /* as many bytes as cannot overflow */
  uint32_t a = 1, b = 0;
  while (n > 0) {
    size_t part = n < SAFE ? n : SAFE;
    n -= part;
    for (; part >= GROUP; part -= GROUP, bytes += GROUP) {
      uint32_t sum = 0, weighed = 0;
      for (uint32_t i = 0; i < GROUP; i++) {
        sum += bytes[i];
        weighed += (GROUP - i) * bytes[i];
      }
      b += GROUP * a + weighed;
      a += sum;
    }
    for (; part > 0; part--) b += a += *bytes++;
    a %= 65521u;
    b %= 65521u;
  }
  return b << 16 | a;
}

/* 1: as good as random. Of 64 random bytes about 57 differ, and hardly one is equal to the next. */
static int is_noise(const unsigned char *bytes, size_t n)
{
  unsigned char seen[256] = {0};
  const size_t stride = (n / 64) | 1u; /* odd, lest it meet the same record of every signal */
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

static void put_stretch(bits *b, const unsigned char *bytes, size_t n, int noise)
{
  const size_t most = noise ? STORED : BLOCK;
  while (n > 0 && !b->full) {
    const int part = (int)(n < most ? n : most);
    if (noise)
      put_stored(b, bytes, part, 0);
    else
      put_coded(b, bytes, part);
    bytes += part;
    n -= (size_t)part;
  }
}

size_t ga__pack(unsigned char *out, unsigned char *work, const double *values, size_t n, size_t run)
{
  const size_t stretch = run > STRETCH ? run : STRETCH, total = 8 * n;
  bits b = {.out = out, .room = total};
  size_t begin = 0;
  uint32_t sum;
  int noise = -1;
  shuffle(work, (const unsigned char *)values, n);
  put(&b, 0x0178, 16);
  for (size_t at = 0; at < total; at += stretch) { /* stretches of one kind are put together */
    const size_t length = total - at < stretch ? total - at : stretch;
    const int kind = is_noise(work + at, length);
    if (kind != noise && at > begin) {
      put_stretch(&b, work + begin, at - begin, noise);
      begin = at;
    }
    noise = kind;
  }
  put_stretch(&b, work + begin, total - begin, noise);
  put_stored(&b, work, 0, 1);
  sum = adler32(work, total);
  for (int shift = 24; shift >= 0; shift -= 8) put(&b, sum >> shift & 0xffu, 8);
  return b.full || b.used >= total ? 0 : b.used;
}
