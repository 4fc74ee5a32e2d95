// Program event: recorded functions of time and state as an event and its reset.
//
// The inputs of both programs are t, the n states and own parameters, in this order.
// Read next: solve/record/event_problem.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/program.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad {

/// The recorded functions of an event; reset may be null.
struct event_programs {
  std::shared_ptr<const program> root, reset;

  /// Whether these can be the functions of an event of `states` states.
  bool fit(std::size_t states) const;
  std::size_t parameters(std::size_t states) const;
};

template <class Archive>
void serialize(Archive& archive, event_programs& event) {
  bool resets = event.reset != nullptr;
  archive(event.root, resets);
  if (resets) archive(event.reset);
}

class program_event final : public event_function {
 public:
  program_event(event_programs from, Eigen::Index states)
      : n_(static_cast<std::size_t>(states)), root_(std::move(from.root), n_), reset_(std::move(from.reset), n_) {}

  /// Sets the parameters of the root, then of the reset.
  AGRAD_INLINE void set_parameters(const double* p) override;

  Eigen::Index parameters() const override { return static_cast<Eigen::Index>(root_.parameters + reset_.parameters); }

  AGRAD_INLINE double root(double t, const double* y) override;
  AGRAD_INLINE double root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) override;

  bool resets() const override { return reset_.code != nullptr; }
  void reset(double t, const double* y, double* to) override { reset_.run(t, y, to, false); }
  AGRAD_INLINE void reset_vjp(double t, const double* y, const double* lambda, double& t_adjoint, double* y_adjoint,
                              double* parameter_adjoint) override;
  bool has_tangents() const override { return !resets() || reset_.code->first_without_tangents(1) == nullptr; }
  AGRAD_INLINE void reset_tangent(const event_point& at, double* to) override;

  AGRAD_INLINE bool has_second() const override;
  AGRAD_INLINE void root_second(const event_point& at, moving_gradient& by) override;
  AGRAD_INLINE void reset_second(const event_point& at, const moving_vector& lambda, moving_gradient& by) override;

 private:
  /// A program with its work space.
  struct part {
    part(std::shared_ptr<const program> from, std::size_t n)
        : code(std::move(from)), states(n), parameters(code ? code->input_size() - 1 - n : 0), inputs(1 + n + parameters) {}

    void set(const double* p) { std::copy_n(p, parameters, inputs.begin() + static_cast<std::ptrdiff_t>(1 + states)); }
    void run(double t, const double* y, double* to, bool with_adjoint);
    void back(const double* lambda, double& by_t, double* by_y, double* by_parameters);
    void along(const event_point& at, const double* parameter_tangents, double* to);

    /// first: index of the program's first parameter among the event's parameters.
    void second(const event_point& at, const moving_vector& lambda, std::size_t first, moving_gradient& by);

    std::shared_ptr<const program> code;
    std::size_t states, parameters;
    workspace space;
    std::vector<double> inputs, adjoints, tangents, outputs, moved;
  };

  std::size_t n_;
  part root_, reset_;
  std::vector<double> after_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/event.ipp>
#endif
