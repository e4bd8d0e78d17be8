// The groups of measurements; each adds its rows.
#pragma once
#include "test/bench/Table.h"

namespace tk::bench {

/// vector_add, softmax and layer_norm on all threads against the loops of Peers.h.
void benchElementwise(std::vector<Row> &rows);
/// matmul against OpenBLAS on one core and on all, and against a C++ loop; attention beside matmul. `self` is this program's path.
void benchMatrix(std::vector<Row> &rows, const std::string &self);
/// Whole processes of tkc that compile and exit.
void benchCompile(std::vector<Row> &rows, const std::string &tkc);

/// What a child of benchMatrix does: prints the median seconds of an n x n x n product, ours and the peer's, and the core type that the peer took.
int matrixChild(const std::string &dtype, int n, bool oneCore, int rounds);

} // namespace tk::bench
