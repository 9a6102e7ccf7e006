/* Signals of the system that stop the program (interrupt.c). */
#ifndef GALPHA_APP_INTERRUPT_H
#define GALPHA_APP_INTERRUPT_H

/* From here on Ctrl-C and the like do not end the program at once. */
void app_catch_signals(void);
/* The signal that has asked the program to stop, or SIGINT for a call that is stopped; 0: none. */
int app_stop_asked(void);

#endif
