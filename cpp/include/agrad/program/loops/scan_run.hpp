// Scan run: runs a loop over a body, in the forward pass, with tangents, and in the reverse pass.
//
// Before a reverse pass, a run stores the carry at the start of every step, and the numbers that the body computes only where
// they are few: otherwise the reverse pass computes each step again and propagates its adjoints while the values are in the
// cache. Steps are stored in segments. There is one segment, the whole loop; or, with checkpoints, about as many segments as
// each has steps. Then only the carry at the start of every segment is stored, and the reverse pass computes the steps of a
// segment again when it gets there (Griewank and Walther, Evaluating Derivatives, section 12.2: two levels of checkpoints).
// Read next: program/loops/scan.hpp, the operation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <agrad/program/loops/body.hpp>
#include <agrad/program/loops/scan_loop.hpp>

namespace agrad::detail {

class scan_run final : public external_operation::state {
 public:
  scan_run(body& of, const scan_loop& loop);

  /// Runs the loop. x: the carry, then `captured`, then xs. y: the carry, then ys.
  void forward(const double* carry, std::vector<double> captured, const double* xs, double* y, bool with_adjoint);

  /// After `forward` of a loop of one step that has no carry: computes y for other xs and the same captured values. No pass for
  /// derivatives may follow.
  void forward_again(const double* xs, double* y);

  /// Propagates tangents. x_tangents: the tangents of the carry, of `captured`, of xs.
  template <int Width>
  void tangent(const double* x_tangents, double* y_tangents) {
    const std::size_t c = loop_.carry;
    x_tangents_.assign(x_tangents, x_tangents + (c + captured_.size() + xs_.size()) * Width);
    start_tangents_.resize(segments() * c * Width);
    carry_tangents_.resize(std::min(length_, loop_.length) * c * Width);
    local_tangents_.assign(local_.size() * Width, 0.0);
    ++tangents_number_;
    std::copy_n(x_tangents, c * Width, local_tangents_.data());
    tangents_segment_ = tangents_at_ = path_spaces::nothing;
    for (std::size_t s = 0; s < segments(); ++s) {
      std::copy_n(local_tangents_.data(), c * Width, start_tangents_.data() + s * c * Width);
      run_segment_tangents<Width>(s, y_tangents + c * Width);
    }
    std::copy_n(local_tangents_.data(), c * Width, y_tangents);
  }

  /// Adds the transposed Jacobian times y_adjoint to x_adjoint. Width > 0: also propagates the adjoints' tangents, for the
  /// directions of the last `tangent`.
  template <int Width>
  void reverse(const double* y_adjoint, const double* y_tangents, double* x_adjoint, double* x_tangents) {
    const std::size_t c = loop_.carry;
    std::vector<double> back(y_adjoint, y_adjoint + c), back_tangents(y_tangents, y_tangents + c * Width);
    bool has_skipped = false;
    met_zero_ = false;
    ++adjoints_number_;
    for (std::size_t s = segments(); s-- > 0;) {
      need_segment<Width>(s);
      for (std::size_t step = end_of(s); step-- > s * length_;) {
        if (!has_seed<Width>(step, back, back_tangents, y_adjoint, y_tangents)) {  // no result of this step was used
          has_skipped = true;
          continue;
        }
        path_spaces& at = need_step<Width>(step);
        if (at.adjoints_of == adjoints_number_)
          at.template clear_adjoints<Width>();
        else
          at.template begin_adjoints<Width>(adjoints_number_);
        seed<Width>(at, step, back.data(), back_tangents.data(), y_adjoint, y_tangents);
        at.template reverse<Width>();
        met_zero_ = met_zero_ || at.template met_zero<Width>();
        at.template get<Width>(c, back.data(), back_tangents.data());
        drop_denormal(back), drop_denormal(back_tangents);
        add_entry_adjoints<Width>(at, step, x_adjoint, x_tangents);
      }
    }
    for (std::size_t i = 0; i < c; ++i) x_adjoint[i] += back[i];
    for (std::size_t i = 0; i < c * Width; ++i) x_tangents[i] += back_tangents[i];
    for (auto& each : spaces_)
      if (each != nullptr && each->adjoints_of == adjoints_number_)
        each->template add_adjoints_to<Width>(local_.size(), each->captured(), x_adjoint + c, x_tangents + c * Width);
    met_zero_ = met_zero_ || (has_skipped && has_infinite_slope(Width == 0 ? 1 : 2));
  }
  /// Returns whether the last reverse pass met a zero at a slope that is not finite.
  bool met_zero() const { return met_zero_; }

  const std::vector<double>& captured() const { return captured_; }

 private:
  template <int Width>
  friend class careful_scan;

  /// Returns whether a derivative of an order up to `order` may be infinite in a step.
  bool has_infinite_slope(int order);

  std::size_t segments() const { return (loop_.length + length_ - 1) / length_; }
  std::size_t end_of(std::size_t segment) const { return std::min(loop_.length, (segment + 1) * length_); }

  /// Sets denormal adjoints to zero; they would stay denormal and make all further steps twenty times slower.
  static void drop_denormal(std::vector<double>& adjoints);

  /// Runs the steps of a segment from the carry in local_ and, if `stores`, stores the carries. ys may be null.
  void run_segment(std::size_t s, bool stores, double* ys);

  bool has_stored(const path_spaces& at) const { return at.is_plain() && at.results() <= stored_stride_; }

  /// Runs the path that is valid for the local inputs and returns its number. Tries first the path that last followed the
  /// previous path.
  std::size_t run_step(std::size_t step, bool with_adjoint);

  path_spaces& space_of(std::size_t path);

  /// Writes the local inputs after the carry.
  void fill_entries(std::size_t step);

  /// Calls use(output of the body, index in ys) for each number of ys that a step computes.
  template <class Use>
  void each_y(std::size_t step, const Use& use) const {
    std::size_t output = loop_.carry, first = loop_.entry(step), begin = 0;
    for (const std::size_t size : loop_.ys) {
      for (std::size_t i = 0; i < size; ++i) use(output++, begin + first * size + i);
      begin += size * loop_.length;
    }
  }

  /// Calls use(local input, index among the operand's xs, size) for each recorded entry of xs that a step reads.
  template <class Use>
  void each_x(std::size_t step, const Use& use) const {
    std::size_t input = loop_.carry + (loop_.counts ? 1 : 0), begin = 0;
    for (const scan_loop::sequence& x : loop_.xs) {
      if (!x.is_constant) use(input, begin + loop_.entry(step) * x.size, x.size);
      begin += x.is_constant ? 0 : x.size * loop_.length;
      input += x.size;
    }
  }

  // ---- repeated computations for the passes with tangents and the reverse pass

  std::size_t offset(std::size_t step) const { return step - segment_begin_; }

  /// Provides the carries of a segment, and their tangents.
  template <int Width>
  void need_segment(std::size_t s) {
    if (segment_ != s) {
      std::copy_n(starts_.data() + s * loop_.carry, loop_.carry, local_.data());
      run_segment(s, true, nullptr);
    }
    if constexpr (Width > 0) {
      if (tangents_segment_ == s) return;
      const std::size_t n = loop_.carry * Width;
      std::copy_n(start_tangents_.data() + s * n, n, local_tangents_.data());
      run_segment_tangents<Width>(s, nullptr);
    }
  }

  /// Returns the spaces with the values of a step of the present segment, ready for a reverse pass.
  path_spaces& need_values(std::size_t step);
  template <int Width>
  path_spaces& need_step(std::size_t step) {
    pace_.step();
    path_spaces& at = need_values(step);
    if constexpr (Width > 0) {
      if (tangents_at_ == step) return at;
      const std::size_t n = loop_.carry * Width;
      std::copy_n(carry_tangents_.data() + offset(step) * n, n, local_tangents_.data());
      run_step_tangents<Width>(at, step);
    }
    return at;
  }

  template <int Width>
  void run_segment_tangents(std::size_t s, double* ys) {
    const std::size_t begin = s * length_, end = end_of(s), n = loop_.carry * Width;
    tangents_segment_ = path_spaces::nothing;
    need_segment<0>(s);
    for (std::size_t step = begin; step < end; ++step) {
      pace_.step();
      path_spaces& at = need_values(step);
      std::copy_n(local_tangents_.data(), n, carry_tangents_.data() + (step - begin) * n);
      run_step_tangents<Width>(at, step);
      for (std::size_t i = 0; i < loop_.carry; ++i)
        std::copy_n(at.output_tangent<Width>(i), Width, local_tangents_.data() + i * Width);
      if (ys == nullptr) continue;
      each_y(step, [&](std::size_t output, std::size_t place) {
        std::copy_n(at.output_tangent<Width>(output), Width, ys + place * Width);
      });
    }
    tangents_segment_ = s;
  }
  template <int Width>
  void run_step_tangents(path_spaces& at, std::size_t step) {
    if (at.tangents_of != tangents_number_)
      at.template begin_tangents<Width>(x_tangents_.data() + loop_.carry * Width, tangents_number_);
    const double* xs = x_tangents_.data() + (loop_.carry + captured_.size()) * Width;
    each_x(step, [&](std::size_t input, std::size_t place, std::size_t size) {
      std::copy_n(xs + place * Width, size * Width, local_tangents_.data() + input * Width);
    });
    at.run_tangents<Width>(local_tangents_.data(), loop_.carry);
    tangents_at_ = step;
  }

  /// Returns whether an adjoint of the results of a step is nonzero.
  template <int Width>
  bool has_seed(std::size_t step, const std::vector<double>& back, const std::vector<double>& back_tangents,
                const double* y_adjoint, const double* y_tangents) const {
    bool found = false;
    for (const double each : back) found = found || each != 0;
    for (const double each : back_tangents) found = found || each != 0;
    if (found) return true;
    each_y(step, [&](std::size_t, std::size_t place) {
      const std::size_t at = loop_.carry + place;
      found = found || y_adjoint[at] != 0;
      for (std::size_t k = 0; k < Width; ++k) found = found || y_tangents[at * Width + k] != 0;
    });
    return found;
  }
  template <int Width>
  void seed(path_spaces& at, std::size_t step, const double* back, const double* back_tangents, const double* y_adjoint,
            const double* y_tangents) const {
    const std::size_t c = loop_.carry;
    for (std::size_t i = 0; i < c; ++i) at.template seed<Width>(i, back[i], back_tangents + i * Width);
    each_y(step, [&](std::size_t output, std::size_t place) {
      at.template seed<Width>(output, y_adjoint[c + place], y_tangents + (c + place) * Width);
    });
  }
  template <int Width>
  void add_entry_adjoints(const path_spaces& at, std::size_t step, double* x_adjoint, double* x_tangents) const {
    const std::size_t begin = loop_.carry + captured_.size();
    each_x(step, [&](std::size_t input, std::size_t place, std::size_t size) {
      at.template add_adjoints_to<Width>(input, size, x_adjoint + begin + place, x_tangents + (begin + place) * Width);
    });
  }

  body& body_;
  const scan_loop& loop_;
  const std::size_t length_;  // steps of a segment
  std::array<std::unique_ptr<path_spaces>, body::most_paths> spaces_;
  std::array<std::uint8_t, body::most_paths> follows_;  // path -> the path that last followed it
  std::size_t last_ = 0;
  std::vector<double> captured_, xs_, x_tangents_;
  std::vector<double> local_, local_tangents_;    // inputs of a step
  std::vector<double> starts_, start_tangents_;   // carry at the start of each segment
  std::vector<double> carries_, carry_tangents_;  // carry at the start of each step of one segment
  std::vector<std::uint8_t> paths_;               // paths of these steps
  std::vector<double> stored_;                    // numbers computed by the body in these steps, if few
  std::size_t stored_stride_ = 0, segment_begin_ = 0;
  std::size_t segment_ = path_spaces::nothing, tangents_segment_ = path_spaces::nothing;
  std::size_t tangents_at_ = path_spaces::nothing;         // step whose tangents are in the spaces
  std::size_t tangents_number_ = 0, adjoints_number_ = 0;  // numbers of the current passes
  bool met_zero_ = false;
  std::array<slopes_are, 2> slopes_{};  // of all steps, of first order, and up to second order
  interrupt_pace pace_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/loops/scan_run.ipp>
#endif
