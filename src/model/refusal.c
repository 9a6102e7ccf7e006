/* Errors of the builder, reported at their place in the file. */
#include "model/sections.h"

#include "mbs/name.h"
#include <string.h>

/* The item of a field that an error is about: an input of a block by name or number, a number of a list. */
static const ga__tree *find_item(const ga__tree *field, const ga_error *error)
{
  const ga__tree *item = NULL;
  if (field->kind == GA__TREE_MAP && error->item_name[0]) item = ga__map_peek(field, error->item_name);
  if (field->kind == GA__TREE_LIST && error->item >= 0 && error->item < field->n)
    item = field->child[error->item];
  return item ? item : field;
}

/* The value that an error is about; NULL: the part as a whole. */
static const ga__tree *find_value(const ga__tree *part, const ga_error *error)
{
  const ga__tree *field = error->field[0] ? ga__map_peek(part, error->field) : NULL;
  return field ? find_item(field, error) : NULL;
}

/* Place of the name, within an expression, that the error is about. */
static ga__place place_of_name(const ga__tree *value, const ga_error *error)
{
  const size_t bytes = strlen(error->name);
  if (value->kind != GA__TREE_SCALAR || bytes == 0) return value->at;
  const char *at = strstr(value->text, error->name);
  return at ? ga__value_place(value, ga__text_column(value->text, (int)(at - value->text))) : value->at;
}

void ga__report_refusal(ga__reader *reader, const ga__named *named, ga_status status)
{
  if (status == GA_ERR_MEMORY) {
    reader->r->failed = 1;
    return;
  }
  const ga_error *error = &reader->r->ctx->error;
  const ga__tree *value = find_value(named->tree, error);
  ga__report_refused(reader->r->messages, GA_MESSAGE_ERROR,
                     value ? place_of_name(value, error) : named->tree->key_at, error);
}
