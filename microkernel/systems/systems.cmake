# SPDX-License-Identifier: Apache-2.0
# The test systems of every board; each is described in NAME.c.
microkernel_system(first COMPONENTS manager scheduler hello)
microkernel_system(apart COMPONENTS manager scheduler victim intruder overflow executor)
microkernel_system(ranges COMPONENTS manager scheduler many)
microkernel_system(asking COMPONENTS manager scheduler asker)
microkernel_system(heap COMPONENTS manager scheduler heap)
microkernel_system(calls COMPONENTS manager scheduler server client)
microkernel_system(turns COMPONENTS manager turns turner)
microkernel_system(kinds COMPONENTS owner scheduler hello)
