// Page memory: whole pages of numbers from the operating system, some of which may show the pages of other memory.
//
// Large constants of a program are in memory once, although each thread's space of values begins with them. Only Linux maps the
// pages of a process again without a file; elsewhere page memory is empty, and its users copy the numbers.
#pragma once

#include <cstddef>
#include <utility>

namespace agrad::detail {

class page_memory {
 public:
  /// Fewer numbers are copied or set to zero faster than their pages are mapped.
  static constexpr std::size_t worthwhile = std::size_t{1} << 15U;

  page_memory() = default;
  /// Takes pages for n numbers, which are zero. Memory `to_show` can be shown by other memory.
  page_memory(std::size_t n, bool to_show);
  ~page_memory();
  page_memory(const page_memory&) = delete;
  page_memory& operator=(const page_memory&) = delete;

  /// The first number; null if the system had no pages.
  double* data() const { return data_; }

  /// Shows the whole pages among the numbers [first, last) of `from` at the same places of this memory, to read only. Returns
  /// the range of these numbers. This memory is empty if the system refuses.
  std::pair<std::size_t, std::size_t> show(const page_memory& from, std::size_t first, std::size_t last);

  /// Returns whether the memory is for n numbers and has not been taken before.
  bool take(std::size_t n) { return data_ != nullptr && n == size_ && !std::exchange(is_taken_, true); }

 private:
  double* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_taken_ = false;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/base/page_memory.ipp>
#endif
