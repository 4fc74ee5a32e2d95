// Compiles the definitions of solve/algebra, solve/solver and solve/system once, for agrad::compiled.
#include <agrad/solve/algebra/band_lu.ipp>
#include <agrad/solve/algebra/newton_matrix.ipp>
#include <agrad/solve/algebra/pattern.ipp>
#include <agrad/solve/solver/checked.ipp>
#include <agrad/solve/solver/event_watch.ipp>
#include <agrad/solve/solver/fault.ipp>
#include <agrad/solve/solver/options.ipp>
#include <agrad/solve/solver/statistics.ipp>
#include <agrad/solve/system/moving_state.ipp>
#include <agrad/solve/system/program/dae.ipp>
#include <agrad/solve/system/program/diagonals.ipp>
#include <agrad/solve/system/program/event.ipp>
#include <agrad/solve/system/program/linearization.ipp>
#include <agrad/solve/system/program/ode.ipp>
#include <agrad/solve/system/program/structure.ipp>
#include <agrad/solve/system/program/time_switches.ipp>
