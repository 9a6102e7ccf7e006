/* measure COMMAND... [-- COMMAND...]: runs them, all at once on one processor, and prints a line for each, in
 * this order, of what it took: seconds of the processor, user and system, and the largest memory [kB]. They
 * take turns every few milliseconds, so that whatever else slows the machine down meets all of them alike,
 * and their times can be compared. Their output is thrown away; returns 0 where all of them did. */
#define _GNU_SOURCE /* sched_setaffinity, wait4 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8 };

static double seconds(struct timeval t)
{
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void become(char **command)
{
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  execv(command[0], command);
  perror(command[0]);
  _exit(127);
}

/* On the processor that this happens to run on; where it cannot be had they run anywhere. */
static void stay(void)
{
  cpu_set_t set;
  const int here = sched_getcpu();
  CPU_ZERO(&set);
  if (here < 0) return;
  CPU_SET((size_t)here, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* Cuts the arguments at "--" and NULL ends each command; 0: too many, or one is empty. */
static int split(char **argv, char **command[MOST])
{
  int n = 0;
  command[n++] = argv;
  for (char **a = argv; *a; a++) {
    if (strcmp(*a, "--") != 0) continue;
    if (n == MOST) return 0;
    *a = NULL;
    command[n++] = a + 1;
  }
  for (int i = 0; i < n; i++)
    if (!command[i][0]) return 0;
  return n;
}

int main(int argc, char **argv)
{
  char **command[MOST];
  pid_t child[MOST];
  const int n = argc < 2 ? 0 : split(argv + 1, command);
  int failed = 0;
  if (!n) return fputs("usage: measure COMMAND... [-- COMMAND...]\n", stderr), 2;
  if (n > 1) stay();
  for (int i = 0; i < n; i++) {
    child[i] = fork();
    if (child[i] == 0) become(command[i]);
    if (child[i] < 0) return perror("measure"), 2;
  }
  for (int i = 0; i < n; i++) {
    struct rusage used;
    int how = 0;
    if (wait4(child[i], &how, 0, &used) != child[i]) return perror("measure"), 2;
    printf("%.6f %.6f %ld\n", seconds(used.ru_utime), seconds(used.ru_stime), used.ru_maxrss);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) failed = 1;
  }
  return failed;
}
