// Elementwise: the loops over spans that every elementwise rule gets.
//
// Entries go through in blocks that fit the first cache. Operands that are lists of slots, or one slot for all, are copied
// together a block at a time, so that there is one loop, over consecutive numbers, for every mixture. An entry's value does not
// depend on how many there are (rules/values.hpp, octets). Only the file that builds the table of rows includes this header.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include <agrad/program/straight.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

namespace detail {

inline constexpr std::uint32_t block_length = 256;

/// One operand of an operation, read in blocks: of a space with `Width` numbers a slot.
template <int Width>
class block_reader {
 public:
  static constexpr std::size_t width = static_cast<std::size_t>(Width);

  block_reader(const span& x, const std::uint32_t* integers)
      : first_(x.first), list_(x.listed ? integers + x.first : nullptr), stride_(x.stride) {}

  /// Entries begin .. begin + n of the operand, consecutive.
  AGRAD_INLINE const double* read(const double* space, std::uint32_t begin, std::uint32_t n) {
    if (list_ == nullptr && stride_ == 1) return space + (first_ + begin) * width;
    double* to = copy_.data();
    if (list_ == nullptr) {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) to[i * width + k] = space[first_ * width + k];
    } else {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) to[i * width + k] = space[list_[begin + i] * width + k];
    }
    return to;
  }

  /// Adds n times `width` numbers to the operand's entries of a space.
  AGRAD_INLINE void add(double* space, std::uint32_t begin, std::uint32_t n, const double* __restrict what) const {
    if (list_ != nullptr) {
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) space[list_[begin + i] * width + k] += what[i * width + k];
    } else if (stride_ == 1) {
      double* to = space + (first_ + begin) * width;
      for (std::size_t i = 0; i < n * width; ++i) to[i] += what[i];
    } else {
      double total[width] = {};
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < width; ++k) total[k] += what[i * width + k];
      for (std::size_t k = 0; k < width; ++k) space[first_ * width + k] += total[k];
    }
  }

 private:
  std::size_t first_;
  const std::uint32_t* list_;
  std::size_t stride_;
  std::array<double, block_length * width> copy_;
};

template <class Rule>
struct elementwise {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  using every = std::make_index_sequence<arity>;
  template <int Width>
  using readers = std::array<block_reader<Width>, arity>;
  template <int Width, std::size_t... I>
  static readers<Width> readers_of(const operation& op, const run_context& context, std::index_sequence<I...>) {
    return {block_reader<Width>(op.operands[I], context.integers)...};
  }
  using pointers = std::array<const double*, arity>;
  template <int Width>
  AGRAD_INLINE static pointers read(readers<Width>& x, const double* space, std::uint32_t begin, std::uint32_t n) {
    pointers from;
    for (std::size_t k = 0; k < arity; ++k) from[k] = x[k].read(space, begin, n);
    return from;
  }
  /// Calls use(begin, n) for each block.
  template <class Use>
  AGRAD_INLINE static void each_block(std::uint32_t count, const Use& use) {
    for (std::uint32_t begin = 0; begin < count; begin += block_length) use(begin, std::min(block_length, count - begin));
  }

  // ---- values

  template <std::size_t... I>
  AGRAD_INLINE static void compute(double* __restrict y, std::uint32_t n, const pointers& x, std::index_sequence<I...>) {
    if constexpr (has_packets<Rule>)
      octets_into<Rule>(y, n, x[I]...);
    else
      for (std::uint32_t i = 0; i < n; ++i) y[i] = Rule::value(x[I][i]...);
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    auto x = readers_of<1>(op, context, every{});
    each_block(op.count, [&](std::uint32_t begin, std::uint32_t n) {
      compute(values + op.result + begin, n, read<1>(x, values, begin, n), every{});
    });
  }

  // ---- adjoints

  template <std::size_t J, std::size_t... I>
  AGRAD_INLINE static double partial(const pointers& x, const double* y, std::uint32_t i, std::index_sequence<I...>) {
    return Rule::derivative(wrt<static_cast<int>(J)>{}, x[I][i]..., y[i]);
  }
  template <std::size_t J>
  AGRAD_INLINE static void send(const operation& op, const pointers& x, const double* y, const double* y_adjoint,
                                const block_reader<1>& to, double* adjoints, std::uint32_t begin, std::uint32_t n) {
    if (!op.operands[J].active) return;
    double products[block_length];
    for (std::uint32_t i = 0; i < n; ++i) {
      const double product = partial<J>(x, y, i, every{}) * y_adjoint[i];
      products[i] = y_adjoint[i] == 0 ? 0.0 : product;  // an infinite derivative of an unused entry must not become nan
    }
    to.add(adjoints, begin, n, products);
  }
  template <std::size_t... J>
  static void sweep(const operation& op, const run_context& context, const double* values, double* adjoints,
                    std::index_sequence<J...>) {
    auto x = readers_of<1>(op, context, every{});
    each_block(op.count, [&](std::uint32_t begin, std::uint32_t n) {
      const pointers from = read<1>(x, values, begin, n);
      const std::size_t at = op.result + begin;
      (send<J>(op, from, values + at, adjoints + at, x[J], adjoints, begin, n), ...);
    });
  }
  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    sweep(op, context, values, adjoints, every{});
  }

  // ---- tangents

  template <int Width, std::size_t J>
  AGRAD_INLINE static void carry(const operation& op, const pointers& x, const double* y, const double* from,
                                 double* __restrict to, std::uint32_t n) {
    if (!op.operands[J].active) return;
    for (std::uint32_t i = 0; i < n; ++i) {
      const double factor = partial<J>(x, y, i, every{});
      for (std::size_t k = 0; k < Width; ++k) to[i * Width + k] += carried(factor, from[i * Width + k]);
    }
  }
  template <int Width, std::size_t... J>
  static void carry_all(const operation& op, const run_context& context, const double* values, double* tangents,
                        std::index_sequence<J...>) {
    auto x = readers_of<1>(op, context, every{});
    auto dx = readers_of<Width>(op, context, every{});
    each_block(op.count, [&](std::uint32_t begin, std::uint32_t n) {
      const pointers from = read<1>(x, values, begin, n);
      const std::size_t at = op.result + begin;
      double* to = tangents + at * Width;
      std::fill_n(to, n * Width, 0.0);
      (carry<Width, J>(op, from, values + at, dx[J].read(tangents, begin, n), to, n), ...);
    });
  }
  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    carry_all<Width>(op, context, values, tangents, every{});
  }

  // ---- adjoints with tangents

  template <int Width, std::size_t J, std::size_t... I>
  AGRAD_INLINE static void send_second(const operation& op, const pointers& x, const pointers& dx, const second_spaces& w,
                                       const block_reader<1>& to, const block_reader<Width>& to_tangents, std::uint32_t begin,
                                       std::uint32_t n, std::index_sequence<I...>) {
    if (!op.operands[J].active) return;
    const std::size_t at = op.result + begin;
    double sums[block_length] = {};
    std::array<double, block_length * Width> tangents{};
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::array<dual<double, Width>, arity> each{dual_at<Width>(x[I][i], dx[I] + i * Width)...};
      const auto y = dual_at<Width>(w.values[at + i], w.tangents + (at + i) * Width);
      add_second<Width>(as_dual<Width>(partial_of<Rule, J>(each, y, every{})), w.adjoints[at + i],
                        w.adjoint_tangents + (at + i) * Width, sums[i], tangents.data() + i * Width);
    }
    to.add(w.adjoints, begin, n, sums);
    to_tangents.add(w.adjoint_tangents, begin, n, tangents.data());
  }
  template <int Width, std::size_t... J>
  static void sweep_second(const operation& op, const run_context& context, const second_spaces& w, std::index_sequence<J...>) {
    auto x = readers_of<1>(op, context, every{});
    auto dx = readers_of<Width>(op, context, every{});
    each_block(op.count, [&](std::uint32_t begin, std::uint32_t n) {
      const pointers from = read<1>(x, w.values, begin, n), along = read<Width>(dx, w.tangents, begin, n);
      (send_second<Width, J>(op, from, along, w, x[J], dx[J], begin, n, every{}), ...);
    });
  }
  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    sweep_second<Width>(op, context, w, every{});
  }
};

}  // namespace detail

template <class Rule>
inline constexpr kernel elementwise_kernel{Rule::name,
                                           detail::elementwise<Rule>::forward,
                                           detail::elementwise<Rule>::reverse,
                                           {detail::elementwise<Rule>::template tangent<1>,
                                            detail::elementwise<Rule>::template tangent<lane_count>},
                                           {detail::elementwise<Rule>::template second<1>,
                                            detail::elementwise<Rule>::template second<lane_count>},
                                           agrad::dependence_of_rule<Rule, dual<double>>(),
                                           detail::straight_table<Rule>::steps};

}  // namespace agrad
