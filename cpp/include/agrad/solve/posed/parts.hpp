// Parts: the named parts of one flat vector, such as the argument and the result of a solve.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agrad/solve/system/moving_numbers.hpp>

namespace agrad {

/// Consecutive numbers of a flat vector x, or of its tangents or adjoints. Tangents along `width` directions are side by side:
/// entry i in direction k is number i * width + k.
struct flat_part {
  std::size_t begin = 0, size = 0;

  const double* in(const double* x) const { return x + begin; }
  Eigen::Map<const Eigen::VectorXd> of(const double* x) const { return {x + begin, length()}; }
  Eigen::Map<Eigen::VectorXd> of(double* x) const { return {x + begin, length()}; }
  Eigen::Map<const tangent_rows> rows(const double* tangents, int width) const {
    return {tangents + begin * static_cast<std::size_t>(width), length(), width};
  }
  Eigen::Map<tangent_rows> rows(double* tangents, int width) const {
    return {tangents + begin * static_cast<std::size_t>(width), length(), width};
  }
  /// Returns the numbers of x, or the tangents.
  std::vector<double> list(const double* x, int width = 1) const {
    const auto w = static_cast<std::size_t>(width);
    return {x + begin * w, x + (begin + size) * w};
  }
  /// Adds a gradient, which may be empty where the derivative is not wanted.
  void add(const Eigen::VectorXd& gradient, double* adjoints) const { of(adjoints).head(gradient.size()) += gradient; }
  void add(double gradient, double* adjoints) const { adjoints[begin] += gradient; }
  /// Adds tangents of a gradient, which may be empty.
  void add(const std::vector<double>& gradient_tangents, double* adjoint_tangents, int width) const {
    double* to = adjoint_tangents + begin * static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < gradient_tangents.size(); ++i) to[i] += gradient_tangents[i];
  }

 private:
  Eigen::Index length() const { return static_cast<Eigen::Index>(size); }
};

/// The parts of one vector in their order.
class flat_parts {
 public:
  flat_part add(std::string name, std::size_t size) {
    if (parts_.empty()) parts_.reserve(8);
    parts_.emplace_back(std::move(name), flat_part{size_, size});
    size_ += size;
    return parts_.back().second;
  }

  std::size_t size() const { return size_; }

  const flat_part& at(std::string_view name) const {
    for (const auto& [known, part] : parts_)
      if (known == name) return part;
    throw std::logic_error("a solve has no part " + std::string(name));
  }

 private:
  std::vector<std::pair<std::string, flat_part>> parts_;
  std::size_t size_ = 0;
};

}  // namespace agrad
