// What makes the program a service of systemd: the files and the commands, as data that is shown or carried out.

export type Step =
  | {
      readonly path: string
      readonly mode: number
      readonly text: string
      /** Whether one that is there stays as it is: it is the operator's. */
      readonly isSettings?: true
    }
  | { readonly path: string; readonly mode: number; readonly copyOf: string }
  | { readonly run: readonly string[] }

export interface ServiceOptions {
  /** The program that is to be installed. */
  readonly executable: string
  readonly host: string
  readonly port: number
  readonly databaseUrl: string
  /** Whether the user of the service is there already. */
  readonly hasUser: boolean
  /** Whether systemd runs; else everything is written, for its next start. */
  readonly hasSystemd: boolean
  /** Whether the socket that is there listens elsewhere. */
  readonly moves: boolean
  /** The manual page and what completes commands, each with its path. */
  readonly beside: readonly { readonly path: string; readonly text: string }[]
}

export const USER = 'petstore'
export const DATA_FOLDER = '/var/lib/petstore'
export const SOCKET_UNIT = '/etc/systemd/system/petstore.socket'
const PROGRAM = '/usr/local/bin/petstore'
const SETTINGS = '/etc/petstore/petstore.env'
const UNITS = ['petstore.socket', 'petstore.service']

/** In their order. */
export function servicePlan(options: ServiceOptions): readonly Step[] {
  const { executable, hasUser, hasSystemd, moves, beside } = options
  const addUser = ['useradd', '--system', '--user-group', '--home-dir', DATA_FOLDER, '--no-create-home']
  const systemctl = (...words: string[]) => ({ run: ['systemctl', ...words] })
  return [
    ...(hasUser ? [] : [{ run: [...addUser, '--shell', '/usr/sbin/nologin', USER] }]),
    { run: ['install', '-d', '-o', USER, '-g', USER, '-m', '700', DATA_FOLDER] },
    ...(executable === PROGRAM ? [] : [{ path: PROGRAM, mode: 0o755, copyOf: executable }]),
    { path: SETTINGS, mode: 0o640, text: settingsFile(options), isSettings: true },
    { run: ['chgrp', USER, SETTINGS] },
    { path: '/usr/local/sbin/petstore-admin', mode: 0o755, text: ADMIN },
    { path: SOCKET_UNIT, mode: 0o644, text: socketUnit(options) },
    { path: '/etc/systemd/system/petstore.service', mode: 0o644, text: serviceUnit(options) },
    ...beside.map(({ path, text }) => ({ path, mode: 0o644, text })),
    ...(hasSystemd
      ? [
          systemctl('daemon-reload'),
          ...(moves ? [systemctl('stop', ...UNITS)] : []),
          systemctl('enable', ...UNITS),
          systemctl('restart', 'petstore.service'),
        ]
      : []),
  ]
}

function settingsFile({ databaseUrl }: ServiceOptions): string {
  return `# Settings of petstore.service: all that petstore serve --help lists, but for HOST and PORT, which its socket has.
# After a change: systemctl restart petstore
DATABASE_URL='${databaseUrl}'
LOG_FORMAT=json
`
}

/** Files that a command would leave behind as root's would keep the service out of its database. */
const ADMIN = `#!/bin/sh
# Runs a command of petstore as its service does: as its user, with its settings.
set -a
. ${SETTINGS}
set +a
exec runuser -u ${USER} -- ${PROGRAM} "$@"
`

/** What systemd listens on while the service restarts: connections wait instead of being refused. */
export function socketUnit({ host, port }: Pick<ServiceOptions, 'host' | 'port'>): string {
  return `[Unit]
Description=Petstore Inventory, where it listens

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
EnvironmentFile=${SETTINGS}
# As in petstore.socket; petstore install-service --host --port changes both.
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
# Not MemoryDenyWriteExecute: JavaScript is compiled while it runs.

[Install]
WantedBy=multi-user.target
`
}
