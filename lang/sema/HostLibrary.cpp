// Host functions that call back (`sorted(key=...)`, `map`), those of Python's modules that build lists of configurations, and methods that change a variable.
#include "lang/sema/ConstText.h"
#include "lang/sema/HostRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace tk::lang {

using Result = HostRun::Result;

static constexpr size_t kMaxElements = 1u << 16;

std::string hostLibraryName(const std::string &name) {
  if (name == "Config")
    return "triton.Config";
  return llvm::is_contained({"sorted", "any", "all", "map", "filter", "dict", "set", "frozenset", "round", "divmod", "pow"}, name) ? "host." + name : "";
}

bool isHostLibrary(const std::string &name) {
  return name.rfind("host.", 0) == 0 || name.rfind("itertools.", 0) == 0 || name.rfind("copy.", 0) == 0 || name.rfind("os.", 0) == 0 ||
         llvm::is_contained({"triton.Config", "triton.runtime.get_current_target", "python.print", "python.getattr", "python.hasattr"}, name);
}

static ConstValue list(std::vector<ConstValue> elements) { return ConstValue::tuple(std::move(elements), true); }
static ConstValue dictValue(ConstValue::Dict dict) { return ConstValue(std::make_shared<const ConstValue::Dict>(std::move(dict))); }

static ConstValue named(std::vector<std::string> fields, std::vector<ConstValue> elements) {
  ConstValue plain = ConstValue::tuple(std::move(elements));
  auto tuple = std::make_shared<TupleValue>(*plain.asTuple());
  tuple->fields = std::move(fields);
  return ConstValue(std::shared_ptr<const TupleValue>(std::move(tuple)));
}

std::optional<ConstValue> makeConfig(const ConstCall &call, std::string &error) {
  std::vector<std::string> fields = {"kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override"};
  std::vector<ConstValue> elements = {ConstValue(), ConstValue::integer(4), ConstValue::integer(3), ConstValue::integer(1), ConstValue(), ConstValue(), ConstValue()};
  ConstValue::Dict given;
  auto set = [&](const std::string &name, const ConstValue &value) {
    auto it = std::find(fields.begin(), fields.end(), name);
    if (it != fields.end())
      elements[static_cast<size_t>(it - fields.begin())] = value;
    if (name != "kwargs" && name != "pre_hook" && name != "ir_override")
      given.emplace_back(ConstValue::string(name), value);
  };
  if (call.args.size() > fields.size()) {
    error = fmt::format("`Config` takes at most {} arguments by position, {} given", fields.size(), call.args.size());
    return std::nullopt;
  }
  for (size_t i = 0; i < call.args.size(); ++i)
    set(fields[i], call.args[i]);
  for (const ConstKeyword &keyword : call.keywords)
    set(keyword.name, keyword.value);
  if (!elements[0].asDict()) {
    error = fmt::format("`Config` needs a dict of parameters and values, found {}", elements[0].kindName());
    return std::nullopt;
  }
  fields[kConfigGiven] = "given_", elements[kConfigGiven] = dictValue(std::move(given));
  return named(std::move(fields), std::move(elements));
}

Result HostRun::fail(Place place, const std::string &text) {
  state.diagnostics.report(Diag::ConstEvaluation, place, text);
  return std::nullopt;
}

/// itertools.product and its kin; `pools` are the iterables' elements.
static bool combine(const std::string &name, const std::vector<std::vector<ConstValue>> &pools, size_t length, std::vector<ConstValue> &chosen, std::vector<size_t> &indices,
                    std::vector<ConstValue> &out) {
  if (chosen.size() == length) {
    out.push_back(ConstValue::tuple(chosen));
    return out.size() <= kMaxElements;
  }
  const std::vector<ConstValue> &pool = pools[name == "product" ? chosen.size() : 0];
  for (size_t i = 0; i < pool.size(); ++i) {
    if ((name == "permutations" && llvm::is_contained(indices, i)) || (name == "combinations" && !indices.empty() && i <= indices.back()))
      continue;
    chosen.push_back(pool[i]), indices.push_back(i);
    if (!combine(name, pools, length, chosen, indices, out))
      return false;
    chosen.pop_back(), indices.pop_back();
  }
  return true;
}

static Result iterTool(const std::string &name, const ConstCall &call, std::string &error) {
  std::vector<std::vector<ConstValue>> pools;
  for (const ConstValue &arg : call.args) {
    bool isLength = name != "product" && name != "chain" && !pools.empty();
    auto elements = isLength ? std::optional(std::vector<ConstValue>()) : constElements(arg, error);
    if (!elements)
      return std::nullopt;
    pools.push_back(std::move(*elements));
  }
  std::vector<ConstValue> chosen, out;
  if (name == "chain") {
    for (const auto &pool : pools)
      out.insert(out.end(), pool.begin(), pool.end());
    return list(std::move(out));
  }
  std::vector<size_t> indices;
  size_t length = pools.size();
  if (name == "product") {
    const ConstValue *repeat = call.keyword("repeat");
    std::vector<std::vector<ConstValue>> once = pools;
    for (int64_t i = 1; repeat && i < std::min<int64_t>(repeat->asInt64().value_or(1), 64); ++i)
      pools.insert(pools.end(), once.begin(), once.end());
    length = pools.size();
  } else if (name == "permutations" || name == "combinations") {
    if (pools.empty())
      return error = fmt::format("`itertools.{}` needs an iterable", name), std::nullopt;
    int64_t wanted = call.args.size() > 1 ? call.args[1].asInt64().value_or(-1) : static_cast<int64_t>(pools[0].size());
    if (wanted < 0 || static_cast<size_t>(wanted) > pools[0].size())
      return list({});
    length = static_cast<size_t>(wanted);
  } else {
    return error = fmt::format("`itertools.{}` cannot be called at compile time", name), std::nullopt;
  }
  if (length > 64 || !combine(name, pools, length, chosen, indices, out))
    return error = fmt::format("`itertools.{}` gives more than {} elements", name, kMaxElements), std::nullopt;
  return list(std::move(out));
}

std::optional<std::vector<ConstValue>> HostRun::sortedElements(std::vector<ConstValue> elements, const ConstCall &call, Place place) {
  std::vector<std::pair<ConstValue, ConstValue>> keyed;
  const ConstValue *key = call.keyword("key"), *reverse = call.keyword("reverse");
  for (ConstValue &element : elements) {
    Result by = key && !key->isNone() ? callValue(*key, {{element}, {}}, place) : Result(element);
    if (!by)
      return std::nullopt;
    keyed.emplace_back(std::move(*by), std::move(element));
  }
  std::string error;
  bool down = reverse && reverse->truth();
  // By insertion at the place that a binary search finds: comparisons may fail, which std::sort does not allow for.
  std::vector<std::pair<ConstValue, ConstValue>> out;
  for (auto &entry : keyed) {
    size_t low = 0, high = out.size();
    while (low < high) {
      size_t middle = (low + high) / 2;
      Result before = evalCompare(down ? ast::CompareOp::Gt : ast::CompareOp::Lt, entry.first, out[middle].first, error);
      if (!before)
        return fail(place, error), std::nullopt;
      (before->truth() ? high : low) = before->truth() ? middle : middle + 1;
    }
    out.insert(out.begin() + static_cast<ptrdiff_t>(low), std::move(entry));
  }
  std::vector<ConstValue> result;
  for (auto &entry : out)
    result.push_back(std::move(entry.second));
  return result;
}

Result HostRun::library(const std::string &full, const ConstCall &call, Place place) {
  std::string error, name = full.substr(full.rfind('.') + 1);
  if (full.rfind("itertools.", 0) == 0) {
    Result value = iterTool(name, call, error);
    return value ? value : fail(place, error);
  }
  if (full == "triton.Config") {
    Result value = makeConfig(call, error);
    return value ? value : fail(place, error);
  }
  if (name == "get_current_target") // files ask whether it is NVIDIA's; what else differs between GPUs is not known here
    return named({"backend", "warp_size"}, {ConstValue::string("cuda"), ConstValue::integer(32)});
  if (name == "print")
    return ConstValue();
  if (full.rfind("os.", 0) == 0) { // no variable is set: a kernel file means the same in every environment
    if (!llvm::StringRef(name).ends_with("env"))
      return fail(place, fmt::format("`{}` cannot be called at compile time", full));
    return call.args.size() > 1 ? call.args[1] : call.keyword("default") ? *call.keyword("default") : ConstValue();
  }
  if (name == "dict") {
    ConstValue::Dict dict;
    for (const ConstValue &arg : call.args) {
      auto pairs = arg.asDict() ? std::optional(std::vector<ConstValue>()) : constElements(arg, error);
      if (!pairs)
        return fail(place, error);
      if (arg.asDict())
        dict = *arg.asDict();
      for (const ConstValue &pair : *pairs) {
        auto both = constElements(pair, error);
        if (!both || both->size() != 2)
          return fail(place, "`dict` needs pairs of keys and values");
        setItem(dict, (*both)[0], (*both)[1]);
      }
    }
    for (const ConstKeyword &keyword : call.keywords)
      setItem(dict, ConstValue::string(keyword.name), keyword.value);
    return dictValue(std::move(dict));
  }
  if (call.args.empty())
    return name == "set" || name == "frozenset" ? Result(list({})) : fail(place, fmt::format("`{}` needs an argument", name));
  const ConstValue &x = call.args[0];
  if (full.rfind("copy.", 0) == 0)
    return x; // values never change
  if (name == "getattr" || name == "hasattr") {
    if (call.args.size() < 2 || !call.args[1].asString())
      return fail(place, fmt::format("`{}` needs an object and a name", name));
    Result value = constAttribute(x, *call.args[1].asString(), error);
    if (name == "hasattr")
      return ConstValue(value.has_value());
    return value ? value : call.args.size() > 2 ? Result(call.args[2]) : fail(place, error);
  }
  if (name == "round") {
    std::optional<double> number = x.asDouble();
    if (!number || call.args.size() > 1 || !std::isfinite(*number))
      return fail(place, "`round` needs one number");
    return x.get<double>() ? ConstValue(truncateToBigInt(std::nearbyint(*number))) : x;
  }
  if (name == "pow" || name == "divmod") {
    if (call.args.size() != 2)
      return fail(place, fmt::format("`{}` needs two numbers", name));
    Result first = evalBinary(name == "pow" ? ast::BinaryOp::Pow : ast::BinaryOp::FloorDiv, x, call.args[1], error);
    Result second = first && name == "divmod" ? evalBinary(ast::BinaryOp::Mod, x, call.args[1], error) : first;
    return !second ? fail(place, error) : name == "pow" ? first : Result(ConstValue::tuple({*first, *second}));
  }
  bool calls = name == "map" || name == "filter";
  if (calls && call.args.size() < 2)
    return fail(place, fmt::format("`{}` needs a function and an iterable", name));
  auto elements = constElements(call.args[calls ? 1 : 0], error);
  if (!elements)
    return fail(place, error);
  if (name == "sorted") {
    auto ordered = sortedElements(std::move(*elements), call, place);
    return ordered ? Result(list(std::move(*ordered))) : std::nullopt;
  }
  if (name == "any" || name == "all") {
    for (const ConstValue &element : *elements)
      if (element.truth() == (name == "any"))
        return ConstValue(name == "any");
    return ConstValue(name == "all");
  }
  std::vector<ConstValue> out;
  for (size_t i = 0; i < elements->size(); ++i) {
    const ConstValue &element = (*elements)[i];
    Result value = element;
    if (calls && !(name == "filter" && x.isNone())) {
      ConstCall inner{{element}, {}};
      for (size_t other = 2; name == "map" && other < call.args.size(); ++other) {
        auto more = constElements(call.args[other], error);
        if (!more)
          return fail(place, error);
        if (i >= more->size())
          return list(std::move(out));
        inner.args.push_back((*more)[i]);
      }
      value = callValue(x, inner, place);
    }
    if (!value)
      return std::nullopt;
    bool isSet = name == "set" || name == "frozenset";
    bool known = isSet && llvm::any_of(out, [&](const ConstValue &old) { return evalCompare(ast::CompareOp::Eq, old, element, error)->truth(); });
    if (name == "map" ? true : isSet ? !known : value->truth())
      out.push_back(name == "map" ? *value : element);
  }
  return list(std::move(out));
}

// ---- methods that change ----

/// The list after the call; `returned` gets what the call gives.
Result HostRun::mutateList(std::vector<ConstValue> elements, const std::string &method, const ConstCall &call, const ast::Call &node, ConstValue &returned) {
  std::string error;
  size_t count = call.args.size();
  int64_t size = static_cast<int64_t>(elements.size());
  if (method == "append" && count == 1) {
    elements.push_back(call.args[0]);
  } else if (method == "extend" && count == 1) {
    auto more = constElements(call.args[0], error);
    if (!more)
      return fail(node.range, error);
    elements.insert(elements.end(), more->begin(), more->end());
  } else if (method == "insert" && count == 2 && call.args[0].asInt64()) {
    int64_t at = *call.args[0].asInt64();
    at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    elements.insert(elements.begin() + at, call.args[1]);
  } else if (method == "pop" && count <= 1) {
    int64_t at = count ? call.args[0].asInt64().value_or(size) : -1;
    at = at < 0 ? at + size : at;
    if (at < 0 || at >= size)
      return fail(node.range, fmt::format("`pop` from {} elements is out of range", size));
    returned = elements[static_cast<size_t>(at)];
    elements.erase(elements.begin() + at);
  } else if (method == "remove" && count == 1) {
    auto it = llvm::find_if(elements, [&](const ConstValue &element) { return evalCompare(ast::CompareOp::Eq, element, call.args[0], error)->truth(); });
    if (it == elements.end())
      return fail(node.range, fmt::format("{} is not in the list", call.args[0].repr()));
    elements.erase(it);
  } else if (method == "reverse" && count == 0) {
    std::reverse(elements.begin(), elements.end());
  } else if (method == "clear" && count == 0) {
    elements.clear();
  } else if (method == "sort" && count == 0) {
    auto ordered = sortedElements(std::move(elements), call, at(node.range));
    if (!ordered)
      return std::nullopt;
    elements = std::move(*ordered);
  } else {
    return fail(node.range, fmt::format("`{}` of a list with {} arguments", method, count));
  }
  if (elements.size() > kMaxElements)
    return fail(node.range, fmt::format("a list of more than {} elements", kMaxElements));
  return list(std::move(elements));
}

Result HostRun::mutateDict(ConstValue::Dict dict, const std::string &method, const ConstCall &call, const ast::Call &node, ConstValue &returned) {
  std::string error;
  if (method == "update") {
    for (const ConstValue &arg : call.args) {
      if (!arg.asDict())
        return fail(node.range, fmt::format("`update` needs a dict, found {}", arg.kindName()));
      for (const auto &[key, value] : *arg.asDict())
        setItem(dict, key, value);
    }
    for (const ConstKeyword &keyword : call.keywords)
      setItem(dict, ConstValue::string(keyword.name), keyword.value);
    return dictValue(std::move(dict));
  }
  if (method == "clear" && call.args.empty())
    return dictValue({});
  if (call.args.empty() || call.args.size() > 2)
    return fail(node.range, fmt::format("`{}` of a dict with {} arguments", method, call.args.size()));
  auto it = llvm::find_if(dict, [&](const auto &entry) { return evalCompare(ast::CompareOp::Eq, entry.first, call.args[0], error)->truth(); });
  bool found = it != dict.end(), hasDefault = call.args.size() == 2;
  if (!found && !hasDefault && method == "pop")
    return fail(node.range, fmt::format("no key {} in the dict", call.args[0].repr()));
  returned = found ? it->second : hasDefault ? call.args[1] : ConstValue();
  if (method == "pop" && found)
    dict.erase(it);
  else if (method == "setdefault" && !found)
    dict.emplace_back(call.args[0], returned);
  return dictValue(std::move(dict));
}

/// `name.append(x)` and its like: lists and dicts are values here, so the name is bound to what it has become.
Result HostRun::mutate(const ast::Call &node, bool &handled) {
  auto *attribute = ast::dyn<ast::Attribute>(node.callee.get());
  auto *name = attribute ? ast::dyn<ast::Name>(attribute->value.get()) : nullptr;
  auto it = name ? variables.find(name->id) : variables.end();
  if (it == variables.end())
    return std::nullopt;
  const std::string &method = attribute->attr;
  auto *tuple = it->second.asTuple();
  bool isList = tuple && tuple->isList && llvm::is_contained({"append", "extend", "insert", "pop", "remove", "reverse", "clear", "sort"}, method);
  bool isDict = it->second.asDict() && llvm::is_contained({"update", "pop", "setdefault", "clear"}, method);
  if (!isList && !isDict)
    return std::nullopt;
  handled = true;
  ConstCall call;
  if (!arguments(node, call))
    return std::nullopt;
  ConstValue old = variables[name->id], returned;
  Result changed = isList ? mutateList(old.asTuple()->elements, method, call, node, returned) : mutateDict(*old.asDict(), method, call, node, returned);
  return changed && assign(*attribute->value, *changed) ? Result(returned) : std::nullopt;
}

} // namespace tk::lang
