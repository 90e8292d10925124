# Two kernels that are enough for two parts; each ends in an operation no GPU has.
STEPS = 200
print("module m")
for name in "pq":
    print("kernel %s(%%x: ptr.global) block 32 {\n%%a0 = ld f64 %%x" % name)
    for i in range(STEPS):
        print("%%a%d = add f64 %%a%d, %%a%d" % (i + 1, i, i))
    print("%%r = exp2a f64 %%a%d\nst f64 %%x, %%r\nreturn\n}" % STEPS)
