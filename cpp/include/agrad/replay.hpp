// Recording and replay: functions as programs, with gradients, Jacobians and Hessians, dense and sparse, without a tape.
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/functionals/replay.hpp>
