// Instances of the decomposition of general matrices for the kernels. They are compiled in a file of their own, because
// together with the kernels they take a compiler 1.9 GB.
#pragma once

#include <agrad/program/kernels/linalg_slots.hpp>
#include <agrad/rules/spectra/general_spectrum.hpp>

namespace agrad::linalg {

extern template general_eigen_factors factor_general_eigen(std::string_view, filling_room&, const const_block&);
extern template void add_general_eigen_adjoint(std::string_view, const general_eigen_factors&, bool, const const_block*,
                                               const const_block*, block&);

}  // namespace agrad::linalg
