// Which instructions have a test: each test says so where it stands, and EveryOpcodeTest.cpp compares with Opcodes.def.
#pragma once
#include <initializer_list>
#include <set>
#include <string>

namespace tk::emulated {

struct Tested {
  Tested(std::initializer_list<const char *> opcodes) {
    for (const char *opcode : opcodes)
      all().insert(opcode);
  }
  static std::set<std::string> &all() {
    static std::set<std::string> names;
    return names;
  }
};

} // namespace tk::emulated
