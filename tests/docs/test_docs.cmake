# The documentation keeps what it promises: the programs of docs/start-c.md, docs/simulate.md, docs/machines.md,
# docs/large-models.md and docs/evaluate.md are docs/pendulum.c, docs/bouncing_pendulum.c, docs/arm.c, docs/hanging_chain.c and
# docs/small_motions.c, they compile, and they print what the pages show; docs/trust.md has a row for every case of tests/trust; every link to a file of the tree leads
# somewhere; tables of Markdown are drawn as such; docs/develop/architecture.md has every file of the sources once.
#
#   cmake -DSOURCE_DIR=<root of the tree> -DWORK=<folder to work in> -DCC=<C compiler> -DLIBRARY=<libgalpha.so>
#         -P tests/docs/test_docs.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/page.cmake")
set(n 0)
set(n_failed 0)

# report(what problem): a line of TAP; an empty problem is a success.
macro(report what problem)
  math(EXPR n "${n} + 1")
  if("${problem}" STREQUAL "")
    message("ok ${n} - ${what}")
  else()
    math(EXPR n_failed "${n_failed} + 1")
    message("not ok ${n} - ${what}\n${problem}")
  endif()
endmacro()

# ---- Pictures ----

# Each picture of docs/img is in its table of commands, and each of the table is there; screenshots of the viewer have a script of their own.
file(STRINGS "${SOURCE_DIR}/docs/img/figures.txt" rows REGEX "^[a-z]")
set(listed "")
foreach(row IN LISTS rows)
  string(REGEX REPLACE " *\\|.*" "" row "${row}")
  list(APPEND listed "${row}")
endforeach()
file(GLOB pictures RELATIVE "${SOURCE_DIR}/docs/img" "${SOURCE_DIR}/docs/img/*.svg" "${SOURCE_DIR}/docs/img/*.png")
list(FILTER pictures EXCLUDE REGEX "^view_")
set(problem "")
foreach(picture IN LISTS pictures)
  if(NOT picture IN_LIST listed)
    string(APPEND problem "docs/img/${picture} is not in docs/img/figures.txt\n")
  endif()
endforeach()
foreach(picture IN LISTS listed)
  if(NOT picture IN_LIST pictures)
    string(APPEND problem "docs/img/figures.txt: there is no ${picture}\n")
  endif()
endforeach()
report("every picture has its command" "${problem}")

# ---- The programs of the pages ----

file(REMOVE_RECURSE "${WORK}")
get_filename_component(library_dir "${LIBRARY}" DIRECTORY)

# program(page source): its first block of C is docs/<source>, compiles, and prints the block of text that follows it.
macro(program page source)
  page_program("${SOURCE_DIR}/docs/${page}" code printed)
  set(file "${WORK}/${source}")
  file(WRITE "${file}" "${code}")
  execute_process(COMMAND diff -u "${SOURCE_DIR}/docs/${source}" "${file}" OUTPUT_VARIABLE difference)
  report("${page} shows docs/${source}" "${difference}")

  execute_process(
    COMMAND "${CC}" -std=c99 -Wall -Wextra -Wno-unused-parameter -Wpedantic -Werror "-I${SOURCE_DIR}/include" "${file}" "${LIBRARY}" -lm
            "-Wl,-rpath,${library_dir}" -o "${file}.run"
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(result EQUAL 0)
    set(errors "")
  endif()
  report("the program of ${page} compiles" "${errors}")

  set(problem "")
  execute_process(COMMAND "${file}.run" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0 OR NOT "${output}" STREQUAL "${printed}\n")
    set(problem "status ${result}, printed:\n${output}")
  endif()
  report("the program of ${page} prints what the page shows" "${problem}")
endmacro()

program(start-c.md pendulum.c)
program(simulate.md bouncing_pendulum.c)
program(machines.md arm.c)
program(large-models.md hanging_chain.c)
program(evaluate.md small_motions.c)

# ---- The table of docs/trust.md ----

execute_process(COMMAND "${SOURCE_DIR}/tests/trust/run" --list OUTPUT_VARIABLE cases)
execute_process(COMMAND sed -n "s/^\\(| [A-F] | `[^`]*` | [^|]* |[^|]*|\\).*/\\1/p" "${SOURCE_DIR}/docs/trust.md" OUTPUT_VARIABLE rows)
file(WRITE "${WORK}/cases" "${cases}")
file(WRITE "${WORK}/rows" "${rows}")
execute_process(COMMAND diff "${WORK}/cases" "${WORK}/rows" OUTPUT_VARIABLE difference)
report("docs/trust.md has the cases of tests/trust/cases.txt" "${difference}")

# ---- Links ----

file(GLOB_RECURSE pages "${SOURCE_DIR}/docs/*.md")
list(APPEND pages "${SOURCE_DIR}/README.md" "${SOURCE_DIR}/CONTRIBUTING.md")
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  # Brackets and semicolons would confuse CMake's lists.
  string(REPLACE "](" "<link>" text "${text}")
  string(REGEX REPLACE "[][;]" "" text "${text}")
  string(REGEX MATCHALL "<link>[^)]*" links "${text}")
  get_filename_component(folder "${page}" DIRECTORY)
  file(RELATIVE_PATH name "${SOURCE_DIR}" "${page}")
  set(dead "")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^<link>([^#]*).*" "\\1" target "${link}")
    if(NOT target STREQUAL "" AND NOT target MATCHES "^https?:" AND NOT EXISTS "${folder}/${target}")
      string(APPEND dead "  ${target}\n")
    endif()
  endforeach()
  report("links of ${name}" "${dead}")
endforeach()

# ---- Tables ----

list(APPEND pages "${SOURCE_DIR}/CHANGELOG.md" "${SOURCE_DIR}/bench/README.md")
foreach(page IN LISTS pages)
  file(RELATIVE_PATH name "${SOURCE_DIR}" "${page}")
  execute_process(COMMAND awk -f "${CMAKE_CURRENT_LIST_DIR}/tables.awk" "${page}" OUTPUT_VARIABLE problem)
  report("tables of ${name}" "${problem}")
endforeach()

# ---- The map of the sources: every file once ----

file(READ "${SOURCE_DIR}/docs/develop/architecture.md" text)
string(REGEX REPLACE "[][;]" "" text "${text}") # as above
string(REGEX MATCHALL "\n[|] `[^\n]*" rows "${text}")
set(listed "")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^\n[|] ([^|]*)[|].*" "\\1" cell "${row}")
  string(REGEX MATCHALL "`[^`]+`" names "${cell}")
  set(folder "")
  foreach(name IN LISTS names)
    string(REPLACE "`" "" name "${name}")
    if(name MATCHES "^([a-z]+)/")
      set(folder "${CMAKE_MATCH_1}")
    else()
      set(name "${folder}/${name}")
    endif()
    if(name MATCHES "[.]c$")
      list(APPEND listed "${name}")
    endif()
  endforeach()
endforeach()
file(GLOB there RELATIVE "${SOURCE_DIR}/src" "${SOURCE_DIR}/src/*/*.c")
file(GLOB programs RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/app/*.c")
set(problem "")
foreach(file IN LISTS there programs)
  set(found ${listed})
  list(FILTER found INCLUDE REGEX "^${file}$")
  list(LENGTH found times)
  if(NOT times EQUAL 1)
    string(APPEND problem "${file} is there ${times} times\n")
  endif()
endforeach()
foreach(file IN LISTS listed)
  if(NOT file IN_LIST there AND NOT file IN_LIST programs)
    string(APPEND problem "${file} does not exist\n")
  endif()
endforeach()
report("docs/develop/architecture.md has every source once" "${problem}")

message("1..${n}")
if(n_failed GREATER 0)
  message(FATAL_ERROR "${n_failed} of ${n} failed")
endif()
