// Ranges of consecutive slots and of marks, beside the same questions asked entry by entry.
#include <doctest/doctest.h>
#include <agrad/program/machine/slot_runs.hpp>
#include <random>
#include <vector>

namespace test_program_slot_runs {
namespace {

using agrad::slot;

std::size_t count_by_entries(const std::vector<slot>& slots) {
  std::size_t n = 1;
  while (n < slots.size() && slots[n] == slots[n - 1] + 1) ++n;
  return n;
}

std::vector<slot> some_slots(std::mt19937& random, std::size_t n) {
  std::vector<slot> slots;
  for (auto next = static_cast<slot>(random() % 1000); slots.size() < n; next = static_cast<slot>(random() % 1000))
    for (std::size_t left = random() % 300 + 1; left > 0 && slots.size() < n; --left) slots.push_back(next++);
  return slots;
}

TEST_CASE("consecutive slots are counted up to the first gap, at any place of a block") {
  for (const std::size_t n : {1U, 2U, 63U, 64U, 65U, 66U, 128U, 129U, 200U}) {
    std::vector<slot> slots(n);
    for (std::size_t i = 0; i < n; ++i) slots[i] = static_cast<slot>(5 + i);
    CHECK(agrad::detail::consecutive_slots(slots.data(), n) == n);
    CHECK(agrad::detail::are_consecutive(slots.data(), n));
    for (std::size_t gap = 1; gap < n; ++gap) {
      std::vector<slot> broken = slots;
      broken[gap] = 3;
      CHECK(agrad::detail::consecutive_slots(broken.data(), n) == gap);
      CHECK_FALSE(agrad::detail::are_consecutive(broken.data(), n));
    }
  }
  CHECK(agrad::detail::are_consecutive(nullptr, 0));
}

TEST_CASE("the runs of a list are the list, and each is as long as possible") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const std::vector<slot> slots = some_slots(random, random() % 2000);
    std::vector<slot> again;
    agrad::detail::each_run(slots.data(), slots.size(), [&](std::size_t i, slot first, std::size_t count) {
      CHECK(i == again.size());
      CHECK(count == count_by_entries({slots.begin() + static_cast<std::ptrdiff_t>(i), slots.end()}));
      for (std::size_t k = 0; k < count; ++k) again.push_back(first + static_cast<slot>(k));
    });
    CHECK(again == slots);
  }
}

TEST_CASE("ranges of marks are those between two indices, and cover every mark there") {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint8_t> marks(random() % 500);
    for (auto& m : marks) m = random() % 3 == 0 ? 1 : 0;
    const std::size_t begin = marks.empty() ? 0 : random() % marks.size(), end = begin + (marks.size() - begin) / 2;
    std::vector<std::uint8_t> again(marks.size(), 0);
    std::size_t last = begin;
    agrad::detail::each_marked(marks.data(), begin, end, [&](std::size_t first, std::size_t after) {
      CHECK(first >= last);
      CHECK(after > first);
      CHECK(after <= end);
      for (std::size_t i = first; i < after; ++i) again[i] = 1;
      last = after;
    });
    for (std::size_t i = begin; i < end; ++i) CHECK(again[i] == marks[i]);
  }
}

}  // namespace
}  // namespace test_program_slot_runs
