// Rosenbrock tableau: the coefficients of a Rosenbrock method, with the tableaus of Rodas4 and Rodas5P.
//
// A single class, compiled once for all methods, reads the coefficients (solve/one_step/rosenbrock.hpp).
// Sources: Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.7 and code RODAS, for Rodas4;
// Steinebach (2023), BIT Numerical Mathematics 63:27, for Rodas5P.
#pragma once

namespace agrad {

/// A stiffly accurate method whose last stage is the error estimate. a and C hold the rows of lower triangles, without the
/// first row.
struct rosenbrock_tableau {
  const char* name;
  int stages, order;  // order: one more than the embedded method's
  double gamma;
  const double *c, *d, *a, *C;
  // At the fraction x of a step the state is (1 - x) y + x (end + (1 - x) sum_s (p_s1 + p_s2 x + ...) U_s), with `powers` p for
  // each stage.
  const double* interpolant;
  int powers;

  double a_of(int s, int j) const { return a[s * (s - 1) / 2 + j]; }
  double C_of(int s, int j) const { return C[s * (s - 1) / 2 + j]; }
  /// Returns the weight of U_s in the step's end.
  double b(int s) const { return s == stages - 1 ? 1.0 : a_of(stages - 1, s); }
  /// Returns the sum p_s1 + p_s2 x + ... of stage s.
  double within(int s, double x) const {
    double sum = 0;
    for (int k = powers; k-- > 0;) sum = sum * x + interpolant[s * powers + k];
    return sum;
  }
};

namespace detail {

struct rodas4_numbers {
  static constexpr double c[] = {0, 0.386, 0.21, 0.63, 1, 1};
  static constexpr double d[] = {0.25, -0.1043, 0.1035, -0.0362, 0, 0};
  static constexpr double a[] = {1.544,
                                 0.9466785280815826,
                                 0.2557011698983284,
                                 3.314825187068521,
                                 2.896124015972201,
                                 0.9986419139977817,
                                 1.221224509226641,
                                 6.019134481288629,
                                 12.53708332932087,
                                 -0.6878860361058950,
                                 1.221224509226641,
                                 6.019134481288629,
                                 12.53708332932087,
                                 -0.6878860361058950,
                                 1};
  static constexpr double C[] = {-5.6688,
                                 -2.430093356833875,
                                 -0.2063599157091915,
                                 -0.1073529058151375,
                                 -9.594562251023355,
                                 -20.47028614809616,
                                 7.496443313967647,
                                 -10.24680431464352,
                                 -33.99990352819905,
                                 11.70890893206160,
                                 8.083246795921522,
                                 -7.981132988064893,
                                 -31.52159432874371,
                                 16.31930543123136,
                                 -6.058818238834054};
  static constexpr double interpolant[] = {10.12623508344586,
                                           -0.6762803392801253,
                                           -7.487995877610167,
                                           6.087714651680015,
                                           -34.80091861555747,
                                           16.43084320892478,
                                           -7.992771707568823,
                                           24.76722511418386,
                                           1.025137723295662,
                                           -6.594389125716872,
                                           0,
                                           0};
};

struct rodas5p_numbers {
  static constexpr double c[] = {0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1};
  static constexpr double d[] = {
      0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0};
  static constexpr double a[] = {3,
                                 2.849394379747939,
                                 0.45842242204463923,
                                 -6.954028509809101,
                                 2.489845061869568,
                                 -10.358996098473584,
                                 2.8029986275628964,
                                 0.5072464736228206,
                                 -0.3988312541770524,
                                 -0.04721187230404641,
                                 -7.502846399306121,
                                 2.561846144803919,
                                 -11.627539656261098,
                                 -0.18268767659942256,
                                 0.030198172008377946,
                                 -7.502846399306121,
                                 2.561846144803919,
                                 -11.627539656261098,
                                 -0.18268767659942256,
                                 0.030198172008377946,
                                 1,
                                 -7.502846399306121,
                                 2.561846144803919,
                                 -11.627539656261098,
                                 -0.18268767659942256,
                                 0.030198172008377946,
                                 1,
                                 1};
  static constexpr double C[] = {-14.155112264123755, -17.97296035885952, -2.859693295451294,  147.12150275711716,
                                 -1.41221402718213,   71.68940251302358,  165.43517024871676,  -0.4592823456491126,
                                 42.90938336958603,   -5.961986721573306, 24.854864614690072,  -3.0009227002832186,
                                 47.4931110020768,    5.5814197821558125, -0.6610691825249471, 30.91273214028599,
                                 -3.1208243349937974, 77.79954646070892,  34.28646028294783,   -19.097331116725623,
                                 -28.087943162872662, 37.80277123390563,  -3.2571969029072276, 112.26918849496327,
                                 66.9347231244047,    -40.06618937091002, -54.66780262877968,  -9.48861652309627};
  static constexpr double interpolant[] = {25.948786856663858,   -9.91568850695171,    11.419903575922262,  -2.5579724845846235,
                                           -0.9689944594115154,  2.8879645146136994,   10.433815404888879,  3.0438037242978453,
                                           72.92137995996029,    -2.3679251022685204,  -24.495224566215796, 80.12511834622643,
                                           0.524948541321073,    20.176138334709044,   -52.072871366152654, 1.1241088310450404,
                                           15.98066361424651,    -59.78993625266729,   0.4272876194431874,  -6.789040303419874,
                                           -0.15582684282751913, -0.17202221070155493, -6.710236069923372,  4.883087185713722};
};

template <class Numbers>
constexpr rosenbrock_tableau tableau_of(const char* name, int order, double gamma) {
  constexpr int stages = sizeof(Numbers::c) / sizeof(double);
  constexpr int powers = sizeof(Numbers::interpolant) / sizeof(double) / stages;
  return {name, stages, order, gamma, Numbers::c, Numbers::d, Numbers::a, Numbers::C, Numbers::interpolant, powers};
}

}  // namespace detail

/// Order 4, six stages; its interpolant has order 3.
inline constexpr rosenbrock_tableau rodas4_tableau = detail::tableau_of<detail::rodas4_numbers>("Rodas4", 4, 0.25);
/// Order 5, eight stages, without loss of order on linear parabolic problems; its interpolant has order 4.
inline constexpr rosenbrock_tableau rodas5p_tableau =
    detail::tableau_of<detail::rodas5p_numbers>("Rodas5P", 5, 0.21193756319429014);

}  // namespace agrad
