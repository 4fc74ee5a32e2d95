// Table entries of the quantiles.
#include <agrad/families/families.hpp>
#include <agrad/probability/recorded.hpp>

#include "rows.hpp"

namespace agrad {

namespace {

template <class Quantile, bool is_upper>
quantile_row row_of() {
  return {Quantile::name(is_upper),
          is_upper ? "The value beyond which the probability is p; see " + Quantile::name(false) + "."
                   : "The value up to which the probability is p: the inverse of " + std::string(Quantile::family) + "_cdf.",
          Quantile::arity,
          Quantile::arguments.data(),
          std::data(Quantile::pairs),
          std::size(Quantile::pairs),
          [](recorder& in, const span* x) { return record_quantile<Quantile>(in, x, is_upper); }};
}

}  // namespace

const std::vector<quantile_row>& quantile_rows() {
  static const auto rows = [] {
    std::vector<quantile_row> list;
    for_each(rules::quantiles{}, [&](auto tag) {
      using Quantile = typename decltype(tag)::type;
      list.push_back(row_of<Quantile, false>());
      list.push_back(row_of<Quantile, true>());
    });
    return list;
  }();
  return rows;
}

}  // namespace agrad
