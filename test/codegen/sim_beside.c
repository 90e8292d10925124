// Temporaries of which each lies where others did: a launch that is early must not touch one while
// what was there is in use, and nothing in it is written at first.
#include "jit_test.h"

enum { WORDS = 64 };

// first writes a; second, early, copies b to out and waits: before it touches them (first), or at
// its end.
static const char *const text =
    "module t\n"
    "kernel first(%a: ptr.global) block 32 {\nlaunch.next\n%t = sreg tid\n%p = addr %a, %t * 4\nst i32 %p, %t\nreturn\n}\n"
    "kernel late(%b: ptr.global) block 32 {\nlaunch.next\n%t = sreg tid\n%p = addr %b, %t * 4\nst i32 %p, %t\ngrid.wait\nreturn\n}\n"
    "kernel soon(%b: ptr.global) block 32 {\nlaunch.next\ngrid.wait\n%t = sreg tid\n%p = addr %b, %t * 4\nst i32 %p, %t\nreturn\n}\n"
    "kernel reads(%b: ptr.global, %out: ptr.global) block 32 {\ngrid.wait\n%t = sreg tid\n%p = addr %b, %t * 4\n%q = addr %out, %t * 4\n"
    "%v = ld i32 %p\nst i32 %q, %v\nreturn\n}\n";

static int32_t memory[WORDS], out[WORDS];
static const sim_arg a = {.name = "a", .data = memory, .bytes = 128, .scratch = true},
                     b = {.name = "b", .data = memory + 16, .bytes = 192, .scratch = true},
                     result = {.name = "out", .data = out, .bytes = 128, .result = true};

// second: NULL, or what is launched early behind `first`; reads: then b is copied. fault: NULL, or
// what must be told.
static void expect(const char *second, bool reads, const char *fault) {
    arena *m = arena_new();
    source_map *sources = source_map_new(m);
    diag_set *ds = diag_set_new(m, sources);
    simt_module *module = simt_parse(m, ds,
                                     source_map_add(sources, "test.simt", text, strlen(text)));
    CHECK(module && !simt_verify(m, module));
    sim *s = sim_new(ds, module);
    sim_launch(s, "first", &a, 1, false);
    if (second) sim_launch(s, second, &b, 1, true);
    if (reads) sim_launch(s, "reads", (const sim_arg[]){b, result}, 1, false);
    CHECK((sim_report(s) != 0) == (fault != NULL));
    FILE *f = tmpfile();
    char *told = arena_alloc(m, 4096);
    diag_print(ds, f);
    rewind(f);
    told[fread(told, 1, 4095, f)] = 0;
    fclose(f);
    CHECK(!fault || strstr(told, fault));
    sim_free(s);
    arena_free(m);
}

int main(void) {
    expect("soon", true, NULL);
    expect(
        "late", false,
        "writes memory that it shares with a + 64, which kernel 'first' writes: it may still run");
    expect(NULL, true, "E0722");   // what `first` left there is not b's
    return failed;
}
