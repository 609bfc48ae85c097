// Neighbours of points that are spread over ranks: those that one process finds.
#include <quintet/mpi/communicator.hpp>
#include <quintet/mpi/distribution.hpp>
#include <quintet/mpi/neighbours.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  bool right = true;
  {
    quintet::mpi::communicator ranks;
    std::vector<float> points;
    for (int i = 0; i < 40; ++i) points.insert(points.end(), {float(i % 7), float(i * i % 11), 0.5f * float(i)});
    const auto mine = quintet::mpi::even_rows(40, ranks.rank(), ranks.size());
    const quintet::matrix_view<const float> all(points.data(), 40, 3),
        own(points.data() + mine.first * 3, mine.count, 3);
    const auto found = quintet::mpi::neighbours::nearest<float>(ranks, own, mine.first, 4);
    const auto whole = quintet::neighbours::nearest<float>(all, 4);
    right = found.index.size() == std::size_t(mine.count) * 4 &&
            std::equal(found.index.begin(), found.index.end(), whole.index.begin() + mine.first * 4);
    right = ranks.minimum(std::int64_t(right)) != 0;
    if (ranks.is_root()) std::printf("%d ranks: %s\n", ranks.size(), right ? "right" : "WRONG");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
