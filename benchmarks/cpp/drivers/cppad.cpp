// CppAD: records at each call, without the list of comparisons that a replay would need, and sweeps once.
#include <cppad/example/cppad_eigen.hpp>
// (its Eigen traits first)
#include <cppad/cppad.hpp>

#include "driver.hpp"

namespace bench {
template <>
struct number<CppAD::AD<double>> {
  static double of(const CppAD::AD<double>& x) { return CppAD::Value(CppAD::Var2Par(x)); }
};
}  // namespace bench

namespace {
struct scalar {
  template <class F>
  static double gradient(const F& f, const bench::vector_of<double>& x, bench::vector_of<double>& g) {
    using active = CppAD::AD<double>;
    static bench::vector_of<active> variables, y(1);  // kept: CppAD's objects are slow to make
    variables = x.cast<active>();
    CppAD::Independent(variables, 0, false);
    y[0] = f(variables);
    CppAD::ADFun<double> tape(variables, y);
    g = tape.Reverse(1, bench::vector_of<double>(bench::vector_of<double>::Ones(1)));
    return CppAD::Value(y[0]);
  }
};
}  // namespace

int main(int argc, char** argv) {
  CppAD::thread_alloc::hold_memory(true);  // memory is kept between calls, as CppAD's own speed tests do
  bench::driver rows("CppAD");
  rows.add_scalar<scalar>();
  return rows.run(argc, argv);
}
