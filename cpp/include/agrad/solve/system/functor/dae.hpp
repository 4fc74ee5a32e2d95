// Functor DAE: a C++ callable F(t, y, y', args...) that is templated on its scalars, as a `dae_system`.
//
// This class is a functor system (solve/system/functor/tangents.hpp) of the doubled state (y, y'), whose slopes are the
// residuals and n zeros: it splits that system's values, Jacobians, tangents and adjoints into the parts of y and y'.
// Read next: solve/dae_adjoint.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/solve/system/dae.hpp>
#include <agrad/solve/system/functor/tangents.hpp>

namespace agrad::detail {

/// F as the right-hand side of (y, y'). Values: the arguments without variables. If only the state or only the arguments hold
/// variables, every possible call counts as intended.
template <class F, class... Values>
struct doubled_residual {
  std::string function;
  F f;

  template <class Z, class... Args>
  static constexpr bool takes() {
    if constexpr (std::is_same_v<Z, Eigen::VectorXd> || std::is_same_v<std::tuple<Args...>, std::tuple<Values...>>)
      return std::is_invocable_v<const F&, double, const Z&, const Z&, const Args&...>;
    else
      return calls_of<F, Z, Z>::template have<Args...>();
  }

  template <class Z, class... Args, class = std::enable_if_t<takes<Z, Args...>()>>
  auto operator()(double t, const Z& z, const Args&... args) const {
    const Eigen::Index n = z.size() / 2;
    const auto r = stored_argument(f(t, Z(z.head(n)), Z(z.tail(n)), args...));
    check_size(function, "the result of f", static_cast<std::size_t>(r.size()), static_cast<std::size_t>(n),
               "one equation for each state");
    using scalar = std::decay_t<decltype(r[0])>;
    vector_of<scalar> padded(2 * n);
    for (Eigen::Index i = 0; i < n; ++i) padded[i] = r[i], padded[n + i] = scalar(0);
    return padded;
  }
};

template <class F, class... Args>
class functor_dae final : public dae_system {
  using doubled = doubled_residual<F, argument_value_t<Args>...>;

 public:
  /// function: the name in errors. states: length of y.
  functor_dae(const std::string& function, const F& f, Eigen::Index states, const Args&... args)
      : doubled_(function, doubled{function, f}, 2 * states, args...),
        n_(states),
        z_(2 * states),
        out_(2 * states),
        lambda_(Eigen::VectorXd::Zero(2 * states)) {}

  Eigen::Index states() const override { return n_; }
  Eigen::Index parameters() const override { return doubled_.parameters(); }
  const std::vector<tape::index_type>& parameter_indices() const { return doubled_.parameter_indices(); }

  void residual(const dae_point& at, double* r) override {
    doubled_.rhs(at.t, both(at), out_.data());
    std::copy_n(out_.data(), n_, r);
  }

  void jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) override {
    J_.resize(2 * n_, 2 * n_);
    doubled_.jacobian(at.t, both(at), J_);
    J.setZero();
    if (of_y != 0) J += of_y * J_.topLeftCorner(n_, n_);
    if (of_yp != 0) J += of_yp * J_.topRightCorner(n_, n_);
  }

  void vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) override {
    std::copy_n(lambda, n_, lambda_.data());
    const bool of_state = to.y != nullptr || to.yp != nullptr;
    doubled_.vjp(at.t, both(at), lambda_.data(), of_state ? out_.data() : nullptr, to.parameters);
    if (to.y != nullptr) std::copy_n(out_.data(), n_, to.y);
    if (to.yp != nullptr) std::copy_n(out_.data() + n_, n_, to.yp);
  }

  /// Computes tangents, without tangents of t: f takes t as a double.
  void tangent(const dae_point& at, const dae_directions& along, double* r) override {
    if (!doubled_.has_first_tangents()) return dae_system::tangent(at, along, r);
    const auto w = static_cast<std::size_t>(along.width), n = static_cast<std::size_t>(n_) * w;
    of_state_.assign(2 * n, 0.0), of_parameters_.assign(static_cast<std::size_t>(parameters()) * w, 0.0);
    if (along.y != nullptr) std::copy_n(along.y, n, of_state_.begin());
    if (along.yp != nullptr) std::copy_n(along.yp, n, of_state_.data() + n);
    if (along.parameters != nullptr) std::copy_n(along.parameters, of_parameters_.size(), of_parameters_.begin());
    result_.resize(2 * n);
    doubled_.tangent(along.width, at.t, both(at), of_state_.data(), of_parameters_.data(), result_.data());
    std::copy_n(result_.begin(), n, r);
  }

  bool knows_time() const override { return false; }
  void parameter_values(double* p) const override { doubled_.parameter_values(p); }

 private:
  const double* both(const dae_point& at) {
    std::copy_n(at.y, n_, z_.data());
    std::copy_n(at.yp, n_, z_.data() + n_);
    return z_.data();
  }

  functor_tangents<doubled, Args...> doubled_;
  Eigen::Index n_;
  Eigen::VectorXd z_, out_, lambda_;
  Eigen::MatrixXd J_;
  std::vector<double> of_state_, of_parameters_, result_;
};

}  // namespace agrad::detail
