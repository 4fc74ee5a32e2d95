// Careful scan: the careful reverse pass (program/machine/careful.hpp) of a loop over a body.
//
// Marks follow the adjoints from step to step. The adjoints of captured values are added after each step, unlike in the
// ordinary pass, so that every step begins with adjoints and marks of zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <agrad/program/loops/scan_run.hpp>

namespace agrad::detail {

template <int Width>
class careful_scan {
 public:
  /// varies: for the carry, the captured values and xs, whether they are not constant. The carry of later steps always varies.
  careful_scan(scan_run& of, const std::vector<bool>& varies) : of_(of), carry_(of.loop_.carry), varies_(varies) {}

  /// Adds the transposed Jacobian times the adjoints of y to those of x.
  void run(const marked_adjoints& y, const marked_adjoints& x) {
    numbers back(carry_);
    add_range(y, carry_, back.view());
    for (std::size_t s = of_.segments(); s-- > 0;) {
      of_.template need_segment<Width>(s);
      for (std::size_t step = of_.end_of(s); step-- > s * of_.length_;)
        if (is_marked(step, back, y)) run_step(step, back, y, x);
    }
    add_range(back.view(), carry_, x);
  }

 private:
  /// Adjoints with their marks.
  struct numbers {
    explicit numbers(std::size_t n) : adjoints(n), tangents(n * Width), marks(n), tangent_marks(n * Width) {}
    marked_adjoints view() { return {adjoints.data(), tangents.data(), marks.data(), tangent_marks.data()}; }
    std::vector<double> adjoints, tangents, marks, tangent_marks;
  };

  static marked_adjoints at(const marked_adjoints& all, std::size_t i) {
    return {all.adjoints + i, all.tangents + i * Width, all.marks + i, all.tangent_marks + i * Width};
  }
  static void add_one(const marked_adjoints& from, const marked_adjoints& to) {
    *to.adjoints += *from.adjoints;
    *to.marks = *from.marks != 0 ? 1.0 : *to.marks;
    for (std::size_t k = 0; k < Width; ++k) {
      to.tangents[k] += from.tangents[k];
      to.tangent_marks[k] = from.tangent_marks[k] != 0 ? 1.0 : to.tangent_marks[k];
    }
  }
  static void add_range(const marked_adjoints& from, std::size_t n, const marked_adjoints& to) {
    for (std::size_t i = 0; i < n; ++i) add_one(at(from, i), at(to, i));
  }
  static bool has_mark(const marked_adjoints& x) {
    return *x.marks != 0 || std::any_of(x.tangent_marks, x.tangent_marks + Width, [](double mark) { return mark != 0; });
  }

  bool is_marked(std::size_t step, numbers& back, const marked_adjoints& y) const {
    bool found = false;
    for (std::size_t i = 0; i < carry_; ++i) found = found || has_mark(at(back.view(), i));
    of_.each_y(step, [&](std::size_t, std::size_t place) { found = found || has_mark(at(y, carry_ + place)); });
    return found;
  }

  void run_step(std::size_t step, numbers& back, const marked_adjoints& y, const marked_adjoints& x) {
    path_spaces& here = of_.template need_step<Width>(step);
    here.template begin_adjoints<Width>(++of_.adjoints_number_);
    of_.template seed<Width>(here, step, back.adjoints.data(), back.tangents.data(), y.adjoints, y.tangents);
    careful_reverse pass = here.begin_careful(Width, varying_inputs(here, step));
    for (std::size_t i = 0; i < carry_; ++i) mark_output(pass, here.output_slot(i), at(back.view(), i));
    of_.each_y(step, [&](std::size_t output, std::size_t place) {
      mark_output(pass, here.output_slot(output), at(y, carry_ + place));
    });
    pass.run();
    back = numbers(carry_);
    add_inputs(here, pass, 0, carry_, back.view());
    add_inputs(here, pass, of_.local_.size(), here.captured(), at(x, carry_));
    of_.each_x(step, [&](std::size_t input, std::size_t place, std::size_t size) {
      add_inputs(here, pass, input, size, at(x, carry_ + of_.captured_.size() + place));
    });
  }

  std::vector<slot> varying_inputs(const path_spaces& here, std::size_t step) const {
    std::vector<slot> slots;
    for (std::size_t i = 0; i < carry_; ++i) slots.push_back(here.input_slot(i));
    for (std::size_t i = 0; i < here.captured(); ++i)
      if (varies_[carry_ + i]) slots.push_back(here.input_slot(of_.local_.size() + i));
    of_.each_x(step, [&](std::size_t input, std::size_t place, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i)
        if (varies_[carry_ + of_.captured_.size() + place + i]) slots.push_back(here.input_slot(input + i));
    });
    return slots;
  }

  static void mark_output(careful_reverse& pass, slot s, const marked_adjoints& from) {
    if (*from.marks != 0) pass.mark(s) = 1;
    for (std::size_t k = 0; k < Width; ++k)
      if (from.tangent_marks[k] != 0) pass.tangent_marks(s)[k] = 1;
  }

  /// Adds the adjoints of n inputs of the step from number `first`, with their marks.
  static void add_inputs(const path_spaces& here, careful_reverse& pass, std::size_t first, std::size_t n,
                         const marked_adjoints& to) {
    for (std::size_t i = 0; i < n; ++i) {
      numbers one(1);
      const slot s = here.input_slot(first + i);
      here.template add_adjoints_to<Width>(first + i, 1, one.adjoints.data(), one.tangents.data());
      one.marks[0] = pass.mark(s);
      std::copy_n(pass.tangent_marks(s), Width, one.tangent_marks.data());
      add_one(one.view(), at(to, i));
    }
  }

  scan_run& of_;
  std::size_t carry_;
  const std::vector<bool>& varies_;
};

}  // namespace agrad::detail
