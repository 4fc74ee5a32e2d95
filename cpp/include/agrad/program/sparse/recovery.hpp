// Recovery: the places of a sparse matrix's entries in the products with the colours' directions.
//
// The direction of a colour is 1 in the columns of this colour and 0 elsewhere; its product is the sum of these columns. For
// products of columns, of rows and of a symmetric matrix alike, an entry of the matrix is one number of one product; a recovery
// lists these numbers for each colour, once. Read next: program/sparse/sparse.hpp, which computes the products.
#pragma once

#include <agrad/program/sparse/colouring.hpp>

namespace agrad {

/// Entry entry[k] of the matrix (in the order of its pattern) is number place[k] of the product of colour c, for k from
/// begin[c] to before begin[c + 1].
struct recovery {
  std::vector<std::size_t> begin;
  std::vector<std::size_t> entry;
  std::vector<std::uint32_t> place;

  /// Copies the entries of colour c from its product: number(i) is number i of the product.
  template <class Number>
  void take(std::size_t c, const Number& number, double* entries) const {
    for (std::size_t k = begin[c]; k < begin[c + 1]; ++k) entries[entry[k]] = number(place[k]);
  }
};

namespace detail {

/// The place of an entry: the colour of the product and the number in the product.
struct source {
  std::uint32_t colour, place;
};

/// Makes a recovery from the sources of all entries; entries of one colour are consecutive.
inline recovery recovery_from(const std::vector<source>& sources, std::uint32_t colours) {
  recovery r;
  r.begin.assign(std::size_t{colours} + 1, 0);
  r.entry.resize(sources.size());
  r.place.resize(sources.size());
  for (const source& s : sources) ++r.begin[s.colour + 1];
  for (std::size_t c = 0; c < colours; ++c) r.begin[c + 1] += r.begin[c];
  std::vector<std::size_t> next(r.begin.begin(), r.begin.end() - 1);
  for (std::size_t e = 0; e < sources.size(); ++e) {
    const std::size_t k = next[sources[e].colour]++;
    r.entry[k] = e;
    r.place[k] = sources[e].place;
  }
  return r;
}

/// Makes a recovery in which source_of(i, j) is the source of entry (i, j).
template <class SourceOf>
recovery recover_each(const csr_pattern& p, const colouring& c, const SourceOf& source_of) {
  std::vector<source> sources;
  sources.reserve(p.size());
  for (std::size_t i = 0; i < p.rows(); ++i)
    for (const auto j : p.row(i)) sources.push_back(source_of(static_cast<std::uint32_t>(i), j));
  return recovery_from(sources, c.count);
}

}  // namespace detail

/// Makes the recovery from products with tangents, whose directions are the colours of columns.
inline recovery recover_columns(const csr_pattern& p, const colouring& c) {
  return detail::recover_each(p, c, [&](std::uint32_t i, std::uint32_t j) { return detail::source{c.colour[j], i}; });
}

/// Makes the recovery from products with adjoints, whose directions are the colours of rows.
inline recovery recover_rows(const csr_pattern& p, const colouring& c) {
  return detail::recover_each(p, c, [&](std::uint32_t i, std::uint32_t j) { return detail::source{c.colour[i], j}; });
}

/// Makes the recovery from products of a symmetric matrix, whose directions are the colours of a star colouring. Where column j
/// is the only column of its colour in row i, the product of that colour has the entry (i, j) at i; otherwise i is the middle
/// of a star, and the product of i's colour has the entry at j. Both halves of the matrix are read from the same place, so the
/// result is symmetric to the bit.
inline recovery recover_symmetric(const csr_pattern& p, const colouring& c) {
  std::vector<detail::source> sources(p.size());
  std::vector<std::uint32_t> count(c.count, 0);                        // of each colour, in the present row
  std::vector<std::size_t> upper(p.begin.begin(), p.begin.end() - 1);  // of each row, the next entry that a row below copies
  detail::interrupt_pace pace;
  for (std::uint32_t i = 0; i < p.rows(); ++i) {
    pace.step();
    for (const auto j : p.row(i)) ++count[c.colour[j]];
    for (std::size_t e = p.begin[i]; e < p.begin[i + 1]; ++e) {
      const std::uint32_t j = p.col[e];
      if (j < i) {
        sources[e] = sources[upper[j]++];
      } else {
        sources[e] = count[c.colour[j]] == 1 ? detail::source{c.colour[j], i} : detail::source{c.colour[i], j};
      }
    }
    for (const auto j : p.row(i)) count[c.colour[j]] = 0;
    while (upper[i] < p.begin[i + 1] && p.col[upper[i]] <= i) ++upper[i];
  }
  return detail::recovery_from(sources, c.count);
}

}  // namespace agrad
