// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Worker bitmaps of both versions of a slot: the version of a packet gets the bit of its worker, the other version
// loses it. Throughput: one packet a clock, also back to back on one slot. Latency: valid_i to before_o two clocks.
// Memory: one synchronous RAM of Depth / 2 x 2 bitmaps; version 0 in the low half.
// C++ twin: aggregation_model::consume.
`default_nettype none

module bitmap_unit #(
  parameter Depth = 16384,
  parameter Workers = 32,
  parameter IndexBits = $clog2(Depth),
  parameter WorkerBits = $clog2(Workers)
) (
  input wire clk_i,
  input wire rst_ni,
  input wire clear_i,                      // no packet may be under way
  input wire [IndexBits-2:0] clear_slot_i,
  input wire valid_i,                      // a CONSUME pass
  input wire [IndexBits-1:0] index_i,      // slot ++ version
  input wire [WorkerBits-1:0] worker_i,
  output reg [Workers-1:0] before_o,       // of this version, before the packet; 0 without a packet
  output reg [Workers-1:0] map_result_o    // before_o, and only the bit of this worker
);

  localparam SlotBits = IndexBits - 1;

  reg [2*Workers-1:0] memory [0:Depth/2-1];

  reg [2*Workers-1:0] read_q;
  reg [2*Workers-1:0] forward_q;
  reg forward_valid_q;
  reg valid_q;
  reg [IndexBits-1:0] index_q;
  reg [WorkerBits-1:0] worker_q;

  wire [SlotBits-1:0] slot = index_i[IndexBits-1:1];
  wire [SlotBits-1:0] slot_q = index_q[IndexBits-1:1];
  wire version_q = index_q[0];
  wire [Workers-1:0] worker_bit = {{Workers-1{1'b0}}, 1'b1} << worker_q;

  wire [2*Workers-1:0] old_pair = forward_valid_q ? forward_q : read_q;
  wire [Workers-1:0] old_0 = old_pair[Workers-1:0];
  wire [Workers-1:0] old_1 = old_pair[2*Workers-1:Workers];
  wire [Workers-1:0] new_0 = version_q ? old_0 & ~worker_bit : old_0 | worker_bit;
  wire [Workers-1:0] new_1 = version_q ? old_1 | worker_bit : old_1 & ~worker_bit;
  wire [2*Workers-1:0] new_pair = {new_1, new_0};
  wire [Workers-1:0] found = valid_q ? (version_q ? old_1 : old_0) : {Workers{1'b0}};

  wire [SlotBits-1:0] write_slot = clear_i ? clear_slot_i : slot_q;
  wire [2*Workers-1:0] write_data = clear_i ? {2*Workers{1'b0}} : new_pair;

  always @(posedge clk_i) begin
    if (clear_i | valid_q) memory[write_slot] <= write_data;
    read_q <= memory[slot];
  end

  always @(posedge clk_i) begin
    valid_q <= rst_ni & valid_i;
    index_q <= index_i;
    worker_q <= worker_i;
    forward_q <= new_pair;
    forward_valid_q <= rst_ni & valid_q & (slot == slot_q);
    before_o <= found;
    map_result_o <= found & worker_bit;
  end

endmodule

`default_nettype wire
