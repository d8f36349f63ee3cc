import type { Connection } from './connection.ts'
import { networkOf } from './network.ts'
import { RequestProblem } from './request.ts'

/** If an address exceeds its limit by more than this many connections, new connections are dropped without a response. */
const MAX_REFUSALS_PER_ADDRESS = 1_000
/** The unsent bytes of all clients are counted once a second, and after this many responses with unsent bytes. */
const UNSENT_RESPONSES_BETWEEN_CHECKS = 16

interface ConnectionLimits {
  readonly maxConnectionsPerAddress: number
  readonly maxUnsentBytes: number
}

interface Admission {
  /** The response to a connection above the limit of its address. */
  readonly refusal: RequestProblem | undefined
  /** Whether the connection is closed without a response. */
  readonly isDropped: boolean
}

/** The open connections of a listener. */
export class OpenConnections {
  readonly #limits: ConnectionLimits
  readonly #connections = new Set<Connection>()
  readonly #byNetwork = new Map<string, Set<Connection>>()
  readonly #closed: (() => void)[] = []
  #unsentResponses = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Makes room for a new connection of this address, or refuses it. */
  admit(address: string): Admission {
    const max = this.#limits.maxConnectionsPerAddress
    const excess = this.#makeRoom(networkOf(address))
    return {
      refusal: excess > 0 ? tooManyConnections(max) : undefined,
      isDropped: excess > MAX_REFUSALS_PER_ADDRESS,
    }
  }

  add(connection: Connection): void {
    const network = networkOf(connection.address)
    this.#connections.add(connection)
    this.#byNetwork.set(network, (this.#byNetwork.get(network) ?? new Set()).add(connection))
  }

  remove(connection: Connection): void {
    this.#connections.delete(connection)
    this.#removeFromNetwork(connection)
    if (this.#connections.size > 0) return
    for (const resolve of this.#closed.splice(0)) resolve()
  }

  load(): { readonly connections: number; readonly requests: number } {
    const connections = [...this.#connections]
    return { connections: connections.length, requests: connections.filter(({ isBusy }) => isBusy).length }
  }

  whenAllClosed(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#closed.push(resolve))
  }

  closeWhenAnswered(): void {
    for (const connection of this.#connections) connection.closeWhenAnswered()
  }

  onTick(): void {
    for (const connection of this.#connections) connection.onTick()
    this.#dropOldest()
  }

  onUnsentResponse(): void {
    this.#unsentResponses++
    if (this.#unsentResponses % UNSENT_RESPONSES_BETWEEN_CHECKS === 0) this.#dropOldest()
  }

  #removeFromNetwork(connection: Connection): void {
    const network = networkOf(connection.address)
    const sameNetwork = this.#byNetwork.get(network)
    sameNetwork?.delete(connection)
    if (sameNetwork?.size === 0) this.#byNetwork.delete(network)
  }

  /**
   * Makes room for a new connection by closing the oldest expendable connections of its network. Returns by how many
   * connections, including the new one, the network still exceeds its limit. Refused connections count until they close.
   */
  #makeRoom(network: string): number {
    const sameNetwork = this.#byNetwork.get(network) ?? new Set()
    let excess = sameNetwork.size + 1 - this.#limits.maxConnectionsPerAddress
    for (const connection of sameNetwork) {
      if (excess <= 0) break
      if (!connection.isExpendable) continue
      this.#removeFromNetwork(connection)
      connection.terminate()
      excess--
    }
    return Math.max(0, excess)
  }

  /**
   * Drops the clients whose responses are the oldest until the unsent buffers of the others are within the limit. So slow
   * clients make room for new ones. Shared buffers count once.
   */
  #dropOldest(): void {
    const newestFirst = [...this.#connections]
      .filter(({ writer }) => !writer.isDone)
      .sort((a, b) => b.latestResponse - a.latestResponse)
    const keptBuffers = new Set<ArrayBufferLike>()
    let keptBytes = 0
    for (const connection of newestFirst) {
      const newBuffers = connection.writer.collectUnsent().difference(keptBuffers)
      const newBytes = newBuffers.values().reduce((sum, { byteLength }) => sum + byteLength, 0)
      if (keptBytes + newBytes > this.#limits.maxUnsentBytes) connection.terminate()
      else {
        keptBytes += newBytes
        for (const buffer of newBuffers) keptBuffers.add(buffer)
      }
    }
  }
}

function tooManyConnections(max: number): RequestProblem {
  return new RequestProblem(
    'too_many_connections',
    `there are more than ${max} connections from this address; close some, or send several requests over one connection`,
  )
}
