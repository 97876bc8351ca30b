// Included before all else where the bindings are compiled for the stable ABI of 3.12 with the headers of an older
// Python: declares what that ABI has since then and nanobind names. So a wheel that could not be built is found by
// tests that have no newer Python.
#pragma once
#include <Python.h>
#if PY_VERSION_HEX < 0x030C0000
extern "C" {
PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames);
PyObject* PyObject_VectorcallMethod(PyObject* name, PyObject* const* args, size_t nargsf, PyObject* kwnames);
PyObject* PyErr_GetRaisedException(void);
void PyErr_SetRaisedException(PyObject* raised);
}
#endif
