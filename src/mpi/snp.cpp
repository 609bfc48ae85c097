#include "quintet/mpi/snp.hpp"

namespace quintet::mpi::snp {

namespace {

class ranks_group : public process_group {
 public:
  explicit ranks_group(communicator& ranks) : ranks_(ranks) {}

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void together(const std::function<void()>& work) override { ranks_.together(work); }
  std::vector<double> allgather(std::span<const double> own) override { return ranks_.allgather(own); }
  std::vector<double> gather(std::span<const double> own) override { return ranks_.gather(own); }

 private:
  communicator& ranks_;
};

}  // namespace

std::shared_ptr<process_group> group_of(communicator& ranks) { return std::make_shared<ranks_group>(ranks); }

}  // namespace quintet::mpi::snp
