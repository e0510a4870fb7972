"""Bugs that single tests find; those that the simulation finds are in `mutants.py` and `varied_mutants.py`."""

from __future__ import annotations

from tests.sim.planting import Planted

PLANTED: tuple[Planted, ...] = (
    Planted(
        "an instance is moved under any newer ClaimToken",
        "control/test_guards.py::test_an_instance_is_not_moved_under_another_token_older_or_newer",
        (("batchctl.store.instances", '_c.ClaimToken == bindparam("token"),', '_c.ClaimToken >= bindparam("token"),'),),
    ),
    Planted(
        "a message is taken by two",
        "control/test_guards.py::test_of_two_who_take_a_message_one_gets_it[sqlite]",
        (("batchctl.store.alerting.alert_deliveries", '_a.Attempts == bindparam("tried"),', "_a.Attempts >= 0,"),),
    ),
    Planted(
        "an adoption in doubt is forgotten after one look",
        "control/test_adoption.py::test_an_adoption_whose_commit_nobody_saw_is_gone_on_with_and_nothing_is_begun_anew",
        (
            (
                "batchctl.control.rescue",
                "return not all(map(carries, claimed)) or not all(map(is_known, begun))",
                "return False",
            ),
        ),
    ),
    Planted(
        "who answers a request goes on with what it runs as before",
        "control/test_answering.py::test_what_is_asked_for_holds_at_once_for_what_the_one_who_answers_has_under_way",
        (("batchctl.control.operators.answering", "            self.acted()\n", ""),),
    ),
    Planted(
        "KeepLast keeps one too few",
        "control/test_guards.py::test_as_many_of_the_last_ones_are_kept_as_the_rule_says",
        (("batchctl.store.maintenance.finished_instances", "behind=last - 1)", "behind=max(last - 2, 0))"),),
    ),
    Planted(
        "what was answered meanwhile is carried out",
        "control/test_guards.py::test_a_request_that_was_answered_meanwhile_is_not_carried_out[sqlite]",
        (("batchctl.control.operators.answering", " or request.status is not RequestStatus.REQUESTED", ""),),
    ),
    Planted(
        "a controller watches itself",
        "control/test_guards.py::test_nobody_counts_himself_among_the_dead[sqlite]",
        (
            ("batchctl.control.controller_watch", ".owners(connection) - {self.controller}", ".owners(connection)"),
            ("batchctl.control.controller_watch", "        rows.pop(self.controller, None)\n", ""),
        ),
    ),
    Planted(
        "requests are carried out in any order",
        "control/test_answering.py::test_all_verbs_of_the_command_line_are_known[sqlite]",
        (
            (
                "batchctl.store.operators.operator_requests",
                ".order_by(_q.OperatorRequest_id)",
                ".order_by(_q.OperatorRequest_id.desc())",
            ),
        ),
    ),
    Planted(
        "a CycleKey of the populator beats the row's",
        "control/test_creation.py::test_the_cycle_key_is_the_rows_the_populators_or_the_business_date[sqlite]",
        (
            (
                "batchctl.control.intake_writing",
                "row.cycle_key or values.cycle_key or",
                "values.cycle_key or row.cycle_key or",
            ),
        ),
    ),
    Planted(
        "a CycleKey is the day of the instance, not of the row",
        "control/test_creation.py::test_the_cycle_key_is_the_rows_the_populators_or_the_business_date[sqlite]",
        (("batchctl.control.intake_writing", ".day_of(row.inserted_at)", ".day_of(self.clock.now())"),),
    ),
    Planted(
        "duplicates are found across entities",
        "control/test_creation.py::test_the_same_data_of_another_entity_is_no_duplicate[sqlite]",
        (
            (
                "batchctl.store.intake.intake",
                '    exactly(_same.c.Entity, bindparam("entity", type_=_f.Entity.type)),\n',
                "",
            ),
        ),
    ),
    Planted(
        "a row that waits behind counts as the first",
        "control/test_creation.py::test_a_second_row_with_the_same_data_is_a_duplicate_that_names_the_first[sqlite]",
        (
            (
                "batchctl.store.intake.intake",
                '_same.c.FileProcess_id < bindparam("intake_id"),',
                "_same.c.FileProcess_id > 0,",
            ),
        ),
    ),
    Planted(
        "what was accepted is a duplicate again",
        "control/test_creation.py::test_accepting_takes_a_duplicate_in_on_purpose_and_is_audited[sqlite]",
        (("batchctl.store.intake.intake", "    not_(_IS_ACCEPTED),\n", ""),),
    ),
    Planted(
        "a freeze that has ended holds still",
        "domain/test_freezes.py::test_of_several_freezes_the_one_that_lasts_longest_speaks_and_the_next_end_wakes",
        (
            (
                "batchctl.domain.operators.freezes",
                "if best is None or ends_later(freeze, best)",
                "if best is None or not ends_later(freeze, best)",
            ),
        ),
    ),
    Planted(
        "a resumed retry does not wait for its time",
        "operations/test_intervene.py::test_a_retry_that_was_paused_resumes_as_a_retry_and_is_due_as_before[sqlite]",
        (("batchctl.operations.decisions", "and was_tried and instance.next_run_time > LONG_AGO", "and False"),),
    ),
    Planted(
        "a rerun of what has failed leaves its retries used up",
        "operations/test_intervene.py::test_a_rerun_resumes_at_the_failed_step_with_all_retries[sqlite]",
        (("batchctl.operations.decisions", "batch.retries_after(last_seq)", "instance.retry_count"),),
    ),
    Planted(
        "what is lost is counted for ever",
        "control/test_rescue.py::test_a_success_lets_the_next_step_be_lost_as_often_again[sqlite]",
        (
            (
                "batchctl.domain.moves",
                "lost_count=0,\n        next_step=next_step if verb",
                "lost_count=instance.lost_count,\n        next_step=next_step if verb",
            ),
        ),
    ),
    Planted(
        "what never ran is never held",
        "domain/test_status.py::test_what_was_begun_in_vain_too_often_waits_for_a_person",
        (("batchctl.domain.moves", "if lost_count > LOST_LIMIT and", "if False and"),),
    ),
    Planted(
        "a success that was stopped late does not count",
        "domain/test_status.py::test_an_execution_that_ended_by_itself_is_named_after_its_end_whatever_it_was_told",
        (
            (
                "batchctl.domain.moves",
                "    if outcome.succeeded:\n        return Ended(",
                "    if outcome.succeeded and stop is None:\n        return Ended(",
            ),
        ),
    ),
    Planted(
        "patience is the shorter of two",
        "domain/test_liveness.py::test_silence_is_measured_from_when_it_was_first_seen",
        (
            (
                "batchctl.domain.liveness",
                "return max(rhythm.orphan_timeout, relied_on",
                "return min(rhythm.orphan_timeout, relied_on",
            ),
        ),
    ),
    Planted(
        "who is seen anew counts as silent since before",
        "domain/test_liveness.py::test_only_a_sign_of_life_that_changes_is_one",
        (
            (
                "batchctl.domain.liveness",
                "if before is not None and before.seq == seq else",
                "if before is not None else",
            ),
        ),
    ),
    Planted(
        "a message is begun however late",
        "control/test_alerting.py::test_who_slept_between_claim_and_sending_leaves_it_to_others[sqlite]",
        (("batchctl.control.alerting.outbox", "if self.clock.monotonic() > until:", "if False:"),),
    ),
    Planted(
        "a message is given up at the first attempt",
        "control/test_alerting.py::test_a_channel_that_is_broken_is_tried_again_and_told_through_the_others[sqlite]",
        (("batchctl.control.alerting.outbox", "None if is_over else now + wait_after(one.attempts + 1)", "None"),),
    ),
    Planted(
        "of a row's instances one is purged without the others",
        "control/test_purged_instances.py::test_a_row_of_which_one_instance_is_open_keeps_the_others_too[sqlite]",
        (("batchctl.domain.maintenance.retention", "return all(_may_go", "return any(_may_go"),),
    ),
    Planted(
        "a check is not asked once a step was lost",
        "control/test_rescue.py::test_verify_asks_and_believes_the_answer",
        (("batchctl.control.claiming", "if step.on_lost is not OnLost.VERIFY or before", "if True or before"),),
    ),
    Planted(
        "a controller that ends is listed as running",
        "control/test_workers.py::test_a_controller_is_entered_with_what_others_need_to_look_for_it[sqlite]",
        (("batchctl.control.membership", "ControllerStatus.STOPPED", "ControllerStatus.RUNNING"),),
    ),
    Planted(
        "a pause that was asked for is forgotten at a failure",
        "domain/test_status.py::test_after_any_end_the_move_is_one_the_table_allows",
        (
            (
                "batchctl.domain.moves",
                "verb=InstanceVerb.PAUSE if pausing else InstanceVerb.RETRY_AT,",
                "verb=InstanceVerb.RETRY_AT,",
            ),
        ),
    ),
    Planted(
        "a cancel that was asked for is forgotten at a failure",
        "domain/test_status.py::test_what_is_being_cancelled_is_cancelled_however_its_step_ends",
        (
            (
                "batchctl.domain.moves",
                "    if instance.status is InstanceStatus.CANCELLING:\n        return _standing(instance, InstanceVerb.CANCEL)\n",
                "",
            ),
        ),
    ),
    Planted(
        "what a lost attempt had written so far stays",
        "control/test_live_output.py::test_nothing_of_it_is_left_when_it_is_lost[sqlite]",
        (("batchctl.store.history", "    forget_output(connection, endings)\n    return closed", "    return closed"),),
    ),
    Planted(
        "what an attempt had written so far stays when its end is recorded",
        "control/test_live_output.py::test_nothing_of_it_is_left_when_it_has_ended[sqlite]",
        (("batchctl.store.turns", "    history.forget_output(connection, turn.endings)\n", ""),),
    ),
    Planted(
        "who lost an attempt goes on to write what it writes",
        "control/test_live_output.py::test_of_what_was_taken_away_nothing_is_written_and_nothing_left[sqlite]",
        (("batchctl.control.live_output", "if not history.is_live(connection, key, one.token):", "if False:"),),
    ),
    Planted(
        "all that a step has written so far is kept",
        "control/test_live_output.py::test_only_the_newest_is_kept[sqlite]",
        (("batchctl.control.live_output", "if room < 0 or number", "if number"),),
    ),
    Planted(
        "a secret that comes in two pieces is shown",
        "system/test_shown_output.py::test_a_secret_cut_in_pieces_is_never_shown",
        (("batchctl.system.commands.shown_output", "safe = left_open(text, self._forms)", "safe = len(text)"),),
    ),
    Planted(
        "a cut goes through a secret whose end could begin another",
        "system/test_shown_output.py::test_a_secret_cut_in_pieces_is_never_shown",
        (("batchctl.system.masking", "return found if 0 <= found < at else at", "return at"),),
    ),
    Planted(
        "a step that is under way may have ended already",
        "sim/test_risks.py::test_nights_that_end_late_are_told_of_before_and_others_seldom[8]",
        (
            (
                "batchctl.domain.dependencies.past_nights",
                "fitting = runs.longer_than(elapsed, tried)",
                "fitting = runs.longer_than(0, tried)",
            ),
            (
                "batchctl.domain.dependencies.past_nights",
                " and _is_longer(one, elapsed, tried)",
                "",
            ),
        ),
    ),
    Planted(
        "what is ready at any time is ready in time",
        "sim/test_risks.py::test_nights_that_end_late_are_told_of_before_and_others_seldom[8]",
        (("batchctl.domain.dependencies.odds", "end is not None and end <= by", "end is not None"),),
    ),
    Planted(
        "who was ready in time has to be ready once more",
        "control/test_kept_forecasts.py::test_what_is_ready_for_today_has_to_be_ready_next_by_tomorrow[sqlite]",
        (("batchctl.expected_work", "if not evidence.finished(connection, batch.batch_id, begins, day):", "if True:"),),
    ),
    Planted(
        "a forecast is made once",
        "sim/test_risks.py::test_nights_that_end_late_are_told_of_before_and_others_seldom[8]",
        (
            (
                "batchctl.control.dependencies.forecast_keeping",
                "not timedelta(0) <= now - made < self.interval",
                "now - made > self.interval * 1000",
            ),
        ),
    ),
)
