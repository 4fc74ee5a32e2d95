// matrix<var>: a block of values in the arena and a range of indices, so that the adjoint is a block, too.
//
// A matrix is a handle (values, first index, rows, columns, distance of columns), cheap to copy; the entries never change.
// Entry (i, j) has value and index number i + j * outer() of the range, so that blocks, rows, columns and segments are handles
// as well, without a copy or a statement, and their adjoints are parts of the whole adjoint.
// Read next: tape/matrix/elementwise.hpp, how functions of matrices are recorded.
#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <agrad/rules/array.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/eigen.hpp>

namespace agrad {

template <class T>
class matrix;
class transposed;

namespace detail {
struct matrix_access;
[[noreturn]] AGRAD_COLD inline void fail_matrix_shape(const char* function, const char* condition, Eigen::Index rows,
                                                      Eigen::Index cols, Eigen::Index other_rows, Eigen::Index other_cols) {
  const auto text = [](Eigen::Index r, Eigen::Index c) { return "(" + std::to_string(r) + ", " + std::to_string(c) + ")"; };
  throw ShapeError(std::string(function) + ": b is of shape " + text(other_rows, other_cols) + ", but must be " + condition +
                   " a of shape " + text(rows, cols));
}
[[noreturn]] AGRAD_COLD inline void fail_view(const char* function, const char* what, Eigen::Index start, Eigen::Index size,
                                              Eigen::Index available) {
  throw ShapeError(std::string(function) + ": the range of " + what + " is " + std::to_string(size) + " from " +
                   std::to_string(start) + ", but must be within the " + std::to_string(available) + " " + what +
                   " that there are");
}
[[noreturn]] AGRAD_COLD inline void fail_vector(const char* function, Eigen::Index rows, Eigen::Index cols) {
  throw ShapeError(std::string(function) + ": the matrix is of shape (" + std::to_string(rows) + ", " + std::to_string(cols) +
                   "), but must be a vector; select a row or a column first");
}
}  // namespace detail

template <>
class matrix<var> {
 public:
  using index_type = Eigen::Index;
  /// Values or adjoints in place; a single index counts entries column after column, as in a plain Eigen matrix.
  struct const_map : Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> {
    using Map::Map;
    using Map::operator();
    double operator()(index_type i) const { return this->coeff(i % rows(), i / rows()); }
  };
  using map = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

  /// Independent variables with the given values.
  template <class Derived, class = std::enable_if_t<std::is_same_v<typename Derived::Scalar, double>>>
  explicit matrix(const Eigen::DenseBase<Derived>& values) : matrix(room{}, values.rows(), values.cols()) {
    writable() = values.derived().matrix();
  }

  /// The variables of an Eigen matrix of var, which receive the adjoints.
  template <class Derived, class = std::enable_if_t<std::is_same_v<typename Derived::Scalar, var>>, class = void>
  explicit matrix(const Eigen::DenseBase<Derived>& variables) : matrix(room{}, variables.rows(), variables.cols()) {
    link([&](index_type i, index_type j) { return var(variables.derived().coeff(i, j)); });
  }

  /// The variables of a std::vector, as a column.
  explicit matrix(const std::vector<var>& variables) : matrix(room{}, static_cast<index_type>(variables.size()), 1) {
    link([&](index_type i, index_type) { return variables[static_cast<std::size_t>(i)]; });
  }

  /// Independent variables of value zero.
  matrix(index_type rows, index_type cols) : matrix(room{}, rows, cols) { writable().setZero(); }

  /// An empty matrix.
  matrix() : matrix(room{}, 0, 0) {}

  index_type rows() const { return rows_; }
  index_type cols() const { return cols_; }
  index_type size() const { return rows_ * cols_; }
  /// Returns the distance from one column's first entry to the first entry of the next column.
  index_type outer() const { return outer_; }
  /// Returns whether the entries are contiguous, as those of results and of whole columns are.
  bool is_contiguous() const { return outer_ == rows_ || cols_ <= 1; }
  bool is_vector() const { return rows_ == 1 || cols_ == 1; }
  /// Returns the index of the first entry, and that of any entry.
  tape::index_type index() const { return index_; }
  tape::index_type index_of(index_type row, index_type col) const {
    return index_ + static_cast<tape::index_type>(row + col * outer_);
  }

  /// Returns the values.
  const_map val() const {
    tape::current().check_operand("val", "matrix", scope_);
    return const_map(values_, rows_, cols_, Eigen::OuterStride<>(outer_));
  }
  /// Returns the adjoints after a reverse pass, as a map; the next statement or reverse pass may move or change the adjoints.
  const_map adj() const {
    tape& t = tape::current();
    if (AGRAD_UNLIKELY(scope_ != t.scope_id())) t.check_reached("adj", "matrix", scope_);
    const double* first = size() == 0 ? nullptr : &t.adjoint(index_ + last()) - last();
    return const_map(first, rows_, cols_, Eigen::OuterStride<>(outer_));
  }

  /// Returns an entry, as a variable that shares the entry's adjoint, without a statement. The variable is constant, because
  /// entries never change.
  const var operator()(index_type row, index_type col) const {  // NOLINT
    if (AGRAD_UNLIKELY(row < 0 || row >= rows_ || col < 0 || col >= cols_)) fail_entry(row, col);
    return at(row + col * outer_);
  }
  /// Returns the i-th entry, column after column.
  const var operator[](index_type i) const {  // NOLINT
    if (AGRAD_UNLIKELY(i < 0 || i >= size())) fail_entry(i);
    return at(outer_ == rows_ ? i : i % rows_ + i / rows_ * outer_);
  }

  /// Returns the entries as variables that share their adjoints, without a statement.
  Eigen::Matrix<var, Eigen::Dynamic, Eigen::Dynamic> variables() const {
    Eigen::Matrix<var, Eigen::Dynamic, Eigen::Dynamic> result(rows_, cols_);
    for (index_type j = 0; j < cols_; ++j)
      for (index_type i = 0; i < rows_; ++i) result(i, j) = (*this)(i, j);
    return result;
  }

  // ---- reductions, with Eigen's names: tape/matrix/reduce.hpp -----------------------------------------------------------

  var sum() const;
  var mean() const;
  var prod() const;
  var norm() const;
  var squaredNorm() const;
  var trace() const;

  // ---- views, with Eigen's names: no copy, no statement ----------------------------------------------------------------

  /// Returns the block of rows x cols entries that begins at (row, col).
  matrix block(index_type row, index_type col, index_type rows, index_type cols) const {
    return view("block", row, col, rows, cols);
  }
  matrix row(index_type i) const { return view("row", i, 0, 1, cols_); }
  matrix col(index_type j) const { return view("col", 0, j, rows_, 1); }
  matrix topRows(index_type n) const { return view("topRows", 0, 0, n, cols_); }
  matrix bottomRows(index_type n) const { return view("bottomRows", rows_ - n, 0, n, cols_); }
  matrix middleRows(index_type start, index_type n) const { return view("middleRows", start, 0, n, cols_); }
  matrix leftCols(index_type n) const { return view("leftCols", 0, 0, rows_, n); }
  matrix rightCols(index_type n) const { return view("rightCols", 0, cols_ - n, rows_, n); }
  matrix middleCols(index_type start, index_type n) const { return view("middleCols", 0, start, rows_, n); }
  /// Returns the n entries of a vector that begin at start.
  matrix segment(index_type start, index_type n) const { return part("segment", start, n); }
  matrix head(index_type n) const { return part("head", 0, n); }
  matrix tail(index_type n) const { return part("tail", size() - n, n); }
  /// Returns a contiguous matrix in another shape of the same size, column after column; other matrices are copied by one
  /// closure.
  matrix reshaped(index_type rows, index_type cols) const;
  /// Returns all entries as one column.
  matrix reshaped() const { return reshaped(size(), 1); }
  /// Returns the transposed matrix. Products read the original in place; any other use copies the entries by one closure.
  agrad::transposed transpose() const;

 private:
  friend class agrad::transposed;

  friend struct detail::matrix_access;

  struct room {};
  /// Allocates the result of an operation: fresh indices; the operation writes the values, and the operation's closure reads
  /// the adjoints.
  matrix(room, index_type rows, index_type cols) : rows_(rows), cols_(cols), outer_(rows) {
    if (AGRAD_UNLIKELY(rows < 0 || cols < 0)) fail_size(rows, cols);
    tape& t = tape::current();
    values_ = t.memory().allocate_array<double>(static_cast<std::size_t>(size()));
    index_ = t.leaves(static_cast<std::size_t>(size()));
    scope_ = t.scope_id();
  }
  map writable() { return map(values_, rows_, cols_, Eigen::OuterStride<>(outer_)); }

  [[noreturn]] AGRAD_COLD static void fail_size(index_type rows, index_type cols) {
    throw ShapeError("matrix: the shape is (" + std::to_string(rows) + ", " + std::to_string(cols) +
                     "), but must not be negative");
  }
  [[noreturn]] AGRAD_COLD void fail_entry(index_type row, index_type col) const {
    throw std::out_of_range("matrix: the entry is (" + std::to_string(row) + ", " + std::to_string(col) +
                            "), but must be within the shape (" + std::to_string(rows_) + ", " + std::to_string(cols_) + ")");
  }
  [[noreturn]] AGRAD_COLD void fail_entry(index_type i) const {
    throw std::out_of_range("matrix: the entry is " + std::to_string(i) + ", but must be at least 0 and less than the size, " +
                            std::to_string(size()));
  }

  const var at(index_type place) const {  // NOLINT
    tape::current().check_operand("entry", "matrix", scope_);
    return detail::tape_access::name(values_[place], index_ + static_cast<tape::index_type>(place), scope_);
  }

  /// Returns the distance from the first entry to the last.
  tape::index_type last() const { return static_cast<tape::index_type>(rows_ - 1 + (cols_ - 1) * outer_); }

  matrix view(const char* function, index_type row, index_type col, index_type rows, index_type cols) const {
    if (AGRAD_UNLIKELY(row < 0 || rows < 0 || row > rows_ - rows)) detail::fail_view(function, "rows", row, rows, rows_);
    if (AGRAD_UNLIKELY(col < 0 || cols < 0 || col > cols_ - cols)) detail::fail_view(function, "columns", col, cols, cols_);
    matrix result(*this);
    const index_type first = row + col * outer_;
    result.values_ += first;
    result.index_ += static_cast<tape::index_type>(first);
    result.rows_ = rows;
    result.cols_ = cols;
    return result;
  }
  matrix part(const char* function, index_type start, index_type n) const {
    if (AGRAD_UNLIKELY(!is_vector())) detail::fail_vector(function, rows_, cols_);
    return cols_ == 1 ? view(function, start, 0, n, 1) : view(function, 0, start, 1, n);
  }

  template <class At>
  void link(const At& variable) {
    auto* indices = tape::current().memory().allocate_array<tape::index_type>(static_cast<std::size_t>(size()));
    for (index_type j = 0, k = 0; j < cols_; ++j) {
      for (index_type i = 0; i < rows_; ++i, ++k) {
        const var x = variable(i, j);
        values_[k] = x.val();
        indices[k] = detail::tape_access::index_of("matrix", x);
      }
    }
    push([result = *this, indices](auto& adjoint) {
      const auto from = adjoint[result];
      const auto stride = from.innerStride();
      for (index_type k = 0; k < result.size(); ++k) adjoint.at(indices[k]) += from.data()[k * stride];
    });
  }

  double* values_ = nullptr;
  index_type rows_, cols_, outer_;
  tape::index_type index_ = 0;
  std::uint32_t scope_ = 0;
};

namespace detail {
/// Access to matrices for operations, not for users.
struct matrix_access {
  /// Returns a result with fresh indices, values to be written once, and adjoints that a closure propagates.
  static matrix<var> room(Eigen::Index rows, Eigen::Index cols) { return matrix<var>(matrix<var>::room{}, rows, cols); }
  static matrix<var>::map writable(const matrix<var>& result) { return matrix<var>(result).writable(); }
};
}  // namespace detail

/// The transposed of a matrix, without a copy. Products read the original in place; other uses convert to a `matrix<var>`.
class transposed {
 public:
  explicit transposed(const matrix<var>& of) : of_(of) {}
  Eigen::Index rows() const { return of_.cols(); }
  Eigen::Index cols() const { return of_.rows(); }
  Eigen::Index size() const { return of_.size(); }
  auto val() const { return of_.val().transpose(); }
  const var operator()(Eigen::Index row, Eigen::Index col) const { return of_(col, row); }  // NOLINT
  const matrix<var>& transpose() const { return of_; }

  /// Converts to a matrix: the same entries for a vector, else a copy by one closure.
  operator matrix<var>() const {  // NOLINT: wherever a matrix is expected
    if (of_.is_vector() && (of_.cols() == 1 || of_.outer() == 1)) {
      matrix<var> same(of_);
      same.rows_ = of_.cols_;
      same.cols_ = of_.rows_;
      same.outer_ = 1;
      if (same.cols_ == 1) same.outer_ = same.rows_;
      return same;
    }
    const matrix<var> copy = detail::matrix_access::room(rows(), cols());
    detail::matrix_access::writable(copy) = val();
    push([x = of_, copy](auto& adjoint) { adjoint[x] += adjoint[copy].transpose(); });
    return copy;
  }

 private:
  matrix<var> of_;
};

/// Prints the values as Eigen does.
template <class C, class Traits>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, const matrix<var>& x) {
  out << x.val();
  return out;
}
template <class C, class Traits>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, const transposed& x) {
  out << x.val();
  return out;
}

inline transposed matrix<var>::transpose() const { return agrad::transposed(*this); }
/// Returns the transposed matrix, without a copy.
inline transposed transpose(const matrix<var>& a) { return a.transpose(); }
inline const matrix<var>& transpose(const transposed& a) { return a.transpose(); }

inline matrix<var> matrix<var>::reshaped(index_type rows, index_type cols) const {
  if (AGRAD_UNLIKELY(rows < 0 || cols < 0 || rows * cols != size()))
    detail::fail_matrix_shape("reshaped", "of the size of", rows_, cols_, rows, cols);
  if (is_contiguous()) {
    matrix same(*this);
    same.rows_ = rows;
    same.cols_ = cols;
    same.outer_ = rows;
    return same;
  }
  matrix copy(room{}, rows_, cols_);
  copy.writable() = val();
  push([x = *this, copy](auto& adjoint) { adjoint[x] += adjoint[copy]; });
  return copy.reshaped(rows, cols);
}

namespace detail {
template <int Lanes>
using adjoint_map = Eigen::Map<
    Eigen::MatrixXd, 0,
    std::conditional_t<Lanes == 1, Eigen::OuterStride<>, Eigen::Stride<Eigen::Dynamic, Lanes == 1 ? Eigen::Dynamic : Lanes>>>;
}  // namespace detail

template <int Lanes>
auto adjoint_view<Lanes>::operator[](const matrix<var>& x) const {
  using map = detail::adjoint_map<Lanes>;
  double* first = nullptr;
  if (x.size() != 0) {
    const Eigen::Index last = x.rows() - 1 + (x.cols() - 1) * x.outer();
    if (AGRAD_UNLIKELY(!reaches(x.index())))
      first = tape_.unread_adjoints(static_cast<std::size_t>((last + 1) * Lanes));
    else
      first = &at(x.index() + static_cast<tape::index_type>(last)) - last * Lanes;
  }
  if constexpr (Lanes == 1)
    return map(first, x.rows(), x.cols(), Eigen::OuterStride<>(x.outer()));
  else
    return map(first, x.rows(), x.cols(), Eigen::Stride<Eigen::Dynamic, Lanes>(x.outer() * Lanes, Lanes));
}

}  // namespace agrad
