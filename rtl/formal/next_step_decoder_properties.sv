// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of next_step_decoder: total and exclusive, and every step only where the protocol allows it.
`default_nettype none

module next_step_decoder_properties #(
  parameter CountBits = 8
) (
  input wire clk_i,
  input wire [3:0] type_i,
  input wire [1:0] size_i,
  input wire repeated_i,
  input wire [CountBits-1:0] count_i,
  input wire drop_o,
  input wire finish_o,
  input wire recirculate_o,
  input wire broadcast_o,
  input wire retransmit_o,
  input wire [3:0] next_type_o
);

  localparam [CountBits-1:0] Zero = 0, One = 1;

  wire [2:0] steps = {2'b0, drop_o} + {2'b0, finish_o} + {2'b0, recirculate_o} + {2'b0, broadcast_o} + {2'b0, retransmit_o};
  wire last_consume = (size_i == 2'd1 && type_i == 4'd4) || (size_i == 2'd3 && type_i == 4'd7);

  always @(posedge clk_i) begin
    StepTotal: assert (steps != 3'd0);
    StepExclusive: assert (steps <= 3'd1);
    // A slot is sent to all once: only by a new packet that completed it, on its last pass.
    BroadcastCompletes: assert (broadcast_o == (type_i == 4'd15 && count_i == One && ~repeated_i));
    RetransmitComplete: assert (retransmit_o == (type_i == 4'd15 && count_i == Zero && repeated_i));
    // A packet is taken in silently only by its last CONSUME pass, only if new, and only if others are missing.
    FinishTakesIn: assert (finish_o == (last_consume && ~repeated_i && count_i != One));
    // One type further each pass. After the last CONSUME pass: the only harvest of a short packet, the first of a long
    // one.
    NextTypeFollows: assert (~recirculate_o | next_type_o == (last_consume ? (size_i == 2'd1 ? 4'd15 : 4'd9) : type_i + 4'd1));
    ShortPacketHarvestsOnce: assert (~recirculate_o | (next_type_o == 4'd15) == (type_i == 4'd14 | size_i == 2'd1));
    NextTypeQuiet: assert (recirculate_o | next_type_o == 4'd4);
    // Packets of 32 and 128 words go nowhere. HARVEST7 is decided without the size.
    OddSizesDropped: assert (size_i[0] | type_i == 4'd15 | drop_o);
  end

endmodule

`default_nettype wire
