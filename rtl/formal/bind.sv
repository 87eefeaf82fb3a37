// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the properties are bound. Simulation uses this file as it is; the proofs put each instance into its module
// (prove.cmake), because Yosys has no bind. The memory words at the lowest indices are watched.

bind stateful_alu stateful_alu_properties #(
  .WordBits(WordBits),
  .IndexBits(IndexBits)
) i_properties (
  .clk_i(clk_i),
  .clear_i(clear_i),
  .clear_index_i(clear_index_i),
  .overwrite_i(overwrite_i),
  .add_i(add_i),
  .read_first_i(read_first_i),
  .first_i(first_i),
  .second_i(second_i),
  .word_o(word_o),
  .index_q(index_q),
  .old_pair(old_pair),
  .watched_i({memory[3], memory[2], memory[1], memory[0]})
);

bind bitmap_unit bitmap_unit_properties #(
  .Workers(Workers),
  .IndexBits(IndexBits),
  .WorkerBits(WorkerBits)
) i_properties (
  .clk_i(clk_i),
  .clear_i(clear_i),
  .clear_slot_i(clear_slot_i),
  .before_o(before_o),
  .map_result_o(map_result_o),
  .valid_i(valid_i),
  .valid_q(valid_q),
  .index_q(index_q),
  .worker_q(worker_q),
  .old_pair(old_pair),
  .watched_i({memory[3], memory[2], memory[1], memory[0]})
);

bind count_unit count_unit_properties #(
  .CountBits(CountBits),
  .IndexBits(IndexBits)
) i_properties (
  .clk_i(clk_i),
  .clear_i(clear_i),
  .clear_index_i(clear_index_i),
  .consume_i(consume_i),
  .repeated_i(repeated_i),
  .workers_i(workers_i),
  .count_o(count_o),
  .index_q(index_q),
  .old_count(old_count),
  .watched_i({memory[3], memory[2], memory[1], memory[0]})
);

bind exponent_unit exponent_unit_properties #(
  .ExponentBits(ExponentBits),
  .IndexBits(IndexBits)
) i_properties (
  .clk_i(clk_i),
  .clear_i(clear_i),
  .clear_index_i(clear_index_i),
  .overwrite_i(overwrite_i),
  .raise_i(raise_i),
  .read_second_i(read_second_i),
  .first_i(first_i),
  .second_i(second_i),
  .exponent_o(exponent_o),
  .index_q(index_q),
  .old_pair(old_pair),
  .new_pair(new_pair),
  .watched_i({memory[3], memory[2], memory[1], memory[0]})
);

bind aggregation_pipe next_step_decoder_properties #(
  .CountBits(CountBits)
) i_next_step_properties (
  .clk_i(clk_i),
  .type_i(type_s3),
  .size_i(size_s3),
  .repeated_i(map_result_s3 != {Workers{1'b0}}),
  .count_i(effective_count),
  .drop_o(drop),
  .finish_o(finish),
  .recirculate_o(recirculate),
  .broadcast_o(broadcast),
  .retransmit_o(retransmit),
  .next_type_o(next_type)
);

bind aggregation_pipe aggregation_pipe_properties #(
  .IndexBits(IndexBits)
) i_properties (
  .clk_i(clk_i),
  .rst_ni(rst_ni),
  .clear_i(clear_i),
  .ready_o(ready_o),
  .busy_o(busy_o),
  .valid_i(valid_i),
  .valid_o(valid_o),
  .drop_o(drop_o),
  .finish_o(finish_o),
  .recirculate_o(recirculate_o),
  .broadcast_o(broadcast_o),
  .retransmit_o(retransmit_o),
  .clearing_q(clearing_q),
  .clear_index_q(clear_index_q)
);
