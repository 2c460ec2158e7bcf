/* The module `_speed`. What it holds, and why, is told in `__init__.py`. */

#include "speed.h"

#define FAST(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL

static PyMethodDef functions[] = {
    {"step", FAST(step), "What a coroutine returned in its first step, or the rest of it."},
    {"word_result", FAST(word_result), "The answer around a result, as text and as itself."},
    {"keeps_colons", FAST(keeps_colons), "Whether bytes have as many colons as others, and a number more, and hide none."},
    {NULL, NULL, 0, NULL},
};

/* Those that are there only where the processor can hash. */
static PyMethodDef hashing[] = {
    {"sha256", FAST(sha256), "The SHA-256 of some bytes one after the other."},
    {"write_call", FAST(write_call), "The body of the record of a call that went well."},
    {NULL, NULL, 0, NULL},
};

static int
add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type == NULL)
        return -1;
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static int
fill(PyObject *module)
{
    prepare_text();
    if (add_type(module, &judge_spec) < 0)
        return -1;
    return has_sha256() ? PyModule_AddFunctions(module, hashing) : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "strictwire.native._speed",
    .m_doc = "Inner loops in C.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__speed(void)
{
    return PyModuleDef_Init(&definition);
}
