// Products of matrices: variables or constants on either side, transposed or not, by Eigen's kernels.
//
// A factor is a block of numbers and a flag for its transposition; y = op(a) op(b) has the adjoints A += Y op(b)' and
// B += op(a)' Y, or their transposes (Giles 2008, section 2.2.2), and each of these is again a product of factors. All
// combinations therefore use `add_product` on plain blocks, which Eigen compiles once for each pair of flags.
#pragma once

#include <tuple>

#include <agrad/tape/matrix/elementwise.hpp>

namespace agrad {

namespace detail {

using numbers = matrix<var>::const_map;

/// One side of a product: a block, transposed or not, of variables or constants.
template <bool is_active_, bool is_transposed_>
struct factor {
  static constexpr bool is_active = is_active_, is_transposed = is_transposed_;
  std::conditional_t<is_active, matrix<var>, numbers> x;

  Eigen::Index rows() const { return is_transposed ? x.cols() : x.rows(); }
  Eigen::Index cols() const { return is_transposed ? x.rows() : x.cols(); }
  numbers val() const {
    if constexpr (is_active)
      return x.val();
    else
      return x;
  }
};

template <class X>
auto make_factor(const X& x) {
  if constexpr (std::is_same_v<X, transposed>)
    return factor<true, true>{x.transpose()};
  else if constexpr (std::is_same_v<X, matrix<var>>)
    return factor<true, false>{x};
  else if constexpr (std::is_same_v<typename X::Scalar, var>)
    return factor<true, false>{matrix<var>(x)};
  else
    return factor<false, false>{stored_copy(x.derived().matrix())};
}

template <bool is_transposed>
decltype(auto) oriented(const numbers& x) {
  if constexpr (is_transposed)
    return x.transpose();
  else
    return (x);
}

/// Computes y += op(a) op(b). A product of a column and a row is added column by column, which Eigen does for static vectors
/// only.
template <bool transpose_a, bool transpose_b>
void add_product(matrix<var>::map y, const numbers& a, const numbers& b) {
  if ((transpose_a ? a.rows() : a.cols()) == 1 && y.rows() > 1) {
    for (Eigen::Index j = 0; j < y.cols(); ++j) {
      const double factor = transpose_b ? b(j, 0) : b(0, j);
      for (Eigen::Index i = 0; i < y.rows(); ++i) y(i, j) += (transpose_a ? a(0, i) : a(i, 0)) * factor;
    }
    return;
  }
  y.noalias() += oriented<transpose_a>(a) * oriented<transpose_b>(b);
}

/// Does the same if a or b have entries that are not finite; a product with a zero is then zero (rules/passing.hpp).
template <bool transpose_a, bool transpose_b>
void add_product_passed(matrix<var>::map y, const numbers& a, const numbers& b) {
  const Eigen::Index depth = transpose_a ? a.rows() : a.cols();
  for (Eigen::Index j = 0; j < y.cols(); ++j)
    for (Eigen::Index k = 0; k < depth; ++k)
      for (Eigen::Index i = 0; i < y.rows(); ++i) {
        const double left = transpose_a ? a(k, i) : a(i, k), right = transpose_b ? b(j, k) : b(k, j);
        y(i, j) += passed(left, right);
      }
}

/// Adjoints of a product as blocks with contiguous columns: in place for one lane, a copy for several.
template <class Map>
class contiguous_block {
 public:
  explicit contiguous_block(const Map& adjoint) : adjoint_(adjoint), copy_(adjoint) {}
  matrix<var>::map get() {
    return matrix<var>::map(copy_.data(), copy_.rows(), copy_.cols(), Eigen::OuterStride<>(copy_.rows()));
  }
  void write_back() { adjoint_ = copy_; }

 private:
  Map adjoint_;
  Eigen::MatrixXd copy_;
};
template <>
class contiguous_block<matrix<var>::map> {
 public:
  explicit contiguous_block(const matrix<var>::map& adjoint) : adjoint_(adjoint) {}
  const matrix<var>::map& get() { return adjoint_; }
  void write_back() {}

 private:
  matrix<var>::map adjoint_;
};

/// The entries of a factor; in place of zeros of variables, one where marks are propagated.
template <class Factor>
class factor_entries {
 public:
  factor_entries(const Factor& factor, bool is_marking) : factor_(factor) {
    if (AGRAD_UNLIKELY(is_marking) && Factor::is_active)
      marked_ = factor.val().unaryExpr([](double x) { return x == 0 ? 1.0 : x; });
  }
  numbers get() const {
    if (marked_.size() == 0) return factor_.val();
    return numbers(marked_.data(), marked_.rows(), marked_.cols(), Eigen::OuterStride<>(marked_.rows()));
  }

 private:
  const Factor& factor_;
  Eigen::MatrixXd marked_;
};

/// The closure of a product.
template <class A, class B>
struct product_adjoint {
  A a;
  B b;
  matrix<var> y;
  bool is_finite;  // the result, and so the factors: an entry that is not finite spoils its whole row or column

  template <class Adjoint>
  void operator()(const Adjoint& adjoint) const {
    contiguous_block bar_block(adjoint[y]);
    const auto& writable = bar_block.get();
    const numbers bar(writable.data(), writable.rows(), writable.cols(), Eigen::OuterStride<>(writable.outerStride()));
    const bool is_plain = is_finite && (bar.array() * 0.0).sum() == 0;
    if constexpr (A::is_active) {
      const factor_entries<B> other(b, adjoint.is_marking());
      if constexpr (A::is_transposed)
        add<B::is_transposed, true>(is_plain, adjoint[a.x], other.get(), bar);
      else
        add<false, !B::is_transposed>(is_plain, adjoint[a.x], bar, other.get());
    }
    if constexpr (B::is_active) {
      const factor_entries<A> other(a, adjoint.is_marking());
      if constexpr (B::is_transposed)
        add<true, A::is_transposed>(is_plain, adjoint[b.x], bar, other.get());
      else
        add<!A::is_transposed, false>(is_plain, adjoint[b.x], other.get(), bar);
    }
  }

 private:
  template <bool transpose_left, bool transpose_right, class Map>
  static void add(bool is_plain, const Map& to, const numbers& left, const numbers& right) {
    contiguous_block block(to);
    if (AGRAD_UNLIKELY(!is_plain))
      add_product_passed<transpose_left, transpose_right>(block.get(), left, right);
    else
      add_product<transpose_left, transpose_right>(block.get(), left, right);
    block.write_back();
  }
};

template <class A, class B>
matrix<var> product(const A& a, const B& b) {
  const matrix<var> y = matrix_access::room(a.rows(), b.cols());
  matrix<var>::map to = matrix_access::writable(y);
  to.setZero();
  add_product<A::is_transposed, B::is_transposed>(to, a.val(), b.val());
  const double not_a_number = (to.array() * 0.0).sum();  // zero if all entries are finite
  push(product_adjoint<A, B>{a, b, y, not_a_number == 0});
  return y;
}

template <class A, class B>
using if_factors =
    std::enable_if_t<(is_var_matrix<A> || is_var_matrix<B>)&&is_two_dimensional<A> && is_two_dimensional<B>, matrix<var>>;

}  // namespace detail

/// Multiplies a matrix<var>, or its transposed, by a matrix<var> or an Eigen matrix of numbers or variables. The tape stores a
/// copy of numbers.
template <class A, class B>
detail::if_factors<A, B> operator*(const A& a, const B& b) {
  if (AGRAD_UNLIKELY(a.cols() != b.rows()))
    detail::fail_matrix_shape("product", "with as many rows as the columns of", a.rows(), a.cols(), b.rows(), b.cols());
  return detail::product(detail::make_factor(a), detail::make_factor(b));
}

}  // namespace agrad
