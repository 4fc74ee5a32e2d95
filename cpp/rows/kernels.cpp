#include "kernels.hpp"

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

}  // namespace

const std::vector<named_kernel>& named_kernels() {
  static const auto all = all_kernels();
  return all;
}

std::string_view name_of_kernel(const kernel* what) {
  static const auto names = [] {
    std::unordered_map<const kernel*, std::string_view> by_kernel;
    for (const named_kernel& each : named_kernels())
      if (kernel_of_name(each.name) == each.what) by_kernel.emplace(each.what, each.name);  // of two with one name, the first
    return by_kernel;
  }();
  const auto found = names.find(what);
  return found == names.end() ? std::string_view() : found->second;
}

const kernel* kernel_of_name(std::string_view name) {
  static const auto kernels = [] {
    std::unordered_map<std::string_view, const kernel*> by_name;
    for (const named_kernel& each : named_kernels()) by_name.emplace(each.name, each.what);
    return by_name;
  }();
  const auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : found->second;
}

}  // namespace agrad
