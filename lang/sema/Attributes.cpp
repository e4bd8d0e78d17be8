// Attributes, methods and subscripts of the elaborator's values.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/LanguageNames.h"
#include "lang/sema/ModuleScope.h"

namespace tk::lang {

static Value shapeTuple(llvm::ArrayRef<int64_t> shape) {
  std::vector<Value> extents;
  for (int64_t extent : shape)
    extents.push_back(Value::integer(extent));
  return Value::tuple(std::move(extents));
}

static int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

static Value typeValue(const TypeValue &element, llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? Value(ConstValue(element)) : Value(TileTypeValue{element, std::vector<int64_t>(shape.begin(), shape.end())});
}

static Value method(const Value &self, const std::string &name) {
  auto bound = std::make_shared<MethodValue>();
  bound->self = self;
  bound->name = name;
  return Value(std::shared_ptr<const MethodValue>(std::move(bound)));
}

/// Data attributes of tiles and scalars.
static std::optional<Value> runtimeAttribute(const Runtime &value, const std::string &name) {
  if (name == "dtype")
    return Value(ConstValue(value.type));
  if (name == "type")
    return typeValue(value.type, value.shape());
  if (name == "shape")
    return shapeTuple(value.shape());
  if (name == "numel")
    return Value::integer(elementCount(value.shape()));
  return std::nullopt;
}

static std::optional<Value> tileTypeAttribute(const TileTypeValue &type, const std::string &name) {
  if (name == "element_ty" || name == "scalar" || name == "dtype")
    return Value(ConstValue(type.element));
  if (name == "shape")
    return shapeTuple(type.shape);
  if (name == "numel")
    return Value::integer(elementCount(type.shape));
  return std::nullopt;
}

static bool isRuntimeMethod(const std::string &name) { return isMethodName(name) || name == "to" || name == "logical_and" || name == "logical_or"; }

bool Elaborator::hasAttribute(const Value &object, const std::string &name) {
  if (auto *runtime = object.asRuntime())
    return runtimeAttribute(*runtime, name) || name == "T" || isRuntimeMethod(name);
  if (auto *sequence = object.as<SequenceValue>())
    return std::find(sequence->fields.begin(), sequence->fields.end(), name) != sequence->fields.end();
  if (auto *c = object.asConst()) {
    std::string message;
    return constAttribute(*c, name, message) || hasConstMethod(*c, name);
  }
  return false;
}

Value Elaborator::attribute(const Value &object, const std::string &name, SourceRange range) {
  if (auto *runtime = object.asRuntime()) {
    if (std::optional<Value> value = runtimeAttribute(*runtime, name))
      return *value;
    if (name == "T")
      return call(Value(ConstValue(BuiltinValue{"trans", false})), {{object, range, ""}}, range);
    if (isRuntimeMethod(name))
      return method(object, name);
    std::vector<std::string> known = {"dtype", "shape", "type", "numel", "T", "to"};
    for (const std::string &candidate : languageMembers("tl"))
      if (isMethodName(candidate))
        known.push_back(candidate);
    std::string near = nearest(name, known);
    if (languageMember("tl", name))
      return error(range, Diag::NotAMethod, name, typeText(*runtime));
    return error(range, Diag::NoAttribute, typeText(*runtime), name, near.empty() ? "" : "; did you mean `" + near + "`?");
  }
  if (auto *type = std::get_if<TileTypeValue>(&object.data)) {
    if (std::optional<Value> value = tileTypeAttribute(*type, name))
      return *value;
    return method(object, name);
  }
  if (auto *sequence = object.as<SequenceValue>()) {
    for (size_t i = 0; i < sequence->fields.size(); ++i)
      if (sequence->fields[i] == name)
        return sequence->elements[i];
    return error(range, Diag::NoAttribute, std::string("tuple"), name, std::string());
  }
  if (object.as<BlockPointer>()) {
    if (name == "advance" || name == "load" || name == "store")
      return method(object, name);
    if (name == "dtype" || name == "type")
      return Value(ConstValue(object.as<BlockPointer>()->base.type));
    if (name == "shape")
      return shapeTuple(object.as<BlockPointer>()->blockShape);
  }
  auto *c = object.asConst();
  if (!c)
    return error(range, Diag::NoAttribute, object.describe(), name, std::string());
  if (auto *builtin = c->get<BuiltinValue>(); builtin && builtin->isModule) {
    if (std::optional<ConstValue> member = languageMember(builtin->name, name))
      return Value(*member);
    if (builtin->name[0] == '?')
      return error(range, Diag::HostValue, builtin->name.substr(1) + "." + name);
    std::string near = nearest(name, languageMembers(builtin->name));
    return error(range, Diag::NoMember, displayName(*builtin), name, near.empty() ? "" : "; did you mean `" + near + "`?");
  }
  std::string message;
  if (std::optional<ConstValue> value = constAttribute(*c, name, message))
    return Value(*value);
  if (hasConstMethod(*c, name) || (literalType(*c) && isRuntimeMethod(name)))
    return method(object, name);
  if (literalType(*c) && name == "T")
    return object;
  return error(range, Diag::ConstEvaluation, message);
}

/// is_ptr, is_block and the like of a tile's type.
static std::optional<ConstValue> tileTypeMethod(const TileTypeValue &type, const std::string &name, std::string &message) {
  if (name == "is_block")
    return ConstValue(true);
  if (name == "is_ptr" || name == "is_void" || name == "is_const")
    return ConstValue(false);
  if (name == "get_block_shapes") {
    std::vector<ConstValue> extents;
    for (int64_t extent : type.shape)
      extents.push_back(ConstValue::integer(extent));
    return ConstValue::tuple(std::move(extents));
  }
  return constMethod(ConstValue(type.element), name, {}, message);
}

Value Elaborator::callMethod(const Value &self, const std::string &name, std::vector<Argument> arguments, SourceRange range) {
  std::string message;
  if (auto *type = std::get_if<TileTypeValue>(&self.data)) {
    std::optional<ConstValue> value = tileTypeMethod(*type, name, message);
    return value ? Value(*value) : error(range, Diag::ConstEvaluation, message);
  }
  if (auto *c = self.asConst(); c && hasConstMethod(*c, name)) {
    ConstCall plain;
    for (const Argument &argument : arguments) {
      if (argument.value.isError())
        return Value();
      if (!argument.value.asConst())
        return error(argument.range, Diag::NotConstant, "an argument of `" + name + "`", argument.value.describe());
      if (argument.name.empty())
        plain.args.push_back(*argument.value.asConst());
      else
        plain.keywords.push_back({argument.name, *argument.value.asConst()});
    }
    std::optional<ConstValue> value = constMethod(*c, name, plain, message);
    return value ? Value(*value) : error(range, Diag::ConstEvaluation, message);
  }
  if (name == "sort")
    return error(range, Diag::NotAMethod, name, self.describe());
  if (name == "logical_and" || name == "logical_or") {
    if (arguments.size() != 1 || arguments[0].value.isError())
      return arguments.size() == 1 ? Value() : error(range, Diag::MissingArgument, name, std::string("other"));
    return logical(name == "logical_and", self, arguments[0].value, range);
  }
  arguments.insert(arguments.begin(), Argument{self, range, ""});
  std::string function = name == "to" ? "cast" : name;
  std::optional<ConstValue> callee = languageMember("tl", function);
  return callee ? call(Value(*callee), std::move(arguments), range) : error(range, Diag::NotSupportedYet, "tl." + function);
}

/// `x[None, :]` and the like on a tile or scalar.
static Value tileSubscript(Elaborator &e, const Runtime &tile, const ast::Expr &index, SourceRange range) {
  std::vector<const ast::Expr *> entries;
  if (auto *tuple = ast::dyn<ast::Tuple>(&index))
    for (const auto &element : tuple->elements)
      entries.push_back(element.get());
  else
    entries.push_back(&index);
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<unsigned> newAxes;
  size_t axis = 0;
  for (const ast::Expr *entry : entries) {
    auto *slice = ast::dyn<ast::Slice>(entry);
    if (slice && (slice->lower || slice->upper || slice->step))
      return e.error(entry->range, Diag::TileSlice);
    if (slice) {
      if (axis >= tile.shape().size())
        return e.error(range, Diag::TooManyIndices, tile.shape().size(), typeText(tile));
      shape.push_back(tile.shape()[axis++]);
      continue;
    }
    Value value = e.expr(*entry);
    if (value.isError())
      return value;
    if (!value.isNone())
      return e.error(entry->range, value.asConst() && value.asConst()->get<EllipsisValue>() ? Diag::TileEllipsis : Diag::TileElement, typeText(tile));
    newAxes.push_back(static_cast<unsigned>(shape.size()));
    shape.push_back(1);
  }
  for (; axis < tile.shape().size(); ++axis)
    shape.push_back(tile.shape()[axis]);
  Runtime result = tile;
  mlir::Location at = e.loc(range);
  if (!tile.isTile() && !newAxes.empty())
    return e.broadcastTo(tile, shape, at);
  for (unsigned newAxis : newAxes) {
    llvm::SmallVector<int64_t> extents(result.shape());
    extents.insert(extents.begin() + newAxis, 1);
    result.ssa = tt::ExpandDimsOp::create(e.builder, at, e.mlirType(result.type, extents), result.ssa, newAxis);
  }
  return result;
}

Value Elaborator::subscript(const Value &object, const ast::Expr &index, SourceRange range) {
  if (auto *runtime = object.asRuntime())
    return tileSubscript(*this, *runtime, index, range);
  auto *slice = ast::dyn<ast::Slice>(&index);
  ConstValue bounds[3];
  std::string message;
  const ast::Expr *parts[3] = {slice ? slice->lower.get() : &index, slice ? slice->upper.get() : nullptr, slice ? slice->step.get() : nullptr};
  for (int i = 0; i < 3; ++i) {
    if (!parts[i])
      continue;
    Value value = expr(*parts[i]);
    if (value.isError())
      return value;
    if (!value.asConst())
      return error(parts[i]->range, Diag::NotConstant, std::string("an index into a tuple"), value.describe());
    bounds[i] = *value.asConst();
  }
  auto select = [&](const ConstValue &from) { return slice ? constSlice(from, bounds[0], bounds[1], bounds[2], message) : constSubscript(from, bounds[0], message); };
  if (auto *c = object.asConst()) {
    std::optional<ConstValue> value = select(*c);
    return value ? Value(*value) : error(range, Diag::ConstEvaluation, message);
  }
  auto *sequence = object.as<SequenceValue>();
  if (!sequence)
    return error(range, Diag::NotIndexable, object.describe());
  // The positions are selected as numbers, then replaced by the elements.
  std::vector<ConstValue> positions;
  for (size_t i = 0; i < sequence->elements.size(); ++i)
    positions.push_back(ConstValue::integer(static_cast<int64_t>(i)));
  std::optional<ConstValue> picked = select(ConstValue::tuple(std::move(positions)));
  if (!picked)
    return error(range, Diag::ConstEvaluation, message);
  if (!slice)
    return sequence->elements[static_cast<size_t>(*picked->asInt64())];
  std::vector<Value> elements;
  for (const ConstValue &position : picked->asTuple()->elements)
    elements.push_back(sequence->elements[static_cast<size_t>(*position.asInt64())]);
  return Value::tuple(std::move(elements), {}, sequence->isList);
}

} // namespace tk::lang
