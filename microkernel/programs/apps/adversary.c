/* SPDX-License-Identifier: Apache-2.0
 *
 * An adversary in a component of its own (X7): in each of its periods it flushes the TLB, and cleans and
 * invalidates the caches. On an MPU it flushes only its own dynamic regions, because other components have
 * other images.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/programs/apps/app.h"

RT_PARAMETERS(APP_PARAMETERS, {"reports", 1000});

void component_main(void)
{
    uint32_t reports = rt_parameter("reports");

    app_start("adversary");
    for (uint32_t acted = 1;; acted++) {
        rt_end_job();
        app_disturb();
        if (reports != 0 && acted % reports == 0) {
            app_report();
            app_end();
        }
    }
}
