"""A Slurm cluster of one machine: munged, slurmctld and slurmd in a folder of their own, on the loopback address."""

import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")
CPUS = 4  # jobs at a time, whatever the machine has
START_LIMIT_S = 30
END_LIMIT_S = 15

# No cgroups, no systemd and no accounting: it has to run in a container. Requeued jobs start again as soon as the
# credentials of their first start have expired.
CONFIGURATION = """\
ClusterName=normtune_test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=5 State=UP
"""


def program(name):
    """Daemons lie in sbin, which is not on every user's path."""
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/local/sbin:/usr/sbin:/sbin")


def missing_programs():
    return [name for name in DAEMONS + CLIENTS if program(name) is None]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Started on entering and ended, with all that it started, on leaving."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        store = str(self.folder / "winners.sqlite3")
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), NORMTUNE_STORE=store)
        self.processes = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self._end_jobs()
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(error, file=sys.stderr)
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _end_jobs(self):
        """Daemons that end leave jobs running: after a test that failed there may be some."""
        if len(self.processes) == len(DAEMONS):
            self.client("scancel", "--user", getpass.getuser())
            self.wait_until("all jobs have ended", lambda: not self.client("squeue", "-h").strip(), END_LIMIT_S)

    def _daemon(self, name, *arguments):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes.append(
                subprocess.Popen([program(name), *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            )

    def _start(self):
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, user=getpass.getuser(), folder=self.folder, ports=free_ports(2), cpus=CPUS)
        )
        files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "munge.seed"}
        self._daemon("munged", "--foreground", "--force", "--num-threads=2", *(f"--{name}={self.folder / file}" for name, file in files.items()))
        self.wait_until("munged listens", lambda: (self.folder / "munge.socket").exists(), START_LIMIT_S)
        self._daemon("slurmctld", "-D", "-i")
        self._daemon("slurmd", "-D", "-N", host)
        self.wait_until("the node is idle", lambda: self.client("sinfo", "-h", "-o", "%T").strip() == "idle", START_LIMIT_S)

    def client(self, name, *arguments):
        """What a Slurm command prints; empty where it fails, as it does while the daemons start."""
        done = subprocess.run(
            [program(name), *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
        )
        return done.stdout if done.returncode == 0 else ""

    def wait_until(self, what, holds, limit_s):
        end = time.monotonic() + limit_s
        while not holds():
            for process in self.processes:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args[0]} ended with exit code {process.returncode}, before {what}\n{self.logs()}")
            if time.monotonic() > end:
                raise RuntimeError(f"not within {limit_s} s: {what}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        lines = []
        for log in sorted(self.folder.rglob("*.log")):
            lines += [f"== {log.name}", *log.read_text(errors="replace").splitlines()[-25:]]
        return "\n".join(lines)
