// agrad_emit: prints the Python stubs of the rules, so that the rules are their only source.
//
//     agrad_emit stub            Python stub of agrad._stan.elementwise
//     agrad_emit density-stub    Python stub of agrad._stan.density
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
      << "# pyright: reportOverlappingOverload=false\n\n"  // numbers are array-like, too
      << "from typing import overload\n\nimport numpy as np\nfrom numpy.typing import ArrayLike, NDArray\n\n"
      << "from agrad._core import Array\n\n";
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

/// Prints one function, whose body is its docstring, which editors show. Checkers see numbers where a result may be recorded.
template <class Row>
void print_function(std::ostream& out, const Row& row, const std::string& parameters, std::string_view result) {
  out << "\ndef " << row.name << "(" << parameters << ") -> " << result << "\n    \"\"\"" << row.text << "\"\"\"\n";
}

/// Prints a function that returns a number for numbers, and an array otherwise; `parameters_of` has the type of an argument.
template <class Row, class Parameters>
void print_overloads(std::ostream& out, const Row& row, const Parameters& parameters_of) {
  out << "\n@overload";
  print_function(out, row, parameters_of("float"), "float:");
  out << "\n@overload";
  print_function(out, row, parameters_of("ArrayLike | Array"), "NDArray[np.float64]:");
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
    print_overloads(out, row, [&row](const char* type) {
      std::string parameters;
      for (int i = 0; i < row.arity; ++i)
        parameters.append(argument_names[i]).append(": ").append(row.domain[i].whole ? "int" : type).append(", ");
      return parameters + "/";
    });
    if (!row.stan.empty()) out << "\n" << row.stan << " = " << row.name << "\n";
  }
}

template <class Row>
std::string named_arguments(const Row& row, const char* type) {
  std::string parameters;
  for (int i = 0; i < row.arity; ++i)
    parameters.append(i == 0 ? "" : ", ").append(row.arguments[i].name).append(": ").append(type);
  return parameters;
}

template <class Rows>
void print_densities(std::ostream& out, const Rows& rows) {
  for (const auto& row : rows)
    print_function(out, row, named_arguments(row, "ArrayLike | Array") + (row.has_propto() ? ", *, propto: bool = False" : ""),
                   "float:");
}

void print_density_stub(std::ostream& out) {
  print_stub_head(out, "Log probability densities and distribution functions, summed or multiplied over their arguments");
  print_all(out, agrad::density_rows(), agrad::glm_rows(), agrad::multivariate_rows(), agrad::quantile_rows());
  print_densities(out, agrad::density_rows());
  print_densities(out, agrad::glm_rows());
  print_densities(out, agrad::multivariate_rows());
  for (const auto& row : agrad::quantile_rows())
    print_overloads(out, row, [&row](const char* type) { return named_arguments(row, type); });
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
