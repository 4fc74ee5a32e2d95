// Definitions of solve/algebra/newton_matrix.hpp.
#pragma once

#include <agrad/base/finite.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/newton_matrix.hpp>

namespace agrad {

AGRAD_INLINE newton_matrix::newton_matrix(chosen_algebra how, const mass_matrix* mass)
    : how_(std::move(how)), n_(how_.states), right_(n_) {
  if (how_.kind == ode_algebra_kind::banded) band_ = {n_, how_.lower, how_.upper};
  if (how_.kind == ode_algebra_kind::sparse) {
    sparse_ = std::make_unique<detail::sparse_lu>(how_.pattern);
    sparse_matrix_.resize(entries());
  } else if (how_.pattern) {
    for (std::size_t i = 0; i < n_; ++i)
      for (const auto j : how_.pattern->row(i)) place_.push_back(place_of(i, j));
  }
  if (mass != nullptr)
    mass->each([&](std::size_t i, std::size_t j, double value) { mass_.emplace_back(place_of(i, j), value); });
  else
    for (std::size_t i = 0; i < n_; ++i) mass_.emplace_back(place_of(i, i), 1.0);
}

AGRAD_INLINE std::size_t newton_matrix::place_of(std::size_t i, std::size_t j) const {
  if (how_.kind == ode_algebra_kind::banded) return band_.place(i, j);
  if (!sparse_) return j * n_ + i;
  const auto row = how_.pattern->row(i);
  return how_.pattern->begin[i] + static_cast<std::size_t>(std::lower_bound(row.begin(), row.end(), j) - row.begin());
}

AGRAD_INLINE std::size_t newton_matrix::factor_size() const {
  if (sparse_) return entries();
  return how_.kind == ode_algebra_kind::banded ? band_.size() : n_ * n_ + n_;
}

AGRAD_INLINE bool newton_matrix::factorise(double shift, double scale, const double* jacobian, double* factors) {
  if (sparse_) {
    std::copy_n(jacobian, entries(), factors);
    return factorise_sparse(shift, scale, factors);
  }
  if (how_.kind == ode_algebra_kind::banded) {
    std::fill_n(factors, band_.n * band_.stride(), 0.0);
    scatter(scale, jacobian, factors);
    add_mass(shift, factors);
    return band_.factorise(factors);
  }
  if (how_.pattern) {
    std::fill_n(factors, n_ * n_, 0.0);
    scatter(scale, jacobian, factors);
  } else {
    for (std::size_t k = 0; k < n_ * n_; ++k) factors[k] = scale * jacobian[k];
  }
  add_mass(shift, factors);
  return n_ <= few ? factorise_few(factors) : factorise_many(factors);
}

AGRAD_INLINE bool newton_matrix::prepare_transposed(double shift, double scale, const double* factors) {
  return !sparse_ || factorise_sparse(shift, scale, factors);
}

AGRAD_INLINE void newton_matrix::solve(const double* factors, double* x) {
  if (sparse_) return sparse_->solve(x);
  if (how_.kind == ode_algebra_kind::banded) return band_.solve(factors, x);
  exchange(factors, x);
  if (n_ > few) {
    lu(factors).triangularView<Eigen::UnitLower>().solveInPlace(right_map());
    lu(factors).triangularView<Eigen::Upper>().solveInPlace(right_map());
  } else {
    for (std::size_t j = 0; j < n_; ++j)
      for (std::size_t i = j + 1; i < n_; ++i) right_[i] -= factors[j * n_ + i] * right_[j];
    for (std::size_t j = n_; j-- > 0;) {
      right_[j] *= factors[j * (n_ + 1)];
      for (std::size_t i = 0; i < j; ++i) right_[i] -= factors[j * n_ + i] * right_[j];
    }
  }
  std::copy(right_.begin(), right_.end(), x);
}

AGRAD_INLINE void newton_matrix::solve_transposed(const double* factors, double* x) {
  if (sparse_) return sparse_->solve_transposed(x);
  if (how_.kind == ode_algebra_kind::banded) return band_.solve_transposed(factors, x);
  std::copy_n(x, n_, right_.begin());
  if (n_ > few) {
    lu(factors).transpose().triangularView<Eigen::Lower>().solveInPlace(right_map());
    lu(factors).transpose().triangularView<Eigen::UnitUpper>().solveInPlace(right_map());
  } else {
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t i = 0; i < j; ++i) right_[j] -= factors[j * n_ + i] * right_[i];
      right_[j] *= factors[j * (n_ + 1)];
    }
    for (std::size_t j = n_; j-- > 0;)
      for (std::size_t i = j + 1; i < n_; ++i) right_[j] -= factors[j * n_ + i] * right_[i];
  }
  for (std::size_t i = 0; i < n_; ++i) x[i] = right_[place_of_row(factors, i)];
}

AGRAD_INLINE bool newton_matrix::factorise_sparse(double shift, double scale, const double* jacobian) {
  if (!detail::are_finite(jacobian, entries())) return false;
  for (std::size_t k = 0; k < entries(); ++k) sparse_matrix_[k] = scale * jacobian[k];
  add_mass(shift, sparse_matrix_.data());
  return sparse_->factorise(sparse_matrix_.data());
}

AGRAD_INLINE void newton_matrix::scatter(double scale, const double* jacobian, double* to) const {
  for (std::size_t k = 0; k < place_.size(); ++k) to[place_[k]] = scale * jacobian[k];
}

AGRAD_INLINE Eigen::Map<const Eigen::MatrixXd> newton_matrix::lu(const double* factors) const {
  return {factors, static_cast<Eigen::Index>(n_), static_cast<Eigen::Index>(n_)};
}

AGRAD_INLINE void newton_matrix::exchange(const double* factors, const double* x) {
  for (std::size_t i = 0; i < n_; ++i) right_[place_of_row(factors, i)] = x[i];
}

AGRAD_INLINE bool newton_matrix::factorise_few(double* a) {
  std::size_t row[few];  // row of the matrix that is now at each index
  for (std::size_t i = 0; i < n_; ++i) row[i] = i;
  for (std::size_t j = 0; j < n_; ++j) {
    double* column = a + j * n_;
    std::size_t k = j;
    for (std::size_t i = j + 1; i < n_; ++i)
      if (std::abs(column[i]) > std::abs(column[k])) k = i;
    if (!(std::abs(column[k]) > 0)) return false;
    if (k != j) {
      std::swap(row[j], row[k]);
      for (std::size_t c = 0; c < n_; ++c) std::swap(a[c * n_ + j], a[c * n_ + k]);
    }
    const double inverse = column[j] = 1 / column[j];
    for (std::size_t i = j + 1; i < n_; ++i) column[i] *= inverse;
    for (std::size_t c = j + 1; c < n_; ++c) {
      const double factor = a[c * n_ + j];
      for (std::size_t i = j + 1; i < n_; ++i) a[c * n_ + i] -= factor * column[i];
    }
  }
  for (std::size_t i = 0; i < n_; ++i) a[n_ * n_ + row[i]] = static_cast<double>(i);
  return true;
}

AGRAD_INLINE bool newton_matrix::factorise_many(double* a) {
  const auto n = static_cast<Eigen::Index>(n_);
  Eigen::Map<Eigen::MatrixXd> m(a, n, n);
  const Eigen::PartialPivLU<Eigen::Ref<Eigen::MatrixXd>> in_place(m);
  const auto& order = in_place.permutationP().indices();
  for (Eigen::Index i = 0; i < n; ++i) a[n * n + i] = order[i];
  return !(m.diagonal().array() == 0).any();
}

}  // namespace agrad
