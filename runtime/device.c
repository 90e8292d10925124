// What the device is.
#include "size_expr.h"

#include <string.h>

// Numbers of CUdevice_attribute.
enum {
    ATTRIBUTE_KHZ = 13,
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_L2 = 38,
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MINOR = 76,
    ATTRIBUTE_SHARED_OPTIN = 97
};

static gnn_status attribute(gnn_context *c, int which, int *out) {
    return CU_CALL(c, DeviceGetAttribute, (out, which, c->cuda_device));
}

static gnn_status query_cuda(gnn_context *c, gnn_device_info *out) {
    int major = 0, minor = 0, shared = 0, l2 = 0, khz = 0;
    size_t memory = 0;
    gnn_status s = CU_CALL(c, DeviceGetName, (out->name, (int)sizeof out->name, c->cuda_device));
    if (!s) s = CU_CALL(c, DeviceGetCount, (&out->devices));
    if (!s) s = CU_CALL(c, DriverGetVersion, (&out->driver_version));
    if (!s) s = CU_CALL(c, DeviceTotalMem, (&memory, c->cuda_device));
    const struct {
        int which, *to;
    } wanted[] = {{ATTRIBUTE_SMS, &out->sms}, {ATTRIBUTE_MAJOR, &major},
                  {ATTRIBUTE_MINOR, &minor},  {ATTRIBUTE_SHARED_OPTIN, &shared},
                  {ATTRIBUTE_L2, &l2},        {ATTRIBUTE_KHZ, &khz}};
    for (size_t i = 0; i < RT_COUNT(wanted) && !s; i++)
        s = attribute(c, wanted[i].which, wanted[i].to);
    out->sm = major * 10 + minor;
    out->memory = (int64_t)memory;
    out->shared_bytes = shared;
    out->l2_bytes = l2;
    out->mhz = khz / 1000;
    return s;
}

gnn_status gnn_device_query(gnn_context *c, gnn_device_info *out) {
    if (!rt_begin(c, __func__, out)) return GNN_BAD_ARGUMENT;
    *out = (gnn_device_info){.device = gnn_context_device(c)};
    if (rt_on_cuda(c) && !c->cuda_context)
        return rt_fail(c, GNN_BAD_ARGUMENT, "the context was not made");
    if (rt_on_cuda(c)) {
        gnn_status s = rt_cuda_own(c);
        if (!s && !c->info.sms) s = query_cuda(c, out);   // takes the driver a while
        else if (!s) *out = c->info;
        if (!s) c->info = *out;
        return s;
    }
    if (c->simulator) {
        *out = c->simulator->device;
        return GNN_OK;
    }
    strcpy(out->name, "host");
    out->sms = (int)c->threads;
    return GNN_OK;
}

gnn_status rt_device_number(gnn_context *c, rt_device_fact f, int64_t *out) {
    gnn_device_info d;
    const bool gpu = rt_on_cuda(c) || c->simulator;
    gnn_status s = gnn_device_query(c, &d);
    const int64_t numbers[] = {[RT_DEVICE_SMS] = gpu ? d.sms : 0,
                               [RT_DEVICE_SHARED_BYTES] = d.shared_bytes,
                               [RT_DEVICE_L2_BYTES] = d.l2_bytes,
                               [RT_DEVICE_CORES] = gpu ? 0 : c->threads};
    *out = s ? 0 : numbers[f];
    return s;
}
