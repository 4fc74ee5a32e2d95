// The first passage of a Wiener process with drift: the distribution function at the upper boundary and its complement there.
//
// Both are defective: together they are the probability that the upper boundary is reached at all. In units of alpha^2 the time
// is s and the drift v. Beyond s = 0.15 the complement is a series of sines, which has no cancellation. Before, the images of
// the start are inverse Gaussian probabilities, written by Mills' ratios with the largest exponential in front: one series for
// early passages, and one for its complement. Only the larger of the two probabilities is computed from the smaller one.
// Read next: families/multivariate/wiener.hpp, the density.
#pragma once

#include <agrad/families/multivariate/wiener.hpp>
#include <agrad/rules/error/normal_moments.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// The probabilities of one first passage; `share` and 1 - share are the distances of the start from the boundaries.
///
/// A negative drift v multiplies all probabilities of the drift |v| by exp(2 v (1 - share)), so |v| is the drift from here on.
/// Beside a boundary probabilities are proportional to the distance from it, which is a factor of every formula: second
/// derivatives of the logarithm would lose their digits with a factor that is within sums.
template <class T>
class passage_tails {
 public:
  passage_tails(const T& time, const T& alpha, const T& share, const T& drift)
      : time_(time),
        drift_(either<T>(
            drift < 0.0, [&] { return T(-drift); }, [&] { return drift; })),
        w_(share),
        u_(1.0 - share),
        nearest_(either<T>(
            share < 0.5, [&] { return w_; }, [&] { return u_; })),
        towards_(alpha * u_),
        against_(either<T>(
            drift < 0.0, [&] { return T(2.0 * drift * towards_); }, [] { return T(0.0); })),
        s_(time / (alpha * alpha)),
        v_(drift_ * alpha),
        root_(sqrt(s_)),
        z_(drift_ * sqrt(time)) {}

  /// Returns the logarithm of the probability that the upper boundary is reached first.
  T log_ever() const { return T(against_ + log_sure()); }
  /// Returns the logarithm of the probability that the process has reached the upper boundary first up to the time.
  T log_before() const {
    const T ever = log_sure_per_share(), early = log_early_per_share();
    const T before = either<T>(
        early < ever - log_2, [&] { return T(log(w_) + early); },
        [&] {
          const T after = either<T>(
              s_ < late, [&] { return remaining(); }, [&] { return sines(); });
          const T other = never() + nearest_ * exp(after);
          return either<T>(
              other < 0.5, [&] { return T(log1p(-other)); },
              [&] {
                const T per_share = either<T>(
                    w_ < 0.5, [&] { return after; }, [&] { return T(after + log(u_) - log(w_)); });
                return T(log(w_) + (ever + log1m_exp(per_share - ever)));
              });
        });
    return T(against_ + before);
  }
  /// Returns the logarithm of the probability that the process reaches the upper boundary first after the time.
  T log_after() const {
    const auto from_images = [&] {
      const T ever = log_sure_per_share(), early = log_early_per_share();
      return either<T>(
          early < ever - log_2, [&] { return T(log_sure() + log1m_exp(early - ever)); },
          [&] { return T(log(nearest_) + remaining()); });
    };
    return T(against_ + either<T>(s_ < late, from_images, [&] { return T(log(nearest_) + sines()); }));
  }

 private:
  static constexpr double late = 0.15, sure = 0.45;  // scaled times: sines from `late`, and beyond `sure` most have passed

  static T mills(const T& x) { return T(apply<normal_tail_moment_rule>(0.0, x)); }
  /// Returns mills(x) - mills(x + a).
  static T loss(const T& x, const T& a) { return T(apply<normal_tail_moment_loss_rule>(0.0, x, a)); }
  /// This difference divided by a.
  static T mean_loss(const T& x, const T& a) { return T(apply<mean_normal_moment_rule>(1.0, x, a)); }

  /// Returns log((1 - exp(-2 v d)) / (1 - exp(-2 v)) / d), with all digits while the quotient is not close to 1.
  T log_part(const T& d) const { return T(log(exprel(-2.0 * v_ * d)) - log(exprel(-2.0 * v_))); }
  /// The probability that the lower boundary is reached first, divided by the distance from the upper one: the logarithm.
  T log_never() const { return T(log_part(u_) - 2.0 * v_ * w_); }
  T never() const { return T(u_ * exp(log_never())); }
  T log_sure() const {
    const T direct = log(w_) + log_part(w_);
    return either<T>(
        direct < -log_2, [&] { return direct; }, [&] { return T(log1p(-never())); });
  }
  T log_sure_per_share() const {
    const T direct = log_part(w_);
    return either<T>(
        log(w_) + direct < -log_2, [&] { return direct; }, [&] { return T(log1p(-never()) - log(w_)); });
  }

  /// Returns the complement by sines: the logarithm, divided by the distance from the nearer boundary.
  T sines() const {
    const auto sum_from = [&](double sign) {
      T sum(0.0);
      for (int i = 0; i < 7; ++i) {
        const double k = i + 1.0, here = i % 2 == 0 ? 1.0 : sign;
        sum = sum + here * k * k / (v_ * v_ + k * k * pi * pi) * sinc(k * nearest_) * exp(-0.5 * pi * pi * (k * k - 1.0) * s_);
      }
      return sum;
    };
    const T sum = either<T>(
        w_ < 0.5, [&] { return sum_from(-1.0); }, [&] { return sum_from(1.0); });
    return T(log(sum) + drift_ * (towards_ - 0.5 * drift_ * time_) - 0.5 * pi * pi * s_ + log_two_pi_squared);
  }

  /// Returns the log density of the nearest image without its polynomial factor: the exponential in front of all series of
  /// images.
  T log_front() const {
    const T d = towards_ - drift_ * time_;
    return T(-0.5 * (d * d) / time_ - half_log_two_pi);
  }
  /// Returns the logarithm of the probability of passages up to the time, divided by the share, by images; a number that is
  /// larger than any where the series cancels.
  T log_early_per_share() const {
    const auto images = [&] {
      T sum(0.0);
      for (const double m : {1.0, 3.0, 5.0}) {
        const T pair = early_pair(m, w_, T(2.0 * m / s_));
        sum = sum + (m == 1.0 ? pair : T(pair * exp(-0.5 * (m - 1.0) * (m + 1.0 - 2.0 * w_) / s_)));
      }
      return T(log(sum) + log_front());
    };
    return either<T>(s_ < sure && z_ < u_ / root_ + 0.7, images, [] { return T(1000.0); });
  }

  /// Returns the part that passes up to the time of two images at m - d and m + d with opposite signs, of which the second has
  /// the exponential exp(-c d) more. Divided by d and the exponential of the first.
  T early_pair(double m, const T& d, const T& c) const {
    const T near = (m - d) / root_, far = (m + d) / root_, gap = 2.0 * d / root_;
    return T((2.0 / root_) * (mean_loss(T(near - z_), gap) + mean_loss(T(near + z_), gap)) +
             c * exprel(-c * d) * (mills(T(far - z_)) + mills(T(far + z_))));
  }
  /// Returns the part that passes after the time.
  T later_pair(double m, const T& d, const T& c) const {
    const T near = (m - d) / root_, far = (m + d) / root_, gap = 2.0 * d / root_;
    return T(c * exprel(-c * d) * loss(T(z_ - far), T(2.0 * far)) -
             (2.0 / root_) * (mean_loss(T(z_ - far), gap) + mean_loss(T(z_ + near), gap)));
  }
  /// Returns the share of the exponential in front that an image at `distance`, 2 d beyond the first one, has.
  T decay_of(const T& distance, const T& d) const { return T(exp(-d * (u_ + distance) / s_)); }
  /// Returns the part of such an image that passes up to the time, for distances beyond |v| s.
  T early_of(const T& distance, const T& d) const {
    const T h = distance / root_;
    return T(decay_of(distance, d) * (mills(T(h - z_)) + mills(T(h + z_))));
  }
  /// Returns the part that passes after the time.
  T later_of(const T& distance, const T& d) const {
    const T h = distance / root_, decay = decay_of(distance, d);
    const T beyond = either<T>(
        h < z_, [&] { return T(decay * mills(T(z_ - h))); },
        [&] { return T(ever_of(T(-2.0 * z_ * d / root_)) * ndtr(h - z_)); });
    return T(beyond - decay * mills(T(z_ + h)));
  }
  /// Returns a probability exp(x) in units of the exponential in front.
  T ever_of(const T& x) const {
    const T ahead = z_ - u_ / root_;
    return T(sqrt_two_pi * exp(0.5 * (ahead * ahead) + x));
  }

  /// Returns the complement by images: the logarithm, divided by the distance from the nearer boundary. Parts after the time
  /// decay as exp(-|v| distance), slowly for small v, so there is a closed form for those of images that few early passages
  /// have left.
  T remaining() const {
    const T one(1.0), two(2.0), third = 4.0 - u_, more = 1.0 + w_;
    const auto beside_boundary = [&] {
      const T first = later_pair(1.0, w_, T(2.0 / s_)), second = 2.0 + u_;
      const T sum = either<T>(
          v_ * s_ < 2.0,
          [&] {
            const T others = early_of(third, more) - early_of(second, one);
            return T(first + ever_of(T(log_part(w_) - 2.0 * v_)) + others / w_);
          },
          [&] { return T(first + (later_of(second, one) - later_of(third, more)) / w_); });
      return T(log(sum) + log_front());
    };
    const auto elsewhere = [&] {
      const T first = (2.0 / root_) * mean_loss(T(z_ - u_ / root_), T(2.0 * u_ / root_)), fourth = 4.0 + u_, c = 4.0 / s_;
      const T decay = decay_of(more, w_), second = 2.0 + u_;
      const T sum = either<T>(
          z_ < more / root_ + 0.5,
          [&] {
            const T others = early_of(third, more) - early_of(fourth, two);
            return T(first + decay * early_pair(2.0, u_, c) + others / u_ - ever_of(log_never()));
          },
          u_ < 0.5 * root_,
          [&] { return T(first - decay * later_pair(2.0, u_, c) - (later_of(third, more) - later_of(fourth, two)) / u_); },
          [&] { return T(first - (later_of(more, w_) - later_of(second, one) + later_of(third, more)) / u_); });
      const T distances = either<T>(
          w_ < 0.5, [&] { return T(log(u_) - log(w_)); }, [] { return T(0.0); });
      return T(log(sum) + distances + log_front());
    };
    return either<T>(w_ < 0.25 * s_, beside_boundary, elsewhere);
  }

  static constexpr double log_two_pi_squared = 2.98260695225874565770408682416429399;
  T time_, drift_, w_, u_, nearest_, towards_, against_, s_, v_, root_, z_;
};

struct wiener_tail_rule : multivariate_rule<5> {
  static constexpr std::string_view source =
      "Blurton, Kesselmeier and Gondan (2012), Journal of Mathematical Psychology 56:470; unnormalised, as Stan's function is";
  static constexpr const auto& arguments = wiener_lpdf_rule::arguments;
};

/// Returns the sum of `tail(passage_tails)` over all times, and of `none` where no time has passed.
template <class W, class Tail, class None, class Y, class A, class T0, class B, class D>
auto sum_of_passages(const Tail& tail, const None& none, const Y& y, const A& alpha, const T0& tau, const B& beta,
                     const D& delta) {
  const auto term = [&](const auto& at, const auto& a, const auto& start, const auto& b, const auto& drift) {
    using T = promoted_t<decltype(at), decltype(a), decltype(start), decltype(b), decltype(drift)>;
    const T time = at - start, alpha_of(a), share(b), drift_of(drift);
    const auto of = [&](const T& passed) { return passage_tails<T>(passed, alpha_of, share, drift_of); };
    return either<T>(
        time > 0.0, [&] { return T(tail(of(time))); }, [&] { return T(none(of(T(1.0)))); });
  };
  return W::sum(W::each(term, y, alpha, tau, beta, delta));
}

}  // namespace detail

struct wiener_lcdf_unnorm_rule : detail::wiener_tail_rule {
  static constexpr std::string_view name = "wiener_lcdf_unnorm",
                                    text =
                                        "Logarithm of the probability that the first passage is through the upper of two"
                                        " boundaries and not after y, -inf where y is not beyond tau: alpha is the distance of"
                                        " the boundaries, tau the time before the process begins, beta the start as a share of"
                                        " alpha, delta the drift. For large y it is the probability that the upper boundary is"
                                        " reached first, which is not 1.";
  template <class W, class Y, class A, class T0, class B, class D>
  static auto log_density(const parts&, const Y& y, const A& alpha, const T0& tau, const B& beta, const D& delta) {
    return detail::sum_of_passages<W>([](const auto& tails) { return tails.log_before(); },
                                      [](const auto&) { return -infinity; }, y, alpha, tau, beta, delta);
  }
};
/// Returns the sum of the logarithms of the probabilities of first passages through the upper boundary up to y: -inf where y is
/// not beyond tau, and for large y the logarithm of (1 - exp(-2 delta alpha beta)) / (1 - exp(-2 delta alpha)), which is not 0.
template <class Y, class A, class T0, class B, class D>
auto wiener_lcdf_unnorm(const Y& y, const A& alpha, const T0& tau, const B& beta, const D& delta) {
  return apply_multivariate<wiener_lcdf_unnorm_rule>(y, alpha, tau, beta, delta);
}

struct wiener_lccdf_unnorm_rule : detail::wiener_tail_rule {
  static constexpr std::string_view name = "wiener_lccdf_unnorm",
                                    text =
                                        "Logarithm of the probability that the first passage is through the upper of two"
                                        " boundaries and after y: alpha is the distance of the boundaries, tau the time before"
                                        " the process begins, beta the start as a share of alpha, delta the drift. This"
                                        " probability and the one of wiener_lcdf_unnorm add up to the probability that the"
                                        " upper boundary is reached first, which is not 1.";
  template <class W, class Y, class A, class T0, class B, class D>
  static auto log_density(const parts&, const Y& y, const A& alpha, const T0& tau, const B& beta, const D& delta) {
    return detail::sum_of_passages<W>([](const auto& tails) { return tails.log_after(); },
                                      [](const auto& tails) { return tails.log_ever(); }, y, alpha, tau, beta, delta);
  }
};
/// Returns the sum of the logarithms of the probabilities of first passages through the upper boundary after y. Where y is not
/// beyond tau these are the probabilities that the upper boundary is reached first, at any time.
template <class Y, class A, class T0, class B, class D>
auto wiener_lccdf_unnorm(const Y& y, const A& alpha, const T0& tau, const B& beta, const D& delta) {
  return apply_multivariate<wiener_lccdf_unnorm_rule>(y, alpha, tau, beta, delta);
}

namespace rules {
using wiener_tails = typelist<wiener_lcdf_unnorm_rule, wiener_lccdf_unnorm_rule>;
}

}  // namespace agrad
