// Step outputs: in which steps output times lie, and how the states there depend on the steps.
//
// An output at a step's end is the step's last state. An output within a step is the value of the method's interpolant: a sum
// of the vectors at the start of the step's record, with weights that depend only on the fraction of the step. Tangents of the
// output are the same sums of the record's tangents, and the output's adjoint is added to the adjoints of the record's vectors
// with the same weights.
// Source: Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.6.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace agrad::detail {

class step_outputs {
 public:
  static constexpr std::size_t most_vectors = 17;
  /// The weights of a record's vectors in a state within the step.
  using weights = std::array<double, most_vectors>;

  /// vectors: how many vectors the interpolant sums; 0 if steps end on all output times.
  explicit step_outputs(std::size_t vectors) : vectors_(vectors) {}

  bool are_interpolated() const { return vectors_ > 0; }
  void clear() { outputs_.clear(); }
  std::size_t size() const { return outputs_.size(); }

  void add_at_end(std::size_t step) { outputs_.push_back({step, true, {}}); }
  void add_within(std::size_t step, const weights& w) { outputs_.push_back({step, false, w}); }

  /// Returns whether the last output lies at a step's end.
  bool ends_at_end() const { return !outputs_.empty() && outputs_.back().is_at_end; }
  /// Returns whether output k lies within this step.
  bool is_within(std::size_t k, std::size_t step) const {
    return k < outputs_.size() && outputs_[k].step == step && !outputs_[k].is_at_end;
  }

  /// Sets `to` to the weighted sum of vectors of `count` numbers.
  void sum(const weights& w, const double* vectors, std::size_t count, double* to) const {
    std::fill_n(to, count, 0.0);
    for (std::size_t v = 0; v < vectors_; ++v)
      for (std::size_t i = 0; i < count; ++i) to[i] += w[v] * vectors[v * count + i];
  }

  /// Writes the states or tangents, `count` numbers each, at the outputs of a step. k is the first output of the step and
  /// becomes the first output of a later step.
  void write(std::size_t step, std::size_t& k, const double* vectors, const double* end, std::size_t count, double* to) const {
    for (; k < outputs_.size() && outputs_[k].step == step; ++k) {
      if (outputs_[k].is_at_end)
        std::copy_n(end, count, to + k * count);
      else
        sum(outputs_[k].own, vectors, count, to + k * count);
    }
  }

  /// Adds the adjoints of a step's outputs to the adjoints of the step's end and of the record's vectors. k: how many outputs
  /// lie before or in the step. adjoint(k): the `count` numbers of output k.
  /// Returns the adjoints of the vectors, or null if no output lies within the step.
  template <class Adjoint>
  double* collect(std::size_t step, std::size_t k, const Adjoint& adjoint, std::size_t count, double* end,
                  std::vector<double>& of_vectors) const {
    bool any = false;
    for (; k > 0 && outputs_[k - 1].step == step; --k) {
      const step_output& at = outputs_[k - 1];
      const double* from = adjoint(k - 1);
      if (at.is_at_end) {
        for (std::size_t i = 0; i < count; ++i) end[i] += from[i];
        continue;
      }
      if (!any) of_vectors.assign(vectors_ * count, 0.0);
      any = true;
      for (std::size_t v = 0; v < vectors_; ++v)
        for (std::size_t i = 0; i < count; ++i) of_vectors[v * count + i] += at.own[v] * from[i];
    }
    return any ? of_vectors.data() : nullptr;
  }

  /// Returns how many outputs lie before a step, where k outputs lie before or in the step.
  std::size_t before(std::size_t step, std::size_t k) const {
    while (k > 0 && outputs_[k - 1].step == step) --k;
    return k;
  }

 private:
  struct step_output {
    std::size_t step;
    bool is_at_end;
    weights own;
  };

  std::size_t vectors_;
  std::vector<step_output> outputs_;
};

}  // namespace agrad::detail
