// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The decoder alone, for any input. Only for the proof.
`default_nettype none

module next_step_decoder_proof (
  input wire clk_i,
  input wire [3:0] type_i,
  input wire [1:0] size_i,
  input wire repeated_i,
  input wire [7:0] count_i
);

  wire drop, finish, recirculate, broadcast, retransmit;
  wire [3:0] next_type;

  next_step_decoder i_decoder (
    .type_i(type_i),
    .size_i(size_i),
    .repeated_i(repeated_i),
    .count_i(count_i),
    .drop_o(drop),
    .finish_o(finish),
    .recirculate_o(recirculate),
    .broadcast_o(broadcast),
    .retransmit_o(retransmit),
    .next_type_o(next_type)
  );

  next_step_decoder_properties i_properties (
    .clk_i(clk_i),
    .type_i(type_i),
    .size_i(size_i),
    .repeated_i(repeated_i),
    .count_i(count_i),
    .drop_o(drop),
    .finish_o(finish),
    .recirculate_o(recirculate),
    .broadcast_o(broadcast),
    .retransmit_o(retransmit),
    .next_type_o(next_type)
  );

endmodule

`default_nettype wire
