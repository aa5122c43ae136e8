// SPDX-License-Identifier: Apache-2.0
//
// Normalized cuts on the grid of an image's pixels, for segmentation: neighbouring pixels have ties whose
// weight grows with their similarity; a part is cut in two where the ties across the cut are weak compared
// with those inside. The vector that separates the two halves is the second eigenvector of the random walk
// along the ties, found by relaxation. All arithmetic is in integers. multi_ncut.c uses it on each level of a
// pyramid.
#ifndef BULKHEAD_WORKLOADS_NCUT_H
#define BULKHEAD_WORKLOADS_NCUT_H

#include "workloads/arena.h"

enum { NCUT_MOST_PARTS = 32, NCUT_BINS = 64 };

// Sums over the pixels of each part, in one pass.
struct ncut_sums {
    int64_t value[NCUT_MOST_PARTS]; // value times ties
    int64_t ties[NCUT_MOST_PARTS];
    int64_t mean[NCUT_MOST_PARTS];
};

// A pixel's row of the matrix, and its part; there are no ties between parts.
struct ncut_pixel {
    int32_t right;    // tie to the next pixel of the row
    int32_t down;     // to the one below
    int32_t degree;   // sum of its ties
    uint32_t inverse; // 2^32 divided by the degree
    uint32_t part;
};

// One level: pixels and their values. Arrays that are read across borders begin and end with a row of 0.
struct ncut_level {
    int32_t width;
    int32_t height;
    uint8_t *gray;
    struct ncut_pixel *pixels;
    int32_t *value; // values of the vector, up to 2^20
    int32_t *next;  // values computed by the present pass
    struct ncut_sums *sums;
};

// Sums over the pixels and ties of each part, by bin of the vector.
struct ncut_bins {
    int64_t ties[NCUT_MOST_PARTS][NCUT_BINS];
    int64_t cut[NCUT_MOST_PARTS][NCUT_BINS]; // sum of the ties between values below this bin's lower limit
                                             // and values above it
    int64_t cut_count[NCUT_MOST_PARTS][NCUT_BINS];
};

// Allocates a level; the caller fills in the grays.
struct ncut_level ncut_take(struct arena *arena, int32_t width, int32_t height);

// Sets ties by similarity of gray, 0 between parts.
void ncut_tie(const struct ncut_level *level);

// Initialises the vector with noise.
void ncut_start(const struct ncut_level *level);

// Initialises the vector from a level of half the size.
void ncut_refine(const struct ncut_level *level, const struct ncut_level *coarser);

// Does `passes` passes of the walk, each without the component that all pixels of a part share; then scales
// each part so that its largest value is 2^20.
void ncut_relax(struct ncut_level *level, int32_t passes);

// Cuts each part in two where the normalized cut is least, if there is a border. Returns the new number of
// parts.
uint32_t ncut_split(const struct ncut_level *level, struct ncut_bins *bins, uint32_t parts);

#endif
