// Expressions: names, constants, displays, conditionals; operators and calls are dispatched from here.
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/LanguageNames.h"
#include "lang/sema/Library.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/SyntaxFacts.h"

namespace tk::lang {

std::optional<ConstValue> constantValue(const ast::Constant &node, std::string &error);

Value Elaborator::unknownName(const std::string &name, SourceRange range) {
  std::vector<std::string> candidates = globalNames(frame->scope->isPython());
  for (const auto &[known, binding] : frame->env)
    if (!binding.undefined)
      candidates.push_back(known);
  for (const std::string &known : frame->scope->names())
    candidates.push_back(known);
  if (const char *origin = foreignOrigin(name))
    return error(range, Diag::ForeignName, name, std::string(origin));
  std::string near = frame->scope->isPython() && languageMember("tl", name) ? "tl." + name : nearest(name, candidates);
  return near.empty() ? error(range, Diag::UnknownName, name) : error(range, Diag::UnknownNameNear, name, near);
}

Value Elaborator::lookup(const std::string &name, SourceRange range) {
  auto it = frame->env.find(name);
  if (it != frame->env.end()) {
    const Binding &binding = it->second;
    if (!binding.undefined)
      return binding.value;
    error(range, *binding.undefined, name, binding.detail);
    note(binding.range, Diag::AssignedHere, name);
    return Value();
  }
  Diagnostics messages;
  std::optional<ConstValue> value = frame->scope->lookup(name, messages);
  for (const Message &message : messages.messages())
    report(message.severity == Severity::Note ? Diag::RelayedNote : Diag::RelayedError, message.place, message.text);
  if (value) {
    if (frame->scope->isPython() && isPlainConstant(*frame->scope, name) && !value->get<TypeValue>() && !value->get<FunctionValue>() && !value->get<BuiltinValue>()) {
      error(range, Diag::PlainGlobal, name);
      note(definitionRange(*frame->scope, name), Diag::DefinedHere, name);
      return Value();
    }
    if (auto *builtin = value->get<BuiltinValue>(); builtin && !builtin->isModule && builtin->name[0] == '?') {
      error(range, Diag::HostValue, name);
      if (SourceRange defined = definitionRange(*frame->scope, name); defined.end)
        note(defined, Diag::DefinedHere, name);
      return Value();
    }
    return Value(*value);
  }
  if (std::optional<ConstValue> known = globalName(name, frame->scope->isPython()))
    return Value(*known);
  return unknownName(name, range);
}

Value Elaborator::constant(const ast::Constant &node) {
  std::string text;
  std::optional<ConstValue> value = constantValue(node, text);
  return value ? Value(*value) : error(node.range, Diag::ConstEvaluation, text);
}

Value Elaborator::format(const ast::FString &node) {
  std::string text;
  for (const ast::FString::Part &part : node.parts) {
    text += part.text;
    if (!part.field)
      continue;
    Value value = expr(*part.field);
    if (value.isError())
      return value;
    std::string message;
    ConstValue field = value.asConst() ? *value.asConst() : ConstValue::string(value.describe());
    bool repr = part.conversion == 'r' || part.conversion == 'a' || (part.selfDocumenting && !part.conversion && part.format.empty());
    if (repr && value.asConst())
      field = ConstValue::string(field.repr());
    std::optional<std::string> formatted = formatValue(field, part.format, message);
    if (!formatted)
      return error(part.field->range, Diag::ConstEvaluation, message);
    text += *formatted;
    if (text.size() > (1u << 20))
      return error(node.range, Diag::StringTooLong);
  }
  return Value(ConstValue::string(std::move(text)));
}

Value Elaborator::display(const std::vector<ast::ExprPtr> &list, bool isList, SourceRange range) {
  std::vector<Value> values;
  bool bad = false;
  for (const ast::ExprPtr &node : list) {
    auto *starred = ast::dyn<ast::Starred>(node.get());
    Value value = expr(starred ? *starred->value : *node);
    bad = bad || value.isError();
    if (bad || !starred) {
      values.push_back(std::move(value));
      continue;
    }
    std::optional<std::vector<Value>> inner = value.elements();
    if (!inner)
      return error(node->range, Diag::NotIterable, value.describe());
    values.insert(values.end(), inner->begin(), inner->end());
  }
  if (bad)
    return Value();
  Value result = Value::tuple(std::move(values), {}, isList);
  unsigned depth = result.asConst() ? nestingOf(*result.asConst()) : 0;
  return result.isError() || depth > kMaxConstNesting ? error(range, Diag::TupleTooDeep, kMaxConstNesting) : result;
}

bool Elaborator::comprehend(const ast::Comprehension &node, size_t index, std::vector<Value> &out) {
  if (index == node.clauses.size()) {
    out.push_back(expr(*node.element));
    return !out.back().isError();
  }
  const auto &clause = node.clauses[index];
  Value iterable = expr(*clause.iterable);
  if (iterable.isError())
    return false;
  std::optional<std::vector<Value>> values = iterable.elements();
  if (auto *range = iterable.as<RangeValue>(); range && range->lower.asConst() && range->upper.asConst() && range->step.asConst()) {
    std::string message;
    std::optional<ConstValue> list = callHostBuiltin("python.range", {{*range->lower.asConst(), *range->upper.asConst(), *range->step.asConst()}, {}}, message);
    if (!list)
      return error(clause.iterable->range, Diag::ConstEvaluation, message), false;
    values = Value(*list).elements();
  }
  if (!values)
    return error(clause.iterable->range, Diag::NotIterable, iterable.describe()), false;
  for (const Value &value : *values) {
    if (!step(node.range))
      return false;
    assign(*clause.target, value);
    bool wanted = true;
    for (const ast::ExprPtr &condition : clause.conditions) {
      Value holds = expr(*condition);
      if (holds.isError())
        return false;
      if (!holds.asConst())
        return error(condition->range, Diag::NotConstant, std::string("the condition of a comprehension"), holds.describe()), false;
      wanted = wanted && holds.asConst()->truth();
    }
    if (wanted && !comprehend(node, index + 1, out))
      return false;
  }
  return true;
}

Value Elaborator::comprehension(const ast::Comprehension &node) {
  if (node.type == ast::Comprehension::Dict || node.type == ast::Comprehension::Set)
    return error(node.range, Diag::NotInKernel, std::string("a dict or set comprehension"));
  std::set<std::string> names;
  for (const auto &clause : node.clauses)
    collectTargets(*clause.target, names);
  std::map<std::string, std::optional<Binding>> saved;
  for (const std::string &name : names) {
    auto it = frame->env.find(name);
    saved[name] = it == frame->env.end() ? std::nullopt : std::optional<Binding>(it->second);
  }
  std::vector<Value> out;
  bool ok = comprehend(node, 0, out);
  for (auto &[name, binding] : saved) {
    if (binding)
      frame->env[name] = *binding;
    else
      frame->env.erase(name);
  }
  return ok ? Value::tuple(std::move(out), {}, true) : Value();
}

Value Elaborator::boolean(const ast::Bool &node) {
  Value result = expr(*node.values[0]);
  for (size_t i = 1; i < node.values.size(); ++i) {
    if (result.isError())
      return result;
    if (auto *c = result.asConst()) { // Python's short cut
      if (c->truth() != node.isAnd)
        return result;
      result = expr(*node.values[i]);
      continue;
    }
    Value rhs = expr(*node.values[i]);
    if (rhs.isError())
      return rhs;
    result = logical(node.isAnd, result, rhs, node.range);
  }
  return result;
}

Value Elaborator::comparison(const ast::Compare &node) {
  Value lhs = expr(*node.first), result;
  for (size_t i = 0; i < node.ops.size(); ++i) {
    Value rhs = expr(*node.rest[i]);
    if (lhs.isError() || rhs.isError())
      return Value();
    result = compare(node.ops[i], lhs, rhs, node.range);
    if (result.isError() || node.ops.size() == 1)
      return result;
    if (!result.asConst())
      return error(node.range, Diag::ChainedComparison);
    if (!result.asConst()->truth())
      return result;
    lhs = std::move(rhs);
  }
  return result;
}

Value Elaborator::conditional(const ast::Conditional &node) {
  Value test = expr(*node.condition);
  if (test.isError())
    return test;
  if (auto *c = test.asConst())
    return expr(c->truth() ? *node.then : *node.otherwise);
  if (auto *runtime = test.asRuntime(); runtime && runtime->isTile() && mlir::cast<mlir::RankedTensorType>(runtime->ssa.getType()).getNumElements() != 1)
    return error(node.condition->range, Diag::TileConditional, typeText(*runtime));
  mlir::Value holds = condition(test, node.condition->range);
  if (!holds)
    return Value();
  return choose(holds, [&] { return expr(*node.then); }, [&] { return expr(*node.otherwise); }, node.range);
}

Value Elaborator::expr(const ast::Expr &node) {
  if (!step(node.range))
    return Value();
  using K = ast::ExprKind;
  switch (node.kind) {
  case K::Name: return lookup(ast::as<ast::Name>(node).id, node.range);
  case K::Constant: return constant(ast::as<ast::Constant>(node));
  case K::FString: return format(ast::as<ast::FString>(node));
  case K::Tuple: return display(ast::as<ast::Tuple>(node).elements, false, node.range);
  case K::List: return display(ast::as<ast::List>(node).elements, true, node.range);
  case K::Comprehension: return comprehension(ast::as<ast::Comprehension>(node));
  case K::Bool: return boolean(ast::as<ast::Bool>(node));
  case K::Compare: return comparison(ast::as<ast::Compare>(node));
  case K::Conditional: return conditional(ast::as<ast::Conditional>(node));
  case K::Call: return callNode(ast::as<ast::Call>(node));
  case K::Lambda: return Value(ConstValue(FunctionValue{frame->scope, nullptr, &ast::as<ast::Lambda>(node)}));
  case K::Binary: {
    auto &binaryNode = ast::as<ast::Binary>(node);
    Value lhs = expr(*binaryNode.lhs), rhs = expr(*binaryNode.rhs);
    return binary(binaryNode.op, lhs, rhs, node.range);
  }
  case K::Unary: return unary(ast::as<ast::Unary>(node).op, expr(*ast::as<ast::Unary>(node).operand), node.range);
  case K::Attribute: {
    auto &attributeNode = ast::as<ast::Attribute>(node);
    Value object = expr(*attributeNode.value);
    return object.isError() ? object : attribute(object, attributeNode.attr, attributeNode.attrRange);
  }
  case K::Subscript: {
    Value object = expr(*ast::as<ast::Subscript>(node).value);
    return object.isError() ? object : subscript(object, *ast::as<ast::Subscript>(node).index, node.range);
  }
  case K::Walrus: {
    auto &walrus = ast::as<ast::Walrus>(node);
    Value value = expr(*walrus.value);
    assign(*walrus.target, value);
    return value;
  }
  case K::Set: return error(node.range, Diag::NotInKernel, std::string("a set"));
  case K::Dict: return error(node.range, Diag::NotInKernel, std::string("a dict"));
  case K::Slice: return error(node.range, Diag::NotInKernel, std::string("a slice outside an index"));
  case K::Starred: return error(node.range, Diag::NotInKernel, std::string("a starred expression here"));
  case K::Yield: return error(node.range, Diag::NotInKernel, std::string("`yield`"));
  case K::Await: return error(node.range, Diag::NotInKernel, std::string("`await`"));
  }
  return Value();
}

} // namespace tk::lang
