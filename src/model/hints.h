/* Words of other programs, and the words used here. */
#ifndef GA__MODEL_HINTS_H
#define GA__MODEL_HINTS_H

/* A row of the table: words that are not known, and what to do instead. */
typedef struct ga__hint {
  const char *words; /* separated by spaces; case, '_' and '-' do not matter */
  const char *meant; /* one of the expected names; with note_only it only selects the context */
  const char *note;  /* advice; NULL: none */
  int note_only;     /* 1: only the note is shown */
} ga__hint;

/* The row for a word where one of n names is expected; NULL: there is none. */
const ga__hint *ga__hint_find(const char *word, int n, const char *const *names);

#endif
