/* Signals of the system that stop the program. */
#define _XOPEN_SOURCE 700 /* SIGXCPU */
#include "interrupt.h"

#include "call.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
  stop_signal = number;
}

int app_stop_asked(void)
{
  return app_call_is_made() ? (app_call_is_stopped() ? SIGINT : 0) : (int)stop_signal;
}

/* A second signal of the same kind ends the program at once. Signals that the parent process ignores, as
 * nohup does with SIGHUP, stay ignored. */
void app_catch_signals(void)
{
  if (app_call_is_made()) return;
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(numbers[i], &action, NULL);
}
