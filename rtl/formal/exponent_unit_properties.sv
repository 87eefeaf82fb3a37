// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of exponent_unit: exact against a shadow of the four lowest indices, and a maximum never falls but by
// overwriting.
`default_nettype none
`include "rtl/formal/assume.svh"

module exponent_unit_properties #(
  parameter ExponentBits = 8,
  parameter IndexBits = 14
) (
  input wire clk_i,
  input wire clear_i,
  input wire [IndexBits-1:0] clear_index_i,
  input wire overwrite_i,
  input wire raise_i,
  input wire read_second_i,
  input wire signed [ExponentBits-1:0] first_i,
  input wire signed [ExponentBits-1:0] second_i,
  input wire signed [ExponentBits-1:0] exponent_o,
  input wire [IndexBits-1:0] index_q,
  input wire [2*ExponentBits-1:0] old_pair,
  input wire [2*ExponentBits-1:0] new_pair,
  input wire [8*ExponentBits-1:0] watched_i // memory, indices 3 to 0
);

  localparam PairBits = 2 * ExponentBits;
  localparam [IndexBits-1:0] Watched = 4;

  reg [8*ExponentBits-1:0] shadow = 0;
  reg cleared_q = 0;
  reg expects_q = 0;
  reg signed [ExponentBits-1:0] expected_q = 0;

  wire [1:0] at = index_q[1:0];
  wire settled = ~clear_i & ~cleared_q;
  wire is_watched = settled & ~|(index_q / Watched);
  wire signed [ExponentBits-1:0] first = $signed(shadow[at*PairBits+ExponentBits +: ExponentBits]);
  wire signed [ExponentBits-1:0] second = $signed(shadow[at*PairBits +: ExponentBits]);
  reg signed [ExponentBits-1:0] first_after;
  reg signed [ExponentBits-1:0] second_after;
  always @* begin
    first_after = first;
    second_after = second;
    if (raise_i & first < first_i) first_after = first_i;
    if (raise_i & second < second_i) second_after = second_i;
    if (overwrite_i) begin
      first_after = first_i;
      second_after = second_i;
    end
  end

  always @(posedge clk_i) begin
    cleared_q <= clear_i;
    if (clear_i) begin
      if (~|(clear_index_i / Watched)) shadow[clear_index_i[1:0]*PairBits +: PairBits] <= {PairBits{1'b0}};
    end else if (is_watched) shadow[at*PairBits +: PairBits] <= {first_after, second_after};
    expects_q <= is_watched;
    expected_q <= read_second_i ? second_after : first_after;
  end

  wire falls = $signed(new_pair[PairBits-1:ExponentBits]) < $signed(old_pair[PairBits-1:ExponentBits])
    || $signed(new_pair[ExponentBits-1:0]) < $signed(old_pair[ExponentBits-1:0]);

  always @(posedge clk_i) begin
    `WEFT_ASSUME(NoOperationWhileClearing, settled | ~(overwrite_i | raise_i));
    ForwardingExact: assert (~is_watched | old_pair == {first, second});
    MemoryExact: assert (watched_i == shadow);
    NeverFalls: assert (overwrite_i | ~falls);
    ResultExact: assert (~expects_q | exponent_o == expected_q);
  end

endmodule

`default_nettype wire
