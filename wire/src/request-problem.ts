/** What is wrong with a request on the wire, in words for the one who sent it. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/**
 * `too_large`: the body; `broken_off`: the rest of it never came; `timeout`: the request did not come in time;
 * `too_many_connections`: of one address.
 */
export type ProblemKind = 'malformed' | 'too_large' | 'broken_off' | 'timeout' | 'too_many_connections'

export function malformed(message: string): RequestProblem {
  return new RequestProblem('malformed', message)
}
