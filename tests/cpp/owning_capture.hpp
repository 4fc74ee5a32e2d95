// A capture for closures that owns memory and counts how many of its kind are alive.
#pragma once

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

/// An object that owns memory and knows how many of its kind are alive.
struct counted {
  static inline int alive = 0;
  std::shared_ptr<std::vector<double>> values = std::make_shared<std::vector<double>>(100, 1.0);
  counted() { ++alive; }
  counted(const counted& other) : values(other.values) { ++alive; }
  counted(counted&& other) noexcept : values(std::move(other.values)) { ++alive; }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
  double sum() const { return std::accumulate(values->begin(), values->end(), 0.0); }
};
