/* Vectors of four doubles, for innermost loops. A function marked GA__WIDE is compiled twice, for
 * processors with AVX2 and for all others; the loader chooses. Neither version fuses products and sums, so
 * both give the same bits. Such functions must be static: others would be exported from the library even if
 * hidden.
 *
 * Vectors of three are loaded with a fourth number that is ignored: there must be memory behind their end;
 * it is never written. */
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

/* Sanitizers cannot handle the choice at load time (ifunc); other compilers and C libraries do not support
 * it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__) &&             \
    !defined(GA__SANITIZED)
#define GA__WIDE __attribute__((target_clones("avx2", "default")))
#else
#define GA__WIDE
#endif

/* Vectors are passed to inlined functions only, so the calling convention does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
/* Before a loop whose iterations are independent, although the compiler cannot prove it. */
#if defined(__clang__)
#define GA__INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define GA__INDEPENDENT _Pragma("GCC ivdep")
#else
#define GA__INDEPENDENT
#endif

#define GA__INLINE static inline __attribute__((always_inline))

/* Aligned as double: may be loaded from anywhere in an array. */
typedef double ga__quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef double ga__duo __attribute__((vector_size(16), aligned(8), may_alias));
typedef long long ga__quad_mask __attribute__((vector_size(32)));

/* Picks from a (0 to 3) and b (4 to 7). Older compilers require both to have the same type, attributes
 * included. */
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

/* Three numbers. The fourth repeats the third: for a 0 compilers use an instruction (vmovq between
 * registers) that valgrind does not support. */
#define GA__QUAD3(x, y, z) ((ga__quad){x, y, z, z})
/* Column j of the unit matrix */
#define GA__QUAD_UNIT(j) ((ga__quad){(j) == 0, (j) == 1, (j) == 2, 0})

/* Loads three numbers in the two pieces that ga__quad_store3() writes, so that store forwarding works. */
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

/* Elementwise maximum; b where a is NaN. */
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
