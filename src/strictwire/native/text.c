/* Bytes of JSON that Python would go through one by one. Twins: `canon/json.py` and `profiles/mcp_results.py`. */

#include "speed.h"

#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_SHUFFLE 1
#include <tmmintrin.h>
#endif

/* Escapes quotes and backslashes one by one: where it ended. */
static unsigned char *
escape_each(unsigned char *to, const unsigned char *from, Py_ssize_t size)
{
    for (Py_ssize_t i = 0; i < size; i++) {
        if (from[i] == '"' || from[i] == '\\')
            *to++ = '\\';
        *to++ = from[i];
    }
    return to;
}

#ifdef HAS_SHUFFLE
static unsigned char spread[256][16];
/* For eight bytes of which some are escaped: where each byte of what they become comes from. Byte 15 holds a backslash. */

static void
fill_spread(void)
{
    for (int mask = 0; mask < 256; mask++)
        for (int i = 0, to = 0; i < 8; i++) {
            if (mask >> i & 1)
                spread[mask][to++] = 15;
            spread[mask][to++] = (unsigned char)i;
        }
}

/* The same eight at a time, ten times as fast: every fifth byte of JSON is a quote. Writes up to 8 bytes more. */
__attribute__((target("ssse3,popcnt"))) static unsigned char *
escape_eights(unsigned char *to, const unsigned char *from, Py_ssize_t size)
{
    const __m128i quotes = _mm_set1_epi8('"'), slashes = _mm_set1_epi8('\\');
    const __m128i last = _mm_slli_si128(_mm_cvtsi32_si128('\\'), 15);
    Py_ssize_t i = 0;
    for (; i + 8 <= size; i += 8) {
        __m128i some = _mm_loadl_epi64((const __m128i *)(from + i));
        __m128i found = _mm_or_si128(_mm_cmpeq_epi8(some, quotes), _mm_cmpeq_epi8(some, slashes));
        int mask = _mm_movemask_epi8(found) & 0xff;
        __m128i made = _mm_shuffle_epi8(_mm_or_si128(some, last), _mm_loadu_si128((const __m128i *)spread[mask]));
        _mm_storeu_si128((__m128i *)to, made);
        to += 8 + __builtin_popcount(mask);
    }
    return escape_each(to, from + i, size - i);
}
#endif

static unsigned char *(*escape)(unsigned char *, const unsigned char *, Py_ssize_t) = escape_each;

void
prepare_text(void)
{
#ifdef HAS_SHUFFLE
    if (__builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")) {
        fill_spread();
        escape = escape_eights;
    }
#endif
}

#define ID "{\"jsonrpc\":\"2.0\",\"id\":"
#define CONTENT ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""
#define STRUCTURED "\"}],\"structuredContent\":"

/* word_result(id, raw, tail): the answer around a result, which is UTF-8 without control characters, as all JSON is that was
   written here. */
PyObject *
word_result(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyBytes_CheckExact(args[0]) || !PyBytes_CheckExact(args[1]) || !PyBytes_CheckExact(args[2])) {
        PyErr_SetString(PyExc_TypeError, "three bytes are wanted");
        return NULL;
    }
    const unsigned char *raw = (const unsigned char *)PyBytes_AS_STRING(args[1]);
    Py_ssize_t size = PyBytes_GET_SIZE(args[1]), around = (Py_ssize_t)sizeof(ID CONTENT STRUCTURED) + 8;
    if (size > PY_SSIZE_T_MAX / 8 || PyBytes_GET_SIZE(args[0]) > PY_SSIZE_T_MAX / 8
        || PyBytes_GET_SIZE(args[2]) > PY_SSIZE_T_MAX / 8)
        return PyErr_NoMemory();
    around += PyBytes_GET_SIZE(args[0]) + PyBytes_GET_SIZE(args[2]);
    PyObject *made = PyBytes_FromStringAndSize(NULL, around + 3 * size);
    if (made == NULL)
        return NULL;
    char *start = PyBytes_AS_STRING(made), *to = PUT_BYTES(PUT(start, ID), args[0]);
    to = (char *)escape((unsigned char *)PUT(to, CONTENT), raw, size);
    to = PUT_BYTES(PUT(to, STRUCTURED), args[1]);
    to = PUT(PUT_BYTES(to, args[2]), "}");
    _PyBytes_Resize(&made, to - start);
    return made;
}

static Py_ssize_t
count_colons(const unsigned char *from, Py_ssize_t size)
{
    Py_ssize_t count = 0;
    while (size > 0) {
        unsigned char few = 0; /* small enough for many of them to be counted at once */
        int block = size < 255 ? (int)size : 255;
        for (int i = 0; i < block; i++)
            few += from[i] == ':';
        count += few;
        from += block;
        size -= block;
    }
    return count;
}

static int
has_hidden_colon(const char *from, Py_ssize_t size)
{
    const char *end = from + size;
    while ((from = memchr(from, '\\', end - from)) != NULL) {
        if (end - from >= 5 && memcmp(from + 1, "u003", 4) == 0)
            return 1;
        from++;
    }
    return 0;
}

/* keeps_colons(raw, written, others): whether raw has as many colons as written, and others, and none is hidden. */
PyObject *
keeps_colons(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyBytes_CheckExact(args[0]) || !PyBytes_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "two bytes and a number are wanted");
        return NULL;
    }
    Py_ssize_t others = PyLong_AsSsize_t(args[2]);
    if (others == -1 && PyErr_Occurred())
        return NULL;
    const char *raw = PyBytes_AS_STRING(args[0]);
    Py_ssize_t size = PyBytes_GET_SIZE(args[0]);
    Py_ssize_t written = count_colons((const unsigned char *)PyBytes_AS_STRING(args[1]), PyBytes_GET_SIZE(args[1]));
    if (count_colons((const unsigned char *)raw, size) != written + others)
        Py_RETURN_FALSE;
    return PyBool_FromLong(!has_hidden_colon(raw, size));
}
