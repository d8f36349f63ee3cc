/** One place where PostgreSQL may listen: a port of a host, or a socket in the file system. */
export type Host = { readonly hostname: string; readonly port: number } | { readonly path: string }

/** What an address says: where to look, in that order, and the rest of it. */
export interface Address {
  readonly hosts: readonly Host[]
  readonly username: string
  readonly password: string
  readonly database: string
  readonly parameters: URLSearchParams
}

const DEFAULT_PORT = '5432'
/** user:password@hosts, of which the last @ is the one that counts, as in every URL. */
const PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>.*)@)?(?<hosts>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/s

/**
 * Reads an address as libpq does: several hosts with commas between them, each with a port of its own, or one port for all;
 * a folder (/run/postgresql, as %2Frun%2Fpostgresql in the place of the host, or as ?host=) is where the socket is.
 */
export function readAddress(url: string): Address {
  const parts = PARTS.exec(url)?.groups
  if (parts === undefined) {
    throw new Error('DATABASE_URL must be like postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  }
  const parameters = new URLSearchParams(parts.query)
  const [username = '', ...password] = (parts.user ?? '').split(':')
  const attributes = parameters.get('target_session_attrs')
  if (attributes !== null && attributes !== 'read-write' && attributes !== 'primary') {
    throw new Error(
      `target_session_attrs in DATABASE_URL must be read-write or primary, as it always is here, got "${attributes}"`,
    )
  }
  return {
    hosts: readHosts(parts.hosts ?? '', parameters),
    username: decodeURIComponent(username) || 'postgres',
    password: decodeURIComponent(password.join(':')),
    database: decodeURIComponent(parts.database ?? '') || 'postgres',
    parameters,
  }
}

export function hostText(host: Host): string {
  if ('path' in host) return host.path
  return host.hostname.includes(':') ? `[${host.hostname}]:${host.port}` : `${host.hostname}:${host.port}`
}

function readHosts(text: string, parameters: URLSearchParams): Host[] {
  const given = parameters.get('host')
  const names = given === null ? text.split(',') : given.split(',')
  const ports = (parameters.get('port') ?? '').split(',')
  if (ports.length > 1 && ports.length !== names.length) {
    throw wrongList(`${names.length} hosts and ${ports.length} ports; give one port for all, or one for each`)
  }
  return names.map((name, index) => {
    if (name === '' && names.length > 1) throw wrongList(`host ${index + 1} of ${names.length} is empty`)
    return readHost(name, (ports.length === 1 ? ports[0] : ports[index]) || DEFAULT_PORT)
  })
}

function readHost(text: string, defaultPort: string): Host {
  const [, bracketed, plain = '', portText = defaultPort] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(text) ??
    refuse(`"${text}" is not a host; an IPv6 address stands in brackets: [::1]:5432`)
  const port = Number(portText || defaultPort)
  if (!/^\d*$/.test(portText) || port < 1 || port > 65_535) {
    throw wrongList(`the port of "${text}" must be a number from 1 to 65535, got "${portText}"`)
  }
  const hostname = bracketed ?? decodeURIComponent(plain)
  if (hostname.startsWith('/')) return { path: `${hostname.replace(/\/+$/, '')}/.s.PGSQL.${port}` }
  return { hostname: hostname || 'localhost', port }
}

function wrongList(reason: string): Error {
  return new Error(`the list of hosts in DATABASE_URL is wrong: ${reason}`)
}

function refuse(reason: string): never {
  throw wrongList(reason)
}
