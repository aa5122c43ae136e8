// SPDX-License-Identifier: Apache-2.0
//
// The kernel's configuration: one core, a tick of a millisecond from the virtual timer, no heap.
#ifndef BULKHEAD_FREERTOS_CONFIG_H
#define BULKHEAD_FREERTOS_CONFIG_H

#include <stdint.h>

#define configCPU_CLOCK_HZ                      0 // read from the counter
#define configTICK_RATE_HZ                      1000u
#define configTICK_TYPE_WIDTH_IN_BITS           TICK_TYPE_WIDTH_64_BITS
#define configUSE_PREEMPTION                    1
#define configUSE_TIME_SLICING                  1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configMAX_PRIORITIES                    4
#define configMINIMAL_STACK_SIZE                1024u // words
#define configMAX_TASK_NAME_LEN                 12
#define configSUPPORT_STATIC_ALLOCATION         1
#define configSUPPORT_DYNAMIC_ALLOCATION        0
#define configKERNEL_PROVIDED_STATIC_MEMORY     1
#define configUSE_IDLE_HOOK                     0
#define configUSE_TICK_HOOK                     0
#define configUSE_TIMERS                        0
#define configUSE_MUTEXES                       0
#define configCHECK_FOR_STACK_OVERFLOW          0
#define configUSE_TASK_FPU_SUPPORT              1 // no task uses floating point
#define configUNIQUE_INTERRUPT_PRIORITIES       32
#define configMAX_API_CALL_INTERRUPT_PRIORITY   18 // above those of the runtime (20)
#define INCLUDE_vTaskDelay                      1
#define INCLUDE_xTaskDelayUntil                 1
#define INCLUDE_vTaskDelete                     0

void vApplicationIRQHandler(uint32_t intid);
void freertos_unexpected(void) __attribute__((noreturn));
void freertos_start_tick(void);
void freertos_next_tick(void);
void freertos_failed(const char *file, int line) __attribute__((noreturn));
#define configSETUP_TICK_INTERRUPT() freertos_start_tick()
#define configCLEAR_TICK_INTERRUPT() freertos_next_tick()
#define configASSERT(condition)                                                                              \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            freertos_failed(__FILE__, __LINE__);                                                             \
    } while (0)

#endif
