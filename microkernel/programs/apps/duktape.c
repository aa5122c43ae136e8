/* SPDX-License-Identifier: Apache-2.0
 *
 * JavaScript in Duktape (X7): the Mandelbrot set, and the covariance of two arrays. scripts.S includes the
 * scripts in the component's code.
 */
#include "duktape.h"
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/apps/app.h"

#define MANDELBROT 1u
#define COVARIANCE 2u

RT_PARAMETERS(APP_PARAMETERS, {"scripts", MANDELBROT | COVARIANCE}, {"side", 64}, {"most", 50},
              {"count", 75000});

extern const char script_mandelbrot[], script_mandelbrot_end[], script_covariance[], script_covariance_end[];

static void fatal(void *unused, const char *message)
{
    (void)unused;
    app_fail(message);
}

static duk_ret_t poll(duk_context *context)
{
    (void)context;
    app_poll();
    return 0;
}

/* Calls a function with one or two arguments, and leaves its result on the stack. */
static void call(duk_context *context, const char *script, const char *end, const char *function,
                 uint32_t first, uint32_t second)
{
    duk_eval_lstring_noresult(context, script, (duk_size_t)(end - script));
    (void)duk_get_global_string(context, function);
    duk_push_uint(context, first);
    duk_push_uint(context, second);
    duk_call(context, 2);
}

void component_main(void)
{
    uint32_t scripts = rt_parameter("scripts");
    uint32_t side = rt_parameter("side");
    uint32_t count = rt_parameter("count");
    duk_context *context;

    app_begin("duktape");
    if (count < 2) {
        app_fail("parameters: `count` is at least 2");
    }
    context = duk_create_heap(0, 0, 0, 0, fatal);
    if (context == 0) {
        app_fail("the component's heap is too small");
    }
    (void)duk_push_c_function(context, poll, 0);
    (void)duk_put_global_string(context, "poll");
    duk_push_uint(context, 0);
    duk_push_uint(context, 0);
    if ((scripts & MANDELBROT) != 0) {
        call(context, script_mandelbrot, script_mandelbrot_end, "mandelbrot", side, rt_parameter("most"));
        duk_replace(context, 0);
    }
    if ((scripts & COVARIANCE) != 0) {
        call(context, script_covariance, script_covariance_end, "covariance", count, 0);
        duk_replace(context, 1);
    }
    app_report();
    app_field("side", side);
    app_field("count", count);
    app_text("iterations", duk_to_string(context, 0));
    app_text("covariance", duk_to_string(context, 1));
    app_end();
    duk_destroy_heap(context);
}
