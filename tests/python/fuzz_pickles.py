"""Damages pickles of compiled functions and programs, and runs what still loads: errors or the same results, never a crash.

    python tests/python/fuzz_pickles.py 20000 [first seed]

Of programs the checksum is mended after the damage, so that validation alone stands between them and the loops; what they
compute may then be something else, as a constant cannot be told from another one. Of whole pickles nothing is mended: there
the results must be the same wherever there is no error. Prints how many there were of each, and fails by an assertion.
"""

import functools
import pickle
import random
import resource
import signal
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import agrad as ag
import kept_functions as functions
from agrad import _core

MASK = (1 << 64) - 1
SEAL = 20  # bytes of mark, format and checksum
WORDS = [0, 1, 2, 3, 7, 255, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def checksum(inside):
    """As cpp/include/agrad/program/store/archive.hpp has it."""
    total = 0xCBF29CE484222325 ^ len(inside)
    for (word,) in np.frombuffer(inside + bytes(-len(inside) % 8), "<u8").reshape(-1, 1).tolist():
        total = ((total ^ word) * 0x100000001B3) & MASK
        total ^= total >> 29
    return total


def mended(seal, inside):
    return seal[:12] + checksum(inside).to_bytes(8, "little") + inside


def damaged(data, other, rng):
    """One or two of: a bit, a byte, a length, a number, a part of another one."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2])):
        at, what = rng.randrange(len(data)), rng.randrange(6)
        word = slice(at // 4 * 4, at // 4 * 4 + 4)
        old = int.from_bytes(data[word], "little")
        if what == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at] = rng.randrange(256)
        elif what == 2:
            del data[max(at, 1) :]
        elif what == 3:
            data[word] = ((old + rng.choice([-1, 1])) & 0xFFFFFFFF).to_bytes(4, "little")
        elif what == 4:
            data[word] = rng.choice([*WORDS, rng.randrange(64)]).to_bytes(4, "little")
        else:
            begin, n = rng.randrange(len(other)), rng.randrange(1, 65)
            data[at : at + rng.choice([0, n])] = other[begin : begin + n]
    return bytes(data)


def everything(program, x):
    """All that can be done with a program."""
    n = program.input_size
    x = np.resize(x, n)
    str(program), program.summary, program.to_dot([("x", n)], [("y", program.output_size)])
    seeds = np.cos(np.arange(program.output_size))
    results = [program.forward([x]), program.value_and_vjp([x], seeds), program.jacobian([x])]
    for analysis in (_core.SparseJacobian, _core.SparseHessian):
        if not program.first_without_tangents(2):
            results.append(analysis(program, np.arange(n)).entries(program, [x]))
    if not program.first_without_tangents(2):
        results.append(program.hessian_products([x], seeds, np.eye(n)[:9]))
    return results


def too_long(*_):
    raise TimeoutError("takes too long")


def within_seconds(run, *args):
    """The result, or the exception's class."""
    try:
        signal.setitimer(signal.ITIMER_REAL, 2.0)
        try:
            return run(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Exception as error:
        return type(error)


def same(a, b):
    return pickle.dumps(a) == pickle.dumps(b)


def fuzz_programs(programs, times, seed):
    counts = {"refused": 0, "same": 0, "other": 0, "raised": 0}
    expected = [everything(_core.program_of(kept), functions.X) for kept in programs]
    for n in range(times):
        rng, which = random.Random(seed + n), n % len(programs)
        kept = programs[which]
        other = programs[rng.randrange(len(programs))][SEAL:]
        program = within_seconds(_core.program_of, mended(kept, damaged(kept[SEAL:], other, rng)))
        if isinstance(program, type):
            counts["refused"] += 1
            continue
        found = within_seconds(everything, program, functions.X)
        counts["raised" if isinstance(found, type) else "same" if same(found, expected[which]) else "other"] += 1
    return counts


def fuzz_pickles(compiled, times, seed):
    counts = {"refused": 0, "same": 0}
    pickles = [pickle.dumps(each) for each in compiled]
    expected = [each(functions.X) for each in compiled]
    for n in range(times):
        rng, which = random.Random(seed + n), n % len(pickles)
        bad = damaged(pickles[which], pickles[rng.randrange(len(pickles))], rng)
        found = within_seconds(lambda bad: pickle.loads(bad)(functions.X), bad)
        if isinstance(found, type):
            counts["refused"] += 1
            continue
        assert same(found, expected[which]), (n, seed, functions.__name__, compiled[which])
        counts["same"] += 1
    return counts


@functools.cache
def compiled_functions():
    made = [ag.compile(f) for f in (*functions.PLAIN, *functions.LOOPS, *functions.SOLVES)]
    made += [ag.compile(ag.grad(functions.nested)), ag.compile(ag.hessian(functions.chains))]
    for each in made:
        each(functions.X)
    return made


def main(times, seed=0):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (4 << 30)  # so that what asks for more gets an error
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGALRM, too_long)
    compiled = compiled_functions()
    programs = [path.program.to_bytes() for each in compiled for _, paths in each.recorded() for path in paths]
    print("programs:", fuzz_programs(programs, times, seed))
    print("pickles:", fuzz_pickles(compiled, times, seed))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
