// Fork-safe mutex: a mutex that is never left locked in a forked child by a thread of the parent.
//
// A child has a copy of all memory, but only the thread that forked: a mutex locked by another thread would stay locked. All
// mutexes of this kind are therefore locked before a fork and unlocked after the fork in both processes, so that the child also
// finds the protected data complete. For this purpose the mutexes form a list, which costs some nanoseconds for each
// construction, and next to nothing for each lock. A thread that holds such a mutex must not fork, nor wait for a thread that
// may fork (Python's lock is held while Python forks).
// Source: POSIX.1-2017, pthread_atfork, rationale.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace agrad {

/// A `std::mutex` for data shared by the threads of a process that may fork.
class fork_safe_mutex {
 public:
  fork_safe_mutex() { list::all().add(*this); }
  ~fork_safe_mutex() { list::all().remove(*this); }
  fork_safe_mutex(const fork_safe_mutex&) = delete;
  fork_safe_mutex& operator=(const fork_safe_mutex&) = delete;

  void lock() {
    if (list::fork_waits().load(std::memory_order_relaxed)) list::let_it_pass();
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  class list {
   public:
    /// Never destroyed, because static objects may have such mutexes.
    static list& all() {
      static list& only = *new list;
      return only;
    }

    /// Whether a fork waits for mutexes. Threads that lock and unlock without a pause would otherwise block the fork.
    static std::atomic<bool>& fork_waits() {
      static std::atomic<bool> waits{false};
      return waits;
    }
    static void let_it_pass() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

    void add(fork_safe_mutex& each) {
      const std::lock_guard<std::mutex> locked(mutex_);
      each.next_ = first_;
      if (first_ != nullptr) first_->before_ = &each;
      first_ = &each;
    }
    void remove(fork_safe_mutex& each) {
      const std::lock_guard<std::mutex> locked(mutex_);
      (each.before_ != nullptr ? each.before_->next_ : first_) = each.next_;
      if (each.next_ != nullptr) each.next_->before_ = each.before_;
    }

   private:
    list() {
#if defined(__unix__) || defined(__APPLE__)
      pthread_atfork(acquire, release, release);
#endif
    }

    // A thread may hold one mutex and wait for another, in any order: `acquire` holds nothing while waiting.
    static void acquire() {
      fork_waits() = true;
      while (!all().try_to_acquire()) std::this_thread::yield();
      fork_waits() = false;
    }
    static void release() {
      all().unlock_until(nullptr);
      all().mutex_.unlock();
    }

    bool try_to_acquire() {
      mutex_.lock();
      for (fork_safe_mutex* each = first_; each != nullptr; each = each->next_) {
        if (each->try_lock()) continue;
        unlock_until(each);
        mutex_.unlock();
        return false;
      }
      return true;
    }
    void unlock_until(const fork_safe_mutex* end) {
      for (fork_safe_mutex* each = first_; each != end; each = each->next_) each->unlock();
    }

    std::mutex mutex_;
    fork_safe_mutex* first_ = nullptr;
  };

  std::mutex mutex_;
  fork_safe_mutex *before_ = nullptr, *next_ = nullptr;
};

}  // namespace agrad
