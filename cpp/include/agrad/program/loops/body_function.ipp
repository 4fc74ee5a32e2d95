// Definitions of program/loops/body_function.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/body_function.hpp>
#include <agrad/program/loops/careful_scan.hpp>
#include <agrad/program/machine/second_order.hpp>

namespace agrad::detail {

AGRAD_INLINE scan_loop one_call_of(const body& f) {
  scan_loop loop;
  loop.length = 1;
  loop.xs = {{f.input_size()}};
  loop.ys = {f.output_size()};
  return loop;
}

AGRAD_INLINE body_function::body_function(body& of) : body_(of), loop_(one_call_of(of)), run_(of, loop_) {}

AGRAD_INLINE void body_function::run(const double* x, double* y, bool with_adjoint) {
  const struct keep_captured {
    body_function& f;
    ~keep_captured() {  // also after an error
      if (f.run_.captured().size() != f.captured_.size()) f.captured_ = f.run_.captured();
    }
  } at_end{*this};
  if (has_run_ && !with_adjoint) return run_.forward_again(x, y);
  run_.forward(nullptr, captured_, x, y, with_adjoint);
  has_run_ = true;
}

template <int Width, class Use>
void body_function::along_inputs(const Use& use) {
  along_.assign((captured_.size() + inputs()) * Width, 0.0);
  tangents_.resize(outputs() * Width);
  double* own = along_.data() + captured_.size() * Width;
  for (std::size_t first = 0; first < inputs(); first += Width) {
    const std::size_t count = std::min<std::size_t>(Width, inputs() - first);
    for (std::size_t k = 0; k < count; ++k) own[(first + k) * Width + k] = 1;
    run_.tangent<Width>(along_.data(), tangents_.data());
    use(first, count);
    std::fill_n(own + first * Width, count * Width, 0.0);
  }
}

template <int Width>
void body_function::reverse(const std::vector<double>& y_adjoints, adjoints& x) {
  const std::size_t n = captured_.size() + inputs(), m = y_adjoints.size();
  std::vector<double> none(m * Width);
  x.values.assign(n, 0.0), x.tangents.assign(n * Width, 0.0);
  run_.reverse<Width>(y_adjoints.data(), none.data(), x.values.data(), x.tangents.data());
  if (!run_.met_zero()) return;
  std::vector<double> seeds = y_adjoints, marks = y_adjoints, no_marks(m * Width), found(n), found_tangents(n * Width);
  std::vector<bool> varies(n, true);
  std::fill_n(varies.begin(), captured_.size(), false);
  x.values.assign(n, 0.0), x.tangents.assign(n * Width, 0.0);
  careful_scan<Width>(run_, varies)
      .run({seeds.data(), none.data(), marks.data(), no_marks.data()},
           {x.values.data(), x.tangents.data(), found.data(), found_tangents.data()});
}

template <int Width>
void body_function::columns(double* to) {
  const std::size_t m = outputs();
  along_inputs<Width>([&](std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t i = 0; i < m; ++i) to[(first + k) * m + i] = tangents_[i * Width + k];
  });
}

AGRAD_INLINE void body_function::rows(double* to) {
  const std::size_t m = outputs();
  adjoints x;
  for (std::size_t i = 0; i < m; ++i) {
    std::vector<double> seed(m);
    seed[i] = 1;
    reverse<0>(seed, x);
    for (std::size_t j = 0; j < inputs(); ++j) to[j * m + i] = x.values[captured_.size() + j];
  }
}

AGRAD_INLINE void body_function::jacobian(const double* x, double* y, double* to) {
  run(x, y, true);
  if (body_.first_without_tangents(1) != nullptr)
    rows(to);
  else if (inputs() == 1)
    columns<1>(to);
  else
    columns<lane_count>(to);
}

template <int Width>
void body_function::second(double* gradient, double* to) {
  const std::size_t n = inputs(), captured = captured_.size();
  const std::vector<double> seed(1, 1.0);
  adjoints x;
  along_inputs<Width>([&](std::size_t first, std::size_t count) {
    reverse<Width>(seed, x);
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t i = 0; i < n; ++i) to[(first + k) * n + i] = x.tangents[(captured + i) * Width + k];
    std::copy_n(x.values.data() + captured, n, gradient);
  });
}

AGRAD_INLINE void body_function::hessian(const double* x, double& y, double* gradient, double* to) {
  const second_ahead announced;
  run(x, &y, true);
  if (const external_operation* without = body_.first_without_tangents(2)) without->fail_tangent();
  if (inputs() == 1)
    second<1>(gradient, to);
  else
    second<lane_count>(gradient, to);
}

}  // namespace agrad::detail
