// Definitions of solve/cvodes/reuse.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/reuse.hpp>

namespace agrad::detail {

AGRAD_INLINE std::unique_ptr<cvodes_adjoint> cvodes_pool::acquire(const std::string& function, ode_system& system,
                                                                  const ode_adjoint_options& options, ode_required required) {
  cvodes_pool* pool = mine();
  if (pool != nullptr) {
    const auto serves = [&](const auto& each) { return each->serves(function, system, options, required); };
    const auto found = std::find_if(pool->free_.begin(), pool->free_.end(), serves);
    if (found != pool->free_.end()) {
      std::unique_ptr<cvodes_adjoint> solver = std::move(*found);
      pool->free_.erase(found);
      solver->use(system);
      return solver;
    }
  }
  return std::make_unique<cvodes_adjoint>(function, system, options, required);
}

AGRAD_INLINE void cvodes_pool::release(std::unique_ptr<cvodes_adjoint> solver) noexcept {
  cvodes_pool* pool = mine();
  if (pool == nullptr || !solver->is_as_new() || solver->bytes() > most_bytes) return;
  solver->rest();
  if (pool->free_.size() == most) pool->free_.erase(pool->free_.begin());
  pool->free_.push_back(std::move(solver));  // does not allocate: the vector has reserved room
}

AGRAD_INLINE cvodes_pool* cvodes_pool::mine() {
  thread_local bool is_over = false;
  thread_local cvodes_pool pool(is_over);
  return is_over ? nullptr : &pool;
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE const Eigen::MatrixXd& pooled_cvodes::integrate(const Eigen::VectorXd& y0, double t0,
                                                             const std::vector<double>& times) {
  return solver_->integrate(y0, t0, times);
}

AGRAD_INLINE std::vector<ode_gradient> pooled_cvodes::reverse_rows(
    const std::vector<Eigen::Map<const Eigen::MatrixXd>>& adjoints) {
  return solver_->reverse_rows(adjoints);
}

}  // namespace agrad
