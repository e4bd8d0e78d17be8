// Tiles in shared memory: their layout, their descriptors, and what moves them there and back.
#include "dialects/ttg/TTG.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include <bit>

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

// ---- #ttg.shared ----

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  SmallVector<uint32_t> offset;
  if (parser.parseLess() || parser.parseKeyword("offset") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parser.parseInteger(offset.emplace_back()); }) || parser.parseGreater())
    return {};
  auto complain = [&] { return parser.emitError(parser.getNameLoc()); };
  return getChecked(function_ref<InFlightDiagnostic()>(complain), parser.getContext(), ArrayRef<uint32_t>(offset));
}

void SharedAttr::print(AsmPrinter &printer) const {
  printer << "<offset = [";
  llvm::interleaveComma(getOffset(), printer);
  printer << "]>";
}

static layout::LinearLayout linearOf(ArrayRef<uint32_t> offset) {
  unsigned bits = offset.size();
  return layout::LinearLayout({{"offset", bits}}, {{"index", bits}}, std::vector<uint64_t>(offset.begin(), offset.end()));
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<uint32_t> offset) {
  bool fits = offset.size() < 32 && llvm::all_of(offset, [&](uint32_t image) { return image >> offset.size() == 0; });
  if (!fits || !linearOf(offset).isBijective())
    return emitError() << "the images of a layout's " << offset.size() << " offset bits give some element no place, or two elements the same [SH1]";
  return success();
}

SmallVector<uint32_t> SharedAttr::offsetOfIndexBit() const {
  layout::LinearLayout inverse = linearOf(getOffset()).invert();
  return SmallVector<uint32_t>(inverse.matrix().begin(), inverse.matrix().end());
}

// ---- !ttg.memdesc ----

Type MemDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SharedAttr layout;
  unsigned slots = 1;
  bool isMutable = false;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) || parser.parseComma() ||
      parser.parseAttribute(layout))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("mutable")))
      isMutable = true;
    else if (parser.parseKeyword("slots", " or `mutable`") || parser.parseEqual() || parser.parseInteger(slots))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto complain = [&] { return parser.emitError(parser.getNameLoc()); };
  return getChecked(function_ref<InFlightDiagnostic()>(complain), parser.getContext(), ArrayRef<int64_t>(shape), element, layout, slots, isMutable);
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape())
    printer << extent << "x";
  printer << getElementType() << ", " << getLayout();
  if (getSlots() != 1)
    printer << ", slots = " << getSlots();
  if (getIsMutable())
    printer << ", mutable";
  printer << ">";
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type, SharedAttr layout, unsigned slots, bool) {
  unsigned bits = 0;
  for (int64_t extent : shape) {
    if (extent <= 0 || !std::has_single_bit(uint64_t(extent)))
      return emitError() << "the extent " << extent << " is not a power of two [MD1]";
    bits += log2Of(extent);
  }
  if (layout.getOffset().size() != bits)
    return emitError() << "a tile with " << bits << " bits of index needs as many bits of offset, found " << layout.getOffset().size() << " [MD2]";
  if (slots == 0)
    return emitError() << "a descriptor has at least one slot [MD3]";
  return success();
}

uint64_t MemDescType::slotBytes() const { return ShapedType::getNumElements(getShape()) * tt::bytesOf(getElementType()); }
MemDescType MemDescType::oneSlot() const { return get(getContext(), getShape(), getElementType(), getLayout(), 1, getIsMutable()); }

// ---- operations ----

/// The tile and what the descriptor's slots hold agree, and the tile has a layout.
static LogicalResult agree(Operation *op, MemDescType memory, Type tile, Type element, StringRef id) {
  auto type = cast<RankedTensorType>(tile);
  if (memory.getSlots() != 1)
    return op->emitOpError() << "needs one slot, found " << memory << " [" << id << "]";
  if (type.getShape() != memory.getShape() || element != memory.getElementType())
    return op->emitOpError() << "expected a tile of the shape and element type of " << memory << ", found " << tile << " [" << id << "]";
  if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return op->emitOpError() << "needs a tile with a layout, found " << tile << " [" << id << "]";
  return success();
}

LogicalResult LocalAllocOp::verify() {
  if (!getSrc())
    return getType().getIsMutable() ? success() : emitOpError() << "allocates what nobody can write: without an operand the result must be mutable [LA1]";
  return agree(*this, getType(), getSrc().getType(), tt::elementType(getSrc().getType()), "LA2");
}

LogicalResult MemDescIndexOp::verify() {
  if (getType() != getSrc().getType().oneSlot())
    return emitOpError() << "expected the result " << getSrc().getType().oneSlot() << ", found " << getType() << " [MI1]";
  if (uint32_t(getAhead()) >= getSrc().getType().getSlots())
    return emitOpError() << "goes " << getAhead() << " slots ahead of " << getSrc().getType().getSlots() << " [MI2]";
  return success();
}

LogicalResult LocalLoadOp::verify() { return agree(*this, getSrc().getType(), getType(), tt::elementType(getType()), "LL1"); }

LogicalResult LocalStoreOp::verify() {
  if (!getDst().getType().getIsMutable())
    return emitOpError() << "writes " << getDst().getType() << ", which is not mutable [LS1]";
  return agree(*this, getDst().getType(), getValue().getType(), tt::elementType(getValue().getType()), "LS1");
}

bool AsyncCopyOp::moves(uint64_t each, const TileLayout &layout, MemDescType memory) {
  uint64_t bytes = each * tt::bytesOf(memory.getElementType());
  SmallVector<uint32_t> offsets = memory.getLayout().offsetOfIndexBit();
  auto offsetOf = [&](uint32_t index) { return TileLayout::apply(offsets, index); };
  bool fits = (bytes == 4 || bytes == 8 || bytes == 16) && std::has_single_bit(each) && each <= layout.registers();
  for (unsigned i = 0; fits && i < log2Of(each); ++i)
    fits = offsetOf(layout.reg[i]) == 1u << i;
  for (auto *group : {&layout.reg, &layout.lane, &layout.warp})
    for (size_t i = group == &layout.reg ? log2Of(each) : 0; fits && i < group->size(); ++i)
      fits = (offsetOf((*group)[i]) & (each - 1)) == 0;
  return fits;
}

LogicalResult AsyncCopyOp::verify() {
  MemDescType memory = getDst().getType();
  if (!isa<tt::PointerType>(tt::elementType(getPtr().getType())))
    return emitOpError() << "copies from pointers, found " << getPtr().getType() << " [AC1]";
  if (!memory.getIsMutable())
    return emitOpError() << "writes " << memory << ", which is not mutable [AC1]";
  if (failed(agree(*this, memory, getPtr().getType(), tt::elementType(tt::pointeesOf(getPtr().getType())), "AC1")))
    return failure();
  uint64_t each = getContiguity();
  if (!moves(each, layoutOf(getPtr().getType()), memory))
    return emitOpError() << "can't move " << each << " elements at once: they must be 4, 8 or 16 bytes, side by side in the registers and in " << memory
                         << " [AC2]";
  if (getMask()) {
    auto mask = dyn_cast<RankedTensorType>(getMask().getType());
    auto pointers = cast<RankedTensorType>(getPtr().getType());
    if (!mask || mask.getShape() != pointers.getShape() || mask.getEncoding() != pointers.getEncoding())
      return emitOpError() << "expected a mask of the shape and layout of " << pointers << ", found " << getMask().getType() << " [AC3]";
  }
  return success();
}

LogicalResult AsyncWaitOp::verify() {
  if (int32_t(getPending()) < 0)
    return emitOpError() << "can't leave " << int32_t(getPending()) << " groups pending";
  return success();
}
