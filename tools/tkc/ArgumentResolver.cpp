// See ArgumentResolver.h.
#include "tools/tkc/ArgumentResolver.h"
#include "lang/syntax/Parser.h"
#include "runtime/Npy.h"
#include "tk/error.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/ValueText.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tk::tool {

using lang::ConstValue;

void ArrayArgument::allocate(runtime::ThreadPool *pool) {
  if (!path.empty()) {
    array = Array::load(path, &dtype);
  } else {
    array = Array(dtype, shape);
    runtime::fill(array, initializer, pool);
  }
}

/// Where a parameter's value comes from; the first that is there counts.
struct ArgumentResolver::Source {
  std::optional<std::string> given;
  const lang::ast::Expr *example = nullptr;
  const lang::ast::Expr *defaultValue = nullptr;
  bool isConstexpr = false, isOpen = false;
  bool isThere() const { return given || example || defaultValue; }
};

ArgumentResolver::~ArgumentResolver() = default;

ArgumentResolver::ArgumentResolver(const jit::Program &program, const lang::ast::Function &kernel,
                                   const std::vector<std::pair<std::string, std::string>> &given, const lang::ast::Call *example)
    : program(program), kernel(kernel), sources(kernel.params.size()), states(kernel.params.size(), State::Waiting), results(kernel.params.size()) {
  lang::Diagnostics diagnostics;
  auto indexOf = [&](const std::string &name) {
    size_t i = 0;
    while (i < kernel.params.size() && kernel.params[i].name != name)
      ++i;
    return i;
  };
  auto unknown = [&](const std::string &name) {
    std::string near = lang::nearest(name, parameterNames());
    return fmt::format("`{}` has no parameter `{}`{}", kernel.name, name,
                       near.empty() ? fmt::format(": it has {}", fmt::join(parameterNames(), ", ")) : fmt::format("; did you mean `{}`?", near));
  };
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    sources[i].defaultValue = kernel.params[i].defaultValue.get();
    std::optional<lang::Annotation> annotation = lang::annotationOf(program.scope(), kernel.params[i], diagnostics);
    sources[i].isConstexpr = annotation && annotation->isConstexpr;
  }
  if (diagnostics.hasErrors())
    throw Failure(Status::Diagnostics, diagnostics.render());
  for (const auto &[name, value] : given) {
    size_t i = indexOf(name);
    if (i == sources.size()) {
      if (!runtime::LaunchOptions::has(name))
        throw Failure(Status::Usage, unknown(name));
      givenOptions.emplace_back(name, value);
      continue;
    }
    if (sources[i].given)
      throw Failure(Status::Usage, fmt::format("argument `{}` is given twice", name));
    sources[i].given = value;
  }
  if (!example)
    return;
  auto place = [&](lang::SourceRange range) {
    lang::LineColumn at = program.scope().file().position(range.begin);
    return fmt::format("{}:{}:{}", program.scope().file().name(), at.line, at.column);
  };
  for (const lang::ast::Keyword &keyword : example->keywords) {
    size_t i = indexOf(keyword.name);
    if (i < sources.size())
      sources[i].example = keyword.value.get();
    else if (keyword.name == "grid")
      exampleGrid = keyword.value.get();
    else if (runtime::LaunchOptions::has(keyword.name))
      exampleOptions.push_back(&keyword);
    else
      throw Failure(Status::Diagnostics, fmt::format("{}: error: the example: {}\n", place(keyword.nameRange), unknown(keyword.name)));
  }
  if (!example->args.empty())
    throw Failure(Status::Diagnostics, fmt::format("{}: error: an example gives its values by name, as in `n=1000`\n", place(example->args[0]->range)));
}

std::vector<std::string> ArgumentResolver::parameterNames() const {
  std::vector<std::string> names;
  for (const lang::ast::Parameter &parameter : kernel.params)
    names.push_back(parameter.name);
  return names;
}

void ArgumentResolver::fail(size_t index, const std::string &why) const {
  throw Failure(Status::Usage, fmt::format("argument `{}`: {}", kernel.params[index].name, why));
}

runtime::LaunchOptions ArgumentResolver::launchOptions() {
  runtime::LaunchOptions options;
  auto set = [&](const std::string &name, const ConstValue &value, Status status) {
    std::optional<int64_t> number = value.get<bool>() ? std::optional<int64_t>(*value.get<bool>()) : value.asInt64();
    std::string wrong = number ? options.set(name, *number) : fmt::format("must be an integer, found {}", value.repr());
    if (!wrong.empty())
      throw Failure(status, fmt::format("launch option `{}` {}", name, wrong));
  };
  for (const lang::ast::Keyword *keyword : exampleOptions)
    set(keyword->name, *evaluate(*keyword->value, program.scope().file(), true), Status::Diagnostics);
  for (const auto &[name, text] : givenOptions)
    set(name, evaluateText(text, fmt::format("launch option `{}`", name)), Status::Usage);
  return options;
}

void ArgumentResolver::leaveOpen(const std::vector<std::string> &names) {
  for (size_t i = 0; i < sources.size(); ++i)
    sources[i].isOpen |= std::find(names.begin(), names.end(), kernel.params[i].name) != names.end();
}

bool ArgumentResolver::hasValue(const std::string &name) const {
  for (size_t i = 0; i < sources.size(); ++i)
    if (kernel.params[i].name == name)
      return sources[i].isThere();
  return false;
}

const std::vector<ResolvedArgument> &ArgumentResolver::resolve() {
  for (size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].isOpen || sources[i].isThere())
      work(i);
  return results;
}

void ArgumentResolver::work(size_t index) {
  if (states[index] == State::Done)
    return;
  if (states[index] == State::Active) {
    std::string cycle;
    bool given = false; // on the command line, not in the file
    for (auto it = std::find(active.begin(), active.end(), index); it != active.end(); ++it) {
      cycle += fmt::format("`{}` needs ", kernel.params[*it].name);
      given |= static_cast<bool>(sources[*it].given);
    }
    throw Failure(given ? Status::Usage : Status::Diagnostics, fmt::format("arguments depend on each other: {}`{}`", cycle, kernel.params[index].name));
  }
  states[index] = State::Active;
  active.push_back(index);
  results[index].value = withArrays(workOut(index), kernel.params[index].name);
  active.pop_back();
  states[index] = State::Done;
}

ConstValue ArgumentResolver::workOut(size_t index) {
  const Source &source = sources[index];
  if (source.given)
    return fromCommandLine(index);
  const lang::ast::Expr *expr = source.example ? source.example : source.defaultValue;
  if (!expr && source.isOpen)
    throw Failure(Status::Usage, fmt::format("parameter `{}` of `{}` is chosen by a configuration, so that no other argument can depend on it",
                                             kernel.params[index].name, kernel.name));
  if (!expr)
    throw Failure(Status::Usage, fmt::format("parameter `{}` of `{}` has no value: give `{}=VALUE`, an @tk.example or a default", kernel.params[index].name,
                                             kernel.name, kernel.params[index].name));
  return *evaluate(*expr, program.scope().file(), true);
}

std::optional<ConstValue> ArgumentResolver::lookup(const std::string &name) {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (kernel.params[i].name != name)
      continue;
    // The evaluator is compiled without exceptions: the failure waits until it has returned.
    if (!failure) {
      try {
        work(i);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    return failure ? ConstValue() : results[i].value;
  }
  return std::nullopt;
}

std::optional<ConstValue> ArgumentResolver::evaluate(const lang::ast::Expr &expr, const lang::SourceFile &file, bool isOfProgram) {
  lang::Diagnostics diagnostics;
  lang::HostEvaluator evaluator(&program.scope(), diagnostics);
  evaluator.locals = [&](const std::string &name) -> std::optional<ConstValue> {
    if (std::optional<ConstValue> value = lookup(name))
      return value;
    if (isOfProgram || program.scope().lookup(name, diagnostics))
      return std::nullopt;
    if (name == "true" || name == "false")
      return ConstValue(name == "true");
    if (name == "none")
      return ConstValue();
    if (name == "inf" || name == "nan")
      return ConstValue(name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
    return std::nullopt;
  };
  std::optional<ConstValue> value = evaluator.evaluate(expr, file);
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
  if (!value)
    throw Failure(isOfProgram ? Status::Diagnostics : Status::Usage, diagnostics.render());
  return value;
}

ConstValue ArgumentResolver::evaluateText(const std::string &text, const std::string &title, size_t column) {
  ParsedText &parsed = texts.emplace_back();
  parsed.file = std::make_unique<lang::SourceFile>(title, std::string(column, ' ') + text);
  const lang::SourceFile &file = *parsed.file;
  lang::Diagnostics diagnostics;
  lang::ast::ExprPtr &expr = parsed.expr;
  expr = lang::parseExpression(file, diagnostics);
  if (!expr)
    throw Failure(Status::Usage, diagnostics.render());
  if (auto *list = lang::ast::dyn<lang::ast::List>(expr.get()))
    for (const lang::ast::ExprPtr &element : list->elements)
      if (auto *name = lang::ast::dyn<lang::ast::Name>(element.get()))
        if (std::optional<ConstValue> value = lookup(name->id); !failure && value && value->asArray())
          throw Failure(Status::Usage, fmt::format("{}: pointer tables are not supported yet", title));
  if (auto *subscript = lang::ast::dyn<lang::ast::Subscript>(expr.get()); subscript && lang::ast::dyn<lang::ast::Name>(subscript->value.get()))
    if (std::optional<ConstValue> value = lookup(lang::ast::as<lang::ast::Name>(*subscript->value).id); !failure && value && value->asArray())
      throw Failure(Status::Usage, fmt::format("{}: views of arrays are not supported yet", title));
  if (auto *call = lang::ast::dyn<lang::ast::Call>(expr.get()))
    if (auto *name = lang::ast::dyn<lang::ast::Name>(call->callee.get()); name && name->id == "desc")
      throw Failure(Status::Usage, fmt::format("{}: descriptors are not supported yet", title));
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
  return *evaluate(*expr, file, false);
}

namespace {
bool isIdentifier(const std::string &text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}
bool isInitialiser(const std::string &kind) {
  static constexpr std::string_view kinds[] = {"zeros", "ones", "rand", "randn", "arange", "randint", "full"};
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}
} // namespace

/// `MODE=fast`: a word that names nothing is a string where a compile-time value is wanted.
ConstValue ArgumentResolver::bareWord(size_t index, const std::string &word, bool &isWord) {
  const Source &source = sources[index];
  auto *literal = lang::ast::dyn<lang::ast::Constant>(source.defaultValue);
  isWord = false;
  if (!isIdentifier(word) || !(source.isConstexpr || (literal && literal->type == lang::ast::Constant::String)))
    return ConstValue();
  lang::SourceFile file("", word);
  lang::Diagnostics quiet;
  lang::ast::ExprPtr expr = lang::parseExpression(file, quiet);
  std::vector<std::string> names = program.scope().names(), parameters = parameterNames();
  names.insert(names.end(), parameters.begin(), parameters.end());
  if (!expr || word == "true" || word == "false" || word == "none" || word == "inf" || word == "nan" ||
      std::find(names.begin(), names.end(), word) != names.end() || !lang::nearest(word, names).empty() ||
      lang::HostEvaluator(&program.scope(), quiet).evaluate(*expr, file))
    return ConstValue();
  isWord = true;
  return ConstValue::string(word);
}

ConstValue ArgumentResolver::fromCommandLine(size_t index) {
  const std::string &name = kernel.params[index].name;
  ValueText value = parseValueText(name, *sources[index].given);
  if (value.form == ValueText::File)
    return file(index);
  if (value.form == ValueText::Initialised)
    return initialised(index);
  bool isWord = false;
  ConstValue word = bareWord(index, value.text, isWord);
  if (isWord)
    return word;
  ConstValue result = evaluateText(value.text, fmt::format("argument `{}`", name));
  auto *builtin = result.get<lang::BuiltinValue>();
  if ((builtin && builtin->name.starts_with("init.")) || (result.asInit() && !result.asInit()->hasShape))
    fail(index, fmt::format("an array needs a dtype and a shape, as in `{}:fp32[512,1000]`", value.text));
  if (value.type) {
    if (!result.get<bool>() && !result.get<lang::BigInt>() && !result.get<double>())
      fail(index, fmt::format("`:{}` types a number, found {}", spelling(*value.type), result.repr()));
    if (!lang::scalarBits(result, *value.type) && *value.type != DType::F8E4B15)
      fail(index, fmt::format("{} is out of range of {}", result.repr(), spelling(*value.type)));
    results[index].type = value.type;
  }
  return result;
}

ConstValue ArgumentResolver::initialised(size_t index) {
  const std::string &name = kernel.params[index].name;
  ValueText text = parseValueText(name, *sources[index].given);
  auto init = std::make_shared<lang::InitValue>();
  if (isInitialiser(text.text)) {
    init->kind = text.text;
  } else {
    ConstValue value = evaluateText(text.text, fmt::format("argument `{}`", name));
    if (!value.asInit())
      fail(index, fmt::format("`{}` is no initialiser: expected zeros, ones, rand, randn, arange, randint(lo, hi) or full(value) before `:{}`", text.text,
                              spelling(*text.type)));
    *init = *value.asInit();
  }
  ConstValue shape = evaluateText(text.shape, fmt::format("argument `{}`", name), text.shapeColumn);
  for (const ConstValue &extent : shape.asTuple() ? shape.asTuple()->elements : std::vector<ConstValue>{shape}) {
    std::optional<int64_t> size = extent.get<lang::BigInt>() ? extent.asInt64() : std::nullopt;
    if (!size || *size < 0)
      fail(index, fmt::format("an extent must be an integer of at least 0, found {}", extent.repr()));
    init->shape.push_back(*size);
  }
  init->dtype = *text.type, init->hasShape = true;
  return ConstValue(std::shared_ptr<const lang::InitValue>(std::move(init)));
}

ConstValue ArgumentResolver::file(size_t index) {
  ValueText text = parseValueText(kernel.params[index].name, *sources[index].given);
  auto array = std::make_shared<ArrayArgument>();
  array->name = kernel.params[index].name;
  array->path = text.text;
  try {
    runtime::NpyHeader header = runtime::readNpyHeader(text.text);
    array->dtype = runtime::npyDType(header, text.text, text.type ? &*text.type : nullptr);
    array->shape = header.shape;
  } catch (const Error &error) {
    fail(index, error.what());
  }
  return arrayValue(std::move(array));
}

ConstValue ArgumentResolver::arrayValue(std::shared_ptr<ArrayArgument> array) {
  auto value = std::make_shared<lang::ArrayValue>();
  value->dtype = array->dtype, value->shape = array->shape, value->name = array->name;
  uint64_t stride = 1;
  value->strides.resize(array->shape.size());
  for (size_t i = array->shape.size(); i-- > 0; stride *= static_cast<uint64_t>(array->shape[i]))
    value->strides[i] = static_cast<int64_t>(stride);
  arrayList.push_back(array);
  value->handle = std::move(array);
  return ConstValue(std::shared_ptr<const lang::ArrayValue>(std::move(value)));
}

/// Initialisers become arrays, also inside tuples.
ConstValue ArgumentResolver::withArrays(const ConstValue &value, const std::string &name) {
  if (auto *init = value.asInit()) {
    if (!init->hasShape)
      throw Failure(Status::Usage, fmt::format("argument `{}`: `{}` has no dtype and shape, as in `{}(fp32, [512, 1000])`", name, init->kind, init->kind));
    auto array = std::make_shared<ArrayArgument>();
    array->name = name, array->dtype = init->dtype, array->shape = init->shape;
    try {
      array->initializer =
          runtime::makeInitializer(init->kind, init->parameters, init->seed < 0 ? runtime::seedOfName(name) : static_cast<uint64_t>(init->seed));
    } catch (const Error &error) {
      throw Failure(Status::Usage, fmt::format("argument `{}`: {}", name, error.what()));
    }
    return arrayValue(std::move(array));
  }
  if (auto *tuple = value.asTuple()) {
    std::vector<ConstValue> elements;
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      elements.push_back(withArrays(tuple->elements[i], fmt::format("{}[{}]", name, i)));
    return ConstValue::tuple(std::move(elements), tuple->isList);
  }
  return value;
}

std::array<int64_t, 3> ArgumentResolver::grid(const std::string &text, const lang::KernelDecorators &decorators) {
  resolve();
  std::vector<ConstValue> extents;
  if (!text.empty())
    extents.push_back(evaluateText(text, "option `--grid`"));
  else if (exampleGrid)
    extents.push_back(*evaluate(*exampleGrid, program.scope().file(), true));
  else if (decorators.hasGrid)
    for (const lang::ast::Expr *expr : decorators.grid)
      extents.push_back(*evaluate(*expr, program.scope().file(), true));
  else
    throw Failure(Status::Usage, fmt::format("`{}` has no grid: give `--grid EXPRS`, or decorate it with @tk.grid", kernel.name));
  if (extents.size() == 1 && extents[0].get<lang::FunctionValue>()) { // a lambda of the arguments, as launchers have it
    ConstValue::Dict arguments;
    for (size_t i = 0; i < results.size(); ++i)
      arguments.emplace_back(ConstValue::string(kernel.params[i].name), results[i].value);
    lang::Diagnostics diagnostics;
    lang::HostEvaluator evaluator(&program.scope(), diagnostics);
    evaluator.locals = [&](const std::string &name) { return lookup(name); };
    std::optional<ConstValue> called =
        evaluator.call(extents[0], {ConstValue(std::shared_ptr<const ConstValue::Dict>(std::make_shared<ConstValue::Dict>(std::move(arguments))))},
                       {&program.scope().file(), kernel.nameRange});
    if (!called)
      throw Failure(Status::Diagnostics, diagnostics.render());
    extents[0] = *called;
  }
  if (extents.size() == 1 && extents[0].asTuple())
    extents = std::vector<ConstValue>(extents[0].asTuple()->elements);
  if (extents.empty() || extents.size() > 3)
    throw Failure(Status::Usage, fmt::format("a grid has one to three extents, found {}", extents.size()));
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (size_t i = 0; i < extents.size(); ++i) {
    std::optional<int64_t> extent = extents[i].get<lang::BigInt>() ? extents[i].asInt64() : std::nullopt;
    if (!extent || *extent < 0 || *extent > INT32_MAX)
      throw Failure(Status::Usage, fmt::format("extent {} of the grid must be an integer from 0 to 2^31 - 1, found {}", i, extents[i].repr()));
    grid[i] = *extent;
  }
  return grid;
}

std::string ArgumentResolver::describe() const {
  std::string text;
  for (size_t i = 0; i < results.size(); ++i) {
    if (states[i] != State::Done)
      continue; // left open
    const ConstValue &value = results[i].value;
    std::string shown = value.asArray() ? fmt::format("{}[{}]", spelling(value.asArray()->dtype), fmt::join(value.asArray()->shape, ",")) : value.repr();
    if (shown.size() > 60)
      shown = shown.substr(0, 57) + "...";
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", kernel.params[i].name, shown);
    if (results[i].type)
      text += fmt::format(":{}", spelling(*results[i].type));
  }
  return text;
}

} // namespace tk::tool
