// Families that are being written.
#include "compiler/lower/GpuEmitter.h"
namespace tk::lower {
void GpuEmitter::emitJoin(tt::JoinOp op) { fail(op, "`tt.join` is not supported on this target yet"); }
void GpuEmitter::emitSplit(tt::SplitOp op) { fail(op, "`tt.split` is not supported on this target yet"); }
void GpuEmitter::emitCat(tt::CatOp op) { fail(op, "`tt.cat` is not supported on this target yet"); }
void GpuEmitter::emitAtomic(mlir::Operation *op) { fail(op, "atomics are not supported on this target yet"); }
void GpuEmitter::emitScan(tt::ScanOp op) { fail(op, "`tt.scan` is not supported on this target yet"); }
void GpuEmitter::emitGather(tt::GatherOp op) { fail(op, "`tt.gather` is not supported on this target yet"); }
void GpuEmitter::emitHistogram(tt::HistogramOp op) { fail(op, "`tt.histogram` is not supported on this target yet"); }
void GpuEmitter::emitPrint(tt::PrintOp op) { fail(op, "`tt.print` is not supported on this target yet"); }
void GpuEmitter::emitAssert(tt::AssertOp op) { fail(op, "`tt.assert` is not supported on this target yet"); }
} // namespace tk::lower
