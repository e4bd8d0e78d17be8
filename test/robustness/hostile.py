#!/usr/bin/env python3
# Inputs made to hurt, generated here and given to tkc: enormous lines, deep nesting, broken encodings, recursion, endless compile-time work, malformed arrays.
# Each must end by itself within ten seconds of processor time (a busy machine doesn't fail the test), with the expected exit status, a message that says `error:` where there is something wrong, and output of a sane
# size. A signal, a time-out or a silent failure fails the test. The last line is `N passed, N failed`.
#
#   hostile.py [--quick] [--only TEXT] [--keep] PATH_OF_TKC
import argparse, concurrent.futures, os, re, resource, shutil, signal, struct, subprocess, sys, tempfile, time

SECONDS = 10
WAIT = 120
OUTPUT_LIMIT = 64 * 1024
MEMORY_LIMIT = 6 << 30
DEEP = 10_000
LONG = 10 << 20

cases = []


def case(name, content, verb="check", status=(1,), expect=r"error:", slow=False, path=None, files=None, arguments=()):
    """One input. `content` is text, bytes or a function that makes them; `expect` must be found in the output when it is not None."""
    cases.append(dict(name=name, content=content, verb=verb, status=status, expect=expect, slow=slow, path=path, files=files or {}, arguments=arguments))


def kernel(*lines, head=""):
    return head + "def k(out):\n" + "".join(f"    {line}\n" for line in lines)


# --- one line of ten megabytes --------------------------------------------------------------------------------------------------------------------------------
case("line of sums", lambda: kernel("x = " + "1+" * (LONG // 2) + "1"))
case("line of names", lambda: kernel("x = " + "a" * LONG), "compile")
case("line that is a string without end", lambda: kernel("x = '" + "a" * LONG))
case("line that is a number", lambda: kernel("x = " + "7" * LONG))
case("line that is a float", lambda: kernel("x = 0." + "7" * LONG), status=(0, 1), expect=None)
case("line of elements and a stray character", lambda: kernel("x = (" + "1," * (LONG // 2) + " $)"))
case("line of brackets", lambda: kernel("x = " + "(" * LONG))
case("line of closing brackets", lambda: kernel("x = " + ")" * LONG))
case("line of operators", lambda: kernel("x = 1 " + "+-~" * (LONG // 3) + "1"))
case("line of dots", lambda: kernel("x = a" + ".b" * (LONG // 2)))
case("line of stray characters", lambda: "$" * LONG)
case("line of blanks", lambda: " " * LONG + "x")
case("line of statements", lambda: kernel("x = 1;" * (LONG // 6)), status=(0, 1), expect=None)
case("line that is a comment", lambda: "#" * LONG + "\n" + kernel("x = )"))
case("lines joined by backslashes", lambda: kernel("x = 1 " + "\\\n" * (LONG // 2) + "$"))
case("a million short lines", lambda: "x = 1\n" * 1_000_000 + kernel("x = )"), slow=True)

# --- nesting ten thousand deep --------------------------------------------------------------------------------------------------------------------------------
nesting = {
    "parentheses": ("(", "1", ")"), "lists": ("[", "1", "]"), "dicts": ("{1:", "1", "}"), "sets": ("{", "1", "}"), "calls": ("f(", "1", ")"), "subscripts": ("a[", "1", "]"),
    "minus": ("-", "1", ""), "not": ("not ", "1", ""), "tilde": ("~", "1", ""), "lambdas": ("lambda: ", "1", ""), "power": ("2**", "1", ""),
    "conditionals": ("1 if 1 else ", "1", ""), "conditions": ("1 if ", "1", " else 1"), "and": ("1 and (", "1", ")"), "comparisons": ("1 < (", "1", ")"),
    "comprehensions": ("[x for x in ", "a", "]"), "keyword calls": ("f(a=", "1", ")"), "starred": ("f(*", "a", ")"), "walrus": ("(a := ", "1", ")"), "slices": ("a[1:", "1", "]"),
    "await": ("await ", "1", ""), "f-strings": ("f'{", "1", "}'"),
    "attributes": ("", "a", ".b"), "call chain": ("", "f", "()"), "subscript chain": ("", "a", "[0]"),
}
for name, (left, middle, right) in nesting.items():
    case(f"deep {name}", kernel("x = " + left * DEEP + middle + right * DEEP))
    case(f"deep {name} in a decorator", kernel("pass", head=f"@tk.grid({left * DEEP + middle + right * DEEP})\n"))
    if right:
        case(f"deep {name}, not closed", kernel("x = " + left * DEEP + middle), "compile")
case("deep blocks", lambda: "def k(out):\n" + "".join(" " * (i + 1) + "if out:\n" for i in range(DEEP)) + " " * (DEEP + 1) + "pass\n", slow=True)
case("deep blocks of functions", lambda: "".join(" " * i + "def f():\n" for i in range(2000)) + " " * 2000 + "pass\n")
case("deep blocks, then back by one", lambda: "def k(out):\n" + "".join(" " * (i * 2 + 2) + "while out:\n" for i in range(1000)) + " " * 3 + "pass\n")
case("long elif chain", kernel("if out:", "    pass", *["elif out:", "    pass"] * DEEP), status=(0, 1), expect=None)
case("long else-if chain by operator", kernel("x = " + "1 if out else 2 if out else " * DEEP + "3"))
case("many decorators", "@tk.example(x=1)\n" * DEEP + kernel("pass"), status=(0, 1), expect=None)
case("many parameters", "def k(" + ", ".join(f"p{i}" for i in range(DEEP)) + "):\n    pass\n", status=(0, 1), expect=None)
case("many targets", kernel("a = " * DEEP + "1"), status=(0, 1), expect=None)
case("many functions", "".join(f"def f{i}(a):\n    return f{i + 1}(a)\n" for i in range(DEEP)), status=(0, 1), expect=None)
case("deep annotation", "def k(out: " + "a[" * DEEP + "1" + "]" * DEEP + "):\n    pass\n")
case("deep default", "def k(out=" + "(" * DEEP + "1" + ")" * DEEP + "):\n    pass\n")
case("deep target", kernel("(" * DEEP + "a" + ")" * DEEP + " = 1"))
case("deep unpacking", kernel("(a, " * DEEP + "b" + ")" * DEEP + " = out"))
case("deep import", "import " + ".".join(["a"] * DEEP) + "\n" + kernel("x = )"))

# --- encodings and files --------------------------------------------------------------------------------------------------------------------------------------
wrong = kernel("x = 1", "y = )")
case("invalid UTF-8 in a comment", b"# \xff\xfe\n" + wrong.encode(), expect=r":1:3: error:")
case("invalid UTF-8 in a string", kernel("x = 'Q'").encode().replace(b"Q", b"\xc3\x28"), expect=r":2:\d+: error:")
case("invalid UTF-8 in a name", kernel("xQ = 1").encode().replace(b"Q", b"\x80"), expect=r":2:\d+: error:")
case("overlong UTF-8", kernel("x = 'Q'").encode().replace(b"Q", b"\xc0\xaf"))
case("a surrogate in UTF-8", kernel("x = 'Q'").encode().replace(b"Q", b"\xed\xa0\x80"))
case("beyond Unicode", kernel("x = 'Q'").encode().replace(b"Q", b"\xf4\x90\x80\x80"))
case("truncated UTF-8 at the end", kernel("x = 1").encode() + b"# \xe2\x82")
case("ten megabytes of invalid UTF-8", lambda: b"\xff" * LONG)
case("NUL in the text", kernel("x = 1\0"))
case("nothing but NUL", b"\0" * 1000)
case("UTF-16", wrong.encode("utf-16"))
case("CRLF", wrong.replace("\n", "\r\n"), expect=r":3:9: error:")
case("lone CR", wrong.replace("\n", "\r"), expect=r":3:9: error:")
case("byte-order mark", b"\xef\xbb\xbf" + wrong.encode(), expect=r":3:9: error:")
case("byte-order mark twice", b"\xef\xbb\xbf\xef\xbb\xbf" + kernel("pass").encode())
case("CRLF with a byte-order mark", b"\xef\xbb\xbf" + wrong.replace("\n", "\r\n").encode(), expect=r":3:9: error:")
case("CRLF with a byte-order mark, all right", b"\xef\xbb\xbf" + kernel("x = 1").replace("\n", "\r\n").encode(), status=(0,), expect=None)
case("wide characters before an error", kernel("x = '\u00e4\U0001f600' + )"), expect=r":2:16: error:")
case("empty file", "")
case("nothing but a byte-order mark", b"\xef\xbb\xbf")
case("nothing but blanks", " \t \n \f \n")
case("nothing but a comment", "# nothing")
case("no newline at the end", wrong.rstrip("\n"))
case("tabs and blanks mixed", "def k(out):\n\tif out:\n        pass\n \tpass\n")
case("file that is missing", None, path="no/such/file.tk", status=(1, 2), expect=r"no/such/file\.tk")
case("file that is a folder", None, path=".", status=(1, 2))

# --- recursion and endless work at compile time ---------------------------------------------------------------------------------------------------------------
case("recursion", "def f(x):\n    return f(x) + 1\n" + kernel("store(out, f(1.0))"), "compile", expect=r"recurs")
case("mutual recursion", "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\n" + kernel("store(out, f(1.0))"), "compile", expect=r"recurs")
case("recursion of the kernel", kernel("k(out)"), "compile", expect=r"recurs")
case("recursion that grows its argument", "def f(x):\n    return f((x, x))\n" + kernel("f(1)"), "compile")
case("recursion through a function argument", "def f(g: constexpr, x):\n    return g(g, x)\n" + kernel("store(out, f(f, 1.0))"), "compile")
case("recursion through a lambda in the grid", kernel("pass", head="@tk.grid((lambda f: f(f))(lambda f: f(f)))\n@tk.example(out=zeros(fp32, 4))\n"), "run")
case("recursion in a host function", kernel("pass", head="def g(n):\n    return g(n + 1)\n@tk.grid(g(0))\n@tk.example(out=zeros(fp32, 4))\n"), "run")
case("two names for each other", kernel("x = A", head="A = B\nB = A\n"), "compile")
case("example arguments for each other", "@tk.grid(1)\n@tk.example(out=zeros(fp32, n), n=m, m=n)\ndef k(out, n, m):\n    pass\n", "run")
case("default that is its own parameter", "@tk.grid(1)\n@tk.example(out=zeros(fp32, 4))\ndef k(out, n=n):\n    pass\n", "run")
case("endless while at compile time", kernel("i: constexpr = 0", "while True:", "    i = i + 1", "store(out, i)"), "compile", status=(0, 1), expect=None)
case("endless host function", kernel("pass", head="def g():\n    while True:\n        pass\n@tk.grid(g())\n@tk.example(out=zeros(fp32, 4))\n"), "run")
case("static_range without end", kernel("for i in static_range(1 << 62):", "    pass"), "compile", expect=r"static_range|compile.time|limit|steps")
case("static_range inside static_range", kernel(*["    " * d + "for i%d in static_range(1000):" % d for d in range(5)], "    " * 5 + "store(out, 1.0)"), "compile")
case("static_range of step zero", kernel("for i in static_range(0, 10, 0):", "    pass"), "compile")
case("range of step zero", kernel("for i in range(0, 10, 0):", "    store(out, 1.0)"), "compile", status=(0, 1), expect=None)
case("shift by a trillion", kernel("x = 1 << (1 << 40)"), "compile")
case("tower of powers", kernel("x = 10 ** 10 ** 10"), "compile")
case("negative shift", kernel("x = 1 << -1"), "compile")
case("division by zero at compile time", kernel("x = 1 // 0"), "compile")
case("remainder by zero at compile time", kernel("x = 1 % 0"), "compile")
case("string of a terabyte", kernel("x = 'a' * (1 << 40)"), "compile")
case("tuple of a terabyte", kernel("x = (1,) * (1 << 40)"), "compile")
case("tuple that doubles", kernel("x = (1,)", "for i in static_range(60):", "    x = (x, x)", "static_print(x)"), "compile", status=(0, 1), expect=None)
case("list that doubles", kernel("x = (1,)", "for i in static_range(60):", "    x = x + x", "store(out, len(x))"), "compile")
case("calls that double", "def f0(x):\n    return x\n" + "".join(f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 60)) + kernel("store(out, f59(1.0))"), "compile")
case("calls that double, of constants", "".join(f"def f{i}(x: constexpr):\n    return f{i - 1}(x) + f{i - 1}(x + {i})\n" if i else "def f0(x: constexpr):\n    return x\n" for i in range(50))
     + kernel("store(out, f49(1))"), "compile")
case("tile of a gigabyte of elements", kernel("store(out + arange(0, 1 << 30), 1.0)"), "compile")
case("tile with more elements than 64 bits count", kernel("x = zeros((1 << 40, 1 << 40), dtype=fp32)", "store(out, sum(x))"), "compile")
case("tile of negative extent", kernel("x = zeros((-4,), dtype=fp32)", "store(out, sum(x))"), "compile")
case("tile of extent zero", kernel("x = arange(4, 4)", "store(out, 1.0)"), "compile")
case("tile of rank 100", kernel("x = zeros((" + "1, " * 100 + "), dtype=fp32)", "store(out, 1.0)"), "compile", status=(0, 1), expect=None)
case("literal beyond every type", kernel("store(out, 1 << 200)"), "compile")
case("thousand statements", kernel(*["x = out + 1" for _ in range(1000)], "store(x, 1.0)"), "compile", status=(0,), expect=None)
case("hundred nested loops", kernel(*["    " * d + f"for i{d} in range(0, 2):" for d in range(90)], "    " * 90 + "store(out, 1.0)"), "compile", status=(0, 1), expect=None)

# --- arguments of tkc -----------------------------------------------------------------------------------------------------------------------------------------
plain = "@tk.grid(1)\n@tk.example(x=zeros(fp32, 4), n=4)\ndef k(x, n):\n    store(x + arange(0, 4), 1.0, mask=arange(0, 4) < n)\n"
either = dict(verb="run", status=(1, 2))
case("array of exabytes", plain, arguments=["x=zeros:fp32[1152921504606846976]"], **{**either, "status": (1, 2, 4)})
case("array whose size wraps", plain, arguments=["x=zeros:fp32[4294967296,4294967296,16]"], **either)
case("array of negative extent", plain, arguments=["x=zeros:fp32[-4]"], **either)
case("argument of deep brackets", plain, arguments=["n=" + "(" * DEEP + "1" + ")" * DEEP], **either)
case("argument that is not a number", plain, arguments=["n=4$"], **either)
case("argument of no parameter", plain, arguments=["nn=4"], **either)
case("argument that refers to itself", plain, arguments=["n=n"], **either)
case("grid that is negative", plain, arguments=["--grid", "-1"], **either)
case("grid that is no number", plain, arguments=["--grid", "fp32"], **either)
case("grid beyond 2^31", plain, arguments=["--grid", "1 << 40"], **either)
case("signature of deep brackets", plain, "compile", status=(1, 2), arguments=["--signature", "(" * DEEP])
case("signature of another length", plain, "compile", status=(1, 2), arguments=["--signature", "*fp32"])
case("signature with an unknown type", plain, "compile", status=(1, 2), arguments=["--signature", "*fp33, i32"])

# --- array files ----------------------------------------------------------------------------------------------------------------------------------------------


def npy(header, data=b"\0" * 16, version=1, length=None):
    text = header.encode()
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + (struct.pack("<H", size & 0xFFFF) if version == 1 else struct.pack("<I", size)) + text + data


good = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
arrays = {
    "empty": b"", "short magic": b"\x93NUM", "wrong magic": b"PK\x03\x04" + b"\0" * 100, "header beyond the file": npy(good, b"", length=60000), "header of 4 GiB": npy(good, b"", 2, 0xFFFFFFF0),
    "data missing": npy(good, b"\0" * 15), "shape that wraps": npy(good.replace("(4,)", "(4294967296, 4294967296, 4)")), "shape of exabytes": npy(good.replace("(4,)", "(1152921504606846976,)")),
    "negative shape": npy(good.replace("(4,)", "(-4,)")), "deep shape": npy(good.replace("(4,)", "(" * 5000 + "4" + ")" * 5000)), "shape of a number beyond 64 bits": npy(good.replace("4,", "9" * 400 + ",")),
    "object type": npy(good.replace("<f4", "|O")), "unknown type": npy(good.replace("<f4", "<c16")), "structured type": npy(good.replace("'<f4'", "[('a', '<f4')]")),
    "header that is no dict": npy("[1, 2, 3]"), "header without shape": npy("{'descr': '<f4', 'fortran_order': False, }"), "version 9": npy(good, version=9),
}
for name, content in arrays.items():
    case(f"array file, {name}", plain, files={"a.npy": content}, arguments=["x=@{folder}/a.npy"], **either)
case("array file that is missing", plain, arguments=["x=@no/such.npy"], **either)


# --------------------------------------------------------------------------------------------------------------------------------------------------------------
def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS * slack, SECONDS * slack + 1))
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def run(number, one):
    """Runs one case; returns what went wrong, or None."""
    folder = os.path.join(work, str(number))
    os.mkdir(folder)
    path = one["path"]
    if path is None:
        path = os.path.join(folder, "input.tk")
        content = one["content"]() if callable(one["content"]) else one["content"]
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    for name, data in one["files"].items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    extra = [text.replace("{folder}", folder) for text in one["arguments"]]
    if one["verb"] == "compile":
        extra = ["--emit", "tt"] + (extra or ["--signature", "*fp32"])
    command = [tkc, one["verb"], path] + extra
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WAIT, preexec_fn=limits, cwd=work)
    except subprocess.TimeoutExpired:
        return f"still there after {WAIT} s"
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - start
    output = done.stdout.decode("utf-8", "replace")
    brief = output if len(output) < 400 else output[:200] + " ... " + output[-200:]
    if done.returncode == -signal.SIGXCPU:
        return f"still running after {SECONDS * slack} s of processor time: {brief}"
    if done.returncode < 0 or done.returncode >= 128:
        return f"ended by signal {-done.returncode if done.returncode < 0 else done.returncode - 128} after {seconds:.1f} s: {brief}"
    if done.returncode not in one["status"]:
        return f"status {done.returncode}, expected {' or '.join(map(str, one['status']))}: {brief}"
    if done.returncode and not re.search(one["expect"] or r"error:", output):
        return f"the output does not match `{one['expect'] or 'error:'}`: {brief}"
    if len(output) > OUTPUT_LIMIT and one["verb"] != "compile":
        return f"{len(output)} bytes of output: {brief}"
    return None


parser = argparse.ArgumentParser()
parser.add_argument("tkc")
parser.add_argument("--quick", action="store_true", help="leave out the slow ones")
parser.add_argument("--only", default="", help="cases whose name contains this")
parser.add_argument("--keep", action="store_true", help="keep the generated files")
options = parser.parse_args()
tkc = os.path.abspath(options.tkc)
if not os.access(tkc, os.X_OK):
    print(f"{tkc}: no such program\n0 passed, 1 failed")
    sys.exit(1)
# The sanitizers reserve terabytes of address space and are slower.
sanitized = b"__asan_init" in subprocess.run(["grep", "-ao", "-m1", "__asan_init", tkc], stdout=subprocess.PIPE).stdout
slack = 4 if sanitized else 1
chosen = [one for one in cases if options.only in one["name"] and not (options.quick and one["slow"])]
work = tempfile.mkdtemp(prefix="tkc-hostile-")
passed = failed = 0
try:
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for one, fault in zip(chosen, pool.map(run, range(len(chosen)), chosen)):
            if fault is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {one['name']} ({one['verb']}): {fault}", flush=True)
finally:
    if options.keep:
        print("files in", work)
    else:
        shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
