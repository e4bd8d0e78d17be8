# A matrix product computed elsewhere: `product.py write FOLDER M N K` makes a.npy and b.npy there, `product.py check FOLDER M N K` compares c.npy with the product.
# Pure Python, in double precision; the entries are multiples of 1/64, so that each is exact in fp32.
import random, struct, sys


def write(path, rows, columns, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(values), *values))


def read(path, rows, columns):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    assert b"(%d, %d)" % (rows, columns) in data[:start], "the shape is not the one expected: %r" % data[10:start]
    assert len(data) == start + 4 * rows * columns, "the file has another size"
    return struct.unpack_from("<%df" % (rows * columns), data, start)


verb, folder, m, n, k = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
generator = random.Random(5)
a = [generator.randint(-128, 128) / 64 for _ in range(m * k)]
b = [generator.randint(-128, 128) / 64 for _ in range(k * n)]
if verb == "write":
    write(folder + "/a.npy", m, k, a)
    write(folder + "/b.npy", k, n, b)
else:
    c = read(folder + "/c.npy", m, n)
    for i in range(m):
        for j in range(n):
            exact = sum(a[i * k + l] * b[l * n + j] for l in range(k))
            size = sum(abs(a[i * k + l] * b[l * n + j]) for l in range(k))
            assert abs(c[i * n + j] - exact) <= size * k * 2**-24, "c[%d][%d] is %r, not %r" % (i, j, c[i * n + j], exact)
    print("the product is right")
