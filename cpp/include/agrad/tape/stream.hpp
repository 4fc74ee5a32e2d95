// Stream: a growing array of plain values with an unchecked append, and the statement codes that the tape writes into one.
//
// std::vector::push_back checks and updates a capacity at every element; the tape checks once a statement (`reserve`) and
// then writes through the end pointer. Storage is kept when the stream shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

#include <agrad/base/error.hpp>

namespace agrad {

template <class T>
class stream {
  static_assert(std::is_trivially_copyable_v<T>, "a stream moves its values as bytes");

 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { std::free(begin_); }

  /// Makes room for n more values.
  void reserve(std::size_t n) {
    if (AGRAD_UNLIKELY(static_cast<std::size_t>(limit_ - end_) < n)) grow(n);
  }
  /// Appends without a check: only after `reserve`.
  void push(T value) { *end_++ = value; }
  /// Appends a value with the check.
  void append(T value) {
    reserve(1);
    push(value);
  }

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  void shrink(std::size_t size) { end_ = begin_ + size; }
  std::size_t capacity() const { return static_cast<std::size_t>(limit_ - begin_); }
  T* data() { return begin_; }
  const T* data() const { return begin_; }
  T& operator[](std::size_t i) { return begin_[i]; }
  const T& operator[](std::size_t i) const { return begin_[i]; }

 private:
  // realloc, because for large blocks it moves page tables instead of bytes.
  AGRAD_COLD void grow(std::size_t n) {
    const std::size_t used = size();
    std::size_t wanted = capacity() < 512 ? 1024 : 2 * capacity();
    if (wanted < used + n) wanted = used + n;
    void* memory = std::realloc(static_cast<void*>(begin_), wanted * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    begin_ = static_cast<T*>(memory);
    end_ = begin_ + used;
    limit_ = begin_ + wanted;
  }

  T* begin_ = nullptr;
  T* end_ = nullptr;
  T* limit_ = nullptr;
};

/// One byte a statement: how many leaves it has and what it does to the indices.
namespace statement {
inline constexpr std::uint8_t increment = 0x80;  // flag: the target keeps its index, which follows the leaves' indices
inline constexpr std::uint8_t closure = 0x7f;    // the next closure of the tape's list
inline constexpr std::uint8_t block = 0x7e;      // as many fresh indices as the index stream says
inline constexpr int max_leaves = 0x7d;          // of an ordinary statement, which makes one fresh index
}  // namespace statement

}  // namespace agrad
