import { readFileSync } from 'node:fs'

/** Kills a process and its children at once, like the loss of a machine. */
export function killProcessTree(pid: number): void {
  // While it is stopped, it starts no more children and does not notice that some are gone.
  signal(pid, 'SIGSTOP')
  for (const victim of [...childrenOf(pid), pid]) signal(victim, 'SIGKILL')
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  } catch {
    return []
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has already ended.
  }
}
