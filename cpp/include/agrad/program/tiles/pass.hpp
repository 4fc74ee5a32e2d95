// Pass: one group of operations, forward, in reverse, or both ways, tile by tile.
//
// Only program/tiles/run.ipp includes this header.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <agrad/program/machine/blocks.hpp>
#include <agrad/program/machine/singular.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/tiles/plan.hpp>

namespace agrad::detail {

/// Where a pass has the values of local results.
enum class tile_values : std::uint8_t {
  passing,  // in registers, until the last operation has read them
  stored,   // in memory those that are stored, the others in registers
  kept      // in registers until the tile ends
};

/// A pass through one group.
class tile_pass {
 public:
  tile_pass(const program_code& code, const tile_group& group, const run_context& context, workspace& w)
      : code_(code),
        group_(group),
        context_(context),
        values_(w.values.data()),
        registers_(w.registers.data()),
        loaded_(group.members.size()) {
    for (const auto& [from, number] : group.scalars) std::fill_n(at(number), block_length, values_[from]);
  }

  void forward(tile_values which) {
    begin_sums();
    each_tile([&] { compute_all(which); });
    end_sums();
  }

  /// Returns whether an operation met a zero adjoint at a slope that is not finite.
  bool reverse(double* adjoints) {
    bool met_zero = false;
    each_tile([&] {
      for (const tile_member& m : group_.members)
        if (m.is_local() && !m.is_stored) compute(m, tile_values::stored);
      met_zero = propagate_all(adjoints, tile_values::stored) || met_zero;
    });
    return met_zero;
  }

  /// Runs forward and in reverse, tile by tile.
  bool both(double* adjoints) {
    bool met_zero = false;
    begin_sums();
    each_tile([&] {
      compute_all(tile_values::kept);
      met_zero = propagate_all(adjoints, tile_values::kept) || met_zero;
    });
    end_sums();
    return met_zero;
  }

 private:
  template <class Use>
  void each_tile(const Use& use) {
    constexpr std::uint32_t pace = std::uint32_t{1} << 16U;
    for (begin_ = 0; begin_ < group_.count; begin_ += block_length) {
      n_ = std::min(block_length, group_.count - begin_);
      use();
      if ((begin_ + n_) % pace == 0) poll_beside(pace);
    }
  }

  double* at(std::uint32_t number) const { return registers_ + std::size_t{number} * block_length; }
  const operation& of(const tile_member& m) const { return code_.operations[m.operation]; }

  /// Returns the tile of a result's values.
  double* tile(const tile_member& m, tile_values which) const {
    if (!m.is_local() || (m.is_stored && which == tile_values::stored)) return values_ + of(m).result + begin_;
    return at(which == tile_values::passing ? m.ahead : m.value);
  }

  const double* values_of(std::uint32_t member, tile_values which) const {
    return loaded_[member] != nullptr ? loaded_[member] : tile(group_.members[member], which);
  }

  columns read(const tile_member& m, block_operands<1>& x, tile_values which) const {
    const operation& op = of(m);
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const tile_member::source& from = m.operands[k];
      x.x[k] = from.scalar != tile_member::none   ? at(from.scalar)
               : from.member != tile_member::none ? values_of(from.member, which)
                                                  : x.readers[k].read(values_, begin_, n_);
    }
    return x.x.data();
  }

  void begin_sums() {
    blocks_ = (group_.count + block_length - 1) / block_length;
    sums_.resize(group_.sums * blocks_);
  }
  void end_sums() {
    for (const tile_member& m : group_.members)
      if (m.sum != tile_member::none) values_[of(m).result] = sum_loops::sum_of_blocks(sums_.data() + m.sum * blocks_, blocks_);
  }

  void compute_all(tile_values which) {
    for (const tile_member& m : group_.members) m.sum == tile_member::none ? compute(m, which) : add_up(m, which);
  }

  bool propagate_all(double* adjoints, tile_values which) const {
    bool met_zero = false;
    for (auto m = group_.members.rbegin(); m != group_.members.rend(); ++m)
      if (m->is_reached) met_zero = propagate(*m, adjoints, which) || met_zero;
    return met_zero;
  }

  void compute(const tile_member& m, tile_values which) {
    const operation& op = of(m);
    double* y = tile(m, which);
    if (op.what == &kernels::gather) {
      load(m, y);
    } else if (op.what->rows != nullptr) {
      op.what->rows->values(op, context_, begin_, n_, values_, y);
    } else {
      block_operands<1> x(op, context_);
      op.what->entries->values(n_, read(m, x, which), y);
    }
  }

  /// Copies what a gather reads for the tile, unless its slots are consecutive and only the group reads them.
  void load(const tile_member& m, double* y) {
    const double*& loaded = loaded_[static_cast<std::size_t>(&m - group_.members.data())];
    loaded = nullptr;
    if (m.ranges.empty()) {
      const std::uint32_t* from = context_.integers + of(m).data + begin_;
      for (std::uint32_t i = 0; i < n_; ++i) y[i] = values_[from[i]];
      return;
    }
    each_piece(m, [&](std::size_t i, std::size_t from, std::size_t n) {
      if (n == n_ && m.is_local())
        loaded = values_ + from;
      else
        std::copy_n(values_ + from, n, y + i);
    });
  }

  /// Stores the sum of a tile, which is a block of the whole sum.
  void add_up(const tile_member& m, tile_values which) {
    static_assert(block_length == sum_loops::block_length, "a tile is a block of a sum");
    block_operands<1> x(of(m), context_);
    sum_loops::sum_of<1>(*read(m, x, which), n_, &sums_[m.sum * blocks_ + begin_ / block_length]);
  }

  void scatter(const tile_member& m, const double* y_adjoint, double* adjoints) const {
    if (!m.ranges.empty())
      return each_piece(m, [&](std::size_t i, std::size_t to, std::size_t n) { add(n, y_adjoint + i, adjoints + to); });
    const std::uint32_t* to = context_.integers + of(m).data + begin_;
    for (std::uint32_t i = 0; i < n_; ++i) adjoints[to[i]] += y_adjoint[i];
  }

  template <class Use>
  void each_piece(const tile_member& m, const Use& use) const {
    each_range(m.ranges, begin_, begin_ + n_, use);
  }

  /// Propagates the adjoints of a tile of a result. Returns whether a zero met an infinite slope.
  bool propagate(const tile_member& m, double* adjoints, tile_values which) const {
    const operation& op = of(m);
    const double* y_adjoint = m.is_local() ? at(m.adjoint) : adjoints + op.result + begin_;
    if (op.what == &kernels::gather) {
      scatter(m, y_adjoint, adjoints);
      return false;
    }
    if (op.what == &kernels::sum) {
      spread(m, adjoints);
      return false;
    }
    if (op.what->rows != nullptr) {
      op.what->rows->reverse(op, context_, begin_, n_, values_, y_adjoint, adjoints);
      return false;
    }
    block_operands<1> x(op, context_);
    const columns from = read(m, x, which);
    const double* y = tile(m, which);
    for (std::uint32_t j = 0; j < op.arity; ++j)
      if (op.operands[j].active) pass(m, j, from, y, y_adjoint, x.readers[j], adjoints);
    return m.may_be_singular && meets_zero(op, from, y, y_adjoint);
  }

  /// Propagates the adjoint of a sum to a tile of its operand.
  void spread(const tile_member& m, double* adjoints) const {
    const operation& op = of(m);
    if (!op.operands[0].active) return;
    const double adjoint = adjoints[op.result];
    const tile_member::source& from = m.operands[0];
    double* to =
        from.member == tile_member::none ? adjoints + op.operands[0].first + begin_ : at(group_.members[from.member].adjoint);
    if (from.is_first)
      std::fill_n(to, n_, adjoint);
    else
      for (std::uint32_t i = 0; i < n_; ++i) to[i] += adjoint;
  }

  void pass(const tile_member& m, std::uint32_t j, columns x, const double* y, const double* y_adjoint,
            const block_reader<1>& outside, double* adjoints) const {
    const operation& op = of(m);
    const tile_member::source& from = m.operands[j];
    if (from.is_first) return op.what->entries->reverse(j, n_, x, y, y_adjoint, at(group_.members[from.member].adjoint));
    double d[block_length];
    op.what->entries->reverse(j, n_, x, y, y_adjoint, d);
    if (from.member == tile_member::none) return outside.add(adjoints, begin_, n_, d);
    add(n_, d, at(group_.members[from.member].adjoint));
  }

  static void add(std::size_t n, const double* __restrict x, double* __restrict to) {
    for (std::size_t i = 0; i < n; ++i) to[i] += x[i];
  }

  bool meets_zero(const operation& op, columns x, const double* y, const double* y_adjoint) const {
    if (!has_zero(y_adjoint, n_)) return false;
    for (std::uint32_t j = 0; j < op.arity; ++j) {
      if (!op.operands[j].active) continue;
      double d[block_length];
      op.what->entries->partial(j, n_, x, y, d);
      for (std::uint32_t i = 0; i < n_; ++i)
        if (y_adjoint[i] == 0 && !std::isfinite(d[i])) return true;
    }
    return false;
  }

  const program_code& code_;
  const tile_group& group_;
  const run_context& context_;
  double* values_;
  double* registers_;
  std::vector<const double*> loaded_;  // of gathers: the tile's numbers, where they lie side by side; else null
  std::size_t blocks_ = 0;
  std::vector<double> sums_;  // of tiles
  std::uint32_t begin_ = 0, n_ = 0;
};

}  // namespace agrad::detail
