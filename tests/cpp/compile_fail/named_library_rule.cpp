// A library's rules are in an unnamed namespace.
// expect: write the rules in an unnamed namespace
#include <agrad/rule_library.hpp>

struct half_rule : agrad::rule<1> {
  static constexpr std::string_view name = "half", text = "x / 2.";
  static double value(double x) { return x / 2; }
  template <class T>
  static double derivative(agrad::wrt<0>, const T&, const T&) {
    return 0.5;
  }
};

const agrad::rule_library* agrad_rules() { return agrad::library_of<half_rule>(); }
