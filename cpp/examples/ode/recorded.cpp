// A right-hand side that is recorded once: a drug is infused for an hour, and eliminated.
#include <agrad/agrad.hpp>
#include <agrad/ode.hpp>
#include <iomanip>
#include <iostream>
#include <vector>

// Time is a scalar of any type, too, and `select` chooses where other code says `if`.
const auto elimination = agrad::recorded([](const auto& t, const auto& amount, const auto& rate) {
  auto slope = (-rate * amount).eval();
  slope[0] += agrad::select(t < 1.0, 10.0, 0.0);
  return slope;
});

int main() {
  const Eigen::VectorXd nothing = Eigen::VectorXd::Zero(1);
  std::cout << std::setprecision(5);
  for (const double value : {0.5, 1.0}) {  // recorded for the first, run again for the second
    const agrad::var rate = value;
    const auto amount = agrad::ode_rodas4_tol(elimination, nothing, 0.0, {1.0, 3.0}, 1e-8, 1e-8, 10000, rate);
    amount[1][0].grad();
    std::cout << "at rate " << value << ": " << amount[1][0].val() << " left, by rate " << rate.adj() << '\n';
  }
}
