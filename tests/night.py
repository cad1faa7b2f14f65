"""Tests that wait for the night (`make test-all`), and those of their cases that run by day.

A test stands here when it takes more than what it finds beyond its siblings by day is worth; `make faults`
shows that the faults seeded in the source are found without it. By file and function: the cases that wait,
as patterns; none means the whole function.
"""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Sequence

import pytest

NIGHT: dict[str, dict[str, tuple[str, ...]]] = {
    "contract/test_auditors.py": {
        "test_a_regret_mutant_is_contradicted_by_the_check_that_it_names": (
            "adap-tt-uniform play",
            "dp-linear-hasty",
            "dp-robust-ucb-heavy noise",
            "ldp-ucb-uniform play",
            "nas-unsigned",
            "robust-ucb-wide",
            "se-half threshold",
            "ucb1-greedy",
            "ucb1-doubled bonus",
        ),
        "test_the_correct_algorithm_costs_at_most_epsilon": (
            "dp-nas",
            "dp-robust-elimination",
            "dp-robust-ucb",
        ),
        "test_the_correct_algorithm_is_never_contradicted": (
            "adap-tt",
            "dp-linear",
            "dp-robust-elimination",
            "dp-robust-ucb",
        ),
    },
    "contract/test_contextual.py": {
        "test_a_privacy_mutant_is_refuted_and_gets_no_certificate_within_the_claim": (
            "dp-lin-ucb-wishart-mutant12",
            "dp-lin-ucb-wishart-mutant15",
            "dp-lin-ucb-wishart-mutant19",
        ),
    },
    "contract/test_errata.py": {
        "test_a_printed_listing_costs_more_than_epsilon_where_it_is_to_be_refuted": ("dp-robust-ucb",),
    },
    "contract/test_rates.py": {
        "test_a_timid_rule_fails_where_the_rule_passes": ("S1 ucb1-T", "S1 dp-ucb-T", "S2 ucb-K"),
    },
    "contract/test_verification.py": {
        "test_no_verdict_rests_on_a_knifes_edge": (
            "dp-lin-ucb-wishart/record.json",
            "ldp-lin-ucb/record.json",
        ),
    },
    "e2e/test_announced_code.py": {
        "test_no_package_runs_before_it_is_compared": ("outer/inner/noise.py", "outer/__init__.py"),
    },
    "e2e/test_browser.py": {
        "test_axe_finds_nothing_above_minor": (
            "errata",
            "papers",
            "mutants",
            "study",
            "study of heavy tails",
        ),
    },
    "e2e/test_cli.py": {
        "test_an_audit_is_inconclusive_without_power": (),
        "test_broken_code_is_refuted": (),
    },
    "e2e/test_tracing.py": {
        "test_a_leak_has_a_page_with_its_way_and_its_budget": (),
    },
    "statistical/test_accusations.py": {
        "test_code_that_draws_and_whose_noise_seldom_shows_is_usable": (),
        "test_power_is_not_taken_from_a_variant_that_equals_the_target": (),
        "test_what_has_no_noise_is_refuted_also_at_large_epsilon": (),
    },
    "statistical/test_approximate.py": {
        "test_a_gaussian_with_its_rho_holds_and_with_less_noise_falls": (),
    },
    "statistical/test_bandit_libraries.py": {
        "test_draws_from_elsewhere_follow_and_are_told_of": (),
    },
    "statistical/test_contexts.py": {
        "test_learners_that_are_told_lines_of_text_are_audited_as_they_are": (),
    },
    "statistical/test_controls.py": {
        "test_a_law_that_is_off_by_a_tenth_is_rejected": ("sparse-vector-2", "sparse-vector-3"),
    },
    "statistical/test_exact.py": {
        "test_simulated_paths_agree_with_the_law": ("case3", "case0", "case2"),
    },
    "statistical/test_libraries.py": {
        "test_gaussian_noise_has_its_delta_and_no_less": (),
        "test_half_of_what_they_have_is_refuted": ("opendp-laplace", "diffprivlib-geometric"),
        "test_mechanisms_keep_what_they_claim": ("opendp-noisy_max", "opendp-randomized_response"),
    },
    "statistical/test_mutation.py": {
        "test_mutants_of_bandits_with_contexts_are_in_the_table_too": (),
    },
    "statistical/test_nulls_by_hand.py": {
        "test_counts_agree_with_the_claim": ("two_geometrics", "staircase_noise", "rejection_sampling"),
    },
    "statistical/test_nulls_of_users.py": {
        "test_broken_twins_are_refuted": ("peeking-module_generator", "peeking-os_urandom"),
        "test_right_programs_of_two_kinds_are_not_refuted": ("geometric_count",),
    },
    "statistical/test_sequential.py": {
        "test_the_level_holds_at_every_look": ("5.0-0.0-0.004-shares1-3000", "1.0-0.0-0.15-shares0-2000"),
    },
    "statistical/test_styles.py": {
        "test_every_leak_is_refuted": ("noise_on_one_arm", "seeds_from_its_data", "means_with_too_little"),
        "test_what_is_right_is_never_accused": ("elimination_as_a_class", "randomised_response"),
    },
    "statistical/test_user_code.py": {
        "test_counts_do_not_depend_on_the_workers": (),
        "test_power_reaches_generators_that_are_made_of_the_seed": (),
        "test_without_power_the_note_says_why_and_what_to_try": (
            "OutOfReach-1600-noise divided by 6 changed nothing in 32 runs, so that no budget helps",
        ),
    },
    "unit/algorithms/test_dp_robust_elimination.py": {
        "test_the_table_has_every_kind_share_and_family": (),
    },
    "unit/algorithms/test_dp_ucb_kernel.py": {
        "test_halved_blocks_cross_a_line_when_nodes_drawn_one_by_one_do": ("4-4.0-0.0",),
    },
    "unit/algorithms/test_linear.py": {
        "test_a_thousand_actions_and_ten_million_rounds": (
            "DPLinear-False-2",
            "ShuffledLinear-True-2",
            "DPLinear-True-2",
            "ShuffledLinear-False-2",
            "LinearElimination-True-20",
            "DPLinear-False-20",
            "DPLinear-True-20",
            "ShuffledLinear-False-20",
            "LDPLinear-True-20",
            "LDPLinear-False-20",
            "ShuffledLinear-True-20",
        ),
        "test_the_cost_is_epsilon_and_twice_that_as_printed": (
            "DPLinear-True-0.3-corrected-1",
            "LDPLinear-True-0.3-corrected-1",
            "DPLinear-False-0.3-printed-2",
            "DPLinear-False-0.3-corrected-1",
        ),
    },
    "unit/auditing/test_adjacency.py": {
        "test_a_control_is_refuted_under_its_adjacency_only": (
            "skips_missing-zero-out",
            "sum_of_signs-zero-out",
        ),
    },
    "unit/auditing/test_between.py": {
        "test_said_data_and_right_code_are_decided": ("stated to be whole", "refuses fractions"),
    },
    "unit/auditing/test_budgets.py": {
        "test_a_re_run_of_a_capped_audit_says_the_same": (),
    },
    "unit/auditing/test_contextual_case.py": {
        "test_an_audit_of_a_joint_claim_plays_them_and_says_what_they_did": (),
    },
    "unit/auditing/test_horizons.py": {
        "test_an_idle_audit_says_from_which_horizon_on_a_reward_counts": (),
        "test_code_that_used_no_noise_yet_is_told_the_horizon": (),
    },
    "unit/auditing/test_reacting_users.py": {
        "test_a_record_without_adversaries_is_re_run_by_the_version_that_made_it": (),
        "test_what_no_adversary_can_play_is_said": (
            "all_rewards-it reads the rewards of several arms in one round",
            "unread-it does not read the reward of each arm that it returns",
        ),
    },
    "unit/auditing/test_regret_tightest.py": {
        "test_the_rival_has_the_parameters_of_the_target_and_says_so": (
            "Eps-ucb1-asked5-ucb1 (horizon 200, n_arms 2)",
            "Stays-dp-se-asked3-dp-se (beta 0.005, epsilon 1, horizon 200, n_arms 2)",
            "Eps-dp-se-asked1-dp-se (beta 0.05, epsilon 2, horizon 200, n_arms 2)",
            "Eps-dp-se-asked2-dp-se (beta 0.5, epsilon 4, horizon 200, n_arms 2)",
        ),
    },
    "unit/auditing/test_tracing_face.py": {
        "test_every_step_is_a_line_of_the_source_and_lies_in_an_excerpt": (
            "with_two_sided_geometric",
            "elimination_as_a_class",
            "epsilon_greedy_on_noise",
            "windows",
            "noise_first",
            "local_reports",
            "randomised_response",
            "looks_again_and_again",
            "plain_epsilon_greedy",
            "plain_ucb",
            "stops_when_sure",
        ),
    },
    "unit/auditing/test_variants.py": {
        "test_code_that_refuses_or_ignores_a_larger_epsilon_has_its_noise_scaled": ("ignoring",),
        "test_the_parameter_can_be_named": (),
    },
    "unit/campaign/test_campaign_regret.py": {
        "test_the_exit_status_is_that_of_the_verdict_on_regret": ("holds", "vacuous", "stops"),
    },
    "unit/core/test_shuffle.py": {
        "test_what_alignment_finds_is_not_passed_over": (),
    },
    "unit/evidence/test_adversary.py": {
        "test_no_adversary_makes_a_right_algorithm_cost_more_than_it_promises": (
            "adap-tt",
            "dp-linear",
            "dp-robust-elimination",
            "dp-robust-ucb",
            "lazy-dp-ts",
            "ldp-ucb",
            "shuffled-linear",
        ),
    },
    "unit/evidence/test_black_box.py": {
        "test_tests_share_alpha_and_the_error_of_their_bounds": ("2-0.01", "10-0.01"),
    },
    "unit/evidence/test_certify.py": {
        "test_no_breach_is_certified": ("adap-tt", "ldp-ucb", "shuffled-linear"),
    },
    "unit/evidence/test_curves.py": {
        "test_too_little_normal_noise_is_refuted_by_its_curve": (),
    },
    "unit/evidence/test_rounding.py": {
        "test_rounding_of_a_claim_stays_within_the_scales": (
            "black_box-statistics4",
            "black_box-statistics6",
        ),
    },
    "unit/evidence/test_sequential.py": {
        "test_a_re_run_is_sequential_where_the_audit_was": (
            "tests.user_code.bandits:laplace-options1",
            "tests.user_code.accusations:given-options2",
        ),
        "test_bandits_of_users": (),
        "test_command_line": ("right-options1-0",),
    },
    "unit/evidence/test_statistics.py": {
        "test_the_approximate_limits_are_at_least_those_of_two_limits": (
            "0.05-60-200-3-200-0.1",
            "0.05-60-200-0-200-0.1",
            "0.05-40-40-0-40-0.2",
            "1e-06-60-200-3-200-0.1",
            "1e-06-60-200-0-200-0.1",
            "1e-06-40-40-0-40-0.2",
        ),
        "test_the_approximate_test_has_its_level_at_every_point_of_the_claim": ("design3", "design0"),
    },
    "unit/evidence/test_symbolic.py": {
        "test_bad_programs_of_the_provers_are_not_bounded_within_the_claim": (
            "bad_noisy_max",
            "bad_sparse_vector_1",
            "bad_sparse_vector_2",
        ),
        "test_no_leak_is_bounded_within_the_claim_as_it_is_asked_in_one_piece": (
            "proposed_from_a_list_with_other_steep",
            "seldom_and_raw",
        ),
        "test_no_leaking_decision_is_bounded_within_the_claim": ("rejection_twice_too_steep",),
        "test_no_leaking_twin_is_bounded_within_the_claim": ("tree_of_dictionaries_by_half",),
        "test_right_programs_are_bounded_at_their_true_cost": ("tree_of_sums", "response_of_the_system"),
        "test_right_ways_to_sample_are_bounded_at_their_true_cost": ("tree_of_dictionaries",),
    },
    "unit/evidence/test_tracing.py": {
        "test_nothing_correct_is_accused": ("local_reports",),
        "test_own_algorithms_cost_what_their_mechanisms_declare": (
            "dp-linear",
            "dp-robust-se",
            "adaptive-tree",
        ),
        "test_randomised_response_on_arrays_costs_what_its_coins_do": ("*-1", "*-2"),
        "test_what_tracing_cannot_settle_is_left_open": ("checked",),
    },
    "unit/evidence/test_worst.py": {
        "test_it_improves_on_the_given_pairs": ("dp-se-changes1-0.9958", "dp-se-doubling-changes3-0.9047"),
    },
    "unit/registry/test_study_s2_s3.py": {
        "test_rates_come_out_as_known": ("S2",),
    },
    "unit/render/test_plainly.py": {
        "test_a_page_explains_the_words_that_it_uses_and_no_others": ("dp-se", "ucb1"),
    },
    "unit/targets/test_adapters.py": {
        "test_classes_are_traced": ("actions",),
    },
    "unit/targets/test_protocols.py": {
        "test_a_leak_is_refuted_by_runs": ("Running",),
    },
    "unit/targets/test_randomness.py": {
        "test_runs_follow_the_generator_that_they_are_given": (
            "from numpy.random",
            "random",
            "scipy",
            "one made at the first call",
            "secrets",
            "from os",
            "numba",
        ),
        "test_what_is_seeded_in_a_run_stays_as_it_is": ("<lambda>2", "<lambda>0"),
    },
    "unit/targets/test_targets.py": {
        "test_what_is_told_apart_by_whole_numbers_only_is_refuted": (),
    },
    "unit/test_notebooks.py": {
        "test_a_name_in_a_page_is_text": (),
    },
}


def wait(items: Sequence[pytest.Item], named: bool) -> None:
    """Mark as slow what waits for the night.

    Parameters
    ----------
    items
        All that were collected.
    named
        Whether tests or cases were named, so that others of their file were not collected.

    Raises
    ------
    pytest.UsageError
        If the table speaks of tests or cases that do not exist.
    """
    cases: dict[str, dict[str, dict[str, pytest.Item]]] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        file, _, name = item.nodeid.removeprefix("tests/").partition("::")
        function, _, case = name.partition("[")
        cases[file][function][case.removesuffix("]")] = item
    for file in NIGHT.keys() & cases.keys():
        for function, waiting in NIGHT[file].items():
            found = cases[file].get(function, {})
            for pattern in waiting or ("*",):
                named_so = fnmatch.filter(found, pattern)
                if not named_so and not named:
                    raise pytest.UsageError(f"tests/night.py: {file}::{function}[{pattern}] is not there")
                for case in named_so:
                    found[case].add_marker("slow")
