// Independent: the independent variables of functionals, created and read together.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

namespace agrad::detail {

/// Independent variables with consecutive indices.
template <class Vector>
struct independent {
  template <class X>
  explicit independent(const X& x)
      : on(tape::current()), first(on.leaves(static_cast<std::size_t>(x.size()))), variables(x.size()) {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      variables[i] = tape_access::variable(x[i], first + static_cast<tape::index_type>(i), on);
  }

  /// Returns the adjoints of the variables after a reverse pass; valid until the next statement.
  Eigen::Map<const Eigen::VectorXd> adjoints() const {
    const Eigen::Index last = variables.size() - 1;
    return {last < 0 ? nullptr : &on.adjoint(first + static_cast<tape::index_type>(last)) - last, last + 1};
  }

  tape& on;
  tape::index_type first;
  Vector variables;
};

}  // namespace agrad::detail
