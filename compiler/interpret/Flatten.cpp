// From tt to flat code: numbers the values, places jumps for scf, and marks where each value is read last.
#include "compiler/interpret/Machine.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;

namespace tk::interpret {

bool elementTypeOf(Type type, ElementType &result) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    result = {ElementType::Int, Format::F32, uint8_t(integer.getWidth())};
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  }
  if (isa<IndexType>(type)) {
    result = {ElementType::Int, Format::F32, 64};
    return true;
  }
  if (isa<tt::PointerType>(type)) {
    result = {ElementType::Pointer, Format::F32, 64};
    return true;
  }
  auto format = llvm::TypeSwitch<Type, std::optional<Format>>(type)
                    .Case<Float8E4M3FNType>([](auto) { return Format::F8E4M3FN; })
                    .Case<Float8E5M2Type>([](auto) { return Format::F8E5M2; })
                    .Case<Float8E4M3FNUZType>([](auto) { return Format::F8E4M3FNUZ; })
                    .Case<Float8E5M2FNUZType>([](auto) { return Format::F8E5M2FNUZ; })
                    .Case<Float16Type>([](auto) { return Format::F16; })
                    .Case<BFloat16Type>([](auto) { return Format::BF16; })
                    .Case<Float32Type>([](auto) { return Format::F32; })
                    .Case<Float64Type>([](auto) { return Format::F64; })
                    .Default([](auto) { return std::nullopt; });
  if (!format)
    return false;
  result = {ElementType::Float, *format, uint8_t(infoOf(*format).bits)};
  return true;
}

bool slotOf(Type type, Slot &slot) {
  auto shape = tt::shapeOf(type);
  slot.shape.assign(shape.begin(), shape.end());
  slot.count = 1;
  for (int64_t extent : shape)
    slot.count *= extent < 0 ? 0 : uint64_t(extent);
  return elementTypeOf(tt::elementType(type), slot.type);
}

std::string placeOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return fmt::format("{}:{}", file.getFilename().str(), file.getLine());
  if (auto range = dyn_cast<FileLineColRange>(location))
    return fmt::format("{}:{}", range.getFilename().str(), range.getStartLine());
  if (auto name = dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string place = placeOf(part); place != "unknown")
        return place;
  return "unknown";
}

namespace {

/// The operations that a region may have to run on many elements at once.
bool isLaneable(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  if (op.getNumRegions())
    return false;
  return dialect == "arith" || dialect == "math" || isa<ub::PoisonOp, tt::FpToFpOp, tt::ClampFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp, tt::MulhiUIOp, tt::BitcastOp, tt::AddPtrOp,
                                                        tt::PtrToIntOp, tt::IntToPtrOp, tt::ReduceReturnOp, tt::ScanReturnOp>(op);
}

class Flattener {
public:
  Flattener(Image &image, DenseMap<Operation *, Code *> &functions) : image(image), functions(functions) {}

  Code *function(tt::FuncOp op) {
    auto [known, isNew] = functions.try_emplace(op, nullptr);
    if (!isNew)
      return known->second;
    if (op.isExternal()) {
      fail(op, "has no body");
      return nullptr;
    }
    Code *made = newCode();
    functions[op] = made;
    Flattener inner(image, functions);
    inner.flattenInto(*made, op.getBody());
    return made;
  }

  void flattenInto(Code &into, mlir::Region &region) {
    code = &into;
    body = &region;
    if (!region.hasOneBlock()) {
      fail(region.getParentOp(), "has unstructured control flow");
      return;
    }
    for (BlockArgument argument : region.getArguments())
      slot(argument);
    code->arguments = region.getNumArguments();
    flattenBlock(region.front());
  }

private:
  Image &image;
  DenseMap<Operation *, Code *> &functions;
  Code *code = nullptr;
  mlir::Region *body = nullptr;
  DenseMap<Value, uint32_t> numbers;

  Code *newCode() {
    image.codes.push_back(std::make_unique<Code>());
    return image.codes.back().get();
  }

  void fail(Operation *op, StringRef why) {
    if (image.error.empty())
      image.error = fmt::format("{}: `{}` {}", placeOf(op->getLoc()), op->getName().getStringRef().str(), why.str());
  }

  uint32_t slot(Value value) {
    auto [place, isNew] = numbers.try_emplace(value, code->slots.size());
    if (!isNew)
      return place->second;
    Slot made;
    if (!slotOf(value.getType(), made))
      fail(value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp(), "has a type that the interpreter does not know");
    code->slots.push_back(made);
    // A value of an enclosing function is handed to the region when it is entered.
    if (!body->isAncestor(value.getParentRegion()))
      captured.push_back({value, place->second});
    return place->second;
  }

  uint32_t here() const { return code->instructions.size(); }
  Instruction &emit(Handler run, Operation *op, ValueRange operands = {}, ValueRange results = {}) {
    Instruction made;
    made.run = run;
    made.op = op;
    for (Value operand : operands)
      made.operands.push_back(slot(operand));
    for (Value result : results)
      made.results.push_back(slot(result));
    code->instructions.push_back(std::move(made));
    return code->instructions.back();
  }
  uint32_t newRegisters(uint32_t count) {
    code->registers += count;
    return code->registers - count;
  }

  /// After `op`'s instructions: the values of its block that it reads last. (A carried value that the same instruction replaces stays.)
  void addReleases(Operation &op, const DenseMap<Operation *, SmallVector<Value, 2>> &lastReads) {
    auto found = lastReads.find(&op);
    if (found == lastReads.end())
      return;
    Instruction &last = code->instructions.back();
    for (Value value : found->second)
      if (uint32_t place = slot(value); !llvm::is_contained(last.results, place) || value.use_empty())
        last.releases.push_back(place);
  }

  void flattenBlock(Block &block) {
    DenseMap<Operation *, SmallVector<Value, 2>> lastReads;
    auto note = [&](Value value) {
      Operation *last = nullptr;
      for (Operation *user : value.getUsers()) {
        Operation *inBlock = block.findAncestorOpInBlock(*user);
        if (inBlock && (!last || last->isBeforeInBlock(inBlock)))
          last = inBlock;
      }
      if (!last && !isa<BlockArgument>(value))
        last = value.getDefiningOp();
      if (last)
        lastReads[last].push_back(value);
    };
    // The carried values of a while loop are kept: its back edge compares them with the next ones.
    if (!isa<scf::WhileOp>(block.getParentOp()))
      for (BlockArgument argument : block.getArguments())
        note(argument);
    for (Operation &op : block)
      for (Value result : op.getResults())
        note(result);
    for (Operation &op : block) {
      if (!image.error.empty())
        return;
      if (!op.hasTrait<OpTrait::IsTerminator>() || isa<tt::ReturnOp, tt::ReduceReturnOp, tt::ScanReturnOp>(op))
        flattenOp(op);
      else
        flattenTerminator(op);
      addReleases(op, lastReads);
    }
  }

  /// The values that the enclosing control operation gets; the jumps around are its own affair.
  void flattenTerminator(Operation &op) {
    if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
      auto loop = cast<scf::WhileOp>(op.getParentOp());
      emit(runMove, &op, condition.getArgs(), loop.getAfterArguments());
      emit(runCondition, &op, condition.getCondition());
      return;
    }
    if (!isa<scf::YieldOp>(op)) {
      fail(&op, "is not known to the interpreter");
      return;
    }
    Operation *parent = op.getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      emit(runMove, &op, op.getOperands(), loop.getRegionIterArgs());
    else if (auto loop = dyn_cast<scf::WhileOp>(parent))
      emit(runBackEdge, &op, op.getOperands(), loop.getBeforeArguments()).waits = mayWait(loop);
    else
      emit(runMove, &op, op.getOperands(), parent->getResults());
  }

  void flattenOp(Operation &op) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case<scf::IfOp, scf::ForOp, scf::WhileOp, scf::ExecuteRegionOp, scf::IndexSwitchOp, tt::CallOp>([&](auto typed) { flattenControl(typed); })
        .Case<tt::ReturnOp, tt::ReduceReturnOp, tt::ScanReturnOp>([&](Operation *typed) { emit(runReturn, typed, typed->getOperands()); })
        .Case<arith::ConstantOp>([&](arith::ConstantOp typed) { flattenConstant(typed); })
        .Case<tt::MakeRangeOp>([&](tt::MakeRangeOp typed) {
          TileRef tile = constantTile(typed.getResult());
          for (size_t i = 0; i < tile->size(); ++i)
            (*tile)[i].i = uint32_t(typed.getStart() + int64_t(i));
          emit(runConstant, typed, {}, typed->getResults()).constant = tile;
        })
        .Case<ub::PoisonOp>([&](ub::PoisonOp typed) {
          // Zero, and uncertain: nothing that depends on it is compared.
          TileRef tile = constantTile(typed.getResult());
          tile->errors.assign(tile->size(), infinity());
          emit(runConstant, typed, {}, typed->getResults()).constant = tile;
        })
        .Default([&](Operation *other) { flattenPlain(*other); });
  }

  void flattenPlain(Operation &op) {
    Instruction &made = emit(nullptr, &op, op.getOperands(), op.getResults());
    for (auto *select : {selectArithmetic, selectConversion, selectMath, selectShape, selectMemory, selectAtomic, selectReduction, selectMatrix, selectGrid, selectDebug})
      if ((made.run = select(&op, made)))
        break;
    if (!made.run) {
      fail(&op, "is not known to the interpreter");
      return;
    }
    if (!op.getNumRegions())
      return;
    uint32_t index = here() - 1;
    Code *inner = newCode();
    Flattener flattener(image, functions);
    flattener.flattenInto(*inner, op.getRegion(0));
    Block &block = op.getRegion(0).front();
    inner->laneable = llvm::all_of(block, isLaneable);
    if (block.getOperations().size() == 2 && block.front().getNumOperands() == 2 && block.front().getOperands() == ValueRange(block.getArguments()) &&
        block.back().getOperands() == ValueRange(block.front().getResults()))
      inner->single = &block.front();
    for (auto [value, inside] : flattener.captured)
      inner->captures.push_back({slot(value), inside});
    code->instructions[index].code = inner;
  }

  TileRef constantTile(Value value) {
    const Slot &place = code->slots[slot(value)];
    TileRef tile(new Tile);
    tile->type = place.type;
    tile->elements.assign(place.count, Element{.i = 0});
    return tile;
  }

  void flattenConstant(arith::ConstantOp op) {
    TileRef tile = constantTile(op.getResult());
    if (!image.error.empty())
      return;
    ElementType type = tile->type;
    auto element = [&](const APInt &bits) {
      uint64_t code = bits.getZExtValue() & type.mask();
      return type.isFloat() ? Element{.f = decode(type.format, code)} : Element{.i = code};
    };
    Attribute value = op.getValue();
    if (auto integer = dyn_cast<IntegerAttr>(value)) {
      (*tile)[0] = element(integer.getValue());
    } else if (auto real = dyn_cast<FloatAttr>(value)) {
      (*tile)[0] = element(real.getValue().bitcastToAPInt());
    } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      auto fill = [&](auto values, auto bitsOf) {
        if (dense.isSplat())
          std::fill(tile->elements.begin(), tile->elements.end(), element(bitsOf(*values.begin())));
        else
          for (auto [i, one] : llvm::enumerate(values))
            (*tile)[i] = element(bitsOf(one));
      };
      if (type.isFloat())
        fill(dense.getValues<APFloat>(), [](const APFloat &one) { return one.bitcastToAPInt(); });
      else
        fill(dense.getValues<APInt>(), [](const APInt &one) { return one; });
    } else {
      fail(op, "has a value that the interpreter does not know");
    }
    emit(runConstant, op, {}, op->getResults()).constant = tile;
  }

  // ---- control ----

  void flattenControl(scf::IfOp op) {
    uint32_t reg = newRegisters(1), branch = here();
    emit(runBranch, op, op.getCondition()).reg = reg;
    flattenBlock(op.getThenRegion().front());
    uint32_t jump = here();
    emit(runJump, op);
    code->instructions[branch].target = here();
    if (!op.getElseRegion().empty())
      flattenBlock(op.getElseRegion().front());
    code->instructions[jump].target = here();
    emit(runJoin, op, {}, op.getResults()).reg = reg;
  }

  void flattenControl(scf::ForOp op) {
    uint32_t reg = newRegisters(4); // trips left, induction variable, step, doubt
    emit(runMove, op, op.getInitArgs(), op.getRegionIterArgs());
    emit(runForBegin, op, ValueRange{op.getLowerBound(), op.getUpperBound(), op.getStep()}).reg = reg;
    uint32_t test = here();
    emit(runForTest, op, {}, ValueRange(op.getInductionVar())).reg = reg;
    flattenBlock(*op.getBody());
    Instruction &next = emit(runForNext, op);
    next.reg = reg;
    next.target = test;
    code->instructions[test].target = here();
    Instruction &exit = emit(runMove, op, op.getRegionIterArgs(), op.getResults());
    exit.releases.append(exit.operands.begin(), exit.operands.end());
    emit(runJoin, op, {}, op.getResults()).reg = reg + 3;
  }

  void flattenControl(scf::WhileOp op) {
    uint32_t reg = newRegisters(1);
    emit(runMove, op, op.getInits(), op.getBeforeArguments());
    emit(runEnter, op).reg = reg;
    uint32_t before = here();
    flattenBlock(*op.getBeforeBody());
    uint32_t condition = here() - 1;
    code->instructions[condition].reg = reg;
    flattenBlock(*op.getAfterBody());
    code->instructions.back().target = before;
    code->instructions[condition].target = here();
    Instruction &exit = emit(runMove, op, op.getAfterArguments(), op.getResults());
    exit.releases.append(exit.operands.begin(), exit.operands.end());
    emit(runJoin, op, {}, op.getResults()).reg = reg;
  }

  void flattenControl(scf::ExecuteRegionOp op) {
    if (!op.getRegion().hasOneBlock()) {
      fail(op, "has unstructured control flow");
      return;
    }
    flattenBlock(op.getRegion().front());
  }

  void flattenControl(scf::IndexSwitchOp op) {
    uint32_t reg = newRegisters(1), dispatch = here();
    emit(runSwitch, op, op.getArg()).reg = reg;
    SmallVector<uint32_t> jumps, targets;
    auto flattenCase = [&](mlir::Region &region) {
      targets.push_back(here());
      flattenBlock(region.front());
      jumps.push_back(here());
      emit(runJump, op);
    };
    for (mlir::Region &region : op.getCaseRegions())
      flattenCase(region);
    flattenCase(op.getDefaultRegion());
    for (uint32_t jump : jumps)
      code->instructions[jump].target = here();
    auto cases = op.getCases();
    code->instructions[dispatch].numbers.assign(cases.begin(), cases.end());
    code->instructions[dispatch].targets.assign(targets.begin(), targets.end());
    emit(runJoin, op, {}, op.getResults()).reg = reg;
  }

  void flattenControl(tt::CallOp op) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, op.getCalleeAttr());
    if (!callee) {
      fail(op, "calls a function that does not exist");
      return;
    }
    Code *target = function(callee);
    emit(runCall, op, op.getArgOperands(), op.getResults()).code = target;
  }

  /// Whether the loop reads memory that another program may change: then its end may depend on that program.
  bool mayWait(scf::WhileOp loop) {
    return loop
        ->walk([](Operation *op) {
          auto load = dyn_cast<tt::LoadOp>(op);
          bool waits = isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::CallOp>(op) || (load && load.getIsVolatile());
          return waits ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

public:
  SmallVector<std::pair<Value, uint32_t>> captured;
};

} // namespace

Image flatten(ModuleOp module, llvm::StringRef kernel) {
  Image image;
  auto function = module.lookupSymbol<tt::FuncOp>(kernel);
  if (!function) {
    image.error = fmt::format("the module has no function `{}`", kernel.str());
    return image;
  }
  DenseMap<Operation *, Code *> functions;
  image.kernel = Flattener(image, functions).function(function);
  return image;
}

} // namespace tk::interpret
