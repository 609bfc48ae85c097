#include "quintet/mpi/snp.hpp"

namespace quintet::mpi::snp {

namespace {

class ranks_group : public process_group {
 public:
  explicit ranks_group(communicator& ranks) : ranks_(ranks) {}
  explicit ranks_group(std::unique_ptr<communicator> own) : own_(std::move(own)), ranks_(*own_) {}

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void together(const std::function<void()>& work) override { ranks_.together(work); }
  std::vector<double> allgather(std::span<const double> own) override { return ranks_.allgather(own); }
  std::vector<double> gather(std::span<const double> own) override { return ranks_.gather(own); }
  std::shared_ptr<process_group> split(int part) override {
    return std::make_shared<ranks_group>(std::make_unique<communicator>(ranks_, part));
  }

 private:
  std::unique_ptr<communicator> own_;  // of a part
  communicator& ranks_;
};

}  // namespace

std::shared_ptr<process_group> group_of(communicator& ranks) { return std::make_shared<ranks_group>(ranks); }

}  // namespace quintet::mpi::snp
