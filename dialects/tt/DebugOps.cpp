// Verifiers of printing.
#include "dialects/tt/TT.h"

using namespace mlir;
using namespace tk::tt;

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size())
    return emitOpError() << "needs one `isSigned` entry per operand, found " << getIsSigned().size() << " for " << getArgs().size() << " operands [PR1]";
  return success();
}
