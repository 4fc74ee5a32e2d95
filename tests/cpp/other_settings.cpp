// Must not link with the compiled library, whose settings are not those of this file.
#include <agrad/program/program.hpp>

int main() {}
