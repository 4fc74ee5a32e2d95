// A driver is a program of one library: it lists its rows, and measures one row a process, so that no row sees another's
// memory.
//
//     driver --list                                          title|form|n|variant|is memory measured, below the library's name
//     driver --row TITLE FORM N VARIANT [--repetitions R]    one line: status,plain_ns,gradient_ns,ratio,quartiles
//     driver --memory TITLE FORM N VARIANT                   one line: status,growth of resident bytes,ns,bytes an operation
//
// A variant is a way to write the gradient with the library: `scalar` for templates on its scalar, other names for forms of its
// own.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cases/log_determinant.hpp"
#include "cases/log_sum_exp.hpp"
#include "cases/logistic.hpp"
#include "cases/lotka_volterra.hpp"
#include "cases/matrix_product.hpp"
#include "cases/normal.hpp"
#include "cases/product.hpp"
#include "cases/sums.hpp"
#include "measure.hpp"

namespace bench {

/// What gradients are verified with: the gradient by hand, and that one with differences.
enum class verification { by_hand, by_differences };

class driver {
 public:
  explicit driver(std::string library, verification how = verification::by_hand) : library_(std::move(library)), verify_(how) {}

  /// Adds a case in all its sizes. `form`: "loop", "eigen" or "library". `make(f)` gives the gradient: a callable that takes
  /// the point and the vector to write into, and returns the value.
  template <class Case, class Make>
  void add(const char* form, const char* variant, Make make) {
    for (const long n : Case::sizes) {
      row r{Case::title, form, variant, n, nullptr, nullptr};
      r.time = [=](const effort& spend) {
        const Case f(n);
        time(f, make(f), spend);
      };
      if constexpr (has_operations<Case>) {
        r.memory = [=] {
          const Case small(Case::sizes[0]), f(n);
          memory(small, make(small), f, make(f));
        };
      }
      rows_.push_back(std::move(r));
    }
  }

  /// Adds all cases in the forms that only need a scalar. `Engine::gradient(f, x, g)` returns the value.
  template <class Engine>
  void add_scalar() {
    add_scalar_case<Engine, neighbours>();
    add_scalar_case<Engine, product>();
    add_scalar_case<Engine, elementwise>();
    add_scalar_case<Engine, log_sum_exp>();
    add_scalar_case<Engine, normal>();
    add_scalar_case<Engine, logistic>();
    add_scalar_case<Engine, matrix_product_loops>();
    add_scalar_case<Engine, matrix_product>();
    add_scalar_case<Engine, log_determinant_loops>();
    add_scalar_case<Engine, log_determinant>();
    add_scalar_case<Engine, lotka_volterra>();
  }

  int run(int argc, char** argv) const {
    const std::string action = argc > 1 ? argv[1] : "--list";
    if (action == "--list") return list();
    effort spend;
    for (int i = 6; i + 1 < argc; ++i)
      if (std::strcmp(argv[i], "--repetitions") == 0) spend.repetitions = std::atoi(argv[i + 1]);
    for (const row& r : rows_) {
      if (argc < 6 || r.title != argv[2] || r.form != argv[3] || std::to_string(r.n) != argv[4] || r.variant != argv[5])
        continue;
      if (action == "--row") return r.time(spend), 0;
      if (action == "--memory" && r.memory) return r.memory(), 0;
    }
    std::fprintf(stderr, "%s: there is no such row to measure; --list shows all rows\n", library_.c_str());
    return 2;
  }

 private:
  struct row {
    std::string title, form, variant;
    long n;
    std::function<void(const effort&)> time;
    std::function<void()> memory;
  };

  template <class Engine, class Case>
  void add_scalar_case() {
    add<Case>(Case::form, "scalar", [](const Case& f) {
      return [&f](const vector_of<double>& x, vector_of<double>& g) { return Engine::gradient(f, x, g); };
    });
  }

  template <class Case, class Gradient>
  void time(const Case& f, const Gradient& gradient, const effort& spend) const {
    const bool by_hand = verify_ == verification::by_hand;
    const double error = by_hand ? largest_error(f, gradient) : largest_error_of_differences(f);
    if (!(error <= (by_hand ? 1e-10 : 1e-7))) {
      std::printf("WRONG by %.1e,,,,,\n", error);
      return;
    }
    const vector_of<double> x = f.start(0);
    vector_of<double> g = vector_of<double>::Zero(x.size());
    const times t = compare([&f](const vector_of<double>& at) { return f(at); },
                            [&](const vector_of<double>& at) { return gradient(at, g); }, x, spend);
    std::printf("ok,%.5g,%.5g,%.4g,%.4g,%.4g\n", t.plain_ns, t.gradient_ns, t.ratio, t.lower_quartile, t.upper_quartile);
  }

  template <class Case, class Gradient>
  static void memory(const Case& small, const Gradient& of_small, const Case& f, const Gradient& gradient) {
    vector_of<double> x = small.start(0), g = vector_of<double>::Zero(x.size());
    of_small(x, g);  // loads the program's pages
    x = f.start(0);
    g = vector_of<double>::Zero(x.size());
    const growth grown = growth_of_memory(gradient, x, g);
    std::printf("ok,%.0f,%.5g,%.2f\n", grown.bytes, grown.ns, grown.bytes / f.operations());
  }

  int list() const {
    std::printf("%s\n", library_.c_str());
    for (const row& r : rows_)
      std::printf("%s|%s|%ld|%s|%d\n", r.title.c_str(), r.form.c_str(), r.n, r.variant.c_str(), r.memory ? 1 : 0);
    return 0;
  }

  std::string library_;
  verification verify_;
  std::vector<row> rows_;
};

}  // namespace bench
