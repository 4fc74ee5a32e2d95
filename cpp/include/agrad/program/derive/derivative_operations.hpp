// Derivative operations: run a program's reverse pass, or its propagation of tangents, as an operation of another program.
//
// Operations whose derivatives are not made of rules (factorisations, densities, external operations) are differentiated by
// their own loops. Recorded as an operation, such a pass has one more derivative, in reverse and forward mode, given by the
// same loops; where the operation is linear, the pass has all derivatives. Read first: program/program.hpp;
// program/derive/adjoints.hpp uses this file.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/program/keep/portable.hpp>
#include <agrad/program/machine/record.hpp>

namespace agrad {

namespace detail {

/// Data of a run of a derivative operation that the reverse pass needs: the run itself and its operand.
struct kept_run final : external_operation::state {
  workspace work;
  std::vector<double> x;
};

/// Base of both operations: the program, and its values for the first part of the operand.
class derivative_operation : public external_operation {
 public:
  derivative_operation(std::shared_ptr<const program> of, std::string name, bool is_linear)
      : of_(std::move(of)), name_(std::move(name)), is_linear_(is_linear) {}
  std::string_view name() const override { return name_; }
  bool is_linear() const override { return is_linear_; }
  bool has_tangents() const override { return is_linear_; }
  bool has_first_tangents() const override { return is_linear_ || of_->first_without_tangents() == nullptr; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<kept_run>(); }
  void write(portable_writer& to) const override { to(of_, name_, is_linear_); }

 protected:
  std::size_t n() const { return of_->input_size(); }
  std::size_t m() const { return of_->output_size(); }
  kept_run& run(state& s, const double* x, std::size_t size) const {
    auto& kept = static_cast<kept_run&>(s);
    kept.x.assign(x, x + size);
    std::vector<double> y(m());
    of_->forward(kept.work, x, y.data(), true);
    return kept;
  }

  std::shared_ptr<const program> of_;
  std::string name_;
  bool is_linear_;
};

/// Reads a stored derivative operation.
template <class Operation>
std::shared_ptr<const external_operation> read_derivative(portable_reader& from) {
  std::shared_ptr<const program> of;
  std::string name;
  bool is_linear = false;
  from(of, name, is_linear);
  return std::make_shared<const Operation>(std::move(of), std::move(name), is_linear);
}

/// Calls each(numbers, results) for each of `width` interleaved directions of n numbers.
template <class Each>
void by_directions(int width, const double* from, std::size_t n, double* to, std::size_t m, const Each& each) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<double> x(n), y(m);
  for (std::size_t k = 0; k < w; ++k) {
    for (std::size_t i = 0; i < n; ++i) x[i] = from[i * w + k];
    each(x.data(), y.data());
    for (std::size_t i = 0; i < m; ++i) to[i * w + k] += y[i];
  }
}

}  // namespace detail

/// (x, adjoints of y) -> adjoints of x.
class sweep_operation final : public detail::derivative_operation {
 public:
  using derivative_operation::derivative_operation;

  static constexpr std::string_view kept_kind = "sweep";
  std::string_view kind() const override { return kept_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override { return arguments == n() + m() && results == n(); }
  static std::shared_ptr<const external_operation> read(portable_reader& from) {
    return detail::read_derivative<sweep_operation>(from);
  }

  void forward(state& s, const double* x, double* y, bool) const override {
    of_->reverse(run(s, x, n() + m()).work, x + n(), y);
  }

  // y = J(x)' a: the adjoint of a is J w, and the adjoint of x is the derivative of w . J(x)' a.
  void reverse(state& s, const double* w, double* adjoint) const override {
    auto& kept = static_cast<detail::kept_run&>(s);
    std::vector<double> forwards(m()), gradient(n()), products(n());
    of_->tangent<1>(kept.work, w, forwards.data());
    of_->second<1>(kept.work, kept.x.data() + n(), gradient.data(), products.data());
    for (std::size_t i = 0; i < n(); ++i) adjoint[i] += products[i];
    for (std::size_t i = 0; i < m(); ++i) adjoint[n() + i] += forwards[i];
  }

  // Computes J(x)' da, and the derivative of J(x)' a along dx.
  void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override {
    if (!has_first_tangents()) fail_tangent();
    auto& kept = static_cast<detail::kept_run&>(s);
    if (!is_linear())
      return width == 1 ? curved<1>(kept, x_tangent, y_tangent) : curved<lane_count>(kept, x_tangent, y_tangent);
    const auto w = static_cast<std::size_t>(width);
    std::fill_n(y_tangent, n() * w, 0.0);
    detail::by_directions(width, x_tangent + n() * w, m(), y_tangent, n(),
                          [&](const double* a, double* y) { of_->reverse(kept.work, a, y); });
  }
  void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) const override {
    if (!is_linear()) fail_tangent();
    auto& kept = static_cast<detail::kept_run&>(s);
    const auto forwards = [&](const double* a, double* y) { of_->tangent<1>(kept.work, a, y); };
    detail::by_directions(1, y_adjoint, n(), x_adjoint + n(), m(), forwards);
    detail::by_directions(width, y_adjoint_tangent, n(), x_adjoint_tangent + n() * static_cast<std::size_t>(width), m(),
                          forwards);
  }

 private:
  template <int Width>
  void curved(detail::kept_run& kept, const double* x_tangent, double* y_tangent) const {
    std::vector<double> forwards(m() * Width), gradient(n());
    of_->tangent<Width>(kept.work, x_tangent, forwards.data());
    of_->second<Width>(kept.work, kept.x.data() + n(), gradient.data(), y_tangent, x_tangent + n() * Width);
  }
};

/// (x, tangents of x) -> tangents of y.
class tangent_operation final : public detail::derivative_operation {
 public:
  using derivative_operation::derivative_operation;

  static constexpr std::string_view kept_kind = "tangent";
  std::string_view kind() const override { return kept_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override { return arguments == 2 * n() && results == m(); }
  static std::shared_ptr<const external_operation> read(portable_reader& from) {
    return detail::read_derivative<tangent_operation>(from);
  }

  void forward(state& s, const double* x, double* y, bool) const override {
    of_->tangent<1>(run(s, x, 2 * n()).work, x + n(), y);
  }

  // y = J(x) v: the adjoint of v is J' w, and the adjoint of x is the derivative of w . J(x) v.
  void reverse(state& s, const double* w, double* adjoint) const override {
    auto& kept = static_cast<detail::kept_run&>(s);
    std::vector<double> gradient(n()), products(n());
    of_->second<1>(kept.work, w, gradient.data(), products.data());
    for (std::size_t i = 0; i < n(); ++i) {
      adjoint[i] += products[i];
      adjoint[n() + i] += gradient[i];
    }
  }

  // Computes J(x) dv, and the derivative of J(x) v along dx, which takes one reverse pass for each result.
  void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override {
    if (!has_first_tangents()) fail_tangent();
    auto& kept = static_cast<detail::kept_run&>(s);
    const auto w = static_cast<std::size_t>(width);
    std::fill_n(y_tangent, m() * w, 0.0);
    detail::by_directions(width, x_tangent + n() * w, n(), y_tangent, m(),
                          [&](const double* v, double* y) { of_->tangent<1>(kept.work, v, y); });
    if (!is_linear()) add_curvature(kept, w, x_tangent, y_tangent);
  }
  void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) const override {
    if (!is_linear()) fail_tangent();
    auto& kept = static_cast<detail::kept_run&>(s);
    const auto back = [&](const double* a, double* x) { of_->reverse(kept.work, a, x); };
    detail::by_directions(1, y_adjoint, m(), x_adjoint + n(), n(), back);
    detail::by_directions(width, y_adjoint_tangent, m(), x_adjoint_tangent + n() * static_cast<std::size_t>(width), n(), back);
  }

 private:
  /// Adds the derivative of J(x) v along dx. Restores the tangent v of x, which `reverse` needs.
  void add_curvature(detail::kept_run& kept, std::size_t width, const double* x_tangent, double* y_tangent) const {
    std::vector<double> forwards(m()), result(m(), 0.0), gradient(n()), products(n());
    of_->tangent<1>(kept.work, kept.x.data() + n(), forwards.data());
    if (std::all_of(x_tangent, x_tangent + n() * width, [](double dx) { return dx == 0; })) return;
    for (std::size_t i = 0; i < m(); ++i) {
      result[i] = 1;
      of_->second<1>(kept.work, result.data(), gradient.data(), products.data());
      result[i] = 0;
      for (std::size_t j = 0; j < n() * width; ++j) y_tangent[i * width + j % width] += products[j / width] * x_tangent[j];
    }
  }
};

/// Returns one operation of a recording as a program; its inputs are the operands, one after the other.
inline std::shared_ptr<const program> alone(const recorder& from, operation op) {
  program_code code;
  std::vector<slot> inputs, outputs;
  slot size = 0;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    op.operands[k].first = size;
    for (std::uint32_t i = 0; i < op.operands[k].count; ++i) inputs.push_back(size++);
  }
  op.result = size;
  for (std::uint32_t i = 0; i < op.count; ++i) outputs.push_back(size++);
  const std::uint32_t* integers = from.code().integers.data() + op.data;
  code.integers.assign(integers, integers + op.data_count);
  op.data = 0;
  if (op.what == &kernels::external) {
    code.externals.push_back(from.code().externals[integers[0]]);
    code.externals.back()->expect_derivatives();
    code.integers[0] = 0;
  }
  code.operations.push_back(op);
  return std::make_shared<const program>(std::move(code), std::vector<double>(inputs.size(), 0.0), size, std::move(inputs),
                                         std::move(outputs));
}

}  // namespace agrad
