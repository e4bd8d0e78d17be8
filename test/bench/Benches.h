// The groups of measurements; each adds its rows.
#pragma once
#include "test/bench/Table.h"

namespace tk::bench {

/// vector_add and softmax on all threads against the loops of Peers.h.
void benchElementwise(std::vector<Row> &rows);
/// matmul against OpenBLAS, each in a process of its own on one core. `self` is this program's path.
void benchMatrix(std::vector<Row> &rows, const std::string &self);
/// Whole processes of tkc that compile and exit.
void benchCompile(std::vector<Row> &rows, const std::string &tkc);

/// What a child of benchMatrix does: prints the median seconds of an n x n x n product. `library` is "tkc" or "openblas".
int matrixChild(const std::string &library, int n);

} // namespace tk::bench
