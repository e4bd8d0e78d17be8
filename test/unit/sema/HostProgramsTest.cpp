// Host expressions as programs: they give what the evaluator of the front end gives, on whatever arguments.
#include "lang/sema/HostPrograms.h"
#include "ModuleText.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/ParamSpecs.h"
#include "runtime/StackProgram.h"
#include "runtime/program/Program.h"
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <random>

using namespace tk;
using namespace tk::lang;

namespace {
/// One argument, for the program and for the evaluator.
struct Value {
  Argument argument;
  ConstValue constant;
};

Value none() { return {Argument(), ConstValue()}; }
Value of(bool value) { return {Argument(value), ConstValue(value)}; }
Value of(int64_t value) { return {Argument(value), ConstValue::integer(value)}; }
Value of(double value) { return {Argument(value), ConstValue(value)}; }
Value array() { return {Argument::pointer(nullptr, DType::F32), ConstValue(std::shared_ptr<const ArrayValue>(std::make_shared<ArrayValue>()))}; }

int64_t anyInteger(std::mt19937_64 &random) {
  switch (random() % 6) {
  case 0: return static_cast<int64_t>(random());
  case 1: return static_cast<int64_t>((uint64_t(1) << random() % 64) + random() % 3 - 1);
  case 2: return static_cast<int64_t>(random()) >> random() % 64;
  default: return static_cast<int64_t>(random() % 41) - 20;
  }
}

Value anyValue(std::mt19937_64 &random) {
  static const double floats[] = {0.0, -0.0, 0.5, -1.5, 3.0, 1e9, 1e300, -1e19, 9007199254740993.0, INFINITY, std::nan("")};
  switch (random() % 12) {
  case 0: return none();
  case 1: return of(random() % 2 == 0);
  case 2: return array();
  case 3: return of(floats[random() % std::size(floats)]);
  default: return of(anyInteger(random));
  }
}

/// The evaluator's way: an expression over the parameters; a function gets all arguments by name.
std::optional<ConstValue> evaluated(const ModuleText &module, const ast::Function &kernel, const ast::Expr &expr, const SourceFile &file,
                                    const std::vector<Value> &values) {
  Diagnostics quiet;
  HostEvaluator evaluator(&module.scope, quiet);
  evaluator.locals = [&](const std::string &name) -> std::optional<ConstValue> {
    for (size_t i = 0; i < values.size(); ++i)
      if (kernel.params[i].name == name)
        return values[i].constant;
    return std::nullopt;
  };
  std::optional<ConstValue> value = evaluator.evaluate(expr, file);
  if (!value || !value->get<FunctionValue>())
    return value;
  ConstValue::Dict arguments;
  for (size_t i = 0; i < values.size(); ++i)
    arguments.emplace_back(ConstValue::string(kernel.params[i].name), values[i].constant);
  return evaluator.call(*value, {ConstValue(std::make_shared<const ConstValue::Dict>(std::move(arguments)))}, {&file, expr.range});
}

std::string shown(const TkProgramValue &value) {
  switch (value.kind) {
  case TkValueBool: return value.integer ? "True" : "False";
  case TkValueInt: return fmt::format("{}", value.integer);
  case TkValueFloat: return std::isnan(value.number) ? "nan" : fmt::format("{:a}", value.number);
  case TkValueOther: return "array";
  default: return "None";
  }
}
std::string shown(const ConstValue &value) {
  if (auto *number = value.get<double>())
    return std::isnan(*number) ? "nan" : fmt::format("{:a}", *number);
  return value.asArray() ? "array" : value.repr();
}

struct Tally {
  unsigned compiled = 0, agreed = 0, refused = 0;
};

/// Runs both ways and compares.
void compare(const ModuleText &module, const ast::Function &kernel, const ast::Expr &expr, const SourceFile &file, const std::vector<Value> &values,
             const std::string &code, Tally &tally) {
  std::vector<TkProgramValue> arguments;
  std::string text;
  for (const Value &value : values) {
    const Argument &a = value.argument;
    TkProgramKind kinds[] = {TkValueNone, TkValueBool, TkValueInt, TkValueInt, TkValueFloat, TkValueOther};
    arguments.push_back({kinds[static_cast<size_t>(a.kind)], static_cast<int64_t>(a.bits), a.number()});
    text += shown(value.constant) + " ";
  }
  TkProgramValue results[TK_PROGRAM_STACK];
  TkProgramResult result =
      tkProgramRun(reinterpret_cast<const uint8_t *>(code.data()), code.size(), arguments.data(), arguments.size(), results, TK_PROGRAM_STACK);
  std::optional<ConstValue> expected = evaluated(module, kernel, expr, file, values);
  INFO(file.text() << "\non " << text << "\nstatus " << result.status);
  REQUIRE(result.status != TkProgramInvalid);
  if (result.status == TkProgramOverflow || result.status == TkProgramPower ||
      result.status == TkProgramBadArgument) { // the evaluator has no limit there, and compares arrays
    ++tally.refused;
  } else if (result.status != TkProgramOk) {
    ++tally.refused;
    REQUIRE(!expected.has_value());
  } else {
    ++tally.agreed;
    REQUIRE(expected.has_value());
    std::vector<ConstValue> elements = expected->asTuple() ? expected->asTuple()->elements : std::vector<ConstValue>{*expected};
    REQUIRE(elements.size() == result.count);
    for (size_t i = 0; i < elements.size(); ++i)
      REQUIRE(shown(results[i]) == shown(elements[i]));
  }
}

constexpr const char *text = R"(
import math
COUNT = 7
SCALE = tl.constexpr(3)
HALF = 0.5
PAIR = (4, 5)
def double(x):
    "twice"
    return x * 2
def ceil_to(x, m=COUNT + 1):
    q = cdiv(x, m)
    return q * m
def differ(x, y):
    if x > y:
        z = x - y
    else:
        z = y
    z += 1
    return z
def early(x):
    if x < 0:
        return -x
    elif x == 3:
        return COUNT
    return x
def pair(x, y=2):
    half = x // 2
    return half, y
def nothing(x):
    pass
square = lambda v: v * v
whole = lambda args: args["a"] + args["BLOCK"]
def of_all(args):
    return cdiv(args["a"], args["BLOCK"]), early(args["b"])
def k(a, b, c, d, BLOCK: constexpr):
    pass
)";
constexpr const char *parameters[] = {"a", "b", "c", "d", "BLOCK"};

/// Random expressions, as text.
struct Grower {
  std::mt19937_64 &random;
  bool byName; // inside a lambda of all the arguments

  std::string leaf() {
    static const char *constants[] = {"0",    "1",     "2",    "-3",    "8",     "128",  "1 << 40", "9223372036854775807", "0.5",    "1e10",
                                      "True", "False", "None", "COUNT", "SCALE", "HALF", "PAIR[1]", "len(\"abc\")",        "math.pi"};
    const char *name = parameters[random() % 5];
    if (random() % 3)
      return byName && random() % 2 ? fmt::format("args[\"{}\"]", name) : name;
    return fmt::format("({})", constants[random() % std::size(constants)]);
  }
  std::string expr(unsigned depth) {
    if (depth == 0 || random() % 6 == 0)
      return leaf();
    auto e = [&] { return expr(depth - 1); };
    static const char *binary[] = {"+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "**", "//", "+"};
    static const char *compare[] = {"<", "<=", ">", ">=", "==", "!=", "is", "is not"};
    static const char *unary[] = {"-", "+", "~", "not "};
    static const char *one[] = {"abs",    "int",   "float",  "bool",    "triton.next_power_of_2", "math.ceil", "math.floor",
                                "double", "early", "square", "nothing", "tl.constexpr",           "ceil_to",   "math.trunc"};
    static const char *two[] = {"min", "max", "cdiv", "triton.cdiv", "differ", "ceil_to", "tl.cdiv"};
    switch (random() % 14) {
    case 0:
    case 1:
    case 2:
    case 3: return fmt::format("({} {} {})", e(), binary[random() % std::size(binary)], e());
    case 4: return fmt::format("({} {} {})", e(), compare[random() % std::size(compare)], e());
    case 5: return fmt::format("({} {} {} {} {})", e(), compare[random() % 6], e(), compare[random() % 6], e());
    case 6: return fmt::format("({}{})", unary[random() % std::size(unary)], e());
    case 7: return fmt::format("{}({})", one[random() % std::size(one)], e());
    case 8:
    case 9: return fmt::format("{}({}, {})", two[random() % std::size(two)], e(), e());
    case 10: return fmt::format("({} {} {})", e(), random() % 2 ? "and" : "or", e());
    case 11: return fmt::format("({} if {} else {})", e(), e(), e());
    case 12: return fmt::format("({} {} ({}, {}))", e(), random() % 2 ? "in" : "not in", e(), e());
    default: return fmt::format("{}({}, {}, {})", random() % 2 ? "max" : "min", e(), e(), e());
    }
  }
};
} // namespace

TEST_CASE("programs agree with the evaluator") {
  ModuleText module(text);
  const ast::Function &kernel = module.function("k");
  std::mt19937_64 random(1);
  Tally tally;
  for (int i = 0; i < 12000; ++i) {
    Grower grower{random, random() % 3 == 0};
    std::string source = grower.expr(1 + static_cast<unsigned>(random() % 4));
    if (random() % 4 == 0)
      source = fmt::format("({}, {})", source, grower.expr(2));
    if (grower.byName)
      source = "lambda args: " + source;
    SourceFile file("expression", source);
    Diagnostics quiet;
    ast::ExprPtr expr = parseExpression(file, quiet);
    INFO(source);
    REQUIRE(expr);
    std::optional<std::string> code = compileHostExpression(module.scope, kernel, *expr);
    if (!code)
      continue;
    ++tally.compiled;
    for (int run = 0; run < 8; ++run) {
      std::vector<Value> values;
      for (size_t p = 0; p < 5; ++p)
        values.push_back(random() % 2 ? of(anyInteger(random)) : anyValue(random));
      compare(module, kernel, *expr, file, values, *code, tally);
    }
  }
  CHECK(tally.compiled > 10000); // what doesn't compile raises floats or is too long
  CHECK(tally.agreed > 20000);
  CHECK(tally.refused > 10000);
}

namespace {
/// The results on a = 100, b = -3, c = None, d = an array, BLOCK = 8; one program each.
std::string resultsOf(const std::string &source) {
  ModuleText module(text);
  const ast::Function &kernel = module.function("k");
  SourceFile file("expression", source);
  Diagnostics quiet;
  ast::ExprPtr expr = parseExpression(file, quiet);
  REQUIRE(expr);
  std::optional<std::vector<std::string>> programs = compileHostResults(module.scope, kernel, *expr);
  if (!programs)
    return "none";
  TkProgramValue arguments[] = {{TkValueInt, 100, 0}, {TkValueInt, -3, 0}, {TkValueNone, 0, 0}, {TkValueOther, 0, 0}, {TkValueInt, 8, 0}}, result;
  std::string results;
  for (const std::string &code : *programs) {
    REQUIRE(tkProgramRun(reinterpret_cast<const uint8_t *>(code.data()), code.size(), arguments, 5, &result, 1).status == TkProgramOk);
    results += (results.empty() ? "" : " ") + shown(result);
  }
  return results;
}
} // namespace

TEST_CASE("what grids look like") {
  CHECK(resultsOf("cdiv(a, BLOCK)") == "13");
  CHECK(resultsOf("(cdiv(a, BLOCK), 2)") == "13 2");
  CHECK(resultsOf("lambda meta: (triton.cdiv(meta['a'], meta['BLOCK']), )") == "13");
  CHECK(resultsOf("lambda meta: (a, meta['BLOCK'], 1) if meta['a'] > 3 else (1, 2, 3)") == "100 8 1");
  CHECK(resultsOf("lambda meta: pair(meta['a'])") == "50 2");
  CHECK(resultsOf("of_all") == "13 3");
  CHECK(resultsOf("whole") == "108");
  CHECK(resultsOf("lambda args: of_all(args)") == "13 3");
  CHECK(resultsOf("PAIR") == "4 5");
  CHECK(resultsOf("lambda args: args['c'] is not None and args['a'] % 16 == 0") == "False");
  CHECK(resultsOf("lambda args: args['d'] is not None") == "True");
  CHECK(resultsOf("lambda args: max(args['a'], 128, args['BLOCK'])") == "128");
  CHECK(resultsOf("math.ceil(a / BLOCK)") == "13");
  CHECK(resultsOf("1 < BLOCK < a") == "True");
  CHECK(resultsOf("BLOCK in (4, 8)") == "True");
  // And what is left to the evaluator.
  CHECK(resultsOf("d.shape[0]") == "none");
  CHECK(resultsOf("lambda meta: meta['other']") == "none");
  CHECK(resultsOf("lambda meta: (1, 2) if meta['a'] else (1, 2, 3)") == "none");
  CHECK(resultsOf("a ** 0.5") == "none");
  CHECK(resultsOf("a ** -1") == "none");
  CHECK(resultsOf("unknown(a)") == "none");
  CHECK(resultsOf("()") == "none");
  CHECK(resultsOf("[i for i in range(a)]") == "none");
}

TEST_CASE("recursion and size end") {
  ModuleText module("def f(x): return f(x - 1) if x else 0\ndef g(x): return f(x) + g(x) * g(x)\ndef k(n): pass\n");
  std::string sum = "n";
  for (int i = 0; i < 900; ++i)
    sum += " + (n * 3)";
  for (const std::string &source : {std::string("f(n)"), std::string("g(n)"), sum, std::string(150, '(') + "n" + std::string(150, ')')}) {
    SourceFile file("expression", source);
    Diagnostics quiet;
    ast::ExprPtr expr = parseExpression(file, quiet);
    REQUIRE(expr);
    std::optional<std::string> code = compileHostExpression(module.scope, module.function("k"), *expr);
    CHECK(code.has_value() == (source[0] == '('));
  }
}

TEST_CASE("the samples' grids") {
  std::mt19937_64 random(5);
  Tally tally;
  for (const auto &entry : std::filesystem::directory_iterator(TKC_SOURCE_DIR "/samples")) {
    if (entry.path().extension() != ".tk")
      continue;
    std::string error;
    std::shared_ptr<SourceFile> file = SourceFile::read(entry.path().string(), error);
    REQUIRE(file);
    ModuleText module(std::string(file->text()), entry.path().string());
    for (const ast::Function *kernel : module.scope.kernels())
      for (const ast::Expr *expr : decoratorsOf(module.scope, *kernel, module.diagnostics).grid) {
        std::optional<std::string> code = compileHostExpression(module.scope, *kernel, *expr);
        SourceRange range = expr->range;
        INFO(file->name() << " " << file->text().substr(range.begin, range.end - range.begin));
        CHECK(code.has_value() == (file->text().substr(range.begin, range.end - range.begin).find(".shape") == std::string_view::npos));
        for (int run = 0; code && run < 200; ++run) {
          std::vector<Value> values;
          for (size_t p = 0; p < kernel->params.size(); ++p)
            values.push_back(of(static_cast<int64_t>(1 + random() % 100000)));
          compare(module, *kernel, *expr, module.scope.file(), values, *code, tally);
        }
      }
  }
  CHECK(tally.agreed > 1000);
}
