// Logistic regression: log likelihood of n outcomes, 50 coefficients, no intercept.
#pragma once

#include <vector>

#include "case.hpp"

namespace bench {

class logistic {
 public:
  static constexpr const char *title = "logistic regression, n x 50", *form = "loop";
  static constexpr long sizes[] = {10, 1000, 100000};
  static constexpr long coefficients = 50;
  using predictors_type = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit logistic(long n) : predictors_(n, coefficients), outcomes_(static_cast<std::size_t>(n)) {
    predictors_.reshaped<Eigen::RowMajor>() = uniform(n * coefficients, -1, 1, 60);
    const vector_of<double> coin = uniform(n, 0, 1, 61);
    for (std::size_t i = 0; i < outcomes_.size(); ++i) outcomes_[i] = coin[static_cast<long>(i)] < 0.5 ? 0 : 1;
  }
  vector_of<double> start(int seed) const { return uniform(coefficients, -0.5, 0.5, 62 + seed); }
  const predictors_type& predictors() const { return predictors_; }
  const std::vector<int>& outcomes() const { return outcomes_; }

  template <class T>
  T operator()(const vector_of<T>& beta) const {
    using std::exp, std::log1p;
    T sum = 0.0;
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      const double* row = predictors_.data() + static_cast<long>(i) * coefficients;
      T logit = row[0] * beta[0];
      for (long j = 1; j < coefficients; ++j) logit += row[j] * beta[j];
      if (outcomes_[i] == 1)
        sum -= log1p(exp(-logit));
      else
        sum -= log1p(exp(logit));
    }
    return sum;
  }

  double gradient(const vector_of<double>& beta, vector_of<double>& g) const {
    double sum = 0;
    g.setZero();
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      const double* row = predictors_.data() + static_cast<long>(i) * coefficients;
      double logit = 0;
      for (long j = 0; j < coefficients; ++j) logit += row[j] * beta[j];
      const double sign = outcomes_[i] == 1 ? 1 : -1, odds = std::exp(-sign * logit);
      sum -= std::log1p(odds);
      const double slope = sign * odds / (1 + odds);
      for (long j = 0; j < coefficients; ++j) g[j] += slope * row[j];
    }
    return sum;
  }

 private:
  predictors_type predictors_;
  std::vector<int> outcomes_;
};

}  // namespace bench
