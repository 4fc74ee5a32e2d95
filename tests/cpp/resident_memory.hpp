// Resident memory: bytes of this process that are in memory, for tests that nothing is left behind.
#pragma once

#if defined(__linux__)
#include <unistd.h>
#endif

#include <fstream>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AGRAD_TESTS_SANITIZED 1
#elif defined(__has_feature)
#define AGRAD_TESTS_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define AGRAD_TESTS_SANITIZED 0
#endif

/// Bytes; 0 where they are not known or say nothing: a sanitizer keeps freed memory for a while, and counts leaks itself.
inline long resident_bytes() {
#if defined(__linux__) && !AGRAD_TESTS_SANITIZED
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
#else
  return 0;
#endif
}
