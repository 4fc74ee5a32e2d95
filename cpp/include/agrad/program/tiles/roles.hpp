// Roles: which groups of a program can run forward and in reverse together.
//
// A group can where the adjoints of its results are known before it runs: where what depends on them is linear with slopes that
// do not, as sums of log densities are. Its tiles then compute values and adjoints at once, and nothing is stored between the
// two passes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/tiles/plan.hpp>
#include <agrad/program/tiles/reads.hpp>
#include <agrad/program/tiles/term_sums.hpp>

namespace agrad::detail {

class tile_roles {
 public:
  tile_roles(const program_code& code, const std::vector<tile_group>& groups, const term_owners& owners);

  /// Returns the role of each operation; nothing if no group is joint.
  std::vector<tile_role> result() { return std::move(roles_); }

 private:
  using group_set = std::uint64_t;  // one bit for each of the first groups
  static constexpr std::uint32_t most_groups = 64;

  void find_sources();
  void set_roles();
  group_set sources_of(slot first, std::uint32_t count) const;
  group_set sources_of(const operation& op) const;
  /// Returns whether the slopes of an operation do not depend on results of groups.
  bool has_early_slopes(const operation& op) const;

  const program_code& code_;
  const std::vector<tile_group>& groups_;
  const term_owners& owners_;
  tiled_results results_;           // of operations that depend on groups
  std::vector<group_set> sources_;  // for each operation, the groups that it
                                    // depends on or belongs to
  group_set apart_ = 0;             // groups that are not joint
  std::vector<tile_role> roles_;
};

}  // namespace agrad::detail
