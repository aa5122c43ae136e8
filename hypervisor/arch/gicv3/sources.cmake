# SPDX-License-Identifier: Apache-2.0
# The interrupt controller of boards with a GICv3: the physical driver and the list registers.
set(BULKHEAD_GIC_SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/gic.c
    ${CMAKE_CURRENT_LIST_DIR}/vgic_lr.c)
set(BULKHEAD_GIC_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/include)
