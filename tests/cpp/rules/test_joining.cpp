// Joined matrices and arrays, sizes, entries as arrays: results, kinds, derivatives, errors. Rejections.
#include <doctest/doctest.h>
#include <agrad/base/reject.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/arrays/joining.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/matrix/append.hpp>
#include <agrad/tape/scope.hpp>

#include "message_of.hpp"

namespace test_joining {

using agrad::dual;
using agrad::var;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;
using messages::message_of;
using sizes = std::vector<int>;
template <class A, class B>
inline constexpr bool are_same = std::is_same_v<A, B>;

TEST_CASE("append_col and append_row: values and kinds") {
  const MatrixXd a = (MatrixXd(2, 2) << 1, 2, 3, 4).finished();
  const Eigen::Vector2d column(5, 6);
  const Eigen::RowVector2d row(7, 8);
  CHECK(agrad::append_col(a, column) == (MatrixXd(2, 3) << 1, 2, 5, 3, 4, 6).finished());
  CHECK(agrad::append_col(column, column) == (MatrixXd(2, 2) << 5, 5, 6, 6).finished());
  CHECK(agrad::append_row(a, row) == (MatrixXd(3, 2) << 1, 2, 3, 4, 7, 8).finished());
  CHECK(agrad::append_row(row, row) == (MatrixXd(2, 2) << 7, 8, 7, 8).finished());
  const auto rows = agrad::append_col(row, 9), columns = agrad::append_row(0.5, column).transpose().eval();
  static_assert(are_same<decltype(rows), const RowVectorXd> && are_same<decltype(columns), const RowVectorXd>);
  static_assert(are_same<decltype(agrad::append_row(column, column)), VectorXd>);
  static_assert(are_same<decltype(agrad::append_row(column, a)), MatrixXd>);
  CHECK(rows == Eigen::RowVector3d(7, 8, 9));
  CHECK(columns == Eigen::RowVector3d(0.5, 5, 6));
  CHECK(agrad::append_col(MatrixXd(2, 0), a) == a);
  CHECK(agrad::append_row(VectorXd(0), 2.0) == VectorXd::Constant(1, 2.0));
  CHECK(agrad::append_col(2 * a, a.transpose()).cols() == 4);
  CHECK(message_of([&] { (void)agrad::append_col(a, row); }) ==
        "append_col: b is of shape (1, 2), but must be with 2 rows, as many as a");
  CHECK(message_of([&] { (void)agrad::append_row(a, 1.0); }) ==
        "append_row: b is of shape (1, 1), but must be with 2 columns, as many as a");
}

TEST_CASE("append_col and append_row: entries keep their derivatives") {
  const agrad::scope own;
  const agrad::vector_of<var> x = Eigen::Vector2d(2, 3).cast<var>();
  const agrad::vector_of<var> all = agrad::append_row(agrad::append_row(x, Eigen::Vector2d(1, 1)), x[0] * x[1]);
  CHECK(all.size() == 5);
  var(all[1] * 4.0 + all[4]).grad();
  CHECK(x[0].adj() == 3);
  CHECK(x[1].adj() == 6);
  using second = dual<var>;
  const agrad::vector_of<second> u{{second(x[0], {var(1.0)})}};
  const agrad::matrix_of<second> both = agrad::append_col(u, x.head(1));  // a dual beside a variable
  const second y = both(0, 0) * both(0, 0) * both(0, 1);
  y.tangent[0].grad();  // 2 u x0 with u = x0
  CHECK(x[0].adj() == 8);
  const agrad::matrix<var> blocks(MatrixXd::Ones(2, 2));
  const agrad::matrix<var> joined = agrad::append_col(blocks, x), stacked = agrad::append_row(MatrixXd::Ones(1, 2), blocks);
  CHECK(joined.cols() == 3);
  CHECK(stacked.rows() == 3);
  var(joined(1, 2) * 2.0 + stacked(1, 0)).grad();
  CHECK(x[1].adj() == 2);
  CHECK(blocks.adj()(0, 0) == 1);
}

TEST_CASE("append_array: entries, common scalars and sizes") {
  CHECK(agrad::append_array(std::vector<int>{1}, std::vector<int>{2, 3}) == std::vector<int>{1, 2, 3});
  CHECK(agrad::append_array(std::vector<int>{1}, std::vector<double>{0.5}) == std::vector<double>{1, 0.5});
  CHECK(agrad::append_array(std::vector<double>(), std::vector<double>()).empty());
  const agrad::scope own;
  const std::vector<var> x{var(2.0)};
  const std::vector<var> y = agrad::append_array(std::vector<double>{1, 2}, x);
  var(y[2] * y[2]).grad();
  CHECK(x[0].adj() == 4);
  const std::vector<std::vector<int>> nested{{1, 2}}, none, longer{{1, 2, 3}};
  CHECK(agrad::append_array(nested, nested).size() == 2);
  CHECK(agrad::append_array(nested, none).size() == 1);
  CHECK(message_of([&] { (void)agrad::append_array(nested, longer); }) ==
        "append_array: b[0] is of dims {3}, but must be of dims {2}; as the entries of a");
}

TEST_CASE("dims, to_array_1d and to_array_2d") {
  CHECK(agrad::dims(2.0).empty());
  CHECK(agrad::dims(var(2.0)).empty());
  CHECK(agrad::dims(VectorXd(3)) == sizes{3});
  CHECK(agrad::dims(RowVectorXd(3)) == sizes{3});
  CHECK(agrad::dims(MatrixXd(1, 0)) == sizes{1, 0});
  CHECK(agrad::dims(agrad::matrix<var>(2, 3)) == sizes{2, 3});
  CHECK(agrad::dims(std::vector<MatrixXd>(4, MatrixXd(2, 3))) == sizes{4, 2, 3});
  CHECK(agrad::dims(std::vector<std::vector<double>>()) == sizes{0});
  const MatrixXd a = (MatrixXd(2, 3) << 1, 2, 3, 4, 5, 6).finished();
  CHECK(agrad::to_array_1d(a) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(agrad::to_array_1d(2 * a.row(0)) == std::vector<double>{2, 4, 6});
  CHECK(agrad::to_array_1d(std::vector<std::vector<int>>{{1, 2}, {}, {3}}) == sizes{1, 2, 3});
  CHECK(agrad::to_array_1d(MatrixXd(0, 3)).empty());
  CHECK(agrad::to_array_2d(a) == std::vector<std::vector<double>>{{1, 2, 3}, {4, 5, 6}});
  CHECK(agrad::to_array_2d(MatrixXd(2, 0)) == std::vector<std::vector<double>>(2));
  const agrad::scope own;
  const Eigen::Matrix<var, 2, 3> x = a.cast<var>();
  const auto rows = agrad::to_array_2d(x);
  var(rows[1][2] * agrad::to_array_1d(x)[1]).grad();
  CHECK(x(1, 2).adj() == 4);
  CHECK(x(1, 0).adj() == 6);
}

TEST_CASE("reject and fatal_error") {
  const var rate = -1.5;
  CHECK(message_of<agrad::DomainError>([&] { agrad::reject("rate[", 2, "] is ", rate); }) == "rate[2] is -1.5");
  CHECK(message_of<agrad::DomainError>([] { agrad::reject(); }).empty());
  CHECK(message_of<agrad::FatalError>([&] { agrad::fatal_error("no data: ", Eigen::RowVector2d(1, 2)); }) == "no data: 1 2");
  CHECK(!std::is_base_of_v<agrad::DomainError, agrad::FatalError>);
}

}  // namespace test_joining
