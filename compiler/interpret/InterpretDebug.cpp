// Printing, assertions and facts.
//
// A printed line is `pid (x, y, z) idx (i, j) prefix: value`, one for each element; scalars have no idx; several operands have `(operand n)` before the colon. Floats print
// with as many digits as tell them apart.
#include "compiler/interpret/Machine.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstdio>
#include <fmt/format.h>

using namespace mlir;

namespace tk::interpret {
namespace {

std::string indexText(ArrayRef<int64_t> shape, uint64_t element) {
  std::string text;
  for (int64_t extent : llvm::reverse(shape)) {
    text = fmt::format("{}{}{}", element % extent, text.empty() ? "" : ", ", text);
    element /= extent;
  }
  return text;
}

std::string valueText(ElementType type, Element value, bool hex, bool isSigned) {
  if (type.kind == ElementType::Pointer)
    return fmt::format("{:#x}", value.i);
  if (hex)
    return fmt::format("0x{:0{}x}", type.isFloat() ? encode(type.format, value.f) : value.i, type.bytes() * 2);
  if (type.isFloat())
    return type.format == Format::F64 ? fmt::format("{}", value.f) : fmt::format("{}", float(value.f));
  return isSigned ? fmt::format("{}", signExtend(value.i, type.bits)) : fmt::format("{}", value.i);
}

void print(Machine &m, const Instruction &i) {
  auto op = cast<tt::PrintOp>(i.op);
  auto line = [&](const std::string &text) {
    if (m.launch.print)
      m.launch.print(text);
    else
      std::fputs((text + "\n").c_str(), stdout);
  };
  const auto &id = m.task->id;
  std::string pid = fmt::format("pid ({}, {}, {})", id[0], id[1], id[2]), prefix = op.getPrefix().str();
  ++m.operations;
  if (i.operands.empty())
    line(fmt::format("{} {}", pid, prefix));
  for (unsigned n = 0; n < i.operands.size(); ++n) {
    const Tile &value = m.in(i, n);
    ArrayRef<int64_t> shape = tt::shapeOf(op.getArgs()[n].getType());
    std::string operand = i.operands.size() > 1 ? fmt::format(" (operand {})", n) : "";
    for (size_t k = 0; k < value.size(); ++k) {
      std::string index = shape.empty() ? "" : fmt::format(" idx ({})", indexText(shape, k));
      line(fmt::format("{}{} {}{}: {}", pid, index, prefix, operand, valueText(value.type, value[k], op.getHex(), op.getIsSigned()[n] != 0)));
    }
    m.operations += value.size();
  }
}

void assertTrue(Machine &m, const Instruction &i) {
  auto op = cast<tt::AssertOp>(i.op);
  const Tile &condition = m.in(i, 0);
  m.operations += condition.size();
  for (size_t k = 0; k < condition.size(); ++k)
    if (!condition[k].i) {
      m.stop(Result::AssertFailed, fmt::format("{}: assertion failed{} in {}{}{}", placeOf(op.getLoc()), m.elementName(op.getCondition().getType(), k), m.programName(),
                                               op.getMessage().empty() ? "" : ": ", op.getMessage().str()));
      return;
    }
}

void assume(Machine &m, const Instruction &i) {
  const Tile &condition = m.in(i, 0);
  if (!condition[0].i && condition.error(0) == 0)
    m.fault(i, fmt::format("an assumption is false in {}", m.programName()));
}

void nothing(Machine &, const Instruction &) {}

} // namespace

Handler selectDebug(Operation *op, Instruction &instruction) {
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case<tt::PrintOp>([](auto) { return print; })
      .Case<tt::AssertOp>([](auto) { return assertTrue; })
      .Case<tt::AssumeOp>([](auto) { return assume; })
      .Case<tt::BarrierOp>([](auto) { return nothing; })
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
