import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { killProcessTree } from '../../server/test/support/kill-process-tree.ts'
import { runAs } from '../../server/test/support/postgres-server.ts'

/**
 * A shell runs the program, and this process holds the shell's standard input. When this process ends, for any
 * reason, the shell reads the end of its input, ends the program and the PostgreSQL that it started, and
 * removes its folder.
 */
const GUARDIAN = `
start() { "$@" >>"$folder/log" 2>&1 </dev/null & echo $! >"$folder/pid"; }
start "$@"
while read -r command; do start "$@"; done
kill -KILL "$(cat "$folder/pid")"
if postmaster=$(head -n 1 "$folder/data/postmaster.pid"); then
  kill -QUIT "$postmaster"
  while kill -0 "$postmaster"; do sleep 0.1; done
fi
rm -rf "$folder"
`

/** A program that ends with this process. It runs as an unprivileged user, and logs to `log` in its folder. */
export class GuardedProgram {
  readonly #folder: string
  readonly #guardian: ReturnType<typeof spawn>

  constructor(folder: string, command: readonly string[], env: Readonly<Record<string, string>>) {
    this.#folder = folder
    makeOwnedFolder(folder)
    this.#guardian = spawn('/bin/sh', ['-c', GUARDIAN, 'guardian', ...command], {
      ...runAs(),
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', HOME: folder, folder, ...env },
      cwd: folder,
      stdio: ['pipe', 'ignore', 'ignore'],
      // Ctrl-C must only reach this process; the shell notices by the end of its input.
      detached: true,
    })
    this.#guardian.unref()
  }

  startAgain(): void {
    this.#guardian.stdin?.write('start\n')
  }

  kill(): void {
    killProcessTree(Number(readFileSync(join(this.#folder, 'pid'), 'utf8')))
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#guardian.once('exit', resolve))
    this.#guardian.stdin?.end()
    await ended
  }
}

/** A folder of the unprivileged user. */
export function makeOwnedFolder(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const owner = runAs()
  if (owner === undefined) return
  chmodSync(folder, 0o755)
  chownSync(folder, owner.uid, owner.gid)
}
