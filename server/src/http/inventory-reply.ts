import type { HttpRequest } from '@petstore/wire'
import type { InventorySnapshot } from '../core/stock/view/inventory-pages.ts'
import { chosenCoding } from './accept-encoding.ts'
import { type Coding, compressed } from './compressed-parts.ts'
import { matchedTag } from './conditional.ts'
import type { Reply } from './reply.ts'

/** Below this, the compressed form saves less than a packet. */
const LEAST_BYTES_TO_COMPRESS = 1_400
/**
 * Up to this, a body is kept whole and written at once. Above it, parts are streamed: readers share them, and a slow
 * one holds on to no more than the parts that changed since it began.
 */
const MOST_BYTES_AT_ONCE = 1024 * 1024

/** What is wanted again and again, kept as long as the snapshot that it is made of. */
interface Kept {
  /** Those of all its codings. */
  readonly tags: readonly string[]
  readonly whole: Map<Coding | undefined, Reply>
  /** By the tag that the caller has. */
  readonly unchanged: Map<string, Reply>
}
const keptBySnapshot = new WeakMap<InventorySnapshot, Kept>()

/** The list as an answer: from ready bytes, compressed where the caller takes it, 304 where he has it. */
export function inventoryReply(snapshot: InventorySnapshot, request: HttpRequest): Reply {
  const { byteLength } = snapshot
  const { tags, whole, unchanged } = keptOf(snapshot)
  // By the tag of a 304 a cache finds which of its copies is meant (RFC 9111, 4.3.4): it is the one that was named.
  const ETag = matchedTag(request.headers.get('if-none-match'), tags)
  if (ETag !== undefined) {
    return kept(unchanged, ETag, () => ({
      status: 304,
      headers: { ETag, Vary: 'Accept-Encoding' },
      body: null,
    }))
  }
  const coding =
    byteLength < LEAST_BYTES_TO_COMPRESS ? undefined : chosenCoding(request.headers.get('accept-encoding'))
  if (byteLength <= MOST_BYTES_AT_ONCE) return kept(whole, coding, () => wholeReply(snapshot, coding))
  return { status: 200, headers: headersOf(snapshot, coding), body: partsOf(snapshot, coding) }
}

/** The content decides the tag; each coding of it is a representation of its own (RFC 9110, 8.8.3). */
function etagOf({ tag }: InventorySnapshot, coding: Coding | undefined): string {
  return coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`
}

function headersOf(snapshot: InventorySnapshot, coding: Coding | undefined): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    ETag: etagOf(snapshot, coding),
    Vary: 'Accept-Encoding',
    ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
  }
}

function keptOf(snapshot: InventorySnapshot): Kept {
  let found = keptBySnapshot.get(snapshot)
  if (found === undefined) {
    const tags = [undefined, 'gzip' as const, 'zstd' as const].map((coding) => etagOf(snapshot, coding))
    found = { tags, whole: new Map(), unchanged: new Map() }
    keptBySnapshot.set(snapshot, found)
  }
  return found
}

function kept<Key>(replies: Map<Key, Reply>, key: Key, make: () => Reply): Reply {
  let reply = replies.get(key)
  if (reply === undefined) {
    reply = make()
    replies.set(key, reply)
  }
  return reply
}

function wholeReply(snapshot: InventorySnapshot, coding: Coding | undefined): Reply {
  const body = Buffer.concat([...partsOf(snapshot, coding)])
  return { status: 200, headers: headersOf(snapshot, coding), body }
}

function partsOf({ parts }: InventorySnapshot, coding: Coding | undefined): Iterable<Uint8Array> {
  return coding === undefined ? parts : compressed(parts, coding)
}
