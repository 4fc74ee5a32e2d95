// Definitions of program/loops/scan_steps.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/loops/scan_steps.hpp>
#include <agrad/program/recording/record.hpp>
#include <agrad/program/schedule/inlined.hpp>

namespace agrad {

namespace detail {

/// The recording of a loop's steps.
class recorded_loop {
 public:
  recorded_loop(recorder& in, const body& of, const scan_loop& loop, std::size_t captured, const span& x)
      : in_(in), body_(of), loop_(loop), captured_(captured), carry_(loop.carry), first_(x.first) {
    std::iota(carry_.begin(), carry_.end(), first_);
    std::size_t results = 0;
    for (const std::size_t size : loop.ys) results += size * loop.length;
    ys_.resize(results);
  }

  std::vector<slot> record() {
    interrupt_pace pace(body_.output_size());
    for (std::size_t step = 0; step < loop_.length; ++step, pace.step()) record_step(step);
    std::vector<slot> result = std::move(carry_);
    result.insert(result.end(), ys_.begin(), ys_.end());
    return result;
  }

 private:
  void record_step(std::size_t step) {
    std::vector<slot> inputs = local_inputs(step);
    for (std::size_t i = 0; i < captured_; ++i) inputs.push_back(first_ + static_cast<slot>(loop_.carry + i));
    const body_path& path = path_at(inputs);
    inputs.resize(body_.input_size() + path.captured);
    const std::vector<slot> outputs = record_inlined(in_, *path.code, inputs);
    std::copy_n(outputs.begin(), loop_.carry, carry_.begin());
    std::size_t output = loop_.carry, begin = 0;
    for (const std::size_t size : loop_.ys) {
      std::copy_n(outputs.data() + output, size, ys_.data() + begin + loop_.entry(step) * size);
      output += size;
      begin += size * loop_.length;
    }
  }

  std::vector<slot> local_inputs(std::size_t step) {
    std::vector<slot> inputs = carry_;
    const std::size_t entry = loop_.entry(step);
    if (loop_.counts) inputs.push_back(in_.constant(loop_.first + static_cast<double>(entry)));
    auto recorded = static_cast<slot>(first_ + loop_.carry + captured_);
    for (const scan_loop::sequence& x : loop_.xs) {
      const slot from = x.is_constant ? in_.constant(x.constants.data() + entry * x.size, x.size)
                                      : static_cast<slot>(recorded + entry * x.size);
      for (std::size_t i = 0; i < x.size; ++i) inputs.push_back(from + static_cast<slot>(i));
      if (!x.is_constant) recorded += static_cast<slot>(x.size * loop_.length);
    }
    return inputs;
  }

  /// Returns the path that is valid for the present values of local inputs and captured values.
  const body_path& path_at(const std::vector<slot>& inputs) {
    if (body_.size() == 1) return body_.path(0);
    std::vector<double> x(inputs.size()), y(body_.output_size());
    std::transform(inputs.begin(), inputs.end(), x.begin(), [&](slot s) { return in_.value(s); });
    works_.resize(body_.size());
    for (std::size_t i = 0; i < body_.size(); ++i) {
      if (works_[i] == nullptr) works_[i] = std::make_unique<workspace>();
      try {
        body_.path(i).code->forward(*works_[i], x.data(), y.data(), false);
        return body_.path(i);
      } catch (const kernels::path_left&) {  // another one is valid
      }
    }
    throw kernels::path_left{};
  }

  recorder& in_;
  const body& body_;
  const scan_loop& loop_;
  std::size_t captured_;
  std::vector<slot> carry_, ys_;
  slot first_;
  std::vector<std::unique_ptr<workspace>> works_;  // for each path
};

}  // namespace detail

AGRAD_INLINE std::vector<slot> record_steps(recorder& in, const body& of, const scan_loop& loop, std::size_t captured,
                                            const span& x) {
  return detail::recorded_loop(in, of, loop, captured, x).record();
}

}  // namespace agrad
