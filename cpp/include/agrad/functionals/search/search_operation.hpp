// Search operation: a search of a root or of a minimum of a recorded function, as an operation of a program.
//
// The operand is the start and then the captured values of the body; the result begins with whether the search has found what
// it looks for, how it ended (`search_end`), and the number of steps. Then come x and the inverse of the derivatives there, the
// Jacobian or the Hessian, and what the kind adds. Who records the search follows the solution by steps x - inverse f(x), each
// of which makes one order of derivatives exact.
// Read first: functionals/search/body_operation.hpp.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>

#include <agrad/base/inline.hpp>
#include <agrad/functionals/search/body_operation.hpp>
#include <agrad/functionals/search/equation_search.hpp>
#include <agrad/functionals/search/minimum_search.hpp>

namespace agrad {

class search_operation : public body_operation {
 public:
  std::size_t output_size() const override { return 3 + unknowns() * (1 + unknowns()); }

 protected:
  search_operation(const std::shared_ptr<body>& of, std::size_t captured) : body_operation(of, of->input_size(), captured) {}

  /// Writes the part of the result that all kinds have; `inverse` may be empty. Returns the place behind it.
  static double* write_end(detail::search_end end, int steps, const Eigen::VectorXd& x, const Eigen::MatrixXd& inverse,
                           double* y);
};

/// Searches a root of as many equations as unknowns. The result ends with the equations' values at x.
class root_operation final : public search_operation {
 public:
  root_operation(const std::shared_ptr<body>& of, detail::root_method method, root_options options, std::size_t captured = 0)
      : search_operation(of, captured), method_(method), options_(options) {}

  std::size_t output_size() const override { return search_operation::output_size() + unknowns(); }

  static constexpr std::string_view stored_kind = "root";
  std::string_view kind() const override { return stored_kind; }
  AGRAD_INLINE void write(portable_writer& to) const override;
  static std::shared_ptr<const external_operation> read(portable_reader& from);

 protected:
  AGRAD_INLINE void compute(detail::body_function& f, const double* start, double* y) const override;

 private:
  detail::root_method method_;
  root_options options_;
};

/// Searches a minimum of a function. The body gives its value alone, or value, gradient and Hessian.
class minimum_operation final : public search_operation {
 public:
  minimum_operation(const std::shared_ptr<body>& of, detail::minimum_options options, std::size_t captured = 0)
      : search_operation(of, captured), options_(options) {}

  static constexpr std::string_view stored_kind = "minimum";
  std::string_view kind() const override { return stored_kind; }
  AGRAD_INLINE void write(portable_writer& to) const override;
  static std::shared_ptr<const external_operation> read(portable_reader& from);

 protected:
  AGRAD_INLINE void compute(detail::body_function& f, const double* start, double* y) const override;

 private:
  detail::minimum_options options_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/search/search_operation.ipp>
#endif
