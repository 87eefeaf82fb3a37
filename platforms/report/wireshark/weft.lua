-- Copyright 2026 The weft authors
-- SPDX-License-Identifier: Apache-2.0
--
-- Wireshark's view of what `weft run --pcap DIR` writes:
--   switchml     SwitchML header and exponents of UDP frames (hw/abi/switchml.h)
--   sml_roce     what SwitchML puts into RoCE v2 frames; below it stays Wireshark's own view, but of pairs 0 and 1
--   weft_fabric  packets of fabrics, link type 147 (platforms/report/fabric_record.h); weft_fabric.platform says whose
--   weft_ub      UB's source-route header in them (hw/abi/ub.h)
--
--   tshark -X lua_script:platforms/report/wireshark/weft.lua -r DIR/nic_0--switch.pcapng -O switchml

local function bits(value, low, count) return math.floor(value / 2 ^ low) % 2 ^ count end

-- SwitchML over UDP ---------------------------------------------------------------------------------------------------

local switchml = Proto("switchml", "SwitchML")
local sizes = { [0] = "32 words", [1] = "64 words", [2] = "128 words", [3] = "256 words" }
local sml = {
    message = ProtoField.uint8("switchml.message_type", "Message type", base.DEC, nil, 0xf0),
    size = ProtoField.uint8("switchml.size", "Size", base.DEC, sizes, 0x07),
    job = ProtoField.uint8("switchml.job", "Job"),
    id = ProtoField.uint32("switchml.id", "Id, echoed by the switch"),
    version = ProtoField.uint16("switchml.version", "Version", base.DEC, nil, 0x8000),
    slot = ProtoField.uint16("switchml.slot", "Slot", base.DEC, nil, 0x3fff),
    exponent0 = ProtoField.int8("switchml.exponent0", "Exponent 0"),
    exponent1 = ProtoField.int8("switchml.exponent1", "Exponent 1"),
    words = ProtoField.bytes("switchml.words", "Words"),
}
switchml.fields = sml

function switchml.dissector(buffer, packet, tree)
    if buffer:len() < 10 then return 0 end
    packet.cols.protocol = "SwitchML"
    local t = tree:add(switchml, buffer())
    t:add(sml.message, buffer(0, 1))
    t:add(sml.size, buffer(0, 1))
    t:add(sml.job, buffer(1, 1))
    t:add(sml.id, buffer(2, 4))
    t:add(sml.version, buffer(6, 2))
    t:add(sml.slot, buffer(6, 2))
    t:add(sml.exponent0, buffer(8, 1))
    t:add(sml.exponent1, buffer(9, 1))
    if buffer:len() > 10 then t:add(sml.words, buffer(10)) end
    local pool = buffer(6, 2):uint()
    packet.cols.info = string.format("job %d slot %d.%d id %d", buffer(1, 1):uint(), bits(pool, 0, 14), bits(pool, 15, 1), buffer(2, 4):uint())
    return buffer:len()
end
for core = 0, 15 do DissectorTable.get("udp.port"):add(0xbee0 + core, switchml) end

-- SwitchML over RoCE v2 -----------------------------------------------------------------------------------------------

local roce = Proto("sml_roce", "SwitchML over RoCE v2")
local opcodes = {
    [0x26] = "write first", [0x27] = "write middle", [0x28] = "write last", [0x29] = "write last with immediate",
    [0x2a] = "write only", [0x2b] = "write only with immediate",
}
local rf = {
    op = ProtoField.uint8("sml_roce.opcode", "Opcode", base.HEX, opcodes),
    queue_pair = ProtoField.uint24("sml_roce.queue_pair", "Queue pair", base.HEX),
    worker = ProtoField.uint24("sml_roce.worker", "Worker (bits 20:16)", base.DEC, nil, 0x1f0000),
    queue = ProtoField.uint24("sml_roce.queue", "Queue (bits 8:0)", base.DEC, nil, 0x1ff),
    psn = ProtoField.uint24("sml_roce.psn", "Packet number"),
    address = ProtoField.uint64("sml_roce.address", "Address", base.HEX),
    key = ProtoField.uint32("sml_roce.key", "Key", base.HEX),
    slot = ProtoField.uint32("sml_roce.slot", "Slot of the first packet"),
    version = ProtoField.uint32("sml_roce.version", "Version"),
    length = ProtoField.uint32("sml_roce.length", "Length"),
    message = ProtoField.uint16("sml_roce.message", "Message"),
    exponent0 = ProtoField.int8("sml_roce.exponent0", "Exponent 0"),
    exponent1 = ProtoField.int8("sml_roce.exponent1", "Exponent 1"),
}
roce.fields = rf

local function begins(op) return op == 0x26 or op == 0x2a or op == 0x2b end
local function has_immediate(op) return op == 0x29 or op == 0x2b end
local to_mac = Field.new("eth.dst")
local wireshark_own = DissectorTable.get("udp.port"):get_dissector(4791)

function roce.dissector(buffer, packet, tree)
    local op = buffer:len() >= 12 and buffer(0, 1):uint() or nil
    -- Wireshark takes every packet on queue pairs 0 and 1 for management; a write is none.
    local is_misread = opcodes[op] ~= nil and buffer(5, 3):uint() < 2
    if wireshark_own ~= nil and not is_misread then wireshark_own:call(buffer, packet, tree) end
    if op == nil then return 0 end
    if opcodes[op] == nil then return buffer:len() end
    -- Toward a switch, 02:00:00:00:00:fe or in a tree :80:xx, numbers say who sends, and key which slot is meant; back
    -- they are the worker's own.
    local mac = to_mac()
    mac = mac ~= nil and tostring(mac) or ""
    local to_switch = mac == "02:00:00:00:00:fe" or mac:sub(1, 14) == "02:00:00:00:80"
    local t = tree:add(roce, buffer())
    local info = opcodes[op]
    t:add(rf.op, buffer(0, 1))
    t:add(rf.queue_pair, buffer(5, 3))
    if to_switch then
        t:add(rf.worker, buffer(5, 3))
        t:add(rf.queue, buffer(5, 3))
    end
    t:add(rf.psn, buffer(9, 3))
    local at = 12
    if begins(op) and buffer:len() >= at + 16 then
        t:add(rf.address, buffer(at, 8))
        t:add(rf.key, buffer(at + 8, 4))
        if to_switch then
            local key = buffer(at + 8, 4):uint()
            t:add(rf.slot, buffer(at + 8, 4), bits(key, 1, 31))
            t:add(rf.version, buffer(at + 8, 4), bits(key, 0, 1))
            info = info .. string.format(", slot %d.%d", bits(key, 1, 31), bits(key, 0, 1))
        end
        t:add(rf.length, buffer(at + 12, 4))
        at = at + 16
    end
    if has_immediate(op) and buffer:len() >= at + 4 then
        t:add(rf.message, buffer(at, 2))
        t:add(rf.exponent0, buffer(at + 2, 1))
        t:add(rf.exponent1, buffer(at + 3, 1))
    end
    packet.cols.protocol = "SwitchML/RoCE"
    packet.cols.info = info .. string.format(", queue pair 0x%x PSN %d", buffer(5, 3):uint(), buffer(9, 3):uint())
    return buffer:len()
end
DissectorTable.get("udp.port"):add(4791, roce)

-- Packets of fabrics --------------------------------------------------------------------------------------------------

local fabric = Proto("weft_fabric", "Packet of a fabric")
local ub = Proto("weft_ub", "UB source route")
-- What the packets of a platform are called; of others the platform's own name stands.
local fabrics = { ub_mesh = "UB", tpu_v3 = "ICI", trainium = "NeuronLink", ipu_pod = "IPU-Link", switchml = "lossless" }
local u = {
    platform = ProtoField.string("weft_fabric.platform", "Platform"),
    flags = ProtoField.uint8("weft_fabric.flags", "Flags", base.HEX),
    last = ProtoField.bool("weft_fabric.last", "Last of its message", 8, nil, 0x01),
    damaged = ProtoField.bool("weft_fabric.damaged", "Damaged", 8, nil, 0x02),
    ack = ProtoField.bool("weft_fabric.ack", "Acknowledgement", 8, nil, 0x04),
    last_try = ProtoField.bool("weft_fabric.last_try", "Last try, over all paths", 8, nil, 0x08),
    second_die = ProtoField.bool("weft_fabric.second_die", "From the second IO die", 8, nil, 0x10),
    shortest = ProtoField.bool("weft_fabric.shortest_paths", "Keeps to shortest paths", 8, nil, 0x20),
    coprocessor = ProtoField.bool("weft_fabric.for_coprocessor", "For the coprocessor", 8, nil, 0x40),
    vl = ProtoField.uint8("weft_fabric.vl", "Virtual lane"),
    op = ProtoField.uint8("weft_fabric.write_op", "Write operation"),
    element = ProtoField.uint8("weft_fabric.element", "Element type"),
    port = ProtoField.uint8("weft_fabric.destination_port", "Port at the destination"),
    source = ProtoField.uint32("weft_fabric.source", "Source rank"),
    destination = ProtoField.uint32("weft_fabric.destination", "Destination rank"),
    message = ProtoField.uint32("weft_fabric.message", "Message"),
    semaphore = ProtoField.uint32("weft_fabric.semaphore", "Semaphore"),
    number = ProtoField.uint32("weft_fabric.psn", "Packet number"),
    count = ProtoField.uint32("weft_fabric.packets", "Packets of the train"),
    offset = ProtoField.uint64("weft_fabric.offset", "Offset at the destination", base.HEX),
    missing = ProtoField.uint32("weft_fabric.ack.missing", "First packet that is missing"),
    group = ProtoField.uint32("weft_fabric.ack.group", "Group"),
    arrived = ProtoField.uint64("weft_fabric.ack.arrived", "Arrived of the group", base.HEX),
    wire = ProtoField.uint32("weft_fabric.wire_bytes", "Bytes on the wire"),
    bytes = ProtoField.uint32("weft_fabric.payload_bytes", "Bytes of payload"),
    payload = ProtoField.bytes("weft_fabric.payload", "Payload"),
}
fabric.fields = u
local r = {
    ptr = ProtoField.uint8("weft_ub.route.ptr", "Pointer: hops gone"),
    bitmap = ProtoField.uint16("weft_ub.route.bitmap", "Source-routed hops", base.HEX),
    instruction = ProtoField.uint8("weft_ub.route.instruction", "Instruction", base.HEX),
    out_port = ProtoField.uint8("weft_ub.route.port", "Output port", base.DEC, nil, 0x7f),
    second_vl = ProtoField.bool("weft_ub.route.second_vl", "Second VL behind it", 8, nil, 0x80),
}
ub.fields = r

local function add_route(tree, route)
    local low = route(0, 2):le_uint()
    local bitmap = bits(low, 4, 12)
    local t = tree:add(ub, route, bitmap == 0 and "Source route: none, routed by tables" or "Source route")
    if bitmap == 0 then return end
    t:add(r.ptr, route(0, 1), bits(low, 0, 4))
    t:add(r.bitmap, route(0, 2), bitmap)
    local instruction = 0
    for hop = 0, 11 do
        if bits(bitmap, hop, 1) == 1 and instruction < 6 then
            local byte = route(2 + instruction, 1)
            local one = t:add(r.instruction, byte)
            one:append_text(string.format(" of hop %d%s", hop, hop == bits(low, 0, 4) and ", the next one" or ""))
            one:add(r.out_port, byte)
            one:add(r.second_vl, byte)
            instruction = instruction + 1
        end
    end
end

function fabric.dissector(buffer, packet, tree)
    if buffer:len() < 64 or buffer(0, 2):string() ~= "WF" or buffer(2, 1):uint() ~= 2 then return 0 end
    local platform = string.match(buffer(56, 8):string(), "^[%w_]*")
    packet.cols.protocol = fabrics[platform] or platform
    local t = tree:add(fabric, buffer())
    t:add(u.platform, buffer(56, 8), platform)
    local flags = t:add(u.flags, buffer(3, 1))
    for _, one in ipairs({ u.last, u.damaged, u.ack, u.last_try, u.second_die, u.shortest, u.coprocessor }) do flags:add(one, buffer(3, 1)) end
    local ack = bits(buffer(3, 1):uint(), 2, 1) == 1
    t:add(u.vl, buffer(4, 1))
    t:add(u.op, buffer(5, 1))
    t:add(u.element, buffer(6, 1))
    t:add(u.port, buffer(7, 1))
    t:add(u.source, buffer(8, 4))
    t:add(u.destination, buffer(12, 4))
    if ack then
        t:add(u.missing, buffer(24, 4))
        t:add(u.group, buffer(16, 4))
        t:add(u.arrived, buffer(32, 8))
    else
        t:add(u.message, buffer(16, 4))
        t:add(u.semaphore, buffer(20, 4))
        t:add(u.number, buffer(24, 4))
        t:add(u.offset, buffer(32, 8))
    end
    t:add(u.count, buffer(28, 4))
    t:add(u.wire, buffer(40, 4))
    t:add(u.bytes, buffer(44, 4))
    if platform == "ub_mesh" then add_route(t, buffer(48, 8)) end
    if buffer:len() > 64 then t:add(u.payload, buffer(64)) end
    packet.cols.src = "rank " .. buffer(8, 4):uint()
    packet.cols.dst = "rank " .. buffer(12, 4):uint()
    packet.cols.info = ack and string.format("acknowledges up to %d", buffer(24, 4):uint())
        or string.format("message %d, %d B in %d packets", buffer(16, 4):uint(), buffer(44, 4):uint(), buffer(28, 4):uint())
    return buffer:len()
end
DissectorTable.get("wtap_encap"):add(wtap_encaps and wtap_encaps.USER0 or wtap.USER0, fabric)
