# Installs to a prefix of its own, then builds and runs a C and a C++ program against it, shared and static, found by
# find_package and by pkg-config.
#
#   cmake -DBUILD=<build folder> -DWORK=<folder to work in> -DLIBDIR=<lib below the prefix> -DCC=<C compiler>
#         -DSONAME=<name of the shared library> -P tests/install/test_install.cmake
cmake_minimum_required(VERSION 3.22)
set(prefix "${WORK}/prefix")
set(consumer "${CMAKE_CURRENT_LIST_DIR}/consumer")
set(found_build "${WORK}/find_package")
set(libdir "${prefix}/${LIBDIR}")
set(n 0)
set(n_failed 0)

# report(what <command>...): runs the command, prints a line of TAP, and leaves what it printed in `output`.
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

# Everything after depends on the command.
macro(need what)
  report("${what}" ${ARGN})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "stopped: ${what} failed")
  endif()
endmacro()

file(REMOVE_RECURSE "${WORK}")
need("install" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")

report("exported names all begin with ga_" sh -c
       "! nm -D --defined-only '${libdir}/libgalpha.so' | awk '{print $3}' | grep -vE '^ga_[a-z0-9]'")

need("find_package: configure" ${CMAKE_COMMAND} -S "${consumer}" -B "${found_build}"
     "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_C_COMPILER=${CC}")
need("find_package: build" ${CMAKE_COMMAND} --build "${found_build}")
foreach(language c cpp)
  foreach(kind shared static)
    report("find_package: ${language}, ${kind}: runs" "${found_build}/bin/use_${language}_${kind}")
  endforeach()
endforeach()
report("find_package: shared is shared" sh -c "ldd '${found_build}/bin/use_c_shared' | grep -qF '${SONAME}'")
report("find_package: static is static" sh -c "! ldd '${found_build}/bin/use_c_static' | grep -qF libgalpha")

set(ENV{PKG_CONFIG_PATH} "${libdir}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${libdir}")
need("pkg-config: finds it" pkg-config --exists --print-errors galpha)
foreach(language c cpp)
  if(language STREQUAL "c")
    set(compile "${CC} -std=c99")
  else()
    set(compile "c++ -std=c++11")
  endif()
  # The linker prefers the shared library where both are installed; the static one has to be named.
  set(libs_shared "$(pkg-config --libs galpha)")
  set(libs_static "$(pkg-config --static --libs galpha | sed 's/-lgalpha/-l:libgalpha.a/')")
  foreach(kind shared static)
    set(program "${WORK}/pkg_config_${language}_${kind}")
    report("pkg-config: ${language}, ${kind}: builds" sh -c
           "${compile} $(pkg-config --cflags galpha) '${consumer}/use.${language}' -o '${program}' ${libs_${kind}} -lm")
    report("pkg-config: ${language}, ${kind}: runs" "${program}")
  endforeach()
endforeach()

message("1..${n}")
if(n_failed GREATER 0)
  message(FATAL_ERROR "${n_failed} of ${n} failed")
endif()
