// Definitions of solve/dae/ida_forward.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/ida_forward.hpp>

namespace agrad::detail {

AGRAD_INLINE ida_forward::ida_forward(const std::string& function, dae_system& system, const dae_options& options,
                                      const sundials::context_handle& context)
    : function_(function),
      system_(system),
      options_(options),
      context_(context),
      y_(sundials::make_vector(context, system.states(), function)),
      yp_(sundials::make_vector(context, system.states(), function)),
      newton_(context, y_, dense_algebra(system.states()), false, function),
      iteration_(context, y_, 0, function) {}

AGRAD_INLINE void ida_forward::start(const dae_state& s, double end, const std::vector<dae_state>& sensitivities,
                                     Eigen::Index of_initial, const Eigen::VectorXd& scales, dae_trajectory* trajectory) {
  fault_.clear();
  memory_.reset();
  trajectory_ = trajectory, of_initial_ = of_initial, start_ = s.t, end_ = end - s.t, evaluations_ = 0;
  if (trajectory_ != nullptr) trajectory_->start(s.t, s.y);
  sundials::map(y_) = s.y, sundials::map(yp_) = s.yp;
  begin_ = s;
  auto handle = sundials::expect_object<sundials::ida_handle>(IDACreate(context_.get()), function_, "IDACreate");
  void* memory = handle.get();
  expect(IDAInit(memory, residual, 0, y_.get(), yp_.get()), "IDAInit");
  const sundials::vector_handle tolerances = sundials::make_vector(context_, s.y.size(), function_);
  sundials::map(tolerances) = options_.forward.absolute;
  expect(IDASVtolerances(memory, options_.forward.relative, tolerances.get()), "IDASVtolerances");
  expect(IDASetUserData(memory, this), "IDASetUserData");
  iteration_.attach(memory);
  expect(IDASetLinearSolver(memory, newton_.solver.get(), newton_.matrix.get()), "IDASetLinearSolver");
  expect(IDASetJacFn(memory, jacobian), "IDASetJacFn");
  expect(IDASetStopTime(memory, end_), "IDASetStopTime");
  expect(IDASetInitStep(memory, options_.first_step), "IDASetInitStep");
  expect(IDASetMaxStep(memory, options_.max_step), "IDASetMaxStep");
  // The Newton iteration ends where the next step is estimated as 1/100 of a tolerance (IDA's default is 1/3), and the matrix
  // is renewed where c has changed by 1/10 (IDA's default is 1/4); docs/design.md has the savings.
  expect(IDASetNonlinConvCoef(memory, 0.01), "IDASetNonlinConvCoef");
  expect(IDASetDeltaCjLSetup(memory, 0.1), "IDASetDeltaCjLSetup");
  if (!sensitivities.empty()) start_sensitivities(memory, sensitivities, scales);
  memory_ = std::move(handle);
  reached_ = 0;
}

AGRAD_INLINE void ida_forward::advance(double to, dae_state& s) {
  for (long steps = 0; reached_ < to - start_; ++steps) {
    if (steps == options_.max_num_steps) stop(IDA_TOO_MUCH_WORK);
    step();
  }
  s.t = to;
  read(to - start_, 0, y_, s.y);
  read(to - start_, 1, yp_, s.yp);
}

AGRAD_INLINE void ida_forward::sensitivity(double t, std::size_t c, Eigen::VectorXd& s) {
  expect(IDAGetSensDky1(memory_.get(), t - start_, 0, static_cast<int>(c), y_.get()), "IDAGetSensDky1");
  s = sundials::map(y_);
}

AGRAD_INLINE void ida_forward::add_costs(ode_statistics& to) {
  to.forward += read_ida_statistics(memory_.get());
  if (sensitivities_.empty()) return;
  ode_sensitivity_statistics own;
  own.rhs_evaluations = evaluations_;
  IDAGetSensNumErrTestFails(memory_.get(), &own.error_test_failures);
  IDAGetSensNumNonlinSolvConvFails(memory_.get(), &own.convergence_failures);
  to.sensitivities += own;
}

AGRAD_INLINE dae_point ida_forward::point(double since_start, N_Vector y, N_Vector yp) const {
  return {start_ + since_start, N_VGetArrayPointer(y), N_VGetArrayPointer(yp)};
}

AGRAD_INLINE int ida_forward::residual(double t, N_Vector y, N_Vector yp, N_Vector r, void* data) {
  ida_forward& self = of(data);
  return self.fault_.guard([&] {
    const dae_point at = self.point(t, y, yp);
    report_progress(at.t);
    self.system_.residual(at, N_VGetArrayPointer(r));
    return self.fault_.expect_finite("the residual", at.t, self.map(r));
  });
}

AGRAD_INLINE int ida_forward::jacobian(double t, double c, N_Vector y, N_Vector yp, N_Vector, SUNMatrix J, void* data, N_Vector,
                                       N_Vector, N_Vector) {
  ida_forward& self = of(data);
  return self.fault_.guard([&] {
    const dae_point at = self.point(t, y, yp);
    const Eigen::Index n = self.system_.states();
    Eigen::Map<Eigen::MatrixXd> values(sundials::numbers::of(J).values.data(), n, n);
    self.system_.jacobian(at, 1, c, values);
    return self.fault_.expect_finite("the Jacobian", at.t, values);
  });
}

AGRAD_INLINE void ida_forward::start_sensitivities(void* memory, const std::vector<dae_state>& initial,
                                                   const Eigen::VectorXd& scales) {
  sensitivities_.clear(), columns_.clear(), slopes_.clear();
  for (const dae_state& s : initial) {
    for (const Eigen::VectorXd* values : {&s.y, &s.yp}) {
      sensitivities_.push_back(sundials::make_vector(context_, system_.states(), function_));
      sundials::map(sensitivities_.back()) = *values;
      (values == &s.y ? columns_ : slopes_).push_back(sensitivities_.back().get());
    }
  }
  const int count = static_cast<int>(columns_.size());
  expect(IDASensInit(memory, count, IDA_STAGGERED, residuals, columns_.data(), slopes_.data()), "IDASensInit");
  iteration_of_sensitivities_.emplace(context_, y_, count, function_).attach(memory);
  std::vector<sundials::vector_handle> tolerances;
  std::vector<N_Vector> pointers;
  const double relative = options_.forward.relative;
  const Eigen::ArrayXd absolute = options_.forward.absolute, smallest = (absolute / relative).min(1.0);
  for (const double scale : scales) {  // tolerances of x dy/dx, in the units of y; see solve/cvodes/forward.hpp
    tolerances.push_back(sundials::make_vector(context_, system_.states(), function_));
    sundials::map(tolerances.back()) = absolute / smallest.max(scale);
    pointers.push_back(tolerances.back().get());
  }
  expect(IDASensSVtolerances(memory, relative, pointers.data()), "IDASensSVtolerances");
  expect(IDASetSensErrCon(memory, SUNTRUE), "IDASetSensErrCon");
  // The initial slopes of algebraic sensitivities are unknown, so the first step is so short that these sensitivities hardly
  // change.
  const double little = 1e-2 * relative * end_, requested = options_.first_step;
  first_step_ = requested > 0 ? std::min(requested, little) : little;
  expect(IDASetInitStep(memory, first_step_), "IDASetInitStep");
}

AGRAD_INLINE bool ida_forward::start_shorter() {
  first_step_ *= 1e-5;
  if (sensitivities_.empty() || first_step_ < 1e-40 * end_) return false;
  sundials::map(y_) = begin_.y, sundials::map(yp_) = begin_.yp;
  expect(IDAReInit(memory_.get(), 0, y_.get(), yp_.get()), "IDAReInit");
  expect(IDASensReInit(memory_.get(), IDA_STAGGERED, columns_.data(), slopes_.data()), "IDASensReInit");
  expect(IDASetInitStep(memory_.get(), first_step_), "IDASetInitStep");
  return true;
}

AGRAD_INLINE int ida_forward::residuals(int count, double t, N_Vector y, N_Vector yp, N_Vector, N_Vector* s, N_Vector* sp,
                                        N_Vector* r, void* data, N_Vector, N_Vector, N_Vector) {
  ida_forward& self = of(data);
  return self.fault_.guard([&] {
    ++self.evaluations_;
    const dae_point at = self.point(t, y, yp);
    for (int first = 0; first < count; first += lanes) self.some_residuals(first, count, at, s, sp, r);
    for (int c = 0; c < count; ++c) {
      const int code = self.fault_.expect_finite("the residual of the sensitivity of y", at.t, self.map(r[c]));
      if (code != succeeded) return code;
    }
    return succeeded;
  });
}

AGRAD_INLINE void ida_forward::some_residuals(int first, int count, const dae_point& at, N_Vector* s, N_Vector* sp,
                                              N_Vector* r) {
  const Eigen::Index n = system_.states(), m = system_.parameters();
  const int here = std::min(lanes, count - first), width = here == 1 ? 1 : lanes;
  const auto w = static_cast<std::size_t>(width), nw = static_cast<std::size_t>(n) * w;
  by_y_.assign(nw, 0.0), by_yp_.assign(nw, 0.0), by_p_.assign(static_cast<std::size_t>(m) * w, 0.0), out_.resize(nw);
  across y(by_y_.data(), n, width), yp(by_yp_.data(), n, width), p(by_p_.data(), m, width), out(out_.data(), n, width);
  for (int k = 0; k < here; ++k) {
    y.col(k) = map(s[first + k]), yp.col(k) = map(sp[first + k]);
    if (first + k >= of_initial_) p(first + k - of_initial_, k) = 1;
  }
  system_.tangent(at, {width, nullptr, by_y_.data(), by_yp_.data(), by_p_.data()}, out_.data());
  for (int k = 0; k < here; ++k) map(r[first + k]) = out.col(k);
}

AGRAD_INLINE void ida_forward::step() {
  double reached = reached_;
  int code = 0;
  do {
    code = IDASolve(memory_.get(), end_, &reached, y_.get(), yp_.get(), IDA_ONE_STEP);
    fault_.rethrow();
  } while ((code == IDA_ERR_FAIL || code == IDA_CONV_FAIL) && reached_ == 0 && start_shorter());
  if (code < 0) stop(code);
  if (!(reached > reached_)) stop(IDA_ERR_FAIL);  // a step size that has underflowed is a failure
  int order = 1;
  expect(IDAGetLastOrder(memory_.get(), &order), "IDAGetLastOrder");
  if (trajectory_ != nullptr) trajectory_->append(reached, N_VGetArrayPointer(y_.get()), order);
  reached_ = reached;
  fault_.clear();
}

AGRAD_INLINE void ida_forward::read(double t, int derivative, const sundials::vector_handle& by, Eigen::VectorXd& to) {
  expect(IDAGetDky(memory_.get(), t, derivative, by.get()), "IDAGetDky");
  to = sundials::map(by);
}

AGRAD_INLINE void ida_forward::stop(int code) {
  std::string advice;
  if (code != IDA_TOO_MUCH_WORK && fault_.place().empty()) {
    const double now = ida_time(memory_.get());
    dae_state s{start_ + now, Eigen::VectorXd(), Eigen::VectorXd()};
    if (IDAGetDky(memory_.get(), now, 0, y_.get()) == IDA_SUCCESS &&
        IDAGetDky(memory_.get(), now, 1, yp_.get()) == IDA_SUCCESS) {
      s.y = sundials::map(y_), s.yp = sundials::map(yp_);
      if (consistency_->is_nearly_singular(s)) advice = "the system is close to singular there, or to index 2";
    }
  }
  const bool of_sensitivities = code == IDA_SRES_FAIL || code == IDA_REP_SRES_ERR;
  throw_ida_stopped(memory_.get(), y_, {function_, of_sensitivities ? "the sensitivities " : "", "y", code, start_, 0, -1},
                    fault_, advice);
}

}  // namespace agrad::detail
