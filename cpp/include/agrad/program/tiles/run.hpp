// Run: the passes of a program whose groups run in tiles.
#pragma once

#include <cstdint>

#include <agrad/program/machine/code.hpp>
#include <agrad/program/tiles/plan.hpp>

namespace agrad::detail {

/// Does the same as run_forward, but results in registers do not reach w.values. with_derivatives: whether `run_reverse_tiled`
/// follows.
void run_forward_tiled(const program_code& code, const tile_plan& plan, workspace& w, bool with_derivatives);

/// Does the same as run_reverse after run_forward_tiled or run_forward. Returns whether an operation of a group met a zero
/// adjoint at a slope that is not finite, so that a careful pass must follow (program/machine/singular.hpp).
bool run_reverse_tiled(const program_code& code, const tile_plan& plan, workspace& w);

/// Computes the values and propagates the adjoints of the results, which w.adjoints hold. Joint groups run both ways at once.
/// Returns the same as run_reverse_tiled.
bool run_both_tiled(const program_code& code, const tile_plan& plan, workspace& w);

/// Computes the values that run_forward_tiled left out.
void complete_values(const program_code& code, const tile_plan& plan, workspace& w);

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/tiles/run.ipp>
#endif
