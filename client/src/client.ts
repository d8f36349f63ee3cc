import {
  type Catalog,
  type Categories,
  createCatalog,
  createCategories,
  createPets,
  type Pets,
} from './catalog.ts'
import type { KeyLimits } from './contract-types.ts'
import type { IdKind } from './ids.ts'
import { createImports, type Imports } from './imports.ts'
import { createInventory, type Inventory } from './inventory.ts'
import { createKeys, type Keys } from './keys.ts'
import type { LimitState } from './limit-state.ts'
import { type CallOptions, type PetstoreClientOptions, readOptions } from './options.ts'
import { createOrders, type Orders } from './orders.ts'
import { createApi } from './request.ts'
import { Transport } from './transport.ts'
import { SYSTEM_TIME, type Time } from './waiting.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

export interface Limits {
  /** The plan of the key, its permissions and both of its rate-limit windows. */
  get(options?: CallOptions): Promise<KeyLimits>
  /** The rate limit as the latest response reported it; `undefined` before the first response. */
  readonly latest: LimitState | undefined
}

/** A client holds one API key. Its calls share one queue, so that together they respect the rate limit of the key. */
export class PetstoreClient<Ids extends IdKind = 'bigint'> {
  readonly inventory: Inventory<Ids>
  readonly orders: Orders<Ids>
  readonly pets: Pets<Ids>
  readonly categories: Categories<Ids>
  readonly catalog: Catalog<Ids>
  readonly imports: Imports
  readonly webhooks: Webhooks<Ids>
  readonly keys: Keys
  readonly limits: Limits

  constructor(options: PetstoreClientOptions<Ids>)
  /** @internal */
  constructor(options: PetstoreClientOptions<Ids>, time: Time)
  constructor(options: PetstoreClientOptions<Ids>, time: Time = SYSTEM_TIME) {
    const transport = new Transport(readOptions(options), time)
    const api = createApi<Ids>(transport)
    this.inventory = createInventory(api)
    this.orders = createOrders(api)
    this.pets = createPets(api)
    this.categories = createCategories(api)
    this.catalog = createCatalog(api)
    this.imports = createImports(api)
    this.webhooks = createWebhooks(api)
    this.keys = createKeys(createApi<'bigint'>(transport))
    this.limits = {
      get: (callOptions) => createApi<'bigint'>(transport).value('getLimits', {}, callOptions),
      get latest() {
        return transport.limits
      },
    }
  }
}
