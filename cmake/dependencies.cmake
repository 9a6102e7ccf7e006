# What libgalpha links, each as an imported target galpha::dep_<name>. Used by the build, and installed for those who
# link the static library. What is missing ends up in galpha_missing, one line each with the Debian package.
#
# Where things are looked for: CMAKE_PREFIX_PATH and the other variables of CMake; the places in galpha_places, where an
# installed galpha was built with them; prefixes that pkg-config names; the system's places. The library is looked for
# beside its header first, so that both are of one version. GALPHA_<name>_LIBRARY and GALPHA_<name>_INCLUDE_DIR name files
# that are found in no such way. Where files are not found so, and where <package>_DIR or <package>_ROOT is given, the
# dependency's own package for find_package is taken.
set(galpha_missing "")
set(galpha_dependencies "")
find_package(PkgConfig QUIET)

# Sets `target` to the first target of the package config[0] among config[1...] that exists, or to nothing.
macro(galpha_package_target target config)
  set(${target} "")
  set(galpha_targets ${config})
  list(POP_FRONT galpha_targets galpha_package)
  find_package(${galpha_package} QUIET CONFIG)
  foreach(galpha_candidate IN LISTS galpha_targets)
    if(TARGET ${galpha_candidate} AND NOT ${target})
      set(${target} ${galpha_candidate})
    endif()
  endforeach()
endmacro()

# Sorts folders: `own` are those in a prefix of their own, `usual` those in or below the compiler's own places.
function(galpha_sort_folders folders own usual)
  set(others "")
  set(known "")
  foreach(folder IN LISTS folders)
    set(list others)
    foreach(place IN LISTS CMAKE_C_IMPLICIT_LINK_DIRECTORIES CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
      string(FIND "${folder}/" "${place}/" at)
      if(at EQUAL 0)
        set(list known)
      endif()
    endforeach()
    list(APPEND ${list} "${folder}")
  endforeach()
  set(${own} "${others}" PARENT_SCOPE)
  set(${usual} "${known}" PARENT_SCOPE)
endfunction()

# Header and library, into the cache variables GALPHA_<name>_INCLUDE_DIR and GALPHA_<name>_LIBRARY.
function(galpha_find_files name header folders libraries modules)
  set(include_hints "")
  set(library_hints "")
  foreach(module IN LISTS modules)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(GALPHA_PC_${module} QUIET ${module})
      list(APPEND include_hints ${GALPHA_PC_${module}_INCLUDE_DIRS})
      list(APPEND library_hints ${GALPHA_PC_${module}_LIBRARY_DIRS})
    endif()
  endforeach()
  galpha_sort_folders("${include_hints}" include_hints include_paths)
  galpha_sort_folders("${library_hints}" library_hints library_paths)
  set(beside "")
  if(header)
    find_path(GALPHA_${name}_INCLUDE_DIR NAMES ${header} HINTS ${galpha_places} ${include_hints} PATHS ${include_paths}
              PATH_SUFFIXES ${folders} include)
    if(GALPHA_${name}_INCLUDE_DIR MATCHES "^(.*)/include(/.*)?$")
      set(beside "${CMAKE_MATCH_1}")
    endif()
    get_filename_component(variant "${GALPHA_${name}_INCLUDE_DIR}" NAME)
    string(REPLACE "%" "${variant}" libraries "${libraries}")
  endif()
  find_library(GALPHA_${name}_LIBRARY NAMES ${libraries} NAMES_PER_DIR PATHS ${beside} NO_DEFAULT_PATH
               PATH_SUFFIXES lib/${CMAKE_LIBRARY_ARCHITECTURE} lib64 lib)
  find_library(GALPHA_${name}_LIBRARY NAMES ${libraries} NAMES_PER_DIR HINTS ${galpha_places} ${library_hints}
               PATHS ${library_paths} PATH_SUFFIXES lib)
  mark_as_advanced(GALPHA_${name}_LIBRARY GALPHA_${name}_INCLUDE_DIR)
endfunction()

# galpha_dependency(name PACKAGE <of Debian> LIBRARIES <name>... [HEADER <file>] [FOLDERS <that the header may be in>...]
#                   [MODULES <of pkg-config>...] [CONFIG <package> <target>...] [OPTIONAL])
# OPTIONAL: where it is not found it is left out, unless an installed galpha was built with it (galpha_optional).
# % in the name of a library stands for the last folder of its header's path.
function(galpha_dependency name)
  cmake_parse_arguments(PARSE_ARGV 1 this "OPTIONAL" "PACKAGE;HEADER" "LIBRARIES;FOLDERS;MODULES;CONFIG")
  set(link "")
  if(this_CONFIG)
    list(GET this_CONFIG 0 package)
    if(${package}_DIR OR ${package}_ROOT OR DEFINED ENV{${package}_ROOT} OR DEFINED ENV{${package}_DIR})
      galpha_package_target(link "${this_CONFIG}")
      if(NOT link)
        message(WARNING "${package}_DIR or ${package}_ROOT is given, but there is no package ${package} with a library.")
      endif()
    endif()
  endif()
  if(NOT link)
    galpha_find_files(${name} "${this_HEADER}" "${this_FOLDERS}" "${this_LIBRARIES}" "${this_MODULES}")
    if(GALPHA_${name}_LIBRARY AND (GALPHA_${name}_INCLUDE_DIR OR NOT this_HEADER))
      set(link "${GALPHA_${name}_LIBRARY}")
    elseif(this_CONFIG)
      galpha_package_target(link "${this_CONFIG}")
    endif()
  endif()
  if(NOT link AND this_OPTIONAL AND NOT name IN_LIST galpha_optional)
    return()
  endif()
  list(APPEND galpha_dependencies galpha::dep_${name})
  set(galpha_dependencies "${galpha_dependencies}" PARENT_SCOPE)
  if(NOT link)
    list(APPEND galpha_missing "${name} (Debian package ${this_PACKAGE})")
    set(galpha_missing "${galpha_missing}" PARENT_SCOPE)
  elseif(NOT TARGET galpha::dep_${name})
    add_library(galpha::dep_${name} INTERFACE IMPORTED)
    set_target_properties(galpha::dep_${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${link}")
    if(this_HEADER AND NOT TARGET ${link})
      set_target_properties(galpha::dep_${name} PROPERTIES
                            INTERFACE_INCLUDE_DIRECTORIES "${GALPHA_${name}_INCLUDE_DIR}")
    endif()
  endif()
endfunction()

set(galpha_sparse PACKAGE libsuitesparse-dev FOLDERS suitesparse SuiteSparse)
galpha_dependency(klu ${galpha_sparse} HEADER klu.h LIBRARIES klu MODULES KLU
                  CONFIG KLU SuiteSparse::KLU SuiteSparse::KLU_static)
galpha_dependency(amd ${galpha_sparse} HEADER amd.h LIBRARIES amd MODULES AMD
                  CONFIG AMD SuiteSparse::AMD SuiteSparse::AMD_static)
galpha_dependency(btf ${galpha_sparse} HEADER btf.h LIBRARIES btf MODULES BTF
                  CONFIG BTF SuiteSparse::BTF SuiteSparse::BTF_static)
galpha_dependency(colamd ${galpha_sparse} HEADER colamd.h LIBRARIES colamd MODULES COLAMD
                  CONFIG COLAMD SuiteSparse::COLAMD SuiteSparse::COLAMD_static)
galpha_dependency(suitesparseconfig ${galpha_sparse} HEADER SuiteSparse_config.h LIBRARIES suitesparseconfig
                  MODULES SuiteSparse_config
                  CONFIG SuiteSparse_config SuiteSparse::SuiteSparseConfig SuiteSparse::SuiteSparseConfig_static)
# LAPACKE has a library of its own, or is part of OpenBLAS.
galpha_dependency(lapacke PACKAGE liblapacke-dev HEADER lapacke.h FOLDERS lapacke openblas LIBRARIES lapacke openblas openblasp
                  MODULES lapacke CONFIG LAPACKE lapacke)
galpha_dependency(arpack PACKAGE libarpack2-dev HEADER arpack.h FOLDERS arpack arpack-ng LIBRARIES arpack MODULES arpack
                  CONFIG arpackng ARPACK::ARPACK arpack)
galpha_dependency(ccd PACKAGE libccd-dev HEADER ccd/ccd.h LIBRARIES ccd MODULES ccd CONFIG ccd ccd)
galpha_dependency(yaml PACKAGE libyaml-dev HEADER yaml.h LIBRARIES yaml MODULES yaml-0.1 CONFIG yaml yaml)
galpha_dependency(zlib PACKAGE zlib1g-dev HEADER zlib.h LIBRARIES z zlib MODULES zlib)
# Serial HDF5 before parallel ones, whose header and library have names of their own on some systems.
galpha_dependency(hdf5 PACKAGE libhdf5-dev HEADER hdf5.h FOLDERS hdf5/serial hdf5/openmpi hdf5/mpich hdf5
                  LIBRARIES hdf5_% hdf5 MODULES hdf5-serial hdf5
                  CONFIG hdf5 hdf5::hdf5-shared hdf5-shared hdf5::hdf5-static hdf5-static)
galpha_dependency(blas PACKAGE libopenblas-dev LIBRARIES openblas openblasp flexiblas lapack MODULES openblas
                  CONFIG OpenBLAS OpenBLAS::OpenBLAS)

# Optimisation; everything else does without it.
if(NOT DEFINED GALPHA_NLOPT OR GALPHA_NLOPT)
  galpha_dependency(nlopt PACKAGE libnlopt-dev HEADER nlopt.h LIBRARIES nlopt MODULES nlopt CONFIG NLopt NLopt::nlopt OPTIONAL)
endif()

# The headers of a parallel HDF5 include those of MPI. A static one needs the system's library for plugins.
if(TARGET galpha::dep_hdf5)
  file(GLOB galpha_configured "${GALPHA_hdf5_INCLUDE_DIR}/H5pubconf*.h")
  set(galpha_parallel "")
  foreach(galpha_file IN LISTS galpha_configured)
    file(STRINGS "${galpha_file}" galpha_line REGEX "^#define H5_HAVE_PARALLEL 1")
    list(APPEND galpha_parallel ${galpha_line})
  endforeach()
  set_property(TARGET galpha::dep_hdf5 APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${CMAKE_DL_LIBS})
  if(galpha_parallel)
    find_package(MPI QUIET COMPONENTS C)
    if(MPI_C_FOUND)
      set_property(TARGET galpha::dep_hdf5 APPEND PROPERTY INTERFACE_LINK_LIBRARIES MPI::MPI_C)
    else()
      list(APPEND galpha_missing "MPI, which the HDF5 in ${GALPHA_hdf5_INCLUDE_DIR} needs and a serial one does not")
    endif()
  endif()
endif()
