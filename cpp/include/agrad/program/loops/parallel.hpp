// Parallel: runs external operations on several threads.
//
// Each part reads its own entries of the operand, possibly the same as other parts, and writes its own result. In the reverse
// pass, each part adds adjoints to its own buffer; the buffers are added in the order of the parts, so the result has the same
// bits for any number of threads.
// Read next: base/threads.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/threads.hpp>
#include <agrad/program/machine/second_order.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/recording/record.hpp>
#include <agrad/program/schedule/inlined.hpp>
#include <agrad/program/store/portable.hpp>

namespace agrad {

class parallel_operation final : public external_operation {
 public:
  struct part {
    std::shared_ptr<const external_operation> what;
    std::vector<std::uint32_t> inputs;  // entries of the operand that the part reads
    std::size_t results = 0;

    template <class Archive>
    friend void serialize(Archive& archive, part& p) {
      archive(p.what, p.inputs, p.results);
    }
  };

  /// threads: the most threads; 0 means one for each processor.
  parallel_operation(std::string name, std::vector<part> parts, std::size_t threads)
      : name_(std::move(name)), parts_(std::move(parts)), threads_(threads) {
    begins_.push_back(0);
    for (const part& each : parts_) begins_.push_back(begins_.back() + each.results);
  }

  std::string_view name() const override { return name_; }
  std::size_t output_size() const { return begins_.back(); }

  static constexpr std::string_view stored_kind = "parallel";
  std::string_view kind() const override { return stored_kind; }
  bool fits(std::size_t arguments, std::size_t results) const override {
    const auto reads_it = [&](const part& each) {
      return std::all_of(each.inputs.begin(), each.inputs.end(), [&](std::uint32_t i) { return i < arguments; });
    };
    return results == output_size() && std::all_of(parts_.begin(), parts_.end(), reads_it);
  }
  void write(portable_writer& to) const override { to(name_, parts_, threads_); }
  static std::shared_ptr<const external_operation> read(portable_reader& from) {
    std::string name;
    std::vector<part> parts;
    std::size_t threads = 0;
    from(name, parts, threads);
    for (const part& each : parts) from.expect(each.what->fits(each.inputs.size(), each.results), "a part");
    return std::make_shared<const parallel_operation>(std::move(name), std::move(parts), threads);
  }

  std::unique_ptr<state> make_state() const override {
    auto all = std::make_unique<states>();
    for (const part& each : parts_) all->of.push_back(each.what->make_state());
    return all;
  }
  /// Returns the state of a part.
  static const state& state_of(const state& s, std::size_t i) { return *static_cast<const states&>(s).of[i]; }

  void expect_derivatives() const override {
    for (const part& each : parts_) each.what->expect_derivatives();
  }
  bool has_tangents() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const part& each) { return each.what->has_tangents(); });
  }
  bool has_first_tangents() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const part& each) { return each.what->has_first_tangents(); });
  }
  const external_operation* first_without_tangents(int order) const override {
    if (order > 0) return external_operation::first_without_tangents(order);
    const auto matches = [](const part& each) { return each.what->first_without_tangents(0) == nullptr; };
    return std::all_of(parts_.begin(), parts_.end(), matches) ? nullptr : this;
  }
  bool has_formulas() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const part& each) { return each.what->is_linear() || each.what->has_formulas(); });
  }
  std::vector<slot> record(recorder& in, const span& x) const override {
    std::vector<slot> result;
    for (const part& each : parts_) {
      std::vector<slot> slots(each.inputs.size());
      for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = x.first + each.inputs[i];
      const std::vector<slot> y = record_external(in, each.what, in.dense(slots.data(), slots.size()), each.results);
      result.insert(result.end(), y.begin(), y.end());
    }
    return result;
  }

  void forward(state& s, const double* x, double* y, bool with_adjoint) const override {
    each_part([&](std::size_t i) {
      const std::vector<double> mine = gathered(parts_[i], x, 1);
      parts_[i].what->forward(of(s, i), mine.data(), y + begins_[i], with_adjoint);
    });
  }

  void reverse(state& s, const double* y_adjoint, double* x_adjoint) const override {
    std::vector<std::vector<double>> back(parts_.size());
    each_part([&](std::size_t i) {
      back[i].assign(parts_[i].inputs.size(), 0.0);
      parts_[i].what->reverse(of(s, i), y_adjoint + begins_[i], back[i].data());
    });
    add(back, 1, x_adjoint);
  }

  void tangent(state& s, int width, const double* x_tangent, double* y_tangent) const override {
    const auto w = static_cast<std::size_t>(width);
    each_part([&](std::size_t i) {
      const std::vector<double> mine = gathered(parts_[i], x_tangent, w);
      parts_[i].what->tangent(of(s, i), width, mine.data(), y_tangent + begins_[i] * w);
    });
  }

  void second(state& s, int width, const double* y_adjoint, const double* y_adjoint_tangent, double* x_adjoint,
              double* x_adjoint_tangent) const override {
    const auto w = static_cast<std::size_t>(width);
    std::vector<std::vector<double>> back(parts_.size()), tangents(parts_.size());
    each_part([&](std::size_t i) {
      back[i].assign(parts_[i].inputs.size(), 0.0);
      tangents[i].assign(parts_[i].inputs.size() * w, 0.0);
      parts_[i].what->second(of(s, i), width, y_adjoint + begins_[i], y_adjoint_tangent + begins_[i] * w, back[i].data(),
                             tangents[i].data());
    });
    add(back, 1, x_adjoint);
    add(tangents, w, x_adjoint_tangent);
  }

  bool met_zero(const state& s) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].what->met_zero(state_of(s, i))) return true;
    return false;
  }
  /// Runs one part after the other: careful passes are rare.
  void reverse_carefully(state& s, int width, const marked_adjoints& y, const marked_adjoints& x,
                         const std::vector<bool>& varies) const override {
    const auto w = static_cast<std::size_t>(width);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const std::size_t n = parts_[p].inputs.size(), first = begins_[p];
      std::vector<double> adjoints(n), tangents(n * w), marks(n), tangent_marks(n * w);
      std::vector<bool> mine_varies;
      for (const std::uint32_t i : parts_[p].inputs) mine_varies.push_back(varies[i]);
      const marked_adjoints mine{adjoints.data(), tangents.data(), marks.data(), tangent_marks.data()};
      parts_[p].what->reverse_carefully(
          of(s, p), width, {y.adjoints + first, y.tangents + first * w, y.marks + first, y.tangent_marks + first * w}, mine,
          mine_varies);
      const auto add_to = [&](const std::vector<double>& from, std::size_t each, double* to) {
        for (std::size_t i = 0; i < n * each; ++i) to[parts_[p].inputs[i / each] * each + i % each] += from[i];
      };
      add_to(adjoints, 1, x.adjoints), add_to(tangents, w, x.tangents);
      add_to(marks, 1, x.marks), add_to(tangent_marks, w, x.tangent_marks);
    }
  }

 private:
  struct states final : state {
    std::vector<std::unique_ptr<state>> of;
  };
  static state& of(state& s, std::size_t i) { return *static_cast<states&>(s).of[i]; }

  static std::vector<double> gathered(const part& p, const double* from, std::size_t width) {
    std::vector<double> mine(p.inputs.size() * width);
    for (std::size_t i = 0; i < p.inputs.size(); ++i) std::copy_n(from + p.inputs[i] * width, width, mine.data() + i * width);
    return mine;
  }
  void add(const std::vector<std::vector<double>>& back, std::size_t width, double* to) const {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (std::size_t i = 0; i < parts_[p].inputs.size(); ++i)
        for (std::size_t k = 0; k < width; ++k) to[parts_[p].inputs[i] * width + k] += back[p][i * width + k];
  }

  /// Calls run(i) for all parts.
  template <class Run>
  void each_part(const Run& run) const {
    run_in_threads(parts_.size(), threads_, run, [is_partial = second_is_partial, follows = second_follows] {
      return second_order_marks{partial_second(is_partial), second_ahead(follows)};
    });
  }

  std::string name_;
  std::vector<part> parts_;
  std::size_t threads_;
  std::vector<std::size_t> begins_;  // first result of each part
};

}  // namespace agrad
