// The text form of a kernel's description: what is written is read back, and anything else is refused with its line.
#include "runtime/KernelAbi.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "Catch.h"

using namespace tk;
using namespace tk::runtime;

static ArgumentSlot slot(ArgumentSlot::Kind kind, const char *name, unsigned param, DType dtype, unsigned depth) {
  ArgumentSlot result;
  result.kind = kind, result.name = name, result.param = param, result.dtype = dtype, result.pointerDepth = depth;
  return result;
}

static KernelAbi gpuKernel() {
  KernelAbi abi;
  abi.entry = "softmax", abi.file = "a \"b\"\\c\n.tk", abi.line = 3;
  abi.threads = 128, abi.clusterSize = 2, abi.sharedBytes = 232448, abi.scratchBytes = uint64_t(1) << 40;
  abi.slots.push_back(slot(ArgumentSlot::Kind::Pointer, "out", 0, DType::F8E4B15, 1));
  abi.slots.back().written = true;
  abi.slots.push_back(slot(ArgumentSlot::Kind::Scalar, "t[0][2]", 1, DType::I1, 0));
  abi.slots.back().path = {0, 2}, abi.slots.back().read = true;
  abi.slots.push_back(slot(ArgumentSlot::Kind::Pointer, "", 2, DType::BF16, 2));
  abi.slots.back().read = abi.slots.back().written = true;
  abi.slots.push_back(slot(ArgumentSlot::Kind::PrintBuffer, "", 0, DType::I32, 0));
  abi.slots.push_back(slot(ArgumentSlot::Kind::Scratch, "", 0, DType::I32, 0));
  abi.slots.push_back(slot(ArgumentSlot::Kind::TensorMap, "a", 3, DType::BF16, 0));
  abi.slots.back().map = {{128, 64}, 3, true};
  abi.cooperative = true;
  abi.printSites.push_back(
      {false, true, "x = ", {{DType::F16, true, false, {4, 8}}, {DType::U8, false, false, {}}, {DType::F32, true, true, {16}}}, "a.tk", 7});
  abi.printSites.push_back({true, false, "tab\tand \x01", {}, "", 0});
  return abi;
}

TEST_CASE("a description reads back") {
  KernelAbi abi = gpuKernel(), read;
  std::string text = toText(abi), error;
  INFO(text);
  REQUIRE(parseKernelAbi(text, read, error));
  CHECK(toText(read) == text);
  CHECK(read.entry == abi.entry);
  CHECK(read.file == abi.file);
  CHECK(read.threads == 128);
  CHECK(read.clusterSize == 2);
  CHECK((read.cooperative && !read.programmatic));
  CHECK(read.sharedBytes == 232448);
  CHECK(read.scratchBytes == uint64_t(1) << 40);
  REQUIRE(read.slots.size() == abi.slots.size());
  for (size_t i = 0; i < abi.slots.size(); ++i) {
    CHECK(read.slots[i].kind == abi.slots[i].kind);
    CHECK(read.slots[i].name == abi.slots[i].name);
    CHECK(read.slots[i].param == abi.slots[i].param);
    CHECK(read.slots[i].path == abi.slots[i].path);
    CHECK(read.slots[i].dtype == abi.slots[i].dtype);
    CHECK(read.slots[i].pointerDepth == abi.slots[i].pointerDepth);
    CHECK(read.slots[i].read == abi.slots[i].read);
    CHECK(read.slots[i].written == abi.slots[i].written);
    CHECK(read.slots[i].map.box == abi.slots[i].map.box);
    CHECK(read.slots[i].map.swizzle == abi.slots[i].map.swizzle);
    CHECK(read.slots[i].map.nanFill == abi.slots[i].map.nanFill);
  }
  CHECK(read.printSites == abi.printSites);
}

TEST_CASE("a description of CPU code reads back") {
  KernelAbi abi, read;
  abi.entry = "k", abi.arenaBytes = 4096, abi.spins = true;
  std::string error;
  REQUIRE(parseKernelAbi(toText(abi), read, error));
  CHECK(read.threads == 0);
  CHECK(read.arenaBytes == 4096);
  CHECK(read.spins);
}

TEST_CASE("what is no description is refused") {
  KernelAbi read;
  std::string error, good = toText(gpuKernel());
  for (const char *line : {"slot",
                           "slot pointer fp32 0 r 0 \"x\"",
                           "slot scalar fp32 1 r 0 \"x\"",
                           "slot scalar float32 0 r 0 \"x\"",
                           "slot scalar fp32 0 x 0 \"x\"",
                           "slot scalar fp32 0 r 0. \"x\"",
                           "slot scalar fp32 0 r 0 \"x",
                           "slot scalar fp32 0 r 0 \"x\\q\"",
                           "slot scalar fp32 0 r 0 \"x\" y",
                           "slot scalar fp32 0 r 0 x",
                           "threads",
                           "threads 1x",
                           "threads -1",
                           "threads 4294967296",
                           "threads 1 1",
                           "bogus 1",
                           "",
                           "site assert plain \"a\" \"b\"",
                           "site both plain \"a\" \"b\" 1",
                           "operand fp32 signed value 4x",
                           "spins 1",
                           "entry \"a\"b"}) {
    INFO(line);
    CHECK_FALSE(parseKernelAbi(good + line + "\n", read, error));
    CHECK(error.find("`" + std::string(line) + "`") != std::string::npos);
  }
  CHECK_FALSE(parseKernelAbi("tkc-abi 1\noperand fp32 signed value\n", read, error));
  CHECK_FALSE(parseKernelAbi("tkc-abi 2\nentry \"k\"\n", read, error));
  CHECK(error == "expected `tkc-abi 1`, found `tkc-abi 2`");
  CHECK_FALSE(parseKernelAbi("tkc-abi 1\n", read, error));
  CHECK_FALSE(parseKernelAbi("", read, error));
}

TEST_CASE("slots have the size of their type") {
  CHECK(slot(ArgumentSlot::Kind::Scalar, "", 0, DType::I1, 0).parameterBytes() == 1);
  CHECK(slot(ArgumentSlot::Kind::Scalar, "", 0, DType::F8E5M2, 0).parameterBytes() == 1);
  CHECK(slot(ArgumentSlot::Kind::Scalar, "", 0, DType::BF16, 0).parameterBytes() == 2);
  CHECK(slot(ArgumentSlot::Kind::Scalar, "", 0, DType::F32, 0).parameterBytes() == 4);
  CHECK(slot(ArgumentSlot::Kind::Scalar, "", 0, DType::U64, 0).parameterBytes() == 8);
  CHECK(slot(ArgumentSlot::Kind::Pointer, "", 0, DType::I8, 1).parameterBytes() == 8);
  CHECK(slot(ArgumentSlot::Kind::Scratch, "", 0, DType::I8, 0).parameterBytes() == 8);
}

TEST_CASE("a device gets the best target whose code it runs") {
  auto name = [](unsigned sm) { return nvidia::targetFor(sm) ? nvidia::targetFor(sm)->name : "none"; };
  CHECK(name(70) == "none");
  CHECK(name(75) == "sm_75");
  CHECK(name(80) == "sm_80");
  CHECK(name(87) == "sm_86");
  CHECK(name(89) == "sm_89");
  CHECK(name(90) == "sm_90a");
  CHECK(name(100) == "sm_100a");
  CHECK(name(103) == "sm_89"); // code for exactly 10.0 does not run on 10.3
  CHECK(name(120) == "sm_120a");
  CHECK(nvidia::findTarget("sm_90") == nullptr);
  for (const nvidia::Target &target : nvidia::targets)
    CHECK(nvidia::findTarget(target.name) == &target);
}
