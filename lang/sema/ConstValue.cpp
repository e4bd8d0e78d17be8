// Compile-time values: construction, truth, identity and how they print.
#include "lang/sema/ConstValue.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace tk::lang {

ConstValue ConstValue::tuple(std::vector<ConstValue> elements, bool isList) {
  auto value = std::make_shared<TupleValue>();
  for (const ConstValue &element : elements)
    value->depth = std::max(value->depth, nestingOf(element) + 1);
  value->elements = std::move(elements);
  value->isList = isList;
  return ConstValue(std::shared_ptr<const TupleValue>(std::move(value)));
}

static constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min(), kInt64Max = std::numeric_limits<int64_t>::max();

std::optional<int64_t> ConstValue::asInt64() const {
  if (auto *b = get<bool>())
    return *b;
  auto *i = get<BigInt>();
  if (!i || *i < BigInt(kInt64Min) || *i > BigInt(kInt64Max))
    return std::nullopt;
  return static_cast<int64_t>(*i);
}

std::optional<double> ConstValue::asDouble() const {
  if (auto *b = get<bool>())
    return *b ? 1.0 : 0.0;
  if (auto *d = get<double>())
    return *d;
  if (auto *i = get<BigInt>())
    return toDouble(*i);
  return std::nullopt;
}

bool ConstValue::truth() const {
  if (isNone())
    return false;
  if (auto *b = get<bool>())
    return *b;
  if (auto *i = get<BigInt>())
    return *i != BigInt(0);
  if (auto *d = get<double>())
    return *d != 0;
  if (auto *s = asString())
    return !s->empty();
  if (auto *t = asTuple())
    return !t->elements.empty();
  if (auto *d = asDict())
    return !d->empty();
  return true;
}

std::string ConstValue::kindName() const {
  struct Namer {
    std::string operator()(NoneValue) { return "None"; }
    std::string operator()(EllipsisValue) { return "ellipsis"; }
    std::string operator()(bool) { return "bool"; }
    std::string operator()(const BigInt &) { return "int"; }
    std::string operator()(double) { return "float"; }
    std::string operator()(const std::shared_ptr<const std::string> &) { return "str"; }
    std::string operator()(const TypeValue &) { return "dtype"; }
    std::string operator()(const FunctionValue &) { return "function"; }
    std::string operator()(const BuiltinValue &b) { return b.isModule ? "module" : "function"; }
    std::string operator()(const std::shared_ptr<const TupleValue> &t) { return t->isList ? "list" : "tuple"; }
    std::string operator()(const std::shared_ptr<const Dict> &) { return "dict"; }
    std::string operator()(const std::shared_ptr<const ArrayValue> &) { return "array"; }
    std::string operator()(const std::shared_ptr<const InitValue> &) { return "initialiser"; }
  };
  return std::visit(Namer(), data);
}

bool ConstValue::identical(const ConstValue &other) const {
  if (data.index() != other.data.index())
    return false;
  if (auto *b = get<bool>())
    return *b == *other.get<bool>();
  if (auto *i = get<BigInt>())
    return *i == *other.get<BigInt>();
  if (auto *d = get<double>())
    return llvm::bit_cast<uint64_t>(*d) == llvm::bit_cast<uint64_t>(*other.get<double>());
  if (auto *s = asString())
    return *s == *other.asString();
  if (auto *t = get<TypeValue>())
    return *t == *other.get<TypeValue>();
  if (auto *f = get<FunctionValue>()) {
    auto *g = other.get<FunctionValue>();
    return f->function == g->function && f->lambda == g->lambda && f->scope == g->scope;
  }
  if (auto *b = get<BuiltinValue>())
    return b->name == other.get<BuiltinValue>()->name;
  if (auto *t = asTuple()) {
    auto *u = other.asTuple();
    if (t->elements.size() != u->elements.size() || t->isList != u->isList || t->fields != u->fields)
      return false;
    for (size_t i = 0; i < t->elements.size(); ++i)
      if (!t->elements[i].identical(u->elements[i]))
        return false;
    return true;
  }
  if (auto *d = asDict()) {
    auto *e = other.asDict();
    if (d->size() != e->size())
      return false;
    for (size_t i = 0; i < d->size(); ++i)
      if (!(*d)[i].first.identical((*e)[i].first) || !(*d)[i].second.identical((*e)[i].second))
        return false;
    return true;
  }
  if (auto *a = asArray())
    return a == other.asArray();
  if (auto *i = asInit())
    return i == other.asInit();
  return true; // None, Ellipsis
}

std::string ConstValue::repr() const { return reprOf(*this, 0); }

} // namespace tk::lang
