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
    "contract/test_algorithms.py": {
        "test_a_run_does_not_depend_on_its_batch": ("small-adap-klucb", "small-linucb"),
        "test_results_do_not_depend_on_the_workers": ("dp-ucb", "dp-robust-ucb"),
        "test_the_kernel_plays_the_definition_draw_for_draw": (
            "linucb",
            "ucb1",
            "se",
            "dp-exponential-nas",
            "robust-ucb",
        ),
    },
    "contract/test_auditors.py": {
        "test_a_baseline_is_caught_by_its_pairs": ("nas",),
        "test_a_privacy_mutant_costs_more_than_epsilon": ("dp-nas-quarter noise",),
        "test_a_regret_mutant_is_contradicted_by_the_check_that_it_refers_to": (
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
        "test_checks_are_named_after_claims_and_can_be_judged_again": (
            "adap-tt",
            "dp-robust-elimination",
            "dp-robust-ucb",
            "dp-linear",
        ),
        "test_no_transcript_costs_more_than_the_closed_form": (
            "dp-nas",
            "dp-robust-ucb",
            "dp-robust-elimination",
        ),
        "test_the_correct_algorithm_costs_at_most_epsilon": (
            "dp-nas",
            "dp-robust-elimination",
            "dp-robust-ucb",
            "shuffled-linear",
            "adap-tt",
            "adaptive-tree",
            "lazy-dp-ts",
        ),
        "test_the_correct_algorithm_is_never_contradicted": (
            "adap-tt",
            "dp-linear",
            "dp-robust-elimination",
            "dp-robust-ucb",
            "robust-ucb",
            "dp-ucb",
            "ldp-ucb",
        ),
    },
    "contract/test_committed_reports.py": {
        "test_it_holds_and_its_page_is_its_rendering": ("dp-se", "shuffled-linear")
    },
    "contract/test_contextual.py": {
        "test_a_privacy_mutant_is_refuted_and_gets_no_certificate_within_the_claim": (
            "dp-lin-ucb-wishart-mutant12",
            "dp-lin-ucb-wishart-mutant15",
            "dp-lin-ucb-wishart-mutant19",
        ),
        "test_the_worst_pair_costs_what_the_certificate_allows_and_no_more": (
            "dp-lin-ucb-wishart",
            "dp-lin-ucb",
        ),
    },
    "contract/test_errata.py": {
        "test_a_printed_listing_costs_more_than_epsilon_where_it_is_to_be_refuted": ("dp-robust-ucb",)
    },
    "contract/test_rates.py": {
        "test_a_timid_rule_fails_where_the_rule_passes": ("S1 ucb1-T", "S1 dp-ucb-T", "S2 ucb-K")
    },
    "contract/test_verification.py": {
        "test_no_verdict_rests_on_a_knifes_edge": (
            "dp-lin-ucb-wishart/record.json",
            "ldp-lin-ucb/record.json",
            "dp-lin-ucb/record.json",
        )
    },
    "e2e/test_announced_code.py": {
        "test_no_package_runs_before_it_is_compared": ("outer/inner/noise.py", "outer/__init__.py")
    },
    "e2e/test_browser.py": {
        "test_axe_finds_nothing_above_minor": ("errata", "papers", "mutants", "study", "study of heavy tails")
    },
    "e2e/test_child.py": {"test_the_child_ends_with_its_parent": ("2-130",)},
    "e2e/test_cli.py": {
        "test_a_plain_mechanism": (),
        "test_a_target_in_a_package": (),
        "test_an_audit_is_inconclusive_without_power": (),
        "test_an_interrupt_leaves_nothing_behind": (),
        "test_broken_code_is_refuted": (),
    },
    "e2e/test_crashes.py": {"test_a_record_of_ours_that_does_not_hold_is_a_crash": ("shown",)},
    "e2e/test_exec.py": {
        "test_a_bandit_in_perl": ("1-status0-1",),
        "test_a_mechanism_in_c": ("1-0",),
        "test_a_program_declares_its_neighbours_and_its_floats_are_audited": (),
        "test_a_right_python_program": (),
        "test_counts_do_not_depend_on_the_workers": (),
    },
    "e2e/test_plugin.py": {"test_a_time_limit_of_the_test_fails_it_in_its_own_words": ()},
    "e2e/test_renderings.py": {"test_render_writes_every_format": ()},
    "e2e/test_terminal.py": {"test_code_that_prints_much_leaves_the_spinner_alone": ()},
    "e2e/test_tracing.py": {
        "test_a_leak_has_a_page_with_its_way_and_its_budget": (),
        "test_a_leak_is_refuted_and_its_line_is_named": (),
    },
    "packaging/test_action.py": {
        "test_audited_code_sees_nothing_that_steers_the_job": (),
        "test_the_action_installs_the_package": (),
    },
    "packaging/test_read_only.py": {"test_an_audit_runs": ()},
    "property/test_alignment.py": {
        "test_the_printed_tree_budget_is_refuted_by_an_example_that_fits_on_a_screen": (),
        "test_the_tree_uses_its_whole_budget": ("1000",),
    },
    "statistical/test_accusations.py": {
        "test_code_that_draws_and_whose_noise_seldom_shows_is_usable": (),
        "test_power_is_not_taken_from_a_variant_that_equals_the_target": (),
        "test_what_has_no_noise_is_refuted_also_at_large_epsilon": (),
    },
    "statistical/test_approximate.py": {"test_a_gaussian_with_its_rho_holds_and_with_less_noise_falls": ()},
    "statistical/test_bandit_libraries.py": {
        "test_bandits_without_a_promise_are_refuted_and_their_line_is_named": (),
        "test_draws_from_elsewhere_follow_and_are_told_of": (),
    },
    "statistical/test_contexts.py": {"test_learners_that_are_told_lines_of_text_are_audited_as_they_are": ()},
    "statistical/test_controls.py": {
        "test_a_law_that_is_off_by_a_tenth_is_rejected": ("sparse-vector-2", "sparse-vector-3")
    },
    "statistical/test_exact.py": {
        "test_noise_that_is_off_by_one_percent_is_rejected": ("0.99-case2", "0.99-case3", "0.99-case0"),
        "test_simulated_paths_agree_with_the_law": ("case3", "case0", "case2", "case1"),
    },
    "statistical/test_libraries.py": {
        "test_gaussian_noise_has_its_delta_and_no_less": (),
        "test_half_of_what_they_have_is_refuted": ("opendp-laplace", "diffprivlib-geometric"),
        "test_mechanisms_keep_what_they_claim": ("opendp-noisy_max", "opendp-randomized_response"),
    },
    "statistical/test_mutation.py": {
        "test_mutants_of_bandits_with_contexts_are_in_the_table_too": (),
        "test_null_counts_do_not_depend_on_workers": (),
    },
    "statistical/test_nulls_by_hand.py": {
        "test_counts_agree_with_the_claim": (
            "two_geometrics",
            "staircase_noise",
            "rejection_sampling",
            "sparse_vector",
        )
    },
    "statistical/test_nulls_of_users.py": {
        "test_broken_twins_are_refuted": ("peeking-module_generator", "peeking-os_urandom"),
        "test_right_programs_of_two_kinds_are_not_refuted": ("geometric_count",),
    },
    "statistical/test_regret_nulls.py": {"test_the_correct_algorithm_is_not_accused": ("sweeps of SE",)},
    "statistical/test_sequential.py": {
        "test_gaussian_noise_against_a_claim_with_delta": (),
        "test_the_level_holds_at_every_look": ("5.0-0.0-0.004-shares1-3000", "1.0-0.0-0.15-shares0-2000"),
    },
    "statistical/test_styles.py": {
        "test_every_leak_is_refuted": ("noise_on_one_arm", "seeds_from_its_data", "means_with_too_little"),
        "test_what_is_right_is_never_accused": (
            "elimination_as_a_class",
            "randomised_response",
            "with_two_sided_geometric",
        ),
    },
    "statistical/test_user_code.py": {
        "test_counts_do_not_depend_on_the_workers": (),
        "test_power_reaches_generators_that_are_made_of_the_seed": (),
        "test_without_power_the_note_says_why_and_what_to_try": (
            "OutOfReach-1600-noise divided by 6 changed nothing in 128 runs, so that no budget helps",
        ),
    },
    "unit/algorithms/test_dp_robust_elimination.py": {
        "test_a_changed_reward_costs_at_most_epsilon": (
            "*'horizon': 65536, *'variant': 'printed', *",
            "*'horizon': 4096, 'moments': 'central', *'k': 4*",
        ),
        "test_the_table_has_every_kind_share_and_family": (),
    },
    "unit/algorithms/test_dp_ucb_kernel.py": {
        "test_blocks_and_single_pulls_agree": (),
        "test_blocks_of_a_short_run_have_the_law_of_single_pulls": ("three arms, below 0",),
        "test_halved_blocks_cross_a_line_when_nodes_drawn_one_by_one_do": ("4-4.0-0.0", "6-9.0-0.06"),
        "test_the_kernel_plays_what_the_plain_loop_plays": ("environment0-1.0-per-arm",),
        "test_the_node_in_the_middle_is_drawn_given_that_the_noise_falls": ("0-1.0",),
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
            "LinearElimination-False-20",
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
        )
    },
    "unit/auditing/test_between.py": {
        "test_said_data_and_right_code_are_decided": ("stated to be whole", "refuses fractions")
    },
    "unit/auditing/test_bounds_of_mechanisms.py": {
        "test_a_promise_of_a_whole_curve_has_no_bound_at_one_delta": (),
        "test_right_mechanisms_are_bounded_at_their_true_cost": ("two_histograms---",),
    },
    "unit/auditing/test_budgets.py": {
        "test_a_re_run_of_a_capped_audit_says_the_same": (),
        "test_a_re_run_takes_its_sizes_from_the_record_and_needs_no_clock": (),
    },
    "unit/auditing/test_contextual_case.py": {
        "test_adversaries_refute_mutants": ("half noise",),
        "test_an_audit_of_a_joint_claim_plays_them_and_says_what_they_did": (),
    },
    "unit/auditing/test_horizons.py": {
        "test_an_idle_audit_says_from_which_horizon_on_a_reward_counts": (),
        "test_code_that_used_no_noise_yet_is_told_the_horizon": (),
    },
    "unit/auditing/test_leads.py": {"test_the_test_of_a_mechanism_goes_on_too": ("1.7-0-refuted",)},
    "unit/auditing/test_local.py": {
        "test_a_report_that_costs_too_much_is_refuted": ("Reports-NamedOtherwiseButWhole",)
    },
    "unit/auditing/test_reacting_users.py": {
        "test_a_record_without_adversaries_is_re_run_by_the_version_that_made_it": (),
        "test_what_no_adversary_can_play_is_said": (
            "all_rewards-it reads the rewards of several arms in one round",
            "unread-it does not read the reward of each arm that it returns",
        ),
    },
    "unit/auditing/test_regret_claims.py": {"test_pilots_choose_what_was_not_given": ()},
    "unit/auditing/test_regret_tightest.py": {
        "test_a_bound_without_its_epsilon_is_contradicted_at_a_small_one": (),
        "test_the_rival_has_the_parameters_of_the_target_and_says_so": (
            "Eps-ucb1-asked5-ucb1 (horizon 200, n_arms 2)",
            "Stays-dp-se-asked3-dp-se (beta 0.005, epsilon 1, horizon 200, n_arms 2)",
            "Eps-dp-se-asked1-dp-se (beta 0.05, epsilon 2, horizon 200, n_arms 2)",
            "Eps-dp-se-asked2-dp-se (beta 0.5, epsilon 4, horizon 200, n_arms 2)",
            "Eps-dp-se-asked0-dp-se (beta 0.05, epsilon 0.25, horizon 200, n_arms 2)",
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
        "test_right_bandits_show_the_whole_way_and_no_open_decision": ("local_reports",),
    },
    "unit/auditing/test_variants.py": {
        "test_code_that_refuses_or_ignores_a_larger_epsilon_has_its_noise_scaled": ("ignoring",),
        "test_the_parameter_can_be_named": (),
    },
    "unit/campaign/test_campaign_regret.py": {
        "test_the_exit_status_is_that_of_the_verdict_on_regret": ("holds", "vacuous", "stops", "fails")
    },
    "unit/compliance/test_blocks.py": {"test_no_record_holds_a_block_and_every_one_holds": ("zcdp",)},
    "unit/core/test_mechanisms.py": {"test_nodes_are_counted_as_they_are_released": ("100",)},
    "unit/core/test_ridge.py": {"test_arms_are_those_of_whole_inverses": ("radius0-False-shape0",)},
    "unit/core/test_sessions.py": {"test_the_alignment_check_refutes_a_restore_that_draws_again": ("dp-se",)},
    "unit/core/test_shuffle.py": {
        "test_the_printed_listing_is_refuted_with_a_counterexample": (),
        "test_what_alignment_finds_is_not_passed_over": (),
    },
    "unit/core/test_wishart.py": {
        "test_the_degrees_of_freedom_are_the_least_that_keep_the_promise": (),
        "test_the_law_of_the_loss_is_that_of_sampled_matrices": ("replace",),
    },
    "unit/evidence/test_adversary.py": {
        "test_an_adversary_shows_that_a_baseline_keeps_no_secret": ("robust-ucb",),
        "test_no_adversary_makes_a_right_algorithm_cost_more_than_it_promises": (
            "adap-tt",
            "dp-linear",
            "dp-robust-elimination",
            "dp-robust-ucb",
            "lazy-dp-ts",
            "ldp-ucb",
            "shuffled-linear",
            "adap-ucb",
            "ldp-linear",
            "adap-klucb",
            "dp-ucb",
        ),
        "test_the_compiled_loop_pays_what_the_strategy_says": ("dp-se-doubling", "adap-klucb"),
    },
    "unit/evidence/test_alignment.py": {
        "test_reports_without_noise_weigh_nothing_or_everything": ("other0-0.0",)
    },
    "unit/evidence/test_black_box.py": {
        "test_tests_share_alpha_and_the_error_of_their_bounds": ("2-0.01", "10-0.01", "1-0.01")
    },
    "unit/evidence/test_certify.py": {
        "test_no_breach_is_certified": ("adap-tt", "ldp-ucb", "shuffled-linear", "lazy-dp-ts")
    },
    "unit/evidence/test_curves.py": {"test_too_little_normal_noise_is_refuted_by_its_curve": ()},
    "unit/evidence/test_losses.py": {
        "test_an_audit_uses_it_where_tracing_leads_and_a_rerun_repeats_its_counts": ()
    },
    "unit/evidence/test_machine.py": {"test_it_walks_as_the_definition_plays": ("dp-se-changes0",)},
    "unit/evidence/test_normal.py": {
        "test_an_own_action_by_an_own_context_is_no_leak_from_others_and_one_from_all": ("as listed",)
    },
    "unit/evidence/test_race.py": {
        "test_three_arms_agree_with_brute_force": ("values2-scales2-4.0", "values1-scales1-2.0")
    },
    "unit/evidence/test_rounding.py": {
        "test_rounding_of_a_claim_stays_within_the_scales": ("black_box-statistics4", "black_box-statistics6")
    },
    "unit/evidence/test_sequential.py": {
        "test_a_re_run_is_sequential_where_the_audit_was": (
            "tests.user_code.bandits:laplace-options1",
            "tests.user_code.accusations:given-options2",
        ),
        "test_bandits_of_users": (),
        "test_command_line": (),
    },
    "unit/evidence/test_statistics.py": {
        "test_the_approximate_limit_misses_no_more_than_its_level": (),
        "test_the_approximate_limits_are_at_least_those_of_two_limits": (
            "0.05-60-200-3-200-0.1",
            "0.05-60-200-0-200-0.1",
            "0.05-40-40-0-40-0.2",
            "1e-06-60-200-3-200-0.1",
            "1e-06-60-200-0-200-0.1",
            "1e-06-40-40-0-40-0.2",
        ),
        "test_the_approximate_test_has_its_level_at_every_point_of_the_claim": ("design3", "design0"),
        "test_the_approximate_test_is_never_worse_than_two_limits": ("design1", "design0"),
        "test_the_stated_approximate_power_is_the_simulated_one": ("0.205-0.05-2000-1.0-0.02-0.001",),
    },
    "unit/evidence/test_symbolic.py": {
        "test_bad_programs_of_the_provers_are_not_bounded_within_the_claim": (
            "bad_noisy_max",
            "bad_sparse_vector_1",
            "bad_sparse_vector_2",
            "bad_adaptive_sparse_vector",
        ),
        "test_no_leak_is_bounded_within_the_claim_as_it_is_asked_in_one_piece": (
            "proposed_from_a_list_with_other_steep",
            "seldom_and_raw",
        ),
        "test_no_leaking_decision_is_bounded_within_the_claim": ("rejection_twice_too_steep",),
        "test_no_leaking_twin_is_bounded_within_the_claim": ("tree_of_dictionaries_by_half",),
        "test_right_decisions_are_bounded_at_their_true_cost": ("rejection_twice",),
        "test_right_programs_are_bounded_at_their_true_cost": (
            "response_of_the_system",
            "rejection",
        ),
        "test_right_programs_of_the_provers_are_bounded": ("adaptive_sparse_vector", "smart_sum"),
        "test_right_ways_to_sample_are_bounded_at_their_true_cost": ("tree_of_dictionaries",),
        "test_what_is_asked_in_one_piece_costs_what_it_tells": ("proposed_from_a_list",),
    },
    "unit/evidence/test_symbolic_histograms.py": {
        "test_bits_that_are_not_exclusive_all_pay": ("two_levels",),
        "test_two_hot_bits_pay": ("bit_by_bit", "written_in", "row_of_a_unit_matrix"),
    },
    "unit/evidence/test_symbolic_libraries.py": {"test_the_docs_have_the_upper_bound": ("OpenDP-laplace",)},
    "unit/evidence/test_symbolic_matrices.py": {
        "test_programs_that_were_written_blind": ("c03_explore_then_theta",),
        "test_wishart_noise_has_the_law_of_the_catalogue": (),
    },
    "unit/evidence/test_symbolic_samplers.py": {
        "test_logarithms_of_uniform_numbers_cost_what_they_are_worth": ("many_reports",)
    },
    "unit/evidence/test_tracing.py": {
        "test_every_leak_is_found_and_named": ("plain_epsilon_greedy",),
        "test_nothing_correct_is_accused": ("local_reports",),
        "test_other_randomness_is_noted_and_never_accused": ("function5-False",),
        "test_own_algorithms_cost_what_their_mechanisms_declare": (
            "dp-linear",
            "dp-robust-se",
            "adaptive-tree",
            "dp-ucb",
        ),
        "test_randomised_response_on_arrays_costs_what_its_coins_do": ("*-1", "*-2"),
        "test_what_tracing_cannot_settle_is_left_open": ("checked",),
    },
    "unit/evidence/test_worst.py": {
        "test_it_always_finds_the_same": (),
        "test_it_improves_on_the_given_pairs": ("dp-se-changes1-0.9958", "dp-se-doubling-changes3-0.9047"),
    },
    "unit/record/test_records.py": {
        "test_an_edit_with_a_new_digest_is_found_where_it_changes_a_verdict": ("algorithm",)
    },
    "unit/registry/test_closed_forms.py": {
        "test_the_rate_of_the_worst_case_is_told_from_uniform_play": ("DPLinear", "LDPLinear")
    },
    "unit/registry/test_study_s2_s3.py": {"test_rates_come_out_as_known": ("S2",)},
    "unit/render/test_folders.py": {"test_other_data_files": ("studies/S3/study",)},
    "unit/render/test_plainly.py": {
        "test_a_page_explains_the_words_that_it_uses_and_no_others": ("dp-se", "ucb1", "shuffled-linear")
    },
    "unit/targets/test_adapters.py": {"test_classes_are_traced": ("actions", "select_arm", "plain", "river")},
    "unit/targets/test_guard.py": {
        "test_a_file_that_replaces_json_when_it_is_imported_is_refused": (
            "del json.dump",
            "json.JSONEncoder.encode = None",
        ),
        "test_hostile_code_ends_in_one_clear_line": (
            "meddles-it replaced json.dumps",
            "mute-its message cannot be read",
            "leaves-SystemExit: os._exit(0)",
            "deep-RecursionError",
            "exits-SystemExit: 0",
        ),
    },
    "unit/targets/test_protocols.py": {"test_a_leak_is_refuted_by_runs": ("Running",)},
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
    "unit/targets/test_targets.py": {"test_what_is_told_apart_by_whole_numbers_only_is_refuted": ()},
    "unit/test_block_play.py": {
        "test_blocks_and_single_rewards_agree": (),
        "test_the_sum_of_a_block_is_binomial": ("64-0.05",),
    },
    "unit/test_notebooks.py": {"test_a_name_in_a_page_is_text": ()},
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
