// Operands: the four kinds of arguments that an elementwise function of matrices takes, with one interface.
//
// The kinds are a matrix of variables, a constant matrix, a scalar variable and a number. An operand returns the entries of
// column j as an object with operator[], and knows the place of its adjoint; `stored_copy` returns what the closure stores for
// the reverse pass. If all matrices are contiguous, everything is one column.
// Read next: tape/matrix/elementwise.hpp.
#pragma once

#include <type_traits>

#include <agrad/rules/values.hpp>
#include <agrad/tape/matrix/matrix.hpp>

namespace agrad {

namespace detail {

inline constexpr int matrix_rank = array_rank + 1;
template <class T>
inline constexpr bool is_var_matrix = std::is_same_v<T, matrix<var>> || std::is_same_v<T, transposed>;
/// Whether a type has rows and columns.
template <class T>
inline constexpr bool is_two_dimensional = is_var_matrix<T> || is_eigen<T>;

/// The numbers of one lane, `Lanes` apart.
template <int Lanes>
struct strided {
  double* first;
  double& operator[](Eigen::Index i) const { return first[i * Lanes]; }
};

/// The columns of the adjoint of a matrix, in a reverse pass with any number of lanes.
template <class Adjoint>
class adjoint_columns {
  using map = std::decay_t<decltype(std::declval<Adjoint&>()[std::declval<const matrix<var>&>()])>;
  static constexpr int lanes = map::InnerStrideAtCompileTime;

 public:
  adjoint_columns(const Adjoint& adjoint, const matrix<var>& x) : first_(adjoint[x].data()), outer_(x.outer()) {}
  strided<lanes> operator()(Eigen::Index j) const { return {first_ + j * outer_ * lanes}; }

 private:
  double* first_;
  Eigen::Index outer_;
};

struct matrix_operand {
  static constexpr bool is_active = true, is_scalar = false;
  matrix<var> x;

  const double* column(Eigen::Index j) const { return x.val().data() + j * x.outer(); }
  Eigen::Index rows() const { return x.rows(); }
  Eigen::Index cols() const { return x.cols(); }
  bool is_contiguous() const { return x.is_contiguous(); }
  const matrix_operand& stored_copy(bool) const { return *this; }
};

struct stored_constant {
  static constexpr bool is_active = false, is_scalar = false;
  const double* first;
  Eigen::Index outer;
  const double* column(Eigen::Index j) const { return first + j * outer; }
};

/// Copies a constant to the arena.
inline matrix<var>::const_map stored_copy(const Eigen::Ref<const Eigen::MatrixXd>& a) {
  double* copy = tape::current().memory().allocate_array<double>(static_cast<std::size_t>(a.size()));
  Eigen::Map<Eigen::MatrixXd>(copy, a.rows(), a.cols()) = a;
  return matrix<var>::const_map(copy, a.rows(), a.cols(), Eigen::OuterStride<>(a.rows()));
}

class constant_operand {
 public:
  static constexpr bool is_active = false, is_scalar = false;
  template <class X>
  explicit constant_operand(const X& x) : x_(x) {}  // from the expression itself: a copied Ref shares the original's memory
  const double* column(Eigen::Index j) const { return x_.data() + j * x_.outerStride(); }
  Eigen::Index rows() const { return x_.rows(); }
  Eigen::Index cols() const { return x_.cols(); }
  bool is_contiguous() const { return x_.outerStride() == x_.rows() || x_.cols() <= 1; }
  stored_constant stored_copy(bool with_values) const {
    if (!with_values) return {nullptr, 0};
    const auto copy = detail::stored_copy(x_);
    return {copy.data(), copy.outerStride()};
  }

 private:
  Eigen::Ref<const Eigen::MatrixXd> x_;
};

struct scalar_operand {
  static constexpr bool is_active = true, is_scalar = true;
  double value;
  tape::index_type index;
  repeated column(Eigen::Index) const { return {value}; }
  bool is_contiguous() const { return true; }
  const scalar_operand& stored_copy(bool) const { return *this; }
};

struct number_operand {
  static constexpr bool is_active = false, is_scalar = true;
  double value;
  repeated column(Eigen::Index) const { return {value}; }
  bool is_contiguous() const { return true; }
  const number_operand& stored_copy(bool) const { return *this; }
};

template <class X>
auto make_operand(const X& x) {
  if constexpr (is_var_matrix<X>) {
    return matrix_operand{x};
  } else if constexpr (is_eigen<X>) {
    using scalar = typename X::Scalar;
    static_assert(std::is_same_v<scalar, var> || std::is_arithmetic_v<scalar>,
                  "an operand beside a matrix<var> must be a matrix of numbers or of variables");
    if constexpr (std::is_same_v<scalar, var>)
      return matrix_operand{matrix<var>(x)};
    else
      return constant_operand(x.derived().matrix().template cast<double>());
  } else if constexpr (std::is_arithmetic_v<X>) {
    return number_operand{static_cast<double>(x)};
  } else {
    const var scalar(x);
    return scalar_operand{scalar.val(), tape_access::index_of("expression", scalar)};
  }
}

/// The common numbers of rows and columns of all operands but scalars, where a single row or column is repeated to any number;
/// throws ShapeError if the numbers differ.
struct common_shape {
  Eigen::Index rows = -1, cols = -1;
  bool contiguous = true, same = true;  // same: no operand is to be repeated

  template <class Operand>
  void join(std::string_view function, const Operand& x) {
    if constexpr (!Operand::is_scalar) {
      contiguous = contiguous && x.is_contiguous();
      if (AGRAD_UNLIKELY(rows >= 0 && (x.rows() != rows || x.cols() != cols))) {
        const auto differ = [](Eigen::Index a, Eigen::Index b) { return a != b && a != 1 && b != 1; };
        if (differ(rows, x.rows()) || differ(cols, x.cols())) fail_array_shape(function, x.rows(), x.cols(), rows, cols);
        same = false;
        if (rows == 1) rows = x.rows();
        if (cols == 1) cols = x.cols();
        return;
      }
      rows = x.rows();
      cols = x.cols();
    }
  }
};

/// Repeats the only row, the only column or both of a matrix: a copy by one closure.
inline matrix_operand repeated_to(const matrix_operand& x, Eigen::Index rows, Eigen::Index cols) {
  if (x.rows() == rows && x.cols() == cols) return x;
  const Eigen::Index down = x.rows() == 1 ? rows : 1, along = x.cols() == 1 ? cols : 1;
  const matrix<var> copy = matrix_access::room(rows, cols);
  matrix_access::writable(copy) = x.x.val().replicate(down, along);
  push([x = x.x, copy](auto& adjoint) {
    const auto from = adjoint[copy];
    auto to = adjoint[x];
    for (Eigen::Index j = 0; j < copy.cols(); ++j)
      for (Eigen::Index i = 0; i < copy.rows(); ++i) to(x.rows() == 1 ? 0 : i, x.cols() == 1 ? 0 : j) += from(i, j);
  });
  return {copy};
}
inline constant_operand repeated_to(const constant_operand& x, Eigen::Index rows, Eigen::Index cols) {
  const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> of(x.column(0), x.rows(), x.cols(),
                                                                      Eigen::OuterStride<>(x.column(1) - x.column(0)));
  return constant_operand(of.replicate(x.rows() == rows ? 1 : rows, x.cols() == cols ? 1 : cols));
}
template <class Scalar, class = std::enable_if_t<Scalar::is_scalar>>
const Scalar& repeated_to(const Scalar& x, Eigen::Index, Eigen::Index) {
  return x;
}

}  // namespace detail
}  // namespace agrad
