// Tape: the record of a computation for the reverse pass.
//
// Scalar statements are data, ranges of edges in one stream (tape/statement.hpp); every larger operation is a closure in the
// arena, called at its place in the stream. An index names an adjoint, an entry of one array that is allocated when a reverse
// pass begins. tape/README.md explains the tape on one page.
// Read next: tape/var.hpp, the scalar that writes statements; tape/scope.hpp, how memory is released.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/tape/arena.hpp>
#include <agrad/tape/statement.hpp>
#include <agrad/tape/stream.hpp>

#if defined(__GNUC__) || defined(__clang__)
#define AGRAD_VISIBLE [[gnu::visibility("default")]]
#else
#define AGRAD_VISIBLE
#endif

namespace agrad {

class var;
class tape;
template <class T>
class matrix;

/// Gives a closure access to adjoints in a reverse pass: `adjoint[x]` is a reference for a var, a map for a `matrix<var>`. A
/// reverse pass may have several lanes (rows of a Jacobian); the adjoints of one lane then lie `Lanes` numbers apart, and a
/// closure is called for one lane after the other.
template <int Lanes>
class adjoint_view {
 public:
  explicit adjoint_view(tape& on, int lane = 0);
  double& operator[](const var& x) const;
  double& at(std::uint32_t index) const;
  /// Returns whether the variable of an index is part of the pass.
  bool reaches(std::uint32_t index) const { return index >= first_; }
  auto operator[](const matrix<var>& x) const;

  /// Returns whether the pass tells zeros of structure from computed ones (tape/careful.hpp).
  bool is_careful() const;
  /// Returns whether the adjoints are marks: numbers other than zero where an adjoint is not zero by structure. A closure then
  /// marks the operands as if derivatives that were computed as zero were one.
  bool is_marking() const;
  /// Notes that an adjoint of zero met an infinite derivative, so that the pass may have to be careful.
  void note_zero() const;
  /// Adds to an adjoint, for closures that do nothing while marking: in a careful pass the adjoint is marked unless it is zero.
  void add_and_mark(std::uint32_t index, double amount) const;
  /// Returns, in a careful pass, whether an adjoint of zero was computed.
  bool is_computed_zero(std::uint32_t index) const;

 private:
  double& mark(std::uint32_t index) const;

  tape& tape_;
  std::uint32_t first_;  // first index of the pass; earlier variables are constant, and their adjoints are dropped
  int lane_;
};

/// The contents of a tape: scalar statements and their leaves, variables, closures; bytes in use, the greatest number of bytes
/// ever in use, and bytes allocated from the system.
struct tape_statistics {
  std::size_t statements, leaves, indices, closures, bytes, bytes_high_water, bytes_reserved;
};

// The class is visible from every library of a program, whatever -fvisibility says, so that all libraries record on one tape.
class AGRAD_VISIBLE tape {
 public:
  using index_type = std::uint32_t;
  /// Number of adjoints of an index in `reverse_lanes`: rows of a Jacobian in one reverse pass.
  static constexpr int lanes = 8;

  tape() {
    std::memset(adjoints_.room(1), 0, sizeof(double)), adjoints_.advance(1);  // index 0 is the shared sink of constants
    scopes_.push_back({});
    scopes_[0].next = 1;
    number_ = scopes_[0].number = next_scope();
  }
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;
  ~tape() { rewind(scopes_[0]); }

  /// Returns the tape on which this thread records: the innermost active tape, otherwise the thread's own.
  static tape& current() {
    if (AGRAD_UNLIKELY(current_ == nullptr)) make_current();
    return *current_;
  }

  // ---- recording -----------------------------------------------------------------------------------------------------

  /// Returns a fresh index without a statement, for an independent variable or the result of a closure.
  index_type leaf() { return static_cast<index_type>(next_++); }

  /// Returns the first of n fresh consecutive indices.
  index_type leaves(std::size_t n) {
    const std::size_t first = next_;
    next_ += n;
    return static_cast<index_type>(first);
  }

  /// Appends a statement: the reverse pass adds the target's adjoint times partials[i] to the adjoint of indices[i]. The target
  /// is a fresh index (`leaf`) or, for an increment, an existing index.
  template <std::size_t N>
  AGRAD_ALWAYS_INLINE void record(index_type target, const std::array<double, N>& partials,
                                  const std::array<index_type, N>& indices) {
    static_assert(N <= statement::max_leaves, "one statement has too many variables; assign a part of it to a var first");
    if constexpr (N > 0) write(target, partials, indices, std::make_index_sequence<statement::size(N)>{});
  }

  /// Stores a callable `f(adjoint)`, which the reverse pass calls when the pass reaches this place. Captures that own memory
  /// are destroyed when the tape rewinds.
  template <class F>
  void push(F f) {
    closure_base* stored = store(stored_closure<F>({reverse_closure<F, 1>, reverse_closure<F, lanes>}, std::move(f)));
    *statements_.room(1) = statement::of_closure(stored);
    statements_.advance(1);
  }

  /// Moves an object into the arena, where the object is valid until the tape rewinds below this place.
  template <class T>
  T* store(T object) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return new (arena_.allocate(sizeof(T))) T(std::move(object));
    } else {
      owners_.push_back({nullptr, [](void*) {}});  // first, so that an exception leaves no object without an owner
      T* stored = new (arena_.allocate(sizeof(T))) T(std::move(object));
      owners_.back() = {stored, [](void* p) { static_cast<T*>(p)->~T(); }};
      return stored;
    }
  }

  arena& memory() { return arena_; }

  // ---- the reverse pass ----------------------------------------------------------------------------------------------
  //
  // A reverse pass (`reverse`) covers all open scopes, down to the innermost isolated scope. A scope that a closure opens
  // during a reverse pass is isolated from the statements of that pass.

  /// Sets the adjoints of all variables in a reverse pass to zero. Throws ScopeError in a closure that has not opened a scope.
  void clear_adjoints();
  /// Adds to the adjoint from which a reverse pass starts. Variables outside of the pass are constant.
  void seed(index_type index, double amount) {
    if (index >= first_reached()) adjoint(index) += amount;
  }
  /// Propagates the adjoints from the last statement to the first one of the pass. If the result is false, a closure met a zero
  /// at an infinite derivative; the same pass, run once more from the same seeds, will then be careful (tape/careful.hpp).
  bool reverse() { return reverse_telling_zeros<1>(); }
  /// Runs a whole pass from one variable: the adjoints become derivatives of it.
  void differentiate(index_type index) {
    do {
      clear_adjoints();
      seed(index, 1);
    } while (AGRAD_UNLIKELY(!reverse()));
  }
  /// Does the same within a function of agrad of several operations, where a zero that meets an infinite slope is zero.
  void reverse_within_function() { reverse_scopes<1>(false); }
  /// Notes that a partial derivative of the last statement is infinite without an overflow.
  AGRAD_COLD void note_singular() noexcept { note_singular_at(statements_.size()); }
  void note_zero() { has_met_zero_ = true; }
  bool is_careful() const { return is_careful_; }
  bool is_marking() const { return is_marking_; }
  /// Returns the marks of a careful reverse pass, `Lanes` for each index.
  template <int Lanes>
  stream<double>& marks() {
    return Lanes == 1 ? marks_ : lane_marks_;
  }
  /// Returns the index of the first variable in a reverse pass.
  index_type first_reached() const { return first_reached_; }
  /// Returns the index after the last.
  std::size_t end_index() const { return next_; }

  /// Returns the adjoint of an index, to read; valid until the next statement is recorded.
  double& adjoint(index_type index) {
    if (AGRAD_UNLIKELY(index >= adjoints_.size())) make_adjoints();
    return adjoints_[index];
  }

  /// Returns the adjoint of a variable with this scope number on the current tape. Throws ScopeError, in the name of
  /// `function`, unless a reverse pass covers the variable.
  static double read_adjoint(const char* function, index_type index, std::uint32_t number) {
    const tape* t = current_;
    if (AGRAD_UNLIKELY(t == nullptr || number != t->number_ || index >= t->adjoints_.size())) {
      const double* found = find_adjoint(index, number);
      if (found == nullptr) fail_to_read(function, index, number);
      return *found;
    }
    return t->adjoints_[index];
  }

  /// Do the same for reverse passes with `lanes` adjoints for each index: clear, seed, reverse, read through `lane_adjoints`.
  void clear_lanes();
  void seed_lane(index_type index, std::size_t lane) {
    if (index >= first_reached()) lane_adjoints(index)[lane] += 1;
  }
  bool reverse_lanes() { return reverse_telling_zeros<lanes>(); }
  /// Returns the adjoints of an index in all lanes, side by side.
  double* lane_adjoints(index_type index) { return lane_adjoints_.data() + std::size_t{index} * lanes; }
  /// Allocates space for n adjoints that are never read, of a matrix outside of a reverse pass.
  double* unread_adjoints(std::size_t n);

  // ---- scopes --------------------------------------------------------------------------------------------------------

  /// Opens a scope, isolated or not, and returns its depth.
  std::size_t open_scope(bool isolated = false);
  /// Removes all that was recorded since the scope opened, but not before all scopes inside have ended.
  void close_scope(std::size_t depth) noexcept;
  /// Removes all that was recorded in the innermost scope, which stays open.
  void reset();
  /// Returns whether a variable with this scope number may still be used.
  bool is_open(std::uint32_t number) const { return depth_of(number) < scopes_.size(); }
  /// Throws ScopeError unless a reverse pass covers variables with this scope number; `what` is "variable" or "matrix".
  AGRAD_COLD void check_reached(const char* function, const char* what, std::uint32_t number) const;
  /// Throws ScopeError unless the scope is open, which is enough for a statement.
  AGRAD_COLD void check_usable(const char* function, const char* what, std::uint32_t number) const;
  /// Does the same, quickly for the innermost scope.
  void check_operand(const char* function, const char* what, std::uint32_t number) const {
    if (AGRAD_UNLIKELY(number != number_)) check_usable(function, what, number);
  }
  std::uint32_t scope_id() const { return number_; }

  /// Counts the statements, by a pass over the tape.
  tape_statistics statistics() const;

  /// Makes a tape the current one of this thread and returns the tape that was current before.
  static tape* activate(tape* next) { return std::exchange(current_, next); }

 private:
  template <class F>
  struct stored_closure : closure_base {
    F f;
    stored_closure(const closure_base& how, F&& g) : closure_base(how), f(std::move(g)) {}
  };
  template <class F, int Lanes>
  static void reverse_closure(closure_base& closure, tape& on) {
    for (int lane = 0; lane < Lanes; ++lane) {
      const adjoint_view<Lanes> adjoint(on, lane);
      static_cast<stored_closure<F>&>(closure).f(adjoint);
    }
  }

  struct owner {
    void* object;
    void (*destroy)(void*);
  };

  /// The beginning of a scope.
  struct level {
    std::size_t edges = 0, owners = 0, next = 0;
    arena::mark memory;
    std::size_t floor = 0;         // depth of the scope at which reverse passes end
    index_type first_reached = 1;  // first index of that scope
    std::uint32_t number = 0;
    bool has_ended = false;  // before a scope inside
  };

  template <int Lanes>
  bool reverse_telling_zeros();
  template <int Lanes>
  bool reverse_scopes(bool carefully);
  template <int Lanes>
  [[gnu::noinline]] void reverse_outer_scopes(std::size_t floor);
  template <int Lanes>
  void reverse_statements(std::size_t first, std::size_t last);
  // Not inlined, so that the loop has all registers.
  template <int Lanes, bool Isolated>
  [[gnu::noinline]] void reverse_statements_of(std::size_t first, std::size_t last);
  AGRAD_COLD void note_singular_at(std::size_t end) noexcept;
  template <int Lanes>
  void mark_seeds();
  template <int Lanes>
  bool has_arrived(std::size_t begin, std::size_t end);
  template <int Lanes>
  void reverse_carefully(std::size_t first, std::size_t last);
  template <int Lanes>
  void reverse_carefully(closure_base& closure);

  template <std::size_t N, std::size_t... I>
  AGRAD_ALWAYS_INLINE void write(index_type target, const std::array<double, N>& partials,
                                 const std::array<index_type, N>& indices, std::index_sequence<I...>) {
    constexpr std::size_t size = sizeof...(I);
    if (AGRAD_UNLIKELY(!statements_.has_room(size))) grow(size);
    edge* edges = statements_.end();
    const auto note = [target](std::size_t i) { return i == size - 1 ? index_type{N} : i == size - 2 ? target : 0; };
    ((edges[I] = {I < N ? partials[I < N ? I : 0] : 0, I < N ? indices[I < N ? I : 0] : 0, note(I)}), ...);
    statements_.advance(size);
  }

  // The cold calls of recording and reading throw nothing or do not return, because GCC stores in memory what must survive a
  // call that throws, and in loops the access to memory takes longer than the rest. If memory is exhausted, the next reverse
  // pass throws std::bad_alloc.
  AGRAD_COLD static void make_current() noexcept;
  AGRAD_COLD void grow(std::size_t edges) noexcept;
  AGRAD_COLD static const double* find_adjoint(index_type index, std::uint32_t number) noexcept;
  [[noreturn]] AGRAD_COLD static void fail_to_read(const char* function, index_type index, std::uint32_t number);
  void make_adjoints();
  void make_zero_adjoints(std::size_t first);
  std::size_t bytes() const;
  std::uint32_t next_scope();
  std::size_t depth_of(std::uint32_t number) const;
  bool is_own(std::uint32_t number) const;
  void check_not_in_reverse_pass(const char* function) const {
    if (AGRAD_UNLIKELY(reversed_scopes_ == scopes_.size())) fail_in_reverse_pass(function);
  }
  [[noreturn]] AGRAD_COLD static void fail_in_reverse_pass(const char* function);
  void rewind(const level& to);

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  stream<edge> statements_;
  stream<double> adjoints_;
  stream<double> lane_adjoints_;
  stream<double> marks_, lane_marks_;  // of careful reverse passes
  std::vector<std::size_t> singular_;  // the ends of statements whose partial derivatives are infinite
  bool is_careful_ = false, is_marking_ = false, has_met_zero_ = false;  // of the present reverse pass
  std::vector<owner> owners_;
  arena arena_;
  std::size_t next_ = 1;             // index of the next variable
  std::size_t high_water_ = 0;       // greatest number of bytes before a rewind
  std::size_t intact_ = unlimited;   // number of valid edges: all, unless memory was exhausted
  std::vector<level> scopes_;        // the open scopes, outermost first
  std::uint32_t number_ = 0;         // of the innermost scope
  index_type first_reached_ = 1;     // first index of the scope at which reverse passes end
  std::uint32_t last_number_ = 0;    // the last scope number issued
  std::size_t reversed_scopes_ = 0;  // number of open scopes at the start of the present reverse pass, 0 without a pass
  std::vector<std::vector<double>> unread_;
  std::vector<std::array<std::uint32_t, 2>> batches_;  // this tape's batches of scope numbers: first, and one after the last
  static inline std::atomic<std::uint32_t> scope_batches_{0};

  // A plain pointer: a thread_local object with a constructor would cost a check at every access.
  static inline thread_local tape* current_ = nullptr;
  static inline thread_local bool has_ended_ = false;  // whether the thread's own tape has ended
};

/// Makes a tape the current one during the lifetime of the active_tape.
class active_tape {
 public:
  explicit active_tape(tape& t) : previous_(tape::activate(&t)) {}
  ~active_tape() { tape::activate(previous_); }
  active_tape(const active_tape&) = delete;
  active_tape& operator=(const active_tape&) = delete;

 private:
  tape* previous_;
};

}  // namespace agrad

#include <agrad/tape/careful.hpp>
#include <agrad/tape/reverse.hpp>
#include <agrad/tape/scopes.hpp>
