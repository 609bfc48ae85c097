// What Python calls to load quintet._core. This file is for every processor (-march reaches only the library), and must
// use nothing of nanobind before the comparison: code of templates may be another file's copy.
#include <Python.h>

#include "core/processor.hpp"

/// That of NB_MODULE (module.cpp).
extern "C" PyObject* quintet_init_core();

extern "C" [[gnu::visibility("default")]] PyObject* PyInit__core() {
  if (const char* const sentence = quintet::detail::missing_instructions(quintet::detail::build_tool::pip)) {
    PyErr_SetString(PyExc_ImportError, sentence);
    return nullptr;
  }
  return quintet_init_core();
}
