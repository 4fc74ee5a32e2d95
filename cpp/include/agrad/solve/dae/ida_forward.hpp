// IDA forward: a DAE from consistent initial values on, step by step, with sensitivities where they are asked for.
//
// Each step is appended to a trajectory, from which the backward pass takes the solution. Sensitivities s of y solve
// dF/dy s + dF/dy' s' + dF/dp = 0 with the matrix of the states' own Newton steps, under error control, after
// the states of each step: solved together with them, they keep IDAS at order 1 where theirs are the larger errors (seen in
// SUNDIALS 7.9).
// IDAS' clock is zero at the start: it can make no step that its clock does not resolve, as a fast transient late in time needs.
// Source: Hindmarsh and Serban, User Documentation for IDAS, sections 2.1 and 2.5.
// Read next: solve/dae/solver.hpp, which drives it.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/dae/consistency.hpp>
#include <agrad/solve/dae/ida.hpp>
#include <agrad/solve/dae/trajectory.hpp>

namespace agrad::detail {

class ida_forward {
 public:
  ida_forward(const std::string& function, dae_system& system, const dae_options& options,
              const sundials::context_handle& context)
      : function_(function),
        system_(system),
        options_(options),
        context_(context),
        y_(sundials::make_vector(context, system.states(), function)),
        yp_(sundials::make_vector(context, system.states(), function)),
        newton_(context, y_, dense_algebra(system.states()), false, function) {}

  /// Starts at a consistent state, with a sensitivity for each of the directions; of_initial of them are not parameters'.
  void start(const dae_state& s, double end, const std::vector<dae_state>& sensitivities, Eigen::Index of_initial,
             const Eigen::VectorXd& scales, dae_trajectory* trajectory) {
    fault_.clear();
    memory_.reset();
    trajectory_ = trajectory, of_initial_ = of_initial, start_ = s.t, end_ = end - s.t, evaluations_ = 0;
    if (trajectory_ != nullptr) trajectory_->start(s.t, s.y);
    sundials::map(y_) = s.y, sundials::map(yp_) = s.yp;
    if (!sensitivities.empty()) move_from_rest();
    auto made = sundials::expect_object<sundials::ida_handle>(IDACreate(context_.get()), function_, "IDACreate");
    void* memory = made.get();
    expect(IDAInit(memory, residual, 0, y_.get(), yp_.get()), "IDAInit");
    const sundials::vector_handle tolerances = sundials::make_vector(context_, s.y.size(), function_);
    sundials::map(tolerances) = options_.absolute_tolerance_forward;
    expect(IDASVtolerances(memory, options_.relative_tolerance_forward, tolerances.get()), "IDASVtolerances");
    expect(IDASetUserData(memory, this), "IDASetUserData");
    expect(IDASetLinearSolver(memory, newton_.solver.get(), newton_.matrix.get()), "IDASetLinearSolver");
    expect(IDASetJacFn(memory, jacobian), "IDASetJacFn");
    expect(IDASetStopTime(memory, end_), "IDASetStopTime");
    expect(IDASetInitStep(memory, options_.first_step), "IDASetInitStep");
    expect(IDASetMaxStep(memory, options_.max_step), "IDASetMaxStep");
    // Newton's steps end where the next one is said to be 1/100 of a tolerance, where IDA has 1/3, and the matrix is renewed where its
    // c is off by 1/10, where IDA has 1/4; see docs/design.md for what that saves.
    expect(IDASetNonlinConvCoef(memory, 0.01), "IDASetNonlinConvCoef");
    expect(IDASetDeltaCjLSetup(memory, 0.1), "IDASetDeltaCjLSetup");
    if (!sensitivities.empty()) start_sensitivities(memory, sensitivities, scales);
    memory_ = std::move(made);
    reached_ = 0;
  }

  /// Integrates to an output time and takes y and y' there.
  void advance(double to, dae_state& s) {
    for (long steps = 0; reached_ < to - start_; ++steps) {
      if (steps == options_.max_num_steps) stop(IDA_TOO_MUCH_WORK);
      step();
    }
    s.t = to;
    read(to - start_, 0, y_, s.y);
    read(to - start_, 1, yp_, s.yp);
  }

  /// Sensitivity number c where `advance` has led to.
  void sensitivity(double t, std::size_t c, Eigen::VectorXd& s) {
    expect(IDAGetSensDky1(memory_.get(), t - start_, 0, static_cast<int>(c), y_.get()), "IDAGetSensDky1");
    s = sundials::map(y_);
  }

  /// What the integration since the start cost.
  void add_costs(ode_statistics& to) {
    to.forward += read_ida_statistics(memory_.get());
    if (sensitivities_.empty()) return;
    ode_sensitivity_statistics own;
    own.rhs_evaluations = evaluations_;
    IDAGetSensNumErrTestFails(memory_.get(), &own.error_test_failures);
    IDAGetSensNumNonlinSolvConvFails(memory_.get(), &own.convergence_failures);
    to.sensitivities += own;
  }

  /// Says whether the system is singular at a state; asked when the integration has stopped.
  void diagnose_by(dae_consistency* consistency) { consistency_ = consistency; }

 private:
  static ida_forward& of(void* data) { return *static_cast<ida_forward*>(data); }
  dae_point point(double since_start, N_Vector y, N_Vector yp) const {
    return {start_ + since_start, N_VGetArrayPointer(y), N_VGetArrayPointer(yp)};
  }
  Eigen::Map<Eigen::VectorXd> map(N_Vector v) const { return {N_VGetArrayPointer(v), system_.states()}; }

  static int residual(double t, N_Vector y, N_Vector yp, N_Vector r, void* data) {
    ida_forward& self = of(data);
    return self.fault_.guard([&] {
      const dae_point at = self.point(t, y, yp);
      self.system_.residual(at, N_VGetArrayPointer(r));
      return self.fault_.expect_finite("the residual", at.t, self.map(r));
    });
  }

  static int jacobian(double t, double c, N_Vector y, N_Vector yp, N_Vector, SUNMatrix J, void* data, N_Vector, N_Vector,
                      N_Vector) {
    ida_forward& self = of(data);
    return self.fault_.guard([&] {
      const dae_point at = self.point(t, y, yp);
      const Eigen::Index n = self.system_.states();
      Eigen::Map<Eigen::MatrixXd> values(sundials::numbers::of(J).values.data(), n, n);
      self.system_.jacobian(at, 1, c, values);
      return self.fault_.expect_finite("the Jacobian", at.t, values);
    });
  }

  // ---- sensitivities

  /// Moves the initial state by less than a hundredth of its tolerances, each entry by another part. IDAS chooses its order by the
  /// errors of the states: where these are at rest all orders are as good, and sensitivities that move are left with the first
  /// (seen in SUNDIALS 7.9). The way back to rest is as fast as they are, so its errors tell which order they need.
  void move_from_rest() {
    Eigen::Map<Eigen::VectorXd> y = sundials::map(y_);
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      const double part = 0.6180339887498949 * static_cast<double>(i + 1), share = 1 + part - std::floor(part);
      const double allowed = options_.absolute_tolerance_forward[i] + options_.relative_tolerance_forward * std::abs(y[i]);
      y[i] += std::copysign(5e-3 * share * allowed, y[i]);
    }
  }

  void start_sensitivities(void* memory, const std::vector<dae_state>& initial, const Eigen::VectorXd& scales) {
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
    std::vector<sundials::vector_handle> tolerances;
    std::vector<N_Vector> pointers;
    const double relative = options_.relative_tolerance_forward;
    const Eigen::ArrayXd absolute = options_.absolute_tolerance_forward, smallest = (absolute / relative).min(1.0);
    for (const double scale : scales) {  // of x dy/dx, in the units of y; see solve/cvodes/forward.hpp
      tolerances.push_back(sundials::make_vector(context_, system_.states(), function_));
      sundials::map(tolerances.back()) = absolute / smallest.max(scale);
      pointers.push_back(tolerances.back().get());
    }
    expect(IDASensSVtolerances(memory, relative, pointers.data()), "IDASensSVtolerances");
    expect(IDASetSensErrCon(memory, SUNTRUE), "IDASetSensErrCon");
    // How algebraic sensitivities begin to move is not known, so the first step is one in which they cannot have moved far.
    const double little = 1e-2 * relative * end_, asked = options_.first_step;
    expect(IDASetInitStep(memory, asked > 0 ? std::min(asked, little) : little), "IDASetInitStep");
  }

  static int residuals(int count, double t, N_Vector y, N_Vector yp, N_Vector, N_Vector* s, N_Vector* sp, N_Vector* r,
                       void* data, N_Vector, N_Vector, N_Vector) {
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

  static constexpr int lanes = 8;
  using across = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

  void some_residuals(int first, int count, const dae_point& at, N_Vector* s, N_Vector* sp, N_Vector* r) {
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

  // ---- steps

  void step() {
    double reached = reached_;
    const int code = IDASolve(memory_.get(), end_, &reached, y_.get(), yp_.get(), IDA_ONE_STEP);
    fault_.rethrow();
    if (code < 0) stop(code);
    if (!(reached > reached_)) stop(IDA_ERR_FAIL);  // a step size that has underflowed is no success
    int order = 1;
    expect(IDAGetLastOrder(memory_.get(), &order), "IDAGetLastOrder");
    if (trajectory_ != nullptr) trajectory_->append(reached, N_VGetArrayPointer(y_.get()), order);
    reached_ = reached;
    fault_.clear();
  }

  void read(double t, int derivative, const sundials::vector_handle& by, Eigen::VectorXd& to) {
    expect(IDAGetDky(memory_.get(), t, derivative, by.get()), "IDAGetDky");
    to = sundials::map(by);
  }

  [[noreturn]] void stop(int code) {
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

  void expect(int code, const char* call) const { sundials::expect_ida(code, function_, call); }

  const std::string& function_;
  dae_system& system_;
  const dae_options& options_;
  const sundials::context_handle& context_;
  sundials::vector_handle y_, yp_;
  sundials::newton newton_;
  dae_consistency* consistency_ = nullptr;
  dae_trajectory* trajectory_ = nullptr;
  std::vector<sundials::vector_handle> sensitivities_;
  std::vector<N_Vector> columns_, slopes_;  // the same, as IDAS takes them
  Eigen::Index of_initial_ = 0;
  long evaluations_ = 0;  // of all sensitivities' residuals together
  std::vector<double> by_y_, by_yp_, by_p_, out_;
  double start_ = 0, end_ = 0, reached_ = 0;  // the latter two since the start
  ode_fault fault_;
  sundials::ida_handle memory_;
};

}  // namespace agrad::detail
