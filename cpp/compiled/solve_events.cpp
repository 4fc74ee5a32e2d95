// Compiles the definitions of solve/events once, for agrad::compiled.
#include <agrad/solve/events/conditions.ipp>
#include <agrad/solve/events/instant.ipp>
#include <agrad/solve/events/reverse.ipp>
#include <agrad/solve/events/schedule.ipp>
#include <agrad/solve/events/second.ipp>
#include <agrad/solve/events/solver.ipp>
#include <agrad/solve/events/system.ipp>
#include <agrad/solve/events/tangent.ipp>
#include <agrad/solve/events/trajectory.ipp>
