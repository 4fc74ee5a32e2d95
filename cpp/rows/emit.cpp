// agrad_emit: prints what other files need to know of the rules, so that nobody writes it a second time.
//
//     agrad_emit stub            Python stub of agrad.elementwise
//     agrad_emit density-stub    Python stub of agrad.density
//     agrad_emit docs            rows of a reStructuredText list-table: function, meaning, domain, NumPy's name, source
//     agrad_emit density-docs    rows: function, meaning, conditions, source
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "rows.hpp"

namespace {

constexpr std::string_view argument_names[] = {"x", "y", "z"};

// ---- stubs -------------------------------------------------------------------------------------------------------------

void print_stub_head(std::ostream& out, std::string_view what) {
  out << "\"\"\"" << what << " (printed by agrad_emit from the rules; not to be edited).\"\"\"\n\n"
      << "from typing import Any\n\nfrom numpy.typing import ArrayLike\n\nfrom agrad._core import Array\n\n";
}

template <class Rows>
void print_all(std::ostream& out, const Rows& rows) {
  out << "__all__ = [\n";
  for (const auto& row : rows) out << "    \"" << row.name << "\",\n";
  out << "]\n";
}

/// One function; its body is its docstring, which editors show.
template <class Row>
void print_function(std::ostream& out, const Row& row, const std::string& parameters) {
  out << "\ndef " << row.name << "(" << parameters << ") -> Any:\n    \"\"\"" << row.text << "\"\"\"\n";
}

void print_elementwise_stub(std::ostream& out) {
  print_stub_head(out, "Elementwise functions of numbers, NumPy arrays and recorded arrays");
  print_all(out, agrad::elementwise_rows());
  for (const agrad::elementwise_row& row : agrad::elementwise_rows()) {
    std::string parameters;
    for (int i = 0; i < row.arity; ++i)
      parameters.append(argument_names[i]).append(row.domain[i].whole ? ": int, " : ": ArrayLike | Array, ");
    print_function(out, row, parameters + "/");
  }
}

void print_density_stub(std::ostream& out) {
  print_stub_head(out, "Log probability densities, summed over their arguments");
  print_all(out, agrad::density_rows());
  for (const agrad::density_row& row : agrad::density_rows()) {
    std::string parameters;
    for (int i = 0; i < row.arity; ++i) parameters.append(row.arguments[i].name).append(": ArrayLike | Array, ");
    print_function(out, row, parameters + "*, propto: bool = False");
  }
}

// ---- rows of the docs --------------------------------------------------------------------------------------------------

/// Text with reStructuredText's own characters escaped.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("*|`_\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string bound(double x) {
  if (std::isinf(x)) return x > 0 ? "∞" : "-∞";
  std::ostringstream text;
  text << x;
  return text.str();
}

/// The restrictions of the arguments; none for a function on the whole real line.
std::string domain_text(const agrad::elementwise_row& row) {
  std::string text;
  for (int i = 0; i < row.arity; ++i) {
    const agrad::interval& domain = row.domain[i];
    if (!domain.whole && std::isinf(domain.lower) && std::isinf(domain.upper)) continue;
    if (!text.empty()) text += "; ";
    text.append(argument_names[i]).append(domain.whole ? " whole, from " : " from ");
    text += bound(domain.lower) + " to " + bound(domain.upper);
  }
  return text;
}

std::string condition_text(const agrad::density_row& row) {
  std::string text;
  for (int i = 0; i < row.arity; ++i) {
    if (i > 0) text += "; ";
    text.append(row.arguments[i].name).append(" ").append(row.arguments[i].must.name);
  }
  return text;
}

void print_cells(std::ostream& out, const std::string& call, std::initializer_list<std::string_view> cells) {
  out << "   * - ``" << call << "``\n";
  for (const std::string_view cell : cells) out << "     -" << (cell.empty() ? "" : " ") << escaped(cell) << "\n";
}

template <class Row, class Name>
std::string call_text(const Row& row, const Name& name_of_argument) {
  std::string text = std::string(row.name) + "(";
  for (int i = 0; i < row.arity; ++i) text.append(i > 0 ? ", " : "").append(name_of_argument(i));
  return text + ")";
}

void print_elementwise_docs(std::ostream& out) {
  for (const agrad::elementwise_row& row : agrad::elementwise_rows()) {
    const std::string_view ufunc = row.ufunc == agrad::no_ufunc ? std::string_view() : row.ufunc;
    print_cells(out, call_text(row, [](int i) { return argument_names[i]; }), {row.text, domain_text(row), ufunc, row.source});
  }
}

void print_density_docs(std::ostream& out) {
  for (const agrad::density_row& row : agrad::density_rows())
    print_cells(out, call_text(row, [&](int i) { return row.arguments[i].name; }), {row.text, condition_text(row), row.source});
}

}  // namespace

int main(int argc, char** argv) {
  constexpr struct {
    std::string_view name;
    void (*print)(std::ostream&);
  } commands[] = {{"stub", print_elementwise_stub},
                  {"density-stub", print_density_stub},
                  {"docs", print_elementwise_docs},
                  {"density-docs", print_density_docs}};
  for (const auto& command : commands) {
    if (argc == 2 && argv[1] == command.name) {
      command.print(std::cout);
      return std::cout.flush() ? 0 : 1;
    }
  }
  std::cerr << "usage: agrad_emit stub | density-stub | docs | density-docs\n";
  return 2;
}
