// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of count_unit: exact against a shadow of the four lowest indices.
`default_nettype none
`include "rtl/formal/assume.svh"

module count_unit_properties #(
  parameter CountBits = 8,
  parameter IndexBits = 14
) (
  input wire clk_i,
  input wire clear_i,
  input wire [IndexBits-1:0] clear_index_i,
  input wire consume_i,
  input wire repeated_i,
  input wire [CountBits-1:0] workers_i,
  input wire [CountBits-1:0] count_o,
  input wire [IndexBits-1:0] index_q,
  input wire [CountBits-1:0] old_count,
  input wire [4*CountBits-1:0] watched_i // memory, indices 3 to 0
);

  localparam [IndexBits-1:0] Watched = 4;
  localparam [CountBits-1:0] Zero = 0, One = 1;

  reg [4*CountBits-1:0] shadow = 0;
  reg cleared_q = 0;
  reg expects_q = 0;
  reg single_q = 0;
  reg repeated_q = 0;
  reg [CountBits-1:0] before_q = 0;

  wire [1:0] at = index_q[1:0];
  wire settled = ~clear_i & ~cleared_q;
  wire is_watched = consume_i & ~|(index_q / Watched);
  wire [CountBits-1:0] count = shadow[at*CountBits +: CountBits];
  wire [CountBits-1:0] missing = count == Zero ? workers_i - One : count - One;

  always @(posedge clk_i) begin
    cleared_q <= clear_i;
    if (clear_i) begin
      if (~|(clear_index_i / Watched)) shadow[clear_index_i[1:0]*CountBits +: CountBits] <= Zero;
    end else if (is_watched & ~repeated_i) shadow[at*CountBits +: CountBits] <= missing;
    expects_q <= is_watched;
    single_q <= workers_i == One;
    repeated_q <= repeated_i;
    before_q <= count;
  end

  always @(posedge clk_i) begin
    `WEFT_ASSUME(NoPacketWhileClearing, settled | ~consume_i);
    ForwardingExact: assert (~is_watched | old_count == count);
    MemoryExact: assert (watched_i == shadow);
    CountExact: assert (~expects_q | single_q | count_o == before_q);
    SingleWorkerCompletes: assert (~expects_q | ~single_q | count_o == (repeated_q ? Zero : One));
  end

endmodule

`default_nettype wire
