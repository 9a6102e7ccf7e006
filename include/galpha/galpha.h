/* galpha.h: everything but files: models are in galpha/model.h, results in galpha/result.h. */
#ifndef GALPHA_H
#define GALPHA_H

#include "galpha/base.h"
#include "galpha/lin.h"
#include "galpha/lie.h"
#include "galpha/expr.h"
#include "galpha/core.h"
#include "galpha/control.h"
#include "galpha/mbs.h"

#endif
