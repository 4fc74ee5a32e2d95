// Definitions of solve/posed/switched_stops.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/switched_stops.hpp>

namespace agrad {

AGRAD_INLINE void switched_stops::append(double from, double to, std::vector<double> parameters, std::vector<double>& stops) {
  given_ = stops.size();
  found_.clear();
  if (!switches_ || switches_->size() == 0) return;
  parameters_ = std::move(parameters);
  found_ = switches_->within(from, to, parameters_.data(), stops, room_);
  for (const time_switches::time& each : found_) stops.push_back(each.at);
}

AGRAD_INLINE void switched_stops::append_tangents(int width, const std::vector<double>& of_parameters,
                                                  std::vector<double>& of_stops) {
  const auto w = static_cast<std::size_t>(width);
  for (const time_switches::time& each : found_) {
    const std::vector<double> by = switches_->gradient(each, parameters_.data(), room_);
    for (std::size_t k = 0; k < w; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < by.size(); ++i) sum += by[i] * of_parameters[i * w + k];
      of_stops.push_back(sum);
    }
  }
}

AGRAD_INLINE void switched_stops::reverse(Eigen::VectorXd& of_stops, Eigen::VectorXd& of_parameters) {
  for (std::size_t k = 0; k < found_.size(); ++k) {
    const double adjoint = of_stops[static_cast<Eigen::Index>(given_ + k)];
    if (adjoint == 0) continue;
    const std::vector<double> by = switches_->gradient(found_[k], parameters_.data(), room_);
    of_parameters += adjoint * Eigen::Map<const Eigen::VectorXd>(by.data(), of_parameters.size());
  }
  of_stops.conservativeResize(static_cast<Eigen::Index>(given_));
}

AGRAD_INLINE void switched_stops::second(int width, const std::vector<double>& along, const Eigen::VectorXd& of_stops,
                                         std::vector<double>& stop_tangents, std::vector<double>& parameter_tangents) {
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t k = 0; k < found_.size(); ++k) {
    const double adjoint = of_stops[static_cast<Eigen::Index>(given_ + k)];
    const Eigen::Map<const Eigen::RowVectorXd> tangents(stop_tangents.data() + (given_ + k) * w, width);
    if (adjoint == 0 && tangents.isZero(0)) continue;
    const moving_vector by = switches_->gradient_along(found_[k], parameters_.data(), width, along.data(), room_);
    Eigen::Map<tangent_rows>(parameter_tangents.data(), by.value.size(), width) += by.value * tangents + adjoint * by.tangents;
  }
  stop_tangents.resize(given_ * w);
}

}  // namespace agrad
