// Definitions of solve/one_step/store.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/store.hpp>

namespace agrad::detail {

AGRAD_INLINE std::size_t step_memory::bytes() const {
  return (time.capacity() + size.capacity() + records.capacity() + again.capacity() + linear.capacity()) * sizeof(double);
}

AGRAD_INLINE void step_store::start(std::size_t record, std::size_t states, double budget) {
  record_ = record, states_ = states;
  budget_ = budget / sizeof(double);
  time_.clear(), size_.clear(), records_.clear(), linear_.clear();
  every_ = linear_size_ = 0;
  segment_ = {0, 0};
}

AGRAD_INLINE void step_store::add(double t, double h, const double* record) {
  const std::size_t i = time_.size();
  time_.push_back(t);
  size_.push_back(h);
  if (every_ == 0) {
    if (static_cast<double>(records_.size() + record_) <= budget_) {
      reserve(record_);
      records_.insert(records_.end(), record, record + record_);
      return;
    }
    thin_records(i);
  }
  if (i % every_ != 0) return;
  records_.insert(records_.end(), record, record + states_);
  if (static_cast<double>(records_.size()) > budget_ / 2) thin_states();
}

AGRAD_INLINE double* step_store::add_linear(std::size_t count) {
  const std::size_t before = (steps() - 1) * count;
  if (count == 0 || linear_.size() != before || static_cast<double>(before + count + records_.size()) > budget_ / 2) {
    linear_.clear();
    return nullptr;
  }
  linear_size_ = count;
  linear_.resize(before + count);
  return linear_.data() + before;
}

AGRAD_INLINE void step_store::reserve(std::size_t more) {
  if (records_.size() + more <= records_.capacity()) return;
  const std::size_t least = records_.size() + more;
  const double most = std::min(2.0 * static_cast<double>(records_.capacity()), budget_);
  records_.reserve(std::max(least, static_cast<std::size_t>(most)));
}

AGRAD_INLINE void step_store::thin_records(std::size_t steps) {
  every_ = 2;
  for (std::size_t i = 0, to = 0; i < steps; i += every_, to += states_)
    std::copy_n(records_.begin() + static_cast<std::ptrdiff_t>(i * record_), states_,
                records_.begin() + static_cast<std::ptrdiff_t>(to));
  records_.resize((steps + every_ - 1) / every_ * states_);
}

AGRAD_INLINE void step_store::thin_states() {
  const std::size_t count = records_.size() / states_;
  for (std::size_t i = 0; i < count; i += 2)
    std::copy_n(records_.begin() + static_cast<std::ptrdiff_t>(i * states_), states_,
                records_.begin() + static_cast<std::ptrdiff_t>(i / 2 * states_));
  records_.resize((count + 1) / 2 * states_);
  every_ *= 2;
}

}  // namespace agrad::detail
