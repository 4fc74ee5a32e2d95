// Definitions of program/loops/scan_run.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/scan_run.hpp>

namespace agrad::detail {

AGRAD_INLINE scan_run::scan_run(body& of, const scan_loop& loop)
    : body_(of), loop_(loop), length_(loop.segment_length()), local_(of.input_size()) {
  for (std::size_t i = 0; i < body::most_paths; ++i) follows_[i] = static_cast<std::uint8_t>(i);
}

AGRAD_INLINE void scan_run::forward(const double* carry, std::vector<double> captured, const double* xs, double* y,
                                    bool with_adjoint) {
  captured_ = std::move(captured);
  xs_.assign(xs, xs + loop_.recorded());
  for (auto& each : spaces_)
    if (each != nullptr) each->begin_values(captured_);
  pace_.begin(body_.size() > 0 ? body_.path(0).code->size() : 4096);
  starts_.resize(with_adjoint ? segments() * loop_.carry : 0);
  segment_ = tangents_segment_ = tangents_at_ = path_spaces::nothing;
  slopes_ = {};
  const std::size_t results = with_adjoint ? space_of(0).results() : 0, steps = std::min(length_, loop_.length);
  stored_stride_ = results * steps <= loop_.most_stored ? results : 0;
  stored_.resize(with_adjoint ? stored_stride_ * steps : 0);
  std::copy_n(carry, loop_.carry, local_.data());
  for (std::size_t s = 0; s < segments(); ++s) {
    if (with_adjoint) std::copy_n(local_.data(), loop_.carry, starts_.data() + s * loop_.carry);
    run_segment(s, with_adjoint, y + loop_.carry);
  }
  std::copy_n(local_.data(), loop_.carry, y);
}

AGRAD_INLINE void scan_run::forward_again(const double* xs, double* y) {
  pace_.step();
  segment_ = tangents_segment_ = tangents_at_ = path_spaces::nothing;
  std::copy_n(xs, local_.size(), local_.data());
  const path_spaces& at = *spaces_[run_step(0, false)];
  for (std::size_t i = 0, n = body_.output_size(); i < n; ++i) y[i] = at.output(i);
}

AGRAD_INLINE bool scan_run::has_infinite_slope(int order) {
  slopes_are& all = slopes_[static_cast<std::size_t>(order) - 1];
  if (all != slopes_are::unknown) return all == slopes_are::infinite;
  all = slopes_are::finite;
  for (std::size_t s = segments(); s-- > 0 && all == slopes_are::finite;) {
    need_segment<0>(s);
    for (std::size_t step = s * length_; step < end_of(s) && all == slopes_are::finite; ++step, pace_.step())
      if (need_values(step).has_infinite_slope(order)) all = slopes_are::infinite;
  }
  return all == slopes_are::infinite;
}

AGRAD_INLINE void scan_run::drop_denormal(std::vector<double>& adjoints) {
  for (double& each : adjoints)
    if (std::abs(each) < std::numeric_limits<double>::min()) each = 0;
}

AGRAD_INLINE void scan_run::run_segment(std::size_t s, bool stores, double* ys) {
  const std::size_t begin = s * length_, end = end_of(s), c = loop_.carry;
  segment_ = path_spaces::nothing;
  segment_begin_ = begin;
  if (stores) {
    carries_.resize(std::min(length_, loop_.length) * c);
    paths_.resize(std::min(length_, loop_.length));
  }
  for (std::size_t step = begin; step < end; ++step) {
    pace_.step();
    fill_entries(step);
    if (stores) copy_few(local_.data(), c, carries_.data() + (step - begin) * c);
    const std::size_t path = run_step(step, stores && step + 1 == end);
    if (stores) paths_[step - begin] = static_cast<std::uint8_t>(path);
    const path_spaces& at = *spaces_[path];
    if (stores && has_stored(at)) at.save(stored_.data() + (step - begin) * stored_stride_);
    for (std::size_t i = 0; i < c; ++i) local_[i] = at.output(i);
    if (ys != nullptr) each_y(step, [&](std::size_t output, std::size_t place) { ys[place] = at.output(output); });
  }
  if (stores) segment_ = s;
}

AGRAD_INLINE std::size_t scan_run::run_step(std::size_t step, bool with_adjoint) {
  const auto holds = [&](std::size_t path) { return space_of(path).run(local_.data(), with_adjoint); };
  const std::size_t likely = follows_[last_];
  std::size_t path = likely;
  if (!holds(likely)) {
    for (path = 0;; ++path) {
      if (path == body_.size()) body_.grow(path, local_.data(), captured_);
      if (path != likely && holds(path)) break;
    }
  }
  space_of(path).holds = step;
  follows_[last_] = static_cast<std::uint8_t>(path);
  last_ = path;
  return path;
}

AGRAD_INLINE path_spaces& scan_run::space_of(std::size_t path) {
  auto& found = spaces_[path];
  if (found == nullptr) {
    found = std::make_unique<path_spaces>(body_.path(path), local_.size());
    found->begin_values(captured_);
  }
  return *found;
}

AGRAD_INLINE void scan_run::fill_entries(std::size_t step) {
  double* to = local_.data() + loop_.carry;
  const std::size_t entry = loop_.entry(step);
  if (loop_.counts) *to++ = loop_.first + static_cast<double>(entry);
  const double* recorded = xs_.data();
  for (const scan_loop::sequence& x : loop_.xs) {
    copy_few((x.is_constant ? x.constants.data() : recorded) + entry * x.size, x.size, to);
    to += x.size;
    if (!x.is_constant) recorded += x.size * loop_.length;
  }
}

AGRAD_INLINE path_spaces& scan_run::need_values(std::size_t step) {
  path_spaces& at = *spaces_[paths_[offset(step)]];
  if (at.holds == step && at.can_reverse) return at;
  copy_few(carries_.data() + offset(step) * loop_.carry, loop_.carry, local_.data());
  fill_entries(step);
  if (has_stored(at))
    at.restore(local_.data(), stored_.data() + offset(step) * stored_stride_);
  else if (!at.run(local_.data(), true))
    throw std::logic_error(body_.name() + ": a step took another path when it was computed again, but must take the same");
  at.holds = step;
  tangents_at_ = path_spaces::nothing;
  return at;
}

}  // namespace agrad::detail
