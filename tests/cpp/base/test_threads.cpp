// Work in several threads: requests to stop, and what worker threads take over from the thread for which they work.
#include <doctest/doctest.h>

#include <agrad/base/threads.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace agrad;

namespace {

void work(std::size_t parts, const std::function<void(std::size_t)>& part) {
  run_in_threads(parts, 3, part, [] { return 0; });
}

/// Polls until the part is to stop; fails after a minute.
void poll_for_long() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::minutes(1)) {
    poll_interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("the part was not stopped");
}

}  // namespace

TEST_CASE("a caller's request to stop ends the parts in all threads, and is told") {
  std::atomic<bool> stop{false};
  stop_requested = &stop;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  CHECK_THROWS_AS(work(6, [](std::size_t) { poll_for_long(); }), stopped);
  other.join();
  CHECK(stop_requested == &stop);
  stop_requested = nullptr;
}

TEST_CASE("a caller's request to stop is told where its own part has ended before the others") {
  std::atomic<bool> stop{false};
  stop_requested = &stop;
  std::atomic<bool> polls{false};
  const auto caller = std::this_thread::get_id();
  CHECK_THROWS_AS(work(3,
                       [&](std::size_t) {
                         if (std::this_thread::get_id() != caller) {
                           polls = true;
                           return poll_for_long();
                         }
                         while (!polls) std::this_thread::yield();
                         stop = true;
                       }),
                  stopped);
  stop_requested = nullptr;
}

TEST_CASE("worker threads do without the host where their caller does") {
  for (const bool without : {true, false}) {
    is_without_host = without;
    std::atomic<int> same{0};
    work(8, [&](std::size_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      same += static_cast<int>(is_without_host == without);
    });
    CHECK(same == 8);
  }
  is_without_host = false;
}
