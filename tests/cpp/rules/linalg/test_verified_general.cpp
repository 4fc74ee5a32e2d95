// Inverses, determinants, equations and the exponential, as rules/linalg/test_verified.cpp tests them.
#include <agrad/rules/linalg/determinant.hpp>
#include <agrad/rules/linalg/exponential.hpp>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/triangular.hpp>

#include "verified.hpp"

namespace test_verified_general {

namespace {

using namespace verified;

const auto square = [](Index n) { return arguments{regular(n)}; };
const auto equations = [](Index n) { return arguments{regular(n), numbers(n, 2)}; };

const bool general[] = {
    add(
        "inverse", [](const auto& a) { return agrad::inverse(a); }, at_sizes(square)),
    add(
        "determinant", [](const auto& a) { return agrad::determinant(a); }, at_sizes(square)),
    add(
        "log_determinant", [](const auto& a) { return agrad::log_determinant(a); }, at_sizes(square)),
    add(
        "solve", [](const auto& a, const auto& b) { return agrad::solve(a, b); }, at_sizes(equations)),
    add(
        "solve_triangular", [](const auto& a, const auto& b) { return agrad::solve_triangular<Eigen::Lower>(a, b); },
        at_sizes(equations)),
    add(
        "solve_triangular_transposed",
        [](const auto& a, const auto& b) { return agrad::solve_triangular<Eigen::UnitUpper, true>(a, b); },
        at_sizes(equations)),
    add(
        "matrix_exp", [](const auto& a) { return agrad::matrix_exp(a); },
        at_sizes([](Index n) { return arguments{numbers(n, n)}; })),
};

}  // namespace

}  // namespace test_verified_general
