// SPDX-License-Identifier: Apache-2.0
//
// Covariance of two arrays of numbers, which a linear congruential generator makes.
function mean(values) {
    var sum = 0.0;
    for (var i = 0; i < values.length; i++) {
        sum += values[i];
        poll();
    }
    return sum / values.length;
}

function covariance(count) {
    var first = [];
    var second = [];
    var state = 1;
    for (var i = 0; i < count; i++) {
        state = (state * 16807) % 2147483647;
        first.push(state / 2147483647);
        state = (state * 16807) % 2147483647;
        second.push(first[i] / 2 + state / 2147483647);
        poll();
    }
    var firstMean = mean(first);
    var secondMean = mean(second);
    var sum = 0.0;
    for (var j = 0; j < count; j++) {
        sum += (first[j] - firstMean) * (second[j] - secondMean);
        poll();
    }
    return sum / (count - 1);
}
