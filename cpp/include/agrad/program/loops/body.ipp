// Definitions of program/loops/body.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/body.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE void body::add(body_path path) {
  const std::lock_guard<fork_safe_mutex> lock(mutex_);
  append(std::move(path));
}

AGRAD_INLINE void body::grow(std::size_t known, const double* local, std::vector<double>& captured) {
  if (size() > known) return;
  body_path path = hook_ ? hook_(local, captured) : body_path{};
  if (path.code == nullptr) throw kernels::path_left{};
  const std::lock_guard<fork_safe_mutex> lock(mutex_);
  if (size() == known) append(std::move(path));
}

AGRAD_INLINE const external_operation* body::first_without_tangents(int order) const {
  for (std::size_t i = 0, n = size(); i < n; ++i)
    if (const external_operation* found = path(i).code->first_without_tangents(order)) return found;
  return nullptr;
}

AGRAD_INLINE void body::append(body_path path) {
  const std::size_t n = size();
  if (n == most_paths) throw std::length_error(name_ + ": number of paths is 65, but must be at most 64");
  if (path.code->input_size() != inputs_ + path.captured || (n > 0 && path.code->output_size() != output_size()))
    throw std::logic_error(name_ + ": paths must have the same inputs and outputs");
  paths_[n] = std::move(path);
  size_.store(n + 1, std::memory_order_release);
}

}  // namespace agrad

namespace agrad::detail {

AGRAD_INLINE void copy_few(const double* from, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

AGRAD_INLINE path_spaces::path_spaces(const body_path& path, std::size_t inputs)
    : of_(path), inputs_(inputs), first_result_(path.code->fixed().size()) {
  path.code->begin(work_.values);
}

AGRAD_INLINE void path_spaces::begin_values(const std::vector<double>& captured) {
  if (captured.size() < of_.captured) throw std::logic_error("body: captured values are missing");
  holds = nothing;
  for (std::size_t i = 0; i < of_.captured; ++i) work_.values[slots()[inputs_ + i]] = captured[i];
}

AGRAD_INLINE bool path_spaces::run(const double* local, bool with_adjoint) {
  holds = nothing;
  for (std::size_t i = 0; i < inputs_; ++i) work_.values[slots()[i]] = local[i];
  work_.slopes = {};
  const run_context context = work_.context(code(), with_adjoint);
  double* values = work_.values.data();
  try {
    for (const operation& op : code().operations) {
      if (op.what != &kernels::guard)
        op.what->forward(op, context, values);
      else if ((values[op.operands[0].first] != 0) != (context.integers[op.data] != 0))
        return false;
    }
  } catch (const kernels::path_left&) {  // from a body inside this body
    return false;
  }
  can_reverse = with_adjoint;
  return true;
}

AGRAD_INLINE void path_spaces::restore(const double* local, const double* from) {
  for (std::size_t i = 0; i < inputs_; ++i) work_.values[slots()[i]] = local[i];
  std::copy_n(from, results(), work_.values.data() + first_result_);
  work_.slopes = {};
  can_reverse = true;
}

}  // namespace agrad::detail
