// Warp regions: what divides a block's warps, and the barriers by which its parts wait for each other.
#include "dialects/ttg/TTG.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include <bit>

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

// ---- ttg.warp_specialize ----

SmallVector<WarpPartitionOp> WarpSpecializeOp::partitions() {
  SmallVector<WarpPartitionOp> result;
  if (!getPartitionRegion().empty())
    llvm::append_range(result, getPartitionRegion().front().getOps<WarpPartitionOp>());
  return result;
}

WarpYieldOp WarpSpecializeOp::yield() { return cast<WarpYieldOp>(getDefaultRegion().front().getTerminator()); }

LogicalResult WarpSpecializeOp::verify() {
  if (Operation *outer = (*this)->getParentOfType<WarpSpecializeOp>())
    return (emitOpError() << "divides warps that are already divided [WS3]").attachNote(outer->getLoc()) << "here";
  if (!(*this)->getParentOfType<tt::FuncOp>())
    return emitOpError() << "is outside of a function, whose warps it would divide [WS3]";
  auto yielded = getDefaultRegion().empty() || getDefaultRegion().front().empty() ? WarpYieldOp() : dyn_cast<WarpYieldOp>(getDefaultRegion().front().back());
  if (!yielded)
    return emitOpError() << "expected the default region to end with `ttg.warp_yield` [WS1]";
  if (yielded.getOperandTypes() != getResultTypes())
    return (emitOpError() << "has results of other types than what the default region yields [WS1]").attachNote(yielded.getLoc()) << "yielded here";
  for (Type type : getResultTypes())
    if (isa<MemDescType>(type))
      return emitOpError() << "yields " << type << ": what outlives a region is allocated in front of the operation [WS4]";
  for (Region *region : {&getDefaultRegion(), &getPartitionRegion()})
    if (!region->empty() && region->getNumArguments() != 0)
      return emitOpError() << "expected regions without arguments, found " << region->getNumArguments() << " [WS5]";
  size_t count = 0;
  if (!getPartitionRegion().empty())
    for (Operation &op : getPartitionRegion().front()) {
      if (!isa<WarpPartitionOp>(op))
        return (emitOpError() << "expected nothing but `ttg.warp_partition` behind `partitions` [WS2]").attachNote(op.getLoc()) << "found this";
      ++count;
    }
  if (count == 0)
    return emitOpError() << "expected at least one partition [WS2]";
  return success();
}

// ---- ttg.warp_partition ----

// `num_warps(4) registers(40) (%name = %value : type, ..) { .. }`: the region's arguments beside what they stand for.
ParseResult WarpPartitionOp::parse(OpAsmParser &parser, OperationState &result) {
  auto parseNumber = [&](StringAttr name) -> ParseResult {
    int32_t number;
    if (parser.parseLParen() || parser.parseInteger(number) || parser.parseRParen())
      return failure();
    result.addAttribute(name, parser.getBuilder().getI32IntegerAttr(number));
    return success();
  };
  if (parser.parseKeyword("num_warps") || parseNumber(getNumWarpsAttrName(result.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("registers")) && parseNumber(getRegistersAttrName(result.name)))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseCapture = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    OpAsmParser::UnresolvedOperand capture;
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(capture) || parser.parseColonType(argument.type))
      return failure();
    return parser.resolveOperand(capture, argument.type, result.operands);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCapture) ||
      parser.parseRegion(*result.addRegion(), arguments, /*enableNameShadowing=*/true))
    return failure();
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void WarpPartitionOp::print(OpAsmPrinter &printer) {
  printer << " num_warps(" << int32_t(getNumWarps()) << ")";
  if (std::optional<uint32_t> registers = getRegisters())
    printer << " registers(" << int32_t(*registers) << ")";
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getCaptures()), printer, [&](auto item) {
    auto [argument, capture] = item;
    printer.printRegionArgument(argument, {}, /*omitType=*/true);
    printer << " = " << capture << " : " << capture.getType();
  });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getNumWarpsAttrName(), getRegistersAttrName()});
}

LogicalResult WarpPartitionOp::verify() {
  int32_t warps = getNumWarps();
  if (warps <= 0 || !std::has_single_bit(uint32_t(warps)))
    return emitOpError() << "expected a power of two of warps, found " << warps << " [WP1]";
  for (Value capture : getCaptures())
    if (Type type = capture.getType(); tt::isTile(type) || !(type.isIntOrIndexOrFloat() || isa<tt::PointerType, MemDescType>(type)))
      return emitOpError() << "captures " << type << ": only scalars, pointers and memory descriptors mean the same to other warps [WP2]";
  if (getBody().getArgumentTypes() != getCaptures().getTypes())
    return emitOpError() << "expected an argument of the region for each capture, and of its type [WP3]";
  if (std::optional<int32_t> registers = getRegisters(); registers && (*registers < 24 || *registers > 256 || *registers % 8))
    return emitOpError() << "expected a multiple of 8 from 24 to 256 for the registers of a thread, found " << *registers << " [WP4]";
  if (!isa<WarpReturnOp>(getBody().front().back()))
    return emitOpError() << "expected the region to end with `ttg.warp_return` [WP5]";
  return success();
}

/// The warps that a layout is for.
static int64_t warpsOfLayout(Attribute layout) {
  if (auto linear = dyn_cast<LinearAttr>(layout))
    return int64_t(1) << linear.getLayout().warp.size();
  auto mma = cast<MmaAttr>(layout);
  return int64_t(mma.getWarpsM()) * mma.getWarpsN();
}

LogicalResult WarpPartitionOp::verifyRegions() {
  WalkResult found = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(type); tile && isa_and_nonnull<LinearAttr, MmaAttr>(tile.getEncoding()))
        if (int64_t warps = warpsOfLayout(tile.getEncoding()); warps != getNumWarps()) {
          (emitOpError() << "has " << getNumWarps() << " warps and a tile whose layout is for " << warps << " [WP6]").attachNote(op->getLoc()) << "here";
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return failure(found.wasInterrupted());
}

// ---- barriers between regions ----

static LogicalResult verifyMbarrier(Operation *op, MemDescType memory) {
  if (!memory.getIsMutable() || memory.getSlots() != 1 || ShapedType::getNumElements(memory.getShape()) != 1 || !memory.getElementType().isInteger(64))
    return op->emitOpError() << "expected a mutable descriptor with one slot of one i64, found " << memory << " [MB1]";
  return success();
}

LogicalResult MbarrierInitOp::verify() {
  if (int32_t count = getCount(); count <= 0 || count >= 1 << 20)
    return emitOpError() << "expected 1 to 1048575 arrivals, found " << count << " [MB2]";
  return verifyMbarrier(*this, getBarrier().getType());
}
LogicalResult MbarrierInvalOp::verify() { return verifyMbarrier(*this, getBarrier().getType()); }
LogicalResult MbarrierArriveOp::verify() { return verifyMbarrier(*this, getBarrier().getType()); }
LogicalResult MbarrierWaitOp::verify() { return verifyMbarrier(*this, getBarrier().getType()); }

// ---- what is asked of the surroundings ----

Region *ttg::warpRegionOf(Operation *op) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion()) {
    Operation *owner = region->getParentOp();
    if (isa<WarpPartitionOp>(owner) || (isa<WarpSpecializeOp>(owner) && region == &cast<WarpSpecializeOp>(owner).getDefaultRegion()))
      return region;
    if (isa<tt::FuncOp>(owner))
      break;
  }
  return nullptr;
}

unsigned ttg::warpsOf(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (auto partition = dyn_cast<WarpPartitionOp>(op))
      return partition.getNumWarps();
    if (isa<tt::FuncOp>(op))
      break;
  }
  auto warps = op ? op->getAttrOfType<IntegerAttr>(kNumWarpsName) : IntegerAttr();
  return warps ? warps.getInt() : 1;
}
