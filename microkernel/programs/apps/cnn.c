/* SPDX-License-Identifier: Apache-2.0
 *
 * Inference of a convolutional network for images of 32 x 32 pixels and 10 classes (X7), with 8-bit integers:
 * three times convolution 5 x 5, ReLU and max-pooling 3 x 3 with stride 2, then one fully connected layer.
 * The layers' sizes are those published for CIFAR-10 (Lai, Suda, Chandra: CMSIS-NN, 2018, table 1). Weights
 * and images are generated from a seed, because the program measures the work, not the recognition.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/programs/apps/app.h"
#include <stdbool.h>
#include <stddef.h>

#define SIDE     32u
#define COLORS   3u
#define KERNEL   5u
#define POOL     3u
#define LAYERS   3u
#define CLASSES  10u
#define LARGEST  32u /* most channels of data with 32 x 32 elements */
#define FILTERS  64u /* most filters of a layer */
#define FEATURES (SIDE / 8u * (SIDE / 8u) * FILTERS)

RT_PARAMETERS(APP_PARAMETERS, {"runs", 50}, {"seed", 1});

/* Convolution, ReLU and pooling of `side` x `side` elements with `channels` channels each. */
struct layer {
    uint32_t side;
    uint32_t channels;
    uint32_t filters;
    uint32_t shift; /* shift that scales sums back to 8 bits */
    int8_t *weight; /* by filter, row, column, channel */
    int8_t bias[FILTERS];
};

static struct layer layer[LAYERS] = {
    {.side = SIDE, .channels = COLORS, .filters = LARGEST, .shift = 9},
    {.side = SIDE / 2u, .channels = LARGEST, .filters = LARGEST, .shift = 10},
    {.side = SIDE / 4u, .channels = LARGEST, .filters = FILTERS, .shift = 10},
};
static int8_t *connected; /* weights of the last layer, by class and feature */
static int8_t *image, *plane, *pooled, *window;

static int8_t *take(uint32_t bytes)
{
    int8_t *memory = malloc(bytes);

    if (memory == 0) {
        app_fail("the component's heap is too small: 256 KiB are enough");
    }
    return memory;
}

static uint32_t window_bytes(const struct layer *of)
{
    return KERNEL * KERNEL * of->channels;
}

static void fill(int8_t *weights, uint32_t count, uint32_t *seed)
{
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = (int8_t)((app_random(seed) >> 24) - 128u);
    }
}

/* Buffers that all layers use come first, then the weights in the order of use, so that the memory of an
 * inner loop lies in few regions of the MPU. */
static void make_network(uint32_t *seed)
{
    window = take(KERNEL * KERNEL * LARGEST);
    image = take(SIDE * SIDE * COLORS);
    pooled = take(SIDE / 2u * (SIDE / 2u) * LARGEST);
    plane = take(SIDE * SIDE * LARGEST);
    for (uint32_t i = 0; i < LAYERS; i++) {
        layer[i].weight = take(layer[i].filters * window_bytes(&layer[i]));
        fill(layer[i].weight, layer[i].filters * window_bytes(&layer[i]), seed);
        fill(layer[i].bias, layer[i].filters, seed);
    }
    connected = take(CLASSES * FEATURES);
    fill(connected, CLASSES * FEATURES, seed);
}

/* Color gradients of three channels, with noise. */
static void make_image(uint32_t *seed)
{
    for (uint32_t i = 0; i < SIDE * SIDE * COLORS; i++) {
        uint32_t color = i % COLORS, column = i / COLORS % SIDE, row = i / COLORS / SIDE;
        uint32_t slope = row * (1u + color) + column * (COLORS - color);

        image[i] = (int8_t)((slope + (app_random(seed) >> 27)) % 128u);
    }
}

/* Collects the elements that a filter covers around one position; elements beyond the border are zero. */
static void gather(const struct layer *of, const int8_t *in, uint32_t row, uint32_t column)
{
    int8_t *out = window;

    for (uint32_t y = 0; y < KERNEL; y++) {
        for (uint32_t x = 0; x < KERNEL; x++) {
            uint32_t at_row = row + y - KERNEL / 2u,
                     at_column = column + x - KERNEL / 2u; /* may wrap around */
            bool is_inside = at_row < of->side && at_column < of->side;
            const int8_t *from =
                is_inside ? &in[(size_t)((at_row * of->side + at_column) * of->channels)] : 0;

            for (uint32_t i = 0; i < of->channels; i++) {
                *out++ = is_inside ? from[i] : 0;
            }
        }
    }
}

static int32_t product(const int8_t *a, const int8_t *b, uint32_t count)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Scales a sum to 8 bits; negative sums become 0 (ReLU). */
static int8_t activation(int32_t sum, uint32_t shift)
{
    int32_t rounded = (sum + (1 << (shift - 1u))) >> shift;

    return (int8_t)(rounded < 0 ? 0 : rounded > INT8_MAX ? INT8_MAX : rounded);
}

static void convolve(const struct layer *of, const int8_t *in, int8_t *out)
{
    for (uint32_t row = 0; row < of->side; row++) {
        for (uint32_t column = 0; column < of->side; column++) {
            gather(of, in, row, column);
            for (uint32_t filter = 0; filter < of->filters; filter++) {
                app_poll();
                const int8_t *weight = &of->weight[(size_t)(filter * window_bytes(of))];
                int32_t sum = of->bias[filter] * (1 << 6) + product(weight, window, window_bytes(of));

                *out++ = activation(sum, of->shift);
            }
        }
    }
}

/* Maximum of 3 x 3 elements with stride 2; windows are cut off at the border. */
static void pool(const struct layer *of, const int8_t *in, int8_t *out)
{
    uint32_t side = of->side, filters = of->filters;

    for (uint32_t row = 0; row < side; row += 2u) {
        for (uint32_t column = 0; column < side; column += 2u) {
            for (uint32_t filter = 0; filter < filters; filter++) {
                int8_t most = 0;

                for (uint32_t y = row; y < row + POOL && y < side; y++) {
                    for (uint32_t x = column; x < column + POOL && x < side; x++) {
                        int8_t value = in[(size_t)((y * side + x) * filters + filter)];

                        most = value > most ? value : most;
                    }
                }
                *out++ = most;
            }
        }
    }
}

/* Returns a checksum of the ten scores. */
static uint32_t infer(void)
{
    const int8_t *in = image;
    uint32_t sum = 0;

    for (uint32_t i = 0; i < LAYERS; i++) {
        convolve(&layer[i], in, plane);
        pool(&layer[i], plane, pooled);
        in = pooled;
    }
    for (uint32_t class = 0; class < CLASSES; class ++) {
        sum = sum * 31u + (uint32_t)product(&connected[(size_t)(class * FEATURES)], pooled, FEATURES);
    }
    return sum;
}

void component_main(void)
{
    uint32_t runs = rt_parameter("runs");
    uint32_t seed = rt_parameter("seed");
    uint32_t sum = 0;

    make_network(&seed);
    app_begin("cnn");
    for (uint32_t run = 0; run < runs; run++) {
        make_image(&seed);
        sum = sum * 31u + infer();
    }
    app_report();
    app_field("runs", runs);
    app_field("checksum", sum);
    app_end();
}
