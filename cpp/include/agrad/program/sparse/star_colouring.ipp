// Definitions of program/sparse/star_colouring.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/star_colouring.hpp>

namespace agrad::detail {

AGRAD_INLINE neighbour_colours::neighbour_colours(std::size_t vertices, std::size_t edges) : head_(vertices, none) {
  while ((std::size_t{1} << bits_) < edges * 2) ++bits_;
  table_.assign(std::size_t{1} << bits_, none);
}

AGRAD_INLINE const neighbour_colours::entry& neighbour_colours::add(std::uint32_t v, std::uint32_t colour,
                                                                    std::uint32_t neighbour) {
  std::uint32_t& found = table_[place(v, colour)];
  if (found == none) {
    found = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({v, colour, 0, neighbour, head_[v]});
    head_[v] = found;
  }
  ++entries_[found].count;
  return entries_[found];
}

AGRAD_INLINE std::size_t neighbour_colours::place(std::uint32_t v, std::uint32_t colour) const {
  const std::uint64_t mixed = (std::uint64_t{v} << 32 | colour) * 0x9E3779B97F4A7C15U;  // Knuth's multiplicative hashing
  std::size_t i = mixed >> (64 - bits_);
  while (table_[i] != none && (entries_[table_[i]].vertex != v || entries_[table_[i]].colour != colour))
    i = (i + 1) & (table_.size() - 1);
  return i;
}

AGRAD_INLINE colouring star_greedy::run(const std::vector<std::uint32_t>& order) {
  stamp_.assign(1, no_colour);
  count_.assign(1, 0);
  interrupt_pace pace;
  for (const std::uint32_t v : order) {
    pace.step();
    if (p_.row_size(v) == 0) continue;
    forbid(v);
    std::uint32_t c = 0;
    while (stamp_[c] == v) ++c;
    if (c == colours_.count) {
      ++colours_.count;
      stamp_.push_back(no_colour);  // one more than colours, so that the search ends
      count_.push_back(0);
    }
    give(v, c);
  }
  return std::move(colours_);
}

AGRAD_INLINE void star_greedy::forbid(std::uint32_t v) {
  for (std::uint32_t e = near_.head(v); e != near_.none; e = near_.at(e).next) {
    stamp_[near_.at(e).colour] = v;
    count_[near_.at(e).colour] = near_.at(e).count;
  }
  for (const std::uint32_t w : p_.row(v)) {
    if (w == v || colour(w) == no_colour) continue;
    if (count_[colour(w)] > 1) {  // v would be the middle of a star: v must differ from all neighbours of its leaves
      for (std::uint32_t e = near_.head(w); e != near_.none; e = near_.at(e).next) stamp_[near_.at(e).colour] = v;
    } else {  // v's colour must not be that of a middle of which w is a leaf
      for (const std::uint32_t c : leaf_of_[w]) stamp_[c] = v;
    }
  }
}

AGRAD_INLINE void star_greedy::give(std::uint32_t v, std::uint32_t c) {
  colours_.colour[v] = c;
  for (const std::uint32_t w : p_.row(v)) {
    if (w == v) continue;
    const auto of_w = near_.add(w, c, v);
    if (colour(w) == no_colour) continue;
    if (of_w.count > 1) {  // w is the middle of a star, v a leaf; with the second leaf the first neighbour becomes a leaf
      leaf_of_[v].push_back(colour(w));
      if (of_w.count == 2) leaf_of_[of_w.first].push_back(colour(w));
    } else if (count_[colour(w)] > 1) {
      leaf_of_[w].push_back(c);
    }
  }
  for (std::uint32_t e = near_.head(v); e != near_.none; e = near_.at(e).next) count_[near_.at(e).colour] = 0;
}

AGRAD_INLINE std::vector<std::uint32_t> star_order(const csr_pattern& p, ordering by) {
  std::vector<std::size_t> degrees(p.cols, 0);
  if (by != ordering::natural)
    for (std::size_t v = 0; v < p.cols; ++v) degrees[v] = p.row_size(v);
  if (by != ordering::incidence_degree) return by_descending_degree(degrees);
  return by_incidence(degrees, [&](std::uint32_t v, const auto& call) {
    for (const auto w : p.row(v)) call(w);
  });
}

AGRAD_INLINE csr_pattern without_hubs(const csr_pattern& p, std::vector<std::uint32_t>& hubs) {
  const std::size_t many = 8 + 4 * p.size() / std::max<std::size_t>(p.cols, 1);
  csr_pattern rest;
  rest.cols = p.cols;
  std::vector<csr_pattern::index> row;
  for (std::uint32_t v = 0; v < p.rows(); ++v) {
    row.clear();
    if (p.row_size(v) > many) {
      hubs.push_back(v);
    } else if (p.row_size(v) > 0) {
      row.push_back(v);
      for (const auto w : p.row(v))
        if (p.row_size(w) <= many) row.push_back(w);
    }
    rest.append_row(row);
  }
  return rest;
}

AGRAD_INLINE colouring colour_hubs_apart(const csr_pattern& rest, const std::vector<std::uint32_t>& hubs, ordering by) {
  colouring c = star_greedy(rest).run(star_order(rest, by));
  for (const std::uint32_t v : hubs) c.colour[v] = c.count++;
  return c;
}

AGRAD_INLINE void check_symmetric(const csr_pattern& p) {
  if (p.rows() != p.cols) {
    throw ShapeError("star_colouring: pattern is " + std::to_string(p.rows()) + " x " + std::to_string(p.cols) +
                     ", but must be square");
  }
  if (transposed_pattern(p) == p) return;
  for (std::size_t i = 0; i < p.rows(); ++i)
    for (const auto j : p.row(i))
      if (!p.contains(j, i)) {
        throw DomainError("star_colouring: pattern has the entry (" + std::to_string(i) + ", " + std::to_string(j) +
                          ") without its mirror image, but must be symmetric");
      }
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE colouring star_colouring(const csr_pattern& p, ordering by) {
  detail::check_symmetric(p);
  return detail::star_greedy(p).run(detail::star_order(p, by));
}

AGRAD_INLINE colouring star_colouring(const csr_pattern& p) {
  detail::check_symmetric(p);
  if (p.size() == p.cols * p.cols) return detail::colour_apart(p);  // a full pattern leaves no choice
  std::vector<std::uint32_t> hubs;
  const csr_pattern rest = detail::without_hubs(p, hubs);
  colouring best;
  const auto consider = [&](colouring c) {
    if (best.colour.size() != p.cols || c.count < best.count) best = std::move(c);
  };
  for (const ordering by : all_orderings) {
    consider(detail::star_greedy(p).run(detail::star_order(p, by)));
    if (!hubs.empty()) consider(detail::colour_hubs_apart(rest, hubs, by));
  }
  return best;
}

}  // namespace agrad
