// Definitions of base/page_memory.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/base/page_memory.hpp>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace agrad::detail {

#if defined(__linux__) && defined(MREMAP_FIXED)

AGRAD_INLINE page_memory::page_memory(std::size_t n, bool to_show) : size_(n) {
  const std::size_t bytes = n * sizeof(double);
  const int kind = MAP_ANONYMOUS | (to_show ? MAP_SHARED : MAP_PRIVATE);
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, -1, 0);
  if (at == MAP_FAILED) return;
  data_ = static_cast<double*>(at);
  if (!to_show) return;
  void* again = ::mremap(at, 0, bytes, MREMAP_MAYMOVE);  // not every system that runs Linux programs can do this
  if (again != MAP_FAILED) {
    ::munmap(again, bytes);
    return;
  }
  ::munmap(at, bytes);
  data_ = nullptr;
}

AGRAD_INLINE page_memory::~page_memory() {
  if (data_ != nullptr) ::munmap(data_, size_ * sizeof(double));
}

AGRAD_INLINE std::pair<std::size_t, std::size_t> page_memory::show(const page_memory& from, std::size_t first,
                                                                   std::size_t last) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / sizeof(double);
  first = (first + page - 1) / page * page;
  last = last / page * page;
  if (data_ == nullptr || first >= last) return {0, 0};
  const std::size_t bytes = (last - first) * sizeof(double);
  // With an old size of zero, shared pages are mapped once more.
  if (::mremap(from.data_ + first, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, data_ + first) != MAP_FAILED) {
    ::mprotect(data_ + first, bytes, PROT_READ);
    return {first, last};
  }
  // The range may be free now, and another thread's.
  if (first > 0) ::munmap(data_, first * sizeof(double));
  if (last < size_) ::munmap(data_ + last, (size_ - last) * sizeof(double));
  data_ = nullptr;
  return {0, 0};
}

#else

AGRAD_INLINE page_memory::page_memory(std::size_t n, bool) : size_(n) {}
AGRAD_INLINE page_memory::~page_memory() = default;
AGRAD_INLINE std::pair<std::size_t, std::size_t> page_memory::show(const page_memory&, std::size_t, std::size_t) {
  return {0, 0};
}

#endif

}  // namespace agrad::detail
