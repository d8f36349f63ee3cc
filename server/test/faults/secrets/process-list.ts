import { readdirSync, readFileSync } from 'node:fs'

/** The command lines of a process and its descendants, as every user of the machine can read them. */
export function commandLinesOf(pid: number): string[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = read(`/proc/${name}/stat`)
    // The name of the program is in brackets, and may itself contain spaces and brackets.
    const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const isOurs = (one: number): boolean => {
    const parent = parents.get(one)
    return one === pid || (parent !== undefined && parent > 1 && isOurs(parent))
  }
  return [...parents.keys()].filter(isOurs).flatMap((one) => {
    const line = read(`/proc/${one}/cmdline`)
    return line === undefined ? [] : [line.replaceAll('\0', ' ')]
  })
}

/** A process may have ended meanwhile. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
