// Compiles the definitions of solve/system once, for agrad::compiled.
#include <agrad/solve/system/event.ipp>
#include <agrad/solve/system/moving_state.ipp>
#include <agrad/solve/system/program/dae.ipp>
#include <agrad/solve/system/program/diagonals.ipp>
#include <agrad/solve/system/program/function.ipp>
#include <agrad/solve/system/program/linearization.ipp>
#include <agrad/solve/system/program/ode.ipp>
#include <agrad/solve/system/program/structure.ipp>
#include <agrad/solve/system/program/time_switches.ipp>
