// Settings of tiles, from the environment: AGRAD_TILES is `on`, `off`, or `check`, which runs short arrays in tiles, too, runs
// whole operations beside, and throws where the results differ. Only `on` has sums computed by formulas, which round otherwise.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

namespace agrad::detail {

struct tile_settings {
  std::uint32_t least_entries = 512;  // of operations that are worth tiles; results of smaller ones stay in the cache
  bool are_checked = false;
  bool use_formulas = false;  // for sums of terms (program/tiles/term_sums.hpp)

  explicit tile_settings(const char* given) {
    const std::string chosen = given == nullptr ? "on" : given;
    use_formulas = chosen == "on";
    if (chosen == "off") least_entries = std::numeric_limits<std::uint32_t>::max();
    if (chosen == "check") least_entries = 2, are_checked = true;
    if (chosen != "on" && chosen != "off" && chosen != "check")
      throw std::invalid_argument("AGRAD_TILES: the variable of the environment is '" + chosen +
                                  "', but must be on, off or check");
  }

  /// Returns the settings of this process.
  static const tile_settings& now() {
    static const tile_settings all(std::getenv("AGRAD_TILES"));
    return all;
  }
};

}  // namespace agrad::detail
