// agrad_emit: prints the Python stubs of the rules, so that the rules are their only source.
//
//     agrad_emit stub            Python stub of agrad.elementwise
//     agrad_emit density-stub    Python stub of agrad.density
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "multivariate_rows.hpp"
#include "rows.hpp"

namespace {

constexpr std::string_view argument_names[] = {"x", "y", "z"};

void print_stub_head(std::ostream& out, std::string_view what) {
  out << "\"\"\"" << what << " (printed by agrad_emit from the rules; not to be edited).\"\"\"\n\n"
      << "from typing import Any\n\nfrom numpy.typing import ArrayLike\n\nfrom agrad._core import Array\n\n";
}

template <class... Rows>
void print_all(std::ostream& out, const Rows&... rows) {
  const auto print_names = [&](const auto& list) {
    for (const auto& row : list) out << "    \"" << row.name << "\",\n";
  };
  out << "__all__ = [\n";
  (print_names(rows), ...);
  out << "]\n";
}

/// Prints one function, whose body is its docstring, which editors show.
template <class Row>
void print_function(std::ostream& out, const Row& row, const std::string& parameters) {
  out << "\ndef " << row.name << "(" << parameters << ") -> Any:\n    \"\"\"" << row.text << "\"\"\"\n";
}

/// Stan's names of functions that have another name here.
struct named_row {
  std::string_view name;
};
std::vector<named_row> other_names() {
  std::vector<named_row> names;
  for (const agrad::elementwise_row& row : agrad::elementwise_rows())
    if (!row.stan.empty()) names.push_back({row.stan});
  return names;
}

void print_elementwise_stub(std::ostream& out) {
  print_stub_head(out, "Elementwise functions of numbers, NumPy arrays and recorded arrays");
  print_all(out, agrad::elementwise_rows(), other_names());
  for (const agrad::elementwise_row& row : agrad::elementwise_rows()) {
    std::string parameters;
    for (int i = 0; i < row.arity; ++i)
      parameters.append(argument_names[i]).append(row.domain[i].whole ? ": int, " : ": ArrayLike | Array, ");
    print_function(out, row, parameters + "/");
    if (!row.stan.empty()) out << "\n" << row.stan << " = " << row.name << "\n";
  }
}

template <class Rows>
void print_densities(std::ostream& out, const Rows& rows) {
  for (const auto& row : rows) {
    std::string parameters;
    for (int i = 0; i < row.arity; ++i) parameters.append(row.arguments[i].name).append(": ArrayLike | Array, ");
    print_function(out, row, parameters.append(row.has_propto() ? "*, propto: bool = False" : ""));
  }
}

void print_density_stub(std::ostream& out) {
  print_stub_head(out, "Log probability densities and distribution functions, summed or multiplied over their arguments");
  print_all(out, agrad::density_rows(), agrad::glm_rows(), agrad::multivariate_rows(), agrad::quantile_rows());
  print_densities(out, agrad::density_rows());
  print_densities(out, agrad::glm_rows());
  print_densities(out, agrad::multivariate_rows());
  print_densities(out, agrad::quantile_rows());
}

}  // namespace

int main(int argc, char** argv) {
  constexpr struct {
    std::string_view name;
    void (*print)(std::ostream&);
  } commands[] = {{"stub", print_elementwise_stub}, {"density-stub", print_density_stub}};
  for (const auto& command : commands) {
    if (argc == 2 && argv[1] == command.name) {
      command.print(std::cout);
      return std::cout.flush() ? 0 : 1;
    }
  }
  std::cerr << "usage: agrad_emit stub | density-stub\n";
  return 2;
}
