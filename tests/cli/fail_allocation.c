/* Loaded before the program: of the allocations that the program itself makes, not its libraries, the one
 * with the number FAIL_AT fails; how many there were is written to COUNT_FILE. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static unsigned long from, to; /* addresses of the program's code */
static long number, fail_at = -1;

static int find_code(struct dl_phdr_info *info, size_t size, void *user)
{
  (void)size, (void)user;
  for (int k = 0; k < info->dlpi_phnum; k++)
    if (info->dlpi_phdr[k].p_type == PT_LOAD && (info->dlpi_phdr[k].p_flags & PF_X))
      from = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr, to = from + info->dlpi_phdr[k].p_memsz;
  return 1; /* the first one is the program */
}

__attribute__((constructor)) static void begin(void)
{
  const char *given = getenv("FAIL_AT");
  dl_iterate_phdr(find_code, NULL);
  if (given) fail_at = atol(given);
}

__attribute__((destructor)) static void end(void)
{
  const char *name = getenv("COUNT_FILE");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", number);
  fclose(file);
}

static int fails(const void *caller)
{
  const unsigned long at = (unsigned long)caller;
  return at >= from && at < to && ++number == fail_at;
}

void *malloc(size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
