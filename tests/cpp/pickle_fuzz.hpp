// Fuzzing of kept programs: bytes are damaged, their checksum is mended, and what is still a program must run in every
// direction without a crash, whatever it computes. AGRAD_FUZZ_PICKLES is how many damaged ones there are of each program.
#pragma once

#include <agrad/base/interrupt.hpp>
#include <agrad/program/store/portable.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kept_fuzz {

inline constexpr const char* version = "1.2.3";

/// Names of the kernels that were written before, and of kinds of external operations.
class names final : public agrad::portable_names {
 public:
  using readers = std::map<std::string, external_reader, std::less<>>;

  explicit names(readers kinds) : kinds_(std::move(kinds)) {}
  std::string_view name_of(const agrad::kernel* what) const override {
    return kernels_.emplace(what->name, what).first->second == what ? what->name : std::string_view();
  }
  const agrad::kernel* kernel_of(std::string_view name) const override {
    const kernel_map::const_iterator found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : found->second;
  }
  external_reader reader_of(std::string_view kind) const override {
    const auto found = kinds_.find(kind);
    return found == kinds_.end() ? external_reader() : found->second;
  }

 private:
  using kernel_map = std::map<std::string_view, const agrad::kernel*>;
  mutable kernel_map kernels_;
  readers kinds_;
};

using numbers = std::vector<double>;

/// Everything that a program computes at a point, to the bit.
inline numbers everything(const agrad::program& f, const numbers& x) {
  const std::size_t n = f.input_size(), m = f.output_size();
  constexpr std::size_t w = agrad::lane_count;
  agrad::workspace work;
  numbers all, y(m), seeds(m), back(n), in(n * w), out(m * w), backs(n * w);
  const auto add = [&](const numbers& part) { all.insert(all.end(), part.begin(), part.end()); };
  for (std::size_t i = 0; i < m; ++i) seeds[i] = 1.0 / static_cast<double>(i + 1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.25 * static_cast<double>(i % 7);
  f.forward(work, x.data(), y.data());
  f.reverse(work, seeds.data(), back.data());
  add(y), add(back);
  if (f.first_without_tangents() != nullptr) return all;
  f.tangent<agrad::lane_count>(work, in.data(), out.data());
  f.second<agrad::lane_count>(work, seeds.data(), back.data(), backs.data());
  add(out), add(backs);
  f.tangent<1>(work, in.data(), out.data());
  f.second<1>(work, seeds.data(), back.data(), backs.data());
  add(out), add(backs);
  return all;
}

/// The same bits, nan where there is one.
inline bool is_same(const numbers& a, const numbers& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// Does harm to bytes in one of the ways in which files are damaged, and in some that need malice.
inline std::string damaged(std::string bytes, const std::string& other, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  if (bytes.size() < 16) return bytes + "x";
  const std::size_t at = below(bytes.size()), word = std::min(at / 4 * 4, bytes.size() - 4);
  const auto put = [&](std::uint32_t x) { std::memcpy(bytes.data() + word, &x, 4); };
  std::uint32_t old = 0;
  std::memcpy(&old, bytes.data() + word, 4);
  switch (below(8)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(below(256));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      put(old + 1);
      break;
    case 4:
      put(old - 1);
      break;
    case 5:
      put(static_cast<std::uint32_t>(below(40)));
      break;
    case 6: {
      constexpr std::uint32_t bad[] = {0, 1, 2, 255, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
      put(bad[below(8)]);
      break;
    }
    default: {  // a part of another one
      const std::size_t from = below(other.size()), n = std::min(below(64) + 1, other.size() - from);
      if (below(2) == 0)
        bytes.insert(at, other, from, n);
      else
        bytes.replace(at, std::min(n, bytes.size() - at), other, from, n);
    }
  }
  return bytes;
}

inline std::size_t rounds(std::size_t few) {
  const char* many = std::getenv("AGRAD_FUZZ_PICKLES");
  return many == nullptr ? few : static_cast<std::size_t>(std::strtoul(many, nullptr, 10));
}

struct counts {
  std::size_t refused = 0, same = 0, other = 0, thrown = 0;
};

/// Programs that loops and solves would run for long are stopped.
inline std::chrono::steady_clock::time_point& deadline() {
  static std::chrono::steady_clock::time_point until;
  return until;
}
inline void look_at_the_clock() {
  if (std::chrono::steady_clock::now() > deadline()) throw std::runtime_error("takes too long");
}

/// Damages the bytes so often, mends the checksum, and runs what can be read.
inline counts fuzz(const std::string& kept, const std::string& other, const agrad::portable_names& names, const numbers& x,
                   const numbers& expected, std::size_t times, unsigned seed) {
  std::mt19937 random(seed);
  counts all;
  auto* const check = std::exchange(agrad::interrupt_check, look_at_the_clock);
  const std::string inside(agrad::unsealed(kept));
  for (std::size_t i = 0; i < times; ++i) {
    std::string bytes = damaged(inside, other, random);
    if (random() % 3 == 0) bytes = damaged(bytes, other, random);
    std::shared_ptr<const agrad::program> f;
    deadline() = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    try {
      f = agrad::program_of(agrad::sealed(bytes), names, version);
    } catch (const std::exception&) {
      ++all.refused;
      continue;
    }
    try {
      numbers at = x;
      at.resize(f->input_size(), 0.5);
      ++(is_same(everything(*f, at), expected) ? all.same : all.other);
    } catch (const std::exception&) {
      ++all.thrown;
    } catch (const agrad::kernels::path_left&) {
      ++all.thrown;
    }
  }
  agrad::interrupt_check = check;
  return all;
}

}  // namespace kept_fuzz
