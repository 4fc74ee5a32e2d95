// DAE solver: F(t, y, y') = 0 of index 1 from consistent initial values to output times, and adjoints of the outputs back.
//
// IDAS integrates forwards. At t0 and at each output time the differential part of y determines the rest: it is solved for, and
// adjoints of all components are turned there into adjoints of the differential part, exactly. What remains is an adjoint
// problem for that part alone (solve/dae/ida_backward.hpp), or a product with its forward sensitivities.
// Stops divide the time into segments. The differential part goes on through a stop, the rest is solved for anew behind it, and
// IDAS starts anew. An output at a stop is behind it.
// Read next: solve/dae/consistency.hpp; solve/dae/sweep.hpp, the way back; solve/dae_adjoint.hpp, the functions that users
// call.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/dae/ida_backward.hpp>
#include <agrad/solve/dae/ida_forward.hpp>
#include <agrad/solve/dae/window.hpp>

namespace agrad {

/// Initial value problems of one system with one set of options. The system has to outlive the solver.
class dae_solver {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  dae_solver(std::string function, dae_system& system, dae_options options, dae_wanted wanted)
      : function_(std::move(function)),
        system_(system),
        options_(std::move(options)),
        wanted_(wanted),
        consistency_(function_, system_, options_) {
    check_solver_options(function_, options_, system.states());
    context_ = sundials::make_context(function_);
    forward_.emplace(function_, system_, options_, context_);
    forward_->diagnose_by(&consistency_);
  }

  dae_solver(const dae_solver&) = delete;
  dae_solver& operator=(const dae_solver&) = delete;

  /// Integrates from t0; column k of the result is y and then y' at times[k], of which the first may be t0. At the stops, of which
  /// those between t0 and the last time count, the residual may jump. Throws ShapeError, DomainError, SolverError, or what the
  /// system throws.
  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                   const std::vector<double>& times, const std::vector<double>& stops) {
    check_size(function_, "y0", static_cast<std::size_t>(y0.size()), static_cast<std::size_t>(system_.states()),
               "one for each state");
    check_dae_problem(function_, y0, yp0, t0, times);
    is_integrated_ = false, backward_.reset();
    statistics_ = {};
    stops_ = detail::dae_stops(function_, stops, t0, times.back());
    given_stops_ = static_cast<Eigen::Index>(stops.size());
    points_.clear(), segments_.clear(), trajectories_.resize(stops_.size() + 1);
    dae_state s{t0, y0, yp0};
    for (std::size_t i = 0; i <= stops_.size(); ++i) {
      begin_segment(i, i < stops_.size() ? stops_[i].time : times.back(), s);
      solve_segment(i, times, s);
    }
    is_integrated_ = true;
    return put_together();
  }
  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0, double t0,
                                   const std::vector<double>& times) {
    return integrate(y0, yp0, t0, times, {});
  }

  /// The gradient of a scalar whose derivative with respect to y and y' at times[k] is column k of `adjoints`.
  dae_gradient sweep(const Eigen::Ref<const Eigen::MatrixXd>& adjoints);

  const ode_statistics& statistics() const { return statistics_; }

 private:
  using dae_state = detail::dae_state;
  using dae_jump = detail::dae_jump;

  /// From one stop to the next: consistent states at both ends, as seen from inside.
  struct segment {
    dae_state begin, end;  // the latter only where there is another segment behind it
    double last = 0;
    std::size_t first_point = 0, points = 0;
    Eigen::MatrixXd sensitivities;  // of the differential part at the begin
  };

  bool uses_sensitivities() const { return options_.sensitivities != dae_sensitivities::adjoint; }
  bool is_differentiated() const {
    return wanted_.initial_state || wanted_.initial_slope || wanted_.initial_time || wanted_.stops || system_.parameters() > 0;
  }
  /// Whether the adjoint of the differential part at t0 is asked for.
  bool needs_initial() const {
    const bool solved_for = options_.initial == dae_initial::derivatives;
    return wanted_.initial_time || (solved_for ? wanted_.initial_slope || system_.parameters() > 0 : wanted_.initial_state);
  }
  Eigen::VectorXd slope_of_differential(const dae_state& s) const { return split_.q().transpose() * s.yp; }

  void enter(std::size_t i) {
    if (given_stops_ == 0)
      system_.open();
    else
      system_.enter(segments_[i].begin.t, segments_[i].last);
  }

  // ---- forwards

  /// From the end of the segment before, or the initial values, to the consistent state that segment number i begins with.
  void begin_segment(std::size_t i, double end, dae_state& s) {
    segments_.emplace_back();
    segments_[i].begin.t = s.t, segments_[i].last = end;
    enter(i);
    if (i == 0) {
      split_ = detail::dae_splitting(function_, system_, s.at(), options_.differential);
      consistency_.use(&split_);
      consistency_.initialise(s);
    } else {
      consistency_.restart(s);
    }
    consistency_.remember();
    consistency_.differentiate_algebraic(s, end);
    segments_[i].begin = s;
  }

  /// To the end of segment number i, with the outputs on the way: those at its begin are its own, and so is one at the last time.
  void solve_segment(std::size_t i, const std::vector<double>& times, dae_state& s) {
    segment& here = segments_[i];
    const bool is_last = i == stops_.size(), takes_time = here.last > here.begin.t;
    here.first_point = points_.size();
    start_sensitivities(i);
    if (takes_time) start(i);
    for (std::size_t k = points_.size(); k < times.size() && (is_last || times[k] < here.last); ++k)
      points_.push_back(times[k] > here.begin.t ? advanced(times[k]) : output_at_begin(i));
    here.points = points_.size() - here.first_point;
    if (!is_last) here.end = s = advanced(here.last);
    if (takes_time) forward_->add_costs(statistics_);
  }

  void start(std::size_t i) {
    const segment& here = segments_[i];
    std::vector<dae_state> tangents;
    const Eigen::Index m = system_.parameters(), count = here.sensitivities.cols(), of_parameters = std::max(count, m) - m;
    if (count > 0) consistency_.prepare(here.begin);
    for (Eigen::Index c = 0; c < count; ++c) {
      Eigen::VectorXd p = Eigen::VectorXd::Zero(m);
      if (c >= of_parameters) p[c - of_parameters] = 1;
      tangents.emplace_back();
      consistency_.tangent(here.begin, here.sensitivities.col(c), p, tangents.back());
    }
    const bool keeps_steps = is_differentiated() && !uses_sensitivities();
    forward_->start(here.begin, here.last, tangents, of_parameters, count > 0 ? scales(of_parameters) : Eigen::VectorXd(),
                    keeps_steps ? &trajectories_[i] : nullptr);
  }

  /// At the begin of a segment: of the initial values, of each stop so far, of the parameters.
  void start_sensitivities(std::size_t i) {
    if (!uses_sensitivities() || !is_differentiated()) return;
    const Eigen::Index r = split_.r(), of_initial = needs_initial() ? r : 0, m = system_.parameters();
    Eigen::MatrixXd& to = segments_[i].sensitivities;
    if (i == 0) {
      kept_.clear();
      to.setZero(r, of_initial + m);
      to.leftCols(of_initial) = Eigen::MatrixXd::Identity(r, of_initial);
      return;
    }
    const Eigen::Index added = wanted_.stops ? 1 : 0, before = at_end_.cols() - m;
    to.resize(r, before + added + m);
    to.leftCols(before) = at_end_.leftCols(before), to.rightCols(m) = at_end_.rightCols(m);
    if (wanted_.stops) to.col(before) = jump_of_slope(i);
  }
  /// How the differential part behind the stop that segment number i begins with moves with the stop.
  Eigen::VectorXd jump_of_slope(std::size_t i) const {
    return slope_of_differential(segments_[i - 1].end) - slope_of_differential(segments_[i].begin);
  }

  // As in solve/cvodes/forward.hpp: a sensitivity to x is controlled as x dy/dx, where x has a size; that of a stop is the
  // time's.
  Eigen::VectorXd scales(Eigen::Index of_parameters) const {
    const Eigen::Index r = needs_initial() ? split_.r() : 0;
    Eigen::VectorXd x =
        Eigen::VectorXd::Constant(of_parameters + system_.parameters(), segments_.back().last - segments_[0].begin.t);
    if (r > 0) x.head(r) = split_.q().transpose() * segments_[0].begin.y;
    system_.parameter_values(x.data() + of_parameters);
    return x.unaryExpr([](double v) { return v != 0 && std::abs(v) > 1e-100 && std::abs(v) < 1e100 ? std::abs(v) : 1.0; });
  }

  dae_state advanced(double t) {
    dae_state s;
    forward_->advance(t, s);
    consistency_.refine(s);
    if (system_.knows_time()) consistency_.differentiate_algebraic(s, t);
    if (uses_sensitivities() && is_differentiated()) keep_sensitivities(t);
    return s;
  }
  dae_state output_at_begin(std::size_t i) {
    if (uses_sensitivities() && is_differentiated()) kept_.push_back(segments_[i].sensitivities);
    return segments_[i].begin;
  }

  /// Of the differential part, at an output time or the end of a segment.
  void keep_sensitivities(double t) {
    at_end_.resize(split_.r(), segments_.back().sensitivities.cols());
    Eigen::VectorXd s;
    for (Eigen::Index c = 0; c < at_end_.cols(); ++c) {
      forward_->sensitivity(t, static_cast<std::size_t>(c), s);
      at_end_.col(c) = split_.q().transpose() * s;
    }
    if (t < segments_.back().last || segments_.size() > stops_.size()) kept_.push_back(at_end_);
  }

  const Eigen::MatrixXd& put_together() {
    const Eigen::Index n = split_.n();
    solution_.resize(2 * n, static_cast<Eigen::Index>(points_.size()));
    for (std::size_t k = 0; k < points_.size(); ++k) solution_.col(static_cast<Eigen::Index>(k)) << points_[k].y, points_[k].yp;
    return solution_;
  }

  // ---- backwards (solve/dae/sweep.hpp)

  dae_gradient zero_gradient(Eigen::Index times) const;
  dae_gradient masked(dae_gradient& g) const;
  Eigen::VectorXd jump_at(std::size_t k, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g);
  Eigen::VectorXd backwards(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g);
  void back_through(std::size_t i, const Eigen::Ref<const Eigen::MatrixXd>& adjoints, Eigen::VectorXd& w, dae_gradient& g);
  Eigen::VectorXd by_sensitivities(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, dae_gradient& g);
  void take_to_initial_values(const Eigen::VectorXd& of_differential, dae_gradient& g);

  std::string function_;
  detail::dae_window system_;
  dae_options options_;
  dae_wanted wanted_;
  detail::dae_consistency consistency_;
  detail::dae_splitting split_;
  sundials::context_handle context_;
  std::vector<detail::dae_trajectory> trajectories_;  // of the segments
  std::optional<detail::ida_forward> forward_;
  std::unique_ptr<detail::ida_backward> backward_;

  bool is_integrated_ = false;
  std::vector<detail::dae_stop> stops_;  // those that count; segment i ends at number i
  Eigen::Index given_stops_ = 0;
  std::vector<segment> segments_;
  std::vector<dae_state> points_;
  std::vector<Eigen::MatrixXd> kept_;  // sensitivities of the differential part at the output times
  Eigen::MatrixXd at_end_;             // and at the last time that was looked at
  Eigen::MatrixXd solution_;
  ode_statistics statistics_;
};

}  // namespace agrad

#include <agrad/solve/dae/sweep.hpp>  // IWYU pragma: keep
