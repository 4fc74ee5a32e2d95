// Definitions of solve/algebra/constraint_matrix.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <agrad/base/finite.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/constraint_matrix.hpp>
#include <agrad/solve/algebra/jacobian_entries.hpp>
#include <agrad/solve/algebra/row_separation.hpp>

namespace agrad::detail {

AGRAD_INLINE constraint_matrix::constraint_matrix(const std::string& function, ode_system& system, const mass_matrix& mass,
                                                  const chosen_algebra& how)
    : mass_(mass), jacobian_(function, system, how) {
  const auto n = static_cast<Eigen::Index>(how.states);
  constraints_.setConstant(n, true);
  mass_.each([&](std::size_t i, std::size_t, double value) {
    if (value != 0) constraints_[static_cast<Eigen::Index>(i)] = false;
  });
  if (how.kind == ode_algebra_kind::banded || how.kind == ode_algebra_kind::sparse) {
    sparse_.emplace(how);
    factors_.resize(sparse_->factor_size());
    on_pattern_.assign(sparse_->entries(), 0.0);
    std::size_t k = 0;
    auto entry = mass_.values.begin();
    each_entry(&*how.pattern, how.states, [&](std::size_t i, std::size_t j) {
      if (mass_.pattern.contains(i, j)) on_pattern_[k] = *entry++;
      ++k;
    });
    // The rows of M are independent where they are so with the rows of the identity in place of the constraints.
    entries_.clear();
    each_entry(&*how.pattern, how.states, [&](std::size_t i, std::size_t j) {
      const bool is_constraint = constraints_[static_cast<Eigen::Index>(i)];
      entries_.push_back(is_constraint ? (i == j ? 1.0 : 0.0) : on_pattern_[entries_.size()]);
    });
    if (factorise_entries(Eigen::VectorXd::Ones(n))) return;
    sparse_.reset();
  }
  separate();
}

AGRAD_INLINE void constraint_matrix::separate() {
  of_mass_ = mass_.dense();
  row_separation found = separate_rows(of_mass_);
  if (found.combinations.size() == 0) return;
  rows_ = std::move(found.combinations);
  of_mass_ = (rows_ * of_mass_).eval();
  constraints_.head(found.rank).setConstant(false);
  constraints_.tail(constraints_.size() - found.rank).setConstant(true);
}

AGRAD_INLINE bool constraint_matrix::factorise(double t, const double* y, const Eigen::VectorXd& sizes) {
  if (is_factorised_ && !has_constraints()) return is_regular_;
  is_factorised_ = true;
  const std::size_t n = jacobian_.how().states;
  entries_.resize(jacobian_.how().pattern ? jacobian_.how().pattern->size() : n * n);
  if (has_constraints()) jacobian_(t, y, entries_.data());
  is_regular_ = false;
  if (sparse_) {
    std::size_t k = 0;
    each_entry(&*jacobian_.how().pattern, n, [&](std::size_t i, std::size_t) {
      if (!constraints_[static_cast<Eigen::Index>(i)]) entries_[k] = on_pattern_[k];
      ++k;
    });
    return is_regular_ = factorise_entries(sizes);
  }
  return is_regular_ = factorise_dense();
}

AGRAD_INLINE bool constraint_matrix::factorise_dense() {
  const Eigen::Index n = constraints_.size();
  Eigen::MatrixXd k = of_mass_;
  if (has_constraints()) {
    Eigen::MatrixXd by_state = Eigen::MatrixXd::Zero(n, n);
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const auto [i, j] = jacobian_.place(e);
      by_state(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = entries_[e];
    }
    if (rows_.size() > 0) by_state = (rows_ * by_state).eval();
    for (Eigen::Index i = 0; i < n; ++i)
      if (constraints_[i]) k.row(i) = by_state.row(i);
  }
  return k.allFinite() && dense_.compute(k);
}

AGRAD_INLINE bool constraint_matrix::factorise_entries(const Eigen::VectorXd& sizes) {
  const csr_pattern& pattern = *jacobian_.how().pattern;
  const Eigen::Index n = constraints_.size();
  Eigen::VectorXd generic(n);
  scale_.setOnes(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    double largest = 0;
    const auto begin = pattern.begin[static_cast<std::size_t>(i)], end = pattern.begin[static_cast<std::size_t>(i) + 1];
    for (std::size_t k = begin; k < end; ++k) largest = std::max(largest, std::abs(entries_[k]) * sizes[pattern.col[k]]);
    if (largest > 0) scale_[i] = 1 / largest;
    for (std::size_t k = begin; k < end; ++k) entries_[k] *= scale_[i];
    const double irrational = static_cast<double>(i) * 0.6180339887498949;
    generic[i] = 1 + irrational - std::floor(irrational);
  }
  sparse_->forget();
  if (!are_finite(entries_.data(), entries_.size()) || !sparse_->factorise(0, 1, entries_.data(), factors_.data()))
    return false;
  sparse_->solve(factors_.data(), generic.data());  // as large as the inverse, in units of the states
  return generic.cwiseQuotient(sizes).cwiseAbs().maxCoeff() < 1e13;
}

AGRAD_INLINE Eigen::VectorXd constraint_matrix::solve(const Eigen::VectorXd& b) {
  if (!sparse_) return dense_.solve(b);
  Eigen::VectorXd x = scale_.cwiseProduct(b);
  sparse_->solve(factors_.data(), x.data());
  return x;
}

AGRAD_INLINE Eigen::VectorXd constraint_matrix::solve_transposed(const Eigen::VectorXd& b) {
  if (!sparse_) return dense_.solve_transposed(b);
  Eigen::VectorXd x = b;
  sparse_->solve_transposed(factors_.data(), x.data());
  return scale_.cwiseProduct(x);
}

}  // namespace agrad::detail
