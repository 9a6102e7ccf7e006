/* Files that the program writes in one piece. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOT_REGULAR = -1 };

int app_output_check(const char *path)
{
  struct stat now;
  if (stat(path, &now) == 0) return S_ISREG(now.st_mode) ? 0 : NOT_REGULAR;
  if (errno != ENOENT) return errno;
  return lstat(path, &now) == 0 ? ENOENT : 0; /* a link that leads nowhere */
}

int app_output_folder(const char *path)
{
  char real[PATH_MAX], folder[PATH_MAX];
  const char *target = realpath(path, real) ? real : path, *slash = strrchr(target, '/');
  const size_t bytes = slash ? (size_t)(slash - target) + 1 : 0;
  if (bytes >= sizeof folder) return ENAMETOOLONG;
  memcpy(folder, target, bytes);
  folder[bytes] = '\0';
  return access(bytes ? folder : ".", W_OK) == 0 ? 0 : errno;
}

int app_close_on_exec(int fd)
{
  return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? errno : 0;
}

static int write_all(int fd, const char *bytes, size_t n)
{
  while (n > 0) {
    const ssize_t done = write(fd, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    bytes += done;
    n -= (size_t)done;
  }
  return 0;
}

/* The permissions of the file that is replaced, or those of a new one. */
static mode_t permissions(const char *path)
{
  struct stat now;
  if (stat(path, &now) == 0) return now.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

int app_output_write(const char *path, const char *bytes, size_t n)
{
  static const char mark[] = ".part-XXXXXX";
  char real[PATH_MAX], hidden[PATH_MAX + sizeof mark];
  int error = app_output_check(path);
  if (error) return error;
  const char *target = realpath(path, real) ? real : path;
  if (strlen(target) + sizeof mark > sizeof hidden) return ENAMETOOLONG;
  strcpy(hidden, target);
  strcat(hidden, mark);
  const int fd = mkstemp(hidden);
  if (fd < 0) return errno;
  error = app_close_on_exec(fd);
  if (!error) error = write_all(fd, bytes, n);
  if (!error && fchmod(fd, permissions(target))) error = errno;
  if (close(fd) && !error) error = errno;
  if (!error && rename(hidden, target)) error = errno;
  if (error) unlink(hidden);
  return error;
}

int app_output_is_source(const app_arguments *a, const char *path)
{
  return app_misused(
      a, "%s is a file that the model is read from; it is left as it is: give another name, -o", path);
}

int app_output_refused(const app_arguments *a, const char *path, int error)
{
  if (error == NOT_REGULAR) return app_misused(a, "%s exists and is not a regular file", path);
  fprintf(stderr, "galpha %s: %s cannot be written: %s\n", a->command->name, path, strerror(error));
  return APP_FAILED;
}
