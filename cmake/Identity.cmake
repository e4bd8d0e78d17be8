# Writes a header with a hash over the sources of the compiler and the runtime and the version of LLVM. Run by ninja when one of them changes:
#   cmake -DROOT=... -DLLVM=... -DOUTPUT=... -P Identity.cmake
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/lang/* ${ROOT}/dialects/* ${ROOT}/compiler/* ${ROOT}/runtime/*)
list(FILTER files EXCLUDE REGEX "\\.md$")
list(SORT files)
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 identity "${hashes}${LLVM}")
string(SUBSTRING ${identity} 0 32 identity)
file(WRITE ${OUTPUT} "#define TKC_COMPILER_IDENTITY \"${identity}\"\n")
