// Definitions of program/sparse/colouring.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/colouring.hpp>

namespace agrad::detail {

AGRAD_INLINE column_greedy::column_greedy(const csr_pattern& p, const csr_pattern& columns)
    : p_(p), columns_(columns), seen_(p.rows()) {
  for (std::size_t i = 0; i < p.rows(); ++i) is_heavy_.push_back(p.row_size(i) > std::max<std::size_t>(64, p.cols / 256));
}

AGRAD_INLINE std::vector<std::uint32_t> column_greedy::order(ordering by) const {
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

AGRAD_INLINE colouring column_greedy::run(const std::vector<std::uint32_t>& order) {
  colouring c{std::vector<std::uint32_t>(p_.cols, no_colour), 0};
  forbidden_.assign(1, 0);
  for (auto& row : seen_) row.clear();
  interrupt_pace pace;
  for (const std::uint32_t j : order) {
    pace.step();
    if (columns_.row_size(j) == 0) continue;
    const std::uint32_t found = first_free(c.colour, j);
    c.colour[j] = found;
    if (found == c.count && ++c.count % 64 == 0) forbidden_.push_back(0);  // one bit more than colours, so that searches end
    for (const auto i : columns_.row(j))
      if (is_heavy_[i]) add(seen_[i], found);
  }
  return c;
}

AGRAD_INLINE std::uint32_t column_greedy::first_free(const std::vector<std::uint32_t>& colour, std::uint32_t j) {
  std::fill(forbidden_.begin(), forbidden_.end(), 0);
  for (const auto i : columns_.row(j)) {
    if (is_heavy_[i]) {
      for (std::size_t k = 0; k < seen_[i].size(); ++k) forbidden_[k] |= seen_[i][k];
    } else {
      for (const auto k : p_.row(i))
        if (colour[k] != no_colour) forbidden_[colour[k] / 64] |= std::uint64_t{1} << (colour[k] % 64);
    }
  }
  std::uint32_t word = 0, bit = 0;
  while (forbidden_[word] == ~std::uint64_t{0}) ++word;
  while ((forbidden_[word] >> bit & 1U) != 0) ++bit;
  return 64 * word + bit;
}

AGRAD_INLINE void column_greedy::add(std::vector<std::uint64_t>& bits, std::uint32_t c) {
  if (bits.size() <= c / 64) bits.resize(c / 64 + 1, 0);
  bits[c / 64] |= std::uint64_t{1} << (c % 64);
}

AGRAD_INLINE colouring colour_apart(const csr_pattern& columns) {
  colouring c{std::vector<std::uint32_t>(columns.rows(), no_colour), 0};
  for (std::size_t j = 0; j < columns.rows(); ++j)
    if (columns.row_size(j) > 0) c.colour[j] = c.count++;
  return c;
}

AGRAD_INLINE colouring colour_columns(const csr_pattern& p, const csr_pattern& columns) {
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

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE colouring colour_columns(const csr_pattern& p, ordering by) {
  const csr_pattern by_column = transposed_pattern(p);
  detail::column_greedy greedy(p, by_column);
  return greedy.run(greedy.order(by));
}

AGRAD_INLINE jacobian_colouring colour_jacobian(const csr_pattern& p) {
  return colour_jacobian(p, [](bool, std::size_t colours) { return colours; });
}

}  // namespace agrad
