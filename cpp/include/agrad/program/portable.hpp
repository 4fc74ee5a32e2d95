// Portable: a program as plain data, with kernels by name, to be kept outside of memory and made into a program again.
//
// Straight code goes by the names of its rules and which of their operands are active. External operations hold things that
// are no data, so a program with one of them does not travel; `export_program` throws with the operation's name.
// Names of kernels are the caller's to know (cpp/rows/kernels.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

/// Rows of numbers: an operation has operation_row of them, an instruction instruction_row.
struct portable_program {
  static constexpr std::size_t span_row = 5;  // first, count, stride, active, listed
  static constexpr std::size_t operation_row = 6 + span_row * operation::most_operands;
  static constexpr std::size_t instruction_row = 5;  // kernel, which operands are active, three slots

  std::vector<std::string> kernels;  // by which rows name them; 0 is what stands around straight code
  std::vector<std::uint32_t> operations, instructions, integers, inputs, outputs;
  std::vector<double> image;
};

namespace detail {

[[noreturn]] AGRAD_COLD inline void fail_portable(std::string_view found, const char* must) {
  throw std::invalid_argument(sentence("program", "operation", -1, found, must));
}

/// NameOf: std::string_view(const kernel*), empty without a name.
template <class NameOf>
class exporter {
 public:
  exporter(const program& f, const NameOf& name_of) : name_of_(name_of) {
    to_.kernels.emplace_back("stop");
    const program_code& code = f.code();
    if (!code.externals.empty())
      fail_portable(code.externals[0]->name(), "no external one; it cannot be kept outside of memory");
    for (const operation& op : code.operations) put(op);
    for (const instruction& step : code.instructions) put(step);
    to_.integers = code.integers;
    to_.image = f.image();
    to_.inputs = f.inputs();
    to_.outputs = f.outputs();
  }
  portable_program result() { return std::move(to_); }

 private:
  std::uint32_t number_of(std::string_view name) {
    const auto [known, is_new] = numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(to_.kernels.size()));
    if (is_new) to_.kernels.emplace_back(name);
    return known->second;
  }

  void put(const operation& op) {
    const std::string_view name = name_of_(op.what);
    if (name.empty()) fail_portable(op.what->name, "one that is known by name");
    auto& to = to_.operations;
    to.insert(to.end(), {number_of(name), op.result, op.count, op.data, op.data_count, op.arity});
    for (const span& x : op.operands) to.insert(to.end(), {x.first, x.count, x.stride, x.active ? 1U : 0U, x.listed ? 1U : 0U});
  }

  void put(const instruction& step) {
    const bool is_stop = step.what->entries == nullptr;
    to_.instructions.insert(to_.instructions.end(), {is_stop ? 0 : number_of(step.what->name), is_stop ? 0 : step.what->active,
                                                     step.x[0], step.x[1], step.x[2]});
  }

  const NameOf& name_of_;
  portable_program to_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// KernelOf: const kernel*(std::string_view), null for a name that is not known.
template <class KernelOf>
class importer {
 public:
  importer(const portable_program& from, const KernelOf& kernel_of) : from_(from) {
    for (const std::string& name : from.kernels) {
      kernels_.push_back(kernels_.empty() ? nullptr : kernel_of(name));
      if (kernels_.size() > 1 && kernels_.back() == nullptr) fail_portable(name, "one that this version knows");
    }
    check_rows(from.operations, portable_program::operation_row);
    check_rows(from.instructions, portable_program::instruction_row);
    for (std::size_t i = 0; i < from.operations.size(); i += portable_program::operation_row)
      add_operation(&from.operations[i]);
    for (std::size_t i = 0; i < from.instructions.size(); i += portable_program::instruction_row)
      add_instruction(&from.instructions[i]);
    code_.integers = from.integers;
    check_slots(from.inputs);
    check_slots(from.outputs);
  }
  std::shared_ptr<const program> result() {
    return std::make_shared<const program>(std::move(code_), from_.image, from_.inputs, from_.outputs);
  }

 private:
  [[noreturn]] AGRAD_COLD static void fail() { fail_portable("damaged", "as it was kept"); }
  static void check_rows(const std::vector<std::uint32_t>& rows, std::size_t length) {
    if (rows.size() % length != 0) fail();
  }
  void check_slots(const std::vector<std::uint32_t>& slots) const {
    for (const std::uint32_t s : slots) check_range(s, 1, from_.image.size());
  }
  static void check_range(std::size_t first, std::size_t count, std::size_t size) {
    if (first > size || count > size - first) fail();
  }

  const kernel* kernel_at(std::uint32_t number) const {
    if (number == 0 || number >= kernels_.size()) fail();
    return kernels_[number];
  }

  void add_operation(const std::uint32_t* row) {
    operation op;
    op.what = kernel_at(row[0]);
    op.result = row[1], op.count = row[2], op.data = row[3], op.data_count = row[4], op.arity = row[5];
    if (op.arity > static_cast<std::uint32_t>(operation::most_operands)) fail();
    check_range(op.result, op.count, from_.image.size());
    if (op.what == &kernels::straight)
      check_range(op.data, op.count + std::size_t{1}, from_.instructions.size() / portable_program::instruction_row);
    else
      check_range(op.data, op.data_count, from_.integers.size());
    row += 6;
    for (span& x : op.operands) {
      x = {row[0], row[1], static_cast<std::uint16_t>(row[2]), row[3] != 0, row[4] != 0};
      check_range(x.first, x.count, x.listed ? from_.integers.size() : from_.image.size());
      row += portable_program::span_row;
    }
    code_.operations.push_back(op);
  }

  void add_instruction(const std::uint32_t* row) {
    instruction step{&straight_stop::steps, {row[2], row[3], row[4]}};
    if (row[0] != 0) {
      const kernel* what = kernel_at(row[0]);
      if (what->steps == nullptr || row[1] >> what->entries->arity != 0) fail();
      step.what = what->steps + row[1];
      for (const slot s : step.x) check_range(s, 1, from_.image.size());
    }
    code_.instructions.push_back(step);
  }

  const portable_program& from_;
  std::vector<const kernel*> kernels_;
  program_code code_;
};

}  // namespace detail

/// Throws std::invalid_argument for a program with operations that cannot be kept.
template <class NameOf>
portable_program export_program(const program& f, const NameOf& name_of) {
  return detail::exporter<NameOf>(f, name_of).result();
}

/// Throws std::invalid_argument where a kernel's name is not known or the numbers fit no program.
template <class KernelOf>
std::shared_ptr<const program> import_program(const portable_program& from, const KernelOf& kernel_of) {
  return detail::importer<KernelOf>(from, kernel_of).result();
}

}  // namespace agrad
