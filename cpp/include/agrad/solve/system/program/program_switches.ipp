// Definitions of solve/system/program/program_switches.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/program_switches.hpp>

namespace agrad {

class program_switches::root_function final : public differentiable_function {
 public:
  root_function(program_switches& of, std::size_t i) : of_(of), i_(i) {}

  Eigen::Index outputs() const override { return 1; }
  Eigen::Index parameters() const override { return of_.sides_.parameters(); }
  void set_parameters(const double* p) override {
    if (i_ == 0) of_.sides_.set_parameters(p);  // all roots have one program
  }
  int order() const override { return of_.sides_.order(); }

  void value(double t, const double* y, double* to) override {
    of_.sides_.value(t, y, numbers());
    *to = combined();
  }
  void vjp(double t, const double* y, const double* lambda, double* to, double& t_adjoint, double* y_adjoint,
           double* parameter_adjoint) override {
    value(t, y, to);  // determines the seeds
    of_.sides_.vjp(t, y, seeds(*lambda), numbers(), t_adjoint, y_adjoint, parameter_adjoint);
  }
  void tangent(const ode_point& at, double* to) override {
    const auto w = static_cast<std::size_t>(at.width), x = 2 * of_.roots_[i_].entry * w;
    of_.sides_.value(at.t, at.y, numbers());
    std::vector<double> all(numbers_.size() * w);
    of_.sides_.tangent(at, all.data());
    const form as = own_form();
    for (std::size_t k = 0; k < w; ++k) to[k] = as.factor * (all[x + k] - as.multiple * all[x + w + k]);
  }
  void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) override {
    const auto w = static_cast<std::size_t>(at.width), x = 2 * of_.roots_[i_].entry * w;
    of_.sides_.value(at.t, at.y, numbers());
    const form as = own_form();
    std::vector<double> tangents(numbers_.size() * w, 0.0);
    for (std::size_t k = 0; k < w; ++k) {
      tangents[x + k] = as.factor * lambda_tangents[k];
      tangents[x + w + k] = -as.factor * as.multiple * lambda_tangents[k];
    }
    of_.sides_.second(at, seeds(*lambda), tangents.data(), to);
  }

 private:
  double* numbers() {
    numbers_.resize(2 * of_.code_->entries.size());
    return numbers_.data();
  }
  form own_form() const { return of_.form_of(i_, numbers_[2 * of_.roots_[i_].entry + 1]); }
  double combined() const {
    const double* x = numbers_.data() + 2 * of_.roots_[i_].entry;
    return of_.root_of_numbers(i_, x[0], x[1]);
  }
  const double* seeds(double lambda) {
    const form as = own_form();
    seeds_.assign(numbers_.size(), 0.0);
    seeds_[2 * of_.roots_[i_].entry] = lambda * as.factor;
    seeds_[2 * of_.roots_[i_].entry + 1] = -lambda * as.factor * as.multiple;
    return seeds_.data();
  }

  program_switches& of_;
  std::size_t i_;
  std::vector<double> numbers_, seeds_;
};

AGRAD_INLINE program_switches::program_switches(std::shared_ptr<const held_code> code, program_system& system, Eigen::Index n)
    : code_(std::move(code)),
      system_(system),
      sides_(code_->sides, n, true, code_->entries.size()),
      held_(code_->entries.size(), 0.0),
      values_(2 * code_->entries.size()),
      rates_(values_.size()),
      largest_(code_->entries.size(), 0.0),
      follows_(code_->entries.size(), 0) {
  for (std::size_t e = 0; e < code_->entries.size(); ++e) {
    are_linear_ = are_linear_ && code_->entries[e].is_linear;
    if (code_->entries[e].site.is_single())
      roots_.push_back({e, 0});
    else
      roots_.insert(roots_.end(), {{e, -1}, {e, 1}});
  }
}

AGRAD_INLINE std::unique_ptr<differentiable_function> program_switches::root(std::size_t i) {
  return std::make_unique<root_function>(*this, i);
}

AGRAD_INLINE int program_switches::direction(std::size_t i) const { return roots_[i].end; }

AGRAD_INLINE int program_switches::side(std::size_t i) const {
  if (roots_[i].end != 0) return -roots_[i].end;
  const std::size_t entry = roots_[i].entry;
  return held_[entry] == side_beside(code_->entries[entry], 0, true) ? 1 : -1;
}

AGRAD_INLINE void program_switches::hold(const std::vector<double>& sides) {
  held_ = sides;
  system_.hold(sides);
  sides_.hold(sides);
}

AGRAD_INLINE void program_switches::evaluate(double t, const double* y, const double* slope) {
  const double one = 1;
  if (sides_.has(1)) {
    sides_.value_and_tangent({1, t, y, slope, nullptr, &one}, values_.data(), rates_.data());
    return take_values();
  }
  evaluate(t, y);
  const Eigen::Index n = sides_.states();
  std::vector<double> seed(values_.size(), 0.0), by_y(static_cast<std::size_t>(n)), again(values_.size());
  for (std::size_t i = 0; i < seed.size(); ++i) {
    seed[i] = 1;
    sides_.vjp(t, y, seed.data(), again.data(), rates_[i], by_y.data(), nullptr);
    for (Eigen::Index j = 0; j < n; ++j) rates_[i] += by_y[static_cast<std::size_t>(j)] * slope[j];
    seed[i] = 0;
  }
}

AGRAD_INLINE void program_switches::evaluate(double t, const double* y) {
  sides_.value(t, y, values_.data());
  take_values();
}

AGRAD_INLINE void program_switches::take_values() {
  for (std::size_t e = 0; e < largest_.size(); ++e)
    for (const double x : {values_[2 * e], values_[2 * e + 1]})
      if (std::isfinite(x)) largest_[e] = std::max(largest_[e], std::abs(x));
  find_followers();
}

AGRAD_INLINE void program_switches::find_followers() {
  const std::size_t n = code_->entries.size();
  follows_.assign(n, 0);
  if (n < 2) return;
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const auto what = [&](std::size_t e) {
    return std::tuple(values_[2 * e], values_[2 * e + 1], held_[e], std::hash<const kernel*>()(code_->entries[e].what));
  };
  const auto cannot_follow = [&](std::size_t e) {
    return code_->entries[e].is_kink || std::isnan(values_[2 * e]) || std::isnan(values_[2 * e + 1]);
  };
  order_.erase(std::remove_if(order_.begin(), order_.end(), cannot_follow), order_.end());
  std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return std::tuple(what(a), a) < std::tuple(what(b), b); });
  for (std::size_t k = 1; k < order_.size(); ++k) follows_[order_[k]] = what(order_[k - 1]) == what(order_[k]) ? 1 : 0;
}

AGRAD_INLINE double program_switches::value(std::size_t i) const {
  if (follows_[roots_[i].entry] != 0) return side(i);
  const double* x = values_.data() + 2 * roots_[i].entry;
  return root_of_numbers(i, x[0], x[1]);
}

AGRAD_INLINE double program_switches::root_of_numbers(std::size_t i, double x, double y) const {
  constexpr double largest = 1e100;  // the cubic polynomial through such numbers is finite
  const form as = form_of(i, y);
  const double away = as.multiple == 0 ? x : x - as.multiple * y, root = as.factor * away - as.shift;
  return std::isnan(root) ? side(i) : std::clamp(root, -largest, largest);
}

AGRAD_INLINE double program_switches::rate(std::size_t i) const {
  if (follows_[roots_[i].entry] != 0) return 0;
  const std::size_t x = 2 * roots_[i].entry;
  const form as = form_of(i, values_[x + 1]);
  const double rate = as.factor * (rates_[x] - as.multiple * rates_[x + 1]);
  return std::isfinite(rate) ? rate : 0;
}

AGRAD_INLINE double program_switches::least(std::size_t i) const {
  const double* x = values_.data() + 2 * roots_[i].entry;
  const form as = form_of(i, x[1]);
  return 1e-8 * (std::abs(x[0]) + std::abs(as.multiple * x[1]) + std::abs(as.shift));
}

AGRAD_INLINE void program_switches::start(double t, const double* y) {
  const program& plain = *code_->plain;
  largest_.assign(largest_.size(), 0.0);
  std::vector<double> inputs(plain.input_size()), found(plain.output_size()), sides(held_.size());
  const Eigen::Index n = sides_.states();
  inputs[0] = t;
  std::copy_n(y, n, inputs.begin() + 1);
  std::copy_n(sides_.parameter_values(), inputs.size() - 1 - static_cast<std::size_t>(n), inputs.begin() + 1 + n);
  plain.forward(plain_work_, inputs.data(), found.data(), false);
  for (std::size_t e = 0; e < sides.size(); ++e) {
    const double* x = found.data() + 3 * e;
    const jump_site& site = code_->entries[e].site;
    sides[e] = site.is_rest || site.is_kink ? code_->entries[e].side_at(x[0], x[1]) : x[2];
  }
  hold(sides);
}

AGRAD_INLINE void program_switches::cross(std::size_t i) {
  const held_entry& entry = code_->entries[roots_[i].entry];
  std::vector<double> sides = held_;
  double& side = sides[roots_[i].entry];
  if (!entry.site.is_single())
    side += roots_[i].end;
  else
    side = side_beside(entry, 0, side != side_beside(entry, 0, true));
  hold(sides);
}

AGRAD_INLINE bool program_switches::follow(const std::vector<std::size_t>& crossed) {
  std::vector<double> sides = held_;
  for (std::size_t e = 0; e < sides.size(); ++e) {
    const auto is_own = [&](std::size_t i) { return roots_[i].entry == e; };
    if (std::none_of(crossed.begin(), crossed.end(), is_own) || is_clear(e)) sides[e] = side_of(e);
  }
  if (sides == held_) return false;
  hold(sides);
  return true;
}

AGRAD_INLINE bool program_switches::is_clear(std::size_t e) const {
  for (std::size_t i = 0; i < roots_.size(); ++i)
    if (roots_[i].entry == e && std::abs(value(i)) <= 1e-6 * (largest_[e] + std::abs(form_of(i, values_[2 * e + 1]).shift)))
      return false;
  return true;
}

AGRAD_INLINE double program_switches::side_of(std::size_t e) const {
  const held_entry& entry = code_->entries[e];
  const double x = values_[2 * e], y = values_[2 * e + 1];
  if (entry.site.is_single()) {
    const double other = entry.site.has_other ? y : 0, away = x - other;
    if (std::isnan(away)) return held_[e];
    if (std::isinf(away) || std::abs(away) > rounding * (std::abs(x) + std::abs(other))) return side_beside(entry, 0, away > 0);
    const double rate = rates_[2 * e] - (entry.site.has_other ? rates_[2 * e + 1] : 0);
    return rate == 0 || !std::isfinite(rate) ? held_[e] : side_beside(entry, 0, rate > 0);
  }
  const bool is_quotient = entry.site.kind == jump_site::quotient;
  const double at = is_quotient ? x / y : x, shift = entry.site.halves() ? 0.5 : 0, near = std::rint(at - shift) + shift;
  if (!std::isfinite(at)) return held_[e];
  if (std::abs(at - near) > rounding * (1 + std::abs(at))) return entry.side_at(x, y);
  const double rate = is_quotient ? (rates_[2 * e] - near * rates_[2 * e + 1]) / y : rates_[2 * e];
  const bool is_end = entry.site.rounds != jump_site::to_zero || near != 0;
  return rate == 0 || !std::isfinite(rate) || !is_end ? entry.side_at(x, y) : side_beside(entry, near, rate > 0);
}

AGRAD_INLINE program_switches::form program_switches::form_of(std::size_t i, double y) const {
  const held_entry& entry = code_->entries[roots_[i].entry];
  if (entry.site.is_single()) return {1, entry.site.has_other ? 1.0 : 0.0, 0};
  const auto ends = cell(entry.site, held_[roots_[i].entry]);
  const double end = roots_[i].end < 0 ? ends.first : ends.second;
  if (entry.site.kind == jump_site::rounding) return {1, 0, end};
  return {y < 0 ? -1.0 : 1.0, end, 0};
}

AGRAD_INLINE std::pair<double, double> program_switches::cell(const jump_site& site, double whole) {
  switch (site.rounds) {
    case jump_site::up:
      return {whole - 1, whole};
    case jump_site::nearest:
      return {whole - 0.5, whole + 0.5};
    case jump_site::to_zero:
      return {whole > 0 ? whole : whole - 1, whole < 0 ? whole : whole + 1};
    default:
      return {whole, whole + 1};
  }
}

AGRAD_INLINE double program_switches::side_beside(const held_entry& entry, double end, bool is_above) {
  const jump_site& site = entry.site;
  if (site.is_single()) return is_above ? entry.side_at(1, 0) : entry.side_at(-1, 0);
  double inside = is_above ? end + 0.25 : end - 0.25, one = 1, whole = 0;
  if (site.kind == jump_site::quotient)
    return site.halves() ? std::rint(inside) : site.rounds == jump_site::to_zero ? std::trunc(inside) : std::floor(inside);
  const double* const arguments[] = {&inside, &one};
  entry.what->entries->values(1, arguments, &whole);
  return whole;
}

AGRAD_INLINE std::string program_switches::name(std::size_t i) const {
  return "the switch " + code_->entries[roots_[i].entry].text + " of the right-hand side";
}

}  // namespace agrad
