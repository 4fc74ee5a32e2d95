// Star colouring: colours for a symmetric matrix such that every entry is a number of one product.
//
// Vertices are the columns, edges the entries off the diagonal. Neighbours differ, and no path of four vertices has only two
// colours: the vertices of any two colours form stars. So of the two ends of an edge at least one end has no other neighbour of
// the other end's colour, and there the entry stands alone in the product (Coleman & More 1984; Gebremedhin, Manne & Pothen
// 2005, section 6). A full row and column cost one colour; a colouring of columns would need a colour for each column.
//
// The greedy algorithm is that of Gebremedhin, Tarafdar, Manne & Pothen (2007), 4.1, with one change: each vertex stores the
// distinct colours of its neighbours and the stars of which the vertex is a leaf, instead of a search through neighbours of
// neighbours. So a vertex that is a neighbour of all vertices costs no square.
// Read next: program/sparse/recovery.hpp.
#pragma once

#include <agrad/program/sparse/colouring.hpp>

namespace agrad {

namespace detail {

/// For pairs (vertex, colour): the number of the vertex's neighbours with this colour, and the first of these. The colours of a
/// vertex are a linked list; a hash table finds a pair.
class neighbour_colours {
 public:
  static constexpr std::uint32_t none = no_colour;
  struct entry {
    std::uint32_t vertex, colour, count, first, next;  // first: the first neighbour; next: the vertex's next entry
  };

  neighbour_colours(std::size_t vertices, std::size_t edges);

  std::uint32_t head(std::uint32_t v) const { return head_[v]; }
  const entry& at(std::uint32_t e) const { return entries_[e]; }
  const entry& of(std::uint32_t v, std::uint32_t colour) const { return entries_[table_[place(v, colour)]]; }

  /// Adds a neighbour of this colour to v.
  const entry& add(std::uint32_t v, std::uint32_t colour, std::uint32_t neighbour);

 private:
  // Returns the place of the pair, or the place for the pair; there is at most one pair for each end of an edge, so the table
  // is at most half full.
  std::size_t place(std::uint32_t v, std::uint32_t colour) const;

  unsigned bits_ = 4;
  std::vector<std::uint32_t> head_, table_;
  std::vector<entry> entries_;
};

class star_greedy {
 public:
  explicit star_greedy(const csr_pattern& p)
      : p_(p), near_(p.cols, p.size()), leaf_of_(p.cols), colours_{std::vector<std::uint32_t>(p.cols, no_colour), 0} {}

  colouring run(const std::vector<std::uint32_t>& order);

 private:
  std::uint32_t colour(std::uint32_t v) const { return colours_.colour[v]; }

  void forbid(std::uint32_t v);

  void give(std::uint32_t v, std::uint32_t c);

  const csr_pattern& p_;
  neighbour_colours near_;
  std::vector<std::vector<std::uint32_t>> leaf_of_;  // of each leaf vertex, the colours of its stars' middles
  colouring colours_;
  std::vector<std::uint32_t> stamp_;  // of each colour, the last vertex that may not have it
  std::vector<std::uint32_t> count_;  // of each colour, its count among the present vertex's neighbours
};

std::vector<std::uint32_t> star_order(const csr_pattern& p, ordering by);

/// Returns the pattern without its hubs, the vertices with far more neighbours than most. The diagonal is full where there are
/// entries, so that each vertex that needs a colour gets a colour.
csr_pattern without_hubs(const csr_pattern& p, std::vector<std::uint32_t>& hubs);

/// Colours the vertices without the hubs by a star colouring, and gives each hub a colour of its own. Where the greedy
/// algorithm gives two hubs one colour, each common neighbour is the middle of a star, and all these middles need different
/// colours.
colouring colour_hubs_apart(const csr_pattern& rest, const std::vector<std::uint32_t>& hubs, ordering by);

void check_symmetric(const csr_pattern& p);

}  // namespace detail

/// Returns a star colouring of a symmetric pattern, with its vertices in the given order. The pattern may contain the diagonal
/// or not.
colouring star_colouring(const csr_pattern& p, ordering by);

/// Does the same in the order that needs the fewest colours, with separate colours for the hubs if that needs fewer.
colouring star_colouring(const csr_pattern& p);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/star_colouring.ipp>
#endif
