// Definitions of solve/dae/ida_backward.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/ida_backward.hpp>

namespace agrad::detail {

AGRAD_INLINE ida_backward::ida_backward(const std::string& function, dae_system& system, const dae_options& options,
                                        const sundials::context_handle& context, const dae_splitting& split,
                                        ode_statistics& statistics)
    : function_(function),
      system_(system),
      options_(options),
      context_(context),
      split_(split),
      statistics_(statistics),
      n_(split.n()),
      r_(split.r()),
      m_(system.parameters()),
      z_(sundials::make_vector(context, r_ + m_ + n_, function)),
      zp_(sundials::make_vector(context, r_ + m_ + n_, function)),
      newton_(dense_algebra(n_)),
      factors_(newton_.factor_size()),
      iteration_(context, z_, 0, function) {
  const auto entries = static_cast<std::size_t>(n_ * n_);
  matrix_ = sundials::expect_object<sundials::matrix_handle>(
      sundials::numbers_matrix::make(context.get(), std::make_shared<std::vector<std::size_t>>(), entries), function,
      "SUNMatNewEmpty");
  make_solver();
}

AGRAD_INLINE void ida_backward::clear(const adjoint_tolerances& absolute) {
  given_ = absolute;
  sundials::map(z_).setZero();
  fault_.clear();
  is_running_ = false;
}

AGRAD_INLINE void ida_backward::restart(const dae_state& s, const Eigen::VectorXd& of_differential,
                                        const dae_consistency& consistency) {
  collect();
  const Eigen::VectorXd lambda = consistency.multipliers(of_differential);
  const Eigen::VectorXd sums = parameters();
  Eigen::VectorXd by_state(n_), by_parameters(m_);
  system_.vjp(s.at(), lambda.data(), {nullptr, by_state.data(), nullptr, by_parameters.data()});
  if (fault_.expect_finite("the derivative of the adjoint of y", s.t, by_state) != succeeded ||
      fault_.expect_finite("the gradient's integrand for parameter ", s.t, by_parameters) != succeeded)
    throw_stopped({function_, "the reverse pass ", "the adjoint of y", IDA_FIRST_RES_FAIL, s.t, 0, -1}, fault_,
                  "IDA_FIRST_RES_FAIL", "");
  sundials::map(z_) << of_differential, sums, lambda;
  sundials::map(zp_) << split_.q().transpose() * by_state, by_parameters, Eigen::VectorXd::Zero(n_);
  set_tolerances(consistency);
  from_ = s.t;
  if (!memory_)
    set_up();
  else
    expect(IDAReInit(memory_.get(), 0, z_.get(), zp_.get()), "IDAReInit");
  is_running_ = true;
  ++statistics_.restarts;
}

AGRAD_INLINE void ida_backward::advance(double to) {
  if (!is_running_) return;
  const double end = to - from_;
  expect(IDASetStopTime(memory_.get(), end), "IDASetStopTime");
  double reached = 0;
  const int code = IDASolve(memory_.get(), end, &reached, z_.get(), zp_.get(), IDA_NORMAL);
  fault_.rethrow();
  if (code < 0 || !(reached <= (1 - 1e-14) * end)) stop(code);
  fault_.clear();
}

AGRAD_INLINE void ida_backward::collect() {
  if (!is_running_) return;
  statistics_.backward += read_ida_statistics(memory_.get());
  is_running_ = false;
}

AGRAD_INLINE void ida_backward::set_up() {
  auto handle = sundials::expect_object<sundials::ida_handle>(IDACreate(context_.get()), function_, "IDACreate");
  void* memory = handle.get();
  expect(IDAInit(memory, residual, 0, z_.get(), zp_.get()), "IDAInit");
  expect(IDASetUserData(memory, this), "IDASetUserData");
  expect(IDASetMaxNumSteps(memory, options_.max_num_steps), "IDASetMaxNumSteps");
  expect(IDASetMaxStep(memory, options_.max_step), "IDASetMaxStep");
  expect(IDAWFtolerances(memory, weigh), "IDAWFtolerances");
  const sundials::vector_handle is_differential = sundials::make_vector(context_, r_ + m_ + n_, function_);
  sundials::map(is_differential) << Eigen::VectorXd::Ones(r_ + m_), Eigen::VectorXd::Zero(n_);
  expect(IDASetId(memory, is_differential.get()), "IDASetId");
  expect(IDASetSuppressAlg(memory, SUNTRUE), "IDASetSuppressAlg");
  iteration_.attach(memory);
  expect(IDASetLinearSolver(memory, solver_.get(), matrix_.get()), "IDASetLinearSolver");
  expect(IDASetJacFn(memory, jacobian), "IDASetJacFn");
  memory_ = std::move(handle);
}

AGRAD_INLINE void ida_backward::set_tolerances(const dae_consistency& consistency) {
  const Eigen::VectorXd of_w = split_.q().cwiseAbs().transpose() * given_.adjoint;
  Eigen::VectorXd of_lambda = consistency.reach(of_w);
  const double largest = of_lambda.maxCoeff();
  for (double& each : of_lambda) {
    if (!(each > 0)) each = largest > 0 ? largest : 1;
  }
  absolute_.resize(r_ + m_ + n_);
  absolute_ << of_w, given_.gradient, of_lambda;
}

AGRAD_INLINE const dae_point& ida_backward::point(double since_start) {
  trajectory_->evaluate((from_ - trajectory_->start()) + since_start, y_, yp_);
  point_ = {from_ + since_start, y_.data(), yp_.data()};
  return point_;
}

AGRAD_INLINE int ida_backward::weigh(N_Vector z, N_Vector weights, void* data) {
  ida_backward& self = of(data);
  const Eigen::Index r = self.r_, m = self.m_, n = self.n_;
  const Eigen::Map<const Eigen::ArrayXd> at(N_VGetArrayPointer(z), r + m + n);
  Eigen::Map<Eigen::ArrayXd> to(N_VGetArrayPointer(weights), r + m + n);
  to = at.abs() * self.options_.backward.relative;
  to.segment(r, m) = at.segment(r, m).abs() * self.options_.quadrature.relative;
  to = 1 / (to + self.absolute_.array());
  const auto share = [&](Eigen::Index part) { return std::sqrt(static_cast<double>(r + m + n) / static_cast<double>(part)); };
  if (r > 0) to.head(r) *= share(r);
  if (m > 0) to.segment(r, m) *= share(m);
  to.tail(n) *= share(n);
  return to.allFinite() ? 0 : -1;
}

AGRAD_INLINE int ida_backward::residual(double t, N_Vector z, N_Vector zp, N_Vector out, void* data) {
  ida_backward& self = of(data);
  return self.fault_.guard([&] {
    const Eigen::Index n = self.n_, r = self.r_, m = self.m_;
    const Eigen::Map<const Eigen::VectorXd> at(N_VGetArrayPointer(z), r + m + n), slope(N_VGetArrayPointer(zp), r + m + n);
    Eigen::Map<Eigen::VectorXd> to(N_VGetArrayPointer(out), r + m + n);
    self.by_y_.resize(n), self.by_yp_.resize(n), self.by_p_.resize(m);
    const dae_point& where = self.point(t);
    report_progress(where.t);
    self.system_.vjp(where, at.data() + r + m,
                     {nullptr, self.by_y_.data(), self.by_yp_.data(), m > 0 ? self.by_p_.data() : nullptr});
    const int code = self.fault_.expect_finite("the gradient's integrand for parameter ", where.t, self.by_p_);
    if (code != succeeded) return code;
    const Eigen::MatrixXd &q = self.split_.q(), &b = self.split_.z();
    to.head(r) = slope.head(r) - q.transpose() * self.by_y_;
    to.segment(r, m) = slope.segment(r, m) - self.by_p_;
    to.segment(r + m, r) = q.transpose() * self.by_yp_ - at.head(r);
    to.tail(n - r) = b.transpose() * self.by_y_;
    return self.fault_.expect_finite("the residual of the adjoint of y", where.t, to);
  });
}

AGRAD_INLINE int ida_backward::jacobian(double t, double c, N_Vector, N_Vector, N_Vector, SUNMatrix J, void* data, N_Vector,
                                        N_Vector, N_Vector) {
  ida_backward& self = of(data);
  return self.fault_.guard([&] {
    const dae_point& at = self.point(t);
    Eigen::Map<Eigen::MatrixXd> values(sundials::numbers::of(J).values.data(), self.n_, self.n_);
    self.by_slope_.resize(self.n_, self.n_);
    self.system_.jacobian(at, 1, 0, values);
    self.system_.jacobian(at, 0, 1, self.by_slope_);
    values -= c * self.by_slope_;
    self.c_ = c;
    return self.fault_.expect_finite("the Jacobian", at.t, values);
  });
}

AGRAD_INLINE void ida_backward::make_solver() {
  SUNLinearSolver s = SUNLinSolNewEmpty(context_.get());
  solver_ = sundials::expect_object<sundials::linear_solver_handle>(s, function_, "SUNLinSolNewEmpty");
  s->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
  s->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
  s->ops->initialize = [](SUNLinearSolver) -> SUNErrCode { return SUN_SUCCESS; };
  s->ops->setup = [](SUNLinearSolver a, SUNMatrix m) { return of(a->content).factorise(m); };
  s->ops->solve = [](SUNLinearSolver a, SUNMatrix, N_Vector x, N_Vector b, sunrealtype) {
    return of(a->content).solve(N_VGetArrayPointer(b), N_VGetArrayPointer(x));
  };
  s->ops->free = [](SUNLinearSolver a) -> SUNErrCode {
    a->content = nullptr;  // this
    SUNLinSolFreeEmpty(a);
    return SUN_SUCCESS;
  };
  s->content = this;
}

AGRAD_INLINE int ida_backward::factorise(SUNMatrix m) noexcept {
  try {
    c_of_factors_ = c_;
    const bool is_regular = newton_.factorise(0, 1, sundials::numbers::of(m).values.data(), factors_.data());
    return is_regular ? SUN_SUCCESS : SUNLS_LUFACT_FAIL;
  } catch (...) {
    return -1;  // out of memory
  }
}

AGRAD_INLINE int ida_backward::solve(const double* b, double* x) noexcept {
  return fault_.guard([&] {
    const Eigen::Map<const Eigen::VectorXd> right(b, r_ + m_ + n_);
    Eigen::Map<Eigen::VectorXd> w(x, r_), q(x + r_, m_), lambda(x + r_ + m_, n_);
    const auto of_w = right.segment(r_ + m_, r_);
    lambda = split_.z() * right.tail(n_ - r_) - split_.q() * (right.head(r_) + c_of_factors_ * of_w);
    newton_.solve_transposed(factors_.data(), lambda.data());
    // Not at the point of the factors: IDAS counts on a solution of the linear rows, and would keep errors of w and q.
    system_.vjp(point_, lambda.data(), {nullptr, nullptr, by_yp_.data(), m_ > 0 ? q.data() : nullptr});
    w = split_.q().transpose() * by_yp_ - of_w;
    q = (q + right.segment(r_, m_)) / c_of_factors_;
    return succeeded;
  });
}

AGRAD_INLINE void ida_backward::stop(int code) {
  const long before = statistics_.backward.steps;
  throw_ida_stopped(memory_.get(), z_,
                    {function_, "the reverse pass ", "the adjoint of y", code < 0 ? code : IDA_ERR_FAIL, from_, before, -1},
                    fault_, "");
}

}  // namespace agrad::detail
