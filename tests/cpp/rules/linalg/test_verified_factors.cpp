// Factors of matrices, and what is computed by those of positive definite ones, as rules/linalg/test_verified.cpp tests them.
#include <agrad/rules/linalg/ldlt.hpp>
#include <agrad/rules/linalg/qr.hpp>
#include <agrad/rules/linalg/spd.hpp>

#include "verified.hpp"

namespace test_verified_factors {

namespace {

using namespace verified;

const auto definite = [](Index n) { return arguments{positive_definite(n)}; };

const bool factors[] = {
    add(
        "cholesky", [](const auto& a) { return agrad::cholesky(a); }, at_sizes(definite)),
    add(
        "log_determinant_spd", [](const auto& a) { return agrad::log_determinant_spd(a); }, at_sizes(definite)),
    add(
        "solve_spd", [](const auto& a, const auto& b) { return agrad::solve_spd(a, b); }, at_sizes([](Index n) {
          return arguments{positive_definite(n), numbers(n, 2)};
        })),
    add(
        "ldlt",
        [](const auto& a) {
          const auto f = agrad::ldlt(a);
          return std::make_tuple(f.lower, f.diagonal);
        },
        at_sizes(definite)),
    add(
        "qr",
        [](const auto& a) {
          const auto f = agrad::qr(a);
          return std::make_tuple(f.q, f.r);
        },
        of_all_shapes()),
};

}  // namespace

}  // namespace test_verified_factors
