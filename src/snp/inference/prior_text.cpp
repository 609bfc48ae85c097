// The keys of prior files.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/parse_number.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "snp/inference/species_rules.hpp"
#include "snp/network/joined_names.hpp"

namespace quintet::snp {

namespace {

using family = univariate_prior::family;

constexpr const char* known_keys =
    "network, speciation-rate, netdiv, hybridization-rate, turnover, origin, inheritance, theta, theta-mean, pi1, "
    "calibrate A,B (or calibrate root), monophyletic, outgroup, backbone, clock, generation-time";
constexpr std::string_view calibrate = "calibrate ";

std::string_view trimmed(std::string_view word) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!word.empty() && is_blank(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_blank(word.back())) word.remove_suffix(1);
  return word;
}

// Where a comment begins. Within a tree '#' would mark a reticulation, so there it needs a blank before it.
std::size_t comment_in(std::string_view line) {
  std::size_t mark = line.find('#');
  if (trimmed(line).starts_with("backbone"))
    while (mark != std::string_view::npos && mark > 0 && line[mark - 1] != ' ' && line[mark - 1] != '\t')
      mark = line.find('#', mark + 1);
  return mark;
}

std::string number_text(double x) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, x);
  return {digits, end};
}

std::vector<std::string> split_names(std::string_view words) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t comma = words.find(',');
    names.emplace_back(trimmed(words.substr(0, comma)));
    if (comma == std::string_view::npos) return names;
    words.remove_prefix(comma + 1);
  }
}

// name(a, b) with its numbers.
struct call {
  std::string name;
  std::vector<double> numbers;
};

class prior_parser {
 public:
  void begin_source(std::string name) {
    sources_.push_back(std::move(name));
    line_ = 0;
  }

  void read_line(std::string_view line) {
    ++line_;
    line = trimmed(line.substr(0, comment_in(line)));
    if (line.empty()) return;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) fail(quintet::text("expected key = value, found \"", line, "\""));
    key_ = trimmed(line.substr(0, equals));
    value_ = trimmed(line.substr(equals + 1));
    // Several sets may be monophyletic.
    const std::string known = key_ == "monophyletic" ? key_ + " = " + value_ : key_;
    if (const auto [earlier, is_new] = lines_.emplace(known, current_place()); !is_new)
      fail(quintet::text("the key ", known, " was set in ",
                         earlier->second.source == current_place().source ? quintet::text("line ", earlier->second.line)
                                                                          : name_of(earlier->second)));
    set();
  }

  prior_options finish() {
    exclude("speciation-rate", "netdiv");
    exclude("hybridization-rate", "turnover");
    const bool is_phylonet =
        priors_.network == network_prior::phylonet || priors_.network == network_prior::phylonet_ee;
    if (is_phylonet) {
      for (const auto& [key, line] : lines_)
        if (key != "network" && key != "pi1" && !is_of_species(key))
          fail_at(line, quintet::text("network = phylonet leaves no choice of ", key));
      priors_.origin = {family::fixed, 10, 1};
      priors_.thetas = theta_mode::common;
      priors_.theta = {family::gamma, 2, 1};
      priors_.theta_mean = univariate_prior{family::lognormal, 0, 1};  // a place for m; its density is 1/m
      priors_.speciation_rate = 1;
      priors_.hybridization_rate = 1;
    }
    if (priors_.theta_mean.has_value() && !is_phylonet) {
      const place line = lines_.at("theta-mean");
      if (priors_.theta.kind != family::gamma || priors_.thetas != theta_mode::each || theta_rates_ != 0)
        fail_at(line, "theta-mean needs theta = each gamma(shape)");
    } else if (theta_rates_ == 0 && !is_phylonet) {
      fail_at(lines_.at("theta"), "theta = each gamma(shape) needs theta-mean, otherwise gamma(shape, rate)");
    }
    return priors_;
  }

 private:
  // A line of a source.
  struct place {
    std::size_t source;
    std::int64_t line;
    auto operator<=>(const place&) const = default;
  };
  place current_place() const { return {sources_.size() - 1, line_}; }
  std::string name_of(const place& of) const { return quintet::text(sources_[of.source], ":", of.line); }
  void keep_place(const std::string& rule) { priors_.places.emplace(rule, name_of(current_place())); }

  static bool is_of_species(const std::string& key) {
    return key.starts_with(calibrate) || key.starts_with("monophyletic") || key == "outgroup" || key == "backbone";
  }

  [[noreturn]] void fail_at(const place& of, const std::string& why) const {
    throw FileError(sources_[of.source], of.line, why);
  }
  [[noreturn]] void fail(const std::string& why) const { fail_at(current_place(), why); }
  [[noreturn]] void fail_value(const char* allowed) const {
    fail(quintet::text(key_, " must be ", allowed, " (", key_, " = ", value_, ")"));
  }

  void exclude(const char* key, const char* other) const {
    const auto a = lines_.find(key), b = lines_.find(other);
    if (a != lines_.end() && b != lines_.end())
      fail_at(std::max(a->second, b->second), quintet::text("the keys ", key, " and ", other, " exclude each other"));
  }

  bool read_number(std::string_view word, double& value) const {
    const char *begin = word.data(), *end = begin + word.size();
    return !word.empty() && parse_number(&begin, end, value) == parse_status::ok && begin == end &&
           std::isfinite(value);
  }

  call read_call(std::string_view word, const char* allowed) const {
    call result;
    const std::size_t open = word.find('(');
    result.name = trimmed(word.substr(0, open));
    if (open == std::string_view::npos) return result;
    if (word.back() != ')') fail_value(allowed);
    std::string_view rest = word.substr(open + 1, word.size() - open - 2);
    for (;;) {
      const std::size_t comma = rest.find(',');
      double value = 0;
      if (!read_number(trimmed(rest.substr(0, comma)), value)) fail_value(allowed);
      result.numbers.push_back(value);
      if (comma == std::string_view::npos) return result;
      rest.remove_prefix(comma + 1);
    }
  }

  // A density of a height; exponential and gamma may have an offset.
  univariate_prior read_height_density() const {
    constexpr const char* allowed =
        "normal(mean,sd) or uniform(a,b) with 0 <= a < b, lognormal(mu,sigma), exponential(mean[,offset]) or "
        "gamma(shape,rate[,offset]); other numbers > 0 (mu: any, offset: >= 0)";
    call read = read_call(value_, allowed);
    const std::map<std::string, std::pair<family, std::size_t>> forms{{"normal", {family::normal, 2}},
                                                                      {"lognormal", {family::lognormal, 2}},
                                                                      {"uniform", {family::uniform, 2}},
                                                                      {"exponential", {family::exponential, 1}},
                                                                      {"gamma", {family::gamma, 2}}};
    const auto form = forms.find(read.name);
    if (form == forms.end()) fail_value(allowed);
    const auto [kind, numbers] = form->second;
    univariate_prior density{kind};
    if ((kind == family::exponential || kind == family::gamma) && read.numbers.size() == numbers + 1) {
      density.offset = read.numbers.back();
      read.numbers.pop_back();
    }
    if (read.numbers.size() != numbers) fail_value(allowed);
    density.a = read.numbers[0];
    if (numbers == 2) density.b = read.numbers[1];
    const bool is_a_right = kind == family::lognormal ? true
                            : kind == family::uniform ? density.a >= 0 && density.a < density.b
                                                      : density.a > 0;
    if (!is_a_right || !(density.b > 0) || !(density.offset >= 0)) fail_value(allowed);
    return density;
  }

  void set_calibration() {
    const std::string_view words = trimmed(std::string_view(key_).substr(calibrate.size()));
    calibration dated{{}, read_height_density()};
    if (words != "root") {
      dated.species = split_names(words);
      if (dated.species.size() < 2)
        fail(quintet::text(key_, " must name two or more species with commas between, or root"));
      require_different(dated.species);
    }
    keep_place(calibration_rule(dated.species));
    priors_.calibrations.push_back(std::move(dated));
  }

  std::vector<std::string> read_names() const {
    std::vector<std::string> names = split_names(value_);
    require_different(names);
    return names;
  }

  void require_different(std::vector<std::string> names) const {
    std::sort(names.begin(), names.end());
    if (names.front().empty() || std::adjacent_find(names.begin(), names.end()) != names.end())
      fail(quintet::text(key_, " must have different names with commas between (", key_, " = ", value_, ")"));
  }

  void set_monophyletic() {
    std::vector<std::string> names = read_names();
    if (names.size() < 2) fail_value("two or more species with commas between");
    keep_place(species_rule("monophyletic", names));
    priors_.monophyletic.push_back(std::move(names));
  }

  void set_clock() {
    constexpr const char* allowed = "a rate > 0, fixed(x) or lognormal(mu,sigma)";
    double rate = 0;
    if (read_number(value_, rate)) {
      if (!(rate > 0)) fail_value(allowed);
      priors_.clock = univariate_prior{family::fixed, rate, 1};
    } else {
      priors_.clock = read_density(value_, {family::fixed, family::lognormal}, allowed);
    }
  }

  // One of the families, with as many numbers in their ranges.
  univariate_prior read_density(std::string_view word, std::initializer_list<family> families, const char* allowed,
                                bool may_lack_rate = false) const {
    const call read = read_call(word, allowed);
    const std::map<std::string, std::pair<family, std::size_t>> forms{
        {"fixed", {family::fixed, 1}},       {"exponential", {family::exponential, 1}}, {"gamma", {family::gamma, 2}},
        {"invgamma", {family::invgamma, 2}}, {"lognormal", {family::lognormal, 2}},     {"beta", {family::beta, 2}}};
    const auto form = forms.find(read.name);
    if (form == forms.end() || std::find(families.begin(), families.end(), form->second.first) == families.end())
      fail_value(allowed);
    const bool lacks_rate = may_lack_rate && form->second.first == family::gamma && read.numbers.size() == 1;
    if (!lacks_rate && read.numbers.size() != form->second.second) fail_value(allowed);
    univariate_prior prior{form->second.first, read.numbers[0], read.numbers.size() > 1 ? read.numbers[1] : 1};
    const bool is_any_real = prior.kind == family::lognormal;
    if ((!is_any_real && !(prior.a > 0)) || !(prior.b > 0)) fail_value(allowed);
    return prior;
  }

  double read_rate(bool may_be_zero, const char* allowed) const {
    double value = 0;
    if (!read_number(value_, value) || value < 0 || (value == 0 && !may_be_zero)) fail_value(allowed);
    return value;
  }

  void set_network() {
    constexpr const char* allowed = "birth-hybridization, poisson(kappa) with kappa > 0, phylonet or phylonet-ee";
    const call read = read_call(value_, allowed);
    const bool is_poisson = read.name == "poisson";
    if (read.numbers.size() != (is_poisson ? 1u : 0u)) fail_value(allowed);
    if (is_poisson) {
      if (!(read.numbers[0] > 0)) fail_value(allowed);
      priors_.network = network_prior::poisson;
      priors_.kappa = read.numbers[0];
    } else if (read.name == "birth-hybridization") {
      priors_.network = network_prior::birth_hybridization;
    } else if (read.name == "phylonet") {
      priors_.network = network_prior::phylonet;
    } else if (read.name == "phylonet-ee") {
      priors_.network = network_prior::phylonet_ee;
    } else {
      fail_value(allowed);
    }
  }

  void set_theta() {
    constexpr const char* allowed =
        "common or each, and gamma(shape,rate), invgamma(shape,scale), exponential(mean), lognormal(mu,sigma) or "
        "fixed(x); numbers > 0 (mu: any)";
    const std::size_t blank = value_.find_first_of(" \t");
    const std::string mode = value_.substr(0, blank);
    if (blank == std::string::npos || (mode != "common" && mode != "each")) fail_value(allowed);
    priors_.thetas = mode == "common" ? theta_mode::common : theta_mode::each;
    const std::string_view density = trimmed(std::string_view(value_).substr(blank));
    priors_.theta =
        read_density(density, {family::gamma, family::invgamma, family::exponential, family::lognormal, family::fixed},
                     allowed, true);
    theta_rates_ = priors_.theta.kind == family::gamma && density.find(',') == std::string_view::npos ? 0 : 1;
  }

  void set_inheritance() {
    constexpr const char* allowed = "beta(a,a) with a > 0, twice the same number, as parents have no order";
    const univariate_prior read = read_density(value_, {family::beta}, allowed);
    if (read.a != read.b) fail_value(allowed);
    priors_.inheritance = read.a;
  }

  void set_pi1() {
    constexpr const char* allowed = "fixed(x) with 0 < x < 1, or beta(a,b) with a, b > 0";
    priors_.pi1 = read_density(value_, {family::fixed, family::beta}, allowed);
    if (priors_.pi1.is_fixed() && !(priors_.pi1.a < 1)) fail_value(allowed);
  }

  void set() {
    if (key_ == "network") {
      set_network();
    } else if (key_ == "speciation-rate") {
      priors_.speciation_rate = read_rate(false, "a number > 0");
    } else if (key_ == "netdiv") {
      priors_.netdiv = read_density(value_, {family::exponential, family::gamma, family::lognormal, family::fixed},
                                    "exponential(mean), gamma(shape,rate), lognormal(mu,sigma) or fixed(x)");
    } else if (key_ == "hybridization-rate") {
      priors_.hybridization_rate = read_rate(true, "a number >= 0");
    } else if (key_ == "turnover") {
      priors_.turnover = read_density(value_, {family::beta, family::fixed}, "beta(a,b) or fixed(x) with 0 < x < 1");
      if (priors_.turnover.is_fixed() && !(priors_.turnover.a < 1)) fail_value("beta(a,b) or fixed(x) with 0 < x < 1");
    } else if (key_ == "origin") {
      priors_.origin = read_density(value_, {family::exponential, family::fixed}, "exponential(mean) or fixed(x), > 0");
    } else if (key_ == "inheritance") {
      set_inheritance();
    } else if (key_ == "theta") {
      set_theta();
    } else if (key_ == "theta-mean") {
      priors_.theta_mean = read_density(value_, {family::lognormal, family::gamma, family::exponential, family::fixed},
                                        "lognormal(mu,sigma), gamma(shape,rate), exponential(mean) or fixed(x)");
    } else if (key_ == "pi1") {
      set_pi1();
    } else if (key_.starts_with(calibrate)) {
      set_calibration();
    } else if (key_ == "monophyletic") {
      set_monophyletic();
    } else if (key_ == "outgroup") {
      priors_.outgroup = read_names();
      keep_place(species_rule("outgroup", priors_.outgroup));
    } else if (key_ == "backbone") {
      priors_.backbone = value_;
      keep_place(backbone_rule(priors_.backbone));
    } else if (key_ == "clock") {
      set_clock();
    } else if (key_ == "generation-time") {
      priors_.generation_time = read_rate(false, "a number of years > 0");
    } else {
      fail(quintet::text("there is no key \"", key_, "\"; there are ", known_keys));
    }
  }

  std::vector<std::string> sources_;
  std::int64_t line_ = 0;  // of the last source
  std::string key_, value_;
  std::map<std::string, place> lines_;
  prior_options priors_;
  int theta_rates_ = 1;  // 0: theta = gamma(shape) without a rate
};

std::string density_text(const univariate_prior& prior) { return prior.text(); }

// What is said of species and of years, one line each.
template <class Line>
void write_rules(const prior_options& o, const Line& line) {
  for (const calibration& dated : o.calibrations)
    line((std::string(calibrate) + (dated.species.empty() ? "root" : joined(dated.species))).c_str(),
         density_text(dated.density));
  for (const std::vector<std::string>& names : o.monophyletic) line("monophyletic", joined(names));
  if (!o.outgroup.empty()) line("outgroup", joined(o.outgroup));
  if (!o.backbone.empty()) line("backbone", o.backbone);
  if (o.clock) line("clock", density_text(*o.clock));
  if (o.generation_time > 0) line("generation-time", number_text(o.generation_time));
}

}  // namespace

std::string univariate_prior::text() const {
  const char* const names[] = {"fixed", "exponential", "gamma", "invgamma", "lognormal", "beta", "normal", "uniform"};
  const bool has_two = kind != family::fixed && kind != family::exponential;
  return names[static_cast<int>(kind)] + ("(" + number_text(a)) + (has_two ? "," + number_text(b) : "") +
         (offset != 0 ? "," + number_text(offset) : "") + ")";
}

prior_options parse_priors(std::span<const prior_source> sources) {
  prior_parser parser;
  for (const prior_source& source : sources) {
    parser.begin_source(source.name);
    for (std::string_view text = source.lines; !text.empty();) {
      const std::size_t end = text.find('\n');
      parser.read_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  return parser.finish();
}

prior_options parse_priors(std::string_view text, std::string_view source) {
  return parse_priors(std::vector<prior_source>{{std::string(source), std::string(text)}});
}

std::string to_text(const prior_options& o) {
  std::string out;
  const auto line = [&](const char* key, const std::string& value) { out += std::string(key) + " = " + value + "\n"; };
  const char* const pi1 = "pi1";
  if (o.network == network_prior::phylonet || o.network == network_prior::phylonet_ee) {
    line("network", o.network == network_prior::phylonet ? "phylonet" : "phylonet-ee");
    line(pi1, density_text(o.pi1));
    write_rules(o, line);
    return out;
  }
  line("network",
       o.network == network_prior::poisson ? "poisson(" + number_text(o.kappa) + ")" : "birth-hybridization");
  if (o.speciation_rate)
    line("speciation-rate", number_text(*o.speciation_rate));
  else
    line("netdiv", density_text(o.netdiv));
  if (o.hybridization_rate)
    line("hybridization-rate", number_text(*o.hybridization_rate));
  else
    line("turnover", density_text(o.turnover));
  line("origin", density_text(o.origin));
  line("inheritance", "beta(" + number_text(o.inheritance) + "," + number_text(o.inheritance) + ")");
  const std::string theta = o.theta_mean ? "gamma(" + number_text(o.theta.a) + ")" : density_text(o.theta);
  line("theta", (o.thetas == theta_mode::common ? "common " : "each ") + theta);
  if (o.theta_mean) line("theta-mean", density_text(*o.theta_mean));
  line(pi1, density_text(o.pi1));
  write_rules(o, line);
  return out;
}

}  // namespace quintet::snp
