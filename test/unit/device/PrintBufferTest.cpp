// Records of a GPU's print buffer as lines: the text of every kind of element, the order, and what can't be.
#include "runtime/device/PrintBuffer.h"
#include "test/unit/runtime/Thrown.h"
#include "Catch.h"
#include <algorithm>

using namespace tk;
using namespace tk::runtime;

namespace {
std::vector<std::string> linesOf(const std::vector<PrintSite> &sites, const std::vector<PrintRecord> &records, uint32_t failed = 0) {
  std::vector<char> buffer(printBufferBytes(64));
  clearPrintBuffer(buffer.data(), 64);
  auto *header = reinterpret_cast<PrintHeader *>(buffer.data());
  header->count = static_cast<uint32_t>(records.size()), header->failed = failed;
  std::copy(records.begin(), records.end(), reinterpret_cast<PrintRecord *>(buffer.data() + sizeof(PrintHeader)));
  std::vector<std::string> lines;
  readPrintBuffer(buffer.data(), sites, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

std::string value(DType type, bool isSigned, uint64_t bits, bool hex = false, bool isPointer = false) {
  std::vector<std::string> lines = linesOf({{false, hex, "v", {{type, isSigned, isPointer, {}}}, "", 0}}, {{0, {1, 2, 3}, 0, 0, bits}});
  return lines.size() == 1 && lines[0].starts_with("pid (1, 2, 3) v: ") ? lines[0].substr(17) : "no such line";
}
} // namespace

TEST_CASE("elements are printed as their type says") {
  CHECK(value(DType::I32, true, 0xffffffff) == "-1");
  CHECK(value(DType::I32, false, 0xffffffff) == "4294967295");
  CHECK(value(DType::I8, true, 0x80) == "-128");
  CHECK(value(DType::I64, true, ~uint64_t(0)) == "-1");
  CHECK(value(DType::I64, false, ~uint64_t(0)) == "18446744073709551615");
  CHECK(value(DType::I1, false, 1) == "1");
  CHECK(value(DType::F32, true, 0x3fc00000) == "1.5");
  CHECK(value(DType::F64, true, 0x3ff8000000000000) == "1.5");
  CHECK(value(DType::F16, true, 0xbe00) == "-1.5");
  CHECK(value(DType::BF16, true, 0x3fc0) == "1.5");
  CHECK(value(DType::F8E5M2, true, 0x3e) == "1.5");
  CHECK(value(DType::F16, true, 0xbe00, true) == "0xbe00");
  CHECK(value(DType::F8E4M3FN, true, 0x3c, true) == "0x3c");
  CHECK(value(DType::I1, false, 1, true) == "0x01");
  CHECK(value(DType::I32, true, 0xfe, true) == "0x000000fe");
  CHECK(value(DType::F64, true, 1, true) == "0x0000000000000001");
  CHECK(value(DType::F32, true, 0x7f0000001000, false, true) == "0x7f0000001000");
}

TEST_CASE("indices, operands and prints without a value") {
  std::vector<PrintSite> sites = {{false, false, "a", {{DType::I32, true, false, {2, 3}}, {DType::I32, true, false, {}}}, "", 0},
                                  {false, false, "here", {}, "", 0}};
  std::vector<std::string> lines = linesOf(sites, {{0, {0, 0, 0}, 5, 0, 7}, {0, {0, 0, 0}, 0, 1, 8}, {1, {0, 0, 0}, 0, 0, 0}});
  CHECK(lines == std::vector<std::string>{"pid (0, 0, 0) idx (1, 2) a (operand 0): 7", "pid (0, 0, 0) a (operand 1): 8", "pid (0, 0, 0) here"});
}

TEST_CASE("order: program, place, round, operand, element") {
  std::vector<PrintSite> sites = {{false, false, "a", {{DType::I32, true, false, {2}}}, "", 0}, {false, false, "b", {{DType::I32, true, false, {}}}, "", 0}};
  // Two rounds of a loop that prints `a`, with threads that run at different times, and programs in any order.
  std::vector<PrintRecord> records = {{1, {0, 1, 0}, 0, 0, 90}, {0, {1, 0, 0}, 1, 0, 11}, {0, {1, 0, 0}, 1, 0, 21},
                                      {1, {1, 0, 0}, 0, 0, 91}, {0, {1, 0, 0}, 0, 0, 10}, {0, {1, 0, 0}, 0, 0, 20}};
  CHECK(linesOf(sites, records) == std::vector<std::string>{"pid (1, 0, 0) idx (0) a: 10", "pid (1, 0, 0) idx (1) a: 11", "pid (1, 0, 0) idx (0) a: 20",
                                                            "pid (1, 0, 0) idx (1) a: 21", "pid (1, 0, 0) b: 91", "pid (0, 1, 0) b: 90"});
}

TEST_CASE("assertions") {
  std::vector<PrintSite> sites = {{true, false, "first", {}, "k.tk", 3}, {true, false, "second", {}, "k.tk", 4}};
  auto message = [&](const std::vector<PrintRecord> &records, uint32_t failed) { return thrown(ErrorKind::User, [&] { linesOf(sites, records, failed); }); };
  CHECK(message({{1, {5, 0, 0}, 0, 0, 0}, {0, {4, 1, 0}, 0, 0, 0}, {1, {4, 0, 0}, 9, 0, 0}}, 2) ==
        "device assertion failed: k.tk:4: second [program (4, 0, 0)]");
  CHECK(message({}, 1) == "device assertion failed: k.tk:3: first"); // its record found no place
  CHECK(thrown(ErrorKind::Internal, [&] { linesOf(sites, {}, 3); }).find("assertion 2") != std::string::npos);
}

TEST_CASE("records that no kernel can write are an internal error") {
  std::vector<PrintSite> sites = {{false, false, "a", {{DType::I32, true, false, {}}}, "", 0}};
  CHECK(thrown(ErrorKind::Internal, [&] { linesOf(sites, {{1, {0, 0, 0}, 0, 0, 0}}); }).find("place 1") != std::string::npos);
  CHECK(thrown(ErrorKind::Internal, [&] { linesOf(sites, {{0, {0, 0, 0}, 0, 1, 0}}); }).find("operand 1") != std::string::npos);
}
