// The arguments of one run of a kernel: from the command line, an @tk.example and the parameters' defaults to values.
//
// Every argument is an expression that may use the others, in any order, so they are worked out on demand; a cycle is an error. Arrays are described here
// (type, shape, where their contents come from) and filled later, when a launch needs them.
#pragma once
#include "lang/sema/ParamSpecs.h"
#include "runtime/Initialise.h"
#include "runtime/LaunchOptions.h"
#include "runtime/jit/Program.h"
#include "tk/array.h"
#include <array>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tk::tool {

/// An array that an argument stands for. ArrayValue::handle points to it; arguments that name the same array share it.
struct ArrayArgument {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::string path;                 // contents from this file, or
  runtime::Initializer initializer; // from this
  Array array;                      // empty until allocate()
  void allocate(runtime::ThreadPool *pool);
};

struct ResolvedArgument {
  lang::ConstValue value;    // arrays are ArrayValues with a handle
  std::optional<DType> type; // `1:i64`
};

class ArgumentResolver {
public:
  /// `given`: NAME and VALUE pairs of the command line. `example`: an @tk.example of the kernel, or null. Throws Failure(Usage) for names that are no
  /// parameters.
  ArgumentResolver(const jit::Program &program, const lang::ast::Function &kernel, const std::vector<std::pair<std::string, std::string>> &given,
                   const lang::ast::Call *example);
  ~ArgumentResolver();

  /// Parameters that may be without a value: configurations or heuristics give it with the launch. resolve() leaves None in their place.
  void leaveOpen(const std::vector<std::string> &names);
  /// Whether the command line, the example or a default says what the parameter is.
  bool hasValue(const std::string &name) const;
  /// One per parameter, in order. Throws Failure.
  const std::vector<ResolvedArgument> &resolve();
  /// The launch options among what is given and in the example. Throws Failure.
  runtime::LaunchOptions launchOptions();
  /// The arrays that resolve() met, each once.
  const std::vector<std::shared_ptr<ArrayArgument>> &arrays() const { return arrayList; }
  /// The grid from `text` (of --grid) or, when it is empty, from the example's `grid=` or the kernel's @tk.grid. Throws Failure.
  std::array<int64_t, 3> grid(const std::string &text, const lang::KernelDecorators &decorators);
  /// "x=fp32[4096,1000] n=1000", for people.
  std::string describe() const;

private:
  struct Source;
  enum class State : uint8_t { Waiting, Active, Done };

  void work(size_t index);
  lang::ConstValue workOut(size_t index);
  lang::ConstValue fromCommandLine(size_t index);
  lang::ConstValue initialised(size_t index);
  lang::ConstValue file(size_t index);
  lang::ConstValue bareWord(size_t index, const std::string &word, bool &isWord);
  lang::ConstValue withArrays(const lang::ConstValue &value, const std::string &name);
  lang::ConstValue arrayValue(std::shared_ptr<ArrayArgument> array);
  std::optional<lang::ConstValue> evaluate(const lang::ast::Expr &expr, const lang::SourceFile &file, bool isOfProgram);
  lang::ConstValue evaluateText(const std::string &text, const std::string &title, size_t column = 0);
  std::optional<lang::ConstValue> lookup(const std::string &name);
  std::vector<std::string> parameterNames() const;
  [[noreturn]] void fail(size_t index, const std::string &why) const;

  /// A text of the command line; lambdas among the values refer to its tree.
  struct ParsedText {
    std::unique_ptr<lang::SourceFile> file;
    lang::ast::ExprPtr expr;
  };

  const jit::Program &program;
  const lang::ast::Function &kernel;
  std::list<ParsedText> texts;
  std::vector<Source> sources;
  std::vector<std::pair<std::string, std::string>> givenOptions;
  std::vector<const lang::ast::Keyword *> exampleOptions;
  const lang::ast::Expr *exampleGrid = nullptr;
  std::vector<State> states;
  std::vector<ResolvedArgument> results;
  std::vector<size_t> active; // the arguments that are being worked out, outermost first
  std::exception_ptr failure; // the first one, while expressions are being evaluated (they can't be unwound)
  std::vector<std::shared_ptr<ArrayArgument>> arrayList;
};

/// The specs of a kernel's parameters for resolved arguments. Throws Failure.
std::vector<lang::ParamSpec> specsOf(const jit::Program &program, const lang::ast::Function &kernel, const lang::KernelDecorators &decorators,
                                     const std::vector<ResolvedArgument> &arguments);

} // namespace tk::tool
