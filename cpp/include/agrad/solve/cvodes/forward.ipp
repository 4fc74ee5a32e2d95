// Definitions of solve/cvodes/forward.hpp.
#pragma once

#include <stdexcept>

#include <agrad/base/inline.hpp>
#include <agrad/solve/cvodes/forward.hpp>
#include <agrad/solve/solver/adjoint_tolerances.hpp>

namespace agrad {

AGRAD_INLINE std::unique_ptr<cvodes_forward> cvodes_forward::along(const std::string& function, ode_system& system,
                                                                   const ode_forward_options& options,
                                                                   Eigen::Index directions) {
  std::unique_ptr<cvodes_forward> handle(new cvodes_forward(function, system, options, {}, 0, directions));
  handle->follows_ = true;
  return handle;
}

AGRAD_INLINE void cvodes_forward::follow(Eigen::MatrixXd initial_state, Eigen::MatrixXd parameters) {
  along_initial_ = std::move(initial_state), along_parameters_ = std::move(parameters);
}

AGRAD_INLINE const Eigen::MatrixXd& cvodes_forward::integrate(const Eigen::VectorXd& y0, double t0,
                                                              const std::vector<double>& times) {
  begin(y0, t0, times);
  stored_.resize(y0.size() * static_cast<Eigen::Index>(times.size()), directions());
  integrate_states();
  integrated_ = true;
  if (columns_.empty()) return states_;
  ode_sensitivity_statistics& costs = statistics_.sensitivities;
  costs.rhs_evaluations = evaluations_;
  CVodeGetSensNumErrTestFails(memory_.get(), &costs.error_test_failures);
  CVodeGetSensNumNonlinSolvConvFails(memory_.get(), &costs.convergence_failures);
  return states_;
}

AGRAD_INLINE ode_gradient cvodes_forward::reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) {
  expect_integrated("reverse");
  if (follows_) throw std::logic_error(function_ + ": a solver along directions has their sensitivities alone");
  check_adjoints(adjoints);
  const Eigen::Index n = states_.rows(), m = callbacks_.parameters();
  ode_gradient gradient{Eigen::VectorXd::Zero(n), 0.0, Eigen::VectorXd::Zero(adjoints.cols()), Eigen::VectorXd::Zero(m)};
  if (required_.times) gradient.times = times_gradient(adjoints);
  if (columns_.empty()) return gradient;
  const Eigen::MatrixXd together = adjoints;
  const Eigen::VectorXd all = stored_.transpose() * Eigen::Map<const Eigen::VectorXd>(together.data(), together.size());
  gradient.parameters = all.tail(m);
  if (required_.initial_state) gradient.initial_state = all.head(n);
  if (required_.initial_time) gradient.initial_time = required_.initial_state ? -all.head(n).dot(first_slope_) : all[0];
  return gradient;
}

AGRAD_INLINE void cvodes_forward::tangent(const ode_directions& along, double* states) {
  expect_integrated("tangent");
  if (follows_) throw std::logic_error(function_ + ": a solver along directions has their sensitivities alone");
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Index m = callbacks_.parameters();
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

AGRAD_INLINE cvodes_forward::cvodes_forward(const std::string& function, ode_system& system, const ode_forward_options& options,
                                            ode_required required, Eigen::Index initial, Eigen::Index count)
    : cvodes_session(function, system, checked(function, system, options), required), initial_(initial) {
  callbacks_.sensitivities = this;
  for (Eigen::Index c = 0; c < count; ++c) {
    sensitivities_.push_back(sundials::make_vector(context_, system.states(), function_));
    columns_.push_back(sensitivities_.back().get());
  }
}

AGRAD_INLINE Eigen::Index cvodes_forward::initial_values(const ode_system& system, ode_required required) {
  return required.initial_state ? system.states() : required.initial_time ? 1 : 0;
}

AGRAD_INLINE const ode_forward_options& cvodes_forward::checked(const std::string& function, const ode_system& system,
                                                                const ode_forward_options& options) {
  check_solver_options(function, options, system.states());
  return options;
}

AGRAD_INLINE void cvodes_forward::attach(void* memory, bool is_new) {
  if (required_.initial_time) {
    first_slope_.resize(y0_.size());
    callbacks_.system().rhs(t0_, y0_.data(), first_slope_.data());
  }
  evaluations_ = 0;
  if (columns_.empty()) return;
  start_sensitivities();
  const int corrector = static_cast<int>(options_.corrector);
  if (is_new) {
    expect(CVodeSensInit(memory, static_cast<int>(columns_.size()), corrector, rhs_of_all, columns_.data()), "CVodeSensInit");
    expect(CVodeSetSensErrCon(memory, SUNTRUE), "CVodeSetSensErrCon");
  } else {
    expect(CVodeSensReInit(memory, corrector, columns_.data()), "CVodeSensReInit");
  }
  set_tolerances(memory);
}

AGRAD_INLINE void cvodes_forward::output(std::size_t k) {
  if (columns_.empty()) return;
  expect(CVodeGetSensDky(memory_.get(), since_start_[k], 0, columns_.data()), "CVodeGetSensDky");
  const Eigen::Index n = states_.rows();
  for (std::size_t c = 0; c < columns_.size(); ++c)
    stored_.col(static_cast<Eigen::Index>(c)).segment(static_cast<Eigen::Index>(k) * n, n) = sundials::map(sensitivities_[c]);
}

AGRAD_INLINE void cvodes_forward::start_sensitivities() {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Eigen::Map<Eigen::VectorXd> s = sundials::map(sensitivities_[c]);
    const auto index = static_cast<Eigen::Index>(c);
    if (follows_)
      s = along_initial_.col(index);
    else if (index >= initial_)
      s.setZero();
    else if (required_.initial_state)
      s = Eigen::VectorXd::Unit(s.size(), index);
    else
      s = -first_slope_;
  }
}

AGRAD_INLINE void cvodes_forward::set_tolerances(void* memory) {
  const auto [relative, absolute] = options_.of_sensitivities();
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
  expect(CVodeSensSVtolerances(memory, relative, pointers.data()), "CVodeSensSVtolerances");
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
  sizes = sizes.unaryExpr([](double x) { return detail::size_or_one(x); });
  // A state may start at zero in large units, of which the tolerances tell.
  if (required_.initial_state || follows_)
    sizes.head(initial) = sizes.head(initial).cwiseMax(options_.states.absolute / options_.states.relative);
  return sizes;
}

AGRAD_INLINE int cvodes_forward::rhs_of_all(int count, double t, N_Vector y, N_Vector, N_Vector* s, N_Vector* ds, void* data,
                                            N_Vector, N_Vector) {
  detail::cvodes_callbacks& of = *static_cast<detail::cvodes_callbacks*>(data);
  cvodes_forward& self = *of.sensitivities;
  return of.fault.guard([&] {
    ++self.evaluations_;
    const double* at = N_VGetArrayPointer(y);
    if (of.system().has_first_tangents())
      self.by_tangents(count, of.time(t), at, s, ds);
    else
      self.by_products(count, of.time(t), at, s, ds);
    for (int c = 0; c < count; ++c) {
      const int code = of.fault.expect_finite("the derivative of the sensitivity of y", t, self.map(ds[c]));
      if (code != detail::succeeded) return code;
    }
    return detail::succeeded;
  });
}

AGRAD_INLINE void cvodes_forward::by_tangents(int count, double t, const double* y, N_Vector* s, N_Vector* ds) {
  const auto n = static_cast<std::size_t>(callbacks_.system().states()),
             m = static_cast<std::size_t>(callbacks_.system().parameters());
  for (int first = 0; first < count; first += lanes) {
    const int columns = std::min(lanes, count - first), width = columns == 1 ? 1 : lanes;
    const auto w = static_cast<std::size_t>(width);
    of_states_.assign(n * w, 0.0), of_parameters_.assign(m * w, 0.0), of_slopes_.resize(n * w);
    for (int k = 0; k < columns; ++k) {
      across(of_states_, width, k) = map(s[first + k]);
      if (follows_)
        across(of_parameters_, width, k) = along_parameters_.col(first + k);
      else if (first + k >= initial_)
        across(of_parameters_, width, k)[first + k - initial_] = 1;
    }
    callbacks_.system().tangent(width, t, y, of_states_.data(), of_parameters_.data(), of_slopes_.data());
    for (int k = 0; k < columns; ++k) map(ds[first + k]) = across(of_slopes_, width, k);
  }
}

AGRAD_INLINE void cvodes_forward::by_products(int count, double t, const double* y, N_Vector* s, N_Vector* ds) {
  const Eigen::Index n = callbacks_.system().states(), m = callbacks_.system().parameters();
  J_.resize(n, n), by_parameters_.resize(m, n);
  callbacks_.system().jacobian(t, y, J_);
  Eigen::VectorXd lambda = Eigen::VectorXd::Zero(n);
  for (Eigen::Index i = 0; i < n && m > 0; ++i) {
    lambda[i] = 1;
    callbacks_.system().vjp(t, y, lambda.data(), nullptr, by_parameters_.col(i).data());
    lambda[i] = 0;
  }
  for (int c = 0; c < count; ++c) {
    map(ds[c]).noalias() = J_ * map(s[c]);
    if (follows_)
      map(ds[c]).noalias() += by_parameters_.transpose() * along_parameters_.col(c);
    else if (c >= initial_)
      map(ds[c]) += by_parameters_.row(c - initial_).transpose();
  }
}

AGRAD_INLINE Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>> cvodes_forward::across(std::vector<double>& of, int width,
                                                                                         int k) {
  return {of.data() + k, static_cast<Eigen::Index>(of.size()) / width, Eigen::InnerStride<>(width)};
}

}  // namespace agrad
