// See Worker.h. The child writes one line when it begins a case and one for each outcome; the parent reads them, and knows what was going on when the child ends early.
#include "test/conformance/Worker.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tk::conformance {

namespace {
using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A problem on one line.
std::string escape(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '\n' || c == '\t' ? ' ' : c;
  return result;
}

void writeAll(int to, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t written = write(to, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR)
      _exit(3); // the parent is gone
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
}

[[noreturn]] void work(const Suite &suite, const std::vector<size_t> &indices, size_t from, const RunOptions &options, int to) {
  Executor executor;
  for (size_t i = from; i < indices.size(); ++i) {
    writeAll(to, "begin\n");
    auto start = Clock::now();
    std::string text;
    for (const Outcome &outcome : executor.run(suite.cases[indices[i]], options.only))
      text += fmt::format("outcome\t{}\t{}\n", outcome.execution, escape(outcome.problem));
    writeAll(to, fmt::format("{}end\t{}\n", text, secondsSince(start)));
    if (executor.isSpent()) {
      writeAll(to, "spent\n");
      break;
    }
  }
  _exit(0); // no destructors: threads may still be about
}

/// One child and the lines it writes.
class Child {
public:
  Child(const Suite &suite, const std::vector<size_t> &indices, size_t from, const RunOptions &options) {
    int ends[2];
    if (pipe(ends) != 0)
      throw std::runtime_error("no pipe");
    std::fflush(nullptr);
    process = fork();
    if (process < 0)
      throw std::runtime_error("no process");
    if (process == 0) {
      close(ends[0]);
      work(suite, indices, from, options, ends[1]);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ~Child() { close(from_); }

  enum class Read { Line, End, TimedOut };
  Read readLine(std::string &line, unsigned seconds) {
    while (true) {
      if (size_t end = buffer.find('\n'); end != std::string::npos) {
        line = buffer.substr(0, end);
        buffer.erase(0, end + 1);
        return Read::Line;
      }
      pollfd waiting = {from_, POLLIN, 0};
      int ready = poll(&waiting, 1, static_cast<int>(seconds) * 1000);
      if (ready == 0)
        return Read::TimedOut;
      char chunk[65536];
      ssize_t count = ready < 0 ? -1 : read(from_, chunk, sizeof(chunk));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return Read::End;
      buffer.append(chunk, static_cast<size_t>(count));
    }
  }
  void kill() { ::kill(process, SIGKILL); }
  /// How it ended: "" for well.
  std::string wait() {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
      ;
    if (WIFSIGNALED(status))
      return fmt::format("the process was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) ? fmt::format("the process ended with status {}", WEXITSTATUS(status)) : "";
  }

private:
  pid_t process = -1;
  int from_ = -1;
  std::string buffer;
};

std::vector<std::string> fields(const std::string &line) {
  std::vector<std::string> result(1);
  for (char c : line)
    if (c == '\t')
      result.emplace_back();
    else
      result.back() += c;
  return result;
}

/// The execution that a child was busy with: the first that has no outcome yet.
std::string executionAfter(const Case &testCase, const std::vector<Outcome> &outcomes, const RunOptions &options) {
  if (!options.only.empty())
    return options.only;
  if (!testCase.diagnostic.empty())
    return "compile";
  return outcomes.empty() ? "interpreter or cpu" : testCase.targets[std::min(outcomes.size() - 1, testCase.targets.size() - 1)];
}
} // namespace

static void runHere(const Suite &suite, const std::vector<size_t> &indices, const RunOptions &options, const std::function<void(const Report &)> &receive) {
  auto executor = std::make_unique<Executor>();
  for (size_t index : indices) {
    auto start = Clock::now();
    std::vector<Outcome> outcomes = executor->run(suite.cases[index], options.only);
    receive({index, outcomes, secondsSince(start)});
    if (executor->isSpent())
      executor = std::make_unique<Executor>();
  }
}

/// One child after another.
static void runInChildren(const Suite &suite, const std::vector<size_t> &indices, const RunOptions &options, const std::function<void(const Report &)> &receive) {
  for (size_t next = 0; next < indices.size();) {
    Child child(suite, indices, next, options);
    Report report{indices[next], {}, 0};
    std::string line;
    Child::Read read;
    bool begun = false, spent = false;
    while ((read = child.readLine(line, options.secondsPerCase)) == Child::Read::Line) {
      std::vector<std::string> parts = fields(line);
      if (parts[0] == "begin")
        begun = true;
      else if (parts[0] == "outcome" && parts.size() == 3)
        report.outcomes.push_back({parts[1], parts[2]});
      else if (parts[0] == "spent")
        spent = true;
      else if (parts[0] == "end" && parts.size() == 2) {
        report.seconds = std::stod(parts[1]);
        receive(report);
        if (++next < indices.size())
          report = {indices[next], {}, 0};
        begun = false;
      }
    }
    if (read == Child::Read::TimedOut)
      child.kill();
    std::string ended = child.wait();
    if (next == indices.size())
      return;
    if (spent)
      continue;
    if (read == Child::Read::TimedOut)
      ended = fmt::format("no end after {} s", options.secondsPerCase);
    report.outcomes.push_back({executionAfter(suite.cases[report.index], report.outcomes, options),
                               begun ? fmt::format("expected success found that {}", ended.empty() ? "the process ended" : ended) : "the worker could not start"});
    receive(report);
    ++next;
  }
}

void runCases(const Suite &suite, const std::vector<size_t> &indices, const RunOptions &options, const std::function<void(const Report &)> &receive) {
  if (options.inThisProcess)
    return runHere(suite, indices, options, receive);
  if (options.jobs <= 1)
    return runInChildren(suite, indices, options, receive);
  std::vector<std::vector<size_t>> shares(options.jobs);
  for (size_t i = 0; i < indices.size(); ++i)
    shares[i % options.jobs].push_back(indices[i]);
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (const std::vector<size_t> &share : shares)
    threads.emplace_back([&] {
      runInChildren(suite, share, options, [&](const Report &report) {
        std::lock_guard lock(mutex);
        receive(report);
      });
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace tk::conformance
