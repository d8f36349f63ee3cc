import type { Answer } from './answer.ts'
import type { HttpRequest, MaybePromise } from './request.ts'
import type { RequestProblem } from './request-problem.ts'

/** Answers requests; never throws or rejects. */
export interface Handler {
  answer(request: HttpRequest): MaybePromise<Answer>
  /** For what is no request, did not come in time, or comes over one connection too many. The connection is closed after it. */
  refuse(problem: RequestProblem, address: string): MaybePromise<Answer>
}
