// Arena: memory that is allocated piece by piece and released all at once, down to a mark.
//
// A rewound arena retains its blocks, so that the second gradient of a loop allocates nothing from the system. The arena calls
// no destructors; the tape has a list of the objects that own resources (tape/tape.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <agrad/base/error.hpp>

namespace agrad {

class arena {
 public:
  /// A position to rewind to.
  struct mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };

  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Allocates `bytes` uninitialised bytes, aligned for any packet type. The memory is valid until the arena rewinds below it.
  void* allocate(std::size_t bytes) {
    bytes = (bytes + alignment - 1) & ~(alignment - 1);
    if (AGRAD_UNLIKELY(current_ >= blocks_.size() || bytes > blocks_[current_].size - used_)) next_block(bytes);
    void* place = blocks_[current_].begin + used_;
    used_ += bytes;
    return place;
  }

  /// Allocates an uninitialised array of n objects of a trivial type.
  template <class T>
  T* allocate_array(std::size_t n) {
    return static_cast<T*>(allocate(n * sizeof(T)));
  }

  mark position() const { return {current_, used_}; }

  void rewind(const mark& to) {
    current_ = to.block;
    used_ = to.used;
  }

  /// Bytes in use, including the unused ends of full blocks.
  std::size_t used() const {
    std::size_t bytes = used_;
    for (std::size_t i = 0; i < current_; ++i) bytes += blocks_[i].size;
    return bytes;
  }

  /// Bytes allocated from the system.
  std::size_t capacity() const {
    std::size_t bytes = 0;
    for (const block& b : blocks_) bytes += b.size;
    return bytes;
  }

 private:
  static constexpr std::size_t alignment = 64;  // a cache line; no packet type needs more
  static constexpr std::size_t smallest_block = std::size_t{1} << 16;

  struct block {
    std::unique_ptr<std::byte[]> memory;
    std::byte* begin;
    std::size_t size;
  };

  AGRAD_COLD void next_block(std::size_t bytes) {
    std::size_t next = blocks_.empty() ? 0 : current_ + 1;
    while (next < blocks_.size() && blocks_[next].size < bytes) ++next;
    if (next == blocks_.size()) {
      const std::size_t size = std::max({bytes, smallest_block, blocks_.empty() ? 0 : 2 * blocks_.back().size});
      block fresh{std::unique_ptr<std::byte[]>(new std::byte[size + alignment]), nullptr, size};
      const auto address = reinterpret_cast<std::uintptr_t>(fresh.memory.get());
      fresh.begin = fresh.memory.get() + ((alignment - address % alignment) % alignment);
      blocks_.push_back(std::move(fresh));
    }
    current_ = next;
    used_ = 0;
  }

  std::vector<block> blocks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
};

}  // namespace agrad
