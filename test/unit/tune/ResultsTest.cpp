// The file of results: what a line says, who may write at the same time, what damage does.
#include "runtime/tune/Results.h"
#include "Catch.h"
#include "runtime/tune/Options.h"
#include "test/unit/runtime/Thrown.h"
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace tk;
using namespace tk::runtime;

namespace {
TuneIdentity identity(const std::string &n = "512") { return {"matmul", "8c1f", "NVIDIA H200", "sm_90", {"*fp16", "i32"}, {{"M", n}, {"N", "64"}}}; }
TuneEntry entry(const std::string &block, double seconds, const std::string &n = "512") {
  return {identity(n), {{"num_warps", "4"}, {"BLOCK", block}}, seconds};
}
bool anything(const NamedValues &) { return true; }

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tkc-results-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string &name = "tuned.txt") const { return path + "/" + name; }
  std::string path;
};

std::string read(const std::string &file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void write(const std::string &file, const std::string &text) { std::ofstream(file) << text; }
std::string blockOf(const std::optional<TuneEntry> &found) {
  if (!found)
    return "nothing";
  for (const auto &[name, value] : found->config)
    if (name == "BLOCK")
      return value;
  return "none";
}

struct Fixture {
  Folder folder;
  std::vector<std::string> warnings;
  TuneResults open(std::vector<std::string> files) {
    return TuneResults(std::move(files), [this](const std::string &text) { warnings.push_back(text); });
  }
};
constexpr const char *line512 = "1 matmul 8c1f \"NVIDIA H200\" sm_90 ( *fp16 i32 ) M=512 N=64 -> BLOCK=64 num_warps=4 : 1.25e-05 s";
} // namespace

TEST_CASE("an entry is a line, and a line is an entry") {
  CHECK(toLine(entry("64", 1.25e-5)) == line512);
  TuneEntry back;
  std::string error;
  REQUIRE(parseLine(line512, back, error));
  CHECK(back.identity == identity());
  CHECK(back.config == NamedValues{{"BLOCK", "64"}, {"num_warps", "4"}});
  CHECK(back.seconds == 1.25e-5);
  // Whatever words hold.
  TuneEntry odd{{"k", "", "a \"b\" \\ c\n\x7f", "->", {"(", ")", ""}, {{"K", ":"}, {"S", "x = y"}, {"\xc3\xa9", "\xff"}}}, {{"A", "->"}, {"B", ""}}, 0};
  REQUIRE(parseLine(toLine(odd), back, error));
  CHECK(back.identity == odd.identity);
  CHECK(back.config == odd.config);
  CHECK(toLine(odd).find('\n') == std::string::npos);
  TuneEntry empty{{"k", "h", "d", "a", {}, {}}, {}, 1};
  REQUIRE(parseLine(toLine(empty), back, error));
  CHECK(back.config.empty());
}

TEST_CASE("what is no entry is refused, every prefix and every changed byte without a crash") {
  const std::string line = line512;
  TuneEntry entry;
  std::string error;
  for (size_t end = 0; end < line.size(); ++end)
    CHECK_FALSE(parseLine(line.substr(0, end), entry, error));
  for (size_t at = 0; at < line.size(); ++at)
    for (char other : {' ', '"', '\\', '(', '\0', '\xff', '='}) {
      std::string changed = line;
      changed[at] = other;
      if (parseLine(changed, entry, error)) // then it says something, and says it again
        CHECK(parseLine(toLine(entry), entry, error));
    }
  for (const char *wrong :
       {"1 k h d a ( ) -> : nan s", "1 k h d a ( ) -> : -1 s", "1 k h d a ( ) -> : 1 ms", "1 k h d a ( ) -> A : 1 s", "1 k h d a ( ) -> =1 : 1 s",
        "1 k  h d a ( ) -> : 1 s", "2 k h d a ( ) -> : 1 s", "1 k h d a ( ) -> : 1 s x", "1 \"k h d a ( ) -> : 1 s"})
    CHECK_FALSE(parseLine(wrong, entry, error));
}

TEST_CASE_METHOD(Fixture, "results outlive the object that found them") {
  open({folder.file()}).add(entry("64", 1.25e-5));
  CHECK(read(folder.file()) == std::string(line512) + "\n");
  TuneResults results = open({folder.file()});
  CHECK(blockOf(results.find(identity(), anything)) == "64");
  CHECK(blockOf(results.find(identity("513"), anything)) == "nothing");
  for (auto change :
       {+[](TuneIdentity &i) { i.closure = "other"; }, +[](TuneIdentity &i) { i.device = "NVIDIA B200"; }, +[](TuneIdentity &i) { i.types[0] = "*fp32"; },
        +[](TuneIdentity &i) { i.kernel += "2"; }, +[](TuneIdentity &i) { i.architecture = "sm_100"; }}) {
    TuneIdentity changed = identity();
    change(changed);
    CHECK_FALSE(results.find(changed, anything));
  }
  CHECK(warnings.empty());
  // Without a file they are kept as long as the object.
  TuneResults none = open({});
  none.add(entry("32", 1));
  CHECK(blockOf(none.find(identity(), anything)) == "32");
}

TEST_CASE_METHOD(Fixture, "the faster result wins, of those that are still in the list") {
  TuneResults results = open({folder.file()});
  results.add(entry("64", 2e-5)), results.add(entry("128", 1e-5)), results.add(entry("256", 3e-5)), results.add(entry("128", 4e-5));
  CHECK(blockOf(results.find(identity(), anything)) == "128");
  CHECK(results.find(identity(), anything)->seconds == 1e-5);
  auto without128 = [](const NamedValues &config) { return config[0].second != "128"; };
  CHECK(blockOf(results.find(identity(), without128)) == "64");
  // A new measurement of the listed ones replaces what was known of them, and of them alone.
  results.add(entry("256", 9e-5), without128);
  CHECK(blockOf(results.find(identity(), without128)) == "256");
  CHECK(blockOf(results.find(identity(), anything)) == "128");
  CHECK(read(folder.file()).find("BLOCK=64") == std::string::npos);
}

TEST_CASE_METHOD(Fixture, "lines are sorted, comments stay first, later versions' lines stay") {
  write(folder.file(), "# tuned on the build machine\n2 something new {}\nold nonsense\n" + std::string(line512) + "\n10 x\n");
  TuneResults results = open({folder.file()});
  results.add(entry("16", 1e-5, "1"));
  std::string small = toLine(entry("16", 1e-5, "1"));
  CHECK(read(folder.file()) == "# tuned on the build machine\n" + small + "\n" + line512 + "\n10 x\n2 something new {}\n");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] == "`" + folder.file() + "`, line 3: this is no tuning result, expected the format's number, 1, first; 1 line is skipped");
}

TEST_CASE_METHOD(Fixture, "what git leaves of two branches is read: both sides' lines, in any order") {
  write(folder.file(), fmt::format("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\r\n", toLine(entry("64", 2e-5)), toLine(entry("128", 1e-5))));
  TuneResults results = open({folder.file()});
  CHECK(blockOf(results.find(identity(), anything)) == "128");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].ends_with("3 lines are skipped"));
}

TEST_CASE_METHOD(Fixture, "a file that others change is read again") {
  TuneResults mine = open({folder.file()}), others = open({folder.file()});
  CHECK_FALSE(mine.find(identity(), anything));
  others.add(entry("64", 1e-5));
  CHECK(blockOf(mine.find(identity(), anything)) == "64");
  mine.add(entry("128", 5e-6));
  others.add(entry("32", 1e-5, "2"));
  CHECK(blockOf(others.find(identity(), anything)) == "128");
  CHECK(blockOf(mine.find(identity("2"), anything)) == "32");
}

TEST_CASE_METHOD(Fixture, "four processes at once lose nothing") {
  constexpr int processes = 4, each = 40;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (!child) {
      TuneResults results({folder.file()}, [](const std::string &) { _exit(2); });
      for (int i = 0; i < each; ++i)
        results.add(entry("64", 1e-5, std::to_string(p * each + i)));
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  TuneResults results = open({folder.file()});
  for (int i = 0; i < processes * each; ++i)
    CHECK(blockOf(results.find(identity(std::to_string(i)), anything)) == "64");
  CHECK(warnings.empty());
  size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path))
    files += entry.is_regular_file();
  CHECK(files == 2); // it and its lock
}

TEST_CASE_METHOD(Fixture, "several files: the first is written, all are read") {
  write(folder.file("shipped.txt"), std::string(line512) + "\n");
  const std::string shipped = read(folder.file("shipped.txt"));
  TuneResults results = open({folder.file("deep/own.txt"), folder.file("shipped.txt")});
  CHECK(blockOf(results.find(identity(), anything)) == "64");
  results.add(entry("128", 1e-6));
  CHECK(blockOf(results.find(identity(), anything)) == "128");
  CHECK(read(folder.file("shipped.txt")) == shipped);
  CHECK(read(folder.file("deep/own.txt")) == toLine(entry("128", 1e-6)) + "\n");
  CHECK(filesOf("a:b::c:") == std::vector<std::string>{"a", "b", "c"});
  CHECK(filesOf("").empty());
}

TEST_CASE_METHOD(Fixture, "a link to the file stays one") {
  write(folder.file("real.txt"), "");
  std::filesystem::create_symlink(folder.file("real.txt"), folder.file());
  open({folder.file()}).add(entry("64", 1.25e-5));
  CHECK(std::filesystem::is_symlink(folder.file()));
  CHECK(read(folder.file("real.txt")) == std::string(line512) + "\n");
}

TEST_CASE_METHOD(Fixture, "a file that can't be written costs one warning and no result") {
  std::string file;
  SECTION("its folder is a file") {
    write(folder.file("file"), "");
    file = folder.file("file/tuned.txt");
  }
  SECTION("it is a folder") {
    file = folder.file("folder");
    std::filesystem::create_directory(file);
  }
  TuneResults results = open({file});
  results.add(entry("64", 1e-5)), results.add(entry("32", 1e-5, "2"));
  CHECK(std::count_if(warnings.begin(), warnings.end(), [](const std::string &text) { return contains(text, "can't be written to"); }) == 1);
  CHECK(blockOf(results.find(identity(), anything)) == "64");
  CHECK(blockOf(results.find(identity("2"), anything)) == "32");
}
