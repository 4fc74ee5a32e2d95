// Replay: a C++ function that is executed once, on traced numbers, and then run as a program with all its derivatives.
//
//     auto f = agrad::replayed([](const auto& x) { return (x[1] - x[0] * x[0]) * x[2]; }, x);
//     double fx; Eigen::VectorXd g; Eigen::SparseMatrix<double> H;
//     f.gradient(x, fx, g);
//     f.sparse_hessian(x, fx, g, H);
//
// A program needs no tape, and patterns of sparse matrices follow from the recording. What f captures is constant from then on.
// Values do not choose between branches: `if (x[0] > 0)` does not compile, and `select` records both.
// Read next: program/program.hpp, the passes; program/sparse/sparse.hpp, patterns and colours.
#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/check.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/program/derive/traced_eigen.hpp>
#include <agrad/program/jacobian.hpp>
#include <agrad/program/products.hpp>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/program/sparse/sparse.hpp>

namespace agrad {

/// A recorded function of a vector. Each object has a work space of its own: threads use copies, which share the program.
class replayed_function {
 public:
  /// f: a program with any number of outputs.
  explicit replayed_function(std::shared_ptr<const program> f) : f_(std::move(f)) {}

  /// Return the lengths of x and of f(x), and the program.
  Eigen::Index size() const { return static_cast<Eigen::Index>(f_->input_size()); }
  Eigen::Index outputs() const { return static_cast<Eigen::Index>(f_->output_size()); }
  const std::shared_ptr<const program>& recorded() const { return f_; }

  /// Computes f(x), resized to `outputs()`. Throws ShapeError unless x has the length `size()`, as all functions do.
  template <class X>
  void value(const Eigen::MatrixBase<X>& x, Eigen::VectorXd& fx) {
    const Eigen::VectorXd at = checked("value", x);
    fx.resize(outputs());
    f_->forward(work_, at.data(), fx.data(), false);
  }

  /// Computes f(x) and its gradient. Throws ShapeError unless f has one output.
  template <class X>
  void gradient(const Eigen::MatrixBase<X>& x, double& fx, Eigen::VectorXd& g) {
    const Eigen::VectorXd at = checked_scalar("gradient", x);
    const double one = 1;
    g.resize(size());
    f_->forward(work_, at.data(), &fx);
    f_->reverse(work_, &one, g.data());
  }

  /// Computes f(x) and the Jacobian, outputs x size, by tangents or by adjoints, whichever take fewer passes.
  template <class X>
  void jacobian(const Eigen::MatrixBase<X>& x, Eigen::VectorXd& fx, Eigen::MatrixXd& jacobian) {
    const Eigen::VectorXd at = checked("jacobian", x);
    rows entries(outputs(), size());
    fx.resize(outputs());
    const auto compute = are_tangents_fewer(*f_) ? jacobian_by_tangents : jacobian_by_adjoints;
    compute(*f_, work_, at.data(), fx.data(), entries.data());
    jacobian = entries;
  }

  /// Computes f(x), the gradient and the Hessian times each column of `directions`. Throws ShapeError unless f has one output.
  template <class X, class V>
  void hessian_times(const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<V>& directions, double& fx, Eigen::VectorXd& g,
                     Eigen::MatrixXd& products) {
    const Eigen::VectorXd at = checked_scalar("hessian_times", x);
    check_size("hessian_times", "a column of directions", static_cast<std::size_t>(directions.rows()), f_->input_size(),
               "that of x");
    const rows along = directions.transpose();
    rows results(directions.cols(), size());
    const double one = 1;
    g.resize(size());
    hessian_products(*f_, work_, at.data(), &one, along.data(), static_cast<std::size_t>(along.rows()), &fx, g.data(),
                     results.data());
    products = results.transpose();
  }

  /// Computes f(x), the gradient and the Hessian. Throws ShapeError unless f has one output.
  template <class X>
  void hessian(const Eigen::MatrixBase<X>& x, double& fx, Eigen::VectorXd& g, Eigen::MatrixXd& hessian) {
    hessian_times(x, Eigen::MatrixXd::Identity(size(), size()), fx, g, hessian);
  }

  /// Computes f(x) and the Jacobian as a sparse matrix. The pattern is that of the recording: entries that are zero at x alone
  /// are stored as zeros.
  template <class X>
  void sparse_jacobian(const Eigen::MatrixBase<X>& x, Eigen::VectorXd& fx, Eigen::SparseMatrix<double>& jacobian) {
    const Eigen::VectorXd at = checked("sparse_jacobian", x);
    if (jacobian_ == nullptr) jacobian_ = std::make_shared<const agrad::sparse_jacobian>(*f_);
    fx.resize(outputs());
    std::vector<double> entries(jacobian_->pattern().size());
    (*jacobian_)(*f_, work_, at.data(), fx.data(), entries.data());
    jacobian = matrix_of(jacobian_->pattern(), entries);
  }

  /// Computes f(x), the gradient and the Hessian as a sparse matrix, both triangles. Throws ShapeError unless f has one output.
  template <class X>
  void sparse_hessian(const Eigen::MatrixBase<X>& x, double& fx, Eigen::VectorXd& g, Eigen::SparseMatrix<double>& hessian) {
    const Eigen::VectorXd at = checked_scalar("sparse_hessian", x);
    if (hessian_ == nullptr) hessian_ = std::make_shared<const agrad::sparse_hessian>(*f_);
    const double one = 1;
    g.resize(size());
    std::vector<double> entries(hessian_->pattern().size());
    (*hessian_)(*f_, work_, at.data(), &one, &fx, g.data(), entries.data());
    hessian = matrix_of(hessian_->pattern(), entries);
  }

  replayed_function(const replayed_function& other) : f_(other.f_), jacobian_(other.jacobian_), hessian_(other.hessian_) {}
  replayed_function& operator=(const replayed_function& other) { return *this = replayed_function(other); }
  replayed_function(replayed_function&&) = default;
  replayed_function& operator=(replayed_function&&) = default;
  ~replayed_function() = default;

 private:
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  template <class X>
  Eigen::VectorXd checked(const char* function, const Eigen::MatrixBase<X>& x) const {
    static_assert(X::IsVectorAtCompileTime, "x must be a vector");
    check_size(function, "x", static_cast<std::size_t>(x.size()), f_->input_size(), "that of the recording");
    return Eigen::VectorXd(x);
  }
  template <class X>
  Eigen::VectorXd checked_scalar(const char* function, const Eigen::MatrixBase<X>& x) const {
    check_size(function, "f(x)", f_->output_size(), 1, "one number");
    return checked(function, x);
  }

  Eigen::SparseMatrix<double> matrix_of(const csr_pattern& pattern, const std::vector<double>& entries) const {
    std::vector<Eigen::Triplet<double>> all;
    std::size_t n = 0;
    for (std::size_t i = 0; i < pattern.rows(); ++i)
      for (const csr_pattern::index j : pattern.row(i))
        all.emplace_back(static_cast<int>(i), static_cast<int>(j), entries[n++]);
    Eigen::SparseMatrix<double> matrix(static_cast<Eigen::Index>(pattern.rows()), static_cast<Eigen::Index>(pattern.cols));
    matrix.setFromTriplets(all.begin(), all.end());
    return matrix;
  }

  std::shared_ptr<const program> f_;
  workspace work_;
  std::shared_ptr<const agrad::sparse_jacobian> jacobian_;  // analysed at the first use
  std::shared_ptr<const agrad::sparse_hessian> hessian_;
};

/// Records a function of a vector.
///
/// f: f(x) for a column vector of any scalar (const auto& x), returns a scalar or a vector; scalar functions of agrad and
///   Eigen's arithmetic. x: vector at which f is executed, of the length of all later arguments. Throws the exceptions of f,
///   and ShapeError if f returns a matrix.
///
/// Returns the function and its derivatives.
template <class F, class X>
replayed_function replayed(const F& f, const Eigen::MatrixBase<X>& x) {
  using vector = Eigen::Matrix<traced, Eigen::Dynamic, 1>;
  static_assert(std::is_invocable_v<const F&, const vector&>,
                "replayed(f, x): f must take a vector of any scalar, const auto& x");
  const Eigen::VectorXd at = x;
  recorder in;
  vector inputs(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) inputs[i] = traced(in, {in.input(&at[i], 1), 1, 0, true});
  const vector_of<traced> outputs = detail::as_vector<traced>("replayed", f(std::as_const(inputs)));
  std::vector<slot> slots;
  for (const traced& each : outputs) slots.push_back(each.slots_in(in).first);
  return replayed_function(schedule(in, slots));
}

}  // namespace agrad
