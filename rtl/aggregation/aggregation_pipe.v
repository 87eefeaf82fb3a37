// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One pipe of the SwitchML aggregation program: bitmap, count and exponent unit, next-step decoder and Alus stateful
// ALUs. Throughput: one pass a clock, in order, back-to-back passes of one slot exact. Latency: 4 clocks, constant
// (valid_i to valid_o). Buffering: none, no back-pressure. Clearing: a pulse on clear_i when no pass is under way
// zeroes all registers in Depth clocks, during which ready_o is low and no pass may enter; so does reset.
//
//   clock 0  inputs; bitmap RAM reads          clock 2  RAMs of count, exponents and values give; operations; results
//            registered
//   clock 1  bitmap updated; the others read   clock 3  next step decided; outputs registered
//
// C++ twin: aggregation_model (hw/tofino/aggregation_model.h); the two are run in lockstep by rtl/shell.
`default_nettype none

module aggregation_pipe #(
  parameter Alus = 32,
  parameter Depth = 16384,                     // pool indices: slot ++ version; a power of two from 4
  parameter Workers = 32,                      // from 2
  parameter WordBits = 32,
  parameter ExponentBits = 8,
  parameter CountBits = 8,                     // hold Workers: 2 ** CountBits > Workers
  parameter IndexBits = $clog2(Depth),
  parameter WorkerBits = $clog2(Workers)
) (
  input wire clk_i,
  input wire rst_ni,
  input wire clear_i,
  output wire ready_o,                         // passes may enter
  output wire busy_o,                          // a pass or a clearing is under way

  input wire valid_i,
  input wire [3:0] type_i,                     // 4 to 7 CONSUME0 to 3, 8 to 15 HARVEST0 to 7
  input wire [1:0] size_i,                     // size code: 1 64 words, 3 256 words
  input wire [IndexBits-1:0] index_i,          // slot ++ version
  input wire [WorkerBits-1:0] worker_i,
  input wire [CountBits-1:0] workers_i,        // n of the job
  input wire last_of_message_i,
  input wire [ExponentBits-1:0] exponent0_i,
  input wire [ExponentBits-1:0] exponent1_i,
  input wire [Workers-1:0] map_result_i,       // HARVEST: of the last CONSUME pass
  input wire [CountBits-1:0] count_i,
  input wire [Alus*WordBits-1:0] d0_i,         // word 0 in the low bits
  input wire [Alus*WordBits-1:0] d1_i,

  output reg valid_o,
  output reg [Workers-1:0] bitmap_before_o,
  output reg [Workers-1:0] map_result_o,
  output reg [CountBits-1:0] count_o,
  output reg drop_o,                           // exactly one of the five when valid_o
  output reg finish_o,
  output reg recirculate_o,
  output reg broadcast_o,
  output reg retransmit_o,
  output reg [3:0] next_type_o,
  output reg writes_d0_o,
  output reg reads_exponent0_o,
  output reg reads_exponent1_o,
  output reg [ExponentBits-1:0] exponent_o,
  output reg [Alus*WordBits-1:0] words_o
);

  localparam [3:0] Consume0 = 4'd4, Harvest7 = 4'd15;

  // Clearing --------------------------------------------------------------------------------------

  reg clearing_q;
  reg [IndexBits-1:0] clear_index_q;
  assign ready_o = ~clearing_q;

  localparam [IndexBits-1:0] FirstIndex = 0, LastIndex = {IndexBits{1'b1}}, NextIndex = 1;

  always @(posedge clk_i) begin
    if (~rst_ni | (clear_i & ~clearing_q)) begin
      clearing_q <= 1'b1;
      clear_index_q <= FirstIndex;
    end else if (clearing_q) begin
      clearing_q <= clear_index_q != LastIndex;
      clear_index_q <= clear_index_q + NextIndex;
    end
  end

  // Stage 1: bitmap -------------------------------------------------------------------------------

  wire enter = valid_i & ready_o;
  wire consume = type_i[3:2] == 2'b01;

  reg valid_s1;
  reg [3:0] type_s1;
  reg [1:0] size_s1;
  reg [IndexBits-1:0] index_s1;
  reg [CountBits-1:0] workers_s1;
  reg last_of_message_s1;
  reg [ExponentBits-1:0] exponent0_s1;
  reg [ExponentBits-1:0] exponent1_s1;
  reg [Workers-1:0] map_result_s1;
  reg [CountBits-1:0] count_s1;
  reg [Alus*WordBits-1:0] d0_s1;
  reg [Alus*WordBits-1:0] d1_s1;

  always @(posedge clk_i) begin
    valid_s1 <= rst_ni & enter;
    if (enter) begin
      type_s1 <= type_i;
      size_s1 <= size_i;
      index_s1 <= index_i;
      workers_s1 <= workers_i;
      last_of_message_s1 <= last_of_message_i;
      exponent0_s1 <= exponent0_i;
      exponent1_s1 <= exponent1_i;
      map_result_s1 <= map_result_i;
      count_s1 <= count_i;
      d0_s1 <= d0_i;
      d1_s1 <= d1_i;
    end
  end

  wire [Workers-1:0] bitmap_before_s2;
  wire [Workers-1:0] bitmap_result_s2;

  bitmap_unit #(
    .Depth(Depth),
    .Workers(Workers),
    .IndexBits(IndexBits),
    .WorkerBits(WorkerBits)
  ) i_bitmap (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .clear_i(clearing_q),
    .clear_slot_i(clear_index_q[IndexBits-1:1]),
    .valid_i(enter & consume),
    .index_i(index_i),
    .worker_i(worker_i),
    .before_o(bitmap_before_s2),
    .map_result_o(bitmap_result_s2)
  );

  // Stage 2: count, exponents, values -------------------------------------------------------------

  reg valid_s2;
  reg [3:0] type_s2;
  reg [1:0] size_s2;
  reg [CountBits-1:0] workers_s2;
  reg last_of_message_s2;
  reg [ExponentBits-1:0] exponent0_s2;
  reg [ExponentBits-1:0] exponent1_s2;
  reg [Workers-1:0] map_result_s2;
  reg [CountBits-1:0] count_s2;
  reg [Alus*WordBits-1:0] d0_s2;
  reg [Alus*WordBits-1:0] d1_s2;

  always @(posedge clk_i) begin
    valid_s2 <= rst_ni & valid_s1;
    if (valid_s1) begin
      type_s2 <= type_s1;
      size_s2 <= size_s1;
      workers_s2 <= workers_s1;
      last_of_message_s2 <= last_of_message_s1;
      exponent0_s2 <= exponent0_s1;
      exponent1_s2 <= exponent1_s1;
      map_result_s2 <= map_result_s1;
      count_s2 <= count_s1;
      d0_s2 <= d0_s1;
      d1_s2 <= d1_s1;
    end
  end

  wire consume_s2 = valid_s2 & type_s2[3:2] == 2'b01;
  wire first_s2 = bitmap_before_s2 == {Workers{1'b0}};
  wire repeated_s2 = bitmap_result_s2 != {Workers{1'b0}};
  wire overwrite_s2 = consume_s2 & first_s2;
  wire add_s2 = consume_s2 & ~first_s2 & ~repeated_s2;
  wire takes_exponents_s2 = type_s2 == Consume0 & last_of_message_s2;
  wire harvest_first_s2 = type_s2[3] & type_s2[0];

  wire [CountBits-1:0] unit_count_s3;
  wire [ExponentBits-1:0] exponent_s3;
  wire [Alus*WordBits-1:0] words_s3;

  count_unit #(
    .Depth(Depth),
    .CountBits(CountBits),
    .IndexBits(IndexBits)
  ) i_count (
    .clk_i(clk_i),
    .clear_i(clearing_q),
    .clear_index_i(clear_index_q),
    .index_i(index_s1),
    .consume_i(consume_s2),
    .repeated_i(repeated_s2),
    .workers_i(workers_s2),
    .count_o(unit_count_s3)
  );

  exponent_unit #(
    .Depth(Depth),
    .ExponentBits(ExponentBits),
    .IndexBits(IndexBits)
  ) i_exponent (
    .clk_i(clk_i),
    .clear_i(clearing_q),
    .clear_index_i(clear_index_q),
    .index_i(index_s1),
    .overwrite_i(overwrite_s2 & takes_exponents_s2),
    .raise_i(add_s2 & takes_exponents_s2),
    .read_second_i(type_s2[3]),
    .first_i(exponent0_s2),
    .second_i(exponent1_s2),
    .exponent_o(exponent_s3)
  );

  genvar k;
  generate
    for (k = 0; k < Alus; k = k + 1) begin : gen_alu
      stateful_alu #(
        .Depth(Depth),
        .WordBits(WordBits),
        .IndexBits(IndexBits)
      ) i_alu (
        .clk_i(clk_i),
        .clear_i(clearing_q),
        .clear_index_i(clear_index_q),
        .index_i(index_s1),
        .overwrite_i(overwrite_s2),
        .add_i(add_s2),
        .read_first_i(harvest_first_s2),
        .first_i(d0_s2[k*WordBits +: WordBits]),
        .second_i(d1_s2[k*WordBits +: WordBits]),
        .word_o(words_s3[k*WordBits +: WordBits])
      );
    end
  endgenerate

  // Stage 3: next step ----------------------------------------------------------------------------

  reg valid_s3;
  reg consume_s3;
  reg [3:0] type_s3;
  reg [1:0] size_s3;
  reg last_of_message_s3;
  reg [Workers-1:0] before_s3;
  reg [Workers-1:0] map_result_s3;
  reg [CountBits-1:0] count_s3;

  always @(posedge clk_i) begin
    valid_s3 <= rst_ni & valid_s2;
    consume_s3 <= consume_s2;
    type_s3 <= type_s2;
    size_s3 <= size_s2;
    last_of_message_s3 <= last_of_message_s2;
    before_s3 <= bitmap_before_s2;
    map_result_s3 <= consume_s2 ? bitmap_result_s2 : map_result_s2;
    count_s3 <= count_s2;
  end

  wire [CountBits-1:0] effective_count = consume_s3 ? unit_count_s3 : count_s3;
  wire drop, finish, recirculate, broadcast, retransmit;
  wire [3:0] next_type;

  next_step_decoder #(
    .CountBits(CountBits)
  ) i_next_step (
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

  always @(posedge clk_i) begin
    valid_o <= rst_ni & valid_s3;
    if (valid_s3) begin
      bitmap_before_o <= before_s3;
      map_result_o <= map_result_s3;
      count_o <= effective_count;
      drop_o <= drop;
      finish_o <= finish;
      recirculate_o <= recirculate;
      broadcast_o <= broadcast;
      retransmit_o <= retransmit;
      next_type_o <= next_type;
      writes_d0_o <= type_s3[3] & type_s3[0];
      reads_exponent0_o <= type_s3 == Consume0 & last_of_message_s3;
      reads_exponent1_o <= type_s3 == Harvest7 & last_of_message_s3;
      exponent_o <= exponent_s3;
      words_o <= words_s3;
    end
  end

  assign busy_o = clearing_q | valid_s1 | valid_s2 | valid_s3 | valid_o;

endmodule

`default_nettype wire
