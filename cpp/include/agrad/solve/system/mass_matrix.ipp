// Definitions of solve/system/mass_matrix.hpp.
#pragma once

#include <cmath>
#include <string>

#include <agrad/base/check.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/solve/system/mass_matrix.hpp>

namespace agrad {

AGRAD_INLINE Eigen::MatrixXd mass_matrix::dense() const {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(pattern.rows()), static_cast<Eigen::Index>(pattern.cols));
  each([&](std::size_t i, std::size_t j, double value) {
    m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = value;
  });
  return m;
}

AGRAD_INLINE void mass_matrix::add_product(const double* x, std::size_t width, double* to) const {
  each([&](std::size_t i, std::size_t j, double value) {
    for (std::size_t k = 0; k < width; ++k) to[i * width + k] += value * x[j * width + k];
  });
}

AGRAD_INLINE void mass_matrix::add_transposed_product(const double* x, std::size_t width, double* to) const {
  each([&](std::size_t i, std::size_t j, double value) {
    for (std::size_t k = 0; k < width; ++k) to[j * width + k] += value * x[i * width + k];
  });
}

AGRAD_INLINE mass_matrix mass_matrix_of(const Eigen::MatrixXd& dense) {
  mass_matrix m;
  m.pattern.cols = static_cast<std::size_t>(dense.cols());
  std::vector<csr_pattern::index> row;
  for (Eigen::Index i = 0; i < dense.rows(); ++i) {
    row.clear();
    for (Eigen::Index j = 0; j < dense.cols(); ++j) {
      if (dense(i, j) == 0) continue;
      row.push_back(static_cast<csr_pattern::index>(j));
      m.values.push_back(dense(i, j));
    }
    m.pattern.append_row(row);
  }
  return m;
}

AGRAD_INLINE void check_mass_matrix(std::string_view function, const mass_matrix& m, Eigen::Index n) {
  const auto size = static_cast<std::size_t>(n);
  if (m.pattern.rows() != size || m.pattern.cols != size || m.values.size() != m.pattern.size()) {
    const std::string shape = std::to_string(m.pattern.rows()) + " x " + std::to_string(m.pattern.cols);
    throw ShapeError(detail::sentence(function, "mass_matrix", -1, "of shape " + shape,
                                      "of shape " + std::to_string(n) + " x " + std::to_string(n),
                                      "a row and a column for each state"));
  }
  m.each([&](std::size_t i, std::size_t j, double value) {
    if (!std::isfinite(value))
      throw DomainError(
          detail::sentence(function, "mass_matrix[" + std::to_string(i) + ", " + std::to_string(j) + "]", -1, value, "finite"));
  });
}

}  // namespace agrad
