# What keeps the build working on other systems: no construct that only some have, no warnings of clang, libraries found in
# other layouts and refused where they do not fit their headers, scripts that run without the tools of Debian.
#
#   cmake -DSOURCE_DIR=<root of the tree> -DWORK=<folder to work in> -DNM=<nm, or nothing> -DOBJECTS=<of the program, |>
#         -DCC=<C compiler> -DLIBRARIES=<klu|hdf5|lapacke> -DINCLUDES=<folders of their headers, |>
#         -DCLANG=<clang, or nothing> -DFLAGS=<of the compiler, |>
#         -P tests/portable/test_portable.cmake
cmake_minimum_required(VERSION 3.22)
set(n 0)
set(n_failed 0)
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")
string(REPLACE "|" ";" LIBRARIES "${LIBRARIES}")
string(REPLACE "|" ";" INCLUDES "${INCLUDES}")
list(POP_FRONT LIBRARIES klu_library hdf5_library lapacke_library)
list(POP_FRONT INCLUDES klu_include hdf5_include lapacke_include arpack_include ccd_include)
file(REMOVE_RECURSE "${WORK}")

# report(what detail): a line of TAP; the case failed where there is a detail.
macro(report what detail)
  math(EXPR n "${n} + 1")
  if("${detail}" STREQUAL "")
    message("ok ${n} - ${what}")
  else()
    math(EXPR n_failed "${n_failed} + 1")
    message("not ok ${n} - ${what}\n${detail}")
  endif()
endmacro()

# ---- Constructs that only some systems have ----

# refuse(what example expression <glob>...): no line of the files matches; the example, a line that must not be there, does.
function(refuse what example expression)
  set(found "")
  if(NOT example MATCHES "${expression}")
    set(found "the expression does not find its own example\n")
  endif()
  foreach(glob IN LISTS ARGN)
    file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/${glob}")
    list(FILTER files EXCLUDE REGEX "^(build|tests/portable)/|^scripts/count-processors$")
    foreach(file IN LISTS files)
      file(STRINGS "${SOURCE_DIR}/${file}" lines REGEX "${expression}")
      foreach(line IN LISTS lines)
        string(APPEND found "${file}: ${line}\n")
      endforeach()
    endforeach()
  endforeach()
  report("${what}" "${found}")
  set(n ${n} PARENT_SCOPE)
  set(n_failed ${n_failed} PARENT_SCOPE)
endfunction()

set(sources src/*.c src/*.h app/*.c app/*.h include/*.h examples/*.c tests/*.c tests/*.h bench/*.c)
refuse("headers are named without the folder that a system keeps them in" "#include <suitesparse/klu.h>"
       "include *<(suitesparse|hdf5|lapacke|openblas|x86_64[^/]*)/" ${sources})
refuse("no function that only the GNU library has" "  if (pipe2(ends, O_CLOEXEC)) return errno;"
       "[^A-Za-z_0-9](pipe2|mkostemps?|memmem|strchrnul|mempcpy|qsort_r|v?asprintf|execvpe|canonicalize_file_name|get_nprocs)\\("
       src/*.c src/*.h app/*.c app/*.h examples/*.c)
refuse("the C library's streams are not replaced" "  if (out) stdout = out;" "[^A-Za-z_](stdout|stderr) = " ${sources})
refuse("processors are counted by scripts/count-processors" "jobs=$(nproc)" "(^|[^a-z_])nproc([^a-z_]|$)" Makefile
       scripts/* tests/cli/* tests/trust/run tests/accuracy/defaults)
refuse("no realpath in scripts, which some systems do not have" "work=$(realpath -m \"$2\")" "realpath " scripts/* tests/cli/run
       tests/cli/*.sh tests/trust/run tests/accuracy/defaults)
set(shell_scripts scripts/* tests/cli/run tests/cli/*.sh tests/trust/run tests/trust/cases.txt tests/accuracy/defaults tests/tree/run Makefile)
refuse("time limits by limited and signalled of tests/tools.sh, since timeout is GNU's" "  timeout 5 \"$program\" info"
       "(^|[^A-Za-z_-])timeout +[-0-9\"$]" ${shell_scripts})
refuse("sizes of files by size of tests/tools.sh, since options of stat differ" "n=$(stat -c %s bad.h5)"
       "(^|[^a-z_])stat +-" ${shell_scripts})
refuse("files are changed by edit of tests/tools.sh, since sed -i differs" "sed -E -i s/a/b/ model.yaml"
       "(^|[^a-z_])sed +(-[A-Za-z]+ +)*-[A-Za-z]*i" ${shell_scripts})
refuse("no expression of sed that only GNU has" "sed -E 's/\\b(step):/x/' model.yaml" "(^|[^a-z_])(sed|edit) .*(\\\\b|\\\\<|/i +[a-z])"
       ${shell_scripts})
refuse("no folder of a system's libraries and headers in the build" "  find_path(H hdf5.h HINTS /usr/include/hdf5/serial)"
       "/usr/(local/)?(lib|include)" CMakeLists.txt cmake/*.cmake cmake/*.in */CMakeLists.txt)

# ---- All that the program prints passes its filter: only terminal.c knows the C library's streams ----

if(NM AND OBJECTS)
  set(found "")
  set(knows "")
  foreach(object IN LISTS OBJECTS)
    execute_process(COMMAND "${NM}" -u "${object}" OUTPUT_VARIABLE symbols ERROR_VARIABLE errors)
    string(REGEX MATCHALL " _*(stdoutp?|stderrp?|v?printf(_chk)?|puts|putchar|perror)\n" symbols "${symbols}")
    if(object MATCHES "terminal\\.c")
      set(knows "${symbols}")
    elseif(symbols)
      string(APPEND found "${object}: ${symbols}")
    endif()
  endforeach()
  if(NOT knows)
    string(APPEND found "nothing is found in terminal.c: the test is blind")
  endif()
  report("only terminal.c knows the streams of the C library" "${found}")
endif()

# ---- Warnings of clang, where it is installed, on everything that is not a test ----

if(CLANG AND klu_include AND hdf5_include AND lapacke_include AND arpack_include AND ccd_include)
  string(REPLACE "|" ";" FLAGS "${FLAGS}")
  list(APPEND FLAGS -std=c11 -fsyntax-only -Werror "-I${SOURCE_DIR}/include" "-I${SOURCE_DIR}/src" "-I${SOURCE_DIR}/examples" "-I${SOURCE_DIR}/papers"
              -isystem "${klu_include}" -isystem "${hdf5_include}" -isystem "${lapacke_include}"
              -isystem "${arpack_include}" -isystem "${ccd_include}" -DGALPHA_HAVE_FOPENCOOKIE
              -DMX_DATA="" -DGALPHA_MPI_BUILT="" -DGALPHA_MPI_INSTALLED="")
  file(GLOB_RECURSE files "${SOURCE_DIR}/src/*.c" "${SOURCE_DIR}/app/*.c" "${SOURCE_DIR}/examples/*.c")
  list(FILTER files EXCLUDE REGEX "/app/mpi/") # needs the header of MPI
  file(WRITE "${WORK}/warns.c" "int f(double x);\nint f(double x)\n{\n  return 1 && x;\n}\n")
  execute_process(COMMAND "${CLANG}" ${FLAGS} "${WORK}/warns.c" RESULT_VARIABLE warned OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND "${CLANG}" ${FLAGS} ${files} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(detail "")
  if(warned EQUAL 0)
    set(detail "clang does not warn of what gcc lets pass: the test is blind")
  elseif(NOT result EQUAL 0)
    set(detail "${output}")
  endif()
  report("clang has no warnings" "${detail}")
endif()

# ---- Libraries in other layouts ----

# configure(build <option>...): a project that only looks for the libraries; sets `output` and `result`.
function(configure build)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/project.cmake.in" "${WORK}/project/CMakeLists.txt" @ONLY)
  execute_process(COMMAND ${CMAKE_COMMAND} -S "${WORK}/project" -B "${WORK}/${build}" "-DCMAKE_C_COMPILER=${CC}" ${ARGN}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
  set(result "${result}" PARENT_SCOPE)
endfunction()

if(klu_library AND hdf5_library AND lapacke_library)
  # KLU flat and in lib64; HDF5 as a parallel one that has a folder of its own; LAPACKE within OpenBLAS.
  set(prefix "${WORK}/prefix")
  file(MAKE_DIRECTORY "${prefix}/a/include" "${prefix}/a/lib64" "${prefix}/b/include/hdf5" "${prefix}/b/lib"
                      "${prefix}/c/include/openblas" "${prefix}/c/lib")
  file(CREATE_LINK "${klu_include}/klu.h" "${prefix}/a/include/klu.h" SYMBOLIC)
  file(CREATE_LINK "${klu_library}" "${prefix}/a/lib64/libklu.so" SYMBOLIC)
  file(CREATE_LINK "${hdf5_include}" "${prefix}/b/include/hdf5/mpich" SYMBOLIC)
  file(CREATE_LINK "${hdf5_library}" "${prefix}/b/lib/libhdf5_mpich.so" SYMBOLIC)
  file(CREATE_LINK "${lapacke_include}/lapacke.h" "${prefix}/c/include/openblas/lapacke.h" SYMBOLIC)
  file(CREATE_LINK "${lapacke_library}" "${prefix}/c/lib/libopenblas.so" SYMBOLIC)
  configure(layouts "-DCMAKE_PREFIX_PATH=${prefix}/a\;${prefix}/b\;${prefix}/c")
  foreach(expected "klu library ${prefix}/a/lib64/libklu.so header ${prefix}/a/include end"
                   "hdf5 library ${prefix}/b/lib/libhdf5_mpich.so header ${prefix}/b/include/hdf5/mpich end"
                   "lapacke library ${prefix}/c/lib/libopenblas.so header ${prefix}/c/include/openblas end"
                   "missing:  end")
    string(FIND "${output}" "${expected}" at)
    set(detail "")
    if(at LESS 0)
      set(detail "${output}")
    endif()
    string(REPLACE "${prefix}/" "" expected "${expected}")
    report("found in another layout: ${expected}" "${detail}")
  endforeach()

  # A header of another version must not pass.
  file(GLOB headers "${hdf5_include}/H5*.h" "${hdf5_include}/hdf5.h")
  file(COPY ${headers} DESTINATION "${WORK}/other" FOLLOW_SYMLINK_CHAIN)
  file(READ "${WORK}/other/H5public.h" text)
  string(REGEX REPLACE "(define H5_VERS_RELEASE +)[0-9]+" "\\1 9999" text "${text}")
  file(WRITE "${WORK}/other/H5public.h" "${text}")
  configure(fits -DCHECKED=ON "-DGALPHA_hdf5_LIBRARY=${hdf5_library}" "-DGALPHA_hdf5_INCLUDE_DIR=${hdf5_include}")
  set(detail "")
  if(NOT result EQUAL 0)
    set(detail "${output}")
  endif()
  report("libraries that fit their headers are taken" "${detail}")
  configure(differs -DCHECKED=ON "-DGALPHA_hdf5_LIBRARY=${hdf5_library}" "-DGALPHA_hdf5_INCLUDE_DIR=${WORK}/other")
  set(detail "")
  if(result EQUAL 0 OR NOT output MATCHES "hdf5: its header is of another version")
    set(detail "${output}")
  endif()
  report("a library that does not fit its header is refused" "${detail}")
endif()

# ---- Scripts without the tools of Debian ----

# bare(what expected_code expected <program>...): the script `script` with these programs in its path and no others.
function(bare what code expected)
  file(REMOVE_RECURSE "${WORK}/bin")
  file(MAKE_DIRECTORY "${WORK}/bin")
  foreach(name IN LISTS ARGN)
    file(WRITE "${WORK}/bin/${name}" "#!/bin/sh\n[ ${name} != getconf ] || echo 7\n[ ${name} != nproc ] || echo\n")
    file(CHMOD "${WORK}/bin/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env "PATH=${WORK}/bin" DEPS= CC= ${script}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(detail "")
  if(NOT result EQUAL code OR NOT output MATCHES "${expected}")
    set(detail "returned ${result}, not ${code}: ${output}")
  endif()
  report("${what}" "${detail}")
  set(n ${n} PARENT_SCOPE)
  set(n_failed ${n_failed} PARENT_SCOPE)
endfunction()

find_program(sh sh REQUIRED)
find_program(bash bash REQUIRED)
set(script "${sh}" "${SOURCE_DIR}/scripts/count-processors")
bare("one processor where nothing says how many" 0 "^1\n$")
bare("processors by getconf, where nproc says nothing" 0 "^7\n$" nproc getconf)
set(script "${bash}" "${SOURCE_DIR}/scripts/install-deps")
bare("install-deps: no compiler" 1 "Missing: a C11 compiler")
bare("install-deps: no CMake" 1 "Missing: CMake" cc)
bare("install-deps: what only some commands need" 0 "Missing: gnuplot.*Missing: valgrind" cc cmake)
bare("install-deps: nothing is missing" 0 "^$" gcc cmake gnuplot valgrind)

message("1..${n}")
if(n_failed GREATER 0)
  message(FATAL_ERROR "${n_failed} of ${n} failed")
endif()
