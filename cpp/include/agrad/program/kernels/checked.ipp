// Definitions of program/kernels/checked.hpp.
#pragma once

#include <array>
#include <cstring>
#include <initializer_list>
#include <stdexcept>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/checked.hpp>
#include <agrad/program/kernels/extremum.ipp>
#include <agrad/program/machine/by_duals.hpp>
#include <agrad/rules/density/conditions.hpp>

namespace agrad {

namespace kernels {

/// The names of the function and of its one or two arguments, a zero after each, and zeros.
using check_text = std::array<char, 64>;
inline constexpr std::uint32_t check_integers = 1 + sizeof(check_text) / sizeof(std::uint32_t);

/// The names in a text that may be damaged.
class check_names {
 public:
  explicit check_names(const std::uint32_t* text) {
    std::memcpy(text_.data(), text, text_.size());
    text_.back() = 0;
  }
  std::string_view operator[](int k) const {
    std::size_t begin = 0;
    for (; k > 0 && begin < text_.size(); --k) begin += std::strlen(text_.data() + begin) + 1;
    return begin < text_.size() ? text_.data() + begin : "";
  }

 private:
  check_text text_;
};

/// integers = {place of the condition, text}
template <class S>
struct checked_loops {
  static bool fits(const operation_view& v) {
    return v.has(1, check_integers) && v.integers[0] < std::size(must_be::all) && v.is_entrywise(0, v.op.count);
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const span& x = op.operands[0];
    const std::uint32_t* integers = context.integers + op.data;
    const condition& must = *must_be::all[integers[0]];
    const std::uint32_t n = x.stride == 0 && op.count > 0 ? 1 : op.count;
    for (std::uint32_t i = 0; i < n; ++i)
      if (AGRAD_UNLIKELY(!must.holds(detail::primal(values[x.first + i]))))
        fail(integers, x.stride == 0 || op.count == 1 ? -1 : static_cast<long>(i), detail::primal(values[x.first + i]), must);
    for (std::uint32_t i = 0; i < op.count; ++i) values[op.result + i] = values[x.first + i * x.stride];
  }
  static void reverse(const operation& op, const run_context&, const S*, S* adjoints) {
    const span& x = op.operands[0];
    if (!x.active) return;
    for (std::uint32_t i = 0; i < op.count; ++i) adjoints[x.first + i * x.stride] += adjoints[op.result + i];
  }

 private:
  [[noreturn]] AGRAD_COLD static void fail(const std::uint32_t* integers, long index, double value, const condition& must) {
    const check_names names(integers + 1);
    agrad::detail::fail_check(names[0], names[1], index, value, must, {});
  }
};

/// integers = {place of the relation, text}
template <class S>
struct checked_pair_loops {
  static bool fits(const operation_view& v) {
    return v.has(2, check_integers) && v.integers[0] < std::size(must_be::all_relations) && v.is_entrywise(0, v.op.count) &&
           v.is_entrywise(1, v.op.count);
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const span &x = op.operands[0], &y = op.operands[1];
    const std::uint32_t* integers = context.integers + op.data;
    const relation& must = *must_be::all_relations[integers[0]];
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const S &first = values[x.first + i * x.stride], &second = values[y.first + i * y.stride];
      if (AGRAD_UNLIKELY(!must.holds(detail::primal(first), detail::primal(second))))
        fail(integers, x.stride == 0 || op.count == 1 ? -1 : static_cast<long>(i), detail::primal(first), must,
             detail::primal(second));
      values[op.result + i] = first;
    }
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    checked_loops<S>::reverse(op, context, values, adjoints);
  }

 private:
  [[noreturn]] AGRAD_COLD static void fail(const std::uint32_t* integers, long index, double x, const relation& must,
                                           double y) {
    const check_names names(integers + 1);
    agrad::detail::fail_relation(names[0], names[1], index, x, must, names[2], y);
  }
};

AGRAD_INLINE constexpr kernel checked = make<checked_loops>("checked", {dependence::entrywise, true});
AGRAD_INLINE constexpr kernel checked_pair = make<checked_pair_loops>("checked_pair", {dependence::entrywise, true});

/// Records a check of n entries, whose condition, or relation, and names are integers.
AGRAD_INLINE slot record_check(recorder& in, const kernel& check, std::initializer_list<std::string_view> names,
                               std::size_t place, const span* operands, std::size_t arity, std::size_t n) {
  check_text text{};
  std::size_t length = 0;
  for (const std::string_view name : names) {
    if (length + name.size() + 1 > text.size()) throw std::logic_error("record_check: the names are too long");
    std::copy(name.begin(), name.end(), text.begin() + static_cast<std::ptrdiff_t>(length));
    length += name.size() + 1;
  }
  std::array<std::uint32_t, check_integers - 1> w{};
  std::memcpy(w.data(), text.data(), text.size());
  return in.apply(check, n, operands, arity,
                  {static_cast<std::uint32_t>(place), w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11],
                   w[12], w[13], w[14], w[15]});
}

}  // namespace kernels

AGRAD_INLINE slot record_checked(recorder& in, std::string_view function, std::string_view argument, std::size_t condition,
                                 const span& x, std::size_t n) {
  return kernels::record_check(in, kernels::checked, {function, argument}, condition, &x, 1, n);
}
AGRAD_INLINE slot record_checked_pair(recorder& in, std::string_view function, std::string_view first, std::string_view second,
                                      std::size_t relation, const span& x, const span& y, std::size_t n) {
  const span operands[] = {x, y};
  return kernels::record_check(in, kernels::checked_pair, {function, first, second}, relation, operands, 2, n);
}

}  // namespace agrad
