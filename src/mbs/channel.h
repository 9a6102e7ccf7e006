/* Channels: the signals of one part. The signal's name is "part.channel". */
#ifndef GALPHA_MBS_CHANNEL_H
#define GALPHA_MBS_CHANNEL_H

#include "mbs/element.h"

typedef struct ga__channel {
  char name[32]; /* "": the part itself */
  const char *unit;
  int coordinate; /* of a joint, −1: none */
  ga__probe probe;
} ga__channel;

#define GA__NO_PROBE                                                                                         \
  (ga__probe)                                                                                                \
  {                                                                                                          \
    .of = -1, .from = -1, .axes = -1, .joint = -1, .owner = -1, .gauge = -1, .index = -1, .turns = -1        \
  }

/* Fills a signal definition; all other members get their defaults. */
void ga__signal_set(ga__signal_def *to, const char *name, const char *unit, ga__probe_kind kind,
                    int component);
/* Component i of a reaction: fx, fy, fz, mx, my, mz. */
void ga__signal_set_reaction(ga__signal_def *to, int i, ga__probe_kind kind);

/* Before ga__signals_create() the probes of laws, sensors and rolling contacts are incomplete. */
int ga__channels_count(const ga__mbs_model *b, int part);
void ga__channel_get(const ga__mbs_model *b, int part, int c, ga__channel *to);
void ga__channel_probe(const ga__mbs_model *b, int part, int c, ga__probe *to); /* without making its name */
/* The part that signal i belongs to; n_parts: an energy. */
int ga__part_of_signal(const ga__mbs_model *b, int i);
void ga__channel_name(char *text, size_t size, const char *part, const char *channel);
/* Finds the part, the channel and its number by the name of a signal; returns 0 if there is none. *owner (may
 * be NULL): the part that the name begins with, −1: none. */
int ga__channel_find(const ga__mbs_model *b, const char *name, int *part, ga__channel *to, int *number,
                     int *owner);
/* The most similar name of a signal; "": none is similar. */
void ga__channel_nearest(const ga__mbs_model *b, const char *name, char nearest[GA_TEXT_PIECE]);
const char *ga__energy_name(int i);
const ga__joint *ga__joint_of(const ga__mbs_model *b, int part); /* NULL: none */

#endif
