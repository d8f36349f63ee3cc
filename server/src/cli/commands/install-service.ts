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
import { type Config, readConfig, SettingError } from '../../service/config.ts'
import { withoutPassword } from '../../store/opening.ts'
import type { ConfirmFlags, PetstoreCommand } from '../arguments.ts'
import { requireConfirmation } from '../terminal.ts'
import { serviceAddress } from './serve.ts'
import { completionScript, manPage } from './shell.ts'

/** A step of the installation. Steps are data, so that --dry-run can print exactly the steps that would run. */
export type Step =
  | { readonly type: 'run'; readonly command: readonly string[] }
  | { readonly type: 'copy'; readonly path: string; readonly mode: number; readonly from: string }
  | {
      readonly type: 'write'
      readonly path: string
      readonly mode: number
      readonly text: string
      /** Does not overwrite an existing file, because the operator may have edited it. */
      readonly keepExisting?: true
    }

export interface ServiceOptions {
  readonly executable: string
  readonly host: string
  readonly port: number
  readonly databaseUrl: string
  readonly hasUser: boolean
  /** Whether systemd is running. If not, the files are only written. */
  readonly hasSystemd: boolean
  /** Whether an installed socket listens on another address, so that it has to be restarted. */
  readonly movesSocket: boolean
  /** The manual page and the completion scripts. */
  readonly shellFiles: readonly { readonly path: string; readonly text: string }[]
}

const USER = 'petstore'
const DATA_FOLDER = '/var/lib/petstore'
const SOCKET_UNIT = '/etc/systemd/system/petstore.socket'
const PROGRAM = '/usr/local/bin/petstore'
const SETTINGS_FILE = '/etc/petstore/petstore.env'
const UNITS = ['petstore.socket', 'petstore.service']
/** Of longer files, --dry-run shows only the name. These are the manual page and the completion scripts. */
const MAX_SHOWN_LINES = 80

export function addInstallServiceCommand(program: PetstoreCommand): void {
  program
    .command('install-service')
    .description(
      'Install this program as a systemd service with its own user and minimal privileges. To upgrade the service, run this command of a newer program. Needs root.',
    )
    .option('--dry-run', 'show the files and commands, and change nothing')
    .confirmOption('installs')
    .settings('host', 'port', 'databaseUrl')
    .action((flags: ConfirmFlags & { readonly dryRun?: true }) => {
      const config = readConfig(flags, undefined, { databaseUrl: `sqlite:${DATA_FOLDER}/petstore.db` })
      const steps = planInstallation(program, config)
      if (flags.dryRun === true) console.log(steps.map(describeWithText).join('\n'))
      else install(config, steps, flags)
    })
}

function planInstallation(program: PetstoreCommand, config: Config): readonly Step[] {
  if (config.databaseUrl.includes("'")) {
    throw new SettingError("--database-url (DATABASE_URL) of a service must not contain '")
  }
  const share = '/usr/local/share'
  return installationSteps({
    ...config,
    executable: isExecutable() ? process.execPath : 'dist/petstore',
    hasUser: new RegExp(`^${USER}:`, 'm').test(readIfExists('/etc/passwd') ?? ''),
    hasSystemd: hasSystemd(),
    movesSocket: (readIfExists(SOCKET_UNIT) ?? socketUnit(config)) !== socketUnit(config),
    shellFiles: [
      { path: `${share}/man/man1/petstore.1`, text: manPage(program) },
      { path: `${share}/bash-completion/completions/petstore`, text: completionScript('bash', program) },
      { path: `${share}/zsh/site-functions/_petstore`, text: completionScript('zsh', program) },
      { path: `${share}/fish/vendor_completions.d/petstore.fish`, text: completionScript('fish', program) },
    ],
  })
}

function readIfExists(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** Whether this program is the output of `npm run build`, as opposed to the sources. */
function isExecutable(): boolean {
  return Bun.main.startsWith('/$bunfs/')
}

function hasSystemd(): boolean {
  return existsSync('/run/systemd/system')
}

function install(config: Config, steps: readonly Step[], flags: ConfirmFlags): void {
  if (!isExecutable()) {
    throw new Error(
      'these are the sources, not the executable; run "npm run build", then: dist/petstore install-service',
    )
  }
  if (process.getuid?.() !== 0) {
    throw new Error('only root can install a service: sudo petstore install-service')
  }
  console.error(steps.map(describe).join('\n'))
  requireConfirmation(flags, 'Run all of these steps?')
  for (const step of steps) runStep(step)
  console.log(
    hasSystemd()
      ? `petstore.service runs on ${serviceAddress(config, config.port)}`
      : 'systemd does not run here, so nothing was started; when it runs: systemctl enable --now petstore.socket petstore.service',
  )
  console.log(
    '\n  petstore-admin import - < pets.csv\n  petstore-admin keys create --name "My shop" --plan pro',
  )
}

function describe(step: Step): string {
  if (step.type === 'run') return `run    ${step.command.join(' ')}`
  const mode = step.mode.toString(8).padStart(4, '0')
  if (step.type === 'copy') return `copy   ${step.from} to ${step.path} (${mode})`
  return `write  ${step.path} (${mode})${step.keepExisting ? ', unless it exists' : ''}`
}

function describeWithText(step: Step): string {
  const lines = step.type === 'write' ? step.text.trimEnd().split('\n') : []
  if (lines.length > MAX_SHOWN_LINES) return describe(step)
  const hidePassword = (line: string) => (line.startsWith('DATABASE_URL=') ? withoutPassword(line) : line)
  return [describe(step), ...lines.map((line) => `    ${hidePassword(line)}`.trimEnd())].join('\n')
}

function runStep(step: Step): void {
  if (step.type === 'run') {
    const { exitCode } = Bun.spawnSync([...step.command], { stdout: 'inherit', stderr: 'inherit' })
    if (exitCode !== 0) throw new Error(`${step.command.join(' ')} failed; the earlier steps stay in effect`)
    return
  }
  const { path, mode } = step
  if (step.type === 'write' && step.keepExisting && existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  // Writes a new file and renames it: a running program cannot be overwritten, and a unit must never be incomplete.
  const temporary = `${path}.new`
  if (step.type === 'write') writeFileSync(temporary, step.text, { mode })
  else copyFileSync(step.from, temporary)
  chmodSync(temporary, mode)
  renameSync(temporary, path)
}

export function installationSteps(options: ServiceOptions): readonly Step[] {
  const { executable, hasUser, movesSocket, shellFiles } = options
  const run = (...command: string[]): Step => ({ type: 'run', command })
  const write = (path: string, mode: number, text: string): Step => ({ type: 'write', path, mode, text })
  const steps: Step[] = []
  if (!hasUser) {
    const home = ['--home-dir', DATA_FOLDER, '--no-create-home', '--shell', '/usr/sbin/nologin']
    steps.push(run('useradd', '--system', '--user-group', ...home, USER))
  }
  steps.push(run('install', '-d', '-o', USER, '-g', USER, '-m', '700', DATA_FOLDER))
  if (executable !== PROGRAM) steps.push({ type: 'copy', path: PROGRAM, mode: 0o755, from: executable })
  steps.push(
    { type: 'write', path: SETTINGS_FILE, mode: 0o640, text: settingsFile(options), keepExisting: true },
    run('chgrp', USER, SETTINGS_FILE),
    write('/usr/local/sbin/petstore-admin', 0o755, ADMIN_SCRIPT),
    write(SOCKET_UNIT, 0o644, socketUnit(options)),
    write('/etc/systemd/system/petstore.service', 0o644, serviceUnit(options)),
    ...shellFiles.map(({ path, text }) => write(path, 0o644, text)),
  )
  if (options.hasSystemd) {
    steps.push(run('systemctl', 'daemon-reload'))
    if (movesSocket) steps.push(run('systemctl', 'stop', ...UNITS))
    steps.push(run('systemctl', 'enable', ...UNITS), run('systemctl', 'restart', 'petstore.service'))
  }
  return steps
}

function settingsFile({ databaseUrl }: ServiceOptions): string {
  return `# Settings of petstore.service: see petstore serve --help. HOST and PORT are in its units.
# To apply changes: systemctl restart petstore
DATABASE_URL='${databaseUrl}'
LOG_FORMAT=json
`
}

/** Commands of root could create files that the service cannot open, so this script runs them as the user of the service. */
const ADMIN_SCRIPT = `#!/bin/sh
# Runs a petstore command as the user of the service, with the settings of the service.
set -a
. ${SETTINGS_FILE}
set +a
exec runuser -u ${USER} -- ${PROGRAM} "$@"
`

/** systemd also listens while the service restarts, so that connections wait instead of being refused. */
function socketUnit({ host, port }: Pick<ServiceOptions, 'host' | 'port'>): string {
  return `[Unit]
Description=Petstore Inventory socket

[Socket]
ListenStream=${host.includes(':') ? `[${host}]` : host}:${port}
NoDelay=true

[Install]
WantedBy=sockets.target
`
}

function serviceUnit({ host, port }: ServiceOptions): string {
  return `[Unit]
Description=Petstore Inventory
Documentation=man:petstore(1)
Requires=petstore.socket
After=petstore.socket network-online.target postgresql.service
Wants=network-online.target

[Service]
Type=exec
User=${USER}
Group=${USER}
EnvironmentFile=${SETTINGS_FILE}
# Must equal the address in petstore.socket. To change both: petstore install-service --host --port
Environment=HOST=${host} PORT=${port}
WorkingDirectory=${DATA_FOLDER}
ExecStart=${PROGRAM} serve
ExecStartPost=${PROGRAM} health --wait 60
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
Restart=always
RestartSec=1
# More than STOP_DELAY_SECONDS and STOP_GRACE_SECONDS together.
TimeoutStopSec=30
LimitNOFILE=65536

StateDirectory=petstore
StateDirectoryMode=0700
UMask=0077
ProtectSystem=strict
ProtectHome=true
PrivateTmp=true
PrivateDevices=true
DevicePolicy=closed
PrivateUsers=true
ProtectProc=invisible
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectKernelLogs=true
ProtectControlGroups=true
ProtectClock=true
ProtectHostname=true
NoNewPrivileges=true
CapabilityBoundingSet=
AmbientCapabilities=
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
RemoveIPC=true
LockPersonality=true
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# No MemoryDenyWriteExecute: the JavaScript engine compiles at run time.

[Install]
WantedBy=multi-user.target
`
}
