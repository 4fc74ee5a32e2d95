// Table of multivariate densities: the rules as plain data, as rows.hpp has those of single terms.
#pragma once

#include <agrad/families/multivariate/rule.hpp>
#include <agrad/program/recording/record.hpp>
#include <string_view>
#include <vector>

namespace agrad {

/// A density of vectors or matrices, or a distribution function of several arguments.
struct multivariate_row {
  static constexpr std::size_t most_arguments = 7;
  static constexpr bool is_product = false;
  std::string_view name, text, source;
  int arity;
  const matrix_argument* arguments;
  const kernel* loops;
  /// Records the sum over all observations; arguments are consecutive slots in the order of rows.
  slot (*record)(recorder& in, const span* arguments, const detail::given_shape* shapes, bool propto);
  const kernel* factor = nullptr;  // of a matrix at each time, for rules that have one

  /// Returns whether the rule is a density or mass, which may leave out what depends on no recorded argument.
  bool has_propto() const { return name.find("_lpdf") != name.npos || name.find("_lpmf") != name.npos; }
};

const std::vector<multivariate_row>& multivariate_rows();

}  // namespace agrad
