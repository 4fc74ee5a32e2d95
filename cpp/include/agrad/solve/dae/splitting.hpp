// DAE splitting: splits a state into its differential part a and its algebraic part b, y = Q a + Z b.
//
// Z spans the null space of dF/dy', Q the orthogonal complement. Mostly Q selects the states whose derivatives occur and Z
// selects the others. Where columns of dF/dy' are linearly dependent, as those of a capacitor between two nodes are, the
// differential quantity is a combination of states, and Q and Z come from a QR factorisation. dF/dy' is evaluated at some
// points near the given point, too: a guess may hide a derivative, as y'0 = 0 does in y'^3 = -y.
// A system is of index 1 where B = [dF/dy' Q, dF/dy Z] is regular: F = 0 then has one solution (a', b) for each a.
// Read next: solve/dae/consistency.hpp.
#pragma once

#include <Eigen/QR>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/solve/dae/probe.hpp>
#include <agrad/solve/system/dae.hpp>

namespace agrad::detail {

class dae_splitting {
 public:
  dae_splitting() = default;

  /// `given`: whether each state is differential; empty: from the system's knowledge, or from dF/dy' near a point.
  dae_splitting(const std::string& function, dae_system& system, const dae_point& at, const std::vector<bool>& given);

  Eigen::Index n() const { return n_; }

  /// Returns the length of a.
  Eigen::Index r() const { return q_.cols(); }

  /// Returns whether the entries of a are states, not combinations of states.
  bool is_choice() const { return !columns_.empty(); }

  /// Returns the name of entry k of (a', b), as "yp[0]"; empty where a is not a selection of states.
  std::string name(Eigen::Index k) const;

  /// Throws the error for a null space of dF/dy' that differs between time t and another place, named by `where`.
  [[noreturn]] AGRAD_COLD static void throw_moving(const std::string& function, double t, const std::string& where);

  /// Throws that error where dF/dy' at time t has another null space; Q and Z in y = Q a + Z b are constant.
  void check_constant(const std::string& function, double t, const Eigen::MatrixXd& by_slope) const;

  const Eigen::MatrixXd& q() const { return q_; }
  const Eigen::MatrixXd& z() const { return z_; }

  /// Computes B from dF/dy and dF/dy'.
  Eigen::MatrixXd joined(const Eigen::MatrixXd& by_state, const Eigen::MatrixXd& by_slope) const;

  /// Returns (Q^T u, Z^T v) as one vector.
  Eigen::VectorXd parts(const Eigen::VectorXd& u, const Eigen::VectorXd& v) const;

 private:
  /// Returns dF/dy' at the point and, below, at the nearby points where dF/dy' is finite.
  Eigen::MatrixXd slopes_around(dae_system& system, const dae_point& at) const;

  static std::vector<bool> columns_with_entries(const Eigen::MatrixXd& by_slope);

  static void check_given(const std::string& function, const std::vector<bool>& given, const std::vector<bool>& occurs,
                          const Eigen::MatrixXd& by_slope);

  void choose(const std::vector<bool>& differential);

  // Equations and states may differ in size by many orders of magnitude, so the rank is that of the matrix with scaled rows and
  // columns.
  void merge_dependent(const std::string& function, double t, const Eigen::MatrixXd& by_slope);

  static Eigen::Index rank_of(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>& qr, Eigen::MatrixXd m);

  Eigen::Index n_ = 0;
  std::vector<Eigen::Index> columns_;  // the states in the order of (a, b); empty where a has combinations
  Eigen::MatrixXd q_, z_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/dae/splitting.ipp>
#endif
