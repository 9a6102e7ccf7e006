/* measure COMMAND...: runs it and prints what it took: seconds of the processor, user and system, and the
 * largest memory [kB]. Its own output is thrown away, its exit code returned. */
#define _DEFAULT_SOURCE /* wait4 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
  struct rusage used;
  int how = 0;
  if (argc < 2) return fputs("usage: measure COMMAND...\n", stderr), 2;
  const pid_t child = fork();
  if (child == 0) become(argv + 1);
  if (child < 0 || wait4(child, &how, 0, &used) != child) return perror("measure"), 2;
  printf("%.6f %.6f %ld\n", seconds(used.ru_utime), seconds(used.ru_stime), used.ru_maxrss);
  return WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}
