// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft sweep --engine slurm` with a real Slurm: controller, node and munge of Debian's slurm-wlm, on loopback, in a folder of the test. For a
// night: it needs root and free ports.
#include "testbenches/issues/program.h"
#include "testbenches/issues/started_program.h"

#include <algorithm>
#include <cstdlib>

using namespace weft::testing;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

bool is_there(const char* program)
{
    return std::system(fmt::format("command -v {} > /dev/null 2>&1", program).c_str()) == 0;
}

/// One node; ends with this object.
class small_cluster {
public:
    explicit small_cluster(const temporary_folder& folder) : dir_((folder / "slurm").string())
    {
        folder.write(
            "slurm/start.sh",
            "set -e\ncd " + dir_ +
                "\nmkdir -p m state spool && chmod 700 m && head -c 1024 /dev/urandom > m/key && chmod 600 m/key\n"
                "host=$(hostname -s)\ncat > slurm.conf << END\nClusterName=weft\nSlurmctldHost=$host(127.0.0.1)\nAuthType=auth/munge\nAuthInfo=socket=$PWD/m/socket\n"
                "SlurmUser=root\nSlurmdUser=root\nStateSaveLocation=$PWD/state\nSlurmdSpoolDir=$PWD/spool\nSlurmctldPidFile=$PWD/slurmctld.pid\n"
                "SlurmdPidFile=$PWD/slurmd.pid\nSlurmctldLogFile=$PWD/slurmctld.log\nSlurmdLogFile=$PWD/slurmd.log\nSlurmctldPort=16917\nSlurmdPort=16918\n"
                "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nMpiDefault=none\n"
                "NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN\nPartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP\nEND\n"
                "munged --force --key-file=$PWD/m/key --socket=$PWD/m/socket --pid-file=$PWD/munged.pid --log-file=$PWD/m/log --seed-file=$PWD/m/seed\n"
                "slurmctld -f $PWD/slurm.conf\nslurmd -f $PWD/slurm.conf\n"
                "for i in $(seq 60); do [ \"$(sinfo -h -o %T)\" = idle ] && exit 0; sleep 1; done\nexit 1\n");
        ::setenv("SLURM_CONF", (dir_ + "/slurm.conf").c_str(), 1);
        is_up_ = std::system(("sh " + dir_ + "/start.sh > " + dir_ + "/start.log 2>&1").c_str()) == 0;
    }
    ~small_cluster()
    {
        for (const char* daemon : {"slurmd", "slurmctld", "munged"}) // those of this object alone
            static_cast<void>(
                std::system(fmt::format("[ ! -s {0}/{1}.pid ] || kill $(cat {0}/{1}.pid)", dir_, daemon).c_str()));
        static_cast<void>(std::system("sleep 1"));
        ::unsetenv("SLURM_CONF");
    }
    small_cluster(const small_cluster&) = delete;
    small_cluster& operator=(const small_cluster&) = delete;
    bool is_up() const { return is_up_; }

private:
    std::string dir_;
    bool is_up_ = false;
};

/// In front of all programs: sbatch, squeue and scancel, which talk as plugins of sites make them, and run tasks at once.
class talking_slurm {
public:
    explicit talking_slurm(const temporary_folder& folder) : former_(std::getenv("PATH"))
    {
        const auto program = [&](const std::string& name, const std::string& text) {
            folder.write("bin/" + name, "#!/bin/sh\n" + text);
            fs::permissions(folder / ("bin/" + name), fs::perms::owner_all);
        };
        const std::string dir = (folder / "bin").string();
        program("sbatch",
                "echo 'sbatch: info: account 2026 is charged' >&2\necho 'Budget 17; well used'\n"
                "for option; do script=$option; case $option in --array=0-*) last=${option#--array=0-};; esac; done\n"
                "(i=0; while [ $i -le $last ]; do SLURM_ARRAY_TASK_ID=$i sh $script; i=$((i + 1)); done; rm " + dir + "/queue) > /dev/null 2>&1 &\n"
                "echo 417_0 > " + dir + "/queue\necho '417;site'\n");
        program("squeue", "echo 'squeue: warning: the controller is slow' >&2\ncat " + dir + "/queue 2> /dev/null || true\n");
        program("scancel", "exit 0\n");
        ::setenv("PATH", (dir + ":" + former_).c_str(), 1);
    }
    ~talking_slurm() { ::setenv("PATH", former_.c_str(), 1); }
    talking_slurm(const talking_slurm&) = delete;
    talking_slurm& operator=(const talking_slurm&) = delete;

private:
    std::string former_;
};

} // namespace

TEST_CASE("sweep: what plugins of Slurm say is not taken for its answer")
{
    const program_folder folder;
    const talking_slurm slurm(folder);
    folder.write("a.yaml", "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}]\n");
    folder.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid:\n  mesh.rows: [2, 3]\n");
    CHECK(folder.weft("sweep s.yaml --engine slurm") == 0);
    const std::string err = folder.read("stderr");
    CHECK_THAT(err, Contains("Slurm job 417: 2 points in 2 tasks"));
    CHECK_THAT(err, Contains("mesh.rows=2: 1 result in ") && Contains("mesh.rows=3: 1 result in "));
    // The queue is empty, whatever squeue says beside that, and a point is missing.
    fs::remove_all(folder / "out");
    folder.write("bin/squeue", "#!/bin/sh\necho 'squeue: warning: the controller is slow' >&2\n");
    folder.write("bin/sbatch", "#!/bin/sh\necho 417\n");
    CHECK(folder.weft("sweep s.yaml --engine slurm") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("Slurm job 417 ended without it"));
    folder.write("bin/sbatch", "#!/bin/sh\necho 'sbatch: error: no partition 17'\nexit 1\n");
    CHECK(folder.weft("sweep s.yaml --engine slurm") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("sbatch refuses the array: sbatch: error: no partition 17"));
}

TEST_CASE("tune: a Slurm array makes the table of this host")
{
    const program_folder folder;
    const talking_slurm slurm(folder);
    folder.write("a b.yaml", "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_reduce, chunk: 2 KiB, sizes: [4 KiB]}]\n");
    const std::string tune = "tune 'a b.yaml' --sizes 4B..64KiB,1000B --factor 16 --algorithms ring_1d,two_d --set 'ici.link_rate=50 GB/s' --seed 3 ";
    REQUIRE(folder.weft(tune + "--quiet --out here") == 0);
    const int code = folder.weft(tune + "--out there --engine slurm");
    const std::string said = folder.read("stderr");
    INFO(said);
    REQUIRE(code == 0);
    CHECK_THAT(said, Contains("Slurm job 417: 12 points in 12 tasks") && Contains("all_reduce by ring_1d, 4 B: "));
    const auto table_of = [&](const std::string& dir) { // but for the command that made it
        const std::string text = folder.read(dir + "/tuning.yaml");
        return text.substr(text.find("\nmachine:"));
    };
    CHECK(table_of("there") == table_of("here"));
    CHECK(folder.read("there/all_reduce.svg") == folder.read("here/all_reduce.svg"));
    CHECK(folder.weft(tune + "--out there --engine slurm") == 0); // nothing is left to be submitted
    CHECK_FALSE(has(folder.read("stderr"), "Slurm job"));
    // A point that does not end is told with its reason.
    CHECK(folder.weft(tune + "--out late --engine slurm --set 'time_limit=10 us'") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("all_reduce by ring_1d, 64 KiB: failed: ") && Contains("time_limit"));
    CHECK(folder.weft(tune + "--sbatch --partition=long") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("--sbatch: is for --engine slurm"));
    CHECK(folder.weft(tune + "--engine slurm --memory '1 GiB'") == 2);
    CHECK(folder.weft(tune + "--memory nothing") == 2);
}

TEST_CASE("sweep: a Slurm array gives the results of this host", "[slow]")
{
    if (::geteuid() != 0 || !is_there("slurmctld") || !is_there("slurmd") || !is_there("munged") ||
        !is_there("sbatch")) {
        WARN("skipped: it needs root and Debian's slurm-wlm and munge, of which some are not installed");
        return;
    }
    const program_folder folder;
    const small_cluster cluster(folder);
    INFO(folder.read("slurm/start.log") << folder.read("slurm/slurmctld.log") << folder.read("slurm/slurmd.log"));
    REQUIRE(cluster.is_up());
    folder.write(
        "a b.yaml",
        "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_reduce, algorithms: [ring_1d, two_d], sizes: [4 KiB, 64 KiB]}]\n");
    folder.write(
        "s.yaml",
        "sweep: {platform: a b.yaml, out: local}\ngrid:\n  mesh.rows: [2, 3]\n  time_limit: [1 s, 1 us, 2 s]\n");
    CHECK(folder.weft("sweep s.yaml --quiet") == 1); // points of 1 us fail
    CHECK(folder.weft("sweep s.yaml --engine slurm --out there") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("6 points in 6 tasks") && Contains("time_limit=1 us: failed: "));
    CHECK_THAT(folder.read("stdout"), Contains("4 of 6 are done, 2 are failed"));
    const auto without_host = [](const std::string& csv) { // one field, without commas in those before it
        const auto heading_end = csv.begin() + static_cast<std::ptrdiff_t>(csv.find(",host (s),"));
        REQUIRE(heading_end < csv.end());
        const auto fields_before = std::count(csv.begin(), heading_end, ',') + 1;
        std::string out;
        std::istringstream lines(csv);
        for (std::string line; std::getline(lines, line);) {
            std::size_t from = 0;
            for (std::ptrdiff_t field = 0; field < fields_before; ++field)
                from = line.find(',', from) + 1;
            out += line.substr(0, from) + line.substr(line.find(',', from)) + "\n";
        }
        return out;
    };
    CHECK_FALSE(has(without_host(folder.read("local/sweep.csv")), "host (s)"));
    CHECK(without_host(folder.read("local/sweep.csv")) == without_host(folder.read("there/sweep.csv")));
    CHECK(folder.read("local/sweep.html") == folder.read("there/sweep.html"));
    CHECK(folder.weft("compare local there --tolerance 0") == 0);
    // What is finished here is not run there, and the other way round.
    CHECK(folder.weft("sweep s.yaml --out there --set time_limit=1s") == 2);
    CHECK(folder.weft("sweep s.yaml --engine slurm") == 1);
    CHECK_THAT(folder.read("stderr"),
               Contains("6 points, 4 done by earlier calls; 2 to run") && Contains("2 points in 2 tasks"));
    // Slurm's own refusal is told.
    CHECK(folder.weft("sweep s.yaml --engine slurm --sbatch --partition=nowhere") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("The sweep stops: ") &&
                                          Contains("--engine slurm: sbatch refuses the array: ") &&
                                          Contains("partition"));
    // Ctrl-C takes the array out of the queue.
    started_program sweep;
    sweep.write(
        "a.yaml",
        "platform: tpu_v3\nname: mesh\ndata: off\nburst: 1 packet\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 4 GiB]}]\n");
    sweep.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid: {mesh.rows: [2]}\n");
    // A point that takes too long keeps what it had finished.
    sweep.start({"sweep", "s.yaml", "--engine", "slurm", "--timeout", "5", "--out", "late"});
    CHECK(sweep.finish() == 1);
    CHECK_THAT(sweep.err(), Contains("failed: did not end in 5 s of host time; 1 result that had ended before is kept."));
    // So does one that runs when the sweep is stopped.
    sweep.start({"sweep", "s.yaml", "--engine", "slurm"});
    sweep.until([&] { return has(sweep.err(), "Slurm job ") || sweep.ended(); });
    static_cast<void>(std::system("sleep 6"));
    sweep.signal(SIGINT);
    CHECK(sweep.finish() == 130);
    CHECK_THAT(sweep.err(), Contains("0 of 1 points are finished") && Contains("  unfinished 0: mesh.rows=2: stopped at") &&
                                Contains("1 result that had ended before is kept."));
    for (int waits = 0; waits < 30 && std::system("test -n \"$(squeue -h)\"") == 0; ++waits)
        static_cast<void>(std::system("sleep 1"));
    CHECK(std::system("test -z \"$(squeue -h)\"") == 0);
}
