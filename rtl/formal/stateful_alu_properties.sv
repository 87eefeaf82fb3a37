// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of stateful_alu: every operation sees the one before it, however close. A shadow of the four lowest
// indices is changed by each operation at once; memory, operands and results must agree with it.
`default_nettype none
`include "rtl/formal/assume.svh"

module stateful_alu_properties #(
  parameter WordBits = 32,
  parameter IndexBits = 14
) (
  input wire clk_i,
  input wire clear_i,
  input wire [IndexBits-1:0] clear_index_i,
  input wire overwrite_i,
  input wire add_i,
  input wire read_first_i,
  input wire [WordBits-1:0] first_i,
  input wire [WordBits-1:0] second_i,
  input wire [WordBits-1:0] word_o,
  input wire [IndexBits-1:0] index_q,
  input wire [2*WordBits-1:0] old_pair,
  input wire [8*WordBits-1:0] watched_i // memory, indices 3 to 0
);

  localparam PairBits = 2 * WordBits;
  localparam [IndexBits-1:0] Watched = 4;

  reg [8*WordBits-1:0] shadow = 0;
  reg cleared_q = 0;
  reg [WordBits-1:0] expected_q = 0;
  reg expects_q = 0;

  wire [1:0] at = index_q[1:0];
  wire is_watched = ~|(index_q / Watched);
  wire [PairBits-1:0] pair = shadow[at*PairBits +: PairBits];
  wire [WordBits-1:0] first = overwrite_i ? first_i : add_i ? pair[PairBits-1:WordBits] + first_i : pair[PairBits-1:WordBits];
  wire [WordBits-1:0] second = overwrite_i ? second_i : add_i ? pair[WordBits-1:0] + second_i : pair[WordBits-1:0];
  wire settled = ~clear_i & ~cleared_q;

  always @(posedge clk_i) begin
    cleared_q <= clear_i;
    if (clear_i) begin
      if (~|(clear_index_i / Watched)) shadow[clear_index_i[1:0]*PairBits +: PairBits] <= {PairBits{1'b0}};
    end else if (is_watched & settled) shadow[at*PairBits +: PairBits] <= {first, second};
    expected_q <= read_first_i ? first : second;
    expects_q <= is_watched & settled;
  end

  always @(posedge clk_i) begin
    `WEFT_ASSUME(NoOperationWhileClearing, settled | ~(overwrite_i | add_i));
    ForwardingExact: assert (~(is_watched & settled) | old_pair == pair);
    MemoryExact: assert (watched_i == shadow);
    ResultExact: assert (~expects_q | word_o == expected_q);
  end

endmodule

`default_nettype wire
