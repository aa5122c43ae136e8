// SPDX-License-Identifier: Apache-2.0
//
// Straightforward forms; the sizes are fixed and small.
#include "workloads/linear.h"

double square_root(double value)
{
    return __builtin_sqrt(value); // one instruction, correctly rounded
}

// exp(v) = exp(v / 2^k)^(2^k), the inner one by its series.
double exponential(double value)
{
    int halvings = 0;
    double term = 1;
    double sum = 1;

    if (value < -700)
        return 0;
    for (; value < -0.125; halvings++)
        value *= 0.5;
    for (int i = 1; i < 12; i++) {
        term = term * value / i;
        sum += term;
    }
    for (; halvings > 0; halvings--)
        sum *= sum;
    return sum;
}

static double sine(double angle)
{
    double square = angle * angle;
    double term = angle;
    double sum = angle;

    for (int i = 2; i < 18; i += 2) {
        term = -term * square / (i * (i + 1));
        sum += term;
    }
    return sum;
}

static double cosine(double angle)
{
    double square = angle * angle;
    double term = 1;
    double sum = 1;

    for (int i = 1; i < 17; i += 2) {
        term = -term * square / (i * (i + 1));
        sum += term;
    }
    return sum;
}

struct rotation rotation_of(const double angles[3])
{
    double sx = sine(angles[0]), cx = cosine(angles[0]);
    double sy = sine(angles[1]), cy = cosine(angles[1]);
    double sz = sine(angles[2]), cz = cosine(angles[2]);

    return (struct rotation){{
        {cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
        {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
        {-sy, cy * sx, cy * cx},
    }};
}

void rotate(const struct rotation *rotation, const double from[3], double to[3])
{
    for (int i = 0; i < 3; i++) {
        const double *row = rotation->m[i];
        to[i] = row[0] * from[0] + row[1] * from[1] + row[2] * from[2];
    }
}

void rotate_back(const struct rotation *rotation, const double from[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = rotation->m[0][i] * from[0] + rotation->m[1][i] * from[1] + rotation->m[2][i] * from[2];
}

bool invert_symmetric3(const double m[6], double inverse[6])
{
    double xx = m[3] * m[5] - m[4] * m[4];
    double xy = m[2] * m[4] - m[1] * m[5];
    double xz = m[1] * m[4] - m[2] * m[3];
    double determinant = m[0] * xx + m[1] * xy + m[2] * xz;

    if (!(determinant > 0))
        return false;
    inverse[0] = xx / determinant;
    inverse[1] = xy / determinant;
    inverse[2] = xz / determinant;
    inverse[3] = (m[0] * m[5] - m[2] * m[2]) / determinant;
    inverse[4] = (m[1] * m[2] - m[0] * m[4]) / determinant;
    inverse[5] = (m[0] * m[3] - m[1] * m[1]) / determinant;
    return true;
}

void multiply_symmetric3(const double m[6], const double v[3], double product[3])
{
    product[0] = m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
    product[1] = m[1] * v[0] + m[3] * v[1] + m[4] * v[2];
    product[2] = m[2] * v[0] + m[4] * v[1] + m[5] * v[2];
}

bool solve6(const struct normal6 *equations, double solution[6])
{
    double l[6][6] = {{0}};
    double y[6];

    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = equations->left[i][j];
            for (int k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0))
                return false;
            l[i][j] = i == j ? square_root(sum) : sum / l[j][j];
        }
    }
    for (int i = 0; i < 6; i++) {
        double sum = equations->right[i];
        for (int k = 0; k < i; k++)
            sum -= l[i][k] * y[k];
        y[i] = sum / l[i][i];
    }
    for (int i = 5; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < 6; k++)
            sum -= l[k][i] * solution[k];
        solution[i] = sum / l[i][i];
    }
    return true;
}
