// matrix<var>: matrices as variables of the tape. A block of values and a range of indices; each operation is one closure.
//
//     matrix<var> a(values), b(other);
//     var y = sum(exp(a) * b.topRows(3).transpose());   // a closure for exp, one for the product, one for the sum
//     y.grad();  a.adj();                                // an Eigen::MatrixXd
//
// The adjoints in closures work on whole blocks with Eigen's kernels. Values are valid until the end of the scope in which they
// were computed. Read next: tape/matrix/matrix.hpp, the class and its views.
#pragma once

#include <agrad/tape/matrix/eigen_product.hpp>
#include <agrad/tape/matrix/elementwise.hpp>
#include <agrad/tape/matrix/join.hpp>
#include <agrad/tape/matrix/matrix.hpp>
#include <agrad/tape/matrix/product.hpp>
#include <agrad/tape/matrix/reduce.hpp>
#include <agrad/tape/matrix/softmax.hpp>
