# every_stage.py TKC SAMPLES TARGET...: every kernel of the samples, at every stage, for every target. In PTX each line of `.loc` is one of the kernel's, and those that load and store
# from memory are lines of the source that do.
import pathlib
import re
import subprocess
import sys

tkc, samples, targets = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]


def emit(path, kernel, target, stage):
    return subprocess.run([tkc, "compile", path, "--kernel", kernel, "--target", target, "--emit", stage], check=True, capture_output=True, text=True).stdout


def kernels(text):
    """The functions with a decorator; others are called by them."""
    return [name for decorator, name in re.findall(r"^(@.*\n(?:[ @].*\n)*)?def (\w+)\(", text, re.M) if decorator]


def linesOf(source, function):
    first = next(i for i, line in enumerate(source) if line.startswith(f"def {function}("))
    return first, next((i for i in range(first + 1, len(source)) if source[i] and not source[i].startswith((" ", ")"))), len(source))


def checkLines(path, kernel, ptx):
    source = path.read_text().splitlines()
    first, last = linesOf(source, kernel)
    called = [linesOf(source, name) for name in re.findall(r"^def (\w+)\(", path.read_text(), re.M) if name not in kernels(path.read_text())]
    now, seen = 0, set()
    for line in ptx.splitlines():
        if match := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", line):
            assert match[1] == "1", line
            now = int(match[2])
            assert now == 0 or first < now <= last or any(begin < now <= end for begin, end in called), f"{path}: {line.strip()} is not in `{kernel}` or what it calls"
        for instruction, words in (("ld.global", ("load(",)), ("cp.async.ca", ("load(",)), ("cp.async.cg", ("load(",)), ("st.global", ("store(",))):
            if f"{instruction}." in line and now:
                seen.add("ld.global" if instruction.startswith("cp.async") else instruction)
                assert any(word in source[now - 1] for word in words), f"{path}:{now}: {line.strip()}"
    assert seen == {"ld.global", "st.global"}, (path, seen)
    assert f'"{path}"' in ptx, path


for target in targets:
    for path in sorted(samples.glob("*.tk")):
        for kernel in kernels(path.read_text()):
            if "@tk.example" not in path.read_text():
                continue
            assert "#ttg." in emit(path, kernel, target, "ttg"), (path, target)
            assert re.search(rf"define .*@{kernel}\(", emit(path, kernel, target, "llvm")), (path, target)
            ptx = emit(path, kernel, target, "asm")
            assert f".target {target}" in ptx and f".entry {kernel}(" in ptx, (path, target)
            checkLines(path, kernel, ptx)
print("every stage of every sample for", ", ".join(targets))
