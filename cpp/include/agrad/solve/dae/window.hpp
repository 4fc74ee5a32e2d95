// DAE window: a system restricted to the time between two possible jumps of its residual, and the list of these times.
//
// At the two ends of the window, the residual is evaluated at the nearest numbers inside, so a jump in time is seen from the
// window's side. solve/events/system.hpp does the same for ordinary equations.
// Where nonzero rows of dF/dy' are dependent, the window's equations are combinations T F that separate the equations without
// derivatives: a Newton matrix of a short step h would lose dF/dy beside dF/dy' / h in rounding.
// Read next: solve/dae/solver.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/solve/algebra/row_separation.hpp>
#include <agrad/solve/system/dae.hpp>

namespace agrad::detail {

class dae_window final : public dae_system {
 public:
  explicit dae_window(dae_system& inner) : inner_(inner) {}

  /// Restricts the system to the time between `begin` and `end`.
  void enter(double begin, double end) {
    const double first = std::nextafter(begin, end), last = std::nextafter(end, begin);
    const bool is_wide = first < end;
    first_ = is_wide ? first : begin, last_ = is_wide ? last : begin;
  }

  /// Lifts the restriction.
  void open() { first_ = -std::numeric_limits<double>::infinity(), last_ = std::numeric_limits<double>::infinity(); }

  /// Separates the equations, for dF/dy' at a state. Returns whether combinations take the place of the equations.
  bool separate(const Eigen::MatrixXd& by_slope) {
    rows_ = separate_rows(by_slope).combinations;
    return rows_.size() > 0;
  }
  /// Restores the equations.
  void join() { rows_.resize(0, 0); }

  Eigen::Index states() const override { return inner_.states(); }
  Eigen::Index parameters() const override { return inner_.parameters(); }
  void residual(const dae_point& at, double* r) override {
    inner_.residual(inside(at), r);
    combine(Eigen::Map<Eigen::MatrixXd>(r, states(), 1));
  }
  void jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) override {
    if (rows_.size() == 0 || of_yp == 0) {
      inner_.jacobian(inside(at), of_y, of_yp, J);
      return combine(J);
    }
    inner_.jacobian(inside(at), 0, of_yp, J);
    if (!J.allFinite()) return;
    const Eigen::MatrixXd sizes = rows_.cwiseAbs() * J.cwiseAbs();
    J = (rows_ * J).eval();
    J = (J.cwiseAbs().array() <= 1e-13 * sizes.array()).select(0, J).eval();  // the constraints, but for rounding errors
    if (of_y == 0) return;
    Eigen::MatrixXd by_state(states(), states());
    inner_.jacobian(inside(at), of_y, 0, by_state);
    combine(by_state);
    J += by_state;
  }
  void vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) override {
    if (rows_.size() == 0) return inner_.vjp(inside(at), lambda, to);
    const Eigen::VectorXd combined = rows_.transpose() * Eigen::Map<const Eigen::VectorXd>(lambda, states());
    inner_.vjp(inside(at), combined.data(), to);
  }
  void tangent(const dae_point& at, const dae_directions& along, double* r) override {
    inner_.tangent(inside(at), along, r);
    using across = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<across> all(r, states(), along.width);
    if (rows_.size() > 0 && all.allFinite()) all = (rows_ * all).eval();
  }
  bool knows_time() const override { return inner_.knows_time(); }
  std::optional<std::vector<bool>> known_derivatives() override { return inner_.known_derivatives(); }
  void parameter_values(double* p) const override { inner_.parameter_values(p); }

 private:
  dae_point inside(const dae_point& at) const { return {std::clamp(at.t, first_, last_), at.y, at.yp}; }

  /// Combines equations, unless an entry is not finite: messages name the equation as it was given.
  void combine(Eigen::Ref<Eigen::MatrixXd> equations) const {
    if (rows_.size() > 0 && equations.allFinite()) equations = (rows_ * equations).eval();
  }

  dae_system& inner_;
  Eigen::MatrixXd rows_;  // T; empty for the identity
  double first_ = -std::numeric_limits<double>::infinity(), last_ = std::numeric_limits<double>::infinity();
};

/// A time at which integration stops, and its index among the given stops.
struct dae_stop {
  double time;
  Eigen::Index index;
};

/// Returns the stops strictly between two times, in order. Of several stops at one time, only the last given one counts.
inline std::vector<dae_stop> dae_stops(const std::string& function, const std::vector<double>& given, double begin,
                                       double end) {
  check_each(function, "tstops", given.data(), given.size(), 1, must_be::finite);
  std::vector<dae_stop> stops;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] > begin && given[i] < end) stops.push_back({given[i], static_cast<Eigen::Index>(i)});
  std::stable_sort(stops.begin(), stops.end(), [](const dae_stop& a, const dae_stop& b) { return a.time < b.time; });
  const auto is_stood_for = [](const dae_stop& a, const dae_stop& b) { return a.time == b.time; };
  // std::unique keeps the first of equal entries; on reversed iterators, that is the last.
  stops.erase(stops.begin(), std::unique(stops.rbegin(), stops.rend(), is_stood_for).base());
  return stops;
}

}  // namespace agrad::detail
