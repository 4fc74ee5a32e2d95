// Compiles the definitions of program/derive once, for agrad::compiled.
#include <agrad/program/derive/adjoints.ipp>
#include <agrad/program/derive/batch.ipp>
#include <agrad/program/derive/contributions.ipp>
#include <agrad/program/derive/derivative_operations.ipp>
#include <agrad/program/derive/entries_program.ipp>
#include <agrad/program/derive/linearity.ipp>
#include <agrad/program/derive/part.ipp>
#include <agrad/program/derive/reached.ipp>
#include <agrad/program/derive/released.ipp>
#include <agrad/program/derive/tangents.ipp>
#include <agrad/program/recording/elementwise.hpp>  // kernels of the rules that derivatives consist of
