// Compiles the definitions of solve, solve/record and solve/steady once, for agrad::compiled.
#include <agrad/solve/record/event_operation.ipp>
#include <agrad/solve/record/ode_operation.ipp>
#include <agrad/solve/steady/integration.ipp>
#include <agrad/solve/steady/stability.ipp>
