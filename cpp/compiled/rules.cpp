// Compiles the definitions of rules/ once, for agrad::compiled.
#include <agrad/rules/fourier/transform.ipp>
