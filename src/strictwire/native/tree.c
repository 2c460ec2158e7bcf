/* The tree over the audit trail, grown by many leaves at once. Twin: `audit/merkle.py`, which has the words. Only where there
   is `sha256`. */

#include "speed.h"

#include <string.h>

#define MAX_PEAKS 64

typedef struct {
    unsigned char peaks[MAX_PEAKS][HASH];
    int count;
    unsigned long long size;
    unsigned char *known;
} Tree;

static int
count_bits(unsigned long long number)
{
    int count = 0;
    for (; number; number &= number - 1)
        count++;
    return count;
}

static int
is_hash(PyObject *value)
{
    return PyBytes_CheckExact(value) && PyBytes_GET_SIZE(value) == HASH;
}

static int
are_hashes(PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (!is_hash(PyList_GET_ITEM(list, i)))
            return 0;
    return 1;
}

static void
note(Tree *tree, const unsigned char *hash)
{
    memcpy(tree->known, hash, HASH);
    tree->known += HASH;
}

static void
push(Tree *tree, const char *leaf)
{
    unsigned char pair[2 * HASH], node[HASH];
    memcpy(node, leaf, HASH);
    note(tree, node);
    for (unsigned long long rest = tree->size++; rest & 1; rest >>= 1) {
        memcpy(pair, tree->peaks[--tree->count], HASH);
        memcpy(pair + HASH, node, HASH);
        hash_bytes(node, "\1", 1, pair, sizeof(pair));
        note(tree, node);
    }
    memcpy(tree->peaks[tree->count++], node, HASH);
}

static PyObject *
list_peaks(const Tree *tree)
{
    PyObject *peaks = PyList_New(tree->count);
    for (int i = 0; peaks != NULL && i < tree->count; i++) {
        PyObject *peak = PyBytes_FromStringAndSize((const char *)tree->peaks[i], HASH);
        if (peak == NULL)
            Py_CLEAR(peaks);
        else
            PyList_SET_ITEM(peaks, i, peak);
    }
    return peaks;
}

/* grow(size, peaks, leaves): the peaks of a tree with these leaves behind its own, and the hashes that became known. */
PyObject *
grow(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyList_CheckExact(args[1]) || !PyList_CheckExact(args[2]) || !are_hashes(args[1])
        || !are_hashes(args[2])) {
        PyErr_SetString(PyExc_TypeError, "a number and two lists of hashes are wanted");
        return NULL;
    }
    Tree tree = {.count = (int)Py_MIN(PyList_GET_SIZE(args[1]), MAX_PEAKS), .size = PyLong_AsUnsignedLongLong(args[0])};
    if (PyErr_Occurred())
        return NULL;
    unsigned long long leaves = (unsigned long long)PyList_GET_SIZE(args[2]), grown = tree.size + leaves;
    if (tree.size >> 62 || count_bits(tree.size) != PyList_GET_SIZE(args[1])) {
        PyErr_SetString(PyExc_ValueError, "a tree has a peak for each bit of its size");
        return NULL;
    }
    for (int i = 0; i < tree.count; i++)
        memcpy(tree.peaks[i], PyBytes_AS_STRING(PyList_GET_ITEM(args[1], i)), HASH);
    Py_ssize_t hashes = 2 * (Py_ssize_t)leaves + count_bits(tree.size) - count_bits(grown);
    PyObject *known = PyBytes_FromStringAndSize(NULL, hashes * HASH);
    if (known == NULL)
        return NULL;
    tree.known = (unsigned char *)PyBytes_AS_STRING(known);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[2]); i++)
        push(&tree, PyBytes_AS_STRING(PyList_GET_ITEM(args[2], i)));
    PyObject *peaks = list_peaks(&tree);
    if (peaks == NULL) {
        Py_DECREF(known);
        return NULL;
    }
    return Py_BuildValue("NN", peaks, known);
}
