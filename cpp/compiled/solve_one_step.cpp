// Compiles the definitions of solve/algebra, solve/solver and solve/one_step once, for agrad::compiled.
// They are one file because a step calls small functions of all three.
#include <agrad/solve/algebra/band_lu.ipp>
#include <agrad/solve/algebra/constrained_state.ipp>
#include <agrad/solve/algebra/constraint_matrix.ipp>
#include <agrad/solve/algebra/newton_matrix.ipp>
#include <agrad/solve/algebra/pattern.ipp>
#include <agrad/solve/algebra/row_separation.ipp>
#include <agrad/solve/algebra/scaled_factors.ipp>
#include <agrad/solve/algebra/sparse_lu.ipp>
#include <agrad/solve/one_step/methods.ipp>
#include <agrad/solve/one_step/probe.ipp>
#include <agrad/solve/one_step/reverse_estimate.ipp>
#include <agrad/solve/one_step/rosenbrock.ipp>
#include <agrad/solve/one_step/rosenbrock_second.ipp>
#include <agrad/solve/one_step/solver.ipp>
#include <agrad/solve/one_step/store.ipp>
#include <agrad/solve/one_step/switching.ipp>
#include <agrad/solve/solver/checked.ipp>
#include <agrad/solve/solver/event_watch.ipp>
#include <agrad/solve/solver/fault.ipp>
#include <agrad/solve/solver/moving_state.ipp>
#include <agrad/solve/solver/options.ipp>
#include <agrad/solve/solver/shift_check.ipp>
#include <agrad/solve/solver/statistics.ipp>
#include <agrad/solve/solver/switch_nodes.ipp>
#include <agrad/solve/solver/zero_search.ipp>
