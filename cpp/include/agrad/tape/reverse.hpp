// Reverse: the tape's out-of-line members, above all the loop of the reverse pass.
//
// The loop reads the stream of edges from the end, statement by statement. Statements with a zero adjoint are skipped, which
// saves work; rules/passing.hpp says what happens to infinite partial derivatives.
#pragma once

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>

#include <agrad/rules/passing_arrays.hpp>
#include <agrad/tape/tape.hpp>

namespace agrad {

// The thread's own tape ends with the thread. A recording after that, in the destructor of an object with static storage, gets
// a tape that is never deleted.
inline void tape::make_current() noexcept {
  struct owner_of_thread {
    tape* own = new tape;
    ~owner_of_thread() {
      has_ended_ = true;
      if (current_ == own) current_ = nullptr;
      delete own;
    }
  };
  if (has_ended_) {
    current_ = new tape;
  } else {
    thread_local owner_of_thread own;
    current_ = own.own;
  }
}

// If memory is exhausted, recording continues over the last statements, which are then invalid.
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

// Few adjoints are set to zero in whole blocks, which end in the free space, because memset may write with a mask, and the
// processor waits where the adjoints are read at once after that.
inline void tape::make_zero_adjoints(std::size_t first) {
  if (AGRAD_UNLIKELY(intact_ != unlimited)) throw std::bad_alloc();
  if (AGRAD_UNLIKELY(next_ > std::numeric_limits<index_type>::max())) throw std::length_error("tape: more than 2^32 variables");
  constexpr std::size_t block = 4, few = 32;
  const std::size_t size = adjoints_.size(), begin = std::min(first, size);
  if (size < next_) {
    adjoints_.room(next_ - size + block);
    adjoints_.advance(next_ - size);
  }
  double* to = adjoints_.data() + begin;
  const std::size_t count = next_ - begin;
  if (count > few) {
    std::memset(to, 0, count * sizeof(double));
  } else {
    for (const double* end = to + count; to < end; to += block) std::memset(to, 0, block * sizeof(double));
  }
}

inline void tape::make_adjoints() {
  if (AGRAD_UNLIKELY(adjoints_.size() < next_ || intact_ != unlimited)) make_zero_adjoints(adjoints_.size());
}

inline void tape::clear_adjoints() {
  check_not_in_reverse_pass("grad");
  make_zero_adjoints(first_reached_);
}

inline void tape::clear_lanes() {
  check_not_in_reverse_pass("jacobian");
  make_adjoints();  // for its check, and for closures that read plain adjoints
  const std::size_t first = first_reached_, required = next_ * lanes;
  if (lane_adjoints_.size() < required) {
    const std::size_t missing = required - lane_adjoints_.size();
    lane_adjoints_.room(missing);
    lane_adjoints_.advance(missing);
  }
  std::memset(lane_adjoints_.data() + first * lanes, 0, (next_ - first) * lanes * sizeof(double));
}

// Earlier results stay valid.
inline double* tape::unread_adjoints(std::size_t n) {
  if (unread_.empty() || unread_.back().size() < n) unread_.emplace_back(n);
  return unread_.back().data();
}

namespace detail {

/// Propagates a statement's adjoint to its leaves: one number for each index, or `Lanes` numbers side by side. In an isolated
/// reverse pass, leaves before the first index of the pass are constants, whose adjoints are added to index 0.
template <int Lanes, bool Isolated>
class propagator {
 public:
  propagator(double* adjoints, std::uint32_t first) : adjoints_(adjoints), first_(first) {}

  /// Propagates the adjoint of the statement that ends before `end`; returns the statement's beginning.
  const edge* propagate(const edge* end, std::uint32_t leaves) {
    double adjoint[std::size_t{Lanes}];
    std::memcpy(adjoint, adjoints_ + std::size_t{end[-2].note} * Lanes, sizeof adjoint);
    const edge* begin = end - statement::size(leaves);
    bool any = false;
    for (const double a : adjoint) any |= a != 0;
    if (!any) return begin;
    for (std::uint32_t i = 0; i < leaves; ++i) {
      const std::uint32_t index = Isolated && begin[i].index < first_ ? 0 : begin[i].index;
      double* to = adjoints_ + std::size_t{index} * Lanes;
      add_passed_tangents<std::size_t{Lanes}>(begin[i].partial, adjoint, to);
    }
    return begin;
  }

 private:
  double* adjoints_;
  std::uint32_t first_;
};

template <bool Isolated>
class propagator<1, Isolated> {
 public:
  propagator(double* adjoints, std::uint32_t first) : adjoints_(adjoints), first_(first) {}

  const edge* propagate(const edge* end, std::uint32_t leaves) {
    // In a chain x = f(x) the adjoint written last is read next; a read from memory would take ten cycles longer.
    const std::uint32_t target = end[-2].note;
    const double adjoint = target == last_index_ ? last_ : adjoints_[target];
    if (AGRAD_UNLIKELY(!(std::abs(adjoint) <= std::numeric_limits<double>::max())))
      return propagate_infinite(end, leaves, adjoint);
    switch (leaves) {  // separate cases, so that their jumps and steps are predicted, not computed
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
  /// Propagates an adjoint that is not finite: as passed(), a partial derivative of zero passes nothing. Finite adjoints need
  /// no test for each edge.
  AGRAD_COLD const edge* propagate_infinite(const edge* end, std::uint32_t leaves, double adjoint) {
    const edge* begin = end - statement::size(leaves);
    for (std::uint32_t i = leaves; i-- > 0;)
      if (begin[i].partial != 0) add(begin[i], adjoint);
    return begin;
  }

  void add(const edge& to, double adjoint) {
    last_index_ = Isolated && to.index < first_ ? 0 : to.index;
    adjoints_[last_index_] = last_ = adjoints_[last_index_] + to.partial * adjoint;
  }

  double* adjoints_;
  std::uint32_t first_;
  std::uint32_t last_index_ = 0;
  double last_ = 0;
};

}  // namespace detail

template <int Lanes, bool Isolated>
void tape::reverse_statements_of(std::size_t first, std::size_t last) {
  stream<double>& adjoints = Lanes == 1 ? adjoints_ : lane_adjoints_;
  const edge* begin = statements_.data() + first;
  const edge* end = statements_.data() + last;
  detail::propagator<Lanes, Isolated> propagator(adjoints.data(), first_reached_);
  while (end != begin) {
    const std::uint32_t leaves = end[-1].note;
    if (leaves != statement::closure) {
      end = propagator.propagate(end, leaves);
    } else {
      // A closure may record and run a reverse pass in a scope of its own, which may move the arrays.
      const std::ptrdiff_t place = --end - begin;
      closure_base& closure = statement::closure_of(*end);
      (Lanes == 1 ? closure.reverse : closure.reverse_lanes)(closure, *this);
      begin = statements_.data() + first;
      end = begin + place;
      propagator = detail::propagator<Lanes, Isolated>(adjoints.data(), first_reached_);
    }
  }
}

template <int Lanes>
void tape::reverse_statements(std::size_t first, std::size_t last) {
  if (AGRAD_UNLIKELY(is_careful_))
    reverse_carefully<Lanes>(first, last);
  else if (first_reached_ > 1)
    reverse_statements_of<Lanes, true>(first, last);
  else
    reverse_statements_of<Lanes, false>(first, last);
}

template <int Lanes>
bool tape::reverse_scopes(bool carefully) {
  make_adjoints();
  struct under_way {
    tape& t;
    std::size_t outer;
    bool was_careful, was_marking, had_met_zero;
    under_way(tape& on, bool is)
        : t(on),
          outer(std::exchange(on.reversed_scopes_, on.scopes_.size())),
          was_careful(std::exchange(on.is_careful_, is)),
          was_marking(std::exchange(on.is_marking_, false)),
          had_met_zero(std::exchange(on.has_met_zero_, false)) {}
    ~under_way() {
      t.reversed_scopes_ = outer;
      t.is_careful_ = was_careful, t.is_marking_ = was_marking, t.has_met_zero_ = had_met_zero;
    }
  } const guard(*this, carefully);
  if (AGRAD_UNLIKELY(carefully)) mark_seeds<Lanes>();
  const level& innermost = scopes_.back();
  const std::size_t floor = innermost.floor, first = innermost.edges;
  reverse_statements<Lanes>(first, statements_.size());
  if (floor + 1 < scopes_.size() && scopes_[floor].edges != first) reverse_outer_scopes<Lanes>(floor);
  return carefully || !has_met_zero_;
}

/// Returns whether an adjoint of the indices from begin to end is not zero, or in a careful pass not zero by structure.
template <int Lanes>
bool tape::has_arrived(std::size_t begin, std::size_t end) {
  const double* adjoints = (Lanes == 1 ? adjoints_ : lane_adjoints_).data();
  const double* marks = is_careful_ ? this->marks<Lanes>().data() : adjoints;
  bool has = false;
  for (std::size_t i = begin * Lanes; i < end * Lanes; ++i) has |= (adjoints[i] != 0) | (marks[i] != 0);
  return has;
}

// From inner to outer scopes; the statements of a scope are skipped if all adjoints of the scope are zero.
template <int Lanes>
void tape::reverse_outer_scopes(std::size_t floor) {
  for (std::size_t depth = scopes_.size() - 1; depth-- > floor;) {
    const level begin = scopes_[depth], end = scopes_[depth + 1];
    if (begin.edges != end.edges && has_arrived<Lanes>(begin.next, end.next)) reverse_statements<Lanes>(begin.edges, end.edges);
  }
}

// Adjoints are counted even before the allocation.
inline std::size_t tape::bytes() const { return statements_.size() * sizeof(edge) + next_ * sizeof(double) + arena_.used(); }

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
