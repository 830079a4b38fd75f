"""Facts of the machine and of the folder that a run used, as they go into the results file."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def facts(workdir: Path) -> dict[str, Any]:
    """What a results file says of the machine, and of the file system of a folder."""
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": cores(),
        "memory": memory(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "filesystem": filesystem(workdir),
        "virtual": _virtual(),
        "huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int | None:
    """Bytes of main memory; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def filesystem(folder: Path) -> str | None:
    """The type of the file system that holds a folder: the mount with the longest matching path."""
    best, found = "", None
    target = str(folder.resolve())
    for line in (_read("/proc/mounts") or "").splitlines():
        _, where, kind, *_ = line.split()
        inside = target == where or target.startswith(where.rstrip("/") + "/")
        if inside and len(where) >= len(best):
            best, found = where, kind
    return found


def memory_folder() -> Path | None:
    """A folder on a memory file system, where there is one that can be written."""
    shm = Path("/dev/shm")
    return shm if shm.is_dir() and os.access(shm, os.W_OK) else None


def _processor() -> str:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _virtual() -> bool | None:
    text = _read("/proc/cpuinfo")
    return None if text is None else " hypervisor" in text


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
