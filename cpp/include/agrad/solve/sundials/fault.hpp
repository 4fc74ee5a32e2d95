// ODE fault: stores an error inside a callback, and throws the SolverError of a stopped integration.
//
// Exceptions must not cross C code. A callback runs under `guard`, which stores an exception and makes CVODES stop; the solver
// then rethrows the exception unchanged. After a value that is not finite, CVODES tries a shorter step; the value gets into the
// message only if that does not help.
// Read next: solve/cvodes/callbacks.hpp.
#pragma once

#include <cmath>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <agrad/solve/solver/fault.hpp>
#include <agrad/solve/sundials/handles.hpp>

namespace agrad::detail {

/// Return codes of callbacks, as CVODES understands them.
inline constexpr int succeeded = 0, recoverable = 1, unrecoverable = -1;

class ode_fault {
 public:
  /// Time at which the integrator's clock is zero, for messages.
  double start = 0;

  /// Clears the stored errors, at the start and at each output time.
  void clear();

  /// Runs the body of a callback. After an exception, no body runs before `rethrow`, because CVODES ignores some return codes.
  template <class Body>
  int guard(const Body& body) noexcept {
    if (exception_) return unrecoverable;
    try {
      return body();
    } catch (...) {
      exception_ = std::current_exception();
      return unrecoverable;
    }
  }

  /// Returns a code that tells whether all entries are finite; `what` names the entries in a message ("the derivative of y").
  int expect_finite(std::string_view what, double t, const Eigen::Ref<const Eigen::MatrixXd>& values);

  /// Does the same for the entries of a matrix; place(k) is the row and the column of entry k.
  template <class Place>
  int expect_finite_numbers(std::string_view what, double t, const Eigen::Ref<const Eigen::VectorXd>& values,
                            const Place& place) {
    if (AGRAD_UNLIKELY(!values.allFinite())) {
      Eigen::Index k = 0;
      while (std::isfinite(values[k])) ++k;
      const auto [i, j] = place(static_cast<std::size_t>(k));
      return not_finite(std::string(what) + "[" + std::to_string(i) + ", " + std::to_string(j) + "]", t, values[k]);
    }
    if (t != latest_) earlier_ = latest_, latest_ = t;
    return succeeded;
  }

  void rethrow();

  /// Returns "the derivative of y[2] is nan at t = 4.1", or an empty string.
  const std::string& place() const { return place_; }

 private:
  AGRAD_COLD int not_finite(std::string_view what, double t, const Eigen::Ref<const Eigen::MatrixXd>& values);
  AGRAD_COLD int not_finite(const std::string& entry, double t, double value);

  // Without this limit, CVODES would continue with steps too short to change t, towards a point that no step can pass.
  bool may_shorten(double t) const;

  std::exception_ptr exception_;
  std::string place_;
  double latest_ = std::numeric_limits<double>::quiet_NaN();   // time of the last finite values
  double earlier_ = std::numeric_limits<double>::quiet_NaN();  // time of the last finite values before latest_
};

/// Returns the advice for a return code.
AGRAD_COLD std::string advice_for(int code);

/// Returns the state with the largest error relative to its tolerance, or -1 before the first step; the functions are the
/// integrator's.
template <class Get, class Read>
AGRAD_COLD Eigen::Index dominating_state(void* memory, const sundials::vector_handle& like, const Get& get_steps,
                                         const Read& get_weights, const Read& get_errors) {
  long steps = 0;
  get_steps(memory, &steps);
  if (steps == 0) return -1;
  const sundials::vector_handle weights(N_VClone(like.get())), errors(N_VClone(like.get()));
  if (!weights || !errors) return -1;
  if (get_weights(memory, weights.get()) != CV_SUCCESS) return -1;
  if (get_errors(memory, errors.get()) != CV_SUCCESS) return -1;
  Eigen::Index state = -1;
  sundials::map(weights).cwiseProduct(sundials::map(errors)).cwiseAbs().maxCoeff(&state);
  return state;
}
AGRAD_COLD Eigen::Index dominating_state(void* memory, const sundials::vector_handle& like);

/// Where an integration stopped, for the message.
struct ode_stop {
  std::string_view function;
  std::string_view pass;   // "" for the forward pass
  std::string_view state;  // name of the state vector in the message
  int code;
  double t;
  long steps;
  Eigen::Index dominating;
};

/// Throws the SolverError of a stopped integration: the time, the number of steps, the name of the code and advice.
[[noreturn]] AGRAD_COLD void throw_stopped(const ode_stop& stop, const ode_fault& fault, const std::string& code,
                                           const std::string& usual_advice);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/sundials/fault.ipp>
#endif
