# cmake -DFILE=... -DOUT=... -DNAME=... -DHEADER=... -P embed.cmake: a file as an array of C, with a zero at its end.
file(READ "${FILE}" bytes HEX)
string(LENGTH "${bytes}" length)
math(EXPR length "${length} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUT}" "#include \"${HEADER}\"\n\nconst size_t ${NAME}_length = ${length};\n"
  "const unsigned char ${NAME}_page[] = {\n${bytes}0};\n")
