// Definitions of solve/system/program/ode.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

AGRAD_INLINE program_system::program_system(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
                                            std::shared_ptr<program_structure> structure)
    : f_(std::move(f)),
      structure_(std::move(structure)),
      n_(n),
      m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - n),
      differentiated_(differentiated),
      inputs_(f_->input_size()),
      adjoints_(f_->input_size()),
      slope_(static_cast<std::size_t>(n)) {}

AGRAD_INLINE void program_system::parameter_sizes(double* sizes) const {
  ode_system::parameter_sizes(sizes);
  for (std::size_t j = 0; j < active_.size() && differentiated_; ++j)
    if (!active_[j]) sizes[j] = 0;
}

AGRAD_INLINE void program_system::rhs(double t, const double* y, double* dydt) {
  set_state(t, y);
  f_->forward(real_, inputs_.data(), dydt, false);
}

AGRAD_INLINE void program_system::jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) {
  set_state(t, y);
  const auto n = static_cast<std::size_t>(n_);
  entries_.resize(n * n);
  if (pattern_ == nullptr && find_entries())
    entries_program_->forward(entries_work_, inputs_.data(), entries_.data(), false);
  else if (f_->first_without_tangents() != nullptr)
    return jacobian_by_rows(J);
  else
    jacobian_columns(*f_, tangent_, inputs_.data(), 1, n, slope_.data(), entries_.data());
  using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  J = Eigen::Map<const row_major>(entries_.data(), n_, n_);
}

AGRAD_INLINE void program_system::jvp(double t, const double* y, const double* v, double* to) {
  if (!has_tangents()) return ode_system::jvp(t, y, v, to);
  set_state(t, y);
  f_->forward(real_, inputs_.data(), slope_.data(), true);
  directions_.assign(inputs_.size(), 0.0);
  std::copy_n(v, n_, directions_.begin() + 1);
  f_->tangent<1>(real_, directions_.data(), to);
}

AGRAD_INLINE void program_system::use_pattern(std::shared_ptr<const csr_pattern> pattern) {
  ode_system::use_pattern(std::move(pattern));
  has_searched_ = false;
  if (!find_entries()) compressed_ = structure_->compressed(*f_, n_, *pattern_);
}

AGRAD_INLINE void program_system::jacobian_entries(double t, const double* y, double* entries) {
  set_state(t, y);
  if (entries_program_ != nullptr)
    entries_program_->forward(entries_work_, inputs_.data(), entries, false);
  else
    (*compressed_)(*f_, tangent_, inputs_.data(), slope_.data(), entries);
}

AGRAD_INLINE void program_system::jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                                                   double* parameter_adjoint) {
  set_state(t, y);
  entries_.resize(entries_program_->output_size());
  entries_program_->forward(entries_work_, inputs_.data(), entries_.data(), true);
  entries_program_->reverse(entries_work_, weights, adjoints_.data());
  write_adjoints(y_adjoint, parameter_adjoint);
}

AGRAD_INLINE void program_system::jacobian_tangent(const ode_point& at, double* entry_tangents) {
  set_state(at.t, at.y);
  entries_.resize(entries_program_->output_size());
  entries_program_->forward(entries_work_, inputs_.data(), entries_.data(), true);
  set_directions(at.width, at.y_tangents, at.parameter_tangents);
  by_width(at.width, [&](auto w) { entries_program_->tangent<w()>(entries_work_, directions_.data(), entry_tangents); });
}

AGRAD_INLINE void program_system::jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                                                  const ode_adjoints& to) {
  entry_tangents_.resize(entries_program_->output_size() * static_cast<std::size_t>(at.width));
  jacobian_tangent(at, entry_tangents_.data());
  second_of(*entries_program_, entries_work_, at.width, weights, weight_tangents, to);
}

AGRAD_INLINE void program_system::vjp(double t, const double* y, const double* lambda, double* y_adjoint,
                                      double* parameter_adjoint) {
  set_state(t, y);
  f_->forward(real_, inputs_.data(), slope_.data(), true);
  f_->reverse(real_, lambda, adjoints_.data());
  write_adjoints(y_adjoint, parameter_adjoint);
}

AGRAD_INLINE void program_system::linearize(int points, const double* t, const double* y) {
  if (linear_at_ != points) {
    linear_ = structure_->linear(*f_, n_, parameters(), points);
    if (linear_ != nullptr && !pays(*linear_)) linear_ = nullptr;
    linear_at_ = points;
  }
  if (linear_ == nullptr) return ode_system::linearize(points, t, y);
  if (++calls_ % 64 == 0) poll_interrupt();
  linear_->evaluate(linear_work_, t, y, inputs_.data() + 1 + n_);
}

AGRAD_INLINE void program_system::linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
  if (linear_ == nullptr) return ode_system::linear_vjp(k, lambda, y_adjoint, parameter_adjoint);
  linear_->product(linear_work_, static_cast<std::size_t>(k), lambda, y_adjoint, parameter_adjoint);
}

AGRAD_INLINE void program_system::linear_jvp(int k, const double* v, const double* w, double* to) {
  if (linear_ == nullptr) return ode_system::linear_jvp(k, v, w, to);
  linear_->forward_product(linear_work_, static_cast<std::size_t>(k), v, parameters() > 0 ? w : nullptr, to);
}

AGRAD_INLINE bool program_system::rhs_with(double t, const double* y, const double* p, double* dydt) {
  const std::vector<double> own(inputs_.begin() + 1 + n_, inputs_.end());
  std::copy_n(p, parameters(), inputs_.begin() + 1 + n_);
  program_system::rhs(t, y, dydt);
  set_parameters(own.data());
  return true;
}

AGRAD_INLINE void program_system::tangent(int width, double t, const double* y, const double* y_tangents,
                                          const double* parameter_tangents, double* dydt_tangents) {
  set_state(t, y);
  f_->forward(real_, inputs_.data(), slope_.data(), true);
  set_directions(width, y_tangents, parameter_tangents);
  by_width(width, [&](auto w) { f_->tangent<w()>(real_, directions_.data(), dydt_tangents); });
}

AGRAD_INLINE void program_system::moving_tangent(const ode_point& at, const double* t_tangents, double* dydt_tangents) {
  set_state(at.t, at.y);
  f_->forward(real_, inputs_.data(), slope_.data(), true);
  set_directions(at.width, at.y_tangents, at.parameter_tangents);
  std::copy_n(t_tangents, at.width, directions_.data());
  by_width(at.width, [&](auto w) { f_->tangent<w()>(real_, directions_.data(), dydt_tangents); });
}

AGRAD_INLINE void program_system::second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                                         const ode_adjoints& to) {
  slope_tangents_.resize(static_cast<std::size_t>(n_) * static_cast<std::size_t>(at.width));
  tangent(at.width, at.t, at.y, at.y_tangents, at.parameter_tangents, slope_tangents_.data());
  second_of(*f_, real_, at.width, lambda, lambda_tangents, to);
}

AGRAD_INLINE void program_system::second_of(const program& g, workspace& work, int directions, const double* adjoints,
                                            const double* adjoint_tangents, const ode_adjoints& to) {
  const auto width = static_cast<std::size_t>(directions);
  const auto n = static_cast<std::size_t>(n_) * width, m = static_cast<std::size_t>(parameters()) * width;
  back_.resize(inputs_.size() * width);
  by_width(directions, [&](auto w) { g.second<w()>(work, adjoints, adjoints_.data(), back_.data(), adjoint_tangents); });
  std::copy_n(adjoints_.begin() + 1, n_, to.y);
  std::copy_n(adjoints_.begin() + 1 + n_, parameters(), to.parameters);
  std::copy_n(back_.data() + width, n, to.y_tangents);
  std::copy_n(back_.data() + width + n, m, to.parameter_tangents);
}

AGRAD_INLINE void program_system::set_directions(int width, const double* y_tangents, const double* parameter_tangents) {
  const auto w = static_cast<std::size_t>(width), n = static_cast<std::size_t>(n_);
  const auto m = static_cast<std::size_t>(parameters());  // other parameters are constants
  directions_.assign(inputs_.size() * w, 0.0);
  std::copy_n(y_tangents, n * w, directions_.data() + w);
  std::copy_n(parameter_tangents, m * w, directions_.data() + (1 + n) * w);
}

AGRAD_INLINE void program_system::jacobian_by_rows(Eigen::Ref<Eigen::MatrixXd> J) {
  f_->forward(real_, inputs_.data(), slope_.data(), true);
  std::vector<double> seed(static_cast<std::size_t>(n_), 0.0);
  for (Eigen::Index i = 0; i < n_; ++i) {
    seed[static_cast<std::size_t>(i)] = 1;
    f_->reverse(real_, seed.data(), adjoints_.data());
    seed[static_cast<std::size_t>(i)] = 0;
    J.row(i) = Eigen::Map<const Eigen::RowVectorXd>(adjoints_.data() + 1, n_);
  }
}

AGRAD_INLINE void program_system::write_adjoints(double* y_adjoint, double* parameter_adjoint) const {
  if (y_adjoint != nullptr) std::copy_n(adjoints_.begin() + 1, n_, y_adjoint);
  if (parameter_adjoint != nullptr) std::copy_n(adjoints_.begin() + 1 + n_, m_, parameter_adjoint);
}

AGRAD_INLINE bool program_system::find_entries() {
  if (!has_searched_) entries_program_ = structure_->entries(*f_, n_, pattern_);
  has_searched_ = true;
  return entries_program_ != nullptr;
}

AGRAD_INLINE void program_system::set_state(double t, const double* y) {
  if (++calls_ % 64 == 0) poll_interrupt();
  inputs_[0] = t;
  std::copy_n(y, n_, inputs_.begin() + 1);
}

}  // namespace agrad
