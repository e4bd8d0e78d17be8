// Dynamic `if`, early exits and the merging of values.
//
//   if c: A; return x        %r = scf.if %c { A; scf.yield %x } else { B; scf.yield %y }
//   B; return y              return %r
//
// A side that has ended stays open in the strand (OpenIf) while what follows is emitted into the other side. When both sides go on but one of them may have ended inside, the scf.if yields
// which exit was taken, and what follows is guarded by it.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/Elaborator.h"
#include "llvm/ADT/MapVector.h"

namespace tk::lang {

namespace scf = mlir::scf;
namespace arith = mlir::arith;

/// The values that an scf.if yields, each pair once.
struct Merger {
  mlir::Region *then, *orelse;
  llvm::MapVector<std::pair<mlir::Value, mlir::Value>, unsigned> pairs;

  unsigned add(mlir::Value a, mlir::Value b) { return pairs.insert({{a, b}, static_cast<unsigned>(pairs.size())}).first->second; }
};

namespace {
/// A merged value before the scf.if exists: the then-side's value as the pattern, and for each of its parts the result that replaces it (or -1: unchanged).
struct Merged {
  Value pattern;
  llvm::SmallVector<int> results;

  Value build(llvm::ArrayRef<mlir::Value> all) const {
    llvm::SmallVector<mlir::Value> parts;
    flatten(pattern, parts);
    for (size_t i = 0; i < parts.size(); ++i)
      if (results[i] >= 0)
        parts[i] = all[static_cast<size_t>(results[i])];
    llvm::ArrayRef<mlir::Value> rest = parts;
    return rebuild(pattern, rest);
  }
};
} // namespace

// ---- one type for two values ----
static int kindOf(DType type) { return isFloat(type) ? 2 : type == DType::I1 ? 0 : 1; }

Value Elaborator::pattern(const TypeValue &type, llvm::ArrayRef<int64_t> shape) {
  mlir::Type key = mlirType(type, shape);
  mlir::Value &value = scratchValues[key];
  if (!value)
    value = scratch.addArgument(key, mlir::UnknownLoc::get(&context));
  return Runtime{value, type};
}

/// The run-time type that both literals fit: the wider of their literal types, the higher kind.
static std::optional<DType> literalUnion(const ConstValue &a, const ConstValue &b) {
  std::optional<DType> x = literalType(a), y = literalType(b);
  if (!x || !y)
    return std::nullopt;
  if (kindOf(*x) != kindOf(*y))
    return kindOf(*x) > kindOf(*y) ? x : y;
  if (*x == *y)
    return x;
  if (isFloat(*x))
    return DType::F64;
  return *x == DType::U64 || *y == DType::U64 ? DType::U64 : DType::I64;
}

std::optional<Value> Elaborator::unify(const Value &a, const Value &b) {
  if (a.isError() || b.isError())
    return Value();
  auto *x = a.asConst(), *y = b.asConst();
  auto *r = a.asRuntime(), *s = b.asRuntime();
  if (x && y) {
    if (x->identical(*y))
      return a;
    if (std::optional<DType> type = literalUnion(*x, *y))
      return pattern(TypeValue{*type, 0, false}, {});
  }
  if (r && s)
    return sameShape(a, b) ? std::optional<Value>(a) : std::nullopt;
  if ((x && s) || (r && y)) {
    const Runtime &runtime = r ? *r : *s;
    std::optional<DType> literal = literalType(x ? *x : *y);
    if (!literal || runtime.isPointer() || kindOf(*literal) > kindOf(runtime.type.dtype))
      return std::nullopt;
    return pattern(runtime.type, runtime.shape());
  }
  std::optional<std::vector<Value>> left = a.elements(), right = b.elements();
  if (left && right && left->size() == right->size()) {
    std::vector<Value> patterns;
    for (size_t i = 0; i < left->size(); ++i) {
      std::optional<Value> element = unify((*left)[i], (*right)[i]);
      if (!element)
        return std::nullopt;
      patterns.push_back(std::move(*element));
    }
    auto *sequence = a.as<SequenceValue>() ? a.as<SequenceValue>() : b.as<SequenceValue>();
    return Value::tuple(std::move(patterns), sequence ? sequence->fields : std::vector<std::string>());
  }
  return sameShape(a, b) ? std::optional<Value>(a) : std::nullopt;
}

Value Elaborator::conform(const Value &value, const Value &pattern, SourceRange range) {
  if (value.isError() || pattern.isError())
    return Value();
  if (auto *type = pattern.asRuntime()) {
    if (auto *c = value.asConst())
      return broadcastTo(materialize(*c, type->type.dtype, range), type->shape(), loc(range));
    return value;
  }
  std::optional<std::vector<Value>> elements = value.elements(), patterns = pattern.elements();
  if (!patterns || !elements || pattern.asConst())
    return value;
  for (size_t i = 0; i < elements->size(); ++i)
    (*elements)[i] = conform((*elements)[i], (*patterns)[i], range);
  auto *sequence = value.as<SequenceValue>();
  return Value::tuple(std::move(*elements), sequence ? sequence->fields : std::vector<std::string>());
}

// ---- endings ----
mlir::Value Elaborator::took(const Ending &ending, Exit exit, mlir::Location at) {
  if (!(ending.exits & exit) || ending.exits == static_cast<unsigned>(exit))
    return constantInt(ending.exits & exit ? 1 : 0, 1, at);
  return arith::CmpIOp::create(builder, at, arith::CmpIPredicate::eq, ending.code, constantInt(exit, 32, at));
}

bool isInside(mlir::Value value, mlir::Region &outer) {
  for (mlir::Region *region = value.getParentRegion(); region;) {
    if (region == &outer)
      return true;
    mlir::Operation *parent = region->getParentOp(); // none where the region is still under construction
    region = parent ? parent->getParentRegion() : nullptr;
  }
  return false;
}

/// A value that only one side has: its parts that are defined inside that side are yielded, the other side yields zeros.
static Merged oneSided(Elaborator &e, Merger &merger, const Value &value, bool isThen, mlir::Location at) {
  Merged merged{value, {}};
  llvm::SmallVector<mlir::Value> parts;
  flatten(value, parts);
  mlir::Region *inside = isThen ? merger.then : merger.orelse, *other = isThen ? merger.orelse : merger.then;
  for (mlir::Value part : parts) {
    if (!isInside(part, *inside)) {
      merged.results.push_back(-1);
      continue;
    }
    e.builder.setInsertionPointToEnd(&other->front());
    mlir::Value zero = e.placeholder(part.getType(), at);
    merged.results.push_back(static_cast<int>(isThen ? merger.add(part, zero) : merger.add(zero, part)));
  }
  return merged;
}

static std::optional<Merged> twoSided(Elaborator &e, Merger &merger, const Value &a, const Value &b, SourceRange range) {
  llvm::SmallVector<mlir::Value> left, right;
  if (sameValue(a, b)) {
    flatten(a, left);
    return Merged{a, llvm::SmallVector<int>(left.size(), -1)};
  }
  std::optional<Value> pattern = e.unify(a, b);
  if (!pattern)
    return std::nullopt;
  e.builder.setInsertionPointToEnd(&merger.then->front());
  Merged merged{e.conform(a, *pattern, range), {}};
  flatten(merged.pattern, left);
  e.builder.setInsertionPointToEnd(&merger.orelse->front());
  flatten(e.conform(b, *pattern, range), right);
  for (size_t i = 0; i < left.size() && i < right.size(); ++i)
    merged.results.push_back(left[i] == right[i] ? -1 : static_cast<int>(merger.add(left[i], right[i])));
  return merged;
}

static mlir::Value codeOf(Elaborator &e, const Ending &ending, mlir::Region &region, mlir::Location at) {
  if (ending.code)
    return ending.code;
  e.builder.setInsertionPointToEnd(&region.front());
  return e.constantInt(ending.exits, 32, at);
}

Ending Elaborator::merge(mlir::Location at, mlir::Value holds, std::unique_ptr<mlir::Region> then, Ending a, std::unique_ptr<mlir::Region> orelse, Ending b, SourceRange range) {
  mlir::Block *parent = builder.getInsertionBlock();
  Merger merger{then.get(), orelse.get(), {}};
  Ending result;
  result.exits = a.exits | b.exits;

  // Variables: of the sides after which they can be read.
  bool leftLives = a.exits & ~Returns, rightLives = b.exits & ~Returns;
  std::vector<std::tuple<std::string, Binding, std::optional<Merged>>> variables;
  auto undefinedBinding = [](const Binding &binding, Diag why, std::string detail) {
    Binding undefined = binding;
    undefined.undefined = why;
    undefined.detail = std::move(detail);
    undefined.value = Value();
    return undefined;
  };
  if (leftLives && rightLives) {
    for (auto &[name, binding] : a.env) {
      auto it = b.env.find(name);
      if (it == b.env.end() || binding.undefined || it->second.undefined) {
        bool both = it != b.env.end() && binding.undefined && it->second.undefined;
        const Binding &shown = binding.undefined && it != b.env.end() && !it->second.undefined ? it->second : binding;
        variables.emplace_back(name, both || shown.undefined ? shown : undefinedBinding(shown, Diag::OneBranchOnly, ""), std::nullopt);
        continue;
      }
      std::optional<Merged> merged = twoSided(*this, merger, binding.value, it->second.value, range);
      if (!merged)
        variables.emplace_back(name, undefinedBinding(it->second, Diag::BranchTypes, binding.value.describe() + " and " + it->second.value.describe()), std::nullopt);
      else
        variables.emplace_back(name, sameValue(binding.value, it->second.value) ? binding : it->second, std::move(merged));
    }
    for (auto &[name, binding] : b.env)
      if (!a.env.count(name))
        variables.emplace_back(name, binding.undefined ? binding : undefinedBinding(binding, Diag::OneBranchOnly, ""), std::nullopt);
  } else if (leftLives || rightLives) {
    for (auto &[name, binding] : leftLives ? a.env : b.env)
      variables.emplace_back(name, binding, binding.undefined ? std::nullopt : std::optional<Merged>(oneSided(*this, merger, binding.value, leftLives, at)));
  }

  // The returned value.
  std::optional<Merged> returned;
  if ((a.exits & Returns) && (b.exits & Returns)) {
    returned = twoSided(*this, merger, a.returned, b.returned, range);
    if (!returned)
      error(range, Diag::ReturnTypes, a.returned.describe(), b.returned.describe());
  } else if (result.exits & Returns) {
    returned = oneSided(*this, merger, a.exits & Returns ? a.returned : b.returned, a.exits & Returns, at);
  }

  // Which exit was taken, when there are several.
  int code = -1;
  if ((result.exits & (result.exits - 1)) != 0) {
    mlir::Value left = codeOf(*this, a, *then, at), right = codeOf(*this, b, *orelse, at);
    code = static_cast<int>(merger.add(left, right));
  }

  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Value> left, right;
  for (auto &[pair, index] : merger.pairs) {
    types.push_back(pair.first.getType());
    left.push_back(pair.first);
    right.push_back(pair.second);
  }
  builder.setInsertionPointToEnd(&then->front());
  scf::YieldOp::create(builder, at, left);
  bool needsElse = !types.empty() || !orelse->front().empty();
  if (needsElse) {
    builder.setInsertionPointToEnd(&orelse->front());
    scf::YieldOp::create(builder, at, right);
  }
  builder.setInsertionPointToEnd(parent);
  auto op = scf::IfOp::create(builder, at, types, holds, needsElse);
  op.getThenRegion().takeBody(*then);
  if (needsElse)
    op.getElseRegion().takeBody(*orelse);

  llvm::SmallVector<mlir::Value> results(op.getResults());
  for (auto &[name, binding, merged] : variables) {
    if (merged)
      binding.value = merged->build(results);
    result.env[name] = binding;
  }
  if (returned)
    result.returned = returned->build(results);
  if (code >= 0)
    result.code = results[static_cast<size_t>(code)];
  return result;
}

Ending Elaborator::finish(Strand &strand, Exit fallsTo, SourceRange range) {
  Ending ending;
  ending.exits = strand.live() ? fallsTo : strand.exits;
  ending.code = strand.live() ? nullptr : strand.code;
  ending.returned = strand.live() ? Value::none() : strand.returned;
  ending.env = std::move(frame->env);
  while (!strand.open.empty()) {
    OpenIf open = std::move(strand.open.back());
    strand.open.pop_back();
    builder.setInsertionPointToEnd(open.parent);
    if (open.endedIsThen)
      ending = merge(open.loc, open.condition, std::move(open.ended), std::move(open.ending), std::move(open.open), std::move(ending), open.range);
    else
      ending = merge(open.loc, open.condition, std::move(open.open), std::move(ending), std::move(open.ended), std::move(open.ending), open.range);
    builder.setInsertionPointToEnd(open.parent);
  }
  frame->env = ending.env;
  return ending;
}

void Elaborator::goOnIf(Ending ending, Exit goOn, SourceRange range) {
  mlir::Location at = loc(range);
  mlir::Value holds = took(ending, goOn, at);
  frame->env = ending.env;
  ending.exits &= ~static_cast<unsigned>(goOn);
  if ((ending.exits & (ending.exits - 1)) == 0)
    ending.code = nullptr;
  auto open = std::make_unique<mlir::Region>(), ended = std::make_unique<mlir::Region>();
  open->emplaceBlock();
  ended->emplaceBlock();
  mlir::Block *inside = &open->front();
  frame->strand->open.push_back(OpenIf{at, holds, builder.getInsertionBlock(), std::move(ended), std::move(open), std::move(ending), false, range});
  builder.setInsertionPointToEnd(inside);
}

void Elaborator::dynamicIf(mlir::Value holds, const std::function<void()> &then, const std::function<void()> &orelse, SourceRange range) {
  struct Side {
    Strand strand;
    std::unique_ptr<mlir::Region> region = std::make_unique<mlir::Region>();
    mlir::Block *last = nullptr;
    Environment env;
    Ending ending;
  } sides[2];
  Strand *outer = frame->strand;
  mlir::Block *parent = builder.getInsertionBlock();
  mlir::Location at = loc(range);
  Environment before = frame->env;
  for (int i = 0; i < 2; ++i) {
    sides[i].region->emplaceBlock();
    builder.setInsertionPointToEnd(&sides[i].region->front());
    frame->env = before;
    frame->strand = &sides[i].strand;
    (i == 0 ? then : orelse)();
    sides[i].last = builder.getInsertionBlock();
    sides[i].env = std::move(frame->env);
  }
  auto end = [&](Side &side) {
    frame->strand = &side.strand;
    frame->env = std::move(side.env);
    builder.setInsertionPointToEnd(side.last);
    side.ending = finish(side.strand, Falls, range);
  };
  bool thenLives = sides[0].strand.live(), elseLives = sides[1].strand.live();
  if (thenLives != elseLives) {
    Side &ended = sides[thenLives ? 1 : 0], &open = sides[thenLives ? 0 : 1];
    end(ended);
    frame->strand = outer;
    outer->open.push_back(OpenIf{at, holds, parent, std::move(ended.region), std::move(open.region), std::move(ended.ending), !thenLives, range});
    for (OpenIf &inner : open.strand.open)
      outer->open.push_back(std::move(inner));
    frame->env = std::move(open.env);
    builder.setInsertionPointToEnd(open.last);
    return;
  }
  end(sides[0]);
  end(sides[1]);
  frame->strand = outer;
  builder.setInsertionPointToEnd(parent);
  Ending ending = merge(at, holds, std::move(sides[0].region), std::move(sides[0].ending), std::move(sides[1].region), std::move(sides[1].ending), range);
  frame->env = ending.env;
  if (ending.exits == Falls)
    return;
  if (ending.exits & Falls)
    return goOnIf(std::move(ending), Falls, range);
  outer->exits = ending.exits;
  outer->code = ending.code;
  outer->returned = ending.returned;
}

Value Elaborator::choose(mlir::Value holds, const std::function<Value()> &then, const std::function<Value()> &orelse, SourceRange range) {
  Strand *outer = frame->strand;
  mlir::Block *parent = builder.getInsertionBlock();
  mlir::Location at = loc(range);
  Environment before = frame->env;
  std::unique_ptr<mlir::Region> regions[2];
  Ending endings[2];
  for (int i = 0; i < 2; ++i) {
    regions[i] = std::make_unique<mlir::Region>();
    regions[i]->emplaceBlock();
    builder.setInsertionPointToEnd(&regions[i]->front());
    frame->env = before;
    Strand strand;
    frame->strand = &strand;
    strand.returned = (i == 0 ? then : orelse)();
    strand.exits = Returns;
    endings[i] = finish(strand, Falls, range);
  }
  frame->strand = outer;
  frame->env = std::move(before);
  builder.setInsertionPointToEnd(parent);
  if (endings[0].returned.isError() || endings[1].returned.isError())
    return Value();
  std::optional<Value> pattern = unify(endings[0].returned, endings[1].returned);
  if (!pattern)
    return error(range, Diag::ConditionalTypes, endings[0].returned.describe(), endings[1].returned.describe());
  return merge(at, holds, std::move(regions[0]), std::move(endings[0]), std::move(regions[1]), std::move(endings[1]), range).returned;
}

} // namespace tk::lang
