// Definitions of program/store/archive.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/store/archive.hpp>

namespace agrad::detail {

AGRAD_INLINE void fail_archive(std::string_view what, std::string_view found, std::string_view must, std::string_view hint) {
  throw std::invalid_argument(sentence("program", what, -1, found, must, hint));
}

AGRAD_INLINE void fail_damaged(std::string_view part) {
  fail_archive(std::string(part) + " in the pickle", "damaged", "as it was pickled");
}

AGRAD_INLINE std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xCBF29CE484222325U ^ bytes.size();  // as in FNV-1a, by words
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at < 8 ? bytes.size() - at : 8);
    sum = (sum ^ word) * 0x100000001B3U;
    sum ^= sum >> 29U;
  }
  return sum;
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE std::string sealed(std::string_view bytes) {
  std::string all(archive_seal::mark);
  const std::uint64_t sum = detail::checksum(bytes);
  all.append(reinterpret_cast<const char*>(&archive_seal::format), sizeof archive_seal::format);
  all.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return all.append(bytes);
}

AGRAD_INLINE std::string_view unsealed(std::string_view all) {
  using detail::fail_archive;
  const std::string_view mark = archive_seal::mark;
  if (all.size() < archive_seal::size || all.substr(0, mark.size()) != mark)
    fail_archive("the beginning of the pickle", "not that of a program", "as it was pickled");
  std::uint32_t format = 0;
  std::uint64_t sum = 0;
  std::memcpy(&format, all.data() + mark.size(), sizeof format);
  std::memcpy(&sum, all.data() + mark.size() + sizeof format, sizeof sum);
  if (format != archive_seal::format)
    fail_archive("format of the pickle", "version " + std::to_string(format),
                 "version " + std::to_string(archive_seal::format));
  const std::string_view bytes = all.substr(archive_seal::size);
  const std::uint64_t found = detail::checksum(bytes);
  if (found != sum)
    fail_archive("checksum of the pickle", std::to_string(found), std::to_string(sum),
                 "bytes of the pickle are damaged or lost, record the program again");
  return bytes;
}

}  // namespace agrad
