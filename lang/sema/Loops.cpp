// for and while.
//
// A loop that is left by its bounds only is one scf.for, or one scf.while with the test in the first region. `break` and `return` inside make it an scf.while that carries which exit was
// taken (i32, Continues while running) and the returned value; `continue` needs neither. static_range and tuples are expanded.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/LoopState.h"
#include "lang/sema/SyntaxFacts.h"
#include "llvm/ADT/MapVector.h"

namespace tk::lang {

namespace scf = mlir::scf;
namespace arith = mlir::arith;

const std::set<std::string> &Elaborator::assignedIn(const ast::Block &body) {
  auto [it, isNew] = assignedNames.try_emplace(&body);
  if (isNew)
    collectAssigned(body, it->second);
  return it->second;
}

// ---- loops expanded at compile time ----
void Elaborator::staticLoop(const ast::For &node, uint64_t count, const std::function<Value(uint64_t)> &value) {
  SourceRange range = node.range;
  Strand *outer = frame->strand;
  Strand whole;
  frame->strand = &whole;
  ++frame->loopDepth;
  for (uint64_t i = 0; i < count; ++i) {
    if (!whole.live() || !step(range))
      break;
    Strand once;
    frame->strand = &once;
    assign(*node.target, value(i));
    block(node.body);
    Ending ending = finish(once, Continues, range);
    frame->strand = &whole;
    if (ending.exits == Continues)
      continue;
    if (ending.exits & Continues) {
      goOnIf(std::move(ending), Continues, range);
      continue;
    }
    whole.exits = ending.exits;
    whole.code = ending.code;
    whole.returned = ending.returned;
  }
  --frame->loopDepth;
  Ending ending = finish(whole, Falls, range);
  frame->strand = outer;
  mlir::Location at = loc(range);
  mlir::Value finished = ending.exits & Breaks && ending.exits & Falls && !node.orelse.empty() ? took(ending, Falls, at) : nullptr;
  bool runsElse = ending.exits & Falls;
  if (ending.exits & Breaks) { // leaving the loop is going on after it
    if (ending.code)
      ending.code = arith::SelectOp::create(builder, at, took(ending, Breaks, at), constantInt(Falls, 32, at), ending.code);
    ending.exits = (ending.exits & ~static_cast<unsigned>(Breaks)) | Falls;
    if (ending.exits == Falls)
      ending.code = nullptr;
  }
  if (ending.exits == Falls) {
  } else if (ending.exits & Falls) {
    goOnIf(std::move(ending), Falls, range);
  } else {
    outer->exits = ending.exits;
    outer->code = ending.code;
    outer->returned = ending.returned;
    return;
  }
  if (finished)
    dynamicIf(finished, [&] { block(node.orelse); }, [] {}, range);
  else if (runsElse)
    block(node.orelse);
}

// ---- loops at run time ----
/// After a loop that `ending`'s body may have left by return: `code` is the exit taken.
static void afterLoop(Elaborator &e, const Ending &body, mlir::Value code, llvm::ArrayRef<mlir::Value> slots, SourceRange range) {
  if (!(body.exits & Returns))
    return;
  mlir::Location at = e.loc(range);
  Ending ending;
  ending.exits = Falls | Returns;
  mlir::Value returned = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::eq, code, e.constantInt(Returns, 32, at));
  ending.code = arith::SelectOp::create(e.builder, at, returned, e.constantInt(Returns, 32, at), e.constantInt(Falls, 32, at));
  ending.returned = rebuild(body.returned, slots);
  ending.env = e.frame->env;
  e.goOnIf(std::move(ending), Falls, range);
}

/// The exit taken, as the loop carries it.
static mlir::Value exitCode(Elaborator &e, const Ending &ending, mlir::Location at) { return ending.code ? ending.code : e.constantInt(ending.exits, 32, at); }

static llvm::SmallVector<mlir::Type> typesOf(llvm::ArrayRef<mlir::Value> values) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value value : values)
    types.push_back(value.getType());
  return types;
}

static void addArguments(mlir::Block &block, llvm::ArrayRef<mlir::Type> types, mlir::Location at) {
  for (mlir::Type type : types)
    block.addArgument(type, at);
}

void Elaborator::rangeLoop(const ast::For &node, const RangeValue &range) {
  SourceRange where = {node.range.begin, node.iterable->range.end};
  if (!node.orelse.empty())
    error(where, Diag::NotInKernel, std::string("`else` of a loop at run time"));
  std::optional<LoopBounds> bounds = loopBounds(range, node.iterable->range);
  std::set<std::string> targets;
  collectTargets(*node.target, targets);
  if (!bounds)
    return;
  LoopState state(*this, assignedIn(node.body), targets, where);
  Strand *outer = frame->strand;
  mlir::Block *parent = builder.getInsertionBlock();
  mlir::Location at = loc(where);
  std::unique_ptr<mlir::Region> region;
  Ending ending;
  while (true) {
    Mark before = mark();
    region = std::make_unique<mlir::Region>();
    mlir::Block &body = region->emplaceBlock();
    mlir::Value counter = body.addArgument(bounds->lower.getType(), at);
    builder.setInsertionPointToEnd(&body);
    state.enter(body);
    Strand strand;
    frame->strand = &strand;
    ++frame->loopDepth;
    assign(*node.target, bounds->variable(counter));
    block(node.body);
    --frame->loopDepth;
    ending = finish(strand, Continues, where);
    if (state.settle(ending.env, ending.exits & ~static_cast<unsigned>(Returns)) || exhausted)
      break;
    rollback(before);
  }
  frame->strand = outer;
  if (state.reportConflicts()) {
    builder.setInsertionPointToEnd(parent);
    return;
  }
  mlir::Block &body = region->front();
  builder.setInsertionPointToEnd(&body);
  llvm::SmallVector<mlir::Value> yields = state.parts(ending.env);
  if (ending.exits == Continues) {
    scf::YieldOp::create(builder, at, yields);
    builder.setInsertionPointToEnd(parent);
    llvm::SmallVector<mlir::Value> inits = state.initial();
    auto loop = scf::ForOp::create(builder, at, bounds->lower, bounds->upper, bounds->step, inits);
    loop.getRegion().takeBody(*region);
    for (const auto &[name, value] : range.attributes)
      loop->setAttr(name, name == "tt.num_stages" || name == "tt.loop_unroll_factor" ? mlir::Attribute(builder.getI32IntegerAttr(static_cast<int32_t>(value))) : mlir::Attribute(builder.getUnitAttr()));
    llvm::SmallVector<mlir::Value> results(loop.getResults());
    state.leave(results);
    return;
  }
  // scf.while over (counter, carried ..., code, slots of the returned value ...)
  llvm::SmallVector<mlir::Value> slots;
  flatten(ending.returned, slots);
  llvm::SmallVector<mlir::Value> next = {arith::AddIOp::create(builder, at, body.getArgument(0), bounds->step)};
  next.append(yields);
  next.push_back(exitCode(*this, ending, at));
  next.append(slots);
  scf::YieldOp::create(builder, at, next);
  llvm::SmallVector<mlir::Type> types = typesOf(next);
  addArguments(body, llvm::ArrayRef(types).drop_front(body.getNumArguments()), at);
  builder.setInsertionPointToEnd(parent);
  llvm::SmallVector<mlir::Value> inits = {bounds->lower};
  inits.append(state.initial());
  inits.push_back(constantInt(Continues, 32, at));
  for (mlir::Value slot : slots)
    inits.push_back(placeholder(slot.getType(), at));
  auto loop = scf::WhileOp::create(builder, at, types, inits);
  mlir::Block &test = loop.getBefore().emplaceBlock();
  addArguments(test, types, at);
  builder.setInsertionPointToEnd(&test);
  mlir::Value more = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::slt, test.getArgument(0), bounds->upper);
  mlir::Value running = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::eq, test.getArgument(static_cast<unsigned>(1 + yields.size())), constantInt(Continues, 32, at));
  scf::ConditionOp::create(builder, at, arith::AndIOp::create(builder, at, more, running), test.getArguments());
  loop.getAfter().takeBody(*region);
  builder.setInsertionPointAfter(loop);
  llvm::SmallVector<mlir::Value> results(loop.getResults());
  llvm::ArrayRef<mlir::Value> all = results;
  state.leave(all.slice(1, yields.size()));
  afterLoop(*this, ending, all[1 + yields.size()], all.drop_front(2 + yields.size()), where);
}

void Elaborator::forLoop(const ast::For &node) {
  Value iterable = expr(*node.iterable);
  if (iterable.isError()) {
    std::set<std::string> names = assignedIn(node.body);
    collectTargets(*node.target, names);
    for (const std::string &name : names)
      bindName(name, Value(), node.range);
    return;
  }
  if (auto *range = iterable.as<RangeValue>()) {
    if (!range->isStatic)
      return rangeLoop(node, *range);
    const ConstValue *bounds[3] = {range->lower.asConst(), range->upper.asConst(), range->step.asConst()};
    int64_t numbers[3];
    for (int i = 0; i < 3; ++i) {
      if (!bounds[i] || !bounds[i]->asInt64() || bounds[i]->get<double>()) {
        error(node.iterable->range, Diag::NotConstant, std::string("a bound of `static_range`"), (i == 0 ? range->lower : i == 1 ? range->upper : range->step).describe());
        return;
      }
      numbers[i] = *bounds[i]->asInt64();
    }
    if (numbers[2] == 0) {
      error(node.iterable->range, Diag::RangeStepZero);
      return;
    }
    auto [low, high, by] = numbers;
    __int128 distance = by > 0 ? __int128(high) - low : __int128(low) - high, size = by > 0 ? __int128(by) : -__int128(by);
    uint64_t count = distance > 0 ? static_cast<uint64_t>((distance - 1) / size + 1) : 0;
    return staticLoop(node, count, [low, by](uint64_t i) { return Value::integer(static_cast<int64_t>(__int128(low) + __int128(i) * by)); });
  }
  std::optional<std::vector<Value>> elements = iterable.elements();
  if (!elements) {
    error(node.iterable->range, Diag::NotIterable, iterable.describe());
    return;
  }
  extension(node.iterable->range, "a loop over a tuple");
  staticLoop(node, elements->size(), [&](uint64_t i) { return (*elements)[i]; });
}

namespace {
/// The operands of scf.condition, each value once.
struct Passed {
  llvm::MapVector<mlir::Value, unsigned> unique;
  llvm::SmallVector<unsigned> indices; // per operand as asked for

  void add(mlir::Value value) { indices.push_back(unique.insert({value, static_cast<unsigned>(unique.size())}).first->second); }
  llvm::SmallVector<mlir::Value> values() const {
    llvm::SmallVector<mlir::Value> result;
    for (const auto &[value, index] : unique)
      result.push_back(value);
    return result;
  }
  llvm::SmallVector<mlir::Value> expand(llvm::ArrayRef<mlir::Value> all) const {
    llvm::SmallVector<mlir::Value> result;
    for (unsigned index : indices)
      result.push_back(all[index]);
    return result;
  }
};
} // namespace

/// Wraps the test of a loop, so that it runs only while `code` says that the loop goes on; `passed` are the operands of its condition. Gives the new condition.
static mlir::Value guardTest(Elaborator &e, mlir::Block &test, mlir::Value code, mlir::Value holds, llvm::MutableArrayRef<mlir::Value> passed, mlir::Location at) {
  mlir::Region inner;
  mlir::Block &moved = inner.emplaceBlock();
  moved.getOperations().splice(moved.end(), test.getOperations(), test.begin(), test.end());
  llvm::SmallVector<mlir::Value> yields = {holds}, others;
  llvm::SmallVector<size_t> places;
  for (size_t i = 0; i < passed.size(); ++i)
    if (isInside(passed[i], inner)) {
      places.push_back(i);
      yields.push_back(passed[i]);
    }
  e.builder.setInsertionPointToEnd(&moved);
  scf::YieldOp::create(e.builder, at, yields);
  e.builder.setInsertionPointToEnd(&test);
  mlir::Value running = arith::CmpIOp::create(e.builder, at, arith::CmpIPredicate::eq, code, e.constantInt(Continues, 32, at));
  auto guard = scf::IfOp::create(e.builder, at, typesOf(yields), running, /*withElseRegion=*/true);
  guard.getThenRegion().takeBody(inner);
  e.builder.setInsertionPointToEnd(&guard.getElseRegion().front());
  others.push_back(e.constantInt(0, 1, at));
  for (mlir::Value value : llvm::ArrayRef(yields).drop_front())
    others.push_back(e.placeholder(value.getType(), at));
  scf::YieldOp::create(e.builder, at, others);
  e.builder.setInsertionPointToEnd(&test);
  for (size_t i = 0; i < places.size(); ++i)
    passed[places[i]] = guard.getResult(static_cast<unsigned>(i + 1));
  return guard.getResult(0);
}

void Elaborator::whileLoop(const ast::While &node) {
  SourceRange where = {node.range.begin, node.condition->range.end};
  if (!node.orelse.empty())
    error(where, Diag::NotInKernel, std::string("`else` of a loop at run time"));
  std::set<std::string> assigned = assignedIn(node.body), tested;
  collectAssigned(node.condition.get(), tested);
  assigned.insert(tested.begin(), tested.end());
  LoopState state(*this, assigned, {}, where);
  Strand *outer = frame->strand;
  mlir::Block *parent = builder.getInsertionBlock();
  mlir::Location at = loc(where);
  Environment start = frame->env;
  std::unique_ptr<mlir::Region> testRegion, bodyRegion;
  mlir::Value holds;
  Environment afterTest;
  Passed passed;
  llvm::SmallVector<std::string> names; // variables passed from the test to the body
  Ending ending;
  bool constantTest = false;
  unsigned errorsBefore = errors;
  while (true) {
    Mark before = mark();
    testRegion = std::make_unique<mlir::Region>();
    bodyRegion = std::make_unique<mlir::Region>();
    builder.setInsertionPointToEnd(&testRegion->emplaceBlock());
    state.enter(testRegion->front());
    Strand testStrand;
    frame->strand = &testStrand;
    Value test = expr(*node.condition);
    constantTest = test.asConst();
    if (constantTest && !test.asConst()->truth()) { // never runs
      frame->strand = outer;
      frame->env = std::move(start);
      builder.setInsertionPointToEnd(parent);
      return;
    }
    holds = constantTest ? constantInt(1, 1, at) : test.isError() ? nullptr : condition(test, node.condition->range);
    if (!holds)
      holds = constantInt(0, 1, at);
    afterTest = frame->env;
    bool settled = state.settle(afterTest, false);
    passed = Passed();
    names.assign(state.carriedNames().begin(), state.carriedNames().end());
    for (const std::string &name : tested)
      if (std::find(names.begin(), names.end(), name) == names.end() && !afterTest[name].undefined)
        names.push_back(name);
    mlir::Block &body = bodyRegion->emplaceBlock();
    for (const std::string &name : names) {
      Value value = afterTest[name].value;
      auto isCarried = std::find(state.carriedNames().begin(), state.carriedNames().end(), name) != state.carriedNames().end();
      if (isCarried)
        value = conform(value, state.assumption(name), where);
      afterTest[name].value = value;
      llvm::SmallVector<mlir::Value> parts;
      flatten(value, parts);
      for (mlir::Value part : parts)
        passed.add(part);
    }
    addArguments(body, typesOf(passed.values()), at);
    llvm::SmallVector<mlir::Value> arguments(body.getArguments().begin(), body.getArguments().end());
    llvm::SmallVector<mlir::Value> expanded = passed.expand(arguments);
    llvm::ArrayRef<mlir::Value> rest = expanded;
    for (const std::string &name : names)
      frame->env[name].value = rebuild(afterTest[name].value, rest);
    builder.setInsertionPointToEnd(&body);
    Strand strand;
    frame->strand = &strand;
    ++frame->loopDepth;
    block(node.body);
    --frame->loopDepth;
    ending = finish(strand, Continues, where);
    settled = state.settle(ending.env, ending.exits & ~static_cast<unsigned>(Returns)) && settled;
    if (settled || exhausted)
      break;
    rollback(before);
  }
  frame->strand = outer;
  if (state.reportConflicts()) {
    builder.setInsertionPointToEnd(parent);
    return;
  }
  if (constantTest && ending.exits == Continues && errors == errorsBefore)
    error(where, Diag::EndlessLoop);
  mlir::Block &test = testRegion->front(), &body = bodyRegion->front();
  bool exits = ending.exits != Continues;
  // The end of the body: carried values, then the exit code and the slots of the returned value.
  builder.setInsertionPointToEnd(&body);
  llvm::SmallVector<mlir::Value> next = state.parts(ending.env), slots;
  size_t carriedCount = next.size();
  flatten(ending.returned, slots);
  if (exits) {
    next.push_back(exitCode(*this, ending, at));
    next.append(slots);
  }
  scf::YieldOp::create(builder, at, next);
  // The test.
  llvm::SmallVector<mlir::Value> operands = passed.values();
  size_t passedCount = operands.size();
  builder.setInsertionPointToEnd(&test);
  if (exits) {
    addArguments(test, llvm::ArrayRef(typesOf(next)).drop_front(carriedCount), at);
    mlir::Value code = test.getArgument(static_cast<unsigned>(carriedCount));
    if (constantTest)
      holds = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::eq, code, constantInt(Continues, 32, at));
    else
      holds = guardTest(*this, test, code, holds, operands, at);
    for (unsigned i = static_cast<unsigned>(carriedCount); i < test.getNumArguments(); ++i) {
      operands.push_back(test.getArgument(i));
      body.addArgument(test.getArgument(i).getType(), at);
    }
  }
  scf::ConditionOp::create(builder, at, holds, operands);
  builder.setInsertionPointToEnd(parent);
  llvm::SmallVector<mlir::Value> inits = state.initial();
  if (exits) {
    inits.push_back(constantInt(Continues, 32, at));
    for (mlir::Value slot : slots)
      inits.push_back(placeholder(slot.getType(), at));
  }
  auto loop = scf::WhileOp::create(builder, at, typesOf(operands), inits);
  loop.getBefore().takeBody(*testRegion);
  loop.getAfter().takeBody(*bodyRegion);
  builder.setInsertionPointAfter(loop);
  llvm::SmallVector<mlir::Value> results(loop.getResults());
  llvm::ArrayRef<mlir::Value> all = results;
  llvm::SmallVector<mlir::Value> variables = passed.expand(all.take_front(passedCount));
  llvm::ArrayRef<mlir::Value> rest = variables;
  frame->env = start;
  state.leave(rest.take_front(carriedCount));
  for (const std::string &name : names) {
    Binding binding = afterTest[name];
    binding.value = rebuild(afterTest[name].value, rest);
    frame->env[name] = binding;
  }
  if (exits)
    afterLoop(*this, ending, all[passedCount], all.drop_front(passedCount + 1), where);
}

} // namespace tk::lang
