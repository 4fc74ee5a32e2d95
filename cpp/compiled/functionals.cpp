// Compiles the definitions of functionals once, for agrad::compiled.
#include <agrad/functionals/hidden_markov.ipp>
#include <agrad/functionals/search/body_operation.ipp>
#include <agrad/functionals/search/equation_search.ipp>
#include <agrad/functionals/search/minimum_search.ipp>
#include <agrad/functionals/search/partition.ipp>
#include <agrad/functionals/search/quadrature_operation.ipp>
#include <agrad/functionals/search/search_operation.ipp>
