// JSON, read: the form of manifests. The text is untrusted; what is made of it lives in a heap, in
// one piece.
//
//     const rt_json *root = rt_json_read(&heap, text, length, &fault);
//     int64_t bits = rt_json_int(rt_json_get(root, "index_bits"));
//
// Every question may be asked of any value and of NULL: what is absent or of another kind is NULL,
// 0 or false.
#ifndef GNNRT_JSON_H
#define GNNRT_JSON_H

#include "context.h"

typedef struct rt_json rt_json;

enum {
    RT_JSON_DEPTH = 24,    // of values in each other
    RT_JSON_MEMBERS = 64   // of an object: they are found one after another
};

typedef struct {
    const char *text;   // NULL: out of memory, which the context tells
    int line;
} rt_json_fault;

// NULL: a fault
const rt_json *rt_json_read(rt_heap *h, const char *text, size_t length, rt_json_fault *fault);
const rt_json *rt_json_get(const rt_json *object, const char *key);
const rt_json *rt_json_at(const rt_json *list, size_t i);
size_t rt_json_count(const rt_json *list);    // of its values
const char *rt_json_text(const rt_json *j);   // no text holds a zero byte
int64_t rt_json_int(const rt_json *j);
// written without a point or an exponent, and of 64 bits
bool rt_json_is_int(const rt_json *j);
bool rt_json_is_list(const rt_json *j);
bool rt_json_is_object(const rt_json *j);
bool rt_json_is_bool(const rt_json *j);
bool rt_json_is_true(const rt_json *j);

#endif
