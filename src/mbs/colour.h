/* Colours by name. (drawn.c) */
#ifndef GALPHA_MBS_COLOUR_H
#define GALPHA_MBS_COLOUR_H

#define GA__COLOUR_NAMES                                                                                     \
  "black, white, grey, silver, red, orange, yellow, green, blue, purple, brown, pink, cyan, steel, rubber, " \
  "wood"

/* 0xrrggbb of "#rrggbb" or a name; −1: NULL, none; −2: there is no such colour. */
int ga__colour_of(const char *text);

#endif
