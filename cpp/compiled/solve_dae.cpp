// Compiles the definitions of solve/dae, and of its problems, once, for agrad::compiled.
#include <agrad/solve/dae/consistency.ipp>
#include <agrad/solve/dae/correction.ipp>
#include <agrad/solve/dae/ida.ipp>
#include <agrad/solve/dae/ida_backward.ipp>
#include <agrad/solve/dae/ida_forward.ipp>
#include <agrad/solve/dae/iteration.ipp>
#include <agrad/solve/dae/options.ipp>
#include <agrad/solve/dae/reverse.ipp>
#include <agrad/solve/dae/solver.ipp>
#include <agrad/solve/dae/splitting.ipp>
#include <agrad/solve/dae/start.ipp>
#include <agrad/solve/dae/trajectory.ipp>
#include <agrad/solve/posed/dae.ipp>
#include <agrad/solve/record/dae_problem.ipp>
