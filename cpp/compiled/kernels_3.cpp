// Compiles a part of the kernels of the rules once, for agrad::compiled.
#include <agrad/program/recording/kernel_table_part.hpp>

template <>
const agrad::kernel* const* agrad::detail::kernels_of_part<3>() {
  return own_kernels<3>();
}
