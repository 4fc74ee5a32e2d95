// Compiles the definitions of solve/system once, for agrad::compiled.
#include <agrad/solve/system/event.ipp>
#include <agrad/solve/system/mass_matrix.ipp>
#include <agrad/solve/system/program/dae.ipp>
#include <agrad/solve/system/program/data_features.ipp>
#include <agrad/solve/system/program/diagonals.ipp>
#include <agrad/solve/system/program/function.ipp>
#include <agrad/solve/system/program/held_code.ipp>
#include <agrad/solve/system/program/jump_site.ipp>
#include <agrad/solve/system/program/kinks.ipp>
#include <agrad/solve/system/program/linearization.ipp>
#include <agrad/solve/system/program/ode.ipp>
#include <agrad/solve/system/program/program_switches.ipp>
#include <agrad/solve/system/program/structure.ipp>
#include <agrad/solve/system/program/time_course.ipp>
#include <agrad/solve/system/program/time_switches.ipp>
