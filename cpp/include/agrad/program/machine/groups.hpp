// Groups: which results of an operation depend on which entries of its operands, for operations that do not work entry by
// entry.
//
// In a group, each result depends on each entry. Reductions along lines have one group for each line, products of matrices
// have one for each entry of the result. Only operations that are not linear have groups: what a linear operation passes on
// follows from its own loops.
#pragma once

#include <cstdint>
#include <vector>

#include <agrad/program/machine/code.hpp>

namespace agrad::detail {

class dependence_groups {
 public:
  dependence_groups(const operation& op, const run_context& context)
      : op_(op), integers_(context.integers + op.data), how_(op.what->depends.how) {}

  /// Returns whether the groups of an operation are known.
  static bool are_known(const operation& op) {
    switch (op.what->depends.how) {
      case dependence::along_lines:
      case dependence::across_lines:
      case dependence::before_in_line:
      case dependence::product:
      case dependence::products:
        return true;
      default:
        return false;
    }
  }

  /// Calls use(results, entries) for each group; both are lists of slots, and entries of passive operands are missing.
  template <class Use>
  void each(const Use& use) {
    if (how_ == dependence::product)
      each_of_product(0, 0, 0, use);
    else if (how_ == dependence::products)
      for (std::uint32_t i = 0; i < integers_[3]; ++i)
        each_of_product(i * integers_[0] * integers_[2], integers_[4] != 0 ? i * integers_[0] * integers_[1] : 0,
                        integers_[5] != 0 ? i * integers_[1] * integers_[2] : 0, use);
    else
      each_line(use);
  }

 private:
  void begin() { results_.clear(), entries_.clear(); }
  void add_entry(std::uint32_t k, std::size_t i) {
    if (op_.operands[k].active) entries_.push_back(static_cast<slot>(op_.operands[k].first + i * op_.operands[k].stride));
  }

  template <class Use>
  void each_of_product(std::size_t result, std::size_t a, std::size_t b, const Use& use) {
    const std::size_t rows = integers_[0], inner = integers_[1], width = integers_[2];
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < width; ++j) {
        begin();
        results_.push_back(static_cast<slot>(op_.result + result + i * width + j));
        for (std::size_t l = 0; l < inner; ++l) add_entry(0, a + i * inner + l), add_entry(1, b + l * width + j);
        use(results_, entries_);
      }
  }

  template <class Use>
  void each_line(const Use& use) {
    const std::size_t length = integers_[0], inner = integers_[1];
    const bool has_one = how_ == dependence::along_lines;
    const std::size_t lines = has_one ? op_.count : length == 0 ? 0 : op_.count / length;
    for (std::size_t i = 0; i < lines; ++i) {
      const std::size_t first = i / inner * length * inner + i % inner;
      begin();
      for (std::size_t j = 0; j < length; ++j) {
        for (std::uint32_t k = 0; k < op_.arity; ++k) add_entry(k, first + j * inner);
        if (has_one) continue;
        results_.push_back(static_cast<slot>(op_.result + first + j * inner));
        if (how_ == dependence::before_in_line) use(results_, entries_), results_.clear();
      }
      if (has_one) results_.push_back(static_cast<slot>(op_.result + i));
      if (how_ != dependence::before_in_line) use(results_, entries_);
    }
  }

  const operation& op_;
  const std::uint32_t* integers_;
  dependence::kind how_;
  std::vector<slot> results_, entries_;
};

}  // namespace agrad::detail
