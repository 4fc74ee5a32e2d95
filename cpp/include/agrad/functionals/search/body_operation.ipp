// Definitions of functionals/search/body_operation.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <agrad/base/inline.hpp>
#include <agrad/functionals/search/body_operation.hpp>
#include <agrad/program/recording/record.hpp>

namespace agrad {

AGRAD_INLINE std::unique_ptr<external_operation::state> body_operation::make_state() const {
  if (ready_ != nullptr) return std::move(ready_);
  return std::make_unique<own_state>(*body_);
}

AGRAD_INLINE void body_operation::forward(external_operation::state& s, const double* x, double* y, bool) const {
  auto& mine = static_cast<own_state&>(s);
  if (!mine.first.empty()) {
    std::copy(mine.first.begin(), mine.first.end(), y);
    mine.first = {};
    return;
  }
  mine.f.set_captured({x + arguments_, x + input_size()});
  compute(mine.f, x, y);
}

AGRAD_INLINE void body_operation::tangent(external_operation::state&, int width, const double*, double* y_tangent) const {
  std::fill_n(y_tangent, output_size() * static_cast<std::size_t>(width), 0.0);
}

AGRAD_INLINE std::vector<slot> body_operation::record(recorder& in, const span& x) const {
  std::vector<double> values(output_size());
  const auto run = make_state();
  forward(*run, in.values().data() + x.first, values.data(), false);
  std::vector<slot> result(values.size());
  std::iota(result.begin(), result.end(), in.constant(values.data(), values.size()));
  return result;
}

AGRAD_INLINE const std::vector<double>& body_operation::prepare(const double* x, std::vector<double> captured) {
  auto result = std::make_unique<own_state>(*body_);
  std::vector<double>& y = result->first;
  y.resize(output_size());
  result->f.set_captured(std::move(captured));
  compute(result->f, x, y.data());
  captured_ = result->f.captured().size();
  ready_ = std::move(result);
  return y;
}

}  // namespace agrad
