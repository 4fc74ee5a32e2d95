// Compiles the definitions of functionals once, for agrad::compiled.
#include <agrad/functionals/equation_search.ipp>
#include <agrad/functionals/hidden_markov.ipp>
#include <agrad/functionals/latent_mode.ipp>
#include <agrad/functionals/partition.ipp>
