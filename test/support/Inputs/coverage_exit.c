// make coverage: a process that ends by _exit, as children of `gnnc test` and crashes do, writes
// its counts first. Linked with -Wl,--wrap=_exit.
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}
