// SPDX-License-Identifier: Apache-2.0
//
// Iterations until points of the complex plane leave the circle of radius 2; returns their sum.
function mandelbrot(side, most) {
    var total = 0;
    for (var row = 0; row < side; row++) {
        var ci = 2.0 * row / side - 1.0;
        for (var column = 0; column < side; column++) {
            var cr = 2.0 * column / side - 1.5;
            var zr = 0.0;
            var zi = 0.0;
            var n = 0;
            poll();
            while (n < most && zr * zr + zi * zi <= 4.0) {
                var next = zr * zr - zi * zi + cr;
                zi = 2.0 * zr * zi + ci;
                zr = next;
                n++;
            }
            total += n;
        }
    }
    return total;
}
