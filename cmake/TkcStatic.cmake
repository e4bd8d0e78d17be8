# The `release` preset: one binary that holds LLVM and MLIR, with the X86, NVPTX and AMDGPU back ends only. Included by TkcLibraries.cmake, which declares tkcMlir.
#
# An archive costs only what is referenced from it, so the lists below may name more than today's sources use; a missing one shows as an undefined symbol.

set(TKC_MLIR_ARCHIVES
  MLIRAnalysis MLIRArithDialect MLIRArithTransforms MLIRArithUtils MLIRAsmParser MLIRDialectUtils MLIRFuncDialect MLIRFunctionInterfaces MLIRInferIntRangeCommon MLIRIR
  MLIRMathDialect MLIROptLib MLIRParser MLIRPass MLIRRewrite MLIRSCFDialect MLIRSCFTransforms MLIRSCFUtils MLIRSupport MLIRTransforms MLIRTransformUtils MLIRUBDialect)
set(TKC_LLVM_ARCHIVES
  LLVMAMDGPUAsmParser LLVMAMDGPUCodeGen LLVMAMDGPUDesc LLVMAMDGPUInfo LLVMNVPTXCodeGen LLVMNVPTXDesc LLVMNVPTXInfo LLVMX86AsmParser LLVMX86CodeGen LLVMX86Desc
  LLVMX86Disassembler LLVMX86Info LLVMAsmParser LLVMBitReader LLVMBitWriter LLVMCodeGen LLVMCore LLVMDTLTO LLVMExecutionEngine LLVMIRReader LLVMJITLink LLVMLinker LLVMLTO LLVMMC
  LLVMObjCopy LLVMObject LLVMOption LLVMOrcDebugging LLVMOrcJIT LLVMOrcTargetProcess LLVMPasses LLVMSupport LLVMTarget LLVMTargetParser LLVMTransformUtils)

# The packaged MLIR archives name the shared LLVM as what they need; with it, two copies of LLVM would end up in one process.
get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target IN LISTS imported)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  if(target MATCHES "^MLIR" AND links)
    list(REMOVE_ITEM links LLVM)
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${links})
  endif()
endforeach()

# What LLVM itself needs: zlib and zstd as archives; Z3 and libxml2 serve parts that are not linked in.
find_library(TKC_ZLIB_ARCHIVE libz.a REQUIRED)
find_library(TKC_ZSTD_ARCHIVE libzstd.a REQUIRED)
set_property(TARGET LLVMSupport PROPERTY INTERFACE_LINK_LIBRARIES rt dl m ${TKC_ZLIB_ARCHIVE} ${TKC_ZSTD_ARCHIVE} LLVMDemangle)
set_property(TARGET LLVMWindowsManifest PROPERTY INTERFACE_LINK_LIBRARIES LLVMSupport)
# Its archive is in a package of its own, for code that is never called.
add_library(tkcNoPolly STATIC ${PROJECT_SOURCE_DIR}/cmake/NoPolly.cpp)
set_property(TARGET LLVMExtensions PROPERTY INTERFACE_LINK_LIBRARIES LLVMSupport tkcNoPolly)

target_link_libraries(tkcMlir INTERFACE ${TKC_MLIR_ARCHIVES} ${TKC_LLVM_ARCHIVES})

set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-ffunction-sections -fdata-sections)
# No position-independent executable: without the 78,000 relative relocations a process starts about 0.7 ms earlier.
add_link_options(-s -Wl,--gc-sections -Wl,--as-needed -Wl,--exclude-libs,ALL -Wl,-O2
  "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>"
  "$<$<AND:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,$<NOT:$<BOOL:$<TARGET_PROPERTY:TKC_SHARED_LIBSTDCXX>>>>:SHELL:-static-libstdc++ -static-libgcc>")

# Linking is memory-bound: two at a time.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS link=2)
set(CMAKE_JOB_POOL_LINK link)
