// ADOL-C: traces at each call and keeps the values for one reverse sweep.
#include <adolc/adolc.h>

#include <Eigen/Core>

// ADOL-C has no log1p.
inline adouble log1p(const badouble& x) { return log(1.0 + x); }
inline adouble abs(const badouble& x) { return fabs(x); }

namespace Eigen {
template <>
struct NumTraits<adouble> : GenericNumTraits<double> {
  using Real = adouble;
  using NonInteger = adouble;
  using Nested = adouble;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1, AddCost = 10, MulCost = 10 };
};
}  // namespace Eigen

#include "driver.hpp"

namespace bench {
template <>
struct number<adouble> {
  static double of(const adouble& x) { return x.value(); }
};
}  // namespace bench

namespace {
struct scalar {
  template <class F>
  static double gradient(const F& f, const bench::vector_of<double>& x, bench::vector_of<double>& g) {
    constexpr short tag = 1;
    double value, seed = 1;
    static bench::vector_of<adouble> variables;  // kept: each adouble that is made looks for a free place on the tape
    variables.resize(x.size());
    trace_on(tag, 1);
    for (Eigen::Index i = 0; i < x.size(); ++i) variables[i] <<= x[i];
    f(variables) >>= value;
    trace_off();
    reverse(tag, 1, static_cast<int>(x.size()), 0, &seed, g.data());
    return value;
  }
};
}  // namespace

int main(int argc, char** argv) {
  bench::driver rows("ADOL-C");
  rows.add_scalar<scalar>();
  return rows.run(argc, argv);
}
