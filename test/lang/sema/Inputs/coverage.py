# Every message of the elaborator that has words of its own stands in a CHECK line of some test: coverage.py TABLE FOLDER.
import pathlib
import re
import sys

table, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
checks = []
for path in sorted(folder.rglob("*")):
    if path.suffix in (".tk", ".test", ".py") and path.name != "coverage.py":
        checks += [line.rstrip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if re.match(r"\W*[A-Z][A-Z-]*: ", line)]

# Reported to users of the elaborator alone: the driver checks the tree first (lang/syntax/Restrictions.cpp), or the fault is the compiler's.
ELSEWHERE = {"NotInKernel", "MatMulOperator", "ChainedComparison", "MembershipAtRunTime", "ItemAssignment", "AttributeAssignment", "BadTarget", "ParameterCount", "TooDeep", "Internal"}

missing = []
entries = re.findall(r'TK_DIAGNOSTIC\((\w+), (\w+), "((?:[^"\\]|\\.)*)"\)', table.read_text())
for name, severity, text in entries:
    text = text.replace("\\\\", "\\").replace('\\"', '"')
    if name in ELSEWHERE or len(re.sub(r"\{\d*\}|[^a-z]", "", text)) < 6:
        continue
    pattern = ".*".join(re.escape(part) for part in re.split(r"\{\d*\}", text))
    expected = re.compile(re.escape(severity.lower()) + ": " + pattern)
    if not any(expected.search(line) for line in checks):
        missing.append(name)
print(f"{len(entries) - len(missing)} of {len(entries)} messages are proven")
for name in missing:
    print(f"no test for {name}")
sys.exit(bool(missing))
