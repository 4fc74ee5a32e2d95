// QR of tall, square and wide matrices with every scalar; deficient rank.
#include <agrad/rules/linalg/qr.hpp>

#include "linalg_probe.hpp"

namespace test_linalg_qr {

using namespace linalg_probe;

namespace {
const auto both = [](const auto& a) {
  const auto y = agrad::qr(a);
  using T = typename std::decay_t<decltype(a)>::Scalar;
  Mat<T> all(a.rows() + a.cols(), y.q.cols());
  all.topRows(a.rows()) = y.q;
  all.bottomRows(a.cols()) = y.r.transpose();
  return all;
};
}  // namespace

TEST_CASE("qr: values and derivatives") {
  for (const auto& size : {std::pair<Index, Index>{0, 0}, {3, 0}, {0, 3}, {1, 1}, {5, 5}, {7, 3}, {3, 6}, {1, 4}, {4, 1}}) {
    const Index m = size.first, n = size.second;
    CAPTURE(m);
    CAPTURE(n);
    const MatrixXd a = numbers(m, n);
    const auto y = agrad::qr(a);
    CHECK(distance(y.q * y.r, a) < 1e-14);
    CHECK(distance(y.q.transpose() * y.q, MatrixXd::Identity(y.q.cols(), y.q.cols())) < 1e-14);
    CHECK(MatrixXd(y.r.triangularView<Eigen::StrictlyLower>()).isZero(0));
    CHECK((y.r.diagonal().array() >= 0).all());
    check_derivatives(both, a);
  }
  check_first(both, numbers(20, 20), {1e-11, 1e-6, 1e-6, 1e-4});
}

}  // namespace test_linalg_qr
