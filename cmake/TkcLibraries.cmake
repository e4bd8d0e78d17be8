# Finds LLVM, MLIR and fmt, and defines how a folder becomes a library.
#
#   tkc_add_library(NAME SOURCES ... LINK ... [MLIR] [EXCEPTIONS])   one static library; MLIR adds the MLIR headers, the precompiled header and the link
#   tkc_embed(TARGET OUTPUT NAME space::name FILES ...)  C++ source that holds the files' texts (see cmake/Embed.cmake)

find_package(MLIR REQUIRED CONFIG)
find_package(LLVM REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM 22 is needed, found ${LLVM_VERSION} in ${LLVM_DIR}")
endif()
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_path(TKC_XXHASH xxhash.h REQUIRED) # the disk cache includes it whole, so there is nothing to link
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-exceptions)
add_definitions(${LLVM_DEFINITIONS_LIST})
add_link_options(-fuse-ld=lld)
if(TKC_SANITIZE)
  # Optimised, since the fuzzers run millions of inputs. Edges are what guides them; a call for every comparison took a third of the time, and the words to try are
  # in the dictionary and found through memcmp's hook.
  add_compile_options(-O2 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-coverage=trace-cmp -fno-sanitize=vptr,function -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  add_library(tkcSanitizerOptions OBJECT ${CMAKE_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  link_libraries(tkcSanitizerOptions)
endif()

# One interface target stands for "LLVM and MLIR": the two shared libraries, or in a static build the archives and three back ends.
add_library(tkcMlir INTERFACE)
target_include_directories(tkcMlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
if(TKC_STATIC)
  include(TkcStatic)
else()
  target_link_libraries(tkcMlir INTERFACE MLIR LLVM)
endif()

# LLVM's linker, as a library. The packaged files that describe it ask for more than it needs, so its archives are named here. What --wrap is for stands in
# runtime/jit/Linker.cpp.
find_library(TKC_LLD_ELF_ARCHIVE liblldELF.a PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_library(TKC_LLD_COMMON_ARCHIVE liblldCommon.a PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
add_library(tkcLld INTERFACE)
target_link_libraries(tkcLld INTERFACE ${TKC_LLD_ELF_ARCHIVE} ${TKC_LLD_COMMON_ARCHIVE} tkcMlir $<$<NOT:$<BOOL:${TKC_STATIC}>>:z> $<$<NOT:$<BOOL:${TKC_STATIC}>>:zstd>)
target_link_options(tkcLld INTERFACE -Wl,--wrap=_ZN4llvm20CrashRecoveryContext12throwIfCrashEi)

set(TKC_PCH_OWNER "" CACHE INTERNAL "")
set(TKC_PCH_OWNER_WITH_EXCEPTIONS "" CACHE INTERNAL "")

function(tkc_add_library name)
  cmake_parse_arguments(ARG "MLIR;EXCEPTIONS" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} $<IF:$<BOOL:${TKC_STATIC}>,fmt::fmt-header-only,fmt::fmt>)
  set(exceptions "")
  if(ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fexceptions)
    set(exceptions EXCEPTIONS)
  endif()
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC tkcMlir)
    tkc_use_precompiled_mlir(${name} ${exceptions})
  endif()
endfunction()

# The first MLIR target owns the precompiled header, the rest reuse it; targets with exceptions have one of their own, since the two don't mix.
function(tkc_use_precompiled_mlir name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "" ${ARGN})
  # Without a time stamp in the precompiled header, ccache can give back what depends on it. Programs say -fPIC as libraries do, since the header fixes it.
  target_compile_options(${name} PRIVATE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fPIC> -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
  get_target_property(kind ${name} TYPE)
  if(kind STREQUAL "EXECUTABLE")
    target_compile_options(${name} PRIVATE -fPIC) # as the libraries, whose header it reuses
  endif()
  if(ARG_EXCEPTIONS)
    set(owner TKC_PCH_OWNER_WITH_EXCEPTIONS)
  else()
    set(owner TKC_PCH_OWNER)
  endif()
  if(NOT ${owner})
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/MlirPrecompiled.h)
    set(${owner} ${name} CACHE INTERNAL "")
  else()
    target_precompile_headers(${name} REUSE_FROM ${${owner}})
  endif()
endfunction()

function(tkc_embed target output)
  cmake_parse_arguments(ARG "" "NAME" "FILES" ${ARGN})
  if(NOT ARG_NAME)
    set(ARG_NAME tk::embedded::files)
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARG_FILES}" -DOUTPUT=${output} -DNAME=${ARG_NAME} -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${ARG_FILES} ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
