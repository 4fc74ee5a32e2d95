// Colouring: columns without a common row get one colour; one product with the sum of their unit vectors gives their entries.
//
// Columns without a common row are structurally orthogonal (Curtis, Powell & Reid 1974). To split the columns into few such
// groups is to colour the columns such that columns at distance 2 in the bipartite graph of rows and columns differ
// (Gebremedhin, Manne & Pothen 2005). The greedy algorithm visits the columns in some order and gives each the first colour
// that is free in all rows of the column. Rows are coloured in the same way, on the transposed pattern, for products with
// adjoints.
// Read next: program/sparse/star_colouring.hpp (Hessians), program/sparse/recovery.hpp (from products to entries).
#pragma once

#include <limits>

#include <agrad/program/sparse/ordering.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad {

/// The colour of rows and columns without entries, for which nothing is computed.
inline constexpr std::uint32_t no_colour = std::numeric_limits<std::uint32_t>::max();

struct colouring {
  std::vector<std::uint32_t> colour;  // of each column, row or vertex: below count, or no_colour
  std::uint32_t count = 0;
};

namespace detail {

/// Colours the columns of p, one after the other.
class column_greedy {
 public:
  column_greedy(const csr_pattern& p, const csr_pattern& columns);

  std::vector<std::uint32_t> order(ordering by) const;

  colouring run(const std::vector<std::uint32_t>& order);

 private:
  // A light row is searched for the colours of its columns, at the cost of its length for each of its columns; a heavy row
  // stores its colours as bits. So a full row of 1e5 columns costs 1e5 times 1e5 / 64 at worst, not the square of its length.
  std::uint32_t first_free(const std::vector<std::uint32_t>& colour, std::uint32_t j);

  static void add(std::vector<std::uint64_t>& bits, std::uint32_t c);

  const csr_pattern& p_;
  const csr_pattern& columns_;
  std::vector<bool> is_heavy_;
  std::vector<std::vector<std::uint64_t>> seen_;  // of each heavy row, the colours of its columns
  std::vector<std::uint64_t> forbidden_;          // the colours that the present column may not have
};

/// Gives each column with entries a colour of its own.
colouring colour_apart(const csr_pattern& columns);

/// Returns the colouring of the best order; `columns` is the transpose of p.
colouring colour_columns(const csr_pattern& p, const csr_pattern& columns);

}  // namespace detail

/// Colours the columns such that columns with a common row differ, in the given order.
colouring colour_columns(const csr_pattern& p, ordering by);

/// Does the same in the order that needs the fewest colours.
inline colouring colour_columns(const csr_pattern& p) { return detail::colour_columns(p, transposed_pattern(p)); }

/// Colours the rows such that rows with a common column differ.
inline colouring colour_rows(const csr_pattern& p) { return detail::colour_columns(transposed_pattern(p), p); }

/// The compression of a Jacobian: products with tangents are sums of columns, products with adjoints are sums of rows.
struct jacobian_colouring {
  bool by_rows = false;
  colouring colours;
};

/// Colours columns or rows, whichever costs less: cost(by_rows, colours) is the cost of `colours` products and grows with
/// `colours`.
template <class Cost>
jacobian_colouring colour_jacobian(const csr_pattern& p, const Cost& cost) {
  const csr_pattern t = transposed_pattern(p);
  const std::size_t least[] = {p.longest_row(), t.longest_row()};  // colours, of columns and of rows
  const bool first = cost(true, least[1]) < cost(false, least[0]);
  jacobian_colouring best{first, first ? detail::colour_columns(t, p) : detail::colour_columns(p, t)};
  if (cost(first, best.colours.count) <= cost(!first, least[first ? 0 : 1])) return best;
  jacobian_colouring other{!first, first ? detail::colour_columns(p, t) : detail::colour_columns(t, p)};
  return cost(!first, other.colours.count) < cost(first, best.colours.count) ? other : best;
}

/// Colours columns or rows, whichever needs fewer colours; columns if the numbers are equal.
jacobian_colouring colour_jacobian(const csr_pattern& p);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/colouring.ipp>
#endif
