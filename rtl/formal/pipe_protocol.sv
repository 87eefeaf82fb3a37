// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What workers that follow the protocol get from a pipe of 2 ALUs, 2 slots and 3 workers. A ghost of slot 0 knows only
// what a worker knows: which version is being filled (the phase), who has sent in it, and what the sums ought to be.
//
// Assumed of the workers (Algorithm 4 of Sapio et al., NSDI 2021): a worker sends in a new phase, to the other version,
// only when the phase before is complete; until then it may repeat what it sent, in the same phase or, if it has not
// sent in this phase, in the one before. Packets of slot 1, HARVEST passes and idle clocks come in between as they
// like.
//
// The registers of the pipe are connected to the *_memory wires by pipe_protocol.connect: Yosys has no hierarchical
// names.
`default_nettype none

module pipe_protocol (
  input wire clk_i,
  input wire valid_i,
  input wire [3:0] type_i,
  input wire [1:0] size_i,
  input wire [1:0] index_i,
  input wire [1:0] worker_i,
  input wire [2:0] map_result_i,
  input wire [2:0] count_i,
  input wire [3:0] d0_i,
  input wire [3:0] d1_i
);

  localparam [2:0] All = 3'b111;
  localparam [2:0] Workers = 3'd3;

  wire ready, busy, valid_o, drop, finish, recirculate, broadcast, retransmit, writes_d0, reads_exponent0, reads_exponent1;
  wire [2:0] bitmap_before, map_result, count;
  wire [3:0] next_type;
  wire [1:0] exponent;
  wire [3:0] words;

  aggregation_pipe #(
    .Alus(2),
    .Depth(4),
    .Workers(3),
    .WordBits(2),
    .ExponentBits(2),
    .CountBits(3)
  ) i_pipe (
    .clk_i(clk_i),
    .rst_ni(1'b1),
    .clear_i(1'b0),
    .ready_o(ready),
    .busy_o(busy),
    .valid_i(valid_i),
    .type_i(type_i),
    .size_i(size_i),
    .index_i(index_i),
    .worker_i(worker_i),
    .workers_i(Workers),
    .last_of_message_i(1'b1),
    .exponent0_i(2'd0),
    .exponent1_i(2'd0),
    .map_result_i(map_result_i),
    .count_i(count_i),
    .d0_i(d0_i),
    .d1_i(d1_i),
    .valid_o(valid_o),
    .bitmap_before_o(bitmap_before),
    .map_result_o(map_result),
    .count_o(count),
    .drop_o(drop),
    .finish_o(finish),
    .recirculate_o(recirculate),
    .broadcast_o(broadcast),
    .retransmit_o(retransmit),
    .next_type_o(next_type),
    .writes_d0_o(writes_d0),
    .reads_exponent0_o(reads_exponent0),
    .reads_exponent1_o(reads_exponent1),
    .exponent_o(exponent),
    .words_o(words)
  );

  // Registers of slot 0, versions 1 and 0.
  wire [5:0] bitmap_memory;
  wire [5:0] count_memory;
  wire [7:0] alu0_memory; // pairs
  wire [7:0] alu1_memory;
  // What the pipe does in its second stage.
  wire pipe_adds;
  wire pipe_overwrites;

  function [2:0] population(input [2:0] of);
    population = {2'b0, of[0]} + {2'b0, of[1]} + {2'b0, of[2]};
  endfunction

  // What the count register of the version being filled must hold: who is missing, 0 when nobody or everybody is.
  function [2:0] missing(input [2:0] arrived);
    missing = arrived == 3'b0 ? 3'd0 : Workers - population(arrived);
  endfunction

  // The pass in the first stage -------------------------------------------------------------------

  reg consumes_q = 0;
  reg [1:0] index_q = 0;
  reg [2:0] bit_q = 0;
  reg [3:0] d0_q = 0;
  reg [3:0] d1_q = 0;
  wire [2:0] worker_bit = 3'b001 << worker_i;
  always @(posedge clk_i) begin
    consumes_q <= valid_i & type_i[3:2] == 2'b01;
    index_q <= index_i;
    bit_q <= worker_bit;
    d0_q <= d0_i;
    d1_q <= d1_i;
  end

  // Ghost of slot 0: state before the pass in the first stage --------------------------------------

  reg started = 0;         // somebody has sent
  reg earlier = 0;         // there was a phase before this one
  reg filling = 0;         // version of the phase
  reg [2:0] arrived = 0;   // who has sent in it
  wire complete = arrived == All;

  wire here = consumes_q & ~index_q[1];
  wire to_filling = started & index_q[0] == filling;
  wire opens = here & (~started | (~to_filling & complete));
  wire joins = here & to_filling & (arrived & bit_q) == 3'b0;
  wire repeats = here & ~opens & ~joins;

  // Allowed: open, join, repeat one's own packet of this phase, or of the one before when not yet in this one.
  wire allowed = ~here | opens | to_filling | (earlier & (arrived & bit_q) == 3'b0);
  wire worker_exists = worker_i != 2'd3;

  always @(posedge clk_i) begin
    if (opens) begin
      started <= 1'b1;
      earlier <= started;
      filling <= index_q[0];
      arrived <= bit_q;
    end else if (joins) arrived <= arrived | bit_q;
  end

  // The same one stage later, where counts and sums change ----------------------------------------

  reg here_qq = 0;
  reg opens_qq = 0;
  reg joins_qq = 0;
  reg repeats_qq = 0;
  reg version_qq = 0;
  reg filling_qq = 0;
  reg [2:0] arrived_qq = 0;
  reg [2:0] bit_qq = 0;
  reg [3:0] d0_qq = 0;
  reg [3:0] d1_qq = 0;
  always @(posedge clk_i) begin
    here_qq <= here;
    opens_qq <= opens;
    joins_qq <= joins;
    repeats_qq <= repeats;
    version_qq <= index_q[0];
    filling_qq <= filling;
    arrived_qq <= arrived;
    bit_qq <= bit_q;
    d0_qq <= d0_q;
    d1_qq <= d1_q;
  end

  // Sums of both versions as the workers would add them up, and who is in them.
  reg [7:0] sums0 = 0; // version 1: first, second words of ALU 0; version 0
  reg [7:0] sums1 = 0;
  reg [5:0] added = 0; // to the registers of version 1 and 0, by what the pipe did
  wire [2:0] own_added = version_qq ? added[5:3] : added[2:0];
  wire [2:0] added_filling = filling_qq ? added[5:3] : added[2:0];
  wire [3:0] own0 = version_qq ? sums0[7:4] : sums0[3:0];
  wire [3:0] own1 = version_qq ? sums1[7:4] : sums1[3:0];
  wire [3:0] base0 = opens_qq ? 4'd0 : own0;
  wire [3:0] base1 = opens_qq ? 4'd0 : own1;
  wire [1:0] first0 = base0[3:2] + d0_qq[1:0], second0 = base0[1:0] + d1_qq[1:0];
  wire [1:0] first1 = base1[3:2] + d0_qq[3:2], second1 = base1[1:0] + d1_qq[3:2];
  wire adds_qq = opens_qq | joins_qq;
  wire [3:0] after0 = adds_qq ? {first0, second0} : own0;
  wire [3:0] after1 = adds_qq ? {first1, second1} : own1;

  reg checks_q = 0;
  reg [3:0] expected_words_q = 0;
  reg [2:0] expected_count_q = 0;
  reg expected_repeated_q = 0;
  reg checks_qq = 0;
  reg [3:0] expected_words_qq = 0;
  reg [2:0] expected_count_qq = 0;
  reg expected_repeated_qq = 0;
  always @(posedge clk_i) begin
    if (adds_qq) begin
      if (version_qq) begin
        sums0[7:4] <= after0;
        sums1[7:4] <= after1;
      end else begin
        sums0[3:0] <= after0;
        sums1[3:0] <= after1;
      end
    end
    if (here_qq & (pipe_adds | pipe_overwrites)) begin
      if (version_qq) added[5:3] <= pipe_overwrites ? bit_qq : own_added | bit_qq;
      else added[2:0] <= pipe_overwrites ? bit_qq : own_added | bit_qq;
    end
    checks_q <= opens_qq | joins_qq | repeats_qq;
    expected_words_q <= {after1[1:0], after0[1:0]};
    expected_count_q <= opens_qq | version_qq != filling_qq ? 3'd0 : missing(arrived_qq);
    expected_repeated_q <= repeats_qq;
    checks_qq <= checks_q;
    expected_words_qq <= expected_words_q;
    expected_count_qq <= expected_count_q;
    expected_repeated_qq <= expected_repeated_q;
  end

  // What is proved --------------------------------------------------------------------------------

  wire [2:0] bitmap_0 = bitmap_memory[2:0];
  wire [2:0] bitmap_1 = bitmap_memory[5:3];
  wire [2:0] bitmap_filling = filling ? bitmap_1 : bitmap_0;
  wire [2:0] bitmap_other = filling ? bitmap_0 : bitmap_1;
  wire [2:0] count_filling = filling_qq ? count_memory[5:3] : count_memory[2:0];
  wire [2:0] count_other = filling_qq ? count_memory[2:0] : count_memory[5:3];

  always @(posedge clk_i) begin
    WorkersFollowProtocol: assume (allowed);
    WorkersExist: assume (~valid_i | worker_exists);
    TypesExist: assume (~valid_i | type_i[3:2] != 2'b00);

    // The bitmap of the phase is who has sent; the other one is who has not yet moved on.
    BitmapIsArrived: assert (bitmap_filling == arrived);
    BitmapOther: assert (bitmap_other == (earlier ? ~arrived : 3'b0));
    // The count is the population of the complement of the bitmap; 0 in the version at rest.
    CountIsPopulation: assert (count_filling == missing(arrived_qq));
    CountAtRest: assert (count_other == 3'd0);
    // No worker is in a sum twice, and a sum holds all whose bit is set.
    NoWorkerTwice: assert (~(here_qq & pipe_adds) | (own_added & bit_qq) == 3'b0);
    AllAdded: assert (added_filling == arrived_qq);
    // Registers are the sums since the version was opened: nothing of an earlier use is left.
    NothingLeaks: assert (alu0_memory == sums0 & alu1_memory == sums1);
    // What comes out: sum with this packet, who was missing, whether it was a repeated one.
    WordsExact: assert (~checks_qq | words == expected_words_qq);
    CountExact: assert (~checks_qq | count == expected_count_qq);
    RepeatedExact: assert (~checks_qq | (map_result != 3'b0) == expected_repeated_qq);
    // What ties the ghost of this stage to that of the stage before it.
    GhostStarts: assert (started | (arrived == 3'b0 & ~earlier & ~opens_qq & ~joins_qq & ~repeats_qq));
    GhostArrived: assert (arrived == (opens_qq ? bit_qq : joins_qq ? arrived_qq | bit_qq : arrived_qq));
    GhostFilling: assert (filling == (opens_qq ? version_qq : filling_qq));
    GhostKnown: assert (~started | arrived != 3'b0);
  end

endmodule

`default_nettype wire
