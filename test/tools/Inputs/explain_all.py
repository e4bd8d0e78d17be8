# explain_all.py TKC SAMPLES TARGET...: `tkc explain` of every sample for every target, as text and as JSON; every line from the first kernel on is shown.
import json
import pathlib
import subprocess
import sys

tkc, samples, targets = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
for target in targets:
    for path in sorted(samples.glob("*.tk")):
        text = subprocess.run([tkc, "explain", path, "--target", target], check=True, capture_output=True, text=True).stdout
        data = json.loads(subprocess.run([tkc, "explain", path, "--target", target, "--json"], check=True, capture_output=True, text=True).stdout)
        lines = path.read_text().splitlines()
        for kernel in data["kernels"]:
            assert f"`{kernel['kernel']}` for {target}" in text, (path, target)
            assert kernel["remarks"], (path, target)
            for remark in kernel["remarks"]:
                assert 1 <= remark["line"] <= len(lines) and remark["file"] == str(path), remark
                assert remark["kind"] == "shared" or "^ " + remark["text"] in text, remark
        # What a kernel calls is shown where something is said of it.
        names = [kernel["kernel"] for kernel in data["kernels"]]
        for line in lines[min(i for i, line in enumerate(lines) if line.startswith(tuple(f"def {name}(" for name in names))):]:
            assert not line.startswith("    ") or f" | {line}" in text, (path, target, line)
print("every sample is explained for", ", ".join(targets))
