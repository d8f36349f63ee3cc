import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type AnswerBody, type HttpRequest, headerLines } from '@petstore/wire'
import Type from 'typebox'
import type { InventorySnapshot } from '../../core/stock/view/inventory-pages.ts'
import { defineOperation } from '../operation.ts'
import type { Reply } from '../reply.ts'
import { chosenCoding, entityTag, matchedTag } from '../representation.ts'
import { InventoryItem } from '../resources.ts'

type Coding = 'gzip' | 'zstd'

/** Below this, the compressed form saves less than a packet. */
const MIN_BYTES_TO_COMPRESS = 1_400
/**
 * Up to this, a body is kept whole and written at once. Above it, parts are streamed: readers share them, and a slow
 * one holds on to no more than the parts that changed since it began.
 */
const MAX_WHOLE_BYTES = 1024 * 1024
/** The better one first. */
const CODINGS: readonly Coding[] = ['zstd', 'gzip']
/** Compressed parts of zstd can be joined; those of gzip cannot, since its checksum is of the whole. */
const CODINGS_OF_PARTS: readonly Coding[] = ['zstd']
const Vary = 'Accept-Encoding'

/** What is wanted again and again, kept as long as the snapshot that it is made of. */
interface Kept {
  /** Those of all its codings. */
  readonly tags: readonly string[]
  readonly whole: Map<Coding | undefined, Reply>
  /** By the tag that the caller has. */
  readonly unchanged: Map<string, Reply>
}
const keptBySnapshot = new WeakMap<InventorySnapshot, Kept>()
/** A compressed part is kept as long as the part that it was made of. */
const zstdParts = new WeakMap<Uint8Array, Uint8Array>()

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

/** The list as an answer: from ready bytes, compressed where the caller takes it, 304 where he has it. */
function inventoryReply(snapshot: InventorySnapshot, { headers }: HttpRequest): Reply {
  const { byteLength } = snapshot
  const { tags, whole, unchanged } = keptOf(snapshot)
  // By the tag of a 304 a cache finds which of its copies is meant (RFC 9111, 4.3.4): it is the one that was named.
  const ETag = matchedTag(headers.get('if-none-match'), tags)
  if (ETag !== undefined)
    return kept(unchanged, ETag, () => ({ status: 304, headers: { ETag, Vary }, body: null }))
  const isWhole = byteLength <= MAX_WHOLE_BYTES
  const coding =
    byteLength < MIN_BYTES_TO_COMPRESS
      ? undefined
      : chosenCoding(isWhole ? CODINGS : CODINGS_OF_PARTS, headers.get('accept-encoding'))
  return isWhole
    ? kept(whole, coding, () => listReply(snapshot, coding, wholeBody(snapshot, coding)))
    : listReply(snapshot, coding, coding === undefined ? snapshot.parts : zstdLater(snapshot.parts))
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
  // A list is compressed anew after each change, so quickly counts for more than small.
  return coding === 'gzip' ? gzipSync(bytes, { level: 1 }) : bytes
}

/**
 * Several zstd frames one after the other are one body (RFC 8878, 3). They are made one by one, so that a large list
 * does not hold up others.
 */
function* zstdBody(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of parts) {
    let compressed = zstdParts.get(part)
    if (compressed === undefined) {
      compressed = zstdCompressSync(part)
      zstdParts.set(part, compressed)
    }
    yield compressed
  }
}

function zstdLater(parts: readonly Uint8Array[]): AnswerBody {
  return { madeOf: parts, [Symbol.iterator]: () => zstdBody(parts) }
}

function keptOf(snapshot: InventorySnapshot): Kept {
  let found = keptBySnapshot.get(snapshot)
  if (found === undefined) {
    const tags = [undefined, ...CODINGS].map((coding) => entityTag(snapshot.tag, coding))
    found = { tags, whole: new Map(), unchanged: new Map() }
    keptBySnapshot.set(snapshot, found)
  }
  return found
}

function kept<Key>(replies: Map<Key, Reply>, key: Key, make: () => Reply): Reply {
  let reply = replies.get(key)
  if (reply === undefined) {
    const made = make()
    reply = { ...made, lines: headerLines(made.headers) }
    replies.set(key, reply)
  }
  return reply
}
