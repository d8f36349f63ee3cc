import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type AnswerBody, type HttpRequest, headerLines } from '@petstore/wire'
import Type from 'typebox'
import type { InventorySnapshot } from '../../core/stock/view/inventory-pages.ts'
import { defineOperation } from '../operation.ts'
import type { Reply } from '../reply.ts'
import { chosenCoding, entityTag, matchedTag } from '../representation.ts'
import { InventoryItem } from '../resources.ts'

type Coding = 'gzip' | 'zstd'

/** Compressing a smaller body saves less than a packet. */
const MIN_BYTES_TO_COMPRESS = 1_400
/**
 * Up to this size, a body is one buffer. Larger bodies are streamed in parts that clients share, so a slow client only
 * keeps parts in memory that have changed since.
 */
const MAX_WHOLE_BYTES = 1024 * 1024
/** In order of preference. */
const CODINGS: readonly Coding[] = ['zstd', 'gzip']
/** Compressed parts can be joined with zstd, but not with gzip, whose checksum covers the whole body. */
const PART_CODINGS: readonly Coding[] = ['zstd']
const Vary = 'Accept-Encoding'

/** Replies that are reused for as long as the snapshot exists. */
interface CachedReplies {
  /** The ETag of each coding. */
  readonly tags: readonly string[]
  readonly full: Map<Coding | undefined, Reply>
  /** 304 replies by ETag. */
  readonly notModified: Map<string, Reply>
}
const cacheBySnapshot = new WeakMap<InventorySnapshot, CachedReplies>()
/** Compressed parts, cached for as long as their source exists. */
const compressedParts = new WeakMap<Uint8Array, Uint8Array>()

export const listInventory = defineOperation({
  operationId: 'listInventory',
  method: 'GET',
  path: '/inventory',
  summary: 'List stock levels',
  description: 'Returns the current stock levels for all pets in the store, by petId ascending.',
  tag: 'inventory',
  stability: 'stable',
  success: { description: 'The stock level of every pet.', schema: Type.Array(InventoryItem) },
  errors: [],
  prepare: (_, { view }) => view.current(),
  reply: ({ request }, _, snapshot) => inventoryReply(snapshot, request),
})

function inventoryReply(snapshot: InventorySnapshot, { headers }: HttpRequest): Reply {
  const { byteLength } = snapshot
  const { tags, full, notModified } = cachedReplies(snapshot)
  // A cache finds the right copy by the ETag of a 304 (RFC 9111, 4.3.4), so it is the one that the caller sent.
  const ETag = matchedTag(headers.get('if-none-match'), tags)
  if (ETag !== undefined)
    return cached(notModified, ETag, () => ({ status: 304, headers: { ETag, Vary }, body: null }))
  const isWhole = byteLength <= MAX_WHOLE_BYTES
  const coding =
    byteLength < MIN_BYTES_TO_COMPRESS
      ? undefined
      : chosenCoding(isWhole ? CODINGS : PART_CODINGS, headers.get('accept-encoding'))
  return isWhole
    ? cached(full, coding, () => listReply(snapshot, coding, wholeBody(snapshot, coding)))
    : listReply(snapshot, coding, coding === undefined ? snapshot.parts : zstdParts(snapshot.parts))
}

function listReply({ tag }: InventorySnapshot, coding: Coding | undefined, body: Reply['body']): Reply {
  const headers = {
    'Content-Type': 'application/json',
    ETag: entityTag(tag, coding),
    Vary,
    ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
  }
  return { status: 200, headers, body }
}

function wholeBody({ parts }: InventorySnapshot, coding: Coding | undefined): Uint8Array {
  if (coding === 'zstd') return Buffer.concat([...zstdBody(parts)])
  const bytes = Buffer.concat(parts)
  // The list is compressed again after each change, so speed matters more than size.
  return coding === 'gzip' ? gzipSync(bytes, { level: 1 }) : bytes
}

/** Several zstd frames form one body (RFC 8878, 3). Each is made when it is sent, so a large list does not block others. */
function* zstdBody(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of parts) {
    let compressed = compressedParts.get(part)
    if (compressed === undefined) {
      compressed = zstdCompressSync(part)
      compressedParts.set(part, compressed)
    }
    yield compressed
  }
}

function zstdParts(parts: readonly Uint8Array[]): AnswerBody {
  return { madeOf: parts, [Symbol.iterator]: () => zstdBody(parts) }
}

function cachedReplies(snapshot: InventorySnapshot): CachedReplies {
  let found = cacheBySnapshot.get(snapshot)
  if (found === undefined) {
    const tags = [undefined, ...CODINGS].map((coding) => entityTag(snapshot.tag, coding))
    found = { tags, full: new Map(), notModified: new Map() }
    cacheBySnapshot.set(snapshot, found)
  }
  return found
}

function cached<Key>(replies: Map<Key, Reply>, key: Key, make: () => Reply): Reply {
  let reply = replies.get(key)
  if (reply === undefined) {
    const made = make()
    reply = { ...made, lines: headerLines(made.headers) }
    replies.set(key, reply)
  }
  return reply
}
