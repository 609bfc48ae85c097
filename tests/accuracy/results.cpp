#include "accuracy/results.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "quintet/core/build_info.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/hdf5.hpp"

namespace quintet::accuracy {

namespace {

using json = nlohmann::ordered_json;

// Enough digits to tell errors apart, few enough to read.
double rounded(double x) {
  std::ostringstream out;
  out.precision(4);
  out << x;
  return std::isfinite(x) ? std::stod(out.str()) : x;
}

// JSON has no infinity.
json number(double x) {
  if (std::isnan(x)) return nullptr;
  return std::isinf(x) ? json("inf") : json(rounded(x));
}

void write_text(const std::string& path, const std::string& text) {
  io::atomic_file file(path);
  file.write(text);
  file.commit();
}

std::string line(const std::string& id, const std::string& device, const std::string& quantity,
                 const std::string& text) {
  return id + ", " + device + ": " + quantity + " " + text;
}

std::string shown(double x) {
  std::ostringstream out;
  out.precision(4);
  out << x;
  return out.str();
}

}  // namespace

std::string kind_name(const Device& device) {
  if (device.kind() == device_kind::host) return "host";
  return device.kind() == device_kind::emulated ? "emulated" : "offload";
}

baseline::baseline(const std::string& path) {
  std::ifstream file(path);
  if (!file) return;
  try {
    json::parse(file).at("errors").get_to(errors_);
  } catch (const json::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

double baseline::error_of(const std::string& id, const measurement& m) const {
  const auto found = errors_.find(id);
  if (found == errors_.end()) return std::nan("");
  for (const std::string& device : {m.device, std::string(m.device == "offload" ? "emulated" : m.device)}) {
    const auto of_device = found->second.find(device);
    if (of_device == found->second.end()) continue;
    const auto value = of_device->second.find(m.quantity);
    if (value != of_device->second.end()) return value->second;
  }
  return std::nan("");
}

void baseline::set(const std::string& id, const measurement& m, bool widen) {
  double& value = errors_[id][m.device].try_emplace(m.quantity, 0).first->second;
  value = widen ? std::max(value, rounded(m.errors.max)) : rounded(m.errors.max);
}

void baseline::write(const std::string& path) const {
  std::string all = "{\"errors\": {";
  const char* separator = "\n";
  for (const auto& [id, devices] : errors_) {
    all += separator + json(id).dump() + ": " + json(devices).dump();
    separator = ",\n";
  }
  write_text(path, all + "\n}}\n");
}

double growth_limit(double baseline_error, double bound) {
  return 2 * std::max(baseline_error, std::min(0.5, bound / 16));
}

void results::add(const test_case& c, const case_run& run) {
  const std::string id = c.id();
  for (const measurement& m : run.measurements()) {
    ++measured_;
    const double before = before_.error_of(id, m);
    if (!(m.errors.max <= m.bound))
      failures_.push_back(
          line(id, m.device, m.quantity,
               "has an error of " + shown(m.errors.max) + " " + m.unit + ", the bound is " + shown(m.bound)));
    if (std::isnan(before))
      fresh_.push_back(line(id, m.device, m.quantity, "has no baseline; see --update-baseline"));
    else if (m.errors.max > growth_limit(before, m.bound))
      failures_.push_back(line(id, m.device, m.quantity,
                               "has an error of " + shown(m.errors.max) + " " + m.unit + ", it was " + shown(before)));
  }
  for (const comparison& d : run.comparisons())
    if (!(d.differences.max <= d.bound))
      failures_.push_back(line(id, d.device, d.quantity,
                               d.bound == 0 ? "has not the bits of the host"
                                            : "differs from the host by " + shown(d.differences.max) + " " + d.unit +
                                                  ", the bound is " + shown(d.bound)));
  skipped_ += run.skipped().empty() ? 0 : 1;
  cases_.push_back({c, run.measurements(), run.comparisons(), run.skipped()});
}

json results::json_of(const entry& e) const {
  json one{{"case", e.c.id()}, {"family", e.c.family},          {"operation", e.c.operation},
           {"type", e.c.type}, {"parameters", e.c.parameters},  {"axis", e.c.axis},
           {"fast", e.c.fast}, {"measurements", json::array()}, {"comparisons", json::array()}};
  if (!e.skipped.empty()) one["skipped"] = e.skipped;
  for (const measurement& m : e.measurements)
    one["measurements"].push_back({{"device", m.device},
                                   {"quantity", m.quantity},
                                   {"unit", m.unit},
                                   {"count", m.errors.count},
                                   {"max", number(m.errors.max)},
                                   {"mean", number(m.errors.mean())},
                                   {"bound", number(m.bound)},
                                   {"baseline", number(before_.error_of(e.c.id(), m))}});
  for (const comparison& d : e.comparisons)
    one["comparisons"].push_back({{"device", d.device},
                                  {"quantity", d.quantity},
                                  {"unit", d.unit},
                                  {"count", d.differences.count},
                                  {"max", number(d.differences.max)},
                                  {"bound", number(d.bound)}});
  return one;
}

void results::write_json(const std::string& path) const {
  json all = environment();
  std::vector<std::string> failures = failures_;
  failures.insert(failures.end(), fresh_.begin(), fresh_.end());
  all["failures"] = failures;
  all["cases"] = json::array();
  for (const entry& e : cases_) all["cases"].push_back(json_of(e));
  write_text(path, all.dump(1) + "\n");
}

void results::write_hdf5(const std::string& path) const {
  io::hdf5_writer out(path);
  const json about = environment();
  for (const auto& [part, facts] : about.items()) out.attribute("", part, facts.dump());
  out.attribute("", "columns", "max, mean, bound, baseline");
  for (const entry& e : cases_) {
    for (const measurement& m : e.measurements) {
      const std::string name = "errors/" + e.c.id() + "/" + m.device + "/" + m.quantity;
      out.write<double>(name,
                        std::vector<double>{m.errors.max, m.errors.mean(), m.bound, before_.error_of(e.c.id(), m)});
      out.attribute(name, "unit", m.unit);
      out.attribute(name, "count", m.errors.count);
    }
    for (const comparison& d : e.comparisons) {
      const std::string name = "differences/" + e.c.id() + "/" + d.device + "/" + d.quantity;
      out.write<double>(name, std::vector<double>{d.differences.max, d.differences.mean(), d.bound});
      out.attribute(name, "unit", d.unit);
    }
  }
  out.commit();
}

baseline results::updated(bool widen) const {
  baseline after = before_;
  for (const entry& e : cases_)
    for (const measurement& m : e.measurements) after.set(e.c.id(), m, widen);
  return after;
}

json environment() {
  const build_information& build = build_info();
  json devices = json::array();
  for (const Device& device : Device::all()) devices.push_back({{"kind", kind_name(device)}, {"name", device.name()}});
  return {{"machine", {{"processor", Device::host().name()}, {"cores", std::thread::hardware_concurrency()}}},
          {"build",
           {{"version", build.version},
            {"commit", build.git_hash},
            {"compiler", build.compiler},
            {"build_type", build.build_type},
            {"host_architecture", build.host_architecture},
            {"offload_targets", build.offload_targets},
            {"flags", QUINTET_ACCURACY_FLAGS}}},
          {"devices", devices}};
}

}  // namespace quintet::accuracy
