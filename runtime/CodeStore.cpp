// See CodeStore.h. An entry is text and then the code's bytes:
//
//   tkc-code 1
//   kind 0                      CompiledCode::Kind
//   file 10 softmax.tk          length and name, as messages had it
//   function softmax 12 30      first and last line; one line for each function
//   abi 312                     bytes of the text that follows (KernelAbi.h)
//   ...
#include "runtime/CodeStore.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/device/cpu/HostFeatures.h"
#include <charconv>
#include <chrono>
#include <fmt/format.h>

namespace tk::runtime {

namespace {
constexpr std::string_view versionLine = "tkc-code 1\n";

/// Takes an entry's text apart; once something is missing, nothing more is found.
class Reader {
public:
  explicit Reader(std::string_view text) : rest(text) {}
  bool good = true;

  bool skip(std::string_view expected) {
    bool here = rest.substr(0, expected.size()) == expected;
    if (here)
      rest.remove_prefix(expected.size());
    return here;
  }
  void expect(std::string_view expected) { good = good && skip(expected); }
  /// Digits and the one character after them.
  size_t number(char end) {
    size_t value = 0;
    auto [last, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    good = good && code == std::errc() && last != rest.data() + rest.size() && *last == end;
    if (good)
      rest.remove_prefix(static_cast<size_t>(last - rest.data()) + 1);
    return good ? value : 0;
  }
  std::string take(size_t count) {
    good = good && count <= rest.size();
    if (!good)
      return "";
    std::string result(rest.substr(0, count));
    rest.remove_prefix(count);
    return result;
  }
  std::string word() { return take(good ? std::min(rest.find(' '), rest.size()) : 0); }
  std::string remaining() { return std::string(rest); }

private:
  std::string_view rest;
};

void addFunctions(ContentHash &hash, const Argument *argument, const ModuleDescription &module) {
  if (!argument)
    return;
  if (argument->kind == Argument::Kind::Tuple)
    for (uint64_t i = 0; i < argument->bits; ++i)
      addFunctions(hash, &argument->elements[i], module);
  if (argument->kind == Argument::Kind::Function)
    for (const FunctionLines &function : module.functions)
      if (function.name == argument->text)
        hash.add(function.closure);
}
} // namespace

std::string CodeStore::keyOf(const BoundLaunch &bound) const {
  ContentHash hash;
  hash.add(compilerIdentity());
  hash.add(kernel.name), hash.add(kernel.closure);
  hash.add(bound.key.view().substr(sizeof(uint64_t))); // without the device's address
  for (size_t i = 0; i < bound.arguments.size(); ++i)
    addFunctions(hash, bound.arguments[i], module.description);
  if (device) {
    hash.add(device->properties().architecture);
    hash.add(device->assemblerIdentity());
  } else {
    hash.add(hostFeatures());
  }
  return hash.hex();
}

std::string CodeStore::pack(const CompiledCode &code) const {
  std::string text = fmt::format("{}kind {}\nfile {} {}\n", versionLine, static_cast<unsigned>(code.kind), module.name.size(), module.name);
  for (const FunctionLines &function : module.description.functions)
    text += fmt::format("function {} {} {}\n", function.name, function.first, function.last);
  std::string abi = toText(code.abi);
  text += fmt::format("abi {}\n{}", abi.size(), abi);
  return text + code.bytes;
}

std::optional<Obtained> CodeStore::unpack(const std::string &bytes) const {
  Reader reader(bytes);
  reader.expect(versionLine), reader.expect("kind ");
  size_t kind = reader.number('\n');
  reader.expect("file ");
  std::string file = reader.take(reader.number(' '));
  reader.expect("\n");
  std::vector<FunctionLines> before;
  while (reader.good && reader.skip("function ")) {
    FunctionLines &function = before.emplace_back();
    function.name = reader.word();
    reader.expect(" ");
    function.first = static_cast<unsigned>(reader.number(' ')), function.last = static_cast<unsigned>(reader.number('\n'));
  }
  reader.expect("abi ");
  std::string abi = reader.take(reader.number('\n'));
  Obtained result;
  std::string error;
  if (!reader.good || kind > static_cast<size_t>(CompiledCode::Kind::Cubin) || !parseKernelAbi(abi, result.code.abi, error))
    return std::nullopt;
  result.code.kind = static_cast<CompiledCode::Kind>(kind);
  if ((result.code.kind == CompiledCode::Kind::SharedObject) != (device == nullptr))
    return std::nullopt;
  result.code.bytes = reader.remaining();
  result.lines = LineMap(file, before, module.name, module.description.functions);
  result.lines.move(result.code.abi.file, result.code.abi.line);
  for (PrintSite &site : result.code.abi.printSites)
    result.lines.move(site.file, site.line);
  return result;
}

CompiledCode CodeStore::compile(const BoundLaunch &bound) const {
  CompileRequest request;
  request.kernel = kernel.name;
  request.arguments = bound.arguments.data(), request.count = bound.arguments.size();
  request.rules = &bound.rules;
  request.options = bound.options;
  request.architecture = device ? device->properties().architecture : 0;
  CompiledCode code = module.front().compile(request);
  if (device && code.kind == CompiledCode::Kind::Ptx) {
    GpuImage image = device->assemble({GpuImage::Kind::Ptx, std::move(code.bytes)}, code.abi);
    code.kind = image.kind == GpuImage::Kind::Ptx ? CompiledCode::Kind::Ptx : CompiledCode::Kind::Cubin;
    code.bytes = std::move(image.bytes);
  }
  return code;
}

Obtained CodeStore::obtain(const BoundLaunch &bound, CompileReport &report) {
  auto start = std::chrono::steady_clock::now();
  DiskCache *cache = DiskCache::process();
  std::string key = cache ? keyOf(bound) : "";
  std::optional<Obtained> result;
  if (cache)
    if (std::optional<std::string> found = cache->find("code", key))
      result = unpack(*found);
  report.source = result ? CompileReport::Source::DiskCache : CompileReport::Source::Compiled;
  if (!result) {
    result.emplace();
    result->code = compile(bound);
    if (cache)
      cache->publish("code", key, pack(result->code),
                     fmt::format("{} {} {}", kernel.name, device ? fmt::format("sm_{}", device->properties().architecture) : "cpu", report.specialization));
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.codeBytes = result->code.bytes.size();
  return std::move(*result);
}

} // namespace tk::runtime
