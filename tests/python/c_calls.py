"""Calls C functions of agrad as C code does, by ctypes, and a C library that calls them in threads of its own.

Other processes import the functions from here.
"""

import ctypes
import os
import pickle
import shutil
import subprocess

import numpy as np
import pytest

import agrad as ag

NUMBERS = ctypes.POINTER(ctypes.c_double)

THREADS = r"""
#include <pthread.h>
#include <stdint.h>
typedef int64_t (*function)(uint64_t, const double*, double*, double*, void*);
struct job { function f; uint64_t n; const double* x; double *gradient, *value; void* context; int64_t code; };
static void* run(void* p) {
  struct job* j = p;
  j->code = j->f(j->n, j->x, j->gradient, j->value, j->context);
  return 0;
}
int64_t call_in_thread(function f, uint64_t n, const double* x, double* gradient, double* value, void* context) {
  struct job j = {f, n, x, gradient, value, context, -99};
  pthread_t thread;
  if (pthread_create(&thread, 0, run, &j) != 0) return -98;
  pthread_join(thread, 0);
  return j.code;
}
"""

Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools(x):
    mu, tau, z = x[0], np.exp(x[1]), x[2:]
    density = ag.normal_lpdf(Y, mu + tau * z, SIGMA) + ag.normal_lpdf(z, 0.0, 1.0)
    return density + ag.normal_lpdf(mu, 0.0, 5.0) + ag.cauchy_lpdf(tau, 0.0, 5.0) + x[1]


def schools(p, data):
    theta = p["mu"] + p["tau"] * p["z"]
    density = ag.stan.normal_lpdf(data["y"], theta, data["sigma"]) + ag.stan.normal_lpdf(p["z"], 0.0, 1.0)
    return density + ag.stan.normal_lpdf(p["mu"], 0.0, 5.0) + ag.stan.cauchy_lpdf(p["tau"], 0.0, 5.0)


def theta(p, data):
    return {"theta": p["mu"] + p["tau"] * p["z"]}


def pointwise(p, data):
    return -0.5 * ((data["y"] - (p["mu"] + p["tau"] * p["z"])) / data["sigma"]) ** 2


def pointer(x):
    return None if x is None else ctypes.cast(x.ctypes.data, NUMBERS)


def called(f, x, with_gradient=True, tool="nutpie"):
    """Return the code, the value and the gradient of a call from C."""
    x = np.asarray(x, dtype=float)
    gradient, value = np.full(x.size, np.nan), np.full(1, np.nan)
    to = pointer(gradient) if with_gradient else None
    code = f.signature(tool)(x.size, pointer(x), to, pointer(value), f.context)
    return code, value[0], gradient


def numbers_of_pickle(kept, x):
    f = pickle.loads(kept)
    return called(f, x), f.counts["calls"]


def threads_library(folder, holds_lock):
    """Return `call_in_thread` of the library above; with `holds_lock` its caller keeps the interpreter lock meanwhile."""
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        pytest.skip(f"the C library of the test is not built: there is no {compiler}")
    source, library = folder / "threads.c", folder / "threads.so"
    source.write_text(THREADS)
    subprocess.run([compiler, "-shared", "-fPIC", "-pthread", "-o", library, source], check=True)
    loaded = (ctypes.PyDLL if holds_lock else ctypes.CDLL)(str(library))
    loaded.call_in_thread.restype = ctypes.c_int64
    loaded.call_in_thread.argtypes = [ctypes.c_void_p, ctypes.c_uint64, NUMBERS, NUMBERS, NUMBERS, ctypes.c_void_p]

    def call(f, x):
        gradient, value = np.full(x.size, np.nan), np.full(1, np.nan)
        code = loaded.call_in_thread(f.address, x.size, pointer(x), pointer(gradient), pointer(value), f.context)
        return code, value[0], gradient

    return call
