// SPDX-License-Identifier: Apache-2.0
//
// The catalog of programs that have all workloads and are told which to run.
#include "workloads/catalog.h"
#include "workloads/driver.h"

const struct workload *const workload_catalog[] = {
    &workload_bandwidth,
    &workload_corners,
    &workload_disparity,
    &workload_edges,
    &workload_euclidean_cluster,
    &workload_latency,
    &workload_matmul,
    &workload_membomb,
    &workload_mser,
    &workload_multi_ncut,
    &workload_ndt_mapping,
    &workload_points2image,
    &workload_qsort,
    &workload_sift,
    &workload_stitch,
    &workload_stride,
    &workload_texture_synthesis,
    &workload_tracking,
    &workload_ustress,
    NULL,
};
