// Program system: a recorded right-hand side as an `ode_system`.
//
// The program's inputs are t, the n states and the m parameters, in this order; its outputs are the n derivatives. Jacobians
// come from forward passes with tangents, eight columns each, or from reverse passes if an external operation has no tangents;
// products with the transposed Jacobian come from a single reverse pass. The pattern of the Jacobian is computed from the
// program, once for all systems that share a `program_structure`; columns or rows without a common entry then share a pass. If
// f consists of rules, as most do, a program of its own computes the entries (program/derive/entries_program.hpp), which is
// faster and has derivatives, and another computes the entries at all stages of a step
// (solve/system/program/linearization.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/interrupt.hpp>
#include <agrad/program/jacobian.hpp>
#include <agrad/solve/system/ode.hpp>
#include <agrad/solve/system/program/structure.hpp>

namespace agrad {

class program_system : public ode_system {
 public:
  /// n states; the program's other inputs are t and the parameters. Without `differentiated` no parameter is active: their
  /// values are constants of the solve.
  program_system(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
                 std::shared_ptr<program_structure> structure = std::make_shared<program_structure>())
      : f_(std::move(f)),
        structure_(std::move(structure)),
        n_(n),
        m_(static_cast<Eigen::Index>(f_->input_size()) - 1 - n),
        differentiated_(differentiated),
        inputs_(f_->input_size()),
        adjoints_(f_->input_size()),
        slope_(static_cast<std::size_t>(n)) {}

  /// Sets which parameters have wanted derivatives, if not all.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }
  void parameter_sizes(double* sizes) const override {
    ode_system::parameter_sizes(sizes);
    for (std::size_t j = 0; j < active_.size() && differentiated_; ++j)
      if (!active_[j]) sizes[j] = 0;
  }

  void set_parameters(const double* p) { std::copy(p, p + m_, inputs_.begin() + 1 + n_); }

  Eigen::Index states() const override { return n_; }
  bool is_autonomous() const override { return structure_->is_autonomous(*f_); }
  Eigen::Index parameters() const override { return differentiated_ ? m_ : 0; }

  void rhs(double t, const double* y, double* dydt) override {
    set_state(t, y);
    f_->forward(real_, inputs_.data(), dydt, false);
  }

  void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override {
    set_state(t, y);
    const auto n = static_cast<std::size_t>(n_);
    entries_.resize(n * n);
    if (pattern_ == nullptr && find_entries())
      entries_program_->forward(entries_work_, inputs_.data(), entries_.data(), false);
    else if (f_->first_without_tangents() != nullptr)
      return jacobian_by_rows(J);
    else
      jacobian_columns(*f_, tangent_, inputs_.data(), 1, n, slope_.data(), entries_.data());
    using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    J = Eigen::Map<const row_major>(entries_.data(), n_, n_);
  }

  void jvp(double t, const double* y, const double* v, double* to) override {
    if (!has_tangents()) return ode_system::jvp(t, y, v, to);
    set_state(t, y);
    f_->forward(real_, inputs_.data(), slope_.data(), true);
    directions_.assign(inputs_.size(), 0.0);
    std::copy_n(v, n_, directions_.begin() + 1);
    f_->tangent<1>(real_, directions_.data(), to);
  }

  std::shared_ptr<const csr_pattern> known_pattern() override { return structure_->pattern(*f_, n_); }

  void use_pattern(std::shared_ptr<const csr_pattern> pattern) override {
    ode_system::use_pattern(std::move(pattern));
    has_looked_ = false;
    if (!find_entries()) compressed_ = structure_->compressed(*f_, n_, *pattern_);
  }

  void jacobian_entries(double t, const double* y, double* entries) override {
    set_state(t, y);
    if (entries_program_ != nullptr)
      entries_program_->forward(entries_work_, inputs_.data(), entries, false);
    else
      (*compressed_)(*f_, tangent_, inputs_.data(), slope_.data(), entries);
  }

  bool has_jacobian_adjoint() override { return find_entries(); }

  void jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                        double* parameter_adjoint) override {
    set_state(t, y);
    entries_.resize(entries_program_->output_size());
    entries_program_->forward(entries_work_, inputs_.data(), entries_.data(), true);
    entries_program_->reverse(entries_work_, weights, adjoints_.data());
    take_adjoints(y_adjoint, parameter_adjoint);
  }

  void jacobian_tangent(const ode_point& at, double* entry_tangents) override {
    set_state(at.t, at.y);
    entries_.resize(entries_program_->output_size());
    entries_program_->forward(entries_work_, inputs_.data(), entries_.data(), true);
    put_directions(at.width, at.y_tangents, at.parameter_tangents);
    by_width(at.width, [&](auto w) { entries_program_->tangent<w()>(entries_work_, directions_.data(), entry_tangents); });
  }

  void jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                       const ode_adjoints& to) override {
    entry_tangents_.resize(entries_program_->output_size() * static_cast<std::size_t>(at.width));
    jacobian_tangent(at, entry_tangents_.data());
    second_of(*entries_program_, entries_work_, at.width, weights, weight_tangents, to);
  }

  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    set_state(t, y);
    f_->forward(real_, inputs_.data(), slope_.data(), true);
    f_->reverse(real_, lambda, adjoints_.data());
    take_adjoints(y_adjoint, parameter_adjoint);
  }

  void linearize(int points, const double* t, const double* y) override {
    if (linear_at_ != points) {
      linear_ = structure_->linear(*f_, n_, parameters(), points);
      if (linear_ != nullptr && !pays(*linear_)) linear_ = nullptr;
      linear_at_ = points;
    }
    if (linear_ == nullptr) return ode_system::linearize(points, t, y);
    if (++calls_ % 64 == 0) poll_interrupt();
    linear_->evaluate(linear_work_, t, y, inputs_.data() + 1 + n_);
  }
  void linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    if (linear_ == nullptr) return ode_system::linear_vjp(k, lambda, y_adjoint, parameter_adjoint);
    linear_->product(linear_work_, static_cast<std::size_t>(k), lambda, y_adjoint, parameter_adjoint);
  }

  void linear_jvp(int k, const double* v, const double* w, double* to) override {
    if (linear_ == nullptr) return ode_system::linear_jvp(k, v, w, to);
    linear_->forward_product(linear_work_, static_cast<std::size_t>(k), v, parameters() > 0 ? w : nullptr, to);
  }

  bool rhs_with(double t, const double* y, const double* p, double* dydt) override {
    const std::vector<double> own(inputs_.begin() + 1 + n_, inputs_.end());
    std::copy_n(p, parameters(), inputs_.begin() + 1 + n_);
    program_system::rhs(t, y, dydt);
    set_parameters(own.data());
    return true;
  }

  void parameter_values(double* p) const override { std::copy_n(inputs_.begin() + 1 + n_, parameters(), p); }

  bool has_tangents() const override { return f_->first_without_tangents() == nullptr; }
  bool has_first_tangents() const override { return f_->first_without_tangents(1) == nullptr; }

  void tangent(int width, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
               double* dydt_tangents) override {
    set_state(t, y);
    f_->forward(real_, inputs_.data(), slope_.data(), true);
    put_directions(width, y_tangents, parameter_tangents);
    by_width(width, [&](auto w) { f_->tangent<w()>(real_, directions_.data(), dydt_tangents); });
  }

  bool has_time_tangents() const override { return has_tangents(); }
  void moving_tangent(const ode_point& at, const double* t_tangents, double* dydt_tangents) override {
    set_state(at.t, at.y);
    f_->forward(real_, inputs_.data(), slope_.data(), true);
    put_directions(at.width, at.y_tangents, at.parameter_tangents);
    std::copy_n(t_tangents, at.width, directions_.data());
    by_width(at.width, [&](auto w) { f_->tangent<w()>(real_, directions_.data(), dydt_tangents); });
  }

  void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to) override {
    slope_tangents_.resize(static_cast<std::size_t>(n_) * static_cast<std::size_t>(at.width));
    tangent(at.width, at.t, at.y, at.y_tangents, at.parameter_tangents, slope_tangents_.data());
    second_of(*f_, real_, at.width, lambda, lambda_tangents, to);
  }

 protected:
  /// Whether a linearization is faster than separate products.
  virtual bool pays(const linearization&) const { return true; }

 private:
  template <class Use>
  static void by_width(int width, const Use& use) {
    if (width == 1)
      use(std::integral_constant<int, 1>{});
    else
      use(std::integral_constant<int, lane_count>{});
  }

  /// The reverse pass of a program with these inputs, with tangents along the directions of its last tangents.
  void second_of(const program& g, workspace& work, int directions, const double* adjoints, const double* adjoint_tangents,
                 const ode_adjoints& to) {
    const auto width = static_cast<std::size_t>(directions);
    const auto n = static_cast<std::size_t>(n_) * width, m = static_cast<std::size_t>(parameters()) * width;
    back_.resize(inputs_.size() * width);
    by_width(directions, [&](auto w) { g.second<w()>(work, adjoints, adjoints_.data(), back_.data(), adjoint_tangents); });
    std::copy_n(adjoints_.begin() + 1, n_, to.y);
    std::copy_n(adjoints_.begin() + 1 + n_, parameters(), to.parameters);
    std::copy_n(back_.data() + width, n, to.y_tangents);
    std::copy_n(back_.data() + width + n, m, to.parameter_tangents);
  }

  /// Sets the tangents of t to zero, and the tangents of the states and of the parameters.
  void put_directions(int width, const double* y_tangents, const double* parameter_tangents) {
    const auto w = static_cast<std::size_t>(width), n = static_cast<std::size_t>(n_);
    const auto m = static_cast<std::size_t>(parameters());  // other parameters are constants
    directions_.assign(inputs_.size() * w, 0.0);
    std::copy_n(y_tangents, n * w, directions_.data() + w);
    std::copy_n(parameter_tangents, m * w, directions_.data() + (1 + n) * w);
  }

  void jacobian_by_rows(Eigen::Ref<Eigen::MatrixXd> J) {
    f_->forward(real_, inputs_.data(), slope_.data(), true);
    std::vector<double> seed(static_cast<std::size_t>(n_), 0.0);
    for (Eigen::Index i = 0; i < n_; ++i) {
      seed[static_cast<std::size_t>(i)] = 1;
      f_->reverse(real_, seed.data(), adjoints_.data());
      seed[static_cast<std::size_t>(i)] = 0;
      J.row(i) = Eigen::Map<const Eigen::RowVectorXd>(adjoints_.data() + 1, n_);
    }
  }

  void take_adjoints(double* y_adjoint, double* parameter_adjoint) const {
    if (y_adjoint != nullptr) std::copy_n(adjoints_.begin() + 1, n_, y_adjoint);
    if (parameter_adjoint != nullptr) std::copy_n(adjoints_.begin() + 1 + n_, m_, parameter_adjoint);
  }

  /// Whether there is a program of the entries; looks once.
  bool find_entries() {
    if (!has_looked_) entries_program_ = structure_->entries(*f_, n_, pattern_);
    has_looked_ = true;
    return entries_program_ != nullptr;
  }

  void set_state(double t, const double* y) {
    if (++calls_ % 64 == 0) poll_interrupt();
    inputs_[0] = t;
    std::copy_n(y, n_, inputs_.begin() + 1);
  }

  std::shared_ptr<const program> f_;
  std::shared_ptr<program_structure> structure_;
  std::shared_ptr<const linearization> linear_;        // null: separate products
  std::shared_ptr<const sparse_jacobian> compressed_;  // for jacobian_entries
  Eigen::Index n_, m_;
  std::shared_ptr<const program> entries_program_;  // of J, on the pattern if there is one
  std::vector<bool> active_;                        // of the parameters, or empty
  bool differentiated_, has_looked_ = false;
  int linear_at_ = 0;
  unsigned long calls_ = 0;
  workspace real_, tangent_, entries_work_;
  linearization::workspace linear_work_;
  std::vector<double> inputs_, adjoints_, slope_, entries_;
  std::vector<double> directions_, slope_tangents_, entry_tangents_, back_;
};

}  // namespace agrad
