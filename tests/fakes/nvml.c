/*
 * nvml.c - a scriptable stand-in for libnvidia-ml.so.1, for tests on machines with no GPU.
 * Written from the public NVML struct layouts (as nvidia-ml-py 13.615 declares them). No NVIDIA code.
 *
 * BUILD: see nvml_library.py beside it. -DFAKE_NVML_OLD makes a driver with un-suffixed v1 symbols only (R450 and older).
 * It carries the soname of the real library, so whoever asks for libnvidia-ml.so.1 afterwards gets this one.
 *
 * SCENARIO: env FAKE_NVML_STATE names a text file of key=value lines, re-read on every call when its
 *   (mtime, size, inode) changes, so a test moves VRAM/GPU loss/driver mismatch live: write tmp + os.replace().
 *   Missing file or key = a sane default (one RTX 4090, 24 GiB).
 *
 *   count=1                          number of GPUs
 *   driver=580.95.05  nvml=13.580.95.05  cuda=13000
 *   err.<function>=<nvmlReturn_t>    fail that function everywhere (18 = driver/library mismatch, 9 = driver not loaded,
 *                                    15 = GPU lost, 3 = not supported, 4 = no permission, 10 = timeout, 999 = unknown)
 *   gpu0.err.<function>=<code>       the same for one GPU; gpu0.lost=1 = every call on that GPU returns 15
 *   delay_us.<function>=<n>          sleep in that call (PCIe throughput really blocks ~20 ms); delay_us=<n> for all
 *   gpu0.name gpu0.uuid gpu0.pci (0000:01:00.0)
 *   gpu0.total gpu0.reserved gpu0.used (bytes; free is computed; v1 "used" includes reserved, as R510+ drivers do)
 *   gpu0.util gpu0.memutil gpu0.temp gpu0.power_mw gpu0.power_limit_mw gpu0.power_instant_mw gpu0.fan
 *   gpu0.bus_width (bits)
 *   gpu0.sm_mhz gpu0.mem_mhz gpu0.pstate gpu0.throttle (bit mask) gpu0.energy_mj
 *   gpu0.pcie_rx_kb gpu0.pcie_tx_kb gpu0.pcie_gen gpu0.pcie_width gpu0.mig gpu0.wddm (1 = Windows WDDM)
 *   gpu0.compute=PID:BYTES,PID:NA    compute processes (NA = NVML_VALUE_NOT_AVAILABLE, the WDDM/WSL2 case)
 *   gpu0.graphics=PID:BYTES,...      graphics processes       gpu0.mps=...
 *   gpu0.procutil=PID:SM:MEM,...     nvmlDeviceGetProcessUtilization samples
 *
 * CALL LOG: env FAKE_NVML_LOG names a file; each call appends "function\n" (tests assert the call budget,
 *   e.g. "no process-list call more than once a second", "no NVML call at all while the dGPU is suspended").
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int nvmlReturn_t;
typedef struct dev { unsigned idx; } *nvmlDevice_t;
enum { OK = 0, UNINIT = 1, INVAL = 2, NOTSUP = 3, NOPERM = 4, NOTFOUND = 6, SMALL = 7, LOST = 15, VERMISMATCH = 25 };
#define MAXGPU 16
#define MAXPROC 128
#define MAXSTATE 65536
#define API __attribute__((visibility("default")))

static struct dev g_dev[MAXGPU];
static int g_refs;
static char g_state[MAXSTATE];
static struct stat g_st;
static pthread_mutex_t g_mu = PTHREAD_MUTEX_INITIALIZER;

/* ---- scenario file ---- */
static void load(void) {
    const char *p = getenv("FAKE_NVML_STATE");
    struct stat st;
    if (!p || stat(p, &st) != 0) { g_state[0] = 0; memset(&g_st, 0, sizeof g_st); return; }
    if (st.st_ino == g_st.st_ino && st.st_size == g_st.st_size &&
        st.st_mtim.tv_sec == g_st.st_mtim.tv_sec && st.st_mtim.tv_nsec == g_st.st_mtim.tv_nsec) return;
    FILE *f = fopen(p, "r");
    if (!f) return;
    size_t n = fread(g_state + 1, 1, sizeof g_state - 2, f);
    fclose(f);
    g_state[0] = '\n'; g_state[n + 1] = 0; g_st = st;
}
static int find(const char *key, char *out, size_t cap) {   /* value of the LAST line "key=value" */
    char pat[160]; int hit = 0;
    snprintf(pat, sizeof pat, "\n%s=", key);
    for (char *s = g_state; (s = strstr(s, pat)); ) {
        s += strlen(pat);
        size_t n = strcspn(s, "\r\n");
        if (n >= cap) n = cap - 1;
        memcpy(out, s, n); out[n] = 0; hit = 1;
    }
    return hit;
}
static long long num(const char *key, long long dflt) {
    char b[64];
    return find(key, b, sizeof b) && b[0] ? strtoll(b, NULL, 0) : dflt;
}
static long long gnum(nvmlDevice_t d, const char *key, long long dflt) {
    char k[128]; snprintf(k, sizeof k, "gpu%u.%s", d->idx, key);
    return num(k, dflt);
}
static void gstr(nvmlDevice_t d, const char *key, const char *dflt, char *out, size_t cap) {
    char k[128]; snprintf(k, sizeof k, "gpu%u.%s", d->idx, key);
    if (!find(k, out, cap)) snprintf(out, cap, "%s", dflt);
}
static unsigned count(void) {
    long long c = num("count", 1);
    return c < 0 ? 0 : c > MAXGPU ? MAXGPU : (unsigned)c;
}

/* ---- every exported call passes here: log, delay, injected error ---- */
static nvmlReturn_t enter(const char *fn, nvmlDevice_t d, int need_init) {
    const char *log = getenv("FAKE_NVML_LOG");
    char k[160]; nvmlReturn_t r = OK;
    pthread_mutex_lock(&g_mu);
    load();
    if (log) { FILE *f = fopen(log, "a"); if (f) { fprintf(f, "%s\n", fn); fclose(f); } }
    snprintf(k, sizeof k, "delay_us.%s", fn);
    long long us = num(k, num("delay_us", 0));
    if (need_init && g_refs <= 0) r = UNINIT;
    if (!r) { snprintf(k, sizeof k, "err.%s", fn); r = (int)num(k, 0); }
    if (!r && need_init == 2 && !(d >= g_dev && d < g_dev + MAXGPU && d->idx < count())) r = d ? LOST : INVAL; /* hot-unplug */
    if (!r && need_init == 2) {
        if (gnum(d, "lost", 0)) r = LOST;
        else { snprintf(k, sizeof k, "err.%s", fn); r = (int)gnum(d, k, 0); }
    }
    pthread_mutex_unlock(&g_mu);
    if (us > 0) usleep((useconds_t)us);
    return r;
}
#define SYS()  do { nvmlReturn_t r_ = enter(__func__, NULL, 1); if (r_) return r_; } while (0)
#define DEV(d) do { nvmlReturn_t r_ = enter(__func__, (d), 2); if (r_) return r_; } while (0)

/* ---- init ---- */
static nvmlReturn_t init_common(const char *fn) {
    nvmlReturn_t r = enter(fn, NULL, 0);
    if (!r) r = (int)num("err.nvmlInit", 0);               /* one key fails every flavour of init */
    if (r) return r;
    for (unsigned i = 0; i < MAXGPU; i++) g_dev[i].idx = i;
    g_refs++;
    return OK;
}
API nvmlReturn_t nvmlInit(void) { return init_common(__func__); }
API nvmlReturn_t nvmlShutdown(void) { nvmlReturn_t r = enter(__func__, NULL, 1); if (!r) g_refs--; return r; }
#ifndef FAKE_NVML_OLD
API nvmlReturn_t nvmlInit_v2(void) { return init_common(__func__); }
#endif
API nvmlReturn_t nvmlInitWithFlags(unsigned flags) { (void)flags; return init_common(__func__); }
API const char *nvmlErrorString(nvmlReturn_t r) {
    switch (r) {
    case 0: return "Success"; case 1: return "Uninitialized"; case 2: return "Invalid Argument"; case 3: return "Not Supported";
    case 4: return "Insufficient Permissions"; case 6: return "Not Found"; case 7: return "Insufficient Size";
    case 9: return "Driver Not Loaded"; case 10: return "Timeout"; case 12: return "NVML Shared Library Not Found";
    case 13: return "Function Not Found"; case 15: return "GPU is lost"; case 18: return "Driver/library version mismatch";
    case 21: return "No data"; case 25: return "Argument version mismatch"; default: return "Unknown Error"; }
}

/* ---- system ---- */
static nvmlReturn_t sysstr(const char *key, const char *dflt, char *out, unsigned len) {
    char b[96]; if (!find(key, b, sizeof b)) snprintf(b, sizeof b, "%s", dflt);
    if (strlen(b) + 1 > len) return SMALL;
    strcpy(out, b); return OK;
}
API nvmlReturn_t nvmlSystemGetDriverVersion(char *s, unsigned n) { SYS(); return sysstr("driver", "580.95.05", s, n); }
API nvmlReturn_t nvmlSystemGetNVMLVersion(char *s, unsigned n) { SYS(); return sysstr("nvml", "13.580.95.05", s, n); }
API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *v) { SYS(); *v = (int)num("cuda", 13000); return OK; }
API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *v) { SYS(); *v = (int)num("cuda", 13000); return OK; }
API nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *s, unsigned n) {
    SYS(); char p[64]; snprintf(p, sizeof p, "/proc/%u/comm", pid);
    FILE *f = fopen(p, "r"); if (!f) return NOTFOUND;
    if (!fgets(s, (int)n, f)) s[0] = 0;
    fclose(f); s[strcspn(s, "\n")] = 0; return OK;
}

/* ---- devices ---- */
API nvmlReturn_t nvmlDeviceGetCount(unsigned *n) { SYS(); *n = count(); return OK; }
static nvmlReturn_t by_index(unsigned i, nvmlDevice_t *d) { if (i >= count()) return INVAL; *d = &g_dev[i]; return gnum(*d, "lost", 0) ? LOST : OK; }
API nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned i, nvmlDevice_t *d) { SYS(); return by_index(i, d); }
#ifndef FAKE_NVML_OLD
API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *n) { SYS(); *n = count(); return OK; }
API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned i, nvmlDevice_t *d) { SYS(); return by_index(i, d); }
#else
/* pynvml 13 always asks for these two, and every driver since 2012 has them */
API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *n) { SYS(); *n = count(); return OK; }
API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned i, nvmlDevice_t *d) { SYS(); return by_index(i, d); }
#endif
static void uuid_of(nvmlDevice_t d, char *b, size_t n) {
    char dflt[64]; snprintf(dflt, sizeof dflt, "GPU-00000000-0000-0000-0000-%012u", d->idx); gstr(d, "uuid", dflt, b, n);
}
static void pci_of(nvmlDevice_t d, char *b, size_t n) {
    char dflt[32]; snprintf(dflt, sizeof dflt, "00000000:%02X:00.0", d->idx + 1); gstr(d, "pci", dflt, b, n);
}
API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *u, nvmlDevice_t *d) {
    SYS(); char b[96];
    for (unsigned i = 0; i < count(); i++) { uuid_of(&g_dev[i], b, sizeof b); if (!strcmp(b, u)) { *d = &g_dev[i]; return OK; } }
    return NOTFOUND;
}
API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *u, nvmlDevice_t *d) {
    SYS(); char b[96];
    for (unsigned i = 0; i < count(); i++) {
        pci_of(&g_dev[i], b, sizeof b);
        size_t lb = strlen(b), lu = strlen(u);          /* compare the tails: 0000:01:00.0 vs 00000000:01:00.0 */
        if (lb >= 10 && lu >= 10 && !strcasecmp(b + lb - 10, u + lu - 10)) { *d = &g_dev[i]; return OK; }
    }
    return NOTFOUND;
}
API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *s, unsigned n) {
    DEV(d); char b[96]; gstr(d, "name", "NVIDIA GeForce RTX 4090", b, sizeof b); snprintf(s, n, "%s", b); return OK; }
API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *s, unsigned n) { DEV(d); uuid_of(d, s, n); return OK; }
API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t d, unsigned *i) { DEV(d); *i = d->idx; return OK; }
typedef struct { char legacy[16]; unsigned domain, bus, device, pciDeviceId, pciSubSystemId; char busId[32]; } nvmlPciInfo_t;
API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t *p) {
    DEV(d); memset(p, 0, sizeof *p); pci_of(d, p->busId, sizeof p->busId);
    sscanf(p->busId, "%x:%x:%x", &p->domain, &p->bus, &p->device);
    snprintf(p->legacy, sizeof p->legacy, "%04X:%02X:%02X.0", p->domain & 0xffff, p->bus & 0xff, p->device & 0xff);
    p->pciDeviceId = 0x268410DE; return OK;
}
API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned *cur, unsigned *pend) {
    DEV(d); long long m = gnum(d, "mig", -1); if (m < 0) return NOTSUP; *cur = *pend = (unsigned)m; return OK; }
API nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t d, unsigned *n) { DEV(d); *n = 0; return OK; }
static nvmlReturn_t drvmodel(nvmlDevice_t d, unsigned *c, unsigned *p) {
    long long w = gnum(d, "wddm", -1); if (w < 0) return NOTSUP; *c = *p = w ? 0u : 1u; return OK; }
API nvmlReturn_t nvmlDeviceGetDriverModel(nvmlDevice_t d, unsigned *c, unsigned *p) { DEV(d); return drvmodel(d, c, p); }
#ifndef FAKE_NVML_OLD
API nvmlReturn_t nvmlDeviceGetDriverModel_v2(nvmlDevice_t d, unsigned *c, unsigned *p) { DEV(d); return drvmodel(d, c, p); }
#endif

/* ---- memory ---- */
typedef struct { unsigned long long total, free, used; } mem_v1;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } mem_v2;
_Static_assert(sizeof(mem_v2) == 0x28, "nvmlMemory_v2 is 0x02000028");
static mem_v2 memory(nvmlDevice_t d) {
    mem_v2 m = {0};
    m.total = (unsigned long long)gnum(d, "total", 25757220864LL);      /* RTX 4090: 24564 MiB */
    m.reserved = (unsigned long long)gnum(d, "reserved", 451 * 1048576LL);
    m.used = (unsigned long long)gnum(d, "used", 1 * 1048576LL);        /* v2 meaning: without reserved */
    m.free = m.total > m.used + m.reserved ? m.total - m.used - m.reserved : 0;
    return m;
}
API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, mem_v1 *o) {
    DEV(d); mem_v2 m = memory(d);
    o->total = m.total; o->free = m.free; o->used = m.total - m.free; return OK;   /* v1: used counts reserved (R510+) */
}
#ifndef FAKE_NVML_OLD
API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t d, mem_v2 *o) {
    DEV(d); if (o->version != 0x02000028u) return VERMISMATCH;          /* what a wrong struct version gets */
    unsigned v = o->version; *o = memory(d); o->version = v; return OK;
}
#endif
API nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t d, mem_v1 *o) {
    DEV(d); o->total = 1ULL << 35; o->used = 1 << 20; o->free = o->total - o->used; return OK; }

/* ---- gauges ---- */
#define GAUGE(FN, KEY, DFLT) API nvmlReturn_t FN(nvmlDevice_t d, unsigned *v) { DEV(d); *v = (unsigned)gnum(d, KEY, DFLT); return OK; }
GAUGE(nvmlDeviceGetPowerUsage, "power_mw", 22000)
GAUGE(nvmlDeviceGetMemoryBusWidth, "bus_width", 384)
GAUGE(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw", 450000)
GAUGE(nvmlDeviceGetPowerManagementLimit, "power_limit_mw", 450000)
GAUGE(nvmlDeviceGetFanSpeed, "fan", 0)
GAUGE(nvmlDeviceGetPerformanceState, "pstate", 8)
GAUGE(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen", 4)
GAUGE(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_gen", 4)
GAUGE(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width", 16)
GAUGE(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width", 16)
GAUGE(nvmlDeviceGetPersistenceMode, "persistence", 0)
GAUGE(nvmlDeviceGetDisplayActive, "display", 1)
GAUGE(nvmlDeviceGetNumGpuCores, "cores", 16384)
GAUGE(nvmlDeviceGetMinorNumber, "minor", 0)
API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, unsigned sensor, unsigned *t) { (void)sensor; DEV(d); *t = (unsigned)gnum(d, "temp", 40); return OK; }
API nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t d, unsigned kind, unsigned *t) { DEV(d); *t = kind == 0 ? 104 : 101; return OK; }
API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, unsigned type, unsigned *mhz) {
    DEV(d); *mhz = (unsigned)(type == 2 ? gnum(d, "mem_mhz", 405) : gnum(d, "sm_mhz", 210)); return OK; }
API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, unsigned type, unsigned *mhz) { DEV(d); *mhz = type == 2 ? 10501 : 3105; return OK; }
API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, unsigned u[2]) {
    DEV(d); u[0] = (unsigned)gnum(d, "util", 0); u[1] = (unsigned)gnum(d, "memutil", 0); return OK; }
API nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t d, unsigned *u, unsigned *us) { DEV(d); *u = (unsigned)gnum(d, "enc", 0); *us = 167000; return OK; }
API nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t d, unsigned *u, unsigned *us) { DEV(d); *u = (unsigned)gnum(d, "dec", 0); *us = 167000; return OK; }
API nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t d, unsigned counter, unsigned *kb) {
    DEV(d); *kb = (unsigned)(counter == 0 ? gnum(d, "pcie_tx_kb", 0) : gnum(d, "pcie_rx_kb", 0)); return OK; }
API nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long *mj) { DEV(d); *mj = (unsigned long long)gnum(d, "energy_mj", 123456789); return OK; }
API nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t d, unsigned long long *m) { DEV(d); *m = (unsigned long long)gnum(d, "throttle", 1); return OK; }
#ifndef FAKE_NVML_OLD
API nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t d, unsigned long long *m) { DEV(d); *m = (unsigned long long)gnum(d, "throttle", 1); return OK; }
#endif
typedef struct { uint32_t fieldId, scopeId; int64_t ts, lat; uint32_t valueType; int32_t ret; union { double d; uint32_t u; unsigned long long ull; } v; } fieldval;
API nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t d, int n, fieldval *f) {
    DEV(d);
    for (int i = 0; i < n; i++) {
        f[i].ret = OK; f[i].valueType = 1; f[i].ts = 1; f[i].lat = 1; f[i].v.ull = 0;
        if (f[i].fieldId == 186) f[i].v.u = (uint32_t)gnum(d, "power_instant_mw", gnum(d, "power_mw", 22000));  /* POWER_INSTANT */
        else if (f[i].fieldId == 185) f[i].v.u = (uint32_t)gnum(d, "power_mw", 22000);                           /* POWER_AVERAGE */
        else f[i].ret = NOTSUP;                                /* 82 MEMORY_TEMP is N/A on GeForce */
    }
    return OK;
}

/* ---- processes ---- */
typedef struct { unsigned pid; unsigned long long used; } proc_v1;
typedef struct { unsigned pid; unsigned long long used; unsigned gi, ci; } proc_v2;
_Static_assert(sizeof(proc_v2) == 24, "v2/v3 process info is 24 bytes");
static unsigned procs(nvmlDevice_t d, const char *key, proc_v2 *out) {
    char b[4096]; unsigned n = 0; gstr(d, key, "", b, sizeof b);
    for (char *s = b, *e; *s && n < MAXPROC; s = *e ? e + 1 : e) {
        unsigned long pid = strtoul(s, &e, 10); unsigned long long used = ~0ULL;
        if (e == s) break;
        if (*e == ':') { s = e + 1; if (!strncmp(s, "NA", 2)) e = s + 2; else used = strtoull(s, &e, 0); }
        out[n].pid = (unsigned)pid; out[n].used = used; out[n].gi = out[n].ci = ~0u; n++;
        while (*e && *e != ',') e++;
    }
    return n;
}
static nvmlReturn_t give(nvmlDevice_t d, const char *key, unsigned *cnt, void *infos, int v1) {
    proc_v2 p[MAXPROC]; unsigned n = procs(d, key, p), cap = *cnt;
    *cnt = n;
    if (n == 0) return OK;
    if (cap < n || !infos) return SMALL;
    for (unsigned i = 0; i < n; i++) {
        if (v1) { ((proc_v1 *)infos)[i].pid = p[i].pid; ((proc_v1 *)infos)[i].used = p[i].used; }
        else ((proc_v2 *)infos)[i] = p[i];
    }
    return OK;
}
#define PROCFN(NAME, KEY, V1) API nvmlReturn_t NAME(nvmlDevice_t d, unsigned *n, void *p) { DEV(d); return give(d, KEY, n, p, V1); }
PROCFN(nvmlDeviceGetComputeRunningProcesses, "compute", 1)
PROCFN(nvmlDeviceGetGraphicsRunningProcesses, "graphics", 1)
#ifndef FAKE_NVML_OLD
PROCFN(nvmlDeviceGetComputeRunningProcesses_v2, "compute", 0)
PROCFN(nvmlDeviceGetComputeRunningProcesses_v3, "compute", 0)
PROCFN(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics", 0)
PROCFN(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics", 0)
PROCFN(nvmlDeviceGetMPSComputeRunningProcesses_v2, "mps", 0)
PROCFN(nvmlDeviceGetMPSComputeRunningProcesses_v3, "mps", 0)
#endif
typedef struct { unsigned pid; unsigned long long ts; unsigned sm, mem, enc, dec; } procutil;
API nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t d, procutil *out, unsigned *cnt, unsigned long long since) {
    (void)since; DEV(d);
    char b[2048]; procutil u[MAXPROC]; unsigned n = 0, cap = *cnt; gstr(d, "procutil", "", b, sizeof b);
    for (char *s = b; *s && n < MAXPROC; ) {
        unsigned pid, sm, mem; if (sscanf(s, "%u:%u:%u", &pid, &sm, &mem) != 3) break;
        u[n] = (procutil){pid, 1, sm, mem, 0, 0}; n++;
        s = strchr(s, ','); if (!s) break; s++;
    }
    *cnt = n;
    if (n == 0) return NOTFOUND;                      /* what NVML says when no sample is newer than `since` */
    if (!out || cap < n) return SMALL;
    memcpy(out, u, n * sizeof u[0]); return OK;
}
