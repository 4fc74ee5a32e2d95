"""The table that run.py prints: ratios of gradient to plain evaluation, a column a library, the best one in bold.

    python benchmarks/cpp/table.py OUT/results.csv

makes it again from the raw figures.
"""

import csv
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HAND = "by hand"
LIBRARIES = ["agrad", "Stan Math", "CppAD", "ADOL-C", "Sacado"]
FORMS = ["loop", "eigen", "library"]

# What agrad is to reach, from the sizes given on; at n = 10 it is 0.7 of the best other library's time.
GOALS = {
    ("sum of neighbours' products", "loop"): (10, 1000),
    ("sum of neighbours' products", "library"): (1.6, 1000),
    ("product of all", "loop"): (11, 1000),
    ("product of all", "library"): (2.3, 1000),
    ("sum of exp(sin x) log1p(x^2)", "loop"): (1.6, 1000),
    ("sum of exp(sin x) log1p(x^2)", "library"): (1.15, 1000),
    ("log-sum-exp", "loop"): (1.6, 1000),
    ("log-sum-exp", "library"): (0.4, 1000),
    ("normal log density", "loop"): (12, 1000),
    ("normal log density", "library"): (1.2, 1000),
    ("logistic regression, n x 50", "loop"): (5.8, 1000),
    ("logistic regression, n x 50", "library"): (0.35, 1000),
    ("matrix product, n x n", "loop"): (11, 50),
    ("matrix product, n x n", "library"): (3.2, 50),
    ("log determinant, n x n", "loop"): (10, 50),
    ("log determinant, n x n", "library"): (3.2, 50),
    ("Lotka-Volterra, n steps of RK4", "loop"): (8, 1000),
    ("bytes an operation: sum of exp(sin x) log1p(x^2)", "loop"): (14, 100000),
    ("bytes an operation: sum of exp(sin x) log1p(x^2)", "library"): (14, 100000),
    ("bytes an operation: chain x = sin(x) + x c", "loop"): (16, 100000000),
}


@dataclass
class Result:
    """What was measured of one row with one library and variant. Figures are numbers, or "" where there are none."""

    title: str
    form: str
    n: int
    library: str
    variant: str
    status: str
    plain_ns: float | str = ""
    gradient_ns: float | str = ""
    ratio: float | str = ""
    lower_quartile: float | str = ""
    upper_quartile: float | str = ""

    def __post_init__(self) -> None:
        self.n = int(self.n)
        if self.status == "ok":
            self.ratio = float(self.ratio)

    def text(self) -> str:
        """Return the ratio to two or three digits, or why there is none."""
        if self.status != "ok":
            return self.status
        return f"{self.ratio:.3g}" if self.ratio < 1000 else f"{self.ratio:.0f}"


Row = tuple[str, str, int]


def best_variants(results: Iterable[Result]) -> dict[Row, dict[str, Result]]:
    """Return the quickest variant of each library in each row; one that is wrong hides the others."""
    rows: dict[Row, dict[str, Result]] = {}
    for result in results:
        libraries = rows.setdefault((result.title, result.form, result.n), {})
        other = libraries.get(result.library)
        if other is None or (other.status == "ok" and (result.status != "ok" or result.ratio < other.ratio)):
            libraries[result.library] = result
    titles = list(dict.fromkeys(title for title, _, _ in rows))
    return dict(sorted(rows.items(), key=lambda row: (titles.index(row[0][0]), FORMS.index(row[0][1]), row[0][2])))


def best(libraries: dict[str, Result], without: str = "") -> Result | None:
    """Return the quickest of the libraries; the gradient by hand is none."""
    right = [r for name, r in libraries.items() if r.status == "ok" and name not in (HAND, without)]
    return min(right, key=lambda result: result.ratio, default=None)


def goal(row: Row, libraries: dict[str, Result]) -> float | None:
    """Return the ratio that agrad is to reach in a row."""
    title, form, n = row
    if n == 10:
        other = best(libraries, without="agrad")
        return 0.7 * other.ratio if other else None
    ratio, smallest = GOALS.get((title, form), (None, 0))
    return ratio if n >= smallest else None


def by_hand(row: Row, rows: dict[Row, dict[str, Result]]) -> Result | None:
    """Return the gradient by hand whose plain evaluation is that of the row's: library forms have no other."""
    title, form, n = row
    forms = ("eigen", "loop") if form == "library" else (form,)
    return next((rows[title, other, n][HAND] for other in forms if HAND in rows.get((title, other, n), {})), None)


def size(n: int) -> str:
    """Return 1000 as 1e3."""
    return f"1e{len(str(n)) - 1}" if n >= 1000 and n == 10 ** (len(str(n)) - 1) else str(n)


def markdown(results: list[Result]) -> str:
    """Return the table, and a sentence about how it came out and how noisy the figures are."""
    rows = best_variants(results)
    present = [name for name in LIBRARIES if any(name in libraries for libraries in rows.values())]
    lines = ["| function | form | n | " + " | ".join(present) + f" | {HAND} | goal |", "|---" * (len(present) + 5) + "|"]
    for row, libraries in rows.items():
        if not any(name in libraries for name in present):
            continue
        winner = best(libraries) if len(present) > 1 else None
        hand, wanted = by_hand(row, rows), goal(row, libraries)
        cells = [row[0], row[1], size(row[2])]
        for name in present:
            result = libraries.get(name)
            cells.append("" if result is None else f"**{result.text()}**" if result is winner else result.text())
        cells += [hand.text() if hand else "", f"{wanted:.3g}" if wanted is not None else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *filter(None, [summary(rows), growth(rows), noise(results)])])


def summary(rows: dict[Row, dict[str, Result]]) -> str:
    """Count the rows that agrad leads, and its goals."""
    ahead = peers = met = goals = 0
    for row, libraries in rows.items():
        mine = libraries.get("agrad")
        if mine is None or mine.status != "ok":
            continue
        other, wanted = best(libraries, without="agrad"), goal(row, libraries)
        peers += other is not None
        ahead += other is not None and mine.ratio <= other.ratio
        goals += wanted is not None
        met += wanted is not None and mine.ratio <= wanted
    leads = f"agrad is ahead of every other library in {ahead} of {peers} rows, and " if peers else "agrad "
    return leads + f"meets {met} of {goals} goals."


def growth(rows: dict[Row, dict[str, Result]]) -> str:
    """Say which of agrad's ratios grows most from n = 1e3 to 1e5: it should not, up to what the caches do."""
    grown = {}
    for (title, form, n), libraries in rows.items():
        small, large = rows.get((title, form, 1000), {}).get("agrad"), libraries.get("agrad")
        if n == 100000 and small and large and small.status == large.status == "ok":
            grown[f"{title}, {form}"] = large.ratio / small.ratio
    if not grown:
        return ""
    most = max(grown, key=lambda name: grown[name])
    return f"From n = 1e3 to 1e5 its ratios grow by a factor of {grown[most]:.2g} at most ({most})."


def noise(results: list[Result]) -> str:
    """Describe how far the middle half of the repetitions spreads, as a share of the median."""
    spreads = {
        f"{r.library}, {r.title}, {r.form}, n = {r.n}": (float(r.upper_quartile) - float(r.lower_quartile)) / r.ratio
        for r in results
        if r.status == "ok" and r.upper_quartile != ""
    }
    if not spreads:
        return ""
    usual, (widest, worst) = statistics.median(spreads.values()), max(spreads.items(), key=lambda item: item[1])
    return (
        f"The middle half of the repetitions spreads over {100 * usual:.1f} % of the median in half of the rows, "
        f"over {100 * worst:.0f} % at worst ({widest})."
    )


if __name__ == "__main__":
    with Path(sys.argv[1]).open(newline="") as file:
        print(markdown([Result(**row) for row in csv.DictReader(file)]))
