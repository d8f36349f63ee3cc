import { readdirSync, readFileSync } from 'node:fs'

export interface OpenFiles {
  readonly open: number
  /** `undefined` where there is no limit. */
  readonly max: number | undefined
}

/**
 * How many files this process has open. Bun does not tell how many connections it holds, and an idle one, or one whose
 * request never comes, is seen nowhere else. `undefined` where there is no /proc.
 */
export function openFiles(): OpenFiles | undefined {
  try {
    const max = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return {
      // Less the one that reads the folder.
      open: readdirSync('/proc/self/fd').length - 1,
      max: max === undefined ? undefined : Number(max),
    }
  } catch {
    return undefined
  }
}
