// Reductions, products and forms, as rules/linalg/test_verified.cpp tests them.
#include <agrad/rules/linalg/forms.hpp>

#include "verified.hpp"

namespace test_verified_reductions {

namespace {

using namespace verified;

const auto vectors = [](Index n) { return arguments{numbers(n, 1)}; };
const auto matrices = [](Index n) { return arguments{numbers(n + 1, n)}; };

const bool reductions[] = {
    add(
        "sum", [](const auto& x) { return agrad::sum(x); }, at_sizes(matrices)),
    add(
        "mean", [](const auto& x) { return agrad::mean(x); }, at_sizes(matrices)),
    add(
        "dot", [](const auto& x, const auto& y) { return agrad::dot(x, y); }, at_sizes([](Index n) {
          return arguments{numbers(n, 2), numbers(n, 2)};
        })),
    add(
        "squared_norm", [](const auto& x) { return agrad::squared_norm(x); }, at_sizes(matrices)),
    add(
        "norm", [](const auto& x) { return agrad::norm(x); }, at_sizes(matrices)),
    add(
        "prod", [](const auto& x) { return agrad::prod(x); }, at_sizes(vectors)),
    add(
        "log_sum_exp", [](const auto& x) { return agrad::log_sum_exp(x); }, at_sizes(matrices)),
    add(
        "softmax", [](const auto& x) { return agrad::softmax(x); }, at_sizes(vectors)),
    add(
        "log_softmax", [](const auto& x) { return agrad::log_softmax(x); }, at_sizes(vectors)),
    add(
        "cumulative_sum", [](const auto& x) { return agrad::cumulative_sum(x); }, at_sizes(vectors)),
    add(
        "trace", [](const auto& a) { return agrad::trace(a); }, at_sizes([](Index n) { return arguments{numbers(n, n)}; })),
};

/// Eigen's product of Eigen's matrices is an expression.
template <class A>
A product(const A& a, const A& b) {
  return a * b;
}

const bool forms[] = {
    add(
        "product", [](const auto& a, const auto& b) { return product(a, b); }, at_sizes([](Index n) {
          return arguments{numbers(n, n + 1), numbers(n + 1, 2)};
        })),
    add(
        "quad_form", [](const auto& a, const auto& b) { return agrad::quad_form(a, b); }, at_sizes([](Index n) {
          return arguments{numbers(n, n), numbers(n, 2)};
        })),
    add(
        "quad_form_symmetric", [](const auto& a, const auto& b) { return agrad::quad_form_symmetric(a, b); },
        at_sizes([](Index n) {
          return arguments{numbers(n, n), numbers(n, 2)};
        })),
    add(
        "trace_of_product", [](const auto& a, const auto& b) { return agrad::trace_of_product(a, b); }, at_sizes([](Index n) {
          return arguments{numbers(n, n + 1), numbers(n + 1, n)};
        })),
    add(
        "kronecker", [](const auto& a, const auto& b) { return agrad::kronecker(a, b); }, at_sizes([](Index n) {
          return arguments{numbers(n, 2), numbers(2, 3)};
        })),
};

}  // namespace

}  // namespace test_verified_reductions
