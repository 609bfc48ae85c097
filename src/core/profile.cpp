#include "quintet/core/profile.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quintet {

namespace detail {

/// A stage within its outer stages.
struct stage_totals {
  explicit stage_totals(const char* name) : stage(name) {}
  stage_totals& inner_of(const char* name) {
    for (const auto& child : inner)
      if (child->stage == name) return *child;
    return *inner.emplace_back(std::make_unique<stage_totals>(name));
  }
  void print(std::string& out, int depth) const {
    double inside = 0;
    for (const auto& child : inner) inside += child->seconds;
    if (depth >= 0) {
      char numbers[64];
      std::snprintf(numbers, sizeof numbers, "%9lld %11.4f %11.4f  ", calls, seconds, seconds - inside);
      out.append(numbers).append(std::size_t(2 * depth), ' ').append(stage) += '\n';
    }
    for (const auto& child : inner) child->print(out, depth + 1);
  }

  std::string stage;
  long long calls = 0;
  double seconds = 0;
  std::vector<std::unique_ptr<stage_totals>> inner;  // in the order in which they first began
};

namespace {

constexpr int not_asked = 1, on = 2;

constinit thread_local stage_region* innermost = nullptr;

/// Of the process. Never destroyed: other objects' destructors may have stages.
struct profile {
  std::mutex mutex;
  bool is_printed = false;
  profile_hook hook;
  stage_totals all{""};

  bool has_hook() const { return hook.begin != nullptr || hook.end != nullptr; }
  static profile& of_process() {
    static profile* const root = new profile;
    return *root;
  }

 private:
  profile() {
    const char* const setting = std::getenv("QUINTET_PROFILE");
    is_printed = setting != nullptr && *setting != '\0' && std::strcmp(setting, "0") != 0;
    if (is_printed) std::atexit([] { of_process().print(); });
  }
  // In one piece, so that the tables of several processes do not mix.
  void print() {
    const std::lock_guard lock(mutex);
    std::string out = "    calls     seconds  own seconds  stage\n";
    all.print(out, -1);
    std::fwrite(out.data(), 1, out.size(), stderr);
    std::fflush(stderr);
  }
};

}  // namespace

constinit std::atomic<int> profile_state{not_asked};

stage_region* innermost_stage() noexcept { return innermost; }

stage_guard::stage_guard(stage_region* stage) noexcept : before_(std::exchange(innermost, stage)) {}
stage_guard::~stage_guard() { innermost = before_; }

}  // namespace detail

void set_profile_hook(const profile_hook& hook) {
  detail::profile& process = detail::profile::of_process();
  const std::lock_guard lock(process.mutex);
  process.hook = hook;
  detail::profile_state = process.has_hook() || process.is_printed ? detail::on : detail::profile_off;
}

void stage_region::begin() {
  using detail::innermost;
  if (innermost != nullptr && std::strcmp(innermost->stage_, stage_) == 0) return;
  {
    detail::profile& process = detail::profile::of_process();
    const std::lock_guard lock(process.mutex);
    if (!process.has_hook() && !process.is_printed) {
      detail::profile_state = detail::profile_off;
      return;
    }
    hook_ = process.hook;
    if (process.is_printed) {
      const bool is_inner = innermost != nullptr && innermost->totals_ != nullptr;
      totals_ = &(is_inner ? *innermost->totals_ : process.all).inner_of(stage_);
    }
  }
  outer_ = innermost;
  innermost = this;
  is_open_ = true;
  if (hook_.begin != nullptr) hook_.begin(hook_.context, stage_);
  if (seconds_ == nullptr) start_ = clock::now();
}

void stage_region::close() {
  const double seconds = std::chrono::duration<double>(clock::now() - start_).count();
  if (hook_.end != nullptr) hook_.end(hook_.context, stage_);
  detail::innermost = outer_;
  is_open_ = false;
  if (totals_ == nullptr) return;
  const std::lock_guard lock(detail::profile::of_process().mutex);
  ++totals_->calls;
  totals_->seconds += seconds;
}

}  // namespace quintet
