// Definitions of solve/record/solve_operation.hpp.
#pragma once

#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/second_order.hpp>
#include <agrad/solve/record/solve_operation.hpp>

namespace agrad {

AGRAD_INLINE solve_operation::solve_operation(std::shared_ptr<const recorded_problem> problem,
                                              std::shared_ptr<const progress_host> progress, bool same_steps)
    : problem_(std::move(problem)), progress_(std::move(progress)), same_steps_(same_steps) {
  const std::unique_ptr<posed_solve> posed = problem_->pose(true);
  tangents_ = posed->tangents();
  tangents_.match = tangents_.match && problem_->tangents_match();
  inputs_ = posed->argument().size(), outputs_ = posed->result().size();
}

AGRAD_INLINE std::shared_ptr<const external_operation> solve_operation::for_entries(const std::vector<bool>& wanted) const {
  std::shared_ptr<const recorded_problem> own = problem_->for_entries(wanted);
  if (own == nullptr) return nullptr;
  auto result = std::make_shared<solve_operation>(std::move(own), progress_, same_steps_);
  result->ledger_ = ledger_;
  return result;
}

AGRAD_INLINE void solve_operation::write(portable_writer& to) const {
  problem_->write(to);
  to(same_steps_.load());
}

AGRAD_INLINE void solve_operation::forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const {
  auto& mine = static_cast<solves&>(s);
  const bool differentiated = with_adjoint || same_steps_;
  posed_solve* chosen = with_adjoint && second_follows ? second_of(mine) : nullptr;
  if (chosen == nullptr) {
    std::unique_ptr<posed_solve>& own = differentiated ? mine.differentiable : mine.plain;
    if (own == nullptr) own = problem_->pose(differentiated);
    chosen = own.get();
  }
  solve(*chosen, x);
  chosen->read(y);
  if (!differentiated) return;
  mine.last = chosen;
  mine.x.assign(x, x + inputs_);
}

AGRAD_INLINE posed_solve* solve_operation::second_of(solves& s) const {
  if (!s.is_second_known && has_tangents()) s.second = problem_->pose_second();
  s.is_second_known = true;
  return s.second.get();
}

AGRAD_INLINE void solve_operation::solve(posed_solve& by, const double* x) const {
  run_pass(progress_.get(), false, [&] {
    by.solve(x);
    return by.end();
  });
  ledger_->enter(by.statistics());
}

template <class Pass>
void solve_operation::run_reverse(external_operation::state& s, const Pass& pass) const {
  posed_solve& by = *static_cast<solves&>(s).last;
  run_pass(progress_.get(), true, [&] {
    pass(by);
    return by.begin();
  });
  ledger_->enter(by.statistics());
}

AGRAD_INLINE void solve_operation::reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const {
  run_reverse(s, [&](posed_solve& by) { by.reverse(y_adjoint, x_adjoint); });
}

AGRAD_INLINE void solve_operation::reverse_rows(external_operation::state& s, std::size_t count, const double* y_adjoints,
                                                double* x_adjoints, std::size_t stride) const {
  run_reverse(s, [&](posed_solve& by) { by.reverse_rows(count, y_adjoints, x_adjoints, stride); });
}

AGRAD_INLINE const external_operation* solve_operation::first_without_tangents(int order) const {
  if (order > 0) return external_operation::first_without_tangents(order);
  return tangents_.order > 0 && tangents_.match ? nullptr : this;
}

AGRAD_INLINE void solve_operation::tangent(external_operation::state& s, int width, const double* x_tangent,
                                           double* y_tangent) const {
  auto& mine = static_cast<solves&>(s);
  posed_solve& by = *mine.last;
  by.tangent(width, x_tangent, y_tangent);
  mine.along.assign(x_tangent, x_tangent + inputs_ * static_cast<std::size_t>(width)), mine.width = width;
  ledger_->enter(by.statistics());
}

AGRAD_INLINE void solve_operation::second(external_operation::state& s, int width, const double* y_adjoint,
                                          const double* y_adjoint_tangent, double* x_adjoint, double* x_adjoint_tangent) const {
  auto& mine = static_cast<solves&>(s);
  if (posed_solve* own = second_of(mine); own != nullptr && own != mine.last) {  // nothing announced second derivatives
    solve(*own, mine.x.data());
    mine.last = own;
    std::vector<double> tangents(outputs_ * static_cast<std::size_t>(mine.width));
    own->tangent(mine.width, mine.along.data(), tangents.data());
  }
  mine.last->second(width, y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
}

AGRAD_INLINE std::unique_ptr<posed_solve> solve_operation::solve(const double* x, bool differentiated) const {
  std::unique_ptr<posed_solve> once = problem_->pose(differentiated || same_steps_);
  solve(*once, x);
  return once;
}

AGRAD_INLINE bool solve_operation::log_steps(const double* x, detail::step_log& log, bool differentiated) const {
  const std::unique_ptr<posed_solve> once = problem_->pose(differentiated || same_steps_);
  if (!once->log_steps(&log)) return false;
  once->solve(x);
  return true;
}

}  // namespace agrad
