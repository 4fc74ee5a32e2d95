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
  void recover(std::size_t c, const Number& number, double* entries) const {
    for (std::size_t k = begin[c]; k < begin[c + 1]; ++k) entries[entry[k]] = number(place[k]);
  }
};

namespace detail {

/// The place of an entry: the colour of the product and the number in the product.
struct source {
  std::uint32_t colour, place;
};

/// Makes a recovery from the sources of all entries; entries of one colour are consecutive.
recovery recovery_from(const std::vector<source>& sources, std::uint32_t colours);

/// Makes a recovery in which source_of(i, j) is the source of entry (i, j).
template <class SourceOf>
recovery recover_each(const csr_pattern& p, const colouring& c, const SourceOf& source_of) {
  std::vector<source> sources;
  sources.reserve(p.size());
  interrupt_pace pace(p.size() / (p.rows() + 1));
  for (std::size_t i = 0; i < p.rows(); ++i) {
    pace.step();
    for (const auto j : p.row(i)) sources.push_back(source_of(static_cast<std::uint32_t>(i), j));
  }
  return recovery_from(sources, c.count);
}

}  // namespace detail

/// Makes the recovery from products with tangents, whose directions are the colours of columns.
recovery recover_columns(const csr_pattern& p, const colouring& c);

/// Makes the recovery from products with adjoints, whose directions are the colours of rows.
recovery recover_rows(const csr_pattern& p, const colouring& c);

/// Makes the recovery from products of a symmetric matrix, whose directions are the colours of a star colouring. Where column j
/// is the only column of its colour in row i, the product of that colour has the entry (i, j) at i; otherwise i is the middle
/// of a star, and the product of i's colour has the entry at j. Both halves of the matrix are read from the same place, so the
/// result is symmetric to the bit.
recovery recover_symmetric(const csr_pattern& p, const colouring& c);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/recovery.ipp>
#endif
