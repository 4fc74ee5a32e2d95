// matrix<var>: a block of values in the arena and a range of indices, so that its adjoint is a block too.
//
//     matrix<var> a(values), b(other);
//     var y = sum(a * b);                 // one closure for the product, one for the sum, whatever the size
//     y.grad();  a.adj();                  // an Eigen::MatrixXd
//
// A matrix is a handle (values, first index, rows, columns), cheap to copy; its entries never change. Operations are
// closures whose adjoints work on whole blocks with Eigen's kernels. Values live until the scope they were made in ends.
#pragma once

#include <Eigen/Core>
#include <string>
#include <type_traits>

#include <agrad/rules/array.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/eigen.hpp>

namespace agrad {

template <class T>
class matrix;

template <>
class matrix<var> {
 public:
  using index_type = Eigen::Index;
  using const_map = Eigen::Map<const Eigen::MatrixXd, Eigen::AlignedMax>;
  using map = Eigen::Map<Eigen::MatrixXd>;

  /// Independent variables with the given values.
  template <class Derived, class = std::enable_if_t<std::is_same_v<typename Derived::Scalar, double>>>
  explicit matrix(const Eigen::MatrixBase<Derived>& values) : matrix(values.rows(), values.cols()) {
    writable() = values;
  }

  /// The same variables as an Eigen matrix of var holds: adjoints flow back to each of them.
  template <class Derived, class = std::enable_if_t<std::is_same_v<typename Derived::Scalar, var>>, class = void>
  explicit matrix(const Eigen::MatrixBase<Derived>& variables) : matrix(variables.rows(), variables.cols()) {
    auto* indices = tape::current().memory().allocate_array<tape::index_type>(static_cast<std::size_t>(size()));
    for (index_type j = 0, k = 0; j < cols_; ++j) {
      for (index_type i = 0; i < rows_; ++i, ++k) {
        const var x = variables(i, j);
        values_[k] = x.val();
        indices[k] = x.index();
      }
    }
    push([result = *this, indices](auto& adjoint) {
      const auto from = adjoint[result];
      for (index_type k = 0; k < result.size(); ++k) adjoint.at(indices[k]) += from.data()[k];
    });
  }

  /// Room for the result of an operation: fresh indices, values to be written by the operation.
  matrix(index_type rows, index_type cols) : rows_(rows), cols_(cols) {
    tape& t = tape::current();
    values_ = t.memory().allocate_array<double>(static_cast<std::size_t>(size()));
    index_ = t.leaves(static_cast<std::size_t>(size()));
    scope_ = t.scope_id();
  }

  index_type rows() const { return rows_; }
  index_type cols() const { return cols_; }
  index_type size() const { return rows_ * cols_; }
  tape::index_type index() const { return index_; }

  const_map val() const {
#ifdef AGRAD_CHECKED
    check_open("val");
#endif
    return const_map(values_, rows_, cols_);
  }
  map writable() { return map(values_, rows_, cols_); }

  /// The adjoints after a sweep.
  Eigen::MatrixXd adj() const {
    check_open("adj");
    tape& t = tape::current();
    return size() == 0 ? Eigen::MatrixXd(rows_, cols_)
                       : Eigen::MatrixXd(map(&t.adjoint(index_ + last()) - last(), rows_, cols_));
  }

  /// One entry; no statement is made, the variable shares the entry's adjoint. Constant, because entries never change.
  const var operator()(index_type row, index_type col) const { return (*this)[col * rows_ + row]; }  // NOLINT
  const var operator[](index_type i) const {                                                         // NOLINT
    return var(val().data()[i], index_ + static_cast<tape::index_type>(i), scope_);
  }

 private:
  void check_open(const char* function) const {
    if (AGRAD_UNLIKELY(!tape::current().is_open(scope_)))
      throw ScopeError(std::string(function) +
                       ": the matrix's scope has ended; read adjoints before the scope, or the gradient call, returns");
  }

  tape::index_type last() const { return static_cast<tape::index_type>(size() - 1); }

  double* values_ = nullptr;
  index_type rows_, cols_;
  tape::index_type index_ = 0;
  std::uint32_t scope_ = 0;
};

template <class Lane>
auto adjoint_view<Lane>::operator[](const matrix<var>& x) const {
  Lane* first =
      x.size() == 0 ? nullptr : &tape_.adjoint(x.index() + static_cast<tape::index_type>(x.size() - 1)) - (x.size() - 1);
  return Eigen::Map<matrix_of<Lane>>(first, x.rows(), x.cols());
}

namespace detail {
[[noreturn]] AGRAD_COLD inline void fail_matrix_shape(const char* function, const char* condition, Eigen::Index rows,
                                                      Eigen::Index cols, Eigen::Index other_rows, Eigen::Index other_cols) {
  const auto text = [](Eigen::Index r, Eigen::Index c) { return "(" + std::to_string(r) + ", " + std::to_string(c) + ")"; };
  throw ShapeError(std::string(function) + ": b is of shape " + text(other_rows, other_cols) + ", but must be " + condition +
                   " a of shape " + text(rows, cols));
}
}  // namespace detail

/// Sum of all entries.
inline var sum(const matrix<var>& a) {
  return custom(a.val().sum(), [a](auto& adjoint, const var& y) { adjoint[a].array() += adjoint[y]; });
}

/// Sum of the products of corresponding entries.
inline var dot(const matrix<var>& a, const matrix<var>& b) {
  if (AGRAD_UNLIKELY(a.rows() != b.rows() || a.cols() != b.cols()))
    detail::fail_matrix_shape("dot", "of the shape of", a.rows(), a.cols(), b.rows(), b.cols());
  return custom(a.val().cwiseProduct(b.val()).sum(), [a, b](auto& adjoint, const var& y) {
    const double bar = adjoint[y];
    adjoint[a] += bar * b.val();
    adjoint[b] += bar * a.val();
  });
}

namespace detail {
inline void check_product(Eigen::Index rows, Eigen::Index cols, Eigen::Index other_rows, Eigen::Index other_cols) {
  if (AGRAD_UNLIKELY(cols != other_rows))
    fail_matrix_shape("product", "with as many rows as the columns of", rows, cols, other_rows, other_cols);
}
/// A copy of a constant in the arena.
inline matrix<var>::const_map kept(const Eigen::Ref<const Eigen::MatrixXd>& a) {
  double* copy = tape::current().memory().allocate_array<double>(static_cast<std::size_t>(a.size()));
  matrix<var>::map(copy, a.rows(), a.cols()) = a;
  return matrix<var>::const_map(copy, a.rows(), a.cols());
}
}  // namespace detail

/// Matrix product. Adjoints: A += Y B', B += A' Y (Giles 2008, section 2.2.2).
inline matrix<var> operator*(const matrix<var>& a, const matrix<var>& b) {
  detail::check_product(a.rows(), a.cols(), b.rows(), b.cols());
  matrix<var> y(a.rows(), b.cols());
  y.writable().noalias() = a.val() * b.val();
  push([a, b, y](auto& adjoint) {
    const auto bar = adjoint[y];
    if ((bar.array() == 0).all()) return;  // an infinite factor of an unused product must not become nan
    adjoint[a].noalias() += bar * b.val().transpose();
    adjoint[b].noalias() += a.val().transpose() * bar;
  });
  return y;
}

/// Product with a constant on the left, which the tape keeps a copy of.
inline matrix<var> operator*(const Eigen::Ref<const Eigen::MatrixXd>& a, const matrix<var>& b) {
  detail::check_product(a.rows(), a.cols(), b.rows(), b.cols());
  matrix<var> y(a.rows(), b.cols());
  y.writable().noalias() = a * b.val();
  push([a = detail::kept(a), b, y](auto& adjoint) { adjoint[b].noalias() += a.transpose() * adjoint[y]; });
  return y;
}

/// Product with a constant on the right.
inline matrix<var> operator*(const matrix<var>& a, const Eigen::Ref<const Eigen::MatrixXd>& b) {
  detail::check_product(a.rows(), a.cols(), b.rows(), b.cols());
  matrix<var> y(a.rows(), b.cols());
  y.writable().noalias() = a.val() * b;
  push([a, b = detail::kept(b), y](auto& adjoint) { adjoint[a].noalias() += adjoint[y] * b.transpose(); });
  return y;
}

/// Engine of `matrix<var>`: a rule on every entry, values and partial derivatives in one pass, one closure.
struct matrix_engine {
  static constexpr int rank = detail::array_rank + 1;

  template <class Rule>
  static matrix<var> apply(const matrix<var>& x) {
    matrix<var> y(x.rows(), x.cols());
    double* partial = tape::current().memory().allocate_array<double>(static_cast<std::size_t>(x.size()));
    const double* from = x.val().data();
    double* to = y.writable().data();
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      to[i] = Rule::value(from[i]);
      partial[i] = Rule::derivative(wrt<0>{}, from[i], to[i]);
    }
    push([x, y, partial](auto& adjoint) {
      const auto bar = adjoint[y];
      auto sum = adjoint[x];
      for (Eigen::Index i = 0; i < y.size(); ++i)
        if (bar(i) != 0) sum(i) += partial[i] * bar(i);  // as in the sweep: what is not used gives no nan
    });
    return y;
  }
};

template <>
struct engine_of<matrix<var>> {
  using type = matrix_engine;
};

}  // namespace agrad
