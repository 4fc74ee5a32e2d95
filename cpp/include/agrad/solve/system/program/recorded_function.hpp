// Recorded function: a C++ callable f(t, y, args...) that is executed once, on traced numbers, and then run as a program.
//
//     const auto f = agrad::recorded([](const auto& t, const auto& y, const auto& k) { return (-k * y).eval(); });
//     auto y = agrad::ode_tsit5(f, y0, 0.0, times, k);
//
// A program has the derivatives of f without a tape at every stage, and knows the pattern of its Jacobian. The callable keeps
// the recording for arguments of the same types, sizes and constants.
// Read next: solve/system/program/recorded_system.hpp, the system; program/machine/traced.hpp, the numbers.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/program/derive/traced_eigen.hpp>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/solve/system/functor/dual_arguments.hpp>
#include <agrad/solve/system/functor/ode.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

namespace detail {

// ---- whether two arguments have the same recording

template <class T, class = void>
inline constexpr bool is_comparable = false;
template <class T>
inline constexpr bool is_comparable<T, std::void_t<decltype(std::declval<const T&>() == std::declval<const T&>())>> = true;

template <class T>
struct sameness {
  /// Returns whether two values are the same. Zeros of other signs, and values that cannot be compared, count as different.
  static bool of(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>)
      return a == b && std::signbit(a) == std::signbit(b);
    else if constexpr (has_storage_kind<T>)
      return a.rows() == b.rows() && a.cols() == b.cols() && each(a, b);
    else if constexpr (is_comparable<T>)
      return a == b;
    else
      return false;
  }

 private:
  static bool each(const T& a, const T& b) {
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      for (Eigen::Index i = 0; i < a.rows(); ++i)
        if (!sameness<typename T::Scalar>::of(a.coeff(i, j), b.coeff(i, j))) return false;
    return true;
  }
};
template <class T>
struct sameness<std::vector<T>> {
  static bool of(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!sameness<T>::of(a[i], b[i])) return false;
    return true;
  }
};
template <class T, std::size_t N>
struct sameness<std::array<T, N>> {
  static bool of(const std::array<T, N>& a, const std::array<T, N>& b) {
    for (std::size_t i = 0; i < N; ++i)
      if (!sameness<T>::of(a[i], b[i])) return false;
    return true;
  }
};
template <class A, class B>
struct sameness<std::pair<A, B>> {
  static bool of(const std::pair<A, B>& a, const std::pair<A, B>& b) {
    return sameness<A>::of(a.first, b.first) && sameness<B>::of(a.second, b.second);
  }
};
template <class... T>
struct sameness<std::tuple<T...>> {
  static bool of(const std::tuple<T...>& a, const std::tuple<T...>& b) { return each(a, b, std::index_sequence_for<T...>{}); }

 private:
  template <std::size_t... I>
  static bool each(const std::tuple<T...>& a, const std::tuple<T...>& b, std::index_sequence<I...>) {
    return (sameness<T>::of(std::get<I>(a), std::get<I>(b)) && ...);
  }
};

/// A recording: the program of (t, y, active parameters), and its known structure.
struct recorded_program {
  std::shared_ptr<const program> f;
  std::shared_ptr<program_structure> structure;
};

/// The latest recording for arguments of each type. Threads may share this object.
class recordings {
 public:
  /// Returns the recording for `states` states and these constants; calls `record` if there is none.
  /// Key: the types of the recording's arguments, which say what is active; active scalars are zeros among the constants.
  template <class Key, class Constants, class Record>
  recorded_program find(Eigen::Index states, const Constants& constants, const Record& record) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    std::shared_ptr<entry>& latest = latest_[typeid(Key)];
    if (latest != nullptr && latest->states == states && latest->is_for(&constants)) return latest->recording;
    latest = std::make_shared<entry_for<Constants>>(states, constants, record());
    return latest->recording;
  }

 private:
  struct entry {
    Eigen::Index states;
    recorded_program recording;
    entry(Eigen::Index n, recorded_program p) : states(n), recording(std::move(p)) {}
    virtual ~entry() = default;
    virtual bool is_for(const void* constants) const = 0;
  };
  template <class Constants>
  struct entry_for final : entry {
    Constants constants;
    entry_for(Eigen::Index n, const Constants& c, recorded_program p) : entry(n, std::move(p)), constants(c) {}
    bool is_for(const void* other) const override {
      return sameness<Constants>::of(constants, *static_cast<const Constants*>(other));
    }
  };

  fork_safe_mutex mutex_;
  std::unordered_map<std::type_index, std::shared_ptr<entry>> latest_;
};

}  // namespace detail

/// The result of `recorded`. Copies share recordings.
template <class F>
class recorded_function {
 public:
  explicit recorded_function(F f) : f_(std::move(f)) {}

  const F& callable() const { return f_; }

  /// Returns the program for such arguments. It is independent of the values of variables; values of doubles are constants of
  /// the program.
  template <class... Args>
  detail::recorded_program program_for(const std::string& function, Eigen::Index states, const Args&... args) const {
    using namespace detail;
    const std::tuple<argument_value_t<Args>...> values{argument<Args>::values(args)...};
    const auto constants = with_duals<double, Args...>(
        values, [](double) { return 0.0; }, as_tuple{});
    using key = std::tuple<dual_argument_t<Args, traced>...>;
    return recordings_->template find<key>(states, constants, [&] { return record<Args...>(function, states, values); });
  }

 private:
  template <class... Args>
  detail::recorded_program record(const std::string& function, Eigen::Index states,
                                  const std::tuple<detail::argument_value_t<Args>...>& values) const {
    using namespace detail;
    static_assert(
        std::is_invocable_v<const F&, const traced&, const vector_of<traced>&, const dual_argument_t<Args, traced>&...>,
        "recorded(f): f must take its time, as its states, as a scalar of any type: const auto& t");
    recorder in;
    const auto next = [&in](double value) { return traced(in, {in.input(&value, 1), 1, 0, true}); };
    const traced t = next(unknown);
    vector_of<traced> y(states);
    for (traced& each : y) each = next(unknown);
    const auto slope = with_duals<traced, Args...>(values, next, [&](const auto&... p) {
      const auto found = f_(t, y, p...);
      return vector_of<traced>(found.template cast<traced>());
    });
    check_size(function, "the result of f", static_cast<std::size_t>(slope.size()), static_cast<std::size_t>(states),
               "one for each state");
    std::vector<slot> outputs;
    for (const traced& each : slope) outputs.push_back(each.slots_in(in).first);
    return {schedule(in, outputs), std::make_shared<program_structure>()};
  }
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();  // value of an input

  F f_;
  std::shared_ptr<detail::recordings> recordings_ = std::make_shared<detail::recordings>();
};

/// Records a right-hand side, for derivatives without the tape: faster from a handful of states on, and the more often the
/// result is used, because the result keeps the recording.
///
/// f: f(t, y, args...) for scalars of any type, including t (const auto& t). f must not branch on these values, which does
///   not compile; `select` chooses. Captured values are constants of the recording.
///
/// Returns a callable for all functions of agrad that take a right-hand side.
template <class F>
recorded_function<F> recorded(F f) {
  return recorded_function<F>(std::move(f));
}

}  // namespace agrad
