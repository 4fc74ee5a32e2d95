// Multivariate rule: a log density or log mass of vectors or matrices, stated once for all engines.
//
// A rule derives from multivariate_rule<arity> and has the members
//     name, text, source   as every rule has
//     arguments            for each argument its name, shape and condition
//     log_density<W>       the sum over all observations, as a 1 x 1 matrix, from (included, x...)
// Every argument of `log_density` is a matrix: a number is 1 x 1, a vector is a row, a sequence of numbers is a column. W is
// the vocabulary of whole matrices: `eigen_words` for Eigen's matrices of numbers, duals and variables
// (families/multivariate/words.hpp), and a vocabulary that records (cpp/rows/recorded_words.hpp), from which Python's
// functions follow. A shape is a pair of letters: equal letters are equal sizes; n is the number of observations, for which one
// row may stand for all; 1 is one. Outcomes that must be whole numbers are data. An argument may have a shorthand, which stands
// for the matrix.
// Read next: families/multivariate/multi_normal.hpp, a family to imitate; families/multivariate/apply.hpp.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <agrad/families/multivariate/conditions.hpp>

namespace agrad {

/// The description of an argument: its shape in letters, and the letter of the size that its condition refers to.
struct matrix_argument {
  std::string_view name;
  char rows, cols;
  matrix_condition must;
  char limit = '1';
  shorthand may_be = shorthand::none;

  bool is_number() const { return rows == '1' && cols == '1'; }
  /// Returns whether a sequence of numbers is a column; other vectors are rows.
  bool is_column() const { return cols == '1'; }
  /// Returns whether a vector may be given instead of a matrix.
  bool may_be_vector() const { return rows == 'n' || rows == '1' || cols == '1'; }
};

template <int Arity>
struct multivariate_rule {
  static constexpr int arity = Arity;
  static constexpr std::string_view source = {};
  using parts = density_parts<Arity>;
};

namespace detail {

/// The shape of an argument of a call; a vector has one axis, a number none.
struct given_shape {
  std::ptrdiff_t rows = 1, cols = 1;
  int axes = 0;
};

AGRAD_COLD inline std::string to_text(const given_shape& s) {
  if (s.axes == 0) return "a number";
  if (s.axes == 1) return "of shape (" + std::to_string(s.rows) + ",)";
  return "of shape (" + std::to_string(s.rows) + ", " + std::to_string(s.cols) + ")";
}

/// The sizes that the letters stand for in one call.
class bound_sizes {
 public:
  std::ptrdiff_t of(char letter) const {
    for (const entry& each : entries_)
      if (each.letter == letter) return each.size;
    return 1;
  }
  /// The argument that determined the size of a letter.
  std::string_view source_of(char letter) const {
    for (const entry& each : entries_)
      if (each.letter == letter) return each.argument;
    return {};
  }
  bool accepts(char letter, std::ptrdiff_t size, std::string_view argument) {
    if (letter == '1') return size == 1;
    for (entry& each : entries_) {
      if (each.letter != letter && each.letter != 0) continue;
      if (each.letter == 0 || (letter == 'n' && each.size == 1)) {
        each = {letter, size, argument};
        return true;
      }
      return each.size == size || (letter == 'n' && size == 1);
    }
    return false;
  }

 private:
  struct entry {
    char letter = 0;
    std::ptrdiff_t size = 1;
    std::string_view argument = {};
  };
  std::array<entry, 6> entries_{};
};

/// Returns the shorthand that a call gives instead of a matrix.
inline shorthand shorthand_of(const matrix_argument& a, const given_shape& given) {
  const int axes = a.may_be == shorthand::diagonal ? 1 : 0;
  return given.axes == axes ? a.may_be : shorthand::none;
}

[[noreturn]] AGRAD_COLD inline void fail_matrix_shape(std::string_view function, const matrix_argument& a,
                                                      const given_shape& is, char letter, const bound_sizes& sizes) {
  std::string must;
  const bool is_diagonal = is.axes == 1 && a.may_be == shorthand::diagonal;
  if (is.axes > 2 || (is.axes < 2 && !a.may_be_vector() && !is_diagonal))
    must = a.may_be == shorthand::diagonal ? "a matrix or its diagonal" : "a matrix";
  else if (letter == '1')
    must = a.is_number() ? "a single number" : "one vector";
  else
    must = "with " + std::to_string(sizes.of(letter)) +
           (is_diagonal        ? " entries"
            : letter == a.rows ? " rows"
                               : " entries in each row") +
           ", as " + std::string(sizes.source_of(letter)) + (is_diagonal ? " has rows" : " has");
  throw ShapeError(sentence(function, a.name, -1, to_text(is), must));
}

/// Returns the shapes of all arguments as matrices. Throws ShapeError where they do not fit together.
template <std::size_t N>
std::array<given_shape, N> matrix_shapes(std::string_view function, const matrix_argument* arguments,
                                         const std::array<given_shape, N>& given, bound_sizes& sizes) {
  std::array<given_shape, N> shapes = given;
  for (std::size_t k = 0; k < N; ++k) {
    const matrix_argument& a = arguments[k];
    given_shape& s = shapes[k];
    const shorthand form = shorthand_of(a, s);
    if (form == shorthand::diagonal) s = {s.rows, s.rows, 2};
    if (form == shorthand::number) s = {1, sizes.of(a.cols), 2};
    if (s.axes > 2 || (s.axes < 2 && !a.may_be_vector())) fail_matrix_shape(function, a, given[k], a.rows, sizes);
    if (s.axes == 1 && !a.is_column()) s = {1, s.rows, 2};
    if (!sizes.accepts(a.rows, s.rows, a.name)) fail_matrix_shape(function, a, given[k], a.rows, sizes);
    if (!sizes.accepts(a.cols, s.cols, a.name)) fail_matrix_shape(function, a, given[k], a.cols, sizes);
  }
  return shapes;
}

}  // namespace detail

}  // namespace agrad
