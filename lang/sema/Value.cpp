// Values of the elaborator: structure, comparison, description.
#include "lang/sema/Value.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"

namespace tk::lang {

static unsigned depthOf(const Value &value) {
  if (auto *c = value.asConst())
    return nestingOf(*c);
  auto *sequence = value.as<SequenceValue>();
  return sequence ? sequence->depth : 0;
}

Value Value::tuple(std::vector<Value> elements, std::vector<std::string> fields, bool isList) {
  bool constant = true;
  for (const Value &element : elements) {
    if (element.isError())
      return Value();
    constant = constant && element.asConst();
  }
  if (constant) {
    std::vector<ConstValue> values;
    for (const Value &element : elements)
      values.push_back(*element.asConst());
    ConstValue result = ConstValue::tuple(std::move(values), isList);
    if (!fields.empty()) {
      auto named = std::make_shared<TupleValue>(*result.asTuple());
      named->fields = std::move(fields);
      return Value(ConstValue(std::shared_ptr<const TupleValue>(std::move(named))));
    }
    return Value(std::move(result));
  }
  auto sequence = std::make_shared<SequenceValue>();
  for (const Value &element : elements)
    sequence->depth = std::max(sequence->depth, depthOf(element) + 1);
  if (sequence->depth > kMaxConstNesting)
    return Value();
  sequence->elements = std::move(elements);
  sequence->fields = std::move(fields);
  sequence->isList = isList;
  return Value(std::shared_ptr<const SequenceValue>(std::move(sequence)));
}

std::optional<std::vector<Value>> Value::elements() const {
  if (auto *sequence = as<SequenceValue>())
    return sequence->elements;
  auto *tuple = asConst() ? asConst()->asTuple() : nullptr;
  if (!tuple)
    return std::nullopt;
  return std::vector<Value>(tuple->elements.begin(), tuple->elements.end());
}

std::string typeText(const TypeValue &element, llvm::ArrayRef<int64_t> shape) {
  std::string text = typeText(element);
  if (shape.empty())
    return text;
  text += "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string typeText(const Runtime &value) { return typeText(value.type, value.shape()); }

std::string Value::describe() const {
  if (auto *runtime = asRuntime())
    return typeText(*runtime);
  if (auto *c = asConst()) {
    if (c->isNone() || c->get<bool>() || c->get<TypeValue>())
      return c->repr();
    if (c->get<BigInt>() || c->get<double>())
      return c->repr();
    return c->kindName();
  }
  if (auto *sequence = as<SequenceValue>()) {
    std::string text = "(";
    for (size_t i = 0; i < sequence->elements.size() && i < 8; ++i)
      text += (i ? ", " : "") + sequence->elements[i].describe();
    return text + (sequence->elements.size() > 8 ? ", ...)" : ")");
  }
  if (as<MethodValue>())
    return "method `" + as<MethodValue>()->name + "`";
  if (as<RangeValue>())
    return "range";
  if (as<BlockPointer>())
    return "block pointer";
  if (auto *type = std::get_if<TileTypeValue>(&data))
    return "type " + typeText(type->element, type->shape);
  return "error";
}

void flatten(const Value &value, llvm::SmallVectorImpl<mlir::Value> &parts) {
  if (auto *runtime = value.asRuntime()) {
    parts.push_back(runtime->ssa);
  } else if (auto *sequence = value.as<SequenceValue>()) {
    for (const Value &element : sequence->elements)
      flatten(element, parts);
  } else if (auto *block = value.as<BlockPointer>()) {
    parts.push_back(block->base.ssa);
    for (const auto *list : {&block->shape, &block->strides, &block->offsets})
      for (const Runtime &part : *list)
        parts.push_back(part.ssa);
  }
}

Value rebuild(const Value &pattern, llvm::ArrayRef<mlir::Value> &parts) {
  auto next = [&](TypeValue type) {
    Runtime result{parts.front(), type};
    parts = parts.drop_front();
    return result;
  };
  if (auto *runtime = pattern.asRuntime())
    return next(runtime->type);
  if (auto *sequence = pattern.as<SequenceValue>()) {
    auto copy = std::make_shared<SequenceValue>(*sequence);
    for (Value &element : copy->elements)
      element = rebuild(element, parts);
    return Value(std::shared_ptr<const SequenceValue>(std::move(copy)));
  }
  if (auto *block = pattern.as<BlockPointer>()) {
    auto copy = std::make_shared<BlockPointer>(*block);
    copy->base = next(block->base.type);
    for (auto *list : {&copy->shape, &copy->strides, &copy->offsets})
      for (Runtime &part : *list)
        part = next(part.type);
    return Value(std::shared_ptr<const BlockPointer>(std::move(copy)));
  }
  return pattern;
}

static bool same(const Value &a, const Value &b, bool values) {
  if (a.data.index() != b.data.index())
    return false;
  if (auto *c = a.asConst())
    return c->identical(*b.asConst());
  if (auto *r = a.asRuntime()) {
    auto *s = b.asRuntime();
    return values ? r->ssa == s->ssa && r->type == s->type : r->ssa.getType() == s->ssa.getType() && r->type == s->type;
  }
  if (auto *s = a.as<SequenceValue>()) {
    auto *t = b.as<SequenceValue>();
    if (s->elements.size() != t->elements.size() || s->fields != t->fields)
      return false;
    for (size_t i = 0; i < s->elements.size(); ++i)
      if (!same(s->elements[i], t->elements[i], values))
        return false;
    return true;
  }
  if (auto *p = a.as<BlockPointer>()) {
    auto *q = b.as<BlockPointer>();
    if (!(p->base.type == q->base.type) || p->blockShape != q->blockShape)
      return false;
    if (!values)
      return true;
    llvm::SmallVector<mlir::Value> left, right;
    flatten(a, left);
    flatten(b, right);
    return left == right;
  }
  if (auto *m = a.as<MethodValue>())
    return m->name == b.as<MethodValue>()->name && same(m->self, b.as<MethodValue>()->self, values);
  if (auto *t = std::get_if<TileTypeValue>(&a.data)) {
    auto *u = std::get_if<TileTypeValue>(&b.data);
    return t->element == u->element && t->shape == u->shape;
  }
  return a.as<RangeValue>() == b.as<RangeValue>();
}

bool sameShape(const Value &a, const Value &b) { return same(a, b, false); }
bool sameValue(const Value &a, const Value &b) { return same(a, b, true); }

} // namespace tk::lang
