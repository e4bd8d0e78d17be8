# readme_commands.py TKC FOLDER README...: runs every `tkc` command that the given pages show, in an empty folder beside a copy of the samples, and says how each ended.
#
# A command is a line of a code block, or a text between backticks, that starts with `tkc ` and a verb. What follows `#` is a comment. The pages' stand-ins are provided:
# x.npy (rows for softmax), FILE.tk and NAME (a sample). A command for the GPU of this machine may end with status 4 where there is none.
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys


def commands(text):
    found = []
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        found += [line for line in block.splitlines() if line.startswith("tkc ")]
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    found += [code for code in re.findall(r"`([^`\n]+)`", text) if re.match(r"tkc [a-z]+ \S", code) and not code.startswith("tkc VERB")]
    return [re.sub(r"\s+#.*", "", line).strip() for line in found]


def writeArray(path, shape):
    count = shape[0] * shape[1]
    head = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{count}f", *((i * 37 % 101) / 25 for i in range(count))))


def main(tkc, folder, *pages):
    source = os.path.dirname(os.path.abspath(pages[0]))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copytree(os.path.join(source, "samples"), os.path.join(folder, "samples"))
    shutil.copy(os.path.join(source, "samples", "saxpy.tk"), os.path.join(folder, "FILE.tk"))
    shutil.copy(os.path.join(source, "samples", "saxpy.tk"), os.path.join(folder, "samples", "NAME.tk"))
    writeArray(os.path.join(folder, "x.npy"), (5, 300))
    bad = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            found = commands(file.read())
        for command in found:
            done = subprocess.run([tkc] + shlex.split(command)[1:], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            allowed = (0, 4) if "--target cuda" in command else (0,)
            good = done.returncode in allowed
            bad += not good
            print(f"{'ok' if good else 'FAIL'}: {command}" + ("" if good else f" (status {done.returncode})\n{done.stdout}"))
        print(f"{os.path.relpath(page, source)}: {len(found)} commands")
    return bad != 0


sys.exit(main(*sys.argv[1:]))
