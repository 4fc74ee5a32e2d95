// Stan Math: its functional `gradient` for templates, its matrices (var_value<Matrix>) and functions for the library forms.
#include <stan/math/rev.hpp>

#include "driver.hpp"

namespace {
namespace sm = stan::math;
using bench::vector_of, bench::matrix_of;
using sm::var;
using var_vector = sm::var_value<Eigen::VectorXd>;
using var_matrix = sm::var_value<Eigen::MatrixXd>;
using numbers = vector_of<double>;

struct scalar {
  template <class F>
  static double gradient(const F& f, const numbers& x, numbers& g) {
    double value;
    sm::gradient(f, x, value, g);
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
    const sm::nested_rev_autodiff nested;
    const var_vector v(x);
    var y = f(v);
    y.grad();
    g = v.adj();
    return y.val();
  };
}

/// The same for a square matrix.
template <class F>
auto on_matrix(long n, F f) {
  return [n, f](const numbers& x, numbers& g) {
    const sm::nested_rev_autodiff nested;
    const var_matrix a(x.reshaped(n, n));
    var y = f(a);
    y.grad();
    g.reshaped(n, n) = a.adj();
    return y.val();
  };
}

void add_sums(bench::driver& rows) {
  rows.add<bench::neighbours>("library", "var_value", [](const auto&) {
    return on_vector([](const var_vector& x) -> var {
      const auto n = x.size();
      return sm::dot_product(x.head(n - 1), x.tail(n - 1)) + x(n - 1) * x(0);
    });
  });
  rows.add<bench::product>("library", "prod",
                           [](const auto&) { return on_variables([](const auto& x) { return sm::prod(x); }); });
  rows.add<bench::elementwise>("library", "var_value", [](const auto&) {
    return on_vector([](const var_vector& x) -> var { return sm::dot_product(sm::exp(sm::sin(x)), sm::log1p(sm::square(x))); });
  });
  rows.add<bench::log_sum_exp>("library", "var_value", [](const auto&) {
    return on_vector([](const var_vector& x) -> var { return sm::log_sum_exp(x); });
  });
  rows.add<bench::log_sum_exp>("library", "variables",
                               [](const auto&) { return on_variables([](const auto& x) { return sm::log_sum_exp(x); }); });
}

void add_densities(bench::driver& rows) {
  rows.add<bench::normal>("library", "normal_lpdf", [](const bench::normal& f) {
    return on_variables([&f](const auto& x) { return sm::normal_lpdf(f.observations(), x[0], x[1]); });
  });
  rows.add<bench::logistic>("library", "bernoulli_logit_glm", [](const bench::logistic& f) {
    const Eigen::MatrixXd predictors = f.predictors();
    return on_variables(
        [&f, predictors](const auto& beta) { return sm::bernoulli_logit_glm_lpmf(f.outcomes(), predictors, 0.0, beta); });
  });
  rows.add<bench::logistic>("library", "product and bernoulli_logit", [](const bench::logistic& f) {
    const Eigen::MatrixXd predictors = f.predictors();
    return on_vector([&f, predictors](const var_vector& beta) -> var {
      return sm::bernoulli_logit_lpmf(f.outcomes(), sm::multiply(predictors, beta));
    });
  });
}

void add_matrices(bench::driver& rows) {
  rows.add<bench::matrix_product>("library", "var_value", [](const bench::matrix_product& f) {
    return [n = f.rows()](const numbers& x, numbers& g) {
      const sm::nested_rev_autodiff nested;
      const var_matrix a(x.head(n * n).reshaped(n, n)), b(x.tail(n * n).reshaped(n, n));
      var y = sm::sum(sm::multiply(a, b));
      y.grad();
      g.head(n * n).reshaped(n, n) = a.adj();
      g.tail(n * n).reshaped(n, n) = b.adj();
      return y.val();
    };
  });
  rows.add<bench::matrix_product>("library", "variables", [](const bench::matrix_product& f) {
    return on_variables([n = f.rows()](const vector_of<var>& x) -> var {
      const matrix_of<var> a = x.head(n * n).reshaped(n, n), b = x.tail(n * n).reshaped(n, n);
      return sm::sum(sm::multiply(a, b));
    });
  });
  rows.add<bench::log_determinant>("library", "log_determinant_spd", [](const bench::log_determinant& f) {
    return on_matrix(f.rows(), [](const var_matrix& a) -> var { return sm::log_determinant_spd(a); });
  });
  rows.add<bench::log_determinant>("library", "cholesky_decompose", [](const bench::log_determinant& f) {
    return on_matrix(f.rows(),
                     [](const var_matrix& a) -> var { return 2 * sm::sum(sm::log(sm::diagonal(sm::cholesky_decompose(a)))); });
  });
  rows.add<bench::log_determinant>("library", "variables", [](const bench::log_determinant& f) {
    return on_variables(
        [n = f.rows()](const vector_of<var>& x) -> var { return sm::log_determinant_spd(matrix_of<var>(x.reshaped(n, n))); });
  });
}
}  // namespace

int main(int argc, char** argv) {
  bench::driver rows("Stan Math");
  rows.add_scalar<scalar>();
  add_sums(rows);
  add_densities(rows);
  add_matrices(rows);
  return rows.run(argc, argv);
}
