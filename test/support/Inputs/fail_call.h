// Calls of the C library that fail when a test says so. A program is linked with this library, or
// has it preloaded; it stands before the C library, so that calls from the program and from other
// libraries come here first. What the C library calls within itself does not, but its malloc does.
//
// A program that has it preloaded reads what to do from two variables, which it takes out of its
// environment:
//     FAIL_CALL=open,read:7:5    the 7th of all calls of open and read fails with errno 5; 0: it does half of what it was asked to
//     FAIL_CALL=malloc:90:12:on  and all after it fail, too
//     FAIL_LOG=FILE              gets a line about the call that failed: its name and what it was for
// Calls are counted over a process and those it forks.
#ifndef FAIL_CALL_H
#define FAIL_CALL_H

#include <stdbool.h>
#include <stdint.h>

// counted from now, from 1; NULL: none fails
void fail_call(const char *names, int64_t number, int error);
bool fail_call_failed(void);   // whether it has come to that

#endif
