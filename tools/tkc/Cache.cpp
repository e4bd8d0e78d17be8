// tkc cache: what compilations left on the disk for the next process.
#include "lang/syntax/Diagnostic.h"
#include "runtime/cache/DiskCache.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>

namespace tk::tool {

namespace {
using runtime::DiskCache;

struct CacheOptions {
  std::optional<std::string> kind;
  std::optional<uint64_t> mebibytes;
  std::optional<int64_t> days;
  bool json = false;
  std::string file;
  bool wants(const DiskCache::Entry &entry) const { return !kind || entry.kind == *kind; }
};

struct Action {
  const char *name;
  std::vector<std::string> flags;
  bool takesFile;
  void (*run)(DiskCache &cache, const CacheOptions &options);
};

std::string sizeText(uint64_t bytes) {
  return bytes < 1024        ? fmt::format("{} B", bytes)
         : bytes < (1 << 20) ? fmt::format("{:.1f} KiB", bytes / 1024.0)
                             : fmt::format("{:.1f} MiB", bytes / 1048576.0);
}

std::string timeText(int64_t seconds) {
  std::array<char, 32> text = {};
  std::time_t time = seconds;
  std::tm parts = {};
  gmtime_r(&time, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts)};
}

void printJson(const std::function<void(llvm::json::OStream &)> &members) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] { members(json); });
  fmt::print("{}\n", text);
}

void list(DiskCache &cache, const CacheOptions &options) {
  std::vector<DiskCache::Entry> entries = cache.list();
  std::erase_if(entries, [&](const DiskCache::Entry &entry) { return !options.wants(entry); });
  if (!options.json) {
    for (const DiskCache::Entry &entry : entries)
      fmt::print("{}  {:<8}{:>11}  {}  {}\n", timeText(entry.lastUse), entry.kind, sizeText(entry.bytes), entry.key, entry.label);
    return;
  }
  printJson([&](llvm::json::OStream &json) {
    json.attributeArray("entries", [&] {
      for (const DiskCache::Entry &entry : entries)
        json.object([&] {
          json.attribute("kind", entry.kind);
          json.attribute("key", entry.key);
          json.attribute("label", llvm::json::fixUTF8(entry.label));
          json.attribute("bytes", static_cast<int64_t>(entry.bytes));
          json.attribute("last_use", entry.lastUse);
        });
    });
  });
}

void stats(DiskCache &cache, const CacheOptions &options) {
  DiskCache::Stats stats = cache.stats();
  if (!options.json) {
    fmt::print("folder       {}\nentries      {}\nsize         {} of {}\ndamaged      {}\ntemporaries  {}\n", cache.folder(), stats.entries,
               sizeText(stats.bytes), sizeText(cache.capBytes()), stats.damaged, stats.temporaries);
    return;
  }
  printJson([&](llvm::json::OStream &json) {
    json.attribute("folder", llvm::json::fixUTF8(cache.folder()));
    json.attribute("entries", static_cast<int64_t>(stats.entries));
    json.attribute("bytes", static_cast<int64_t>(stats.bytes));
    json.attribute("cap_bytes", cache.capBytes());
    json.attribute("damaged", static_cast<int64_t>(stats.damaged));
    json.attribute("temporaries", static_cast<int64_t>(stats.temporaries));
  });
}

void printCount(const char *done, size_t count, const std::string &where = "") {
  fmt::print("{} {} {}{}\n", done, count, count == 1 ? "entry" : "entries", where);
}

void prune(DiskCache &cache, const CacheOptions &options) {
  uint64_t cap = options.mebibytes ? *options.mebibytes << 20 : cache.capBytes();
  printCount("removed", cache.prune(cap, options.days ? *options.days * 86400 : -1));
}

void clear(DiskCache &cache, const CacheOptions &) { printCount("removed", cache.clear()); }

void exportEntries(DiskCache &cache, const CacheOptions &options) {
  size_t count = cache.exportTo(options.file, [&](const DiskCache::Entry &entry) { return options.wants(entry); });
  printCount("wrote", count, fmt::format(" to {}", options.file));
}

void importEntries(DiskCache &cache, const CacheOptions &options) { printCount("added", cache.importFrom(options.file)); }

const std::vector<Action> actions = {
    {"list", {"--kind", "--json"}, false, list},    {"stats", {"--json"}, false, stats},
    {"prune", {"--size", "--older"}, false, prune}, {"clear", {}, false, clear},
    {"export", {"--kind"}, true, exportEntries},    {"import", {}, true, importEntries},
};

const Action &actionNamed(const std::string &name) {
  std::vector<std::string> names;
  for (const Action &action : actions) {
    if (name == action.name)
      return action;
    names.emplace_back(action.name);
  }
  std::string near = lang::nearest(name, names);
  throw Failure(Status::Usage,
                fmt::format("unknown action `{}` of `tkc cache`{}", name,
                            near.empty() ? ": expected list, stats, prune, clear, export or import" : fmt::format("; did you mean `{}`?", near)));
}
} // namespace

int cacheVerb(const std::vector<std::string> &arguments) {
  CacheOptions options;
  std::vector<std::string> given;
  bool help = false;
  auto flag = [&](const char *name, const char *value, const char *text, const std::function<void(const std::string &)> &apply) {
    return Flag{name, value, text, [&given, name, apply](const std::string &value) {
                  given.emplace_back(name);
                  apply(value);
                }};
  };
  Verb verb = {"cache",
               "cache list [--kind KIND] [--json] | stats [--json] | prune [--size MIB] [--older DAYS] | clear | export FILE [--kind KIND] | import FILE",
               "looks at what compilations left on the disk for the next process, removes it, packs it into a file and takes it from one",
               "TKC_CACHE_DIR names the folder (`none`: no cache), TKC_CACHE_SIZE what it may hold in MiB, TKC_CACHE_LAYERS folders that are only read.\n"
               "Import files from those alone whose programs you would run: the cache holds code.\n",
               {flag("--kind", "KIND", "only entries of this kind", [&](const std::string &value) { options.kind = value; }),
                flag("--json", "", "print one JSON object", [&](const std::string &) { options.json = true; }),
                flag("--size", "MIB", "remove the longest unused entries until the rest has at most so many MiB (default: what the cache may hold)",
                     [&](const std::string &value) { options.mebibytes = numberOf("--size", value, 0, int64_t(1) << 40); }),
                flag("--older", "DAYS", "remove what wasn't used for so many days",
                     [&](const std::string &value) { options.days = numberOf("--older", value, 0, 100000); })}};
  std::vector<std::string> left = parseFlags(verb, arguments, help);
  if (help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return 0;
  }
  if (left.empty())
    throw Failure(Status::Usage, "no action given: `tkc cache list|stats|prune|clear|export|import`");
  const Action &action = actionNamed(left[0]);
  for (const std::string &name : given)
    if (std::find(action.flags.begin(), action.flags.end(), name) == action.flags.end())
      throw Failure(Status::Usage, fmt::format("`tkc cache {}` has no option `{}`; `tkc cache --help` lists the options", action.name, name));
  if (action.takesFile && left.size() != 2)
    throw Failure(Status::Usage, fmt::format("`tkc cache {}` needs one file, found {} arguments", action.name, left.size() - 1));
  if (!action.takesFile && left.size() > 1)
    throw Failure(Status::Usage, fmt::format("`tkc cache {}` takes no argument, found `{}`", action.name, left[1]));
  if (action.takesFile)
    options.file = left[1];

  DiskCache *cache = DiskCache::process();
  DiskCache none({.folder = ""}); // a folder that never is
  if (!cache) {
    if (action.takesFile)
      throw Failure(Status::Usage, fmt::format("the disk cache is off: `tkc cache {}` needs a folder in TKC_CACHE_DIR", action.name));
    std::fputs("tkc: the disk cache is off: TKC_CACHE_DIR is `none`, or there is no home folder\n", stderr);
    cache = &none;
  }
  // The library would warn and go on as without a cache; here the cache is what is asked for.
  if (std::string why = cache->problem(); !why.empty())
    throw Failure(Status::Device, why);
  action.run(*cache, options);
  return 0;
}

} // namespace tk::tool
