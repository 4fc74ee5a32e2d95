// Where a dual of variables passes, f is to take duals, and times are numbers.
// expect: t0 and times must be numbers.*write f for scalars of any type.*or pass agrad::recorded
#include <agrad/solve/ode_one_step.hpp>

struct decay {
  template <class Y, class K>
  auto operator()(double, const Y& y, const K& k) const {
    return (-k * y).eval();
  }
};
struct of_variables {
  Eigen::VectorXd operator()(double, const Eigen::VectorXd& y, double k) const { return -k * y; }
  agrad::vector_of<agrad::var> operator()(double, const agrad::vector_of<agrad::var>& y, const agrad::var& k) const {
    return -k * y;
  }
};

void wrong(const agrad::dual<agrad::var>& x, const agrad::var& t) {
  const agrad::vector_of<agrad::dual<agrad::var>> y0 = agrad::vector_of<agrad::dual<agrad::var>>::Constant(1, x);
  agrad::ode_tsit5(decay(), y0, t, {1.0}, x);
  agrad::ode_tsit5(of_variables(), y0, 0.0, {1.0}, x);
}
