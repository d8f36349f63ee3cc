import type { Category } from '../core/catalog/category.ts'
import type { StockedPet } from '../core/catalog/pet.ts'
import {
  DEFAULT_PERMISSIONS,
  type Limits,
  PERMISSIONS,
  PLAN_LIMITS,
  PLANS,
  type Plan,
  toStoredSecret,
} from '../core/keys/api-key.ts'
import type { FileOrder, NewOrder } from '../core/orders/order.ts'
import { SYSTEM_KEY_ID } from '../core/stock/change-origin.ts'
import type { CommandOf } from '../core/stock/command.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import { DAY } from '../core/values/clock.ts'
import type { Store } from '../store/store.ts'

/** Public secrets. They do not have the form of a key, so outside demo mode they are rejected without a lookup. */
export const DEMO_SECRETS: Readonly<Record<Plan, string>> = {
  free: 'pst_demo_free',
  pro: 'pst_demo_pro',
  business: 'pst_demo_business',
  enterprise: 'pst_demo_enterprise',
}

export const DEMO_LIMITS: Readonly<Record<Plan, Limits>> = {
  ...PLAN_LIMITS,
  enterprise: { perMinute: 1_000_000, perDay: 1_000_000_000 },
}

/** Fills an empty store with demo data. A store that already has the demo data stays as it is. */
export async function prepareDemo(store: Store, now: number): Promise<void> {
  const isDemoStore = (await store.findKeyRecord(demoKeyId('free'))) !== undefined
  const isEmpty = (await store.countPets()) === 0
  const hasKeys = (await store.listKeyPage(1, undefined)).length > 0
  if (!isDemoStore && (!isEmpty || hasKeys)) {
    throw new Error(
      'the database contains a real store, and --demo would give publicly known keys access to it; start without --demo, or with another --database-url',
    )
  }
  // The keys come first, so that an interrupted start leaves a store that the next start recognizes.
  for (const plan of PLANS) await addDemoKey(store, plan, now)
  if (!isEmpty) return
  const origin = { keyId: SYSTEM_KEY_ID, at: now }
  await store.changeStock(
    CATEGORIES.map((category) => ({ type: 'create_category', category, ...origin }) as const),
  )
  await store.changeStock([{ type: 'upsert_pets', pets: demoPets(), canChangeStock: true, ...origin }])
  await store.changeStock(recentTrade(now))
  await addDemoOrders(store, now)
}

const demoKeyId = (plan: Plan) => `key_demo_${plan}`

/** Adds the key unless it exists. Looks it up by id, because a rotation or a pairing may have replaced its public secret. */
async function addDemoKey(store: Store, plan: Plan, now: number): Promise<void> {
  if ((await store.findKeyRecord(demoKeyId(plan))) !== undefined) return
  const key = {
    id: demoKeyId(plan),
    name: `Demo ${plan}`,
    plan,
    limits: DEMO_LIMITS[plan],
    permissions: plan === 'enterprise' ? PERMISSIONS : DEFAULT_PERMISSIONS,
    createdAt: now,
  }
  const secret = toStoredSecret(DEMO_SECRETS[plan], now)
  await store.runKeyCommand(
    { type: 'operator', name: 'petstore serve --demo' },
    { type: 'create', key, secret },
    now,
  )
}

const CATEGORIES: readonly Category[] = [
  { id: 1n, name: 'Dogs' },
  { id: 2n, name: 'Cats' },
  { id: 3n, name: 'Birds' },
  { id: 4n, name: 'Fish', lowStockAt: 20 },
  { id: 5n, name: 'Small animals', lowStockAt: 2 },
]

/** Name, category id, status, quantity, and the low-stock threshold if the pet has its own. The first pet has the id 1. */
const PETS: readonly (readonly [string, number, PetStatus, number, number?])[] = [
  ['Labrador Retriever puppy', 1, 'available', 4],
  ['Beagle puppy', 1, 'available', 3, 2],
  ['Miniature Schnauzer', 1, 'pending', 1],
  ['Border Collie', 1, 'sold', 0],
  ['French Bulldog', 1, 'available', 2],
  ['British Shorthair kitten', 2, 'available', 5],
  ['Maine Coon', 2, 'pending', 1],
  ['Siamese kitten', 2, 'available', 3],
  ['Ragdoll', 2, 'sold', 0],
  ['Domestic Longhair', 2, 'available', 7],
  ['Budgerigar, green', 3, 'available', 24, 10],
  ['Cockatiel', 3, 'available', 9, 8],
  ['African Grey Parrot', 3, 'pending', 1],
  ['Zebra Finch pair', 3, 'available', 16],
  ['Lovebird', 3, 'sold', 0],
  ['Neon Tetra', 4, 'available', 240],
  ['Clownfish', 4, 'available', 36],
  ['Betta, crowntail', 4, 'available', 18],
  ['Goldfish, comet', 4, 'available', 120],
  ['Discus', 4, 'pending', 6],
  ['Syrian Hamster', 5, 'available', 14],
  ['Netherland Dwarf rabbit', 5, 'available', 8],
  ['Guinea Pig', 5, 'available', 11],
  ['Chinchilla', 5, 'pending', 2],
  ['Hermann’s Tortoise', 5, 'sold', 0],
]

/** Barcodes that begin with 2 are reserved for use within a shop. */
const FIRST_BARCODE = 200_000_000_001

function demoPets(): StockedPet[] {
  return PETS.map(([name, categoryId, status, quantity, lowStockAt], index) => ({
    id: BigInt(index + 1),
    name,
    categoryId: BigInt(categoryId),
    status,
    quantity,
    barcode: ean13(FIRST_BARCODE + index),
    ...(lowStockAt === undefined ? {} : { lowStockAt }),
  }))
}

/** Appends the check digit, so that the sum of all digits, every second digit times three, is a multiple of ten. */
function ean13(digits: number): string {
  const text = String(digits)
  const weightedDigits = Array.from(text, (digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 3))
  return `${text}${(10 - (sum(weightedDigits) % 10)) % 10}`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Pet id, and the units sold on each of the seven days that end with today. The week before was the same. */
const WEEKLY_SALES: readonly (readonly [number, readonly number[]])[] = [
  [2, [0, 0, 0, 1, 0, 0, 0]],
  [6, [0, 1, 0, 0, 0, 1, 0]],
  [11, [2, 1, 3, 2, 4, 6, 3]],
  [12, [0, 1, 0, 1, 0, 2, 1]],
  [14, [0, 2, 0, 0, 2, 2, 0]],
  [16, [10, 6, 12, 8, 20, 24, 15]],
  [17, [1, 0, 2, 1, 2, 4, 2]],
  [18, [2, 1, 1, 2, 3, 4, 2]],
  [19, [5, 3, 8, 4, 10, 12, 6]],
  [21, [1, 0, 1, 0, 2, 2, 1]],
  [23, [0, 1, 0, 1, 1, 2, 1]],
]
const DAYS_OF_TRADE = 14

/** The units sold in a week are delivered on its first day, so the trade leaves every quantity as it was. */
function recentTrade(now: number): CommandOf<'adjust'>[] {
  const trade: CommandOf<'adjust'>[] = []
  for (let day = 0; day < DAYS_OF_TRADE; day++) {
    const origin = { keyId: SYSTEM_KEY_ID, at: now - (DAYS_OF_TRADE - 1 - day) * DAY }
    const weekday = day % 7
    if (weekday === 0) {
      const changes = WEEKLY_SALES.map(([petId, units]) => ({ petId: BigInt(petId), delta: sum(units) }))
      trade.push({ type: 'adjust', ...origin, reason: 'received', changes })
    }
    const sales = WEEKLY_SALES.map(([petId, units]) => ({
      petId: BigInt(petId),
      delta: -(units[weekday] ?? 0),
    }))
    trade.push({ type: 'adjust', ...origin, reason: 'sold', changes: sales.filter(({ delta }) => delta < 0) })
  }
  return trade
}

const PAST_ORDER_COUNT = 24
const FIRST_SHIP_DATE = Date.UTC(2026, 8, 1, 9)
const SHIP_EVERY_MS = 37 * 3_600_000

function pastOrders(): FileOrder[] {
  return Array.from({ length: PAST_ORDER_COUNT }, (_, index) => ({
    id: BigInt(index + 1),
    lines: [{ petId: BigInt(((index * 7) % PETS.length) + 1), quantity: (index % 3) + 1 }],
    shipDate: FIRST_SHIP_DATE + index * SHIP_EVERY_MS,
    complete: true,
  }))
}

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS

/** Pet id, quantity, customer, days until the order ships, and seconds until the hold expires. */
const OPEN_ORDERS: readonly (readonly [number, number, string, number | undefined, number | undefined])[] = [
  [1, 1, 'Maria Lopez, 555 0142', 1, undefined],
  [6, 2, 'Jonas Weber, 555 0119', 2, undefined],
  [11, 6, 'Oak Street School', 3, undefined],
  [12, 2, 'Priya Nair, 555 0177', 3, undefined],
  [16, 40, 'Harbour Aquarium', 5, undefined],
  [17, 4, 'Harbour Aquarium', 7, undefined],
  [19, 25, 'Oak Street School', 8, undefined],
  [21, 3, 'Sam Okafor, 555 0163', 9, undefined],
  [2, 1, 'Emma Clark, 555 0108', undefined, 2 * HOUR_SECONDS],
  [8, 1, 'Tomas Novak, 555 0155', undefined, DAY_SECONDS],
  [14, 4, 'Priya Nair, 555 0177', undefined, 7 * DAY_SECONDS],
  [18, 2, 'Harbour Aquarium', 14, 30 * DAY_SECONDS],
]

async function addDemoOrders(store: Store, now: number): Promise<void> {
  const origin = { keyId: SYSTEM_KEY_ID, at: now }
  await store.changeStock(pastOrders().map((order) => ({ type: 'import_order', order, ...origin }) as const))
  const orders = OPEN_ORDERS.map(
    ([petId, quantity, customer, days, holdSeconds]): NewOrder => ({
      lines: [{ petId: BigInt(petId), quantity }],
      customer,
      ...(days === undefined ? {} : { shipDate: now + days * DAY_SECONDS * 1_000 }),
      ...(holdSeconds === undefined ? {} : { holdSeconds }),
    }),
  )
  await store.changeStock(orders.map((order) => ({ type: 'create_order', order, ...origin }) as const))
}
