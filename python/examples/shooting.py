"""A boundary value problem by shooting: the initial velocity with which a ball, slowed by the air, lands where it should.

The residual goes through a differential equation; Newton's method takes its Jacobian from ag.jacobian.
"""

import numpy as np

import agrad as ag

target, time_of_flight = np.array([40.0, 0.0]), 4.0  # m, s


def motion(t, state, drag):
    """Derivatives of position and velocity."""
    velocity = state[2:]
    speed = np.sqrt(np.sum(velocity**2))
    return np.concatenate([velocity, np.array([0.0, -9.81]) - drag * speed * velocity])


def miss(initial_velocity):
    """Where the ball is at the end, relative to the target."""
    start = np.concatenate([np.zeros(2), initial_velocity])
    end = ag.ode_adjoint_tol(motion, start, 0.0, [time_of_flight], 1e-10, 1e-10, 10_000, 0.01)
    return end[0, :2] - target


residual, jacobian = ag.compile(miss), ag.compile(ag.jacobian(miss))
velocity = np.array([10.0, 20.0])
for _ in range(4):
    gap = residual(velocity)
    print(f"velocity {velocity.round(5)} m/s misses by {np.linalg.norm(gap):.4f} m")
    velocity = velocity - np.linalg.solve(jacobian(velocity), gap)
