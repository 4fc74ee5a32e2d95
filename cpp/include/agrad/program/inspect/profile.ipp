// Definitions of program/inspect/profile.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/inspect/profile.hpp>
#include <agrad/program/machine/straight.hpp>

namespace agrad::detail {

AGRAD_INLINE double nanoseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

AGRAD_INLINE double median_of(std::vector<double>& x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

AGRAD_INLINE profiler::profiler(const program& f, workspace& w, const double* x, const double* y_adjoint, std::size_t repeats)
    : f_(f), w_(w), x_(x), y_adjoint_(y_adjoint), repeats_(repeats), y_(f.output_size()), x_adjoint_(f.input_size()) {
  result_.repeats = repeats;
  time_all();
  time_operations();
  split_kernels();
}

AGRAD_INLINE void profiler::time_all() {
  std::vector<double> forward(repeats_), backward(repeats_);
  for (std::size_t r = 0; r < repeats_; ++r) {
    const auto begin = clock::now();
    f_.forward(w_, x_, y_.data(), true);
    forward[r] = nanoseconds_since(begin);
    const auto middle = clock::now();
    f_.reverse(w_, y_adjoint_, x_adjoint_.data());
    backward[r] = nanoseconds_since(middle);
  }
  result_.forward = median_of(forward);
  result_.backward = median_of(backward);
}

AGRAD_INLINE void profiler::time_operations() {
  const auto& operations = f_.code().operations;
  const std::size_t n = operations.size();
  std::vector<double> forward(n * repeats_), backward(n * repeats_), nothing(repeats_);
  for (std::size_t r = 0; r < repeats_; ++r) {
    f_.forward(w_, x_, y_.data(), true);
    const run_context context = w_.context(f_.code(), true);
    const auto timed = [](const auto& call) {
      const auto begin = clock::now();
      call();
      return nanoseconds_since(begin);
    };
    nothing[r] = timed([] {});
    for (std::size_t i = 0; i < n; ++i)
      forward[i * repeats_ + r] = timed([&] { operations[i].what->forward(operations[i], context, w_.values.data()); });
    w_.adjoints.assign(f_.size(), 0.0);
    for (std::size_t i = 0; i < f_.output_size(); ++i) w_.adjoints[f_.outputs()[i]] += y_adjoint_[i];
    for (std::size_t i = n; i-- > 0;) {
      backward[i * repeats_ + r] =
          timed([&] { operations[i].what->reverse(operations[i], context, w_.values.data(), w_.adjoints.data()); });
    }
  }
  const double looking = median_of(nothing);
  const auto medians = [&](const std::vector<double>& times) {
    std::vector<double> result, one;
    for (std::size_t i = 0; i < n; ++i) {
      one.assign(times.begin() + static_cast<std::ptrdiff_t>(i * repeats_),
                 times.begin() + static_cast<std::ptrdiff_t>((i + 1) * repeats_));
      result.push_back(std::max(0.0, median_of(one) - looking));
    }
    return result;
  };
  forward_ = medians(forward);
  backward_ = medians(backward);
}

AGRAD_INLINE void profiler::split_kernels() {
  const unrolled apart(f_.code());
  auto part = apart.operations().begin();
  for (std::size_t i = 0; i < forward_.size(); ++i) {
    const operation& op = f_.code().operations[i];
    if (op.what != &kernels::straight) {
      append(*part++, forward_[i], backward_[i]);
      continue;
    }
    const instruction* step = f_.code().instructions.data() + op.data;
    step_time all;
    for (std::uint32_t k = 0; k < op.count; ++k) {
      all.forward += time_of(step[k]).forward;
      all.backward += time_of(step[k]).backward;
    }
    for (std::uint32_t k = 0; k < op.count; ++k) {
      const step_time own = time_of(step[k]);
      append(*part++, forward_[i] * own.forward / all.forward, backward_[i] * own.backward / all.backward);
    }
  }
}

AGRAD_INLINE void profiler::append(const operation& op, double forward, double backward) {
  slot first = 0;
  if (op.what->depends.how == dependence::gathered && op.count > 0)
    first = f_.code().integers[op.data];
  else if (op.arity > 0)
    first = op.operands[0].listed ? f_.code().integers[op.operands[0].first] : op.operands[0].first;
  std::vector<slot> reads;
  for (std::uint32_t k = 0; k < op.arity; ++k)
    if (!op.operands[k].listed) reads.push_back(op.operands[k].first);
  result_.operations.push_back({name_in(op, f_.code()), op.result, op.count, first, forward, backward, std::move(reads)});
}

AGRAD_INLINE profiler::step_time profiler::time_of(const instruction& step) {
  const auto [known, is_new] = steps_.try_emplace(step.what);
  if (is_new) known->second = measured(step);
  return known->second;
}

AGRAD_INLINE profiler::step_time profiler::measured(const instruction& step) {
  constexpr std::size_t copies = 64, rounds = 9;
  const std::size_t y = f_.size();
  if (values_.empty()) {
    values_.assign(w_.values.begin(), w_.values.end());
    values_.resize(y + copies);
    adjoints_.assign(values_.size(), 1.0);
  }
  std::vector<instruction> code(copies + 2, step);
  code.front() = code.back() = {&straight_stop::steps, {}};
  step_time best{infinity, infinity};
  for (std::size_t r = 0; r < rounds; ++r) {
    const auto begin = clock::now();
    step.what->forward(&code[1], values_.data(), y);
    best.forward = std::min(best.forward, nanoseconds_since(begin));
    const auto middle = clock::now();
    step.what->reverse(&code[copies], values_.data(), adjoints_.data(), y + copies - 1);
    best.backward = std::min(best.backward, nanoseconds_since(middle));
  }
  return {std::max(best.forward, 1.0), std::max(best.backward, 1.0)};
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE program_profile profile(const program& f, workspace& w, const double* x, const double* y_adjoint,
                                     std::size_t repeats) {
  return detail::profiler(f, w, x, y_adjoint, repeats).result();
}

}  // namespace agrad
