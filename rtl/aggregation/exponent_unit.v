// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Signed maxima of the two exponents of a slot and version. The first packet overwrites them, later ones raise them,
// repeated ones leave them. One exponent comes out: the first, or the second for a harvest.
// Throughput and timing: as stateful_alu. Memory: one synchronous RAM of Depth pairs of exponents.
// C++ twin: aggregation_model::consume and harvest.
`default_nettype none

module exponent_unit #(
  parameter Depth = 16384,
  parameter ExponentBits = 8,
  parameter IndexBits = $clog2(Depth)
) (
  input wire clk_i,
  input wire clear_i,                      // no packet may be under way
  input wire [IndexBits-1:0] clear_index_i,
  input wire [IndexBits-1:0] index_i,      // one clock ahead of the rest
  input wire overwrite_i,
  input wire raise_i,
  input wire read_second_i,
  input wire signed [ExponentBits-1:0] first_i,
  input wire signed [ExponentBits-1:0] second_i,
  output reg signed [ExponentBits-1:0] exponent_o
);

  reg [2*ExponentBits-1:0] memory [0:Depth-1];

  reg [2*ExponentBits-1:0] read_q;
  reg [2*ExponentBits-1:0] forward_q;
  reg forward_valid_q;
  reg [IndexBits-1:0] index_q;

  wire [2*ExponentBits-1:0] old_pair = forward_valid_q ? forward_q : read_q;
  wire signed [ExponentBits-1:0] old_first = $signed(old_pair[2*ExponentBits-1:ExponentBits]);
  wire signed [ExponentBits-1:0] old_second = $signed(old_pair[ExponentBits-1:0]);
  wire take_first = overwrite_i | (raise_i & (first_i > old_first));
  wire take_second = overwrite_i | (raise_i & (second_i > old_second));
  wire signed [ExponentBits-1:0] new_first = take_first ? first_i : old_first;
  wire signed [ExponentBits-1:0] new_second = take_second ? second_i : old_second;
  wire write = overwrite_i | raise_i;
  wire [2*ExponentBits-1:0] new_pair = {new_first, new_second};

  wire [IndexBits-1:0] write_index = clear_i ? clear_index_i : index_q;
  wire [2*ExponentBits-1:0] write_data = clear_i ? {2*ExponentBits{1'b0}} : new_pair;

  always @(posedge clk_i) begin
    if (clear_i | write) memory[write_index] <= write_data;
    read_q <= memory[index_i];
  end

  always @(posedge clk_i) begin
    index_q <= index_i;
    forward_q <= new_pair;
    forward_valid_q <= write & (index_i == index_q);
    exponent_o <= read_second_i ? new_second : new_first;
  end

endmodule

`default_nettype wire
