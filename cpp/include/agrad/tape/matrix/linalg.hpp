// Linear algebra on the tape: a rule applied to matrix<var> is one closure, which works on whole blocks.
//
// Values, factors and constants are stored in the arena; the closure calls the rule's adjoint, which uses Eigen's kernels.
// rules/lists/linalg.hpp lists the rules. Eigen::Matrix<var, ...> is converted to matrix<var> (one pass over the values,
// adjoints linked).
#pragma once

#include <tuple>

#include <agrad/rules/linalg/lift.hpp>
#include <agrad/tape/matrix/matrix.hpp>

namespace agrad::linalg {

/// The tape's arena as a room, valid until the tape rewinds. If a rule throws, the memory is released.
class tape_room {
 public:
  tape_room() : memory_(tape::current().memory()), before_(memory_.position()) {}
  tape_room(const tape_room&) = delete;
  tape_room& operator=(const tape_room&) = delete;
  ~tape_room() {
    if (AGRAD_UNLIKELY(!is_committed_)) memory_.rewind(before_);
  }
  matrix_map matrix(Index rows, Index cols) {
    return matrix_map(memory_.allocate_array<double>(static_cast<std::size_t>(rows * cols)), rows, cols);
  }
  int* integers(Index n) { return memory_.allocate_array<int>(static_cast<std::size_t>(n)); }
  void commit() { is_committed_ = true; }

 private:
  arena& memory_;
  arena::mark before_;
  bool is_committed_ = false;
};

namespace detail {

/// A constant argument in the arena.
struct tape_constant {
  const double* values;
  Index rows, cols;
  Eigen::Map<const MatrixXd> val() const { return Eigen::Map<const MatrixXd>(values, rows, cols); }
};
inline const matrix<var>& stored_argument(const matrix<var>& a) { return a; }
inline tape_constant stored_argument(const const_block& a) {
  double* copy = tape::current().memory().allocate_array<double>(static_cast<std::size_t>(a.size()));
  Eigen::Map<MatrixXd>(copy, a.rows(), a.cols()) = a;
  return {copy, a.rows(), a.cols()};
}

/// The adjoint of a result as a rule reads it: contiguous columns, or null if the adjoint is zero.
class incoming {
 public:
  template <class Adjoint>
  incoming(Adjoint& adjoint, const matrix<var>& y) : block_(adjoint[y]), is_zero_((block_.array() == 0).all()) {}
  incoming(const incoming&) = delete;
  const const_block* get() const { return is_zero_ ? nullptr : &block_; }

 private:
  const_block block_;  // a copy in reverse passes with several lanes, where the columns are not contiguous
  bool is_zero_;
};

/// Adds to the adjoint of an argument: in place if columns are contiguous, else in a copy that is added at the end.
template <class Map, bool in_place = Map::InnerStrideAtCompileTime == 1>
class outgoing {
 public:
  template <class Adjoint>
  outgoing(Adjoint& adjoint, const matrix<var>& a) : block_(adjoint[a]) {}
  block* get() { return &block_; }

 private:
  block block_;
};
template <class Map>
class outgoing<Map, false> {
 public:
  template <class Adjoint>
  outgoing(Adjoint& adjoint, const matrix<var>& a) : to_(adjoint[a]), sum_(MatrixXd::Zero(a.rows(), a.cols())), block_(sum_) {}
  outgoing(const outgoing&) = delete;
  ~outgoing() { to_ += sum_; }
  block* get() { return &block_; }

 private:
  Map to_;
  MatrixXd sum_;
  block block_;
};
struct no_outgoing {
  template <class Adjoint>
  no_outgoing(Adjoint&, const tape_constant&) {}
  block* get() { return nullptr; }
};

template <class Adjoint, class A>
auto outgoing_to(Adjoint& adjoint, const A& a) {
  if constexpr (std::is_same_v<A, tape_constant>)
    return no_outgoing(adjoint, a);
  else
    return outgoing<std::decay_t<decltype(adjoint[a])>>(adjoint, a);
}

/// The closure for the reverse pass: prepares blocks and calls the rule's adjoint.
template <class Rule, class Prepared, class Arguments, std::size_t R>
struct linalg_closure {
  Rule rule;
  Prepared prepared;
  Arguments arguments;
  std::array<matrix<var>, R> results;

  template <class Adjoint>
  void operator()(Adjoint& adjoint) const {
    run(adjoint, std::make_index_sequence<std::tuple_size_v<Arguments>>{}, std::make_index_sequence<R>{});
  }

 private:
  template <class Adjoint, std::size_t... A, std::size_t... Y>
  void run(Adjoint& adjoint, std::index_sequence<A...>, std::index_sequence<Y...>) const {
    const incoming bars[] = {incoming(adjoint, results[Y])...};
    if (((bars[Y].get() == nullptr) && ...)) return;  // zero adjoints: no infinite derivative can become nan
    rule.adjoint(prepared, const_block(std::get<A>(arguments).val())..., const_block(results[Y].val())..., bars[Y].get()...,
                 outgoing_to(adjoint, std::get<A>(arguments)).get()...);
  }
};

}  // namespace detail

template <>
struct algebra<matrix<var>> {
  static constexpr int rank = 1;
  using room_type = tape_room;
  using scalar = var;

  static matrix<var>::const_map primal(const matrix<var>& a) { return a.val(); }

  template <class Rule, class Prepared, class... A>
  static std::array<matrix<var>, Rule::results> apply(const Rule& rule, const Prepared& prepared,
                                                      const typename Rule::shapes& shapes, const A&... a) {
    return on(std::make_index_sequence<Rule::results>{}, rule, prepared, shapes, a...);
  }

 private:
  template <std::size_t... R, class Rule, class Prepared, class... A>
  static std::array<matrix<var>, Rule::results> on(std::index_sequence<R...>, const Rule& rule, const Prepared& prepared,
                                                   const typename Rule::shapes& shapes, const A&... a) {
    std::array<matrix<var>, Rule::results> y{agrad::detail::matrix_access::room(shapes[R].rows, shapes[R].cols)...};
    if (!all_empty(shapes))
      rule.value(prepared, const_block(linalg::primal(a))..., block(agrad::detail::matrix_access::writable(y[R]))...);
    using arguments = std::tuple<std::decay_t<decltype(detail::stored_argument(a))>...>;
    push([closure = detail::linalg_closure<Rule, Prepared, arguments, sizeof...(R)>{
              rule, prepared, arguments(detail::stored_argument(a)...), y}](auto& adjoint) { closure(adjoint); });
    return y;
  }
};

// ---- users' matrices -----------------------------------------------------------------------------------------------------

template <>
struct scalar_algebra<var> {
  using matrix = agrad::matrix<var>;
  template <class X>
  static matrix from(const X& x) {
    return matrix(x);
  }
  static var entry(const matrix& m, Index i) { return m[i]; }
};
template <>
struct lifting<matrix<var>> {
  using matrix = agrad::matrix<var>;
  static constexpr bool is_handle = true;
  static constexpr int cols = Eigen::Dynamic;
  static const matrix& lift(const matrix& a) { return a; }
};
template <>
struct lifting<transposed> {
  using matrix = agrad::matrix<var>;
  static constexpr bool is_handle = true;
  static constexpr int cols = Eigen::Dynamic;
  static matrix lift(const transposed& a) { return a; }
};

}  // namespace agrad::linalg
