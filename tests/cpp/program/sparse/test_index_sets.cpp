// Index sets against std::set, and interactions against pairs one by one.
#include <doctest/doctest.h>
#include <agrad/program/sparse/interactions.hpp>
#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace test_index_sets {

using agrad::index_sets;
using agrad::interactions;

namespace {

using plain = std::set<std::uint32_t>;

plain to_plain(index_sets& sets, index_sets::set s) {
  const auto all = sets.elements(s);
  CHECK(std::is_sorted(all.begin(), all.end()));
  return plain(all.begin(), all.end());
}

/// Unions of what is there already, of two or of many, looked at now and then.
void compare_random_unions(std::size_t n, std::size_t steps, unsigned seed) {
  std::mt19937 generator(seed);
  index_sets sets(n);
  std::vector<index_sets::set> made{index_sets::empty};
  std::vector<plain> expected{{}};
  for (std::uint32_t i = 0; i < n; ++i) {
    made.push_back(sets.singleton(i));
    expected.push_back({i});
  }
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<index_sets::set> parts;
    plain all;
    const std::size_t count = generator() % 3 == 0 ? generator() % 40 : 2;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t which = generator() % 2 == 0 ? generator() % made.size()
                                                     : made.size() - 1 - generator() % std::min<std::size_t>(5, made.size());
      parts.push_back(made[which]);
      all.insert(expected[which].begin(), expected[which].end());
    }
    made.push_back(count == 2 ? sets.unite(parts[0], parts[1]) : sets.unite(parts));
    expected.push_back(all);
    if (generator() % 4 == 0) CHECK(to_plain(sets, made.back()) == all);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    CHECK(to_plain(sets, made[i]) == expected[i]);
    for (const std::size_t other : {i / 2, i / 3})
      CHECK((sets.explicit_form(made[i]) == sets.explicit_form(made[other])) == (expected[i] == expected[other]));
  }
}

}  // namespace

TEST_CASE("unions of few and of many, small and large, have the elements of their parts; equal sets are one") {
  compare_random_unions(1, 20, 1);
  compare_random_unions(7, 300, 2);
  compare_random_unions(200, 500, 3);
  compare_random_unions(3000, 300, 4);  // larger than what is merged at once
}

TEST_CASE("a set that has grown full makes no more sets") {
  index_sets sets(3);
  const auto pair = sets.unite(sets.singleton(0), sets.singleton(1));
  CHECK(sets.unite(pair, sets.singleton(1)) == pair);
  CHECK(sets.unite(index_sets::empty, pair) == pair);
  CHECK(sets.unite(pair, index_sets::empty) == pair);
  CHECK(sets.unite(sets.singleton(1), sets.singleton(0)) == pair);
  std::vector<index_sets::set> none;
  CHECK(sets.unite(none) == index_sets::empty);
  CHECK(index_sets(0).unite(none) == index_sets::empty);
}

TEST_CASE("running unions of very many stay small until they are asked for") {
  constexpr std::size_t n = 200000;
  index_sets sets(n);
  auto all = index_sets::empty;
  for (std::uint32_t i = 0; i < n; ++i) all = sets.unite(all, sets.singleton(i));
  CHECK(sets.elements(all).size() == n);
}

TEST_CASE("interactions are all pairs of each pair of sets, both ways round") {
  std::mt19937 generator(5);
  for (int round = 0; round < 20; ++round) {
    const std::size_t n = 1 + generator() % 12;
    index_sets sets(n);
    interactions meet(sets);
    std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
    for (std::size_t k = generator() % 9; k > 0; --k) {
      std::vector<index_sets::set> parts[2];
      plain plains[2];
      for (int side = 0; side < 2; ++side)
        for (std::size_t size = generator() % 5; size > 0; --size) {
          const auto i = static_cast<std::uint32_t>(generator() % n);
          parts[side].push_back(sets.singleton(i));
          plains[side].insert(i);
        }
      meet.add(sets.unite(parts[0]), sets.unite(parts[1]));
      for (const auto i : plains[0])
        for (const auto j : plains[1]) {
          expected.insert({i, j});
          expected.insert({j, i});
        }
    }
    const agrad::csr_pattern p = meet.pattern();
    std::set<std::pair<std::uint32_t, std::uint32_t>> found;
    for (std::uint32_t i = 0; i < n; ++i)
      for (const auto j : p.row(i)) found.insert({i, j});
    CHECK(found == expected);
    CHECK(p == agrad::transposed_pattern(p));
  }
}

}  // namespace test_index_sets
