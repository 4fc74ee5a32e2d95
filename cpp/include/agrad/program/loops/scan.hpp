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

#include <agrad/program/keep/portable.hpp>
#include <agrad/program/loops/scan_run.hpp>

namespace agrad {

class scan_operation final : public external_operation {
 public:
  scan_operation(std::shared_ptr<body> of, scan_loop loop, std::size_t captured = 0)
      : body_(std::move(of)), loop_(std::move(loop)), captured_(captured) {}

  std::string_view name() const override { return body_->name(); }
  std::size_t input_size() const { return loop_.carry + captured_ + loop_.recorded(); }
  std::size_t output_size() const { return loop_.carry + (body_->output_size() - loop_.carry) * loop_.length; }
  bool has_tangents() const override { return body_->first_without_tangents() == nullptr; }
  bool has_first_tangents() const override { return body_->first_without_tangents(1) == nullptr; }
  const external_operation* first_without_tangents(int order) const override { return body_->first_without_tangents(order); }

  static constexpr std::string_view kept_kind = "scan";
  std::string_view kind() const override { return kept_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override {
    return arguments == input_size() && results == output_size();
  }
  void write(portable_writer& to) const override { to(body_->name(), body_->input_size(), body_->paths(), captured_, loop_); }
  /// Reads a loop; its body has the stored paths and cannot record others.
  static std::shared_ptr<const external_operation> read(portable_reader& from) {
    std::string name;
    std::size_t inputs = 0, captured = 0;
    std::vector<body_path> paths;
    scan_loop loop;
    from(name, inputs, paths, captured, loop);
    const std::size_t outputs = paths.empty() ? 0 : paths[0].code->output_size();
    from.expect(!paths.empty() && paths.size() <= body::most_paths && loop.fits(inputs, outputs, captured), "a loop");
    auto of = std::make_shared<body>(std::move(name), inputs);
    for (body_path& path : paths) {
      from.expect(
          path.captured <= captured && path.code->input_size() == inputs + path.captured && path.code->output_size() == outputs,
          "a path of a loop");
      of->add(std::move(path));
    }
    return std::make_shared<const scan_operation>(std::move(of), std::move(loop), captured);
  }

  std::unique_ptr<external_operation::state> make_state() const override {
    if (ready_ != nullptr) return std::move(ready_);
    return std::make_unique<scan_state>(*this);
  }

  void forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const override {
    auto& mine = static_cast<scan_state&>(s);
    if (!mine.first.empty()) {
      std::copy(mine.first.begin(), mine.first.end(), y);
      mine.first = {};
      return;
    }
    const double* captured = x + loop_.carry;
    mine.run.forward(x, std::vector<double>(captured, captured + captured_), captured + captured_, y, with_adjoint);
  }

  void reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const override {
    static_cast<scan_state&>(s).run.reverse<0>(y_adjoint, nullptr, x_adjoint, nullptr);
  }

  void tangent(external_operation::state& s, int width, const double* x_tangent, double* y_tangent) const override {
    check_tangents(1);
    detail::scan_run& run = static_cast<scan_state&>(s).run;
    if (width == 1)
      run.tangent<1>(x_tangent, y_tangent);
    else
      run.tangent<lane_count>(x_tangent, y_tangent);
  }

  void second(external_operation::state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent,
              double* x_adjoint, double* x_adjoint_tangent) const override {
    check_tangents(2);
    detail::scan_run& run = static_cast<scan_state&>(s).run;
    if (width == 1)
      run.reverse<1>(y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
    else
      run.reverse<lane_count>(y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
  }

  /// Runs the loop before the operation is recorded, while the body may still capture values; recording then takes over the
  /// result, which is also returned. The first path must be recorded, and only the caller may know the operation.
  const std::vector<double>& prepare(const double* carry, const double* xs, std::vector<double> captured, bool with_adjoint) {
    auto made = std::make_unique<scan_state>(*this);
    std::vector<double>& y = made->first;
    y.resize(output_size());
    made->run.forward(carry, std::move(captured), xs, y.data(), with_adjoint);
    captured_ = made->run.captured().size();
    ready_ = std::move(made);
    return y;
  }

 private:
  struct scan_state final : external_operation::state {
    explicit scan_state(const scan_operation& of) : run(*of.body_, of.loop_) {}
    detail::scan_run run;
    std::vector<double> first;  // result of a run before the operation was recorded
  };

  void check_tangents(int order) const {
    if (const external_operation* without = first_without_tangents(order)) without->fail_tangent();
  }

  std::shared_ptr<body> body_;
  scan_loop loop_;
  std::size_t captured_;
  mutable std::unique_ptr<external_operation::state> ready_;  // moved out by the recording thread
};

}  // namespace agrad
