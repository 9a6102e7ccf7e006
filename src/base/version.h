/* The version of the library. CMake reads it from here. */
#ifndef GALPHA_BASE_VERSION_H
#define GALPHA_BASE_VERSION_H

#define GA__VERSION "0.1.0"

#endif
