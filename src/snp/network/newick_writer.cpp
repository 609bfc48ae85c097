#include <charconv>
#include <unordered_set>

#include "quintet/snp/network/newick.hpp"
#include "snp/network/newick_text.hpp"

namespace quintet::snp {

namespace {

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("_.-+*/|@%&!?~^=<>{}\\\"$").find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 128;
}

bool is_plain(std::string_view word) {
  for (const char c : word)
    if (!is_plain(c)) return false;
  return true;
}

void append_number(std::string& out, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

class writer {
 public:
  writer(const Network& network, newick_numbers numbers) : network_(network), numbers_(numbers) {
    label_reticulations();
  }
  std::string write();

 private:
  // A node half written: its next child, and the branch by which it was reached.
  struct open_node {
    std::int64_t node, branch;
    std::size_t next_child = 0;
  };

  void label_reticulations();
  void append_label(std::int64_t node);
  void append_end(const open_node& node);

  const Network& network_;
  const newick_numbers numbers_;
  std::vector<std::string> names_, labels_;  // of the nodes: before and behind '#'; no label: no reticulation
  std::vector<bool> written_;
  std::string out_;
};

void writer::label_reticulations() {
  const auto nodes = static_cast<std::size_t>(network_.nodes());
  written_.resize(nodes);
  labels_.resize(nodes);
  std::unordered_set<std::string> used;
  for (std::size_t node = 0; node < nodes; ++node) names_.push_back(network_.name(static_cast<std::int64_t>(node)));
  for (const std::int64_t node : network_.reticulations()) {
    std::string &name = names_[static_cast<std::size_t>(node)], &label = labels_[static_cast<std::size_t>(node)];
    const std::size_t mark = name.rfind('#');
    if (mark == std::string::npos) continue;
    const std::string own = name.substr(mark + 1);
    if (own.empty() || !is_plain(own) || !used.insert(own).second) continue;
    label = own;
    name.resize(mark);
  }
  std::int64_t next = 1;
  for (const std::int64_t node : network_.reticulations()) {
    std::string& label = labels_[static_cast<std::size_t>(node)];
    while (label.empty()) {
      const std::string candidate = text("H", next++);
      if (used.insert(candidate).second) label = candidate;
    }
  }
}

void writer::append_label(std::int64_t node) {
  const std::string &name = names_[static_cast<std::size_t>(node)], &label = labels_[static_cast<std::size_t>(node)];
  // A number would read as a support value.
  const node_kind kind = network_.kind(node);
  const bool is_inner = kind == node_kind::tree || kind == node_kind::root;
  double support;
  const bool looks_like_number = is_inner && is_number(name, support);
  if (!name.empty()) append_newick_name(out_, name, looks_like_number);
  if (!label.empty()) out_.append("#").append(label);
}

void writer::append_end(const open_node& node) {
  append_label(node.node);
  if (node.branch < 0) return;
  const snp::branch& b = network_.branch(node.branch);
  out_ += ':';
  append_number(out_, b.length);
  const bool is_hybrid = network_.kind(node.node) == node_kind::reticulation,
             has_theta = numbers_ == newick_numbers::all;
  if (has_theta || is_hybrid) out_ += ':';
  if (has_theta) append_number(out_, b.theta);
  if (!is_hybrid) return;
  out_ += ':';
  append_number(out_, b.gamma);
}

std::string writer::write() {
  if (numbers_ == newick_numbers::all) {
    out_ += '[';
    append_number(out_, network_.root_theta());
    out_ += ']';
  }
  std::vector<open_node> open{{network_.root(), -1}};
  while (!open.empty()) {
    open_node& top = open.back();
    const auto children = network_.child_branches(top.node);
    const bool is_done =
        top.next_child == children.size() || (top.next_child == 0 && written_[static_cast<std::size_t>(top.node)]);
    if (is_done) {
      if (top.next_child > 0) out_ += ')';
      append_end(top);
      open.pop_back();
      continue;
    }
    written_[static_cast<std::size_t>(top.node)] = true;
    out_ += top.next_child == 0 ? '(' : ',';
    const std::int64_t down = children[top.next_child++];
    open.push_back({network_.branch(down).child, down});
  }
  out_ += ';';
  return std::move(out_);
}

}  // namespace

void append_newick_name(std::string& out, std::string_view name, bool must_quote) {
  if (!must_quote && is_plain(name)) {
    out += name;
    return;
  }
  out += '\'';
  for (const char c : name) out.append(c == '\'' ? "''" : std::string_view(&c, 1));
  out += '\'';
}

std::string to_newick(const Network& network, newick_numbers numbers) { return writer(network, numbers).write(); }

}  // namespace quintet::snp
