// Multivariate distributions: all families of multivariate rules, and the only list of these families.
#pragma once

#include <agrad/base/typelist.hpp>
#include <agrad/families/multivariate/categorical.hpp>
#include <agrad/families/multivariate/dirichlet.hpp>
#include <agrad/families/multivariate/gaussian_dlm.hpp>
#include <agrad/families/multivariate/glm.hpp>
#include <agrad/families/multivariate/lkj.hpp>
#include <agrad/families/multivariate/multi_normal.hpp>
#include <agrad/families/multivariate/multi_student_t.hpp>
#include <agrad/families/multivariate/ordered.hpp>
#include <agrad/families/multivariate/wiener.hpp>
#include <agrad/families/multivariate/wiener_cdf.hpp>
#include <agrad/families/multivariate/wishart.hpp>

namespace agrad::rules {

using multivariate = concat_t<multi_normal_distribution, multi_student_t_distribution, dirichlet_distribution,
                              categorical_distribution, ordered_distribution, lkj_distribution, wishart_distribution,
                              glm_distribution, wiener_distribution, wiener_tails, gaussian_dlm_distribution>;

}  // namespace agrad::rules
