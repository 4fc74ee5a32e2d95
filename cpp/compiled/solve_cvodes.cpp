// Compiles the definitions of solve/cvodes and solve/sundials once, for agrad::compiled.
#include <agrad/solve/cvodes/adjoint.ipp>
#include <agrad/solve/cvodes/adjoint_options.ipp>
#include <agrad/solve/cvodes/backward.ipp>
#include <agrad/solve/cvodes/callbacks.ipp>
#include <agrad/solve/cvodes/forward.ipp>
#include <agrad/solve/cvodes/log.ipp>
#include <agrad/solve/cvodes/reuse.ipp>
#include <agrad/solve/cvodes/session.ipp>
#include <agrad/solve/sundials/fault.ipp>
#include <agrad/solve/sundials/linear.ipp>
