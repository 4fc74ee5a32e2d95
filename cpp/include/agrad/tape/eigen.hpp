// Eigen: lets Eigen::Matrix<var, ...> and Eigen::Matrix<dual<T, K>, ...> work in Eigen's own templates, mixed with doubles.
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include <agrad/dual/dual.hpp>
#include <agrad/tape/var.hpp>

namespace Eigen {

template <>
struct NumTraits<agrad::var> : GenericNumTraits<double> {
  using Real = agrad::var;
  using NonInteger = agrad::var;
  using Nested = agrad::var;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1, AddCost = 10, MulCost = 10 };
};
template <class BinaryOp>
struct ScalarBinaryOpTraits<agrad::var, double, BinaryOp> {
  using ReturnType = agrad::var;
};
template <class BinaryOp>
struct ScalarBinaryOpTraits<double, agrad::var, BinaryOp> {
  using ReturnType = agrad::var;
};

template <class T, int K>
struct NumTraits<agrad::dual<T, K>> : GenericNumTraits<double> {
  using Real = agrad::dual<T, K>;
  using NonInteger = agrad::dual<T, K>;
  using Nested = agrad::dual<T, K>;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1 + K, AddCost = 1 + K, MulCost = 1 + 3 * K };
};
template <class T, int K, class BinaryOp>
struct ScalarBinaryOpTraits<agrad::dual<T, K>, double, BinaryOp> {
  using ReturnType = agrad::dual<T, K>;
};
template <class T, int K, class BinaryOp>
struct ScalarBinaryOpTraits<double, agrad::dual<T, K>, BinaryOp> {
  using ReturnType = agrad::dual<T, K>;
};

}  // namespace Eigen

namespace agrad {

// What Eigen's templates ask of a real scalar, found by argument-dependent lookup.
inline const var& conj(const var& x) { return x; }
inline const var& real(const var& x) { return x; }
inline var imag(const var&) { return var(); }
template <class T, int K>
const dual<T, K>& conj(const dual<T, K>& x) {
  return x;
}
template <class T, int K>
const dual<T, K>& real(const dual<T, K>& x) {
  return x;
}
template <class T, int K>
dual<T, K> imag(const dual<T, K>&) {
  return {};
}
inline bool isfinite(const var& x) { return std::isfinite(x.val()); }
inline bool isnan(const var& x) { return std::isnan(x.val()); }
inline bool isinf(const var& x) { return std::isinf(x.val()); }

}  // namespace agrad
