// Definitions of program/sparse/recovery.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/sparse/recovery.hpp>

namespace agrad::detail {

AGRAD_INLINE recovery recovery_from(const std::vector<source>& sources, std::uint32_t colours) {
  recovery r;
  r.begin.assign(std::size_t{colours} + 1, 0);
  r.entry.resize(sources.size());
  poll_beside(sources.size());
  r.place.resize(sources.size());
  for (const source& s : sources) ++r.begin[s.colour + 1];
  for (std::size_t c = 0; c < colours; ++c) r.begin[c + 1] += r.begin[c];
  std::vector<std::size_t> next(r.begin.begin(), r.begin.end() - 1);
  interrupt_pace pace;
  for (std::size_t e = 0; e < sources.size(); ++e) {
    pace.step();
    const std::size_t k = next[sources[e].colour]++;
    r.entry[k] = e;
    r.place[k] = sources[e].place;
  }
  return r;
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE recovery recover_columns(const csr_pattern& p, const colouring& c) {
  return detail::recover_each(p, c, [&](std::uint32_t i, std::uint32_t j) { return detail::source{c.colour[j], i}; });
}

AGRAD_INLINE recovery recover_rows(const csr_pattern& p, const colouring& c) {
  return detail::recover_each(p, c, [&](std::uint32_t i, std::uint32_t j) { return detail::source{c.colour[i], j}; });
}

AGRAD_INLINE recovery recover_symmetric(const csr_pattern& p, const colouring& c) {
  std::vector<detail::source> sources(p.size());
  std::vector<std::uint32_t> count(c.count, 0);                        // of each colour, in the present row
  std::vector<std::size_t> upper(p.begin.begin(), p.begin.end() - 1);  // of each row, the next entry that a row below copies
  detail::interrupt_pace pace;
  for (std::uint32_t i = 0; i < p.rows(); ++i) {
    pace.step();
    for (const auto j : p.row(i)) ++count[c.colour[j]];
    for (std::size_t e = p.begin[i]; e < p.begin[i + 1]; ++e) {
      const std::uint32_t j = p.col[e];
      if (j < i) {
        sources[e] = sources[upper[j]++];
      } else {
        sources[e] = count[c.colour[j]] == 1 ? detail::source{c.colour[j], i} : detail::source{c.colour[i], j};
      }
    }
    for (const auto j : p.row(i)) count[c.colour[j]] = 0;
    while (upper[i] < p.begin[i + 1] && p.col[upper[i]] <= i) ++upper[i];
  }
  return detail::recovery_from(sources, c.count);
}

}  // namespace agrad
