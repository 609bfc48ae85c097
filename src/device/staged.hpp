// Arguments where the work is done: the memory of a view itself if the device of a call can use it, else a dense copy.
//
//   const Device device = run_device(given, {{"points", points}, {"out", out}});
//   const staged_in in(points, device);       // in.view(): what kernels read
//   staged_out to(out, device);               // to.view(): what kernels write
//   launch(kernel{in.view(), to.view()}, tiles, device);
//   to.finish();                              // now `out` has it
//
// Nothing is copied behind the caller's back: without finish() the results of a copy are lost, as they should be when a
// call throws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::device {

/// An argument by its name and its place.
struct located {
  const char* name;
  Device device;

  template <class View>
  located(const char* argument, const View& view) : name(argument), device(view.device()) {}
  located(const char* argument, const Device& where) : name(argument), device(where) {}
};

/// The device of a call. Arguments on the host may be used anywhere, so those on devices decide, else `given` does.
/// Throws InvalidArgument for arguments on two devices, and for one that is not on the device that the caller named.
Device run_device(const Device& requested_device, std::initializer_list<located> arguments);

/// Whether work on `device` can use memory of `where`.
inline bool reaches(const Device& device, const Device& where) {
  return device == where || (device.shares_host_memory() && where.shares_host_memory());
}

namespace detail {

/// Whether the elements of a view fill the memory from the first to the last, in whatever order of the three indices.
struct dimension {
  std::int64_t extent, stride;
};
bool is_dense(dimension a, dimension b, dimension c);
template <class T>
bool is_dense(const batch_view<T>& b) {
  return is_dense({b.batch(), b.batch_stride()}, {b.rows(), b.row_stride()}, {b.cols(), b.col_stride()});
}

template <class T, class U>
bool same_strides(const batch_view<T>& a, const batch_view<U>& b) {
  return (a.batch() <= 1 || a.batch_stride() == b.batch_stride()) &&
         (a.rows() <= 1 || a.row_stride() == b.row_stride()) && (a.cols() <= 1 || a.col_stride() == b.col_stride());
}

/// Row i of a batch, counted through all its matrices.
template <class T>
T* counted_row(const batch_view<T>& b, std::int64_t i) {
  return b.data() + i / b.rows() * b.batch_stride() + i % b.rows() * b.row_stride();
}

/// f(first, last) for rows of the batch that have a few MiB together.
template <class T, class Function>
void for_pieces(const batch_view<T>& b, Function f) {
  const std::int64_t rows = b.batch() * b.rows(), row_bytes = b.cols() * std::int64_t(sizeof(T));
  const std::int64_t piece = std::max<std::int64_t>(1, (std::int64_t(8) << 20) / row_bytes);
  for (std::int64_t first = 0; first < rows; first += piece) f(first, std::min(rows, first + piece));
}

/// `from`, of the host, to memory elsewhere that is dense and row-major or has the same strides. Rows that lie apart
/// are put together on the host: one transfer for each would take longer than all the rest.
template <class T>
void upload(const batch_view<T>& to, const batch_view<const T>& from) {
  const auto copy = [&](T* target, const T* source, std::int64_t count) {
    quintet::detail::copy(target, to.device(), source, from.device(), count * std::int64_t(sizeof(T)));
  };
  const std::int64_t cols = from.cols(), size = from.batch() * from.rows() * cols;
  if (size == 0) return;
  if (is_dense(from) && same_strides(to, from)) return copy(to.data(), from.data(), size);
  std::vector<T> dense;
  for_pieces(from, [&](std::int64_t first, std::int64_t last) {
    dense.clear();
    for (std::int64_t i = first; i < last; ++i) {
      const T* row = counted_row(from, i);
      for (std::int64_t j = 0; j < cols; ++j) dense.push_back(row[j * from.col_stride()]);
    }
    copy(to.data() + first * cols, dense.data(), (last - first) * cols);
  });
}

/// `from`, of any strides, to memory of the host, of any strides.
template <class T>
void download(const batch_view<T>& to, const batch_view<const T>& from) {
  const auto copy = [&](T* target, const T* source, std::int64_t count) {
    quintet::detail::copy(target, to.device(), source, from.device(), count * std::int64_t(sizeof(T)));
  };
  const std::int64_t cols = from.cols(), size = from.batch() * from.rows() * cols;
  if (size == 0) return;
  const bool dense_from = is_dense(from);
  if (dense_from && same_strides(to, from)) return copy(to.data(), from.data(), size);
  std::vector<T> dense;
  for_pieces(from, [&](std::int64_t first, std::int64_t last) {
    dense.resize(static_cast<std::size_t>((last - first) * cols));
    if (dense_from && from.row_stride() == cols && (from.batch() <= 1 || from.batch_stride() == from.rows() * cols))
      copy(dense.data(), counted_row(from, first), (last - first) * cols);
    else
      for (std::int64_t e = 0; e < std::int64_t(dense.size()); e += from.col_stride() == 1 ? cols : 1)
        copy(&dense[e], counted_row(from, first + e / cols) + e % cols * from.col_stride(),
             from.col_stride() == 1 ? cols : 1);
    for (std::int64_t e = 0; e < std::int64_t(dense.size()); ++e)
      counted_row(to, first + e / cols)[e % cols * to.col_stride()] = dense[e];
  });
}

/// A view as batch_view, and back with other memory.
template <class T>
batch_view<T> as_batch(const vector_view<T>& v) {
  return {v.data(), 1, 1, v.size(), v.size(), v.size(), 1, v.device()};
}
template <class T>
batch_view<T> as_batch(const matrix_view<T>& m) {
  return {m.data(), 1, m.rows(), m.cols(), 0, m.stride(), 1, m.device()};
}
template <class T>
const batch_view<T>& as_batch(const batch_view<T>& b) {
  return b;
}
template <class T, class U>
vector_view<T> like(const vector_view<U>& v, T* data, const Device& device) {
  return {data, v.size(), device};
}
template <class T, class U>
matrix_view<T> like(const matrix_view<U>& m, T* data, const Device& device) {
  return {data, m.rows(), m.cols(), device};
}
template <class T, class U>
batch_view<T> like(const batch_view<U>& b, T* data, const Device& device) {
  if (!is_dense(b)) return {data, b.batch(), b.rows(), b.cols(), device};
  return {data, b.batch(), b.rows(), b.cols(), b.batch_stride(), b.row_stride(), b.col_stride(), device};
}

/// Memory on `device` for a dense copy of `view`, and the view of it; neither where the view itself can be used.
template <class View>
class staged {
 public:
  using value_type = typename View::value_type;

  staged() = default;
  staged(const View& view, const Device& device) : original_(view), view_(view) {
    if (reaches(device, view.device())) return;
    const auto shape = as_batch(view);
    copy_ = Buffer<value_type>(shape.batch() * shape.rows() * shape.cols(), device);
    view_ = like<typename View::element_type>(view, copy_.data(), device);
  }
  staged(staged&&) = default;
  staged& operator=(staged&&) = default;

  /// What kernels on the device use.
  const View& view() const { return view_; }
  /// Whether it is a copy.
  bool copied() const { return copy_.size() > 0; }

 protected:
  const View& original() const { return original_; }
  auto copy() { return as_batch(like<value_type>(original_, copy_.data(), copy_.device())); }

 private:
  View original_, view_;
  Buffer<value_type> copy_;
};

}  // namespace detail

/// Values of a view on the host, dense: for checks and messages.
template <class View>
std::vector<typename View::value_type> host_copy(const View& view) {
  using value_type = typename View::value_type;
  const batch_view<const value_type> from = detail::as_batch(view);
  std::vector<value_type> values(static_cast<std::size_t>(from.batch() * from.rows() * from.cols()));
  detail::download<value_type>({values.data(), from.batch(), from.rows(), from.cols()}, from);
  return values;
}

/// A view (of const elements) that kernels on a device read, as long as the original stays as it is.
template <class View>
class staged_in : public detail::staged<View> {
 public:
  staged_in() = default;
  staged_in(const View& view, const Device& device) : detail::staged<View>(view, device) {
    if (!this->copied()) return;
    using value_type = typename View::value_type;
    const batch_view<const value_type> from = detail::as_batch(view);
    if (from.device().shares_host_memory()) {
      detail::upload<value_type>(this->copy(), from);
    } else {  // two devices: through the host
      const auto values = host_copy(view);
      detail::upload<value_type>(this->copy(), {values.data(), from.batch(), from.rows(), from.cols()});
    }
  }
};

/// A view that kernels on a device write, all of it. finish() brings the results to the original.
template <class View>
class staged_out : public detail::staged<View> {
 public:
  using detail::staged<View>::staged;
  staged_out() = default;
  /// Once, when the kernels are done. Throws OutOfMemory, DeviceError.
  void finish() {
    if (this->copied()) detail::download<typename View::value_type>(detail::as_batch(this->original()), this->copy());
  }
};

///@{
/// The type of the view comes from the argument; vectors of the host are views too.
template <class View>
staged_in(const View&, const Device&) -> staged_in<View>;
template <class T>
staged_in(const std::vector<T>&, const Device&) -> staged_in<vector_view<const T>>;
template <class View>
staged_out(const View&, const Device&) -> staged_out<View>;
template <class T>
staged_out(std::vector<T>&, const Device&) -> staged_out<vector_view<T>>;
///@}

/// finish() of each.
template <class... Out>
void finish(Out&... out) {
  (out.finish(), ...);
}

}  // namespace quintet::device
