// Calls: binding of arguments, inlining of helpers, noinline functions, compile-time functions, combine regions.
#include "lang/sema/Builtins.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/HostRun.h"
#include "lang/sema/LanguageNames.h"
#include "lang/sema/Library.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/SyntaxFacts.h"

namespace tk::lang {

bool Elaborator::arguments(const ast::Call &node, std::vector<Argument> &out) {
  bool ok = true;
  for (const ast::ExprPtr &arg : node.args) {
    auto *starred = ast::dyn<ast::Starred>(arg.get());
    Value value = expr(starred ? *starred->value : *arg);
    ok = ok && !value.isError();
    if (!starred) {
      out.push_back({std::move(value), arg->range, ""});
      continue;
    }
    std::optional<std::vector<Value>> elements = value.elements();
    if (!elements && !value.isError())
      value = error(arg->range, Diag::NotIterable, value.describe());
    ok = ok && elements;
    if (elements)
      for (Value &element : *elements)
        out.push_back({std::move(element), arg->range, ""});
  }
  for (const ast::Keyword &keyword : node.keywords) {
    if (keyword.name.empty()) {
      error(keyword.value->range, Diag::NotInKernel, std::string("`**` in a call"));
      ok = false;
      continue;
    }
    Value value = expr(*keyword.value);
    ok = ok && !value.isError();
    out.push_back({std::move(value), keyword.value->range, keyword.name});
  }
  return ok;
}

Value Elaborator::callNode(const ast::Call &node) {
  std::string target = frame->target;
  Value callee = expr(*node.callee);
  std::vector<Argument> args;
  bool ok = arguments(node, args);
  frame->target = target;
  return ok && !callee.isError() ? call(callee, std::move(args), node.range) : Value();
}

Value Elaborator::call(const Value &callee, std::vector<Argument> args, SourceRange range) {
  if (!step(range))
    return Value();
  if (auto *method = callee.as<MethodValue>())
    return callMethod(method->self, method->name, std::move(args), range);
  auto *c = callee.asConst();
  if (auto *function = c ? c->get<FunctionValue>() : nullptr)
    return callFunction(*function, args, range);
  if (auto *builtin = c ? c->get<BuiltinValue>() : nullptr; builtin && !builtin->isModule)
    return callBuiltin(*builtin, args, range);
  if (c && c->get<TypeValue>())
    return error(range, Diag::DTypeCall, c->repr());
  return error(range, Diag::NotCallable, callee.describe());
}

// ---- functions of the program ----
bool Elaborator::bindParameters(const FunctionValue &function, const std::vector<Argument> &args, SourceRange range, Frame &callee, std::vector<Argument> &bound) {
  const std::vector<ast::Parameter> &params = function.function ? function.function->params : function.lambda->params;
  std::vector<const Argument *> positional;
  std::vector<std::pair<const Argument *, bool>> named;
  for (const Argument &arg : args) {
    if (arg.name.empty())
      positional.push_back(&arg);
    else
      named.emplace_back(&arg, false);
  }
  size_t next = 0;
  auto wrong = [&](auto &&...report) {
    error(range, report...);
    if (function.function)
      this->report(Diag::DefinedHere, Place{callee.file, function.function->nameRange}, callee.name);
    return false;
  };
  for (const ast::Parameter &param : params) {
    if (param.kind == ast::Parameter::VarArgs) {
      std::vector<Value> rest;
      for (; next < positional.size(); ++next)
        rest.push_back(positional[next]->value);
      bound.push_back({Value::tuple(std::move(rest)), range, param.name});
      continue;
    }
    if (param.kind == ast::Parameter::VarKeywords)
      return wrong(Diag::NotInKernel, std::string("a `**` parameter"));
    const Argument *value = param.kind == ast::Parameter::Positional && next < positional.size() ? positional[next++] : nullptr;
    for (auto &[arg, used] : named)
      if (arg->name == param.name) {
        if (value)
          return wrong(Diag::ArgumentTwice, callee.name, param.name);
        value = arg;
        used = true;
      }
    Argument argument{Value(), range, param.name};
    if (value) {
      argument.value = value->value;
      argument.range = value->range;
    } else if (param.defaultValue) {
      Frame *caller = frame;
      callee.caller = caller;
      callee.callRange = range;
      callee.callLocation = loc(range);
      Strand strand;
      callee.strand = &strand;
      frame = &callee;
      argument.value = expr(*param.defaultValue);
      frame = caller;
    } else {
      return wrong(Diag::MissingArgument, callee.name, param.name);
    }
    bound.push_back(std::move(argument));
  }
  if (next < positional.size())
    return wrong(Diag::TooManyArguments, callee.name, next, positional.size());
  for (auto &[arg, used] : named)
    if (!used) {
      std::vector<std::string> known;
      for (const ast::Parameter &param : params)
        known.push_back(param.name);
      std::string near = nearest(arg->name, known);
      return wrong(Diag::NoSuchParameter, callee.name, arg->name, near.empty() ? "" : "; did you mean `" + near + "`?");
    }
  return true;
}

Value Elaborator::inlineBody(const FunctionValue &function, Frame &callee, SourceRange range) {
  Frame *caller = frame;
  if (++callDepth > options.callDepthLimit) {
    --callDepth;
    error(range, Diag::CallTooDeep, callee.name, options.callDepthLimit);
    exhausted = true;
    return Value();
  }
  if (caller != &callee) {
    callee.callLocation = loc(range);
    callee.caller = caller;
    callee.callRange = range;
  }
  frame = &callee;
  Strand strand;
  callee.strand = &strand;
  Value result;
  if (function.lambda) {
    result = expr(*function.lambda->body);
  } else {
    block(function.function->body);
    result = finish(strand, Returns, function.function->nameRange).returned;
  }
  frame = caller;
  --callDepth;
  return result;
}

static Value callAtCompileTime(Elaborator &e, const FunctionValue &function, const std::vector<Argument> &args, SourceRange range) {
  ConstCall call;
  for (const Argument &arg : args) {
    if (!arg.value.asConst())
      return e.error(arg.range, Diag::NotConstant, "an argument of the compile-time function `" + function.function->name + "`", arg.value.describe());
    if (arg.name.empty())
      call.args.push_back(*arg.value.asConst());
    else
      call.keywords.push_back({arg.name, *arg.value.asConst()});
  }
  Diagnostics messages;
  uint64_t steps = e.options.stepLimit;
  HostState state{messages, steps};
  std::optional<ConstValue> value = HostRun(state, e.frame->scope, *e.frame->file, nullptr).callFunction(function, call, e.place(range));
  for (const Message &message : messages.messages())
    e.report(message.severity == Severity::Note ? Diag::RelayedNote : Diag::RelayedError, message.place, message.text);
  if (!value) {
    e.note(range, Diag::CalledHere, function.function->name);
    return Value();
  }
  return Value(*value);
}

Value Elaborator::callFunction(const FunctionValue &function, const std::vector<Argument> &args, SourceRange range) {
  for (const Argument &arg : args)
    if (arg.value.isError())
      return Value();
  if (function.function && hasDecorator(*function.function, "constexpr_function"))
    return callAtCompileTime(*this, function, args, range);
  Frame callee;
  callee.scope = function.scope;
  callee.file = function.scope ? &function.scope->file() : frame->file;
  callee.name = function.function ? function.function->name : "<lambda>";
  callee.function = function.function ? static_cast<const void *>(function.function) : function.lambda;
  std::vector<Argument> bound;
  if (!bindParameters(function, args, range, callee, bound))
    return Value();
  const std::vector<ast::Parameter> &params = function.function ? function.function->params : function.lambda->params;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].value.isError())
      return Value();
    callee.env[params[i].name] = Binding{bound[i].value, params[i].range, std::nullopt, "", false};
  }
  if (function.function && hasJitFlag(*function.function, "noinline"))
    return callNoInline(function, callee, bound, range);
  return inlineBody(function, callee, range);
}

/// The functions made for noinline helpers, by what they were specialized for.
Value Elaborator::callNoInline(const FunctionValue &function, Frame &callee, const std::vector<Argument> &bound, SourceRange range) {
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(function.function));
  llvm::SmallVector<mlir::Value> operands;
  for (const Argument &argument : bound) {
    auto *runtime = argument.value.asRuntime();
    if (runtime ? runtime->isTile() : !argument.value.asConst())
      return error(argument.range, Diag::NoInlineTile, callee.name, argument.name, argument.value.describe());
    key += "|" + (runtime ? typeText(*runtime) : argument.value.asConst()->kindName() + argument.value.asConst()->repr());
    flatten(argument.value, operands);
  }
  NoInlineFunction &made = noInlineFunctions[key];
  mlir::Location at = loc(range);
  if (!made.function) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Region region;
    mlir::Block &entry = region.emplaceBlock();
    builder.setInsertionPointToEnd(&entry);
    for (auto &[name, binding] : callee.env)
      if (auto *runtime = binding.value.asRuntime())
        binding.value = Runtime{nullptr, runtime->type};
    for (const Argument &argument : bound)
      if (auto *runtime = argument.value.asRuntime())
        callee.env[argument.name].value = Runtime{entry.addArgument(runtime->ssa.getType(), at), runtime->type};
    Value returned = inlineBody(function, callee, range);
    if (returned.isError())
      return returned;
    llvm::SmallVector<mlir::Value> results;
    flatten(returned, results);
    tt::ReturnOp::create(builder, at, results);
    builder.setInsertionPointToEnd(module.getBody());
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Value result : results)
      types.push_back(result.getType());
    auto op = tt::FuncOp::create(builder, at, callee.name + "_" + std::to_string(noInlineFunctions.size()), builder.getFunctionType(entry.getArgumentTypes(), types));
    op.getBody().takeBody(region);
    op.setPrivate();
    op->setAttr("noinline", builder.getBoolAttr(true));
    made = {op, returned};
  }
  auto callee_ = mlir::cast<tt::FuncOp>(made.function);
  auto op = tt::CallOp::create(builder, at, callee_, operands);
  llvm::SmallVector<mlir::Value> results(op->getResults());
  llvm::ArrayRef<mlir::Value> rest = results;
  return rebuild(made.returned, rest);
}

bool Elaborator::combineRegion(mlir::Region &region, const Value &function, llvm::ArrayRef<TypeValue> types, bool isScan, SourceRange range) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block &entry = region.empty() ? region.emplaceBlock() : region.front();
  mlir::Location at = loc(range);
  std::vector<Argument> args;
  for (unsigned i = 0; i < 2 * types.size(); ++i) {
    TypeValue type = types[i % types.size()];
    mlir::Value ssa = i < entry.getNumArguments() ? mlir::Value(entry.getArgument(i)) : mlir::Value(entry.addArgument(mlirType(type), at));
    args.push_back({Runtime{ssa, type}, range, ""});
  }
  builder.setInsertionPointToEnd(&entry);
  Value result = call(function, std::move(args), range);
  if (result.isError())
    return false;
  std::vector<Value> values = {result};
  if (std::optional<std::vector<Value>> elements = result.elements())
    values = *elements;
  if (values.size() != types.size()) {
    error(range, Diag::CombineCount, values.size(), types.size());
    return false;
  }
  llvm::SmallVector<mlir::Value> results;
  for (size_t i = 0; i < values.size(); ++i) {
    Value wanted = pattern(types[i], {});
    std::optional<Value> joint = unify(wanted, values[i]);
    if (!joint || !sameShape(*joint, wanted)) {
      error(range, Diag::CombineType, values[i].describe(), typeText(types[i], {}));
      return false;
    }
    flatten(conform(values[i], wanted, range), results);
  }
  if (isScan)
    tt::ScanReturnOp::create(builder, at, results);
  else
    tt::ReduceReturnOp::create(builder, at, results);
  return true;
}

// ---- builtins ----
static bool bindBuiltin(Elaborator &e, const BuiltinInfo &info, const std::vector<Argument> &args, SourceRange range, BoundCall &call) {
  call.info = &info;
  call.range = range;
  call.values.resize(info.params.size());
  call.given.resize(info.params.size());
  size_t next = 0;
  for (const Argument &arg : args) {
    size_t index = 0;
    if (arg.name.empty()) {
      while (next < info.params.size() && info.params[next].keywordOnly)
        ++next;
      if (next < info.params.size() && info.params[next].isStar) {
        call.rest.push_back(arg);
        continue;
      }
      index = next++;
      if (index >= info.params.size()) {
        e.error(range, Diag::TooManyArguments, info.display, info.params.size(), args.size());
        return false;
      }
    } else {
      std::vector<std::string> known;
      for (; index < info.params.size() && info.params[index].name != arg.name; ++index)
        known.push_back(info.params[index].name);
      if (index == info.params.size()) {
        std::string near = nearest(arg.name, known);
        e.error(arg.range, Diag::NoSuchParameter, info.display, arg.name, near.empty() ? "" : "; did you mean `" + near + "`?");
        return false;
      }
      if (info.params[index].isStar) {
        call.rest.push_back(arg);
        continue;
      }
      if (call.given[index]) {
        e.error(arg.range, Diag::ArgumentTwice, info.display, arg.name);
        return false;
      }
    }
    call.values[index] = arg;
    call.given[index] = true;
  }
  for (size_t i = 0; i < info.params.size(); ++i) {
    if (call.given[i] || info.params[i].isStar)
      continue;
    if (!info.params[i].hasDefault) {
      e.error(range, Diag::MissingArgument, info.display, info.params[i].name);
      return false;
    }
    call.values[i] = {Value(info.params[i].defaultValue), range, ""};
  }
  return true;
}

/// tl.target_info and the like.
static Value targetInfo(Elaborator &e, const std::string &name, SourceRange range) {
  const std::string &target = e.options.target;
  bool cuda = target == "cuda" || target.rfind("sm_", 0) == 0, hip = target == "hip" || target.rfind("gfx", 0) == 0;
  if (name == "current_target")
    return Value(ConstValue::string(target));
  if (name == "is_cuda" || name == "is_hip")
    return Value(ConstValue(name == "is_cuda" ? cuda : hip));
  if (name == "is_hip_cdna3" || name == "is_hip_cdna4" || name == "is_hip_gfx1250")
    return Value(ConstValue(target == (name == "is_hip_cdna3" ? "gfx942" : name == "is_hip_cdna4" ? "gfx950" : "gfx1250")));
  return e.error(range, Diag::NotSupportedYet, "tl.target_info." + name);
}

Value Elaborator::callBuiltin(const BuiltinValue &builtin, const std::vector<Argument> &args, SourceRange range) {
  const std::string &name = builtin.name;
  bool allConst = true;
  ConstCall plain;
  for (const Argument &arg : args) {
    if (arg.value.isError())
      return Value();
    auto *c = arg.value.asConst();
    allConst = allConst && c;
    if (c && arg.name.empty())
      plain.args.push_back(*c);
    else if (c)
      plain.keywords.push_back({arg.name, *c});
  }
  if (const BuiltinInfo *info = findBuiltin(name)) {
    BoundCall call;
    return bindBuiltin(*this, *info, args, range, call) ? info->handler(*this, call) : Value();
  }
  if (allConst && isHostBuiltin(name)) {
    std::string message;
    std::optional<ConstValue> value = callHostBuiltin(name, plain, message);
    return value ? Value(*value) : error(range, Diag::ConstEvaluation, message);
  }
  auto starts = [&](const char *prefix) { return name.rfind(prefix, 0) == 0; };
  if (starts("libdevice."))
    return callLibdevice(*this, name.substr(10), args, range);
  if (starts("math."))
    return callLibdevice(*this, name.substr(5), args, range);
  if (name == "triton.cdiv")
    return callLibrary("cdiv", args, range);
  if (starts("triton."))
    return error(range, Diag::NotConstant, "an argument of `" + displayName(builtin) + "`", args.empty() ? std::string("nothing") : args[0].value.describe());
  if (starts("target_info."))
    return targetInfo(*this, name.substr(12), range);
  if (starts("class."))
    return error(range, Diag::NotSupportedYet, name.substr(6));
  if (name[0] == '?')
    return error(range, Diag::HostValue, name.substr(1));
  if (const char *origin = foreignOrigin(name))
    return error(range, Diag::ForeignName, "tl." + name, std::string(origin));
  if (isUnsupportedName(name) || starts("extra."))
    return error(range, Diag::NotSupportedYet, "tl." + name);
  return error(range, Diag::NotCallable, "`" + displayName(builtin) + "`");
}

Value Elaborator::callLibrary(const std::string &name, std::vector<Argument> args, SourceRange range) {
  const ModuleScope *scope = nullptr;
  const ast::Function *function = findLibraryFunction("tl", name, scope);
  return function ? callFunction(FunctionValue{scope, function, nullptr}, args, range) : error(range, Diag::NotSupportedYet, "tl." + name);
}

} // namespace tk::lang
