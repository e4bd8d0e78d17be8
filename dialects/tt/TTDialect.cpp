// Registration of the tt dialect, its pointer type, and the small type functions of TT.h.
#include "dialects/tt/TT.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk::tt;

#include "dialects/tt/TTDialect.cpp.inc"
#include "dialects/tt/TTEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/tt/TTTypes.cpp.inc"

// The types of `tt.cat` in text: one for both operands when they are equal.
static ParseResult parseCatTypes(OpAsmParser &parser, Type &left, Type &right) {
  if (parser.parseType(left))
    return failure();
  right = left;
  return succeeded(parser.parseOptionalComma()) ? parser.parseType(right) : success();
}

static void printCatTypes(OpAsmPrinter &printer, CatOp, Type left, Type right) {
  printer << left;
  if (left != right)
    printer << ", " << right;
}

#define GET_OP_CLASSES
#include "dialects/tt/TTOps.cpp.inc"

// How deep `!tt.ptr<!tt.ptr<...>>` may nest: the parser recurses once for each.
static constexpr unsigned kMaxPointerDepth = 16;

void TTDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/tt/TTOps.cpp.inc"
      >();
}

void TTDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tt/TTTypes.cpp.inc"
      >();
}

Operation *TTDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto poison = dyn_cast<ub::PoisonAttr>(value))
    return ub::PoisonOp::create(builder, loc, type, poison);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

// ---- !tt.ptr ----

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee, int addressSpace) {
  if (!pointee || !isScalarType(pointee))
    return emitError() << "the pointee must be a tt scalar, found " << pointee << " [P1]";
  if (addressSpace < 0)
    return emitError() << "the address space must be at least 0, found " << addressSpace << " [P2]";
  unsigned depth = 1;
  for (Type inner = pointee; auto pointer = dyn_cast<PointerType>(inner); inner = pointer.getPointeeType())
    if (++depth > kMaxPointerDepth)
      return emitError() << "pointers nest deeper than " << kMaxPointerDepth;
  return success();
}

Type PointerType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type pointee;
  int addressSpace = 1;
  if (parser.parseLess() || parser.parseType(pointee))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseInteger(addressSpace))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, pointee, addressSpace);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << "<" << getPointeeType();
  if (getAddressSpace() != 1)
    printer << ", " << getAddressSpace();
  printer << ">";
}

// ---- types of elements ----

bool tk::tt::isScalarType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<PointerType, Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type, Float8E5M2FNUZType, Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

bool tk::tt::isTileShape(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > kMaxTileElements / elements)
      return false;
    elements *= extent;
  }
  return !shape.empty();
}

Type tk::tt::pointeesOf(Type type) {
  auto pointer = dyn_cast_or_null<PointerType>(type ? elementType(type) : Type());
  return pointer ? withShapeOf(pointer.getPointeeType(), type) : Type();
}

Type tk::tt::maskTypeFor(Type type) { return withShapeOf(IntegerType::get(type.getContext(), 1), type); }

int64_t tk::tt::bytesOf(Type element) {
  if (isa<PointerType>(element))
    return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}
