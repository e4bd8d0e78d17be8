// A pool of values grows by one operation at a time; operands come from the pool.
#include "RandomKernel.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tk;
using namespace tk::test;

namespace {
class Generator {
public:
  Generator(ImplicitLocOpBuilder &builder, std::mt19937 &random) : b(builder), random(random) {
    for (int64_t &extent : extents)
      extent = kExtents[below(std::size(kExtents))];
  }

  void grow(unsigned operations, unsigned depth) {
    for (unsigned i = 0; i < operations; ++i)
      if (Value value = step(depth))
        pool.push_back(value);
  }

  SmallVector<Value> pool;

private:
  static constexpr int64_t kExtents[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};

  unsigned below(unsigned bound) { return random() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  static Type element(Value value) { return tt::elementType(value.getType()); }
  static bool isInteger(Value value) { return isa<IntegerType>(element(value)) && !element(value).isInteger(1); }
  static bool isPointer(Value value) { return isa<tt::PointerType>(element(value)); }

  /// A value from the pool, the later ones more often; null when none fits.
  Value pick(function_ref<bool(Value)> fits) {
    SmallVector<Value> fitting(llvm::make_filter_range(pool, fits));
    return fitting.empty() ? Value() : fitting[std::max(below(fitting.size()), below(fitting.size()))];
  }
  Value pickOf(Type type) {
    return pick([&](Value value) { return value.getType() == type; });
  }

  int64_t number() {
    int64_t power = int64_t(1) << below(chance(80) ? 7 : 33);
    switch (below(6)) {
    case 0: return power - 1;
    case 1: return -power;
    case 2: return int64_t(below(100)) - 50;
    case 3: return power * (1 + below(5));
    default: return power;
    }
  }

  Value one(Type type) { return constant(type, 1); }
  Value constant(Type type) { return constant(type, number()); }
  Value constant(Type type, int64_t number) {
    auto integer = cast<IntegerType>(tt::elementType(type));
    APInt value(integer.getWidth(), uint64_t(number), true, true);
    auto attribute = IntegerAttr::get(integer, value);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      return arith::ConstantOp::create(b, tile, SplatElementsAttr::get(tile, Attribute(attribute)));
    return arith::ConstantOp::create(b, attribute);
  }

  /// Another operand of that type: from the pool, a constant, or a scalar for all elements.
  Value other(Type type) {
    if (chance(35))
      return constant(type);
    if (tt::isTile(type) && chance(50))
      if (Value scalar = pickOf(tt::elementType(type)))
        return tt::SplatOp::create(b, type, scalar);
    Value value = pickOf(type);
    return value ? value : constant(type);
  }

  template <typename Op> Value make(Value x, Value y) { return Op::create(b, x, y); }

  Value binary() {
    Value x = pick(isInteger);
    if (!x)
      return {};
    Value y = other(x.getType());
    if (chance(25))
      std::swap(x, y);
    static constexpr Value (Generator::*kMakers[])(Value, Value) = {
        &Generator::make<arith::AddIOp>,  &Generator::make<arith::AddIOp>,  &Generator::make<arith::SubIOp>,  &Generator::make<arith::MulIOp>,
        &Generator::make<arith::MulIOp>,  &Generator::make<arith::DivSIOp>, &Generator::make<arith::DivUIOp>, &Generator::make<arith::RemSIOp>,
        &Generator::make<arith::RemUIOp>, &Generator::make<arith::AndIOp>,  &Generator::make<arith::OrIOp>,   &Generator::make<arith::XOrIOp>,
        &Generator::make<arith::ShLIOp>,  &Generator::make<arith::ShRSIOp>, &Generator::make<arith::ShRUIOp>, &Generator::make<arith::MinSIOp>,
        &Generator::make<arith::MaxSIOp>, &Generator::make<arith::MinUIOp>, &Generator::make<arith::MaxUIOp>};
    unsigned kind = below(std::size(kMakers));
    if (kind >= 5 && kind < 9 && chance(85)) // mostly a divisor that is not zero
      y = arith::MaxSIOp::create(b, y, one(y.getType()));
    return (this->*kMakers[kind])(x, y);
  }

  Value compare() {
    Value x = pick(isInteger);
    if (!x)
      return {};
    Value y = other(x.getType());
    if (chance(30))
      std::swap(x, y);
    return arith::CmpIOp::create(b, static_cast<arith::CmpIPredicate>(below(10)), x, y);
  }

  Value select() {
    Value x = pick([](Value) { return true; });
    Value y = x ? pickOf(x.getType()) : Value();
    Value condition = x ? pickOf(chance(50) ? tt::maskTypeFor(x.getType()) : b.getI1Type()) : Value();
    return condition ? arith::SelectOp::create(b, condition, x, y) : Value();
  }

  Value convert() {
    Value x = pick([](Value value) { return isa<IntegerType>(element(value)); });
    if (!x)
      return {};
    unsigned widths[] = {8, 32, 64}, width = widths[below(3)], from = element(x).getIntOrFloatBitWidth();
    Type type = tt::withShapeOf(b.getIntegerType(width), x.getType());
    if (width < from)
      return arith::TruncIOp::create(b, type, x);
    if (width == from)
      return math::AbsIOp::create(b, x);
    return chance(60) ? Value(arith::ExtSIOp::create(b, type, x)) : Value(arith::ExtUIOp::create(b, type, x));
  }

  Value range() {
    int64_t extent = extents[below(2)], start = chance(60) ? 0 : number() % 1000;
    return tt::MakeRangeOp::create(b, RankedTensorType::get({extent}, b.getI32Type()), uint32_t(start), uint32_t(start + extent));
  }

  Value pointer() {
    if (Value x = pick(isPointer); x && chance(75)) {
      auto type = cast<tt::PointerType>(element(x));
      switch (below(4)) {
      case 0: return tt::PtrToIntOp::create(b, tt::withShapeOf(b.getI64Type(), x.getType()), x);
      case 1: return tt::BitcastOp::create(b, tt::withShapeOf(tt::PointerType::get(b.getIntegerType(8u << below(4)), type.getAddressSpace()), x.getType()), x);
      default: break;
      }
      // An offset of x's shape, or a tile of offsets from a scalar.
      Value offset =
          pick([&](Value value) { return isInteger(value) && (tt::shapeOf(value.getType()) == tt::shapeOf(x.getType()) || !tt::isTile(x.getType())); });
      if (!offset)
        return {};
      if (tt::isTile(offset.getType()) && !tt::isTile(x.getType()))
        x = tt::SplatOp::create(b, tt::withShapeOf(type, offset.getType()), x);
      return tt::AddPtrOp::create(b, x.getType(), x, offset);
    }
    Value address = pick([](Value value) { return element(value).isInteger(64); });
    if (!address)
      return {};
    return tt::IntToPtrOp::create(b, tt::withShapeOf(tt::PointerType::get(b.getIntegerType(8u << below(4)), 1), address.getType()), address);
  }

  Value shape() {
    Value x = pick([](Value value) { return tt::isTile(value.getType()); });
    if (!x)
      return {};
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> to(type.getShape());
    auto tile = [&] { return RankedTensorType::get(to, type.getElementType()); };
    switch (below(7)) {
    case 0:
    case 1: {
      if (to.size() > 2)
        return {};
      unsigned axis = below(to.size() + 1);
      to.insert(to.begin() + axis, 1);
      return tt::ExpandDimsOp::create(b, tile(), x, axis);
    }
    case 2:
    case 3:
      for (int64_t &extent : to)
        if (extent == 1)
          extent = extents[below(2)];
      return type.getNumElements() <= 1024 ? tt::BroadcastOp::create(b, tile(), x) : Value();
    case 4: {
      SmallVector<int32_t> order(to.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      for (auto [axis, from] : llvm::enumerate(order))
        to[axis] = type.getDimSize(from);
      return tt::TransOp::create(b, tile(), x, order);
    }
    case 5: { // flatten, then perhaps cut
      int64_t count = type.getNumElements();
      to = {count};
      for (int64_t inner : {2, 3, 4, 8, 16})
        if (count % inner == 0 && chance(30)) {
          to = {count / inner, inner};
          break;
        }
      return tt::ReshapeOp::create(b, tile(), x, chance(10), false);
    }
    default: {
      Value y = pickOf(type);
      if (type.getNumElements() > 1024 || to.size() > 2)
        return {};
      if (to.back() == 2 && to.size() >= 2 && chance(50)) {
        to.pop_back();
        auto split = tt::SplitOp::create(b, tile(), tile(), x);
        pool.push_back(split.getOutLHS());
        return split.getOutRHS();
      }
      if (chance(50)) {
        to[0] *= 2;
        return tt::CatOp::create(b, tile(), x, y);
      }
      to.push_back(2);
      return tt::JoinOp::create(b, tile(), x, y);
    }
    }
  }

  /// Grows a nested block; what it makes is out of sight afterwards. The yields are of the given types.
  SmallVector<Value> nested(Block *block, ValueRange arguments, TypeRange yields, unsigned depth) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    SmallVector<Value> outside = pool;
    pool.append(arguments.begin(), arguments.end());
    grow(2 + below(8), depth + 1);
    SmallVector<Value> results;
    for (Type type : yields)
      results.push_back(pickOf(type));
    pool = outside;
    return results;
  }

  Value branch(unsigned depth) {
    Value condition = pickOf(b.getI1Type()), x = pick([](Value) { return true; });
    if (!condition || !x)
      return {};
    auto op = scf::IfOp::create(b, TypeRange{x.getType()}, condition, true);
    for (Block *block : {op.thenBlock(), op.elseBlock()}) {
      SmallVector<Value> results = nested(block, {}, {x.getType()}, depth);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(block);
      scf::YieldOp::create(b, results);
    }
    return op.getResult(0);
  }

  Value loop(unsigned depth) {
    SmallVector<Value> inits;
    for (unsigned i = 0, count = 1 + below(3); i < count; ++i)
      inits.push_back(pick([](Value) { return true; }));
    Type i32 = b.getI32Type();
    Value lower = chance(60) ? Value(arith::ConstantIntOp::create(b, int32_t(below(40)) - 8, 32)) : pickOf(i32), upper;
    Value step = chance(80) ? Value(arith::ConstantIntOp::create(b, 1 << below(6), 32)) : pickOf(i32);
    if (lower && chance(60))
      upper = arith::AddIOp::create(b, lower, arith::ConstantIntOp::create(b, below(100), 32));
    else
      upper = pickOf(i32);
    if (!lower || !upper || !step)
      return {};
    auto op = scf::ForOp::create(b, lower, upper, step, inits);
    SmallVector<Value> arguments(op.getRegionIterArgs());
    arguments.push_back(op.getInductionVar());
    SmallVector<Value> results = nested(op.getBody(), arguments, ValueRange(inits).getTypes(), depth);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(op.getBody());
    scf::YieldOp::create(b, results);
    pool.append(op.getResults().begin(), op.getResults().end());
    return {};
  }

  Value whileLoop(unsigned depth) {
    Value x = pick([](Value) { return true; }), y = x ? pick([](Value) { return true; }) : Value();
    if (!y)
      return {};
    SmallVector<Type> types{x.getType(), y.getType()};
    auto op = scf::WhileOp::create(b, types, ValueRange{x, y}, nullptr, nullptr);
    OpBuilder::InsertionGuard guard(b);
    Block *before = op.getBeforeBody(), *after = op.getAfterBody();
    SmallVector<Type> wanted(types);
    wanted.push_back(b.getI1Type());
    b.setInsertionPointToEnd(before);
    Value never = arith::ConstantIntOp::create(b, 0, 1);
    SmallVector<Value> inside(before->getArguments());
    inside.push_back(never);
    SmallVector<Value> passed = nested(before, inside, wanted, depth);
    b.setInsertionPointToEnd(before);
    scf::ConditionOp::create(b, passed[2], ArrayRef(passed).take_front(2));
    SmallVector<Value> yielded = nested(after, after->getArguments(), types, depth);
    b.setInsertionPointToEnd(after);
    scf::YieldOp::create(b, yielded);
    pool.append(op.getResults().begin(), op.getResults().end());
    return {};
  }

  Value step(unsigned depth) {
    unsigned kind = below(100);
    if (kind < 30)
      return binary();
    if (kind < 38)
      return compare();
    if (kind < 43)
      return select();
    if (kind < 52)
      return convert();
    if (kind < 60)
      return range();
    if (kind < 72)
      return pointer();
    if (kind < 92 || depth > 2)
      return shape();
    if (kind < 95)
      return branch(depth);
    return kind < 98 ? loop(depth) : whileLoop(depth);
  }

  ImplicitLocOpBuilder &b;
  std::mt19937 &random;
  int64_t extents[2];
};
} // namespace

RandomKernel::RandomKernel(MLIRContext &context, std::mt19937 &random) {
  ImplicitLocOpBuilder b(UnknownLoc::get(&context), &context);
  module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types;
  for (unsigned width : {8, 32, 32, 32, 64})
    types.push_back(b.getIntegerType(width));
  types.push_back(b.getI1Type());
  types.push_back(tt::PointerType::get(b.getF32Type(), 1));
  types.push_back(tt::PointerType::get(b.getF16Type(), 1));
  function = tt::FuncOp::create(b, "k", b.getFunctionType(types, {}));
  Block *body = b.createBlock(&function.getBody(), {}, types, SmallVector<Location>(types.size(), b.getLoc()));
  for (unsigned i = 0; i < types.size(); ++i)
    if (random() % 2 && !types[i].isInteger(1))
      function.setArgAttr(i, "tt.divisibility", b.getI32IntegerAttr(1 << (random() % 7)));
  // A fact or two about an argument.
  for (Value argument : body->getArguments())
    if (argument.getType().isInteger(32) && random() % 3 == 0) {
      Value zero = arith::ConstantIntOp::create(b, 0, 32);
      tt::AssumeOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, argument, zero));
    }
  Generator generator(b, random);
  generator.pool.append(body->args_begin(), body->args_end());
  generator.grow(20 + random() % 40, 0);
  tt::ReturnOp::create(b);
}
