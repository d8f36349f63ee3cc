import { readdirSync, readFileSync } from 'node:fs'

/** The data of Linux about a process at one moment. */
export interface ProcessSample {
  readonly residentBytes: number
  readonly handles: number
  /** Processor time so far. */
  readonly cpuSeconds: number
}

const TICKS_A_SECOND = 100

export function watch(pid: number): ProcessSample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // After the name, which may contain anything, user and system time are the 12th and 13th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    residentBytes: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND,
  }
}
