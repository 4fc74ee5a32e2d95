// Library of rules: what the one file of a rule library (program/machine/rule_library.hpp) includes.
//
//     namespace {
//     struct sech_rule : agrad::rule<1> { ... };  // rules/rule.hpp lists the parts
//     }
//     const agrad::rule_library* agrad_rules() { return agrad::library_of<sech_rule>(); }
//
// The loops are the module's, so that this header takes a compiler about as long as the rules that it includes. A file includes
// this header or program/recording/elementwise.hpp: the two have different kernels for agrad's own rules.
#pragma once

#include <string_view>

#include <agrad/program/machine/rule_library.hpp>
#include <agrad/rules/lists/elementwise.hpp>

namespace agrad {

namespace detail {

/// Defined once in a library, so that a library of two files does not link: each would have a list of its own.
[[gnu::visibility("hidden")]] extern const bool library_of_rules_is_one_file = true;

// Unnamed, because the system's loader lets libraries share what has a name, even initialisations that are yet to run.
namespace {

/// What the module reads and sets.
struct this_library {
  static inline library_kernel* first = nullptr;  // of the list of kernels
  static inline record_function record = nullptr;

  static void connect(record_function by) { record = by; }
};

/// An entry of the list of kernels.
struct listed_library_kernel : library_kernel {
  listed_library_kernel(std::string_view kernel_name, kernel* what) : library_kernel{kernel_name, what} {
    next = this_library::first;
    this_library::first = this;
  }
};

}  // namespace

/// Returns whether a type is in an unnamed namespace, as g++ and clang print it.
template <class T>
constexpr bool is_of_this_file() {
  constexpr std::string_view name = __PRETTY_FUNCTION__;
  return name.find("{anonymous}") != name.npos || name.find("(anonymous namespace)") != name.npos;
}

/// The kernel of a rule of this library. The module adds the loops.
template <class Rule>
struct kernel_of_library {
  static inline kernel what{Rule::name,
                            nullptr,
                            nullptr,
                            {nullptr, nullptr},
                            {nullptr, nullptr},
                            nullptr,
                            agrad::dependence_of_rule<Rule, dual<double>>(),
                            steps_of_rule<Rule>(),
                            &entries_of<Rule>::functions};
  static inline listed_library_kernel listed{Rule::name, &what};
};

/// The kernel of a rule of agrad, which is the module's.
template <class Rule, class Library>
struct kernel_of_module {
  static inline listed_library_kernel listed{Rule::name, nullptr};
};

}  // namespace detail

template <class Rule>
const kernel& kernel_of_rule() {
  if constexpr (detail::is_of_this_file<Rule>()) {
    static_cast<void>(&detail::kernel_of_library<Rule>::listed);
    return detail::kernel_of_library<Rule>::what;
  } else {
    return *detail::kernel_of_module<Rule, detail::this_library>::listed.of_module;
  }
}

inline traced traced::record(const kernel& what, const traced* x, std::size_t n) {
  return detail::this_library::record(what, x, n);
}

/// Returns a library whose functions are the rules. Rules that only derivatives of these rules call need not be among them.
template <class... Rules>
const rule_library* library_of() {
  static_assert(sizeof...(Rules) > 0, "a library has rules");
  static_assert((detail::is_of_this_file<Rules>() && ...),
                "write the rules in an unnamed namespace: two libraries may have rules of the same C++ name");
  static_assert(((Rules::arity <= 3) && ...), "a function of a library has at most three arguments");
  static const elementwise_row rows[] = {row_of_rule<Rules>()...};
  static const rule_library library{detail::fingerprint_here(), rows, sizeof...(Rules), detail::this_library::first,
                                    &detail::this_library::connect};
  return &library;
}

}  // namespace agrad

/// Returns the library's rules; the function that `agrad.load_rules` looks for, defined by the library's file.
extern "C" [[gnu::visibility("default")]] const agrad::rule_library* agrad_rules();
