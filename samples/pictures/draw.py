#!/usr/bin/env python3
"""Draws the pictures of samples/README.md: which program owns which data. Writes *.svg beside itself; the same input gives the same bytes."""
import os

COLOURS = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#eeca3b", "#b279a2", "#9d755d"]
GREY = "#dddddd"


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.items = width, height, []

    def box(self, x, y, w, h, colour, stroke="#ffffff", text="", size=11):
        self.items.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{colour}" stroke="{stroke}"/>')
        if text:
            self.text(x + w / 2, y + h / 2 + size * 0.35, text, size, "middle", "#ffffff" if colour != GREY else "#444444")

    def text(self, x, y, text, size=12, anchor="start", colour="#222222"):
        self.items.append(f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{text}</text>')

    def arrow(self, x1, y1, x2, y2):
        self.items.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#222222" stroke-width="1.5" marker-end="url(#head)"/>')

    def save(self, name):
        head = ('<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#222222"/></marker></defs>')
        text = f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}">\n' + head + "\n" + "\n".join(self.items) + "\n</svg>\n"
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w", encoding="utf-8") as file:
            file.write(text)


def vector_add():
    n, block, cell = 26, 8, 22
    picture = Picture(20 + 32 * cell + 20, 120)
    picture.text(20, 20, "n = 26, BLOCK = 8: four programs, the last one with six lanes masked off")
    for i in range(32):
        program = i // block
        picture.box(20 + i * cell, 50, cell, 30, COLOURS[program] if i < n else GREY, text=str(i), size=9)
    for program in range(4):
        picture.text(20 + (program + 0.5) * block * cell, 43, f"program {program}", 11, "middle")
    picture.text(20 + 29 * cell, 100, "mask is false: nothing is touched", 11, "middle")
    picture.save("vector_add.svg")


def softmax():
    rows, columns, block, cell = 5, 12, 16, 24
    picture = Picture(60 + block * cell + 190, 60 + rows * cell + 20)
    picture.text(20, 20, "5 rows of 12 columns, BLOCK = 16: one program a row; lanes past the row read minus infinity")
    for row in range(rows):
        picture.text(50, 50 + row * cell + 15, str(row), 11, "end")
        for column in range(block):
            inside = column < columns
            picture.box(60 + column * cell, 35 + row * cell, cell, cell - 2, COLOURS[row] if inside else GREY, text="" if inside else "-inf", size=9)
        picture.arrow(64 + block * cell, 46 + row * cell, 90 + block * cell, 46 + row * cell)
        picture.text(96 + block * cell, 50 + row * cell, "one max, one sum", 11)
    picture.save("softmax.svg")


def matmul():
    tiles, group, cell = 6, 3, 34
    picture = Picture(2 * (40 + tiles * cell) + 40, 70 + tiles * cell)
    picture.text(20, 20, "Order in which programs take the tiles of C: row by row; with GROUP_M = 3")
    for side in range(2):
        left = 20 + side * (40 + tiles * cell)
        for number in range(tiles * tiles):
            if side == 0:
                m, n = number // tiles, number % tiles
            else:
                first = number // (group * tiles) * group
                within = number % (group * tiles)
                rows = min(tiles - first, group)
                m, n = first + within % rows, within // rows
            early = number < 9
            picture.box(left + n * cell, 40 + m * cell, cell - 2, cell - 2, COLOURS[0] if early else GREY, text=str(number), size=11)
        need = "9 programs: 2 rows of A, 6 columns of B" if side == 0 else "9 programs: 3 rows, 3 columns"
        picture.text(left, 58 + tiles * cell, need, 10)
    picture.save("matmul.svg")


def attention():
    rows, columns, cell = 5, 5, 44
    picture = Picture(60 + columns * cell + 400, 60 + rows * cell)
    picture.text(20, 20, "One program owns BLOCK_M rows and walks over K and V in steps of BLOCK_N, here causal: up to the diagonal")
    for row in range(rows):
        for column in range(columns):
            seen = column <= row
            picture.box(60 + column * cell, 45 + row * cell, cell - 2, cell - 2, COLOURS[row % 8] if seen else GREY, text=f"step {column}" if seen else "", size=10)
        picture.text(52, 45 + row * cell + 25, f"program {row}", 9, "end")
    x = 80 + columns * cell
    for i, line in enumerate(["carried from step to step, for each row:", "  top     largest score so far", "  total   sum of exp(score - top)", "  result  weighted sum of V's rows", "when top rises by d, total and result", "are scaled by exp(-d) first"]):
        picture.text(x, 70 + i * 20, line, 12)
    picture.text(60 + columns * cell / 2, 38, "columns: keys n", 11, "middle")
    picture.save("attention.svg")


for draw in (vector_add, softmax, matmul, attention):
    draw()
