/* SPDX-License-Identifier: Apache-2.0
 *
 * Includes the scripts that duktape.c runs.
 */
    .macro script name
    .global script_\name, script_\name\()_end
script_\name:
    .incbin "microkernel/programs/apps/\name\().js"
script_\name\()_end:
    .endm

    .section .rodata.scripts, "a"
    script mandelbrot
    script covariance
