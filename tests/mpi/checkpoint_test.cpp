// Runs that end early and go on from what they wrote down.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ios>
#include <limits>
#include <utility>

#include <unistd.h>

#include "mpi/ranks.hpp"
#include "mpi/spread.hpp"
#include "quintet/mpi/hdbscan.hpp"
#include "support/points.hpp"

namespace quintet {
namespace {

using test::ranks, test::own_rows;
namespace fs = std::filesystem;

/// A folder that all ranks name alike; rank 0 removes it before and after.
class scratch_folder {
 public:
  scratch_folder() {
    path_ = testing::TempDir() + "quintet_checkpoint_" + std::to_string(::getpid());
    ranks().broadcast(path_);
    clear();
  }
  ~scratch_folder() { clear(); }
  const std::string& path() const { return path_; }

 private:
  void clear() {
    ranks().barrier();
    if (ranks().is_root()) fs::remove_all(path_);
    ranks().barrier();
  }
  std::string path_;
};

/// While it lives, step `step` of the work on the last rank fails.
class failing_step {
 public:
  explicit failing_step(int step, const char* kind = "throw") {
    static int number = 0;  // steps are counted anew when the text is another one
    ::setenv("QUINTET_MPI_FAULT", text(kind, ":", ranks().size() - 1, ":", step, ":", ++number).c_str(), 1);
  }
  ~failing_step() { ::unsetenv("QUINTET_MPI_FAULT"); }
};

/// What a run throws whose step `step` fails; empty if it has fewer.
std::string told_by_failing(int step, const test::point_set<float>& points,
                            const hdbscan::spanning_tree_options& options, const mpi::checkpoint_options& saved,
                            const char* kind = "throw") {
  const failing_step fault(step, kind);
  const auto [rows, first] = own_rows(points);
  try {
    mpi::hdbscan::spanning_tree(ranks(), rows, first, options, Device::host(), {}, saved);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// Fails at every step, goes on, and has the edges of one process; returns how many steps there are, and rounds.
std::pair<int, std::int64_t> go_on_from_every_step(const test::point_set<float>& points) {
  const hdbscan::spanning_tree_options options{.min_samples = 4};
  const auto expected = hdbscan::spanning_tree(points.view(), options, Device::host());
  const auto [rows, first] = own_rows(points);
  int step = 0;
  for (;; ++step) {
    SCOPED_TRACE(step);
    const scratch_folder folder;
    mpi::checkpoint_options saved{.folder = folder.path(), .minutes = 0};
    const std::string told = told_by_failing(step, points, options, saved);
    if (told.empty()) break;
    EXPECT_EQ(told, "a fault on purpose");
    saved.resume = true;
    const auto found = mpi::hdbscan::spanning_tree(ranks(), rows, first, options, Device::host(), {}, saved);
    if (ranks().is_root()) {
      EXPECT_EQ(found.edges, expected.edges);
      EXPECT_EQ(found.core_distances, expected.core_distances);
      EXPECT_EQ(found.counters.rounds, expected.counters.rounds);
      EXPECT_TRUE(fs::is_empty(folder.path())) << "nothing remains after the end";
    }
  }
  return {step, expected.counters.rounds};
}

TEST(mpi_checkpoint, goes_on_with_the_same_bits_from_every_step) {
  const auto [steps, rounds] = go_on_from_every_step(test::grid_points<float>(1500, 4, 9, 1));
  EXPECT_EQ(steps, 1 + ranks().size() / 2 + rounds);  // own pairs, the ring, rounds
}

TEST(mpi_checkpoint, goes_on_with_a_tree_of_blocks) {
  const auto [steps, rounds] = go_on_from_every_step(test::grid_points<float>(2500, 2, 40, 4));
  EXPECT_EQ(steps, 1 + rounds);  // lists, rounds
}

TEST(mpi_faults, memory_that_runs_out_on_one_rank_is_one_error) {
  const auto points = test::clustered_points<float>(1200, 8, 5);
  for (int step = 0; step < 1 + ranks().size() / 2 + 2; ++step)
    EXPECT_EQ(told_by_failing(step, points, {}, {}, "memory"),
              "out of memory: 1048576 bytes could not be allocated on host");
}

TEST(mpi_faults, a_slow_rank_changes_nothing) {
  const auto points = test::clustered_points<float>(1200, 8, 6);
  const auto expected = hdbscan::spanning_tree(points.view(), {}, Device::host());
  const failing_step fault(1, "slow");
  const auto [rows, first] = own_rows(points);
  const auto found = mpi::hdbscan::spanning_tree(ranks(), rows, first, {}, Device::host());
  if (ranks().is_root()) {
    EXPECT_EQ(found.edges, expected.edges);
  }
}

void one_rank_goes_on(const test::point_set<float>& points, int lists_steps) {
  const auto expected = hdbscan::spanning_tree(points.view(), {}, Device::host());
  const scratch_folder folder;
  mpi::checkpoint_options saved{.folder = folder.path(), .minutes = 0};
  EXPECT_NE(told_by_failing(lists_steps + 1, points, {}, saved), "");
  // Rank 0 alone goes on.
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(ranks().handle(), ranks().is_root() ? 0 : MPI_UNDEFINED, 0, &part);
  if (ranks().is_root()) {
    {
      mpi::communicator alone(part);
      saved.resume = true;
      const auto found = mpi::hdbscan::spanning_tree(alone, points.view(), 0, {}, Device::host(), {}, saved);
      EXPECT_EQ(found.edges, expected.edges);
    }
    MPI_Comm_free(&part);
  }
}

TEST(mpi_checkpoint, other_numbers_of_ranks_go_on_after_the_lists) {
  one_rank_goes_on(test::clustered_points<float>(1400, 6, 2), 1 + ranks().size() / 2);
  one_rank_goes_on(test::clustered_points<float>(2300, 2, 4), 1);
}

std::string refusal(const mpi::checkpoint_options& saved, const test::point_set<float>& points,
                    const hdbscan::spanning_tree_options& options) {
  const auto [rows, first] = own_rows(points);
  try {
    mpi::hdbscan::spanning_tree(ranks(), rows, first, options, Device::host(), {}, saved);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(mpi_checkpoint, refuses_what_is_of_something_else) {
  auto points = test::clustered_points<float>(1100, 6, 3);
  const scratch_folder folder;
  mpi::checkpoint_options saved{.folder = folder.path(), .minutes = 0};
  EXPECT_NE(told_by_failing(1 + ranks().size() / 2, points, {}, saved), "");
  saved.resume = true;
  const std::string told = "checkpoint folder must be of the same points and options";
  EXPECT_EQ(refusal(saved, points, {.min_samples = 6}).substr(0, told.size()), told);
  const float x = points(1099, 0);
  points(1099, 0) = x + 1;
  EXPECT_EQ(refusal(saved, points, {}).substr(0, told.size()), told);
  points(1099, 0) = x;
  ranks().barrier();
  if (ranks().is_root()) {
    // A bit of the last rank's lists.
    std::string victim;
    for (const auto& file : fs::recursive_directory_iterator(folder.path()))
      if (file.path().filename() == text("rank-", ranks().size() - 1)) victim = file.path();
    std::fstream lists(victim, std::ios::in | std::ios::out | std::ios::binary);
    lists.seekp(100);
    lists.put('x');
  }
  ranks().barrier();
  EXPECT_NE(refusal(saved, points, {}).find("is damaged: its checksum is another one"), std::string::npos);
}

}  // namespace
}  // namespace quintet
