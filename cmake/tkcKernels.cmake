# Kernels compiled when a program is built:
#
#   tk_add_kernels(program FILES scale.tk softmax.tk SIGNATURES "*fp32:16, *fp32:16, i32, BLOCK=1024" TARGETS x86-64-v3 sm_90a)
#
# For each file NAME.tk it runs `tkc compile`, adds the object to the target `program`, and gives the sources of `program`, and of targets that link it, the header
# NAME.h, which declares a C function a kernel. The files are compiled again when they, or tkc, change. The objects carry what launches them; they need the C library
# alone.
#
#   FILES       .tk files, relative to the current source folder
#   SIGNATURES  one or more, as `tkc compile --signature` takes them; they hold for every file
#   TARGETS     default: x86-64-v3
#   KERNEL      of a file with several kernels
#   GRID        up to three expressions, "cdiv(n, BLOCK)", instead of the kernel's own @tk.grid
#   HEADER_DIR  where the headers go; default: a folder of the target's in the current binary folder
#   OPTIONS     more options of `tkc compile`
include_guard()

function(tk_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "KERNEL;HEADER_DIR" "FILES;SIGNATURES;TARGETS;GRID;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tk_add_kernels: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tk_add_kernels: there is no target `${target}`")
  endif()
  foreach(needed FILES SIGNATURES)
    if(NOT ARG_${needed})
      message(FATAL_ERROR "tk_add_kernels(${target}): ${needed} is missing")
    endif()
  endforeach()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS x86-64-v3)
  endif()
  if(NOT ARG_HEADER_DIR)
    set(ARG_HEADER_DIR ${CMAKE_CURRENT_BINARY_DIR}/${target}-kernels)
  endif()
  get_filename_component(ARG_HEADER_DIR ${ARG_HEADER_DIR} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  file(MAKE_DIRECTORY ${ARG_HEADER_DIR})

  list(JOIN ARG_TARGETS "," targets)
  set(arguments --target ${targets})
  foreach(signature IN LISTS ARG_SIGNATURES)
    list(APPEND arguments --signature ${signature})
  endforeach()
  if(ARG_KERNEL)
    list(APPEND arguments --kernel ${ARG_KERNEL})
  endif()
  if(ARG_GRID)
    list(JOIN ARG_GRID ", " grid)
    list(APPEND arguments --grid ${grid})
  endif()

  set(made "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(source ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}-kernels/${name}.tk.o)
    set(header ${ARG_HEADER_DIR}/${name}.h)
    add_custom_command(OUTPUT ${object} ${header}
      COMMAND tkc::tkc compile ${source} ${arguments} -o ${object} --header ${header} ${ARG_OPTIONS}
      DEPENDS ${source} tkc::tkc COMMENT "Compiling ${name}.tk for ${targets}" VERBATIM)
    set_source_files_properties(${object} TARGET_DIRECTORY ${target} PROPERTIES GENERATED ON EXTERNAL_OBJECT ON)
    set_source_files_properties(${header} TARGET_DIRECTORY ${target} PROPERTIES GENERATED ON)
    target_sources(${target} PRIVATE ${object} ${header})
    list(APPEND made ${object} ${header})
  endforeach()
  # A target of its own, so that `target` may stand in another folder.
  string(MD5 number "${made}")
  string(SUBSTRING ${number} 0 8 number)
  add_custom_target(${target}-kernels-${number} DEPENDS ${made})
  add_dependencies(${target} ${target}-kernels-${number})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${ARG_HEADER_DIR}>)
  target_link_libraries(${target} PRIVATE m)
endfunction()
