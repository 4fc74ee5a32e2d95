#include "minus_time.hpp"

#include <cstring>
#include <regex>

namespace agrad::python {

bool is_in_minus_time(const std::string& message) { return message.find(in_minus_time) != std::string::npos; }

double in_time(double s) { return 0.0 - s; }

std::string turned_text(const std::string& text) {
  static const std::regex time(R"((\bt|\bt0|\btimes\[\d+\])( = | is )(-?)(inf|\d[\d.]*(?:e[-+]?\d+)?))");
  std::string turned;
  auto rest = text.cbegin();
  for (std::sregex_iterator found(text.cbegin(), text.cend(), time), end; found != end; ++found) {
    const std::smatch& match = *found;
    const bool is_zero = match.str(4) == "0", was_negative = match.length(3) > 0;
    turned.append(rest, match[0].first).append(match.str(1)).append(match.str(2));
    turned.append(is_zero || was_negative ? "" : "-").append(match.str(4));
    rest = match[0].second;
  }
  turned.append(rest, text.cend());
  static const std::regex order(R"((\btimes\[\d+\] is \S+ but must be )greater)");
  return std::regex_replace(turned, order, "$1less");
}

std::string in_time(const std::string& message) {
  if (!is_in_minus_time(message)) return message;
  std::string text = message;
  for (std::size_t at; (at = text.find(in_minus_time)) != std::string::npos;) text.erase(at, std::strlen(in_minus_time));
  return turned_text(text);
}

}  // namespace agrad::python
