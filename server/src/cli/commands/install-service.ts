import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { VERSION } from '../../core/values/version.ts'
import { type Config, readConfig, SettingError } from '../../service/config.ts'
import { withoutPassword } from '../../store/database-url.ts'
import { type AskingFlags, ask, requireAnswer } from '../asking.ts'
import { addressesOf } from '../banner.ts'
import { commandFacts } from '../command-facts.ts'
import { completionScript } from '../completion-scripts.ts'
import { manPage } from '../man-page.ts'
import { DATA_FOLDER, SOCKET_UNIT, type Step, servicePlan, socketUnit, USER } from '../service-plan.ts'
import { type SettingFlags, setting } from '../with-store.ts'

interface Flags extends SettingFlags, AskingFlags {
  readonly dryRun?: true
}

/** Longer ones are named and not shown: the manual page, and what completes commands. */
const MAX_SHOWN_LINES = 80

export function addInstallServiceCommand(program: Command): void {
  program
    .command('install-service')
    .description(
      'Make this program a service of systemd, with a user of its own and nothing that it does not need; again, with a newer program, to upgrade it. Needs root.',
    )
    .option('--dry-run', 'show what would be written and run')
    .option('--yes', 'do not ask')
    .addOption(setting('host'))
    .addOption(setting('port'))
    .addOption(setting('databaseUrl'))
    .action((flags: Flags) => installService(program, flags))
}

function installService(program: Command, flags: Flags): void {
  const config = readConfig(flags, undefined, { databaseUrl: `sqlite:${DATA_FOLDER}/petstore.db` })
  if (config.databaseUrl.includes("'")) {
    throw new SettingError("--database-url (DATABASE_URL) of a service must not have a ' in it")
  }
  const hasSystemd = existsSync('/run/systemd/system')
  const steps = servicePlan({
    ...config,
    executable: isExecutable() ? process.execPath : 'dist/petstore',
    hasUser: hasUser(),
    hasSystemd,
    moves: existsSync(SOCKET_UNIT) && readFileSync(SOCKET_UNIT, 'utf8') !== socketUnit(config),
    beside: filesBeside(program),
  })
  if (flags.dryRun) {
    console.log(steps.map(shown).join('\n'))
    return
  }
  requireAnswer(flags, 'installs')
  if (!isExecutable()) {
    throw new Error(
      'this is not the executable; make it with "npm run build", then: dist/petstore install-service',
    )
  }
  if (process.getuid?.() !== 0)
    throw new Error('only root can install a service: sudo petstore install-service')
  console.error(steps.map(titleOf).join('\n'))
  ask(flags, 'Do all of this?')
  for (const step of steps) carryOut(step)
  console.log(farewell(config, hasSystemd))
}

/** What `npm run build` makes; the sources run in Bun, which is no use without them. */
function isExecutable(): boolean {
  return Bun.main.startsWith('/$bunfs/')
}

/** Where the shells and man look for what a machine's administrator installed. */
function filesBeside(program: Command) {
  const facts = commandFacts(program)
  return [
    { path: '/usr/local/share/man/man1/petstore.1', text: manPage(facts, VERSION) },
    {
      path: '/usr/local/share/bash-completion/completions/petstore',
      text: completionScript('bash', facts),
    },
    { path: '/usr/local/share/zsh/site-functions/_petstore', text: completionScript('zsh', facts) },
    {
      path: '/usr/local/share/fish/vendor_completions.d/petstore.fish',
      text: completionScript('fish', facts),
    },
  ]
}

function hasUser(): boolean {
  return existsSync('/etc/passwd') && new RegExp(`^${USER}:`, 'm').test(readFileSync('/etc/passwd', 'utf8'))
}

function titleOf(step: Step): string {
  if ('run' in step) return `run    ${step.run.join(' ')}`
  const mode = step.mode.toString(8).padStart(4, '0')
  if ('copyOf' in step) return `copy   ${step.copyOf} to ${step.path} (${mode})`
  return `write  ${step.path} (${mode})${step.isSettings ? ', unless it is there' : ''}`
}

function shown(step: Step): string {
  const lines = 'text' in step ? step.text.trimEnd().split('\n') : []
  return [
    titleOf(step),
    ...(lines.length > MAX_SHOWN_LINES ? [] : lines.map((line) => `    ${hidden(line)}`.trimEnd())),
  ].join('\n')
}

function hidden(line: string): string {
  return line.startsWith('DATABASE_URL=') ? withoutPassword(line) : line
}

function carryOut(step: Step): void {
  if ('run' in step) {
    const { exitCode } = Bun.spawnSync([...step.run], { stdout: 'inherit', stderr: 'inherit' })
    if (exitCode !== 0) throw new Error(`${step.run.join(' ')} failed; what was done before stays`)
    return
  }
  const { path, mode } = step
  if ('text' in step && step.isSettings && existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  // In one step: a running program cannot be written over, and half a unit is none.
  const temporary = `${path}.new`
  if ('text' in step) writeFileSync(temporary, step.text, { mode })
  else copyFileSync(step.copyOf, temporary)
  chmodSync(temporary, mode)
  renameSync(temporary, path)
}

function farewell(config: Config, hasSystemd: boolean): string {
  const { address } = addressesOf(config, { port: config.port, metricsPort: undefined })
  return [
    hasSystemd
      ? `petstore.service runs, on ${address}`
      : 'systemd does not run here, so nothing was started; where it does: systemctl enable --now petstore.socket petstore.service',
    '',
    '  petstore-admin import - < pets.csv',
    '  petstore-admin keys create --name "My shop" --plan pro',
  ].join('\n')
}
