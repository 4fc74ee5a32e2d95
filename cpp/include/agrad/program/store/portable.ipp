// Definitions of program/store/portable.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/store/portable.hpp>

namespace agrad::detail {

AGRAD_INLINE deeper::deeper(int& depth) : depth_(depth) {
  if (++depth_ > deepest_program) {
    --depth_;
    fail_archive("number of nested programs", std::to_string(deepest_program + 1),
                 "at most " + std::to_string(deepest_program));
  }
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE void portable_writer::write(const program& f) {
  if (!is_new(&f)) return;
  const detail::deeper level(depth_);
  write(f.code().externals);
  const std::vector<double> fixed = f.fixed();
  check_program(f.code(), fixed, f.size(), f.inputs(), f.outputs());  // a program that could not be read is not written
  row_writer code(names_);
  for (const operation& op : f.code().operations) code.add(op);
  for (const instruction& step : f.code().instructions) code.add(step);
  const std::uint64_t size = f.size();
  (*this)(code.rows.kernels, code.rows.operations, code.rows.instructions, f.code().integers, f.inputs(), f.outputs(), fixed,
          size);
}

AGRAD_INLINE void portable_writer::write(const std::shared_ptr<const external_operation>& f) {
  if (f->kind().empty() || !names_.reader_of(f->kind()))
    throw not_portable(
        detail::sentence("program", "operation", -1, f->name(), "one of plain data", "it cannot be stored as bytes"));
  if (!is_new(f.get())) return;
  const detail::deeper level(depth_);
  write(std::string(f->kind()));
  f->write(*this);
}

AGRAD_INLINE bool portable_writer::is_new(const void* what) {
  const auto [known, is_first] = numbers_.try_emplace(what, static_cast<std::uint32_t>(numbers_.size()));
  write(known->second);
  return is_first;
}

AGRAD_INLINE void portable_writer::row_writer::add(const operation& op) {
  auto& to = rows.operations;
  const bool has_data = op.data_count > 0 || op.what == &kernels::straight;
  to.insert(to.end(), {number_of(op.what), op.result, op.count, has_data ? op.data : 0, op.data_count,
                       op.arity | (op.is_composed ? detail::composed_bit : 0U)});
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const span& x = op.operands[k];
    to.insert(to.end(), {x.first, x.count, x.stride | (x.active ? 2U : 0U) | (x.listed ? 4U : 0U)});
  }
}

AGRAD_INLINE void portable_writer::row_writer::add(const instruction& step) {
  const bool is_stop = step.what->entries == nullptr;
  rows.instructions.insert(
      rows.instructions.end(),
      {is_stop ? 0 : number_of(&step.what->whole()),
       is_stop ? 0 : step.what->active | (step.is_composed ? detail::composed_bit : 0U), step.x[0], step.x[1], step.x[2]});
}

AGRAD_INLINE std::uint32_t portable_writer::row_writer::number_of(const kernel* what) {
  const auto [known, is_first] = numbers_.try_emplace(what, static_cast<std::uint32_t>(rows.kernels.size()));
  if (is_first) {
    const std::string_view name = names_.name_of(what);
    if (name.empty())
      throw std::logic_error(detail::sentence("program", "operation", -1, what->name, "one with a registered name"));
    rows.kernels.emplace_back(name);
  }
  return known->second;
}

AGRAD_INLINE void portable_reader::read(std::shared_ptr<const program>& f) {
  f = read_shared<std::shared_ptr<const program>>(programs_, [&] { return read_program(); });
}

AGRAD_INLINE void portable_reader::read(std::shared_ptr<const external_operation>& f) {
  f = read_shared<std::shared_ptr<const external_operation>>(externals_, [&] { return read_external(); });
}

AGRAD_INLINE std::shared_ptr<const external_operation> portable_reader::read_external() {
  std::string kind;
  read(kind);
  const portable_names::external_reader reader = names_.reader_of(kind);
  if (!reader) detail::fail_archive("operation", kind, "one that this version knows");
  return reader(*this);
}

AGRAD_INLINE std::shared_ptr<const program> portable_reader::read_program() {
  detail::code_rows rows;
  program_code code;
  std::vector<slot> inputs, outputs;
  std::vector<double> fixed;
  std::uint64_t size = 0;
  (*this)(code.externals, rows.kernels, rows.operations, rows.instructions, code.integers, inputs, outputs, fixed, size);
  std::vector<const kernel*> kernels;
  for (const std::string& name : rows.kernels) {
    kernels.push_back(kernels.empty() ? nullptr : names_.kernel_of(name));
    if (kernels.size() > 1 && kernels.back() == nullptr)
      detail::fail_archive("operation", name, "one that this version knows",
                           "load a library's rules before (agrad.load_rules), or record the program again");
  }
  add_operations(rows.operations, kernels, code);
  add_instructions(rows.instructions, kernels, code);
  check_program(code, fixed, size, inputs, outputs);
  return std::make_shared<const program>(std::move(code), std::move(fixed), size, std::move(inputs), std::move(outputs));
}

AGRAD_INLINE const kernel* portable_reader::kernel_at(const std::vector<const kernel*>& kernels, std::uint32_t number) {
  expect(number != 0 && number < kernels.size(), "a kind of operation");
  return kernels[number];
}

AGRAD_INLINE void portable_reader::add_operations(const std::vector<std::uint32_t>& rows,
                                                  const std::vector<const kernel*>& kernels, program_code& code) {
  for (std::size_t i = 0; i < rows.size();) {
    expect(rows.size() - i >= 6, "an operation");
    operation op;
    op.what = kernel_at(kernels, rows[i]);
    op.result = rows[i + 1], op.count = rows[i + 2], op.data = rows[i + 3], op.data_count = rows[i + 4];
    op.arity = rows[i + 5] & ~detail::composed_bit, op.is_composed = op.arity != rows[i + 5];
    i += 6;
    expect(op.arity <= operation::most_operands && rows.size() - i >= std::size_t{3} * op.arity, "an operation");
    for (std::uint32_t k = 0; k < op.arity; ++k, i += 3) {
      expect(rows[i + 2] < 8, "an operand");
      op.operands[k] = {rows[i], rows[i + 1], static_cast<std::uint16_t>(rows[i + 2] & 1U), (rows[i + 2] & 2U) != 0,
                        (rows[i + 2] & 4U) != 0};
    }
    code.operations.push_back(op);
  }
}

AGRAD_INLINE void portable_reader::add_instructions(const std::vector<std::uint32_t>& rows,
                                                    const std::vector<const kernel*>& kernels, program_code& code) {
  expect(rows.size() % 5 == 0, "straight code");
  for (std::size_t i = 0; i < rows.size(); i += 5) {
    const std::uint32_t active = rows[i + 1] & ~detail::composed_bit;
    instruction step{&detail::straight_stop::steps, {rows[i + 2], rows[i + 3], rows[i + 4]}, active != rows[i + 1]};
    if (rows[i] != 0) {
      const kernel* what = kernel_at(kernels, rows[i]);
      expect(what->steps != nullptr && active >> what->entries->arity == 0, "straight code");
      step.what = what->steps + active;
    }
    code.instructions.push_back(step);
  }
}

AGRAD_INLINE std::string stored_program(const program& f, const portable_names& names, std::string_view maker) {
  portable_writer to(names);
  to(std::string(maker));
  to(f);
  return sealed(to.bytes());
}

AGRAD_INLINE std::shared_ptr<const program> program_of(std::string_view bytes, const portable_names& names,
                                                       std::string_view maker) {
  portable_reader from(unsealed(bytes), names);
  std::string by;
  from(by);
  if (by != maker)
    detail::fail_archive("version of the pickle", by, maker,
                         "a program is read only by the version of agrad that pickled it, record the program again");
  std::shared_ptr<const program> f;
  from(f);
  portable_reader::expect(from.is_at_end(), "the end");
  return f;
}

}  // namespace agrad
