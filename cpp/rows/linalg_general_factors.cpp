// The instances that linalg_general_factors.hpp declares.
#include "linalg_general_factors.hpp"

namespace agrad::linalg {

template general_eigen_factors factor_general_eigen(std::string_view, filling_room&, const const_block&);
template void add_general_eigen_adjoint(std::string_view, const general_eigen_factors&, bool, const const_block*,
                                        const const_block*, block&);

}  // namespace agrad::linalg
