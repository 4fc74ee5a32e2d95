// A dual passes through no method of first derivatives only, and each says so by its name.
// expect: ode_bdf and ode_adams have first.*ode_adjoint_tol, .*have first.*ode_solve_events with ode_adjoint_options has first
#include <agrad/ode.hpp>

struct decay {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    agrad::vector_of<agrad::promoted_t<Y, K>> f(1);
    f[0] = -k * y[0];
    return f;
  }
};

void wrong(const agrad::dual<agrad::var>& k) {
  const Eigen::VectorXd y0 = Eigen::VectorXd::Ones(1);
  agrad::ode_bdf(decay(), y0, 0.0, {1.0}, k);
  agrad::ode_adjoint_tol(decay(), y0, 0.0, {1.0}, 1e-6, 1e-6, 1000, k);
  agrad::ode_solve_events(agrad::ode_adjoint_options(), std::vector<agrad::ode_dose<>>(), std::tuple<>(), {}, decay(), y0, 0.0,
                          {1.0}, k);
}
