// --seed-fault: a fault in what is run, of its kernels or of the program around them.
#include "unit.h"

#include "testing/program_fault.h"
#include "testing/simt_fault.h"

#include <stdlib.h>
#include <string.h>

static uint32_t kind_count(void) { return SIMT_FAULT_COUNT + PROGRAM_FAULT_COUNT; }

// Kinds of kernels come first.
static const char *kind_text(uint32_t k) {
    return k < SIMT_FAULT_COUNT ? simt_fault_text((simt_fault)k)
                                : program_fault_text((program_fault)(k - SIMT_FAULT_COUNT));
}

static uint32_t sites(program *p, uint32_t k) {
    return k < SIMT_FAULT_COUNT ? simt_fault_sites(p->module, (simt_fault)k)
                                : program_fault_sites(p, (program_fault)(k - SIMT_FAULT_COUNT));
}

static bool apply(program *p, uint32_t k, uint32_t site) {
    return k < SIMT_FAULT_COUNT
               ? simt_fault_apply(p->module, (simt_fault)k, site)
               : program_fault_apply(p, (program_fault)(k - SIMT_FAULT_COUNT), site);
}

static uint32_t kind_of(const char *text, const char *colon) {
    uint32_t k = 0;
    for (; k < kind_count(); k++)
        if (colon && strlen(kind_text(k)) == (size_t)(colon - text) &&
            !strncmp(kind_text(k), text, (size_t)(colon - text)))
            break;
    return k;
}

static void tell_kinds(driver *d, const char *text) {
    diagnostic *fault = usage(d, E0812, "--seed-fault takes KIND:N, not '%s'", text);
    textbuf kinds = textbuf_new(d->arena);
    for (uint32_t k = 0; k < kind_count(); k++)
        textbuf_printf(&kinds, "%s%s", k ? ", " : "", kind_text(k));
    diag_help(fault, "kinds are %s", kinds.data);
}

// What then runs may be wrong in any way, but is simt IR still.
bool seed_fault(driver *d, program *p) {
    const char *text = option_text(d, OPT_SEED_FAULT, ""), *colon = strchr(text, ':');
    uint32_t k = kind_of(text, colon);
    if (k == kind_count()) return tell_kinds(d, text), false;
    uint32_t count = sites(p, k);
    char *end;
    unsigned long site = strtoul(colon + 1, &end, 10);
    bool counted = *end || end == colon + 1, made = !counted && apply(p, k, (uint32_t)site);
    const char *wrong = made ? simt_verify(d->arena, p->module) : NULL;
    if (made && !wrong) return true;
    if (wrong) usage(d, E0812, "--seed-fault=%s: this is no simt IR: %s", text, wrong);
    else usage(d, E0812, "--seed-fault=%s: there are %u sites", text, count);
    return false;
}
