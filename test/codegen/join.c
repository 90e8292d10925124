// PTX of parts becomes one module: one header, files numbered anew, `.loc` with them.
#include "jit_test.h"

#include "ptx_join.h"

#define HEADER ".version 7.8\n.target sm_90\n.address_size 64\n\n"
#define SHARED ".extern .shared .align 128 .b8 gnn_shared[];\n"
#define TAIL "\t.section\t.debug_macinfo\t{\t}\n"

static const char first[] = HEADER
    "\t// .globl\ta\n.visible .entry a()\n{\n\t.loc\t1 5 3\n\tret;\n}\n" TAIL
    "\t.file\t1 \"x.gnn\"\n";
static const char second[] = HEADER SHARED
    "\t// .globl\tb\n.visible .entry b()\n{\n\t.loc\t1 7 2\n\t.loc\t2 9 1\n"
    "\t.loc\t3 12 1\n\tret;\n}\n" TAIL
    "\t.file\t1 \"lib.gnn\"\n\t.file\t2 \"x.gnn\"\n\t.file\t3 \"y.gnn\"\n";
static const char both[] = HEADER SHARED
    "\t// .globl\ta\n.visible .entry a()\n{\n\t.loc\t1 5 3\n\tret;\n}\n"
    "\t// .globl\tb\n.visible .entry b()\n{\n\t.loc\t2 7 2\n\t.loc\t1 9 1\n"
    "\t.loc\t3 12 1\n\tret;\n}\n" TAIL
    "\t.file\t1 \"x.gnn\"\n\t.file\t2 \"lib.gnn\"\n\t.file\t3 \"y.gnn\"\n";

int main(void) {
    arena *a = arena_new();
    cg_output parts[] = {{first, sizeof first - 1, ""}, {second, sizeof second - 1, ""}}, out = {0};
    cg_ptx_join(a, parts, 2, &out);
    CHECK(out.size == sizeof both - 1 && !strcmp(out.data, both));
    cg_ptx_join(a, parts, 1, &out);
    CHECK(!strcmp(out.data, first));
    arena_free(a);
    return failed;
}
