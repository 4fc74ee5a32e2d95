// Compiles the definitions of solve/one_step once, for agrad::compiled.
#include <agrad/solve/one_step/probe.ipp>
#include <agrad/solve/one_step/rosenbrock.ipp>
#include <agrad/solve/one_step/rosenbrock_second.ipp>
#include <agrad/solve/one_step/solver.ipp>
#include <agrad/solve/one_step/store.ipp>
#include <agrad/solve/one_step/switching.ipp>
