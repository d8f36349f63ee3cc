import type { Permission } from '@petstore/client'
import { type ComponentType, lazy } from 'preact/compat'
import type { IconName } from '../../design/icon.tsx'
import { StockView } from '../stock/stock-view.tsx'

export interface View {
  /** Names the view in the address: `#/stock`. */
  readonly name: string
  readonly title: string
  readonly icon: IconName
  /** The group of the navigation. A view without one is reached from its `parent`. */
  readonly group?: 'daily' | 'admin'
  readonly parent?: string
  /** Keys without this permission do not see the view in the navigation. */
  readonly needs?: Permission
  readonly Content: ComponentType
}

const loaders: (() => Promise<unknown>)[] = []

const SellView = lazyView(async () => (await import('../sell/sell-view.tsx')).SellView)
const ReceiveView = lazyView(async () => (await import('../receive/receive-view.tsx')).ReceiveView)
const CountView = lazyView(async () => (await import('../count/count-view.tsx')).CountView)
const OrdersView = lazyView(async () => (await import('../orders/orders-view.tsx')).OrdersView)
const LowStockView = lazyView(async () => (await import('../low-stock/low-stock-view.tsx')).LowStockView)
const ActivityView = lazyView(async () => (await import('../activity/activity-view.tsx')).ActivityView)
const PetsView = lazyView(async () => (await import('../pets/pets-view.tsx')).PetsView)
const ImportView = lazyView(async () => (await import('../import/import-view.tsx')).ImportView)
const PeopleView = lazyView(async () => (await import('../people/people-view.tsx')).PeopleView)
const WebhooksView = lazyView(async () => (await import('../webhooks/webhooks-view.tsx')).WebhooksView)
const OverviewView = lazyView(async () => (await import('../overview/overview-view.tsx')).OverviewView)
export const PetView = lazyView(async () => (await import('../pet/pet-view.tsx')).PetView)
/** Loaded ahead like the views, so that a device that is locked while the network is down can be unlocked. */
export const SignIn = lazyView(async () => (await import('../session/sign-in.tsx')).SignIn)

const STOCK: View = { name: 'stock', title: 'Stock', icon: 'stock', group: 'daily', Content: StockView }

/** All views in the order of the navigation. Only the first is part of the first download. */
export const VIEWS: readonly View[] = [
  STOCK,
  { name: 'sell', title: 'Sell', icon: 'sell', group: 'daily', needs: 'stock', Content: SellView },
  {
    name: 'receive',
    title: 'Receive',
    icon: 'receive',
    group: 'daily',
    needs: 'stock',
    Content: ReceiveView,
  },
  { name: 'count', title: 'Count', icon: 'count', group: 'daily', needs: 'stock', Content: CountView },
  { name: 'orders', title: 'Orders', icon: 'orders', group: 'daily', Content: OrdersView },
  { name: 'low-stock', title: 'Low stock', icon: 'warning', group: 'daily', Content: LowStockView },
  { name: 'activity', title: 'Activity', icon: 'activity', group: 'daily', Content: ActivityView },
  { name: 'pets', title: 'Pets', icon: 'pets', group: 'admin', Content: PetsView },
  { name: 'import', title: 'Import', icon: 'pets', parent: 'pets', needs: 'pets', Content: ImportView },
  { name: 'people', title: 'People', icon: 'people', group: 'admin', needs: 'keys', Content: PeopleView },
  {
    name: 'webhooks',
    title: 'Webhooks',
    icon: 'webhooks',
    group: 'admin',
    needs: 'webhooks',
    Content: WebhooksView,
  },
  { name: 'overview', title: 'Overview', icon: 'overview', group: 'admin', Content: OverviewView },
]

/** The view of this name; the stock if there is none. */
export function viewNamed(name: string): View {
  return VIEWS.find((view) => view.name === name) ?? STOCK
}

/** Loads all views one after the other, so that they also open while the network is down. */
export async function loadViewsAhead(): Promise<void> {
  for (const load of loaders) {
    // Opening the view loads it again and reports the failure.
    await load().catch(() => {})
  }
}

export class ViewNotLoaded extends Error {}

function lazyView<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  loaders.push(load)
  return lazy(async () => {
    try {
      return { default: await load() }
    } catch (cause) {
      throw new ViewNotLoaded('the view could not be loaded', { cause })
    }
  })
}
