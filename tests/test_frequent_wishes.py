"""What users of terminal agents ask for again and again, each by its number, and what holds it.

Each entry says the ask in a few words and names the tests that fail where it is not kept.
"""

import re
from pathlib import Path

import pytest

from tests.cases import loop_over
from tests.model_server import Answer, ModelServer, Received, refused, streamed
from tests.shell import andy, start_andy

HERE = Path(__file__).parent
DEFINED = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)

ASKS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: (
        "a server that takes no tools",
        (
            "test_openai_provider::test_a_refusal_of_tools_has_a_kind_of_its_own_and_is_remembered",
            "test_run::test_a_server_that_takes_no_tools_is_led_through_the_dialogue",
            "test_learned::test_tools_that_were_refused_are_not_offered_again",
        ),
    ),
    2: (
        "a call that stands in the text",
        (
            "test_run::test_a_call_left_in_the_text_by_a_mis_set_server_is_carried_out",
            "test_compiler::test_a_letter_in_a_fence_or_in_inline_code_is_no_request",
        ),
    ),
    3: ("Mistral's notation", ("test_dialects::test_a_reply_means_what_its_case_says",)),
    4: (
        "Qwen's notation between prose",
        ("test_replies::test_a_reply_means_what_a_careful_reader_says",),
    ),
    5: (
        "pieces of any size mean the same",
        (
            "test_compiler::test_chunks_never_change_the_meaning",
            "test_compiler::test_an_opener_with_a_request_behind_it_is_never_shown",
            "test_dialects::test_pieces_of_any_size_mean_the_same",
        ),
    ),
    6: ("Harmony's channels", ("test_replies::test_it_means_the_same_in_any_pieces",)),
    7: (
        "Kimi's notation, and ids that every server takes",
        (
            "test_ids::test_a_family_gets_its_own_ids_back",
            "test_history::test_an_id_is_one_that_every_server_takes",
        ),
    ),
    8: (
        "an empty answer",
        (
            "test_turn::test_a_reply_that_says_nothing_is_asked_for_once_more_without_native_tools",
            "test_outcomes::test_a_reply_of_thoughts_alone_is_asked_for_once_more_and_named",
            "test_chat::test_a_model_that_answers_with_nothing_is_said_to_have",
        ),
    ),
    9: (
        "an announcement without a deed",
        (
            "test_turn::test_an_announcement_is_told_once_to_be_carried_out",
            "test_turn::test_who_announces_again_when_told_has_answered",
        ),
    ),
    10: (
        "arguments that are cut off or odd",
        (
            "test_native_calls::test_arguments_that_are_no_object_are_never_guessed_at",
            "test_turn::test_a_native_call_that_was_cut_off_never_runs_and_is_asked_for_again_once",
        ),
    ),
    11: (
        "parameters under other names",
        (
            "test_mapper::test_a_case_is_corrected_or_asked_about",
            "test_turn::test_what_does_not_fit_is_told_once_with_its_schema_then_the_user_is_asked",
        ),
    ),
    12: (
        "tools under other names",
        (
            "test_mapper::test_the_nearest_names_are_for_people",
            "test_spec_a::test_an_unknown_command_is_answered_with_the_nearest_and_never_run",
        ),
    ),
    13: (
        "the same call again and again",
        (
            "test_spec_cases::test_case_43_the_same_step_with_the_same_result_is_refused_the_third_time",
        ),
    ),
    14: (
        "more tools than a model takes",
        (
            "test_observed_tools::test_a_server_that_leaves_many_tools_out_is_noticed_by_its_first_count",
            "test_observed_tools::"
            "test_a_count_that_leaves_no_room_for_the_tools_has_them_taught_in_the_same_turn",
        ),
    ),
    15: (
        "a window that is cut in silence",
        (
            "test_doctor::test_a_window_that_our_prompt_does_not_fit_fails",
            "test_compression::test_a_server_that_drops_the_beginning_is_noticed",
        ),
    ),
    16: (
        "results that were made up",
        (
            "test_spec_a::test_a_result_the_model_invents_is_neither_believed_nor_shown",
            "test_turn::test_a_generation_that_goes_on_in_somebody_elses_name_is_stopped",
            "test_grounding::test_what_is_false_is_found",
        ),
    ),
    17: (
        "schemas and names that a server refuses",
        (
            "test_mapper::test_names_are_offered_reversibly",
            "test_mapper::test_what_is_offered_plainly_validates_by_the_original",
            "test_turn::test_a_name_the_api_does_not_take_is_offered_under_another_and_understood",
        ),
    ),
    18: ("errors of templates", ("test_frequent_wishes::test_an_error_of_a_template_is_survived",)),
    19: (
        "another model in the middle",
        (
            "test_turn::test_a_model_switch_makes_a_new_compiler_and_renders_the_history_anew",
            "test_chat::test_another_model_goes_on_with_the_same_conversation",
        ),
    ),
    20: (
        "an interrupted call",
        (
            "test_turn::test_a_cancelled_turn_leaves_no_call_without_a_result",
            "test_spec_c::test_case_45_what_an_interrupted_session_left_open_is_repaired",
        ),
    ),
    21: (
        "servers are found",
        ("test_discovery::test_servers_on_this_machine_are_found_with_their_models",),
    ),
    22: (
        "what a model can do, and that it is at work",
        (
            "test_probe::test_people_get_a_table_and_a_sentence",
            "test_memory::test_a_probe_is_kept_with_its_figures_and_its_day",
            "test_event_display::test_what_goes_on_is_said_after_a_second",
        ),
    ),
    23: (
        "any address",
        (
            "test_discovery::test_an_address_that_was_given_comes_first",
            "test_discovery::test_ollamas_address_is_read_in_every_spelling",
            "test_run::test_without_any_model_the_first_run_page_says_what_to_do",
        ),
    ),
    24: (
        "a silence can be stopped and is explained",
        (
            "test_chat::test_a_model_that_says_nothing_at_all_can_be_stopped",
            "test_chat::test_a_long_silence_in_the_middle_of_an_answer_is_explained",
        ),
    ),
    25: ("a quick start", ("test_chat::test_what_is_loaded_at_the_first_prompt",)),
    26: (
        "slow MCP servers",
        (
            "test_mcp::test_a_slow_server_delays_nothing_and_its_tools_join_later",
            "test_mcp::test_a_server_that_cannot_be_used_says_why_and_the_others_work",
        ),
    ),
    27: ("XDG folders", ("test_config::test_where_the_file_is_needs_no_file",)),
    28: (
        "raw requests and replies",
        (
            "test_capture::test_a_request_and_its_raw_reply_are_kept",
            "test_capture::test_no_secret_is_kept",
            "test_replay::test_the_same_bytes_mean_what_they_meant",
        ),
    ),
    29: (
        "no flicker",
        (
            "test_event_display::test_finished_blocks_are_written_once",
            "test_event_display::test_lines_that_stay_as_they_are_are_not_drawn_again",
        ),
    ),
    30: (
        "text can be copied",
        ("test_chat::test_copy_gives_the_answer_or_a_code_block_to_the_terminals_clipboard",),
    ),
    31: (
        "no garbage after a resize",
        (
            "test_chat::test_a_resize_in_the_middle_of_an_answer_leaves_no_garbage",
            "test_live_prompt::"
            "test_a_terminal_made_narrower_than_the_question_loses_nothing_above_it",
            "test_live_prompt::"
            "test_a_prompt_that_fills_the_screen_leaves_no_copies_when_it_is_resized",
        ),
    ),
    32: (
        "wide and joined characters",
        (
            "test_chat::test_wide_characters_keep_their_columns",
            "test_live_prompt::test_joined_characters_shift_nothing_that_is_written_or_typed",
        ),
    ),
    33: (
        "Ctrl-C loses nothing",
        (
            "test_chat::test_ctrl_c_in_a_stalled_answer_keeps_what_was_said_and_the_chat_goes_on",
            "test_chat::test_ctrl_c_leaves_an_empty_line_the_second_time_however_late",
            "test_turn::test_every_message_is_on_disk_when_it_counts",
        ),
    ),
    34: (
        "readers of screens",
        (
            "test_chat::test_plain_output_is_only_ever_added_to",
            "test_live_prompt::test_a_plain_question_stands_there_once_each_time_it_is_asked",
        ),
    ),
    35: (
        "any encoding",
        (
            "test_output_streams::test_an_answer_gets_through_a_pipe_of_any_locale",
            "test_output_streams::test_a_terminal_without_a_sign_shows_one_of_ascii",
        ),
    ),
    36: (
        "huge outputs",
        (
            "test_terminal::test_a_long_output_is_told_by_head_and_tail_and_kept_whole",
            "test_terminal::test_a_hundred_megabytes_are_kept_in_little_memory",
        ),
    ),
    37: (
        "a yes is remembered, and where that was said",
        (
            "test_consents::test_a_yes_for_good_is_kept_and_holds_at_once",
            "test_consents::test_what_always_would_allow_is_said_in_words_beside_the_rule",
            "test_slash_commands::test_each_permission_is_told_with_where_it_was_said",
        ),
    ),
    38: (
        "no waiting for what nobody types",
        (
            "test_frequent_wishes::test_a_pipe_that_nobody_closes_is_not_waited_for",
            "test_run::test_what_needs_a_yes_is_refused_and_the_exit_code_says_so",
        ),
    ),
    39: (
        "what a summary may not forget",
        (
            "test_compaction::test_the_task_the_last_words_and_the_last_call_stay_as_they_are",
            "test_compaction::test_a_resumed_session_goes_on_from_the_summary_and_the_file_keeps_all",
            "test_slash_commands::"
            "test_compact_tells_what_was_folded_and_the_next_session_goes_on_from_it",
        ),
    ),
    40: (
        "failures stay to be seen, and what acts is asked for",
        (
            "test_slash_commands::"
            "test_mcp_servers_are_told_with_why_they_fail_and_what_to_type_next",
            "test_gate::test_everything_else_is_asked",
        ),
    ),
}


@loop_over("number", range(1, 41))
def test_each_ask_is_held_by_tests_that_are_there(number: int) -> None:
    _, named = ASKS[number]
    assert named
    for each in named:
        file, _, name = each.partition("::")
        assert name in DEFINED.findall((HERE / f"{file}.py").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        "Error rendering prompt with jinja template: Unknown test: sequence",
        "Error in the prompt template: Cannot call something that is not a function",
    ],
)
def test_an_error_of_a_template_is_survived(said: str, home: Path) -> None:
    def script(received: Received) -> Answer:
        roles = {each["role"] for each in received.body["messages"]}
        taken = "tools" not in received.body and roles <= {"user", "assistant"}
        return streamed("Hello.") if taken else refused(400, said)

    with ModelServer(script) as server:
        to = ("--base-url", server.url, "--model", "m", "--no-session")
        done = andy("run", "hello", "--no-stdin", *to, home=home)
    assert (done.out, done.code) == ("Hello.\n", 0), done.err
    assert len(server.requests) == 3


@pytest.mark.slow
def test_a_pipe_that_nobody_closes_is_not_waited_for(home: Path) -> None:
    with ModelServer([streamed("Hello.")]) as server:
        to = ("--base-url", server.url, "--model", "m", "--no-session")
        running = start_andy("run", "hello", *to, home=home, typed=True)
        assert running.stdout
        assert running.stdout.read() == "Hello.\n"  # its stdin is open all the time
        assert running.wait(20) == 0
        _, err = running.communicate()
    assert err.startswith("andy: nothing came through the pipe within 0.3 s, so it was not read.")
