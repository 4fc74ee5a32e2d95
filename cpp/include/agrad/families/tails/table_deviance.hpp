// The deviance of a table of two rows and two columns from independence, divided by its first cell: the rows 1, x and y, z.
//
// The log masses of beta-binomial and beta-negative-binomial counts have this deviance as their large part, with the cell 1 for
// the count. Slopes are logarithms of 1 plus a quotient with the table's determinant, so that they do not cancel. Rules are
// internal.
#pragma once

#include <agrad/families/tails/count_deviance.hpp>

namespace agrad {

namespace detail {

/// Returns the sum of cell log(cell / expected) over the cells 1, x, y, z, where the expected cells have the same sums.
inline double table_deviance(double x, double y, double z) {
  const double total = 1 + x + y + z, step = (x * y - z) / total;  // added to the cells 1 and z, subtracted from x and y
  return deviance_term(1, step, (1 + x) * ((1 + y) / total)) + deviance_term(x, -step, (1 + x) * ((x + z) / total)) +
         deviance_term(y, -step, (1 + y) * ((y + z) / total)) + deviance_term(z, step, (x + z) * ((y + z) / total));
}

/// Returns log(cell * total / (row * column)), with the cells beside the cell in its row and column, and the cell opposite.
inline double cell_slope(double cell, double row, double column, double opposite) {
  const double u = (cell * opposite - row * column) / ((cell + row) * (cell + column));
  return log1p_or_ratio(u, cell * ((cell + row + column + opposite) / (cell + row)), cell + column);
}

/// Returns the derivative of that with respect to the cell.
template <class T>
T cell_curvature(const T& cell, const T& row, const T& column, const T& opposite) {
  const T total = cell + row + column + opposite;
  return (row * column * (total + cell) - cell * cell * opposite) / (cell * (cell + row) * (cell + column) * total);
}

/// The derivative of table_deviance with respect to x.
struct table_side_rule : rule<3> {
  static constexpr std::string_view name = "table_side";
  static double value(double x, double y, double z) { return cell_slope(x, 1, z, y); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return cell_curvature(x, T(1.0), z, y);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return 1.0 / (1.0 + x + y + z);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return -(1.0 + y) / ((1.0 + x + y + z) * (x + z));
  }
};

/// The derivative of table_deviance with respect to z.
struct table_corner_rule : rule<3> {
  static constexpr std::string_view name = "table_corner";
  static double value(double x, double y, double z) { return cell_slope(z, x, y, 1); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return -(1.0 + y) / ((1.0 + x + y + z) * (x + z));
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return -(1.0 + x) / ((1.0 + x + y + z) * (y + z));
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return cell_curvature(z, x, y, T(1.0));
  }
};

struct table_deviance_rule : rule<3> {
  static constexpr std::string_view name = "table_deviance";
  static double value(double x, double y, double z) { return table_deviance(x, y, z); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return apply<table_side_rule>(x, y, z);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return apply<table_side_rule>(y, x, z);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return apply<table_corner_rule>(x, y, z);
  }
};

}  // namespace detail

}  // namespace agrad
