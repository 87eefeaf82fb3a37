// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Workers still missing from a slot and version. A new packet counts down, the first of all from the number of workers;
// a repeated one only reads. What comes out is the count before the packet: 1 says that the packet completes the slot,
// 0 that the slot was empty or is complete. A job of one worker is special: 1 for a new packet, 0 for a repeated one.
// Throughput and timing: as stateful_alu. Memory: one synchronous RAM of Depth counts.
// C++ twin: aggregation_model::consume.
`default_nettype none

module count_unit #(
  parameter Depth = 16384,
  parameter CountBits = 8,
  parameter IndexBits = $clog2(Depth)
) (
  input wire clk_i,
  input wire clear_i,                      // no packet may be under way
  input wire [IndexBits-1:0] clear_index_i,
  input wire [IndexBits-1:0] index_i,      // one clock ahead of the rest
  input wire consume_i,                    // a CONSUME pass
  input wire repeated_i,                   // its worker has been here
  input wire [CountBits-1:0] workers_i,    // n of the job, from 1
  output reg [CountBits-1:0] count_o
);

  reg [CountBits-1:0] memory [0:Depth-1];

  reg [CountBits-1:0] read_q;
  reg [CountBits-1:0] forward_q;
  reg forward_valid_q;
  reg [IndexBits-1:0] index_q;

  localparam [CountBits-1:0] Zero = 0;
  localparam [CountBits-1:0] One = 1;

  wire [CountBits-1:0] old_count = forward_valid_q ? forward_q : read_q;
  wire [CountBits-1:0] new_count = (old_count == Zero ? workers_i : old_count) - One;
  wire write = consume_i & ~repeated_i;

  wire [IndexBits-1:0] write_index = clear_i ? clear_index_i : index_q;
  wire [CountBits-1:0] write_data = clear_i ? Zero : new_count;

  always @(posedge clk_i) begin
    if (clear_i | write) memory[write_index] <= write_data;
    read_q <= memory[index_i];
  end

  always @(posedge clk_i) begin
    index_q <= index_i;
    forward_q <= new_count;
    forward_valid_q <= write & (index_i == index_q);
    if (workers_i == One) count_o <= repeated_i ? Zero : One;
    else count_o <= old_count;
  end

endmodule

`default_nettype wire
