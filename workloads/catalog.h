// SPDX-License-Identifier: Apache-2.0
//
// All workloads, one file each. A program contains one of them (catalog_one.c) or all (catalog_all.c).
#ifndef BULKHEAD_WORKLOADS_CATALOG_H
#define BULKHEAD_WORKLOADS_CATALOG_H

#include "workloads/workload.h"

extern const struct workload workload_bandwidth;
extern const struct workload workload_corners;
extern const struct workload workload_disparity;
extern const struct workload workload_edges;
extern const struct workload workload_euclidean_cluster;
extern const struct workload workload_latency;
extern const struct workload workload_matmul;
extern const struct workload workload_membomb;
extern const struct workload workload_mser;
extern const struct workload workload_multi_ncut;
extern const struct workload workload_ndt_mapping;
extern const struct workload workload_points2image;
extern const struct workload workload_qsort;
extern const struct workload workload_sift;
extern const struct workload workload_stitch;
extern const struct workload workload_stride;
extern const struct workload workload_texture_synthesis;
extern const struct workload workload_tracking;
extern const struct workload workload_ustress;

#endif
