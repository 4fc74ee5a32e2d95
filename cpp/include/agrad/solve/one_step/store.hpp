// Step store: keeps the records of accepted steps for the reverse pass within a given number of bytes.
//
// The store keeps the times and step sizes of all steps, and each step's first state and stages. If these exceed the budget,
// the store drops all stages and keeps only the states of every second step, every fourth step and so on; `restore` then
// computes a segment of steps again, with the same result to the bit because the step sizes are known. Beside the records there
// is room for what linearises f at the stages, while the memory lasts.
// Later solves reuse the memory of ended solves: to allocate memory from the operating system takes longer than some solves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <agrad/program/machine/spaces.hpp>

namespace agrad::detail {

/// The memory of a step store.
struct step_memory {
  std::vector<double> time, size, records, again, linear;

  void clear() { time.clear(), size.clear(), records.clear(), again.clear(), linear.clear(); }
  std::size_t bytes() const;
};

class step_store {
 public:
  step_store() = default;
  ~step_store() { memory_pool<step_memory>::release(memory_); }
  step_store(const step_store&) = delete;
  step_store& operator=(const step_store&) = delete;

  /// record: how many numbers a step's record has; the first `states` are the step's first state. budget: bytes.
  void start(std::size_t record, std::size_t states, double budget);

  std::size_t steps() const { return time_.size(); }
  double time(std::size_t i) const { return time_[i]; }
  double size(std::size_t i) const { return size_[i]; }

  /// Adds a step with its record.
  void add(double t, double h, const double* record);

  /// Returns room for `count` numbers, the same for each step, that linearise f at the stages of the step added last; null if
  /// the budget does not suffice or a step before has none.
  double* add_linear(std::size_t count);
  /// Returns these numbers of step i; null if there are none.
  const double* linear(std::size_t i) const {
    return (i + 1) * linear_size_ <= linear_.size() && linear_size_ > 0 ? linear_.data() + i * linear_size_ : nullptr;
  }

  /// The record of step i. `recompute(i, record)` computes the record of a step from the first state in the record and returns
  /// the next step's first state.
  template <class Recompute>
  const double* record(std::size_t i, const Recompute& recompute) {
    if (every_ == 0) return records_.data() + i * record_;
    if (i < segment_.first || i >= segment_.second) restore(i, recompute);
    return again_.data() + (i - segment_.first) * record_;
  }

 private:
  /// Makes room for more numbers, by doubling the memory, but not beyond the budget.
  void reserve(std::size_t more);
  /// Drops stages: keeps only the states of every second step.
  void thin_records(std::size_t steps);
  void thin_states();

  template <class Recompute>
  void restore(std::size_t i, const Recompute& recompute) {
    const std::size_t begin = i / every_ * every_, end = std::min(begin + every_, steps());
    again_.resize((end - begin) * record_);
    const double* state = records_.data() + begin / every_ * states_;
    for (std::size_t step = begin; step < end; ++step) {
      double* to = again_.data() + (step - begin) * record_;
      std::copy_n(state, states_, to);
      state = recompute(step, to);
    }
    segment_ = {begin, end};
  }

  std::size_t record_ = 0, states_ = 0, linear_size_ = 0, every_ = 0;  // every_: 0 while whole records are kept
  double budget_ = 0;
  step_memory memory_ = memory_pool<step_memory>::acquire();
  std::vector<double>&time_ = memory_.time, &size_ = memory_.size;
  std::vector<double>&records_ = memory_.records, &again_ = memory_.again, &linear_ = memory_.linear;
  std::pair<std::size_t, std::size_t> segment_{0, 0};  // the steps that `again_` holds
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/store.ipp>
#endif
