"""What the two shared libraries show and hold, by nm and readelf. Argument: their folder."""
import re
import subprocess
import sys

folder = sys.argv[1]


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def shown(library):
    return {line.split()[-1].split("@")[0] for line in lines("nm", "-D", "--defined-only", f"{folder}/{library}")}


def needed(library):
    return [match[1] for line in lines("readelf", "-d", f"{folder}/{library}") if (match := re.search(r"\(NEEDED\).*\[(.*)\]", line))]


symbols = shown("libtkc_runtime.so")
unexpected = sorted(symbol for symbol in symbols if not re.match(r"tkc?_|_ZNK?2tk|_ZT[ISV]N2tk", symbol) and not re.match(r"TKC_", symbol))
llvm = [library for library in needed("libtkc_runtime.so") if re.search("LLVM|MLIR|tkc_jit", library)]
missing = {"tk_module_from_file", "tk_kernel_launch", "tk_abi_version", "_ZN2tk6Module8fromFileERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"} - symbols
print(f"runtime: {len(unexpected)} unexpected symbols, {len(llvm)} libraries of LLVM", *unexpected[:20], *llvm, *(f"missing: {symbol}" for symbol in missing))

# A second copy of the runtime in the compiler's library would have its own devices, hooks and caches. Inline functions may be in both.
def defined(kinds, *command):
    return {line.split()[-1].split("@")[0] for line in lines(*command) if re.search(f" [{kinds}] ", line)}


twice = sorted(defined("TBD", "nm", "-D", f"{folder}/libtkc_runtime.so") & defined("TtBbDd", "nm", f"{folder}/libtkc_jit.so"))
print("jit: exports", " ".join(sorted(shown("libtkc_jit.so"))) + f", {len(twice)} symbols of the runtime inside", *twice[:20])
