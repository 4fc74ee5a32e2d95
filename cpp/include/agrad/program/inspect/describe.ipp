// Definitions of program/inspect/describe.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/inspect/describe.hpp>

namespace agrad::detail {

AGRAD_INLINE std::string counted(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

AGRAD_INLINE std::string scaled(double x) {
  static constexpr const char* units[] = {"", "k", "M", "G", "T"};
  int unit = 0;
  for (; x >= 999.5 && unit < 4; ++unit) x /= 1000;
  const int digits = unit == 0 ? 0 : x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << x << units[unit];
  return text.str();
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE std::string describe(const program& f) {
  using detail::counted, detail::scaled;
  const program_summary s = summary_of(f);
  std::ostringstream out;
  out << counted(s.inputs, "input", "inputs") << ", " << counted(s.outputs, "output", "outputs") << "; "
      << counted(s.operations, "operation", "operations");
  if (s.spans > 0) out << ", " << s.spans << " of them on ranges of up to " << counted(s.longest_span, "entry", "entries");
  out << "; " << counted(s.dispatches, "dispatch", "dispatches") << "; " << counted(s.guards, "guard", "guards") << "\n"
      << "about " << scaled(s.flops) << " flops in " << counted(s.levels, "level", "levels") << ", depth " << scaled(s.depth)
      << "; " << scaled(static_cast<double>(s.program_bytes)) << "B for the program, "
      << scaled(static_cast<double>(s.workspace_bytes)) << "B for a run, twice that for a run with its gradient\n";
  if (s.groups > 0)
    out << counted(s.grouped, "operation", "operations") << " in " << counted(s.groups, "group", "groups")
        << " of tiles, which " << (s.groups == 1 ? "moves " : "move ") << scaled(s.bytes_in_tiles) << "B instead of "
        << scaled(s.bytes_apart) << "B\n";
  if (s.sums > 0)
    out << counted(s.sums, "sum", "sums") << " by formulas in place of " << counted(s.replaced, "operation", "operations")
        << " where all terms suit them\n";
  std::size_t width = std::string_view("operation").size();
  for (const kind_summary& kind : s.kinds) width = std::max(width, kind.name.size());
  const auto row = [&](const std::string& name, const std::string& times, const std::string& entries, const std::string& flops,
                       const std::string& bytes) {
    out << std::left << std::setw(static_cast<int>(width)) << name << std::right << std::setw(9) << times << std::setw(11)
        << entries << std::setw(9) << flops << std::setw(9) << bytes << "\n";
  };
  row("operation", "times", "entries", "flops", "bytes");
  for (const kind_summary& kind : s.kinds)
    row(kind.name, std::to_string(kind.operations), std::to_string(kind.entries), scaled(kind.flops), scaled(kind.bytes));
  std::string text = out.str();
  text.pop_back();
  return text;
}

}  // namespace agrad
