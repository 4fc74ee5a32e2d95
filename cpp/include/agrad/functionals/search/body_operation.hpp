// Body operation: an operation of C++ over a recorded function, such as a search, whose results have no derivatives.
//
// The operand is a few arguments of the operation and then the captured values of the body. Who records the operation gives the
// solution its derivatives by operations of its own.
// Read next: functionals/search/search_operation.hpp, functionals/search/quadrature_operation.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/body_function.hpp>
#include <agrad/program/loops/stored_body.hpp>

namespace agrad {

class body_operation : public external_operation {
 public:
  std::string_view name() const override { return body_->name(); }
  std::size_t input_size() const { return arguments_ + captured_; }
  virtual std::size_t output_size() const = 0;
  const external_operation* first_without_tangents(int /*order*/) const override { return nullptr; }
  bool has_tangents() const override { return true; }

  AGRAD_INLINE std::unique_ptr<external_operation::state> make_state() const override;
  AGRAD_INLINE void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override;
  void reverse(external_operation::state& /*s*/, const double* /*y_adjoint*/, double* /*x_adjoint*/) const override {}
  AGRAD_INLINE void tangent(external_operation::state& /*s*/, int width, const double* /*x_tangent*/,
                            double* y_tangent) const override;
  void second(external_operation::state& /*s*/, int /*width*/, const double* /*y_adjoint*/, const double* /*y_adjoint_tangent*/,
              double* /*x_adjoint*/, double* /*x_adjoint_tangent*/) const override {}

  /// Recorded again, the results are constants, those at the present values.
  bool has_formulas() const override { return true; }
  AGRAD_INLINE std::vector<slot> record(recorder& in, const span& x) const override;

  bool fits(std::size_t arguments, std::size_t results) const override {
    return arguments == input_size() && results == output_size();
  }

  /// Runs before the operation is recorded, while the body may still capture values; recording then takes over the result,
  /// which is also returned. The first path must be recorded, and only the caller may know the operation.
  const std::vector<double>& prepare(const double* x, std::vector<double> captured);

 protected:
  body_operation(std::shared_ptr<body> of, std::size_t arguments, std::size_t captured)
      : body_(std::move(of)), arguments_(arguments), captured_(captured) {}

  /// Return how many inputs and results the recorded function has.
  std::size_t unknowns() const { return body_->input_size(); }
  std::size_t values() const { return body_->output_size(); }
  virtual void compute(detail::body_function& f, const double* x, double* y) const = 0;
  void write_body(portable_writer& to) const { agrad::write_body(to, *body_, captured_); }

 private:
  struct own_state final : external_operation::state {
    explicit own_state(body& of) : f(of) {}
    detail::body_function f;
    std::vector<double> first;  // result of a run before the operation was recorded
  };

  std::shared_ptr<body> body_;
  std::size_t arguments_, captured_;
  mutable std::unique_ptr<external_operation::state> ready_;  // moved out by the recording thread
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/search/body_operation.ipp>
#endif
