// Compiles the definitions of program/ but for program/derive once, for agrad::compiled.
#include <agrad/base/page_memory.ipp>
#include <agrad/base/settings.hpp>
#include <agrad/program/compose/recognise.ipp>
#include <agrad/program/compose/weights.ipp>
#include <agrad/program/inspect/describe.ipp>
#include <agrad/program/inspect/dot.ipp>
#include <agrad/program/inspect/profile.ipp>
#include <agrad/program/inspect/summary.ipp>
#include <agrad/program/jacobian.ipp>
#include <agrad/program/kernels/batched_product.ipp>
#include <agrad/program/kernels/checked.ipp>
#include <agrad/program/kernels/cumulative.ipp>
#include <agrad/program/kernels/extremum.ipp>
#include <agrad/program/kernels/log_shares.ipp>
#include <agrad/program/kernels/log_sum_exp.ipp>
#include <agrad/program/kernels/lookup.ipp>
#include <agrad/program/kernels/product.ipp>
#include <agrad/program/kernels/reduction.ipp>
#include <agrad/program/kernels/shares.ipp>
#include <agrad/program/loops/body.ipp>
#include <agrad/program/loops/body_function.ipp>
#include <agrad/program/loops/scan.ipp>
#include <agrad/program/loops/scan_loop.ipp>
#include <agrad/program/loops/scan_run.ipp>
#include <agrad/program/loops/scan_steps.ipp>
#include <agrad/program/machine/careful.ipp>
#include <agrad/program/machine/custom.ipp>
#include <agrad/program/machine/singular.ipp>
#include <agrad/program/products.ipp>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/recording/record.ipp>
#include <agrad/program/schedule/inlined.ipp>
#include <agrad/program/schedule/levels.ipp>
#include <agrad/program/schedule/prune.ipp>
#include <agrad/program/sparse/colouring.ipp>
#include <agrad/program/sparse/index_sets.ipp>
#include <agrad/program/sparse/interactions.ipp>
#include <agrad/program/sparse/ordering.ipp>
#include <agrad/program/sparse/pattern.ipp>
#include <agrad/program/sparse/reach.ipp>
#include <agrad/program/sparse/recovery.ipp>
#include <agrad/program/sparse/sparse.ipp>
#include <agrad/program/sparse/sparsity.ipp>
#include <agrad/program/sparse/star_colouring.ipp>
#include <agrad/program/store/archive.ipp>
#include <agrad/program/store/portable.ipp>
#include <agrad/program/store/validate.ipp>
#include <agrad/program/tiles/check.ipp>
#include <agrad/program/tiles/order.ipp>
#include <agrad/program/tiles/plan.ipp>
#include <agrad/program/tiles/roles.ipp>
#include <agrad/program/tiles/run.ipp>
#include <agrad/program/tiles/term_sums.ipp>

namespace agrad::detail {

template <int EigenAlignment, bool IsChecked>
void compiled_library<EigenAlignment, IsChecked>::must_have_the_same_settings() {}

template struct compiled_library<EIGEN_MAX_ALIGN_BYTES, is_checked_build>;

}  // namespace agrad::detail
