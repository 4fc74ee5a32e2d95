// Scopes: the tape's out-of-line members that open and end scopes and check the scopes of variables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>

#include <agrad/base/error.hpp>
#include <agrad/tape/tape.hpp>

namespace agrad {

inline void tape::rewind(const level& to) {
  high_water_ = std::max(high_water_, bytes());
  while (owners_.size() > to.owners) {
    const owner last = owners_.back();
    owners_.pop_back();
    last.destroy(last.object);
  }
  statements_.shrink(to.edges);
  while (AGRAD_UNLIKELY(!singular_.empty() && singular_.back() > to.edges)) singular_.pop_back();
  if (to.edges <= intact_) intact_ = unlimited;
  next_ = to.next;
  if (adjoints_.size() > next_) adjoints_.shrink(next_);
  arena_.rewind(to.memory);
}

inline std::size_t tape::open_scope(bool isolated) {
  const std::size_t depth = scopes_.size();
  std::size_t floor = scopes_.back().floor;
  if (isolated || depth == reversed_scopes_) {
    floor = depth;
    first_reached_ = static_cast<index_type>(next_);
  }
  number_ = next_scope();
  // The fields are written in place, because the processor waits where a copy reads what was just written in smaller pieces.
  level& inner = scopes_.emplace_back();
  inner.edges = statements_.size();
  inner.owners = owners_.size();
  inner.next = next_;
  inner.memory = arena_.position();
  inner.floor = floor;
  inner.first_reached = first_reached_;
  inner.number = number_;
  return depth;
}

inline void tape::close_scope(std::size_t depth) noexcept {
  scopes_[depth].has_ended = true;
  while (scopes_.back().has_ended) {
    rewind(scopes_.back());
    scopes_.pop_back();
  }
  number_ = scopes_.back().number;
  first_reached_ = scopes_.back().first_reached;
}

inline void tape::reset() {
  check_not_in_reverse_pass("reset");
  rewind(scopes_.back());
  number_ = scopes_.back().number = next_scope();
}

// Numbers are unique among all tapes, so that variables of other tapes are recognised; a tape reserves 4096 numbers at a time.
// Numbers repeat after 2^31, when the scope with the same number has long ended. Two libraries that do not share their tape
// count separately, from a start that depends on the address of the counter.
inline std::uint32_t tape::next_scope() {
  constexpr std::uint32_t batch = 4096, batches = 0x80000000U / batch;
  if (last_number_ % batch == 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(&scope_batches_) >> 4;
    const auto salt = static_cast<std::uint32_t>((address ^ address >> 16) * 0x9e3779b1U);
    const std::uint32_t mine = (scope_batches_.fetch_add(1, std::memory_order_relaxed) + salt) % batches;
    if (!batches_.empty() && batches_.back()[1] == mine)
      ++batches_.back()[1];
    else
      batches_.push_back({mine, mine + 1});
    last_number_ = batch * mine;
  }
  return ++last_number_ & 0x7fffffffU;
}

inline std::size_t tape::depth_of(std::uint32_t number) const {
  std::size_t depth = scopes_.size();
  while (depth > 0 && scopes_[depth - 1].number != number) --depth;
  return depth > 0 ? depth - 1 : scopes_.size();
}

inline bool tape::is_own(std::uint32_t number) const {
  const std::uint32_t batch = (number - 1) / 4096;
  return std::any_of(batches_.begin(), batches_.end(), [&](const auto& of) { return of[0] <= batch && batch < of[1]; });
}

inline void tape::fail_in_reverse_pass(const char* function) {
  throw ScopeError(std::string(function) +
                   ": a reverse pass of the innermost scope is running; open a scope in the closure first");
}

inline void tape::check_usable(const char* function, const char* what, std::uint32_t number) const {
  if (is_open(number)) return;
  const std::string start = std::string(function) + ": the " + what;
  if (is_own(number))
    throw ScopeError(start + "'s scope has ended; read adjoints before the scope, or the gradient call, returns");
  throw ScopeError(start + " is of another tape: another thread's, one that is not active, or another library's");
}

inline void tape::check_reached(const char* function, const char* what, std::uint32_t number) const {
  check_usable(function, what, number);
  if (depth_of(number) >= scopes_.back().floor) return;
  throw ScopeError(std::string(function) + ": the " + what +
                   " lies outside of an isolated scope, of a functional or a closure, in which it is constant; make a variable "
                   "of its value inside");
}

/// Returns null where the variable cannot be read, or memory for adjoints is exhausted.
inline const double* tape::find_adjoint(index_type index, std::uint32_t number) noexcept {
  try {
    tape& here = current();
    if (number != here.number_) here.check_reached("adj", "variable", number);
    return &here.adjoint(index);
  } catch (...) {
    return nullptr;
  }
}
inline void tape::fail_to_read(const char* function, index_type index, std::uint32_t number) {
  tape& here = current();
  if (number != here.number_) here.check_reached(function, "variable", number);
  here.adjoint(index);
  throw std::bad_alloc();
}

}  // namespace agrad
