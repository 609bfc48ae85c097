// The start from eigenvectors, on the memory of a test.
#pragma once

#include <barrier>

#include "device/launch.hpp"
#include "svd/eigenvectors.hpp"

namespace quintet::test {

/// A team of a device, of threads of a test.
struct thread_team {
  enum { on_device = 1 };
  int thread, threads;
  std::barrier<>* all;
  int rank() const { return thread; }
  int size() const { return threads; }
  void barrier() const { all->arrive_and_wait(); }
};

template <class Real>
using alone_map = typename svd::host_rows<Real>::map;
template <class Real>
using team_map = svd::rows_map<Real, 2, 1, thread_team>;

// Compiled as the library is. In the test they would be compiled as a test is, and the linker would take its copies of
// these kernels for the library's, too.
template <class Real>
void start_alone(const svd::columns<Real>& m, const svd::start_memory<Real>& at);
/// By every thread of a team, with room for a number of each in `exchange`.
template <class Real>
void start_in_team(const thread_team& team, Real* exchange, const svd::columns<Real>& m,
                   const svd::start_memory<Real>& at);

}  // namespace quintet::test
