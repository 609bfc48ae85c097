/* Biallelic markers: networks, data, likelihood. */
#include "check.h"

static const char* const newick =
    "[0.02](((B:0.4:0.02)#H1:0.1:0.03:0.6,A:0.5:0.01)x:0.3:0.02,(C:0.6:0.05,#H1:0.2:0.02:0.4)y:0.2:0.02)r;";

static quintet_snp_network* parse(void) {
  quintet_snp_network* network = NULL;
  CHECK_OK(quintet_snp_network_parse(newick, NAN, NAN, &network));
  return network;
}

static void test_network(void) {
  quintet_snp_network *network = parse(), *again = NULL;
  quintet_snp_branch branch, other;
  int64_t nodes = 0, branches = 0, species = 0, node = -1, length = 0, length_again = 0, i;
  double theta = 0;
  const char* name = NULL;
  char text[400], text_again[400], small[5];
  CHECK_OK(quintet_snp_network_sizes(network, &nodes, &branches, &species));
  CHECK(nodes == 7 && branches == 7 && species == 3);
  CHECK_OK(quintet_snp_network_find(network, "A", &node));
  CHECK(node >= 0);
  CHECK_OK(quintet_snp_network_name(network, node, &name));
  CHECK(strcmp(name, "A") == 0);
  CHECK_OK(quintet_snp_network_find(network, "nobody", &node));
  CHECK(node == -1);
  CHECK_OK(quintet_snp_network_root_theta(network, &theta));
  CHECK(theta == 0.02);
  CHECK_OK(quintet_snp_network_text(network, NULL, 0, &length));
  CHECK(length > 50 && length < 400);
  CHECK_OK(quintet_snp_network_text(network, text, sizeof text, &length_again));
  CHECK(length_again == length && (int64_t)strlen(text) == length);
  CHECK_OK(quintet_snp_network_text(network, small, sizeof small, NULL));
  CHECK(strlen(small) == 4 && strncmp(small, text, 4) == 0);
  CHECK_OK(quintet_snp_network_parse(text, NAN, NAN, &again));
  CHECK_OK(quintet_snp_network_text(again, text_again, sizeof text_again, NULL));
  CHECK(strcmp(text, text_again) == 0);
  quintet_snp_network_free(again);

  CHECK_OK(quintet_snp_network_set_length(network, 0, 0.7));
  CHECK_OK(quintet_snp_network_set_theta(network, 0, 0.3));
  CHECK_OK(quintet_snp_network_set_root_theta(network, 0.5));
  CHECK_OK(quintet_snp_network_branch(network, 0, &branch));
  CHECK(branch.length == 0.7 && branch.theta == 0.3);
  CHECK_OK(quintet_snp_network_root_theta(network, &theta));
  CHECK(theta == 0.5);
  for (i = 0; i < branches; ++i) {
    CHECK_OK(quintet_snp_network_branch(network, i, &branch));
    /* Only branches above a reticulation have one. */
    CHECK((quintet_snp_network_set_gamma(network, i, branch.gamma) == QUINTET_OK) == (branch.gamma != 1));
    CHECK_OK(quintet_snp_network_branch(network, i, &other));
    CHECK(other.gamma == branch.gamma && other.child == branch.child && other.parent == branch.parent);
  }
  CHECK_INVALID(quintet_snp_network_set_length(network, 0, -1), "length");
  CHECK_INVALID(quintet_snp_network_set_theta(network, 0, 0), "theta");
  CHECK_INVALID(quintet_snp_network_set_gamma(network, 99, 0.5), "99");
  CHECK_INVALID(quintet_snp_network_set_gamma(network, 0, 0.5), "gamma");
  CHECK_INVALID(quintet_snp_network_set_root_theta(network, NAN), "theta");
  CHECK_INVALID(quintet_snp_network_branch(network, -1, &branch), "-1");
  CHECK_INVALID(quintet_snp_network_name(network, 7, &name), "7");
  CHECK_INVALID(quintet_snp_network_text(network, NULL, 3, &length), "text must not be null");
  CHECK_INVALID(quintet_snp_network_sizes(NULL, &nodes, NULL, NULL), "network must not be null");
  quintet_snp_network_free(network);
  quintet_snp_network_free(NULL);
  CHECK_INVALID(quintet_snp_network_parse("((A:1:1", NAN, NAN, &network), "of the network");
  CHECK(network == NULL);
  CHECK_INVALID(quintet_snp_network_parse(NULL, NAN, NAN, &network), "text must not be null");
}

static void test_network_of_arrays(void) {
  const char* const names[] = {"A", "B", ""};
  const char* const missing[] = {"A", NULL, ""};
  const int64_t parent[] = {2, 2}, child[] = {0, 1}, bad_child[] = {0, 9};
  const double length[] = {0.1, 0.2}, theta[] = {0.01, 0.02};
  quintet_snp_network* network = NULL;
  quintet_snp_branch branch;
  CHECK_OK(quintet_snp_network_create(names, 3, parent, child, length, theta, NULL, 2, 0.03, &network));
  CHECK_OK(quintet_snp_network_branch(network, 1, &branch));
  CHECK(branch.child == 1 && branch.parent == 2 && branch.length == 0.2 && branch.theta == 0.02 && branch.gamma == 1);
  quintet_snp_network_free(network);
  CHECK_INVALID(quintet_snp_network_create(names, 3, parent, bad_child, length, theta, NULL, 2, 0.03, &network), "9");
  CHECK_INVALID(quintet_snp_network_create(missing, 3, parent, child, length, theta, NULL, 2, 0.03, &network), "names");
  CHECK_INVALID(quintet_snp_network_create(names, 3, parent, child, NULL, theta, NULL, 2, 0.03, &network), "length");
  CHECK_INVALID(quintet_snp_network_create(names, -3, parent, child, length, theta, NULL, 2, 0.03, &network), "-3");
  CHECK(network == NULL);
}

/* All 3 x 2 x 3 patterns of 2, 1 and 2 copies, as sites. */
enum { species = 3, sites = 18 };
static const char* const names[species] = {"A", "B", "C"};
static int64_t red[sites * species], copies[sites * species];

static quintet_snp_data* all_patterns(void) {
  quintet_snp_data* data = NULL;
  int i;
  for (i = 0; i < sites; ++i) {
    const int64_t counts[] = {i % 3, i / 3 % 2, i / 6}, sampled[] = {2, 1, 2};
    memcpy(red + i * species, counts, sizeof counts);
    memcpy(copies + i * species, sampled, sizeof sampled);
  }
  CHECK_OK(quintet_snp_data_create(names, species, red, copies, NULL, sites, species, 0, QUINTET_SNP_DROP, &data));
  return data;
}

static void test_data(void) {
  quintet_snp_data* data = all_patterns();
  const int64_t two_red[] = {1, 0, 0, 1, 0, 0, 0, 0, 0}, two_copies[] = {2, 2, 2, 2, 2, 2, 2, 0, 2};
  const double two_weights[] = {1.5, 2, 1};
  int64_t species_count = 0, patterns = 0, given = 0, kept = 0;
  const double* weights = NULL;
  const int16_t *reds = NULL, *sampled = NULL;
  const int64_t* pattern = NULL;
  const char* name = NULL;
  CHECK_OK(quintet_snp_data_sizes(data, &species_count, &patterns, &given, &kept));
  CHECK(species_count == 3 && patterns == sites && given == sites && kept == sites);
  CHECK_OK(quintet_snp_data_species(data, 2, &name));
  CHECK(strcmp(name, "C") == 0);
  CHECK_INVALID(quintet_snp_data_species(data, 3, &name), "species must be in [0, 3) (species=3)");
  quintet_snp_data_free(data);
  quintet_snp_data_free(NULL);
  /* Two sites of one pattern, and one where a species has no copies. */
  CHECK_OK(quintet_snp_data_create(names, 3, two_red, two_copies, two_weights, 3, 3, 0, QUINTET_SNP_DROP, &data));
  CHECK_OK(quintet_snp_data_sizes(data, NULL, &patterns, &given, &kept));
  CHECK(patterns == 1 && given == 3 && kept == 2);
  CHECK_OK(quintet_snp_data_patterns(data, &weights, &reds, &sampled));
  CHECK(weights[0] == 3.5 && reds[0] == 1 && reds[1] == 0 && sampled[2] == 2);
  CHECK_OK(quintet_snp_data_pattern_of_site(data, &pattern, &given));
  CHECK(given == 3 && pattern[0] == 0 && pattern[1] == 0 && pattern[2] == -1);
  quintet_snp_data_free(data);
  CHECK_INVALID(quintet_snp_data_create(names, 3, two_copies, two_red, NULL, 3, 3, 0, 0, &data), "red");
  CHECK_INVALID(quintet_snp_data_create(names, 3, two_red, two_copies, NULL, 3, 3, 0, 2, &data),
                "empty must be one of");
  CHECK_INVALID(quintet_snp_data_create(names, 3, two_red, two_copies, NULL, 3, 2, 0, 0, &data), "stride of red");
  CHECK_INVALID(quintet_snp_data_create(names, 3, NULL, two_copies, NULL, 3, 3, 0, 0, &data), "red must not be null");
  CHECK_INVALID(quintet_snp_data_create(names, -1, two_red, two_copies, NULL, 3, 3, 0, 0, &data), "-1");
  CHECK_INVALID(quintet_snp_data_sizes(NULL, NULL, NULL, NULL, NULL), "data must not be null");
  CHECK_INVALID(quintet_snp_data_patterns(NULL, NULL, NULL, NULL), "data must not be null");
  CHECK_INVALID(quintet_snp_data_pattern_of_site(NULL, NULL, NULL), "data must not be null");
  CHECK(data == NULL);
}

static double evaluate(quintet_snp_likelihood* likelihood) {
  double value = NAN;
  CHECK_OK(quintet_snp_likelihood_evaluate(likelihood, &value));
  return value;
}

/* How the log-likelihood changes with a parameter, by central differences. */
static double slope(quintet_snp_likelihood* likelihood,
                    quintet_status (*change)(quintet_snp_likelihood*, int64_t, double), int64_t branch, double value) {
  const double h = 1e-5 * value;
  double up, down;
  CHECK_OK(change(likelihood, branch, value + h));
  up = evaluate(likelihood);
  CHECK_OK(change(likelihood, branch, value - h));
  down = evaluate(likelihood);
  CHECK_OK(quintet_snp_likelihood_reject(likelihood));
  return (up - down) / (2 * h);
}

static void test_likelihood(void) {
  quintet_snp_network *network = parse(), *now = NULL;
  quintet_snp_data* data = all_patterns();
  quintet_snp_likelihood* likelihood = NULL;
  quintet_snp_model model;
  quintet_snp_estimate estimate;
  double by_pattern[sites], by_site[sites], before, proposed, total = 0, sum = 0, u = 0, v = 0;
  double by_length[7], by_theta[7], by_gamma[7], others[3];
  quintet_snp_branch branch;
  int i;
  memset(&estimate, 0, sizeof estimate);
  estimate.size = sizeof estimate;
  CHECK_OK(quintet_snp_estimate_likelihood(network, data, NULL, 0, "host", &estimate));
  CHECK(estimate.bytes > 0 && estimate.largest_group > 0 && estimate.operations > 0);
  CHECK(estimate.blocks == 1);
  CHECK(estimate.largest_group_untruncated == estimate.largest_group);
  CHECK_OK(quintet_snp_model_default(&model, sizeof model));
  CHECK(model.u == 1 && model.v == 1 && model.categories == 0);
  CHECK(model.truncation == 1e-9);
  model.u = 1.2;
  CHECK_OK(quintet_snp_likelihood_create(network, data, &model, 0, "host", &likelihood));
  quintet_snp_network_free(network);
  quintet_snp_data_free(data);

  before = evaluate(likelihood);
  CHECK_OK(quintet_snp_likelihood_patterns(likelihood, by_pattern, sites));
  CHECK_OK(quintet_snp_likelihood_sites(likelihood, by_site, sites));
  for (i = 0; i < sites; ++i) {
    total += exp(by_pattern[i]);
    sum += by_site[i];
  }
  CHECK_NEAR(total, 1, 1e-12); /* one of the patterns it has to be */
  CHECK_NEAR(sum, before, 1e-11);

  CHECK_OK(quintet_snp_likelihood_gradient(likelihood, 7, by_length, by_theta, by_gamma, others));
  CHECK_OK(quintet_snp_likelihood_parameters(likelihood, &now, &u, &v));
  CHECK(u == 1.2 && v == 1);
  for (i = 0; i < 7; ++i) {
    CHECK_OK(quintet_snp_network_branch(now, i, &branch));
    CHECK_NEAR(by_length[i], slope(likelihood, quintet_snp_likelihood_set_length, i, branch.length), 1e-6);
    CHECK_NEAR(by_theta[i], slope(likelihood, quintet_snp_likelihood_set_theta, i, branch.theta), 1e-5);
    CHECK((by_gamma[i] != 0) == (branch.gamma != 1));
  }
  quintet_snp_network_free(now);
  CHECK(others[0] != 0 && others[1] != 0 && others[2] != 0);

  CHECK_OK(quintet_snp_likelihood_set_rates(likelihood, 2, 0.5));
  CHECK_OK(quintet_snp_likelihood_set_root_theta(likelihood, 0.1));
  proposed = evaluate(likelihood);
  CHECK(proposed != before);
  CHECK_OK(quintet_snp_likelihood_reject(likelihood));
  CHECK(evaluate(likelihood) == before);
  CHECK_OK(quintet_snp_likelihood_set_rates(likelihood, 2, 0.5));
  CHECK_OK(quintet_snp_likelihood_set_root_theta(likelihood, 0.1));
  CHECK(evaluate(likelihood) == proposed);
  CHECK_OK(quintet_snp_likelihood_accept(likelihood));
  CHECK_OK(quintet_snp_likelihood_reject(likelihood));
  CHECK(evaluate(likelihood) == proposed);

  CHECK_INVALID(quintet_snp_likelihood_set_length(likelihood, 99, 1), "99");
  CHECK_INVALID(quintet_snp_likelihood_set_theta(likelihood, 0, -1), "theta");
  CHECK_INVALID(quintet_snp_likelihood_set_gamma(likelihood, 0, 0.5), "gamma");
  CHECK_INVALID(quintet_snp_likelihood_set_rates(likelihood, -1, 1), "-1");
  CHECK_INVALID(quintet_snp_likelihood_patterns(likelihood, by_pattern, 3), "count must be 18");
  CHECK_INVALID(quintet_snp_likelihood_sites(likelihood, NULL, sites), "out must not be null");
  CHECK_INVALID(quintet_snp_likelihood_gradient(likelihood, 6, by_length, NULL, NULL, NULL), "branches must be 7");
  CHECK_INVALID(quintet_snp_likelihood_evaluate(likelihood, NULL), "log_likelihood must not be null");
  CHECK_INVALID(quintet_snp_likelihood_evaluate(NULL, &u), "likelihood must not be null");
  CHECK_INVALID(quintet_snp_likelihood_accept(NULL), "likelihood must not be null");
  u = v = -1;
  CHECK_OK(quintet_snp_likelihood_truncation(likelihood, &u, &v));
  CHECK(u == 0 && v == 0);
  CHECK_OK(quintet_snp_likelihood_truncation(likelihood, NULL, NULL));
  CHECK_INVALID(quintet_snp_likelihood_truncation(NULL, &u, &v), "likelihood must not be null");
  CHECK_INVALID(quintet_snp_likelihood_parameters(NULL, NULL, NULL, NULL), "likelihood must not be null");
  quintet_snp_likelihood_free(likelihood);
  quintet_snp_likelihood_free(NULL);
}

static void test_models(void) {
  quintet_snp_network* network = parse();
  quintet_snp_data* data = all_patterns();
  quintet_snp_likelihood *one = NULL, *two = NULL;
  quintet_snp_model model;
  double rates[4], same[] = {1, 1};
  CHECK_OK(quintet_snp_gamma_rates(0.5, 4, rates));
  CHECK_NEAR(rates[0] + rates[1] + rates[2] + rates[3], 4, 1e-12);
  CHECK(rates[0] < rates[1] && rates[2] < rates[3]);
  CHECK_INVALID(quintet_snp_gamma_rates(-1, 4, rates), "shape");
  CHECK_INVALID(quintet_snp_gamma_rates(1, 4, NULL), "rates must not be null");
  CHECK_OK(quintet_snp_model_default(&model, sizeof model));
  CHECK_OK(quintet_snp_likelihood_create(network, data, NULL, 0, NULL, &one));
  model.rate_categories = same; /* two classes of the same rate are as one */
  model.categories = 2;
  CHECK_OK(quintet_snp_likelihood_create(network, data, &model, 0, NULL, &two));
  CHECK_NEAR(evaluate(one), evaluate(two), 1e-11);
  quintet_snp_likelihood_free(two);
  quintet_snp_likelihood_free(one);
  model.rate_categories = NULL;
  CHECK_INVALID(quintet_snp_likelihood_create(network, data, &model, 0, NULL, &one), "model->rate_categories");
  model.categories = 0;
  model.u = -1;
  CHECK_INVALID(quintet_snp_likelihood_create(network, data, &model, 0, NULL, &one), "-1");
  CHECK_INVALID(quintet_snp_likelihood_create(network, data, NULL, -5, NULL, &one), "memory_limit must be >= 0");
  CHECK_INVALID(quintet_snp_likelihood_create(NULL, data, NULL, 0, NULL, &one), "network must not be null");
  CHECK_INVALID(quintet_snp_likelihood_create(network, NULL, NULL, 0, NULL, &one), "data must not be null");
  CHECK_INVALID(quintet_snp_model_default(NULL, sizeof model), "model must not be null");
  CHECK_INVALID(quintet_snp_estimate_likelihood(network, data, NULL, 0, NULL, NULL), "estimate must not be null");
  CHECK(one == NULL);
  quintet_snp_data_free(data);
  quintet_snp_network_free(network);
}

static int32_t stop(const char* stage, double fraction, void* user) {
  ++*(int*)user;
  return strlen(stage) == 0 || fraction < 0;
}

static void test_optimise(void) {
  static const char* const tree = "((A:0.1:0.2,B:0.1:0.2)x:0.1:0.2,C:0.2:0.2)r:0:0.2;";
  quintet_snp_network *network = NULL, *best = NULL;
  quintet_snp_data* data = all_patterns();
  quintet_snp_likelihood* likelihood = NULL;
  quintet_snp_optimise_options options;
  quintet_snp_optimum optimum;
  quintet_snp_branch branch;
  double before, by_length[4];
  int i, calls = 0;
  CHECK_OK(quintet_snp_network_parse(tree, NAN, NAN, &network));
  CHECK_OK(quintet_snp_likelihood_create(network, data, NULL, 0, "host", &likelihood));
  before = evaluate(likelihood);
  CHECK_OK(quintet_snp_optimise_options_default(&options, sizeof options));
  CHECK(options.lengths == 1 && options.gammas == 1 && options.thetas == QUINTET_SNP_THETAS_EACH);
  CHECK(options.max_iterations == 200 && options.max_length == 1e3);
  options.thetas = QUINTET_SNP_THETAS_FIXED;
  options.tolerance = 1e-10;
  CHECK_FAILS(quintet_snp_likelihood_optimise(likelihood, &options, stop, &calls, NULL), QUINTET_CANCELLED,
              "cancelled");
  CHECK(calls == 1);
  memset(&optimum, 0, sizeof optimum);
  optimum.size = sizeof optimum;
  CHECK_OK(quintet_snp_likelihood_optimise(likelihood, &options, NULL, NULL, &optimum));
  CHECK(optimum.converged == 1 && optimum.iterations >= 1 && optimum.evaluations >= optimum.iterations);
  CHECK(optimum.log_likelihood > before && optimum.log_likelihood >= optimum.start);
  CHECK(evaluate(likelihood) == optimum.log_likelihood);
  CHECK(optimum.truncation_bound == 0); /* Small groups are not cut. */
  /* Inside its range a length has no slope there; at the lower end none upwards. */
  CHECK_OK(quintet_snp_likelihood_gradient(likelihood, 4, by_length, NULL, NULL, NULL));
  CHECK_OK(quintet_snp_likelihood_parameters(likelihood, &best, NULL, NULL));
  for (i = 0; i < 4; ++i) {
    CHECK_OK(quintet_snp_network_branch(best, i, &branch));
    CHECK_NEAR(branch.length * by_length[i], 0, 1e-3);
    CHECK(branch.theta == 0.2);
  }
  quintet_snp_network_free(best);
  options.max_iterations = INT64_MAX;
  CHECK_INVALID(quintet_snp_likelihood_optimise(likelihood, &options, NULL, NULL, NULL),
                "max_iterations must be in 1 ... 1000000000");
  options.max_iterations = 200;
  options.thetas = 3;
  CHECK_INVALID(quintet_snp_likelihood_optimise(likelihood, &options, NULL, NULL, NULL), "thetas must be one of");
  options.thetas = QUINTET_SNP_THETAS_FIXED;
  options.lengths = options.gammas = 0;
  CHECK_FAILS(quintet_snp_likelihood_optimise(likelihood, &options, NULL, NULL, NULL), QUINTET_INVALID_ARGUMENT, "");
  optimum.size = 1;
  CHECK_INVALID(quintet_snp_likelihood_optimise(likelihood, NULL, NULL, NULL, &optimum), "optimum->size");
  CHECK_INVALID(quintet_snp_likelihood_optimise(NULL, NULL, NULL, NULL, NULL), "likelihood must not be null");
  CHECK_INVALID(quintet_snp_optimise_options_default(NULL, sizeof options), "options must not be null");
  quintet_snp_likelihood_free(likelihood);
  quintet_snp_data_free(data);
  quintet_snp_network_free(network);
}

int main(void) {
  test_network();
  test_network_of_arrays();
  test_data();
  test_likelihood();
  test_models();
  test_optimise();
  return check_result();
}
