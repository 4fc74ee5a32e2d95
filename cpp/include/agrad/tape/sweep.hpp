// Sweep: the tape's out-of-line members, first of all the loop that sends adjoints back.
//
// The loop walks the stream of edges backwards, statement by statement. A zero adjoint is skipped: that saves work and keeps
// an infinite partial derivative of an unused result from turning into nan.
#pragma once

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>

#include <agrad/tape/tape.hpp>

namespace agrad {

inline void tape::make_current() noexcept {
  thread_local std::unique_ptr<tape> own;
  if (!own) own = std::make_unique<tape>();
  current_ = own.get();
}

// Without memory the recording goes on over the last statements, which are then not in order any more.
inline void tape::grow(std::size_t edges) noexcept {
  try {
    statements_.room(edges);
  } catch (const std::bad_alloc&) {
    const std::size_t capacity = statements_.capacity();
    if (capacity < edges) std::terminate();  // nothing was ever recorded, and no kilobyte is left
    statements_.shrink(capacity - edges);
    intact_ = std::min(intact_, capacity - edges);
  }
}

inline void tape::make_adjoints() {
  if (AGRAD_UNLIKELY(intact_ != unlimited)) throw std::bad_alloc();
  if (AGRAD_UNLIKELY(next_ > std::numeric_limits<index_type>::max())) throw std::length_error("tape: more than 2^32 variables");
  if (adjoints_.size() < next_) {
    const std::size_t missing = next_ - adjoints_.size();
    std::memset(adjoints_.room(missing), 0, missing * sizeof(double));
    adjoints_.advance(missing);
  }
}

inline void tape::clear_adjoints() {
  make_adjoints();
  std::memset(adjoints_.data() + scope_.next, 0, (next_ - scope_.next) * sizeof(double));
}

inline void tape::clear_lanes() {
  make_adjoints();  // for its check, and for closures that look at plain adjoints
  lane_adjoints_.shrink(0);
  const std::size_t outside = scope_.next * lanes, inside = (next_ - scope_.next) * lanes;
  double* all = lane_adjoints_.room(outside + inside);
  lane_adjoints_.advance(outside + inside);
  std::memset(all + outside, 0, inside * sizeof(double));
}

namespace detail {

/// What carries a statement's adjoint to its leaves: one number an index, or `Lanes` of them side by side.
template <int Lanes>
class carrier {
 public:
  explicit carrier(double* adjoints) : adjoints_(adjoints) {}

  /// Carries on the statement that ends before `end`; returns where it begins.
  const edge* carry(const edge* end, std::uint32_t leaves) {
    double adjoint[Lanes];
    std::memcpy(adjoint, adjoints_ + std::size_t{end[-2].note} * Lanes, sizeof adjoint);
    const edge* begin = end - statement::size(leaves);
    bool any = false;
    for (const double a : adjoint) any |= a != 0;
    if (!any) return begin;
    for (std::uint32_t i = 0; i < leaves; ++i) {
      double* to = adjoints_ + std::size_t{begin[i].index} * Lanes;
      for (int lane = 0; lane < Lanes; ++lane) to[lane] += adjoint[lane] == 0 ? 0.0 : begin[i].partial * adjoint[lane];
    }
    return begin;
  }

 private:
  double* adjoints_;
};

template <>
class carrier<1> {
 public:
  explicit carrier(double* adjoints) : adjoints_(adjoints) {}

  const edge* carry(const edge* end, std::uint32_t leaves) {
    // In a chain x = f(x) the adjoint that was written last is read next; from memory it would come ten cycles later.
    const std::uint32_t target = end[-2].note;
    const double adjoint = target == last_index_ ? last_ : adjoints_[target];
    switch (leaves) {  // the cases are there because their jumps and steps are predicted, not computed
      case 1:
        end -= 2;
        if (adjoint != 0) add(end[0], adjoint);
        return end;
      case 2:
        end -= 2;
        if (adjoint != 0) add(end[1], adjoint), add(end[0], adjoint);
        return end;
      case 3:
        end -= 3;
        if (adjoint != 0) add(end[2], adjoint), add(end[1], adjoint), add(end[0], adjoint);
        return end;
      default:
        end -= leaves;
        if (adjoint != 0)
          for (std::uint32_t i = leaves; i-- > 0;) add(end[i], adjoint);
        return end;
    }
  }

 private:
  void add(const edge& to, double adjoint) {
    last_index_ = to.index;
    adjoints_[last_index_] = last_ = adjoints_[last_index_] + to.partial * adjoint;
  }

  double* adjoints_;
  std::uint32_t last_index_ = 0;
  double last_ = 0;
};

}  // namespace detail

template <int Lanes>
void tape::sweep_back() {
  make_adjoints();
  stream<double>& adjoints = Lanes == 1 ? adjoints_ : lane_adjoints_;
  const std::size_t first = scope_.edges;
  const edge* begin = statements_.data() + first;
  const edge* end = statements_.end();
  detail::carrier<Lanes> carrier(adjoints.data());
  while (end != begin) {
    const std::uint32_t leaves = end[-1].note;
    if (leaves != statement::closure) {
      end = carrier.carry(end, leaves);
    } else {
      // A closure may record and sweep a scope of its own, after which everything may lie elsewhere.
      const std::ptrdiff_t place = --end - begin;
      closure_base& closure = statement::closure_of(*end);
      (Lanes == 1 ? closure.sweep : closure.sweep_lanes)(closure, *this);
      begin = statements_.data() + first;
      end = begin + place;
      carrier = detail::carrier<Lanes>(adjoints.data());
    }
  }
}

inline tape::mark tape::here() const { return {statements_.size(), owners_.size(), next_, arena_.position(), 0}; }

// Adjoints count before they are made.
inline std::size_t tape::bytes() const { return statements_.size() * sizeof(edge) + next_ * sizeof(double) + arena_.used(); }

inline void tape::rewind(const mark& to) {
  high_water_ = std::max(high_water_, bytes());
  while (owners_.size() > to.owners) {
    const owner last = owners_.back();
    owners_.pop_back();
    last.destroy(last.object);
  }
  statements_.shrink(to.edges);
  if (to.edges <= intact_) intact_ = unlimited;
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
  tape_statistics all{};
  for (const edge *begin = statements_.data(), *e = begin + statements_.size(); e != begin;) {
    const std::uint32_t leaves = e[-1].note;
    const bool is_closure = leaves == statement::closure;
    all.closures += is_closure ? 1 : 0;
    all.statements += is_closure ? 0 : 1;
    all.leaves += is_closure ? 0 : leaves;
    e -= is_closure ? 1 : statement::size(leaves);
  }
  all.indices = next_ - 1;
  all.bytes = bytes();
  all.bytes_high_water = std::max(high_water_, all.bytes);
  all.bytes_reserved = statements_.capacity() * sizeof(edge) +
                       (adjoints_.capacity() + lane_adjoints_.capacity()) * sizeof(double) + arena_.capacity();
  return all;
}

}  // namespace agrad
