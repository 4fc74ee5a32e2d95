// By duals: makes kernels from loops that are written once for any scalar; duals give the tangents.
//
//     template <class S>
//     struct my_loops {
//       static void forward(const operation&, const run_context&, S* values);
//       static void reverse(const operation&, const run_context&, const S* values, S* adjoints);
//       static bool fits(const operation_view&);  // whether an operation has the right form
//     };
//     inline constexpr kernel my_kernel = kernels::make<my_loops>("my kernel");
//
// Operands are copied as duals, one after the other, the loops run on the copies, and the results are split into values and
// tangents again. Loops must read operands through op.operands and the result through op.result only, and take no lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <agrad/program/machine/straight.hpp>

namespace agrad {

namespace detail {

/// The operation in a small space of its own: the operands, then the result.
struct moved_operation {
  operation op;
  std::size_t size = 0;

  explicit moved_operation(const operation& of) : op(of) {
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      op.operands[k].first = static_cast<slot>(size);
      size += op.operands[k].count;
    }
    op.result = static_cast<slot>(size);
    size += op.count;
  }

  /// Calls use(first slot of the program, first slot of the small space, number of slots) for each operand.
  template <class Use>
  void each_operand(const operation& of, const Use& use) const {
    for (std::uint32_t k = 0; k < op.arity; ++k) use(of.operands[k].first, op.operands[k].first, op.operands[k].count);
  }
};

template <int Width>
dual<double, Width> dual_at(double value, const double* tangents) {
  dual<double, Width> x(value);
  std::copy_n(tangents, Width, x.tangent.data());
  return x;
}

template <int Width, class Duals>
void write_duals(const double* values, const double* tangents, std::size_t n, Duals* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = dual_at<Width>(values[i], tangents + i * Width);
}

template <template <class> class Loops, int Width>
struct by_duals {
  using scalar = dual<double, Width>;

  static std::vector<scalar> operands_of(const operation& op, const moved_operation& here, const double* values,
                                         const double* tangents) {
    std::vector<scalar> space(here.size);
    here.each_operand(op, [&](std::size_t from, std::size_t to, std::size_t n) {
      write_duals<Width>(values + from, tangents + from * Width, n, space.data() + to);
    });
    return space;
  }

  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    const moved_operation here(op);
    std::vector<scalar> space = operands_of(op, here, values, tangents);
    Loops<scalar>::forward(here.op, context, space.data());
    for (std::size_t i = 0; i < op.count; ++i)
      std::copy_n(space[here.op.result + i].tangent.data(), Width, tangents + (op.result + i) * Width);
  }

  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    const moved_operation here(op);
    std::vector<scalar> space = operands_of(op, here, w.values, w.tangents), adjoints(here.size);
    write_duals<Width>(w.values + op.result, w.tangents + op.result * std::size_t{Width}, op.count,
                       space.data() + here.op.result);
    write_duals<Width>(w.adjoints + op.result, w.adjoint_tangents + op.result * std::size_t{Width}, op.count,
                       adjoints.data() + here.op.result);
    Loops<scalar>::reverse(here.op, context, space.data(), adjoints.data());
    here.each_operand(op, [&](std::size_t to, std::size_t from, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        w.adjoints[to + i] += adjoints[from + i].value;
        for (std::size_t k = 0; k < Width; ++k) w.adjoint_tangents[(to + i) * Width + k] += adjoints[from + i].tangent[k];
      }
    });
  }
};

}  // namespace detail

namespace kernels {

/// The formulas of a class of loops: its member `formulas`, if it has one.
template <class Loops, class = void>
inline constexpr const recorded_formulas* formulas_of = nullptr;
template <class Loops>
inline constexpr const recorded_formulas* formulas_of<Loops, std::void_t<decltype(Loops::formulas)>> = &Loops::formulas;

/// Makes the kernel of loops that are written for any scalar.
template <template <class> class Loops>
constexpr kernel make(std::string_view name, const dependence& depends = {}) {
  return {name,
          Loops<double>::forward,
          Loops<double>::reverse,
          {detail::by_duals<Loops, 1>::tangent, detail::by_duals<Loops, lane_count>::tangent},
          {detail::by_duals<Loops, 1>::second, detail::by_duals<Loops, lane_count>::second},
          Loops<double>::fits,
          depends,
          nullptr,
          nullptr,
          formulas_of<Loops<double>>};
}

/// Makes the kernel of a class with all loops: forward, reverse, tangent<Width> and second<Width>; and `fits`. Both kinds of
/// classes may have a member `formulas`.
template <class Loops>
constexpr kernel make_of(std::string_view name, const dependence& depends = {}) {
  return {name,
          Loops::forward,
          Loops::reverse,
          {Loops::template tangent<1>, Loops::template tangent<lane_count>},
          {Loops::template second<1>, Loops::template second<lane_count>},
          Loops::fits,
          depends,
          nullptr,
          nullptr,
          formulas_of<Loops>};
}

}  // namespace kernels

}  // namespace agrad
