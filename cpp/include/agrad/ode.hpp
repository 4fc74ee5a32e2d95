// Umbrella of solve/: differential equations, the only headers of agrad that need SUNDIALS.
#pragma once

#include <agrad/solve/event_operation.hpp>
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/ode_events.hpp>
#include <agrad/solve/ode_forward.hpp>
#include <agrad/solve/ode_one_step.hpp>
#include <agrad/solve/ode_operation.hpp>
#include <agrad/solve/ode_solve.hpp>
#include <agrad/solve/ode_weighing.hpp>
#include <agrad/solve/recorded_system.hpp>
#include <agrad/solve/runge_kutta.hpp>
#include <agrad/solve/steady_operation.hpp>
#include <agrad/solve/steady_state.hpp>
#include <agrad/solve/switching_solver.hpp>
