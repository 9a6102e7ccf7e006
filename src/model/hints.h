/* What users of other programs write, and what it is called here. */
#ifndef GA__MODEL_HINTS_H
#define GA__MODEL_HINTS_H

/* A row of the table: words that are not known, and what to do instead. */
typedef struct ga__hint {
  const char *words; /* separated by spaces; case, '_' and '-' do not matter */
  const char *meant; /* the name that is meant, which has to be among those that are expected; or, where there
                        is a note alone, one that tells where it belongs */
  const char *note;  /* in words; NULL: none */
  int note_only;     /* 1: `meant` is not what is meant */
} ga__hint;

/* The row for a word where one of n names is expected; NULL: there is none. */
const ga__hint *ga__hint_find(const char *word, int n, const char *const *names);

#endif
