// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a packet after its pass: the next-step table of the P4 program, rows in order of priority.
// Combinational.
// Exactly one of the five steps is set for any input.
// C++ twin: decide_next_step (hw/tofino/aggregation_model.cpp).
`default_nettype none

module next_step_decoder #(
  parameter CountBits = 8
) (
  input wire [3:0] type_i,             // 4 to 7 CONSUME0 to 3, 8 to 15 HARVEST0 to 7
  input wire [1:0] size_i,             // 1: 64 words, 3: 256 words; others are dropped, but at HARVEST7
  input wire repeated_i,               // map result is not 0
  input wire [CountBits-1:0] count_i,
  output reg drop_o,
  output reg finish_o,                 // taken in, nothing goes on
  output reg recirculate_o,
  output reg broadcast_o,
  output reg retransmit_o,
  output reg [3:0] next_type_o         // with recirculate_o, else 4
);

  localparam [3:0] Consume0 = 4'd4, Consume1 = 4'd5, Consume2 = 4'd6, Consume3 = 4'd7;
  localparam [3:0] Harvest0 = 4'd8, Harvest1 = 4'd9, Harvest7 = 4'd15;
  localparam [1:0] Words64 = 2'd1, Words256 = 2'd3;

  localparam [CountBits-1:0] Zero = 0;
  localparam [CountBits-1:0] One = 1;

  wire completes = count_i == One;
  wire idle = count_i == Zero; // empty or complete
  wire is_new = ~repeated_i;

  always @* begin
    drop_o = 1'b0;
    finish_o = 1'b0;
    recirculate_o = 1'b0;
    broadcast_o = 1'b0;
    retransmit_o = 1'b0;
    next_type_o = Consume0;

    if (type_i == Harvest7) begin
      if (completes & is_new) broadcast_o = 1'b1;
      else if (idle & repeated_i) retransmit_o = 1'b1;
      else drop_o = 1'b1;
    end else if (size_i == Words64 && type_i == Consume0) begin
      if (completes | (idle & repeated_i)) begin
        recirculate_o = 1'b1;
        next_type_o = Harvest7;
      end else if (is_new) finish_o = 1'b1;
      else drop_o = 1'b1;
    end else if (size_i == Words256) begin
      case (type_i)
        Consume0: begin
          recirculate_o = is_new | idle;
          drop_o = ~(is_new | idle);
          if (is_new | idle) next_type_o = Consume1;
        end
        Consume1, Consume2: begin
          recirculate_o = 1'b1;
          next_type_o = type_i + 4'd1;
        end
        Consume3: begin
          if (completes | (repeated_i & idle)) begin
            recirculate_o = 1'b1;
            next_type_o = Harvest1;
          end else if (is_new) finish_o = 1'b1;
          else drop_o = 1'b1;
        end
        default: begin
          if (type_i > Harvest0) begin
            recirculate_o = 1'b1;
            next_type_o = type_i + 4'd1;
          end else drop_o = 1'b1;
        end
      endcase
    end else drop_o = 1'b1;
  end

endmodule

`default_nettype wire
