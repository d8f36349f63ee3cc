import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const CHUNK = new Uint8Array(4096)

/** The service uses the disk up to its last byte. */
export const FILLED_TO_THE_END = { MIN_FREE_DISK_MEBIBYTES: '0' }

/**
 * Limits the size of files that the process writes (RLIMIT_FSIZE). Its writes really fail, as on a full disk,
 * without special permissions and on any Linux.
 */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

/** Lets the write-ahead log of a database grow by at most this many bytes. */
export function limitGrowth(pid: number, path: string, bytes: number): void {
  limitFileSize(pid, Math.max(statSync(`${path}-wal`).size, statSync(path).size) + Math.round(bytes))
}

/** Mounts a small file system on a folder. This needs permissions that not every machine grants. */
export function mountSmallDisk(folder: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
}

export function unmount(folder: string): void {
  // Lazily, because a killed process may not have released it yet.
  execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
}

export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-mount-'))
  try {
    mountSmallDisk(folder, 1)
    unmount(folder)
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Fills the disk of a folder to the last byte, or by `bytes`; `free` makes room again. */
export function fillDisk(folder: string, bytes = Number.POSITIVE_INFINITY): { free(): void } {
  const path = join(folder, 'filler')
  const file = openSync(path, 'w')
  try {
    for (let written = 0; written < bytes; written += CHUNK.length) writeSync(file, CHUNK)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(file)
  }
  return { free: () => unlinkSync(path) }
}
