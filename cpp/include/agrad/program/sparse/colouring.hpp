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
  column_greedy(const csr_pattern& p, const csr_pattern& columns) : p_(p), columns_(columns), seen_(p.rows()) {
    for (std::size_t i = 0; i < p.rows(); ++i) is_heavy_.push_back(p.row_size(i) > std::max<std::size_t>(64, p.cols / 256));
  }

  std::vector<std::uint32_t> order(ordering by) const {
    std::vector<std::size_t> degrees(p_.cols, 0);
    if (by != ordering::natural)
      for (std::size_t j = 0; j < p_.cols; ++j)
        for (const auto i : columns_.row(j)) degrees[j] += p_.row_size(i) - 1;  // an upper bound; the true one costs its square
    if (by != ordering::incidence_degree) return by_descending_degree(degrees);
    return by_incidence(degrees, [&](std::uint32_t j, const auto& call) {
      for (const auto i : columns_.row(j))
        if (!is_heavy_[i])  // a heavy row raises all its columns alike, which decides nothing
          for (const auto k : p_.row(i)) call(k);
    });
  }

  colouring run(const std::vector<std::uint32_t>& order) {
    colouring c{std::vector<std::uint32_t>(p_.cols, no_colour), 0};
    taken_.assign(1, 0);
    for (auto& row : seen_) row.clear();
    interrupt_pace pace;
    for (const std::uint32_t j : order) {
      pace.step();
      if (columns_.row_size(j) == 0) continue;
      const std::uint32_t found = first_free(c.colour, j);
      c.colour[j] = found;
      if (found == c.count && ++c.count % 64 == 0) taken_.push_back(0);  // one bit more than colours, so that searches end
      for (const auto i : columns_.row(j))
        if (is_heavy_[i]) add(seen_[i], found);
    }
    return c;
  }

 private:
  // A light row is searched for the colours of its columns, at the cost of its length for each of its columns; a heavy row
  // stores its colours as bits. So a full row of 1e5 columns costs 1e5 times 1e5 / 64 at worst, not the square of its length.
  std::uint32_t first_free(const std::vector<std::uint32_t>& colour, std::uint32_t j) {
    std::fill(taken_.begin(), taken_.end(), 0);
    for (const auto i : columns_.row(j)) {
      if (is_heavy_[i]) {
        for (std::size_t k = 0; k < seen_[i].size(); ++k) taken_[k] |= seen_[i][k];
      } else {
        for (const auto k : p_.row(i))
          if (colour[k] != no_colour) taken_[colour[k] / 64] |= std::uint64_t{1} << (colour[k] % 64);
      }
    }
    std::uint32_t word = 0, bit = 0;
    while (taken_[word] == ~std::uint64_t{0}) ++word;
    while ((taken_[word] >> bit & 1U) != 0) ++bit;
    return 64 * word + bit;
  }

  static void add(std::vector<std::uint64_t>& bits, std::uint32_t c) {
    if (bits.size() <= c / 64) bits.resize(c / 64 + 1, 0);
    bits[c / 64] |= std::uint64_t{1} << (c % 64);
  }

  const csr_pattern& p_;
  const csr_pattern& columns_;
  std::vector<bool> is_heavy_;
  std::vector<std::vector<std::uint64_t>> seen_;  // of each heavy row, the colours of its columns
  std::vector<std::uint64_t> taken_;              // the colours that the present column may not have
};

/// Gives each column with entries a colour of its own.
inline colouring colour_apart(const csr_pattern& columns) {
  colouring c{std::vector<std::uint32_t>(columns.rows(), no_colour), 0};
  for (std::size_t j = 0; j < columns.rows(); ++j)
    if (columns.row_size(j) > 0) c.colour[j] = c.count++;
  return c;
}

/// Returns the colouring of the best order; `columns` is the transpose of p.
inline colouring colour_columns(const csr_pattern& p, const csr_pattern& columns) {
  const std::size_t least = p.longest_row();
  if (least == p.cols) return colour_apart(columns);  // a full row leaves no choice
  column_greedy greedy(p, columns);
  colouring best;
  for (const ordering by : all_orderings) {
    if (by != ordering::natural && best.count == least) break;
    colouring c = greedy.run(greedy.order(by));
    if (by == ordering::natural || c.count < best.count) best = std::move(c);
  }
  return best;
}

}  // namespace detail

/// Colours the columns such that columns with a common row differ, in the given order.
inline colouring colour_columns(const csr_pattern& p, ordering by) {
  const csr_pattern by_column = transposed_pattern(p);
  detail::column_greedy greedy(p, by_column);
  return greedy.run(greedy.order(by));
}

/// The same in the order that needs the fewest colours.
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
inline jacobian_colouring colour_jacobian(const csr_pattern& p) {
  return colour_jacobian(p, [](bool, std::size_t colours) { return colours; });
}

}  // namespace agrad
