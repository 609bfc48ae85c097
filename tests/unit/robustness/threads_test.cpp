// What docs/threads.md states: any number of callers, set_threads() for all of them, nested regions, a process's own
// limit, small stacks, and children of fork(). See CMakeLists.txt for the environments it is run in.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/svd/decompose.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet {
namespace {

/// Calls of three families, and the bits that they made when one thread made them.
class calls {
 public:
  calls()
      : points_(test::clustered_points<float>(300, 20, 1)),
        sparse_(test::uniform_matrix<double, std::int32_t>(300, 300, 9, 2)),
        dense_(test::clustered_points<double>(20 * 12, 12, 3)) {
    set_threads(1);
    core_ = core();
    product_ = product();
    values_ = values();
    set_threads(0);
  }
  bool have_the_same_bits() const { return core() == core_ && product() == product_ && values() == values_; }

 private:
  std::vector<float> core() const {
    return hdbscan::core_distances<float>(points_.view(), {5}, Device::host()).distances;
  }
  spgemm::csr<double, std::int32_t> product() const {
    return spgemm::multiply(sparse_.view(), sparse_.view(), {}, Device::host());
  }
  std::vector<double> values() const {
    return svd::decompose<double>({dense_.data.data(), 20, 12, 12}, {}, Device::host()).s;
  }
  test::point_set<float> points_;
  spgemm::csr<double, std::int32_t> sparse_;
  test::point_set<double> dense_;
  std::vector<float> core_;
  spgemm::csr<double, std::int32_t> product_;
  std::vector<double> values_;
};

/// callers threads, each of which makes the calls some times.
void expect_right_from(const calls& all, int callers) {
  std::vector<std::thread> threads;
  std::vector<char> right(std::size_t(callers), 0);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&all, &good = right[t]] {
      good = 1;
      for (int times = 0; times < 3; ++times) good = char(good && all.have_the_same_bits());
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < right.size(); ++t) EXPECT_TRUE(right[t]) << "caller " << t << " of " << callers;
}

/// Runs body() in a child, which has 60 s, and returns whether it ended with true.
template <class Body>
bool true_in_a_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that waits for threads it has not ends by a signal
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Two ways that are right with every runtime. They come first: this process has made no threads yet.
TEST(fork, before_the_first_call) {
  EXPECT_TRUE(true_in_a_child([] {
    const calls all;
    set_threads(2);
    return all.have_the_same_bits();
  }));
}

TEST(fork, after_calls_by_one_thread) {
  EXPECT_TRUE(true_in_a_child([] {
    const calls all;
    set_threads(1);
    return all.have_the_same_bits() && true_in_a_child([&] { return all.have_the_same_bits(); });
  }));
}

// libomp makes new threads in the child; with libgomp it would wait for ever.
#if defined(QUINTET_TEST_LIBOMP)
TEST(fork, after_calls_by_several_threads) {
  const calls all;
  set_threads(4);
  ASSERT_TRUE(all.have_the_same_bits());
  EXPECT_TRUE(true_in_a_child([&] { return all.have_the_same_bits(); }));
  EXPECT_TRUE(all.have_the_same_bits());
  set_threads(0);
}
#endif

TEST(threads, several_callers_with_a_team_each) {
  const calls all;
  for (const int team : {1, 2, 4}) {
    set_threads(team);
    expect_right_from(all, 4);
  }
  set_threads(0);
}

TEST(threads, set_threads_holds_for_every_caller) {
  set_threads(3);
  int seen = 0;
  std::thread([&seen] { seen = threads(); }).join();
  EXPECT_EQ(seen, 3);
  std::thread([] { set_threads(2); }).join();
  EXPECT_EQ(threads(), 2);
  set_threads(0);
  EXPECT_GE(threads(), 1);
}

TEST(threads, calls_within_a_parallel_region) {
  const calls all;
  int right = 0;
#pragma omp parallel num_threads(3) reduction(+ : right)
  right += all.have_the_same_bits() ? 1 : -100;
  EXPECT_GE(right, 1);
}

}  // namespace
}  // namespace quintet
