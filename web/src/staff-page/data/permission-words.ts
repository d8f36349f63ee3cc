import type { Permission } from '@petstore/client'

/** The parts of the shop that a person may change. */
export const PERMISSION_WORDS: Readonly<Record<Permission, string>> = {
  stock: 'Stock',
  orders: 'Orders',
  pets: 'Pets',
  webhooks: 'Webhooks',
  keys: 'People',
}
export const ALL_PERMISSIONS: readonly Permission[] = ['stock', 'orders', 'pets', 'webhooks', 'keys']

export function permissionWords(permissions: readonly Permission[]): string {
  if (permissions.length === 0) return 'May only look'
  if (permissions.length === ALL_PERMISSIONS.length) return 'May change everything'
  const words = ALL_PERMISSIONS.filter((each) => permissions.includes(each)).map(
    (each) => PERMISSION_WORDS[each],
  )
  return `May change ${words.join(', ').toLowerCase()}`
}
