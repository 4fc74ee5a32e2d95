// A mutex and forks: children find it free and what it protects whole, whatever another thread did; no fork waits for ever.
#include <doctest/doctest.h>

#include <agrad/base/fork_safe_mutex.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "repetitions.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>

namespace test_fork_safe_mutex {

using agrad::fork_safe_mutex;
using locked = std::lock_guard<fork_safe_mutex>;

namespace {

/// The exit of a child that works; one that hangs is ended, and has none.
template <class Work>
int exit_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a child finds a mutex free that another thread had locked, and what it protects whole") {
  fork_safe_mutex outer, inner;
  long first = 0, second = 0;
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) {
      const locked one(outer);
      const locked two(inner);
      const auto made = std::make_unique<fork_safe_mutex>();
      ++first;
      for (int i = 0; i < 100; ++i) const locked three(*made);
      ++second;
    }
  });
  const auto is_whole = [&] {
    const locked one(outer);
    const locked two(inner);
    return first == second;
  };
  for (int i = 0; i < repetitions(300); ++i) REQUIRE(exit_of_child(is_whole) == 0);
  is_over = true;
  other.join();
  CHECK(is_whole());
}

TEST_CASE("a child of a child, and a mutex that is made and goes between forks") {
  const auto works = [](fork_safe_mutex& each) {
    const locked one(each);
    return true;
  };
  fork_safe_mutex mine;
  for (int i = 0; i < 3; ++i) {
    auto passing = std::make_unique<fork_safe_mutex>();
    const fork_safe_mutex another;
    CHECK(exit_of_child([&] { return works(mine) && exit_of_child([&] { return works(mine) && works(*passing); }) == 0; }) ==
          0);
    passing.reset();
    CHECK(exit_of_child([&] { return works(mine); }) == 0);
    CHECK(works(mine));
  }
}

}  // namespace test_fork_safe_mutex
#endif
