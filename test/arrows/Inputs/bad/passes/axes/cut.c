bool old(machine *m) { return 80 >= m->arch->sm; }
bool own(machine *m) { return !strcmp(m->name, "sm_90a"); }
bool same(int of, int sm) { return of / 10 == sm / 10; }
