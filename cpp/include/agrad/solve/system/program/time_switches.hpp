// Time switches: the times at which a recorded right-hand side jumps or has a kink because t passes a number.
//
// A step sees nothing of a pulse `where((t > 5) & (t < 5.1), 1, 0)` between its stages. But the recorded program contains the
// comparison t < v, or a t + b < v, where v is independent of the states. The same holds for floor(t / p), t % p < d, sign(t -
// a) and the kinks of abs(t - a) and maximum(t - a, 0). Such times depend only on parameters and are known before the solve, so
// steps can end there (`tstops`). The search takes operations in the program's order and looks between the times already found,
// where the compared value is linear in t: with w the difference of the two sides, w(s, p) = 0 gives the derivative of a time,
// ds = -w_p dp / w_t. The search ignores operations that are not linear there, as sin(t) > 0.5.
// Read next: solve/record/event_operation.hpp, the user of this class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/program/machine/elementwise.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/steps.hpp>
#include <agrad/solve/system/moving_state.hpp>

namespace agrad {

class time_switches {
 public:
  /// f: a right-hand side of (t, n states, parameters).
  time_switches(const program& f, std::size_t n) : n_(n), sides_(found(f, n)) {}

  /// How many operations t decides.
  std::size_t size() const { return sites_.size(); }
  /// Whether one of the times depends on a parameter.
  bool move() const { return move_; }

  /// The memory of a run; each thread needs its own.
  struct room {
    workspace run;
    std::vector<double> inputs, outputs;
  };
  /// A time, the operation that it comes from, and for roundings and remainders the quotient there.
  struct time {
    double at;
    std::size_t site;
    double level;
  };
  /// The times between `from` and `to` for these parameters, without repeats. A time that is also given as a stop takes the
  /// stop's exact value: it follows the stop in the table of stops and has the derivative of the jump, whatever the stop's
  /// derivative is.
  std::vector<time> within(double from, double to, const double* parameters, const std::vector<double>& given, room& w) const {
    std::vector<time> all;
    std::vector<double> cuts{from};
    for (std::size_t c = 0; c < size(); ++c) {
      std::vector<time> found;
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        const bool is_last = k + 1 == cuts.size();
        add_roots(c, cuts[k], is_last ? to : std::nextafter(cuts[k + 1], from), parameters, w, found);
      }
      for (const time& each : found) {
        const auto is_there = [&](double other) { return std::abs(each.at - other) <= 32 * epsilon * std::abs(each.at); };
        if (!(each.at - from > epsilon * epsilon * (to - from) && each.at < to) ||
            std::any_of(cuts.begin(), cuts.end(), is_there))
          continue;
        const auto stop = std::find_if(given.begin(), given.end(), is_there);
        cuts.push_back(stop == given.end() ? each.at : *stop);
        all.push_back({cuts.back(), each.site, each.level});
      }
      std::sort(cuts.begin(), cuts.end());
    }
    return all;
  }

  /// The derivatives of a time with respect to the parameters.
  std::vector<double> gradient(const time& of, const double* parameters, room& w) const {
    run(of.at, parameters, w);
    std::vector<double> adjoints(sides_.input_size());
    sides_.reverse(w.run, seeds(of).data(), adjoints.data());
    std::vector<double> by_parameters(adjoints.begin() + 1 + static_cast<std::ptrdiff_t>(n_), adjoints.end());
    for (double& each : by_parameters) each = adjoints[0] == 0 ? 0.0 : -each / adjoints[0];
    return by_parameters;
  }

  /// Whether `gradient_along` is available.
  bool has_second() const { return sides_.first_without_tangents() == nullptr; }
  /// The gradient with tangents along directions of the parameters, side by side.
  moving_vector gradient_along(const time& of, const double* parameters, int width, const double* along, room& w) const {
    const auto m = static_cast<Eigen::Index>(sides_.input_size() - 1 - n_);
    const std::vector<double> first = gradient(of, parameters, w);
    const Eigen::Map<const Eigen::VectorXd> by(first.data(), m);
    tangent_rows inputs = tangent_rows::Zero(static_cast<Eigen::Index>(sides_.input_size()), width);
    inputs.bottomRows(m) = Eigen::Map<const tangent_rows>(along, m, width);
    inputs.row(0) = by.transpose() * inputs.bottomRows(m);
    std::vector<double> adjoints(sides_.input_size());
    tangent_rows sides(static_cast<Eigen::Index>(sides_.output_size()), width), back(inputs.rows(), width);
    const auto send = [&](auto lanes) {
      sides_.template tangent<lanes()>(w.run, inputs.data(), sides.data());
      sides_.template second<lanes()>(w.run, seeds(of).data(), adjoints.data(), back.data());
    };
    width == 1 ? send(std::integral_constant<int, 1>{}) : send(std::integral_constant<int, lane_count>{});
    moving_vector found{by, tangent_rows::Zero(m, width)};
    if (adjoints[0] != 0) found.tangents = -(back.bottomRows(m) + by * back.row(0)) / adjoints[0];
    return found;
  }

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  static constexpr double most_levels = 1e4;  // beyond this many periods there is no search
  enum mark : reach::marks { of_time = 1, of_state = 2, of_parameter = 4 };

  /// An operation that jumps or has a kink where x passes y, zero, a whole number, or a whole multiple of y.
  struct site {
    enum how { none, comparison, side, rounding, quotient } kind = none;
    bool has_other = false;  // y
    bool halves = false;     // at midpoints between whole numbers
    bool is_rest = false;    // the result is the remainder of the quotient
  };
  static site site_of(const operation& op) {
    const auto is = [&](auto... rules) { return ((op.what == &kernel_of_rule<decltype(rules)>()) || ...); };
    if (is(less_rule{}, less_equal_rule{}, greater_rule{}, greater_equal_rule{})) return {site::comparison, true};
    if (is(maximum_rule{}, minimum_rule{}, fmax_rule{}, fmin_rule{})) return {site::side, true};
    if (is(sign_rule{}, heaviside_rule{}, abs_rule{}, fabs_rule{})) return {site::side};
    if (is(floor_rule{}, ceil_rule{}, trunc_rule{})) return {site::rounding};
    if (is(rint_rule{}, round_rule{})) return {site::rounding, false, true};
    if (is(floor_divide_rule{})) return {site::quotient, true};
    if (is(mod_rule{}, fmod_rule{})) return {site::quotient, true, false, true};
    return {};
  }

  /// The adjoints of the sides in the expression that is zero at a time: x, x - y, or x minus a multiple of y.
  std::vector<double> seeds(const time& of) const {
    const site& here = sites_[of.site];
    std::vector<double> seeds(sides_.output_size(), 0.0);
    seeds[3 * of.site] = 1;
    seeds[3 * of.site + 1] = here.kind == site::quotient ? -of.level : here.has_other ? -1 : 0;
    return seeds;
  }

  /// The program of both sides and the result of each such operation that depends only on t and parameters.
  program found(const program& f, std::size_t n) {
    const unrolled steps(f.code());
    const std::vector<operation>& all = steps.operations();
    if (std::none_of(all.begin(), all.end(), [](const operation& op) { return site_of(op).kind != site::none; }))
      return {{}, {}, 0, {}, {}};
    std::vector<reach::marks> marks(f.input_size(), of_parameter);
    std::fill_n(marks.begin() + 1, n, of_state);
    marks[0] = of_time;
    const reach flow(f, marks);
    std::vector<slot> outputs;
    for (const operation& op : all) {
      const site kind = site_of(op);
      if (kind.kind == site::none) continue;
      for (std::size_t i = 0; i < op.count; ++i) {
        const slot x = reach::place(f.code().integers, op, 0, i);
        const slot y = kind.has_other ? reach::place(f.code().integers, op, 1, i) : x;
        const reach::marks both = flow.of(x) | flow.of(y);
        if ((both & (of_time | of_state)) != of_time || is_known(outputs, kind, x, y)) continue;
        outputs.insert(outputs.end(), {x, y, static_cast<slot>(op.result + i)});
        sites_.push_back(kind);
        move_ = move_ || (both & of_parameter) != 0;
      }
    }
    return {needed(f, all, outputs), f.fixed(), f.size(), f.inputs(), outputs};
  }

  bool is_known(const std::vector<slot>& outputs, const site& kind, slot x, slot y) const {
    for (std::size_t k = 0; k < sites_.size(); ++k)
      if (outputs[3 * k] == x && outputs[3 * k + 1] == y && sites_[k].kind == kind.kind && sites_[k].halves == kind.halves)
        return true;
    return false;
  }

  /// The operations that compute those outputs.
  static program_code needed(const program& f, const std::vector<operation>& all, const std::vector<slot>& outputs) {
    program_code code;
    code.integers = f.code().integers, code.externals = f.code().externals;
    std::vector<std::uint8_t> live(f.size(), 0);
    for (const slot s : outputs) live[s] = 1;
    for (auto op = all.rbegin(); op != all.rend(); ++op) {
      const auto begin = live.begin() + op->result;
      if (std::find(begin, begin + op->count, 1) == begin + op->count) continue;
      if (op->what->depends.how == dependence::gathered)
        for (std::size_t i = 0; i < op->count; ++i) live[code.integers[op->data + i]] = 1;
      for (std::size_t k = 0; k < op->arity; ++k)
        for (std::size_t i = 0; i < op->operands[k].count; ++i) live[reach::place(code.integers, *op, k, i)] = 1;
      code.operations.push_back(*op);
    }
    std::reverse(code.operations.begin(), code.operations.end());
    return code;
  }

  /// The sides of all comparisons and their results at a time; the states are irrelevant.
  const std::vector<double>& run(double t, const double* parameters, room& w) const {
    w.inputs.assign(sides_.input_size(), 0.0), w.outputs.resize(sides_.output_size());
    w.inputs[0] = t;
    std::copy(parameters, parameters + (w.inputs.size() - 1 - n_), w.inputs.begin() + 1 + static_cast<std::ptrdiff_t>(n_));
    sides_.forward(w.run, w.inputs.data(), w.outputs.data(), true);
    return w.outputs;
  }

  /// The value that passes zero or a whole number, and x's side of zero, or how many whole numbers it has passed.
  struct position {
    double measure, index;
  };
  position at(std::size_t c, double t, const double* parameters, room& w) const {
    const std::vector<double>& sides = run(t, parameters, w);
    const double x = sides[3 * c], y = sides[3 * c + 1], result = sides[3 * c + 2];
    const site& here = sites_[c];
    switch (here.kind) {
      case site::rounding:
        return {x, result};
      case site::quotient:
        return {x / y, here.is_rest ? std::rint((x - result) / y) : result};
      case site::side:
        return {here.has_other ? x - y : x, (here.has_other ? x >= y : x >= 0) ? 1.0 : 0.0};
      default:
        return {x - y, result};
    }
  }

  /// Adds the times between two others at which the operation's index changes, if its measure is linear in t between them.
  void add_roots(std::size_t c, double from, double to, const double* parameters, room& w, std::vector<time>& found) const {
    if (!(from < to)) return;
    const auto index = [&](double t) { return at(c, t, parameters, w).index; };
    const double begin = at(c, from, parameters, w).measure, end = at(c, to, parameters, w).measure;
    const double between = at(c, from + (to - from) / 2, parameters, w).measure, rise = end - begin;
    const bool is_linear = std::abs(between - (begin + end) / 2) <= 1e-9 * (std::abs(begin) + std::abs(end));
    if (!is_linear || !(std::abs(rise) > 0) || !std::isfinite(rise)) return;
    const bool is_one = sites_[c].kind == site::comparison || sites_[c].kind == site::side;
    const double shift = sites_[c].halves ? 0.5 : 0.0;
    const double first = is_one ? 0 : std::ceil(std::min(begin, end) - shift) - 1;
    const double last = is_one ? 0 : std::floor(std::max(begin, end) - shift) + 1;
    if (last - first > most_levels) return;
    const double spacing = is_one ? to - from : (to - from) / std::abs(rise);
    for (double level = first; level <= last; ++level) {
      const double guess = from + (to - from) * ((level + shift - begin) / rise);
      const double low = is_one ? from : std::max(from, guess - spacing / 2);
      const double high = is_one ? to : std::min(to, guess + spacing / 2);
      if (low < high && index(low) != index(high)) found.push_back({changed(index, low, high, guess), c, level + shift});
    }
  }

  /// The first number at which a step function with a single step between low and high has changed.
  template <class Index>
  static double changed(const Index& index, double low, double high, double guess) {
    const double at_first = index(low), in_the_end = index(high), width = high - low;
    for (double away = epsilon * std::max(std::abs(guess), width); away < width; away *= 16) {
      const double before = std::max(low, guess - away), after = std::min(high, guess + away);
      if (index(before) != at_first || index(after) != in_the_end) continue;
      low = before, high = after;
      break;
    }
    for (double half = low + (high - low) / 2; half > low && half < high; half = low + (high - low) / 2)
      (index(half) == at_first ? low : high) = half;
    return high;
  }

  std::size_t n_;
  bool move_ = false;  // before sides_, whose initializer sets it
  std::vector<site> sites_;
  program sides_;
};

}  // namespace agrad
