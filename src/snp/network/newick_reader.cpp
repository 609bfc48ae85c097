#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "quintet/snp/network/newick.hpp"
#include "snp/network/newick_text.hpp"

namespace quintet::snp {

namespace {

using breach = NetworkError::rule;

// A place in the text where a node stands: a reticulation has two.
struct occurrence {
  std::int64_t position = 0;
  std::int64_t parent = -1;  // occurrence
  bool inner = false;        // has a subtree
  std::string name;
  std::string hybrid;      // what is behind '#'
  bool is_marked = false;  // as a reticulation, by an annotation of BPP: both places have its name
  double length = unset, theta = unset, gamma = unset;
  double second = unset;  // number behind the length
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || std::string_view("()[]:;,'").find(c) != std::string_view::npos; }

// A part of the text for a message: short, on one line.
std::string excerpt(std::string_view word) {
  std::string shown(word.substr(0, 24));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return word.size() > 24 ? shown + "..." : shown;
}

class reader {
 public:
  reader(std::string_view text, const newick_options& options)
      : text_(text), has_support_(options.support), may_be_unrooted_(options.unrooted) {}

  void read();
  const std::vector<occurrence>& occurrences() const { return occurrences_; }
  double root_theta() const { return root_theta_; }
  [[noreturn]] void fail(std::size_t position, const std::string& message, breach broken = breach::syntax) const {
    throw NewickError(static_cast<std::int64_t>(position), broken, message);
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  std::string_view rest() const { return text_.substr(at_); }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  std::string_view bracket();
  void skip_comments();
  void read_prefix();
  std::string_view word();
  std::string quoted();
  void read_name(occurrence& o);
  void read_numbers(occurrence& o);
  void read_comments_of(occurrence& o);
  void read_annotation(std::string_view comment, std::size_t position, occurrence& o) const;
  void set(double& place, double value, std::size_t position, std::string_view label) const;
  double number(std::string_view label);
  std::size_t begin_node(std::int64_t parent, bool inner);
  void end_node(std::size_t node);
  void read_end();
  void label_marked();
  void check_second_numbers() const;

  std::string_view text_;
  bool has_support_, may_be_unrooted_;
  std::size_t at_ = 0;
  std::vector<occurrence> occurrences_;
  double root_theta_ = unset;
};

// The inside of the comment that begins here.
std::string_view reader::bracket() {
  const std::size_t begin = at_, end = text_.find(']', at_);
  if (end == std::string_view::npos) fail(begin, "a comment begins here and has no end \"]\"");
  at_ = end + 1;
  return text_.substr(begin + 1, end - begin - 1);
}

void reader::skip_comments() {
  for (skip_blanks(); peek() == '['; skip_blanks()) bracket();
}

void reader::read_prefix() {
  for (skip_blanks(); peek() == '['; skip_blanks()) {
    const std::size_t position = at_;
    const std::string_view comment = bracket();
    if ((comment == "&U" || comment == "&u") && !may_be_unrooted_)
      fail(position, "the tree is unrooted, [&U]; an outgroup roots it");
    double theta;
    if (is_number(comment, theta)) set(root_theta_, theta, position, "theta of the root");
  }
  if (at_end()) fail(at_, "there is no network; it begins with a parenthesis", breach::empty);
  if (peek() != '(') fail(at_, text("a network begins with a parenthesis, not with \"", excerpt(rest()), "\""));
}

std::string_view reader::word() {
  const std::size_t begin = at_;
  while (!at_end() && !ends_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string reader::quoted() {
  const std::size_t begin = at_++;
  std::string name;
  while (true) {
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail(begin, "a quoted name begins here and has no end");
    name += text_.substr(at_, end - at_);
    at_ = end + 1;
    if (peek() != '\'') return name;
    name += '\'';
    ++at_;
  }
}

void reader::read_name(occurrence& o) {
  const std::size_t begin = at_;
  const bool has_quotes = peek() == '\'';
  if (has_quotes) o.name = quoted();
  const std::string_view plain = word();
  if (has_quotes && !plain.empty() && plain[0] != '#')
    fail(at_ - plain.size(), text("\"", excerpt(plain), "\" follows a quoted name"));
  const std::size_t mark = plain.find('#');
  o.name += plain.substr(0, mark);
  if (mark != std::string_view::npos) {
    o.hybrid = plain.substr(mark + 1);
    if (o.hybrid.empty()) fail(begin, "the label of a reticulation is only \"#\"; it looks like #H1");
  }
  double support;
  if (!has_quotes && o.inner && o.hybrid.empty() && is_number(o.name, support)) o.name.clear();
}

double reader::number(std::string_view label) {
  const std::size_t begin = at_;
  const std::string_view digits = word();
  double value;
  if (!is_number(digits, value)) fail(begin, text("the ", label, " is no finite number: \"", excerpt(digits), "\""));
  return value;
}

void reader::set(double& place, double value, std::size_t position, std::string_view label) const {
  if (!std::isnan(place) && place != value)
    fail(position, text("the ", label, " is given twice, as ", place, " and as ", value));
  place = value;
}

void reader::read_annotation(std::string_view comment, std::size_t position, occurrence& o) const {
  double value;
  if (is_number(comment, value))
    fail(position,
         text("[", excerpt(comment), "] may mean a theta or a support value; write a theta as name:length:theta"));
  if (!comment.starts_with('&')) return;
  for (std::size_t begin = 1; begin < comment.size();) {
    const std::size_t end = std::min(comment.find(',', begin), comment.size());
    const std::string_view item = comment.substr(begin, end - begin);
    begin = end + 1;
    const std::string_view key = item.substr(0, item.find('='));
    if (key == "tau-parent") o.is_marked = true;
    if (key != "gamma" && key != "phi" && key != "theta" && key != "coalescenceRate") continue;
    if (key.size() == item.size() || !is_number(item.substr(key.size() + 1), value))
      fail(position, text("the annotation ", excerpt(item), " has no finite number"));
    if (key == "gamma" || key == "phi") set(o.gamma, value, position, "gamma");
    o.is_marked = o.is_marked || key == "phi";
    if (key == "theta") set(o.theta, value, position, "theta");
    if (key == "coalescenceRate") set(o.theta, 2 / value, position, "theta");
  }
}

void reader::read_comments_of(occurrence& o) {
  for (skip_blanks(); peek() == '['; skip_blanks()) {
    const std::size_t position = at_;
    read_annotation(bracket(), position, o);
  }
}

void reader::read_numbers(occurrence& o) {
  const char* const names[] = {"length", "theta", "gamma"};
  double* const places[] = {&o.length, &o.theta, &o.gamma};
  read_comments_of(o);
  for (std::size_t field = 0; peek() == ':'; ++field) {
    if (field == 3) fail(at_, "a branch has at most three numbers, :length:theta:gamma");
    ++at_;
    read_comments_of(o);
    const std::size_t begin = at_;
    if (!at_end() && !ends_word(peek())) {
      const double value = number(names[field]);
      if (field == 1) o.second = value;
      if (field != 1 || !has_support_) set(*places[field], value, begin, names[field]);
    }
    read_comments_of(o);
  }
}

std::size_t reader::begin_node(std::int64_t parent, bool inner) {
  occurrence& o = occurrences_.emplace_back();
  o.position = static_cast<std::int64_t>(at_);
  o.parent = parent;
  o.inner = inner;
  return occurrences_.size() - 1;
}

void reader::end_node(std::size_t node) {
  occurrence& o = occurrences_[node];
  // BEAST writes the annotations of an inner node without a name behind its parenthesis.
  if (o.inner)
    read_comments_of(o);
  else
    skip_comments();
  if (!at_end() && !ends_word(peek())) {
    read_name(o);
  } else if (peek() == '\'') {
    read_name(o);
  } else if (!o.inner) {
    fail(at_,
         at_end() ? "the text ends where a name should be" : text("a name is missing before \"", excerpt(rest()), "\""),
         breach::name);
  }
  read_numbers(o);
}

void reader::read() {
  read_prefix();
  std::vector<std::size_t> open;
  while (true) {
    skip_comments();
    const std::int64_t parent = open.empty() ? -1 : static_cast<std::int64_t>(open.back());
    if (peek() == '(') {
      open.push_back(begin_node(parent, true));
      ++at_;
      continue;
    }
    end_node(begin_node(parent, false));
    while (!open.empty() && peek() == ')') {
      ++at_;
      end_node(open.back());
      open.pop_back();
    }
    if (open.empty()) break;
    if (at_end()) fail(at_, text("the text ends with ", open.size(), " parentheses open"));
    double theta;
    if (peek() == '#' && is_number(rest().substr(1, rest().find_first_of(":,)[; \t\n") - 1), theta))
      fail(at_, text("#", theta, " looks like a theta of BPP; write it as name:length:theta"));
    if (peek() != ',') fail(at_, text("\",\" or \")\" should stand here, not \"", excerpt(rest()), "\""));
    ++at_;
  }
  read_end();
}

void reader::read_end() {
  if (peek() == ';') ++at_;
  skip_comments();
  if (!at_end()) fail(at_, text("the network has ended, but there is more: \"", excerpt(rest()), "\""));
  label_marked();
  if (!has_support_ && std::isnan(root_theta_)) check_second_numbers();
}

// The name of a place that is marked is the label of both.
void reader::label_marked() {
  std::unordered_set<std::string> marked;
  for (const occurrence& o : occurrences_)
    if (o.is_marked && !o.name.empty() && o.hybrid.empty()) marked.insert(o.name);
  for (occurrence& o : occurrences_)
    if (o.hybrid.empty() && marked.contains(o.name)) o.hybrid = std::exchange(o.name, "");
}

// Programs that write thetas write them at leaves too, and hardly one of 10 ... 1000, as counts of a bootstrap are.
void reader::check_second_numbers() const {
  constexpr double max_theta = 10, max_support = 1000;
  const occurrence* suspect = nullptr;
  bool is_count = false, is_at_leaf = false;
  for (const occurrence& o : occurrences_) {
    const bool is_hybrid = !o.hybrid.empty();
    if (std::isnan(o.second) || o.parent < 0 || (is_hybrid && std::isnan(o.gamma))) continue;
    const bool may_be_count = o.second > max_theta && o.second <= max_support;
    if (suspect == nullptr || (may_be_count && !is_count)) suspect = &o;
    is_count = is_count || may_be_count;
    is_at_leaf = is_at_leaf || (!o.inner && !is_hybrid);
  }
  if (suspect != nullptr && (is_count || !is_at_leaf))
    fail(static_cast<std::size_t>(suspect->position),
         text("the second number of this branch, ", suspect->second,
              ", may be a theta or a support value; say that it is support (option support), or begin the network with "
              "the theta of the root, [theta]"),
         breach::theta);
}

// The occurrences become nodes: the two of a reticulation are one.
class assembly {
 public:
  assembly(const reader& in, const newick_options& options) : in_(in), options_(options) {}
  network_description build();

 private:
  struct hybrid {
    std::int64_t node = -1;
    std::int64_t places = 0, subtrees = 0;
    std::size_t first = 0;  // occurrence
    std::string name;       // before '#'
    bool has_gamma = false;
  };

  std::int64_t node_of(std::size_t occurrence);
  void name_hybrid(const occurrence& o, hybrid& h);
  void add_edge(const occurrence& o, std::int64_t node);
  void take_root(const occurrence& root);
  void check_hybrids() const;
  void complete_gammas();
  void resolve_root();
  void divide_rounded_gammas();
  void clear_repeated_support();
  void join_branches();
  void join(network_edge& above, const network_edge& below) const;
  void check_removed_names(const std::vector<bool>& is_removed) const;
  void remove_nodes(const std::vector<bool>& is_removed);

  const reader& in_;
  const newick_options& options_;
  network_description description_;
  std::vector<std::int64_t> nodes_;  // of the occurrences
  std::unordered_map<std::string, hybrid> hybrids_;
};

void assembly::name_hybrid(const occurrence& o, hybrid& h) {
  if (!o.name.empty() && !h.name.empty() && o.name != h.name)
    in_.fail(static_cast<std::size_t>(o.position),
             text("the reticulation #", o.hybrid, " has two names, ", h.name, " and ", o.name), breach::name);
  if (!o.name.empty()) h.name = o.name;
  description_.names[static_cast<std::size_t>(h.node)] = h.name + "#" + o.hybrid;
}

std::int64_t assembly::node_of(std::size_t index) {
  const occurrence& o = in_.occurrences()[index];
  const auto next = static_cast<std::int64_t>(description_.names.size());
  if (o.hybrid.empty()) {
    description_.names.push_back(o.name);
    return next;
  }
  hybrid& h = hybrids_[o.hybrid];
  if (h.node < 0) {
    h.node = next;
    h.first = index;
    description_.names.emplace_back();
  }
  name_hybrid(o, h);
  ++h.places;
  h.subtrees += o.inner ? 1 : 0;
  h.has_gamma = h.has_gamma || !std::isnan(o.gamma);
  const auto position = static_cast<std::size_t>(o.position);
  if (h.places > 2)
    in_.fail(position, text("the label #", o.hybrid, " comes a third time; a reticulation has two parents"),
             breach::binary);
  if (h.subtrees > 1)
    in_.fail(position, text("the reticulation #", o.hybrid, " has a subtree at both its places"), breach::binary);
  return h.node;
}

void assembly::add_edge(const occurrence& o, std::int64_t node) {
  description_.edges.push_back({.parent = nodes_[static_cast<std::size_t>(o.parent)],
                                .child = node,
                                .length = std::isnan(o.length) ? options_.length : o.length,
                                .theta = std::isnan(o.theta) ? options_.theta : o.theta,
                                .gamma = o.gamma});
}

void assembly::take_root(const occurrence& root) {
  const auto position = static_cast<std::size_t>(root.position);
  if (!std::isnan(root.gamma) && root.gamma != 1) in_.fail(position, "the root has a gamma", breach::gamma);
  double theta = in_.root_theta();
  if (!std::isnan(theta) && !std::isnan(root.theta) && theta != root.theta)
    in_.fail(position, text("the root has two thetas, [", theta, "] and ", root.theta), breach::theta);
  if (std::isnan(theta)) theta = root.theta;
  if (std::isnan(theta)) theta = options_.root_theta;
  description_.root_theta = std::isnan(theta) ? options_.theta : theta;
}

void assembly::check_hybrids() const {
  for (const auto& [label, h] : hybrids_) {
    const auto position = static_cast<std::size_t>(in_.occurrences()[h.first].position);
    if (h.places == 1)
      in_.fail(position, text("the label #", label, " comes only once; a reticulation has two parents"),
               breach::binary);
    if (h.subtrees == 0)
      in_.fail(position, text("the reticulation #", label, " has no subtree at either of its places"), breach::binary);
    if (!h.has_gamma && std::isnan(options_.gamma))
      in_.fail(position,
               text("the reticulation #", label, " has no gamma; it is the third number, as in #", label, ":0.1::0.6"),
               breach::gamma);
  }
}

void assembly::complete_gammas() {
  for (const auto& [label, h] : hybrids_)
    if (!h.has_gamma)
      std::find_if(description_.edges.begin(), description_.edges.end(), [node = h.node](const network_edge& e) {
        return e.child == node;
      })->gamma = options_.gamma;
}

// Three branches that meet make no root; it is put on the first of them.
void assembly::resolve_root() {
  const std::int64_t root = nodes_.front(), next = std::int64_t(description_.names.size());
  std::vector<network_edge*> down;
  for (network_edge& e : description_.edges)
    if (e.parent == root) down.push_back(&e);
  if (down.size() != 3) return;
  if (!options_.unrooted)
    in_.fail(std::size_t(in_.occurrences().front().position),
             "the root has three children, as unrooted networks have; an outgroup (option unrooted) roots it",
             breach::binary);
  down[1]->parent = down[2]->parent = next;
  description_.names.emplace_back();
  description_.edges.push_back({root, next, 0, down[1]->theta, unset});
}

// Gammas printed with three or four digits.
void assembly::divide_rounded_gammas() {
  constexpr double exact = 1e-6, tolerance = 1e-3;
  for (const auto& [label, h] : hybrids_) {
    std::vector<double*> gammas;
    for (network_edge& e : description_.edges)
      if (e.child == h.node) gammas.push_back(&e.gamma);
    if (gammas.size() != 2 || std::isnan(*gammas[0]) || std::isnan(*gammas[1])) continue;
    const double sum = *gammas[0] + *gammas[1];
    if (std::fabs(sum - 1) <= exact || std::fabs(sum - 1) > tolerance || *gammas[0] < 0 || *gammas[1] < 0) continue;
    *gammas[0] /= sum;
    *gammas[1] = 1 - *gammas[0];
  }
}

// Numbers such as 95/0.98 that stand quoted behind parentheses.
void assembly::clear_repeated_support() {
  std::unordered_map<std::string, int> times;
  for (const std::string& name : description_.names) ++times[name];
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::string& name = description_.names[std::size_t(nodes_[i])];
    if (in_.occurrences()[i].inner && times[name] > 1 && name.find_first_not_of("0123456789./|%") == std::string::npos)
      name.clear();
  }
}

void assembly::join(network_edge& above, const network_edge& below) const {
  if (above.theta != below.theta && !(std::isnan(above.theta) && std::isnan(below.theta))) {
    const auto at = std::find(nodes_.begin(), nodes_.end(), above.child) - nodes_.begin();
    in_.fail(std::size_t(in_.occurrences()[std::size_t(at)].position),
             text("this node has one child, so its branches are one, but their thetas differ, ", above.theta, " and ",
                  below.theta),
             breach::theta);
  }
  above.child = below.child;
  above.length += below.length;
  if (!std::isnan(below.gamma)) above.gamma = below.gamma;
}

// Nodes with one parent and one child.
void assembly::join_branches() {
  const std::size_t nodes = description_.names.size();
  std::vector<int> parents(nodes, 0), children(nodes, 0);
  std::vector<std::size_t> edge_below(nodes, 0);
  for (std::size_t e = 0; e < description_.edges.size(); ++e) {
    ++parents[std::size_t(description_.edges[e].child)];
    ++children[std::size_t(description_.edges[e].parent)];
    edge_below[std::size_t(description_.edges[e].parent)] = e;
  }
  std::vector<bool> is_removed(nodes);
  for (std::size_t n = 0; n < nodes; ++n) is_removed[n] = parents[n] == 1 && children[n] == 1;
  for (network_edge& e : description_.edges)
    while (!is_removed[std::size_t(e.parent)] && is_removed[std::size_t(e.child)])
      join(e, description_.edges[edge_below[std::size_t(e.child)]]);
  const std::int64_t root = nodes_.front();
  if (children[std::size_t(root)] == 1 && parents[std::size_t(root)] == 0) {
    const network_edge& above = description_.edges[edge_below[std::size_t(root)]];
    if (children[std::size_t(above.child)] > 0) {
      const bool has_theta = !std::isnan(in_.root_theta()) || !std::isnan(in_.occurrences().front().theta);
      if (has_theta && above.theta != description_.root_theta)
        in_.fail(std::size_t(in_.occurrences().front().position),
                 text("the root has one child, so the branch below it is endless, but their thetas differ, ",
                      description_.root_theta, " and ", above.theta),
                 breach::theta);
      description_.root_theta = above.theta;
      is_removed[std::size_t(root)] = true;
    }
  }
  check_removed_names(is_removed);
  remove_nodes(is_removed);
}

// Some programs mark a reticulation only by a name that comes twice.
void assembly::check_removed_names(const std::vector<bool>& is_removed) const {
  std::unordered_map<std::string_view, int> times;
  for (const std::string& name : description_.names) ++times[name];
  for (std::size_t n = 0; n < is_removed.size(); ++n)
    if (is_removed[n] && !description_.names[n].empty() && times[description_.names[n]] > 1)
      throw NetworkError(breach::name, text("the name \"", description_.names[n],
                                            "\" belongs to two nodes; a reticulation is "
                                            "marked by a label, as in #H1"));
}

void assembly::remove_nodes(const std::vector<bool>& is_removed) {
  std::vector<std::int64_t> number;
  std::vector<std::string> names;
  for (std::size_t n = 0; n < is_removed.size(); ++n) {
    number.push_back(std::int64_t(names.size()));
    if (!is_removed[n]) names.push_back(std::move(description_.names[n]));
  }
  description_.names = std::move(names);
  std::erase_if(description_.edges, [&](const network_edge& e) { return is_removed[std::size_t(e.parent)]; });
  for (network_edge& e : description_.edges) {
    e.parent = number[std::size_t(e.parent)];
    e.child = number[std::size_t(e.child)];
  }
}

network_description assembly::build() {
  const auto& occurrences = in_.occurrences();
  for (std::size_t i = 0; i < occurrences.size(); ++i) {
    nodes_.push_back(node_of(i));
    if (occurrences[i].parent >= 0) add_edge(occurrences[i], nodes_.back());
  }
  take_root(occurrences.front());
  check_hybrids();
  complete_gammas();
  resolve_root();
  divide_rounded_gammas();
  clear_repeated_support();
  join_branches();
  return std::move(description_);
}

}  // namespace

Network parse_newick(std::string_view text, const newick_options& options) {
  for (const auto& [name, theta] : {std::pair("theta", options.theta), std::pair("root_theta", options.root_theta)})
    require_argument(std::isnan(theta) || (std::isfinite(theta) && theta > 0), name, theta, "finite and > 0");
  require_argument(std::isnan(options.length) || (std::isfinite(options.length) && options.length >= 0), "length",
                   options.length, "finite and >= 0");
  require_argument(std::isnan(options.gamma) || (options.gamma >= 0 && options.gamma <= 1), "gamma", options.gamma,
                   "in [0, 1]");
  reader in(text, options);
  in.read();
  return Network(assembly(in, options).build());
}

}  // namespace quintet::snp
