// Compiles the definitions of solve, solve/posed, solve/record and solve/steady once, for agrad::compiled.
#include <agrad/solve/posed/events.ipp>
#include <agrad/solve/posed/ode.ipp>
#include <agrad/solve/posed/switched_stops.ipp>
#include <agrad/solve/record/event_problem.ipp>
#include <agrad/solve/record/ode_problem.ipp>
#include <agrad/solve/record/second_code.ipp>
#include <agrad/solve/record/solve_operation.ipp>
#include <agrad/solve/steady/integration.ipp>
#include <agrad/solve/steady/linear_path.ipp>
#include <agrad/solve/steady/stability.ipp>
