# SPDX-License-Identifier: Apache-2.0
# What every board has: the applications, and test systems, each of which is described in NAME.c.
include(${microkernel}/programs/apps/apps.cmake)
microkernel_system(first COMPONENTS manager scheduler hello)
microkernel_system(apart COMPONENTS manager scheduler victim intruder overflow executor)
microkernel_system(ranges COMPONENTS manager scheduler many)
microkernel_system(asking COMPONENTS manager scheduler asker)
microkernel_system(heap COMPONENTS manager scheduler heap)
microkernel_system(mapped COMPONENTS manager scheduler mapper)
microkernel_system(calls COMPONENTS manager scheduler server client)
microkernel_system(turns COMPONENTS manager turns turner)
microkernel_system(kinds COMPONENTS owner scheduler hello)
