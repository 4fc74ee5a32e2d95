// Definitions of program/jacobian.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/jacobian.hpp>

namespace agrad {

AGRAD_INLINE void jacobian_columns(const program& f, workspace& w, const double* x, std::size_t first, std::size_t count,
                                   double* y, double* entries) {
  f.forward_for_tangents(w, x, y);
  const std::size_t m = f.output_size();
  std::vector<double> in(f.input_size() * lane_count, 0.0), out(m * lane_count);
  detail::interrupt_pace pace(f.size());
  for (std::size_t j = 0; j < count; j += lane_count) {
    pace.step();
    const std::size_t here = std::min<std::size_t>(lane_count, count - j);
    const auto seed = [&](double value) {
      for (std::size_t k = 0; k < here; ++k) in[(first + j + k) * lane_count + k] = value;
    };
    seed(1);
    f.tangent<lane_count>(w, in.data(), out.data());
    seed(0);
    for (std::size_t i = 0; i < m; ++i) std::copy_n(out.data() + i * lane_count, here, entries + i * count + j);
  }
}

AGRAD_INLINE void jacobian_by_tangents(const program& f, workspace& w, const double* x, double* y, double* entries) {
  jacobian_columns(f, w, x, 0, f.input_size(), y, entries);
}

AGRAD_INLINE void jacobian_by_adjoints(const program& f, workspace& w, const double* x, double* y, double* entries) {
  f.forward(w, x, y, true);
  const std::size_t m = f.output_size(),
                    most = std::min(f.rows_together(), (std::size_t{1} << 22) / std::max<std::size_t>(m, 1) + 1);
  std::vector<double> seeds(std::min(m, most) * m);
  detail::interrupt_pace pace(f.size());
  for (std::size_t first = 0; first < m; first += most) {
    pace.step();
    const std::size_t count = std::min(most, m - first);
    std::fill(seeds.begin(), seeds.end(), 0.0);
    for (std::size_t row = 0; row < count; ++row) seeds[row * m + first + row] = 1;
    f.reverse_rows(w, count, seeds.data(), entries + first * f.input_size());
  }
}

}  // namespace agrad
