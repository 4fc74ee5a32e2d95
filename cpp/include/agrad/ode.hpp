// Umbrella of solve/: differential equations, the only headers of agrad that need SUNDIALS.
#pragma once

#include <agrad/solve/cvodes/forward_or_adjoint.hpp>
#include <agrad/solve/ode_adjoint.hpp>
#include <agrad/solve/ode_events.hpp>
#include <agrad/solve/ode_forward.hpp>
#include <agrad/solve/ode_many.hpp>
#include <agrad/solve/ode_one_step.hpp>
#include <agrad/solve/ode_solve.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/switching.hpp>
#include <agrad/solve/record/event_problem.hpp>
#include <agrad/solve/record/ode_problem.hpp>
#include <agrad/solve/record/solve_operation.hpp>
#include <agrad/solve/record/steady_problem.hpp>
#include <agrad/solve/steady_state.hpp>
#include <agrad/solve/system/program/recorded_system.hpp>
