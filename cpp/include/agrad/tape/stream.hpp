// Stream: a growing array of plain values, written through a pointer after one check of the free capacity.
//
// std::vector::push_back checks and updates the size at every element. The tape checks once for each statement (`room`), writes
// through the returned pointer, and then reports the number of values written (`advance`). Shrinking releases no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include <agrad/base/error.hpp>

namespace agrad {

template <class T>
class stream {
  static_assert(std::is_trivially_copyable_v<T>, "a stream copies its values as bytes");

 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { std::free(memory_); }
  void swap(stream& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(begin_, other.begin_);
    std::swap(end_, other.end_), std::swap(limit_, other.limit_);
  }

  bool has_room(std::size_t n) const { return static_cast<std::size_t>(limit_ - end_) >= n; }
  /// Returns a pointer to space for n more values; `advance` then counts the values written.
  T* room(std::size_t n) {
    if (AGRAD_UNLIKELY(!has_room(n))) grow(n);
    return end_;
  }
  void advance(std::size_t n) { end_ += n; }

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  void shrink(std::size_t size) { end_ = begin_ + size; }
  std::size_t capacity() const { return static_cast<std::size_t>(limit_ - begin_); }
  T* data() { return begin_; }
  const T* data() const { return begin_; }
  T* end() { return end_; }
  T& operator[](std::size_t i) { return begin_[i]; }
  const T& operator[](std::size_t i) const { return begin_[i]; }

 private:
  static constexpr std::size_t alignment = 64;  // a cache line; no packet type needs more

  // This uses realloc, which moves page tables instead of bytes for large blocks.
  AGRAD_COLD void grow(std::size_t n) {
    const std::size_t used = size(), offset = begin_ == nullptr ? 0 : bytes_before(begin_);
    std::size_t required = capacity() < 512 ? 1024 : 2 * capacity();
    if (required < used + n) required = used + n;
    void* memory = std::realloc(memory_, required * sizeof(T) + alignment);
    if (memory == nullptr) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    std::byte* begin = memory_ + (alignment - reinterpret_cast<std::uintptr_t>(memory_) % alignment) % alignment;
    if (begin != memory_ + offset) std::memmove(begin, memory_ + offset, used * sizeof(T));
    begin_ = reinterpret_cast<T*>(begin);
    end_ = begin_ + used;
    limit_ = begin_ + required;
  }
  std::size_t bytes_before(const T* begin) const {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(begin) - memory_);
  }

  std::byte* memory_ = nullptr;
  T* begin_ = nullptr;  // aligned, so that packets, and the last bits of sums, do not depend on the address of the memory
  T* end_ = nullptr;
  T* limit_ = nullptr;
};

}  // namespace agrad
