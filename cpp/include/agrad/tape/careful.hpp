// Careful: the reverse pass that tells zeros of structure from computed ones, on tapes with an infinite partial derivative.
//
// A computed adjoint of zero times an infinite partial derivative is unknown: nan. A zero of structure, of an unused result or
// a constant factor, passes nothing on (docs/functions.md, "Zero times infinity"). Expressions give edges of structural zeros
// to index 0, and note statements whose partial derivatives are infinite (tape::note_singular); without such statements the
// ordinary loop runs, which need not know. A careful pass has a mark for each adjoint, a number other than zero where the
// adjoint is not zero by structure. Closures run once on marks instead of adjoints, and once on adjoints.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <agrad/tape/tape.hpp>

namespace agrad {

// If memory is exhausted, the statement counts as never recorded, and the next reverse pass throws std::bad_alloc.
inline void tape::note_singular_at(std::size_t end) noexcept {
  try {
    singular_.push_back(end);
  } catch (const std::bad_alloc&) {
    intact_ = std::min(intact_, statements_.size() - 1);
  }
}

namespace detail {

/// Returns a mark; the marks of indices differ, so that their differences are not zero.
inline double mark_of(std::uint32_t index) { return 1 + static_cast<double>(index * 2654435769U) / 4294967296.0; }

}  // namespace detail

/// Marks the adjoints from which a reverse pass starts.
template <int Lanes>
void tape::mark_seeds() {
  const std::size_t size = next_ * Lanes, first = first_reached_ * std::size_t{Lanes};
  stream<double>& all = marks<Lanes>();
  if (all.size() < size) {
    const std::size_t missing = size - all.size();
    all.room(missing);
    all.advance(missing);
  }
  const double* adjoints = (Lanes == 1 ? adjoints_ : lane_adjoints_).data();
  for (std::size_t i = first; i < size; ++i)
    all[i] = adjoints[i] == 0 ? 0.0 : detail::mark_of(static_cast<index_type>(i / Lanes));
}

namespace detail {

/// Propagates one adjoint of a statement carefully. `Lanes` is the distance of the adjoints of two indices.
template <int Lanes>
class careful_statement {
 public:
  careful_statement(double* adjoints, double* marks, std::uint32_t first, bool is_singular)
      : adjoints_(adjoints), marks_(marks), first_(first), is_singular_(is_singular) {}

  void propagate(const edge* begin, std::uint32_t leaves, std::uint32_t target) const {
    const double adjoint = adjoints_[std::size_t{target} * Lanes];
    if (adjoint == 0 && marks_[std::size_t{target} * Lanes] == 0) return;
    for (std::uint32_t i = leaves; i-- > 0;) add(begin[i].partial, adjoint, begin[i].index);
  }

 private:
  void add(double partial, double adjoint, std::uint32_t index) const {
    if (index < first_) index = 0;
    double& to = adjoints_[std::size_t{index} * Lanes];
    marks_[std::size_t{index} * Lanes] = mark_of(index);
    if (adjoint == 0 && is_singular_ && !std::isfinite(partial))
      to = std::numeric_limits<double>::quiet_NaN();
    else
      to += passed(partial, adjoint);
  }

  double *adjoints_, *marks_;
  std::uint32_t first_;
  bool is_singular_;
};

}  // namespace detail

/// Runs a pass, careful if a singular statement is known. After a pass that met a zero, the end of no statement is noted, so
/// that later passes are careful.
template <int Lanes>
bool tape::reverse_telling_zeros() {
  const bool is_right = reverse_scopes<Lanes>(!singular_.empty());
  if (AGRAD_UNLIKELY(!is_right)) note_singular_at(statements_.size() + 1);
  return is_right;
}

template <int Lanes>
void tape::reverse_carefully(std::size_t first, std::size_t last) {
  stream<double>& adjoints = Lanes == 1 ? adjoints_ : lane_adjoints_;
  auto singular = std::upper_bound(singular_.begin(), singular_.end(), last) - singular_.begin();
  for (std::size_t end = last; end != first;) {
    const edge* edges = statements_.data();
    while (singular > 0 && singular_[static_cast<std::size_t>(singular) - 1] > end) --singular;
    const bool is_singular = singular > 0 && singular_[static_cast<std::size_t>(singular) - 1] == end;
    const std::uint32_t leaves = edges[end - 1].note;
    if (leaves == statement::closure) {
      reverse_carefully<Lanes>(statement::closure_of(edges[--end]));
      continue;
    }
    const std::uint32_t target = edges[end - 2].note;
    end -= statement::size(leaves);
    for (int lane = 0; lane < Lanes; ++lane)
      detail::careful_statement<Lanes>(adjoints.data() + lane, marks<Lanes>().data() + lane, first_reached_, is_singular)
          .propagate(edges + end, leaves, target);
  }
}

template <int Lanes>
void tape::reverse_carefully(closure_base& closure) {
  const auto run = Lanes == 1 ? closure.reverse : closure.reverse_lanes;
  stream<double>& adjoints = Lanes == 1 ? adjoints_ : lane_adjoints_;
  struct marking {
    tape& t;
    stream<double>& adjoints;
    marking(tape& on, stream<double>& of) : t(on), adjoints(of) { change(true); }
    ~marking() { change(false); }
    void change(bool is_marking) {
      adjoints.swap(t.marks<Lanes>());
      t.is_marking_ = is_marking;
    }
  };
  {
    const marking on(*this, adjoints);
    run(closure, *this);
  }
  // A scope in the closure made the array longer that had the place of the adjoints' marks.
  if (Lanes == 1 && adjoints_.size() > next_) adjoints_.shrink(next_);
  run(closure, *this);
}

template <int Lanes>
bool adjoint_view<Lanes>::is_careful() const {
  return tape_.is_careful();
}
template <int Lanes>
void adjoint_view<Lanes>::note_zero() const {
  tape_.note_zero();
}
template <int Lanes>
bool adjoint_view<Lanes>::is_marking() const {
  return tape_.is_marking();
}
template <int Lanes>
double& adjoint_view<Lanes>::mark(std::uint32_t index) const {
  return tape_.marks<Lanes>()[std::size_t{reaches(index) ? index : 0} * Lanes + static_cast<std::size_t>(lane_)];
}
template <int Lanes>
void adjoint_view<Lanes>::add_and_mark(std::uint32_t index, double amount) const {
  at(index) += amount;
  if (AGRAD_UNLIKELY(is_careful()) && amount != 0) mark(index) = detail::mark_of(index);
}
template <int Lanes>
bool adjoint_view<Lanes>::is_computed_zero(std::uint32_t index) const {
  return reaches(index) && at(index) == 0 && mark(index) != 0;
}

}  // namespace agrad
