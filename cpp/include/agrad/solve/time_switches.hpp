// Time switches: the times at which a recorded right-hand side jumps because it compares t with a number.
//
// A pulse `where((t > 5) & (t < 5.1), 1, 0)` between two steps is not seen by either of them. But the comparison is there in the
// recorded program: t < v, or a t + b < v, where no state has a part in v. Such times are known before the solve and depend on
// parameters only, so steps can end there (`tstops`). With w the difference of the two sides, which is linear in t, w(s, p) = 0
// gives the derivative of a time: ds = -w_p dp / w_t. What is not linear in t, as sin(t) > 0.5, is left alone.
// Read next: solve/event_operation.hpp, who uses it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/program/elementwise.hpp>
#include <agrad/program/reach.hpp>
#include <agrad/solve/moving_state.hpp>

namespace agrad {

class time_switches {
 public:
  /// f: a right-hand side of (t, n states, parameters).
  time_switches(const program& f, std::size_t n) : n_(n), sides_(found(f, n)) {}

  /// How many comparisons there are.
  std::size_t size() const { return sides_.output_size() / 3; }
  /// Whether one of the times depends on a parameter.
  bool move() const { return move_; }

  /// What a run needs; one for each thread.
  struct room {
    workspace run;
    std::vector<double> inputs, outputs;
  };
  /// A time within a span, and the comparison that it comes from.
  struct time {
    double at;
    std::size_t comparison;
  };
  /// The times for these parameters between two others, each once and without those given.
  std::vector<time> within(double from, double to, const double* parameters, const std::vector<double>& given, room& w) const {
    std::vector<time> all;
    for (std::size_t c = 0; c < size(); ++c) {
      const double at = root(c, from, to, parameters, w);
      const auto is_there = [at](double other) { return std::abs(at - other) <= 32 * epsilon * std::abs(at); };
      if (!(at > from && at < to) || std::any_of(given.begin(), given.end(), is_there)) continue;
      if (std::none_of(all.begin(), all.end(), [&](const time& other) { return is_there(other.at); })) all.push_back({at, c});
    }
    return all;
  }

  /// The derivatives of a time with respect to the parameters.
  std::vector<double> gradient(const time& of, const double* parameters, room& w) const {
    run(of.at, parameters, w);
    std::vector<double> seeds(sides_.output_size(), 0.0), adjoints(sides_.input_size());
    seeds[3 * of.comparison] = 1, seeds[3 * of.comparison + 1] = -1;
    sides_.reverse(w.run, seeds.data(), adjoints.data());
    std::vector<double> by_parameters(adjoints.begin() + 1 + static_cast<std::ptrdiff_t>(n_), adjoints.end());
    for (double& each : by_parameters) each = adjoints[0] == 0 ? 0.0 : -each / adjoints[0];
    return by_parameters;
  }

  /// Whether there is the next one.
  bool has_second() const { return sides_.first_without_tangents() == nullptr; }
  /// The same derivatives with tangents, along directions of the parameters, side by side.
  moving_vector gradient_along(const time& of, const double* parameters, int width, const double* along, room& w) const {
    const auto m = static_cast<Eigen::Index>(sides_.input_size() - 1 - n_);
    const std::vector<double> first = gradient(of, parameters, w);
    const Eigen::Map<const Eigen::VectorXd> by(first.data(), m);
    tangent_rows inputs = tangent_rows::Zero(static_cast<Eigen::Index>(sides_.input_size()), width);
    inputs.bottomRows(m) = Eigen::Map<const tangent_rows>(along, m, width);
    inputs.row(0) = by.transpose() * inputs.bottomRows(m);
    std::vector<double> seeds(sides_.output_size(), 0.0), adjoints(sides_.input_size());
    seeds[3 * of.comparison] = 1, seeds[3 * of.comparison + 1] = -1;
    tangent_rows sides(static_cast<Eigen::Index>(sides_.output_size()), width), back(inputs.rows(), width);
    const auto send = [&](auto lanes) {
      sides_.template tangent<lanes()>(w.run, inputs.data(), sides.data());
      sides_.template second<lanes()>(w.run, seeds.data(), adjoints.data(), back.data());
    };
    width == 1 ? send(std::integral_constant<int, 1>{}) : send(std::integral_constant<int, lane_count>{});
    moving_vector found{by, tangent_rows::Zero(m, width)};
    if (adjoints[0] != 0) found.tangents = -(back.bottomRows(m) + by * back.row(0)) / adjoints[0];
    return found;
  }

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  enum mark : reach::marks { of_time = 1, of_state = 2, of_parameter = 4 };

  /// The program of the two sides and of the result of each comparison that only t and parameters decide.
  program found(const program& f, std::size_t n) {
    const unrolled steps(f.code());
    const std::vector<operation>& all = steps.operations();
    if (std::none_of(all.begin(), all.end(), is_comparison)) return {{}, {}, {}, {}};
    std::vector<reach::marks> marks(f.input_size(), of_parameter);
    std::fill_n(marks.begin() + 1, n, of_state);
    marks[0] = of_time;
    const reach flow(f, marks);
    std::vector<slot> outputs;
    for (const operation& op : all) {
      if (!is_comparison(op)) continue;
      for (std::size_t i = 0; i < op.count; ++i) {
        const slot x = reach::place(f.code().integers, op, 0, i), y = reach::place(f.code().integers, op, 1, i);
        const reach::marks both = flow.of(x) | flow.of(y);
        if ((both & (of_time | of_state)) != of_time || is_known(outputs, x, y)) continue;
        outputs.insert(outputs.end(), {x, y, static_cast<slot>(op.result + i)});
        move_ = move_ || (both & of_parameter) != 0;
      }
    }
    return {needed(f, all, outputs), f.image(), f.inputs(), outputs};
  }

  static bool is_comparison(const operation& op) {
    return op.what == &kernel_of_rule<less_rule>() || op.what == &kernel_of_rule<less_equal_rule>() ||
           op.what == &kernel_of_rule<greater_rule>() || op.what == &kernel_of_rule<greater_equal_rule>();
  }
  static bool is_known(const std::vector<slot>& outputs, slot x, slot y) {
    for (std::size_t k = 0; k < outputs.size(); k += 3)
      if (outputs[k] == x && outputs[k + 1] == y) return true;
    return false;
  }

  /// The operations that make those outputs.
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

  /// The sides of all comparisons and their results, at a time; states have no part in them.
  const std::vector<double>& run(double t, const double* parameters, room& w) const {
    w.inputs.assign(sides_.input_size(), 0.0), w.outputs.resize(sides_.output_size());
    w.inputs[0] = t;
    std::copy(parameters, parameters + (w.inputs.size() - 1 - n_), w.inputs.begin() + 1 + static_cast<std::ptrdiff_t>(n_));
    sides_.forward(w.run, w.inputs.data(), w.outputs.data(), true);
    return w.outputs;
  }

  /// Where a comparison turns; nan where it does not within the span, or is not linear in t.
  double root(std::size_t c, double from, double to, const double* parameters, room& w) const {
    const double none = std::numeric_limits<double>::quiet_NaN(), middle = from + (to - from) / 2;
    const auto difference = [&](double t) {
      const std::vector<double>& sides = run(t, parameters, w);
      return sides[3 * c] - sides[3 * c + 1];
    };
    const auto turned = [&](double t) { return run(t, parameters, w)[3 * c + 2] != 0; };
    const double begin = difference(from), end = difference(to), between = difference(middle);
    const bool is_linear = std::abs(between - (begin + end) / 2) <= 1e-9 * (std::abs(begin) + std::abs(end));
    if (!is_linear || begin == end || turned(from) == turned(to)) return none;
    double low = from, high = to;
    const double guess = std::clamp(from + (to - from) * (begin / (begin - end)), from, to);
    for (double away = epsilon * std::max(std::abs(guess), to - from); away < to - from; away *= 16) {
      const double before = std::max(from, guess - away), after = std::min(to, guess + away);
      if (turned(before) != turned(from) || turned(after) != turned(to)) continue;
      low = before, high = after;
      break;
    }
    const bool at_first = turned(from);
    for (double half = low + (high - low) / 2; half > low && half < high; half = low + (high - low) / 2)
      (turned(half) == at_first ? low : high) = half;
    return high;
  }

  std::size_t n_;
  bool move_ = false;  // before sides_, whose maker sets it
  program sides_;
};

}  // namespace agrad
