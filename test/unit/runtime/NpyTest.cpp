// .npy files: what is written reads back, what numpy writes reads, and anything malformed is an error.
#include "runtime/Npy.h"
#include "tk/error.h"
#include "Catch.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tk;

namespace {
/// A file that goes with the test.
struct TemporaryFile {
  std::string path = (std::filesystem::temp_directory_path() / ("tk-npy-" + std::to_string(getpid()) + ".npy")).string();
  ~TemporaryFile() { std::remove(path.c_str()); }
  void write(const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }
};

/// A file as numpy lays it out.
std::string npy(const std::string &header, const std::string &elements, unsigned version = 1) {
  std::string result = "\x93NUMPY";
  result += static_cast<char>(version);
  result += '\0';
  for (unsigned i = 0, n = version == 1 ? 2 : 4; i < n; ++i)
    result += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return result + header + elements;
}

template <typename T> std::string bytesOfValues(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(T));
}

std::string errorOf(const std::string &path, const DType *as = nullptr) {
  try {
    Array::load(path, as);
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::User);
    return error.what();
  }
  return "";
}
} // namespace

TEST_CASE("every element type is written and read back", "[npy]") {
  TemporaryFile file;
  for (unsigned i = 0; i <= static_cast<unsigned>(DType::F64); ++i) {
    DType type = static_cast<DType>(i);
    INFO(spelling(type));
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {7}, {3, 5}, {2, 0, 4}, {1, 2, 3, 4}}) {
      Array array(type, shape);
      for (int64_t j = 0; j < array.size(); ++j)
        array.set(j, static_cast<double>(j % 2));
      array.save(file.path);
      Array back = Array::load(file.path, &type);
      REQUIRE(back.shape() == shape);
      REQUIRE(back.dtype() == type);
      for (int64_t j = 0; j < array.size(); ++j)
        REQUIRE(back.get(j) == array.get(j));
      CHECK(std::filesystem::file_size(file.path) % 64 == array.bytes() % 64);
      if (type == DType::BF16 || isFloat8(type))
        CHECK(errorOf(file.path).find("name their type") != std::string::npos);
      else
        CHECK(Array::load(file.path).dtype() == type);
    }
  }
}

TEST_CASE("versions, column order and big-endian files", "[npy]") {
  TemporaryFile file;
  for (unsigned version : {1u, 2u, 3u}) {
    file.write(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }          \n", bytesOfValues<int32_t>({1, -2, 3}), version));
    Array array = Array::load(file.path);
    CHECK(array.dtype() == DType::I32);
    CHECK(array.shape() == std::vector<int64_t>{3});
    CHECK(array.getInteger(1) == -2);
  }
  file.write(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}", bytesOfValues<double>({1, 4, 2, 5, 3, 6})));
  Array columns = Array::load(file.path);
  for (int64_t i = 0; i < 6; ++i)
    CHECK(columns.get(i) == static_cast<double>(i + 1));
  file.write(npy("{\"shape\": (2L,), 'fortran_order':False,'descr':'>u2'}", std::string("\x01\x02\x00\x03", 4)));
  Array big = Array::load(file.path);
  CHECK(big.getInteger(0) == 0x102);
  CHECK(big.getInteger(1) == 3);
  file.write(npy("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", std::string("\x05", 1)));
  CHECK(Array::load(file.path).as<uint8_t>()[0] == 1);
}

TEST_CASE("raw and integer elements stand for types that numpy lacks", "[npy]") {
  TemporaryFile file;
  DType bf16 = DType::BF16, fp16 = DType::F16, fp8 = DType::F8E5M2;
  for (const char *descr : {"<V2", "|V2", "<u2", "<i2"}) {
    file.write(npy(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (1,)}", bytesOfValues<uint16_t>({0x3f80})));
    CHECK(Array::load(file.path, &bf16).get(0) == 1);
    CHECK(errorOf(file.path, &fp8).find("can't stand for fp8e5") != std::string::npos);
    CHECK(errorOf(file.path, &fp16).find("can't stand for fp16") != std::string::npos);
  }
}

TEST_CASE("malformed files are errors", "[npy]") {
  TemporaryFile file;
  CHECK(errorOf("/nonexistent/x.npy").find("No such file") != std::string::npos);
  CHECK(errorOf("/").find("`/`") != std::string::npos);
  std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", std::string(16, 0));
  for (size_t length = 0; length < good.size(); ++length) {
    file.write(good.substr(0, length));
    CHECK(errorOf(file.path) != "");
  }
  file.write(good);
  CHECK(errorOf(file.path) == "");
  struct { const char *header, *message; } cases[] = {
      {"", "expected `{`"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "closing brace"},
      {"{'descr': '<f4', 'fortran_order': False}", "are all needed"},
      {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", "neither True nor False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "expected a number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,)}", "cut off"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", "`<c8` can't be read"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "`|O` can't be read"},
      {"{'descr': '<f99999999999999', 'fortran_order': False, 'shape': (2,)}", "can't be read"},
      {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "can't be read"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "records"},
      {"{'descr': '<f4', 'order': False, 'shape': (2,)}", "unknown key"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", "can't be read"},
  };
  for (auto [header, message] : cases) {
    INFO(header);
    file.write(npy(header, std::string(8, 0)));
    CHECK(errorOf(file.path).find(message) != std::string::npos);
  }
  file.write(npy(std::string(300, '('), ""));
  CHECK(errorOf(file.path) != "");
  file.write("\x93NUMPY\x09" + good.substr(7));
  CHECK(errorOf(file.path).find("version 9.0") != std::string::npos);
}

TEST_CASE("extents that can't be are errors", "[npy]") {
  CHECK_THROWS_AS(Array(DType::F32, {-1}), Error);
  CHECK_THROWS_AS(Array(DType::F32, {int64_t(1) << 40, int64_t(1) << 40}), Error);
  CHECK(Array(DType::F32, {int64_t(1) << 40, 0, int64_t(1) << 40}).size() == 0);
  CHECK_THROWS_AS(Array(DType::F64, {int64_t(1) << 60}), Error);
}
