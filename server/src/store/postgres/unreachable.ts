import { connect, SQL } from 'bun'
import { inTime, UnusableHosts } from './failures.ts'
import { type Host, hostText } from './hosts.ts'

/** What the operating system says, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (the port is closed)',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ENOENT: 'there is no such socket',
  EACCES: 'the socket may not be used by this user',
}

/** Names each host and its problem. Bun itself reports no more than that it failed to connect. */
export async function unusableHosts(
  hosts: readonly Host[],
  errors: readonly unknown[],
  patienceMs: number,
): Promise<UnusableHosts> {
  const problems = await Promise.all(
    hosts.map(async (host, index) => {
      const error = errors[index]
      const reason = (await networkReason(host, error, patienceMs)) ?? messageOf(error)
      return hosts.length === 1 && hasAnswered(error) ? reason : `${hostText(host)}: ${reason}`
    }),
  )
  return new UnusableHosts(problems.join('; '), errors)
}

/** Whether it is the server that has refused. */
function hasAnswered(error: unknown): boolean {
  return !(error instanceof SQL.PostgresError) || error.errno !== undefined
}

/** `undefined` where a connection comes about. */
async function networkReason(host: Host, error: unknown, patienceMs: number): Promise<string | undefined> {
  if (hasAnswered(error)) return undefined
  const failure = await inTime(tryToConnect(host), patienceMs).catch((trouble: unknown) => trouble)
  if (failure === undefined) return undefined
  return REASONS[codeOf(failure)] ?? messageOf(failure)
}

async function tryToConnect(host: Host): Promise<void> {
  const socket = { data: () => {}, error: () => {}, connectError: () => {} }
  const connection = await ('path' in host
    ? connect({ unix: host.path, socket })
    : connect({ ...host, socket }))
  connection.end()
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
