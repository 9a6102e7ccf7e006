/* Four numbers at once, for the innermost loops. Compilers turn this into what the processor has: with
 * GA__WIDE a function is compiled twice, for processors with AVX2 and for all others, and the right one is
 * taken when the library is loaded. Neither fuses products and sums, so that both give the same bits. Such
 * functions have to be static: others would be exported from the library, hidden or not.
 *
 * Vectors of three are kept with a fourth number that means nothing: it may be read beyond their end, where
 * there has to be memory, and is never stored. */
#ifndef GALPHA_BASE_QUAD_H
#define GALPHA_BASE_QUAD_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define GA__SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GA__SANITIZED 1
#endif

/* Sanitizers do not bear the choice at loading; other compilers and C libraries have none, or another. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__) &&             \
    !defined(GA__SANITIZED)
#define GA__WIDE __attribute__((target_clones("avx2", "default")))
#else
#define GA__WIDE
#endif

/* Vectors are handed to inlined functions only, so that no calling convention matters. */
#pragma GCC diagnostic ignored "-Wpsabi"
/* Before a loop whose iterations touch different numbers, whatever the compiler may fear of pointers. */
#if defined(__clang__)
#define GA__INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define GA__INDEPENDENT _Pragma("GCC ivdep")
#else
#define GA__INDEPENDENT
#endif

#define GA__INLINE static inline __attribute__((always_inline))

/* Anywhere in arrays of double. */
typedef double ga__quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef double ga__duo __attribute__((vector_size(16), aligned(8), may_alias));
typedef long long ga__quad_mask __attribute__((vector_size(32)));

/* Numbers of a (0 to 3) and b (4 to 7). Older compilers want both of one type, attributes included. */
#if defined(__clang__) || __GNUC__ >= 12
#define GA__SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define GA__SHUFFLE(a, b, i, j, k, l)                                                                        \
  __builtin_shuffle((ga__quad)(a), (ga__quad)(b), (ga__quad_mask){i, j, k, l})
#endif

GA__INLINE ga__quad ga__quad_load(const double *from)
{
  return *(const ga__quad *)from;
}

/* Of three numbers. The fourth is not 0 but the third again: for a 0 compilers take an instruction (vmovq
 * between registers) that valgrind does not know. */
#define GA__QUAD3(x, y, z) ((ga__quad){x, y, z, z})
/* Column j of the unit matrix */
#define GA__QUAD_UNIT(j) ((ga__quad){(j) == 0, (j) == 1, (j) == 2, 0})

/* Three alone; loaded as ga__quad_store3() stores, so that what has just been stored is available. */
GA__INLINE ga__quad ga__quad_load3(const double *from)
{
  const ga__duo low = *(const ga__duo *)from;
  return GA__QUAD3(low[0], low[1], from[2]);
}

/* v with a 0 as its fourth number */
GA__INLINE ga__quad ga__quad_only3(ga__quad v)
{
  return (ga__quad)((ga__quad_mask)v & (ga__quad_mask){-1, -1, -1, 0});
}

/* to[0..2] = v, leaving the fourth out */
GA__INLINE void ga__quad_store3(double *to, ga__quad v)
{
  *(ga__duo *)to = (ga__duo){v[0], v[1]};
  to[2] = v[2];
}

/* a × b */
GA__INLINE ga__quad ga__quad_cross(ga__quad a, ga__quad b)
{
  return GA__SHUFFLE(a, a, 1, 2, 0, 3) * GA__SHUFFLE(b, b, 2, 0, 1, 3) -
         GA__SHUFFLE(a, a, 2, 0, 1, 3) * GA__SHUFFLE(b, b, 1, 2, 0, 3);
}

/* The larger of each two; b where a is NaN. */
GA__INLINE ga__quad ga__quad_larger(ga__quad a, ga__quad b)
{
  const ga__quad_mask from_a = a > b;
  return (ga__quad)(((ga__quad_mask)a & from_a) | ((ga__quad_mask)b & ~from_a));
}

/* The columns of A[9], row-major. */
GA__INLINE void ga__quad_columns(ga__quad C[3], const double *A)
{
  const ga__quad a = ga__quad_load(A), b = ga__quad_load(A + 3), c = ga__quad_load3(A + 6);
  const ga__quad low = GA__SHUFFLE(a, b, 0, 4, 2, 6), high = GA__SHUFFLE(a, b, 1, 5, 3, 7);
  C[0] = GA__SHUFFLE(low, c, 0, 1, 4, 5);
  C[1] = GA__SHUFFLE(high, c, 0, 1, 5, 4);
  C[2] = GA__SHUFFLE(low, c, 2, 3, 6, 7);
}

/* C x, C by columns */
GA__INLINE ga__quad ga__quad_times(const ga__quad C[3], const double *x)
{
  return C[0] * x[0] + C[1] * x[1] + C[2] * x[2];
}

#endif
