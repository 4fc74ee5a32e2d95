// A shared library's function of variables.
#pragma once

#include <agrad/tape/var.hpp>

extern "C" {
/// to = x^3
[[gnu::visibility("default")]] void cube(const agrad::var& x, agrad::var& to);
}
