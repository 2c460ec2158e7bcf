/* What the parts of the module `_speed` share. Each part has a twin in Python, which is its definition: see `__init__.py`. */

#ifndef STRICTWIRE_SPEED_H
#define STRICTWIRE_SPEED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* judge.c */
extern PyType_Spec judge_spec;

/* text.c */
void prepare_text(void);
PyObject *quote(PyObject *module, PyObject *raw);
PyObject *keeps_colons(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* sha256.c */
int has_sha256(void);
PyObject *sha256(PyObject *module, PyObject *const *parts, Py_ssize_t count);

#endif
