// Solve operation: the solve of a recorded problem as an operation of a program, for every kind of problem.
//
// The operand and the result are the flat vectors of the posed solve. A state of the operation keeps two posed solves, one for
// reverse passes and one without, so that the second run allocates nothing. A third one is for second derivatives of problems
// with kinks. It runs where second derivatives are announced (program/machine/second_order.hpp), or else with the first such
// pass.
// Read next: solve/posed/posed_solve.hpp; solve/record/recorded_problem.hpp.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/base/progress.hpp>
#include <agrad/program/derive/chosen_entries.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/record/recorded_problem.hpp>

namespace agrad {

class solve_operation final : public external_operation, public chooses_entries {
 public:
  /// progress: receives the progress of each run, if not null. same_steps: whether a run without derivatives takes the steps of
  /// a run with derivatives.
  explicit solve_operation(std::shared_ptr<const recorded_problem> problem,
                           std::shared_ptr<const progress_host> progress = nullptr, bool same_steps = false);

  std::string_view name() const override { return problem_->function(); }
  std::size_t input_size() const { return inputs_; }
  std::size_t output_size() const { return outputs_; }
  const recorded_problem& problem() const { return *problem_; }

  /// Returns the kind of the problem, or nothing: an operation can be stored if its problem can be stored and no progress is
  /// reported.
  std::string_view kind() const override { return progress_ == nullptr ? problem_->kind() : std::string_view(); }
  bool fits(std::size_t arguments, std::size_t results) const override { return arguments == inputs_ && results == outputs_; }
  AGRAD_INLINE void write(portable_writer& to) const override;
  /// Reads an operation from its bytes. Problem: the kind of problem; by: what Problem::read needs beside the bytes.
  template <class Problem, class... By>
  static std::shared_ptr<const external_operation> read(portable_reader& from, const By&... by) {
    std::shared_ptr<const recorded_problem> problem = Problem::read(from, by...);
    bool same_steps = false;
    from(same_steps);
    return std::make_shared<const solve_operation>(std::move(problem), nullptr, same_steps);
  }

  std::unique_ptr<external_operation::state> make_state() const override { return std::make_unique<solves>(); }

  AGRAD_INLINE void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override;
  AGRAD_INLINE void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override;
  AGRAD_INLINE void reverse_rows(external_operation::state& s, std::size_t count, const double* y_adjoints, double* x_adjoints,
                                 std::size_t stride) const override;

  void expect_derivatives() const override { same_steps_ = true; }
  AGRAD_INLINE std::shared_ptr<const external_operation> for_entries(const std::vector<bool>& wanted) const override;
  bool has_tangents() const override { return tangents_.order == 2; }
  bool has_first_tangents() const override { return tangents_.order >= 1; }
  /// For order 0 returns this operation where tangents and adjoints come from separate integrations, which agree within
  /// tolerances only.
  AGRAD_INLINE const external_operation* first_without_tangents(int order) const override;

  AGRAD_INLINE void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override;
  AGRAD_INLINE void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
                           double* x_adjoint, double* x_adjoint_tangent) const override;

  /// Solves outside of a program, with the steps of a run with or without derivatives. Returns the solve, whose result may have
  /// sizes other than the operation's.
  std::unique_ptr<posed_solve> solve(const double* x, bool differentiated) const;

  /// Returns the statistics of the last run and its reverse passes; passes of second order are not counted.
  ode_statistics statistics() const { return ledger_->latest(); }

  /// Solves once more and logs the limit of each step. Returns whether the method supports a log.
  bool log_steps(const double* x, detail::step_log& log, bool differentiated) const;

 private:
  struct solves final : external_operation::state {
    std::unique_ptr<posed_solve> plain, differentiable, second;
    bool is_second_known = false;  // whether `second` has been looked for
    posed_solve* last = nullptr;   // that ran for derivatives
    std::vector<double> x, along;  // the argument of the last run for derivatives, and the directions of its tangents
    int width = 0;
  };
  /// Returns the solve for second derivatives; null where the other one serves.
  posed_solve* second_of(solves& s) const;

  /// Solves, reports the progress and enters the costs into the ledger.
  void solve(posed_solve& by, const double* x) const;
  /// Runs a reverse pass of a state.
  template <class Pass>
  void run_reverse(external_operation::state& s, const Pass& pass) const;

  std::shared_ptr<const recorded_problem> problem_;
  std::shared_ptr<const progress_host> progress_;
  std::shared_ptr<ode_ledger> ledger_ = std::make_shared<ode_ledger>();
  mutable std::atomic<bool> same_steps_;
  tangent_kind tangents_;
  std::size_t inputs_, outputs_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/solve_operation.ipp>
#endif
