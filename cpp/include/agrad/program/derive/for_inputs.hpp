// For inputs: a program for derivatives with respect to some of its inputs alone.
// Read first: program/derive/chosen_entries.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/derive/chosen_entries.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/sparse/reach.hpp>

namespace agrad {

/// Returns a program whose operations need not have derivatives with respect to entries that no wanted input determines; the
/// same program where it has no such operations.
inline std::shared_ptr<const program> for_inputs(const std::shared_ptr<const program>& f, const std::vector<bool>& wanted) {
  const auto chooses = [](const auto& op) { return dynamic_cast<const chooses_entries*>(op.get()); };
  program_code code = f->code();
  bool has_changed = false;
  std::unique_ptr<const reach> flow;
  for (const operation& op : f->code().operations) {
    if (op.what != &kernels::external) continue;
    std::shared_ptr<const external_operation>& external = code.externals[code.integers[op.data]];
    const auto* choosing = chooses(external);
    if (choosing == nullptr) continue;
    if (flow == nullptr) flow = std::make_unique<const reach>(*f, std::vector<reach::marks>(wanted.begin(), wanted.end()));
    std::vector<bool> entries;
    for (slot i = 0; i < op.operands[0].count; ++i) entries.push_back(flow->of(op.operands[0].first + i) != 0);
    std::shared_ptr<const external_operation> own = choosing->for_entries(entries);
    if (own == nullptr) continue;
    external = std::move(own);
    has_changed = true;
  }
  if (!has_changed) return f;
  return std::make_shared<const program>(std::move(code), f->fixed(), f->size(), f->inputs(), f->outputs());
}

}  // namespace agrad
