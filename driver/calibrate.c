// gnnc calibrate: the numbers of the machine that is here, as a machine file.
#include "calibrate.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const embedded_text probes_files[];

const embedded_text *calibrate_text(const char *name) {
    for (const embedded_text *f = probes_files; f->name; f++)
        if (!strcmp(f->name, name)) return f;
    ICE("there is no probe '%s'", name);
}

void calibrate_set(calibration *c, cost_field f, double x, cost_source s) {
#define FIELD(name, ...)                                                                           \
    if (f == COST_FIELD_##name) c->out.name = x;
#include "cost/machine_fields.def"
    c->source[f] = s;
}

// ---- The machine that is here -------------------------------------------------------------------
static const char *as_word(arena *a, const char *text) {
    char *word = arena_strdup(a, text);
    for (char *c = word; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
    return word;
}

static double system_kib(int name, double otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 ? (double)bytes / 1024 : otherwise;
}

// What the system says; where it says nothing, round numbers.
static void describe_host(calibration *c) {
    const double l1 = system_kib(_SC_LEVEL1_DCACHE_SIZE, 0),
                 l3 = system_kib(_SC_LEVEL3_CACHE_SIZE, 0),
                 l2 = system_kib(_SC_LEVEL2_CACHE_SIZE, 0), last = l3 > 0 ? l3 : l2;
    c->out.name = "host";
    c->out.holds = "host";
    c->out.arch = "host";
    calibrate_set(c, COST_FIELD_sms, c->device.sms, COST_DRIVER);
    calibrate_set(c, COST_FIELD_l1_kib, l1 > 0 ? l1 : 32, l1 > 0 ? COST_DRIVER : COST_ROUND);
    calibrate_set(c, COST_FIELD_l2_mib, last >= 1024 ? last / 1024 : 16,
                  last >= 1024 ? COST_DRIVER : COST_ROUND);
    calibrate_set(c, COST_FIELD_mhz, 2000, COST_ROUND);
}

// L1 is in no driver's answer: that of a GPU of the same capability.
static void describe_gpu(calibration *c) {
    const run_session *r = &c->bench.run;
    const cost_machine *known = cost_machine_held(c->device.name),
                       *alike = known ? known : cost_machine_of(r->target.arch);
    if (!alike) alike = cost_machine_at(0);
    c->out.holds = c->device.name;
    c->out.name = arena_printf(r->d->arena, "%s_here",
                               known ? known->name : as_word(r->d->arena, c->device.name));
    c->out.arch = gpu_arch_find(alike->arch)->sm == r->target.arch->sm
                      ? alike->arch   // as tables call it
                      : r->target.arch->name;
    calibrate_set(c, COST_FIELD_sms, c->device.sms, COST_DRIVER);
    calibrate_set(c, COST_FIELD_mhz, c->device.mhz > 0 ? c->device.mhz : alike->mhz,
                  c->device.mhz > 0 ? COST_DRIVER : COST_SHEET);
    calibrate_set(c, COST_FIELD_l1_kib, alike->l1_kib, COST_SHEET);
    calibrate_set(c, COST_FIELD_l2_mib, (double)(c->device.l2_bytes >> 20), COST_DRIVER);
}

// ---- Opening ------------------------------------------------------------------------------------
static bool cannot(driver *d, gnn_context *c, gnn_status s, const char *what) {
    diag(d->ds, runtime_code((int)s, E0822), NO_SPAN, "%s: %s", what,
         c ? gnn_context_error(c) : gnn_status_text(s));
    return false;
}

// The GPU where there is one, else the host, but for what --target asks.
static bool open_machine(calibration *c) {
    run_session *r = &c->bench.run;
    driver *d = r->d;
    const bool host = option_is(d, OPT_TARGET, "host"), cuda = option_is(d, OPT_TARGET, "cuda");
    const int device = device_number(d);
    if (d->usage_fault) return false;
    gnn_status s = host ? GNN_NO_DEVICE
                        : gnn_context_new(&(gnn_context_options){.device = GNN_GPU(device)},
                                          &r->context);
    if (s && cuda) return cannot(d, r->context, s, "--target=cuda");
    c->host = s;
    if (s) {
        gnn_context_free(r->context);
        r->context = NULL;
        r->target = (cg_target){.kind = CG_HOST};
        s = gnn_context_new(&(gnn_context_options){.device = GNN_HOST}, &r->context);
        if (s) return cannot(d, r->context, s, "--target=host");
    }
    s = gnn_device_query(r->context, &c->device);
    if (s) return cannot(d, r->context, s, "calibrate");
    const double memory = c->host ? bind_memory() : (double)c->device.memory;
    c->most_bytes = fmin(memory / 8, c->host ? 25e6 + 50 * c->seconds * 256e6 : 4e9);
    if (c->host && !host) fprintf(r->notes, "no GPU is found: the host is measured\n");
    if (c->host) describe_host(c);
    else {
        r->target = (cg_target){.kind = CG_CUDA,
                                .arch = settings_arch(d, option_text(d, OPT_ARCH, "native"))};
        if (!r->target.arch) return false;
        describe_gpu(c);
    }
    return true;
}

// ---- Writing ------------------------------------------------------------------------------------
static const char *command_of(driver *d) {
    textbuf out = textbuf_new(d->arena);
    for (uint32_t i = 0; i < d->command.len; i++)
        textbuf_printf(&out, "%s%s", i ? " " : "", i ? d->command.data[i] : "gnnc");
    return out.data;
}

static void put(calibration *c) {
    driver *d = c->bench.run.d;
    const time_t now = time(NULL);
    struct tm day;
    char date[16] = "";
    if (gmtime_r(&now, &day)) strftime(date, sizeof date, "%Y-%m-%d", &day);
    const int cuda = c->device.driver_version;
    const cost_machine_fact facts[] = {
        {"date", date},
        {"driver",
         c->host ? "none" : arena_printf(d->arena, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10)},
        {"command", command_of(d)}};
    textbuf out = textbuf_new(d->arena);
    c->out.source = c->source;
    cost_machine_put(&out, &c->out, facts, sizeof facts / sizeof *facts);
    textbuf_putn(&out, c->notes.data, c->notes.len);
    output_add(d, option_text(d, OPT_OUTPUT, "-"), out.data, out.len);
    output_flush(d);
}

int drive_calibrate(driver *d) {
    enum { TIMED = 48 };   // things that are
    const double seconds = option_decimal(d, OPT_SECONDS, 10);
    calibration c = {
        .bench = {.run = {.d = d, .notes = stderr, .asked = {.repeat = 100, .nlevels = 1}},
                  .seconds = seconds / TIMED},
        .seconds = seconds / TIMED,
        .notes = textbuf_new(d->arena)};
    if (option_is(d, OPT_TARGET, "sim"))
        usage(d, E0812, "the simulator's times say nothing: --target takes cuda or host here");
    if (d->values[OPT_TARGET].len > 1) usage(d, E0812, "gnnc calibrate takes one target");
    if (!d->usage_fault && open_machine(&c) && calibrate_rates(&c) && calibrate_latencies(&c))
        put(&c);
    phase(d, NULL);
    gnn_context_free(c.bench.run.context);
    return driver_status(d);
}
