// Definitions of solve/system/jumps/time_switches.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/solve/system/jumps/data_features.hpp>
#include <agrad/solve/system/jumps/time_course.hpp>
#include <agrad/solve/system/jumps/time_switches.hpp>

namespace agrad {

AGRAD_INLINE std::vector<time_switches::time> time_switches::within(double from, double to, const double* parameters,
                                                                    const std::vector<double>& given, room& w) const {
  std::vector<time> all;
  std::vector<double> cuts{from}, stops = given, added;  // in order
  std::sort(stops.begin(), stops.end());
  const auto is_same = [](double a, double b) { return std::abs(a - b) <= 32 * epsilon * std::abs(b); };
  const auto beside = [&](const std::vector<double>& in, double at) -> const double* {
    const auto next = std::lower_bound(in.begin(), in.end(), at);
    if (next != in.end() && is_same(*next, at)) return &*next;
    return next != in.begin() && is_same(*(next - 1), at) ? &*(next - 1) : nullptr;
  };
  for (std::size_t c = 0; c < size(); ++c) {
    std::vector<time> found;
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const bool is_last = k + 1 == cuts.size();
      add_roots(c, cuts[k], is_last ? to : std::nextafter(cuts[k + 1], from), parameters, w, found);
    }
    std::sort(found.begin(), found.end(), [](const time& a, const time& b) { return a.at < b.at; });
    added.clear();
    for (const time& each : found) {
      if (!(each.at - from > epsilon * epsilon * (to - from) && each.at < to) || beside(cuts, each.at) != nullptr) continue;
      if (!added.empty() && is_same(added.back(), each.at)) continue;
      const double* stop = beside(stops, each.at);
      added.push_back(stop == nullptr ? each.at : *stop);
      all.push_back({added.back(), each.site, each.level});
    }
    const auto middle = static_cast<std::ptrdiff_t>(cuts.size());
    cuts.insert(cuts.end(), added.begin(), added.end());
    std::inplace_merge(cuts.begin(), cuts.begin() + middle, cuts.end());
  }
  return all;
}

AGRAD_INLINE std::vector<double> time_switches::gradient(const time& of, const double* parameters, room& w) const {
  run(of.at, parameters, w);
  std::vector<double> adjoints(sides_.input_size());
  sides_.reverse(w.run, seeds(of).data(), adjoints.data());
  std::vector<double> by_parameters(adjoints.begin() + 1 + static_cast<std::ptrdiff_t>(n_), adjoints.end());
  for (double& each : by_parameters) each = adjoints[0] == 0 ? 0.0 : -each / adjoints[0];
  return by_parameters;
}

AGRAD_INLINE moving_vector time_switches::gradient_along(const time& of, const double* parameters, int width,
                                                         const double* along, room& w) const {
  const auto m = static_cast<Eigen::Index>(sides_.input_size() - 1 - n_);
  const std::vector<double> first = gradient(of, parameters, w);
  const Eigen::Map<const Eigen::VectorXd> by(first.data(), m);
  tangent_rows inputs = tangent_rows::Zero(static_cast<Eigen::Index>(sides_.input_size()), width);
  inputs.bottomRows(m) = Eigen::Map<const tangent_rows>(along, m, width);
  inputs.row(0) = by.transpose() * inputs.bottomRows(m);
  std::vector<double> adjoints(sides_.input_size());
  tangent_rows sides(static_cast<Eigen::Index>(sides_.output_size()), width), back(inputs.rows(), width);
  const auto propagate = [&](auto lanes) {
    sides_.template tangent<lanes()>(w.run, inputs.data(), sides.data());
    sides_.template second<lanes()>(w.run, seeds(of).data(), adjoints.data(), back.data());
  };
  width == 1 ? propagate(std::integral_constant<int, 1>{}) : propagate(std::integral_constant<int, lane_count>{});
  moving_vector found{by, tangent_rows::Zero(m, width)};
  if (adjoints[0] != 0) found.tangents = -(back.bottomRows(m) + by * back.row(0)) / adjoints[0];
  return found;
}

AGRAD_INLINE std::vector<double> time_switches::seeds(const time& of) const {
  const jump_site& here = sites_[of.site];
  std::vector<double> seeds(sides_.output_size(), 0.0);
  seeds[3 * of.site] = 1;
  if (here.kind == jump_site::lookup) {
    const lookup_table& table = tables_[of.site];
    if (table.entries.empty()) seeds[table.first + static_cast<std::size_t>(of.level)] = -1;
    return seeds;
  }
  seeds[3 * of.site + 1] = here.kind == jump_site::quotient ? -of.level : here.has_other ? -1 : 0;
  return seeds;
}

AGRAD_INLINE program time_switches::found(const program& f, std::size_t n) {
  const unrolled steps(f.code());
  const std::vector<operation>& all = steps.operations();
  if (std::none_of(all.begin(), all.end(), [](const operation& op) { return jump_site_of(op).kind != jump_site::none; }))
    return {{}, {}, 0, {}, {}};
  std::vector<reach::marks> marks(f.input_size(), of_parameter);
  std::fill_n(marks.begin() + 1, n, of_state);
  marks[0] = of_time;
  const reach flow(f, marks);
  const time_course course(f, n);
  std::vector<slot> outputs, of_tables;
  for (const operation& op : all) {
    const jump_site kind = jump_site_of(op);
    if (kind.kind == jump_site::none) continue;
    const bool is_lookup = kind.kind == jump_site::lookup;
    const lookup_table operands = operands_of(f, op);
    for (std::size_t i = 0; i < op.count; ++i) {
      const slot x = reach::place(f.code().integers, op, 0, i);
      const slot y = kind.has_other ? reach::place(f.code().integers, op, 1, i) : x;
      reach::marks both = flow.of(x) | flow.of(y);
      if ((both & (of_time | of_state)) != of_time || is_known(outputs, kind, x, y, operands)) continue;
      if (!course.is_linear(x) || !course.is_linear(y)) continue;
      lookup_table table;
      if (is_lookup) {
        table = table_of(f, op, flow, of_tables);
        if (table.entries.empty() && table.count == 0) continue;
        if (table.entries.empty()) both |= of_parameter;
      }
      outputs.insert(outputs.end(), {x, y, is_lookup ? x : static_cast<slot>(op.result + i)});
      sites_.push_back(kind);
      tables_.push_back(std::move(table));
      move_ = move_ || (both & of_parameter) != 0;
    }
  }
  for (lookup_table& each : tables_) each.first += outputs.size();
  outputs.insert(outputs.end(), of_tables.begin(), of_tables.end());
  return {needed(f, all, outputs), f.fixed(), f.size(), f.inputs(), outputs};
}

AGRAD_INLINE time_switches::lookup_table time_switches::operands_of(const program& f, const operation& op) {
  lookup_table table;
  if (jump_site_of(op).kind != jump_site::lookup) return table;
  table.entries_at = op.operands[1].first, table.values_at = op.operands[op.arity - 1].first;
  table.counts_equal = op.what != &kernels::search || f.code().integers[op.data] != 0;
  return table;
}

AGRAD_INLINE time_switches::lookup_table time_switches::table_of(const program& f, const operation& op, const reach& flow,
                                                                 std::vector<slot>& others) const {
  lookup_table table = operands_of(f, op);
  const span& entries = op.operands[1];
  table.entries = constants_of(f, entries);
  if (!table.entries.empty()) {
    if (op.arity == 3) table.values = constants_of(f, op.operands[2]);
    return table;
  }
  for (std::uint32_t i = 0; i < entries.count; ++i)
    if ((flow.of(entries.first + i) & (of_time | of_state)) != 0) return table;
  table.first = others.size(), table.count = entries.count;
  for (std::uint32_t i = 0; i < entries.count; ++i) others.push_back(entries.first + i);
  return table;
}

AGRAD_INLINE std::vector<double> time_switches::constants_of(const program& f, const span& x) {
  if (x.first + x.count > f.fixed().size()) return {};
  for (const slot s : f.inputs())
    if (s >= x.first && s < x.first + x.count) return {};
  return {f.fixed().begin() + x.first, f.fixed().begin() + x.first + x.count};
}

AGRAD_INLINE void time_switches::find_features(double tolerance) {
  for (lookup_table& each : tables_)
    if (!each.values.empty()) each.entries = data_features(each.entries, each.values, tolerance), each.values.clear();
}

AGRAD_INLINE bool time_switches::is_known(const std::vector<slot>& outputs, const jump_site& kind, slot x, slot y,
                                          const lookup_table& table) const {
  for (std::size_t k = 0; k < sites_.size(); ++k)
    if (outputs[3 * k] == x && outputs[3 * k + 1] == y && sites_[k].kind == kind.kind && sites_[k].halves() == kind.halves() &&
        tables_[k].entries_at == table.entries_at && tables_[k].values_at == table.values_at &&
        tables_[k].counts_equal == table.counts_equal)
      return true;
  return false;
}

AGRAD_INLINE program_code time_switches::needed(const program& f, const std::vector<operation>& all,
                                                const std::vector<slot>& outputs) {
  program_code code;
  code.integers = f.code().integers, code.externals = f.code().externals;
  std::vector<std::uint8_t> live(f.size(), 0);
  for (const slot s : outputs) live[s] = 1;
  for (auto op = all.rbegin(); op != all.rend(); ++op) {
    const auto begin = live.begin() + op->result;
    if (std::find(begin, begin + op->count, 1) == begin + op->count) continue;
    if (op->what->depends.how == dependence::gathered)
      for (std::size_t i = 0; i < op->count; ++i) live[code.integers[op->data + i]] = 1;
    for (std::size_t k = 0; k < op->arity; ++k)
      for (std::size_t i = 0; i < op->operands[k].count; ++i) live[reach::place(code.integers, *op, k, i)] = 1;
    code.operations.push_back(*op);
  }
  std::reverse(code.operations.begin(), code.operations.end());
  return code;
}

AGRAD_INLINE const std::vector<double>& time_switches::run(double t, const double* parameters, room& w) const {
  w.inputs.assign(sides_.input_size(), 0.0), w.outputs.resize(sides_.output_size());
  w.inputs[0] = t;
  std::copy(parameters, parameters + (w.inputs.size() - 1 - n_), w.inputs.begin() + 1 + static_cast<std::ptrdiff_t>(n_));
  sides_.forward(w.run, w.inputs.data(), w.outputs.data(), true);
  return w.outputs;
}

AGRAD_INLINE time_switches::position time_switches::at(std::size_t c, double t, const double* parameters, room& w) const {
  const std::vector<double>& sides = run(t, parameters, w);
  const double x = sides[3 * c], y = sides[3 * c + 1], result = sides[3 * c + 2];
  const jump_site& here = sites_[c];
  switch (here.kind) {
    case jump_site::lookup:
      return {x, 0};
    case jump_site::rounding:
      return {x, result};
    case jump_site::quotient:
      return {x / y, here.is_rest ? std::rint((x - result) / y) : result};
    case jump_site::side:
      return {here.has_other ? x - y : x, (here.has_other ? x >= y : x >= 0) ? 1.0 : 0.0};
    default:
      return {x - y, result};
  }
}

AGRAD_INLINE void time_switches::add_roots(std::size_t c, double from, double to, const double* parameters, room& w,
                                           std::vector<time>& found) const {
  if (!(from < to)) return;
  const auto index = [&](double t) { return at(c, t, parameters, w).index; };
  const double begin = at(c, from, parameters, w).measure, end = at(c, to, parameters, w).measure;
  const double between = at(c, from + (to - from) / 2, parameters, w).measure, rise = end - begin;
  const bool is_linear = std::abs(between - (begin + end) / 2) <= 1e-9 * (std::abs(begin) + std::abs(end));
  if (!is_linear || !(std::abs(rise) > 0) || !std::isfinite(rise)) return;
  if (sites_[c].kind == jump_site::lookup) return add_entries(c, from, to, begin, rise, parameters, w, found);
  const bool is_one = sites_[c].is_single();
  const double shift = sites_[c].halves() ? 0.5 : 0.0;
  const double first = is_one ? 0 : std::ceil(std::min(begin, end) - shift) - 1;
  const double last = is_one ? 0 : std::floor(std::max(begin, end) - shift) + 1;
  if (last - first > most_levels) return;
  const double spacing = is_one ? to - from : (to - from) / std::abs(rise);
  for (double level = first; level <= last; ++level) {
    const double guess = from + (to - from) * ((level + shift - begin) / rise);
    const double low = is_one ? from : std::max(from, guess - spacing / 2);
    const double high = is_one ? to : std::min(to, guess + spacing / 2);
    if (low < high && index(low) != index(high)) found.push_back({changed(index, low, high, guess), c, level + shift});
  }
}

AGRAD_INLINE void time_switches::add_entries(std::size_t c, double from, double to, double begin, double rise,
                                             const double* parameters, room& w, std::vector<time>& found) const {
  const lookup_table& table = tables_[c];
  std::vector<double> entries = table.entries;
  if (entries.empty()) {
    const double* first = run(from, parameters, w).data() + table.first;
    entries.assign(first, first + table.count);
  }
  const double low = std::min(begin, begin + rise), high = std::max(begin, begin + rise);
  auto each = static_cast<std::size_t>(std::lower_bound(entries.begin(), entries.end(), low) - entries.begin());
  for (; each < entries.size() && entries[each] <= high; ++each) {
    const double entry = entries[each];
    const auto passed = [&](double t) {
      const double x = at(c, t, parameters, w).measure;
      return (table.counts_equal ? x >= entry : x > entry) ? 1.0 : 0.0;
    };
    const double guess = from + (to - from) * ((entry - begin) / rise);
    if (passed(from) != passed(to)) found.push_back({changed(passed, from, to, guess), c, static_cast<double>(each)});
  }
}

}  // namespace agrad
