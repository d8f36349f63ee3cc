import { ServiceError } from '../core/errors.ts'
import { parseJson } from './json.ts'

export const MOST_BODY_BYTES = 64 * 1024
const MOST_NESTING = 64
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

/** Reads a JSON body, or says what is wrong with it. `example` shows callers what to send. */
export async function readJsonBody(request: Request, example: string): Promise<unknown> {
  const bytes = await readBytes(request)
  const howTo = `send a JSON object such as ${example} with Content-Type: application/json`
  if (bytes.length === 0) throw invalid(`the request body is missing; ${howTo}`)

  const mediaType = request.headers.get('content-type')
  if (mediaType === null || !JSON_MEDIA_TYPE.test(mediaType)) {
    const got = mediaType === null ? 'none' : JSON.stringify(mediaType.slice(0, 80))
    throw invalid(`Content-Type must be application/json, got ${got}`)
  }
  const coding = request.headers.get('content-encoding')
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

/** Stops at the limit, so that a body without Content-Length cannot fill the memory. */
async function readBytes(request: Request): Promise<Uint8Array> {
  const length = request.headers.get('content-length')
  if (Number(length ?? 0) > MOST_BODY_BYTES) throw tooLarge()
  // The parser holds a sender to the length he gave, so that what follows is for bodies of unknown length.
  if (length !== null) return new Uint8Array(await request.arrayBuffer())
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
