/* Whether a value fits a schema and is plain JSON throughout: the program of `contract/judge.py`, walked over Python objects.

   A yes is certain. A no only says that somebody else has to look: a part has a type of its own, a number is beyond 64 bits,
   a text is none that can be written, the value is too deep, or it does not fit. No code of Python runs during a walk, for only exact built-in types are looked
   into; so nothing changes meanwhile, and nothing can be raised but for want of memory. */

#include "speed.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <structmember.h>

enum { IS_NULL = 1, IS_BOOL = 2, IS_INT = 4, IS_FLOAT = 8, IS_STR = 16, IS_LIST = 32, IS_DICT = 64 };

#define NOTHING (-1)         /* in the place of a node: no value fits */
#define MAX_STEPS 4000000    /* parts looked at: alternatives of alternatives could take for ever */
#define MAX_FRAMES 1000      /* nodes inside each other, at most: alternatives need not go down into the value */

typedef struct {
    PyObject *name;
    PyObject *seen;              /* the very string that last had this name: parsers give the same one again and again */
    Py_hash_t hash;
    int node;
    int required;
} Member;

typedef struct {
    unsigned int kinds;
    PyObject *listed;            /* a tuple of all that fits, or NULL */
    long long low, high;         /* of numbers; LLONG_MIN and LLONG_MAX where there is no bound */
    int low_open, high_open;     /* whether the bound itself is out */
    Py_ssize_t min_chars, max_chars, min_items, max_items, min_names, max_names;
    int items, others;           /* the node of items, and of members that have no name here */
    Member *members;
    Py_ssize_t member_count, required;
    PyObject *places;            /* from the name of a member to its place */
    int *choices;                /* nodes of which one must fit; nothing else counts then */
    Py_ssize_t choice_count;
} Node;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Node *nodes;
    Py_ssize_t count;
    int depth;
    PyObject *otherwise;         /* who is asked instead of saying no, or NULL */
} Judge;

typedef struct {
    const Judge *judge;
    long steps;
    int frames, depth;
} Walk;

static int fits(Walk *walk, int index, PyObject *value);

static int
is_listed(PyObject *listed, PyObject *value)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(listed); i++) {
        PyObject *each = PyTuple_GET_ITEM(listed, i);
        if (each == value)
            return 1;
        if (Py_TYPE(each) == Py_TYPE(value) && (PyUnicode_CheckExact(value) || PyLong_CheckExact(value))) {
            int same = PyObject_RichCompareBool(each, value, Py_EQ);
            if (same)
                return same;
        }
    }
    return 0;
}

/* Whether a string can be written: it has no half of a surrogate pair. Only wide ones can have one. */
static int
is_text(PyObject *value)
{
    int kind = PyUnicode_KIND(value);
    if (kind == PyUnicode_1BYTE_KIND)
        return 1;
    const void *data = PyUnicode_DATA(value);
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(value); i++)
        if (Py_UNICODE_IS_SURROGATE(PyUnicode_READ(kind, data, i)))
            return 0;
    return 1;
}

static int
fits_str(const Node *node, PyObject *value)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(value);
    return size >= node->min_chars && size <= node->max_chars && is_text(value);
}

static int
fits_int(const Node *node, PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return 0;
    return number >= node->low && number <= node->high && !(node->low_open && number == node->low)
           && !(node->high_open && number == node->high);
}

static int
fits_float(const Node *node, double number)
{
    if (!isfinite(number))
        return 0;
    if (node->low != LLONG_MIN && (number < (double)node->low || (node->low_open && number == (double)node->low)))
        return 0;
    return node->high == LLONG_MAX || number < (double)node->high || (!node->high_open && number == (double)node->high);
}

/* The place of a member by its name, or -1. Members mostly come in the order in which the schema names them. */
static Py_ssize_t
find_member(const Node *node, PyObject *name, Py_ssize_t guess)
{
    if (guess < node->member_count) {
        Member *member = &node->members[guess];
        if (member->seen == name)
            return guess;
        if (PyObject_Hash(name) == member->hash && PyUnicode_Compare(name, member->name) == 0) {
            Py_SETREF(member->seen, Py_NewRef(name));
            return guess;
        }
    }
    PyObject *place = PyDict_GetItemWithError(node->places, name);
    return place == NULL ? -1 : PyLong_AsSsize_t(place);
}

static int
fits_dict(Walk *walk, const Node *node, PyObject *value)
{
    PyObject *name, *part;
    Py_ssize_t at = 0, guess = 0, required = 0;
    Py_ssize_t size = PyDict_GET_SIZE(value);
    if (size < node->min_names || size > node->max_names)
        return 0;
    while (PyDict_Next(value, &at, &name, &part)) {
        if (!PyUnicode_CheckExact(name) || !is_text(name))
            return 0;
        Py_ssize_t place = node->member_count ? find_member(node, name, guess) : -1;
        int next = node->others;
        if (place >= 0) {
            guess = place + 1;
            required += node->members[place].required;
            next = node->members[place].node;
        }
        int found = fits(walk, next, part);
        if (found <= 0)
            return found;
    }
    return required == node->required;
}

static int
fits_list(Walk *walk, const Node *node, PyObject *value)
{
    Py_ssize_t size = PyList_GET_SIZE(value);
    if (size < node->min_items || size > node->max_items)
        return 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        int found = fits(walk, node->items, PyList_GET_ITEM(value, i));
        if (found <= 0)
            return found;
    }
    return 1;
}

static int
fits_container(Walk *walk, const Node *node, PyObject *value, int kind)
{
    if (walk->depth >= walk->judge->depth)
        return 0;
    walk->depth++;
    int found = kind == IS_DICT ? fits_dict(walk, node, value) : fits_list(walk, node, value);
    walk->depth--;
    return found;
}

static int
kind_of(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyUnicode_Type)
        return IS_STR;
    if (type == &PyLong_Type)
        return IS_INT;
    if (type == &PyFloat_Type)
        return IS_FLOAT;
    if (type == &PyDict_Type)
        return IS_DICT;
    if (type == &PyList_Type)
        return IS_LIST;
    if (type == &PyBool_Type)
        return IS_BOOL;
    return value == Py_None ? IS_NULL : 0;
}

static int
fits_choice(Walk *walk, const Node *node, PyObject *value)
{
    int found = 0;
    if (walk->frames >= MAX_FRAMES)
        return 0;
    walk->frames++;
    for (Py_ssize_t i = 0; i < node->choice_count && !found; i++)
        found = fits(walk, node->choices[i], value);
    walk->frames--;
    return found;
}

/* 1 for yes, 0 for no, -1 with an exception. */
static int
fits(Walk *walk, int index, PyObject *value)
{
    if (index == NOTHING || --walk->steps < 0)
        return 0;
    const Node *node = &walk->judge->nodes[index];
    if (node->choice_count)
        return fits_choice(walk, node, value);
    int kind = kind_of(value);
    if (!(kind & node->kinds))
        return 0;
    if (node->listed != NULL)
        return is_listed(node->listed, value);
    switch (kind) {
    case IS_STR:
        return fits_str(node, value);
    case IS_INT:
        return fits_int(node, value);
    case IS_FLOAT:
        return fits_float(node, PyFloat_AS_DOUBLE(value));
    case IS_DICT:
    case IS_LIST:
        return fits_container(walk, node, value, kind);
    default:
        return 1;
    }
}

static PyObject *
judge_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    Judge *judge = (Judge *)self;
    if (PyVectorcall_NARGS(flags) != 1 || names != NULL) {
        PyErr_SetString(PyExc_TypeError, "a judge is asked about one value");
        return NULL;
    }
    Walk walk = {.judge = judge, .steps = MAX_STEPS};
    int found = fits(&walk, 0, args[0]);
    if (found < 0)
        return NULL;
    if (!found && judge->otherwise != NULL)
        return PyObject_CallOneArg(judge->otherwise, args[0]);
    return PyBool_FromLong(found);
}

static int
is_node(const Judge *self, int index)
{
    if (index >= NOTHING && index < self->count)
        return 1;
    PyErr_SetString(PyExc_ValueError, "a program names a node that it does not have");
    return 0;
}

static int
take_member(const Judge *self, Node *node, Py_ssize_t place, PyObject *said)
{
    Member *member = &node->members[place];
    if (!PyTuple_Check(said)) {
        PyErr_SetString(PyExc_TypeError, "a member is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(said, "Uip", &member->name, &member->node, &member->required) || !is_node(self, member->node)) {
        member->name = NULL;
        return -1;
    }
    Py_INCREF(member->name);
    member->seen = Py_NewRef(member->name);
    member->hash = PyObject_Hash(member->name);
    node->required += member->required;
    PyObject *number = PyLong_FromSsize_t(place);
    int failed = number == NULL || PyDict_SetItem(node->places, member->name, number);
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

static int
take_members(const Judge *self, Node *node, PyObject *members)
{
    Py_ssize_t count = PyTuple_GET_SIZE(members);
    node->places = PyDict_New();
    node->members = PyMem_Calloc(count ? count : 1, sizeof(Member));
    if (node->places == NULL || node->members == NULL)
        return -1;
    for (node->member_count = 0; node->member_count < count;) {
        Py_ssize_t place = node->member_count++;
        if (take_member(self, node, place, PyTuple_GET_ITEM(members, place)) < 0)
            return -1;
    }
    return 0;
}

static int
take_choices(const Judge *self, Node *node, PyObject *choices)
{
    node->choice_count = PyTuple_GET_SIZE(choices);
    node->choices = PyMem_Calloc(node->choice_count ? node->choice_count : 1, sizeof(int));
    if (node->choices == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < node->choice_count; i++) {
        node->choices[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(choices, i));
        if (PyErr_Occurred() || !is_node(self, node->choices[i]))
            return -1;
    }
    return 0;
}

/* In the order of `contract.judge.Node`. */
static int
take_node(const Judge *self, Node *node, PyObject *said)
{
    PyObject *listed, *members, *choices;
    if (!PyTuple_Check(said)) {
        PyErr_SetString(PyExc_TypeError, "a node is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(said, "IOLpLpnnnnnniiO!O!", &node->kinds, &listed, &node->low, &node->low_open, &node->high,
                          &node->high_open, &node->min_chars, &node->max_chars, &node->min_items, &node->max_items,
                          &node->min_names, &node->max_names, &node->items, &node->others, &PyTuple_Type, &members,
                          &PyTuple_Type, &choices))
        return -1;
    if (!is_node(self, node->items) || !is_node(self, node->others))
        return -1;
    if (PyTuple_CheckExact(listed))
        node->listed = Py_NewRef(listed);
    return take_members(self, node, members) < 0 ? -1 : take_choices(self, node, choices);
}

static void
judge_dealloc(PyObject *self)
{
    Judge *judge = (Judge *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; judge->nodes != NULL && i < judge->count; i++) {
        Node *node = &judge->nodes[i];
        for (Py_ssize_t j = 0; j < node->member_count; j++) {
            Py_XDECREF(node->members[j].name);
            Py_XDECREF(node->members[j].seen);
        }
        Py_XDECREF(node->listed);
        Py_XDECREF(node->places);
        PyMem_Free(node->members);
        PyMem_Free(node->choices);
    }
    PyMem_Free(judge->nodes);
    Py_XDECREF(judge->otherwise);
    type->tp_free(self);
    Py_DECREF(type);
}

static int
judge_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Judge *)self)->otherwise);
    return 0;
}

static PyObject *
judge_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(names))
{
    PyObject *nodes, *otherwise;
    int depth;
    if (!PyArg_ParseTuple(args, "O!iO", &PyTuple_Type, &nodes, &depth, &otherwise))
        return NULL;
    Judge *self = (Judge *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = judge_call;
    self->depth = depth;
    self->otherwise = otherwise == Py_None ? NULL : Py_NewRef(otherwise);
    self->count = PyTuple_GET_SIZE(nodes);
    self->nodes = PyMem_Calloc(self->count ? self->count : 1, sizeof(Node));
    if (self->nodes == NULL)
        PyErr_NoMemory();
    else if (self->count == 0)
        PyErr_SetString(PyExc_ValueError, "a program has at least one node");
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < self->count; i++)
        if (take_node(self, &self->nodes[i], PyTuple_GET_ITEM(nodes, i)) < 0 && !PyErr_Occurred())
            PyErr_NoMemory();
    if (PyErr_Occurred())
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyMemberDef judge_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Judge, vectorcall), READONLY, NULL},
    {NULL},
};

static PyType_Slot judge_slots[] = {
    {Py_tp_doc, "Judge(program, depth, otherwise): judge(value) is True if it fits and is plain JSON."},
    {Py_tp_new, judge_new},
    {Py_tp_dealloc, judge_dealloc},
    {Py_tp_traverse, judge_traverse},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, judge_members},
    {0, NULL},
};

PyType_Spec judge_spec = {
    .name = "strictwire.native._speed.Judge",
    .basicsize = sizeof(Judge),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = judge_slots,
};
