#include "spgemm/tuning.hpp"

#include <utility>

namespace quintet::spgemm {

namespace {

tuning process_tuning;

}  // namespace

const tuning& current_tuning() { return process_tuning; }

tuned::tuned(const tuning& t, const options& o) : options(o), previous_(std::exchange(process_tuning, t)) {}
tuned::~tuned() { process_tuning = previous_; }

}  // namespace quintet::spgemm
