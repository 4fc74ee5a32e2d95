// Portable: programs as bytes, to be stored outside of memory and made into programs again.
//
//     const std::string bytes = stored_program(f, names, "1.0");
//     std::shared_ptr<const program> again = program_of(bytes, names, "1.0");
//
// Kernels and kinds of external operations are stored by name, and the caller provides the names (cpp/rows/kernels.hpp). An
// external operation states its fields (`external_operation::write`); an operation with other contents than data has no kind,
// and a program with such an operation cannot be stored. Programs and operations that occur in several places are written once.
// All that is read is validated before a program is made (program/store/validate.hpp), even if the checksum is correct.
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

#include <agrad/program/program.hpp>
#include <agrad/program/store/archive.hpp>
#include <agrad/program/store/validate.hpp>

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

/// Stands for operation::is_composed, beside the number of operands.
inline constexpr std::uint32_t composed_bit = 1U << 31U;

class deeper {
 public:
  explicit deeper(int& depth);
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
  using archive_writer::write;

  explicit portable_writer(const portable_names& names) : names_(names) {}

  void write(const std::shared_ptr<const program>& f) { write(*f); }
  void write(const program& f);
  void write(const std::shared_ptr<const external_operation>& f);

 private:
  /// Writes the number of an object that may occur again; returns whether this is its first occurrence.
  bool is_new(const void* what);

  class row_writer {
   public:
    explicit row_writer(const portable_names& names) : names_(names) { rows.kernels.emplace_back("stop"); }

    void add(const operation& op);
    void add(const instruction& step);

    detail::code_rows rows;

   private:
    std::uint32_t number_of(const kernel* what);
    const portable_names& names_;
    std::unordered_map<const kernel*, std::uint32_t> numbers_;
  };

  const portable_names& names_;
  std::unordered_map<const void*, std::uint32_t> numbers_;
  int depth_ = 0;
};

class portable_reader : public archive_reader<portable_reader> {
 public:
  using archive_reader::read;

  portable_reader(std::string_view bytes, const portable_names& names) : archive_reader(bytes), names_(names) {}

  void read(std::shared_ptr<const program>& f);
  void read(std::shared_ptr<const external_operation>& f);

 private:
  /// Reads an object's number, and the object if it is new. An object is not part of itself.
  template <class Shared, class Read>
  Shared read_shared(std::unordered_map<std::uint32_t, Shared>& known, const Read& read_new) {
    std::uint32_t number = 0;
    read(number);
    if (number < count_) {
      const auto found = known.find(number);
      expect(found != known.end(), "the number of a part");
      return found->second;
    }
    expect(number == count_, "the number of a part");
    ++count_;
    const detail::deeper level(depth_);
    Shared shared = read_new();
    known.emplace(number, shared);
    return shared;
  }

  std::shared_ptr<const external_operation> read_external();

  std::shared_ptr<const program> read_program();

  static const kernel* kernel_at(const std::vector<const kernel*>& kernels, std::uint32_t number);

  static void add_operations(const std::vector<std::uint32_t>& rows, const std::vector<const kernel*>& kernels,
                             program_code& code);

  static void add_instructions(const std::vector<std::uint32_t>& rows, const std::vector<const kernel*>& kernels,
                               program_code& code);

  const portable_names& names_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const program>> programs_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const external_operation>> externals_;
  std::uint32_t count_ = 0;
  int depth_ = 0;
};

/// Returns the program as sealed bytes. maker: the version of agrad, on whose rules the program depends. Throws not_portable
/// for a program with operations that cannot be stored.
std::string stored_program(const program& f, const portable_names& names, std::string_view maker);

/// Returns the stored program. Throws std::invalid_argument for bytes of another format or version, for damaged bytes, and for
/// bytes that are not a program.
std::shared_ptr<const program> program_of(std::string_view bytes, const portable_names& names, std::string_view maker);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/store/portable.ipp>
#endif
