// What the options mean to each part of the compiler.
#include "driver.h"

#include "runtime/gnnrt.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Diagnostics --------------------------------------------------------------------------------

static void unknown_warning(driver *d, const char *name) {
    diagnostic *fault = usage(d, E0809, "-W%s names no warning", name);
    const char *names[DIAG_COUNT + 2] = {"error", "perf"};
    uint32_t n = 2;
    for (uint32_t c = 0; c < DIAG_COUNT; c++)
        if (diag_table((diag_code)c)->sev != SEV_ERROR) names[n++] = diag_table((diag_code)c)->name;
    if (!diag_suggest(fault, NO_SPAN, strncmp(name, "no-", 3) ? name : name + 3, names, n))
        diag_help(fault, "'gnnc explain --list' lists them");
}

// -Werror, -Wperf, -WNAME, and each with no-.
static void apply_warning(driver *d, const char *text, diag_options *o, bool *disabled) {
    bool on = strncmp(text, "no-", 3) != 0;
    const char *name = on ? text : text + 3;
    diag_code code;
    if (!strcmp(name, "error")) o->werror = on;
    else if (!strcmp(name, "perf")) o->perf = on;
    else if (diag_find(name, &code) && diag_table(code)->sev != SEV_ERROR) disabled[code] = !on;
    else unknown_warning(d, text);
}

bool settings_color(const driver *d) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (option_is(d, OPT_COLOR, "always")) return true;
    if (option_is(d, OPT_COLOR, "never") || (no_color && *no_color)) return false;
    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

// As compilers of C take it.
static void apply_prefix_map(driver *d, const char *text) {
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        usage(d, E0812, "--file-prefix-map takes OLD=NEW, not '%s'", text);
    else
        source_map_rename(d->sources, arena_strndup(d->arena, text, (size_t)(equals - text)),
                          equals + 1);
}

void settings_apply(driver *d) {
    bool *disabled = ARENA_ARRAY(d->arena, bool, DIAG_COUNT + 1);
    int64_t max_errors = option_number(d, OPT_MAX_ERRORS, 20);
    diag_options o = {.format = option_is(d, OPT_FORMAT, "json") ? DIAG_JSON : DIAG_TEXT,
                      .color = settings_color(d),
                      .max_errors = (uint32_t)(max_errors < UINT32_MAX ? max_errors : UINT32_MAX),
                      .disabled = disabled};
    for (uint32_t i = 0; i < d->values[OPT_WARN].len; i++)
        apply_warning(d, d->values[OPT_WARN].data[i], &o, disabled);
    diag_configure(d->ds, o);
    for (uint32_t i = 0; i < d->values[OPT_PREFIX_MAP].len; i++)
        apply_prefix_map(d, d->values[OPT_PREFIX_MAP].data[i]);
}

// ---- Devices ------------------------------------------------------------------------------------

// Times are told of GPUs: a host has them where they are measured alone.
static void check_machine(driver *d, const char *path) {
    const bool bench = d->verb == VERB_BENCH, host = cost_machine_is_host(d->machine);
    if (cost_machine_named(option_text(d, OPT_DEVICE, "")))
        usage(d, E0812, "--machine=%s and --device=%s name a machine each", path,
              option_text(d, OPT_DEVICE, ""));
    else if (host && !(bench && !option_given(d, OPT_RESOURCE_USAGE)))
        diag_help(usage(d, E0812, "--machine=%s is of a host, and a GPU's is needed here", path),
                  "gnnc bench --target=host takes a host's");
}

void settings_machine(driver *d) {
    const char *path = option_text(d, OPT_MACHINE, NULL);
    size_t length;
    const char *text = path ? file_read(d, path, &length) : NULL;
    if (!text) return;
    const source_file *source = source_map_add(d->sources, path, text, length);
    if (!source) diag(d->ds, E0803, NO_SPAN, "'%s' and the other files are too large", path);
    d->machine = source ? cost_machine_parse(d->arena, d->ds, source) : NULL;
    if (d->machine) check_machine(d, path);
}

const cost_machine *device_named(const driver *d) {
    if (d->machine) return d->machine;
    return cost_machine_named(option_text(d, OPT_DEVICE, ""));
}

// No machine has more than the largest int of devices.
int device_number(driver *d) {
    const char *text = option_text(d, OPT_DEVICE, "0");
    if (*text && !text[strspn(text, "0123456789")]) {
        long long n = strtoll(text, NULL, 10);
        return (int)(n < INT32_MAX ? n : INT32_MAX - 1);
    }
    VEC(const char *) names = {0};
    for (uint32_t i = 0; cost_machine_at(i); i++)
        VEC_PUSH(d->arena, &names, cost_machine_at(i)->name);
    const bool of_here = d->verb == VERB_DOCTOR || d->verb == VERB_CALIBRATE;
    if (!of_here && cost_machine_named(text)) return 0;
    diagnostic *fault = usage(d, E0812, "--device takes the number of a GPU, not '%s'", text);
    if (!of_here) diag_suggest(fault, NO_SPAN, text, names.data, names.len);
    return 0;
}

// ---- Frontend, passes, code generation ----------------------------------------------------------

static const frontend_define *defines(driver *d) {
    uint32_t n = d->values[OPT_DEFINE].len;
    frontend_define *out = ARENA_ARRAY(d->arena, frontend_define, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const char *text = d->values[OPT_DEFINE].data[i], *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            usage(d, E0812, "-D takes NAME=VALUE, not '%s'", text);
        size_t length = strcspn(text, "=");
        out[i] = (frontend_define){arena_strndup(d->arena, text, length), equals ? equals + 1 : ""};
    }
    return out;
}

// What a schedule may be for.
static const char *const *targets(const driver *d, uint32_t *n) {
    uint32_t archs = 0;
    while (gpu_arch_at(archs)) archs++;
    const char **names = ARENA_ARRAY(d->arena, const char *, archs + 1);
    for (uint32_t i = 0; i < archs; i++) names[i] = gpu_arch_at(i)->name;
    names[archs] = "host";
    *n = archs + 1;
    return names;
}

frontend_options settings_frontend(driver *d) {
    uint32_t ntargets;
    const char *const *names = targets(d, &ntargets);
    return (frontend_options){.defines = defines(d),
                              .ndefines = d->values[OPT_DEFINE].len,
                              .include_dirs = d->values[OPT_INCLUDE].data,
                              .ninclude_dirs = d->values[OPT_INCLUDE].len,
                              .read = file_read_import,
                              .canonical = pass_canonical,
                              .user = d,
                              .targets = names,
                              .ntargets = ntargets,
                              .rules = d->values[OPT_RULES].data,
                              .nrules = d->values[OPT_RULES].len,
                              .rules_beside = !option_given(d, OPT_RULES) &&
                                              !option_given(d, OPT_NO_RULES) &&
                                              d->verb != VERB_TUNE,   // it makes them
                              .schedule = option_text(d, OPT_SCHEDULE, NULL),
                              .schedule_of_gpu = option_given(d, OPT_RESOURCE_USAGE),
                              .no_schedule = option_given(d, OPT_NO_SCHEDULE),
                              .nondeterministic = !option_on(d, OPT_DETERMINISTIC, true)};
}

void settings_host_alone(driver *d) {
    static const option_id of_gpus[] = {OPT_ARCH, OPT_BLOCK_SIZE};
    static const char *const names[] = {"arch", "block-size"};
    for (size_t i = 0; i < sizeof of_gpus / sizeof *of_gpus; i++)
        if (option_given(d, of_gpus[i]))
            diag(d->ds, W0801, NO_SPAN, "--%s has no effect on --target=host", names[i]);
}

pass_options settings_pass(const driver *d, const cg_target *t) {
    bool gpu = t && t->kind == CG_CUDA;
    uint32_t threads = (uint32_t)strtoul(option_text(d, OPT_BLOCK_SIZE, "0"), NULL, 10);
    return (pass_options){.index_bits = option_is(d, OPT_INDEX, "64") ? 64 : 32,
                          .nondeterministic = !option_on(d, OPT_DETERMINISTIC, true),
                          .block_threads = gpu ? threads : 0,
                          .arch = gpu ? t->arch : NULL,
                          .refused = getenv("GNNC_PLAN_FAULT")};
}

// The naive plan is there to be right and soon at hand, not to be fast.
cg_options settings_codegen(const driver *d) {
    uint32_t level = option_given(d, OPT_NO_SCHEDULE) ? 2 : 3;
    return (cg_options){.optimise = (uint32_t)option_number(d, OPT_LEVEL, level),
                        .line_info = option_on(d, OPT_LINEINFO, true),
                        .sources = d->sources,
                        .verbose_assembler = option_given(d, OPT_RESOURCE_USAGE)};
}

// ---- Architectures ------------------------------------------------------------------------------

// The best of our architectures for the GPU here.
static const gpu_arch *native_arch(driver *d) {
    gnn_context *c = NULL;
    gnn_device_info info = {0};
    bool found = !gnn_context_new(&(gnn_context_options){.device = GNN_GPU(0)}, &c) &&
                 !gnn_device_query(c, &info);
    if (!found) usage(d, E0809, "--arch=native: %s", c ? gnn_context_error(c) : "no GPU is found");
    gnn_context_free(c);
    const gpu_arch *best = NULL;
    for (uint32_t i = 0; found && gpu_arch_at(i); i++)
        if (gpu_arch_at(i)->sm <= (uint32_t)info.sm) best = gpu_arch_at(i);
    if (found && !best)
        usage(d, E0809, "--arch=native: the GPU has compute capability %d.%d", info.sm / 10,
              info.sm % 10);
    return best;
}

const gpu_arch *settings_simulated(driver *d) {
    const cost_machine *named = device_named(d);
    const gpu_arch *own = gpu_arch_find(named ? named->arch : GPU_DEFAULT),
                   *a = settings_arch(
                       d, option_text(d, OPT_ARCH, d->loaded_arch ? d->loaded_arch : own->name));
    if (!named || !a || a->sm == own->sm) return a;
    usage(d, E0812, "--%s=%s is of %s, not of --arch=%s", d->machine ? "machine" : "device",
          d->machine ? option_text(d, OPT_MACHINE, "") : named->name, own->name, a->name);
    return NULL;
}

const gpu_arch *settings_arch(driver *d, const char *name) {
    if (!strcmp(name, "native")) return native_arch(d);
    const gpu_arch *arch = gpu_arch_find(name);
    if (arch) return arch;
    const char *names[64];
    uint32_t n = 0;
    for (; n < 64 && gpu_arch_at(n); n++) names[n] = gpu_arch_at(n)->name;
    diagnostic *fault = usage(d, E0809, "'%s' is not an architecture gnnc knows", name);
    if (!diag_suggest(fault, NO_SPAN, name, names, n))
        diag_help(fault, "--print-targets lists them");
    return NULL;
}
