// Time switches: the times at which a recorded right-hand side jumps or has a kink because t passes a number.
//
// A step sees nothing of a pulse `where((t > 5) & (t < 5.1), 1, 0)` between its stages. But the recorded program contains the
// comparison t < v, or a t + b < v, where v is independent of the states. The same holds for floor(t / p), t % p < d, sign(t -
// a) and the kinks of abs(t - a) and maximum(t - a, 0). Such times depend only on parameters and are known before the solve,
// so steps can end there (`tstops`). The search takes operations in the program's order and looks between the times already
// found, where the compared value is linear in t. A lookup of t in a table (np.interp, np.searchsorted) gives the times of the
// table's entries; of a polygon of constants only those of its features (solve/system/jumps/data_features.hpp). With w the
// difference of the two sides, w(s, p) = 0 gives the derivative of a time, ds = -w_p dp / w_t. Comparisons that are not linear
// in t, such as sin(t) > 0.5, are found step by step, like comparisons of states (solve/system/jumps/held_code.hpp).
// Read next: solve/posed/switched_stops.hpp, the user of this class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/program/sparse/reach.hpp>
#include <agrad/solve/system/jumps/jump_site.hpp>
#include <agrad/solve/system/moving_numbers.hpp>

namespace agrad {

class time_switches {
 public:
  /// f: a right-hand side of (t, n states, parameters).
  time_switches(const program& f, std::size_t n) : n_(n), sides_(found(f, n)) {}

  /// Reduces the points of constant polygons to their features. tolerance: the relative tolerance of the states.
  void find_features(double tolerance);

  /// Returns the number of operations whose result t decides.
  std::size_t size() const { return sites_.size(); }
  /// Returns whether one of the times depends on a parameter.
  bool move() const { return move_; }

  /// The memory of a run; each thread needs its own.
  struct room {
    workspace run;
    std::vector<double> inputs, outputs;
  };
  /// A time, the operation that it comes from, and for roundings and remainders the quotient there, for lookups the number of
  /// the entry.
  struct time {
    double at;
    std::size_t site;
    double level;
  };
  /// Returns the times between `from` and `to` for these parameters, without repeats. A time that is also given as a stop takes
  /// the stop's exact value: it follows the stop in the table of stops and has the derivative of the jump, whatever the stop's
  /// derivative is.
  std::vector<time> within(double from, double to, const double* parameters, const std::vector<double>& given, room& w) const;

  /// Returns the derivatives of a time with respect to the parameters.
  std::vector<double> gradient(const time& of, const double* parameters, room& w) const;

  /// Returns whether `gradient_along` is available.
  bool has_second() const { return sides_.first_without_tangents() == nullptr; }
  /// Returns the gradient with tangents along directions of the parameters, side by side.
  moving_vector gradient_along(const time& of, const double* parameters, int width, const double* along, room& w) const;

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  static constexpr double most_levels = 1e4;  // beyond this many periods there is no search
  enum mark : reach::marks { of_time = 1, of_state = 2, of_parameter = 4 };

  /// Returns the adjoints of the sides in the expression that is zero at a time: x, x - y, or x minus a multiple of y.
  std::vector<double> seeds(const time& of) const;

  /// Returns the program of both sides and the result of each such operation that depends only on t and parameters.
  program found(const program& f, std::size_t n);

  /// The table of a lookup.
  struct lookup_table {
    slot entries_at = 0, values_at = 0;   // the operands, which tell tables apart
    std::vector<double> entries, values;  // of a constant table, and of a polygon the values there
    std::size_t count = 0, first = 0;     // of another one, how many entries, and the place of the first among the outputs
    bool counts_equal = true;             // whether an entry is passed where the argument equals the entry
  };

  /// Returns whether a site found before passes its places at the same times: x meets y, or the entries of the table.
  bool is_known(const std::vector<slot>& outputs, const jump_site& kind, slot x, slot y, const lookup_table& table) const;

  /// Returns the operands and the side of a lookup; nothing for another operation.
  static lookup_table operands_of(const program& f, const operation& op);
  /// Returns the table of a lookup, and adds entries that depend on parameters to the outputs.
  lookup_table table_of(const program& f, const operation& op, const reach& flow, std::vector<slot>& others) const;
  /// Returns numbers of the program that are constants; none where one is not.
  static std::vector<double> constants_of(const program& f, const span& x);

  /// Returns the operations that compute those outputs.
  static program_code needed(const program& f, const std::vector<operation>& all, const std::vector<slot>& outputs);

  /// Returns the sides of all comparisons and their results at a time; the states are irrelevant.
  const std::vector<double>& run(double t, const double* parameters, room& w) const;

  /// The value that passes zero or a whole number, and x's side of zero, or how many whole numbers it has passed.
  struct position {
    double measure, index;
  };
  position at(std::size_t c, double t, const double* parameters, room& w) const;

  /// Adds the times between two others at which the operation's index changes, if its measure is linear in t between them.
  void add_roots(std::size_t c, double from, double to, const double* parameters, room& w, std::vector<time>& found) const;

  void add_entries(std::size_t c, double from, double to, double begin, double rise, const double* parameters, room& w,
                   std::vector<time>& found) const;

  /// Returns the first number at which a step function with a single step between low and high has changed.
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
  std::vector<jump_site> sites_;
  std::vector<lookup_table> tables_;  // of each site; empty for those that are no lookups
  program sides_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/jumps/time_switches.ipp>
#endif
