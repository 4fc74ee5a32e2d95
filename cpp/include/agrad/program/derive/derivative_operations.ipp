// Definitions of program/derive/derivative_operations.hpp.
#pragma once

#include <numeric>
#include <type_traits>

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/chosen_entries.hpp>
#include <agrad/program/derive/derivative_operations.hpp>
#include <agrad/program/machine/second_order.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/schedule/schedule.hpp>

namespace agrad::detail {

AGRAD_INLINE stored_run& derivative_operation::run(state& s, const double* x, std::size_t size, bool with_adjoint) const {
  auto& stored = static_cast<stored_run&>(s);
  const second_ahead ahead(with_adjoint);
  stored.x.assign(x, x + size);
  stored.formulas = nullptr;
  std::vector<double> y(m());
  of_->forward(stored.work, x, y.data(), true);
  return stored;
}

AGRAD_INLINE void derivative_operation::second_by_formulas(stored_run& stored, int width, const double* y_adjoint,
                                                           const double* y_adjoint_tangent, double* x_adjoint,
                                                           double* x_adjoint_tangent) const {
  if (!has_formulas()) fail_third();
  const std::size_t size = stored.x.size(), w = static_cast<std::size_t>(width);
  if (stored.formulas == nullptr) {
    recorder in;
    const slot x = in.input(stored.x.data(), size);
    stored.formulas = program_of(prune(in, record(in, in.consecutive(x, size))));
    std::vector<double> y(stored.formulas->output_size());
    stored.formulas->forward(stored.formula_work, stored.x.data(), y.data());
  }
  std::vector<double> y_tangent(stored.formulas->output_size() * w), gradient(size), products(size * w);
  const auto propagate = [&](auto lanes) {
    constexpr int wide = decltype(lanes)::value;
    stored.formulas->tangent<wide>(stored.formula_work, stored.x_tangent.data(), y_tangent.data());
    stored.formulas->second<wide>(stored.formula_work, y_adjoint, gradient.data(), products.data(), y_adjoint_tangent);
  };
  width == 1 ? propagate(std::integral_constant<int, 1>()) : propagate(std::integral_constant<int, lane_count>());
  for (std::size_t i = 0; i < size; ++i) x_adjoint[i] += gradient[i];
  for (std::size_t i = 0; i < size * w; ++i) x_adjoint_tangent[i] += products[i];
}

AGRAD_COLD AGRAD_INLINE void derivative_operation::fail_tangent() const {
  if (has_first_tangents()) fail_third();
  external_operation::fail_tangent();
}

AGRAD_COLD AGRAD_INLINE void derivative_operation::fail_third() const {
  std::string of = name_;
  for (const std::string_view before : {"the reverse pass of ", "the tangent of "})
    if (const std::size_t at = of.rfind(before); at != of.npos) of.erase(0, at + before.size());
  throw DerivativeError(of + ": third derivatives are not available, but are taken here; take differences of the second ones");
}

AGRAD_INLINE std::vector<slot> derivative_operation::record_reverse(recorder& in, const span& x,
                                                                    const std::vector<slot>& seeds) const {
  std::vector<slot> inputs(n());
  std::iota(inputs.begin(), inputs.end(), x.first);
  const slot variables = in.variables(inputs.data(), inputs.size());  // apart from others that the recording depends on
  std::iota(inputs.begin(), inputs.end(), variables);
  const std::size_t begin = in.code().operations.size();
  const std::vector<slot> outputs = record_inlined(in, *of_, inputs);
  return adjoints_by_formulas(in, begin, outputs, seeds, inputs);
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE std::shared_ptr<const external_operation> reverse_operation::read(portable_reader& from) {
  return detail::read_derivative<reverse_operation>(from);
}

AGRAD_INLINE std::vector<slot> reverse_operation::record(recorder& in, const span& x) const {
  std::vector<slot> seeds(m());
  std::iota(seeds.begin(), seeds.end(), x.first + static_cast<slot>(n()));
  return record_reverse(in, x, seeds);
}

AGRAD_INLINE void reverse_operation::forward(state& s, const double* x, double* y, bool with_adjoint) const {
  of_->reverse(run(s, x, n() + m(), with_adjoint).work, x + n(), y);
}

AGRAD_INLINE void reverse_operation::reverse(state& s, const double* w, double* adjoint) const {
  auto& stored = static_cast<detail::stored_run&>(s);
  std::vector<double> forwards(m()), gradient(n()), products(n());
  of_->tangent<1>(stored.work, w, forwards.data());
  const partial_second partial;
  of_->second<1>(stored.work, stored.x.data() + n(), gradient.data(), products.data());
  for (std::size_t i = 0; i < n(); ++i) adjoint[i] += products[i];
  for (std::size_t i = 0; i < m(); ++i) adjoint[n() + i] += forwards[i];
}

AGRAD_INLINE void reverse_operation::tangent(state& s, int width, const double* x_tangent, double* y_tangent) const {
  if (!has_first_tangents()) fail_tangent();
  auto& stored = static_cast<detail::stored_run&>(s);
  if (!is_linear()) stored.x_tangent.assign(x_tangent, x_tangent + (n() + m()) * static_cast<std::size_t>(width));
  if (!is_linear())
    return width == 1 ? curved<1>(stored, x_tangent, y_tangent) : curved<lane_count>(stored, x_tangent, y_tangent);
  const auto w = static_cast<std::size_t>(width);
  std::fill_n(y_tangent, n() * w, 0.0);
  detail::by_directions(width, x_tangent + n() * w, m(), y_tangent, n(),
                        [&](const double* a, double* y) { of_->reverse(stored.work, a, y); });
}

AGRAD_INLINE void reverse_operation::second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
                                            double* x_adjoint, double* x_adjoint_tangent) const {
  auto& stored = static_cast<detail::stored_run&>(s);
  if (!is_linear()) return second_by_formulas(stored, width, y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
  const auto forwards = [&](const double* a, double* y) { of_->tangent<1>(stored.work, a, y); };
  detail::by_directions(1, y_adjoint, n(), x_adjoint + n(), m(), forwards);
  detail::by_directions(width, y_adjoint_tangent, n(), x_adjoint_tangent + n() * static_cast<std::size_t>(width), m(),
                        forwards);
}

AGRAD_INLINE std::shared_ptr<const external_operation> tangent_operation::read(portable_reader& from) {
  return detail::read_derivative<tangent_operation>(from);
}

// J v is the transpose of the map from a to J' a, applied to v.
AGRAD_INLINE std::vector<slot> tangent_operation::record(recorder& in, const span& x) const {
  std::vector<slot> seeds(m(), 0), along(n());
  const slot first = in.variables(seeds.data(), seeds.size());
  std::iota(seeds.begin(), seeds.end(), first);
  std::iota(along.begin(), along.end(), x.first + static_cast<slot>(n()));
  const std::size_t begin = in.code().operations.size();
  const std::vector<slot> adjoints = record_reverse(in, x, seeds);
  return detail::adjoints_by_formulas(in, begin, adjoints, along, seeds);
}

AGRAD_INLINE void tangent_operation::forward(state& s, const double* x, double* y, bool with_adjoint) const {
  of_->tangent<1>(run(s, x, 2 * n(), with_adjoint).work, x + n(), y);
}

AGRAD_INLINE void tangent_operation::reverse(state& s, const double* w, double* adjoint) const {
  auto& stored = static_cast<detail::stored_run&>(s);
  std::vector<double> gradient(n()), products(n());
  const partial_second partial;
  of_->second<1>(stored.work, w, gradient.data(), products.data());
  for (std::size_t i = 0; i < n(); ++i) {
    adjoint[i] += products[i];
    adjoint[n() + i] += gradient[i];
  }
}

AGRAD_INLINE void tangent_operation::tangent(state& s, int width, const double* x_tangent, double* y_tangent) const {
  if (!has_first_tangents()) fail_tangent();
  auto& stored = static_cast<detail::stored_run&>(s);
  const auto w = static_cast<std::size_t>(width);
  if (!is_linear()) stored.x_tangent.assign(x_tangent, x_tangent + 2 * n() * w);
  std::fill_n(y_tangent, m() * w, 0.0);
  detail::by_directions(width, x_tangent + n() * w, n(), y_tangent, m(),
                        [&](const double* v, double* y) { of_->tangent<1>(stored.work, v, y); });
  if (!is_linear()) add_curvature(stored, w, x_tangent, y_tangent);
}

AGRAD_INLINE void tangent_operation::second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
                                            double* x_adjoint, double* x_adjoint_tangent) const {
  auto& stored = static_cast<detail::stored_run&>(s);
  if (!is_linear()) return second_by_formulas(stored, width, y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
  const auto back = [&](const double* a, double* x) { of_->reverse(stored.work, a, x); };
  detail::by_directions(1, y_adjoint, m(), x_adjoint + n(), n(), back);
  detail::by_directions(width, y_adjoint_tangent, m(), x_adjoint_tangent + n() * static_cast<std::size_t>(width), n(), back);
}

AGRAD_INLINE void tangent_operation::add_curvature(detail::stored_run& stored, std::size_t width, const double* x_tangent,
                                                   double* y_tangent) const {
  std::vector<double> forwards(m()), result(m(), 0.0), gradient(n()), products(n());
  of_->tangent<1>(stored.work, stored.x.data() + n(), forwards.data());
  if (std::all_of(x_tangent, x_tangent + n() * width, [](double dx) { return dx == 0; })) return;
  const partial_second partial;
  for (std::size_t i = 0; i < m(); ++i) {
    result[i] = 1;
    of_->second<1>(stored.work, result.data(), gradient.data(), products.data());
    result[i] = 0;
    for (std::size_t j = 0; j < n() * width; ++j) y_tangent[i * width + j % width] += products[j / width] * x_tangent[j];
  }
}

AGRAD_INLINE std::shared_ptr<const program> alone(const recorder& from, operation op, const std::vector<bool>& wanted) {
  program_code code;
  std::vector<slot> inputs, outputs;
  slot size = 0;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    op.operands[k].first = size;
    for (std::uint32_t i = 0; i < op.operands[k].count; ++i) inputs.push_back(size++);
  }
  op.result = size;
  for (std::uint32_t i = 0; i < op.count; ++i) outputs.push_back(size++);
  const std::uint32_t* integers = from.code().integers.data() + op.data;
  code.integers.assign(integers, integers + op.data_count);
  op.data = 0;
  if (op.what == &kernels::external) {
    code.externals.push_back(from.code().externals[integers[0]]);
    code.externals.back()->expect_derivatives();
    const auto* choosing = dynamic_cast<const chooses_entries*>(code.externals.back().get());
    std::shared_ptr<const external_operation> own = choosing == nullptr ? nullptr : choosing->for_entries(wanted);
    if (own != nullptr) {
      own->expect_derivatives();
      code.externals.back() = std::move(own);
    }
    code.integers[0] = 0;
  }
  code.operations.push_back(op);
  return std::make_shared<const program>(std::move(code), std::vector<double>(inputs.size(), 0.0), size, std::move(inputs),
                                         std::move(outputs));
}

}  // namespace agrad
