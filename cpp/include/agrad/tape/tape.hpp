// Tape: what a computation leaves behind for the reverse sweep.
//
// Scalar statements are data: a code byte, and for each leaf a partial derivative and an index, in three parallel streams.
// Everything larger is a closure in the arena. An index names an adjoint; indices are handed out in order, so the sweep
// knows the index of every statement by counting down. See tape/README.md for one page on how it all works.
// Read next: tape/var.hpp, the scalar that writes statements; tape/scope.hpp, how memory is given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <agrad/tape/arena.hpp>
#include <agrad/tape/stream.hpp>

namespace agrad {

class var;
class tape;
template <class T>
class matrix;

/// What a closure uses to reach adjoints during a sweep: `adjoint[x]` is a reference for a var, a map for a `matrix<var>`.
template <class Lane>
class adjoint_view {
 public:
  explicit adjoint_view(tape& on) : tape_(on) {}
  Lane& operator[](const var& x) const;
  Lane& at(std::uint32_t index) const;
  auto operator[](const matrix<var>& x) const;

 private:
  tape& tape_;
};

/// What a tape holds, for those who watch memory.
struct tape_statistics {
  std::size_t statements, leaves, indices, closures, bytes, bytes_reserved;
};

class tape {
 public:
  using index_type = std::uint32_t;

  tape() {
    codes_.append(0), adjoints_.append(0.0);  // index 0 is the shared sink of constants
    open_scopes_.push_back(scope_.scope = next_scope());
  }
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;
  ~tape() { rewind(mark{}); }

  /// The tape that this thread records on: the innermost active one, else the thread's own.
  static tape& current() {
    if (AGRAD_UNLIKELY(current_ == nullptr)) make_current();
    return *current_;
  }

  // ---- recording -----------------------------------------------------------------------------------------------------

  /// A fresh index with nothing behind it: an independent variable.
  index_type leaf() {
    codes_.append(0);
    return next_++;
  }

  /// n fresh indices in a row, the first of which is returned.
  index_type leaves(std::size_t n) {
    if (AGRAD_UNLIKELY(n > std::numeric_limits<index_type>::max() - next_))
      throw std::length_error("tape: more than 2^32 variables");
    codes_.reserve(1);
    indices_.append(static_cast<index_type>(n));
    codes_.push(statement::block);
    const index_type first = next_;
    next_ += static_cast<index_type>(n);
    return first;
  }

  /// Appends a statement of N leaves; `write(partials, indices)` fills in N of each. Returns the fresh index.
  template <int N, class Write>
  index_type record(const Write& write) {
    append<N>(write);
    codes_.push(static_cast<std::uint8_t>(N));
    return next_++;
  }

  /// Appends a statement that adds to an index which exists.
  template <int N, class Write>
  void record_increment(index_type target, const Write& write) {
    append<N>(write);
    indices_.push(target);
    codes_.push(static_cast<std::uint8_t>(N | statement::increment));
  }

  /// Keeps a callable `f(adjoint)` that the sweep calls when it comes to this place. Captures that own memory are destroyed
  /// when the tape rewinds.
  template <class F>
  void push(F f) {
    F* kept = keep(std::move(f));
    codes_.reserve(1);
    closures_.push_back({kept, [](void* object, tape& on) {
                           const adjoint_view<double> adjoint(on);
                           (*static_cast<F*>(object))(adjoint);
                         }});
    codes_.push(statement::closure);
  }

  /// Moves an object into the arena; it lives until the tape rewinds below this place.
  template <class T>
  T* keep(T object) {
    T* kept = new (arena_.allocate(sizeof(T))) T(std::move(object));
    if constexpr (!std::is_trivially_destructible_v<T>) owners_.push_back({kept, [](void* p) { static_cast<T*>(p)->~T(); }});
    return kept;
  }

  arena& memory() { return arena_; }

  // ---- sweeping ------------------------------------------------------------------------------------------------------

  /// Sets all adjoints of the innermost scope to zero, and those of all scopes around it when they are new.
  void clear_adjoints() {
    make_adjoints();
    for (std::size_t i = scope_.next; i < next_; ++i) adjoints_[i] = 0;
  }
  /// Sends the adjoints back from the last statement to the begin of the innermost scope.
  void sweep();

  /// The adjoint of an index, to read or to seed; valid until the next statement is recorded.
  double& adjoint(index_type index) {
    if (AGRAD_UNLIKELY(index >= adjoints_.size())) make_adjoints();
    return adjoints_[index];
  }

  // ---- scopes --------------------------------------------------------------------------------------------------------

  /// Sizes of everything at one moment.
  struct mark {
    std::size_t codes = 1, indices = 0, partials = 0, closures = 0, owners = 0;
    index_type next = 1;
    arena::mark memory;
    std::uint32_t scope = 0;
  };

  /// Opens a scope and returns what `close_scope` wants to have back.
  mark open_scope();
  /// Forgets everything since the scope was opened.
  void close_scope(const mark& outer);
  /// Forgets everything in the innermost scope, which stays open.
  void reset();
  /// Whether a variable that carries this scope number may still be used.
  bool is_open(std::uint32_t scope) const;
  std::uint32_t scope_id() const { return scope_.scope; }

  tape_statistics statistics() const;

  /// Makes a tape the current one of this thread and returns the one that was before.
  static tape* activate(tape* next) { return std::exchange(current_, next); }

 private:
  struct sweeper {
    void* object;
    void (*sweep)(void*, tape&);
  };
  struct owner {
    void* object;
    void (*destroy)(void*);
  };

  template <int N, class Write>
  void append(const Write& write) {
    static_assert(N <= statement::max_leaves, "one statement has too many variables; assign a part of it to a var first");
    codes_.reserve(1);
    partials_.reserve(N);
    indices_.reserve(N + 1);
    write(partials_, indices_);
  }

  AGRAD_COLD static void make_current();
  void make_adjoints();
  mark here() const;
  std::uint32_t next_scope();
  void rewind(const mark& to);

  stream<std::uint8_t> codes_;
  stream<index_type> indices_;
  stream<double> partials_;
  stream<double> adjoints_;
  std::vector<sweeper> closures_;
  std::vector<owner> owners_;
  arena arena_;
  index_type next_ = 1;
  mark scope_;                              // where the innermost scope began
  std::vector<std::uint32_t> open_scopes_;  // their numbers, outermost first
  std::uint32_t last_scope_ = 0;
  static inline std::atomic<std::uint32_t> scope_batches_{0};

  // A plain pointer: a thread_local object with a constructor costs a guard at every access.
  static inline thread_local tape* current_ = nullptr;
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

#include <agrad/tape/sweep.hpp>
