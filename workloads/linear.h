// SPDX-License-Identifier: Apache-2.0
//
// The little linear algebra and the functions that scan matching needs, by the four operations and the square
// root alone, in a fixed order: the same bits on every processor.
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

// For values up to 0; precise to 1e-12 relatively.
double exponential(double value);

// About x, then y, then z; angles within a quarter turn.
struct rotation rotation_of(const double angles[3]);

void rotate(const struct rotation *rotation, const double from[3], double to[3]);
void rotate_back(const struct rotation *rotation, const double from[3], double to[3]);

// Symmetric matrices as xx xy xz yy yz zz. False: it has no inverse.
bool invert_symmetric3(const double m[6], double inverse[6]);
void multiply_symmetric3(const double m[6], const double v[3], double product[3]);

// By Cholesky's decomposition. False: not positive definite.
bool solve6(const struct normal6 *equations, double solution[6]);

#endif
