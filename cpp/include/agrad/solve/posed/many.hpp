// Posed many: several posed solves side by side, in threads, as one.
//
// The argument and the result are those of the parts, one after the other. Each part reads and writes its own numbers, so
// values and derivatives have the same bits for any number of threads.
// Read next: base/threads.hpp; solve/ode_many.hpp, the user of this class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/threads.hpp>
#include <agrad/solve/posed/posed_solve.hpp>

namespace agrad {

class posed_many final : public posed_solve {
 public:
  /// threads: the most threads; 0 means one for each processor.
  posed_many(std::vector<std::shared_ptr<posed_solve>> parts, std::size_t threads)
      : parts_(std::move(parts)), threads_(threads) {
    for (const auto& part : parts_) arguments_.push_back(argument_.add("argument", part->argument().size()).begin);
  }

  void solve(const double* x) override {
    each([&](posed_solve& part, std::size_t i) { part.solve(x + arguments_[i]); });
    result_ = {}, results_.clear();
    for (const auto& part : parts_) results_.push_back(result_.add("result", part->result().size()).begin);
  }
  void read(double* y) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->read(y + results_[i]);
  }

  void reverse(const double* y_adjoint, double* x_adjoint) override {
    each([&](posed_solve& part, std::size_t i) { part.reverse(y_adjoint + results_[i], x_adjoint + arguments_[i]); });
  }

  tangent_kind tangents() const override {
    tangent_kind all{2, true};
    for (const auto& part : parts_) {
      const tangent_kind of = part->tangents();
      all = {std::min(all.order, of.order), all.match && of.match};
    }
    return all;
  }
  void tangent(int width, const double* x_tangent, double* y_tangent) override {
    const auto w = static_cast<std::size_t>(width);
    each([&](posed_solve& part, std::size_t i) {
      part.tangent(width, x_tangent + arguments_[i] * w, y_tangent + results_[i] * w);
    });
  }
  void second(int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) override {
    const auto w = static_cast<std::size_t>(width);
    each([&](posed_solve& part, std::size_t i) {
      part.second(width, y_adjoint + results_[i], y_adjoint_tangent + results_[i] * w, x_adjoint + arguments_[i],
                  x_adjoint_tangent + arguments_[i] * w);
    });
  }

  ode_statistics statistics() const override {
    ode_statistics all;
    for (const auto& part : parts_) all += part->statistics();
    return all;
  }

 private:
  template <class Use>
  void each(const Use& use) {
    run_in_threads(
        parts_.size(), threads_, [&](std::size_t i) { use(*parts_[i], i); }, [] { return 0; });
  }

  std::vector<std::shared_ptr<posed_solve>> parts_;
  std::size_t threads_;
  std::vector<std::size_t> arguments_, results_;  // where the parts' numbers begin
};

}  // namespace agrad
