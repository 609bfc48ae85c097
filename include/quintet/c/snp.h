/// @file
/// Likelihood of biallelic markers on phylogenetic networks in C, under the multispecies network coalescent (Bryant et
/// al. 2012, Rabier et al. 2021). Conventions of pointers, types, devices, errors and threads: quintet/c/core.h. Model,
/// method, accuracy, costs: quintet/snp/*.hpp; files are read by quintet/c/snp_files.h.
//
//   quintet_snp_network_parse("((A:0.1:0.05,B:0.1:0.05)x:0.1:0.05,C:0.2:0.05):0:0.05;", NAN, NAN, &network);
//   quintet_snp_data_create(names, 3, red, copies, NULL, sites, 3, 0, QUINTET_SNP_DROP, &data);
//   quintet_snp_likelihood_create(network, data, NULL, 0, NULL, &likelihood);
//   quintet_snp_likelihood_evaluate(likelihood, &log_likelihood);
#ifndef QUINTET_C_SNP_H
#define QUINTET_C_SNP_H

#include "quintet/c/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A rooted binary network with lengths, thetas and inheritance probabilities.
typedef struct quintet_snp_network quintet_snp_network;
/// Counts of alleles, as patterns with weights.
typedef struct quintet_snp_data quintet_snp_data;
/// A likelihood with its tables: changed by one thread at a time.
typedef struct quintet_snp_likelihood quintet_snp_likelihood;

// --- networks: nodes and branches are numbered from 0 ---

/// *network := the network of a text, extended Newick with `:length:theta:gamma` behind names. theta and root_theta, >
/// 0, replace thetas that are missing in the text. NaN: no replacement (a root without a theta then takes theta). Freed
/// with quintet_snp_network_free(). Invalid: a theta that is not NaN, finite and > 0, invalid text; the message begins
/// with the position. O(length).
QUINTET_API quintet_status quintet_snp_network_parse(const char* text, double theta, double root_theta,
                                                     quintet_snp_network** network) QUINTET_NOEXCEPT;
/// The same from arrays: names[nodes] ("" for inner nodes without a name), and edges from parent[e] down to child[e]
/// with length[e] >= 0, theta[e] > 0, and gamma[e]. gamma[e] is in [0, 1] above reticulations and NaN elsewhere; gamma
/// may be NULL without reticulations. root_theta > 0 is that above the root. Nodes and branches keep their numbers.
/// Invalid: an invalid network; the message names the nodes and the rule. O(nodes).
QUINTET_API quintet_status quintet_snp_network_create(const char* const* names, int64_t nodes, const int64_t* parent,
                                                      const int64_t* child, const double* length, const double* theta,
                                                      const double* gamma, int64_t edges, double root_theta,
                                                      quintet_snp_network** network) QUINTET_NOEXCEPT;
/// Frees a network. NULL is allowed.
QUINTET_API void quintet_snp_network_free(quintet_snp_network* network) QUINTET_NOEXCEPT;

/// Numbers of nodes, of branches and of species; any may be NULL. O(1). Invalid, of this and all that follow: NULL, a
/// number that does not exist.
QUINTET_API quintet_status quintet_snp_network_sizes(const quintet_snp_network* network, int64_t* nodes,
                                                     int64_t* branches, int64_t* species) QUINTET_NOEXCEPT;
/// *name := name of a node, "" without one; valid as long as the network. O(1).
QUINTET_API quintet_status quintet_snp_network_name(const quintet_snp_network* network, int64_t node,
                                                    const char** name) QUINTET_NOEXCEPT;
/// *node := the node of this name, -1 without one. O(nodes).
QUINTET_API quintet_status quintet_snp_network_find(const quintet_snp_network* network, const char* name,
                                                    int64_t* node) QUINTET_NOEXCEPT;

/// A branch from `child` up to `parent`. Never changes.
typedef struct quintet_snp_branch {
  int64_t child;   ///< the node below
  int64_t parent;  ///< the node above
  double length;   ///< >= 0
  double theta;    ///< > 0
  double gamma;    ///< probability that a lineage goes up here; 1 unless `child` is a reticulation
} quintet_snp_branch;

/// *result := branch `number` in [0, branches). O(1).
QUINTET_API quintet_status quintet_snp_network_branch(const quintet_snp_network* network, int64_t number,
                                                      quintet_snp_branch* result) QUINTET_NOEXCEPT;
/// *theta := that of the population above the root. O(1).
QUINTET_API quintet_status quintet_snp_network_root_theta(const quintet_snp_network* network,
                                                          double* theta) QUINTET_NOEXCEPT;

// Setters: nothing has changed after an error. Invalid: a branch that does not exist, a value out of range. O(1).

/// Sets the length of a branch, >= 0.
QUINTET_API quintet_status quintet_snp_network_set_length(quintet_snp_network* network, int64_t branch,
                                                          double length) QUINTET_NOEXCEPT;
/// Sets the theta of a branch, > 0.
QUINTET_API quintet_status quintet_snp_network_set_theta(quintet_snp_network* network, int64_t branch,
                                                         double theta) QUINTET_NOEXCEPT;
/// Sets the gamma of a branch above a reticulation, in [0, 1], and that of the other one to 1 - gamma.
QUINTET_API quintet_status quintet_snp_network_set_gamma(quintet_snp_network* network, int64_t branch,
                                                         double gamma) QUINTET_NOEXCEPT;
/// Sets the theta above the root, > 0.
QUINTET_API quintet_status quintet_snp_network_set_root_theta(quintet_snp_network* network,
                                                              double theta) QUINTET_NOEXCEPT;

/// Writes the network as one line of extended Newick. Reading it gives the same network, bit for bit. *length is its
/// number of bytes, without the 0 at the end. As much of it as fits goes to text[capacity], always with a 0 at the end.
/// To get the length, call with capacity 0, when text may be NULL. O(nodes).
QUINTET_API quintet_status quintet_snp_network_text(const quintet_snp_network* network, char* text, int64_t capacity,
                                                    int64_t* length) QUINTET_NOEXCEPT;

// --- data ---

/// Treatment of a site at which a species has no copies.
typedef int32_t quintet_snp_empty;
enum { QUINTET_SNP_DROP = 0, QUINTET_SNP_KEEP = 1 };

/// *data := counts at [sites x species], rows of `stride` elements in both tables: red[i, s] of the copies[i, s] gene
/// copies of species s sampled at site i carry allele 1, 0 <= red <= copies <= 32766. names[species]. weights[sites] >=
/// 0 count a site several times; NULL: all 1. dominant not 0: diploid individuals, copies = twice their number, red =
/// individuals that show the band. Freed with quintet_snp_data_free(). Invalid: counts or weights out of range, odd
/// copies with `dominant`, no species, a name that is empty or comes twice. O(sites species); the tables are copied.
QUINTET_API quintet_status quintet_snp_data_create(const char* const* names, int64_t species, const int64_t* red,
                                                   const int64_t* copies, const double* weights, int64_t sites,
                                                   int64_t stride, int32_t dominant, quintet_snp_empty empty,
                                                   quintet_snp_data** data) QUINTET_NOEXCEPT;
/// Frees data. NULL is allowed.
QUINTET_API void quintet_snp_data_free(quintet_snp_data* data) QUINTET_NOEXCEPT;

/// Numbers of species, of patterns, of sites given, and of sites that have a pattern; any may be NULL. O(1).
QUINTET_API quintet_status quintet_snp_data_sizes(const quintet_snp_data* data, int64_t* species, int64_t* patterns,
                                                  int64_t* given_sites, int64_t* sites) QUINTET_NOEXCEPT;
/// *name := name of species s; valid as long as the data. O(1).
QUINTET_API quintet_status quintet_snp_data_species(const quintet_snp_data* data, int64_t s,
                                                    const char** name) QUINTET_NOEXCEPT;
/// Weights of the patterns, and their counts, dense [patterns x species]; arrays of the handle, outputs may be NULL.
QUINTET_API quintet_status quintet_snp_data_patterns(const quintet_snp_data* data, const double** weights,
                                                     const int16_t** red, const int16_t** copies) QUINTET_NOEXCEPT;
/// Pattern of every site given, -1 for sites left out; an array of the handle. Outputs may be NULL.
QUINTET_API quintet_status quintet_snp_data_pattern_of_site(const quintet_snp_data* data, const int64_t** patterns,
                                                            int64_t* given_sites) QUINTET_NOEXCEPT;

// --- likelihood ---

/// Mutation and corrections.
typedef struct quintet_snp_model {
  size_t size;                    ///< of this struct
  double u;                       ///< rate 1 -> 0 per unit of length, >= 0; default 1
  double v;                       ///< rate 0 -> 1, >= 0, not 0 together with u; default 1
  const double* rate_categories;  ///< multiples of u and v of equally likely classes; read at once
  int64_t categories;             ///< their number; default 0, which is one class of rate 1
  double unseen_zeros;            ///< constant sites of allele 0 that the data do not show; default 0
  double unseen_ones;             ///< the same of allele 1; default 0
  int32_t mutation_only_at_root;  ///< not 0: none on the branches; default 0
  int32_t polymorphic_only;       ///< not 0: constant sites are left out, and corrected for; default 0
  int32_t ordered_data;           ///< not 0: likelihood of the individual red copies, not of their number; default 0
  int32_t full_samples;           ///< not 0: the correction is that of the full samples at every site; default 0
  /// In [0, 0.1]: how much larger the exact log-likelihood may be. In large groups of open branches, lineage numbers
  /// are dropped that cannot change more than this together; 0: none; default 1e-9.
  double truncation;
} quintet_snp_model;

/// *model := the defaults. `size` is sizeof *model.
QUINTET_API quintet_status quintet_snp_model_default(quintet_snp_model* model, size_t size) QUINTET_NOEXCEPT;
/// rates[categories] := equally likely classes of a gamma distribution of mean 1 (Yang 1994). shape in (0, 10^6],
/// categories in 1 ... 64; anything else is invalid. O(categories).
QUINTET_API quintet_status quintet_snp_gamma_rates(double shape, int64_t categories, double* rates) QUINTET_NOEXCEPT;

/// Needs of an evaluation.
typedef struct quintet_snp_estimate {
  size_t size;            ///< of this struct; set by the caller
  int64_t largest_group;  ///< states of the largest group of branches
  int64_t bytes;          ///< of one evaluation: values, matrices of branches and workspace of kernels
  double operations;      ///< multiply-adds
  int64_t blocks;         ///< parts of the patterns that follow each other, as the memory limit makes necessary
  int64_t largest_group_untruncated;  ///< as many states as the largest group had without truncation
} quintet_snp_estimate;

/// *estimate := needs of a likelihood, without computing it; estimate->size must be set. Arguments, errors and time as
/// for quintet_snp_likelihood_create().
QUINTET_API quintet_status quintet_snp_estimate_likelihood(const quintet_snp_network* network,
                                                           const quintet_snp_data* data, const quintet_snp_model* model,
                                                           int64_t memory_limit, const char* device,
                                                           quintet_snp_estimate* estimate) QUINTET_NOEXCEPT;

/// *likelihood := schedule and tables; network and data are copied, and you may free them. model: NULL is the default.
/// memory_limit: bytes that the values may take, >= 0; 0: half the memory of the device. Freed with
/// quintet_snp_likelihood_free().
///
/// Invalid: species that are no leaves or the other way round, a model out of range, data without a pattern, more than
/// 8000 gene copies. At most 1000 lineages may reach a reticulation, and a gradient takes 1000. Also invalid: groups
/// over the limit; the message names the reticulations. Also out of memory, device error. Time and memory O(patterns
/// species) for every rule.
QUINTET_API quintet_status quintet_snp_likelihood_create(const quintet_snp_network* network,
                                                         const quintet_snp_data* data, const quintet_snp_model* model,
                                                         int64_t memory_limit, const char* device,
                                                         quintet_snp_likelihood** likelihood) QUINTET_NOEXCEPT;
/// Frees a likelihood. NULL is allowed.
QUINTET_API void quintet_snp_likelihood_free(quintet_snp_likelihood* likelihood) QUINTET_NOEXCEPT;

/// *log_likelihood := that of the current parameters, -infinity for impossible data. It computes only the parts that
/// changed since the last call: at most quintet_snp_estimate.operations multiply-adds. Also out of memory, device
/// error.
QUINTET_API quintet_status quintet_snp_likelihood_evaluate(quintet_snp_likelihood* likelihood,
                                                           double* log_likelihood) QUINTET_NOEXCEPT;

/// *bound := how much larger the exact log-likelihood of the last evaluation is at most; *mass := chance of all lineage
/// numbers that were dropped. Either may be NULL. O(1).
QUINTET_API quintet_status quintet_snp_likelihood_truncation(quintet_snp_likelihood* likelihood, double* bound,
                                                             double* mass) QUINTET_NOEXCEPT;

// Setters: as for networks, O(1), nothing is computed. A change after the first evaluation is a proposal until you
// accept it.

/// Sets the length of a branch.
QUINTET_API quintet_status quintet_snp_likelihood_set_length(quintet_snp_likelihood* likelihood, int64_t branch,
                                                             double length) QUINTET_NOEXCEPT;
/// Sets the theta of a branch.
QUINTET_API quintet_status quintet_snp_likelihood_set_theta(quintet_snp_likelihood* likelihood, int64_t branch,
                                                            double theta) QUINTET_NOEXCEPT;
/// Sets the gamma of a branch above a reticulation, and that of the other one.
QUINTET_API quintet_status quintet_snp_likelihood_set_gamma(quintet_snp_likelihood* likelihood, int64_t branch,
                                                            double gamma) QUINTET_NOEXCEPT;
/// Sets the theta above the root.
QUINTET_API quintet_status quintet_snp_likelihood_set_root_theta(quintet_snp_likelihood* likelihood,
                                                                 double theta) QUINTET_NOEXCEPT;
/// Sets the mutation rates, finite and >= 0, not both 0. O(branches).
QUINTET_API quintet_status quintet_snp_likelihood_set_rates(quintet_snp_likelihood* likelihood, double u,
                                                            double v) QUINTET_NOEXCEPT;
/// Keeps everything that was set since the last accept or reject. Evaluates parts that were not evaluated yet.
QUINTET_API quintet_status quintet_snp_likelihood_accept(quintet_snp_likelihood* likelihood) QUINTET_NOEXCEPT;
/// Takes it back; nothing is computed for it, now or later.
QUINTET_API quintet_status quintet_snp_likelihood_reject(quintet_snp_likelihood* likelihood) QUINTET_NOEXCEPT;

/// *network := a copy of the network with the parameters as they are now. *u, *v := the rates. Any may be NULL.
/// O(nodes).
QUINTET_API quintet_status quintet_snp_likelihood_parameters(const quintet_snp_likelihood* likelihood,
                                                             quintet_snp_network** network, double* u,
                                                             double* v) QUINTET_NOEXCEPT;

/// out[count] := log-likelihood of every pattern, without weights and corrections; `count` must be their number.
/// Time: that of an evaluation, and O(count). Also out of memory, device error.
QUINTET_API quintet_status quintet_snp_likelihood_patterns(quintet_snp_likelihood* likelihood, double* out,
                                                           int64_t count) QUINTET_NOEXCEPT;
/// out[count] := that of every site given, NaN for sites left out; `count` must be their number. Errors and time
/// likewise.
QUINTET_API quintet_status quintet_snp_likelihood_sites(quintet_snp_likelihood* likelihood, double* out,
                                                        int64_t count) QUINTET_NOEXCEPT;

/// Derivatives of the log-likelihood: length[branches], theta[branches], gamma[branches] (0 but above reticulations),
/// and by u, v and root theta: others[3]. Any may be NULL; `branches` must be their number. NaN where the
/// log-likelihood is -infinity. Time: about five evaluations. Invalid: another number of branches; also out of memory,
/// device error.
QUINTET_API quintet_status quintet_snp_likelihood_gradient(quintet_snp_likelihood* likelihood, int64_t branches,
                                                           double* length, double* theta, double* gamma,
                                                           double* others) QUINTET_NOEXCEPT;

// --- maximum likelihood ---

/// Which thetas are parameters.
typedef int32_t quintet_snp_thetas;
enum {
  QUINTET_SNP_THETAS_FIXED = 0,
  QUINTET_SNP_THETAS_EACH = 1,   ///< one for every branch and one for the root
  QUINTET_SNP_THETAS_COMMON = 2  ///< one for all
};

/// Options of quintet_snp_likelihood_optimise(). Ranges: 0 < least < most; a start outside is moved to the nearest end.
typedef struct quintet_snp_optimise_options {
  size_t size;                ///< of this struct
  int32_t lengths;            ///< not 0 (default): lengths are parameters
  int32_t gammas;             ///< not 0 (default): inheritance probabilities are parameters
  quintet_snp_thetas thetas;  ///< default QUINTET_SNP_THETAS_EACH
  int32_t reserved;           ///< 0
  int64_t max_iterations;     ///< 1 ... 10^9; default 200
  double tolerance;           ///< done when two steps in a row gain less log-likelihood, > 0; default 1e-6
  double min_length;          ///< default 1e-8
  double max_length;          ///< default 1e3
  double min_theta;           ///< default 1e-8
  double max_theta;           ///< default 1e3
  double min_gamma;           ///< gammas are in [min_gamma, 1 - min_gamma], < 1/2; default 1e-6
} quintet_snp_optimise_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_snp_optimise_options_default(quintet_snp_optimise_options* options,
                                                                size_t size) QUINTET_NOEXCEPT;

/// Result of an optimisation.
typedef struct quintet_snp_optimum {
  size_t size;              ///< of this struct; set by the caller
  double start;             ///< log-likelihood at the start
  double log_likelihood;    ///< and at the end
  int64_t iterations;       ///< steps
  int64_t evaluations;      ///< of the likelihood
  int32_t converged;        ///< 0: the iterations were used up, or no further step led upwards
  int32_t reserved;         ///< 0
  double truncation_bound;  ///< how much larger the exact log-likelihood of the end is at most
} quintet_snp_optimum;

/// Climbs from the current parameters to a local maximum and leaves the likelihood there; proposals are accepted. A
/// network has several maxima: start from several points. `optimum` may be NULL; optimum->size must be set. Invalid:
/// options, nothing to optimise, a start with log-likelihood -infinity; cancelled: the best point so far is kept; also
/// out of memory, device error. Time: about six evaluations per iteration.
QUINTET_API quintet_status quintet_snp_likelihood_optimise(quintet_snp_likelihood* likelihood,
                                                           const quintet_snp_optimise_options* options,
                                                           quintet_progress report, void* user,
                                                           quintet_snp_optimum* optimum) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
