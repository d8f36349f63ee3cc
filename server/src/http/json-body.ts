import { ServiceError } from '../core/errors.ts'
import type { Eventually } from '../core/eventually.ts'
import { parseJson } from './json.ts'

export const MOST_BODY_BYTES = 64 * 1024
const MOST_NESTING = 64
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

/**
 * Reads a JSON body and goes on with it, or says what is wrong with it. `example` shows callers what to send.
 * One promise, and no chain of them: it is on the way of every update.
 */
export function readJsonBody<T>(
  request: Request,
  example: string,
  next: (value: unknown) => Eventually<T>,
): Promise<T> {
  return readBytes(request, (bytes) => next(jsonOf(request, bytes, example)))
}

function jsonOf({ headers }: Request, bytes: Uint8Array, example: string): unknown {
  const howTo = `send a JSON object such as ${example} with Content-Type: application/json`
  if (bytes.length === 0) throw invalid(`the request body is missing; ${howTo}`)

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
  if (nestsTooDeep(text)) throw invalid(`the request body nests deeper than ${MOST_NESTING} levels; ${howTo}`)
  try {
    return parseJson(text)
  } catch {
    throw invalid(`the request body is not valid JSON; ${howTo}`)
  }
}

function readBytes<T>(request: Request, next: (bytes: Uint8Array) => Eventually<T>): Promise<T> {
  const length = request.headers.get('content-length')
  // The parser holds a sender to the length he gave.
  if (length === null) return readChunks(request).then(next, brokenOff)
  // A length that is given twice, the same both times, Bun hands on as `5, 5`.
  if (Number.parseInt(length, 10) > MOST_BODY_BYTES) throw tooLarge()
  return request.arrayBuffer().then((buffer) => next(new Uint8Array(buffer)), brokenOff)
}

/** A sender who goes away or is too slow is no failure of ours, though he will hardly hear of it. */
function brokenOff(error: unknown): never {
  const isBrokenOff = error instanceof Error && error.name === 'AbortError'
  throw isBrokenOff ? invalid('the request body ended before it was whole; send it again') : error
}

/** For a body of unknown length: stops at the limit, so that it cannot fill the memory. */
async function readChunks(request: Request): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
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

function tooLarge(): ServiceError {
  return new ServiceError('payload_too_large', `the request body is larger than ${MOST_BODY_BYTES} bytes`)
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message)
}
