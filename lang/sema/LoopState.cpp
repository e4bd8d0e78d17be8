// The variables that a loop carries.
#include "lang/sema/LoopState.h"

namespace tk::lang {

static constexpr unsigned kMaxAttempts = 12;

LoopState::LoopState(Elaborator &elaborator, const std::set<std::string> &assigned, const std::set<std::string> &targets, SourceRange range) : e(elaborator), range(range), before(elaborator.frame->env) {
  for (const std::string &name : assigned) {
    auto it = before.find(name);
    bool hasValue = it != before.end() && !it->second.undefined;
    if (!hasValue || targets.count(name)) {
      inside.push_back(name);
      continue;
    }
    carried.push_back(name);
    assumed[name] = it->second.value;
  }
  for (const std::string &name : targets)
    if (!assigned.count(name))
      inside.push_back(name);
}

void LoopState::enter(mlir::Block &block) {
  e.frame->env = before;
  for (const std::string &name : carried) {
    llvm::SmallVector<mlir::Value> parts;
    flatten(assumed[name], parts);
    mlir::Location at = mlir::NameLoc::get(mlir::StringAttr::get(&e.context, name), e.loc(before[name].range));
    for (mlir::Value &part : parts)
      part = block.addArgument(part.getType(), at);
    llvm::ArrayRef<mlir::Value> rest = parts;
    e.frame->env[name].value = rebuild(assumed[name], rest);
  }
  for (const std::string &name : inside) {
    Binding &binding = e.frame->env[name];
    binding = Binding{Value(), range, Diag::UsedBeforeAssigned, "", false};
  }
}

bool LoopState::settle(const Environment &env, bool allVariables) {
  bool changed = false;
  conflicts.clear();
  ++attempts;
  for (const std::string &name : inside)
    if (auto it = env.find(name); it != env.end() && it->second.range.end)
      places[name] = it->second.range;
  for (const std::string &name : carried) {
    auto it = env.find(name);
    if (it == env.end() || (!allVariables && it->second.undefined))
      continue;
    const Binding &binding = it->second;
    if (binding.undefined) {
      conflicts[name] = binding;
      continue;
    }
    Value &old = assumed[name];
    if (binding.value.isError() || old.isError())
      continue;
    std::optional<Value> joint = e.unify(old, binding.value);
    if (!joint && before[name].value.asConst() && binding.value.asRuntime()) // the start takes the type that the loop reaches
      joint = e.unify(before[name].value, binding.value);
    if (!joint || attempts > kMaxAttempts) {
      conflicts[name] = binding;
      continue;
    }
    if (!sameShape(*joint, old)) {
      old = *joint;
      changed = true;
    }
  }
  return !changed;
}

bool LoopState::reportConflicts() {
  for (auto &[name, binding] : conflicts) {
    const Binding &first = before[name];
    if (binding.undefined) {
      e.error(binding.range, *binding.undefined, name, binding.detail);
      e.note(range, Diag::CarriedByLoop, name);
    } else {
      e.error(binding.range, Diag::LoopType, name, assumed[name].describe(), binding.value.describe());
      e.note(first.range, Diag::FirstTypeHere, name, first.value.describe());
    }
  }
  if (conflicts.empty()) {
    for (const std::string &name : carried)
      if (before[name].value.asConst() && !assumed[name].asConst() && !assumed[name].isError())
        e.extension(before[name].range, ("`" + name + "`, a compile-time value that changes in a loop,").c_str());
    return false;
  }
  e.frame->env = before;
  for (const auto *names : {&carried, &inside})
    for (const std::string &name : *names)
      e.frame->env[name] = Binding{Value(), range, std::nullopt, "", false};
  return true;
}

llvm::SmallVector<mlir::Value> LoopState::initial() { return parts(before); }

llvm::SmallVector<mlir::Value> LoopState::parts(const Environment &env) {
  llvm::SmallVector<mlir::Value> result;
  for (const std::string &name : carried) {
    auto it = env.find(name);
    Value value = it == env.end() || it->second.undefined ? Value() : it->second.value;
    llvm::SmallVector<mlir::Value> wanted, found;
    flatten(assumed[name], wanted);
    flatten(e.conform(value, assumed[name], range), found);
    for (size_t i = 0; i < wanted.size(); ++i) // after an error the counts may differ; the function is dropped then
      result.push_back(i < found.size() && found[i].getType() == wanted[i].getType() ? found[i] : e.placeholder(wanted[i].getType(), e.loc(range)));
  }
  return result;
}

void LoopState::leave(llvm::ArrayRef<mlir::Value> results) {
  e.frame->env = before;
  for (const std::string &name : carried)
    e.frame->env[name].value = rebuild(assumed[name], results);
  for (const std::string &name : inside)
    e.frame->env[name] = Binding{Value(), places.count(name) ? places[name] : range, Diag::AssignedInLoopOnly, "", false};
}

} // namespace tk::lang
