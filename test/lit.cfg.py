# How lit runs the tests of this folder. Substitutions: tkc, tk-opt, FileCheck, not, split-file, count; %samples is the samples' folder, %source the
# project's, %bin and %lib those of its programs and libraries, %cc and %cxx compilers, %S the test's own.
import glob
import os
import sys
import lit.formats

config.name = "tkc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tk", ".test"]
config.test_source_root = os.path.dirname(__file__)
# Programs with their own main, and inputs of tests.
config.excludes = ["unit", "threads", "bench", "robustness", "conformance", "consumer", "Inputs"]

for name in ("tkc", "tk-opt"):
    config.substitutions.append((r"(?<![\w./%-])" + name + r"(?![\w./-])", os.path.join(config.tkc_bin, name)))
for name in ("FileCheck", "not", "split-file", "count"):
    config.substitutions.append((r"(?<![\w./%-])" + name + r"(?![\w./-])", os.path.join(config.llvm_tools, name)))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%samples", os.path.join(config.tkc_source, "samples")))
config.substitutions.append(("%source", config.tkc_source))
config.substitutions.append(("%bin", config.tkc_bin))
# The compilers that built this, for programs that use it, and the emulated GPU in the place of NVIDIA's driver.
config.substitutions.append(("%cxx", config.tkc_cxx))
config.substitutions.append(("%cc", config.tkc_cc))
config.substitutions.append(("%emulated-cuda", config.tkc_emulated_cuda))
config.substitutions.append(("%lib", os.path.join(os.path.dirname(config.tkc_bin), "lib")))

# A test may say `REQUIRES: tk-opt`, or `UNSUPPORTED: quick` to be left out of `tools/dev test --quick`.
for name in ("tkc", "tk-opt"):
    if os.path.exists(os.path.join(config.tkc_bin, name)):
        config.available_features.add(name)
if lit_config.params.get("quick"):
    config.available_features.add("quick")
if config.tkc_sanitize:
    config.available_features.add("asan")

# Some version of LLVM beside the one that tkc is built with, as Debian's libllvm15.
if any("libLLVM-22" not in path and "libLLVM.so.22" not in path for path in glob.glob("/usr/lib/*/libLLVM[-.]*[0-9]*")):
    config.available_features.add("other-llvm")

# Nothing of the user's settings reaches a test, and nothing is cached between tests; a test of the cache names a folder of its own.
config.environment = {"PATH": config.llvm_tools + os.pathsep + os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "HOME": config.test_exec_root,
                      "TKC_CACHE_DIR": "none"}
