// What the library was made from, devices, threads.
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "call.hpp"
#include "quintet/core/build_info.hpp"
#include "quintet/device/device.hpp"

namespace quintet::python {

namespace {

nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

nb::dict build() {
  const build_information& info = build_info();
  nb::dict result;
  result["version"] = to_str(info.version);
  result["commit"] = to_str(info.git_hash);
  result["compiler"] = to_str(info.compiler);
  result["build_type"] = to_str(info.build_type);
  result["offload_targets"] = to_str(info.offload_targets);
  result["host_architecture"] = to_str(info.host_architecture);
  return result;
}

nb::list devices() {
  nb::list result;
  for (const Device& device : Device::all())
    result.append(nb::make_tuple(to_str(device.spelling()), to_str(device.name())));
  return result;
}

/// File of the shared object that answers `function` for this module; empty if nobody does.
std::string file_of(const char* function) {
  const void* address = ::dlsym(RTLD_DEFAULT, function);
  if (address == nullptr) {
    // Of the libraries that this module was linked with.
    Dl_info self;
    if (::dladdr(reinterpret_cast<void*>(&build), &self) != 0)
      if (void* handle = ::dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
        address = ::dlsym(handle, function);
        ::dlclose(handle);
      }
  }
  Dl_info info;
  return address != nullptr && ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// Memory of an array with contiguous rows, while the object lives.
class contiguous {
 public:
  explicit contiguous(nb::handle object)
      : held_(PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_ND | PyBUF_FORMAT) == 0) {
    if (!held_) PyErr_Clear();
  }
  contiguous(const contiguous&) = delete;
  contiguous& operator=(const contiguous&) = delete;
  ~contiguous() {
    if (held_) PyBuffer_Release(&buffer_);
  }
  explicit operator bool() const { return held_ && buffer_.format != nullptr; }
  const Py_buffer* operator->() const { return &buffer_; }

 private:
  Py_buffer buffer_{};
  bool held_;
};

/// Whether two arrays of one dimension hold the same integers, 1 or 0; -1 where their types differ or rows are not
/// contiguous, and somebody else has to compare. A fifth of the time of NumPy's ==.
int same_numbers(nb::handle x, nb::handle y) {
  const contiguous a(x), b(y);
  if (!a || !b || a->ndim != 1 || b->ndim != 1 || std::string_view(a->format) != b->format) return -1;
  return a->len == b->len && std::memcmp(a->buf, b->buf, std::size_t(a->len)) == 0 ? 1 : 0;
}

}  // namespace

void bind_config(nb::module_& m) {
  m.def("build_info", &build);
  m.def("devices", &devices);
  m.def("file_of", &file_of, nb::arg("function"));
  // Throws DeviceError for a device that is absent.
  m.def("check_device", [](const std::string& name) { Device::parse(name); }, nb::arg("device"));
  m.def("library_seconds", [] { return std::chrono::duration<double>(library_time).count(); });
  m.def("same_numbers", &same_numbers, nb::arg("x"), nb::arg("y"));
  // Returns the number before.
  m.def("set_own_threads", [](int count) { return std::exchange(own_threads, count); }, nb::arg("count"));
  m.def("set_threads", &set_threads, nb::arg("count"));
  m.def("threads", [] {
    const thread_scope width(own_threads);
    return threads();
  });
}

}  // namespace quintet::python
