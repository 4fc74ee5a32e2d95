// Tableaus: the coefficients of explicit Runge-Kutta methods.
//
// A step from y takes slopes k_s = f(t + c_s h, y + h sum_j a_sj k_j) and ends at y + h sum_s b_s k_s; its error is estimated
// as h sum_s e_s k_s. Where `last_is_first` the last slope is that of the end, which is the next step's first.
// Read next: solve/explicit_runge_kutta.hpp.
#pragma once

namespace agrad {

/// Tsitouras' method of order 5, with small errors: the first choice for systems that are not stiff.
/// Source: Tsitouras (2011), Computers and Mathematics with Applications 62:770, table 1.
struct tsitouras_tableau {
  static constexpr int stages = 7, order = 5;
  static constexpr bool last_is_first = true;
  static constexpr double real_stability = 3.507;  // how far it reaches along the negative real axis
  static constexpr double a[] = {
      // by rows, without the first
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
};

/// Dormand and Prince's method of order 5, the classical RK45.
/// Source: Dormand and Prince (1980), Journal of Computational and Applied Mathematics 6:19.
struct dormand_prince_tableau {
  static constexpr int stages = 7, order = 5;
  static constexpr bool last_is_first = true;
  static constexpr double real_stability = 3.307;  // how far it reaches along the negative real axis
  static constexpr double a[] = {
      // by rows, without the first
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
};

/// Cash and Karp's method of order 5, for solutions that change abruptly.
/// Source: Cash and Karp (1990), ACM Transactions on Mathematical Software 16:201.
struct cash_karp_tableau {
  static constexpr int stages = 6, order = 5;
  static constexpr bool last_is_first = false;
  static constexpr double real_stability = 3.734;  // how far it reaches along the negative real axis
  static constexpr double a[] = {
      // by rows, without the first
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

/// Dormand and Prince's method of order 8, for tight tolerances. Its error is estimated of order 5 and of order 3 together.
/// Source: Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.10, DOP853.
struct dormand_prince_8_tableau {
  static constexpr int stages = 13, order = 8;
  static constexpr bool last_is_first = true;
  static constexpr double real_stability = 6.394;  // how far it reaches along the negative real axis
  static constexpr double a[] = {
      // by rows, without the first
      0.05260015195876773,
      0.0197250569845379,
      0.0591751709536137,
      0.02958758547680685,
      0,
      0.08876275643042054,
      0.2413651341592667,
      0,
      -0.8845494793282861,
      0.924834003261792,
      0.037037037037037035,
      0,
      0,
      0.17082860872947386,
      0.12546768756682242,
      0.037109375,
      0,
      0,
      0.17025221101954405,
      0.06021653898045596,
      -0.017578125,
      0.03709200011850479,
      0,
      0,
      0.17038392571223998,
      0.10726203044637328,
      -0.015319437748624402,
      0.008273789163814023,
      0.6241109587160757,
      0,
      0,
      -3.3608926294469414,
      -0.868219346841726,
      27.59209969944671,
      20.154067550477894,
      -43.48988418106996,
      0.47766253643826434,
      0,
      0,
      -2.4881146199716677,
      -0.590290826836843,
      21.230051448181193,
      15.279233632882423,
      -33.28821096898486,
      -0.020331201708508627,
      -0.9371424300859873,
      0,
      0,
      5.186372428844064,
      1.0914373489967295,
      -8.149787010746927,
      -18.52006565999696,
      22.739487099350505,
      2.4936055526796523,
      -3.0467644718982196,
      2.273310147516538,
      0,
      0,
      -10.53449546673725,
      -2.0008720582248625,
      -17.9589318631188,
      27.94888452941996,
      -2.8589982771350235,
      -8.87285693353063,
      12.360567175794303,
      0.6433927460157636,
      0.054293734116568765,
      0,
      0,
      0,
      0,
      4.450312892752409,
      1.8915178993145003,
      -5.801203960010585,
      0.3111643669578199,
      -0.1521609496625161,
      0.20136540080403034,
      0.04471061572777259};
  static constexpr double b[stages] = {0.054293734116568765,
                                       0,
                                       0,
                                       0,
                                       0,
                                       4.450312892752409,
                                       1.8915178993145003,
                                       -5.801203960010585,
                                       0.3111643669578199,
                                       -0.1521609496625161,
                                       0.20136540080403034,
                                       0.04471061572777259,
                                       0};
  static constexpr double c[stages] = {0,
                                       0.05260015195876773,
                                       0.0789002279381516,
                                       0.1183503419072274,
                                       0.2816496580927726,
                                       0.3333333333333333,
                                       0.25,
                                       0.3076923076923077,
                                       0.6512820512820513,
                                       0.6,
                                       0.8571428571428571,
                                       1.0,
                                       1.0};
  static constexpr double e[stages] = {0.01312004499419488,
                                       0,
                                       0,
                                       0,
                                       0,
                                       -1.2251564463762044,
                                       -0.4957589496572502,
                                       1.6643771824549864,
                                       -0.35032884874997366,
                                       0.3341791187130175,
                                       0.08192320648511571,
                                       -0.022355307863886294,
                                       0};
  static constexpr double e3[stages] = {-0.18980075407240762,
                                        0,
                                        0,
                                        0,
                                        0,
                                        4.450312892752409,
                                        1.8915178993145003,
                                        -5.801203960010585,
                                        -0.4226823213237919,
                                        -0.1521609496625161,
                                        0.20136540080403034,
                                        0.02265179219836082,
                                        0};
};

}  // namespace agrad
