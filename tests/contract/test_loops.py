"""A test that asserts only in loops over computed collections also says that they are not empty.

Negative controls are the programs below. Those named in `LEFT` do not say so yet; the list may only shrink.
"""

import pytest

from tests.loops import every, only_in_loops

LEFT = """
packaging/test_readme.py::test_commands_are_understood
packaging/test_readme.py::test_commands
statistical/test_mutation.py::test_no_loss_exceeds_its_closed_form
statistical/test_nulls_by_hand.py::test_no_program_imports_the_framework
statistical/test_regret_nulls.py::test_the_correct_algorithm_is_not_accused_at_200_seeds
unit/algorithms/test_dp_robust_elimination.py::test_privacy_mutants_are_caught_for_either_kind_of_moments
unit/algorithms/test_dp_robust_elimination.py::test_the_table_tells_what_the_formulas_do
unit/algorithms/test_dp_robust_elimination.py::test_outliers_of_the_table_lie_just_within_a_truncation
unit/algorithms/test_dp_robust_elimination.py::test_far_outliers_cost_dp_robust_se_the_best_arm_and_not_this_algorithm
unit/algorithms/test_dp_ucb_kernel.py::test_words_below_a_chance_are_those_whose_uniforms_are
unit/algorithms/test_linear.py::test_a_net_of_a_given_set
unit/algorithms/test_linear.py::test_the_cost_is_epsilon_and_twice_that_as_printed
unit/algorithms/test_robust_ucb.py::test_theorem_4_4_covers_theorem_4_3_at_each_gap
unit/auditing/test_adjacency.py::test_neighbouring_data_differ_in_one_entry
unit/auditing/test_contextual_case.py::test_the_users_of_both_worlds_follow_the_same_actions
unit/auditing/test_reacting_users.py::test_a_function_that_goes_through_its_arrays_is_played_as_the_class_is
unit/auditors/test_turns.py::test_arms_with_few_pulls_come_first
unit/core/test_mechanisms.py::test_nodes_are_counted_as_they_are_released
unit/core/test_meter.py::test_a_live_run_spends_at_most_epsilon
unit/core/test_meter.py::test_the_meter_is_saved_and_restored
unit/core/test_populations.py::test_the_spread_of_a_law_is_reached
unit/core/test_reports_on_arrival.py::test_nothing_of_a_local_session_in_memory_is_raw
unit/core/test_shuffle.py::test_the_formula_holds_on_its_domain
unit/core/test_wishart.py::test_rounding_up_bounds_from_above_and_rounding_down_from_below
unit/evidence/test_adversary.py::test_the_compiled_loop_pays_what_the_strategy_says
unit/evidence/test_adversary.py::test_the_likelihood_of_a_transcript_is_what_its_replay_loses
unit/evidence/test_events.py::test_codes_are_equal_where_prefixes_are
unit/evidence/test_machine.py::test_mutants_walk_as_they_play
unit/evidence/test_race.py::test_gradient_agrees_with_central_differences
unit/evidence/test_sequential.py::test_no_claim_that_holds_can_lose_by_any_bet
unit/evidence/test_sequential.py::test_payoffs_are_those_of_the_stakes
unit/registry/test_study_s2_s3.py::test_the_algorithms_act_within_their_horizons
unit/registry/test_study_s2_s3.py::test_every_statement_has_checks_of_its_kind
unit/registry/test_study_s2_s3.py::test_the_instances_of_the_private_term_have_the_moments_that_are_claimed
unit/registry/test_study_s2_s3.py::test_light_rewards_have_moments_within_1
unit/registry/test_study_s2_s3.py::test_outcomes_hold_what_the_statements_ask_for
unit/registry/test_study_s4.py::test_every_statement_has_checks_that_are_json
unit/registry/test_study_s4.py::test_rates_over_d_are_told_from_others
unit/registry/test_study_s4.py::test_rates_are_fitted_where_the_gaps_that_are_left_follow_gamma
unit/registry/test_study_s4.py::test_in_the_rate_over_epsilon_each_value_meets_the_same_place_of_its_batch
unit/registry/test_study_s4.py::test_the_private_terms_have_a_factor_for_batches_and_one_for_their_width
unit/targets/test_protocols.py::test_each_form_is_played_on_the_table
unit/test_wrong_arguments.py::test_it_is_refused_in_one_line
""".split()  # noqa: SIM905


def test_no_test_asserts_only_over_what_may_be_empty_but_those_left():
    found = every()
    new = [name for name in found if name not in LEFT]
    assert not new, f"these assert nothing over an empty collection: {new}"
    mended = [name for name in LEFT if name not in found]
    assert not mended, f"these are mended, or gone, so take them out of LEFT: {mended}"
    assert len(LEFT) <= 43


@pytest.mark.parametrize(
    "body",
    [
        "for x in found(): assert x",
        "for x in found().items(): assert x",
        "for x in []: assert x",
        "for x in range(n): assert x",
        "for x in (*found(),): assert x",
        "for x in zip((1, 2), found()): assert x",
        "for x in [x for x in (1, 2) if x > 2]: assert x",
        "rows = found()\n    for x in rows: assert x",
        "for x in found():\n        with pytest.raises(ValueError): x()",
        "for x in found():\n        for y in (1, 2): assert y",
        "for x in found():\n        if x: assert x",
    ],
)
def test_an_assertion_over_a_computed_collection_is_found(body):
    assert only_in_loops(f"def test_it(n):\n    {body}\n") == ["test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "rows = found()\n    assert rows\n    for x in rows: assert x",
        "for x in (1, 2): assert x",
        "for x in range(3): assert x",
        "for x in enumerate(ROWS): assert x",
        "for x, y in {1: 2}.items(): assert x",
        "for x in [x + 1 for x in ROWS]: assert x",
        "for x in found(): x()",
        "with pytest.raises(ValueError): it()\n    for x in found(): assert x",
        "assert_allclose(1, 1)\n    for x in found(): assert x",
    ],
)
def test_what_always_asserts_is_not_named(body):
    assert only_in_loops(f"ROWS = (1, 2)\ndef test_it():\n    {body}\n") == []
