// Portable: programs as bytes, to be stored outside of memory and made into programs again.
//
//     const std::string bytes = kept_program(f, names, "1.0");
//     std::shared_ptr<const program> again = program_of(bytes, names, "1.0");
//
// Kernels and kinds of external operations are stored by name, and the caller provides the names (cpp/rows/kernels.hpp). An
// external operation states its fields (`external_operation::write`); an operation with other contents than data has no kind,
// and a program with such an operation cannot be stored. Programs and operations that occur in several places are written once.
// All that is read is validated before a program is made (program/keep/validate.hpp), even if the checksum is correct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <agrad/program/keep/archive.hpp>
#include <agrad/program/keep/validate.hpp>
#include <agrad/program/program.hpp>

namespace agrad {

class portable_reader;

/// Thrown for a program that cannot be stored, because an operation contains more than data.
struct not_portable : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// The names of kernels and of kinds of external operations.
class portable_names {
 public:
  using external_reader = std::function<std::shared_ptr<const external_operation>(portable_reader&)>;

  portable_names() = default;
  portable_names(const portable_names&) = delete;
  virtual ~portable_names() = default;
  /// Returns the kernel's name; empty if it has none.
  virtual std::string_view name_of(const kernel* what) const = 0;
  /// Returns the kernel of this name; null if there is none.
  virtual const kernel* kernel_of(std::string_view name) const = 0;
  /// Returns the function that reads operations of a kind; empty if there is none.
  virtual external_reader reader_of(std::string_view /*kind*/) const { return {}; }
};

namespace detail {

/// The deepest allowed nesting of programs within operations within programs; real programs are less deep.
inline constexpr int deepest_program = 64;

class deeper {
 public:
  explicit deeper(int& depth) : depth_(depth) {
    if (++depth_ > deepest_program) {
      --depth_;
      fail_archive("number of programs within each other", std::to_string(deepest_program + 1),
                   "at most " + std::to_string(deepest_program));
    }
  }
  deeper(const deeper&) = delete;
  ~deeper() { --depth_; }

 private:
  int& depth_;
};

/// Operations and instructions as numbers: an operation has six and three for each operand; an instruction has five.
struct code_rows {
  std::vector<std::string> kernels;  // names by number; 0 is the stop around straight code
  std::vector<std::uint32_t> operations, instructions;
};

}  // namespace detail

class portable_writer : public archive_writer<portable_writer> {
 public:
  using archive_writer::put;

  explicit portable_writer(const portable_names& names) : names_(names) {}

  void put(const std::shared_ptr<const program>& f) { put(*f); }
  void put(const program& f) {
    if (!is_new(&f)) return;
    const detail::deeper level(depth_);
    put(f.code().externals);
    check_program(f.code(), f.fixed(), f.size(), f.inputs(), f.outputs());  // a program that could not be read is not written
    row_writer code(names_);
    for (const operation& op : f.code().operations) code.add(op);
    for (const instruction& step : f.code().instructions) code.add(step);
    (*this)(code.rows.kernels, code.rows.operations, code.rows.instructions, f.code().integers, f.inputs(), f.outputs(),
            f.fixed(), static_cast<std::uint64_t>(f.size()));
  }
  void put(const std::shared_ptr<const external_operation>& f) {
    if (f->kind().empty() || !names_.reader_of(f->kind()))
      throw not_portable(
          detail::sentence("program", "operation", -1, f->name(), "one of plain data", "it cannot be kept outside of memory"));
    if (!is_new(f.get())) return;
    const detail::deeper level(depth_);
    put(std::string(f->kind()));
    f->write(*this);
  }

 private:
  /// Writes the number of an object that may occur again; returns whether this is its first occurrence.
  bool is_new(const void* what) {
    const auto [known, is_first] = numbers_.try_emplace(what, static_cast<std::uint32_t>(numbers_.size()));
    put(known->second);
    return is_first;
  }

  class row_writer {
   public:
    explicit row_writer(const portable_names& names) : names_(names) { rows.kernels.emplace_back("stop"); }

    void add(const operation& op) {
      auto& to = rows.operations;
      const bool has_data = op.data_count > 0 || op.what == &kernels::straight;
      to.insert(to.end(), {number_of(op.what), op.result, op.count, has_data ? op.data : 0, op.data_count, op.arity});
      for (std::uint32_t k = 0; k < op.arity; ++k) {
        const span& x = op.operands[k];
        to.insert(to.end(), {x.first, x.count, x.stride | (x.active ? 2U : 0U) | (x.listed ? 4U : 0U)});
      }
    }
    void add(const instruction& step) {
      const bool is_stop = step.what->entries == nullptr;
      rows.instructions.insert(rows.instructions.end(), {is_stop ? 0 : number_of(&step.what->whole()),
                                                         is_stop ? 0 : step.what->active, step.x[0], step.x[1], step.x[2]});
    }

    detail::code_rows rows;

   private:
    std::uint32_t number_of(const kernel* what) {
      const auto [known, is_first] = numbers_.try_emplace(what, static_cast<std::uint32_t>(rows.kernels.size()));
      if (is_first) {
        const std::string_view name = names_.name_of(what);
        if (name.empty())
          throw std::logic_error(detail::sentence("program", "operation", -1, what->name, "one that is known by name"));
        rows.kernels.emplace_back(name);
      }
      return known->second;
    }
    const portable_names& names_;
    std::unordered_map<const kernel*, std::uint32_t> numbers_;
  };

  const portable_names& names_;
  std::unordered_map<const void*, std::uint32_t> numbers_;
  int depth_ = 0;
};

class portable_reader : public archive_reader<portable_reader> {
 public:
  using archive_reader::take;

  portable_reader(std::string_view bytes, const portable_names& names) : archive_reader(bytes), names_(names) {}

  void take(std::shared_ptr<const program>& f) {
    f = taken<std::shared_ptr<const program>>(programs_, [&] { return read_program(); });
  }
  void take(std::shared_ptr<const external_operation>& f) {
    f = taken<std::shared_ptr<const external_operation>>(externals_, [&] { return read_external(); });
  }

 private:
  /// Reads an object's number, and the object if it is new. An object is not part of itself.
  template <class Shared, class Read>
  Shared taken(std::unordered_map<std::uint32_t, Shared>& known, const Read& read) {
    std::uint32_t number = 0;
    take(number);
    if (number < count_) {
      const auto found = known.find(number);
      expect(found != known.end(), "a number of a part");
      return found->second;
    }
    expect(number == count_, "a number of a part");
    ++count_;
    const detail::deeper level(depth_);
    Shared made = read();
    known.emplace(number, made);
    return made;
  }

  std::shared_ptr<const external_operation> read_external() {
    std::string kind;
    take(kind);
    const portable_names::external_reader read = names_.reader_of(kind);
    if (!read) detail::fail_archive("operation", kind, "one that this version knows");
    return read(*this);
  }

  std::shared_ptr<const program> read_program() {
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
        detail::fail_archive("operation", name, "one that this version knows");
    }
    add_operations(rows.operations, kernels, code);
    add_instructions(rows.instructions, kernels, code);
    check_program(code, fixed, size, inputs, outputs);
    return std::make_shared<const program>(std::move(code), std::move(fixed), size, std::move(inputs), std::move(outputs));
  }

  static const kernel* kernel_at(const std::vector<const kernel*>& kernels, std::uint32_t number) {
    expect(number != 0 && number < kernels.size(), "a kind of operation");
    return kernels[number];
  }

  static void add_operations(const std::vector<std::uint32_t>& rows, const std::vector<const kernel*>& kernels,
                             program_code& code) {
    for (std::size_t i = 0; i < rows.size();) {
      expect(rows.size() - i >= 6, "an operation");
      operation op;
      op.what = kernel_at(kernels, rows[i]);
      op.result = rows[i + 1], op.count = rows[i + 2], op.data = rows[i + 3], op.data_count = rows[i + 4],
      op.arity = rows[i + 5];
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

  static void add_instructions(const std::vector<std::uint32_t>& rows, const std::vector<const kernel*>& kernels,
                               program_code& code) {
    expect(rows.size() % 5 == 0, "straight code");
    for (std::size_t i = 0; i < rows.size(); i += 5) {
      instruction step{&detail::straight_stop::steps, {rows[i + 2], rows[i + 3], rows[i + 4]}};
      if (rows[i] != 0) {
        const kernel* what = kernel_at(kernels, rows[i]);
        expect(what->steps != nullptr && rows[i + 1] >> what->entries->arity == 0, "straight code");
        step.what = what->steps + rows[i + 1];
      }
      code.instructions.push_back(step);
    }
  }

  const portable_names& names_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const program>> programs_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const external_operation>> externals_;
  std::uint32_t count_ = 0;
  int depth_ = 0;
};

/// Returns the program as sealed bytes. maker: the version of agrad, on whose rules the program depends. Throws not_portable
/// for a program with operations that cannot be stored.
inline std::string kept_program(const program& f, const portable_names& names, std::string_view maker) {
  portable_writer to(names);
  to(std::string(maker));
  to(f);
  return sealed(to.bytes());
}

/// Returns the stored program. Throws std::invalid_argument for bytes of another format or version, for damaged bytes, and for
/// bytes that are not a program.
inline std::shared_ptr<const program> program_of(std::string_view bytes, const portable_names& names, std::string_view maker) {
  portable_reader from(unsealed(bytes), names);
  std::string by;
  from(by);
  if (by != maker)
    detail::fail_archive("version of the pickle", by, maker,
                         "programs are read by the version of agrad that pickled them, record it again");
  std::shared_ptr<const program> f;
  from(f);
  portable_reader::expect(from.is_at_end(), "the end");
  return f;
}

}  // namespace agrad
