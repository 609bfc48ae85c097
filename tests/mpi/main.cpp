// Tests on several ranks: every rank runs all of them. Rank 0 tells how they go, the others only what fails.
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

#include "mpi/ranks.hpp"

namespace {

quintet::mpi::communicator* all_ranks = nullptr;

class failures_only : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.failed())
      std::printf("rank %d: %s:%d: %s\n", all_ranks->rank(), part.file_name(), part.line_number(), part.summary());
  }
};

}  // namespace

quintet::mpi::communicator& quintet::test::ranks() { return *all_ranks; }

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  testing::InitGoogleTest(&argc, argv);
  int status = 1;
  try {
    quintet::mpi::communicator ranks;
    all_ranks = &ranks;
    if (!ranks.is_root()) {
      testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new failures_only);
    }
    status = RUN_ALL_TESTS();
    status = int(ranks.maximum(status));
  } catch (const std::exception& e) {
    quintet::mpi::abort_all(e.what(), 1);
  }
  MPI_Finalize();
  return status;
}
