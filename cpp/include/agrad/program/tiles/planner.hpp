// Planner: finds the groups of a list of operations, the results that only a group reads, and their registers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <agrad/program/tiles/plan.hpp>
#include <agrad/program/tiles/reads.hpp>
#include <agrad/program/tiles/term_sums.hpp>

namespace agrad::detail {

class tile_planner {
 public:
  tile_planner(const program_code& code, const std::vector<slot>& outputs, const term_owners& owners);

  std::vector<tile_group> result() { return std::move(groups_); }

 private:
  void find_groups();
  /// Returns whether an operation may follow the operations of the open group: it belongs to the same sum, if any, and each
  /// operand is the result of one of them, entry by entry, or shares no slot with their results.
  bool joins(const operation& op, std::uint32_t number) const;
  void open(const operation& op, std::uint32_t number);
  void close();

  /// Finds the results that are read by others than the operations of their groups.
  void find_outside_readers(const std::vector<slot>& outputs);
  void mark_outside(slot first, std::uint32_t count, std::uint32_t reader);

  /// Makes results local that only their group reads, and links the group's operands to them.
  void link(std::uint32_t number);
  static void assign_ahead(tile_group& group);
  std::uint32_t assign_values(tile_group& group) const;
  static void assign_adjoints(tile_group& group, std::uint32_t first);
  void assign_scalars(tile_group& group) const;

  const program_code& code_;
  const term_owners& owners_;
  std::vector<tile_group> groups_;
  tile_group open_;
  tiled_results own_, all_;  // of the open group, of all groups
  std::vector<std::vector<bool>> is_read_outside_;
};

}  // namespace agrad::detail
