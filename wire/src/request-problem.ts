/** What is wrong with a request on the wire, in words for the one who sent it. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  /** `too_large`: the body; `broken_off`: the rest of it never came. */
  readonly kind: 'malformed' | 'too_large' | 'broken_off'

  constructor(kind: RequestProblem['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function malformed(message: string): RequestProblem {
  return new RequestProblem('malformed', message)
}
