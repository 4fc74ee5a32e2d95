#include "kernels.hpp"

#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/program/kernels/batched_product.hpp>
#include <agrad/program/kernels/checked.hpp>
#include <agrad/program/kernels/cumulative.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/log_shares.hpp>
#include <agrad/program/kernels/log_sum_exp.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/kernels/product.hpp>
#include <agrad/program/kernels/reduction.hpp>
#include <agrad/program/kernels/shares.hpp>
#include <agrad/program/machine/custom.hpp>
#include <agrad/program/machine/kernel_list.hpp>
#include <agrad/program/machine/structure.hpp>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "linalg_rows.hpp"
#include "multivariate_rows.hpp"
#include "rows.hpp"

namespace agrad {

namespace {

/// The kernels without a rule. A test compares the list with the headers.
constexpr const kernel* structural[] = {&kernels::gather,
                                        &kernels::sum,
                                        &kernels::guard,
                                        &kernels::external,
                                        &kernels::straight,
                                        &kernels::product,
                                        &kernels::batched_product,
                                        &kernels::sum_along,
                                        &kernels::product_along,
                                        &kernels::max_along,
                                        &kernels::min_along,
                                        &kernels::argmax_along,
                                        &kernels::argmin_along,
                                        &kernels::sort_along,
                                        &kernels::cumulative_sum,
                                        &kernels::cumulative_product,
                                        &kernels::log_shares_along,
                                        &kernels::log_sum_exp_along,
                                        &kernels::softmax_along,
                                        &kernels::shares_along,
                                        &kernels::interpolation,
                                        &kernels::interpolation_slope,
                                        &kernels::search,
                                        &kernels::pick,
                                        &kernels::scatter_add,
                                        &kernels::checked,
                                        &kernels::checked_pair,
                                        &kernels::stop_gradient,
                                        &kernels::hold,
                                        &kernels::perturbation,
                                        &kernels::with_derivative};

std::vector<named_kernel> all_kernels() {
  std::vector<named_kernel> all;
  for (const kernel* each : structural) all.push_back({std::string(each->name), each});
  elementwise_rows();  // completes the list below
  for (const auto* each = detail::listed_kernel::first(); each != nullptr; each = each->next)
    all.push_back({std::string(each->what.name), &each->what});
  for (const auto& row : density_rows()) all.push_back({std::string(row.name), row.loops});
  for (const auto& row : glm_rows()) all.push_back({std::string(row.name), row.loops});
  for (const auto& row : multivariate_rows()) {
    all.push_back({std::string(row.name), row.loops});
    if (row.factor != nullptr) all.push_back({std::string(row.name) + ".cholesky", row.factor});
  }
  for (const auto& row : linalg_rows())
    all.push_back({"linalg." + std::string(row.name) + "/" + std::to_string(row.options), row.loops});
  return all;
}

/// The names that are known, which libraries of rules add to while threads read.
class kernel_registry {
 public:
  kernel_registry() { add(all_kernels()); }

  void add(const std::vector<named_kernel>& kernels) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    for (const named_kernel& each : kernels) {
      const named_kernel& stored = all_.emplace_back(each);
      if (by_name_.emplace(stored.name, stored.what).second)  // of two with one name, the first
        by_kernel_.emplace(stored.what, stored.name);
    }
  }
  std::vector<named_kernel> all() {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    return {all_.begin(), all_.end()};
  }
  std::string_view name_of(const kernel* what) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    const auto found = by_kernel_.find(what);
    return found == by_kernel_.end() ? std::string_view() : found->second;
  }
  const kernel* of_name(std::string_view name) {
    const std::lock_guard<fork_safe_mutex> locked(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  fork_safe_mutex mutex_;
  std::deque<named_kernel> all_;  // whose names stay where they are
  std::unordered_map<std::string_view, const kernel*> by_name_;
  std::unordered_map<const kernel*, std::string_view> by_kernel_;
};

kernel_registry& registry() {
  static kernel_registry only;
  return only;
}

}  // namespace

std::vector<named_kernel> named_kernels() { return registry().all(); }

void add_named_kernels(const std::vector<named_kernel>& kernels) { registry().add(kernels); }

std::string_view name_of_kernel(const kernel* what) { return registry().name_of(what); }

const kernel* kernel_of_name(std::string_view name) { return registry().of_name(name); }

}  // namespace agrad
