// Definitions of solve/system/program/function.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/program/function.hpp>

namespace agrad {

AGRAD_INLINE program_function::program_function(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
                                                std::size_t held)
    : f_(std::move(f)),
      n_(n),
      m_(static_cast<Eigen::Index>(f_->input_size() - held) - 1 - n),
      active_(differentiated ? m_ : 0),
      inputs_(f_->input_size()),
      outputs_(f_->output_size()),
      adjoints_(f_->input_size()) {
  work_.is_careful = false;  // a solver prefers 0 to nan where a slope of the right-hand side is infinite
}

AGRAD_INLINE void program_function::value(double t, const double* y, double* to) {
  if (!has_run_) {
    f_->forward(work_, set(t, y), to, false);
    has_run_ = true;
    return;
  }
  poll();
  f_->set_inputs(work_, 0, 1, &t);
  f_->set_inputs(work_, 1, static_cast<std::size_t>(n_), y);
  f_->forward_again(moving_ != nullptr ? *moving_ : f_->code(), work_, to);
}

AGRAD_INLINE void program_function::vjp(double t, const double* y, const double* lambda, double* to, double& t_adjoint,
                                        double* y_adjoint, double* parameter_adjoint) {
  f_->forward(work_, set(t, y), to, true);
  const double* all = adjoints(lambda);
  t_adjoint = all[0];
  std::copy_n(all + 1, n_, y_adjoint);
  if (parameter_adjoint != nullptr) std::copy_n(all + 1 + n_, active_, parameter_adjoint);
}

AGRAD_INLINE void program_function::tangent(const ode_point& at, double* to) {
  run(at.t, at.y);
  const auto w = at.width;
  double* along = directions(w);
  if (at.t_tangents != nullptr) std::copy_n(at.t_tangents, w, along);
  std::copy_n(at.y_tangents, n_ * w, along + w);
  if (at.parameter_tangents != nullptr) std::copy_n(at.parameter_tangents, active_ * w, along + (1 + n_) * w);
  tangent(w, to);
}

AGRAD_INLINE void program_function::value_and_tangent(const ode_point& at, double* value, double* to) {
  tangent(at, to);
  std::copy(outputs_.begin(), outputs_.end(), value);
}

AGRAD_INLINE void program_function::second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                                           const ode_adjoints& to) {
  const auto w = at.width;
  tangents_.resize(std::max(inputs_.size(), outputs_.size()) * static_cast<std::size_t>(w));
  tangent(at, tangents_.data());
  by_width(w, [&](auto width) { f_->second<width()>(work_, lambda, adjoints_.data(), tangents_.data(), lambda_tangents); });
  const double* back = tangents_.data();
  if (to.t != nullptr) *to.t = adjoints_[0], std::copy_n(back, w, to.t_tangents);
  std::copy_n(adjoints_.begin() + 1, n_, to.y);
  std::copy_n(back + w, n_ * w, to.y_tangents);
  std::copy_n(adjoints_.begin() + 1 + n_, active_, to.parameters);
  std::copy_n(back + (1 + n_) * w, active_ * w, to.parameter_tangents);
}

AGRAD_INLINE const double* program_function::set(double t, const double* y) {
  poll();
  inputs_[0] = t;
  std::copy_n(y, n_, inputs_.begin() + 1);
  return inputs_.data();
}

AGRAD_INLINE void program_function::run(double t, const double* y) { f_->forward(work_, set(t, y), outputs_.data(), true); }

AGRAD_INLINE const double* program_function::adjoints(const double* lambda) {
  f_->reverse(work_, lambda, adjoints_.data());
  return adjoints_.data();
}

AGRAD_INLINE double* program_function::directions(int width) {
  directions_.assign(inputs_.size() * static_cast<std::size_t>(width), 0.0);
  return directions_.data();
}

AGRAD_INLINE void program_function::tangent(int width, double* to) {
  by_width(width, [&](auto w) { f_->tangent<w()>(work_, directions_.data(), to); });
}

}  // namespace agrad
