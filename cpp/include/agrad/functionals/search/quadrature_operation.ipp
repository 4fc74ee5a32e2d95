// Definitions of functionals/search/quadrature_operation.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/functionals/search/quadrature_operation.hpp>

namespace agrad {

/// inside: what the body computes besides where fewer places are asked for than it has.
AGRAD_INLINE detail::integrand quadrature_operation::integrand_of(detail::body_function& f,
                                                                  const detail::placed& inside) const {
  const std::size_t m = places();
  std::vector<double> inputs(2 * m), rows(values());
  const auto at_places = [&f, m, inputs, rows, inside, size = components()](const detail::placed* at, std::size_t n,
                                                                            double* to) mutable {
    for (std::size_t begin = 0; begin < n; begin += m) {
      const std::size_t count = std::min(m, n - begin);
      for (std::size_t k = 0; k < m; ++k) {
        const detail::placed& own = k < count ? at[begin + k] : inside;
        inputs[k] = own.x, inputs[m + k] = own.distance;
      }
      f.value(inputs.data(), rows.data());
      to = std::copy_n(rows.begin(), count * size, to);
    }
  };
  return {at_places, form_.results, components()};
}

AGRAD_INLINE void quadrature_operation::compute(detail::body_function& f, const double* x, double* y) const {
  const detail::substitution map(form_.method, x[0], x[1]);
  const detail::integrand of = integrand_of(f, map.inside());
  detail::quadrature_options options{form_.relative_tolerance, form_.absolute_tolerance, form_.limit, form_.takes_distance};
  options.points.assign(x + 2, x + 2 + form_.points);
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const bool is_possible = x[0] < unbounded && x[1] > -unbounded;  // else a limit is nan, or they are not in order
  std::fill_n(y, output_size(), 0.0);
  if (!is_possible) return;
  const detail::partition found = divide(map, of, options);
  *y++ = found.is_accurate ? 1 : 0;
  *y++ = static_cast<double>(found.intervals.size());
  *y++ = found.odd;
  *y++ = found.has_values ? 1 : 0;
  y = std::copy_n(found.integral.begin(), form_.results, y);
  y = std::copy(found.error.begin(), found.error.end(), y);
  y = std::copy(found.allowed.begin(), found.allowed.end(), y);
  if (form_.gives_nodes) write_nodes(map, found, y);
}

AGRAD_INLINE void quadrature_operation::write_nodes(const detail::substitution& map, const detail::partition& found,
                                                    double* y) const {
  const std::size_t all = groups() * group_nodes, used = found.intervals.size();
  for (std::size_t i = 0; i < groups(); ++i) *y++ = i * detail::first_intervals < used ? 1 : 0;
  double *weight = y, *x = weight + all, *distance = x + all;
  const detail::placed inside = map.inside();
  std::fill_n(x, all, inside.x), std::fill_n(distance, all, inside.distance);
  std::size_t k = 0;
  for (const auto& [left, right] : found.intervals)
    for (const detail::rule_node& node : detail::rule_nodes()) {
      const detail::placed at = map.place((left + right) / 2 + (right - left) / 2 * node.place);
      const double own = node.kronrod * at.slope * (right - left) / 2;
      if (is_inner(found, at) && own != 0) weight[k] = own, x[k] = at.x, distance[k] = at.distance;
      ++k;
    }
}

AGRAD_INLINE void quadrature_operation::write(portable_writer& to) const {
  write_body(to);
  to(static_cast<int>(form_.method), form_.results, form_.points, form_.relative_tolerance, form_.absolute_tolerance,
     form_.limit, form_.takes_distance, form_.gives_nodes);
}

AGRAD_INLINE std::shared_ptr<const external_operation> quadrature_operation::read(portable_reader& from) {
  std::size_t captured = 0;
  int method = 0;
  quadrature_form form;
  std::shared_ptr<body> of = read_body(from, captured);
  from(method, form.results, form.points, form.relative_tolerance, form.absolute_tolerance, form.limit, form.takes_distance,
       form.gives_nodes);
  const std::size_t places = of->input_size() / 2;
  from.expect(of->input_size() % 2 == 0 && (places == 1 || places == 21) && of->output_size() % places == 0 &&
                  form.results > 0 && form.results <= of->output_size() / places && (method == 0 || method == 1) &&
                  form.points < form.limit && form.limit <= most_intervals && form.relative_tolerance > 0 &&
                  form.absolute_tolerance >= 0,
              "an integral");
  form.method = static_cast<detail::quadrature_method>(method);
  return std::make_shared<const quadrature_operation>(of, form, captured);
}

}  // namespace agrad
