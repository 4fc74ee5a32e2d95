// A right-hand side that returns variables for numbers has captured one, whose derivative would be lost.
// expect: f of doubles must return doubles; pass variables as arguments instead of capturing them
#include <agrad/solve/ode_forward.hpp>
#include <type_traits>

void wrong(const agrad::var& rate, const agrad::var& y0) {
  const auto f = [&](double, const auto& y) {
    using T = typename std::decay_t<decltype(y)>::Scalar;
    if constexpr (std::is_same_v<T, double>)
      return (rate * y).eval();
    else
      return (rate.val() * y).eval();
  };
  agrad::ode_bdf(f, agrad::vector_of<agrad::var>::Constant(1, y0), 0.0, std::vector<double>{1.0});
}
