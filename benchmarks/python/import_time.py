"""The time and memory of imports, in fresh processes.

    PYTHONPATH=SITE python benchmarks/python/import_time.py

prints the table of docs/performance_python.md: processor time of the import statement in seconds, least of seven processes that
take turns, its ratio to NumPy's, and the most memory of the process in MB.
"""

import subprocess
import sys

STATEMENTS = ["import numpy", "import agrad", "import agrad, agrad.stats", "import scipy.special", "import scipy.stats"]
PROCESSES = 7
PROGRAM = """
import resource, time
begin = time.process_time()
{}
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measured(statement: str) -> tuple[float, float]:
    out = subprocess.run([sys.executable, "-c", PROGRAM.format(statement)], check=True, capture_output=True, text=True).stdout
    seconds, megabytes = map(float, out.split())
    return seconds, megabytes


def main() -> None:
    found = {statement: measured(statement) for statement in STATEMENTS}
    for _ in range(PROCESSES):
        found = {statement: min(found[statement], measured(statement)) for statement in STATEMENTS}
    print("| statement | s | ratio | MB |\n|---|---|---|---|")
    least = found[STATEMENTS[0]][0]
    for statement, (seconds, megabytes) in found.items():
        print(f"| `{statement}` | {seconds:.2f} | {seconds / least:.1f} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
