// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of bitmap_unit: exact against a shadow of the four lowest slots, and no worker in both versions of a slot.
`default_nettype none
`include "rtl/formal/assume.svh"

module bitmap_unit_properties #(
  parameter Workers = 32,
  parameter IndexBits = 14,
  parameter WorkerBits = 5
) (
  input wire clk_i,
  input wire clear_i,
  input wire [IndexBits-2:0] clear_slot_i,
  input wire [Workers-1:0] before_o,
  input wire [Workers-1:0] map_result_o,
  input wire valid_i,
  input wire valid_q,
  input wire [IndexBits-1:0] index_q,
  input wire [WorkerBits-1:0] worker_q,
  input wire [2*Workers-1:0] old_pair,
  input wire [8*Workers-1:0] watched_i // memory, slots 3 to 0
);

  localparam PairBits = 2 * Workers;
  localparam [IndexBits-1:0] Watched = 8;
  localparam [Workers-1:0] One = 1;

  reg [8*Workers-1:0] shadow = 0;
  reg expects_q = 0;
  reg [Workers-1:0] before_q = 0;
  reg [Workers-1:0] bit_q = 0;

  wire is_watched = valid_q & ~|(index_q / Watched);
  wire [1:0] slot = index_q[2:1];
  wire [PairBits-1:0] pair = shadow[slot*PairBits +: PairBits];
  wire [Workers-1:0] own = index_q[0] ? pair[PairBits-1:Workers] : pair[Workers-1:0];
  wire [Workers-1:0] other = index_q[0] ? pair[Workers-1:0] : pair[PairBits-1:Workers];
  wire [Workers-1:0] worker_bit = One << worker_q;
  wire [Workers-1:0] own_after = own | worker_bit;
  wire [Workers-1:0] other_after = other & ~worker_bit;

  always @(posedge clk_i) begin
    if (clear_i) begin
      if (~|({clear_slot_i, 1'b0} / Watched)) shadow[clear_slot_i[1:0]*PairBits +: PairBits] <= {PairBits{1'b0}};
    end else if (is_watched) shadow[slot*PairBits +: PairBits] <= index_q[0] ? {own_after, other_after} : {other_after, own_after};
    expects_q <= is_watched;
    before_q <= own;
    bit_q <= worker_bit;
  end

  integer i;
  reg disjoint;
  always @* begin
    disjoint = 1'b1;
    for (i = 0; i < 4; i = i + 1)
      if ((watched_i[2*i*Workers +: Workers] & watched_i[(2*i+1)*Workers +: Workers]) != {Workers{1'b0}}) disjoint = 1'b0;
  end

  always @(posedge clk_i) begin
    `WEFT_ASSUME(NoPacketWhileClearing, ~clear_i | ~(valid_i | valid_q));
    ForwardingExact: assert (~is_watched | old_pair == pair);
    MemoryExact: assert (watched_i == shadow);
    VersionsDisjoint: assert (disjoint);
    BeforeExact: assert (~expects_q | before_o == before_q);
    MapResultExact: assert (~expects_q | map_result_o == (before_q & bit_q));
  end

endmodule

`default_nettype wire
