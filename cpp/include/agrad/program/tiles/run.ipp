// Definitions of program/tiles/run.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/tiles/check.hpp>
#include <agrad/program/tiles/pass.hpp>
#include <agrad/program/tiles/run.hpp>
#include <agrad/program/tiles/settings.hpp>

namespace agrad::detail {

/// The passes through all operations.
class tiled_run {
 public:
  tiled_run(const program_code& code, const tile_plan& plan, workspace& w, bool with_derivatives)
      : code_(code), plan_(plan), w_(w), context_(w.context(code, with_derivatives)) {
    w.registers.resize(plan.registers() * block_length);
    if (with_derivatives) w.slopes_of_terms.resize(plan.slopes());
    w.by_formulas.resize(plan.sums().size(), false);
  }

  /// Runs those operations forward that `is_included` chooses by their numbers.
  template <class Choice>
  void forward(tile_values which, const Choice& is_included) {
    auto group = plan_.groups().begin();
    for (std::uint32_t number = 0; number < code_.operations.size();) {
      const bool is_in = is_included(number);
      if (const term_sum* sum = sum_at(number, &term_sum::first); sum != nullptr && is_in && by_formulas(*sum)) {
        number = sum->number + 1;
        while (group != plan_.groups().end() && group->first < number) ++group;
        continue;
      }
      const bool is_group = group != plan_.groups().end() && number == group->first;
      const operation& op = code_.operations[number];
      if (is_group && is_in) tile_pass(code_, *group, context_, w_).forward(which);
      if (!is_group && is_in) op.what->forward(op, context_, w_.values.data()), poll_beside(op.count);
      number = is_group ? group++->end() : number + 1;
    }
  }

  template <class Choice>
  bool reverse(const Choice& is_included) {
    bool met_zero = false;
    auto group = plan_.groups().rbegin();
    for (auto number = static_cast<std::uint32_t>(code_.operations.size()); number > 0;) {
      const bool is_in = is_included(number - 1);
      if (const term_sum* sum = sum_at(number - 1, &term_sum::number); sum != nullptr && is_in && reverse_by_formulas(*sum)) {
        number = sum->first;
        while (group != plan_.groups().rend() && group->first >= number) ++group;
        continue;
      }
      const bool is_group = group != plan_.groups().rend() && number == group->end();
      const operation& op = code_.operations[number - 1];
      double* adjoints = w_.adjoints.data();
      if (is_group && is_in) met_zero = tile_pass(code_, *group, context_, w_).reverse(adjoints) || met_zero;
      if (!is_group && is_in) op.what->reverse(op, context_, w_.values.data(), adjoints), poll_beside(op.count);
      number = is_group ? group++->first : number - 1;
    }
    return met_zero;
  }

  /// Runs the joint groups forward and in reverse.
  bool both() {
    bool met_zero = false;
    for (const tile_group& group : plan_.groups())
      if (plan_.role(group.first) == tile_role::joint)
        met_zero = tile_pass(code_, group, context_, w_).both(w_.adjoints.data()) || met_zero;
    return met_zero;
  }

 private:
  /// Returns the sum that begins or ends with an operation; null if there is none.
  const term_sum* sum_at(std::uint32_t operation, std::uint32_t term_sum::*place) const {
    const auto& sums = plan_.sums();
    const auto found = std::lower_bound(sums.begin(), sums.end(), operation,
                                        [&](const term_sum& s, std::uint32_t number) { return s.*place < number; });
    return found != sums.end() && (*found).*place == operation ? &*found : nullptr;
  }
  std::size_t number_of(const term_sum& sum) const { return static_cast<std::size_t>(&sum - plan_.sums().data()); }

  bool by_formulas(const term_sum& sum) {
    const bool is_suited = sum_by_formulas(code_, sum, w_, context_.with_adjoint);
    w_.by_formulas[number_of(sum)] = is_suited && context_.with_adjoint;
    poll_beside(sum.terms);
    return is_suited;
  }

  /// Propagates the adjoint of a sum that formulas computed. For another sum, makes the adjoints of its operations zero and
  /// returns false.
  bool reverse_by_formulas(const term_sum& sum) {
    const bool is_suited = w_.by_formulas[number_of(sum)];
    if (is_suited) propagate_by_formulas(code_, sum, w_);
    for (std::uint32_t number = sum.first; number < sum.number && !is_suited; ++number)
      fill_zero(w_.adjoints.data() + code_.operations[number].result, code_.operations[number].count);
    poll_beside(sum.terms);
    return is_suited;
  }

  const program_code& code_;
  const tile_plan& plan_;
  workspace& w_;
  const run_context context_;
};

/// Runs a pass; where tiles are checked, calls compare(check) behind it with a copy of the workspace from before.
template <class Pass, class Compare>
void run_checked(const program_code& code, const tile_plan& plan, workspace& w, const Pass& pass, const Compare& compare) {
  if (!tile_settings::now().are_checked) return pass();
  tile_check check(code, plan, w);
  pass();
  compare(check);
}

AGRAD_INLINE void run_forward_tiled(const program_code& code, const tile_plan& plan, workspace& w, bool with_derivatives) {
  w.slopes = {};
  w.held = with_derivatives ? values_are::enough_for_reverse : values_are::partial;
  const auto all = [](std::size_t) { return true; };
  run_checked(
      code, plan, w,
      [&] {
        tiled_run(code, plan, w, with_derivatives).forward(with_derivatives ? tile_values::stored : tile_values::passing, all);
      },
      [&](tile_check& check) { check.compare_values(w); });
}

AGRAD_INLINE bool run_reverse_tiled(const program_code& code, const tile_plan& plan, workspace& w) {
  bool met_zero = false;
  run_checked(
      code, plan, w, [&] { met_zero = tiled_run(code, plan, w, true).reverse([](std::size_t) { return true; }); },
      [&](tile_check& check) { check.compare_values(w), check.compare_adjoints(w); });
  return met_zero;
}

AGRAD_INLINE bool run_both_tiled(const program_code& code, const tile_plan& plan, workspace& w) {
  const auto has = [&](tile_role role) { return [&plan, role](std::size_t number) { return plan.role(number) == role; }; };
  w.slopes = {};
  w.held = values_are::partial;
  bool met_zero = false;
  run_checked(
      code, plan, w,
      [&] {
        tiled_run run(code, plan, w, true);
        run.forward(tile_values::stored, has(tile_role::early));
        run.reverse(has(tile_role::late));
        met_zero = run.both();
        run.forward(tile_values::stored, has(tile_role::late));
        met_zero = run.reverse(has(tile_role::early)) || met_zero;
      },
      [&](tile_check& check) { check.compare_values(w), check.compare_adjoints(w); });
  return met_zero;
}

AGRAD_INLINE void complete_values(const program_code& code, const tile_plan& plan, workspace& w) {
  const run_context context = w.context(code, true);
  for (std::uint32_t number = 0; number < code.operations.size(); ++number) {
    const operation& op = code.operations[number];
    if (!plan.has(number)) continue;
    op.what->forward(op, context, w.values.data());
    poll_beside(op.count);
  }
  w.slopes = {};
  w.held = values_are::complete;
}

}  // namespace agrad::detail
