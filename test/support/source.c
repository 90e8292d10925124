// The source map: files, lines, ends of files, line endings; and the suggestion of names.
#include "support/support.h"

#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

static void positions(arena *a) {
    source_map *m = source_map_new(a);
    const source_file *f = source_map_add(m, "f", "one\r\ntwo\n\nfour", 14);
    const source_file *empty = source_map_add(m, "empty", "", 0),
                      *g = source_map_add(m, "g", "x\n", 2);
    CHECK(!source_map_position(m, 0).file && !source_map_file(m, 0) && !source_map_file(m, 1000));
    source_position p = source_map_position(m, f->base + 6);
    CHECK(p.file == f && p.line == 2 && p.column == 2);
    p = source_map_position(m, f->base + f->length);
    CHECK(p.file == f && p.line == 4 && p.column == 5);
    p = source_map_position(m, empty->base);
    CHECK(p.file == empty && p.line == 1 && p.column == 1);
    p = source_map_position(m, g->base + 2);
    CHECK(p.file == g && p.line == 2 && p.column == 1);
    uint32_t length;
    const char *line = source_map_line(m, f->base + 2, &length);
    CHECK(length == 3 && !memcmp(line, "one", 3));
    source_map_line(m, f->base + 9, &length);
    CHECK(length == 0);
    line = source_map_line(m, f->base + 14, &length);
    CHECK(length == 4 && !memcmp(line, "four", 4));
}

static void suggestions(void) {
    static const char *const names[] = {"compile", "check", "inspect", "x", "F"};
    CHECK(closest_name("compil", names, 5) == names[0]);
    CHECK(closest_name("chekc", names, 5) == names[1]);
    CHECK(closest_name("INSPECT", names, 5) == names[2]);
    CHECK(closest_name("f", names, 5) == names[4]);
    CHECK(closest_name("checker_of_all", names, 5) == names[1] &&
          closest_name("insp", names, 5) == names[2]);
    CHECK(!closest_name("x", names, 5));   // it is no other name
    CHECK(!closest_name("y", names, 5) && !closest_name("", names, 5) &&
          !closest_name("elsewhere", names, 5));
    char longest[200];
    memset(longest, 'a', 199);
    longest[199] = 0;
    CHECK(!closest_name(longest, names, 5));
}

int main(void) {
    arena *a = arena_new();
    positions(a);
    suggestions();
    arena_free(a);
    return failed;
}
