/** The data that a run needs to send requests. */
export interface LoadTarget {
  readonly port: number
  readonly key: string
  readonly pets: number
}

/** One kind of request: its share in percent, and the allowed responses. */
interface Kind {
  readonly share: number
  readonly statuses: readonly number[]
}

/** A shop's day: mostly single pets, some lists, and some unauthorised callers. */
export const KINDS = {
  read: { share: 36, statuses: [200] },
  update: { share: 24, statuses: [200] },
  listIfChanged: { share: 10, statuses: [200, 304] },
  history: { share: 8, statuses: [200] },
  listCompressed: { share: 6, statuses: [200] },
  list: { share: 4, statuses: [200] },
  pets: { share: 4, statuses: [200] },
  unknownPet: { share: 3, statuses: [404] },
  // Above the anonymous limit, like callers who guess keys.
  wrongKey: { share: 3, statuses: [401, 429] },
  staleUpdate: { share: 2, statuses: [412] },
} as const satisfies Record<string, Kind>
export type KindName = keyof typeof KINDS

const NAMES = Object.keys(KINDS) as KindName[]
const WHEEL: readonly KindName[] = NAMES.flatMap((name) => Array<KindName>(KINDS[name].share).fill(name))

/** Builds requests, ready to send. */
export class RequestMaker {
  readonly #target: LoadTarget
  readonly #random: () => number
  #quantity = 0
  /** The latest tag of the list. */
  listTag = '"none"'

  constructor(target: LoadTarget, random: () => number) {
    this.#target = target
    this.#random = random
  }

  next(): { kind: KindName; request: string } {
    const kind = WHEEL[Math.floor(this.#random() * WHEEL.length)] ?? 'read'
    return { kind, request: this.make(kind) }
  }

  make(kind: KindName): string {
    const petId = 1 + Math.floor(this.#random() * this.#target.pets)
    switch (kind) {
      case 'read':
        return this.#get(`/inventory/${petId}`)
      case 'update':
        return this.#patch(petId, '')
      case 'staleUpdate':
        return this.#patch(petId, 'If-Match: "9007199254740991-sold"\r\n')
      case 'list':
        return this.#get('/inventory')
      case 'listCompressed':
        return this.#get('/inventory', `Accept-Encoding: ${petId % 2 === 0 ? 'gzip' : 'zstd'}\r\n`)
      case 'listIfChanged':
        return this.#get('/inventory', `If-None-Match: ${this.listTag}\r\n`)
      case 'history':
        return this.#get(`/inventory/${petId}/history?limit=5`)
      case 'pets':
        return this.#get(`/catalog?limit=50&cursor=${petId}`)
      case 'unknownPet':
        return this.#get('/inventory/-1')
      case 'wrongKey':
        return `GET /v1/inventory HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer wrong${petId}\r\n\r\n`
    }
  }

  events(): string {
    return this.#get('/inventory/events')
  }

  #get(path: string, headers = ''): string {
    return `GET /v1${path} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${this.#target.key}\r\n${headers}\r\n`
  }

  /** Each quantity is different: an update without a change would write nothing. */
  #patch(petId: number, headers: string): string {
    this.#quantity = (this.#quantity + 1) % 1_000_000
    const body = `{"quantity":${this.#quantity}}`
    return (
      `PATCH /v1/inventory/${petId} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${this.#target.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`
    )
  }
}
