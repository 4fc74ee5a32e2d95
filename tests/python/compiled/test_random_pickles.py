"""Random programs of a script, compiled there, in processes of every start method: the same bits, and nothing is recorded."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import agrad as ag

SCRIPT = """
    import multiprocessing
    import sys
    import numpy as np
    import agrad as ag
    from random_programs import RandomProgram
    from random_programs.whole import WholeProgram

    RECORDED = 0

    def of_numbers(x, seed):
        global RECORDED
        RECORDED += isinstance(x, ag.Array)
        return RandomProgram(seed)(x)

    def of_integers(x, labels, counts, mask, seed):
        global RECORDED
        RECORDED += isinstance(x, ag.Array)
        return WholeProgram(seed)(x, labels, counts, mask)

    fast, whole = ag.compile(ag.value_and_grad(of_numbers)), ag.compile(ag.grad(of_integers))

    @ag.compile
    def decorated(x, seed):
        return of_numbers(x, seed)

    def bits(result):
        return [np.asarray(part).tobytes() for part in (result if isinstance(result, tuple) else (result,))]

    def recorded(_):
        return RECORDED

    if __name__ == "__main__":
        def drawn(kind):  # programs with Python functions inside are not stored
            return [program for program in map(kind, range(7)) if program.has_forward_mode]

        calls = [(program.at, program.seed) for program in drawn(RandomProgram)]
        with_integers = [(program.at, *program.whole, program.seed) for program in drawn(WholeProgram)]
        pairs = [(fast, calls), (decorated, calls), (whole, with_integers)]
        wanted = [[bits(f(*each)) for each in of] for f, of in pairs]
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            before = pool.map_async(recorded, [0]).get(150)
            for (f, of), here in zip(pairs, wanted):
                assert list(map(bits, pool.starmap_async(f, of, chunksize=4).get(150))) == here
            assert pool.map_async(recorded, [0]).get(150) == before
        print("done")
"""


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_programs_of_a_script_have_the_same_bits_in_a_pool(tmp_path, start):
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    paths = [str(Path(ag.__file__).parents[1]), str(Path(__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "script.py", start]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment, timeout=200)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"
