// Umbrella of libraries of rules, which `agrad.load_rules` adds to Python; the page "Your own functions" of the documentation.
#pragma once

#include <agrad/program/machine/library_of.hpp>
