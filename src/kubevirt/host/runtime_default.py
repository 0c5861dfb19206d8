"""The calls that a container may make that says nothing of it: RuntimeDefault, like the common runtimes'.

What programs need is allowed by name. What changes the machine, and was left out for that, is refused as
if the right were missing, which it mostly is as well; a container that was given the capability may. All
else does not exist: programs that try a newer call first do without it.
"""

import errno
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from kubevirt.host.seccomp import ALLOW, Comparison, Profile, Rule, fails_with

_FILES: Final = """
    access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
    fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr
    flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents
    getdents64 getxattr inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl lchown
    lgetxattr link linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod
    mknodat name_to_handle_at newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64
    pwritev pwritev2 read readahead readlink readlinkat readv removexattr rename renameat renameat2 rmdir
    sendfile setxattr splice stat statfs statx symlink symlinkat sync sync_file_range syncfs tee truncate
    umask unlink unlinkat utime utimensat utimes vmsplice write writev fanotify_mark cachestat chroot
"""
_MEMORY: Final = """
    brk madvise memfd_create memfd_secret mincore mlock mlock2 mlockall mmap mprotect mremap msync munlock
    munlockall munmap pkey_alloc pkey_free pkey_mprotect process_madvise process_mrelease remap_file_pages
    map_shadow_stack
"""
_PROCESSES: Final = """
    arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue futex_wait
    futex_waitv futex_wake get_robust_list get_thread_area getcpu getegid geteuid getgid getgroups getpgid
    getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid
    ioprio_get ioprio_set kcmp kill membarrier modify_ldt pause pidfd_getfd pidfd_open pidfd_send_signal
    prctl prlimit64 process_vm_readv process_vm_writev ptrace restart_syscall rseq rt_sigaction
    rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
    rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
    sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid
    setfsuid setgid setgroups setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid
    setuid sigaltstack signalfd signalfd4 sysinfo tgkill tkill uname vfork wait4 waitid
    landlock_add_rule landlock_create_ruleset landlock_restrict_self
"""
_TALK: Final = """
    accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait
    eventfd eventfd2 getpeername getsockname getsockopt listen mq_getsetattr mq_notify mq_open
    mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd poll ppoll pselect6 recvfrom recvmmsg
    recvmsg select semctl semget semop semtimedop sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt
    shmget shutdown socketpair io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit
"""
_TIME: Final = """
    adjtimex alarm clock_adjtime clock_getres clock_gettime clock_nanosleep getitimer gettimeofday
    nanosleep setitimer time timer_create timer_delete timer_getoverrun timer_gettime timer_settime
    timerfd_create timerfd_gettime timerfd_settime times getrandom
"""
_ALLOWED: Final = f"{_FILES} {_MEMORY} {_PROCESSES} {_TALK} {_TIME}".split()

_BY_CAPABILITY: Final[Mapping[str, Collection[str]]] = {
    "BPF": ("bpf",),
    "DAC_READ_SEARCH": ("open_by_handle_at",),
    "PERFMON": ("perf_event_open",),
    "SYS_ADMIN": (
        *("bpf", "clone", "fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick", "mount"),
        *("lookup_dcookie", "mount_setattr", "move_mount", "open_tree", "perf_event_open", "setns"),
        *("pivot_root", "quotactl", "quotactl_fd", "setdomainname", "sethostname", "syslog"),
        *("umount2", "unshare"),
    ),
    "SYS_BOOT": ("reboot",),
    "SYS_MODULE": ("delete_module", "finit_module", "init_module"),
    "SYS_NICE": (
        *("get_mempolicy", "mbind", "migrate_pages", "move_pages", "set_mempolicy"),
        "set_mempolicy_home_node",
    ),
    "SYS_PACCT": ("acct",),
    "SYS_RAWIO": ("ioperm", "iopl"),
    "SYS_TIME": ("clock_settime", "settimeofday"),
    "SYS_TTY_CONFIG": ("vhangup",),
    "SYSLOG": ("syslog",),
}
_NEVER: Final = (
    *("add_key", "keyctl", "request_key"),  # keys know no namespaces
    *("kexec_file_load", "kexec_load", "swapoff", "swapon", "userfaultfd"),
)

_NAMESPACES: Final = (17, 25, 26, 27, 28, 29, 30)
"""Bits of the flags by which a process leaves its namespaces: CLONE_NEW…"""
_NEW_TIME: Final = 7
"""One more, which for clone is part of a signal's number."""
_AF_VSOCK: Final = 40
"""It leads to the hypervisor below this machine, whatever network a pod has."""
_PERSONALITIES: Final = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
_REFUSED: Final = fails_with(errno.EPERM)


def profile(capabilities: Collection[str]) -> Profile:
    """For a container that has these."""
    given = {call for name in capabilities for call in _BY_CAPABILITY.get(name, ())}
    known = {call for calls in _BY_CAPABILITY.values() for call in calls}
    return Profile(
        default=fails_with(errno.ENOSYS),
        rules=[
            Rule(names=_ALLOWED, action=ALLOW),
            Rule(names=sorted(given), action=ALLOW),
            Rule(names=sorted(known - given - _WITHOUT_NAMESPACES.keys()), action=_REFUSED),
            Rule(names=_NEVER, action=_REFUSED),
            *_SOME_OF_A_CALL,
            *(
                rule
                for call, bits in _WITHOUT_NAMESPACES.items()
                if call not in given
                for rule in _without(call, bits)
            ),
        ],
    )


_WITHOUT_NAMESPACES: Final = {"clone": _NAMESPACES, "unshare": (*_NAMESPACES, _NEW_TIME)}


def _without(call: str, bits: Collection[int]) -> Iterator[Rule]:
    """A call whose first argument has none of these."""
    mask = sum(1 << bit for bit in bits)
    yield _if(call, ALLOW, operator="masked-equal", value=mask)
    for bit in bits:
        yield _if(call, _REFUSED, operator="masked-equal", value=1 << bit, masked=1 << bit)


def _if(call: str, action: int, *, operator: str, value: int, masked: int = 0) -> Rule:
    first = Comparison(argument=0, operator=operator, value=value, masked=masked)
    return Rule(names=(call,), action=action, comparisons=[first])


_SOME_OF_A_CALL: Final = (
    *(_if("personality", ALLOW, operator="==", value=each) for each in _PERSONALITIES),
    _if("socket", ALLOW, operator="!=", value=_AF_VSOCK),
    _if("socket", fails_with(errno.EAFNOSUPPORT), operator="==", value=_AF_VSOCK),
)
