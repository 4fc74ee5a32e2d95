// Quadrature operation: the division of an interval for the integral of a recorded function, as an operation of a program.
//
// The body computes from x and from its distance to the nearer limit the values of the integrand and, behind them, derivatives
// that the division must resolve, too; or it does so for the 21 nodes of an interval, of which it takes all x and then all
// distances, and returns a row for each. The operand is the limits, the points at which the interval is divided first, and then
// the captured values of the body. The result is whether the integral is accurate, the number of intervals, a place at which
// the integrand is not finite (nan for none), whether it has other values than 0, the integrals of its results, and of all
// components the errors and what was allowed. Where derivatives follow, the nodes come behind: for each group of eight
// intervals whether it is used, and then for all nodes the weights, x and the distances. Where the weight is 0, x is some place
// inside. Read first: functionals/search/body_operation.hpp, functionals/search/partition.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include <agrad/base/inline.hpp>
#include <agrad/functionals/search/body_operation.hpp>
#include <agrad/functionals/search/partition.hpp>

namespace agrad {

/// How a recorded function is integrated: the first `results` values of the body are the integrand's. The limits are in order
/// where they are infinite. `gives_nodes` says whether the result has the nodes.
struct quadrature_form {
  detail::quadrature_method method = detail::quadrature_method::gauss_kronrod;
  std::size_t results = 1, points = 0;
  double relative_tolerance = 0, absolute_tolerance = 0;
  std::size_t limit = 0;  // the most intervals
  bool takes_distance = false, gives_nodes = false;
};

class quadrature_operation final : public body_operation {
 public:
  quadrature_operation(const std::shared_ptr<body>& of, quadrature_form form, std::size_t captured = 0)
      : body_operation(of, 2 + form.points, captured), form_(form) {}

  std::size_t output_size() const override {
    return 4 + form_.results + 2 * components() + (form_.gives_nodes ? groups() * (1 + 3 * group_nodes) : 0);
  }

  static constexpr std::string_view stored_kind = "quadrature";
  std::string_view kind() const override { return stored_kind; }
  AGRAD_INLINE void write(portable_writer& to) const override;
  static std::shared_ptr<const external_operation> read(portable_reader& from);

 protected:
  AGRAD_INLINE void compute(detail::body_function& f, const double* x, double* y) const override;

 private:
  static constexpr std::size_t group_nodes = 21 * detail::first_intervals;
  static constexpr std::size_t most_intervals = std::size_t{1} << 20U;

  std::size_t places() const { return unknowns() / 2; }  // that the body computes at once
  std::size_t components() const { return values() / places(); }
  std::size_t groups() const { return (form_.limit + detail::first_intervals - 1) / detail::first_intervals; }
  detail::integrand integrand_of(detail::body_function& f, const detail::placed& inside) const;
  void write_nodes(const detail::substitution& map, const detail::partition& found, double* y) const;

  quadrature_form form_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/search/quadrature_operation.ipp>
#endif
