/* A public function that says in burn's words what is wrong with the arguments of a call. The interpreter refuses such a call
   before it enters the function: the TypeError has no traceback yet, which tells it from one that the body raised. A right
   call costs one more C call. */
#include <structmember.h>

typedef PyObject *(*burn_shortcut)(PyObject *op, PyObject *x, PyObject *y); /* y is NULL for an op of one tensor */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    burn_shortcut shortcut;
    Py_ssize_t count; /* of arguments by position for the shortcut, 0 without one */
    PyObject *func, *form, *op, *dict, *weak;
    PyObject *first, *tail; /* a compiled path, tried first: first(op, *arguments, *tail) gives None where it does not fit */
    Py_ssize_t least, most; /* arguments by position that it takes */
} burn_method;

static PyObject *burn_method_words;  /* (func, form, args, kwargs, refusal) -> exception */
static PyObject *burn_method_rename; /* (func, form, error): the error of the body speaks of what was called */
static PyObject *burn_method_errors; /* the class of errors that it is given */

static void burn_method_refuse(burn_method *m, PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject *refusal) {
    Py_ssize_t i, k = names ? PyTuple_GET_SIZE(names) : 0;
    PyObject *given = PyTuple_New(n), *named = PyDict_New(), *words = NULL;
    for (i = 0; given && i < n; i++) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    for (i = 0; named && i < k; i++)
        if (PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[n + i])) break;
    if (given && named && !PyErr_Occurred())
        words = PyObject_CallFunctionObjArgs(burn_method_words, m->func, m->form, given, named, refusal, NULL);
    if (words) PyErr_SetObject((PyObject *)Py_TYPE(words), words);
    Py_XDECREF(given);
    Py_XDECREF(named);
    Py_XDECREF(words);
}

#define BURN_METHOD_ROOM 16
static PyObject *burn_method_first(burn_method *m, PyObject *const *args, Py_ssize_t n) {
    PyObject *all[BURN_METHOD_ROOM];
    Py_ssize_t i, more = PyTuple_GET_SIZE(m->tail);
    if (n + more + 1 > BURN_METHOD_ROOM) return Py_NewRef(Py_None);
    all[0] = m->op;
    for (i = 0; i < n; i++) all[1 + i] = args[i];
    for (i = 0; i < more; i++) all[1 + n + i] = PyTuple_GET_ITEM(m->tail, i);
    return PyObject_Vectorcall(m->first, all, (size_t)(1 + n + more), NULL);
}

static PyObject *burn_method_call(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names) {
    burn_method *m = (burn_method *)self;
    PyObject *out, *type, *value, *trace, *done;
    Py_ssize_t n = PyVectorcall_NARGS(nargs);
    int quick = m->count && m->count == n && !names;
    if (m->first && !names && n >= m->least && n <= m->most) {
        quick = 1;
        out = burn_method_first(m, args, n);
        if (out != Py_None) goto done;
        Py_DECREF(out);
        quick = 0;
    }
    out = quick ? m->shortcut(m->op, args[0], m->count == 1 ? NULL : args[1])
                : PyObject_Vectorcall(m->func, args, nargs, names);
done:
    if (out || !burn_method_words) return out;
    if (PyErr_ExceptionMatches(burn_method_errors)) {
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        done = PyObject_CallFunctionObjArgs(burn_method_rename, m->func, m->form, value, NULL);
        if (!done) PyErr_Clear();
        Py_XDECREF(done);
        PyErr_Restore(type, value, trace);
    } else if (!quick && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Fetch(&type, &value, &trace);
        if (trace) {
            PyErr_Restore(type, value, trace);
            return NULL;
        }
        PyErr_NormalizeException(&type, &value, &trace);
        burn_method_refuse(m, args, PyVectorcall_NARGS(nargs), names, value);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    return NULL;
}

static PyObject *burn_method_get(PyObject *self, PyObject *of, PyObject *type) {
    return of == NULL || of == Py_None ? Py_NewRef(self) : PyMethod_New(self, of);
}

static int burn_method_traverse(PyObject *self, visitproc visit, void *arg) {
    burn_method *m = (burn_method *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(m->func);
    Py_VISIT(m->form);
    Py_VISIT(m->op);
    Py_VISIT(m->dict);
    Py_VISIT(m->first);
    Py_VISIT(m->tail);
    return 0;
}

static int burn_method_clear(PyObject *self) {
    burn_method *m = (burn_method *)self;
    Py_CLEAR(m->func);
    Py_CLEAR(m->form);
    Py_CLEAR(m->op);
    Py_CLEAR(m->dict);
    Py_CLEAR(m->first);
    Py_CLEAR(m->tail);
    return 0;
}

static void burn_method_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((burn_method *)self)->weak) PyObject_ClearWeakRefs(self);
    burn_method_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *burn_method_repr(PyObject *self) {
    PyObject *name = PyObject_GetAttrString(self, "__qualname__"), *text;
    if (!name) return NULL;
    text = PyUnicode_FromFormat("<function %S>", name);
    Py_DECREF(name);
    return text;
}

/* pickled, and copied, as what its name leads to */
static PyObject *burn_method_reduce(PyObject *self, PyObject *none) { return PyObject_GetAttrString(self, "__qualname__"); }

static PyTypeObject *burn_method_type(void) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(burn_method, call), READONLY, NULL},
        {"__dictoffset__", T_PYSSIZET, offsetof(burn_method, dict), READONLY, NULL},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(burn_method, weak), READONLY, NULL},
        {NULL, 0, 0, 0, NULL}};
    static PyMethodDef methods[] = {{"__reduce__", burn_method_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyGetSetDef attributes[] = {
        {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_members, members}, {Py_tp_methods, methods}, {Py_tp_getset, attributes}, {Py_tp_call, PyVectorcall_Call},
        {Py_tp_descr_get, burn_method_get}, {Py_tp_traverse, burn_method_traverse}, {Py_tp_clear, burn_method_clear},
        {Py_tp_dealloc, burn_method_free}, {Py_tp_repr, burn_method_repr}, {0, NULL}};
    static PyType_Spec spec = {
        "burn._core.core.function", sizeof(burn_method), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
    static PyTypeObject *type;
    if (!type) type = (PyTypeObject *)PyType_FromSpec(&spec);
    return type;
}

static PyObject *burn_method_new(PyObject *func, PyObject *form, PyObject *op, Py_ssize_t count, burn_shortcut shortcut) {
    PyTypeObject *type = burn_method_type();
    burn_method *m = type ? (burn_method *)type->tp_alloc(type, 0) : NULL;
    if (!m) return NULL;
    m->call = burn_method_call;
    m->func = Py_NewRef(func);
    m->form = Py_NewRef(form);
    m->op = Py_NewRef(op);
    m->count = count;
    m->shortcut = shortcut;
    return (PyObject *)m;
}

static void burn_method_compiled(PyObject *self, PyObject *first, PyObject *op, PyObject *tail, Py_ssize_t least,
                                 Py_ssize_t most) {
    burn_method *m = (burn_method *)self;
    m->first = Py_NewRef(first);
    m->tail = Py_NewRef(tail);
    m->least = least;
    m->most = most;
    Py_XSETREF(m->op, Py_NewRef(op));
}
