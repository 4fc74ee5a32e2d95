// Archive: numbers, texts and lists as bytes, in both directions.
//
// A class states its fields once, for writing and reading:
//
//     template <class Archive>
//     void serialize(Archive& archive, my_options& o) { archive(o.tolerance, o.times, o.algebra); }
//
// Bytes are sealed: a mark, the version of the format and a checksum come first, so other bytes are rejected before anything is
// read. Reading is checked nevertheless: a reader never reads beyond the end, and enumerations have one of their values. Read
// next: program/store/portable.hpp, programs as bytes.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <agrad/base/error.hpp>

namespace agrad {

namespace detail {

[[noreturn]] AGRAD_COLD void fail_archive(std::string_view what, std::string_view found, std::string_view must,
                                          std::string_view hint = "record the program again");
/// Throws the error for bytes that cannot have been written.
[[noreturn]] AGRAD_COLD void fail_damaged(std::string_view part);

/// Returns a checksum, which every change within eight consecutive bytes changes.
std::uint64_t checksum(std::string_view bytes);

template <class T>
using is_plain_number = std::bool_constant<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>;

}  // namespace detail

/// The beginning of sealed bytes: a mark, the version of the format, a checksum of the rest.
struct archive_seal {
  static constexpr std::string_view mark = "agrad's\n";
  static constexpr std::uint32_t format = 6;
  static constexpr std::size_t size = 8 + sizeof(format) + sizeof(std::uint64_t);
};

/// Returns the bytes with their seal.
std::string sealed(std::string_view bytes);

/// Returns the bytes without their seal; throws std::invalid_argument for bytes of another kind or format, and for changed
/// bytes.
std::string_view unsealed(std::string_view all);

/// Appends fields. `Self` is the derived class, which may have overloads of `write` for more types.
template <class Self>
class archive_writer {
 public:
  static constexpr bool is_reading = false;

  template <class... T>
  void operator()(const T&... x) {
    (self().write(x), ...);
  }
  /// Writes an enumeration, which a reader accepts only if the value is in the list.
  template <class E>
  void one_of(const E& x, std::initializer_list<E>) {
    write(static_cast<std::int32_t>(x));
  }
  /// Checks only in readers.
  static void expect(bool, std::string_view) {}

  const std::string& bytes() const { return bytes_; }

  template <class T, std::enable_if_t<detail::is_plain_number<T>::value, int> = 0>
  void write(const T& x) {
    write_all(&x, 1);
  }
  void write(bool x) { write(static_cast<std::uint8_t>(x)); }
  void write(const std::string& x) {
    const std::uint64_t size = x.size();
    write(size);
    write_all(x.data(), x.size());
  }
  template <class T>
  void write(const std::vector<T>& x) {
    write(static_cast<std::uint64_t>(x.size()));
    if constexpr (detail::is_plain_number<T>::value)
      write_all(x.data(), x.size());
    else
      for (const auto& each : x) self().write(static_cast<const T&>(each));
  }
  void write(const Eigen::VectorXd& x) {
    write(static_cast<std::uint64_t>(x.size()));
    write_all(x.data(), static_cast<std::size_t>(x.size()));
  }
  template <class T>
  void write(const std::optional<T>& x) {
    write(x.has_value());
    if (x) self().write(*x);
  }
  template <class A, class B>
  void write(const std::variant<A, B>& x) {
    write(x.index() == 1);
    if (x.index() == 0)
      self().write(std::get<0>(x));
    else
      self().write(std::get<1>(x));
  }
  /// Writes a class that states its fields with `serialize`.
  template <class T>
  auto write(const T& x) -> decltype(serialize(std::declval<Self&>(), std::declval<T&>())) {
    T fields = x;
    serialize(self(), fields);
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  template <class T>
  void write_all(const T* x, std::size_t n) {
    if (n > 0) bytes_.append(reinterpret_cast<const char*>(x), n * sizeof(T));
  }

  std::string bytes_;
};

/// Reads fields in the order in which they were written.
template <class Self>
class archive_reader {
 public:
  static constexpr bool is_reading = true;

  explicit archive_reader(std::string_view bytes) : left_(bytes) {}

  template <class... T>
  void operator()(T&... x) {
    (self().read(x), ...);
  }
  template <class E>
  void one_of(E& x, std::initializer_list<E> values) {
    std::int32_t code = 0;
    read(code);
    for (const E value : values)
      if (static_cast<std::int32_t>(value) == code) return void(x = value);
    detail::fail_damaged("a choice");
  }
  /// Throws if a condition on the data is not fulfilled.
  static void expect(bool holds, std::string_view part) {
    if (AGRAD_UNLIKELY(!holds)) detail::fail_damaged(part);
  }
  bool is_at_end() const { return left_.empty(); }

  template <class T, std::enable_if_t<detail::is_plain_number<T>::value, int> = 0>
  void read(T& x) {
    read_all(&x, 1);
  }
  void read(bool& x) {
    std::uint8_t byte = 0;
    read(byte);
    expect(byte < 2, "a boolean");
    x = byte != 0;
  }
  void read(std::string& x) {
    x.resize(count(1));
    read_all(x.data(), x.size());
  }
  template <class T>
  void read(std::vector<T>& x) {
    if constexpr (detail::is_plain_number<T>::value) {
      x.resize(count(sizeof(T)));
      read_all(x.data(), x.size());
    } else {
      const std::size_t n = count(1);  // every element has at least one byte
      x.clear();
      for (std::size_t i = 0; i < n; ++i) {
        T each{};
        self().read(each);
        x.push_back(std::move(each));
      }
    }
  }
  void read(Eigen::VectorXd& x) {
    x.resize(static_cast<Eigen::Index>(count(sizeof(double))));
    read_all(x.data(), static_cast<std::size_t>(x.size()));
  }
  template <class T>
  void read(std::optional<T>& x) {
    bool is_there = false;
    read(is_there);
    x.reset();
    if (is_there) self().read(x.emplace());
  }
  template <class A, class B>
  void read(std::variant<A, B>& x) {
    bool is_second = false;
    read(is_second);
    if (is_second)
      self().read(x.template emplace<1>());
    else
      self().read(x.template emplace<0>());
  }
  template <class T>
  auto read(T& x) -> decltype(serialize(std::declval<Self&>(), x)) {
    serialize(self(), x);
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  /// Reads the number of elements that follow, with at least `bytes` bytes each.
  std::size_t count(std::size_t bytes) {
    std::uint64_t n = 0;
    read(n);
    expect(n <= left_.size() / bytes, "a length");
    return n;
  }
  template <class T>
  void read_all(T* x, std::size_t n) {
    expect(n <= left_.size() / sizeof(T), "the end");
    if (n > 0) std::memcpy(x, left_.data(), n * sizeof(T));
    left_.remove_prefix(n * sizeof(T));
  }

  std::string_view left_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/store/archive.ipp>
#endif
