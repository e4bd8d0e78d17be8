// Parses and runs the tests' kernels.
#include "Kernel.h"
#include "compiler/interpret/Interpreter.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

namespace tk::interpret::test {

struct Kernel::Impl {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

Kernel::Kernel(const std::string &text, const std::string &fileName) : impl(std::make_unique<Impl>()) {
  impl->context.loadDialect<tt::TTDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  impl->module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&impl->context), fileName);
  INFO(text);
  REQUIRE(impl->module);
}

Kernel::~Kernel() = default;

Result Kernel::run(const Launch &launch) { return interpret::run(*impl->module, "k", launch); }

std::string elementwise(const std::vector<std::string> &inputs, const std::string &output, size_t count, std::string body) {
  std::string parameters, loads, tensor = fmt::format("tensor<{}x", count);
  for (size_t i = 0; i < inputs.size(); ++i) {
    parameters += fmt::format("%x{}: !tt.ptr<{}>, ", i, inputs[i]);
    loads += fmt::format("%s{0} = tt.splat %x{0} : !tt.ptr<{1}> -> {2}!tt.ptr<{1}>>\n"
                         "%p{0} = tt.addptr %s{0}, %range : {2}!tt.ptr<{1}>>, {2}i32>\n"
                         "%{0} = tt.load %p{0} : {2}!tt.ptr<{1}>>\n",
                         i, inputs[i], tensor);
  }
  for (size_t at; (at = body.find('@')) != std::string::npos;) {
    size_t end = at + 1;
    while (end < body.size() && std::isalnum(body[end]))
      ++end;
    body = body.substr(0, at) + tensor + body.substr(at + 1, end - at - 1) + ">" + body.substr(end);
  }
  return fmt::format("tt.func public @k({0}%out: !tt.ptr<{1}>) {{\n%range = tt.make_range {{start = 0 : i32, end = {2} : i32}} : {3}i32>\n{4}{5}\n"
                     "%so = tt.splat %out : !tt.ptr<{1}> -> {3}!tt.ptr<{1}>>\n"
                     "%po = tt.addptr %so, %range : {3}!tt.ptr<{1}>>, {3}i32>\ntt.store %po, %r : {3}!tt.ptr<{1}>>\ntt.return\n}}",
                     parameters, output, count, tensor, loads, body);
}

std::string reshaping(const std::string &input, size_t inputs, const std::string &output, size_t outputs, const std::string &body) {
  return fmt::format(R"(tt.func public @k(%x: !tt.ptr<{0}>, %out: !tt.ptr<{2}>) {{
    %ri = tt.make_range {{start = 0 : i32, end = {1} : i32}} : tensor<{1}xi32>
    %si = tt.splat %x : !tt.ptr<{0}> -> tensor<{1}x!tt.ptr<{0}>>
    %pi = tt.addptr %si, %ri : tensor<{1}x!tt.ptr<{0}>>, tensor<{1}xi32>
    %0 = tt.load %pi : tensor<{1}x!tt.ptr<{0}>>
    {4}
    %ro = tt.make_range {{start = 0 : i32, end = {3} : i32}} : tensor<{3}xi32>
    %so = tt.splat %out : !tt.ptr<{2}> -> tensor<{3}x!tt.ptr<{2}>>
    %po = tt.addptr %so, %ro : tensor<{3}x!tt.ptr<{2}>>, tensor<{3}xi32>
    tt.store %po, %r : tensor<{3}x!tt.ptr<{2}>>
    tt.return
  }})",
                     input, inputs, output, outputs, body);
}

} // namespace tk::interpret::test
