// Sweep: the tape's out-of-line members, first of all the loop that sends adjoints back.
//
// The loop walks three streams backwards. A zero adjoint is skipped: that saves work and keeps an infinite partial
// derivative of an unused result from turning into nan.
#pragma once

#include <algorithm>

#include <agrad/tape/tape.hpp>

namespace agrad {

inline void tape::make_current() {
  thread_local std::unique_ptr<tape> own;
  if (!own) own = std::make_unique<tape>();
  current_ = own.get();
}

inline void tape::make_adjoints() {
  if (adjoints_.size() < next_) {
    const std::size_t missing = next_ - adjoints_.size();
    adjoints_.reserve(missing);
    for (std::size_t i = 0; i < missing; ++i) adjoints_.push(0.0);
  }
}

inline void tape::sweep() {
  make_adjoints();
  std::size_t code = codes_.size(), closures = closures_.size();
  const index_type* indices = indices_.data() + indices_.size();
  const double* partials = partials_.data() + partials_.size();
  double* adjoints = adjoints_.data();
  const std::uint8_t* codes = codes_.data();
  index_type index = next_;
  while (code-- > scope_.codes) {
    const std::uint8_t what = codes[code];
    if (what == statement::closure) {
      // A closure may record and sweep a scope of its own, after which the streams may lie elsewhere.
      const std::ptrdiff_t index_place = indices - indices_.data(), partial_place = partials - partials_.data();
      const sweeper entry = closures_[--closures];
      entry.sweep(entry.object, *this);
      indices = indices_.data() + index_place;
      partials = partials_.data() + partial_place;
      adjoints = adjoints_.data();
      codes = codes_.data();
      continue;
    }
    if (what == statement::block) {
      index -= *--indices;
      continue;
    }
    const index_type target = (what & statement::increment) != 0 ? *--indices : --index;
    const int leaves = what & ~statement::increment;
    const double adjoint = adjoints[target];
    indices -= leaves;
    partials -= leaves;
    if (adjoint == 0) continue;
    for (int i = 0; i < leaves; ++i) adjoints[indices[i]] += partials[i] * adjoint;
  }
}

inline tape::mark tape::here() const {
  return {codes_.size(), indices_.size(), partials_.size(), closures_.size(), owners_.size(), next_, arena_.position(), 0};
}

inline void tape::rewind(const mark& to) {
  while (owners_.size() > to.owners) {
    const owner last = owners_.back();
    owners_.pop_back();
    last.destroy(last.object);
  }
  closures_.resize(to.closures);
  codes_.shrink(to.codes);
  indices_.shrink(to.indices);
  partials_.shrink(to.partials);
  next_ = to.next;
  if (adjoints_.size() > next_) adjoints_.shrink(next_);
  arena_.rewind(to.memory);
}

inline tape::mark tape::open_scope() {
  const mark outer = scope_;
  scope_ = here();
  open_scopes_.push_back(scope_.scope = next_scope());
  return outer;
}

inline void tape::close_scope(const mark& outer) {
  rewind(scope_);
  open_scopes_.pop_back();
  scope_ = outer;
}

inline void tape::reset() {
  rewind(scope_);
  open_scopes_.back() = scope_.scope = next_scope();
}

// Numbers are unique among all tapes, so that a variable of another tape is found out; a tape takes a batch of them at a
// time. They come round after 2^31, and the scope that is then mistaken for another has long been closed.
inline std::uint32_t tape::next_scope() {
  constexpr std::uint32_t batch = 4096;
  if (last_scope_ % batch == 0) last_scope_ = batch * scope_batches_.fetch_add(1, std::memory_order_relaxed);
  return ++last_scope_ & 0x7fffffffU;
}

inline bool tape::is_open(std::uint32_t scope) const {
  return std::find(open_scopes_.begin(), open_scopes_.end(), scope) != open_scopes_.end();
}

inline tape_statistics tape::statistics() const {
  const std::size_t used = codes_.size() + indices_.size() * sizeof(index_type) + partials_.size() * sizeof(double) +
                           next_ * sizeof(double) + arena_.used();  // adjoints count before they are made
  const std::size_t reserved = codes_.capacity() + indices_.capacity() * sizeof(index_type) +
                               (partials_.capacity() + adjoints_.capacity()) * sizeof(double) + arena_.capacity();
  return {codes_.size() - 1, partials_.size(), next_ - 1, closures_.size(), used, reserved};
}

}  // namespace agrad
