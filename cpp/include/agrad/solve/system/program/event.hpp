// Program event: recorded functions of time and state as an event and its reset.
//
// The inputs of both programs are t, the n states and own parameters, in this order. Read next:
// solve/record/event_operation.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/solve/system/event.hpp>

namespace agrad {

/// The recorded functions of an event; reset may be null.
struct event_programs {
  std::shared_ptr<const program> root, reset;

  /// Whether these can be the functions of an event of `states` states.
  bool fit(std::size_t states) const {
    return root->input_size() > states && root->output_size() == 1 &&
           (reset == nullptr || (reset->input_size() > states && reset->output_size() == states));
  }
  std::size_t parameters(std::size_t states) const {
    return root->input_size() - 1 - states + (reset == nullptr ? 0 : reset->input_size() - 1 - states);
  }
};

template <class Archive>
void keep(Archive& archive, event_programs& event) {
  bool resets = event.reset != nullptr;
  archive(event.root, resets);
  if (resets) archive(event.reset);
}

class program_event final : public event_function {
 public:
  program_event(event_programs from, Eigen::Index states)
      : n_(static_cast<std::size_t>(states)), root_(std::move(from.root), n_), reset_(std::move(from.reset), n_) {}

  /// Sets the parameters of the root, then of the reset. Returns how many.
  std::size_t set_parameters(const double* p) {
    root_.set(p);
    reset_.set(p + root_.parameters);
    return root_.parameters + reset_.parameters;
  }

  Eigen::Index parameters() const override { return static_cast<Eigen::Index>(root_.parameters + reset_.parameters); }

  double root(double t, const double* y) override {
    double value = 0;
    root_.run(t, y, &value, false);
    return value;
  }
  double root_gradient(double t, const double* y, double& by_t, double* by_y, double* by_parameters) override {
    double value = 0;
    const double one = 1;
    root_.run(t, y, &value, true);
    root_.back(&one, by_t, by_y, by_parameters);
    return value;
  }

  bool resets() const override { return reset_.code != nullptr; }
  void reset(double t, const double* y, double* to) override { reset_.run(t, y, to, false); }
  void reset_vjp(double t, const double* y, const double* lambda, double& t_adjoint, double* y_adjoint,
                 double* parameter_adjoint) override {
    after_.resize(n_);
    reset_.run(t, y, after_.data(), true);
    reset_.back(lambda, t_adjoint, y_adjoint, parameter_adjoint + root_.parameters);
  }
  bool has_tangents() const override { return !resets() || reset_.code->first_without_tangents(1) == nullptr; }
  void reset_tangent(const event_point& at, double* to) override {
    after_.resize(n_);
    reset_.run(at.t, at.y, after_.data(), true);
    const auto skipped = static_cast<std::ptrdiff_t>(root_.parameters) * at.width;
    reset_.along(at, at.parameter_tangents + skipped, to);
  }

  bool has_second() const override {
    return root_.code->first_without_tangents() == nullptr && (!resets() || reset_.code->first_without_tangents() == nullptr);
  }
  void root_second(const event_point& at, moving_gradient& by) override {
    by.parameters = moving_vector::zero(parameters(), at.width);
    const moving_vector one{Eigen::VectorXd::Ones(1), tangent_rows::Zero(1, at.width)};
    root_.second(at, one, 0, by);
  }
  void reset_second(const event_point& at, const moving_vector& lambda, moving_gradient& by) override {
    by.parameters = moving_vector::zero(parameters(), at.width);
    reset_.second(at, lambda, root_.parameters, by);
  }

 private:
  /// A program with its work space.
  struct part {
    part(std::shared_ptr<const program> from, std::size_t n)
        : code(std::move(from)), states(n), parameters(code ? code->input_size() - 1 - n : 0), inputs(1 + n + parameters) {}

    void set(const double* p) { std::copy_n(p, parameters, inputs.begin() + static_cast<std::ptrdiff_t>(1 + states)); }
    void run(double t, const double* y, double* to, bool with_adjoint) {
      inputs[0] = t;
      std::copy_n(y, states, inputs.begin() + 1);
      code->forward(space, inputs.data(), to, with_adjoint);
    }
    void back(const double* lambda, double& by_t, double* by_y, double* by_parameters) {
      adjoints.resize(inputs.size());
      code->reverse(space, lambda, adjoints.data());
      by_t = adjoints[0];
      std::copy_n(adjoints.begin() + 1, states, by_y);
      if (by_parameters != nullptr)
        std::copy_n(adjoints.begin() + static_cast<std::ptrdiff_t>(1 + states), parameters, by_parameters);
    }
    void along(const event_point& at, const double* parameter_tangents, double* to) {
      const auto w = static_cast<std::size_t>(at.width);
      tangents.assign(at.t_tangents, at.t_tangents + w);
      tangents.insert(tangents.end(), at.y_tangents, at.y_tangents + states * w);
      tangents.insert(tangents.end(), parameter_tangents, parameter_tangents + parameters * w);
      if (at.width == 1)
        code->tangent<1>(space, tangents.data(), to);
      else
        code->tangent<lane_count>(space, tangents.data(), to);
    }

    /// first: index of the program's first parameter among the event's parameters.
    void second(const event_point& at, const moving_vector& lambda, std::size_t first, moving_gradient& by) {
      const auto w = static_cast<std::size_t>(at.width);
      outputs.resize(code->output_size()), moved.resize(outputs.size() * w);
      run(at.t, at.y, outputs.data(), true);
      along(at, at.parameter_tangents + first * w, moved.data());
      adjoints.resize(inputs.size()), moved.resize(inputs.size() * w);
      if (at.width == 1)
        code->second<1>(space, lambda.value.data(), adjoints.data(), moved.data(), lambda.tangents.data());
      else
        code->second<lane_count>(space, lambda.value.data(), adjoints.data(), moved.data(), lambda.tangents.data());
      const auto n = static_cast<Eigen::Index>(states), m = static_cast<Eigen::Index>(parameters);
      const auto tangents_from = [&](Eigen::Index i, Eigen::Index count) {
        return tangent_rows::Map(moved.data() + static_cast<std::size_t>(i) * w, count, at.width);
      };
      by.time = {adjoints[0], tangents_from(0, 1)};
      by.state = {Eigen::VectorXd::Map(adjoints.data() + 1, n), tangents_from(1, n)};
      by.parameters.value.segment(static_cast<Eigen::Index>(first), m) = Eigen::VectorXd::Map(adjoints.data() + 1 + n, m);
      by.parameters.tangents.middleRows(static_cast<Eigen::Index>(first), m) = tangents_from(1 + n, m);
    }

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
