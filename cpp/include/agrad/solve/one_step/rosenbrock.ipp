// Definitions of solve/one_step/rosenbrock.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/rosenbrock.hpp>

namespace agrad {

AGRAD_INLINE rosenbrock::rosenbrock(const rosenbrock_tableau& method, const std::string& function, ode_system& system,
                                    const step_options& options, ode_required required, newton_matrix matrix)
    : one_step_solver(
          function, system, options, required, method.order,
          (1 + static_cast<std::size_t>(method.stages)) * static_cast<std::size_t>(system.states()) + matrix.factor_size(),
          1 + static_cast<std::size_t>(method.stages)),
      method_(method),
      stages_(method.stages),
      jacobian_(function, system, matrix.how()),
      matrix_(std::move(matrix)),
      entries_(matrix_.entries()),
      colours_(detail::few_colours(pattern(), n_, static_cast<std::uint32_t>(method.stages))),
      is_autonomous_(system.is_autonomous()),
      slope_(n_),
      by_time_(n_),
      stage_(n_),
      right_(n_),
      stage_times_(vectors()) {
  if (!options_.mass) return;
  const Eigen::VectorXd small = options_.states.absolute / options_.states.relative;
  // A state whose errors hardly count, by a large absolute tolerance, must satisfy the constraints nevertheless.
  constrained_ = std::make_unique<constrained_state>(function_, system_, *options_.mass, matrix_.how(),
                                                     small.cwiseMin(1e4 * small.minCoeff()));
}

AGRAD_INLINE chosen_algebra rosenbrock::chosen(const rosenbrock_tableau& method, const std::string& function,
                                               ode_system& system, const step_options& options) {
  if (options.mass) check_mass_matrix(function, *options.mass, system.states());
  if (options.algebra.kind == ode_algebra_kind::gmres)
    throw DomainError(detail::sentence(function, "the kind of linear algebra", -1, "gmres",
                                       std::string("another one for ") + method.name,
                                       "the method needs factors of the Newton matrix; CVODES' methods take gmres"));
  return choose_algebra(function, system, options.algebra, options.mass ? &*options.mass : nullptr);
}

AGRAD_INLINE void rosenbrock::stage(int s, const double* record, double* y) const {
  std::copy_n(record, n_, y);
  for (int j = 0; j < s; ++j)
    for (std::size_t i = 0; i < n_; ++i) y[i] += method_.a_of(s, j) * solution(record, j)[i];
}

AGRAD_INLINE void rosenbrock::begin(double t, double* record) {
  first_slope(t, record, slope_.data());
  is_linearised_ = false;
}

AGRAD_INLINE double rosenbrock::attempt(const one_step& at, double* record, double* next) {
  if (!is_linearised_) linearise(at, record);
  // An infinite entry would leave a state and the state's adjoint unchanged.
  if (reverses_ && !detail::are_finite(entries_.data(), entries_.size())) return std::numeric_limits<double>::quiet_NaN();
  statistics_.forward.rhs_evaluations += stages_ - 1;
  compute_stages(at, record, next);
  const double* error = solution(record, stages_ - 1);
  std::copy_n(error, n_, error_.begin());
  return weighed(error, record, next);
}

AGRAD_INLINE void rosenbrock::repeat(const one_step& at, double* record, double* next) {
  system_.rhs(at.t, record, slope_.data());
  statistics_.recomputed_rhs_evaluations += stages_;
  linearise(at, record);
  compute_stages(at, record, next);
  is_linearised_ = false;
}

AGRAD_INLINE void rosenbrock::linearise(const one_step& at, const double* record) {
  jacobian_(at.t, record, entries_.data());
  ++statistics_.forward.jacobian_evaluations;
  is_linearised_ = true;
  if (is_autonomous_) return;
  const double delta = time_difference(at);
  system_.rhs(at.t + delta, record, by_time_.data());
  ++statistics_.forward.rhs_evaluations;
  for (std::size_t i = 0; i < n_; ++i) by_time_[i] = (by_time_[i] - slope_[i]) / delta;
}

AGRAD_INLINE double rosenbrock::time_difference(const one_step& at) {
  const double delta = std::sqrt(std::numeric_limits<double>::epsilon() * std::max(1e-5, std::abs(at.t)));
  const double later = at.t + std::min(delta, at.h);
  return later - at.t;  // the rounded difference, which `at.t + delta` really adds
}

AGRAD_INLINE void rosenbrock::compute_stages(const one_step& at, double* record, double* next) {
  factorise(at.h, record);
  if (is_singular_) {
    std::fill_n(solution(record, stages_ - 1), n_, std::numeric_limits<double>::quiet_NaN());  // the step is rejected
    std::copy_n(record, n_, next);
    return;
  }
  for (int s = 0; s < stages_; ++s) {
    vector_map u(solution(record, s), n());
    stage(s, record, next);
    if (s == 0)
      u = const_vector(slope_.data(), n());
    else
      system_.rhs(time_of(s, at), next, u.data());
    add_earlier(s, at.h, record, 1, u.data());
    u += method_.d[s] * at.h * const_vector(by_time_.data(), n());
    matrix_.solve(factors(record), u.data());
  }
  vector_map(next, n()) += const_vector(solution(record, stages_ - 1), n());  // Y_s + U_s
}

AGRAD_INLINE void rosenbrock::add_earlier(int s, double h, const double* record, std::size_t width, double* to) {
  const std::size_t count = n_ * width;
  const auto size = static_cast<Eigen::Index>(count);
  if (constrained_ != nullptr) coupled_.assign(count, 0.0);
  vector_map sum(constrained_ != nullptr ? coupled_.data() : to, size);
  for (int j = 0; j < s; ++j)
    sum += method_.C_of(s, j) / h * const_vector(record + (1 + static_cast<std::size_t>(j)) * count, size);
  if (constrained_ != nullptr) constrained_->mass().add_product(coupled_.data(), width, to);
}

AGRAD_INLINE const double* rosenbrock::observed_slope(const one_step& at, const double* record) {
  if (constrained_ == nullptr) return slope_.data();
  coupled_.resize(n_);
  for (std::size_t i = 0; i < n_; ++i) coupled_[i] = (next_[i] - record[i]) / at.h;
  return coupled_.data();
}

AGRAD_INLINE double rosenbrock::attempt_probe(const one_step& at, const double* record) {
  probe_.observe(record, observed_slope(at, record), options_);
  probe_record_.resize((1 + vectors()) * n_);
  double* tangents = probe_record_.data();
  std::copy_n(probe_.now(), n_, tangents);
  linearize_stages(at, record);
  probe_by_time(at, record);
  if (system_.has_jacobian_adjoint()) {
    entry_tangents_.resize(matrix_.entries());
    system_.jacobian_tangent({1, at.t, record, probe_.now(), probe_.parameters()}, entry_tangents_.data());
  }
  for (int s = 0; s < stages_; ++s) {
    vector_map u(solution(tangents, s), n());
    stage(s, tangents, probe_.next());
    system_.linear_jvp(s, probe_.next(), probe_.parameters(), u.data());
    add_earlier(s, at.h, tangents, 1, u.data());
    u += method_.d[s] * at.h * const_vector(time_adjoint_.data(), n());
    add_moved_jacobian(at.t, record, solution(record, s), u.data());
    matrix_.solve(factors(record), u.data());
  }
  vector_map(probe_.next(), n()) += const_vector(solution(tangents, stages_ - 1), n());
  std::copy_n(solution(tangents, stages_ - 1), n_, probe_.error());
  return probe_.weighed(options_);
}

AGRAD_INLINE void rosenbrock::probe_by_time(const one_step& at, const double* record) {
  time_adjoint_.assign(n_, 0.0);
  if (is_autonomous_) return;
  const double delta = time_difference(at);
  right_.resize(n_);
  system_.along(at.t + delta, record, probe_.now(), probe_.parameters(), time_adjoint_.data());
  system_.along(at.t, record, probe_.now(), probe_.parameters(), right_.data());
  for (std::size_t i = 0; i < n_; ++i) time_adjoint_[i] = (time_adjoint_[i] - right_[i]) / delta;
}

AGRAD_INLINE void rosenbrock::add_moved_jacobian(double t, const double* y, const double* u, double* to) {
  if (system_.has_jacobian_adjoint()) {
    const double* entry_tangent = entry_tangents_.data();
    each_entry([&](std::size_t i, std::size_t j) { to[i] += *entry_tangent++ * u[j]; });
    return;
  }
  const double size = relative_size(u, y);
  if (size == 0 || !std::isfinite(size)) return;
  const double epsilon = 6e-6 / size;
  for (const double sign : {1.0, -1.0}) {
    for (std::size_t i = 0; i < n_; ++i) stage_[i] = y[i] + sign * epsilon * u[i];
    system_.along(t, stage_.data(), probe_.now(), probe_.parameters(), right_.data());
    for (std::size_t i = 0; i < n_; ++i) to[i] += sign / (2 * epsilon) * right_[i];
  }
}

AGRAD_INLINE void rosenbrock::factorise(double h, double* record) {
  is_singular_ = !matrix_.factorise(1 / (h * method_.gamma), -1, entries_.data(), factors(record));
  ++statistics_.forward.factorizations;
}

AGRAD_INLINE std::string rosenbrock::place_of_fault(const one_step& at, const double* record) {
  for (const double x : entries_)
    if (!std::isfinite(x)) return "the Jacobian is not finite at t = " + detail::to_text(at.t);
  if (is_singular_) return "the Newton matrix is singular at t = " + detail::to_text(at.t);
  for (int s = 0; s < stages_; ++s) {
    stage(s, record, stage_.data());
    if (!const_vector(stage_.data(), n()).allFinite()) return {};
    system_.rhs(time_of(s, at), stage_.data(), right_.data());
    const std::string place = detail::not_finite_slope(right_.data(), n_, time_of(s, at));
    if (!place.empty()) return place;
  }
  return {};
}

AGRAD_INLINE detail::step_outputs::weights rosenbrock::interpolant(double part, double /*h*/) const {
  detail::step_outputs::weights w{};
  w[0] = 1;
  for (int s = 0; s < stages_; ++s) {
    w[1 + static_cast<std::size_t>(s)] = part * (method_.b(s) + (1 - part) * method_.within(s, part));
  }
  return w;
}

AGRAD_INLINE void rosenbrock::reverse_step(const one_step& at, const double* record, double* of_record, double* l,
                                           double* parameters) {
  w_.resize(vectors() * n_);
  v_.resize(vectors() * n_);
  part_.resize(m_);
  sum_.assign(n_, 0.0);
  time_adjoint_.assign(n_, 0.0);
  matrix_.prepare_transposed(1 / (at.h * method_.gamma), -1, factors(record));
  if (!restore_linear(reversed(), stages_)) linearize_stages(at, record);
  for (int s = stages_; s-- > 0;) {
    vector_map v(v_.data() + static_cast<std::size_t>(s) * n_, n());
    v = method_.b(s) * const_vector(l, n());
    add_later(s, at.h, v.data());
    if (of_record != nullptr) v += const_vector(solution(of_record, s), n());
    matrix_.solve_transposed(factors(record), v.data());
    system_.linear_vjp(s, v.data(), w_.data() + static_cast<std::size_t>(s) * n_, m_ > 0 ? part_.data() : nullptr);
    add_part(1, parameters);
    vector_map(time_adjoint_.data(), n()) += method_.d[s] * at.h / time_difference(at) * v;
  }
  if (!is_autonomous_) reverse_time(at, record, parameters);
  reverse_matrices(at, record, parameters);
  for (std::size_t i = 0; i < n_; ++i) l[i] += sum_[i];
  for (std::size_t at_w = 0; at_w < w_.size(); ++at_w) l[at_w % n_] += w_[at_w];
  for (std::size_t i = 0; of_record != nullptr && i < n_; ++i) l[i] += of_record[i];
}

AGRAD_INLINE void rosenbrock::reverse_error(const one_step& /*at*/, const double* l, std::vector<double>& of_record) const {
  of_record.assign((1 + vectors()) * n_, 0.0);
  std::copy_n(l, n_, solution(of_record.data(), stages_ - 1));
}

AGRAD_INLINE void rosenbrock::add_later(int s, double h, double* v) {
  const auto of_stage = [&](const std::vector<double>& all, int r) {
    return const_vector(all.data() + static_cast<std::size_t>(r) * n_, n());
  };
  if (constrained_ != nullptr) {
    coupled_.assign(n_, 0.0);
    for (int r = s + 1; r < stages_; ++r) vector_map(coupled_.data(), n()) += method_.C_of(r, s) / h * of_stage(v_, r);
    constrained_->mass().add_transposed_product(coupled_.data(), 1, v);
  }
  for (int r = s + 1; r < stages_; ++r) {
    if (constrained_ != nullptr)
      vector_map(v, n()) += method_.a_of(r, s) * of_stage(w_, r);
    else
      vector_map(v, n()) += method_.a_of(r, s) * of_stage(w_, r) + method_.C_of(r, s) / h * of_stage(v_, r);
  }
}

AGRAD_INLINE void rosenbrock::linearize_stages(const one_step& at, const double* record) {
  stage_states_.resize(vectors() * n_);
  for (int s = 0; s < stages_; ++s) {
    stage_times_[static_cast<std::size_t>(s)] = time_of(s, at);
    stage(s, record, stage_states_.data() + static_cast<std::size_t>(s) * n_);
  }
  system_.linearize(stages_, stage_times_.data(), stage_states_.data());
}

AGRAD_INLINE void rosenbrock::add_vjp(double factor, double t, const double* y, const double* v, double* to,
                                      double* parameters) {
  system_.vjp(t, y, v, to, m_ > 0 ? part_.data() : nullptr);
  add_part(factor, parameters);
}

AGRAD_INLINE void rosenbrock::add_part(double factor, double* parameters) {
  ++statistics_.backward.rhs_evaluations;
  for (std::size_t j = 0; j < m_; ++j) parameters[j] += factor * part_[j];
}

AGRAD_INLINE void rosenbrock::reverse_matrices(const one_step& at, const double* record, double* parameters) {
  if (system_.has_jacobian_adjoint()) {
    weights_.clear();
    each_entry([&](std::size_t i, std::size_t j) { weights_.push_back(weight(record, i, j)); });
    system_.jacobian_adjoint(at.t, record, weights_.data(), right_.data(), m_ > 0 ? part_.data() : nullptr);
    for (std::size_t i = 0; i < n_; ++i) sum_[i] += right_[i];
    for (std::size_t j = 0; j < m_; ++j) parameters[j] += part_[j];
  } else if (!system_.has_tangents()) {
    for (int s = 0; s < stages_; ++s) reverse_matrix_by_differences(at, record, s, parameters);
  } else if (colours_.count > 0) {
    for (std::uint32_t c = 0; c < colours_.count; ++c) {
      colour_product(record, c);
      reverse_matrix(at, record, direction_.data(), product_.data(), parameters);
    }
  } else {
    for (int s = 0; s < stages_; ++s) reverse_matrix(at, record, solution(record, s), adjoint_of(s), parameters);
  }
}

AGRAD_INLINE double rosenbrock::weight(const double* record, std::size_t i, std::size_t j) const {
  double sum = 0;
  for (int s = 0; s < stages_; ++s) sum += adjoint_of(s)[i] * solution(record, s)[j];
  return sum;
}

AGRAD_INLINE void rosenbrock::colour_product(const double* record, std::uint32_t c) {
  direction_.assign(n_, 0.0);
  product_.assign(n_, 0.0);
  for (std::size_t j = 0; j < n_; ++j) direction_[j] = colours_.colour[j] == c ? 1 : 0;
  const auto add = [&](std::size_t i, std::size_t j) {
    if (colours_.colour[j] == c) product_[i] += weight(record, i, j);
  };
  for (std::size_t i = 0; i < n_; ++i) {
    if (jacobian_.how().pattern) {
      for (const auto j : jacobian_.how().pattern->row(i)) add(i, j);
    } else {
      add(i, c);
    }
  }
}

AGRAD_INLINE void rosenbrock::reverse_matrix(const one_step& at, const double* record, const double* u, const double* v,
                                             double* parameters) {
  none_.assign(std::max(n_, m_), 0.0);
  adjoint_.resize(n_);
  part_tangents_.resize(m_);
  const ode_point point{1, at.t, record, u, none_.data()};
  system_.second(point, v, none_.data(), {adjoint_.data(), part_.data(), right_.data(), part_tangents_.data()});
  for (std::size_t i = 0; i < n_; ++i) sum_[i] += right_[i];
  for (std::size_t j = 0; j < m_; ++j) parameters[j] += part_tangents_[j];
}

AGRAD_INLINE double rosenbrock::relative_size(const double* u, const double* y) const {
  double size = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    const double absolute = options_.states.absolute[static_cast<Eigen::Index>(i)];
    size = std::max(size, std::abs(u[i]) / (std::abs(y[i]) + absolute / options_.states.relative));
  }
  return size;
}

AGRAD_INLINE void rosenbrock::reverse_matrix_by_differences(const one_step& at, const double* record, int s,
                                                            double* parameters) {
  const double* u = solution(record, s);
  const double size = relative_size(u, record);
  if (size == 0) return;
  const double epsilon = 6e-6 / size;
  for (const double sign : {1.0, -1.0}) {
    for (std::size_t i = 0; i < n_; ++i) stage_[i] = record[i] + sign * epsilon * u[i];
    add_vjp(sign / (2 * epsilon), at.t, stage_.data(), adjoint_of(s), right_.data(), parameters);
    for (std::size_t i = 0; i < n_; ++i) sum_[i] += sign / (2 * epsilon) * right_[i];
  }
}

AGRAD_INLINE void rosenbrock::reverse_time(const one_step& at, const double* record, double* parameters) {
  time_states_.assign(n_, 0.0);  // summed separately, so that equal terms cancel exactly
  time_parameters_.assign(m_, 0.0);
  for (const double sign : {1.0, -1.0}) {
    const double time = sign > 0 ? at.t + time_difference(at) : at.t;
    add_vjp(sign, time, record, time_adjoint_.data(), right_.data(), time_parameters_.data());
    for (std::size_t i = 0; i < n_; ++i) time_states_[i] += sign * right_[i];
  }
  for (std::size_t i = 0; i < n_; ++i) sum_[i] += time_states_[i];
  for (std::size_t j = 0; j < m_; ++j) parameters[j] += time_parameters_[j];
}

}  // namespace agrad
