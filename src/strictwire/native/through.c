/* Writes that return when they are on disk, past the memory of the system. Twin: `stores/trail/disk.py`, a write and a sync.

Who waits for a disk asleep is woken late and finds caches cold, and half of what a synced call takes is that. So the write is
handed to the kernel, and its end is looked for while others may run; it is waited for asleep where the disk is so slow that
this does not matter, and now and then where it is not: a sleeper wakes up on the core that hears from the disk, and there the
next writes take two thirds of the time. Linux alone has all this; elsewhere the type says so when it is made. */

#define _GNU_SOURCE
#include "speed.h"

#include <errno.h>

#define BUFFER (256 * 1024)

typedef struct {
    PyObject_HEAD
    int fd;
    unsigned long context; /* 0: none */
    void *buffer;
    int quick;       /* whether the last write ended within a moment */
    unsigned awake;  /* writes since one was waited for asleep */
    int busy;        /* whether a thread is in `write` */
} Through;

#ifdef __linux__
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ALIGNMENT 4096
#define MOMENT 400000 /* nanoseconds: what a quick disk takes at most */
#define IN_A_ROW 64   /* writes that are waited for awake before one is slept for */

static long long
nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void
end_context(Through *self)
{
    if (self->context != 0)
        syscall(SYS_io_destroy, self->context); /* waits for what is under way */
    self->context = 0;
}

static void
let_go(Through *self)
{
    end_context(self);
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
    free(self->buffer);
    self->buffer = NULL;
}

/* The same file, opened once more: whether it, and the system, can be written so. */
static int
prepare(Through *self, int fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    self->fd = open(path, O_WRONLY | O_CLOEXEC | O_DIRECT | O_DSYNC);
    if (self->fd < 0 || syscall(SYS_io_setup, 1, &self->context) < 0)
        return 0;
    errno = posix_memalign(&self->buffer, ALIGNMENT, BUFFER);
    return errno == 0;
}

/* Waits for the one write that is under way: how many bytes it wrote, or a negative errno. */
static long long
wait_for_end(Through *self)
{
    struct io_event event;
    struct timespec at_once = {0, 0};
    long long ends = nanoseconds() + MOMENT;
    long ended;
    while ((ended = syscall(SYS_io_getevents, self->context, 1, 1, &event, &at_once)) == 0 && nanoseconds() < ends)
        sched_yield(); /* the kernel may have to end the write on this very core */
    while (ended == 0 || (ended < 0 && errno == EINTR))
        ended = syscall(SYS_io_getevents, self->context, 1, 1, &event, NULL);
    if (ended < 0) {
        int told = errno;
        end_context(self); /* or the buffer would still be read from */
        return -told;
    }
    return (long long)event.res;
}

static long long
write_awake(Through *self, size_t size, long long offset)
{
    struct iocb piece;
    struct iocb *pieces = &piece;
    memset(&piece, 0, sizeof piece);
    piece.aio_lio_opcode = IOCB_CMD_PWRITE;
    piece.aio_fildes = (unsigned)self->fd;
    piece.aio_buf = (uintptr_t)self->buffer;
    piece.aio_nbytes = size;
    piece.aio_offset = offset;
    return syscall(SYS_io_submit, self->context, 1, &pieces) < 0 ? -errno : wait_for_end(self);
}

static long long
write_asleep(Through *self, size_t size, long long offset)
{
    ssize_t written = pwrite(self->fd, self->buffer, size, offset);
    return written < 0 ? -errno : written;
}

/* One piece of at most a buffer: how many bytes were written, or a negative errno. */
static long long
write_piece(Through *self, const char *from, size_t size, long long offset)
{
    long long began = nanoseconds();
    memcpy(self->buffer, from, size);
    self->awake = self->quick && self->awake < IN_A_ROW ? self->awake + 1 : 0;
    long long written = self->awake ? write_awake(self, size, offset) : write_asleep(self, size, offset);
    self->quick = nanoseconds() - began < MOMENT;
    return written;
}

#else

static void
let_go(Through *Py_UNUSED(self))
{
}

static int
prepare(Through *Py_UNUSED(self), int Py_UNUSED(fd))
{
    errno = ENOSYS;
    return 0;
}

static long long
write_piece(Through *Py_UNUSED(self), const char *Py_UNUSED(from), size_t Py_UNUSED(size), long long Py_UNUSED(offset))
{
    return -ENOSYS;
}

#endif

static PyObject *
refuse(int code)
{
    errno = code;
    return PyErr_SetFromErrno(PyExc_OSError);
}

/* Through(fd) */
static PyObject *
through_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    int fd;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "no names are taken");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "i", &fd))
        return NULL;
    Through *self = (Through *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->fd = -1;
    if (!prepare(self, fd)) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void
through_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    let_go((Through *)object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* write(offset, data): all of the bytes are on disk when it returns. Raises OSError after some of them, or none. */
static PyObject *
through_write(PyObject *object, PyObject *args)
{
    Through *self = (Through *)object;
    long long offset, written = 1;
    const char *from;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "Ly#", &offset, &from, &size))
        return NULL;
    if (self->busy)
        return refuse(EBUSY);
    self->busy = 1;
    while (size > 0 && written > 0) {
        if (self->context == 0)
            written = -EBADF;
        else {
            Py_BEGIN_ALLOW_THREADS
            written = write_piece(self, from, size < BUFFER ? (size_t)size : BUFFER, offset);
            Py_END_ALLOW_THREADS
        }
        if (written > 0) {
            from += written;
            size -= written;
            offset += written;
        }
    }
    self->busy = 0;
    if (written <= 0)
        return refuse(written < 0 ? (int)-written : EIO);
    Py_RETURN_NONE;
}

/* close(): gives the file back. Raises OSError while a thread writes. */
static PyObject *
through_close(PyObject *object, PyObject *Py_UNUSED(nothing))
{
    if (((Through *)object)->busy)
        return refuse(EBUSY);
    let_go((Through *)object);
    Py_RETURN_NONE;
}

static PyMethodDef through_methods[] = {
    {"write", through_write, METH_VARARGS, "Write bytes at a place: they are on disk when it returns."},
    {"close", through_close, METH_NOARGS, "Give the file back."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot through_slots[] = {
    {Py_tp_doc, "A file that is written past the memory of the system, in whole sectors."},
    {Py_tp_new, through_new},
    {Py_tp_dealloc, through_dealloc},
    {Py_tp_methods, through_methods},
    {0, NULL},
};

PyType_Spec through_spec = {
    .name = "strictwire.native._speed.Through",
    .basicsize = sizeof(Through),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = through_slots,
};
