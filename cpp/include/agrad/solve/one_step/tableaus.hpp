// Tableaus: the coefficients of explicit Runge-Kutta methods.
//
// A step from y computes slopes k_s = f(t + c_s h, y + h sum_j a_sj k_j) and ends at y + h sum_s b_s k_s; its error estimate is
// h sum_s e_s k_s. If `last_is_first`, the last slope is the slope at the end, which the next step reuses as its first. For a
// method with an `interpolant`, the state at the fraction x of the step is Hermite's cubic polynomial through the states and
// slopes at both ends, plus h x^2 (1-x)^2 sum_s (p_s1 + x (p_s2 + (1-x) (p_s3 + x p_s4))) k_s; only the interpolant uses the
// `extra` stages.
// Read next: solve/one_step/tableau_dop853.hpp, one more; solve/one_step/explicit_runge_kutta.hpp.
#pragma once

namespace agrad {

/// Tsitouras' method of order 5, with small errors: the first choice for systems that are not stiff.
/// Source: Tsitouras (2011), Computers and Mathematics with Applications 62:770, table 1.
struct tsitouras_tableau {
  static constexpr int stages = 7, order = 5;
  static constexpr bool last_is_first = true;
  static constexpr double real_stability = 3.507;  // stability limit on the negative real axis
  static constexpr double a[] = {
      // by rows, without the first row
      0.161,
      -0.008480655492356989,
      0.335480655492357,
      2.8971530571054935,
      -6.359448489975075,
      4.3622954328695815,
      5.325864828439257,
      -11.748883564062828,
      7.4955393428898365,
      -0.09249506636175525,
      5.86145544294642,
      -12.92096931784711,
      8.159367898576159,
      -0.071584973281401,
      -0.028269050394068383,
      0.09646076681806523,
      0.01,
      0.4798896504144996,
      1.379008574103742,
      -3.290069515436081,
      2.324710524099774};
  static constexpr double b[stages] = {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
                                       2.324710524099774,   0};
  static constexpr double c[stages] = {0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0};
  static constexpr double e[stages] = {-0.001780011052225777, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629,
                                       0.5823571654525552,    -0.45808210592918697,   0.015151515151515152};
  static constexpr double interpolant[stages][1] = {
      {-1.0530884977290216}, {0.1017}, {2.490627285651253}, {-16.548102889244902}, {47.37952196281928},
      {-34.87065786149661},  {2.5}};  // of order 4
};

/// Dormand and Prince's method of order 5, the classical RK45.
/// Source: Dormand and Prince (1980), Journal of Computational and Applied Mathematics 6:19; Shampine (1986), Mathematics of
/// Computation 46:135, for the interpolant.
struct dormand_prince_tableau {
  static constexpr int stages = 7, order = 5;
  static constexpr bool last_is_first = true;
  static constexpr double real_stability = 3.307;  // stability limit on the negative real axis
  static constexpr double a[] = {
      // by rows, without the first row
      0.2,
      0.075,
      0.225,
      0.9777777777777777,
      -3.7333333333333334,
      3.5555555555555554,
      2.9525986892242035,
      -11.595793324188385,
      9.822892851699436,
      -0.2908093278463649,
      2.8462752525252526,
      -10.757575757575758,
      8.906422717743473,
      0.2784090909090909,
      -0.2735313036020583,
      0.09114583333333333,
      0,
      0.44923629829290207,
      0.6510416666666666,
      -0.322376179245283,
      0.13095238095238096};
  static constexpr double b[stages] = {0.09114583333333333, 0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283,
                                       0.13095238095238096, 0};
  static constexpr double c[stages] = {0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0, 1.0};
  static constexpr double e[stages] = {
      -0.0012326388888888888, 0, 0.0042527702905061394, -0.03697916666666667, 0.05086379716981132, -0.0419047619047619, 0.025};
  static constexpr double interpolant[stages][1] = {
      {-1.1270175653862835}, {0}, {2.675424484351598}, {-5.685526961588504}, {3.5219323679207912}, {-1.7672812570757455},
      {2.382468931778144}};  // of order 4
};

/// Cash and Karp's method of order 5, for solutions that change abruptly.
/// Source: Cash and Karp (1990), ACM Transactions on Mathematical Software 16:201.
struct cash_karp_tableau {
  static constexpr int stages = 6, order = 5;
  static constexpr bool last_is_first = false;
  static constexpr double real_stability = 3.734;  // stability limit on the negative real axis
  static constexpr double a[] = {
      // by rows, without the first row
      0.2,
      0.075,
      0.225,
      0.3,
      -0.9,
      1.2,
      -0.2037037037037037,
      2.5,
      -2.5925925925925926,
      1.2962962962962963,
      0.029495804398148147,
      0.341796875,
      0.041594328703703706,
      0.40034541377314814,
      0.061767578125};
  static constexpr double b[stages] = {0.09788359788359788, 0, 0.4025764895330113, 0.21043771043771045, 0, 0.2891022021456804};
  static constexpr double c[stages] = {0, 0.2, 0.3, 0.6, 1.0, 0.875};
  static constexpr double e[stages] = {
      -0.004293774801587311, 0, 0.018668586093857853, -0.034155026830808066, -0.019321986607142856, 0.03910220214568039};
};

}  // namespace agrad
