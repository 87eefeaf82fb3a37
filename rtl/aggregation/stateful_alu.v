// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One stateful ALU: a pair of words per pool index; each operation reads the pair, may change it, and gives one word
// out. Throughput: one operation a clock, also back to back on one index. Latency: the index goes in one clock before
// the operands; the output is there one clock after them. Memory: one synchronous RAM of Depth x 2 words, one read and
// one write port.
// Sums wrap. The operation decoder is outside, once for all ALUs of a pipe.
// C++ twin: aggregation_model::consume and harvest (hw/tofino/aggregation_model.cpp), words of one k.
`default_nettype none

module stateful_alu #(
  parameter Depth = 16384,
  parameter WordBits = 32,
  parameter IndexBits = $clog2(Depth)
) (
  input wire clk_i,
  // clearing: no operation may be under way
  input wire clear_i,
  input wire [IndexBits-1:0] clear_index_i,
  // one clock ahead: where the operation will be
  input wire [IndexBits-1:0] index_i,
  // the operation
  input wire overwrite_i,            // pair <- operands
  input wire add_i,                  // pair <- pair + operands
  input wire read_first_i,           // give the first word out, else the second
  input wire [WordBits-1:0] first_i,
  input wire [WordBits-1:0] second_i,
  output reg [WordBits-1:0] word_o   // after the operation
);

  reg [2*WordBits-1:0] memory [0:Depth-1];

  // What the RAM gave, and the word that was being written while it read.
  reg [2*WordBits-1:0] read_q;
  reg [2*WordBits-1:0] forward_q;
  reg forward_valid_q;
  reg [IndexBits-1:0] index_q;

  wire [2*WordBits-1:0] old_pair = forward_valid_q ? forward_q : read_q;
  wire [WordBits-1:0] old_first = old_pair[2*WordBits-1:WordBits];
  wire [WordBits-1:0] old_second = old_pair[WordBits-1:0];

  reg [WordBits-1:0] new_first;
  reg [WordBits-1:0] new_second;
  always @* begin
    new_first = old_first;
    new_second = old_second;
    if (overwrite_i) begin
      new_first = first_i;
      new_second = second_i;
    end else if (add_i) begin
      new_first = old_first + first_i;
      new_second = old_second + second_i;
    end
  end

  wire write = overwrite_i | add_i;
  wire [2*WordBits-1:0] new_pair = {new_first, new_second};
  wire [IndexBits-1:0] write_index = clear_i ? clear_index_i : index_q;
  wire [2*WordBits-1:0] write_data = clear_i ? {2*WordBits{1'b0}} : new_pair;

  always @(posedge clk_i) begin
    if (clear_i | write) memory[write_index] <= write_data;
    read_q <= memory[index_i];
  end

  always @(posedge clk_i) begin
    index_q <= index_i;
    forward_q <= new_pair;
    forward_valid_q <= write & (index_i == index_q);
    word_o <= read_first_i ? new_first : new_second;
  end

endmodule

`default_nettype wire
