/* Tables of the fields of definitions and options: offset in the struct, condition, and name, unit and
 * description in model files. Checks, readers, schema and pages come from them. */
#ifndef GALPHA_MBS_FIELD_H
#define GALPHA_MBS_FIELD_H

#include "galpha/expr.h"

typedef enum ga__field_rule {
  GA__RULE_TEXT,          /* const char *, may be NULL, but not empty */
  GA__RULE_TEXT_NEEDED,   /* note: what it names */
  GA__RULE_NUMBER,        /* double[count] */
  GA__RULE_NUMBER_OR_NAN, /* NaN: as at the start, or what nan_about says */
  GA__RULE_POSITIVE,
  GA__RULE_NOT_NEGATIVE,
  GA__RULE_LIMIT,           /* double, may be infinite: no limit */
  GA__RULE_SIX,             /* double[6]: three of `unit`, three of `unit_other` */
  GA__RULE_SIX_BY_SIX,      /* double[36], four 3×3 blocks with their units */
  GA__RULE_FLAG,            /* int, 0 or 1 */
  GA__RULE_INTEGER,         /* int from `low` to `high` */
  GA__RULE_CHOICE,          /* an enum of n_choices values from 0; note: its type */
  GA__RULE_POSE,            /* ga_pose */
  GA__RULE_INPUT,           /* ga_input[count] */
  GA__RULE_FUNCTION,        /* const ga_function *, may be NULL */
  GA__RULE_FUNCTION_NEEDED, /* not NULL */
  GA__RULE_LIST,            /* const double *; its length goes to the int at `rows` */
  GA__RULE_FLAGS,           /* const int *, each 0 or 1, likewise */
  GA__RULE_MATRIX           /* const double *, row-major; its size goes to the ints at `rows` and `columns` */
} ga__field_rule;

typedef enum ga__refers {
  GA__REFERS_NOTHING = 0,
  GA__REFERS_PART,       /* a part, or "part.channel" */
  GA__REFERS_EXPRESSION, /* an expression of signals, and of l and v of a line */
  GA__REFERS_SIGNALS,    /* an expression of signals alone */
  GA__REFERS_PLACE       /* an expression of t and a place x, y */
} ga__refers;

typedef struct ga__field {
  const char *name; /* of the member, and in model files */
  size_t offset;
  int count; /* of numbers or inputs, in an array */
  int least; /* how many of them are required, the others are 0; 0: all */
  ga__field_rule rule;
  ga__refers refers;
  const char *unit;       /* of numbers, as in galpha/expr.h; NULL: any, "1": a plain number */
  const char *unit_other; /* unit if the part acts on an angle; NULL: the same */
  const char *note;       /* see the rules; NULL: none */
  const char *const *choices, *const *choices_about;
  int n_choices;
  long low, high;
  size_t rows, columns; /* GA__AT_INT(): ints that receive the sizes; 0: none */
  size_t given;         /* GA__AT_INT(): int that is set to 1 if the field is given; 0: none */
  unsigned long only;   /* kinds (bits of the field `kind`) that use it; 0: all. See ga__field_kinds() */
  int coordinate;       /* 1 + the number of a coordinate: used by joints that have this one; 0: none */
  int hidden;           /* 1: not in model files */
  int no_default;       /* 1: the default is rarely what is wanted */
  const char *about;    /* one line */
  const struct ga__setting *setting; /* of a setting of a run (model/settings.h); else NULL */
  const char *nan_word;              /* GA__RULE_NUMBER_OR_NAN: the word for NaN in model files; NULL: none */
  const char *nan_about;             /* and what NaN means; NULL: as at the start */
  const char *zero_word;             /* GA__RULE_INTEGER: a word for 0; NULL: none */
} ga__field;

#define GA__AT_INT(type, member) (offsetof(type, member) + 1)

/* A unit as messages show it: "kg*m^2" as "kg m²"; empty for plain numbers. */
void ga__unit_shown(char *text, size_t size, const char *unit);

#endif
