// Spaces: the arrays of numbers on which programs run, and the reuse of a recording's memory.
//
// A space is aligned, so that the packets of a loop begin at the same entries, and round alike, at any address. New entries are
// not initialised, because operations write them. The memory of an ended recording is stored for the thread's next recording,
// up to a limit: otherwise a function recorded at each call, with its data, would need new pages for each call. A space may be
// in page memory, which shows a program's constants; a copy of such a space is in memory of its own.
// Read next: program/machine/code.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/interrupt_pace.hpp>
#include <agrad/base/page_memory.hpp>

namespace agrad {

namespace detail {

template <class T>
struct space_allocator {
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  space_allocator() = default;
  explicit space_allocator(std::shared_ptr<page_memory> in) : pages(std::move(in)) {}
  template <class U>
  space_allocator(const space_allocator<U>& other) : pages(other.pages) {}  // NOLINT: allocators convert
  space_allocator select_on_container_copy_construction() const { return {}; }

  /// Takes the page memory, if it is there, free and as large; else other memory.
  T* allocate(std::size_t n) {
    if (pages != nullptr && pages->take(n)) return reinterpret_cast<T*>(pages->data());
    return Eigen::aligned_allocator<T>().allocate(n);
  }
  void deallocate(T* at, std::size_t n) noexcept {
    if (pages == nullptr || static_cast<void*>(at) != pages->data()) Eigen::aligned_allocator<T>().deallocate(at, n);
  }
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;  // without initialisation
  }
  template <class U, class... A>
  void construct(U* at, A&&... a) {
    ::new (static_cast<void*>(at)) U(std::forward<A>(a)...);
  }
  friend bool operator==(const space_allocator& a, const space_allocator& b) { return a.pages == b.pages; }
  friend bool operator!=(const space_allocator& a, const space_allocator& b) { return a.pages != b.pages; }

  std::shared_ptr<page_memory> pages;
};

}  // namespace detail

using space = std::vector<double, detail::space_allocator<double>>;

namespace detail {

/// Returns n zeros. Pages of many zeros take memory when they are first written.
inline space zeros(std::size_t n) {
  if (n >= page_memory::worthwhile)
    if (const auto pages = std::make_shared<page_memory>(n, false); pages->data() != nullptr)
      return space(n, space_allocator<double>(pages));
  space all(n);
  fill_zero(all.data(), n);
  return all;
}

/// Appends `n` numbers without initialisation. Moves large spaces in blocks and checks for interrupts between the blocks; an
/// interrupt leaves `values` as it was.
inline void grow(space& values, std::size_t n) {
  constexpr std::size_t block = std::size_t{1} << 20U;
  const std::size_t size = values.size();
  if (size <= block || size + n <= values.capacity()) return values.resize(size + n);
  space larger;
  larger.reserve(size + std::max(size, n));
  for (std::size_t at = 0; at < size; at += block) {
    const double* from = values.data() + at;
    larger.insert(larger.end(), from, from + std::min(block, size - at));
    poll_beside(size - at);
  }
  larger.resize(size + n);
  values = std::move(larger);
}

}  // namespace detail

/// Memory of ended recordings, one pool for each thread. Memory is a class with `clear` and `bytes`.
template <class Memory>
class memory_pool {
 public:
  static constexpr std::size_t most = 4, most_bytes = std::size_t{256} << 20U;  // in all

  /// Returns empty memory, with reserved room if the pool has any.
  static Memory acquire() {
    memory_pool* pool = mine();
    if (pool == nullptr || pool->free_.empty()) return {};
    Memory memory = std::move(pool->free_.back());
    pool->free_.pop_back();
    pool->bytes_ -= memory.bytes();
    return memory;
  }
  static void release(Memory& memory) noexcept {
    memory_pool* pool = mine();
    if (pool == nullptr || pool->free_.size() == most || pool->bytes_ + memory.bytes() > most_bytes) return;
    memory.clear();
    pool->bytes_ += memory.bytes();
    pool->free_.push_back(std::move(memory));  // does not allocate: the vector has reserved room
  }

 private:
  explicit memory_pool(bool& is_over) : is_over_(is_over) { free_.reserve(most); }
  ~memory_pool() { is_over_ = true; }

  /// Returns null when the thread has ended: a recording may outlive the thread's pool.
  static memory_pool* mine() {
    thread_local bool is_over = false;
    thread_local memory_pool pool(is_over);
    return is_over ? nullptr : &pool;
  }

  std::vector<Memory> free_;
  std::size_t bytes_ = 0;
  bool& is_over_;
};

}  // namespace agrad
