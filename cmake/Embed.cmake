# Run by tkc_embed: writes OUTPUT, a C++ source that defines NAME, the texts of FILES in the order given:
#
#   struct EmbeddedFile { const char *name; const char *text; unsigned long size; };
#   extern const EmbeddedFile NAME[]; extern const unsigned long NAMECount;
#
# `name` is the file's name without folders. Bytes are written as numbers, so that anything can stand there.
set(arrays "")
set(table "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text${index}[] = {\n${bytes}0x00};\n")
  string(APPEND table "  {\"${name}\", reinterpret_cast<const char *>(text${index}), ${size}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(REGEX REPLACE "::[^:]*$" "" space "${NAME}")
string(REGEX REPLACE "^.*::" "" variable "${NAME}")
file(WRITE ${OUTPUT} "// Written by cmake/Embed.cmake.
namespace ${space} {
struct EmbeddedFile {
  const char *name;
  const char *text;
  unsigned long size;
};
${arrays}
extern const EmbeddedFile ${variable}[];
extern const unsigned long ${variable}Count;
const EmbeddedFile ${variable}[] = {
${table}  {nullptr, nullptr, 0}};
const unsigned long ${variable}Count = ${index};
} // namespace ${space}
")
