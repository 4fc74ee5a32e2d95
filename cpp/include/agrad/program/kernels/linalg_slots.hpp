// Linear algebra slots: row-major matrices of a program as the column-major blocks that the rules use.
//
// A `placed` matrix has a shape and the place of its entries in an array of `width` doubles per slot: 1 for values and
// adjoints, the number of directions for tangents, where double k of a slot is direction k. Blocks are views where the memory
// layout allows, else copies. Read next: program/kernels/linalg.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <agrad/rules/linalg/apply.hpp>
#include <agrad/tape/matrix/matrix.hpp>

namespace agrad::linalg {

struct placed {
  Index first = 0;
  shape s{};
  Index width = 1;
  bool is_transposed = false;  // the rule reads the slots in column-major order

  Index size() const { return s.rows * s.cols; }
  /// Returns whether the memory layout is the layout that the rule needs.
  bool is_direct() const { return width == 1 && (is_transposed || s.rows == 1 || s.cols == 1); }

  bool is_zero(const double* from, Index part) const {
    const double* x = from + first + part;
    for (Index i = 0; i < size(); ++i)
      if (x[i * width] != 0) return false;
    return true;
  }
  MatrixXd read(const double* from, Index part) const {
    if (is_direct()) return Eigen::Map<const MatrixXd>(from + first, s.rows, s.cols);
    MatrixXd m(s.rows, s.cols);
    visit([&](Index i, Index j, Index place) { m(i, j) = from[place + part]; });
    return m;
  }
  template <class In>
  void write(const In& m, double* to, Index part) const {
    visit([&](Index i, Index j, Index place) { to[place + part] = m(i, j); });
  }
  template <class In>
  void add(const In& m, double* to, Index part) const {
    visit([&](Index i, Index j, Index place) { to[place + part] += m(i, j); });
  }
  /// Sets all parts to zero.
  void zero(double* to) const { std::fill_n(to + first, size() * width, 0.0); }

  /// Returns the same slots in an array of `parts` doubles per slot.
  placed apart(Index parts) const { return {first * parts, s, parts, is_transposed}; }

 private:
  /// Calls f(i, j, place of entry (i, j)) by panels of columns, so that rows are read while they are in the cache.
  template <class F>
  void visit(const F& f) const {
    constexpr Index panel = 8;
    const Index down = is_transposed ? width : s.cols * width, right = is_transposed ? s.rows * width : width;
    for (Index from = 0; from < s.cols; from += panel) {
      const Index to = from + panel < s.cols ? from + panel : s.cols;
      for (Index i = 0; i < s.rows; ++i)
        for (Index j = from; j < to; ++j) f(i, j, first + i * down + j * right);
    }
  }
};

/// The values of an argument or result.
class reading {
 public:
  reading(const placed& p, const double* from) : reading(p, from, 0) {}
  reading(const reading&) = delete;
  const const_block& get() const { return block_; }

 protected:
  reading(const placed& p, const double* from, Index part)
      : copy_(p.is_direct() ? MatrixXd() : p.read(from, part)),
        block_(Eigen::Map<const MatrixXd>(p.is_direct() ? from + p.first : copy_.data(), p.s.rows, p.s.cols)) {}

 private:
  MatrixXd copy_;
  const_block block_;
};

/// One lane of a result's adjoint; null if the lane is zero.
class arriving : reading {
 public:
  arriving(const placed& p, const double* from, Index lane) : reading(p, from, lane), is_zero_(p.is_zero(from, lane)) {}
  const const_block* get() const { return is_zero_ ? nullptr : &reading::get(); }

 private:
  bool is_zero_;
};

/// The block to which a rule writes a result. The destructor copies the values to their slots.
class writing {
 public:
  writing(const placed& p, double* to)
      : place_(p),
        to_(to),
        copy_(p.is_direct() ? MatrixXd() : MatrixXd(p.s.rows, p.s.cols)),
        block_(Eigen::Map<MatrixXd>(p.is_direct() ? to + p.first : copy_.data(), p.s.rows, p.s.cols)) {}
  writing(const writing&) = delete;
  ~writing() {
    if (!place_.is_direct()) place_.write(copy_, to_, 0);
  }
  block& get() { return block_; }

 private:
  placed place_;
  double* to_;
  MatrixXd copy_;
  block block_;
};

/// The block in which a rule adds to one lane of an argument's adjoint; null if that adjoint is not wanted.
class adding {
 public:
  adding(const placed& p, double* to, Index lane, bool is_required)
      : place_(p),
        to_(to),
        lane_(lane),
        is_required_(is_required),
        copy_(p.is_direct() || !is_required ? MatrixXd() : MatrixXd(MatrixXd::Zero(p.s.rows, p.s.cols))),
        block_(Eigen::Map<MatrixXd>(p.is_direct() ? to + p.first : copy_.data(), p.s.rows, p.s.cols)) {}
  adding(const adding&) = delete;
  ~adding() {
    if (is_required_ && !place_.is_direct()) place_.add(copy_, to_, lane_);
  }
  block* get() { return is_required_ ? &block_ : nullptr; }

 private:
  placed place_;
  double* to_;
  Index lane_;
  bool is_required_;
  MatrixXd copy_;
  block block_;
};

/// The slots behind an operation's results as a room: `filling_room` for the forward pass, `filled_room` for the reverse pass,
/// `counting_room` to count the slots beforehand.
class filling_room {
 public:
  explicit filling_room(double* first) : next_(first) {}
  matrix_map matrix(Index rows, Index cols) { return matrix_map(allocate(rows * cols), rows, cols); }
  int* integers(Index n) { return reinterpret_cast<int*>(allocate((n + 1) / 2)); }

 private:
  double* allocate(Index n) { return std::exchange(next_, next_ + n); }
  double* next_;
};
class filled_room : public filling_room {
 public:
  explicit filled_room(const double* first) : filling_room(const_cast<double*>(first)) {}
};
class counting_room {
 public:
  matrix_map matrix(Index rows, Index cols) {
    size_ += rows * cols;
    return matrix_map(nullptr, rows, cols);
  }
  int* integers(Index n) {
    size_ += (n + 1) / 2;
    return nullptr;
  }
  std::size_t size() const { return static_cast<std::size_t>(size_); }

 private:
  Index size_ = 0;
};
template <>
inline constexpr bool is_filled<filled_room> = true;
template <>
inline constexpr bool is_filled<counting_room> = true;

// ---- second order --------------------------------------------------------------------------------------------------------

/// Returns the adjoint of a matrix on the tape, for reading and seeding.
inline Eigen::Map<MatrixXd, 0, Eigen::OuterStride<>> adjoint_of(tape& on, const matrix<var>& m) {
  double* first = m.size() == 0 ? nullptr : &on.adjoint(m.index());
  return {first, m.rows(), m.cols(), Eigen::OuterStride<>(m.outer())};
}

/// Returns a tape of this thread for the kernels alone: a program may run while another tape records or runs its reverse pass.
inline tape& second_order_tape() {
  thread_local tape own;
  return own;
}

/// Returns the message with another function's name.
AGRAD_COLD inline std::string renamed(std::string_view message, std::string_view function) {
  return std::string(function).append(message.substr(message.find(':')));
}

}  // namespace agrad::linalg
