// C functions of phylogenetic networks.
#include "c/snp_support.hpp"
#include "quintet/snp/network/newick.hpp"

using namespace quintet;
using namespace quintet::c;

extern "C" {

quintet_status quintet_snp_network_parse(const char* text, double theta, double root_theta,
                                         quintet_snp_network** network) noexcept {
  return make_handle(network, [&] {
    required(text, "text");
    return quintet_snp_network{snp::parse_newick(text, {theta, root_theta})};
  });
}

quintet_status quintet_snp_network_create(const char* const* names, int64_t nodes, const int64_t* parent,
                                          const int64_t* child, const double* length, const double* theta,
                                          const double* gamma, int64_t edges, double root_theta,
                                          quintet_snp_network** network) noexcept {
  return make_handle(network, [&] {
    snp::network_description description;
    for (const char* name : array(names, nodes, "names"))
      description.names.emplace_back(&required(name, "every element of names"));
    const auto from = array(parent, edges, "parent"), to = array(child, edges, "child");
    const auto lengths = array(length, edges, "length"), thetas = array(theta, edges, "theta");
    for (std::size_t e = 0; e < from.size(); ++e)
      description.edges.push_back({from[e], to[e], lengths[e], thetas[e], gamma == nullptr ? snp::unset : gamma[e]});
    description.root_theta = root_theta;
    return quintet_snp_network{snp::Network(std::move(description))};
  });
}

void quintet_snp_network_free(quintet_snp_network* network) noexcept { delete network; }

quintet_status quintet_snp_network_sizes(const quintet_snp_network* network, int64_t* nodes, int64_t* branches,
                                         int64_t* species) noexcept {
  return guarded([&] {
    const snp::Network& held = required(network, "network").network;
    set(nodes, held.nodes());
    set(branches, held.branches());
    set(species, std::int64_t(held.species().size()));
  });
}

quintet_status quintet_snp_network_name(const quintet_snp_network* network, int64_t node, const char** name) noexcept {
  return guarded([&] { required(name, "name") = required(network, "network").network.name(node).c_str(); });
}

quintet_status quintet_snp_network_find(const quintet_snp_network* network, const char* name, int64_t* node) noexcept {
  return guarded([&] { required(node, "node") = required(network, "network").network.find(&required(name, "name")); });
}

quintet_status quintet_snp_network_branch(const quintet_snp_network* network, int64_t number,
                                          quintet_snp_branch* result) noexcept {
  return guarded([&] {
    const snp::branch& b = required(network, "network").network.branch(number);
    required(result, "result") = {b.child, b.parent, b.length, b.theta, b.gamma};
  });
}

quintet_status quintet_snp_network_root_theta(const quintet_snp_network* network, double* theta) noexcept {
  return guarded([&] { required(theta, "theta") = required(network, "network").network.root_theta(); });
}

quintet_status quintet_snp_network_set_length(quintet_snp_network* network, int64_t branch, double length) noexcept {
  return guarded([&] { required(network, "network").network.set_length(branch, length); });
}

quintet_status quintet_snp_network_set_theta(quintet_snp_network* network, int64_t branch, double theta) noexcept {
  return guarded([&] { required(network, "network").network.set_theta(branch, theta); });
}

quintet_status quintet_snp_network_set_gamma(quintet_snp_network* network, int64_t branch, double gamma) noexcept {
  return guarded([&] { required(network, "network").network.set_gamma(branch, gamma); });
}

quintet_status quintet_snp_network_set_root_theta(quintet_snp_network* network, double theta) noexcept {
  return guarded([&] { required(network, "network").network.set_root_theta(theta); });
}

quintet_status quintet_snp_network_text(const quintet_snp_network* network, char* text, int64_t capacity,
                                        int64_t* length) noexcept {
  return guarded([&] {
    const auto target = array(text, capacity, "text");
    const std::string line = snp::to_newick(required(network, "network").network);
    if (!target.empty()) target[line.copy(text, target.size() - 1)] = '\0';
    set(length, std::int64_t(line.size()));
  });
}

}  // extern "C"
