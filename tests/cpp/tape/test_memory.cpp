// Memory that is exhausted while a tape grows: the recording ends in std::bad_alloc when it is swept, not before, and the
// tape is usable again when what was too long is gone.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>
#include <cmath>
#include <new>

#include "resident_memory.hpp"

#if defined(__linux__) && !AGRAD_TESTS_SANITIZED
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace test_memory {

using agrad::active_tape;
using agrad::scope;
using agrad::tape;
using agrad::var;

namespace {

/// No more address space than `spare` bytes beyond what the process has, while it lives.
class limited_memory {
 public:
  explicit limited_memory(rlim_t spare) {
    getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + spare, before_.rlim_max};
    setrlimit(RLIMIT_AS, &now);
  }
  ~limited_memory() { setrlimit(RLIMIT_AS, &before_); }
  limited_memory(const limited_memory&) = delete;
  limited_memory& operator=(const limited_memory&) = delete;

 private:
  rlimit before_;
};

}  // namespace

TEST_CASE("a recording that is too long for the memory ends in bad_alloc, and a shorter one follows") {
  tape own;
  const active_tape use(own);
  const var x = 0.5;
  const var before = sin(x);
  {
    const limited_memory limit(rlim_t{64} << 20);
    const scope inner;
    var y = x;
    for (int i = 0; i < 5'000'000; ++i) y = sin(y) + x;  // 160 MB
    CHECK(std::isfinite(y.val()));
    CHECK_THROWS_AS(y.grad(), std::bad_alloc);
    CHECK_THROWS_AS(y.grad(), std::bad_alloc);
  }
  before.grad();
  CHECK(x.adj() == std::cos(0.5));
  const scope again;
  const var z = x * before;
  z.grad();
  CHECK(z.val() == 0.5 * std::sin(0.5));
}

TEST_CASE("an outer scope whose last statements were written over is not swept either") {
  tape own;
  const active_tape use(own);
  const limited_memory limit(rlim_t{64} << 20);
  const var x = 0.5;
  var y = x;
  for (int i = 0; i < 5'000'000; ++i) y = sin(y) + x;
  { const scope inner; }
  CHECK_THROWS_AS(y.grad(), std::bad_alloc);
  own.reset();
  const var u = 2.0, v = u * u;
  v.grad();
  CHECK(u.adj() == 4);
}

}  // namespace test_memory
#endif
