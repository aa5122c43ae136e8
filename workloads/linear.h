// SPDX-License-Identifier: Apache-2.0
//
// The linear algebra and functions for scan matching, using only the four operations and the square root in a
// fixed order: results have the same bits on every processor.
#ifndef BULKHEAD_WORKLOADS_LINEAR_H
#define BULKHEAD_WORKLOADS_LINEAR_H

#include <stdbool.h>

struct rotation {
    double m[3][3];
};

// Left side (lower triangle) and right side of six equations.
struct normal6 {
    double left[6][6];
    double right[6];
};

double square_root(double value);

// For values up to 0; relative error 1e-12.
double exponential(double value);

// Rotation about x, then y, then z; angles within a quarter turn.
struct rotation rotation_of(const double angles[3]);

void rotate(const struct rotation *rotation, const double from[3], double to[3]);
void rotate_back(const struct rotation *rotation, const double from[3], double to[3]);

// Symmetric matrices are stored as xx xy xz yy yz zz. False: there is no inverse.
bool invert_symmetric3(const double m[6], double inverse[6]);
void multiply_symmetric3(const double m[6], const double v[3], double product[3]);

// Solves by Cholesky decomposition. False: not positive definite.
bool solve6(const struct normal6 *equations, double solution[6]);

#endif
