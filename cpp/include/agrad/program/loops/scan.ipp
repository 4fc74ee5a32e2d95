// Definitions of program/loops/scan.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/careful_scan.hpp>
#include <agrad/program/loops/scan.hpp>
#include <agrad/program/loops/scan_steps.hpp>
#include <agrad/program/loops/stored_body.hpp>
#include <agrad/program/schedule/inlined.hpp>

namespace agrad {

AGRAD_INLINE bool scan_operation::fits(std::size_t arguments, std::size_t results) const {
  return arguments == input_size() && results == output_size();
}

AGRAD_INLINE void scan_operation::write(portable_writer& to) const {
  write_body(to, *body_, captured_);
  to(loop_);
}

AGRAD_INLINE std::shared_ptr<const external_operation> scan_operation::read(portable_reader& from) {
  std::size_t captured = 0;
  scan_loop loop;
  std::shared_ptr<body> of = read_body(from, captured);
  from(loop);
  from.expect(loop.fits(of->input_size(), of->output_size(), captured), "a loop");
  return std::make_shared<const scan_operation>(std::move(of), std::move(loop), captured);
}

AGRAD_INLINE bool scan_operation::has_formulas() const {
  const std::vector<body_path> paths = body_->paths();
  const auto is_recordable = [](const body_path& path) { return agrad::has_formulas(*path.code); };
  return std::all_of(paths.begin(), paths.end(), is_recordable);
}

AGRAD_INLINE std::vector<slot> scan_operation::record(recorder& in, const span& x) const {
  return record_steps(in, *body_, loop_, captured_, x);
}

AGRAD_INLINE std::unique_ptr<external_operation::state> scan_operation::make_state() const {
  if (ready_ != nullptr) return std::move(ready_);
  return std::make_unique<scan_state>(*this);
}

AGRAD_INLINE void scan_operation::forward(external_operation::state& s, const double* x, double* y, bool with_adjoint) const {
  auto& mine = static_cast<scan_state&>(s);
  if (!mine.first.empty()) {
    std::copy(mine.first.begin(), mine.first.end(), y);
    mine.first = {};
    return;
  }
  const double* captured = x + loop_.carry;
  mine.run.forward(x, std::vector<double>(captured, captured + captured_), captured + captured_, y, with_adjoint);
}

AGRAD_INLINE void scan_operation::reverse(external_operation::state& s, const double* y_adjoint, double* x_adjoint) const {
  static_cast<scan_state&>(s).run.reverse<0>(y_adjoint, nullptr, x_adjoint, nullptr);
}

AGRAD_INLINE void scan_operation::tangent(external_operation::state& s, int width, const double* x_tangent,
                                          double* y_tangent) const {
  check_tangents(1);
  detail::scan_run& run = static_cast<scan_state&>(s).run;
  if (width == 1)
    run.tangent<1>(x_tangent, y_tangent);
  else
    run.tangent<lane_count>(x_tangent, y_tangent);
}

AGRAD_INLINE void scan_operation::second(external_operation::state& s, int width, const double* y_adjoint,
                                         const double* y_adjoint_tangent, double* x_adjoint, double* x_adjoint_tangent) const {
  check_tangents(2);
  detail::scan_run& run = static_cast<scan_state&>(s).run;
  if (width == 1)
    run.reverse<1>(y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
  else
    run.reverse<lane_count>(y_adjoint, y_adjoint_tangent, x_adjoint, x_adjoint_tangent);
}

AGRAD_INLINE bool scan_operation::met_zero(const external_operation::state& s) const {
  return static_cast<const scan_state&>(s).run.met_zero();
}

AGRAD_INLINE void scan_operation::reverse_carefully(external_operation::state& s, int width, const marked_adjoints& y,
                                                    const marked_adjoints& x, const std::vector<bool>& varies) const {
  detail::scan_run& run = static_cast<scan_state&>(s).run;
  if (width == 0)
    detail::careful_scan<0>(run, varies).run(y, x);
  else if (width == 1)
    detail::careful_scan<1>(run, varies).run(y, x);
  else
    detail::careful_scan<lane_count>(run, varies).run(y, x);
}

AGRAD_INLINE const std::vector<double>& scan_operation::prepare(const double* carry, const double* xs,
                                                                std::vector<double> captured, bool with_adjoint) {
  auto result = std::make_unique<scan_state>(*this);
  std::vector<double>& y = result->first;
  y.resize(output_size());
  result->run.forward(carry, std::move(captured), xs, y.data(), with_adjoint);
  captured_ = result->run.captured().size();
  ready_ = std::move(result);
  return y;
}

AGRAD_INLINE void scan_operation::check_tangents(int order) const {
  if (const external_operation* without = first_without_tangents(order)) without->fail_tangent();
}

}  // namespace agrad
