// Multivariate distributions: all families of multivariate rules, and the only list of these families.
#pragma once

#include <agrad/base/typelist.hpp>
#include <agrad/probability/multivariate/categorical.hpp>
#include <agrad/probability/multivariate/dirichlet.hpp>
#include <agrad/probability/multivariate/gaussian_dlm.hpp>
#include <agrad/probability/multivariate/glm.hpp>
#include <agrad/probability/multivariate/lkj.hpp>
#include <agrad/probability/multivariate/multi_normal.hpp>
#include <agrad/probability/multivariate/multi_student_t.hpp>
#include <agrad/probability/multivariate/ordered.hpp>
#include <agrad/probability/multivariate/wiener.hpp>
#include <agrad/probability/multivariate/wiener_cdf.hpp>
#include <agrad/probability/multivariate/wishart.hpp>

namespace agrad::rules {

using multivariate = concat_t<multi_normal_distribution, multi_student_t_distribution, dirichlet_distribution,
                              categorical_distribution, ordered_distribution, lkj_distribution, wishart_distribution,
                              glm_distribution, wiener_distribution, wiener_tails, gaussian_dlm_distribution>;

}  // namespace agrad::rules
