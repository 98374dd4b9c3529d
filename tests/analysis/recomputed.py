"""Which test works a question's answer out anew from the raw Parquet: one entry a question, each by a file's name.

A question without an entry fails :mod:`tests.analysis.test_every_question_is_recomputed`. An entry is worth its test:
one that reads stored rows by pandas alone and never asks the table of scores.
"""

from collections.abc import Mapping

SHIPPED = "test_questions.py"
CORPORA = "test_questions_of_corpora.py"
DIRECTIONAL = "test_directional_questions.py"

RECOMPUTED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    SHIPPED: {
        "test_every_family_is_what_its_plain_probes_do_to_items": ("S1",),
        "test_an_axis_is_what_its_families_do": ("S1-spatial", "S1-societal"),
        "test_the_mixed_model_of_whole_pairs_gives_the_mean_shift": ("T3", "S14"),
        "test_the_two_contrasts_of_table_4_are_of_the_scores_themselves": ("T4",),
        "test_composites_are_dropped_by_their_own_diagnostics": ("T2",),
        "test_every_probe_of_a_family_has_a_row_beside_the_controls": (
            "S-reposition", "S-rotation", "S-reposition-ground",
        ),
        "test_levels_of_a_family_are_tested_as_scipy_does": (
            "S2", "S-rotation-levels", "S-reposition-ground-levels", "S-reposition-ground-levels-pairs", "S6", "S7",
            "S8", "S9", "S2-pairs", "S-rotation-levels-pairs", "S6-pairs", "S7-pairs", "S8-pairs", "S9-pairs",
        ),
        "test_clean_scores_by_level_are_those_of_the_raw_rows": (
            "T5", "T6", "S3-coverage", "S3-category", "S3-coverage-pairs", "S3-category-pairs",
        ),
        "test_shifts_by_level_are_those_of_the_items_of_the_level": ("S15-coverage", "S15-category"),
        "test_the_map_of_category_and_coverage_holds_every_cell_that_has_an_item": ("S18",),
        "test_the_curve_on_coverage_is_the_least_squares_natural_spline": ("S17",),
        "test_shares_of_categories_are_those_of_the_items": ("S21",),
        "test_words_are_held_against_the_neutral_caption_of_their_length": ("T7", "T8", "S4", "S5"),
        "test_words_cross_with_what_is_shown": ("S16",),
        "test_neutral_words_stand_together_with_the_shift_from_the_bare_caption": ("S12",),
        "test_evaluators_agree_as_scipy_finds": ("S11",),
        "test_what_was_left_out_is_counted_from_the_rejections": ("S13",),
        "test_evaluators_stand_with_the_fingerprints_of_the_manifest": ("S0",),
        "test_flip_risks_are_shares_of_pairs_that_are_further_apart_than_the_gap": ("T13", "S10"),
        "test_calibration_starts_from_what_the_held_out_items_do": ("T14", "T15", "T16"),
        "test_the_choices_of_a_calibration_are_worked_out_from_stored_scores": ("S30",),
        "test_agreement_along_the_strength_starts_at_that_of_the_clean_scores": ("S23",),
        "test_below_the_gap_of_evidence_one_pair_in_twenty_flips_and_above_it_fewer": ("S24",),
    },
    "test_adjusted.py": {
        "test_the_size_effect_is_that_of_statsmodels": ("S14-size",),
        "test_categories_are_held_at_one_coverage_as_statsmodels_does": ("S14-category",),
        "test_every_word_has_its_mixed_model_corrected_within_the_family": (
            "S14-cultural", "S14-economic", "S14-gender", "S14-emotion",
        ),
        "test_the_balanced_mean_is_that_of_the_strata_with_resampled_sources": ("S3-balanced",),
    },
    "test_composition.py": {
        "test_tied_labels_are_counted_where_the_run_records_them": ("S-ties",),
        "test_the_outlines_of_moved_objects_are_counted_by_where_they_come_from": ("S-masks",),
    },
    "test_worst_slices.py": {
        "test_cells_are_ranked_by_bounds_that_hold_for_all_that_were_looked_at": ("S-slices",),
    },
    "test_natural_captions.py": {
        "test_captions_are_counted_once_over_all_corpora": ("S32",),
        "test_a_words_shift_is_the_median_from_the_neutral_rewrite": ("S33",),
        "test_the_order_of_the_three_scores_is_a_share_of_captions": ("S34",),
        "test_pairs_of_words_are_compared_inside_each_caption": ("S35",),
    },
    "test_length.py": {
        "test_the_trend_is_the_median_of_the_items_least_squares": ("S36",),
        "test_the_curve_passes_the_means_where_there_are_as_many_lengths_as_knots": ("S36-curve",),
    },
    "test_places.py": {
        "test_every_place_of_the_grid_has_its_median_and_how_it_stands_to_the_item_s_others": ("S19-map",),
        "test_the_lean_is_the_median_of_least_squares_over_each_item_s_places": ("S19-lean",),
    },
    "test_chroma.py": {"test_the_difference_is_the_median_over_items_of_the_raw_rows": ("S-chroma",)},
    "test_lettered.py": {"test_groups_and_difference_are_those_of_the_raw_rows": ("S-text",)},
    "test_filling.py": {
        "test_the_share_of_the_filling_is_that_of_the_raw_rows": ("S25",),
        "test_an_item_is_left_out_where_one_of_the_turns_cut_its_object": ("S-cut",),
        "test_the_balance_counts_every_scored_item_once": ("S-balance",),
    },
    "test_blur_control.py": {"test_the_control_compares_each_item_with_itself_as_the_raw_rows_do": ("S22",)},
    CORPORA: {
        "test_the_curve_on_distance_is_the_least_squares_natural_spline_of_the_grid": ("S19",),
        "test_a_family_in_every_corpus_is_what_its_rows_there_are": ("S20",),
        "test_subsets_are_medians_of_each_item_s_mean_corpus_by_corpus": ("T9", "T10", "T11"),
        "test_agreement_is_the_share_of_items_that_go_the_way_of_the_reference": ("T12",),
    },
    DIRECTIONAL: {
        "test_every_failure_rate_is_the_share_of_stored_pairs": ("C-rates",),
        "test_drops_of_an_axis_are_those_of_its_families": ("C2", "C3", "C21", "C-object"),
        "test_means_and_margins_are_scaled_by_the_scores_of_the_family": ("C24", "C25"),
        "test_histograms_count_every_comparison_once": ("C5-bins", "C22-bins", "C-object-scores-bins"),
        "test_failures_by_a_fact_are_those_of_the_items_that_tell_it": ("C16", "C23", "C28"),
        "test_orders_are_counted_item_by_item": ("C18", "C18-pairs"),
        "test_an_answer_is_the_paired_change_and_no_failure": ("C19", "C20"),
        "test_the_answer_to_nested_captions_is_the_change_from_the_step_before": ("C-nested",),
        "test_the_answer_to_size_is_read_again_where_both_objects_are_alike_in_centrality": ("C20-central",),
        "test_an_example_of_every_family_says_who_ranks_it_rightly": ("C27",),
        "test_a_broken_caption_that_says_more_is_held_against_a_right_one_that_says_less": ("C-crossed",),
        "test_the_two_by_two_tells_the_prototype_from_the_detail": ("C29",),
        "test_selectivity_is_the_share_of_pairs_of_one_item": ("C-selectivity", "C-plane-data", "C-hidden-cells"),
    },
    "test_other_captions.py": {
        "test_every_language_is_asked_and_the_mean_gives_each_the_same_weight": ("C2-languages",),
        "test_the_answer_to_size_follows_how_much_larger_the_object_is": ("C20-curve",),
        "test_paper_c_s_families_have_their_own_table": ("C-rewards",),
        "test_the_overlap_of_words_is_that_of_the_stored_captions": ("C17",),
        "test_every_sibling_counts_and_the_hardest_is_the_highest": ("C11-siblings",),
        "test_two_kinds_of_wrong_answers_are_compared_item_by_item": ("C18-differences",),
    },
    "test_both_orders.py": {
        "test_the_four_captions_are_joined_item_by_item_over_their_captions": ("C21-both",),
        "test_a_set_is_right_where_every_side_of_it_is_strictly_higher": ("C-sets",),
    },
    "test_sweeps.py": {
        "test_a_curve_has_a_point_a_strength_and_each_is_the_median_change_of_its_items": ("C-sweep",),
        "test_the_strength_at_which_the_margin_is_left_is_read_off_the_raw_medians": ("S31",),
    },
}  # fmt: skip
"""File -> its test -> questions whose published numbers it holds to the stored rows."""
