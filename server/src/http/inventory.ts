import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type HttpRequest, headerLines, type ResponseBody } from '@petstore/wire'
import Type from 'typebox'
import { AVAILABILITY, AVAILABLE, type Availability as AvailabilityRecord } from '../core/orders/order.ts'
import {
  type InventoryItem as Entry,
  type EntryState,
  entryNotFound,
  INVENTORY_ITEM,
  PET_STATUSES,
} from '../core/stock/inventory.ts'
import { availableOf } from '../core/stock/stock-draft.ts'
import type { InventorySnapshot } from '../core/stock/view/inventory-pages.ts'
import { ServiceError } from '../core/values/errors.ts'
import { IdList, Int64, MAX_QUANTITY, Quantity } from '../core/values/field.ts'
import { commitAndReply, defineOperation } from './operation.ts'
import {
  chooseCoding,
  conditionalReply,
  EVENT_ID,
  entityTag,
  findMatchingTag,
  jsonReply,
  jsonTextReply,
  type Reply,
} from './reply.ts'

export const InventoryItem = Type.Object(INVENTORY_ITEM, {
  title: 'InventoryItem',
  examples: [{ petId: 1, quantity: 12, status: 'available' }],
})

const InventoryUpdate = Type.Object(
  { quantity: Quantity('The new stock count.') },
  {
    title: 'InventoryUpdate',
    description: 'Fields other than quantity are ignored, so an update never changes the status.',
    examples: [{ quantity: 5 }],
  },
)

const Availability = Type.Object(
  { ...AVAILABILITY, available: AVAILABLE },
  { title: 'Availability', examples: [{ petId: 1, quantity: 12, reserved: 3, available: 9 }] },
)

export const listInventory = defineOperation('GET', '/inventory', {
  summary: 'List stock levels',
  description: 'Returns the current stock levels for all pets in the store, by petId ascending.',
  ignoresUnknownInput: true,
  headers: {},
  success: { description: 'The stock level of every pet.', schema: Type.Array(InventoryItem) },
  prepare: (_, { view }) => view.current(),
  reply: ({ request }, _, snapshot) => inventoryReply(snapshot, request),
})

export const getInventoryItem = defineOperation('GET', '/inventory/{petId}', {
  summary: 'Get the stock level of one pet',
  description:
    'Returns the current stock level of one pet. If you send its ETag as If-Match with an update, the update is made only if the entry has not changed since.',
  params: { petId: Int64('The pet whose stock is returned.') },
  success: { description: 'The stock level of the pet.', schema: InventoryItem },
  prepare: ({ petId }, { view }) => view.find(petId),
  reply: ({ params, request }, _, item) => {
    if (item === undefined) throw entryNotFound(params.petId)
    return conditionalReply(jsonReply(item, { ETag: entryTag(item) }), request)
  },
})

export const updateInventory = defineOperation('PATCH', '/inventory/{petId}', {
  summary: 'Set the stock quantity of one pet',
  description:
    'Sets the stock quantity of one pet, to record new arrivals, returns or manual adjustments. The response is sent once the change is on disk. Experimental: the request shape may change before it becomes stable.',
  stability: 'experimental',
  ignoresUnknownInput: true,
  permission: 'stock',
  params: { petId: Int64('The pet whose stock is updated.') },
  acceptsIdempotencyKey: true,
  body: InventoryUpdate,
  success: { description: 'The updated entry.', schema: InventoryItem },
  reply: (input, services) => {
    const { petId } = input.params
    // A tag that `entryTag` could not have produced matches no state.
    const onlyIf = input.ifMatch?.flatMap((tag) => parseEntryTag(tag) ?? [])
    const command = { type: 'adjust', onlyIf, changes: [{ petId, quantity: input.body.quantity }] } as const
    return commitAndReply(input, services, command, {
      done: ({ items: [item] }) => {
        if (item === undefined) throw new Error('an adjustment of one pet must have one entry')
        return jsonTextReply(entryText(item), { ETag: entryTag(item) })
      },
      refused: ({ failures: [failure] }) => {
        if (failure === undefined) throw new Error('a refused adjustment must have a failure')
        return new ServiceError(failure.code, failure.message)
      },
      too_late: ({ message }) => new ServiceError('too_late', message),
    })
  },
})

export const getAvailability = defineOperation('GET', '/inventory/{petId}/availability', {
  summary: 'Get the available units of one pet',
  description:
    'Returns how many units of a pet are on the shelf, how many of them open orders reserve, and how many can still be ordered. An expired hold reserves nothing.',
  params: { petId: Int64('The pet whose availability is returned.') },
  success: { description: 'The availability of the pet.', schema: Availability },
  prepare: ({ petId }, { store }) => store.findAvailability(petId),
  reply: ({ params, request }, _, availability) => {
    if (availability === undefined) throw entryNotFound(params.petId)
    return conditionalReply(jsonReply(availabilityBody(availability)), request)
  },
})

const MAX_LISTED_PETS = 1_000

export const listAvailability = defineOperation('GET', '/inventory/availability', {
  summary: 'List the available units of many pets',
  description:
    'Returns the availability of the given pets at one moment, by petId ascending. Pets that do not exist are left out. The header `Event-Id` is a position among the events. The response includes all events up to it, so a reader that continues there, with GET /events or GET /inventory/events, misses nothing. Events of the very moment of the response may be included and come again, so use the values that an event states instead of adding to the values of the response. A hold that has just expired reserves nothing, although its `order` event may still come.',
  stability: 'beta',
  query: {
    petIds: IdList(MAX_LISTED_PETS, 'Identifier of a pet.', {
      description:
        'The pets, each once, separated by commas. The request line and the headers have 16 KiB together.',
      examples: [[1, 2]],
    }),
  },
  success: {
    description: 'The availability of each pet that exists.',
    schema: Type.Array(Availability),
    headers: ['Event-Id'],
  },
  reply: async ({ query, request }, { store }) => {
    // Read first: an event between the two reads comes again, whereas in the other order it would be missed.
    const eventId = await store.latestEventCursor()
    const pets = await store.listAvailability(query.petIds)
    return conditionalReply(jsonReply(pets.map(availabilityBody), { [EVENT_ID]: eventId }), request)
  },
})

function availabilityBody(availability: AvailabilityRecord) {
  return { ...availability, available: availableOf(availability) }
}

/** The JSON of an entry, as in the list. */
export function entryText({ petId, quantity, status }: Entry): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`
}

/** Depends only on the state of the entry, so it is the same on every instance and after a restart. */
function entryTag({ quantity, status }: EntryState): string {
  return `"${quantity}-${status}"`
}

const ENTRY_TAG = new RegExp(`^(0|[1-9]\\d{0,15})-(${PET_STATUSES.join('|')})$`)

function parseEntryTag(tag: string): EntryState | undefined {
  const [, digits, statusText] = ENTRY_TAG.exec(tag) ?? []
  const quantity = Number(digits)
  const status = PET_STATUSES.find((candidate) => candidate === statusText)
  return status === undefined || quantity > MAX_QUANTITY ? undefined : { quantity, status }
}

type Coding = 'gzip' | 'zstd'

/** A smaller body fits into one packet even without compression. */
const MIN_BYTES_TO_COMPRESS = 1_400
/**
 * Up to this size, a body is one buffer. A larger body is streamed in parts that all clients share. If the stock changes while
 * a slow client still reads, the replaced parts stay in memory, at most until the whole body is sent.
 */
const MAX_WHOLE_BYTES = 1024 * 1024
/** In order of preference. */
const CODINGS: readonly Coding[] = ['zstd', 'gzip']
/** Codings for bodies in parts. gzip is left out: docs/decisions/stock.md. */
const PART_CODINGS: readonly Coding[] = ['zstd']
const VARY = 'Accept-Encoding'

/** Replies that are reused for as long as the snapshot exists. */
interface ReplyCache {
  /** The ETags of the uncompressed list and of each coding. */
  readonly tags: readonly string[]
  /** 200 replies by coding. */
  readonly full: Map<Coding | undefined, Reply>
  /** 304 replies by ETag. */
  readonly notModified: Map<string, Reply>
}
const cacheBySnapshot = new WeakMap<InventorySnapshot, ReplyCache>()
/** Compressed parts by uncompressed part. */
const compressedParts = new WeakMap<Uint8Array, Uint8Array>()

function inventoryReply(snapshot: InventorySnapshot, { headers }: HttpRequest): Reply {
  const { byteLength } = snapshot
  const { tags, full, notModified } = replyCache(snapshot)
  // A 304 repeats the ETag that the caller sent, because a cache uses it to select its stored copy (RFC 9111, 4.3.4).
  const ETag = findMatchingTag(headers.get('if-none-match'), tags)
  if (ETag !== undefined) {
    return cachedReply(notModified, ETag, () => ({ status: 304, headers: { ETag, Vary: VARY }, body: null }))
  }
  const acceptEncoding = byteLength < MIN_BYTES_TO_COMPRESS ? null : headers.get('accept-encoding')
  if (byteLength <= MAX_WHOLE_BYTES) {
    const coding = chooseCoding(CODINGS, acceptEncoding)
    return cachedReply(full, coding, () => listReply(snapshot, coding, wholeBody(snapshot, coding)))
  }
  const coding = chooseCoding(PART_CODINGS, acceptEncoding)
  const body = coding === undefined ? snapshot.parts : zstdBody(snapshot.parts)
  return listReply(snapshot, coding, body)
}

function listReply({ tag }: InventorySnapshot, coding: Coding | undefined, body: Reply['body']): Reply {
  const headers = {
    'Content-Type': 'application/json',
    ETag: entityTag(tag, coding),
    Vary: VARY,
    ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
  }
  return { status: 200, headers, body }
}

function wholeBody({ parts }: InventorySnapshot, coding: Coding | undefined): Uint8Array {
  if (coding === 'zstd') return Buffer.concat([...compressedPartsOf(parts)])
  const bytes = Buffer.concat(parts)
  // The list is compressed again after each change, so speed matters more than size.
  return coding === 'gzip' ? gzipSync(bytes, { level: 1 }) : bytes
}

/**
 * The zstd frames of the parts, which together form one body (RFC 8878, 3). Each part is compressed when it is sent, so a
 * large list does not block other requests.
 */
function* compressedPartsOf(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of parts) {
    let compressed = compressedParts.get(part)
    if (compressed === undefined) {
      compressed = zstdCompressSync(part)
      compressedParts.set(part, compressed)
    }
    yield compressed
  }
}

function zstdBody(parts: readonly Uint8Array[]): ResponseBody {
  return { sources: parts, [Symbol.iterator]: () => compressedPartsOf(parts) }
}

function replyCache(snapshot: InventorySnapshot): ReplyCache {
  let cache = cacheBySnapshot.get(snapshot)
  if (cache === undefined) {
    const tags = [undefined, ...CODINGS].map((coding) => entityTag(snapshot.tag, coding))
    cache = { tags, full: new Map(), notModified: new Map() }
    cacheBySnapshot.set(snapshot, cache)
  }
  return cache
}

function cachedReply<Key>(replies: Map<Key, Reply>, key: Key, createReply: () => Reply): Reply {
  const known = replies.get(key)
  if (known !== undefined) return known
  const created = createReply()
  const reply = { ...created, lines: headerLines(created.headers) }
  replies.set(key, reply)
  return reply
}
