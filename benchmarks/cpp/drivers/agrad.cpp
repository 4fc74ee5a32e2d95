// agrad: its functional `gradient` for templates, matrix<var> and the library's functions for the library forms.
#include <agrad/agrad.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/tape/matrix/linalg.hpp>

#include "cases/chain.hpp"
#include "driver.hpp"

namespace {
using agrad::matrix, agrad::var;
using numbers = bench::vector_of<double>;

struct scalar {
  template <class F>
  static double gradient(const F& f, const numbers& x, numbers& g) {
    double value;
    agrad::gradient(f, x, value, g);
    return value;
  }
};

/// A function of a vector of var, as `scalar` gives it.
template <class F>
auto on_variables(F f) {
  return [f](const numbers& x, numbers& g) { return scalar::gradient(f, x, g); };
}

/// A function of one vector whose values and adjoints are contiguous.
template <class F>
auto on_vector(F f) {
  return [f](const numbers& x, numbers& g) {
    const agrad::scope own;
    const matrix<var> v(x);
    const var y = f(v);
    y.grad();
    g = v.adj();
    return y.val();
  };
}

void add_sums(bench::driver& rows) {
  rows.add<bench::neighbours>("library", "matrix<var>", [](const auto&) {
    return on_vector([](const matrix<var>& x) -> var {
      const auto n = x.size();
      return dot(x.head(n - 1), x.tail(n - 1)) + x[n - 1] * x[0];
    });
  });
  rows.add<bench::product>("library", "prod",
                           [](const auto&) { return on_vector([](const matrix<var>& x) { return prod(x); }); });
  rows.add<bench::elementwise>("library", "matrix<var>", [](const auto&) {
    return on_vector([](const matrix<var>& x) { return dot(exp(sin(x)), log1p(square(x))); });
  });
  rows.add<bench::log_sum_exp>("library", "log_sum_exp",
                               [](const auto&) { return on_vector([](const matrix<var>& x) { return log_sum_exp(x); }); });
}

void add_densities(bench::driver& rows) {
  rows.add<bench::normal>("library", "normal_lpdf", [](const bench::normal& f) {
    return on_variables([&f](const auto& x) { return agrad::normal_lpdf(f.observations(), x[0], x[1]); });
  });
  rows.add<bench::logistic>("library", "bernoulli_logit_glm_lpmf", [](const bench::logistic& f) {
    return on_vector(
        [&f](const matrix<var>& beta) { return agrad::bernoulli_logit_glm_lpmf(f.outcomes(), f.predictors(), 0.0, beta); });
  });
}

void add_matrices(bench::driver& rows) {
  rows.add<bench::matrix_product>("library", "matrix<var>", [](const bench::matrix_product& f) {
    return [n = f.rows()](const numbers& x, numbers& g) {
      const agrad::scope own;
      const matrix<var> a(x.head(n * n).reshaped(n, n)), b(x.tail(n * n).reshaped(n, n));
      const var y = sum(a * b);
      y.grad();
      g.head(n * n).reshaped(n, n) = a.adj();
      g.tail(n * n).reshaped(n, n) = b.adj();
      return y.val();
    };
  });
  rows.add<bench::log_determinant>("library", "log_determinant_spd", [](const bench::log_determinant& f) {
    return [n = f.rows()](const numbers& x, numbers& g) {
      const agrad::scope own;
      const matrix<var> a(x.reshaped(n, n));
      const var y = agrad::log_determinant_spd(a);
      y.grad();
      g.reshaped(n, n) = a.adj();
      return y.val();
    };
  });
}
}  // namespace

int main(int argc, char** argv) {
  bench::driver rows("agrad");
  rows.add_scalar<scalar>();
  rows.add<bench::chain>("loop", "scalar", [](const bench::chain& f) { return on_variables(f); });
  add_sums(rows);
  add_densities(rows);
  add_matrices(rows);
  return rows.run(argc, argv);
}
