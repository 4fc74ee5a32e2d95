// Sacado: Rad, its reverse mode of scalars.
#include <Eigen/Core>
#include <Sacado_trad.hpp>

namespace Sacado::Rad {
// Rad has no log1p.
inline ADvar<double> log1p(const ADvar<double>& x) { return log(1.0 + x); }
inline ADvar<double> log1p(const ADvari<double>& x) { return log(1.0 + x); }
}  // namespace Sacado::Rad

using active = Sacado::Rad::ADvar<double>;

namespace Eigen {
template <>
struct NumTraits<active> : GenericNumTraits<double> {
  using Real = active;
  using NonInteger = active;
  using Nested = active;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1, AddCost = 10, MulCost = 10 };
};
}  // namespace Eigen

#include "driver.hpp"

namespace {
struct scalar {
  template <class F>
  static double gradient(const F& f, const bench::vector_of<double>& x, bench::vector_of<double>& g) {
    bench::vector_of<active> variables(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i)
      variables[i] = x[i];  // a cast would copy, and each copy is an operation of Rad's
    active y = f(variables);
    active::Outvar_Gradcomp(y);  // Gradcomp() starts from the last operation, which need not be y's
    for (Eigen::Index i = 0; i < x.size(); ++i) g[i] = variables[i].adj();
    return y.val();
  }
};
}  // namespace

int main(int argc, char** argv) {
  bench::driver rows("Sacado");
  rows.add_scalar<scalar>();
  return rows.run(argc, argv);
}
