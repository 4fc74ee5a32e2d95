// Tape: what a computation leaves behind for the reverse sweep.
//
// Scalar statements are data, rows of edges in one stream (tape/statement.hpp); everything larger is a closure in the arena,
// called at its place in the stream. An index names an adjoint, an entry of one array that is made when a sweep begins.
// See tape/README.md for one page on how it all works.
// Read next: tape/var.hpp, the scalar that writes statements; tape/scope.hpp, how memory is given back.
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

/// What a closure uses to reach adjoints during a sweep: `adjoint[x]` is a reference for a var, a map for a `matrix<var>`.
/// A sweep may carry several lanes (rows of a Jacobian) at once; adjoints of one lane then lie `Lanes` numbers apart, and a
/// closure is called with one lane after the other.
template <int Lanes>
class adjoint_view {
 public:
  explicit adjoint_view(tape& on, int lane = 0);
  double& operator[](const var& x) const;
  double& at(std::uint32_t index) const;
  auto operator[](const matrix<var>& x) const;

 private:
  tape& tape_;
  std::uint32_t first_;  // that the sweep reaches; what was made before is constant, and its adjoints are thrown away
  int lane_;
};

/// What a tape holds, for those who watch memory: scalar statements and their leaves, variables, closures; bytes in use, the
/// most that ever were, and bytes taken from the system.
struct tape_statistics {
  std::size_t statements, leaves, indices, closures, bytes, bytes_high_water, bytes_reserved;
};

// Visible from every library of a program, whatever -fvisibility says, so that they all record on one tape.
class AGRAD_VISIBLE tape {
 public:
  using index_type = std::uint32_t;
  /// How many adjoints an index has in `sweep_lanes`: rows of a Jacobian that one sweep carries.
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

  /// The tape that this thread records on: the innermost active one, else the thread's own.
  static tape& current() {
    if (AGRAD_UNLIKELY(current_ == nullptr)) make_current();
    return *current_;
  }

  // ---- recording -----------------------------------------------------------------------------------------------------

  /// A fresh index with nothing behind it: an independent variable, or what a closure is going to answer for.
  index_type leaf() { return static_cast<index_type>(next_++); }

  /// n fresh indices in a row, the first of which is returned.
  index_type leaves(std::size_t n) {
    const std::size_t first = next_;
    next_ += n;
    return static_cast<index_type>(first);
  }

  /// Appends a statement: the target's adjoint times partials[i] goes to indices[i]. The target is a fresh index (`leaf`) or,
  /// for an increment, one that exists.
  template <std::size_t N>
  AGRAD_INLINE void record(index_type target, const std::array<double, N>& partials, const std::array<index_type, N>& indices) {
    static_assert(N <= statement::max_leaves, "one statement has too many variables; assign a part of it to a var first");
    if constexpr (N > 0) write(target, partials, indices, std::make_index_sequence<statement::size(N)>{});
  }

  /// Keeps a callable `f(adjoint)` that the sweep calls when it comes to this place. Captures that own memory are destroyed
  /// when the tape rewinds.
  template <class F>
  void push(F f) {
    closure_base* kept = keep(kept_closure<F>({sweep_closure<F, 1>, sweep_closure<F, lanes>}, std::move(f)));
    *statements_.room(1) = statement::of_closure(kept);
    statements_.advance(1);
  }

  /// Moves an object into the arena; it lives until the tape rewinds below this place.
  template <class T>
  T* keep(T object) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return new (arena_.allocate(sizeof(T))) T(std::move(object));
    } else {
      owners_.push_back({nullptr, [](void*) {}});  // first, because what throws must not leave an object that nobody destroys
      T* kept = new (arena_.allocate(sizeof(T))) T(std::move(object));
      owners_.back() = {kept, [](void* p) { static_cast<T*>(p)->~T(); }};
      return kept;
    }
  }

  arena& memory() { return arena_; }

  // ---- sweeping ------------------------------------------------------------------------------------------------------
  //
  // A sweep reaches all open scopes, down to the innermost isolated one. A scope that a closure opens while a sweep is under
  // way is isolated from what is being swept.

  /// Sets the adjoints of all that a sweep reaches to zero. Throws ScopeError in a closure that has not opened a scope.
  void clear_adjoints();
  /// Adds to the adjoint that a sweep starts from; what it does not reach is constant.
  void seed(index_type index, double amount) {
    if (index >= first_reached()) adjoint(index) += amount;
  }
  /// Sends the adjoints back from the last statement to the first one that is reached.
  void sweep() { sweep_scopes<1>(); }
  /// The index of the first variable that a sweep reaches.
  index_type first_reached() const { return first_reached_; }
  /// One after the last index.
  std::size_t end_index() const { return next_; }

  /// The adjoint of an index, to read; valid until the next statement is recorded.
  double& adjoint(index_type index) {
    if (AGRAD_UNLIKELY(index >= adjoints_.size())) make_adjoints();
    return adjoints_[index];
  }

  /// The same for sweeps with `lanes` adjoints an index: clear, seed, sweep, read through `lane_adjoints`.
  void clear_lanes();
  void seed_lane(index_type index, std::size_t lane) {
    if (index >= first_reached()) lane_adjoints(index)[lane] += 1;
  }
  void sweep_lanes() { sweep_scopes<lanes>(); }
  /// The adjoints of an index in all lanes, side by side.
  double* lane_adjoints(index_type index) { return lane_adjoints_.data() + std::size_t{index} * lanes; }
  /// Room for n adjoints that nobody reads: of a matrix that a sweep does not reach.
  double* unread_adjoints(std::size_t n);

  // ---- scopes --------------------------------------------------------------------------------------------------------

  /// Opens a scope, isolated or not, and returns its depth.
  std::size_t open_scope(bool isolated = false);
  /// Forgets everything since the scope was opened; while scopes inside of it are open, that waits for their end.
  void close_scope(std::size_t depth) noexcept;
  /// Forgets everything in the innermost scope, which stays open.
  void reset();
  /// Whether a variable that carries this scope number may still be used.
  bool is_open(std::uint32_t number) const { return depth_of(number) < scopes_.size(); }
  /// Throws ScopeError unless a sweep reaches a variable with this scope number; `what` names it, "variable" or "matrix".
  AGRAD_COLD void check_reached(const char* function, const char* what, std::uint32_t number) const;
  /// The same for use in a statement, for which an open scope is enough.
  AGRAD_COLD void check_usable(const char* function, const char* what, std::uint32_t number) const;
  std::uint32_t scope_id() const { return number_; }

  /// Counts what is recorded, by walking over it.
  tape_statistics statistics() const;

  /// Makes a tape the current one of this thread and returns the one that was before.
  static tape* activate(tape* next) { return std::exchange(current_, next); }

 private:
  template <class F>
  struct kept_closure : closure_base {
    F f;
    kept_closure(const closure_base& how, F&& g) : closure_base(how), f(std::move(g)) {}
  };
  template <class F, int Lanes>
  static void sweep_closure(closure_base& closure, tape& on) {
    for (int lane = 0; lane < Lanes; ++lane) {
      const adjoint_view<Lanes> adjoint(on, lane);
      static_cast<kept_closure<F>&>(closure).f(adjoint);
    }
  }

  struct owner {
    void* object;
    void (*destroy)(void*);
  };

  /// Where a scope began.
  struct level {
    std::size_t edges = 0, owners = 0, next = 0;
    arena::mark memory;
    std::size_t floor = 0;         // depth of the scope in which sweeps end
    index_type first_reached = 1;  // where that scope began
    std::uint32_t number = 0;
    bool has_ended = false;  // before one inside of it
  };

  template <int Lanes>
  void sweep_scopes();
  template <int Lanes>
  [[gnu::noinline]] void sweep_outer_scopes(std::size_t floor);
  template <int Lanes>
  void sweep_statements(std::size_t first, std::size_t last);
  // Not inlined, so that its loop has the registers for itself.
  template <int Lanes, bool Isolated>
  [[gnu::noinline]] void sweep_back(std::size_t first, std::size_t last);

  template <std::size_t N, std::size_t... I>
  AGRAD_INLINE void write(index_type target, const std::array<double, N>& partials, const std::array<index_type, N>& indices,
                          std::index_sequence<I...>) {
    constexpr std::size_t size = sizeof...(I);
    if (AGRAD_UNLIKELY(!statements_.has_room(size))) grow(size);
    edge* edges = statements_.end();
    const auto note = [target](std::size_t i) { return i == size - 1 ? index_type{N} : i == size - 2 ? target : 0; };
    ((edges[I] = {I < N ? partials[I < N ? I : 0] : 0, I < N ? indices[I < N ? I : 0] : 0, note(I)}), ...);
    statements_.advance(size);
  }

  // The cold calls of recording throw nothing, because GCC keeps what lives across a call that throws in memory, and in loops the
  // way through memory takes longer than all the rest. When memory is exhausted, the next sweep throws std::bad_alloc.
  AGRAD_COLD static void make_current() noexcept;
  AGRAD_COLD void grow(std::size_t edges) noexcept;
  void make_adjoints();
  std::size_t bytes() const;
  std::uint32_t next_scope();
  std::size_t depth_of(std::uint32_t number) const;
  bool is_own(std::uint32_t number) const;
  void check_not_swept(const char* function) const {
    if (AGRAD_UNLIKELY(swept_ == scopes_.size())) fail_swept(function);
  }
  [[noreturn]] AGRAD_COLD static void fail_swept(const char* function);
  void rewind(const level& to);

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  stream<edge> statements_;
  stream<double> adjoints_;
  stream<double> lane_adjoints_;
  std::vector<owner> owners_;
  arena arena_;
  std::size_t next_ = 1;            // index of the next variable
  std::size_t high_water_ = 0;      // the most bytes before a rewind
  std::size_t intact_ = unlimited;  // how many edges are in order: all, unless memory was exhausted
  std::vector<level> scopes_;       // those that are open, outermost first
  std::uint32_t number_ = 0;        // of the innermost one
  index_type first_reached_ = 1;    // where the scope begins in which sweeps end
  std::uint32_t last_number_ = 0;   // the latest that was given
  std::size_t swept_ = 0;           // how many scopes were open when the sweep began that is under way; 0: none is
  std::vector<std::vector<double>> unread_;
  std::vector<std::array<std::uint32_t, 2>> batches_;  // of scope numbers that are this tape's: first, and one after the last
  static inline std::atomic<std::uint32_t> scope_batches_{0};

  // Plain: a thread_local object with a constructor costs a guard at every access.
  static inline thread_local tape* current_ = nullptr;
  static inline thread_local bool has_ended_ = false;  // the thread's own one
};

/// Makes a tape of one's own the current one while it lives.
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

#include <agrad/tape/scopes.hpp>
#include <agrad/tape/sweep.hpp>
