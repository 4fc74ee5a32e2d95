// Compiles the definitions of families/, for agrad::compiled.
#include <agrad/families/multivariate/conditions.ipp>
