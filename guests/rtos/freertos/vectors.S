// SPDX-License-Identifier: Apache-2.0
//
// Exceptions for the kernel's port, which installs this table: tasks have SP_EL0, the kernel SP_EL1.
    .macro vector handler
    .balign 128
    b       \handler
    .endm

    .text
    .balign 2048
    .global _freertos_vector_table
_freertos_vector_table:
    vector  FreeRTOS_SWI_Handler    // of a task: a call of the kernel,
    vector  FreeRTOS_IRQ_Handler    // an interrupt
    vector  freertos_unexpected
    vector  freertos_unexpected
    vector  freertos_unexpected     // of the kernel
    vector  FreeRTOS_IRQ_Handler
    vector  freertos_unexpected
    vector  freertos_unexpected
    .rept   8                       // of EL0, which nothing is at
    vector  freertos_unexpected
    .endr
