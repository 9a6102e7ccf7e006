/* Run when the build is configured: whether the libraries that were found can be used as their headers say.
 * Where header and library are of different versions or kinds, numbers would be wrong without a word. Prints
 * a line for each that is not as it should be. */
#include <SuiteSparse_config.h>
#include <amd.h>
#include <arpack.h>
#include <btf.h>
#include <ccd/ccd.h>
#include <colamd.h>
#include <hdf5.h>
#include <klu.h>
#include <lapacke.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>
#include <zlib.h>

static int failures;

static void expect(int right, const char *library, const char *otherwise)
{
  if (right) return;
  printf("%s: %s\n", library, otherwise);
  failures++;
}

/* A = [1 2; 3 4] by columns. The second row is the first pivot: 2, 2, counted from 1. */
static void check_lapacke(void)
{
  double a[4] = {1, 3, 2, 4};
  lapack_int pivot[4] = {-1, -1, -1, -1};
  const lapack_int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, 2, 2, a, 2, pivot);
  expect(info == 0 && a[0] == 3 && a[2] == 4 && pivot[0] == 2 && pivot[1] == 2 && pivot[2] == -1, "lapacke",
         "dgetrf of a 2x2 matrix is wrong; is its integer not of 32 bits?");
}

/* [0 2; 4 0] x = [6; 8] */
static void check_klu(void)
{
  int start[3] = {0, 1, 2}, row[2] = {1, 0};
  double value[2] = {4, 2}, x[2] = {6, 8};
  klu_common common;
  int solved = klu_defaults(&common);
  klu_symbolic *symbolic = klu_analyze(2, start, row, &common);
  klu_numeric *numeric = symbolic ? klu_factor(start, row, value, symbolic, &common) : NULL;
  solved = solved && numeric && klu_solve(symbolic, numeric, 2, 1, x, &common);
  expect(solved && x[0] == 2 && x[1] == 3, "klu", "the solution of a 2x2 system is wrong");
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
}

/* The largest eigenvalue of the diagonal matrix 1, 2, ..., 8. */
static void check_arpack(void)
{
  enum { N = 8, VECTORS = 6, WORK = 3 * VECTORS * (VECTORS + 2) };
  double residual[N], vectors[N * VECTORS], workd[3 * N], workl[WORK], workev[3 * VECTORS], re[3], im[3];
  a_int ido = 0, info = 1, iparam[11] = {1, 0, 100, 1, 0, 0, 1}, ipntr[14], select[VECTORS];
  for (int i = 0; i < N; i++) residual[i] = 1.0 + i % 3;
  for (;;) {
    dnaupd_c(&ido, "I", N, "LM", 1, 1e-12, residual, VECTORS, vectors, N, iparam, ipntr, workd, workl, WORK,
             &info);
    if (ido != 1 && ido != -1) break;
    for (int i = 0; i < N; i++) workd[ipntr[1] - 1 + i] = (i + 1) * workd[ipntr[0] - 1 + i];
  }
  if (info == 0)
    dneupd_c(1, "P", select, re, im, vectors, N, 0.0, 0.0, workev, "I", N, "LM", 1, 1e-12, residual, VECTORS,
             vectors, N, iparam, ipntr, workd, workl, WORK, &info);
  expect(info == 0 && re[0] > N - 1e-9 && re[0] < N + 1e-9, "arpack",
         "the largest eigenvalue of an 8x8 matrix is wrong; is its integer not of 32 bits?");
}

/* A matrix of ones on the other diagonal: one transversal, two orders. */
static void check_orders(void)
{
  int start[3] = {0, 1, 2}, row[2] = {1, 0}, match[2], work[10], order[2], stats[COLAMD_STATS];
  int column[3] = {0, 1, 2}, space[512] = {1, 0};
  double effort;
  expect(btf_maxtrans(2, 2, start, row, 0, &effort, match, work) == 2 && match[0] == 1 && match[1] == 0,
         "btf", "the transversal of a 2x2 matrix is wrong");
  expect(amd_order(2, start, row, order, NULL, NULL) >= AMD_OK && order[0] + order[1] == 1, "amd",
         "the order of a 2x2 matrix is wrong");
  expect(colamd_recommended(2, 2, 2) <= 512 && colamd(2, 2, 512, space, column, NULL, stats) &&
             column[0] + column[1] == 1,
         "colamd", "the order of a 2x2 matrix is wrong");
}

/* Balls of radius 1 about 0 and about a point at distance 1.9 or 2.1. */
static void ball_support(const void *ball, const ccd_vec3_t *dir, ccd_vec3_t *out)
{
  ccdVec3Copy(out, dir);
  ccdVec3Normalize(out);
  out->v[0] += *(const double *)ball;
}

static void ball_centre(const void *ball, ccd_vec3_t *out)
{
  ccdVec3Set(out, *(const double *)ball, 0, 0);
}

static void check_ccd(void)
{
  const double at[3] = {0, 1.9, 2.1};
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = ball_support;
  ccd.center1 = ccd.center2 = ball_centre;
  ccd.max_iterations = 100;
  expect(sizeof(ccd_real_t) == sizeof(double) && ccdMPRIntersect(&at[0], &at[1], &ccd) &&
             !ccdMPRIntersect(&at[0], &at[2], &ccd),
         "ccd", "whether two balls meet is wrong; is it of single precision?");
}

int main(void)
{
  int version[3];
  unsigned major, minor, release;
  SuiteSparse_version(version);
  expect(version[0] == SUITESPARSE_MAIN_VERSION && version[1] == SUITESPARSE_SUB_VERSION, "suitesparseconfig",
         "its header is of another version");
  check_klu();
  check_orders();
  check_lapacke();
  check_arpack();
  check_ccd();
  expect(H5get_libversion(&major, &minor, &release) >= 0 && major == H5_VERS_MAJOR &&
             minor == H5_VERS_MINOR && release == H5_VERS_RELEASE,
         "hdf5", "its header is of another version");
  expect(zlibVersion()[0] == ZLIB_VERSION[0], "zlib", "its header is of another version");
  yaml_get_version(version, version + 1, version + 2);
  expect(version[0] == 0 && version[1] >= 1, "yaml", "its version is unknown");
  return failures > 0;
}
