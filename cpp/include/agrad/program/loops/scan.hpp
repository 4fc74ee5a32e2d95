// Scan: an operation that runs a loop over a body. The body is recorded once, for any number of steps.
//
//     auto step = std::make_shared<body>("scan(f)", inputs);      // carry and entries of xs
//     step->add({program, captured});
//     scan_loop loop;  loop.length = 100'000;  loop.carry = 2;
//     auto f = std::make_shared<scan_operation>(step, loop, captured);
//     slot y = recorder.apply(f, x, f->output_size(), with_adjoint);
//
// The operand is one vector: the carry, the captured values, and those xs that are not constants, one after the other; the
// result is the last carry and then ys. A choice between branches is a loop of one step without a carry.
// Read next: program/loops/scan_run.hpp (a run), program/loops/body.hpp (the paths).
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/scan_run.hpp>
#include <agrad/program/store/portable.hpp>

namespace agrad {

class scan_operation final : public external_operation {
 public:
  scan_operation(std::shared_ptr<body> of, scan_loop loop, std::size_t captured = 0)
      : body_(std::move(of)), loop_(std::move(loop)), captured_(captured) {}

  std::string_view name() const override { return body_->name(); }
  std::size_t input_size() const { return loop_.carry + captured_ + loop_.recorded(); }
  std::size_t output_size() const { return loop_.carry + (body_->output_size() - loop_.carry) * loop_.length; }
  /// Return the body, and how the loop runs it, for code that inspects a program.
  const body& inspected_body() const { return *body_; }
  const scan_loop& loop() const { return loop_; }
  std::size_t captured() const { return captured_; }
  bool has_tangents() const override { return first_without_tangents(2) == nullptr; }
  bool has_first_tangents() const override { return first_without_tangents(1) == nullptr; }
  const external_operation* first_without_tangents(int order) const override { return body_->first_without_tangents(order); }

  AGRAD_INLINE bool has_formulas() const override;
  AGRAD_INLINE std::vector<slot> record(recorder& in, const span& x) const override;

  static constexpr std::string_view stored_kind = "scan";
  std::string_view kind() const override { return stored_kind; }
  AGRAD_INLINE bool fits(std::size_t arguments, std::size_t results) const override;
  AGRAD_INLINE void write(portable_writer& to) const override;
  static std::shared_ptr<const external_operation> read(portable_reader& from);

  AGRAD_INLINE std::unique_ptr<external_operation::state> make_state() const override;

  AGRAD_INLINE void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override;

  AGRAD_INLINE void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override;

  AGRAD_INLINE void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override;

  AGRAD_INLINE void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
                           double* x_adjoint, double* x_adjoint_tangent) const override;

  AGRAD_INLINE bool met_zero(const external_operation::state& s) const override;
  AGRAD_INLINE void reverse_carefully(external_operation::state& s, int width, const marked_adjoints& y,
                                      const marked_adjoints& x, const std::vector<bool>& varies) const override;

  /// Runs the loop before the operation is recorded, while the body may still capture values; recording then takes over the
  /// result, which is also returned. The first path must be recorded, and only the caller may know the operation.
  const std::vector<double>& prepare(const double* carry, const double* xs, std::vector<double> captured, bool with_adjoint);

 private:
  struct scan_state final : external_operation::state {
    explicit scan_state(const scan_operation& of) : run(*of.body_, of.loop_) {}
    detail::scan_run run;
    std::vector<double> first;  // result of a run before the operation was recorded
  };

  void check_tangents(int order) const;

  std::shared_ptr<body> body_;
  scan_loop loop_;
  std::size_t captured_;
  mutable std::unique_ptr<external_operation::state> ready_;  // moved out by the recording thread
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/loops/scan.ipp>
#endif
