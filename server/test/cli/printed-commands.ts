import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROGRAM } from './petstore.ts'

const PAGE = readFileSync(new URL('../../../docs/backup.md', import.meta.url), 'utf8')

/** The command blocks in a section of docs/backup.md, exactly as printed. */
export function printedBlocks(heading: string, language: 'sh' | 'cron' | 'ini'): string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block]) => block ?? '',
  )
}

/** The text that cron passes to the shell: the variables, and the command of the one job. */
export function cronCommand(block: string): string {
  return block
    .replace(/^(\w+)=(.*)$/gm, "export $1='$2'")
    .replace(/^\S+ \S+ \S+ \S+ \S+ +/m, '')
    .replaceAll('\\%', '%')
}

/** The commands that systemd runs for a service of the package, for a shell. */
export function unitCommands(unit: string): string {
  const text = readFileSync(new URL(`../../../packaging/systemd/${unit}`, import.meta.url), 'utf8')
  const linesOf = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)
  return [...linesOf('Environment'), ...linesOf('ExecStart'), ...linesOf('ExecStartPost')]
    .join('\n')
    .replaceAll('%%', '%')
    .replaceAll('/usr/bin/petstore', 'petstore')
}

/** A machine for printed commands: `petstore` is on its path, and its /var is a temporary folder. */
export function openMachine() {
  const root = mkdtempSync(join(tmpdir(), 'petstore-printed-'))
  mkdirSync(join(root, 'bin'))
  mkdirSync(join(root, 'var', 'backups'), { recursive: true })
  const petstore = join(root, 'bin', 'petstore')
  writeFileSync(petstore, `#!/bin/sh\nexec ${PROGRAM.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(petstore, 0o755)
  const inRoot = (commands: string) => commands.replaceAll(/\/(?=(?:var|mnt|tmp)\/)/g, `${root}/`)
  /** The commands are a process group of their own. */
  const start = (commands: string, env: Readonly<Record<string, string>>) =>
    Bun.spawn(['/bin/sh', '-e', '-c', inRoot(commands)], {
      cwd: root,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      detached: true,
      env: { PATH: `${root}/bin:/usr/bin:/bin`, ...env },
    })
  return {
    root,
    start,
    run: async (commands: string, env: Readonly<Record<string, string>>) => {
      const program = start(commands, env)
      const [stdout, stderr] = await Promise.all([
        new Response(program.stdout).text(),
        new Response(program.stderr).text(),
      ])
      return { exitCode: await program.exited, stdout, stderr }
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  }
}
