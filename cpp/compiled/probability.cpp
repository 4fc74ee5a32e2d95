// Compiles the definitions of probability/, for agrad::compiled.
#include <agrad/probability/multivariate/conditions.ipp>
