# Fails when a file includes a layer that its own layer may not see.
#
#   cmake -DSOURCE_DIR=<root of the tree> -P cmake/check_layers.cmake
#
# Looked at: src/<layer>/, app/, and the public headers include/galpha/<layer>.h. An include belongs to a layer as
# "galpha/core.h" (public), as "core/core_impl.h" (internal), or as either behind any number of "../".
# "galpha/galpha.h" is every layer at once, so only the app may include it.
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/layers.cmake")

set(problems "")

# The layer that an included path belongs to: a layer, "all" for galpha.h, "unknown" for another public header that
# no layer owns, or empty for what is not ours.
function(layer_of_include path public result)
  set(layer "")
  string(REPLACE ";" "|" any_layer "${galpha_layers}")
  if(path MATCHES "(^|/)galpha/([^/]+)\\.h$" OR (public AND path MATCHES "^(\\./)?()([^/]+)\\.h$"))
    get_filename_component(layer "${path}" NAME_WE)
    if(layer STREQUAL "galpha")
      set(layer all)
    elseif(NOT layer IN_LIST galpha_layers)
      set(layer unknown)
    endif()
  elseif(path MATCHES "(^|/)(${any_layer})/[^/]+$")
    set(layer "${CMAKE_MATCH_2}")
  endif()
  set(${result} "${layer}" PARENT_SCOPE)
endfunction()

function(check_file file layer public)
  file(RELATIVE_PATH name "${SOURCE_DIR}" "${file}")
  file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
  foreach(line IN LISTS lines)
    # Quoted includes inside the public headers may be relative to them; those in <> never are.
    string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*([\"<])([^\">]*).*" "\\1;\\2" parts "${line}")
    list(GET parts 0 quote)
    list(GET parts 1 path)
    set(relative FALSE)
    if(public AND quote STREQUAL "\"")
      set(relative TRUE)
    endif()
    layer_of_include("${path}" ${relative} target)
    if(target STREQUAL "unknown")
      list(APPEND problems "${name}: includes ${path}, which belongs to no layer of cmake/layers.cmake")
    elseif(target AND NOT layer STREQUAL target AND NOT target IN_LIST galpha_below_${layer}
           AND NOT (target STREQUAL "all" AND layer STREQUAL "app"))
      list(APPEND problems "${name}: layer ${layer} must not include ${path}")
    endif()
  endforeach()
  set(problems "${problems}" PARENT_SCOPE)
endfunction()

file(GLOB folders LIST_DIRECTORIES TRUE "${SOURCE_DIR}/src/*" "${SOURCE_DIR}/app")
foreach(folder IN LISTS folders)
  get_filename_component(layer "${folder}" NAME)
  if(NOT IS_DIRECTORY "${folder}")
    continue()
  elseif(NOT layer IN_LIST galpha_layers)
    list(APPEND problems "src/${layer}: not a layer of cmake/layers.cmake")
    continue()
  endif()
  file(GLOB_RECURSE files "${folder}/*.c" "${folder}/*.h")
  foreach(file IN LISTS files)
    check_file("${file}" "${layer}" FALSE)
  endforeach()
endforeach()

file(GLOB headers "${SOURCE_DIR}/include/galpha/*.h")
foreach(header IN LISTS headers)
  get_filename_component(layer "${header}" NAME_WE)
  if(layer STREQUAL "galpha")
    continue()
  elseif(NOT layer IN_LIST galpha_layers)
    list(APPEND problems "include/galpha/${layer}.h: not named after a layer of cmake/layers.cmake")
    continue()
  endif()
  check_file("${header}" "${layer}" TRUE)
endforeach()

if(problems)
  list(JOIN problems "\n  " text)
  message(FATAL_ERROR "The layers are violated:\n  ${text}")
endif()
