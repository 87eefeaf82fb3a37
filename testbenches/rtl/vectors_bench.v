// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the vectors of a file through aggregation_pipe under any Verilog simulator: vvp a.out +vectors=<file>. A line is one clock:
//   valid type size index worker workers last e0 e1 map count d0 d1  before map count steps next flags exponent words
// in hexadecimal, the second half being the result of that pass, four clocks later.
`default_nettype none
`timescale 1ns / 1ps

module vectors_bench;

  localparam Depth = 64;
  localparam Latency = 4;

  reg clk = 0;
  reg rst_n = 0;
  always #5 clk = ~clk;

  reg valid = 0;
  reg [3:0] pass_type = 0;
  reg [1:0] size = 0;
  reg [5:0] index = 0;
  reg [4:0] worker = 0;
  reg [7:0] workers = 1;
  reg last = 0;
  reg [7:0] e0 = 0, e1 = 0;
  reg [31:0] map = 0;
  reg [7:0] count = 0;
  reg [1023:0] d0 = 0, d1 = 0;

  wire ready, busy, valid_o, drop, finish, recirculate, broadcast, retransmit, writes_d0, reads_e0, reads_e1;
  wire [31:0] before_o, map_o;
  wire [7:0] count_o, exponent;
  wire [3:0] next_type;
  wire [1023:0] words;

  aggregation_pipe #(
    .Depth(Depth)
  ) i_pipe (
    .clk_i(clk),
    .rst_ni(rst_n),
    .clear_i(1'b0),
    .ready_o(ready),
    .busy_o(busy),
    .valid_i(valid),
    .type_i(pass_type),
    .size_i(size),
    .index_i(index),
    .worker_i(worker),
    .workers_i(workers),
    .last_of_message_i(last),
    .exponent0_i(e0),
    .exponent1_i(e1),
    .map_result_i(map),
    .count_i(count),
    .d0_i(d0),
    .d1_i(d1),
    .valid_o(valid_o),
    .bitmap_before_o(before_o),
    .map_result_o(map_o),
    .count_o(count_o),
    .drop_o(drop),
    .finish_o(finish),
    .recirculate_o(recirculate),
    .broadcast_o(broadcast),
    .retransmit_o(retransmit),
    .next_type_o(next_type),
    .writes_d0_o(writes_d0),
    .reads_exponent0_o(reads_e0),
    .reads_exponent1_o(reads_e1),
    .exponent_o(exponent),
    .words_o(words)
  );

  // before, map, count, steps, next type, flags, exponent, words
  localparam ResultBits = 32 + 32 + 8 + 5 + 4 + 3 + 8 + 1024;
  reg [ResultBits-1:0] expected [0:7];
  reg [7:0] expects = 0;
  reg [31:0] x_before, x_map;
  reg [7:0] x_count, x_exponent;
  reg [4:0] x_steps;
  reg [3:0] x_next;
  reg [2:0] x_flags;
  reg [1023:0] x_words;
  wire [7:0] exponent_read = reads_e0 | reads_e1 ? exponent : 8'd0;
  wire [ResultBits-1:0] result = {before_o, map_o, count_o, drop, finish, recirculate, broadcast, retransmit, next_type,
                                  writes_d0, reads_e0, reads_e1, exponent_read, words};

  integer file, fields, clocks, passes, i;
  reg [8*512-1:0] name;
  reg more;

  task fail(input [8*24-1:0] what);
    begin
      $display("FAIL at clock %0d: %0s", clocks, what);
      $finish;
    end
  endtask

  initial begin
    if (!$value$plusargs("vectors=%s", name)) fail("no +vectors=");
    file = $fopen(name, "r");
    if (file == 0) fail("cannot open the file");
    clocks = 0;
    passes = 0;
    more = 1;
    repeat (3) @(negedge clk);
    rst_n = 1;
    @(negedge clk);
    while (!ready) @(negedge clk);
    for (i = 0; more | (expects != 0); i = i + 1) begin
      // The result of four clocks ago, then the next line.
      if (valid_o !== expects[Latency-1]) fail("valid_o");
      if (valid_o && result !== expected[Latency-1]) fail("result");
      if (valid_o) passes = passes + 1;
      fields = more ? $fscanf(file, "%h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h", valid, pass_type, size, index,
                              worker, workers, last, e0, e1, map, count, d0, d1, x_before, x_map, x_count, x_steps, x_next,
                              x_flags, x_exponent, x_words) : 0;
      if (fields != 21) begin
        more = 0;
        valid = 0;
      end
      expected[7] = expected[6];
      expected[6] = expected[5];
      expected[5] = expected[4];
      expected[4] = expected[3];
      expected[3] = expected[2];
      expected[2] = expected[1];
      expected[1] = expected[0];
      expected[0] = {x_before, x_map, x_count, x_steps, x_next, x_flags, x_exponent, x_words};
      expects = {expects[Latency-2:0], valid};
      clocks = clocks + 1;
      @(negedge clk);
    end
    $display("PASS %0d", passes);
    $finish;
  end

endmodule

`default_nettype wire
