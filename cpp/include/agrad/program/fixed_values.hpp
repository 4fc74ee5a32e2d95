// Fixed values: the numbers of a program's slots before all results, which are inputs and constants.
//
// Copies share the numbers. A workspace begins with them; large constants, such as data, are not copied there but shown
// (base/page_memory.hpp), so that a program holds them once for all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/page_memory.hpp>
#include <agrad/program/machine/operation.hpp>
#include <agrad/program/machine/slot_runs.hpp>
#include <agrad/program/machine/spaces.hpp>

namespace agrad {

class fixed_values {
 public:
  fixed_values() : fixed_values(std::vector<double>()) {}
  fixed_values(std::vector<double> values)  // NOLINT: programs are made of vectors
      : few_(std::make_shared<const std::vector<double>>(std::move(values))), data_(few_->data()), size_(few_->size()) {}
  operator std::vector<double>() const { return {begin(), end()}; }  // NOLINT: programs are written again as vectors

  const double* data() const { return data_; }
  std::size_t size() const { return size_; }
  const double* begin() const { return data_; }
  const double* end() const { return data_ + size_; }
  const double& operator[](std::size_t i) const { return data_[i]; }

  /// Finds the longest range of constants, between the inputs, and lets workspaces show it if it is long.
  void share(const std::vector<slot>& inputs) {
    constexpr std::size_t many = detail::page_memory::worthwhile;
    first_ = last_ = 0;
    if (size_ < many) return;
    std::vector<std::pair<std::size_t, std::size_t>> taken{{size_, 0}};  // first slot, count
    detail::each_run(inputs.data(), inputs.size(),
                     [&](std::size_t, slot first, std::size_t count) { taken.emplace_back(first, count); });
    std::sort(taken.begin(), taken.end());
    std::size_t first = 0;
    for (const auto& [begin, count] : taken) {
      if (begin > first && begin - first > last_ - first_) first_ = first, last_ = begin;
      first = begin + count;
    }
    if (last_ - first_ < many || !has_pages()) first_ = last_ = 0;
  }
  /// Returns the number of constants that workspaces show.
  std::size_t shared() const { return last_ - first_; }

  /// Makes a space of `size` numbers that begins with these.
  void begin_space(space& values, std::size_t size) const {
    std::pair<std::size_t, std::size_t> shown{0, 0};
    if (shared() > 0) {
      const auto pages = std::make_shared<detail::page_memory>(size, false);
      shown = pages->show(*many_, first_, last_);
      values = space(size, space::allocator_type(pages));
    } else {
      if (values.get_allocator().pages != nullptr) values = space();  // shows another program's constants
      values.resize(size);
    }
    std::copy(begin(), begin() + shown.first, values.begin());
    std::copy(begin() + shown.second, end(), values.begin() + static_cast<std::ptrdiff_t>(shown.second));
  }

 private:
  /// Moves the numbers to pages; returns whether the system has some.
  bool has_pages() {
    if (many_ != nullptr) return true;
    auto pages = std::make_shared<detail::page_memory>(size_, true);
    if (pages->data() == nullptr) return false;
    std::copy(begin(), end(), pages->data());
    many_ = std::move(pages);
    data_ = many_->data();
    few_ = nullptr;
    return true;
  }

  std::shared_ptr<const std::vector<double>> few_;  // the numbers, unless they are in pages
  std::shared_ptr<const detail::page_memory> many_;
  const double* data_;
  std::size_t size_;
  std::size_t first_ = 0, last_ = 0;  // the range of constants that workspaces show
};

}  // namespace agrad
