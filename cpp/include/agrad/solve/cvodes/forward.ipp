// Definitions of solve/cvodes/forward.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/forward.hpp>

namespace agrad {

AGRAD_INLINE std::unique_ptr<cvodes_forward> cvodes_forward::along(std::string function, ode_system& system,
                                                                   const ode_forward_options& options,
                                                                   Eigen::Index directions) {
  std::unique_ptr<cvodes_forward> handle(new cvodes_forward(std::move(function), system, options, {}, 0, directions));
  handle->follows_ = true;
  return handle;
}

AGRAD_INLINE void cvodes_forward::follow(Eigen::MatrixXd initial_state, Eigen::MatrixXd parameters) {
  along_initial_ = std::move(initial_state), along_parameters_ = parameters;
  callbacks_.follow(std::move(parameters));
}

AGRAD_INLINE const Eigen::MatrixXd& cvodes_forward::integrate(const Eigen::VectorXd& y0, double t0,
                                                              const std::vector<double>& times) {
  check_size(function_, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(callbacks_.system().states()),
             "one for each state");
  check_initial_value_problem(function_, y0, t0, times);
  integrated_ = false;
  callbacks_.set_listener(false);
  y0_ = y0, t0_ = t0, times_ = times;
  since_start_ = callbacks_.start_clock(t0, times);
  log_.begin();
  start();
  const Eigen::Index n = y0.size(), count = static_cast<Eigen::Index>(times.size());
  states_.resize(n, count);
  stored_.resize(n * count, static_cast<Eigen::Index>(columns_.size()));
  for (Eigen::Index k = 0; k < count; ++k) {
    advance(since_start_[static_cast<std::size_t>(k)]);
    states_.col(k) = sundials::map(state_);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      stored_.col(static_cast<Eigen::Index>(c)).segment(k * n, n) = sundials::map(sensitivities_[c]);
  }
  read_costs();
  integrated_ = true;
  return states_;
}

AGRAD_INLINE ode_gradient cvodes_forward::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  if (!integrated_ || follows_)
    throw std::logic_error(function_ + ": reverse was called before integrate, but must come after it");
  const Eigen::Index n = states_.rows(), m = callbacks_.system().parameters();
  check_size(function_, "adjoints", static_cast<std::size_t>(adjoints.size()), static_cast<std::size_t>(states_.size()),
             "one for each state at each time");
  ode_gradient gradient{Eigen::VectorXd::Zero(n), 0.0, Eigen::VectorXd::Zero(adjoints.cols()), Eigen::VectorXd::Zero(m)};
  if (required_.times) gradient.times = slopes().cwiseProduct(adjoints).colwise().sum().transpose();
  if (columns_.empty()) return gradient;
  const Eigen::MatrixXd together = adjoints;
  const Eigen::VectorXd all = stored_.transpose() * Eigen::Map<const Eigen::VectorXd>(together.data(), together.size());
  gradient.parameters = all.tail(m);
  if (required_.initial_state) gradient.initial_state = all.head(n);
  if (required_.initial_time) gradient.initial_time = required_.initial_state ? -all.head(n).dot(first_slope_) : all[0];
  return gradient;
}

AGRAD_INLINE void cvodes_forward::tangent(const ode_directions& along, double* states) {
  if (!integrated_ || follows_)
    throw std::logic_error(function_ + ": tangent was called before integrate, but must come after it");
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Index m = callbacks_.system().parameters();
  const Eigen::Map<const rows> initial(along.initial_state.data(), states_.rows(), along.width);
  const Eigen::Map<const rows> parameters(along.parameters.data(), m, along.width);
  Eigen::Map<rows> to(states, stored_.rows(), along.width);
  to.noalias() = stored_.rightCols(m) * parameters;
  if (required_.initial_state) {
    to.noalias() += stored_.leftCols(initial_) * initial;
  } else if (required_.initial_time) {  // the only sensitivity is along -f(t0, y0)
    const double size = first_slope_.squaredNorm();
    if (size > 0) to.noalias() -= stored_.col(0) * (first_slope_.transpose() * initial / size);
  }
}

AGRAD_INLINE bool cvodes_forward::log_steps(detail::step_log* log) {
  log_.set(log);
  return true;
}

AGRAD_INLINE cvodes_forward::cvodes_forward(std::string function, ode_system& system, const ode_forward_options& options,
                                            ode_required required, Eigen::Index initial, Eigen::Index count)
    : function_(checked(function, system, options)),
      options_(options),
      required_(required),
      initial_(initial),
      callbacks_(system, initial_),
      context_(sundials::make_context(function_)),
      state_(sundials::make_vector(context_, system.states(), function_)),
      algebra_(choose_algebra(function_, system, options.algebra)),
      newton_(context_, state_, algebra_, false, function_) {
  callbacks_.evaluate_jacobian_as(function_, algebra_);
  for (Eigen::Index c = 0; c < count; ++c) {
    sensitivities_.push_back(sundials::make_vector(context_, system.states(), function_));
    columns_.push_back(sensitivities_.back().get());
  }
}

AGRAD_INLINE Eigen::Index cvodes_forward::initial_values(const ode_system& system, ode_required required) {
  return required.initial_state ? system.states() : required.initial_time ? 1 : 0;
}

AGRAD_INLINE std::string cvodes_forward::checked(const std::string& function, const ode_system& system,
                                                 const ode_forward_options& options) {
  check_solver_options(function, options, system.states());
  return function;
}

AGRAD_INLINE void cvodes_forward::start() {
  callbacks_.fault.clear();
  statistics_ = {};
  reached_ = 0;
  if (log_) log_.start(t0_, state_, options_.max_step);
  slopes_.resize(0, 0);
  sundials::map(state_) = y0_;
  if (required_.initial_time) {
    first_slope_.resize(y0_.size());
    callbacks_.system().rhs(t0_, y0_.data(), first_slope_.data());
  }
  start_sensitivities();
  if (memory_) {
    expect(CVodeReInit(memory_.get(), 0, state_.get()), "CVodeReInit");
    if (!columns_.empty()) expect(CVodeSensReInit(memory_.get(), corrector(), columns_.data()), "CVodeSensReInit");
  } else {
    set_up();
  }
  if (!columns_.empty()) set_tolerances();
  expect(CVodeSetStopTime(memory_.get(), since_start_.back()), "CVodeSetStopTime");
}

AGRAD_INLINE void cvodes_forward::start_sensitivities() {
  callbacks_.evaluations = 0;
  for (std::size_t c = 0; c < columns_.size() && follows_; ++c)
    sundials::map(sensitivities_[c]) = along_initial_.col(static_cast<Eigen::Index>(c));
  if (follows_) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) sundials::map(sensitivities_[c]).setZero();
  for (std::size_t c = 0; c < static_cast<std::size_t>(initial_); ++c) {
    if (required_.initial_state)
      sundials::map(sensitivities_[c])[static_cast<Eigen::Index>(c)] = 1;
    else
      sundials::map(sensitivities_[c]) = -first_slope_;
  }
}

AGRAD_INLINE void cvodes_forward::set_up() {
  auto handle = sundials::expect_object<sundials::cvodes_handle>(CVodeCreate(static_cast<int>(options_.method), context_.get()),
                                                                 function_, "CVodeCreate");
  void* memory = handle.get();
  const sundials::vector_handle tolerances = sundials::make_vector(context_, y0_.size(), function_);
  sundials::map(tolerances) = options_.absolute_tolerance;
  expect(CVodeInit(memory, detail::cvodes_callbacks::rhs, 0, state_.get()), "CVodeInit");
  expect(CVodeSVtolerances(memory, options_.relative_tolerance, tolerances.get()), "CVodeSVtolerances");
  expect(CVodeSetUserData(memory, callbacks_.user_data()), "CVodeSetUserData");
  expect(CVodeSetMaxNumSteps(memory, options_.max_num_steps), "CVodeSetMaxNumSteps");
  expect(CVodeSetInitStep(memory, options_.first_step), "CVodeSetInitStep");
  expect(CVodeSetMaxStep(memory, options_.max_step), "CVodeSetMaxStep");
  detail::set_newton(memory, newton_, function_);
  if (!columns_.empty()) {
    expect(CVodeSensInit(memory, static_cast<int>(columns_.size()), corrector(), detail::cvodes_sensitivities::rhs_of_all,
                         columns_.data()),
           "CVodeSensInit");
    expect(CVodeSetSensErrCon(memory, SUNTRUE), "CVodeSetSensErrCon");
  }
  memory_ = std::move(handle);
}

AGRAD_INLINE void cvodes_forward::set_tolerances() {
  const double own = options_.relative_tolerance_sensitivities, relative = own == 0 ? options_.relative_tolerance : own;
  const Eigen::VectorXd& given = options_.absolute_tolerance_sensitivities;
  const Eigen::VectorXd& absolute = given.size() == 0 ? options_.absolute_tolerance : given;
  const Eigen::VectorXd sizes = sizes_of_arguments();
  std::vector<sundials::vector_handle> tolerances;
  std::vector<N_Vector> pointers;
  const Eigen::ArrayXd smallest = (absolute.array() / relative).min(1.0);
  for (Eigen::Index c = 0; c < directions(); ++c) {
    tolerances.push_back(sundials::make_vector(context_, y0_.size(), function_));
    if (follows_)
      sundials::map(tolerances.back()) = absolute.array() * largest_part(c, sizes, smallest);
    else
      sundials::map(tolerances.back()) = absolute.array() / smallest.max(sizes[c]);
    pointers.push_back(tolerances.back().get());
  }
  expect(CVodeSensSVtolerances(memory_.get(), relative, pointers.data()), "CVodeSensSVtolerances");
}

AGRAD_INLINE Eigen::ArrayXd cvodes_forward::largest_part(Eigen::Index c, const Eigen::VectorXd& sizes,
                                                         const Eigen::ArrayXd& smallest) const {
  Eigen::VectorXd by(sizes.size());
  by << along_initial_.col(c).cwiseAbs(), along_parameters_.col(c).cwiseAbs();
  Eigen::ArrayXd largest = Eigen::ArrayXd::Zero(smallest.size());
  for (Eigen::Index j = 0; j < by.size(); ++j)
    if (by[j] != 0) largest = largest.max(by[j] / smallest.max(sizes[j]));
  return largest.max(1e-150).min(1e150);
}

AGRAD_INLINE Eigen::VectorXd cvodes_forward::sizes_of_arguments() const {
  const Eigen::Index initial = follows_ ? y0_.size() : initial_;
  Eigen::VectorXd sizes(initial + callbacks_.system().parameters());
  if (required_.initial_state || follows_)
    sizes.head(initial) = y0_;
  else
    sizes.head(initial).setConstant(since_start_.back());
  callbacks_.system().parameter_values(sizes.data() + initial);
  // Beyond these sizes, a tolerance would become zero or infinite.
  return sizes.unaryExpr([](double x) { return x != 0 && std::abs(x) > 1e-100 && std::abs(x) < 1e100 ? std::abs(x) : 1.0; });
}

AGRAD_INLINE void cvodes_forward::advance(double to) {
  double reached = 0;
  const int code = log_ ? advance_by_steps(to) : CVode(memory_.get(), to, state_.get(), &reached, CV_NORMAL);
  callbacks_.fault.rethrow();
  if (code < 0 || !detail::arrived(memory_.get(), true, to)) {
    if (log_) log_.log_stop(memory_.get());
    const detail::ode_stop at{function_, pass_of(code), "y", code, t0_, 0, detail::dominating_state(memory_.get(), state_)};
    detail::throw_stopped_at(memory_.get(), at, callbacks_.fault);
  }
  if (!columns_.empty()) expect(CVodeGetSens(memory_.get(), &reached, columns_.data()), "CVodeGetSens");
  callbacks_.fault.clear();
}

AGRAD_INLINE int cvodes_forward::advance_by_steps(double to) {
  for (long steps = 0; reached_ < to; ++steps) {
    if (steps == options_.max_num_steps) return CV_TOO_MUCH_WORK;
    const int code = CVode(memory_.get(), to, state_.get(), &reached_, CV_ONE_STEP);
    if (code < 0) return code;
    log_.log_step(memory_.get(), reached_, since_start_.back(), state_, options_.absolute_tolerance, callbacks_.system());
  }
  return CVodeGetDky(memory_.get(), to, 0, state_.get());
}

AGRAD_INLINE const char* cvodes_forward::pass_of(int code) {
  const bool of_sensitivities = code <= CV_SRHSFUNC_FAIL && code >= CV_UNREC_SRHSFUNC_ERR;
  return of_sensitivities ? "the sensitivities " : "";
}

AGRAD_INLINE const Eigen::MatrixXd& cvodes_forward::slopes() {
  if (slopes_.size() == 0) {
    Eigen::MatrixXd found(states_.rows(), states_.cols());
    for (Eigen::Index k = 0; k < found.cols(); ++k)
      callbacks_.system().rhs(times_[static_cast<std::size_t>(k)], states_.col(k).data(), found.col(k).data());
    slopes_ = std::move(found);
  }
  return slopes_;
}

AGRAD_INLINE void cvodes_forward::read_costs() {
  statistics_.forward = detail::read_statistics(memory_.get());
  if (columns_.empty()) return;
  ode_sensitivity_statistics& s = statistics_.sensitivities;
  s.rhs_evaluations = callbacks_.evaluations;
  CVodeGetSensNumErrTestFails(memory_.get(), &s.error_test_failures);
  CVodeGetSensNumNonlinSolvConvFails(memory_.get(), &s.convergence_failures);
}

}  // namespace agrad
