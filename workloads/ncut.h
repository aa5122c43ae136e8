// SPDX-License-Identifier: Apache-2.0
//
// Normalized cuts on the grid of an image's pixels, for segmentation: neighbours are tied to each other the
// more alike they are; a part is cut in two where the ties across are weak beside those within. The vector
// that tells the halves apart is the second one of the random walk along the ties, found by relaxation.
// Integers throughout. multi_ncut.c uses it on each level of a pyramid.
#ifndef BULKHEAD_WORKLOADS_NCUT_H
#define BULKHEAD_WORKLOADS_NCUT_H

#include "workloads/arena.h"

enum { NCUT_MOST_PARTS = 32, NCUT_BINS = 64 };

// Over the pixels of each part, in a pass.
struct ncut_sums {
    int64_t value[NCUT_MOST_PARTS]; // times ties
    int64_t ties[NCUT_MOST_PARTS];
    int64_t mean[NCUT_MOST_PARTS];
};

// A pixel's row of the matrix, and the part that it belongs to: parts have no ties between them.
struct ncut_pixel {
    int32_t right;    // tie to the next pixel of the row
    int32_t down;     // to the one below
    int32_t degree;   // sum of its ties
    uint32_t inverse; // 2^32 by that
    uint32_t part;
};

// One level: pixels and their values. What is read across borders begins and ends with a row of 0.
struct ncut_level {
    int32_t width;
    int32_t height;
    uint8_t *gray;
    struct ncut_pixel *pixels;
    int32_t *value; // of the vector, up to 2^20
    int32_t *next;  // of the pass that runs
    struct ncut_sums *sums;
};

// Sums over the pixels and ties of each part by their bin of the vector.
struct ncut_bins {
    int64_t ties[NCUT_MOST_PARTS][NCUT_BINS];
    int64_t cut[NCUT_MOST_PARTS][NCUT_BINS]; // of ties that end below this bin's lower side and begin above
    int64_t cut_count[NCUT_MOST_PARTS][NCUT_BINS];
};

// Takes memory for a level; its grays are for the caller to fill in.
struct ncut_level ncut_take(struct arena *arena, int32_t width, int32_t height);

// Ties by gray, none between parts.
void ncut_tie(const struct ncut_level *level);

// A vector of noise, to start with.
void ncut_start(const struct ncut_level *level);

// The vector of a level of half the size.
void ncut_refine(const struct ncut_level *level, const struct ncut_level *coarser);

// So many passes of the walk, without what all pixels of a part have in common; then each part's largest
// value is 2^20.
void ncut_relax(struct ncut_level *level, int32_t passes);

// Cuts each of the parts in two where the normalized cut is least, if a border is there. The new number of
// parts.
uint32_t ncut_split(const struct ncut_level *level, struct ncut_bins *bins, uint32_t parts);

#endif
