// How passes and emitters record what they did. MLIR's remark engine carries it: nothing is made when nobody listens.
//
//   if (RecordRemark remark(op, RemarkKind::Conversion); remark)
//     remark.fact("bytes", 4096).fact("from", "tt.load");
#pragma once
#include "compiler/Remarks.h"
#include "mlir/IR/Remarks.h"
#include <functional>

namespace tk::compiler {

/// One remark about an operation; recorded when this object dies. False: it is not wanted, and facts that cost time to find need not be found.
class RecordRemark {
public:
  RecordRemark(mlir::Operation *op, RemarkKind kind);
  explicit operator bool() const { return static_cast<bool>(remark); }
  RecordRemark &fact(llvm::StringRef name, int64_t number);
  RecordRemark &fact(llvm::StringRef name, const llvm::Twine &text);

private:
  mlir::MLIRContext *context;
  mlir::remark::detail::InFlightRemark remark;
};

/// While it lives, the remarks of a context go to `out`. Of the kind `shared` all are taken, of the others none unless `all`.
class RemarkListener {
public:
  struct Position {
    std::string file;
    unsigned line = 0, column = 0;
  };
  RemarkListener(mlir::MLIRContext &context, bool all, std::function<Position(mlir::Location)> place, Remarks &out);
  ~RemarkListener();
  RemarkListener(const RemarkListener &) = delete;
  RemarkListener &operator=(const RemarkListener &) = delete;

private:
  mlir::MLIRContext &context;
};

} // namespace tk::compiler
