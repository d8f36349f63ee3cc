import type { HttpRequest } from '@petstore/wire'
import { RequestProblem } from '@petstore/wire'
import { ServiceError } from '../core/values/errors.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import { parseJson } from './json.ts'

const MOST_NESTING = 64
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

/** Reads a JSON body, or says what is wrong with it. `example` shows callers what to send. */
export function readJsonBody(request: HttpRequest, example: string): MaybePromise<unknown> {
  let body: MaybePromise<Uint8Array>
  try {
    body = request.body()
  } catch (error) {
    unreadable(error)
  }
  return body instanceof Promise
    ? body.then((bytes) => jsonOf(request, bytes, example), unreadable)
    : jsonOf(request, body, example)
}

function jsonOf({ headers }: HttpRequest, bytes: Uint8Array, example: string): unknown {
  if (bytes.length === 0) throw invalid(`the request body is missing; ${howTo(example)}`)

  const mediaType = headers.get('content-type')
  if (mediaType === null || !JSON_MEDIA_TYPE.test(mediaType)) {
    const got = mediaType === null ? 'none' : JSON.stringify(mediaType.slice(0, 80))
    throw invalid(`Content-Type must be application/json, got ${got}`)
  }
  const coding = headers.get('content-encoding')
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    throw invalid(
      `Content-Encoding ${JSON.stringify(coding.slice(0, 80))} is not supported; send the body uncompressed`,
    )
  }

  const text = decodeUtf8(bytes)
  if (nestsTooDeep(text)) {
    throw invalid(`the request body nests deeper than ${MOST_NESTING} levels; ${howTo(example)}`)
  }
  try {
    return parseJson(text)
  } catch {
    throw invalid(`the request body is not valid JSON; ${howTo(example)}`)
  }
}

function howTo(example: string): string {
  return `send a JSON object such as ${example} with Content-Type: application/json`
}

function unreadable(error: unknown): never {
  if (!(error instanceof RequestProblem)) throw error
  throw new ServiceError(error.kind === 'too_large' ? 'payload_too_large' : 'invalid_request', error.message)
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw invalid('the request body is not valid UTF-8; JSON is sent as UTF-8')
  }
}

/** Looked at before parsing, since a parser that recurses could run out of stack. */
function nestsTooDeep(text: string): boolean {
  if (text.length <= MOST_NESTING) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') {
      if (++depth > MOST_NESTING) return true
    } else if (character === '}' || character === ']') depth--
  }
  return false
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message)
}
