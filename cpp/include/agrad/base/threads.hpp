// Threads: runs the parts of a computation on several threads.
//
// The calling thread runs parts, too, so that it can be interrupted. Of several exceptions that of the first part is rethrown,
// whichever thread was faster; no more parts begin after one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <agrad/base/interrupt.hpp>

namespace agrad {

namespace detail {

/// The data that the threads share.
struct shared_work {
  explicit shared_work(std::size_t parts) : thrown(parts + 1) {}
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false}, interrupted{false};  // no more parts begin; running parts end
  std::vector<std::exception_ptr> thrown;               // by each part, and while waiting for the other threads
  std::mutex mutex;
  std::condition_variable one_less;
  std::size_t working = 0;  // number of other threads

  void store(std::size_t i) {
    thrown[i] = std::current_exception();
    if (was_interrupted) interrupted = true;
    failed = true;
  }

  template <class Run>
  void work(std::size_t parts, const Run& run) {
    for (std::size_t i = next++; i < parts && !failed; i = next++) {
      try {
        run(i);
      } catch (const stopped&) {
        if (stop_requested == &interrupted) return;
        store(i);  // the caller's own request
        interrupted = true;
      } catch (...) {
        store(i);
      }
    }
  }

  void end_thread() {
    const std::lock_guard<std::mutex> lock(mutex);
    --working;
    one_less.notify_one();
  }

  /// Waits for the other threads and checks for an interrupt meanwhile.
  void wait_for_others() {
    std::unique_lock<std::mutex> lock(mutex);
    while (!one_less.wait_for(lock, std::chrono::milliseconds(50), [&] { return working == 0; })) {
      if (interrupted) continue;
      try {
        poll_interrupt();
      } catch (...) {
        store(thrown.size() - 1);
        interrupted = true;
      }
    }
  }
};

}  // namespace detail

/// Calls run(0) ... run(parts - 1). threads: the most threads; 0 means one for each processor. begin(): called in each other
/// thread; its result exists as long as the thread works.
template <class Run, class Begin>
void run_in_threads(std::size_t parts, std::size_t threads, const Run& run, const Begin& begin) {
  if (threads == 0) threads = std::thread::hardware_concurrency();
  detail::shared_work all(parts);
  was_interrupted = false;
  std::vector<std::thread> others;
  all.working = std::max<std::size_t>(1, std::min(threads, parts)) - 1;
  const auto work_along = [&, without_host = is_without_host] {
    {
      [[maybe_unused]] const auto state = begin();
      stop_requested = &all.interrupted;
      is_without_host = without_host;
      all.work(parts, run);
    }
    all.end_thread();
  };
  for (std::size_t t = all.working; t-- > 0;) {
    try {
      others.emplace_back(work_along);
    } catch (const std::system_error&) {  // no more threads available
      all.end_thread();
    }
  }
  all.work(parts, run);
  all.wait_for_others();
  for (std::thread& each : others) each.join();
  for (const std::exception_ptr& each : all.thrown)
    if (each != nullptr) std::rethrow_exception(each);
}

}  // namespace agrad
