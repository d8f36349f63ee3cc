/** How long the other side may take. */
export interface Timeouts {
  /** Between an answer, or the opening, and the first byte of the next request. */
  readonly keepAliveSeconds: number
  /** To agree on TLS, and from the first byte of a request until all of it is here. */
  readonly requestTimeoutSeconds: number
  /** To take anything of what there is to send. */
  readonly writeTimeoutSeconds: number
}

/** What the other side has to do next. */
export type PeerTask = 'handshake' | 'begin_request' | 'finish_request' | 'read_answer' | 'close'

const CLOSE_TIMEOUT_SECONDS = 10

export function secondsForTasks(timeouts: Timeouts): Readonly<Record<PeerTask, number>> {
  return {
    handshake: timeouts.requestTimeoutSeconds,
    begin_request: timeouts.keepAliveSeconds,
    finish_request: timeouts.requestTimeoutSeconds,
    read_answer: timeouts.writeTimeoutSeconds,
    close: CLOSE_TIMEOUT_SECONDS,
  }
}
