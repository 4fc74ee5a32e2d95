#include "added_rules.hpp"

#include <agrad/base/error.hpp>
#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/program/recording/tracing.hpp>
#include <agrad/rules/density/conditions.hpp>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>

#include "kernels.hpp"

namespace agrad {

namespace {

[[noreturn]] AGRAD_COLD void fail(const std::string& file, std::string_view what, std::string_view is, std::string_view must,
                                  std::string_view hint = {}) {
  throw std::invalid_argument(detail::sentence("load_rules", std::string(what) + " of " + file, -1, is, must, hint));
}

std::string_view text_of(const std::array<char, 16>& letters) {
  return {letters.data(), static_cast<std::size_t>(std::find(letters.begin(), letters.end(), '\0') - letters.begin())};
}

/// Returns the first instruction set among the bits that this processor does not have; empty if the processor has all.
std::string_view missing_set(std::uint32_t bits) {
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
  if ((bits & 1U) != 0 && __builtin_cpu_supports("avx") == 0) return "AVX";
  if ((bits & 2U) != 0 && __builtin_cpu_supports("avx2") == 0) return "AVX2";
  if ((bits & 4U) != 0 && __builtin_cpu_supports("fma") == 0) return "FMA";
  if ((bits & 8U) != 0 && __builtin_cpu_supports("avx512f") == 0) return "AVX-512F";
  bits &= ~15U;
#endif
  return bits == 0 ? std::string_view() : "an unknown one";
}

void check_fingerprint(const rule_library* library, const std::string& file) {
  constexpr rule_fingerprint here = detail::fingerprint_here();
  constexpr std::string_view hint = "compile the library with the headers of this agrad";
  if (library == nullptr || library->fingerprint.kind != here.kind)
    fail(file, "what agrad_rules() returns", "something else", "a library of rules, made by agrad::library_of");
  const rule_fingerprint& its = library->fingerprint;
  if (its.version != here.version) fail(file, "version", text_of(its.version), text_of(here.version), hint);
  if (its.standard_library != here.standard_library)
    fail(file, "C++ library", text_of(its.standard_library), text_of(here.standard_library));
  if (its.layout != here.layout) fail(file, "layout", "another", "that of this module", hint);
  if (const std::string_view missing = missing_set(its.instruction_sets); !missing.empty())
    fail(file, "instruction set", missing, "one of this processor", "compile the library on this machine, or without -march");
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_letter);
}

void check_row(const elementwise_row& row, const std::string& file) {
  if (!is_identifier(row.name)) fail(file, "name of a rule", row.name, "letters, digits and _, not a digit first");
  const auto is_must = [&](const condition* each) { return each->name == row.must; };
  if (!row.must.empty() && std::none_of(std::begin(must_be::all), std::end(must_be::all), is_must))
    fail(file, "condition of " + std::string(row.name), row.must, "one of agrad's (base/check.hpp)");
}

bool is_taken(std::string_view name) {
  const auto has_name = [&](const elementwise_row& row) { return row.name == name || row.stan == name; };
  const auto& rows = elementwise_rows();
  return kernel_of_name(name) != nullptr || std::any_of(rows.begin(), rows.end(), has_name);
}

/// Checks the names of the library's own kernels, and that all others are kernels here.
void check_names(const rule_library& library, const std::string& file) {
  std::set<std::string_view> own;
  for (const auto* each = library.kernels; each != nullptr; each = each->next) {
    if (each->own == nullptr) {
      const kernel* what = kernel_of_name(each->name);
      if (what == nullptr || what->entries == nullptr)
        fail(file, "rule of agrad", each->name, "one that the module has", "write the derivative with agrad's functions");
    } else if (is_taken(each->name) || !own.insert(each->name).second) {
      fail(file, "name of a rule", each->name, "a new one",
           "agrad, the library or one that was loaded before has a rule of this name; a changed library needs a new process");
    }
  }
}

/// Completes the library's kernels, and gives the library what is here.
void connect(const rule_library& library) {
  const kernel& loops = *elementwise_rows().front().loops;  // the loops are those of every elementwise kernel
  std::vector<named_kernel> names;
  for (auto* each = library.kernels; each != nullptr; each = each->next) {
    if (each->own == nullptr) {
      each->of_module = kernel_of_name(each->name);
    } else {
      each->own->forward = loops.forward;
      each->own->reverse = loops.reverse;
      each->own->tangent = loops.tangent;
      each->own->second = loops.second;
      each->own->fits = loops.fits;
      names.push_back({std::string(each->name), each->own});
    }
  }
  library.connect(&traced::record);
  add_named_kernels(names);
}

}  // namespace

std::vector<const elementwise_row*> add_rules(const rule_library* library, const std::string& file) {
  static fork_safe_mutex mutex;
  static std::set<const rule_library*> known;
  check_fingerprint(library, file);
  const std::lock_guard<fork_safe_mutex> locked(mutex);
  std::vector<const elementwise_row*> rows;
  for (std::size_t i = 0; i < library->row_count; ++i) rows.push_back(library->rows + i);
  if (known.count(library) != 0) return rows;
  for (const elementwise_row* row : rows) check_row(*row, file);
  check_names(*library, file);
  known.insert(library);
  connect(*library);
  return rows;
}

}  // namespace agrad
