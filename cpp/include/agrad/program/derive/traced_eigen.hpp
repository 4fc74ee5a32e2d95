// Traced numbers in Eigen: lets Eigen's templates work with Eigen::Matrix<traced, ...>, also mixed with doubles.
#pragma once

#include <Eigen/Core>

#include <agrad/program/recording/tracing.hpp>

namespace Eigen {

template <>
struct NumTraits<agrad::traced> : GenericNumTraits<double> {
  using Real = agrad::traced;
  using NonInteger = agrad::traced;
  using Nested = agrad::traced;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1, AddCost = 10, MulCost = 10 };
};
template <class BinaryOp>
struct ScalarBinaryOpTraits<agrad::traced, double, BinaryOp> {
  using ReturnType = agrad::traced;
};
template <class BinaryOp>
struct ScalarBinaryOpTraits<double, agrad::traced, BinaryOp> {
  using ReturnType = agrad::traced;
};

}  // namespace Eigen

namespace agrad {

// Functions that Eigen's templates need of a real scalar, found by argument-dependent lookup.
inline const traced& conj(const traced& x) { return x; }
inline const traced& real(const traced& x) { return x; }
inline traced imag(const traced&) { return {}; }

}  // namespace agrad
