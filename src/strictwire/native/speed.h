/* What the parts of the module `_speed` share. Each part has a twin in Python, which is its definition: see `__init__.py`. */

#ifndef STRICTWIRE_SPEED_H
#define STRICTWIRE_SPEED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string.h>

/* None of the names below is for others, nor may another library's take its place: the C library has a `step`, too. */
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

/* Copies bytes to a place: where they end. */
static inline char *
put(char *to, const void *from, Py_ssize_t size)
{
    memcpy(to, from, (size_t)size);
    return to + size;
}

#define PUT(to, text) put(to, text, sizeof(text) - 1)
#define PUT_BYTES(to, bytes) put(to, PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes))

/* judge.c */
extern PyType_Spec judge_spec;

/* step.c */
PyObject *step(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* text.c */
void prepare_text(void);
PyObject *word_result(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *keeps_colons(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* sha256.c */
#define HASH 32
int has_sha256(void);
void hash_bytes(unsigned char *told, const void *prefix, size_t prefix_size, const void *data, size_t size);
PyObject *sha256(PyObject *module, PyObject *const *parts, Py_ssize_t count);

/* seal.c */
#define DIGITS 20 /* of the largest number of 64 bits */
PyObject *write_call(PyObject *module, PyObject *const *args, Py_ssize_t count);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
