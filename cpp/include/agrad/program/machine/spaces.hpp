// Spaces: the arrays of numbers that programs run on, and what of a recording's memory is used again.
//
// A space is aligned, so that packets of a run begin at the same entries, and round alike, wherever it lies. Its new entries
// are left as they are, because operations fill them. What a recording has held when it ends is held for the thread's next
// one, up to a limit: a function that is recorded at each call, with its data, would else have its pages made anew each time.
// Read next: program/machine/code.hpp.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace agrad {

namespace detail {

template <class T>
struct space_allocator : Eigen::aligned_allocator<T> {
  template <class U>
  struct rebind {
    using other = space_allocator<U>;
  };
  space_allocator() = default;
  template <class U>
  space_allocator(const space_allocator<U>&) {}  // NOLINT: allocators convert
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;  // without a value
  }
  template <class U, class... A>
  void construct(U* at, A&&... a) {
    ::new (static_cast<void*>(at)) U(std::forward<A>(a)...);
  }
};

}  // namespace detail

using space = std::vector<double, detail::space_allocator<double>>;

/// Memory of ended recordings, one pool a thread. Memory is a class with `clear` and `bytes`.
template <class Memory>
class memory_pool {
 public:
  static constexpr std::size_t most = 4, most_bytes = std::size_t{64} << 20U;

  /// An empty one, with room if there is one with room.
  static Memory take() {
    memory_pool* pool = mine();
    if (pool == nullptr || pool->free_.empty()) return {};
    Memory memory = std::move(pool->free_.back());
    pool->free_.pop_back();
    return memory;
  }
  static void put(Memory& memory) noexcept {
    memory_pool* pool = mine();
    if (pool == nullptr || pool->free_.size() == most || memory.bytes() > most_bytes) return;
    memory.clear();
    pool->free_.push_back(std::move(memory));  // within its reserve
  }

 private:
  explicit memory_pool(bool& is_over) : is_over_(is_over) { free_.reserve(most); }
  ~memory_pool() { is_over_ = true; }

  /// Null when the thread has ended: a recording may outlive its thread's pool.
  static memory_pool* mine() {
    thread_local bool is_over = false;
    thread_local memory_pool pool(is_over);
    return is_over ? nullptr : &pool;
  }

  std::vector<Memory> free_;
  bool& is_over_;
};

}  // namespace agrad
