# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Every number is that of results.json."""
from __future__ import annotations

import copy
import gc
import json
import os
import unittest
from pathlib import Path

import numpy as np

import weft

from support import SOURCE, FolderTest, board


class Results(FolderTest):
    def test_the_table_is_results_json(self) -> None:
        result = weft.run(board(), out=self.folder / "out")
        raw = json.loads((self.folder / "out" / "results.json").read_text(encoding="utf-8"))
        self.assertEqual(result.raw, raw)
        self.assertEqual(len(result.table), 3)
        for row, line in zip(result.table, raw["results"]):
            for name in (
                "op",
                "algorithm",
                "type",
                "redop",
                "size_bytes",
                "count",
                "time_us",
                "algbw_GBps",
                "busbw_GBps",
                "wrong",
                "steps",
                "train_packets",
                "bound_us",
                "bound_share",
                "bound_by",
            ):
                self.assertEqual(row[name], line[name], name)
        self.assertTrue(np.isnan(result.table["min_us"]).all())
        np.testing.assert_array_equal(result.busbw, [line["busbw_GBps"] for line in raw["results"]])
        self.assertEqual(result.digest, raw["digest"])
        self.assertEqual(result.config, raw["config"])
        self.assertEqual(result.simulated_us, raw["simulated_time_ps"] / 1e6)
        self.assertTrue(result.ok)
        self.assertEqual((result.wrong, result.checked, result.failure, result.warnings), (0, 3, "", []))
        self.assertEqual(result.units["time_us"], "us")
        self.assertIn("3 results, all right", repr(result))

    def test_fields_have_types_and_arrays_cannot_be_written(self) -> None:
        table = weft.run(board()).table
        kinds = {name: table.dtype[name].kind for name in table.dtype.names}
        self.assertEqual(
            {kinds[name] for name in ("op", "algorithm", "group", "type", "redop", "answers", "bound_by", "chosen_by")},
            {"U"},
        )
        self.assertEqual([len(text) for text in table["answers"]], [16, 16, 16])
        self.assertEqual({kinds[name] for name in ("size_bytes", "count", "steps", "train_packets")}, {"i"})
        self.assertEqual({kinds[name] for name in ("time_us", "busbw_GBps", "wrong", "bound_us", "repeats")}, {"f"})
        with self.assertRaises(ValueError):
            table["time_us"][0] = 0

    def test_rows_are_chosen_by_their_fields(self) -> None:
        result = weft.run(board())
        np.testing.assert_array_equal(result.time_us(op="all_reduce"), result.table["time_us"][:2])
        self.assertEqual(len(result.select(algorithm=["ring_1d", "two_d"], size_bytes={65536})), 2)
        self.assertEqual(result.busbw_GBps(op="all_gather", algorithm="ring_1d")[0], result.busbw[2])
        self.assertEqual(len(result.time_us()), 3)
        for where, sentence in (
            ({"op": "broadcast"}, "no result has op = 'broadcast'; there are all_gather, all_reduce"),
            (
                {"op": "all_gather", "algorithm": "two_d"},
                "no result has op = 'all_gather', algorithm = 'two_d' together",
            ),
            ({"operation": "all_gather"}, "no field 'operation'; they have op, algorithm"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                result.time_us(**where)

    def test_a_run_without_data_has_no_wrong_elements_and_says_that_nothing_was_checked(self) -> None:
        result = weft.run(board(data="off"))
        self.assertTrue(np.isnan(result.table["wrong"]).all())
        self.assertEqual(set(result.table["answers"]), {""})
        self.assertEqual((result.ok, result.checked), (True, 0))
        self.assertIn("answers not checked", result.verdict)

    def test_the_resolved_configuration_runs_again_to_the_same_digest(self) -> None:
        result = weft.run(board())
        self.assertEqual(weft.run(result.config).digest, result.digest)

    def test_a_file_a_text_and_a_dict_give_the_same(self) -> None:
        file = self.folder / "plätz 'q\" $HOME.yaml"
        text = json.dumps(board(), indent=1)
        file.write_text(text, encoding="utf-8")
        digests = {weft.run(config).digest for config in (board(), text, file, str(file))}
        self.assertEqual(len(digests), 1)

    def test_a_file_whose_name_looks_like_an_option_is_a_file(self) -> None:
        (self.folder / "--help").write_text(json.dumps(board()), encoding="utf-8")
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            self.assertTrue(weft.run("--help", out="-x y").ok)
            self.assertTrue((self.folder / "-x y" / "results.json").is_file())
        finally:
            os.chdir(here)

    def test_numbers_of_numpy_and_nested_lists_are_values(self) -> None:
        result = weft.run(
            board(
                mesh={"rows": np.int64(4), "cols": np.uint8(2)},
                seed=np.uint64(2**63 + 1),
                workload=(
                    {
                        "op": "all_reduce",
                        "algorithms": np.array(["ring_1d"]),
                        "sizes": np.array(["4 KiB", "8 KiB"]),
                        "groups": ("0-3", "4-7"),
                        "inputs": "random",
                        "types": ["float32", "bfloat16"],
                    },
                ),
            )
        )
        self.assertEqual(sorted(set(result.table["size_bytes"])), [4096, 8192])
        self.assertEqual(result.config["seed"], 2**63 + 1)
        self.assertEqual(len(result.table), 4)
        self.assertTrue(result.ok)

    def test_names_may_have_any_character(self) -> None:
        name = 'ü "q" \\ \u2028\u0085 😀 #: {}'
        self.assertEqual(weft.run(board(name=name), out=self.folder / "o").name, name)
        self.assertEqual(weft.run(board(), {"name": name}).name, name)

    def test_set_takes_lists_dicts_and_units(self) -> None:
        result = weft.run(
            board(),
            {
                "workload.0.sizes": ["4 KiB", "8 KiB"],
                "ici.link_rate": "100 GB/s",
                "mesh": {"rows": 2, "cols": 4},
                "workload.0.algorithms": ["ring_1d"],
            },
        )
        self.assertEqual(list(result.select(op="all_reduce")["size_bytes"]), [4096, 8192])
        self.assertEqual(result.config["mesh"]["cols"], 4)
        self.assertEqual(result.config["ici"]["link_rate"], "100 GB/s")

    def test_repeats_have_their_times(self) -> None:
        result = weft.run(board(), {"workload.0.repeats": 3})
        row, times = result.table[0], result.repeats_us[0]
        self.assertEqual((row["repeats"], len(times), len(result.repeats_us[2])), (3, 3, 0))
        self.assertEqual((row["min_us"], row["max_us"]), (times.min(), times.max()))
        self.assertAlmostEqual(row["time_us"], times.mean(), places=5)
        self.assertEqual(row["count"], 65536 // 4)  # elements, not repeats
        self.assertTrue(np.isnan(result.table["repeats"][2]))

    def test_a_case_of_auto_has_predictions(self) -> None:
        result = weft.run(board(), {"workload.0.algorithms": ["auto"]})
        self.assertEqual(result.table["chosen_by"][0], "prediction")
        predicted = result.predicted_us[0]
        self.assertEqual(min(predicted, key=predicted.get), result.table["algorithm"][0])
        self.assertEqual(result.predicted_us[-1], {})

    def test_a_training_step_has_steps_and_parts(self) -> None:
        step = {
            "compute": "50 us",
            "steps": 2,
            "groups": [{"name": "a", "bytes": "64 KiB"}, {"name": "b", "bytes": "4 KiB"}],
            "exchanges": [{"name": "x", "bytes": "1 KiB", "count": 2, "ranks_per_group": 2}],
        }
        config = board(training_step=step)
        del config["workload"]
        result = weft.run(config)
        raw = result.raw["training_step"]
        steps, parts = result.training.steps, result.training.parts
        self.assertEqual(len(steps), 2)
        np.testing.assert_array_equal(steps["exposed_us"], [one["exposed_us"] for one in raw["steps"]])
        self.assertEqual(list(parts["name"]), ["a", "b", "x"] * 2)
        self.assertEqual(list(parts["kind"]), ["group", "group", "exchange"] * 2)
        self.assertEqual(list(parts["step"]), [0, 0, 0, 1, 1, 1])
        self.assertEqual(parts["ranks_per_group"][2], 2)
        self.assertTrue(np.isnan(parts["ranks_per_group"][0]))
        self.assertEqual((len(result.table), result.ok, result.checked), (0, True, 6))
        self.assertRaisesRegex(ValueError, "there are none: the run has no results", result.time_us, op="all_reduce")
        self.assertIsNone(weft.run(board()).training)

    def test_a_failed_run_keeps_what_was_finished(self) -> None:
        jobs = SOURCE / "configs" / "switchml" / "two_jobs.yaml"
        with self.assertRaisesRegex(
            weft.RunFailed, "switchml of 1048576 B did not complete(.|\n)*more lines, in `stderr`"
        ) as caught:
            weft.run(
                jobs,
                {"faults.outages": [{"worker": 5, "from": "100 us"}], "firmware_timeout": "5 ms"},
                out=self.folder / "out",
            )
        error = caught.exception
        self.assertNotIsInstance(error, weft.TimedOut)
        self.assertGreater(len(error.stderr), len(str(error)))
        result = error.result
        self.assertEqual(list(result.table["group"]), ["job 0"])
        self.assertEqual(len(result.select(group="job 0")), 1)
        self.assertEqual((result.ok, result.wrong), (False, 0))
        self.assertIn("Not completed: job 1", result.failure)
        self.assertEqual(result.failed_case["op"], "all_reduce")
        self.assertEqual(weft.load(self.folder / "out").digest, result.digest)

    def test_links_and_statistics_have_units(self) -> None:
        result = weft.run(board())
        self.assertTrue(len(result.links) > 0)
        first = result.links[0]
        self.assertEqual(first["bytes"], result.statistics[f"busiest_link.{first['name']}.bytes"].value)
        self.assertEqual(
            first["utilisation_percent"], result.statistics[f"busiest_link.{first['name']}.utilisation"].value
        )
        self.assertEqual(result.statistics[f"busiest_link.{first['name']}.bytes"].unit, "B")
        self.assertEqual(len(result.statistics), len(result.raw["stats"]))
        self.assertTrue(all(statistic.description for statistic in result.statistics.values()))


class Folders(FolderTest):
    def written(self, **changes: object) -> Path:
        file = self.folder / "out" / "results.json"
        if not file.is_file():
            weft.run(board(), out=file.parent)
        if changes:
            file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
        return file

    def test_load_reads_a_folder_and_a_file(self) -> None:
        file = self.written()
        self.assertEqual(weft.load(file.parent).raw, weft.load(str(file)).raw)
        self.assertEqual(weft.load(file).folder, file.parent)

    def test_a_truncated_file_is_a_sentence_with_its_line(self) -> None:
        file = self.written()
        whole = file.read_bytes()
        for length in (0, 1, 2, 100, len(whole) // 2, len(whole) - 10, len(whole) - 3):
            file.write_bytes(whole[:length])
            with self.subTest(length=length), self.assertRaisesRegex(
                weft.ResultError, r"results\.json:\d+:\d+: this is not the whole JSON"
            ):
                weft.load(file.parent)
        file.write_bytes(whole[:-2])  # a newline and the last brace
        self.assertRaisesRegex(weft.ResultError, "it ends too early", weft.load, file)

    def test_what_is_no_result_is_a_sentence(self) -> None:
        self.assertRaisesRegex(
            weft.ResultError, "does not exist; give the folder of a run", weft.load, self.folder / "none" / "x"
        )
        self.assertRaisesRegex(
            weft.ResultError, "give a folder that `weft run --out` has written", weft.load, self.folder
        )
        (self.folder / "results.previous.json").write_text("{}", encoding="utf-8")
        self.assertRaisesRegex(weft.ResultError, "results.previous.json is of the run before", weft.load, self.folder)
        for text, why in (
            (b"[]", "has no version, results"),
            (b'{"results": []}', "has no version, digest, config"),
            (b"\xff\xfe", "byte 0 is no UTF-8"),
        ):
            (self.folder / "results.json").write_bytes(text)
            self.assertRaisesRegex(weft.ResultError, why, weft.load, self.folder)

    def test_wrong_elements_and_failures_are_not_ok(self) -> None:
        file = self.written()
        raw = weft.load(file).raw
        raw["results"][1]["wrong"] = 3
        self.written(results=raw["results"])
        result = weft.load(file)
        self.assertEqual((result.ok, result.wrong), (False, 3))
        self.assertIn("3 wrong elements", result.verdict)
        raw["results"][1]["wrong"] = 0
        self.written(results=raw["results"], host={"checkpoints": [{"wrong_bytes": 8}], "traffic": [{"wrong_bytes": None}]})
        result = weft.load(file)
        self.assertEqual((result.ok, result.wrong, result.wrong_bytes), (False, 0, 8))
        self.assertIn("8 wrong bytes of checkpoints and host traffic", result.verdict)
        self.assertNotIn("all right", result.verdict)
        self.written(results=raw["results"], failure="a wait timed out")
        self.assertFalse(weft.load(file).ok)
        self.assertIn("stopped early", weft.load(file).verdict)

    def test_fields_of_a_newer_program_are_more_columns(self) -> None:
        file = self.written()
        rows = weft.load(file).raw["results"]
        for i, row in enumerate(rows):
            row.update(limited_by="link" if i else None, share=0.5 * i, credits=i, fast=bool(i), parts=[1], empty=None)
        rows[0].pop("credits")
        self.written(results=rows)
        table = weft.load(file).table
        self.assertEqual(list(table["limited_by"]), ["", "link", "link"])
        self.assertEqual(list(table["share"]), [0, 0.5, 1])
        self.assertEqual((table["fast"].dtype.kind, list(table["fast"])), ("b", [False, True, True]))
        np.testing.assert_array_equal(table["credits"], [np.nan, 1, 2])
        self.assertNotIn("parts", table.dtype.names)

    def test_a_temporary_folder_lives_as_long_as_its_result(self) -> None:
        result = weft.run(board())
        folder = result.folder
        copied = copy.deepcopy(result)
        del result
        gc.collect()
        self.assertTrue((folder / "results.json").is_file())
        del copied
        gc.collect()
        self.assertFalse(folder.exists())

    def test_a_folder_is_found_from_elsewhere(self) -> None:
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            made = weft.run(board(), out="out")
            loaded = weft.load("out")
        finally:
            os.chdir(here)
        self.assertEqual(made.folder, self.folder / "out")
        self.assertEqual(loaded.folder, self.folder / "out")


if __name__ == "__main__":
    unittest.main()
