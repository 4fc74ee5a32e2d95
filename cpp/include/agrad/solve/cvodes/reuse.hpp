// Pooled CVODES: later solves of the same kind reuse the solvers of earlier solves.
//
// To create a CVODES problem with checkpoints takes about as long as to solve a small problem. A thread stores a few solvers
// whose solves have ended; a new solve that differs only by the right-hand side reuses a stored solver.
// Read first: solve/cvodes/adjoint.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/adjoint.hpp>

namespace agrad {

namespace detail {

/// The solvers that a thread stores.
class cvodes_pool {
 public:
  static std::unique_ptr<cvodes_adjoint> acquire(const std::string& function, ode_system& system,
                                                 const ode_adjoint_options& options, ode_required required);

  /// Stores the solver; where there is no room, drops the oldest solver.
  static void release(std::unique_ptr<cvodes_adjoint> solver) noexcept;

  /// Returns how many solvers this thread stores.
  static std::size_t held() { return mine() == nullptr ? 0 : mine()->free_.size(); }

 private:
  static constexpr std::size_t most = 4;
  static constexpr double most_bytes = 16 << 20;

  explicit cvodes_pool(bool& is_over) : is_over_(is_over) { free_.reserve(most); }
  ~cvodes_pool() { is_over_ = true; }

  /// Returns null when the thread has ended: a solver may outlive the thread's pool.
  static cvodes_pool* mine();

  std::vector<std::unique_ptr<cvodes_adjoint>> free_;
  bool& is_over_;
};

}  // namespace detail

/// A `cvodes_adjoint` for one solve, possibly a solver made for an earlier solve.
class pooled_cvodes final : public ode_solver {
 public:
  pooled_cvodes(const std::string& function, ode_system& system, const ode_adjoint_options& options, ode_required required)
      : solver_(detail::cvodes_pool::acquire(function, system, options, required)) {}
  ~pooled_cvodes() override { detail::cvodes_pool::release(std::move(solver_)); }
  pooled_cvodes(const pooled_cvodes&) = delete;
  pooled_cvodes& operator=(const pooled_cvodes&) = delete;

  AGRAD_INLINE const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double t0,
                                                const std::vector<double>& times) override;
  ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override { return solver_->reverse(adjoints); }
  AGRAD_INLINE std::vector<ode_gradient> reverse_rows(const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) override;
  const ode_statistics& statistics() const override { return solver_->statistics(); }
  bool watch(detail::event_watch* events) override { return solver_->watch(events); }
  bool log_steps(detail::step_log* log) override { return solver_->log_steps(log); }
  bool has_first_tangents() const override { return solver_->has_first_tangents(); }
  bool tangents_match() const override { return solver_->tangents_match(); }
  void tangent(const ode_directions& along, double* states) override { solver_->tangent(along, states); }

 private:
  std::unique_ptr<cvodes_adjoint> solver_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/cvodes/reuse.ipp>
#endif
