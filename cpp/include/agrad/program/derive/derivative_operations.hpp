// Derivative operations: run a program's reverse pass, or its propagation of tangents, as an operation of another program.
//
// Operations whose derivatives are not made of rules (factorisations, densities, external operations) are differentiated by
// their own loops. Recorded as an operation, such a pass has one more derivative, in reverse and forward mode, given by the
// same loops; where the operation is linear, the pass has all derivatives. Further derivatives come from formulas
// (program/schedule/inlined.hpp): the pass is recorded by operations that have all derivatives, at the values of the run, when
// a second derivative of the pass is needed. Read first: program/program.hpp; program/derive/adjoints.hpp uses this file.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/recording/record.hpp>
#include <agrad/program/schedule/inlined.hpp>
#include <agrad/program/store/portable.hpp>

namespace agrad {

namespace detail {

/// Data of a run of a derivative operation that the reverse pass needs: the run itself and its operand.
struct stored_run final : external_operation::state {
  workspace work;
  std::vector<double> x, x_tangent;
  std::shared_ptr<const program> formulas;  // the pass by formulas at x, once it has been needed
  workspace formula_work;
};

/// Base of both operations: the program, and its values for the first part of the operand.
class derivative_operation : public external_operation {
 public:
  derivative_operation(std::shared_ptr<const program> of, std::string name, bool is_linear)
      : of_(std::move(of)), name_(std::move(name)), is_linear_(is_linear) {}
  std::string_view name() const override { return name_; }
  bool is_linear() const override { return is_linear_; }
  bool has_tangents() const override { return is_linear_ || has_formulas(); }
  bool has_formulas() const override { return agrad::has_formulas(*of_); }
  bool has_first_tangents() const override { return is_linear_ || of_->first_without_tangents() == nullptr; }
  std::unique_ptr<state> make_state() const override { return std::make_unique<stored_run>(); }
  [[noreturn]] AGRAD_INLINE void fail_tangent() const override;
  void write(portable_writer& to) const override { to(of_, name_, is_linear_); }

 protected:
  std::size_t n() const { return of_->input_size(); }
  std::size_t m() const { return of_->output_size(); }
  /// Runs the program. with_adjoint: whether the operation itself is differentiated, which takes second derivatives.
  stored_run& run(state& s, const double* x, std::size_t size, bool with_adjoint) const;
  /// Computes `second` from the formulas, after a tangent along stored.x_tangent.
  void second_by_formulas(stored_run& stored, int width, const double* y_adjoint, const double* y_adjoint_tangent,
                          double* x_adjoint, double* x_adjoint_tangent) const;
  [[noreturn]] void fail_third() const;
  /// Records the program on the first part of the operand, then its reverse pass. Returns the adjoints for the second part,
  /// or for `seeds`, where given.
  std::vector<slot> record_reverse(recorder& in, const span& x, const std::vector<slot>& seeds) const;

  std::shared_ptr<const program> of_;
  std::string name_;
  bool is_linear_;
};

/// Records the reverse pass over the operations since `begin` by formulas (program/derive/adjoints.hpp): the adjoints of the
/// slots `required` for adjoints `seeds` of `outputs`.
std::vector<slot> adjoints_by_formulas(recorder& in, std::size_t begin, const std::vector<slot>& outputs,
                                       const std::vector<slot>& seeds, const std::vector<slot>& required);

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
class reverse_operation final : public detail::derivative_operation {
 public:
  using derivative_operation::derivative_operation;

  static constexpr std::string_view stored_kind = "sweep";
  std::string_view kind() const override { return stored_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override { return arguments == n() + m() && results == n(); }
  static std::shared_ptr<const external_operation> read(portable_reader& from);
  AGRAD_INLINE std::vector<slot> record(recorder& in, const span& x) const override;

  AGRAD_INLINE void forward(state& s, const double* x, double* y, bool with_adjoint) const override;

  // y = J(x)' a: the adjoint of a is J w, and the adjoint of x is the derivative of w . J(x)' a.
  AGRAD_INLINE void reverse(state& s, const double* w, double* adjoint) const override;

  // Computes J(x)' da, and the derivative of J(x)' a along dx.
  AGRAD_INLINE void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override;
  AGRAD_INLINE void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                           double* x_adjoint_tangent) const override;

 private:
  template <int Width>
  void curved(detail::stored_run& stored, const double* x_tangent, double* y_tangent) const {
    std::vector<double> forwards(m() * Width), gradient(n());
    of_->tangent<Width>(stored.work, x_tangent, forwards.data());
    of_->second<Width>(stored.work, stored.x.data() + n(), gradient.data(), y_tangent, x_tangent + n() * Width);
  }
};

/// (x, tangents of x) -> tangents of y.
class tangent_operation final : public detail::derivative_operation {
 public:
  using derivative_operation::derivative_operation;

  static constexpr std::string_view stored_kind = "tangent";
  std::string_view kind() const override { return stored_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override { return arguments == 2 * n() && results == m(); }
  static std::shared_ptr<const external_operation> read(portable_reader& from);
  AGRAD_INLINE std::vector<slot> record(recorder& in, const span& x) const override;

  AGRAD_INLINE void forward(state& s, const double* x, double* y, bool with_adjoint) const override;

  // y = J(x) v: the adjoint of v is J' w, and the adjoint of x is the derivative of w . J(x) v.
  AGRAD_INLINE void reverse(state& s, const double* w, double* adjoint) const override;

  // Computes J(x) dv, and the derivative of J(x) v along dx, which takes one reverse pass for each result.
  AGRAD_INLINE void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override;
  AGRAD_INLINE void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
                           double* x_adjoint_tangent) const override;

 private:
  /// Adds the derivative of J(x) v along dx. Restores the tangent v of x, which `reverse` needs.
  void add_curvature(detail::stored_run& stored, std::size_t width, const double* x_tangent, double* y_tangent) const;
};

/// Returns one operation of a recording as a program; its inputs are the operands, one after the other.
std::shared_ptr<const program> alone(const recorder& from, operation op, const std::vector<bool>& wanted = {});

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/derive/derivative_operations.ipp>
#endif
