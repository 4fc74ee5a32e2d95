// Definitions of solve/one_step/rosenbrock_second.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/rosenbrock_second.hpp>

namespace agrad {

AGRAD_INLINE void rosenbrock_second::tangent(const ode_directions& along, double* states) {
  along_ = along;
  const std::size_t size = (1 + vectors()) * count();
  step_tangents_.resize(store_.steps() * size);
  std::vector<double> now = along_.initial_state;
  for (std::size_t step = 0, k = 0; step < store_.steps(); ++step) {
    double* directions = step_tangents_.data() + step * size;
    std::copy(now.begin(), now.end(), directions);
    propagate(place(step), record_of(step), directions, now.data());
    if (detail::are_finite(directions, count())) check_finite("the tangent", "y", step, now.data(), count(), width());
    outputs_.write(step, k, directions, now.data(), count(), states);
    pace_.step();
  }
}

AGRAD_INLINE ode_gradient rosenbrock_second::second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                                    ode_directions& gradient_tangents) {
  check_integrated(adjoints);
  l_ = pair(n_, width()), total_ = pair(m_, width());
  const auto value = [&](std::size_t k) { return adjoints.col(static_cast<Eigen::Index>(k)).data(); };
  const auto tangent = [&](std::size_t k) { return tangents + k * count(); };
  std::size_t k = outputs_.size();
  for (std::size_t step = store_.steps(); step-- > 0;) {
    of_record_ = pair((1 + vectors()) * n_, width());
    outputs_.collect(step, k, value, n_, l_.value.data(), of_record_.value);
    outputs_.collect(step, k, tangent, count(), l_.tangents.data(), of_record_.tangents);
    k = outputs_.before(step, k);
    reverse_step_with_tangents(place(step), record_of(step), step_tangents_.data() + step * (1 + vectors()) * count());
    pace_.step();
  }
  gradient_tangents = {along_.width, l_.tangents, total_.tangents};
  return {Eigen::Map<const Eigen::VectorXd>(l_.value.data(), n()), 0.0, Eigen::VectorXd::Zero(adjoints.cols()),
          Eigen::Map<const Eigen::VectorXd>(total_.value.data(), static_cast<Eigen::Index>(m_))};
}

AGRAD_INLINE void rosenbrock_second::pair::add(double factor, const pair& from) {
  for (std::size_t i = 0; i < value.size(); ++i) value[i] += factor * from.value[i];
  for (std::size_t i = 0; i < tangents.size(); ++i) tangents[i] += factor * from.tangents[i];
}

AGRAD_INLINE void rosenbrock_second::pair::add_vector(const pair& from, std::size_t at) {
  for (std::size_t i = 0; i < value.size(); ++i) value[i] += from.value[at * value.size() + i];
  for (std::size_t i = 0; i < tangents.size(); ++i) tangents[i] += from.tangents[at * tangents.size() + i];
}

AGRAD_INLINE const double* rosenbrock_second::solution_tangents(const double* directions, int s) const {
  return directions + (1 + static_cast<std::size_t>(s)) * count();
}

AGRAD_INLINE ode_point rosenbrock_second::point(double t, const double* y, const double* directions) const {
  return {along_.width, t, y, directions, along_.parameters.data()};
}

AGRAD_INLINE ode_point rosenbrock_second::stage_point(int s, const one_step& at, const double* record,
                                                      const double* directions) {
  stage_.resize(n_);
  stage_tangents_.assign(directions, directions + count());
  stage(s, record, stage_.data());
  for (int j = 0; j < s; ++j)
    for (std::size_t i = 0; i < count(); ++i) stage_tangents_[i] += method_.a_of(s, j) * solution_tangents(directions, j)[i];
  return point(time_of(s, at), stage_.data(), stage_tangents_.data());
}

AGRAD_INLINE void rosenbrock_second::linearise_with_tangents(const one_step& at, const double* record,
                                                             const double* directions) {
  jacobian_(at.t, record, entries_.data());
  moved_entries_.resize(matrix_.entries() * width());
  system_.jacobian_tangent(point(at.t, record, directions), moved_entries_.data());
  again_.resize(matrix_.factor_size());
}

AGRAD_INLINE void rosenbrock_second::add_product(bool transposed, const double* u, double* to) const {
  const double* entry_tangent = moved_entries_.data();
  each_entry([&](std::size_t i, std::size_t j) {
    if (transposed) std::swap(i, j);
    for (std::size_t k = 0; k < width(); ++k) to[i * width() + k] += entry_tangent[k] * u[j];
    entry_tangent += width();
  });
}

AGRAD_INLINE void rosenbrock_second::propagate(const one_step& at, const double* record, double* directions, double* next) {
  linearise_with_tangents(at, record, directions);
  matrix_.factorise(1 / (at.h * method_.gamma), -1, entries_.data(), again_.data());
  propagate_time(at, record, directions);
  for (int s = 0; s < stages_; ++s) {
    double* u = directions + (1 + static_cast<std::size_t>(s)) * count();
    const ode_point of = stage_point(s, at, record, directions);
    system_.tangent(of.width, of.t, of.y, of.y_tangents, of.parameter_tangents, u);
    add_earlier(s, at.h, directions, width(), u);
    for (std::size_t i = 0; i < count(); ++i) u[i] += method_.d[s] * at.h * by_time_tangents_[i];
    add_product(false, solution(record, s), u);
    each_direction(u, [&](double* x) { matrix_.solve(again_.data(), x); });
  }
  const double* last = solution_tangents(directions, stages_ - 1);
  for (std::size_t i = 0; i < count(); ++i) next[i] = stage_tangents_[i] + last[i];  // Y_s + U_s
}

AGRAD_INLINE void rosenbrock_second::propagate_time(const one_step& at, const double* record, const double* directions) {
  by_time_tangents_.assign(count(), 0.0);
  if (is_autonomous_) return;
  const double delta = time_difference(at);
  std::vector<double>& slope = stage_tangents_;
  slope.resize(count());
  for (const double sign : {1.0, -1.0}) {
    const double t = sign > 0 ? at.t + delta : at.t;
    system_.tangent(along_.width, t, record, directions, along_.parameters.data(), slope.data());
    for (std::size_t i = 0; i < count(); ++i) by_time_tangents_[i] += sign * slope[i];
  }
  for (double& x : by_time_tangents_) x /= delta;  // at the end: a product that is fused with its sum would not cancel
}

AGRAD_INLINE void rosenbrock_second::reverse_step_with_tangents(const one_step& at, const double* record,
                                                                const double* directions) {
  linearise_with_tangents(at, record, directions);
  matrix_.factorise(1 / (at.h * method_.gamma), -1, entries_.data(), again_.data());
  w_.assign(vectors(), pair(n_, width())), v_.assign(vectors(), pair(n_, width()));
  pair begin = l_, time(n_, width());
  begin.add_vector(of_record_, 0);
  for (int s = stages_; s-- > 0;) {
    pair& v = v_[static_cast<std::size_t>(s)];
    v.add(method_.b(s), l_);
    add_later_with_tangents(s, at.h, v);
    v.add_vector(of_record_, 1 + static_cast<std::size_t>(s));
    matrix_.solve_transposed(again_.data(), v.value.data());
    add_product(true, v.value.data(), v.tangents.data());
    each_direction(v.tangents.data(), [&](double* x) { matrix_.solve_transposed(again_.data(), x); });
    add_vjp_with_tangents(stage_point(s, at, record, directions), v, w_[static_cast<std::size_t>(s)]);
    begin.add(1, w_[static_cast<std::size_t>(s)]);
    time.add(method_.d[s] * at.h / time_difference(at), v);
  }
  if (!is_autonomous_) reverse_time_with_tangents(at, record, directions, time, begin);
  reverse_matrix_with_tangents(at, record, directions, begin);
  l_ = std::move(begin);
}

AGRAD_INLINE void rosenbrock_second::add_later_with_tangents(int s, double h, pair& v) {
  pair coupled;
  if (constrained_ != nullptr) coupled = pair(n_, width());
  for (int r = s + 1; r < stages_; ++r) {
    v.add(method_.a_of(r, s), w_[static_cast<std::size_t>(r)]);
    (constrained_ != nullptr ? coupled : v).add(method_.C_of(r, s) / h, v_[static_cast<std::size_t>(r)]);
  }
  if (constrained_ == nullptr) return;
  constrained_->mass().add_transposed_product(coupled.value.data(), 1, v.value.data());
  constrained_->mass().add_transposed_product(coupled.tangents.data(), width(), v.tangents.data());
}

AGRAD_INLINE void rosenbrock_second::add_vjp_with_tangents(const ode_point& at, const pair& v, pair& to) {
  pair part(m_, width());
  system_.second(at, v.value.data(), v.tangents.data(),
                 {to.value.data(), part.value.data(), to.tangents.data(), part.tangents.data()});
  total_.add(1, part);
}

AGRAD_INLINE void rosenbrock_second::reverse_time_with_tangents(const one_step& at, const double* record,
                                                                const double* directions, const pair& time, pair& begin) {
  pair difference(n_, width()),
      before = std::exchange(total_, pair(m_, width()));  // summed separately, so that equal terms cancel exactly
  for (const double sign : {1.0, -1.0}) {
    pair v(n_, width()), w(n_, width());
    v.add(sign, time);
    add_vjp_with_tangents(point(sign > 0 ? at.t + time_difference(at) : at.t, record, directions), v, w);
    difference.add(1, w);
  }
  begin.add(1, difference);
  before.add(1, total_);
  total_ = std::move(before);
}

AGRAD_INLINE void rosenbrock_second::reverse_matrix_with_tangents(const one_step& at, const double* record,
                                                                  const double* directions, pair& begin) {
  pair weights(matrix_.entries(), width()), w(n_, width()), part(m_, width());
  std::size_t e = 0;
  each_entry([&](std::size_t i, std::size_t j) {
    for (int s = 0; s < stages_; ++s) {
      const pair& v = v_[static_cast<std::size_t>(s)];
      const double *u = solution(record, s), *u_tangents = solution_tangents(directions, s);
      weights.value[e] += v.value[i] * u[j];
      for (std::size_t k = 0; k < width(); ++k)
        weights.tangents[e * width() + k] += v.tangents[i * width() + k] * u[j] + v.value[i] * u_tangents[j * width() + k];
    }
    ++e;
  });
  system_.jacobian_second(point(at.t, record, directions), weights.value.data(), weights.tangents.data(),
                          {w.value.data(), part.value.data(), w.tangents.data(), part.tangents.data()});
  begin.add(1, w);
  total_.add(1, part);
}

}  // namespace agrad
