// agrad's kernels of Gaussian processes, for numbers, duals and variables.
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/gaussian_processes/kernels.hpp>
