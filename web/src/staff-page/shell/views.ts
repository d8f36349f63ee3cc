import type { Permission } from '@petstore/client'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { StockView } from '../stock/stock-view.tsx'
import type { ViewName } from '../ui/navigation.ts'

interface View {
  readonly title: string
  readonly Content: ComponentType | LazyExoticComponent<ComponentType>
  /** Of no use to a key without it, and not offered to one. */
  readonly needs?: Permission
  /** It is reached from that view, and has no place of its own in the navigation. */
  readonly within?: ViewName
}

const loads: (() => Promise<unknown>)[] = []

/** What is not the first view is loaded when somebody goes there, or ahead of that. */
export const VIEWS: Readonly<Record<ViewName, View>> = {
  stock: { title: 'Stock', Content: StockView },
  receive: {
    title: 'Receive',
    Content: later(async () => ({ default: (await import('../receive/receive-view.tsx')).ReceiveView })),
    needs: 'stock',
  },
  count: {
    title: 'Count',
    Content: later(async () => ({ default: (await import('../count/count-view.tsx')).CountView })),
    needs: 'stock',
  },
  orders: {
    title: 'Orders',
    Content: later(async () => ({ default: (await import('../orders/orders-view.tsx')).OrdersView })),
  },
  'low-stock': {
    title: 'Low stock',
    Content: later(async () => ({ default: (await import('../low-stock/low-stock-view.tsx')).LowStockView })),
  },
  pets: {
    title: 'Pets',
    Content: later(async () => ({ default: (await import('../pets/pets-view.tsx')).PetsView })),
  },
  import: {
    title: 'Import',
    Content: later(async () => ({ default: (await import('../import/import-view.tsx')).ImportView })),
    needs: 'pets',
    within: 'pets',
  },
  activity: {
    title: 'Activity',
    Content: later(async () => ({ default: (await import('../activity/activity-view.tsx')).ActivityView })),
  },
  overview: {
    title: 'Overview',
    Content: later(async () => ({ default: (await import('../overview/overview.tsx')).Overview })),
  },
  people: {
    title: 'People',
    Content: later(async () => ({ default: (await import('../people/people-view.tsx')).PeopleView })),
    needs: 'keys',
  },
  webhooks: {
    title: 'Webhooks',
    Content: later(async () => ({ default: (await import('../webhooks/webhooks-view.tsx')).WebhooksView })),
    needs: 'webhooks',
  },
}

export const PetView = later(async () => ({ default: (await import('../pet/pet-view.tsx')).PetView }))

/** Loads all views, one after the other: without a network, only what is here can be gone to. */
export async function loadViewsAhead(): Promise<void> {
  for (const load of loads) {
    // Whoever goes there loads it again, and is told where that fails.
    await load().catch(() => {})
  }
}

/** Its files could not be had. */
export class ViewNotLoaded extends Error {}

function later<Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  loads.push(load)
  return lazy(() =>
    load().catch((cause: unknown) => {
      throw new ViewNotLoaded('the view could not be loaded', { cause })
    }),
  )
}
