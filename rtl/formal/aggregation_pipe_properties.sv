// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of aggregation_pipe as a whole: constant latency, one step a result, clearing. What the protocol makes of
// it is proved in pipe_protocol.sv.
`default_nettype none
`include "rtl/formal/assume.svh"

module aggregation_pipe_properties #(
  parameter IndexBits = 14
) (
  input wire clk_i,
  input wire rst_ni,
  input wire clear_i,
  input wire ready_o,
  input wire busy_o,
  input wire valid_i,
  input wire valid_o,
  input wire drop_o,
  input wire finish_o,
  input wire recirculate_o,
  input wire broadcast_o,
  input wire retransmit_o,
  input wire clearing_q,
  input wire [IndexBits-1:0] clear_index_q
);

  localparam [IndexBits-1:0] NextIndex = 1;

  reg [3:0] entered_q = 0; // clocks ago: bit 0 one, bit 3 four
  reg clearing_before_q = 0;
  reg clear_before_q = 0;
  reg reset_before_q = 0;
  reg [IndexBits-1:0] index_before_q = 0;

  wire [2:0] steps = {2'b0, drop_o} + {2'b0, finish_o} + {2'b0, recirculate_o} + {2'b0, broadcast_o} + {2'b0, retransmit_o};

  always @(posedge clk_i) begin
    entered_q <= rst_ni ? {entered_q[2:0], valid_i} : 4'b0;
    clearing_before_q <= clearing_q;
    clear_before_q <= clear_i;
    reset_before_q <= ~rst_ni;
    index_before_q <= clear_index_q;
  end

  always @(posedge clk_i) begin
    `WEFT_ASSUME(NoPassWhileClearing, ~(valid_i & rst_ni) | ready_o);
    `WEFT_ASSUME(ClearAtRest, ~(clear_i & rst_ni) | (ready_o & ~valid_i & entered_q == 4'b0));
    LatencyFour: assert (valid_o == entered_q[3]);
    BusyUnderWay: assert (busy_o == (clearing_q | entered_q != 4'b0));
    OneStep: assert (~valid_o | steps == 3'd1);
    ClearStarts: assert (~(clear_before_q | reset_before_q) | clearing_q);
    // Every index in turn, none left out, up to the last.
    ClearCounts: assert (~clearing_before_q | reset_before_q | clear_index_q == index_before_q + NextIndex);
    ClearComplete: assert (~clearing_before_q | clearing_q | reset_before_q | index_before_q == {IndexBits{1'b1}});
  end

endmodule

`default_nettype wire
