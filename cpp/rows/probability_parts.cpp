// The kernels of rules that only the terms of probability rules, or quantiles, use, and that have no entry in the table of
// functions. (A kernel that is missing here is an undefined symbol at import.)
#include <agrad/probability/distributions.hpp>
#include <agrad/probability/multivariate/distributions.hpp>
#include <agrad/probability/quantiles.hpp>
#include <agrad/program/machine/elementwise.hpp>
#include <agrad/rules/factorial.hpp>

namespace agrad {

template const kernel& kernel_of_rule<detail::arc_excess_rule<false>>();
template const kernel& kernel_of_rule<detail::arc_excess_rule<true>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<0>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<1>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<2>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<3>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<4>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<5>>();
template const kernel& kernel_of_rule<detail::arc_integral_rule<6>>();
template const kernel& kernel_of_rule<detail::arc_moment_rule<1>>();
template const kernel& kernel_of_rule<detail::arc_moment_rule<2>>();
template const kernel& kernel_of_rule<detail::arc_moment_rule<3>>();
template const kernel& kernel_of_rule<detail::arc_moment_rule<4>>();
template const kernel& kernel_of_rule<detail::arc_moment_rule<5>>();
template const kernel& kernel_of_rule<detail::arc_moment_rule<6>>();
template const kernel& kernel_of_rule<detail::arc_share_rule<false>>();
template const kernel& kernel_of_rule<detail::arc_share_rule<true>>();
template const kernel& kernel_of_rule<detail::arc_side_rule>();
template const kernel& kernel_of_rule<detail::arc_sine_rule<false>>();
template const kernel& kernel_of_rule<detail::arc_sine_rule<true>>();
template const kernel& kernel_of_rule<detail::arc_turn_rule>();
template const kernel& kernel_of_rule<detail::atan_moment_rule>();
template const kernel& kernel_of_rule<detail::bessel_i_moment_rule>();
template const kernel& kernel_of_rule<detail::beta_binomial_tail_rule<false, false>>();
template const kernel& kernel_of_rule<detail::beta_binomial_tail_rule<false, true>>();
template const kernel& kernel_of_rule<detail::beta_binomial_tail_rule<true, true>>();
template const kernel& kernel_of_rule<detail::beta_log_density_rule>();
template const kernel& kernel_of_rule<detail::beta_neg_binomial_tail_rule<false, false>>();
template const kernel& kernel_of_rule<detail::beta_neg_binomial_tail_rule<false, true>>();
template const kernel& kernel_of_rule<detail::beta_neg_binomial_tail_rule<true, true>>();
template const kernel& kernel_of_rule<detail::beta_quantile_rule<false>>();
template const kernel& kernel_of_rule<detail::beta_quantile_rule<true>>();
template const kernel& kernel_of_rule<detail::count_of_share_rule>();
template const kernel& kernel_of_rule<detail::count_of_total_rule>();
template const kernel& kernel_of_rule<detail::drawn_count_rule>();
template const kernel& kernel_of_rule<detail::drawn_total_rule>();
template const kernel& kernel_of_rule<detail::exp_mod_normal_probability_rule>();
template const kernel& kernel_of_rule<detail::exp_mod_normal_quantile_rule<false>>();
template const kernel& kernel_of_rule<detail::exp_mod_normal_quantile_rule<true>>();
template const kernel& kernel_of_rule<detail::skew_normal_quantile_rule<false>>();
template const kernel& kernel_of_rule<detail::skew_normal_quantile_rule<true>>();
template const kernel& kernel_of_rule<detail::von_mises_quantile_rule<false>>();
template const kernel& kernel_of_rule<detail::von_mises_quantile_rule<true>>();
template const kernel& kernel_of_rule<detail::exp_rest_rule>();
template const kernel& kernel_of_rule<detail::expm1_rest_rule>();
template const kernel& kernel_of_rule<detail::factorial_rest_rule>();
template const kernel& kernel_of_rule<detail::gamma_quantile_rule<false>>();
template const kernel& kernel_of_rule<detail::gamma_quantile_rule<true>>();
template const kernel& kernel_of_rule<detail::gamma_tail_of_rule<false, detail::product_argument>>();
template const kernel& kernel_of_rule<detail::gamma_tail_of_rule<false, detail::quotient_argument>>();
template const kernel& kernel_of_rule<detail::gamma_tail_of_rule<true, detail::product_argument>>();
template const kernel& kernel_of_rule<detail::gamma_tail_of_rule<true, detail::quotient_argument>>();
template const kernel& kernel_of_rule<detail::gumbel_probability_rule>();
template const kernel& kernel_of_rule<detail::gumbel_tail_rule<false>>();
template const kernel& kernel_of_rule<detail::gumbel_tail_rule<true>>();
template const kernel& kernel_of_rule<detail::half_angle_sine_rule>();
template const kernel& kernel_of_rule<detail::half_gamma_ratio_rule>();
template const kernel& kernel_of_rule<detail::half_gamma_rise_rule>();
template const kernel& kernel_of_rule<detail::half_gamma_steps_rule>();
template const kernel& kernel_of_rule<detail::kl_div_of_rule<detail::product_argument>>();
template const kernel& kernel_of_rule<detail::kl_div_of_rule<detail::quotient_argument>>();
template const kernel& kernel_of_rule<detail::lgamma1p_rule>();
template const kernel& kernel_of_rule<detail::lgamma_rest_rule>();
template const kernel& kernel_of_rule<detail::log_cosh_rule>();
template const kernel& kernel_of_rule<detail::log_arc_rule>();
template const kernel& kernel_of_rule<detail::log_gamma_tail_of_rule<false, detail::product_argument>>();
template const kernel& kernel_of_rule<detail::log_gamma_tail_of_rule<false, detail::quotient_argument>>();
template const kernel& kernel_of_rule<detail::log_gamma_tail_of_rule<true, detail::product_argument>>();
template const kernel& kernel_of_rule<detail::log_gamma_tail_of_rule<true, detail::quotient_argument>>();
template const kernel& kernel_of_rule<detail::log_mean_deviance_rule>();
template const kernel& kernel_of_rule<detail::log_ratio_of_rule<detail::product_argument>>();
template const kernel& kernel_of_rule<detail::log_ratio_of_rule<detail::quotient_argument>>();
template const kernel& kernel_of_rule<detail::log_ratio_rule>();
template const kernel& kernel_of_rule<detail::log_rising_ratio_rule>();
template const kernel& kernel_of_rule<detail::log_share_of_interval_rule>();
template const kernel& kernel_of_rule<detail::log_times_erfcx_rule>();
template const kernel& kernel_of_rule<detail::log_skew_tail_rule>();
template const kernel& kernel_of_rule<detail::logistic_probability_rule>();
template const kernel& kernel_of_rule<detail::marked_square_rule>();
template const kernel& kernel_of_rule<detail::mean_normal_moment_rule>();
template const kernel& kernel_of_rule<detail::multi_gamma_rest_rule>();
template const kernel& kernel_of_rule<detail::neg_binomial_tail_rule<false, false, 0, 0>>();
template const kernel& kernel_of_rule<detail::neg_binomial_tail_rule<false, true, 0, 0>>();
template const kernel& kernel_of_rule<detail::neg_binomial_tail_rule<true, true, 0, 0>>();
template const kernel& kernel_of_rule<detail::normal_slab_rule<0, 0>>();
template const kernel& kernel_of_rule<detail::normal_tail_moment_loss_rule>();
template const kernel& kernel_of_rule<detail::normal_tail_moment_rule>();
template const kernel& kernel_of_rule<detail::odds_deviance_rule>();
template const kernel& kernel_of_rule<detail::over_gamma_quantile_rule<false>>();
template const kernel& kernel_of_rule<detail::over_gamma_quantile_rule<true>>();
template const kernel& kernel_of_rule<detail::proportion_tail_rule<false, 0, 0, 0>>();
template const kernel& kernel_of_rule<detail::proportion_tail_rule<true, 0, 0, 0>>();
template const kernel& kernel_of_rule<detail::reduced_angle_rule>();
template const kernel& kernel_of_rule<detail::rising_rest_rule>();
template const kernel& kernel_of_rule<detail::shaped_deviance_rule>();
template const kernel& kernel_of_rule<detail::shaped_log_deviance_rule>();
template const kernel& kernel_of_rule<detail::share_of_interval_rule>();
template const kernel& kernel_of_rule<detail::shifted_normal_integral_rule>();
template const kernel& kernel_of_rule<detail::skew_tail_factor_rule>();
template const kernel& kernel_of_rule<detail::skew_tail_rule>();
template const kernel& kernel_of_rule<detail::student_quantile_rule>();
template const kernel& kernel_of_rule<detail::student_tail_rule<false, 0, 0, 0>>();
template const kernel& kernel_of_rule<detail::student_tail_rule<true, 0, 0, 0>>();
template const kernel& kernel_of_rule<detail::table_deviance_rule>();
template const kernel& kernel_of_rule<detail::times_log1p_of_share_rule>();
template const kernel& kernel_of_rule<detail::weight_of_share_rule>();
template const kernel& kernel_of_rule<detail::weight_of_total_rule>();
template const kernel& kernel_of_rule<log_betainc_rule>();
template const kernel& kernel_of_rule<log_betaincc_rule>();
template const kernel& kernel_of_rule<log_gammainc_rule>();
template const kernel& kernel_of_rule<log_gammaincc_rule>();
template const kernel& kernel_of_rule<log_rising_factorial_rule>();

}  // namespace agrad
