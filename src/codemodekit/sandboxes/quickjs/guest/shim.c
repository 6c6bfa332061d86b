/* The C half of the guest: QuickJS-NG behind a mailbox.
 *
 * The host writes a message into guest memory, calls one export, and reads one text back. Nothing of the host can be
 * reached from here but a clock, and `names`, which answers with the names of the sources and tools that exist. The
 * JavaScript half (prelude.js) builds `tools`, `console` and the answer texts; this file owns memory, limits, the
 * console's store, randomness and the job queue.
 *
 * The heap with the prelude in it is baked into the module, so an instance starts with everything set up.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

#define EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#define IMPORT(name) __attribute__((import_module("host"), import_name(#name)))

/* Writes nothing: says how long the JSON list of names is (-1: not known now); `names_read` then copies it out. */
IMPORT(names) int32_t host_names(const char *source, int32_t length);
IMPORT(names_read) void host_names_read(char *target);

/* What the host reads in place, also after a trap. Offsets are known to instance.py. */
static struct {
    uint32_t out_of_memory;
    uint32_t log_head, log_head_used;
    uint32_t log_tail, log_tail_used;
    uint32_t log_dropped;
    uint32_t heap_used;
} state;

static JSRuntime *runtime;
static JSContext *context;
static JSValue on_start, on_settle, on_take, on_reject;
static uint8_t small_mail[16384];
static uint8_t *mail = small_mail;
static uint32_t mail_size = sizeof small_mail;
static const char *out;
static int finished;

/* --- memory: accounted here, so that no allocation beyond the limit can be caught by the program ----------------- */

static size_t heap_limit; /* 0 while the heap is being baked */

static void account(size_t size) {
    state.heap_used += size;
    if (heap_limit && state.heap_used > heap_limit) {
        state.out_of_memory = 1;
        __builtin_trap();
    }
}
static void *checked(void *pointer) {
    if (pointer)
        account(malloc_usable_size(pointer));
    else if (heap_limit) {
        state.out_of_memory = 1;
        __builtin_trap();
    }
    return pointer;
}
static void refuse_early(size_t size) {
    if (heap_limit && size > heap_limit) {
        state.out_of_memory = 1;
        __builtin_trap();
    }
}
static void *heap_malloc(void *opaque, size_t size) {
    (void)opaque;
    refuse_early(size);
    return checked(malloc(size));
}
static void *heap_calloc(void *opaque, size_t count, size_t size) {
    (void)opaque;
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    refuse_early(total);
    return checked(calloc(count, size));
}
static void heap_free(void *opaque, void *pointer) {
    (void)opaque;
    if (!pointer)
        return;
    state.heap_used -= malloc_usable_size(pointer);
    free(pointer);
}
static void *heap_realloc(void *opaque, void *pointer, size_t size) {
    if (!size) {
        heap_free(opaque, pointer);
        return NULL;
    }
    refuse_early(size);
    size_t before = pointer ? malloc_usable_size(pointer) : 0;
    void *moved = realloc(pointer, size);
    state.heap_used -= moved ? before : 0;
    return checked(moved);
}
static const JSMallocFunctions heap = {heap_calloc, heap_malloc, heap_free, heap_realloc, malloc_usable_size};

/* --- console: the first and the last entries survive any ending -------------------------------------------------- */

static uint32_t head_size, tail_size, head_entries, tail_entries, head_count, tail_count, head_closed;

static void log_entry(uint8_t level, const char *text, uint32_t length) {
    uint32_t need = 5 + length;
    uint8_t *head = (uint8_t *)(uintptr_t)state.log_head, *tail = (uint8_t *)(uintptr_t)state.log_tail, *place;
    if (!head && !tail) {
        head = malloc(head_size + tail_size);
        if (!head) {
            state.log_dropped++;
            return;
        }
        tail = head + head_size;
        state.log_head = (uint32_t)(uintptr_t)head;
        state.log_tail = (uint32_t)(uintptr_t)tail;
    }
    if (!head_closed && head_count < head_entries && state.log_head_used + need <= head_size) {
        place = head + state.log_head_used;
        state.log_head_used += need;
        head_count++;
    } else {
        head_closed = 1;
        if (need > tail_size || !tail_entries) {
            state.log_dropped++;
            return;
        }
        uint32_t gone = 0;
        while (state.log_tail_used - gone + need > tail_size || tail_count >= tail_entries) {
            uint32_t first;
            memcpy(&first, tail + gone + 1, 4);
            gone += 5 + first;
            tail_count--;
            state.log_dropped++;
        }
        if (gone) {
            memmove(tail, tail + gone, state.log_tail_used - gone);
            state.log_tail_used -= gone;
        }
        place = tail + state.log_tail_used;
        state.log_tail_used += need;
        tail_count++;
    }
    place[0] = level;
    memcpy(place + 1, &length, 4);
    memcpy(place + 5, text, length);
}

/* --- what the prelude is given ----------------------------------------------------------------------------------- */

static uint64_t random_state[2] = {1, 2};

static JSValue native_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc, (void)argv;
    /* xoroshiro128+ (Blackman and Vigna, 2018); the upper 53 bits make the double. */
    uint64_t a = random_state[0], b = random_state[1], sum = a + b;
    b ^= a;
    random_state[0] = ((a << 24) | (a >> 40)) ^ b ^ (b << 16);
    random_state[1] = (b << 37) | (b >> 27);
    return JS_NewFloat64(ctx, (double)(sum >> 11) * 0x1p-53);
}
static JSValue native_log(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc;
    int32_t level = 0;
    size_t length;
    JS_ToInt32(ctx, &level, argv[0]);
    const char *text = JS_ToCStringLen(ctx, &length, argv[1]);
    if (!text)
        return JS_EXCEPTION;
    log_entry((uint8_t)level, text, (uint32_t)length);
    JS_FreeCString(ctx, text);
    return JS_UNDEFINED;
}
static JSValue native_names(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc;
    size_t length = 0;
    const char *source = NULL;
    if (JS_IsString(argv[0]) && !(source = JS_ToCStringLen(ctx, &length, argv[0])))
        return JS_EXCEPTION;
    int32_t size = host_names(source ? source : "", source ? (int32_t)length : -1);
    JS_FreeCString(ctx, source);
    if (size < 0)
        return JS_UNDEFINED;
    char *text = js_malloc(ctx, (size_t)size + 1);
    if (!text)
        return JS_EXCEPTION;
    host_names_read(text);
    JSValue names = JS_NewStringLen(ctx, text, (size_t)size);
    js_free(ctx, text);
    return names;
}
static JSValue native_finish(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)ctx, (void)self, (void)argc, (void)argv;
    finished = 1;
    return JS_UNDEFINED;
}
/* What kind of object the engine holds, whatever its prototype says; the numbers are named in prelude.js. */
enum { PLAIN, ARRAY, ERROR, DATE, BOXED, PROMISE, MAP, SET, REGEXP, WEAK, BINARY, TYPED, ITERATOR, BOXED_OTHER, PROXIED, REVOKED };

/* Classes the engine has no question for are known by samples, given while the heap is baked. */
static struct {
    JSClassID class_id;
    int kind;
} samples[32];
static int sample_count;
static JSClassID plain_class;

static JSValue native_sample(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc;
    int32_t kind = PLAIN;
    JS_ToInt32(ctx, &kind, argv[1]);
    if (kind == PLAIN)
        plain_class = JS_GetClassID(argv[0]);
    else if (sample_count < 32) {
        samples[sample_count].class_id = JS_GetClassID(argv[0]);
        samples[sample_count++].kind = kind;
    }
    return JS_UNDEFINED;
}
static int kind_of(JSValueConst value) {
    JSClassID class_id = JS_GetClassID(value);
    if (class_id == plain_class)
        return PLAIN;
    if (JS_IsArray(value))
        return ARRAY;
    if (JS_IsError(value))
        return ERROR;
    if (JS_IsDate(value))
        return DATE;
    if (JS_IsPromise(value))
        return PROMISE;
    if (JS_IsMap(value))
        return MAP;
    if (JS_IsSet(value))
        return SET;
    if (JS_IsRegExp(value))
        return REGEXP;
    if (JS_IsWeakMap(value) || JS_IsWeakSet(value))
        return WEAK;
    if (JS_IsArrayBuffer(value) || JS_IsDataView(value))
        return BINARY;
    if (JS_GetTypedArrayType(value) >= 0)
        return TYPED;
    for (int i = 0; i < sample_count; i++)
        if (samples[i].class_id == class_id)
            return samples[i].kind;
    return PLAIN;
}
/* A proxy of an array or an error can be read as one; the methods of other built-in objects refuse to work on it. */
static JSValue native_kind(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc;
    if (!JS_IsProxy(argv[0]))
        return JS_NewInt32(ctx, JS_IsObject(argv[0]) ? kind_of(argv[0]) : PLAIN);
    JSValue behind = JS_GetProxyTarget(ctx, argv[0]);
    while (JS_IsProxy(behind)) {
        JSValue next = JS_GetProxyTarget(ctx, behind);
        JS_FreeValue(ctx, behind);
        behind = next;
    }
    if (JS_IsException(behind)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return JS_NewInt32(ctx, REVOKED);
    }
    int kind = JS_IsObject(behind) ? kind_of(behind) : PLAIN;
    JS_FreeValue(ctx, behind);
    return JS_NewInt32(ctx, kind > ERROR ? PROXIED : kind);
}

/* --- what was thrown ---------------------------------------------------------------------------------------------- */

enum { KEPT = 8 };

/* The latest values thrown that are no errors, each with the stack it was thrown with. */
static struct {
    JSValue value, trace;
} thrown[KEPT];
/* The latest errors that the engine itself made at the end of the stack. */
static JSValue overflows[KEPT];
static uint32_t thrown_count, overflow_count;

static int find_thrown(JSContext *ctx, JSValueConst value) {
    for (uint32_t back = 1; back <= KEPT && back <= thrown_count; back++) {
        uint32_t at = (thrown_count - back) % KEPT;
        if (JS_IsSameValue(ctx, thrown[at].value, value))
            return (int)at;
    }
    return -1;
}
bool guest_knows(JSContext *ctx, JSValueConst value) { return find_thrown(ctx, value) >= 0; }
void guest_threw(JSContext *ctx, JSValueConst value, JSValueConst trace) {
    uint32_t at = thrown_count % KEPT;
    if (thrown_count++ >= KEPT) {
        JS_FreeValue(ctx, thrown[at].value);
        JS_FreeValue(ctx, thrown[at].trace);
    }
    thrown[at].value = JS_DupValue(ctx, value);
    thrown[at].trace = JS_DupValue(ctx, trace);
}
void guest_overflowed(JSContext *ctx, JSValueConst error) {
    uint32_t at = overflow_count % KEPT;
    if (overflow_count++ >= KEPT)
        JS_FreeValue(ctx, overflows[at]);
    overflows[at] = JS_DupValue(ctx, error);
}
/* The stack a value that is no error was thrown with; undefined if it never was. */
static JSValue native_trace(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc;
    int at = find_thrown(ctx, argv[0]);
    return at < 0 ? JS_UNDEFINED : JS_DupValue(ctx, thrown[at].trace);
}
static JSValue native_overflowed(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
    (void)self, (void)argc;
    for (uint32_t at = 0; at < KEPT && at < overflow_count; at++)
        if (JS_IsSameValue(ctx, overflows[at], argv[0]))
            return JS_TRUE;
    return JS_FALSE;
}

static void on_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool handled, void *opaque) {
    (void)opaque;
    JSValueConst arguments[3] = {promise, reason, JS_NewBool(ctx, handled)};
    JSValue done = JS_Call(ctx, on_reject, JS_UNDEFINED, 3, arguments);
    if (JS_IsException(done))
        JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, done);
}

static void give(JSValueConst natives, const char *name, JSCFunction *function, int length) {
    JS_SetPropertyStr(context, natives, name, JS_NewCFunction(context, function, name, length));
}

static void shrink_mailbox(void) {
    if (mail != small_mail) {
        free(mail);
        mail = small_mail;
        mail_size = sizeof small_mail;
    }
}

/* --- the exports ------------------------------------------------------------------------------------------------- */

/* Runs once, while the module is baked: 0, or what went wrong is in `out`. */
EXPORT(init) int32_t init(uint32_t length) {
    runtime = JS_NewRuntime2(&heap, NULL);
    context = JS_NewContext(runtime);
    /* Code without a file name is ours: no stack shows it (engine_edits.py). */
    JSValue factory = JS_Eval(context, (char *)mail, length, "", JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
    JSValue natives = JS_NewObject(context);
    give(natives, "random", native_random, 0);
    give(natives, "log", native_log, 2);
    give(natives, "names", native_names, 1);
    give(natives, "finish", native_finish, 0);
    give(natives, "sample", native_sample, 2);
    give(natives, "kind", native_kind, 1);
    give(natives, "trace", native_trace, 1);
    give(natives, "overflowed", native_overflowed, 1);
    JSValue hooks = JS_Call(context, factory, JS_UNDEFINED, 1, (JSValueConst *)&natives);
    if (JS_IsException(hooks)) {
        out = JS_ToCString(context, JS_GetException(context));
        return -1;
    }
    on_start = JS_GetPropertyStr(context, hooks, "start");
    on_settle = JS_GetPropertyStr(context, hooks, "settle");
    on_take = JS_GetPropertyStr(context, hooks, "take");
    on_reject = JS_GetPropertyStr(context, hooks, "reject");
    JS_FreeValue(context, hooks);
    JS_FreeValue(context, natives);
    JS_FreeValue(context, factory);
    JS_SetHostPromiseRejectionTracker(runtime, on_rejection, NULL);
    JS_RunGC(runtime);
    return 0;
}
EXPORT(mailbox_done) void mailbox_done(void) { shrink_mailbox(); }
EXPORT(problem) const char *problem(void) { return out; }
EXPORT(state_address) void *state_address(void) { return &state; }

/* Room for a message of this size; the same place until a bigger one is asked for. */
EXPORT(mailbox) void *mailbox(uint32_t size) {
    if (size > mail_size) {
        if (mail != small_mail)
            free(mail);
        mail = malloc(size);
        mail_size = mail ? size : 0;
    }
    return mail;
}

enum { AFTERMATH = 10000 }; /* jobs that may still run once the program is done, so that late rejections are seen */

static void drain(void) {
    JSContext *ctx;
    for (int left = AFTERMATH; left > 0; left -= finished)
        if (JS_ExecutePendingJob(runtime, &ctx) <= 0)
            return;
}
static uint64_t take(void) {
    drain();
    if (out) {
        JS_FreeCString(context, out);
        out = NULL;
    }
    JSValue text = JS_Call(context, on_take, JS_UNDEFINED, 0, NULL);
    size_t length = 0;
    if (!JS_IsException(text))
        out = JS_ToCStringLen(context, &length, text);
    JS_FreeValue(context, text);
    if (!out) { /* the bridge inside is broken beyond speaking: an empty text says so */
        JS_FreeValue(context, JS_GetException(context));
        return 0;
    }
    return (uint64_t)(uint32_t)(uintptr_t)out << 32 | (uint64_t)length;
}

struct start {
    uint32_t code, context, memory, stack, head_size, tail_size, head_entries, tail_entries, value_bytes, input_bytes;
    int32_t first_line; /* what the engine counts the first line of the code as */
    uint32_t unused;
    uint64_t seed[2];
};

/* The mailbox holds a `struct start`, the code and the JSON of `context`. Runs until the program waits or ends. */
EXPORT(start) uint64_t start(void) {
    struct start with;
    memcpy(&with, mail, sizeof with);
    const char *code = (char *)mail + sizeof with;
    heap_limit = with.memory;
    head_size = with.head_size;
    tail_size = with.tail_size;
    head_entries = with.head_entries;
    tail_entries = with.tail_entries;
    memcpy(random_state, with.seed, sizeof random_state);
    JS_UpdateStackTop(runtime);
    JS_SetMaxStackSize(runtime, with.stack);
    JSValue given = JS_NewStringLen(context, code + with.code + 1, with.context);
    JSEvalOptions options = {JS_EVAL_OPTIONS_VERSION, JS_EVAL_TYPE_GLOBAL, "program.ts", with.first_line};
    JSValue program = JS_Eval2(context, code, with.code, &options);
    JSValue trouble = JS_UNDEFINED;
    if (JS_IsException(program)) {
        trouble = JS_GetException(context);
        program = JS_UNDEFINED;
    }
    JSValueConst arguments[5] = {program, given, trouble, JS_NewUint32(context, with.value_bytes), JS_NewUint32(context, with.input_bytes)};
    JSValue done = JS_Call(context, on_start, JS_UNDEFINED, 5, arguments);
    JS_FreeValue(context, given);
    JS_FreeValue(context, program);
    JS_FreeValue(context, trouble);
    if (JS_IsException(done)) {
        JS_FreeValue(context, JS_GetException(context));
        return 0;
    }
    JS_FreeValue(context, done);
    shrink_mailbox();
    return take();
}

/* The mailbox holds answers, each {u32 call, u32 ok, u32 size} and JSON. Runs until the program waits or ends. */
EXPORT(step) uint64_t step(uint32_t used) {
    JS_UpdateStackTop(runtime);
    for (uint32_t at = 0; at + 12 <= used;) {
        uint32_t head[3];
        memcpy(head, mail + at, sizeof head);
        at += sizeof head;
        JSValue arguments[3] = {JS_NewUint32(context, head[0]), JS_NewBool(context, head[1]),
                                JS_NewStringLen(context, (char *)mail + at, head[2])};
        at += head[2];
        JSValue done = JS_Call(context, on_settle, JS_UNDEFINED, 3, (JSValueConst *)arguments);
        JS_FreeValue(context, arguments[2]);
        if (JS_IsException(done)) {
            JS_FreeValue(context, JS_GetException(context));
            return 0;
        }
        JS_FreeValue(context, done);
    }
    shrink_mailbox();
    return take();
}

int main(void) { return 0; }
