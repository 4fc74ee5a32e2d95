// Colourings against their definitions by brute force, recovery against the matrix, counts that are known, degenerate patterns,
// and that large ones take no time.
#include <doctest/doctest.h>
#include <agrad/program/sparse/recovery.hpp>
#include <agrad/program/sparse/star_colouring.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "repetitions.hpp"

namespace test_colouring {

using agrad::all_orderings;
using agrad::colouring;
using agrad::csr_pattern;
using agrad::no_colour;
using agrad::ordering;

namespace {

using test = std::function<bool(std::size_t, std::size_t)>;

csr_pattern pattern_where(std::size_t rows, std::size_t cols, const test& has) {
  csr_pattern p;
  p.cols = cols;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<csr_pattern::index> row;
    for (std::size_t j = 0; j < cols; ++j)
      if (has(i, j)) row.push_back(static_cast<csr_pattern::index>(j));
    p.append_row(row);
  }
  return p;
}

csr_pattern banded(std::size_t n, std::size_t half) {
  std::vector<std::vector<csr_pattern::index>> rows(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i > half ? i - half : 0; j <= i + half && j < n; ++j)
      rows[i].push_back(static_cast<csr_pattern::index>(j));
  return agrad::pattern_of_rows(n, std::move(rows));
}

/// The diagonal, one full row and one full column, both with number `hub`.
csr_pattern arrowhead(std::size_t n, std::size_t hub, bool with_row = true, bool with_column = true) {
  std::vector<std::vector<csr_pattern::index>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    rows[i].push_back(static_cast<csr_pattern::index>(i));
    if (with_column) rows[i].push_back(static_cast<csr_pattern::index>(hub));
    if (with_row) rows[hub].push_back(static_cast<csr_pattern::index>(i));
  }
  return agrad::pattern_of_rows(n, std::move(rows));
}

/// The five-point stencil on a grid.
csr_pattern grid(std::size_t width, std::size_t height) {
  std::vector<std::vector<csr_pattern::index>> rows;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t v = y * width + x;
      std::vector<csr_pattern::index> row{static_cast<csr_pattern::index>(v)};
      if (x > 0) row.push_back(static_cast<csr_pattern::index>(v - 1));
      if (x + 1 < width) row.push_back(static_cast<csr_pattern::index>(v + 1));
      if (y > 0) row.push_back(static_cast<csr_pattern::index>(v - width));
      if (y + 1 < height) row.push_back(static_cast<csr_pattern::index>(v + width));
      rows.push_back(std::move(row));
    }
  return agrad::pattern_of_rows(width * height, std::move(rows));
}

std::mt19937& generator() {
  static std::mt19937 g(20050407);
  return g;
}

csr_pattern random_pattern(std::size_t rows, std::size_t cols, double density) {
  std::bernoulli_distribution coin(density);
  return pattern_where(rows, cols, [&](std::size_t, std::size_t) { return coin(generator()); });
}

csr_pattern random_symmetric(std::size_t n, double density, double diagonal) {
  std::bernoulli_distribution coin(density), on_diagonal(diagonal);
  std::vector<std::vector<bool>> has(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i) {
    has[i][i] = on_diagonal(generator());
    for (std::size_t j = 0; j < i; ++j) has[i][j] = has[j][i] = coin(generator());
  }
  return pattern_where(n, n, [&](std::size_t i, std::size_t j) { return has[i][j]; });
}

bool counts_colours(const colouring& c, const test& has_entry) {
  std::vector<bool> used(c.count, false);
  for (std::size_t v = 0; v < c.colour.size(); ++v) {
    if ((c.colour[v] == no_colour) != !has_entry(v, 0)) return false;
    if (c.colour[v] == no_colour) continue;
    if (c.colour[v] >= c.count) return false;
    used[c.colour[v]] = true;
  }
  for (const bool is_used : used)
    if (!is_used) return false;
  return true;
}

/// Columns that share a row differ; columns without entries, and they alone, have no colour; all colours are there.
bool parts_columns(const csr_pattern& p, const colouring& c) {
  for (std::size_t i = 0; i < p.rows(); ++i)
    for (const auto j : p.row(i))
      for (const auto k : p.row(i))
        if (j != k && c.colour[j] == c.colour[k]) return false;
  const csr_pattern t = agrad::transposed_pattern(p);
  return c.colour.size() == p.cols && counts_colours(c, [&](std::size_t j, std::size_t) { return t.row_size(j) > 0; });
}

/// Neighbours differ, and every path of four vertices has three colours.
bool is_star_colouring(const csr_pattern& p, const colouring& c) {
  for (std::uint32_t a = 0; a < p.cols; ++a)
    for (const auto b : p.row(a)) {
      if (a == b) continue;
      if (c.colour[a] == c.colour[b]) return false;
      for (const auto d : p.row(b))
        for (const auto e : p.row(d)) {
          const bool is_path = d != a && d != b && e != a && e != b && e != d;
          if (is_path && c.colour[a] == c.colour[d] && c.colour[b] == c.colour[e]) return false;
        }
    }
  return c.colour.size() == p.cols && counts_colours(c, [&](std::size_t v, std::size_t) { return p.row_size(v) > 0; });
}

/// An entry that no other is equal to, the same for (i, j) and (j, i) when symmetric.
double entry(std::size_t i, std::size_t j, bool symmetric) {
  if (symmetric && j > i) std::swap(i, j);
  return std::sin(static_cast<double>(1000 * i + j + 1));
}

/// Multiplies out the products of the colours' directions, whose sums have one entry or the recovery is wrong.
bool recovers(const csr_pattern& p, const colouring& c, const agrad::recovery& r, bool by_rows, bool symmetric) {
  std::vector<double> found(p.size(), 1e300);
  std::vector<int> times(p.size(), 0);
  for (std::uint32_t colour = 0; colour < c.count; ++colour) {
    std::vector<double> product(by_rows ? p.cols : p.rows(), 0.0);
    for (std::size_t i = 0; i < p.rows(); ++i)
      for (const auto j : p.row(i))
        if (c.colour[by_rows ? i : j] == colour) product[by_rows ? j : i] += entry(i, j, symmetric);
    r.recover(
        colour, [&](std::uint32_t place) { return product[place]; }, found.data());
    for (std::size_t k = r.begin[colour]; k < r.begin[colour + 1]; ++k) ++times[r.entry[k]];
  }
  for (std::size_t i = 0; i < p.rows(); ++i)
    for (std::size_t e = p.begin[i]; e < p.begin[i + 1]; ++e)
      if (found[e] != entry(i, p.col[e], symmetric) || times[e] != 1) return false;
  return true;
}

bool is_right_for_columns(const csr_pattern& p, const colouring& c) {
  return parts_columns(p, c) && recovers(p, c, agrad::recover_columns(p, c), false, false);
}
bool is_right_for_stars(const csr_pattern& p, const colouring& c) {
  return is_star_colouring(p, c) && recovers(p, c, agrad::recover_symmetric(p, c), false, true);
}

}  // namespace

TEST_CASE("patterns are sorted, each entry once, and refuse columns that are none") {
  const csr_pattern p = agrad::pattern_of_rows(4, {{3, 0, 3}, {}, {2}});
  CHECK(p.rows() == 3);
  CHECK(p.size() == 3);
  CHECK(p.contains(0, 3));
  CHECK_FALSE(p.contains(0, 2));
  CHECK(p.longest_row() == 2);
  const csr_pattern t = agrad::transposed_pattern(p);
  CHECK(t == agrad::pattern_of_rows(3, {{0}, {}, {2}, {0}}));
  CHECK(agrad::transposed_pattern(t) == p);
  CHECK_THROWS_WITH_AS(agrad::pattern_of_rows(4, {{4}}),
                       "csr_pattern: column is 4, but must be less than the number of columns, 4", agrad::ShapeError);
}

TEST_CASE("colourings of random patterns are valid, and every entry is recovered, in every order") {
  for (int round = 0; round < 60; ++round) {
    const std::size_t rows = 1 + generator()() % 40, cols = 1 + generator()() % 40;
    const double density = 0.3 * std::pow(0.9, round % 30);
    CAPTURE(round);
    const csr_pattern p = random_pattern(rows, cols, density), t = agrad::transposed_pattern(p);
    for (const ordering by : all_orderings) CHECK(is_right_for_columns(p, agrad::colour_columns(p, by)));
    CHECK(is_right_for_columns(p, agrad::colour_columns(p)));
    const colouring c = agrad::colour_rows(p);
    CHECK(parts_columns(t, c));
    CHECK(recovers(p, c, agrad::recover_rows(p, c), true, false));
  }
}

TEST_CASE("star colourings of random patterns are valid, and every entry is recovered, in every order") {
  for (int round = 0; round < 90; ++round) {
    const std::size_t n = 1 + generator()() % 40;
    CAPTURE(round);
    const csr_pattern p = random_symmetric(n, 0.5 * std::pow(0.9, round % 30), (round % 3) / 2.0);
    for (const ordering by : all_orderings) CHECK(is_right_for_stars(p, agrad::star_colouring(p, by)));
    CHECK(is_right_for_stars(p, agrad::star_colouring(p)));
  }
}

TEST_CASE("rows with very many entries are coloured as the others are") {
  const std::size_t n = 300;  // rows of more than 64 entries are kept as bits
  for (const double density : {0.2, 0.5, 0.95}) {
    csr_pattern p = random_pattern(30, n, density);
    for (const ordering by : all_orderings) CHECK(is_right_for_columns(p, agrad::colour_columns(p, by)));
  }
  std::vector<std::vector<csr_pattern::index>> rows(n);
  for (std::uint32_t i = 0; i < n; ++i) rows[i] = {i, (i + 1) % 300};
  for (std::uint32_t j = 0; j < 200; ++j) rows[0].push_back(j);
  const csr_pattern p = agrad::pattern_of_rows(n, std::move(rows));
  for (const ordering by : all_orderings) {
    const colouring c = agrad::colour_columns(p, by);
    CHECK(is_right_for_columns(p, c));
    CHECK(c.count <= 202);
  }
}

TEST_CASE("known counts: bands need their width") {
  for (const std::size_t half : {0U, 1U, 2U, 7U}) {
    const csr_pattern p = banded(50, half);
    CHECK(agrad::colour_columns(p).count == 2 * half + 1);
    CHECK(agrad::colour_rows(p).count == 2 * half + 1);
    const colouring stars = agrad::star_colouring(p);
    CHECK(stars.count <= 2 * half + 1);
    CHECK(stars.count >= half + 1);  // half + 1 vertices in a row are all neighbours
    CHECK(is_right_for_stars(p, stars));
  }
}

TEST_CASE("known counts: tridiagonal Hessians need three colours, short ones two") {
  CHECK(agrad::star_colouring(banded(1, 1)).count == 1);
  CHECK(agrad::star_colouring(banded(2, 1)).count == 2);
  CHECK(agrad::star_colouring(banded(3, 1)).count == 2);  // one star
  for (const std::size_t n : {4U, 5U, 100U, 1001U}) CHECK(agrad::star_colouring(banded(n, 1)).count == 3);
}

TEST_CASE("known counts: an arrowhead Hessian needs two colours, a Jacobian all, or two if the arrow has one side") {
  for (const std::size_t hub : {0U, 7U, 99U}) {
    CHECK(agrad::star_colouring(arrowhead(100, hub)).count == 2);
    CHECK(agrad::colour_columns(arrowhead(100, hub)).count == 100);
    const csr_pattern row = arrowhead(100, hub, true, false), column = arrowhead(100, hub, false, true);
    CHECK(agrad::colour_columns(row).count == 100);
    CHECK(agrad::colour_rows(row).count == 2);
    CHECK(agrad::colour_columns(column).count == 2);
    CHECK(agrad::colour_rows(column).count == 100);
  }
}

TEST_CASE("known counts: a five-point grid") {
  const csr_pattern p = grid(12, 9);
  const colouring columns = agrad::colour_columns(p), stars = agrad::star_colouring(p);
  CHECK(columns.count >= 5);  // a perfect code of the grid has five classes
  CHECK(columns.count <= 7);
  CHECK(is_right_for_columns(p, columns));
  CHECK(is_right_for_stars(p, stars));
  CHECK(stars.count >= 4);
  CHECK(stars.count <= 5);
}

TEST_CASE("known counts: two hubs of the same leaves, a full matrix, a forest of stars") {
  const std::size_t n = 60;
  const csr_pattern hubs = pattern_where(n, n, [](std::size_t i, std::size_t j) { return i == j || (i < 2) != (j < 2); });
  const colouring c = agrad::star_colouring(hubs);
  CHECK(is_right_for_stars(hubs, c));
  CHECK(c.count == 3);
  const csr_pattern full = pattern_where(20, 20, [](std::size_t, std::size_t) { return true; });
  CHECK(agrad::star_colouring(full).count == 20);
  CHECK(agrad::colour_columns(full).count == 20);
  const csr_pattern forest = pattern_where(n, n, [](std::size_t i, std::size_t j) { return i - i % 6 == j || j - j % 6 == i; });
  CHECK(is_right_for_stars(forest, agrad::star_colouring(forest)));
  CHECK(agrad::star_colouring(forest).count == 2);
}

TEST_CASE("degenerate patterns") {
  for (const std::size_t rows : {0U, 1U, 5U})
    for (const std::size_t cols : {0U, 1U, 5U}) {
      const csr_pattern p = random_pattern(rows, cols, 0.0);
      const colouring c = agrad::colour_columns(p);
      CHECK(c.count == 0);
      CHECK(c.colour == std::vector<std::uint32_t>(cols, no_colour));
      CHECK(agrad::recover_columns(p, c).entry.empty());
      CHECK(agrad::colour_rows(p).count == 0);
      CHECK(agrad::colour_jacobian(p).colours.count == 0);
      if (rows != cols) continue;
      CHECK(agrad::star_colouring(p).count == 0);
      CHECK(agrad::recover_symmetric(p, agrad::star_colouring(p)).entry.empty());
    }
  const csr_pattern diagonal = banded(9, 0);
  CHECK(agrad::colour_columns(diagonal).count == 1);
  CHECK(agrad::star_colouring(diagonal).count == 1);
  const csr_pattern off_diagonal = pattern_where(9, 9, [](std::size_t i, std::size_t j) { return i + 1 == j || j + 1 == i; });
  CHECK(is_right_for_stars(off_diagonal, agrad::star_colouring(off_diagonal)));
}

TEST_CASE("star colourings refuse what is not symmetric") {
  CHECK_THROWS_WITH_AS(agrad::star_colouring(random_pattern(2, 3, 1.0)), "star_colouring: pattern is 2 x 3, but must be square",
                       agrad::ShapeError);
  CHECK_THROWS_WITH_AS(agrad::star_colouring(agrad::pattern_of_rows(2, {{0}, {0, 1}})),
                       "star_colouring: pattern has the entry (1, 0) without its mirror image, but must be symmetric",
                       agrad::DomainError);
}

TEST_CASE("a Jacobian is compressed along its cheaper side") {
  const auto row = agrad::colour_jacobian(arrowhead(100, 3, true, false));
  CHECK(row.by_rows);
  CHECK(row.colours.count == 2);
  const auto column = agrad::colour_jacobian(arrowhead(100, 3, false, true));
  CHECK_FALSE(column.by_rows);
  CHECK(column.colours.count == 2);
  const auto by_four = [](double run) {  // four columns at a time, for the price of `run` rows
    return [run](bool by_rows, std::size_t n) { return by_rows ? 1.0 * n : run * ((n + 3) / 4); };
  };
  const csr_pattern wide = random_pattern(3, 8, 1.0);
  CHECK(agrad::colour_jacobian(wide).by_rows);                    // three rows against eight columns,
  CHECK_FALSE(agrad::colour_jacobian(wide, by_four(1)).by_rows);  // which are two runs of four,
  CHECK(agrad::colour_jacobian(wide, by_four(2)).by_rows);        // at twice the price
}

TEST_CASE("very many variables are coloured at once") {
  const std::size_t n = repetitions(100000);
  const std::vector<csr_pattern> patterns{banded(n, 2), arrowhead(n, 17), grid(n / 250, 250)};
  for (const csr_pattern& p : patterns) {
    CHECK(agrad::star_colouring(p).count <= 6);
    CHECK(agrad::colour_jacobian(p).colours.count > 0);
  }
}

}  // namespace test_colouring
