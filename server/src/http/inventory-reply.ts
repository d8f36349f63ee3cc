import type { InventorySnapshot } from '../core/inventory-pages.ts'
import { chosenCoding } from './accept-encoding.ts'
import { type Coding, compressed } from './compressed-parts.ts'
import { matchesTag } from './conditional.ts'
import type { Reply } from './reply.ts'

/** Below this, the compressed form saves less than a packet. */
const LEAST_BYTES_TO_COMPRESS = 1_400
/**
 * Up to this, a body is kept whole and written at once. Above it, parts are streamed: readers share them, and a slow
 * one holds on to no more than the parts that changed since it began.
 */
const MOST_BYTES_AT_ONCE = 1024 * 1024

/** Whole bodies, kept as long as the snapshot that they are made of. */
const wholeBodies = new WeakMap<InventorySnapshot, Map<Coding | 'identity', Blob>>()

/** The list as an answer: from ready bytes, compressed where the caller takes it, 304 where he has it. */
export function inventoryReply(snapshot: InventorySnapshot, request: Request): Reply {
  const { tag, byteLength } = snapshot
  const ifNoneMatch = request.headers.get('if-none-match')
  const coding =
    byteLength < LEAST_BYTES_TO_COMPRESS ? undefined : chosenCoding(request.headers.get('accept-encoding'))
  // The content decides the tag; each coding of it is a representation of its own (RFC 9110, 8.8.3).
  const etag = coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`
  if (matchesTag(ifNoneMatch, `"${tag}"`, `"${tag}-gzip"`, `"${tag}-zstd"`)) {
    return { status: 304, headers: { ETag: etag, Vary: 'Accept-Encoding' }, body: null }
  }
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json',
      ETag: etag,
      Vary: 'Accept-Encoding',
      ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
    },
    body: byteLength > MOST_BYTES_AT_ONCE ? streamed(snapshot, coding) : wholeBody(snapshot, coding),
  }
}

function wholeBody(snapshot: InventorySnapshot, coding: Coding | undefined): Blob {
  let bodies = wholeBodies.get(snapshot)
  if (bodies === undefined) {
    bodies = new Map()
    wholeBodies.set(snapshot, bodies)
  }
  let body = bodies.get(coding ?? 'identity')
  if (body === undefined) {
    // A Blob is handed to the socket as it is; a byte array would be copied for every response.
    // No part is shared memory, which a browser's Blob does not take: for the types of the web tests alone.
    body = new Blob([...partsOf(snapshot, coding)] as Uint8Array<ArrayBuffer>[])
    bodies.set(coding ?? 'identity', body)
  }
  return body
}

function streamed(snapshot: InventorySnapshot, coding: Coding | undefined): ReadableStream<Uint8Array> {
  const parts = partsOf(snapshot, coding)[Symbol.iterator]()
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}

function partsOf({ parts }: InventorySnapshot, coding: Coding | undefined): Iterable<Uint8Array> {
  return coding === undefined ? parts : compressed(parts, coding)
}
