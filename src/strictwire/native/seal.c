/* The audit record of a successful call. Twin: `audit/event.py`. Only where there is `sha256`. */

#include "speed.h"

static char *
put_hex(char *to, const unsigned char *hash)
{
    static const char HEX[] = "0123456789abcdef";
    for (int i = 0; i < HASH; i++) {
        *to++ = HEX[hash[i] >> 4];
        *to++ = HEX[hash[i] & 15];
    }
    return to;
}

static char *
put_hash_of(char *to, PyObject *data)
{
    unsigned char hash[HASH];
    hash_bytes(hash, "", 0, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data));
    return put_hex(to, hash);
}

static char *
put_number(char *to, unsigned long long number)
{
    char digits[DIGITS];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

#define KIND "{\"kind\":\"call\",\"timestamp\":\""
#define OUTCOME "\",\"plan_hash\":null,\"phase_id\":null,\"outcome\":\"ok\",\"result_digest\":\"sha256:"
#define DURATION "\",\"error_code\":null,\"invariant_id\":null,\"cause\":null,\"duration_us\":"

/* write_call(timestamp, opening, args, raw, duration): the body of a record. The opening is what stands between the timestamp
   and the digest of the arguments. */
PyObject *
write_call(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyUnicode_CheckExact(args[0]) || !PyUnicode_CheckExact(args[1]) || !PyBytes_CheckExact(args[2])
        || !PyBytes_CheckExact(args[3])) {
        PyErr_SetString(PyExc_TypeError, "two texts, two bytes and a number are wanted");
        return NULL;
    }
    Py_ssize_t stamp_size, opening_size;
    const char *stamp = PyUnicode_AsUTF8AndSize(args[0], &stamp_size);
    const char *opening = stamp == NULL ? NULL : PyUnicode_AsUTF8AndSize(args[1], &opening_size);
    unsigned long long duration = opening == NULL ? 0 : PyLong_AsUnsignedLongLong(args[4]);
    if (opening == NULL || PyErr_Occurred())
        return NULL;
    PyObject *made = PyBytes_FromStringAndSize(
        NULL, (Py_ssize_t)sizeof(KIND OUTCOME DURATION) + stamp_size + opening_size + 4 * HASH + DIGITS + 1);
    if (made == NULL)
        return NULL;
    char *start = PyBytes_AS_STRING(made), *to = PUT(start, KIND);
    to = put(to, stamp, stamp_size);
    to = put(to, opening, opening_size);
    to = put_hash_of(to, args[2]);
    to = PUT(to, OUTCOME);
    to = put_hash_of(to, args[3]);
    to = PUT(to, DURATION);
    to = put_number(to, duration);
    *to++ = '}';
    _PyBytes_Resize(&made, to - start);
    return made;
}
