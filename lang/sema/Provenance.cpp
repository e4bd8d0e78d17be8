// Which kernel arguments are read and written.
//
// From each access the pointer is followed backwards: through address arithmetic and shape operations to their operands, through results and arguments of scf operations to what is yielded
// or passed into them, through calls to the arguments passed, until the entry block's arguments are reached.
#include "lang/sema/Provenance.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/SymbolTable.h"

namespace tk::lang {

namespace {
class Tracer {
public:
  explicit Tracer(tt::FuncOp kernel) : kernel(kernel) {
    if (auto module = kernel->getParentOfType<mlir::ModuleOp>())
      module.walk([&](tt::CallOp call) { calls[call.getCallee()].push_back(call); });
  }

  /// The indices of the kernel's arguments that the value comes from.
  llvm::DenseSet<unsigned> trace(mlir::Value value) {
    found.clear();
    visited.clear();
    pending.assign(1, value);
    while (!pending.empty()) {
      mlir::Value next = pending.pop_back_val();
      if (visited.insert(next).second)
        follow(next);
    }
    return found;
  }

private:
  void follow(mlir::Value value);
  void followArgument(mlir::BlockArgument argument);
  void addTerminatorOperand(mlir::Region &region, unsigned index) {
    if (!region.empty() && index < region.back().getTerminator()->getNumOperands())
      pending.push_back(region.back().getTerminator()->getOperand(index));
  }

  tt::FuncOp kernel;
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<tt::CallOp>> calls;
  llvm::SmallVector<mlir::Value> pending;
  llvm::DenseSet<mlir::Value> visited;
  llvm::DenseSet<unsigned> found;
};
} // namespace

void Tracer::followArgument(mlir::BlockArgument argument) {
  mlir::Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (parent == kernel.getOperation()) {
    found.insert(index);
  } else if (auto function = mlir::dyn_cast<tt::FuncOp>(parent)) {
    for (tt::CallOp call : calls.lookup(function.getSymName()))
      pending.push_back(call.getOperands()[index]);
  } else if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(parent)) {
    if (index > 0) {
      pending.push_back(loop.getInitArgs()[index - 1]);
      addTerminatorOperand(loop.getRegion(), index - 1);
    }
  } else if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(parent)) {
    if (argument.getOwner()->getParent() == &loop.getBefore()) {
      pending.push_back(loop.getInits()[index]);
      addTerminatorOperand(loop.getAfter(), index);
    } else {
      addTerminatorOperand(loop.getBefore(), index + 1); // after the condition
    }
  }
}

void Tracer::follow(mlir::Value value) {
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value))
    return followArgument(argument);
  mlir::Operation *op = value.getDefiningOp();
  unsigned index = mlir::cast<mlir::OpResult>(value).getResultNumber();
  if (mlir::isa<mlir::scf::IfOp, mlir::scf::ForOp>(op)) {
    for (mlir::Region &region : op->getRegions())
      addTerminatorOperand(region, index);
    if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op))
      pending.push_back(loop.getInitArgs()[index]);
  } else if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
    addTerminatorOperand(loop.getBefore(), index + 1);
  } else if (auto call = mlir::dyn_cast<tt::CallOp>(op)) {
    pending.append(call.getOperands().begin(), call.getOperands().end());
  } else if (auto load = mlir::dyn_cast<tt::LoadOp>(op)) {
    pending.push_back(load.getPtr());
  } else {
    // Only operands that can carry an address matter: pointers, and 64-bit integers that were pointers.
    for (mlir::Value operand : op->getOperands())
      if (mlir::isa<tt::PointerType>(tt::elementType(operand.getType())) || (!mlir::isa<tt::AddPtrOp>(op) && tt::elementType(operand.getType()).isInteger(64)))
        pending.push_back(operand);
  }
}

void findAccesses(tt::FuncOp kernel, std::vector<KernelArgument> &arguments) {
  Tracer tracer(kernel);
  auto access = [&](mlir::Value pointer, bool reads, bool writes) {
    for (unsigned index : tracer.trace(pointer)) {
      if (index >= arguments.size() || !arguments[index].type.pointerDepth)
        continue;
      arguments[index].read |= reads;
      arguments[index].written |= writes;
    }
  };
  mlir::Operation *root = kernel->getParentOfType<mlir::ModuleOp>();
  (root ? root : kernel.getOperation())->walk([&](mlir::Operation *op) {
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      access(load.getPtr(), true, false);
    else if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
      access(store.getPtr(), false, true);
    else if (auto rmw = mlir::dyn_cast<tt::AtomicRMWOp>(op))
      access(rmw.getPtr(), true, true);
    else if (auto cas = mlir::dyn_cast<tt::AtomicCASOp>(op))
      access(cas.getPtr(), true, true);
  });
}

} // namespace tk::lang
