#include "quintet/mpi/svd.hpp"

#include "quintet/core/error.hpp"

namespace quintet::mpi::svd {

namespace {

std::string words_of(const quintet::svd::options& o) {
  return text("vectors ", int(o.vectors), ", top ", o.top, ", preconditioning ", int(o.preconditioning), ", accurate ",
              o.accurate, ", signs ", o.canonical_signs, ", rotations ", o.proper_rotations, ", sweeps ", o.max_sweeps,
              ", centre ", o.centre);
}

template <class T>
void collect(communicator& ranks, std::vector<T>& values) {
  std::vector<T> all = ranks.gather(std::span<const T>(values));
  if (ranks.is_root()) values = std::move(all);
}

}  // namespace

template <class T>
quintet::svd::decomposition<T> decompose_own(communicator& ranks, batch_view<const T> own,
                                             const quintet::svd::options& options, const Device& device) {
  ranks.require_same("the options of the decomposition", words_of(options));
  ranks.require_same("the size of the matrices", text(own.rows(), " x ", own.cols()));
  ranks.phase("decompose");
  quintet::svd::options part = options;
  part.part_of = ranks.sum(own.batch());
  quintet::svd::decomposition<T> d;
  ranks.run_collectively([&] { d = quintet::svd::decompose<T>(own, part, device); });
  return d;
}

template <class T>
quintet::svd::decomposition<T> decompose(communicator& ranks, batch_view<const T> own,
                                         const quintet::svd::options& options, const Device& device) {
  quintet::svd::decomposition<T> d = decompose_own<T>(ranks, own, options, device);
  ranks.phase("gather");
  collect(ranks, d.u);
  collect(ranks, d.s);
  collect(ranks, d.v);
  collect(ranks, d.status);
  collect(ranks, d.sweeps);
  collect(ranks, d.means);
  if (ranks.is_root()) d.batch = std::int64_t(d.status.size());
  return d;
}

#define QUINTET_INSTANTIATE(T)                                                                                        \
  template quintet::svd::decomposition<T> decompose(communicator&, batch_view<const T>, const quintet::svd::options&, \
                                                    const Device&);                                                   \
  template quintet::svd::decomposition<T> decompose_own(communicator&, batch_view<const T>,                           \
                                                        const quintet::svd::options&, const Device&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)

}  // namespace quintet::mpi::svd
