# Installs to a prefix of its own, then builds and runs the program of the README against it, as C and as C++, shared
# and static, found by find_package and by pkg-config. It must print what the README says it prints.
#
#   cmake -DREADME=<README.md> -DBUILD=<build folder> -DWORK=<folder to work in> -DLIBDIR=<lib below the prefix>
#         -DCC=<C compiler> -DSONAME=<name of the shared library> -P tests/install/test_install.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/../docs/page.cmake")
set(prefix "${WORK}/prefix")
set(libdir "${prefix}/${LIBDIR}")
set(source "${WORK}/program")
set(found_build "${WORK}/find_package")
set(n 0)
set(n_failed 0)

# report(what <command>...): runs the command and prints a line of TAP.
macro(report what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  math(EXPR n "${n} + 1")
  if(result EQUAL 0)
    message("ok ${n} - ${what}")
  else()
    math(EXPR n_failed "${n_failed} + 1")
    message("not ok ${n} - ${what}\n${output}${errors}")
  endif()
endmacro()

# The same, where everything after depends on the command.
macro(need what)
  report("${what}" ${ARGN})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "stopped: ${what} failed")
  endif()
endmacro()

macro(report_run what program)
  report("${what}: prints what the README says" sh -c
         "printed=$('${program}' 2>&1)\n echo \"$printed\"\n test \"$printed\" = '${expected}'")
endmacro()

page_program("${README}" code expected)

file(REMOVE_RECURSE "${WORK}")
file(WRITE "${source}.c" "${code}")
file(WRITE "${source}.cpp" "${code}")
need("install" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")
report("exported names all begin with ga_" sh -c
       "! nm -D --defined-only '${libdir}/libgalpha.so' | awk '{print $3}' | grep -vE '^ga_[a-z0-9]'")

need("find_package: configure" ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${found_build}"
     "-DPROGRAM=${source}" "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_C_COMPILER=${CC}")
need("find_package: build" ${CMAKE_COMMAND} --build "${found_build}")
foreach(language c cpp)
  foreach(kind shared static)
    report_run("find_package: ${language}, ${kind}" "${found_build}/bin/${language}_${kind}")
  endforeach()
endforeach()
report("find_package: shared is shared" sh -c "ldd '${found_build}/bin/c_shared' | grep -qF '${SONAME}'")
report("find_package: static is static" sh -c "! ldd '${found_build}/bin/c_static' | grep -qF libgalpha")

set(ENV{PKG_CONFIG_PATH} "${libdir}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${libdir}")
need("pkg-config: finds it" pkg-config --exists --print-errors galpha)
set(compile_c "${CC} -std=c99")
set(compile_cpp "c++ -std=c++11")
# The linker prefers the shared library where both are installed; the static one has to be named.
set(libs_shared "$(pkg-config --libs galpha)")
set(libs_static "$(pkg-config --static --libs galpha | sed 's/-lgalpha/-l:libgalpha.a/')")
foreach(language c cpp)
  foreach(kind shared static)
    set(program "${WORK}/pkg_config_${language}_${kind}")
    report("pkg-config: ${language}, ${kind}: builds" sh -c
           "${compile_${language}} $(pkg-config --cflags galpha) '${source}.${language}' -o '${program}' ${libs_${kind}}")
    report_run("pkg-config: ${language}, ${kind}" "${program}")
  endforeach()
endforeach()

message("1..${n}")
if(n_failed GREATER 0)
  message(FATAL_ERROR "${n_failed} of ${n} failed")
endif()
