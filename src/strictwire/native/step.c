/* The first step of a coroutine, without the exception by which Python tells that it returned. Twin: `pipeline/prime.py`. */

#include "speed.h"

static int
can_be_sent(PyObject *coroutine)
{
    if (PyCoro_CheckExact(coroutine))
        return 1;
    PyObject *send = PyObject_GetAttrString(coroutine, "send");
    Py_XDECREF(send);
    return send != NULL;
}

/* step(coroutine, waits): what it returned in its first step; if it waits for something, what `waits` makes of the two. */
PyObject *
step(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a coroutine is wanted, and what to make of one that waits");
        return NULL;
    }
    PyObject *told = NULL;
    if (!can_be_sent(args[0]) || PyIter_Send(args[0], Py_None, &told) != PYGEN_NEXT)
        return told;
    PyObject *made = PyObject_CallFunctionObjArgs(args[1], args[0], told, NULL);
    Py_DECREF(told);
    return made;
}
