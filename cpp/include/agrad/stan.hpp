// Functions of agrad under Stan's names, where the names or the shapes differ and the main headers do without.
//
// docs/coming_from_stan.md has Stan's functions side by side with agrad's. Those that agrad declares under Stan's name anyway
// are where they belong: densities in <agrad/probability.hpp>, random numbers in <agrad/random.hpp>, and so on.
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/base/reject.hpp>
#include <agrad/rules/arrays/joining.hpp>
#include <agrad/rules/arrays/moments.hpp>
#include <agrad/rules/arrays/sorting.hpp>
#include <agrad/rules/linalg/compressed_rows.hpp>
#include <agrad/rules/linalg/matrix_power.hpp>
#include <agrad/rules/lists/stan_names.hpp>
#include <agrad/tape/matrix/append.hpp>
