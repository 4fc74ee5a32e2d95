// Tableau Rodas4: the coefficients of a Rosenbrock method of order 4.
//
// Read next: solve/rosenbrock.hpp, which says what they multiply.
// Source: Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.7 and code RODAS.
#pragma once

namespace agrad {

/// The coefficients of Rodas4: order 4, six stages, stiffly accurate, with an embedded method of order 3.
struct rodas4_tableau {
  static constexpr int stages = 6, order = 4;
  static constexpr double gamma = 0.25;
  static constexpr double c[stages] = {0, 0.386, 0.21, 0.63, 1, 1};
  static constexpr double d[stages] = {0.25, -0.1043, 0.1035, -0.0362, 0, 0};
  static constexpr double a[] = {  // by rows, without the first
      1.544,
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
  // At the part x of a step, (1 - x) y + x (end + (1 - x) sum_s (p_s1 + p_s2 x) U_s), of order 3.
  static constexpr double interpolant[stages][2] = {
      {10.12623508344586, -0.6762803392801253}, {-7.487995877610167, 6.087714651680015},
      {-34.80091861555747, 16.43084320892478},  {-7.992771707568823, 24.76722511418386},
      {1.025137723295662, -6.594389125716872},  {0, 0}};
};

}  // namespace agrad
