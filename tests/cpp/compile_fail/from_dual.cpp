// A dual number is no variable.
// expect: conversion from '.*dual<double>' to non-scalar type '.*var' requested|no viable conversion
#include <agrad/dual/dual.hpp>
#include <agrad/tape/var.hpp>

void wrong(const agrad::dual<double>& x) { const agrad::var y = x; }
