// A module from its text, for tests of what is known about it before anything is compiled.
#pragma once
#include "Catch.h"
#include "lang/sema/ConstValue.h"
#include "lang/syntax/Parser.h"

namespace tk::lang {

struct ModuleText {
  Diagnostics diagnostics;
  ModuleScope scope;

  explicit ModuleText(std::string text, const std::string &name = "a.tk")
      : scope(parse(std::make_shared<SourceFile>(name, std::move(text)), diagnostics), name.ends_with(".py")) {
    INFO(diagnostics.render());
    REQUIRE(!diagnostics.hasErrors());
  }
  const ast::Function &function(const std::string &name) const {
    const ast::Function *found = scope.function(name);
    INFO(name);
    REQUIRE(found);
    return *found;
  }
};

} // namespace tk::lang
