// A library of one function for Python, the hyperbolic secant.
#include <agrad/rule_library.hpp>

namespace {

struct sech_rule : agrad::rule<1> {
  static constexpr std::string_view name = "sech", text = "Hyperbolic secant, 1 / cosh(x).";
  static double value(double x) {
    const double e = std::exp(-std::abs(x));  // cosh overflows where its inverse is still a number
    return 2 * e / (1 + e * e);
  }
  template <class T>
  static T derivative(agrad::wrt<0>, const T& x, const T& value) {
    return -value * agrad::tanh(x);
  }
};

}  // namespace

const agrad::rule_library* agrad_rules() { return agrad::library_of<sech_rule>(); }
